/* sandbox_root.c - the container's view of files: binds, /proc, /dev, and the
 * unpacked image as "/". Runs in the child, in its own mount namespace. */
#include "k8s/practice/sandbox_in.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

struct root {
    int fd;                           /* of the image's top folder */
    const char *path;
    const struct sandbox_pipe *pipe;
};

/* Open a path as the container would see it; -1 when it is not there. */
static int open_inside(int at, const char *path, uint64_t flags, uint64_t mode)
{
    struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE_IN_ROOT};
    return (int)syscall(SYS_openat2, at, path, &how, sizeof how);
}

enum { LINKS_MAX = 16 };

/* path[0..slash) is missing or is a link to nothing: make it, or put the
 * link's target in its place. false: neither worked. */
static bool make_or_follow(int at, char path[PATH_MAX], size_t n, int *links)
{
    char name[PATH_MAX], to[PATH_MAX], rest[PATH_MAX];
    str_copy(name, MIN(sizeof name, n + 1), path);
    char *slash = strrchr(name, '/');
    *slash = '\0';
    int dir = open_inside(at, *name ? name : "/", O_PATH | O_DIRECTORY, 0);
    ssize_t len = dir < 0 ? -1 : readlinkat(dir, slash + 1, to, sizeof to - 1);
    bool ok = dir >= 0;
    if (len >= 0) {
        to[len] = '\0';
        str_copy(rest, sizeof rest, path + n);
        ok = ++*links < LINKS_MAX &&
             snprintf(path, PATH_MAX, "%s%s%s%s", to[0] == '/' ? "" : name,
                      to[0] == '/' ? "" : "/", to, rest) < PATH_MAX;
    } else if (ok) {
        ok = mkdirat(dir, slash + 1, 0755) == 0;
    }
    if (dir >= 0)
        close(dir);
    return ok;
}

/* Make the first n bytes of path a folder; path changes when links lead on. */
static bool make_folders(int at, char path[PATH_MAX], bool all, int *links)
{
    for (size_t i = 1;; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        if (path[i] == '\0' && !all)
            return true;
        char part[PATH_MAX];
        str_copy(part, MIN(sizeof part, i + 1), path);
        int fd = open_inside(at, part, O_PATH | O_DIRECTORY, 0), before = *links;
        if (fd >= 0)
            close(fd);
        else if (errno != ENOENT || !make_or_follow(at, path, i, links))
            return false;
        if (*links != before)
            i = 0;                      /* from the start, along the link */
        else if (path[i] == '\0')
            return true;
    }
}

/* A place to mount on, made when missing; an O_PATH descriptor or -1. */
static int target(int root, const char *want, bool folder)
{
    char path[PATH_MAX];
    int links = 0, fd = open_inside(root, want, O_PATH, 0);
    if (fd >= 0 || errno != ENOENT || want[0] != '/' || strlen(want) >= sizeof path)
        return fd;
    str_copy(path, sizeof path, want);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (!make_folders(root, path, folder, &links))
        return -1;
    while (!folder) {
        int made = open_inside(root, path, O_WRONLY | O_CREAT, 0644), before = links;
        if (made >= 0) {
            close(made);
            break;
        }
        if (errno != ENOENT || !make_or_follow(root, path, strlen(path), &links) ||
            links == before || !make_folders(root, path, false, &links))
            return -1;
    }
    return open_inside(root, path, O_PATH, 0);
}

int sandbox_source(const char *from, const char *sub)
{
    char want[PATH_MAX];
    int top = open(from, O_PATH | O_CLOEXEC);
    if (top < 0 || !sub)
        return top;
    int fd = -1;
    errno = ENAMETOOLONG;
    if (snprintf(want, sizeof want, "/%s", sub) < (int)sizeof want)
        fd = target(top, want, true);
    int saved = errno;
    close(top);
    errno = saved;
    return fd;
}

/* Through the container's own /proc, which is mounted first: there may be none
 * outside (a bare chroot). */
static bool mount_at(const struct root *r, int fd, const char *from, const char *type,
                     unsigned long flags, const char *data)
{
    char to[PATH_MAX];
    str_fmt(to, sizeof to, "%s/proc/self/fd/%d", r->path, fd);
    return mount(from, to, type, flags, data) == 0;
}

/* The locked flags of a file system must be kept when it is remounted. */
static unsigned long locked_flags(int fd)
{
    static const struct {
        unsigned long st, ms;
    } map[] = {{ST_NOSUID, MS_NOSUID}, {ST_NODEV, MS_NODEV}, {ST_NOEXEC, MS_NOEXEC},
               {ST_RDONLY, MS_RDONLY}, {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}};
    struct statvfs v;
    unsigned long flags = 0;
    if (fstatvfs(fd, &v) == 0)
        for (size_t i = 0; i < ARRAY_LEN(map); i++)
            flags |= v.f_flag & map[i].st ? map[i].ms : 0;
    return flags;
}

/* Mount what `from` is open on at `to`, where `at` is open; the flags (MS_RDONLY,
 * MS_NODEV …) are those of the mount itself. */
static bool bind_fd(const struct root *r, int from, int at, const char *to, unsigned long flags)
{
    char path[PATH_MAX];
    str_fmt(path, sizeof path, "%s/proc/self/fd/%d", r->path, from);
    if (!mount_at(r, at, path, NULL, MS_BIND | MS_REC, NULL))
        return false;
    int top = flags ? open_inside(r->fd, to, O_PATH, 0) : -1;
    flags |= MS_REMOUNT | MS_BIND | locked_flags(from);
    bool ok = top < 0 || mount_at(r, top, NULL, NULL, flags, NULL);
    if (top >= 0)
        close(top);
    return ok;
}

static void bind_one(const struct root *r, const struct shim_bind *b, unsigned long flags)
{
    struct stat st;
    int from = sandbox_source(b->from, b->sub);
    if (from < 0 || fstat(from, &st) < 0)
        sandbox_die(r->pipe, 'x', "mount of %s on %s: %s", b->sub ? b->sub : b->from, b->to,
                    strerror(errno));
    int at = target(r->fd, b->to, S_ISDIR(st.st_mode));
    if (at < 0 || !bind_fd(r, from, at, b->to, flags))
        sandbox_die(r->pipe, at < 0 ? 'x' : 'k', "mount of %s on %s: %s", b->from, b->to,
                    strerror(errno));
    close(at);
    close(from);
}

/* Root of the container is root of the machine where there is no user
 * namespace: what of /proc changes the kernel (sysctl, sysrq) is read-only, what
 * shows its memory and keys is /dev/null, as in container engines. */
static void guard_proc(const struct root *r)
{
    static const struct {
        const char *path;
        bool hidden;
    } parts[] = {{"/proc/bus", false}, {"/proc/fs", false}, {"/proc/irq", false},
                 {"/proc/sys", false}, {"/proc/sysrq-trigger", false}, {"/proc/kcore", true},
                 {"/proc/keys", true}, {"/proc/latency_stats", true}, {"/proc/timer_list", true}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        int at = open_inside(r->fd, parts[i].path, O_PATH, 0);
        if (at < 0)
            continue;
        int from = parts[i].hidden ? open("/dev/null", O_PATH | O_CLOEXEC) : dup(at);
        unsigned long flags = parts[i].hidden ? 0 : MS_RDONLY;
        if (from < 0 || !bind_fd(r, from, at, parts[i].path, flags))
            sandbox_die(r->pipe, 'k', "%s can't be guarded: %s", parts[i].path, strerror(errno));
        close(from);
        close(at);
    }
}

/* A fresh /proc; where the kernel refuses one (masked below us), the host's. */
static void mount_proc(const struct root *r)
{
    int fd = target(r->fd, "/proc", true);
    if (fd < 0 || fchdir(fd) < 0 ||
        (mount("proc", ".", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0 &&
         mount("/proc", ".", NULL, MS_BIND | MS_REC, NULL) < 0))
        sandbox_die(r->pipe, 'k', "mount of /proc: %s", strerror(errno));
    close(fd);
}

static void make_dev(const struct root *r)
{
    static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
    static const struct {
        const char *to, *at;
    } links[] = {{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"},
                 {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"},
                 {"pts/ptmx", "ptmx"}};
    int fd = target(r->fd, "/dev", true);
    if (fd < 0 || !mount_at(r, fd, "tmpfs", "tmpfs", MS_NOSUID | MS_NODEV,
                            "mode=755,size=64k"))
        sandbox_die(r->pipe, 'k', "mount of /dev: %s", strerror(errno));
    close(fd);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        char path[64];
        str_fmt(path, sizeof path, "/dev/%s", nodes[i]);
        if (access(path, F_OK) == 0)
            bind_one(r, &(struct shim_bind){.from = path, .to = path}, 0);
    }
    int dev = open_inside(r->fd, "/dev", O_PATH | O_DIRECTORY, 0);
    for (size_t i = 0; dev >= 0 && i < ARRAY_LEN(links); i++)
        if (symlinkat(links[i].to, dev, links[i].at) < 0)
            sandbox_die(r->pipe, 'k', "/dev/%s: %s", links[i].at, strerror(errno));
    if (dev >= 0)
        close(dev);
    int pts = target(r->fd, "/dev/pts", true), shm = target(r->fd, "/dev/shm", true);
    if (pts < 0 || !mount_at(r, pts, "devpts", "devpts", MS_NOSUID | MS_NOEXEC,
                             "newinstance,ptmxmode=0666,mode=0620"))
        sandbox_die(r->pipe, 'k', "mount of /dev/pts: %s", strerror(errno));
    if (shm < 0 || !mount_at(r, shm, "shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m"))
        sandbox_die(r->pipe, 'k', "mount of /dev/shm: %s", strerror(errno));
    close(pts);
    close(shm);
}

/* The image becomes "/". Inside a chroot pivot_root is refused; chroot stays,
 * and the program will not have CAP_SYS_CHROOT to leave it. */
static void change_root(const struct root *r)
{
    if (fchdir(r->fd) < 0)
        sandbox_die(r->pipe, 'k', "the root can't be entered: %s", strerror(errno));
    if (syscall(SYS_pivot_root, ".", ".") == 0) {
        if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
            sandbox_die(r->pipe, 'k', "the old root stays: %s", strerror(errno));
        return;
    }
    if (chroot(".") < 0 || chdir("/") < 0)
        sandbox_die(r->pipe, 'k', "the root can't be changed: %s", strerror(errno));
}

/* What we mount must not show in other namespaces. In a chroot "/" is no mount
 * and can't be made private: step out to the namespace's root for that. */
static bool make_private(const char *somewhere)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        return true;
    int home = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (errno != EINVAL || home < 0 || chroot(somewhere) < 0 || fchdir(home) < 0)
        return false;
    for (int i = 0; i < 128; i++)     /* below no root now: ".." leads up to the very top */
        if (chdir("..") < 0)
            return false;
    bool ok = chroot(".") == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
    ok = fchdir(home) == 0 && chroot(".") == 0 && ok;
    close(home);
    return ok;
}

void sandbox_enter_root(const struct shim_spec *spec, const struct sandbox_pipe *p)
{
    struct root r = {.path = spec->rootfs, .pipe = p};
    if (!make_private(spec->rootfs))
        sandbox_die(p, 'k', "the mounts can't be made private: %s", strerror(errno));
    if (mount(spec->rootfs, spec->rootfs, NULL, MS_BIND | MS_REC, NULL) < 0)
        sandbox_die(p, 'k', "mount of %s: %s", spec->rootfs, strerror(errno));
    r.fd = open(spec->rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* no devices but those of our /dev: an image may bring any */
    if (r.fd < 0 || mount(NULL, spec->rootfs, NULL,
                          MS_REMOUNT | MS_BIND | MS_NODEV | locked_flags(r.fd), NULL) < 0)
        sandbox_die(p, 'k', "%s: %s", spec->rootfs, strerror(errno));
    mount_proc(&r);
    make_dev(&r);
    guard_proc(&r);
    for (size_t i = 0; i < spec->binds; i++)
        bind_one(&r, &spec->bind[i], MS_NODEV | (spec->bind[i].read_only ? MS_RDONLY : 0));
    const char *cwd = spec->cwd && *spec->cwd ? spec->cwd : "/";
    int fd = target(r.fd, cwd, true);
    if (fd < 0)
        sandbox_die(p, 'x', "the working directory %s can't be made: %s", cwd, strerror(errno));
    close(fd);
    change_root(&r);
    close(r.fd);
    if (spec->hostname && sethostname(spec->hostname, strlen(spec->hostname)) < 0)
        sandbox_die(p, 'k', "host name: %s", strerror(errno));
}
