/* cgroup.c - limits by cgroup v1 or v2, and the process tree for where there
 * is none (cgroup.h). */
#include "k8s/practice/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/str.h"

static bool write_file(const char *dir, const char *file, const char *text)
{
    char path[640];
    str_fmt(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool write_number(const char *dir, const char *file, int64_t v)
{
    char text[32];
    str_fmt(text, sizeof text, "%" PRId64, v);
    return write_file(dir, file, text);
}

static size_t read_file(const char *path, char *buf, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, buf, size - 1);
    if (fd >= 0)
        close(fd);
    n = MAX(n, 0);
    buf[n] = '\0';
    return (size_t)n;
}

/* Our own group in the hierarchy of a controller ("" names v2's). */
static bool own_group(const char *controller, char out[256])
{
    char text[4096];
    read_file("/proc/self/cgroup", text, sizeof text);
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        char padded[256], want[64];
        str_fmt(padded, sizeof padded, ",%s,", list + 1);
        str_fmt(want, sizeof want, ",%s,", controller);
        if (strstr(padded, want)) {
            str_copy(out, 256, strcmp(path, "/") == 0 ? "" : path);
            return true;
        }
    }
    return false;
}

/* v1: /sys/fs/cgroup/CONTROLLER/OWN/NAME */
static bool make_v1(const char *controller, const char *name, char out[512])
{
    char own[256];
    if (!own_group(controller, own))
        return false;
    str_fmt(out, 512, "/sys/fs/cgroup/%s%s/%s", controller, own, name);
    if (mkdir(out, 0755) == 0 || errno == EEXIST)
        return true;
    out[0] = '\0';
    return false;
}

static bool make_v2(const char *name, const char *controllers, char out[512])
{
    char own[256], parent[400], probe[512];
    struct stat st;
    if (!own_group("", own))
        return false;
    str_fmt(parent, sizeof parent, "/sys/fs/cgroup%s", own);
    str_fmt(probe, sizeof probe, "%s/cgroup.subtree_control", parent);
    if (stat(probe, &st) < 0)
        return false;
    write_file(parent, "cgroup.subtree_control", controllers);
    str_fmt(out, 512, "%s/%s", parent, name);
    if (mkdir(out, 0755) == 0 || errno == EEXIST)
        return true;
    out[0] = '\0';
    return false;
}

static void limit_v1(struct cgroup *g, const char *name, int64_t memory, int64_t cpu)
{
    if (memory > 0 && make_v1("memory", name, g->memory)) {
        g->memory_limited = write_number(g->memory, "memory.limit_in_bytes", memory);
        write_number(g->memory, "memory.memsw.limit_in_bytes", memory);   /* no swap, if it can */
    }
    if (cpu > 0 && make_v1("cpu", name, g->cpu))
        g->cpu_limited = write_number(g->cpu, "cpu.cfs_quota_us", MAX(cpu * 100, 1000));
}

static void limit_v2(struct cgroup *g, int64_t memory, int64_t cpu)
{
    char text[64];
    if (memory > 0 && write_number(g->memory, "memory.max", memory)) {
        g->memory_limited = true;
        write_file(g->memory, "memory.swap.max", "0");
        write_file(g->memory, "memory.oom.group", "1");
    }
    str_fmt(text, sizeof text, "%" PRId64 " 100000", MAX(cpu * 100, 1000));
    g->cpu_limited = cpu > 0 && write_file(g->memory, "cpu.max", text);
}

void cgroup_make(struct cgroup *g, const char *name, int64_t memory, int64_t cpu_millis)
{
    memset(g, 0, sizeof *g);
    if (memory <= 0 && cpu_millis <= 0)
        return;
    if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0) {
        g->v2 = make_v2(name, "+memory +cpu", g->memory);
        if (g->v2)
            limit_v2(g, memory, cpu_millis);
    } else {
        limit_v1(g, name, memory, cpu_millis);
    }
    if (g->memory[0] && !g->memory_limited && !g->cpu_limited)
        cgroup_remove(g);
}

void cgroup_add(const struct cgroup *g, pid_t pid)
{
    if (g->memory[0])
        write_number(g->memory, "cgroup.procs", pid);
    if (g->cpu[0])
        write_number(g->cpu, "cgroup.procs", pid);
}

int64_t cgroup_oom_kills(const struct cgroup *g)
{
    char path[640], text[1024];
    if (!g->memory_limited)
        return 0;
    str_fmt(path, sizeof path, "%s/%s", g->memory,
            g->v2 ? "memory.events" : "memory.oom_control");
    read_file(path, text, sizeof text);
    const char *p = strstr(text, "oom_kill ");
    return p ? strtoll(p + strlen("oom_kill "), NULL, 10) : 0;
}

void cgroup_remove(struct cgroup *g)
{
    if (g->memory[0])
        rmdir(g->memory);
    if (g->cpu[0])
        rmdir(g->cpu);
    g->memory[0] = g->cpu[0] = '\0';
}

/* --- the process tree -------------------------------------------------------- */

struct proc {
    pid_t pid, parent;
    int64_t rss;
    bool mine;
};

static bool read_proc(const char *name, long page, struct proc *out)
{
    char path[64], text[1024];
    str_fmt(path, sizeof path, "/proc/%.20s/stat", name);
    if (read_file(path, text, sizeof text) == 0)
        return false;
    const char *p = strrchr(text, ')');      /* the name may hold anything */
    long long rss = 0;
    int parent = 0;
    if (!p || sscanf(p + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
                            " %*d %*d %*u %*u %lld", &parent, &rss) != 2)
        return false;
    *out = (struct proc){(pid_t)strtol(name, NULL, 10), (pid_t)parent, rss * page, false};
    return true;
}

static struct proc *read_tree(pid_t root, size_t *n)
{
    struct proc *v = NULL;
    size_t cap = 0;
    long page = sysconf(_SC_PAGESIZE);
    DIR *d = opendir("/proc");
    struct dirent *e;
    *n = 0;
    while (d && (e = readdir(d))) {
        if (e->d_name[0] < '0' || e->d_name[0] > '9')
            continue;
        if (*n == cap) {
            cap = cap ? cap * 2 : 256;
            v = xrealloc_array(v, cap, sizeof *v);
        }
        *n += read_proc(e->d_name, page, &v[*n]);
    }
    if (d)
        closedir(d);
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < *n; i++) {
            bool below = v[i].parent == root;
            for (size_t k = 0; k < *n && !below; k++)
                below = v[k].mine && v[k].pid == v[i].parent;
            if (below && !v[i].mine)
                more = v[i].mine = true;
        }
    }
    return v;
}

int64_t cgroup_tree_rss(pid_t root)
{
    size_t n;
    int64_t sum = 0;
    struct proc *v = read_tree(root, &n);
    for (size_t i = 0; i < n; i++)
        sum += v[i].mine ? v[i].rss : 0;
    free(v);
    return sum;
}

int cgroup_tree_kill(pid_t root, int signo)
{
    size_t n;
    int count = 0;
    struct proc *v = read_tree(root, &n);
    for (size_t i = 0; i < n; i++)
        if (v[i].mine && kill(v[i].pid, signo) == 0)
            count++;
    free(v);
    return count;
}
