/* effects_k8s.c - requests and watches: the answers of k8s/client and k8s/watch
 * become messages. */
#include "core/base/mem.h"
#include "k8s/res.h"
#include "k8s/watch.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

/* --- one request ------------------------------------------------------------------ */

static void stop_call(struct effects_slot *s)
{
    k8s_cancel(s->handle);
}

static void reply(void *arg, int status, const struct json *object, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    struct json *body = err ? effects_error(err) : json_new_object();
    json_put_num(body, "status", status);
    if (object)
        json_set(body, "object", json_copy(object));
    effects_post(s, MSG_REPLY, body);
    effects_slot_end(s);
}

static struct effects_slot *call_slot(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    s->stop = stop_call;
    return s;
}

void effects_get(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = call_slot(r, e);
    s->handle = k8s_get(r->k8s, json_str(e->args, "resource", ""),
                        json_str(e->args, "namespace", NULL), json_str(e->args, "name", ""),
                        reply, s);
}

void effects_apply(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = call_slot(r, e);
    s->handle = k8s_apply(r->k8s, json_get(e->args, "manifest"),
                          json_bool(e->args, "force", false), json_bool(e->args, "dry_run", false),
                          reply, s);
}

void effects_delete(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = call_slot(r, e);
    s->handle = k8s_delete(r->k8s, json_str(e->args, "resource", ""),
                           json_str(e->args, "namespace", NULL), json_str(e->args, "name", ""),
                           json_str(e->args, "uid", NULL), (int)json_int(e->args, "grace", -1),
                           reply, s);
}

/* May the person do this? "jobs.batch/status" has a group and a subresource. */
void effects_can(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = call_slot(r, e);
    struct json *body = json_new_object();
    char *name = xstrdup(json_str(e->args, "resource", "")), *sub = strchr(name, '/');
    if (sub)
        *sub++ = '\0';
    const struct res *res = res_by_name(name);
    const char *at = "spec.resourceAttributes";
    char path[80];
    const char *const fields[][2] = {
        {"verb", json_str(e->args, "verb", "")}, {"resource", res ? res->plural : name},
        {"group", res ? res->group : ""},        {"subresource", sub},
        {"namespace", res && !res->namespaced ? NULL : json_str(e->args, "namespace", NULL)}};
    json_put_str(body, "apiVersion", "authorization.k8s.io/v1");
    json_put_str(body, "kind", "SelfSubjectAccessReview");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (fields[i][1])
            json_put_path(body, str_fmt(path, sizeof path, "%s.%s", at, fields[i][0]),
                          json_new_string(fields[i][1]));
    s->handle = k8s_request(r->k8s, "POST",
                            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, body,
                            reply, s);
    json_free(body);
    free(name);
}

/* --- watches ------------------------------------------------------------------------ */

static void stop_watch(struct effects_slot *s)
{
    watch_stop(s->handle);
}

static struct json *about(const struct effects_slot *s)
{
    struct json *body = json_new_object();
    json_put_num(body, "watch", s->id);
    json_put_str(body, "resource", json_str(s->args, "resource", ""));
    return body;
}

static void on_begin(void *arg)
{
    struct effects_slot *s = arg;
    json_free(s->items);
    s->items = json_new_array();
    s->items_n = s->items_sent = 0;
}

/* A long list goes in parts, so that its first rows are seen while it comes and
 * no message takes long to apply. */
static void send_part(struct effects_slot *s, bool more)
{
    struct json *body = about(s);
    if (s->items_sent)
        json_put_num(body, "from", (double)s->items_sent);
    if (more)
        json_put_bool(body, "more", true);
    json_set(body, "items", s->items ? s->items : json_new_array());
    s->items = NULL;
    s->items_sent += s->items_n;
    s->items_n = 0;
    effects_post(s, MSG_LIST, body);
}

static void on_item(void *arg, struct json *obj)
{
    enum { PART = 50 };
    struct effects_slot *s = arg;
    if (!s->items)
        s->items = json_new_array();
    if (s->items_n == PART) {
        send_part(s, true);
        s->items = json_new_array();
    }
    json_append(s->items, obj);
    s->items_n++;
}

static void on_end(void *arg)
{
    send_part(arg, false);
}

static void on_event(void *arg, enum watch_type type, struct json *obj)
{
    static const char *const names[] = {"ADDED", "MODIFIED", "DELETED"};
    struct effects_slot *s = arg;
    struct json *body = about(s);
    json_put_str(body, "type", names[type]);
    json_set(body, "object", obj);
    effects_post(s, MSG_WATCH_EVENT, body);
}

static void on_state(void *arg, enum watch_state state, const struct pd_err *err, int64_t next_ms)
{
    struct effects_slot *s = arg;
    struct json *body = about(s);
    json_put_str(body, "state", watch_state_name(state));
    json_put_num(body, "next_ms", (double)next_ms);
    json_put_num(body, "age_ms", (double)watch_age_ms(s->handle));
    json_put_num(body, "poll_ms", (double)watch_poll_ms(s->handle));
    if (err)
        json_set(body, "error", errjson_make(err));
    effects_post(s, MSG_WATCH_STATE, body);
}

void effects_watch(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct watch_spec spec = {.res = json_str(e->args, "resource", ""),
                              .ns = json_str(e->args, "namespace", NULL),
                              .label_selector = json_str(e->args, "labelSelector", NULL),
                              .field_selector = json_str(e->args, "fieldSelector", NULL)};
    struct watch_handlers h = {on_begin, on_item, on_end, on_event, on_state, s};
    s->stop = stop_watch;
    s->handle = watch_start(r->k8s, &spec, &h);
}

/* --- a list in parts ---------------------------------------------------------------- */

static void list_over(struct effects_slot *s, const struct pd_err *err)
{
    struct json *body = err ? effects_error(err) : json_new_object();
    json_put_num(body, "status", err ? 0 : 200);
    watch_stop(s->handle);
    effects_post(s, MSG_REPLY, body);
    effects_slot_end(s);
}

static void rows_end(void *arg)
{
    send_part(arg, false);
    list_over(arg, NULL);
}

/* It is not tried again: who asks once is told. */
static void rows_state(void *arg, enum watch_state state UNUSED, const struct pd_err *err,
                       int64_t next_ms UNUSED)
{
    if (err)
        list_over(arg, err);
}

/* rows: as a watch reads it, page by page in parts of MSG_LIST, and once. */
static void list_rows(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct watch_spec spec = {.res = json_str(e->args, "resource", ""),
                              .ns = json_str(e->args, "namespace", NULL),
                              .label_selector = json_str(e->args, "labelSelector", NULL)};
    struct watch_handlers h = {on_begin, on_item, rows_end, NULL, rows_state, s};
    s->stop = stop_watch;
    s->handle = watch_start(r->k8s, &spec, &h);
}

void effects_list(struct effects_runner *r, const struct effect *e)
{
    if (json_bool(e->args, "rows", false)) {
        list_rows(r, e);
        return;
    }
    struct effects_slot *s = call_slot(r, e);
    s->handle = k8s_list(r->k8s, json_str(e->args, "resource", ""),
                         json_str(e->args, "namespace", NULL),
                         json_str(e->args, "labelSelector", NULL), reply, s);
}
