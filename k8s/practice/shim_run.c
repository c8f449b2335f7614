/* shim_run.c - the life of one container in its shim: start, log, limits,
 * end. One poll loop; the exit code is on disk before anyone hears of it. */
#include "k8s/practice/shim_in.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"

enum {
    SAMPLE_MS = 100,
    DRAIN_MS = 500,                   /* for pipes that a leftover process holds open */
    LEAVE_MS = 5000,                  /* for clients that read slowly */
    BUSY_OUT = 512 << 10,             /* unread bytes that stop us from reading more */
    POLL_MAX = 512
};

static int64_t now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void save_state(struct shim *s)
{
    struct pd_err err;
    for (int i = 0; i < 20; i++) {    /* a full disk may get room again */
        if (shim_state_write(&s->state, s->dir, &err) == PD_OK)
            return;
        usleep(250 * 1000);
    }
}

static NORETURN void start_failed(struct shim *s, int told, const char *message)
{
    s->state.finished_us = now_us();
    s->state.exit_code = 128;
    str_copy(s->state.reason, sizeof s->state.reason, "StartError");
    str_copy(s->state.message, sizeof s->state.message, message);
    save_state(s);
    cgroup_remove(&s->cgroup);
    ssize_t n = write(told, message, strlen(message));
    _exit(n > 0 ? 1 : 2);
}

static void ready(void *arg, pid_t pid)
{
    struct shim *s = arg;
    cgroup_add(&s->cgroup, pid);
}

static void note_missing(struct shim *s, const char *text)
{
    size_t n = strlen(s->state.missing);
    str_fmt(s->state.missing + n, sizeof s->state.missing - n, "%s%s", n ? "; " : "", text);
}

static void start_main(struct shim *s, int told)
{
    struct pd_err err;
    struct sandbox_io io;
    struct sandbox_report report = {0};
    if (!shim_proc_pipes(&s->main, s->spec.std_in, s->spec.tty, &io))
        start_failed(s, told, "no pipes for the container");
    if (crilog_open(&s->log, s->spec.log, s->spec.log_max, s->spec.log_keep, &err) != PD_OK)
        start_failed(s, told, err.msg);
    cgroup_make(&s->cgroup, s->spec.cgroup, s->spec.memory, s->spec.cpu_millis);
    if (sandbox_start(&s->spec, &io, ready, s, &s->main.pid, &report, &err) != PD_OK)
        start_failed(s, told, err.msg);
    shim_proc_close_child_ends(&io);
    s->kind = report.kind;
    s->state.started_us = now_us();
    for (int i = 0; i < 100; i++) {   /* proot makes its child a moment later */
        s->state.pid = sandbox_inner(s->kind, s->main.pid);
        if (s->kind != SANDBOX_PROOT || s->state.pid != s->main.pid)
            break;
        usleep(5000);
    }
    str_copy(s->state.isolation, sizeof s->state.isolation, sandbox_kind_name(s->kind));
    str_copy(s->state.missing, sizeof s->state.missing, report.missing);
    if (s->spec.memory > 0 && !s->cgroup.memory_limited) {
        note_missing(s, "the memory limit is sampled every 100 ms (no cgroup can be made)");
        s->sample_at = clock_ms() + SAMPLE_MS;
    }
    if (s->spec.cpu_millis > 0 && !s->cgroup.cpu_limited)
        note_missing(s, "the cpu limit is not enforced (no cgroup can be made)");
    save_state(s);
}

/* --- the end ------------------------------------------------------------------ */

static void finish(struct shim *s)
{
    struct shim_state *t = &s->state;
    int signo;
    crilog_close(&s->log);
    t->exit_code = shim_exit_code(s->main.status, &signo);
    if (s->kind == SANDBOX_PROOT && !signo && t->exit_code > 128 && t->exit_code < 128 + NSIG)
        signo = t->exit_code - 128;   /* proot turns the signal into a code */
    t->signal = signo;
    t->finished_us = now_us();
    bool oom = s->oom_rss > 0 || (cgroup_oom_kills(&s->cgroup) > 0 && t->exit_code != 0);
    if (oom)
        t->exit_code = 137;
    str_copy(t->reason, sizeof t->reason,
             oom ? "OOMKilled" : t->exit_code == 0 ? "Completed" : "Error");
    if (s->oom_rss > 0)
        str_fmt(t->message, sizeof t->message,
                "resident memory %" PRId64 " bytes passed the limit of %" PRId64
                " bytes (sampled every 100 ms, since no cgroup can be made here)",
                s->oom_rss, s->spec.memory);
    save_state(s);
    cgroup_remove(&s->cgroup);
    s->done = true;
    s->leave_at = clock_ms() + LEAVE_MS;
    for (struct shim_conn *c = s->conns; c; c = c->next) {
        char text[16];
        str_fmt(text, sizeof text, "%d", t->exit_code);
        if (c->role == SHIM_ROLE_WATCH)
            shim_conn_state(s, c);
        if (c->role == SHIM_ROLE_ATTACH)
            shim_conn_send(c, SHIM_EXIT, text, strlen(text));
        c->ending = c->role != SHIM_ROLE_EXEC || c->ending;
    }
}

void shim_stop(struct shim *s, int64_t grace_ms)
{
    if (s->main.reaped || s->main.pid <= 0)
        return;
    int64_t at = clock_ms() + MAX(grace_ms, 0);
    if (!s->kill_at)                  /* a second stop can only shorten the first */
        kill(sandbox_inner(s->kind, s->main.pid), SIGTERM);
    s->kill_at = s->kill_at ? MIN(s->kill_at, at) : at;
}

static void kill_all(struct shim *s)
{
    kill(s->main.pid, SIGKILL);
    cgroup_tree_kill(getpid(), SIGKILL);
}

static void reap_children(struct shim *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->main.pid) {
            s->main.reaped = true;
            s->main.status = status;
            s->kill_at = s->sample_at = 0;
            s->drain_at = clock_ms() + DRAIN_MS;
            cgroup_tree_kill(getpid(), SIGKILL);
        }
        for (struct shim_conn *c = s->conns; c; c = c->next)
            if (c->x.pid == pid) {
                c->x.reaped = true;
                c->x.status = status;
            }
    }
}

static void timers(struct shim *s)
{
    int64_t now = clock_ms();
    if (s->kill_at && now >= s->kill_at) {
        s->kill_at = now + 1000;      /* again, should a fork have escaped */
        kill_all(s);
    }
    if (s->sample_at && now >= s->sample_at) {
        int64_t rss = cgroup_tree_rss(getpid());
        s->sample_at = now + SAMPLE_MS;
        if (rss > s->spec.memory) {
            s->oom_rss = rss;
            kill_all(s);
        }
    }
}

/* --- bytes -------------------------------------------------------------------- */

static void read_main(struct shim *s, int *fd, int stream)
{
    char buf[65536];
    ssize_t n = read(*fd, buf, sizeof buf);
    if (n > 0) {
        crilog_write(&s->log, stream, buf, (size_t)n);
        shim_conn_broadcast(s, stream, buf, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (s->main.in == *fd)
            s->main.in = -1;
        close(*fd);
        *fd = -1;
    }
}

static void read_exec(struct shim_conn *c, int *fd, int stream)
{
    char buf[65536];
    ssize_t n = read(*fd, buf, sizeof buf);
    if (n > 0) {
        if (stream == 1 ? c->want_out : c->want_err)
            shim_conn_send(c, stream == 1 ? SHIM_STDOUT : SHIM_STDERR, buf, (size_t)n);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        if (c->x.in == *fd)
            c->x.in = -1;
        close(*fd);
        *fd = -1;
    }
}

/* Who waits for which descriptor in this turn. */
struct want {
    struct shim_conn *conn;
    enum { W_SIGNAL, W_LISTEN, W_CONN, W_OUT, W_ERR, W_IN } what;
};

struct turn {
    struct pollfd fd[POLL_MAX];
    struct want want[POLL_MAX];
    int n;
};

static void add(struct turn *t, int fd, int events, struct shim_conn *c, int what)
{
    if (fd < 0 || t->n == POLL_MAX || events == 0)
        return;
    t->fd[t->n] = (struct pollfd){fd, (short)events, 0};
    t->want[t->n].conn = c;
    t->want[t->n++].what = (unsigned)what;
}

static void add_proc(struct turn *t, struct shim_proc *p, struct shim_conn *c, bool read_it)
{
    add(t, p->out, read_it ? POLLIN : 0, c, W_OUT);
    add(t, p->err, read_it ? POLLIN : 0, c, W_ERR);
    add(t, p->in, p->pending.len ? POLLOUT : 0, c, W_IN);
}

static void collect(struct shim *s, struct turn *t)
{
    t->n = 0;
    add(t, s->signals, POLLIN, NULL, W_SIGNAL);
    add(t, s->done ? -1 : s->listener, POLLIN, NULL, W_LISTEN);
    add_proc(t, &s->main, NULL, true);
    for (struct shim_conn *c = s->conns; c; c = c->next) {
        struct shim_proc *to = c->role == SHIM_ROLE_EXEC ? &c->x : &s->main;
        bool read_it = to->pending.len < BUSY_OUT;
        add(t, c->fd, (read_it ? POLLIN : 0) | (c->out.len ? POLLOUT : 0), c, W_CONN);
        if (c->role == SHIM_ROLE_EXEC)
            add_proc(t, &c->x, c, c->out.len < BUSY_OUT);
    }
}

static void serve_one(struct shim *s, const struct want *w, int events)
{
    struct shim_conn *c = w->conn;
    struct shim_proc *p = c ? &c->x : &s->main;
    struct signalfd_siginfo si;
    switch (w->what) {
    case W_SIGNAL:
        while (read(s->signals, &si, sizeof si) == sizeof si)
            ;
        reap_children(s);
        break;
    case W_LISTEN:
        shim_conn_accept(s);
        break;
    case W_CONN:
        if (c->fd >= 0 && events & POLLOUT)
            shim_conn_write(s, c);
        if (c->fd >= 0 && events & (POLLIN | POLLHUP | POLLERR))
            shim_conn_read(s, c);
        break;
    case W_IN:
        shim_proc_flush(p);
        break;
    case W_OUT:
    case W_ERR: {
        int *fd = w->what == W_OUT ? &p->out : &p->err, stream = w->what == W_OUT ? 1 : 2;
        if (*fd >= 0 && c)
            read_exec(c, fd, stream);
        else if (*fd >= 0)
            read_main(s, fd, stream);
        break;
    }
    }
}

static bool dry(const struct shim_proc *p)
{
    return p->out < 0 && p->err < 0;
}

/* What the turn's end may decide: execs that ended, main that ended, leaving. */
static void settle(struct shim *s)
{
    bool waiting = false;
    for (struct shim_conn *c = s->conns; c; c = c->next) {
        if (c->role == SHIM_ROLE_EXEC && !c->ending && c->x.reaped && c->fd >= 0 &&
            (dry(&c->x) || s->main.reaped))
            shim_conn_finish_exec(s, c);
        if (c->fd >= 0 && (c->out.len || c->ending))
            shim_conn_write(s, c);
        waiting = waiting || (c->fd >= 0 && c->out.len > 0);
    }
    shim_conn_sweep(s);
    int64_t now = clock_ms();
    if (s->main.reaped && !s->done && (dry(&s->main) || now >= s->drain_at))
        finish(s);
    else if (s->done && (!waiting || now >= s->leave_at))
        exit(0);
}

static int timeout_ms(const struct shim *s)
{
    const int64_t at[] = {s->kill_at, s->sample_at, s->done ? s->leave_at : s->drain_at};
    int64_t now = clock_ms(), best = -1;
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        if (at[i] && (best < 0 || at[i] - now < best))
            best = MAX(at[i] - now, 0);
    return s->done ? (int)MIN(MAX(best, 0), 20) : (int)MIN(best, 60000);
}

static int block_signals(void)
{
    sigset_t set;
    sigfillset(&set);                 /* nothing but SIGKILL ends a shim early */
    sigprocmask(SIG_SETMASK, &set, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

void shim_run(const char *dir, int lock UNUSED, int told)
{
    static struct shim s;
    static struct turn t;
    struct pd_err err;
    s.dir = dir;
    s.signals = block_signals();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (shim_spec_read(dir, &s.spec, &err) != PD_OK)
        start_failed(&s, told, err.msg);
    s.listener = shim_listen(dir);
    if (s.listener < 0)
        start_failed(&s, told, "the shim's socket can't be made");
    start_main(&s, told);
    close(told);
    for (;;) {
        collect(&s, &t);
        int n = poll(t.fd, (nfds_t)t.n, timeout_ms(&s));
        for (int i = 0; n > 0 && i < t.n; i++)
            if (t.fd[i].revents)
                serve_one(&s, &t.want[i], t.fd[i].revents);
        timers(&s);
        settle(&s);
    }
}
