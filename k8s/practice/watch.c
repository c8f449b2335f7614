/* watch.c - watches over HTTP: a chunked stream of events from the ring and
 * the live changes, selectors seen as a filter (an object that leaves the
 * selection is DELETED), bookmarks, and the streaming list.
 */
#include "core/base/base.h"

#include <sys/random.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/event.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/rest.h"
#include "k8s/practice/selector.h"
#include "k8s/practice/table.h"

enum { BOOKMARK_MS = 60000, WATCHES = 400, BEHIND = 16 << 20 };

struct watch {
    struct call *call;
    struct api_sub *sub;
    struct selector labels, fields;
    int64_t rv;                  /* of the newest event sent or skipped */
    bool bookmarks, first_table, ended;
    uint32_t bookmark_timer, end_timer;
    enum table_include include;
};

static int watch_count;

/* --- writing --- */

static void put_line(struct watch *w, const char *type, const char *object, size_t n)
{
    struct str s;
    if (w->ended || !w->call->q)
        return;
    str_init(&s, n + 64);
    str_printf(&s, "{\"type\":\"%s\",\"object\":", type);
    str_append(&s, object, n);
    str_add(&s, "}\n");
    server_stream_write(w->call->q, s.p, s.len);
    str_release(&s);
}

static void put_json(struct watch *w, const char *type, const struct json *object)
{
    char *text = json_text(object, 0);
    put_line(w, type, text, strlen(text));
    free(text);
}

static struct json *as_table(struct watch *w, const struct json *obj)
{
    struct json *t = table_new(w->call->res, w->first_table);
    w->first_table = false;
    table_add(t, w->call->res, obj, w->include);
    json_set(t, "metadata", json_new_object());
    json_put_str(json_get_mut(t, "metadata"), "resourceVersion",
                 json_str(obj, "metadata.resourceVersion", NULL));
    return t;
}

static void put_object(struct watch *w, const char *type, struct api_version *v)
{
    size_t n;
    struct json *view = w->call->as == REST_TABLE ? as_table(w, v->j) : rest_view(w->call, v->j);
    if (view) {
        put_json(w, type, view);
        json_free(view);
        return;
    }
    const char *text = api_version_text(v, &n);
    put_line(w, type, text, n);
}

static void put_bookmark(struct watch *w, bool initial)
{
    char gv[64], rv[24];
    struct json *o = json_new_object(), *meta = json_new_object();
    str_fmt(rv, sizeof rv, "%" PRId64, w->rv);
    json_put_str(o, "kind", w->call->as == REST_PLAIN ? w->call->res->kind
                            : w->call->as == REST_TABLE ? "Table" : "PartialObjectMetadata");
    json_put_str(o, "apiVersion", w->call->as == REST_PLAIN ? res_api_version(w->call->res, gv)
                                                            : "meta.k8s.io/v1");
    json_put_str(meta, "resourceVersion", rv);
    if (initial)
        json_set(meta, "annotations", json_from("{\"k8s.io/initial-events-end\":\"true\"}"));
    json_set(o, "metadata", meta);
    put_json(w, "BOOKMARK", o);
    json_free(o);
}

/* --- selecting --- */

static bool selects(const struct watch *w, const struct json *obj)
{
    const char *ns = w->call->at.ns, *name = w->call->at.name;
    if (*ns && strcmp(json_str(obj, "metadata.namespace", ""), ns) != 0)
        return false;
    if (*name && strcmp(json_str(obj, "metadata.name", ""), name) != 0)
        return false;
    return selector_match_labels(&w->labels, json_at(obj, "metadata.labels")) &&
           selector_match_fields(&w->fields, obj);
}

static void finish(struct watch *w)
{
    if (w->ended)
        return;
    w->ended = true;
    if (w->call->q)
        server_stream_end(w->call->q);
}

static void on_delta(void *arg, const struct api_delta *d)
{
    struct watch *w = arg;
    if (d->rv <= w->rv || w->ended)
        return;
    bool now = d->change != API_DELETED && selects(w, d->now->j);
    bool before = d->old && selects(w, d->old->j);
    w->rv = d->rv;
    if (now)
        put_object(w, before ? "MODIFIED" : "ADDED", d->now);
    else if (before && d->change == API_DELETED)
        put_object(w, "DELETED", d->now);
    else if (before) {                        /* it left the selection: its last seen state */
        struct api_version *last = xcalloc(1, sizeof *last);
        last->refs = 1;
        last->j = json_copy(d->old->j);
        json_put_path(last->j, "metadata.resourceVersion",
                      json_copy(json_at(d->now->j, "metadata.resourceVersion")));
        put_object(w, "DELETED", last);
        api_version_unref(last);
    }
    if (w->call->q && server_stream_pending(w->call->q) > BEHIND)
        finish(w);                            /* too slow a reader: it may come again */
}

/* --- the life of a watch --- */

static void on_bookmark(void *arg)
{
    struct watch *w = arg;
    w->rv = MAX(w->rv, api_revision(w->call->rest->api));
    put_bookmark(w, false);
    w->bookmark_timer = loop_timer(api_loop(w->call->rest->api), BOOKMARK_MS, on_bookmark, w,
                                   "watch bookmark");
}

static void on_end(void *arg)
{
    struct watch *w = arg;
    w->end_timer = 0;
    if (w->bookmarks) {
        w->rv = MAX(w->rv, api_revision(w->call->rest->api));
        put_bookmark(w, false);
    }
    finish(w);
}

static void on_gone(void *arg)
{
    struct watch *w = arg;
    struct loop *l = api_loop(w->call->rest->api);
    watch_count--;
    loop_timer_cancel(l, w->bookmark_timer);
    loop_timer_cancel(l, w->end_timer);
    api_sub_remove(w->call->rest->api, w->sub);
    selector_release(&w->labels);
    selector_release(&w->fields);
    w->call->q = NULL;
    rest_release(w->call);
    free(w);
}

static void send_current(struct watch *w)
{
    struct api_versions all;
    api_snapshot(w->call->rest->api, w->call->res, w->call->at.ns, &all);
    for (size_t i = 0; i < all.n; i++)
        if (selects(w, all.v[i]->j))
            put_object(w, "ADDED", all.v[i]);
    api_snapshot_release(&all);
    w->rv = api_revision(w->call->rest->api);
}

static int64_t seconds(struct call *c)
{
    uint16_t r = 0;
    int64_t s = rest_int(c, "timeoutSeconds", 0);
    if (getrandom(&r, sizeof r, 0) < 0)
        r = 0;
    return s > 0 ? s : 1800 + r % 1800;
}

static void start(struct watch *w, bool current, bool initial)
{
    struct call *c = w->call;
    struct loop *l = api_loop(c->rest->api);
    server_stream(c->q, 200, "application/json", NULL, NULL);
    if (current)
        send_current(w);
    if (initial)
        put_bookmark(w, true);
    int64_t from = w->rv;
    w->sub = api_sub_add(c->rest->api, c->res, on_delta, w);
    if (!current)
        (void)api_since(c->rest->api, c->res, from, on_delta, w);
    if (w->bookmarks)
        w->bookmark_timer = loop_timer(l, BOOKMARK_MS, on_bookmark, w, "watch bookmark");
    w->end_timer = loop_timer(l, kobj_ms(seconds(c)), on_end, w, "watch end");
}

/* In-stream, as the server says what it learns after the 200. */
static void start_with_error(struct watch *w, struct json *status)
{
    server_stream(w->call->q, 200, "application/json", NULL, NULL);
    put_json(w, "ERROR", status);
    json_free(status);
    finish(w);
}

static struct watch *watch_new(struct call *c)
{
    struct watch *w = xcalloc(1, sizeof *w);
    const char *include = rest_param(c, "includeObject");
    w->call = c;                              /* takes over the request's hold */
    w->first_table = true;
    w->bookmarks = rest_flag(c, "allowWatchBookmarks");
    w->include = !strcmp(include, "None") ? TABLE_NONE
                 : !strcmp(include, "Object") ? TABLE_OBJECT : TABLE_METADATA;
    watch_count++;
    server_on_gone(c->q, on_gone, w);
    return w;
}

static struct json *check(struct call *c, struct watch *w)
{
    struct pd_err err;
    if (selector_labels(rest_param(c, "labelSelector"), &w->labels, &err) != PD_OK ||
        selector_fields(c->res, rest_param(c, "fieldSelector"), &w->fields, &err) != PD_OK)
        return status_bad_request("%s", err.msg);
    if (watch_count > WATCHES)
        return status_new(429, "TooManyRequests", NULL, NULL,
                          "too many watches: the practice cluster keeps %d at once", WATCHES);
    bool initial = rest_flag(c, "sendInitialEvents");
    if (initial && strcmp(rest_param(c, "resourceVersionMatch"), "NotOlderThan") != 0)
        return status_new(422, "Invalid", NULL, NULL, "ListOptions.meta.k8s.io \"\" is invalid: "
                          "sendInitialEvents: Forbidden: sendInitialEvents is forbidden unless "
                          "resourceVersionMatch is set to NotOlderThan");
    return NULL;
}

void rest_watch(struct call *c)
{
    int64_t rv = -1, floor_rv = 0;
    const char *text = rest_param(c, "resourceVersion");
    struct api *a = c->rest->api;
    (void)api_flush(a);
    struct watch *w = watch_new(c);
    struct json *no = check(c, w);
    if (!no && *text && (!str_to_i64(text, &rv) || rv < 0))
        no = status_bad_request("Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": "
                                "invalid syntax", text, text);
    if (no) {
        rest_refuse(c, no);
        return;
    }
    bool initial = rest_flag(c, "sendInitialEvents");
    if (rv > api_revision(a)) {
        struct json *s = status_new(504, "Timeout", NULL, NULL, "Timeout: Too large resource "
                                    "version: %" PRId64 ", current: %" PRId64, rv, api_revision(a));
        status_add_cause(s, "ResourceVersionTooLarge", "Too large resource version", "");
        json_put_num(json_get_mut(s, "details"), "retryAfterSeconds", 1);
        start_with_error(w, s);
    } else if (rv > 0 && !initial && !api_since(a, c->res, rv, NULL, NULL)) {
        floor_rv = api_ring_floor(a);
        start_with_error(w, status_expired("too old resource version: %" PRId64 " (%" PRId64 ")",
                                           rv, floor_rv + 1));
    } else {
        w->rv = rv > 0 ? rv : 0;
        start(w, rv <= 0 || initial, initial && w->bookmarks);
    }
}
