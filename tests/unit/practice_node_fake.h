/* A small in-memory stand-in for the API (k8s/practice/api.h), so that the
 * scheduler and the controllers run under a clock that the test moves. It
 * keeps deletion semantics (grace, finalizers), tells subscribers on the loop
 * and records events. Included by one test program each. */
#ifndef TESTS_PRACTICE_NODE_FAKE_H
#define TESTS_PRACTICE_NODE_FAKE_H

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/node.h"
#include "tests/t.h"

enum { FAKE_MAX = 512, FAKE_SUBS = 64, FAKE_EVENTS = 512 };

struct fake_change {
    struct api *a;
    const struct res *res;
    enum api_change change;
    struct json *now, *old;
};

struct api {
    struct loop *loop;
    const char *dir;
    struct {
        const struct res *res;
        struct json *j;
    } obj[FAKE_MAX];
    int n;
    struct {
        const struct res *res;
        api_watch_fn *fn;
        void *arg;
    } sub[FAKE_SUBS];
    int subs, serial;
    char event[FAKE_EVENTS][600];     /* "Warning Reason component message" */
    int events;
    char status[64][2000];            /* every status of a Job, as written */
    int statuses;
    struct api_kubelet_ops ops;
};

static inline int fake_find(struct api *a, const struct res *res, const char *ns, const char *name)
{
    for (int i = 0; i < a->n; i++)
        if (a->obj[i].j && a->obj[i].res == res && strcmp(kobj_name(a->obj[i].j), name) == 0 &&
            (!res->namespaced || strcmp(kobj_ns(a->obj[i].j), ns ? ns : "") == 0))
            return i;
    return -1;
}

static void fake_tell(void *arg)
{
    struct fake_change *c = arg;
    for (int i = 0; i < c->a->subs; i++)
        if (c->a->sub[i].res == c->res)
            c->a->sub[i].fn(c->a->sub[i].arg, c->change, c->now, c->old);
    json_free(c->now);
    json_free(c->old);
    free(c);
}

static inline void fake_changed(struct api *a, const struct res *res, enum api_change change,
                                const struct json *now, const struct json *old)
{
    struct fake_change *c = xcalloc(1, sizeof *c);
    *c = (struct fake_change){a, res, change, json_copy(now), json_copy(old)};
    loop_defer(a->loop, fake_tell, c);
}

static inline void fake_put(struct api *a, const struct res *res, int at, struct json *j)
{
    char rv[24];
    str_fmt(rv, sizeof rv, "%d", ++a->serial);
    json_put_str(kobj_member(j, "metadata"), "resourceVersion", rv);
    struct json *old = at >= 0 ? a->obj[at].j : NULL;
    if (at < 0) {
        CHECK(a->n < FAKE_MAX);
        at = a->n++;
        a->obj[at].res = res;
    }
    a->obj[at].j = j;
    if (strcmp(res->kind, "Job") == 0 && old &&
        !json_equal(json_get(old, "status"), json_get(j, "status"))) {
        char *text = json_text(json_get(j, "status"), 0);
        str_copy(a->status[a->statuses++ % 64], sizeof a->status[0], text);
        free(text);
    }
    fake_changed(a, res, old ? API_MODIFIED : API_ADDED, j, old);
    json_free(old);
}

static inline void fake_drop(struct api *a, int at)
{
    struct json *j = a->obj[at].j;
    a->obj[at].j = NULL;
    fake_changed(a, a->obj[at].res, API_DELETED, j, j);
    json_free(j);
}

/* Gone when nothing holds it. true: it went. */
static inline bool fake_settle(struct api *a, int at)
{
    const struct json *j = a->obj[at].j;
    if (!kobj_deleting(j) || json_int(j, "metadata.deletionGracePeriodSeconds", 0) > 0 ||
        json_count(json_at(j, "metadata.finalizers")) > 0)
        return false;
    fake_drop(a, at);
    return true;
}

void api_result_release(struct api_result *r)
{
    json_free(r->body);
    strv_release(&r->warnings);
}

static inline void fake_result(struct api_result *r, int code, struct json *body)
{
    memset(r, 0, sizeof *r);
    strv_init(&r->warnings);
    r->code = code;
    r->body = body;
}

struct json *api_get(struct api *a, const struct res *res, const char *ns, const char *name)
{
    int i = fake_find(a, res, ns, name);
    return i < 0 ? NULL : json_copy(a->obj[i].j);
}

void api_each(struct api *a, const struct res *res, const char *ns,
              void (*fn)(void *, const struct json *), void *arg)
{
    int n = a->n;
    for (int i = 0; i < n; i++)
        if (a->obj[i].j && a->obj[i].res == res && (!ns || strcmp(kobj_ns(a->obj[i].j), ns) == 0))
            fn(arg, a->obj[i].j);
}

void api_create(struct api *a, const struct api_user *u UNUSED, const struct res *res,
                const char *ns, const struct json *obj, struct api_result *out)
{
    struct json *j = json_copy(obj), *meta = kobj_member(j, "metadata");
    char text[64], now[36];
    if (!*kobj_name(j)) {
        char *name = xasprintf("%s%05d", json_str(meta, "generateName", ""), ++a->serial);
        json_put_str(meta, "name", name);
        free(name);
    }
    if (res->namespaced)
        json_put_str(meta, "namespace", ns);
    if (fake_find(a, res, ns, kobj_name(j)) >= 0) {
        json_free(j);
        fake_result(out, 409, json_from("{\"message\":\"already exists\"}"));
        return;
    }
    str_fmt(text, sizeof text, "uid-%d", ++a->serial);
    json_put_str(meta, "uid", text);
    json_put_str(meta, "creationTimestamp", kobj_now(now));
    if (strcmp(res->kind, "Pod") == 0)
        json_put_path(j, "status.phase", json_new_string("Pending"));
    fake_put(a, res, -1, j);
    fake_result(out, 201, json_copy(j));
}

void api_update(struct api *a, const struct api_user *u UNUSED, const struct res *res,
                const char *sub, const struct json *obj, struct api_result *out)
{
    int at = fake_find(a, res, kobj_ns(obj), kobj_name(obj));
    if (at < 0) {
        fake_result(out, 404, json_from("{\"message\":\"not found\"}"));
        return;
    }
    bool status = sub && strcmp(sub, "status") == 0;
    struct json *j = json_copy(status ? a->obj[at].j : obj);
    const struct json *from = status ? obj : a->obj[at].j;
    json_remove(j, "status");
    if (json_get(from, "status"))
        json_set(j, "status", json_copy(json_get(from, "status")));
    struct json *x = json_copy(j), *y = json_copy(a->obj[at].j);
    json_remove(json_get_mut(x, "metadata"), "resourceVersion");
    json_remove(json_get_mut(y, "metadata"), "resourceVersion");
    bool same = json_equal(x, y);
    json_free(x);
    json_free(y);
    fake_result(out, 200, json_copy(j));
    if (same) {
        json_free(j);
        return;
    }
    fake_put(a, res, at, j);
    fake_settle(a, at);
}

void api_delete(struct api *a, const struct api_user *u UNUSED, const struct res *res,
                const char *ns, const char *name, const struct json *options,
                struct api_result *out)
{
    int at = fake_find(a, res, ns, name);
    char when[36];
    if (at < 0) {
        fake_result(out, 404, json_from("{\"message\":\"not found\"}"));
        return;
    }
    struct json *j = json_copy(a->obj[at].j), *meta = kobj_member(j, "metadata");
    bool pod = strcmp(res->kind, "Pod") == 0 && *json_str(j, "spec.nodeName", "") &&
               !kobj_terminal(j);
    int64_t grace = pod ? json_int(options, "gracePeriodSeconds",
                                   json_int(j, "spec.terminationGracePeriodSeconds", 30)) : 0;
    json_put_str(meta, "deletionTimestamp",
                 clock_rfc3339((clock_wall_ms() / 1000 + grace) * 1000000, 0, when));
    json_put_num(meta, "deletionGracePeriodSeconds", (double)grace);
    if (strcmp(json_str(options, "propagationPolicy", ""), "Foreground") == 0)
        json_append(kobj_list(meta, "finalizers"), json_new_string("foregroundDeletion"));
    fake_put(a, res, at, j);
    fake_settle(a, at);
    fake_result(out, 200, json_new_object());
}

void api_subscribe(struct api *a, const struct res *res, api_watch_fn *fn, void *arg)
{
    CHECK(a->subs < FAKE_SUBS);
    a->sub[a->subs].res = res;
    a->sub[a->subs].fn = fn;
    a->sub[a->subs++].arg = arg;
}

void api_event(struct api *a, const struct json *involved UNUSED, const char *field UNUSED,
               const char *type, const char *reason, const char *component, const char *host UNUSED,
               bool new_style UNUSED, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    str_fmt(a->event[a->events++ % FAKE_EVENTS], sizeof a->event[0], "%s %s %s %s", type, reason,
            component, text);
}

void api_set_kubelet(struct api *a, const struct api_kubelet_ops *ops)
{
    a->ops = *ops;
}

struct loop *api_loop(struct api *a)
{
    return a->loop;
}

const char *api_state_dir(struct api *a)
{
    return a->dir;
}

const char *api_registry_host(struct api *a UNUSED)
{
    return "127.0.0.1:1";
}

const char *api_ca_file(struct api *a UNUSED)
{
    return "";
}

const char *api_system_token(struct api *a UNUSED)
{
    return NULL;
}

void api_stream_write(struct api_stream *s UNUSED, int channel UNUSED, const void *p UNUSED,
                      size_t n UNUSED)
{
}

size_t api_stream_pending(const struct api_stream *s UNUSED)
{
    return 0;
}

void api_stream_end(struct api_stream *s UNUSED)
{
}

void api_stream_set(struct api_stream *s UNUSED, const struct api_stream_ops *ops UNUSED)
{
}

/* --- for tests ------------------------------------------------------------------------- */

static const struct api_user fake_user = {"test", NULL, true, "test"};

static inline struct api *fake_new(void)
{
    struct api *a = xcalloc(1, sizeof *a);
    clock_fake(INT64_C(1796076000000));
    a->loop = loop_new();
    a->dir = t_dir();
    return a;
}

static inline void fake_free(struct api *a)
{
    loop_free(a->loop);
    for (int i = 0; i < a->n; i++)
        json_free(a->obj[i].j);
    free(a);
}

/* Let everything that is due happen, then move the clock by ms in steps. */
static inline void fake_run(struct api *a, int64_t ms)
{
    for (int i = 0; i < 20; i++)
        loop_turn(a->loop, 0);
    for (int64_t done = 0; done < ms; done += 100) {
        clock_advance(100);
        for (int i = 0; i < 6; i++)
            loop_turn(a->loop, 0);
    }
}

static inline void fake_create(struct api *a, const char *kind, const char *text)
{
    struct json *j = json_from(text);
    struct api_result r;
    const struct res *res = res_by_name(kind);
    char gv[64];
    CHECK_MSG(res != NULL, "no resource %s", kind);
    json_put_str(j, "kind", res->kind);
    json_put_str(j, "apiVersion", res_api_version(res, gv));
    api_create(a, &fake_user, res, json_str(j, "metadata.namespace", "default"), j, &r);
    CHECK_INT(r.code, 201);
    api_result_release(&r);
    json_free(j);
}

static inline int fake_count_events(struct api *a, const char *part)
{
    int n = 0;
    for (int i = 0; i < a->events; i++)
        n += strstr(a->event[i], part) != NULL;
    return n;
}

static inline const char *fake_event(struct api *a, const char *part)
{
    for (int i = 0; i < a->events; i++)
        if (strstr(a->event[i], part))
            return a->event[i];
    return "";
}

#endif
