/* exec.c - exec and attach over WebSocket (exec.h). */
#include "k8s/exec.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/ws.h"
#include "k8s/client_io.h"

enum { FRAME_MAX = 32 << 10 };
enum { STDIN = 0, STDOUT = 1, STDERR = 2, STATUS = 3, RESIZE = 4, CLOSE = 255 };

struct exec {
    struct k8s *k;
    struct k8s_part part;
    struct ws *ws;
    struct exec_handlers h;
    struct exec_result result;
    uint32_t trace;
    int64_t started_ms;
    char *path;
    bool half_close, open, busy, stopped, eof_asked, tried_token;
};

/* --- what the channels say --- */

static void status_message(struct exec_result *r, const char *p, size_t n)
{
    struct json *j = NULL;
    struct pd_err ignored;
    r->ended = true;
    r->code = -1;
    if (json_parse(p, n, &j, &ignored) != PD_OK) {
        char text[300];
        pd_fail(&r->err, PD_PROTO, _("the server ended the command with: %s"),
                k8s_clean(text, sizeof text, p, n));
        return;
    }
    int64_t code = -1;
    const char *exit_code = json_str(j, "details.causes[?reason=ExitCode].message", "");
    if (!strcmp(json_str(j, "status", ""), "Success"))
        r->code = 0;
    else if (str_to_i64(exit_code, &code) && code >= 0 && code <= 255)
        r->code = (int)code;
    else
        k8s_status_error((int)json_int(j, "code", 500), p, n, &r->err);
    json_free(j);
}

void exec_message(struct exec_result *r, const struct exec_handlers *h, const char *p, size_t n)
{
    if (n == 0)
        return;
    int channel = (unsigned char)p[0];
    if ((channel == STDOUT || channel == STDERR) && n > 1 && h->output)
        h->output(h->arg, channel, p + 1, n - 1);
    else if (channel == STATUS && n > 1)
        status_message(r, p + 1, n - 1);
}

/* --- life --- */

static void exec_free(struct exec *e)
{
    ws_close_now(e->ws);
    if (e->k)
        k8s_part_remove(e->k, &e->part);
    free(e->path);
    free(e);
}

static void on_close(void *arg)
{
    struct exec *e = arg;
    ws_close_now(e->ws);
    e->ws = NULL;
    e->k = NULL;
}

void exec_close(struct exec *e)
{
    if (!e || e->stopped)
        return;
    e->stopped = true;
    if (!e->busy)
        exec_free(e);
}

static void leave(struct exec *e)
{
    e->busy = false;
    if (e->stopped)
        exec_free(e);
}

static void end_with(struct exec *e, int code, const struct pd_err *err)
{
    if (!e->stopped && e->h.exit)
        e->h.exit(e->h.arg, code, err);
    e->stopped = true;
}

/* --- the socket's calls --- */

static void on_open(void *arg, const char *protocol)
{
    struct exec *e = arg;
    e->busy = true;
    e->open = true;
    e->half_close = !strcmp(protocol, "v5.channel.k8s.io");
    k8s_trace_done(e->k, e->trace, "GET", e->path, 101, clock_ms() - e->started_ms);
    k8s_link(e->k, clock_ms() - e->started_ms, NULL);
    if (e->h.open)
        e->h.open(e->h.arg, e->half_close);
    if (!e->stopped && e->eof_asked)
        exec_close_stdin(e);
    leave(e);
}

static void on_message(void *arg, bool binary UNUSED, const char *p, size_t n)
{
    struct exec *e = arg;
    e->busy = true;
    exec_message(&e->result, &e->h, p, n);
    leave(e);
}

static void start(struct exec *e);

static void refused(struct exec *e, int status, const char *body, const struct pd_err *err)
{
    struct pd_err why;
    k8s_trace_done(e->k, e->trace, "GET", e->path, status, clock_ms() - e->started_ms);
    if (status == 401 && !e->tried_token && k8s_refresh_token(e->k)) {
        e->tried_token = true;
        start(e);
        return;
    }
    if (status)
        k8s_status_error(status, body, strlen(body), &why);
    else
        why = *err;
    end_with(e, -1, &why);
}

static void on_closed(void *arg, int code, int status, const char *body, const struct pd_err *err)
{
    struct exec *e = arg;
    struct pd_err why;
    e->busy = true;
    e->ws = NULL;
    if (!e->open && (status || err)) {
        refused(e, status, body, err);
    } else if (e->result.ended) {
        end_with(e, e->result.code, e->result.code < 0 ? &e->result.err : NULL);
    } else {
        if (err)
            why = *err;
        else
            pd_fail(&why, PD_PROTO, _("the connection was closed (%d) before the exit code came"),
                    code);
        end_with(e, -1, &why);
    }
    leave(e);
}

/* --- start --- */

static void start(struct exec *e)
{
    struct ws_handlers h = {on_open, on_message, on_closed, e};
    e->started_ms = clock_ms();
    e->trace = k8s_trace_open(e->k, "GET", e->path, NULL, NULL);
    e->ws = ws_open(k8s_loop(e->k), k8s_target(e->k), e->path,
                    "v5.channel.k8s.io, v4.channel.k8s.io", &h);
}

struct exec *exec_start(struct k8s *k, const struct exec_spec *spec, const struct exec_handlers *h)
{
    char path[RES_PATH_MAX];
    struct str s;
    struct exec *e = xcalloc(1, sizeof *e);
    e->k = k;
    e->h = *h;
    str_init(&s, 256 << 10);
    str_add(&s, res_path(res_by_name("pods"), spec->ns ? spec->ns : k8s_namespace(k), spec->pod,
                         spec->argv ? "exec" : "attach", path));
    for (size_t i = 0; spec->argv && spec->argv[i]; i++)
        k8s_query(&s, "command", spec->argv[i]);
    k8s_query(&s, "container", spec->container);
    if (spec->std_in)
        k8s_query(&s, "stdin", "true");
    k8s_query(&s, "stdout", "true");
    if (!spec->tty)
        k8s_query(&s, "stderr", "true");
    if (spec->tty)
        k8s_query(&s, "tty", "true");
    e->path = str_take(&s);
    str_release(&s);
    e->part = (struct k8s_part){.close = on_close, .arg = e};
    k8s_part_add(k, &e->part);
    start(e);
    return e;
}

void exec_send(struct exec *e, const void *p, size_t n)
{
    static char frame[FRAME_MAX + 1];
    const char *at = p;
    if (!e->ws || e->stopped || e->eof_asked)
        return;
    while (n > 0) {
        size_t piece = MIN(n, (size_t)FRAME_MAX);
        frame[0] = STDIN;
        memcpy(frame + 1, at, piece);
        ws_send(e->ws, true, frame, piece + 1);
        at += piece;
        n -= piece;
    }
}

bool exec_close_stdin(struct exec *e)
{
    static const unsigned char half_close[] = {CLOSE, STDIN};
    e->eof_asked = true;
    if (!e->open)
        return true;                  /* sent once the protocol is known */
    if (!e->half_close || !e->ws)
        return false;
    ws_send(e->ws, true, half_close, sizeof half_close);
    return true;
}

void exec_resize(struct exec *e, int cols, int rows)
{
    char text[80];
    if (!e->ws || e->stopped)
        return;
    text[0] = RESIZE;
    str_fmt(text + 1, sizeof text - 1, "{\"Width\":%d,\"Height\":%d}", cols, rows);
    ws_send(e->ws, true, text, strlen(text + 1) + 1);
}
