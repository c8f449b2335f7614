/* kubelet_exec.c - exec and attach: a connection of the HTTP side joined to a
 * connection of the container's shim. */
#include "k8s/practice/kubelet_in.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"

enum { PENDING_MAX = 1 << 20, PAUSE_MS = 10, STDIN_CEILING = 64 << 20, PIECE = 64 << 10 };

struct kexec {
    struct kubelet *k;
    struct api_stream *s;
    int fd;
    bool attach, ended;
    struct str in, out;               /* from and to the shim */
    uint32_t timer;                   /* while the client reads slowly */
};

static void on_ready(void *arg, int fd, int events);

static void listen_for(struct kexec *x)
{
    int events = (x->timer ? 0 : LOOP_READ) | (x->out.len ? LOOP_WRITE : 0);
    if (x->fd < 0)
        return;
    if (events)
        loop_fd(x->k->loop, x->fd, events, on_ready, x);
    else
        loop_fd_remove(x->k->loop, x->fd);
}

static void hang_up(struct kexec *x)
{
    loop_timer_cancel(x->k->loop, x->timer);
    x->timer = 0;
    if (x->fd < 0)
        return;
    loop_fd_remove(x->k->loop, x->fd);
    close(x->fd);
    x->fd = -1;
}

static void on_closed(void *arg)
{
    struct kexec *x = arg;
    hang_up(x);
    str_release(&x->in);
    str_release(&x->out);
    free(x);
}

static void end_now(void *arg)
{
    struct kexec *x = arg;
    x->timer = 0;
    api_stream_end(x->s);             /* on_closed follows and frees x */
}

/* One Status on channel 3, then, when no caller holds x any more, the end. */
static void end(struct kexec *x, struct json *status)
{
    if (x->ended) {
        json_free(status);
        return;
    }
    x->ended = true;
    hang_up(x);
    char *text = json_text(status, 0);
    api_stream_write(x->s, 3, text, strlen(text));
    x->timer = loop_timer(x->k->loop, 0, end_now, x, "exec-end");
    free(text);
    json_free(status);
}

static struct json *status_of_code(int code)
{
    struct json *j = json_from("{\"metadata\":{},\"status\":\"Success\"}");
    if (code == 0)
        return j;
    char text[16], message[96];
    str_fmt(text, sizeof text, "%d", code);
    str_fmt(message, sizeof message, "command terminated with non-zero exit code: exit status %d",
            code);
    struct json *causes = json_new_array(), *cause = json_new_object();
    json_put_str(j, "status", "Failure");
    json_put_str(j, "message", message);
    json_put_str(j, "reason", "NonZeroExitCode");
    json_put_str(cause, "reason", "ExitCode");
    json_put_str(cause, "message", text);
    json_append(causes, cause);
    json_put_path(j, "details.causes", causes);
    return j;
}

static struct json *status_of_error(const char *why)
{
    struct json *j = json_from("{\"metadata\":{},\"status\":\"Failure\"}");
    char *text = xasprintf("Internal error occurred: error executing command in container: failed "
                           "to exec in container: failed to start exec: OCI runtime exec failed: "
                           "exec failed: unable to start container process: %s: unknown", why);
    struct json *causes = json_new_array(), *cause = json_new_object();
    json_put_str(j, "message", text);
    json_put_str(j, "reason", "InternalError");
    json_put_str(cause, "message", text + strlen("Internal error occurred: "));
    json_append(causes, cause);
    json_put_path(j, "details.causes", causes);
    json_put_num(j, "code", 500);
    free(text);
    return j;
}

static void take(struct kexec *x, char type, const char *p, size_t n)
{
    char text[512];
    str_copy(text, MIN(sizeof text, n + 1), p);
    if (type == SHIM_STDOUT || type == SHIM_STDERR)
        api_stream_write(x->s, type == SHIM_STDOUT ? 1 : 2, p, n);
    else if (type == SHIM_EXIT)
        end(x, status_of_code(x->attach ? 0 : atoi(text)));
    else if (type == SHIM_ERROR)
        end(x, status_of_error(text));
}

static void resume(void *arg)
{
    struct kexec *x = arg;
    x->timer = 0;
    if (api_stream_pending(x->s) > PENDING_MAX)
        x->timer = loop_timer(x->k->loop, PAUSE_MS, resume, x, "exec");
    listen_for(x);
}

static void read_shim(struct kexec *x)
{
    char buf[128 << 10];
    ssize_t n = read(x->fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        str_append(&x->in, buf, (size_t)n);
    size_t used = 0;
    while (!x->ended) {
        char type;
        const char *p;
        size_t len;
        long got = shim_parse(x->in.p + used, x->in.len - used, &type, &p, &len);
        if (got <= 0)
            break;
        take(x, type, p, len);
        used += (size_t)got;
    }
    str_consume(&x->in, used);
    if (n <= 0 && !x->ended)
        end(x, x->attach ? status_of_code(0) : status_of_error("the container ended"));
    if (!x->ended && api_stream_pending(x->s) > PENDING_MAX) {
        x->timer = loop_timer(x->k->loop, PAUSE_MS, resume, x, "exec");
        listen_for(x);
    }
}

static void write_shim(struct kexec *x)
{
    while (x->out.len > 0) {
        ssize_t n = send(x->fd, x->out.p, MIN(x->out.len, (size_t)256 << 10), MSG_NOSIGNAL);
        if (n > 0)
            str_consume(&x->out, (size_t)n);
        else if (n < 0 && errno == EINTR)
            continue;
        else
            break;                    /* full, or gone: reading will tell */
    }
    listen_for(x);
}

static void on_ready(void *arg, int fd UNUSED, int events)
{
    struct kexec *x = arg;
    if (events & LOOP_WRITE && x->fd >= 0)
        write_shim(x);
    if (events & LOOP_READ && x->fd >= 0)
        read_shim(x);
}

/* --- from the client ------------------------------------------------------------------- */

static void send_frame(struct kexec *x, char type, const void *p, size_t n)
{
    if (x->fd < 0)
        return;
    if (!shim_frame(&x->out, type, p, n)) {
        end(x, status_of_error("the container does not read its standard input"));
        return;
    }
    write_shim(x);
}

static void on_input(void *arg, const void *p, size_t n)
{
    const char *c = p;
    for (size_t i = 0; i < n; i += PIECE)
        send_frame(arg, SHIM_STDIN, c + i, MIN(n - i, (size_t)PIECE));
}

static void on_input_end(void *arg)
{
    send_frame(arg, SHIM_STDIN_END, "", 0);
}

static void on_resize(void *arg, int cols, int rows)
{
    char text[32];
    str_fmt(text, sizeof text, "%d %d", cols, rows);
    send_frame(arg, SHIM_RESIZE, text, strlen(text));
}

static void send_request(struct kexec *x, const struct api_exec_options *o)
{
    struct str req;
    str_init(&req, SHIM_FRAME_MAX);
    str_printf(&req, "%s%s%s%s", o->std_in ? "i" : "", o->std_out ? "o" : "", o->std_err ? "e" : "",
               o->tty ? "t" : "");
    for (size_t i = 0; !o->attach && i < o->command.n; i++) {
        str_append(&req, "", 1);
        str_add(&req, o->command.v[i]);
    }
    send_frame(x, o->attach ? SHIM_ATTACH : SHIM_EXEC, req.p, req.len);
    str_release(&req);
}

enum pd_code kubelet_exec(void *arg, const struct json *pod, const struct api_exec_options *o,
                          struct api_stream *s, int *http, struct pd_err *err)
{
    struct kubelet *k = arg;
    struct kpod *p = kubelet_find(k, kobj_uid(pod));
    const char *name = o->container && *o->container ? o->container
                                                     : json_str(pod, "spec.containers[0].name", "");
    struct kctr *c = NULL;
    for (size_t i = 0; p && i < p->n; i++)
        if (strcmp(p->ctr[i].name, name) == 0)
            c = &p->ctr[i];
    *http = 500;
    if (!c || c->state != KCTR_RUNNING)
        return pd_fail(err, PD_NOTFOUND, "unable to upgrade connection: container not found "
                       "(\"%s\")", name);
    int fd = shim_connect(c->dir);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, "the shim of container \"%s\" does not answer", name);
    struct kexec *x = xcalloc(1, sizeof *x);
    x->k = k;
    x->s = s;
    x->fd = fd;
    x->attach = o->attach;
    str_init(&x->in, 4 << 20);
    str_init(&x->out, STDIN_CEILING);
    struct api_stream_ops ops = {.input = on_input, .input_end = on_input_end,
                                 .resize = on_resize, .closed = on_closed, .arg = x};
    api_stream_set(s, &ops);
    send_request(x, o);
    listen_for(x);
    return PD_OK;
}
