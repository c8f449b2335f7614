/* effects_stream.c - a shell in a container, and ports that lead into a pod:
 * streams that go on until they are cancelled. */
#include "core/base/base64.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/exec.h"
#include "k8s/portforward.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

enum { CHUNK = 16 << 10, CHUNK_LINES = 800 };   /* what a terminal draws in 3 ms */

/* --- shell ------------------------------------------------------------------------------ */

/* bash where there is one, else sh; the terminal is one as xterm. */
static char *const shell_argv[] = {
    "sh", "-c", "TERM=xterm-256color; export TERM; "
    "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi", NULL};

static void stop_shell(struct effects_slot *s)
{
    exec_close(s->handle);
}

static struct json *shell_body(const struct effects_slot *s, const char *state)
{
    struct json *body = json_new_object();
    json_put_num(body, "stream", s->id);
    json_put_str(body, "state", state);
    return body;
}

static void on_shell_open(void *arg, bool half_close UNUSED)
{
    struct effects_slot *s = arg;
    exec_resize(s->handle, (int)json_int(s->args, "cols", 80), (int)json_int(s->args, "rows", 24));
    effects_post(s, MSG_SHELL, shell_body(s, "open"));
}

static size_t chunk_of(const struct str *s)
{
    size_t most = MIN(s->len, (size_t)CHUNK);
    const char *p = s->p, *end = p + most;
    for (int lines = 0; lines < CHUNK_LINES && p < end; lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)
            return most;
        p = nl + 1;
    }
    return (size_t)(p - s->p);
}

/* A chunk a turn: a program that writes without end holds up nothing. */
static void say_some(void *arg)
{
    struct effects_slot *s = arg;
    struct str text;
    size_t n = chunk_of(&s->out);
    s->timer = 0;
    if (n > 0) {
        struct json *body = shell_body(s, "open");
        str_init(&text, 2 * CHUNK);
        base64_encode(s->out.p, n, &text);
        json_put_str(body, "data", text.p);
        str_release(&text);
        str_consume(&s->out, n);
        effects_post(s, MSG_SHELL, body);
    }
    if (s->out.len > 0)
        s->timer = loop_timer(s->r->loop, 0, say_some, s, "shell output");
    if (s->handle)
        exec_pause(s->handle, s->out.len > CHUNK);
}

static void on_shell_output(void *arg, int channel UNUSED, const char *p, size_t n)
{
    struct effects_slot *s = arg;
    str_append(&s->out, p, n);
    exec_pause(s->handle, s->out.len > CHUNK);
    if (!s->timer)
        s->timer = loop_timer(s->r->loop, 0, say_some, s, "shell output");
}

static void on_shell_exit(void *arg, int code, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    s->handle = NULL;
    while (s->out.len > 0)
        say_some(s);
    struct json *body = shell_body(s, "closed");
    json_put_num(body, "exit", code);
    if (err)
        json_set(body, "error", errjson_make(err));
    effects_post(s, MSG_SHELL, body);
    effects_slot_end(s);
}

void effects_shell(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct exec_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                             .pod = json_str(s->args, "pod", ""),
                             .container = json_str(s->args, "container", NULL),
                             .argv = shell_argv, .std_in = true, .tty = true};
    struct exec_handlers h = {.open = on_shell_open, .output = on_shell_output,
                              .exit = on_shell_exit, .arg = s};
    s->stop = stop_shell;
    s->handle = exec_start(r->k8s, &spec, &h);
}

static struct effects_slot *shell_of(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_find(r, (uint32_t)json_int(e->args, "stream", 0));
    return s && s->kind == EFF_SHELL && s->handle ? s : NULL;
}

void effects_shell_send(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = shell_of(r, e);
    const char *data = json_str(e->args, "data", "");
    struct str bytes;
    str_init(&bytes, strlen(data) + 1);
    if (s && base64_decode(data, strlen(data), &bytes))
        exec_send(s->handle, bytes.p, bytes.len);
    str_release(&bytes);
}

void effects_shell_size(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = shell_of(r, e);
    if (!s)
        return;
    int cols = (int)json_int(e->args, "cols", 80), rows = (int)json_int(e->args, "rows", 24);
    json_put_num(s->args, "cols", cols);         /* should it still be opening */
    json_put_num(s->args, "rows", rows);
    exec_resize(s->handle, cols, rows);
}

/* --- port-forward ------------------------------------------------------------------------- */

static void stop_forward(struct effects_slot *s)
{
    portforward_stop(s->handle);
}

static struct json *forward_body(const struct effects_slot *s, const char *state)
{
    struct portforward_stats n = {0};
    struct json *body = json_new_object();
    json_put_num(body, "stream", s->id);
    json_put_str(body, "state", state);
    if (!s->handle)
        return body;
    portforward_stats(s->handle, &n);
    json_put_num(body, "port", portforward_port(s->handle));
    json_put_num(body, "open", n.open);
    json_put_num(body, "total", n.total);
    json_put_num(body, "failed", n.failed);
    json_put_num(body, "sent", (double)n.sent);
    json_put_num(body, "received", (double)n.received);
    return body;
}

static void on_forward_changed(void *arg)
{
    struct effects_slot *s = arg;
    effects_post(s, MSG_FORWARD, forward_body(s, "open"));
}

static void on_forward_said(void *arg, bool lasting, const struct pd_err *what)
{
    struct effects_slot *s = arg;
    struct json *body = forward_body(s, "said");
    json_put_bool(body, "lasting", lasting);
    json_set(body, "error", errjson_make(what));
    effects_post(s, MSG_FORWARD, body);
}

void effects_forward(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct portforward *f = NULL;
    struct pd_err err;
    struct portforward_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                                    .pod = json_str(s->args, "pod", ""),
                                    .local = (int)json_int(s->args, "local", 0),
                                    .remote = (int)json_int(s->args, "remote", 0)};
    struct portforward_handlers h = {on_forward_changed, on_forward_said, s};
    if (portforward_start(r->k8s, &spec, &h, &f, &err) != PD_OK) {
        struct json *body = forward_body(s, "failed");
        json_set(body, "error", errjson_make(&err));
        effects_post(s, MSG_FORWARD, body);
        effects_slot_end(s);
        return;
    }
    s->stop = stop_forward;
    s->handle = f;
    effects_post(s, MSG_FORWARD, forward_body(s, "open"));
}
