/* sandbox.c - choosing a kind of sandbox, starting and joining (sandbox.h). */
#include "k8s/practice/sandbox_in.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/i18n.h"

static const struct {
    const char *name, *missing;
    int flags;
} kinds[SANDBOX_KINDS] = {
    {"namespaces", "", CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS},
    {"user-namespace", "",
     CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS},
    {"proot", N_("processes, mounts and host name are not isolated (proot shows the image as /)"),
     0},
};

const char *sandbox_kind_name(enum sandbox_kind kind)
{
    return kinds[kind].name;
}

void sandbox_die(const struct sandbox_pipe *p, char kind, const char *fmt, ...)
{
    char text[500];
    va_list ap;
    text[0] = kind;
    va_start(ap, fmt);
    vsnprintf(text + 1, sizeof text - 1, fmt, ap);
    va_end(ap);
    ssize_t n = write(p->out, text, strlen(text));
    _exit(n > 0 ? 127 : 126);
}

enum pd_code sandbox_verdict(int fd, bool *other, struct pd_err *err)
{
    char text[500];
    size_t len = 0;
    ssize_t n;
    while ((n = read(fd, text + len, sizeof text - 1 - len)) > 0 || (n < 0 && errno == EINTR))
        len += n > 0 ? (size_t)n : 0;
    close(fd);
    if (len == 0)
        return PD_OK;
    text[len] = '\0';
    *other = text[0] == 'k';
    return pd_fail(err, PD_SANDBOX, "%s", text + 1);
}

/* A user namespace with the one id that we are, seen as the spec's. */
static bool write_maps(pid_t pid, const struct shim_spec *spec)
{
    const struct {
        const char *file;
        int inside;
        unsigned outside;
    } maps[] = {{"setgroups", -1, 0}, {"gid_map", spec->gid, getegid()},
                {"uid_map", spec->uid, geteuid()}};
    for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
        char path[64], text[64];
        str_fmt(path, sizeof path, "/proc/%d/%s", (int)pid, maps[i].file);
        if (maps[i].inside < 0)
            str_copy(text, sizeof text, "deny");
        else
            str_fmt(text, sizeof text, "%d %u 1", maps[i].inside, maps[i].outside);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
        if (fd >= 0)
            close(fd);
        if (!ok)
            return false;
    }
    return true;
}

static NORETURN void child(const struct shim_spec *spec, const struct sandbox_io *io,
                           enum sandbox_kind kind, const struct sandbox_pipe *p)
{
    char go;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(p->in, &go, 1) < 0 && errno == EINTR)
        ;
    if (kind == SANDBOX_PROOT)
        sandbox_proot_exec(spec, &spec->argv, io, p);
    sandbox_enter_root(spec, p);
    sandbox_exec(spec, &spec->argv, io, p);
}

static void reap(pid_t pid)
{
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Both directions; all four descriptors close on exec. */
static bool make_pipes(int to_child[2], int to_parent[2])
{
    if (pipe2(to_child, O_CLOEXEC) < 0)
        return false;
    if (pipe2(to_parent, O_CLOEXEC) == 0)
        return true;
    close(to_child[0]);
    close(to_child[1]);
    return false;
}

static enum pd_code try_kind(const struct shim_spec *spec, const struct sandbox_io *io,
                             enum sandbox_kind kind, void (*ready)(void *, pid_t), void *arg,
                             pid_t *pid, bool *other, struct pd_err *err)
{
    int down[2], up[2];
    *other = true;
    if (!make_pipes(down, up))
        return pd_fail_errno(err, PD_SANDBOX, "no pipe");
    /* clone without a stack is fork into new namespaces */
    *pid = (pid_t)syscall(SYS_clone, (long)kinds[kind].flags | SIGCHLD, 0, 0, 0, 0);
    if (*pid == 0) {
        close(down[1]);
        close(up[0]);
        child(spec, io, kind, &(struct sandbox_pipe){down[0], up[1]});
    }
    close(down[0]);
    close(up[1]);
    if (*pid < 0 || (kind == SANDBOX_USERNS && !write_maps(*pid, spec))) {
        pd_fail_errno(err, PD_SANDBOX, "%s: the kernel refuses it", kinds[kind].name);
        close(down[1]);
        close(up[0]);
        if (*pid > 0)
            reap(*pid);
        return PD_SANDBOX;
    }
    if (ready)
        ready(arg, *pid);
    bool told = write(down[1], "g", 1) == 1;
    close(down[1]);
    enum pd_code rc = sandbox_verdict(up[0], other, err);
    if (rc == PD_OK && !told)
        rc = pd_fail(err, PD_SANDBOX, "the child is gone");
    if (rc != PD_OK)
        reap(*pid);
    return rc;
}

/* Root needs no user namespace, unless it is one without CAP_SYS_ADMIN. */
static bool worth_trying(enum sandbox_kind kind, const struct shim_spec *spec)
{
    if (spec->force && *spec->force)
        return strcmp(spec->force, kinds[kind].name) == 0;
    return kind != SANDBOX_NAMESPACES || geteuid() == 0;
}

enum pd_code sandbox_start(const struct shim_spec *spec, const struct sandbox_io *io,
                           void (*ready)(void *, pid_t), void *arg, pid_t *pid,
                           struct sandbox_report *report, struct pd_err *err)
{
    char why[400] = "";
    enum pd_code rc = pd_fail(err, PD_SANDBOX, "no kind of sandbox was tried");
    for (int k = 0; k < SANDBOX_KINDS; k++) {
        bool other = false;
        if (!worth_trying((enum sandbox_kind)k, spec))
            continue;
        rc = try_kind(spec, io, (enum sandbox_kind)k, ready, arg, pid, &other, err);
        if (rc == PD_OK) {
            report->kind = (enum sandbox_kind)k;
            str_fmt(report->missing, sizeof report->missing, "%s%s%s", kinds[k].missing,
                    *kinds[k].missing && *why ? ": " : "", *kinds[k].missing ? why : "");
            return PD_OK;
        }
        if (!other)
            return rc;
        str_copy(why, sizeof why, err->msg);
    }
    return rc;
}

/* --- join ------------------------------------------------------------------- */

/* In a helper: enter the namespaces of target, then make a child that counts
 * as the caller's own (CLONE_PARENT), since pid namespaces bind children only. */
static NORETURN void join_helper(const struct shim_spec *spec, enum sandbox_kind kind,
                                 pid_t target, const struct strv *argv,
                                 const struct sandbox_io *io, const struct sandbox_pipe *p,
                                 int pid_out)
{
    static const char *const names[] = {"user", "ipc", "uts", "pid", "mnt"};
    int ns[ARRAY_LEN(names)], root;
    char path[64], go;
    /* what runs in there must not reach into us before we are one of them (exec
     * makes a program dumpable again) */
    prctl(PR_SET_DUMPABLE, 0);
    while (read(p->in, &go, 1) < 0 && errno == EINTR)
        ;
    str_fmt(path, sizeof path, "/proc/%d/root", (int)target);
    root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        str_fmt(path, sizeof path, "/proc/%d/ns/%s", (int)target, names[i]);
        ns[i] = i == 0 && kind != SANDBOX_USERNS ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        if (ns[i] < 0 && (i > 0 || kind == SANDBOX_USERNS))
            sandbox_die(p, 'x', "container not running: %s: %s", path, strerror(errno));
    }
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (ns[i] >= 0 && setns(ns[i], 0) < 0)
            sandbox_die(p, 'x', "the %s namespace can't be entered: %s", names[i],
                        strerror(errno));
    if (root < 0 || fchdir(root) < 0 || chroot(".") < 0)
        sandbox_die(p, 'x', "the container's root can't be entered: %s", strerror(errno));
    pid_t pid = (pid_t)syscall(SYS_clone, (long)CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid < 0 && errno == ENOMEM)     /* what a pid namespace says whose init has ended */
        sandbox_die(p, 'x', "container not running");
    if (pid < 0)
        sandbox_die(p, 'x', "no process can be made: %s", strerror(errno));
    if (pid == 0)
        sandbox_exec(spec, argv, io, p);
    _exit(write(pid_out, &pid, sizeof pid) == sizeof pid ? 0 : 1);
}

static enum pd_code join_namespaces(const struct shim_spec *spec, enum sandbox_kind kind,
                                    pid_t target, const struct strv *argv,
                                    const struct sandbox_io *io, void (*ready)(void *, pid_t),
                                    void *arg, pid_t *pid, struct pd_err *err)
{
    int down[2], up[2], num[2];
    bool other;
    if (!make_pipes(down, up))
        return pd_fail_errno(err, PD_SANDBOX, "no pipe");
    pid_t helper = pipe2(num, O_CLOEXEC) < 0 ? -1 : fork();
    if (helper == 0)
        join_helper(spec, kind, target, argv, io, &(struct sandbox_pipe){down[0], up[1]}, num[1]);
    close(down[0]);
    close(up[1]);
    if (helper > 0) {
        close(num[1]);
        if (ready)
            ready(arg, helper);
        bool told = write(down[1], "g", 1) == 1;
        if (!told || read(num[0], pid, sizeof *pid) != sizeof *pid)
            *pid = -1;
        close(num[0]);
    }
    close(down[1]);
    enum pd_code rc = sandbox_verdict(up[0], &other, err);
    if (helper > 0)
        while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
            ;
    if (rc != PD_OK && helper > 0 && *pid > 0)
        reap(*pid);
    if (rc == PD_OK && (helper < 0 || *pid <= 0))
        rc = pd_fail(err, PD_SANDBOX, "no process can be made");
    return rc;
}

enum pd_code sandbox_join(const struct shim_spec *spec, enum sandbox_kind kind, pid_t target,
                          const struct strv *argv, const struct sandbox_io *io,
                          void (*ready)(void *, pid_t), void *arg, pid_t *pid, struct pd_err *err)
{
    if (kind != SANDBOX_PROOT)
        return join_namespaces(spec, kind, target, argv, io, ready, arg, pid, err);
    struct shim_spec copy = *spec;      /* shares all but argv */
    bool other;
    copy.argv = *argv;
    return try_kind(&copy, io, kind, ready, arg, pid, &other, err);
}

pid_t sandbox_inner(enum sandbox_kind kind, pid_t pid)
{
    char path[64], text[32];
    if (kind != SANDBOX_PROOT)
        return pid;
    str_fmt(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[MAX(n, 0)] = '\0';
    return n > 0 ? (pid_t)strtol(text, NULL, 10) : pid;
}
