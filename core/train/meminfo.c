/* meminfo.c - how much memory this process uses, and may (meminfo.h). */
#include "core/train/meminfo.h"

#include "core/base/str.h"

enum { PATH = 280, FILE_MAX = 65536 };
#define NO_LIMIT (INT64_C(1) << 60)              /* version 1's "none" is above it */

/* The whole of a small file into buf; false when it can't be read. */
static bool slurp(const char *path, char *buf, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(buf, 1, size - 1, f);
    fclose(f);
    buf[n] = 0;
    return true;
}

/* The number behind `key` at a line's beginning; -1 when there is none. */
static int64_t field(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (strncmp(p, key, n) == 0 && (p[n] == ':' || p[n] == ' '))
            return strtoll(p + n + 1, NULL, 10);
    return -1;
}

size_t meminfo_resident(enum meminfo_when when)
{
    char text[8192];
    int64_t kb = slurp("/proc/self/status", text, sizeof text)
                     ? field(text, when == MEMINFO_PEAK ? "VmHWM" : "VmRSS") : -1;
    return kb > 0 ? (size_t)kb * 1024 : 0;
}

static int64_t number_file(const char *dir, const char *name)
{
    char path[PATH + 40], text[64];
    int64_t n;
    str_fmt(path, sizeof path, "%s/%s", dir, name);
    if (!slurp(path, text, sizeof text))
        return -1;
    text[strcspn(text, "\n")] = 0;
    return str_to_i64(text, &n) && n >= 0 && n < NO_LIMIT ? n : -1;
}

/* A group's folder: of version 2 (one), or 1 (the controller's). */
typedef void group_fn(void *arg, int version, const char *dir);

/* The group and all above it, up to the mount. */
static void walk(const char *root, const char *mount, const char *group, int version,
                 group_fn *fn, void *arg)
{
    char dir[PATH];
    size_t top = (size_t)snprintf(dir, sizeof dir, "%s%s", root, mount);
    if (!strstr(group, "..") && !str_eq(group, "/"))
        str_fmt(dir + top, sizeof dir - top, "%s", group);
    for (;;) {
        fn(arg, version, dir);
        char *slash = strrchr(dir, '/');
        if (strlen(dir) <= top || !slash)
            return;
        *slash = 0;
    }
}

/* A line of /proc/self/cgroup: "0::/path" (2) or "9:memory:/path" (1). */
static void take_line(const char *root, const char *controller, char *line, group_fn *fn, void *arg)
{
    char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
    char list[128], part[40], mount[80];
    if (!path)
        return;
    *path++ = 0;
    str_fmt(list, sizeof list, ",%s,", names + 1);
    str_fmt(part, sizeof part, ",%s,", controller);
    str_fmt(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    if (names[1] == 0)
        walk(root, "/sys/fs/cgroup", path, 2, fn, arg);
    else if (strstr(list, part))
        walk(root, mount, path, 1, fn, arg);
}

static void each_group(const char *root, const char *controller, group_fn *fn, void *arg)
{
    char path[PATH], text[FILE_MAX];
    str_fmt(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!slurp(path, text, sizeof text))
        return;
    for (char *line = text, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        end += *end ? 1 : 0;
        if (end > line && end[-1] == '\n')
            end[-1] = 0;
        take_line(root, controller, line, fn, arg);
    }
}

/* --- memory --- */

static void take_memory(void *arg, int version, const char *dir)
{
    static const struct {
        const char *limit, *used, *cache;
    } names[] = {{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
                 {"memory.max", "memory.current", "inactive_file"}};
    struct meminfo_limit *out = arg;
    char path[PATH + 40], stat[FILE_MAX];
    int64_t most = number_file(dir, names[version - 1].limit), cache = 0;
    int64_t used = number_file(dir, names[version - 1].used);
    if (most < 0)
        return;
    str_fmt(path, sizeof path, "%s/memory.stat", dir);
    if (slurp(path, stat, sizeof stat))
        cache = MAX(field(stat, names[version - 1].cache), 0);
    int64_t left = MAX(most - MAX(used - cache, 0), 0);
    if (left >= out->free)
        return;
    out->free = left;
    out->most = most;
    out->cgroup = true;
    str_fmt(out->where, sizeof out->where, "%s/%s", dir, names[version - 1].limit);
}

void meminfo_limit(const char *root, struct meminfo_limit *out)
{
    char path[PATH], text[FILE_MAX];
    *out = (struct meminfo_limit){.free = INT64_MAX, .most = INT64_MAX};
    str_fmt(path, sizeof path, "%s/proc/meminfo", root);
    if (slurp(path, text, sizeof text) && field(text, "MemAvailable") >= 0) {
        out->free = field(text, "MemAvailable") * 1024;
        out->most = field(text, "MemTotal") * 1024;
        str_copy(out->where, sizeof out->where, path);
    }
    each_group(root, "memory", take_memory, out);
}

/* --- processors --- */

/* cpu.max is "QUOTA PERIOD" or "max PERIOD". */
static void take_cpu(void *arg, int version, const char *dir)
{
    int *least = arg;
    char path[PATH + 40], text[80];
    int64_t quota = -1, period = 0;
    str_fmt(path, sizeof path, "%s/cpu.max", dir);
    if (version == 1) {
        quota = number_file(dir, "cpu.cfs_quota_us");
        period = number_file(dir, "cpu.cfs_period_us");
    } else if (slurp(path, text, sizeof text)) {
        char *end = text;
        quota = strtoll(text, &end, 10);
        period = strtoll(end, NULL, 10);
    }
    if (quota <= 0 || period <= 0)
        return;
    int n = (int)MIN((quota + period - 1) / period, INT64_C(4096));
    *least = *least == 0 ? n : MIN(*least, n);
}

int meminfo_cpu_quota(const char *root)
{
    int least = 0;
    each_group(root, "cpu", take_cpu, &least);
    return least;
}
