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
static int target(const struct root *r, const char *want, bool folder)
{
    char path[PATH_MAX];
    int links = 0, fd = open_inside(r->fd, want, O_PATH, 0);
    if (fd >= 0 || errno != ENOENT || want[0] != '/' || strlen(want) >= sizeof path)
        return fd;
    str_copy(path, sizeof path, want);
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (!make_folders(r->fd, path, folder, &links))
        return -1;
    while (!folder) {
        int made = open_inside(r->fd, path, O_WRONLY | O_CREAT, 0644), before = links;
        if (made >= 0) {
            close(made);
            break;
        }
        if (errno != ENOENT || !make_or_follow(r->fd, path, strlen(path), &links) ||
            links == before || !make_folders(r->fd, path, false, &links))
            return -1;
    }
    return open_inside(r->fd, path, O_PATH, 0);
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
static unsigned long locked_flags(const char *path)
{
    static const struct {
        unsigned long st, ms;
    } map[] = {{ST_NOSUID, MS_NOSUID}, {ST_NODEV, MS_NODEV}, {ST_NOEXEC, MS_NOEXEC},
               {ST_RDONLY, MS_RDONLY}, {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}};
    struct statvfs v;
    unsigned long flags = 0;
    if (statvfs(path, &v) == 0)
        for (size_t i = 0; i < ARRAY_LEN(map); i++)
            flags |= v.f_flag & map[i].st ? map[i].ms : 0;
    return flags;
}

static void bind_one(const struct root *r, const char *from, const char *to, bool read_only)
{
    struct stat st;
    if (stat(from, &st) < 0)
        sandbox_die(r->pipe, 'x', "mount of %s on %s: %s", from, to, strerror(errno));
    int fd = target(r, to, S_ISDIR(st.st_mode));
    if (fd < 0 || !mount_at(r, fd, from, NULL, MS_BIND | MS_REC, NULL))
        sandbox_die(r->pipe, fd < 0 ? 'x' : 'k', "mount of %s on %s: %s", from, to,
                    strerror(errno));
    close(fd);
    if (!read_only)
        return;
    fd = target(r, to, S_ISDIR(st.st_mode));       /* now the mount itself */
    unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | locked_flags(from);
    if (fd < 0 || !mount_at(r, fd, NULL, NULL, flags, NULL))
        sandbox_die(r->pipe, 'k', "read-only mount of %s: %s", to, strerror(errno));
    close(fd);
}

/* A fresh /proc; where the kernel refuses one (masked below us), the host's. */
static void mount_proc(const struct root *r)
{
    int fd = target(r, "/proc", true);
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
    int fd = target(r, "/dev", true);
    if (fd < 0 || !mount_at(r, fd, "tmpfs", "tmpfs", MS_NOSUID, "mode=755,size=64k"))
        sandbox_die(r->pipe, 'k', "mount of /dev: %s", strerror(errno));
    close(fd);
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++) {
        char path[64];
        str_fmt(path, sizeof path, "/dev/%s", nodes[i]);
        if (access(path, F_OK) == 0)
            bind_one(r, path, path, false);
    }
    int dev = open_inside(r->fd, "/dev", O_PATH | O_DIRECTORY, 0);
    for (size_t i = 0; dev >= 0 && i < ARRAY_LEN(links); i++)
        if (symlinkat(links[i].to, dev, links[i].at) < 0)
            sandbox_die(r->pipe, 'k', "/dev/%s: %s", links[i].at, strerror(errno));
    if (dev >= 0)
        close(dev);
    int pts = target(r, "/dev/pts", true), shm = target(r, "/dev/shm", true);
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
    if (r.fd < 0)
        sandbox_die(p, 'k', "%s: %s", spec->rootfs, strerror(errno));
    mount_proc(&r);
    make_dev(&r);
    for (size_t i = 0; i < spec->binds; i++)
        bind_one(&r, spec->bind[i].from, spec->bind[i].to, spec->bind[i].read_only);
    const char *cwd = spec->cwd && *spec->cwd ? spec->cwd : "/";
    int fd = target(&r, cwd, true);
    if (fd < 0)
        sandbox_die(p, 'x', "the working directory %s can't be made: %s", cwd, strerror(errno));
    close(fd);
    change_root(&r);
    close(r.fd);
    if (spec->hostname && sethostname(spec->hostname, strlen(spec->hostname)) < 0)
        sandbox_die(p, 'k', "host name: %s", strerror(errno));
}
