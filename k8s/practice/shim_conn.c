/* shim_conn.c - connections to a container's shim: watch, attach, exec. */
#include "k8s/practice/shim_in.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/mem.h"

enum { CONN_IN_CEILING = SHIM_FRAME_MAX + 65536, CONN_OUT_CEILING = 8 << 20 };

void shim_conn_accept(struct shim *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    struct shim_conn *c = xcalloc(1, sizeof *c);
    c->fd = fd;
    c->x.in = c->x.out = c->x.err = -1;
    str_init(&c->in, CONN_IN_CEILING);
    str_init(&c->out, CONN_OUT_CEILING);
    c->next = s->conns;
    s->conns = c;
}

/* A client that does not read loses its connection, never the container. */
void shim_conn_send(struct shim_conn *c, char type, const void *p, size_t n)
{
    if (c->fd >= 0 && !shim_frame(&c->out, type, p, n))
        c->ending = true;
}

void shim_conn_state(struct shim *s, struct shim_conn *c)
{
    char *path = xasprintf("%s/state", s->dir), text[8192];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    free(path);
    shim_conn_send(c, SHIM_STATE, text, (size_t)MAX(n, 0));
}

void shim_conn_drop(struct shim *s, struct shim_conn *c)
{
    if (c->fd < 0)
        return;
    close(c->fd);
    c->fd = -1;
    if (c->role == SHIM_ROLE_ATTACH && c->want_in && s->spec.stdin_once)
        shim_proc_end_input(&s->main);
    if (c->role != SHIM_ROLE_EXEC)
        return;
    if (c->x.tty && c->x.pid > 0 && !c->x.reaped)
        kill(-c->x.pid, SIGHUP);
    shim_proc_close(&c->x);      /* it gets EOF and SIGPIPE, as under any kubelet */
}

void shim_conn_sweep(struct shim *s)
{
    for (struct shim_conn **p = &s->conns; *p;) {
        struct shim_conn *c = *p;
        if (c->fd >= 0 || (c->role == SHIM_ROLE_EXEC && c->x.pid > 0 && !c->x.reaped)) {
            p = &c->next;
            continue;
        }
        *p = c->next;
        str_release(&c->in);
        str_release(&c->out);
        free(c);
    }
}

void shim_conn_broadcast(struct shim *s, int stream, const char *p, size_t n)
{
    for (struct shim_conn *c = s->conns; c; c = c->next)
        if (c->role == SHIM_ROLE_ATTACH && (stream == 1 ? c->want_out : c->want_err))
            shim_conn_send(c, stream == 1 ? SHIM_STDOUT : SHIM_STDERR, p, n);
}

static void place_in_cgroup(void *arg, pid_t pid)
{
    cgroup_add(arg, pid);
}

/* payload: flags, then argv, each after a NUL */
static void start_exec(struct shim *s, struct shim_conn *c, const char *p, size_t n)
{
    struct pd_err err = {.code = PD_OK};
    struct strv argv;
    struct sandbox_io io;
    char *text = xmalloc(n + 1);
    memcpy(text, p, n);              /* holds NULs */
    text[n] = '\0';
    size_t flags = strlen(text);
    strv_init(&argv);
    for (size_t i = flags; i < n; i += strlen(text + i + 1) + 1)
        strv_push(&argv, text + i + 1);
    c->want_in = strchr(text, 'i') != NULL;
    c->want_out = strchr(text, 'o') != NULL;
    c->want_err = strchr(text, 'e') != NULL;
    bool tty = strchr(text, 't') != NULL;
    if (argv.n == 0 || s->main.reaped || s->main.pid <= 0)
        pd_fail(&err, PD_SANDBOX, "container not running");
    else if (!shim_proc_pipes(&c->x, c->want_in, tty, &io))
        pd_fail_errno(&err, PD_SANDBOX, "no pipes");
    else {
        pid_t pid = 0;
        if (sandbox_join(&s->spec, s->kind, s->main.pid, &argv, &io, place_in_cgroup, &s->cgroup,
                         &pid, &err) == PD_OK)
            c->x.pid = pid;
        shim_proc_close_child_ends(&io);
    }
    if (err.code != PD_OK) {
        shim_conn_send(c, SHIM_ERROR, err.msg, strlen(err.msg));
        shim_proc_close(&c->x);
        c->ending = true;
    }
    strv_release(&argv);
    free(text);
}

void shim_conn_finish_exec(struct shim *s UNUSED, struct shim_conn *c)
{
    char text[16];
    int signo;
    str_fmt(text, sizeof text, "%d", shim_exit_code(c->x.status, &signo));
    shim_conn_send(c, SHIM_EXIT, text, strlen(text));
    shim_proc_close(&c->x);
    c->ending = true;
}

static void resize(struct shim_proc *p, const char *text)
{
    int cols = 0, rows = 0;
    if (p->tty && p->out >= 0 && sscanf(text, "%d %d", &cols, &rows) == 2) {
        struct winsize w = {.ws_col = (unsigned short)cols, .ws_row = (unsigned short)rows};
        ioctl(p->out, TIOCSWINSZ, &w);
    }
}

static void open_role(struct shim *s, struct shim_conn *c, char type, const char *p, size_t n)
{
    if (type == SHIM_WATCH) {
        c->role = SHIM_ROLE_WATCH;
        shim_conn_state(s, c);
    } else if (type == SHIM_ATTACH) {
        c->role = SHIM_ROLE_ATTACH;
        c->want_in = memchr(p, 'i', n) != NULL;
        c->want_out = memchr(p, 'o', n) != NULL;
        c->want_err = memchr(p, 'e', n) != NULL;
    } else if (type == SHIM_EXEC) {
        c->role = SHIM_ROLE_EXEC;
        start_exec(s, c, p, n);
    }
}

static void take_frame(struct shim *s, struct shim_conn *c, char type, const char *p, size_t n)
{
    struct shim_proc *to = c->role == SHIM_ROLE_EXEC ? &c->x : &s->main;
    char text[64];
    str_copy(text, MIN(sizeof text, n + 1), p);
    if (type == SHIM_STOP) {
        shim_stop(s, strtoll(text, NULL, 10));
    } else if (c->role == SHIM_ROLE_NEW) {
        open_role(s, c, type, p, n);
    } else if (type == SHIM_STDIN && c->want_in) {
        shim_proc_feed(to, p, n);
    } else if (type == SHIM_STDIN_END && c->want_in) {
        if (c->role == SHIM_ROLE_EXEC || s->spec.stdin_once)
            shim_proc_end_input(to);
    } else if (type == SHIM_RESIZE) {
        resize(to, text);
    }
}

void shim_conn_read(struct shim *s, struct shim_conn *c)
{
    char buf[65536];
    ssize_t n = read(c->fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        shim_conn_drop(s, c);
        return;
    }
    str_append(&c->in, buf, (size_t)n);
    size_t used = 0;
    while (c->fd >= 0) {
        char type;
        const char *p;
        size_t len;
        long got = shim_parse(c->in.p + used, c->in.len - used, &type, &p, &len);
        if (got < 0) {
            shim_conn_drop(s, c);
            return;
        }
        if (got == 0)
            break;
        take_frame(s, c, type, p, len);
        used += (size_t)got;
    }
    str_consume(&c->in, used);
}

void shim_conn_write(struct shim *s, struct shim_conn *c)
{
    while (c->fd >= 0 && c->out.len > 0) {
        ssize_t n = send(c->fd, c->out.p, c->out.len, MSG_NOSIGNAL);
        if (n > 0)
            str_consume(&c->out, (size_t)n);
        else if (n < 0 && errno == EAGAIN)
            return;
        else if (n == 0 || errno != EINTR)
            shim_conn_drop(s, c);
    }
    if (c->fd >= 0 && c->ending)
        shim_conn_drop(s, c);
}
