/* watch.c - list + watch that cannot go stale (watch.h).
 *
 * States of work: listing (a page is on its way), watching (the endless answer),
 * waiting (timer). `rv` is the version to resume from, "" means list first.
 */
#include "k8s/watch.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/watch_body.h"

enum { BACKOFF_MIN = 800, BACKOFF_MAX = 30000, PEACE_MS = 120000, FORBIDDEN_MS = 30000 };
enum { SHORT_MS = 1000, WATCH_SECONDS = 300, DEAD_MS = 90000 };
enum { LIST_TIMEOUT_MS = 60000, EMPTY_MAX = 2, EMPTY_WAIT_MS = 10000 };

struct watch {
    struct k8s *k;                    /* NULL: the connection was closed */
    struct k8s_part part;
    const struct res *res;
    char *ns, *label, *field;
    struct watch_handlers h;
    struct http *http;
    uint32_t timer, trace, dead_timer;
    char *path;                       /* of the request on its way */
    char rv[64];
    struct str token;                 /* continue */
    struct watch_body body;
    enum watch_state state;
    bool listing, busy, stopped, lost;    /* lost: the stream told us to list again */
    int64_t heard_ms, backoff_ms, trouble_ms, opened_ms;
    int empty_ends;
    struct pd_err stream_err;
    unsigned seed;
};

static void start_list(struct watch *w);
static void start_watch(struct watch *w);
static void later(struct watch *w, int64_t ms);

/* --- life --- */

static void end_traffic(struct watch *w)
{
    struct loop *l = k8s_loop(w->k);
    http_cancel(w->http);
    w->http = NULL;
    loop_timer_cancel(l, w->timer);
    loop_timer_cancel(l, w->dead_timer);
    w->timer = w->dead_timer = 0;
}

static void watch_free(struct watch *w)
{
    if (w->k) {
        end_traffic(w);
        k8s_part_remove(w->k, &w->part);
    }
    free(w->ns);
    free(w->label);
    free(w->field);
    free(w->path);
    str_release(&w->token);
    watch_body_release(&w->body);
    free(w);
}

/* k8s_close: the part is off the list already. */
static void on_close(void *arg)
{
    struct watch *w = arg;
    end_traffic(w);
    w->body.halted = true;
    w->k = NULL;
}

/* The server is back: the wait that grew while it was away ends. */
static void on_wake(void *arg)
{
    struct watch *w = arg;
    if (w->timer && !w->http && !w->stopped && w->state == WATCH_RETRYING)
        later(w, 0);
}

void watch_stop(struct watch *w)
{
    if (!w || w->stopped)
        return;
    w->stopped = w->body.halted = true;
    if (w->busy)
        return;
    watch_free(w);
}

/* Around everything that calls handlers. leave: true when the watch is gone. */
static void enter(struct watch *w)
{
    w->busy = true;
}

static bool leave(struct watch *w)
{
    w->busy = false;
    if (w->stopped) {
        watch_free(w);
        return true;
    }
    return false;
}

static void tell(struct watch *w, enum watch_state s, const struct pd_err *err, int64_t next_ms)
{
    bool news = s != w->state || err;
    w->state = s;
    if (news && w->h.state && !w->stopped)
        w->h.state(w->h.arg, s, err, next_ms);
}

/* --- waiting --- */

static void on_timer(void *arg)
{
    struct watch *w = arg;
    w->timer = 0;
    if (*w->rv)
        start_watch(w);
    else
        start_list(w);
}

static void later(struct watch *w, int64_t ms)
{
    loop_timer_cancel(k8s_loop(w->k), w->timer);
    w->timer = loop_timer(k8s_loop(w->k), ms, on_timer, w, "watch");
}

/* 0.8 s, doubling to 30 s, plus up to as much again; peace resets it. */
static int64_t backoff(struct watch *w)
{
    int64_t now = clock_ms();
    if (w->trouble_ms && now - w->trouble_ms > PEACE_MS)
        w->backoff_ms = 0;
    w->trouble_ms = now;
    w->backoff_ms = w->backoff_ms ? MIN(2 * w->backoff_ms, BACKOFF_MAX) : BACKOFF_MIN;
    w->seed = w->seed * 1103515245u + 12345u;
    return MIN(w->backoff_ms + (int64_t)(w->seed >> 8) % w->backoff_ms, BACKOFF_MAX);
}

static void trouble(struct watch *w, const struct pd_err *err, int64_t at_least)
{
    int64_t ms = MAX(backoff(w), at_least);
    bool no = err->code == PD_FORBIDDEN || err->code == PD_AUTH;
    if (no)
        ms = MAX(ms, FORBIDDEN_MS);
    later(w, ms);
    tell(w, no ? WATCH_FORBIDDEN : WATCH_RETRYING, err, ms);
}

/* --- paths --- */

static void base_path(struct watch *w, struct str *s)
{
    char path[RES_PATH_MAX];
    str_init(s, 64 << 10);
    str_add(s, res_path(w->res, w->ns, NULL, NULL, path));
    k8s_query(s, "labelSelector", w->label);
    k8s_query(s, "fieldSelector", w->field);
}

static void send(struct watch *w, struct str *path, struct http_request *q)
{
    free(w->path);
    w->path = str_take(path);
    str_release(path);
    q->method = "GET";
    q->path = w->path;
    q->arg = w;
    q->no_body_on_error = true;
    w->opened_ms = clock_ms();
    w->trace = k8s_trace_open(w->k, "GET", w->path, NULL, NULL);
    w->http = http_start(k8s_loop(w->k), k8s_target(w->k), q);
}

/* --- list --- */

static void list_data(void *arg, const char *p, size_t n)
{
    struct watch *w = arg;
    struct pd_err err;
    w->heard_ms = clock_ms();
    enter(w);
    if (watch_body_feed(&w->body, p, n, &err) != PD_OK)
        w->stream_err = err;
    leave(w);
}

/* A page is whole. */
static void page_done(struct watch *w)
{
    struct pd_err err;
    if (watch_body_end(&w->body, &err) != PD_OK) {
        w->rv[0] = '\0';
        str_clear(&w->token);
        trouble(w, &err, 0);
        return;
    }
    str_clear(&w->token);
    str_add(&w->token, w->body.facts.next.p);
    str_copy(w->rv, sizeof w->rv, w->body.facts.rv);
    if (w->token.len > 0) {
        start_list(w);
        return;
    }
    if (w->h.end)
        w->h.end(w->h.arg);
    if (!w->stopped && w->k)
        start_watch(w);
}

/* An HTTP answer of 400 and more, or none at all. */
static void refused(struct watch *w, const struct http_response *r)
{
    struct pd_err err = {.code = PD_OK};
    if (r->err)
        err = *r->err;
    else
        k8s_status_error(r->status, r->body, r->body_len, &err);
    if (!err.src[0])
        str_fmt(err.src, sizeof err.src, "GET %s", w->path);
    bool gone = r->status == 410 || err.code == PD_GONE;
    bool bad_version = !w->listing && r->status >= 400 && r->status != 429 && r->status != 401;
    if (gone || bad_version) {
        w->rv[0] = '\0';
        str_clear(&w->token);
    }
    if (r->status == 401 && k8s_refresh_token(w->k)) {
        later(w, 0);
        return;
    }
    if (gone) {
        later(w, w->empty_ends++ ? backoff(w) : 0);
        return;
    }
    trouble(w, &err, r->retry_after > 0 ? 1000 * (int64_t)r->retry_after : 0);
}

static void answered(struct watch *w, const struct http_response *r)
{
    w->http = NULL;
    k8s_trace_done(w->k, w->trace, "GET", w->path, r->status, r->ms);
    k8s_link(w->k, r->ms, w->listing || r->status == 0 ? r->err : NULL);
}

static void list_done(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    enter(w);
    answered(w, r);
    if (r->err)
        str_clear(&w->token);             /* half a page may be handed out: from the start */
    if (r->err || r->status >= 400)
        refused(w, r);
    else
        page_done(w);
    leave(w);
}

static void start_list(struct watch *w)
{
    struct str path;
    struct http_request q = {.data = list_data, .done = list_done, .timeout_ms = LIST_TIMEOUT_MS};
    bool first = w->token.len == 0;
    base_path(w, &path);
    k8s_query(&path, "limit", "500");
    if (!first)
        k8s_query(&path, "continue", w->token.p);
    watch_body_page(&w->body);
    w->stream_err.code = PD_OK;
    w->listing = true;
    w->rv[0] = '\0';
    send(w, &path, &q);
    if (first) {
        bool busy = w->busy;
        enter(w);
        tell(w, WATCH_LISTING, NULL, 0);
        if (w->h.begin && !w->stopped)
            w->h.begin(w->h.arg);
        if (busy)
            return;
        leave(w);
    }
}

/* --- watch --- */

/* The stream itself says that it can't go on. */
static void stream_error(struct watch *w)
{
    const char *text = w->body.facts.status.p;
    struct json *status = NULL;
    struct pd_err ignored;
    if (json_parse(text, strlen(text), &status, &ignored) != PD_OK)
        status = NULL;
    w->lost = true;
    k8s_status_error((int)json_int(status, "code", 500), text, strlen(text), &w->stream_err);
    str_fmt(w->stream_err.src, sizeof w->stream_err.src, "GET %s", w->path);
    json_free(status);
}

static void watch_data(void *arg, const char *p, size_t n)
{
    struct watch *w = arg;
    struct watch_facts *f = &w->body.facts;
    int64_t before = f->count;
    enter(w);
    w->heard_ms = clock_ms();
    if (!w->lost && watch_body_feed(&w->body, p, n, &w->stream_err) != PD_OK)
        w->lost = true;
    if (f->rv[0])
        str_copy(w->rv, sizeof w->rv, f->rv);
    if (f->count > before)
        w->empty_ends = 0;
    if (f->failed && !w->lost)
        stream_error(w);
    if (w->k && !w->stopped && w->state != WATCH_LIVE && !w->lost)
        tell(w, WATCH_LIVE, NULL, 0);
    leave(w);
}

static void watch_head(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    if (r->status >= 400)
        return;
    enter(w);
    w->heard_ms = clock_ms();
    k8s_link(w->k, r->ms, NULL);
    tell(w, WATCH_LIVE, NULL, 0);
    leave(w);
}

/* The stream ended. Its own complaint, a broken transport, or peace. */
static void stream_over(struct watch *w, const struct http_response *r)
{
    bool at_once = w->body.facts.count == 0 && clock_ms() - w->opened_ms < SHORT_MS;
    if (w->lost) {
        bool gone = w->stream_err.code == PD_GONE;
        w->rv[0] = '\0';
        if (gone && w->empty_ends++ == 0)
            later(w, 0);
        else
            trouble(w, &w->stream_err, 1000);
        return;
    }
    if (r->err) {
        trouble(w, r->err, 0);
        return;
    }
    if (!at_once) {
        w->empty_ends = 0;
        later(w, 0);
        return;
    }
    if (++w->empty_ends >= EMPTY_MAX)
        w->rv[0] = '\0';
    int64_t ms = backoff(w);
    later(w, w->empty_ends > EMPTY_MAX ? MAX(ms, EMPTY_WAIT_MS) : ms);
}

static void watch_done(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    enter(w);
    answered(w, r);
    loop_timer_cancel(k8s_loop(w->k), w->dead_timer);
    w->dead_timer = 0;
    if (r->status >= 400 || (r->err && r->status == 0))
        refused(w, r);
    else
        stream_over(w, r);
    leave(w);
}

/* Bookmarks come about once a minute, and the server ends the watch after
 * WATCH_SECONDS: a stream past that which says nothing is dead. */
static void on_dead(void *arg)
{
    struct watch *w = arg;
    int64_t open = clock_ms() - w->opened_ms, quiet = clock_ms() - w->heard_ms;
    w->dead_timer = loop_timer(k8s_loop(w->k), DEAD_MS / 3, on_dead, w, "watch silence");
    if (open < (int64_t)WATCH_SECONDS * 1000 + DEAD_MS || quiet < DEAD_MS)
        return;
    struct pd_err err;
    pd_fail(&err, PD_TIMEOUT, _("the watch is silent beyond its end"));
    end_traffic(w);
    k8s_trace_done(w->k, w->trace, "GET", w->path, 0, open);
    enter(w);
    trouble(w, &err, 0);
    leave(w);
}

static void start_watch(struct watch *w)
{
    struct str path;
    char seconds[16];
    struct http_request q = {.head = watch_head, .data = watch_data, .done = watch_done};
    base_path(w, &path);
    k8s_query(&path, "watch", "true");
    k8s_query(&path, "allowWatchBookmarks", "true");
    k8s_query(&path, "resourceVersion", w->rv);
    k8s_query(&path, "timeoutSeconds", str_fmt(seconds, sizeof seconds, "%d", WATCH_SECONDS));
    watch_body_stream(&w->body);
    w->listing = w->lost = false;
    w->stream_err.code = PD_OK;
    send(w, &path, &q);
    loop_timer_cancel(k8s_loop(w->k), w->dead_timer);
    w->dead_timer = loop_timer(k8s_loop(w->k), DEAD_MS / 3, on_dead, w, "watch silence");
}

/* --- public --- */

static void first(void *arg)
{
    struct watch *w = arg;
    w->timer = 0;
    start_list(w);
}

struct watch *watch_start(struct k8s *k, const struct watch_spec *spec,
                          const struct watch_handlers *h)
{
    struct watch *w = xcalloc(1, sizeof *w);
    w->res = res_by_name(spec->res);
    if (!w->res)
        PD_BUG("no resource \"%s\"", spec->res);
    w->k = k;
    w->h = *h;
    w->ns = xstrdup(spec->ns ? spec->ns : k8s_namespace(k));
    w->label = xstrdup(spec->label_selector);
    w->field = xstrdup(spec->field_selector);
    w->heard_ms = -1;
    w->state = WATCH_RETRYING;
    w->seed = (unsigned)clock_us() | 1u;
    str_init(&w->token, 64 << 10);
    watch_body_init(&w->body, w->res, h);
    w->part = (struct k8s_part){.close = on_close, .wake = on_wake, .arg = w};
    k8s_part_add(k, &w->part);
    w->timer = loop_timer(k8s_loop(k), 0, first, w, "watch");
    return w;
}

void watch_retry_now(struct watch *w)
{
    if (!w->k || w->http || !w->timer)
        return;
    w->backoff_ms = 0;
    later(w, 0);
}

enum watch_state watch_state(const struct watch *w)
{
    return w->state;
}

int64_t watch_age_ms(const struct watch *w)
{
    return w->heard_ms < 0 ? -1 : clock_ms() - w->heard_ms;
}

const char *watch_version(const struct watch *w)
{
    return w->rv;
}

const char *watch_state_name(enum watch_state s)
{
    static const char *const names[] = {"listing", "live", "retrying", "forbidden"};
    return (size_t)s < ARRAY_LEN(names) ? names[s] : "";
}
