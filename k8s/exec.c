/* exec.c - exec and attach over WebSocket (exec.h). */
#include "k8s/exec.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/podlink.h"

enum { FRAME_MAX = 32 << 10 };
enum { STDIN = 0, STDOUT = 1, STDERR = 2, STATUS = 3, RESIZE = 4, CLOSE = 255 };

struct exec {
    struct podlink *link;
    struct exec_handlers h;
    struct exec_result result;
    bool half_close, open, busy, stopped, eof_asked;
};

/* --- what the channels say --- */

/* Why a command did not begin, as container runtimes say it. */
static void explain(enum pd_code code, struct pd_err *err)
{
    static const struct { const char *text, *hint; } table[] = {
        {"executable file not found", N_("the image has no such program (a distroless image has "
                                         "no shell either)")},
        {"permission denied", N_("the file can't be run, or not by the container's "
                                 "user")},
        {"container not found", N_("the container must be running: look at the pod")},
        {"is not running", N_("the container must be running: look at the pod")},
        {"dialing backend", N_("the API server can't reach the node's kubelet: look at the node")},
    };
    for (size_t i = 0; code != PD_OK && i < ARRAY_LEN(table); i++)
        if (strstr(err->msg, table[i].text)) {
            pd_set_hint(err, "%s", _(table[i].hint));
            return;
        }
}

/* Servers without the newer protocols say it in words: "… exit status 5". */
static int code_in_words(const char *text)
{
    static const char *const before[] = {"exit status ", "exit code ", "exit code: "};
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        const char *p = strstr(text, before[i]);
        size_t n = p ? strspn(p + strlen(before[i]), "0123456789") : 0;
        int code = n > 0 && n < 4 ? atoi(p + strlen(before[i])) : -1;
        if (code >= 0 && code <= 255)
            return code;
    }
    return -1;
}

static void from_status(struct exec_result *r, const struct json *j)
{
    int64_t code = -1;
    const char *exit_code = json_str(j, "details.causes[?reason=ExitCode].message", "");
    bool non_zero = !strcmp(json_str(j, "reason", ""), "NonZeroExitCode");
    if (!strcmp(json_str(j, "status", ""), "Success"))
        r->code = 0;
    else if (str_to_i64(exit_code, &code) && code >= 0 && code <= 255)
        r->code = (int)code;
    else if (non_zero)
        r->code = code_in_words(json_str(j, "message", ""));
    if (r->code < 0)
        explain(k8s_status_error((int)json_int(j, "code", 500), r->text, strlen(r->text), &r->err),
                &r->err);
}

static void status_message(struct exec_result *r, const char *p, size_t n)
{
    struct json *j = NULL;
    struct pd_err ignored;
    size_t have = strlen(r->text);
    n = MIN(n, sizeof r->text - 1 - have);
    memcpy(r->text + have, p, n);
    r->text[have + n] = '\0';
    r->ended = true;
    r->code = -1;
    if (json_parse(r->text, strlen(r->text), &j, &ignored) == PD_OK) {
        from_status(r, j);
    } else if ((r->code = code_in_words(r->text)) < 0) {
        char text[300];
        pd_fail(&r->err, PD_PROTO, _("the server ended the command with: %s"),
                k8s_clean(text, sizeof text, r->text, strlen(r->text)));
    }
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
    podlink_close(e->link);
    free(e);
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

/* --- the link's calls --- */

static void on_open(void *arg, const char *protocol)
{
    struct exec *e = arg;
    e->busy = true;
    e->open = true;
    e->half_close = !strcmp(protocol, "v5.channel.k8s.io");
    if (e->h.open)
        e->h.open(e->h.arg, e->half_close);
    if (!e->stopped && e->eof_asked)
        exec_close_stdin(e);
    leave(e);
}

static void on_message(void *arg, const char *p, size_t n)
{
    struct exec *e = arg;
    e->busy = true;
    exec_message(&e->result, &e->h, p, n);
    leave(e);
}

static void on_drained(void *arg)
{
    struct exec *e = arg;
    e->busy = true;
    if (e->h.drained && !e->stopped)
        e->h.drained(e->h.arg);
    leave(e);
}

static void on_closed(void *arg, int code, bool refused UNUSED, const struct pd_err *err)
{
    struct exec *e = arg;
    struct pd_err why;
    e->busy = true;
    e->link = NULL;
    if (e->result.ended) {
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

struct exec *exec_start(struct k8s *k, const struct exec_spec *spec, const struct exec_handlers *h)
{
    char path[RES_PATH_MAX];
    struct podlink_handlers lh = {.open = on_open, .message = on_message, .closed = on_closed,
                                  .drained = on_drained};
    struct str s;
    struct exec *e = xcalloc(1, sizeof *e);
    e->h = *h;
    lh.arg = e;
    str_init(&s, 256 << 10);
    str_add(&s, res_path(res_by_name("pods"), spec->ns ? spec->ns : k8s_namespace(k), spec->pod,
                         spec->argv ? "exec" : "attach", path));
    for (size_t i = 0; spec->argv && spec->argv[i]; i++)
        k8s_query(&s, "command", spec->argv[i]);
    k8s_query(&s, "container", spec->container);
    if (spec->std_in)
        k8s_query(&s, "stdin", "true");
    if (!spec->no_stdout)
        k8s_query(&s, "stdout", "true");
    if (!spec->tty)
        k8s_query(&s, "stderr", "true");
    if (spec->tty)
        k8s_query(&s, "tty", "true");
    e->link = podlink_open(k, s.p, "v5.channel.k8s.io, v4.channel.k8s.io", "v4.channel.k8s.io",
                           &lh);
    str_release(&s);
    return e;
}

void exec_send(struct exec *e, const void *p, size_t n)
{
    static char frame[FRAME_MAX + 1];
    const char *at = p;
    if (!e->link || e->stopped || e->eof_asked)
        return;
    while (n > 0) {
        size_t piece = MIN(n, (size_t)FRAME_MAX);
        frame[0] = STDIN;
        memcpy(frame + 1, at, piece);
        podlink_send(e->link, frame, piece + 1);
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
    if (!e->half_close || !e->link)
        return false;
    podlink_send(e->link, half_close, sizeof half_close);
    return true;
}

void exec_resize(struct exec *e, int cols, int rows)
{
    char text[80];
    if (!e->link || e->stopped)
        return;
    text[0] = RESIZE;
    str_fmt(text + 1, sizeof text - 1, "{\"Width\":%d,\"Height\":%d}", cols, rows);
    podlink_send(e->link, text, strlen(text + 1) + 1);
}

void exec_pause(struct exec *e, bool on)
{
    podlink_pause(e->link, on);
}

size_t exec_pending(const struct exec *e)
{
    return podlink_pending(e->link);
}
