/* child.c - child processes on the loop (child.h): posix_spawn, three pipes and
 * a pidfd. Where the kernel has no pidfd_open, a timer asks waitpid. A forgotten
 * child that does not die at once is reaped later by the same means, or by init
 * when the loop is gone. */
#include "core/io/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/lines.h"
#include "core/base/mem.h"
#include "core/io/loop_io.h"

enum { STDERR_KEEP = 64 << 10, STDIN_MAX = 16 << 20, REAP_MS = 20, LINGER_MS = 2000 };
enum { READ_TURN = 64 << 10 };

extern char **environ;

struct child {
    struct loop *loop;
    struct loop_tenant tenant;
    struct child_spec spec;
    pid_t pid;
    int in, out, err, pidfd;         /* -1: closed */
    struct lines lines;
    struct str errors, input;
    bool close_input, exited, forgotten, busy;
    int status;
    uint32_t reap, linger;
};

static void close_fd(struct child *c, int *fd)
{
    if (*fd < 0)
        return;
    loop_fd_remove(c->loop, *fd);
    close(*fd);
    *fd = -1;
}

static void release(void *arg)
{
    struct child *c = arg;
    loop_tenant_remove(c->loop, &c->tenant);
    close_fd(c, &c->in);
    close_fd(c, &c->out);
    close_fd(c, &c->err);
    close_fd(c, &c->pidfd);
    loop_timer_cancel(c->loop, c->reap);
    loop_timer_cancel(c->loop, c->linger);
    lines_release(&c->lines);
    str_release(&c->errors);
    str_release(&c->input);
    free(c);
}

static void on_line(void *arg, char *line, size_t n, bool cut UNUSED)
{
    struct child *c = arg;
    if (c->spec.line && !c->forgotten)
        c->spec.line(c->spec.arg, line, n);
}

/* All is said when the process is gone and both pipes are at their end. */
static void maybe_end(struct child *c)
{
    if (c->busy || !c->exited || (!c->forgotten && (c->out >= 0 || c->err >= 0)))
        return;
    if (!c->forgotten && c->spec.exit) {
        int code = WIFEXITED(c->status) ? WEXITSTATUS(c->status) : -1;
        int signo = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
        c->busy = true;
        c->spec.exit(c->spec.arg, code, signo, c->errors.p);
    }
    release(c);
}

static void end_of_pipe(struct child *c, int *fd)
{
    close_fd(c, fd);
    if (fd == &c->out)
        lines_end(&c->lines, on_line, c);
}

static void on_linger(void *arg)
{
    struct child *c = arg;
    c->linger = 0;
    c->busy = true;
    end_of_pipe(c, &c->out);
    end_of_pipe(c, &c->err);
    c->busy = false;
    maybe_end(c);
}

static void reaped(struct child *c)
{
    c->exited = true;
    close_fd(c, &c->in);
    close_fd(c, &c->pidfd);
    loop_timer_cancel(c->loop, c->reap);
    c->reap = 0;
    if (!c->forgotten)
        c->linger = loop_timer(c->loop, LINGER_MS, on_linger, c, "child pipes");
    maybe_end(c);
}

static bool try_wait(struct child *c)
{
    pid_t got;
    do
        got = waitpid(c->pid, &c->status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        c->status = 0x7f00;          /* someone else took it: nothing is known */
    return got != 0;
}

static void on_pidfd(void *arg, int fd UNUSED, int events UNUSED)
{
    struct child *c = arg;
    if (try_wait(c))
        reaped(c);
}

static void on_reap_timer(void *arg)
{
    struct child *c = arg;
    c->reap = 0;
    if (try_wait(c))
        reaped(c);
    else
        c->reap = loop_timer(c->loop, REAP_MS, on_reap_timer, c, "child reaping");
}

static void keep_errors(struct child *c, const char *p, size_t n)
{
    if (n > STDERR_KEEP) {
        p += n - STDERR_KEEP;
        n = STDERR_KEEP;
    }
    if (c->errors.len + n > STDERR_KEEP)
        str_consume(&c->errors, c->errors.len + n - STDERR_KEEP);
    str_append(&c->errors, p, n);
}

static void on_output(void *arg, int fd, int events UNUSED)
{
    struct child *c = arg;
    int *slot = fd == c->out ? &c->out : &c->err;
    char buf[16 << 10];
    c->busy = true;
    for (size_t total = 0; total < READ_TURN && *slot >= 0;) {
        ssize_t n = read(fd, buf, sizeof buf);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0)
            end_of_pipe(c, slot);
        else if (slot == &c->out)
            lines_feed(&c->lines, buf, (size_t)n, on_line, c);
        else
            keep_errors(c, buf, (size_t)n);
        total += n > 0 ? (size_t)n : 0;
    }
    c->busy = false;
    maybe_end(c);
}

/* --- stdin --- */

static void on_input(void *arg, int fd, int events UNUSED)
{
    struct child *c = arg;
    while (c->input.len > 0) {
        ssize_t n = write(fd, c->input.p, c->input.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            str_clear(&c->input);
            close_fd(c, &c->in);     /* it reads no more */
            return;
        }
        str_consume(&c->input, (size_t)n);
    }
    if (c->close_input)
        close_fd(c, &c->in);
    else
        loop_fd_remove(c->loop, fd);
}

void child_write(struct child *c, const void *p, size_t n)
{
    if (c->in < 0 || c->close_input)
        return;
    str_append(&c->input, p, n);
    loop_fd(c->loop, c->in, LOOP_WRITE, on_input, c);
}

void child_close_stdin(struct child *c)
{
    c->close_input = true;
    if (c->in >= 0 && c->input.len == 0)
        close_fd(c, &c->in);
}

/* --- start --- */

struct pipes {
    int in[2], out[2], err[2];
};

static bool make_pipes(struct pipes *p, bool want_stdin)
{
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    bool ok = pipe2(p->out, O_CLOEXEC) == 0 && pipe2(p->err, O_CLOEXEC) == 0;
    if (want_stdin)
        return ok && pipe2(p->in, O_CLOEXEC) == 0;
    p->in[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return ok && p->in[0] >= 0;
}

static void close_pipes(struct pipes *p)
{
    int all[] = {p->in[0], p->in[1], p->out[0], p->out[1], p->err[0], p->err[1]};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (all[i] >= 0)
            close(all[i]);
}

static int spawn(const struct child_spec *spec, const struct pipes *p, pid_t *pid)
{
    short own_group = spec->terminal ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, spec->terminal ? 0 : p->in[0], 0);
    posix_spawn_file_actions_adddup2(&files, p->out[1], 1);
    posix_spawn_file_actions_adddup2(&files, spec->terminal ? 2 : p->err[1], 2);
    if (spec->cwd)
        posix_spawn_file_actions_addchdir_np(&files, spec->cwd);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, (short)(own_group | POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF));
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    int rc = posix_spawnp(pid, spec->argv[0], &files, &attr, spec->argv,
                          spec->env ? spec->env : environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return rc;
}

static void unblock(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void watch_child(struct child *c)
{
    unblock(c->out);
    unblock(c->err);
    if (c->in >= 0)
        unblock(c->in);
    loop_fd(c->loop, c->out, LOOP_READ, on_output, c);
    loop_fd(c->loop, c->err, LOOP_READ, on_output, c);
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pidfd >= 0)
        loop_fd(c->loop, c->pidfd, LOOP_READ, on_pidfd, c);
    else
        c->reap = loop_timer(c->loop, REAP_MS, on_reap_timer, c, "child reaping");
}

enum pd_code child_start(struct loop *l, const struct child_spec *spec, struct child **out,
                         struct pd_err *err)
{
    struct pipes p;
    pid_t pid;
    if (!make_pipes(&p, spec->want_stdin)) {
        int saved = errno;
        close_pipes(&p);
        errno = saved;
        return pd_fail_errno(err, PD_IO, _("no pipe for %s"), spec->argv[0]);
    }
    int rc = spawn(spec, &p, &pid);
    if (rc != 0) {
        close_pipes(&p);
        errno = rc;
        pd_fail_errno(err, rc == ENOENT ? PD_NOTFOUND : PD_IO, _("%s can't be started"),
                      spec->argv[0]);
        return pd_set_hint(err, _("check that the program is installed and in $PATH"));
    }
    struct child *c = xcalloc(1, sizeof *c);
    c->loop = l;
    c->tenant = (struct loop_tenant){.drop = release, .arg = c};
    loop_tenant_add(l, &c->tenant);
    c->spec = *spec;
    c->spec.argv = c->spec.env = NULL;
    c->spec.cwd = NULL;
    c->pid = pid;
    c->in = p.in[1];
    c->out = p.out[0];
    c->err = p.err[0];
    close(p.in[0]);
    close(p.out[1]);
    close(p.err[1]);
    lines_init(&c->lines, spec->line_ceiling ? spec->line_ceiling : 1 << 20);
    str_init(&c->errors, STDERR_KEEP + 1);
    str_init(&c->input, STDIN_MAX);
    watch_child(c);
    *out = c;
    return PD_OK;
}

void child_kill(struct child *c, int signo)
{
    if (!c->exited)
        kill(c->spec.terminal ? c->pid : -c->pid, signo);
}

void child_forget(struct child *c)
{
    if (!c)
        return;
    c->forgotten = true;
    close_fd(c, &c->in);
    close_fd(c, &c->out);
    close_fd(c, &c->err);
    if (!c->exited) {
        kill(c->spec.terminal ? c->pid : -c->pid, SIGKILL);
        for (int i = 0; i < 3 && !c->exited; i++) {
            c->exited = try_wait(c);
            if (!c->exited)
                usleep(500);
        }
    }
    maybe_end(c);
}

int child_pid(const struct child *c)
{
    return c->pid;
}
