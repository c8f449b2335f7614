/* sandbox_exec.c - the last steps in the child: terminal, descriptors, ids,
 * capabilities, and the program itself, directly or through proot. */
#include "k8s/practice/sandbox_in.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/mem.h"

void sandbox_take_io(const struct sandbox_io *io, const struct sandbox_pipe *p)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    setsid();
    if (io->tty)
        ioctl(io->fd[0], TIOCSCTTY, 0);
    int fd[3];
    for (int i = 0; i < 3; i++)         /* out of the way of 0..2 first */
        fd[i] = fcntl(io->fd[i], F_DUPFD, 3);
    for (int i = 0; i < 3; i++)
        if (fd[i] < 0 || dup2(fd[i], i) < 0)
            sandbox_die(p, 'x', "descriptors: %s", strerror(errno));
    /* all others close on exec; those before p->out and after it at once */
    syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */);
    umask(022);
}

/* The set that container engines leave: chown, dac_override, fowner, fsetid,
 * kill, setgid, setuid, setpcap, net_bind_service, net_raw, sys_chroot, mknod,
 * audit_write, setfcap; without sys_chroot, which could leave a plain chroot, and
 * without mknod, since no device cgroup stands behind it here. */
static void drop_capabilities(bool root)
{
    static const int keep[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_KILL,
                               CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_NET_BIND_SERVICE,
                               CAP_NET_RAW, CAP_AUDIT_WRITE, CAP_SETFCAP};
    uint64_t mask = 0;
    for (size_t i = 0; i < ARRAY_LEN(keep); i++)
        mask |= UINT64_C(1) << keep[i];
    for (int c = 0; c <= 63; c++)
        if (!(mask >> c & 1))
            prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
    if (!root)
        return;                         /* setuid cleared them all */
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    for (int i = 0; i < 2; i++) {
        data[i].effective = data[i].permitted = (uint32_t)(mask >> (32 * i));
        data[i].inheritable = 0;
    }
    syscall(SYS_capset, &head, data);
}

static void become(const struct shim_spec *spec, const struct sandbox_pipe *p)
{
    gid_t gid = (gid_t)spec->gid;
    if (setgroups(1, &gid) < 0 && errno != EPERM)    /* EPERM: "deny" in a user namespace */
        sandbox_die(p, 'x', "groups: %s", strerror(errno));
    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
    drop_capabilities(false);
    if (setresgid(gid, gid, gid) < 0 ||
        setresuid((uid_t)spec->uid, (uid_t)spec->uid, (uid_t)spec->uid) < 0)
        sandbox_die(p, 'x', "user %d:%d: %s", spec->uid, spec->gid, strerror(errno));
    if (spec->uid == 0)
        drop_capabilities(true);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);   /* a change of ids cleared it */
}

static const char *env_value(const struct strv *env, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = env->n; i-- > 0;)
        if (strncmp(env->v[i], name, n) == 0 && env->v[i][n] == '=')
            return env->v[i] + n + 1;
    return NULL;
}

/* In the wording of container runtimes, which the kubelet hands on. */
static NORETURN void exec_failed(const char *name, const char *tried, int error,
                                 const struct sandbox_pipe *p)
{
    if (!strchr(name, '/'))
        sandbox_die(p, 'x', "exec: \"%s\": executable file not found in $PATH", name);
    if (error == ENOENT && access(tried, F_OK) != 0)
        sandbox_die(p, 'x', "exec: \"%s\": stat %s: no such file or directory", name, tried);
    if (error == EACCES)
        sandbox_die(p, 'x', "exec: \"%s\": permission denied", name);
    char text[128];
    str_copy(text, sizeof text, strerror(error));
    if (text[0] >= 'A' && text[0] <= 'Z')
        text[0] = (char)(text[0] + 32);
    sandbox_die(p, 'x', "exec %s: %s", name, text);
}

static NORETURN void run(const struct strv *argv, const struct strv *env,
                         const struct sandbox_pipe *p)
{
    char tried[4096];
    const char *name = argv->v[0], *path = env_value(env, "PATH");
    if (strchr(name, '/')) {
        execve(name, argv->v, env->v);
        exec_failed(name, name, errno, p);
    }
    if (!path)
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    while (*path) {
        size_t n = strcspn(path, ":");
        if (n + strlen(name) + 2 < sizeof tried) {
            str_fmt(tried, sizeof tried, "%.*s/%s", (int)n, path, name);
            execve(tried, argv->v, env->v);
            if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
                exec_failed(tried, tried, errno, p);
        }
        path += n + (path[n] == ':');
    }
    exec_failed(name, name, ENOENT, p);
}

void sandbox_exec(const struct shim_spec *spec, const struct strv *argv,
                  const struct sandbox_io *io, const struct sandbox_pipe *p)
{
    sandbox_take_io(io, p);
    become(spec, p);
    if (chdir(spec->cwd && *spec->cwd ? spec->cwd : "/") < 0)
        sandbox_die(p, 'x', "chdir to cwd (\"%s\"): %s", spec->cwd, strerror(errno));
    run(argv, &spec->env, p);
}

/* --- proot ------------------------------------------------------------------- */

static const char *find_proot(void)
{
    static const char *const places[] = {"/usr/bin/proot", "/usr/local/bin/proot", "/bin/proot"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* proot is silent about a missing program until it runs: look first. */
static void check_program(const struct shim_spec *spec, const char *name,
                          const struct sandbox_pipe *p)
{
    char path[4096];
    struct stat st;
    const char *dirs = env_value(&spec->env, "PATH");
    if (!dirs)
        dirs = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    if (strchr(name, '/')) {
        str_fmt(path, sizeof path, "%s%s%s", spec->rootfs, name[0] == '/' ? "" : "/", name);
        if (lstat(path, &st) < 0)
            exec_failed(name, path, ENOENT, p);
        return;
    }
    while (*dirs) {
        size_t n = strcspn(dirs, ":");
        str_fmt(path, sizeof path, "%s%.*s/%s", spec->rootfs, (int)n, dirs, name);
        if (lstat(path, &st) == 0)
            return;
        dirs += n + (dirs[n] == ':');
    }
    exec_failed(name, name, ENOENT, p);
}

/* proot takes names: that of what was found inside the volume. */
static void proot_bind(struct strv *a, const struct shim_bind *b, const struct sandbox_pipe *p)
{
    char link[64], from[4096];
    int fd = sandbox_source(b->from, b->sub);
    str_fmt(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = fd < 0 ? -1 : readlink(link, from, sizeof from - 1);
    if (n < 0)
        sandbox_die(p, 'x', "mount of %s on %s: %s", b->sub ? b->sub : b->from, b->to,
                    strerror(errno));
    from[n] = '\0';
    close(fd);
    strv_pushf(a, "--bind=%s:%s", from, b->to);
}

void sandbox_proot_exec(const struct shim_spec *spec, const struct strv *argv,
                        const struct sandbox_io *io, const struct sandbox_pipe *p)
{
    struct strv a, env;
    const char *proot = find_proot();
    if (!proot)
        sandbox_die(p, 'k', "proot is not installed (Debian package proot)");
    check_program(spec, argv->v[0], p);
    strv_init(&a);
    strv_init(&env);
    strv_push(&a, "proot");
    strv_pushf(&a, "--rootfs=%s", spec->rootfs);
    strv_push(&a, "--bind=/proc");
    strv_push(&a, "--bind=/dev");
    for (size_t i = 0; i < spec->binds; i++)
        proot_bind(&a, &spec->bind[i], p);
    strv_pushf(&a, "--cwd=%s", spec->cwd && *spec->cwd ? spec->cwd : "/");
    strv_pushf(&a, "--change-id=%d:%d", spec->uid, spec->gid);
    for (size_t i = 0; i < argv->n; i++)
        strv_push(&a, argv->v[i]);
    for (size_t i = 0; i < spec->env.n; i++)
        strv_push(&env, spec->env.v[i]);
    sandbox_take_io(io, p);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    execve(proot, a.v, env.v);
    sandbox_die(p, 'k', "proot: %s", strerror(errno));
}
