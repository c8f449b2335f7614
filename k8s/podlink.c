/* podlink.c - a WebSocket to a subresource of a pod (podlink.h). */
#include "k8s/podlink.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/ws.h"
#include "k8s/client_io.h"

struct podlink {
    struct k8s *k;                       /* NULL: its connection was closed */
    struct k8s_part part;
    struct ws *ws;
    struct podlink_handlers h;
    char *path, *offers, *plain;
    uint32_t trace;
    int64_t started_ms;
    bool open, busy, stopped, paused;
};

static void start(struct podlink *l);

static void link_free(struct podlink *l)
{
    ws_close_now(l->ws);
    if (l->k)
        k8s_part_remove(l->k, &l->part);
    free(l->path);
    free(l->offers);
    free(l->plain);
    free(l);
}

void podlink_close(struct podlink *l)
{
    if (!l || l->stopped)
        return;
    l->stopped = true;
    if (!l->busy)
        link_free(l);
}

static void leave(struct podlink *l)
{
    l->busy = false;
    if (l->stopped)
        link_free(l);
}

static void on_part_close(void *arg)
{
    struct podlink *l = arg;
    ws_close_now(l->ws);
    l->ws = NULL;
    l->k = NULL;
}

/* --- the socket's calls --- */

static void on_open(void *arg, const char *protocol)
{
    struct podlink *l = arg;
    l->busy = true;
    l->open = true;
    k8s_trace_done(l->k, l->trace, "GET", l->path, 101, clock_ms() - l->started_ms);
    k8s_link(l->k, clock_ms() - l->started_ms, NULL);
    if (l->h.open)
        l->h.open(l->h.arg, protocol);
    leave(l);
}

static void on_message(void *arg, bool binary UNUSED, const char *p, size_t n)
{
    struct podlink *l = arg;
    l->busy = true;
    if (!l->stopped)
        l->h.message(l->h.arg, p, n);
    leave(l);
}

static void on_drained(void *arg)
{
    struct podlink *l = arg;
    l->busy = true;
    if (l->h.drained && !l->stopped)
        l->h.drained(l->h.arg);
    leave(l);
}

/* What an upgrade's refusal may come from, where the server's text leaves it open. */
static void explain(int status, struct pd_err *err)
{
    static const struct { int status; const char *hint; } table[] = {
        {400, N_("a proxy that cuts the Upgrade header looks like this too: try without it")},
        {403, N_("ask for a Role with verbs \"get\" and \"create\" on pods/exec, pods/attach or "
                 "pods/portforward")},
        {404, N_("a proxy stands before the API server that knows no such path")},
        {502, N_("the API server can't reach the node's kubelet, or a proxy the API server")},
        {503, N_("the API server can't reach the node's kubelet, or a proxy the API server")},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].status == status && (status == 403 || str_starts(err->msg, "HTTP ")) &&
            (str_eq(err->hint, pd_hint(err->code)) || str_eq(err->hint, _(pd_hint(err->code)))))
            pd_set_hint(err, "%s", _(table[i].hint));
}

/* A server that can't take the first offer says so with one of these, but not
 * with a lack of rights or an object that is not there. */
static bool may_be_offer(const struct podlink *l, int status, const struct pd_err *why)
{
    bool protocol = status == 403 ? strstr(why->msg, "protocol") || strstr(why->msg, "upgrade")
                                  : status == 400 || status == 426 || status == 500 ||
                                        status == 501;
    return l->plain && protocol;
}

static bool again(struct podlink *l, int status, const struct pd_err *why)
{
    if (!may_be_offer(l, status, why))
        return false;
    free(l->offers);
    l->offers = l->plain;
    l->plain = NULL;
    start(l);
    return true;
}

static void end_with(struct podlink *l, int code, bool refused, const struct pd_err *err)
{
    if (!l->stopped && l->h.closed)
        l->h.closed(l->h.arg, code, refused, err);
    l->stopped = true;
}

static void on_closed(void *arg, int code, int status, const char *body, const struct pd_err *err)
{
    struct podlink *l = arg;
    struct pd_err why;
    l->busy = true;
    l->ws = NULL;
    if (l->open || !(status || err)) {
        end_with(l, code, !l->open, err);
        leave(l);
        return;
    }
    k8s_trace_done(l->k, l->trace, "GET", l->path, status, clock_ms() - l->started_ms);
    if (status) {
        k8s_status_error(status, body, strlen(body), &why);
        explain(status, &why);
    } else {
        why = *err;
    }
    if (!l->stopped && !again(l, status, &why))
        end_with(l, code, true, &why);
    leave(l);
}

/* --- life --- */

static void start(struct podlink *l)
{
    struct ws_handlers h = {on_open, on_message, on_closed, l, on_drained};
    l->started_ms = clock_ms();
    l->trace = k8s_trace_open(l->k, "GET", l->path, NULL, NULL);
    l->ws = ws_open(k8s_loop(l->k), k8s_target(l->k), l->path, l->offers, &h);
    ws_pause(l->ws, l->paused);
}

struct podlink *podlink_open(struct k8s *k, const char *path, const char *offers,
                             const char *plain, const struct podlink_handlers *h)
{
    struct podlink *l = xcalloc(1, sizeof *l);
    l->k = k;
    l->h = *h;
    l->path = xstrdup(path);
    l->offers = xstrdup(offers);
    l->plain = xstrdup(plain);
    l->part = (struct k8s_part){.close = on_part_close, .arg = l};
    k8s_part_add(k, &l->part);
    start(l);
    return l;
}

void podlink_send(struct podlink *l, const void *p, size_t n)
{
    if (l && l->ws && !l->stopped)
        ws_send(l->ws, true, p, n);
}

size_t podlink_pending(const struct podlink *l)
{
    return l && l->ws ? ws_pending(l->ws) : 0;
}

void podlink_pause(struct podlink *l, bool on)
{
    if (!l || l->stopped)
        return;
    l->paused = on;
    if (l->ws)
        ws_pause(l->ws, on);
}

void podlink_end(struct podlink *l)
{
    if (l && l->ws && !l->stopped)
        ws_close(l->ws, 1000);
}
