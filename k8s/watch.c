/* watch.c - list + watch that cannot go stale (watch.h): the driver. What comes
 * next is decided in watch_flow.c, what an answer says is read in watch_body.c;
 * here requests are sent and their ends reported.
 */
#include "k8s/watch.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/watch_flow.h"

struct watch {
    struct k8s *k;                    /* NULL: the connection was closed */
    struct k8s_part part;
    const struct res *res;
    char *ns, *label, *field;
    struct watch_handlers h;
    struct http *http;
    uint32_t timer, check_timer, trace;
    char *path;                       /* of the request on its way */
    struct watch_flow flow;
    struct watch_body body;
    enum watch_state told;
    int64_t due_ms;                   /* of the timer */
    int status;                       /* of the answer that is coming in */
    bool busy, stopped, begun;        /* begun: handlers.begin was called, end was not */
};

static void go_on(struct watch *w);

/* --- life --- */

static void end_traffic(struct watch *w)
{
    struct loop *l = k8s_loop(w->k);
    http_cancel(w->http);
    w->http = NULL;
    loop_timer_cancel(l, w->timer);
    loop_timer_cancel(l, w->check_timer);
    w->timer = w->check_timer = 0;
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
    watch_body_release(&w->body);
    watch_flow_release(&w->flow);
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
    if (w->timer && !w->http && !w->stopped && !w->flow.firm && w->flow.state == WATCH_RETRYING) {
        watch_flow_now(&w->flow);
        go_on(w);
    }
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

static bool over(const struct watch *w)
{
    return w->stopped || !w->k;
}

/* --- what the view hears --- */

/* again: the same state is news when it has a new reason or a new next try. */
static void tell(struct watch *w, bool again)
{
    const struct watch_flow *f = &w->flow;
    if (over(w) || (f->state == w->told && !again))
        return;
    w->told = f->state;
    if (w->h.state)
        w->h.state(w->h.arg, f->state, f->err.code != PD_OK ? &f->err : NULL, f->wait_ms);
}

/* --- the next request --- */

static void start_request(struct watch *w);

static void on_timer(void *arg)
{
    struct watch *w = arg;
    w->timer = 0;
    start_request(w);
}

static void go_on(struct watch *w)
{
    const struct watch_flow *f = &w->flow;
    if (over(w))
        return;
    loop_timer_cancel(k8s_loop(w->k), w->timer);
    w->timer = loop_timer(k8s_loop(w->k), f->wait_ms, on_timer, w, "watch");
    w->due_ms = clock_ms() + f->wait_ms;
    tell(w, f->state == WATCH_RETRYING || f->state == WATCH_FORBIDDEN);
}

/* A request ended: the flow has decided. */
static void answered(struct watch *w, int status, int64_t ms, const struct pd_err *link)
{
    w->http = NULL;
    loop_timer_cancel(k8s_loop(w->k), w->check_timer);
    w->check_timer = 0;
    k8s_trace_done(w->k, w->trace, "GET", w->path, status, ms);
    k8s_link(w->k, ms, link);
}

/* We end it ourselves; err NULL: the flow finds it dead. */
static void cut(struct watch *w, const struct pd_err *err)
{
    int64_t now = clock_ms();
    struct pd_err why;
    http_cancel(w->http);
    w->http = NULL;
    loop_timer_cancel(k8s_loop(w->k), w->check_timer);
    w->check_timer = 0;
    k8s_trace_done(w->k, w->trace, "GET", w->path, w->status, now - w->flow.opened_ms);
    if (err) {
        why = *err;
        if (!why.src[0])
            str_fmt(why.src, sizeof why.src, "GET %s", w->path);
        watch_flow_broken(&w->flow, now, &why, true);
    } else {
        watch_flow_cut(&w->flow, now);
    }
    go_on(w);
}

static void on_check(void *arg);

static void check_later(struct watch *w)
{
    loop_timer_cancel(k8s_loop(w->k), w->check_timer);
    w->check_timer = loop_timer(k8s_loop(w->k), watch_flow_check_in(&w->flow, clock_ms()),
                                on_check, w, "watch check");
}

static void on_check(void *arg)
{
    struct watch *w = arg;
    struct http_target *t = k8s_target(w->k);
    int64_t now = clock_ms();
    w->check_timer = 0;
    if (t->creds.ready && !t->creds.ready(t->creds.arg))
        w->flow.opened_ms = now;                  /* it is not on its way yet */
    enter(w);
    if (watch_flow_check(&w->flow, now)) {
        check_later(w);
        tell(w, false);
    } else {
        cut(w, NULL);
    }
    leave(w);
}

/* --- refusals --- */

static void describe(const struct watch *w, const struct http_response *r, struct pd_err *err)
{
    (void)k8s_answer_error(r, err);
    if (!err->src[0])
        str_fmt(err->src, sizeof err->src, "GET %s", w->path);
}

/* The Status of a refusal as JSON, or NULL. */
static struct json *status_json(const char *text, size_t n)
{
    struct json *j = NULL;
    struct pd_err ignored;
    if (n == 0 || json_parse(text, n, &j, &ignored) != PD_OK)
        return NULL;
    return j;
}

static void refused(struct watch *w, const struct http_response *r)
{
    struct pd_err err = {.code = PD_OK};
    struct json *status = status_json(r->body, r->body_len);
    describe(w, r, &err);
    struct flow_refusal why = {.status = r->status, .retry_after = r->retry_after, .err = &err,
                               .token = json_str(status, "metadata.continue", NULL)};
    watch_flow_refused(&w->flow, clock_ms(), &why);
    json_free(status);
}

/* An ERROR event. */
static void stream_error(struct watch *w)
{
    const struct str *text = &w->body.facts.status;
    struct pd_err err = {.code = PD_OK};
    struct json *status = status_json(text->p, text->len);
    int code = (int)json_int(status, "code", 500);
    k8s_status_error(code, text->p, text->len, &err);
    str_fmt(err.src, sizeof err.src, "GET %s", w->path);
    struct flow_refusal why = {
        .status = code, .in_stream = true, .err = &err,
        .retry_after = (int)json_int(status, "details.retryAfterSeconds", -1)};
    watch_flow_refused(&w->flow, clock_ms(), &why);
    json_free(status);
}

/* --- list --- */

/* The first bytes of a list: what was handed out before is void. */
static void begin(struct watch *w)
{
    if (!w->flow.begin || w->begun)
        return;
    w->begun = true;
    if (w->h.begin)
        w->h.begin(w->h.arg);
}

static void list_head(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    w->status = r->status;
}

static void list_data(void *arg, const char *p, size_t n)
{
    struct watch *w = arg;
    struct pd_err err;
    watch_flow_bytes(&w->flow, clock_ms());
    if (w->status >= 300)
        return;
    enter(w);
    begin(w);
    if (!over(w) && watch_body_feed(&w->body, p, n, &err) != PD_OK && !over(w))
        cut(w, &err);
    leave(w);
}

static void page_done(struct watch *w)
{
    struct pd_err err = {.code = PD_OK};
    int64_t now = clock_ms();
    if (watch_body_end(&w->body, &err) != PD_OK) {
        str_fmt(err.src, sizeof err.src, "GET %s", w->path);
        watch_flow_broken(&w->flow, now, &err, true);
        return;
    }
    begin(w);
    if (!over(w) && watch_flow_page(&w->flow, now, &w->body.facts)) {
        w->begun = false;
        if (w->h.end)
            w->h.end(w->h.arg);
    }
}

static void list_done(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    enter(w);
    answered(w, r->status, r->ms, r->err);
    if (r->err)
        watch_flow_broken(&w->flow, clock_ms(), r->err, r->status >= 300);
    else if (r->status >= 300)
        refused(w, r);
    else
        page_done(w);
    go_on(w);
    leave(w);
}

/* --- watch --- */

static void watch_head(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    w->status = r->status;
    if (r->status >= 300)
        return;
    enter(w);
    k8s_link(w->k, r->ms, NULL);
    watch_flow_head(&w->flow, clock_ms());
    check_later(w);
    tell(w, false);
    leave(w);
}

static void watch_data(void *arg, const char *p, size_t n)
{
    struct watch *w = arg;
    struct pd_err err = {.code = PD_OK};
    if (w->status >= 300 || w->body.facts.failed)
        return;
    enter(w);
    bool good = watch_body_feed(&w->body, p, n, &err) == PD_OK;
    if (good || w->body.facts.count > w->flow.seen)
        good &= watch_flow_events(&w->flow, clock_ms(), &w->body.facts, &err);
    if (!over(w) && !good)
        cut(w, &err);
    else
        tell(w, false);
    leave(w);
}

static void watch_done(void *arg, const struct http_response *r)
{
    struct watch *w = arg;
    int64_t now = clock_ms();
    enter(w);
    answered(w, r->status, r->ms, r->status == 0 ? r->err : NULL);
    if (w->body.facts.failed)
        stream_error(w);
    else if (r->err)
        watch_flow_broken(&w->flow, now, r->err, false);
    else if (r->status >= 300)
        refused(w, r);
    else
        watch_flow_ended(&w->flow, now);
    go_on(w);
    leave(w);
}

/* --- sending --- */

static void list_path(const struct watch *w, struct str *path)
{
    const struct watch_flow *f = &w->flow;
    if (!f->whole)
        k8s_query(path, "limit", "500");
    if (!f->begin)
        k8s_query(path, "continue", f->token.p);
}

static void watch_path(const struct watch *w, struct str *path)
{
    char seconds[16];
    k8s_query(path, "watch", "true");
    k8s_query(path, "allowWatchBookmarks", "true");
    k8s_query(path, "resourceVersion", w->flow.rv);
    k8s_query(path, "timeoutSeconds",
              str_fmt(seconds, sizeof seconds, "%d", w->flow.timeout_s));
}

static void start_request(struct watch *w)
{
    char buf[RES_PATH_MAX];
    struct str path;
    struct http_request q = {.method = "GET", .arg = w, .no_body_on_error = true};
    watch_flow_send(&w->flow, clock_ms());
    bool list = w->flow.step == FLOW_LIST;
    q.head = list ? list_head : watch_head;
    q.data = list ? list_data : watch_data;
    q.done = list ? list_done : watch_done;
    q.fresh_connection = w->flow.fresh_link;
    str_init(&path, 80 << 10);
    str_add(&path, res_path(w->res, w->ns, NULL, NULL, buf));
    k8s_query(&path, "labelSelector", w->label);
    k8s_query(&path, "fieldSelector", w->field);
    if (list) {
        list_path(w, &path);
        watch_body_page(&w->body);
        w->begun &= !w->flow.begin;
    } else {
        watch_path(w, &path);
        watch_body_stream(&w->body);
    }
    free(w->path);
    q.path = w->path = str_take(&path);
    w->status = 0;
    w->trace = k8s_trace_open(w->k, "GET", w->path, NULL, NULL);
    w->http = http_start(k8s_loop(w->k), k8s_target(w->k), &q);
    check_later(w);
    enter(w);
    tell(w, false);
    leave(w);
}

/* --- public --- */

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
    watch_flow_init(&w->flow, (unsigned)clock_us());
    w->told = w->flow.state;
    watch_body_init(&w->body, w->res, h);
    w->part = (struct k8s_part){.close = on_close, .wake = on_wake, .arg = w};
    k8s_part_add(k, &w->part);
    w->timer = loop_timer(k8s_loop(k), 0, on_timer, w, "watch");
    return w;
}

void watch_retry_now(struct watch *w)
{
    if (!w->k || w->http || !w->timer)
        return;
    watch_flow_now(&w->flow);
    go_on(w);
}

enum watch_state watch_state(const struct watch *w)
{
    return w->flow.state;
}

int64_t watch_age_ms(const struct watch *w)
{
    return w->flow.heard_ms < 0 ? -1 : clock_ms() - w->flow.heard_ms;
}

int64_t watch_next_ms(const struct watch *w)
{
    return w->http ? 0 : MAX(w->due_ms - clock_ms(), 0);
}

int64_t watch_poll_ms(const struct watch *w)
{
    return w->flow.state == WATCH_POLLING ? w->flow.poll_ms : 0;
}

const char *watch_version(const struct watch *w)
{
    return w->flow.rv;
}

const char *watch_state_name(enum watch_state s)
{
    static const char *const names[] = {"listing", "live",    "retrying",
                                        "forbidden", "quiet", "polling"};
    return (size_t)s < ARRAY_LEN(names) ? names[s] : "";
}
