/* event.c - Events: recording with client-go's correlation (api.h), and their
 * two shapes (event.h).
 */
#include "k8s/practice/event.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/api_int.h"

/* --- shapes --- */

static const struct {
    const char *core, *other;
} names[] = {{"involvedObject", "regarding"},      {"message", "note"},
             {"source", "deprecatedSource"},       {"firstTimestamp", "deprecatedFirstTimestamp"},
             {"lastTimestamp", "deprecatedLastTimestamp"}, {"count", "deprecatedCount"},
             {"reportingComponent", "reportingController"}};

static struct json *rename_all(const struct json *in, bool to_core)
{
    struct json *out = json_new_object();
    for (const struct json *m = json_first(in); m; m = json_next(m)) {
        const char *key = json_key(m);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            const char *from = to_core ? names[i].other : names[i].core;
            if (!strcmp(key, from)) {
                key = to_core ? names[i].core : names[i].other;
                break;
            }
        }
        json_set(out, key, json_copy(m));
    }
    json_put_str(out, "apiVersion", to_core ? "v1" : "events.k8s.io/v1");
    return out;
}

struct json *event_to_new(const struct json *core_event)
{
    return rename_all(core_event, false);
}

struct json *event_to_core(const struct json *new_event)
{
    return rename_all(new_event, true);
}

/* --- recording --- */

struct find {
    const struct json *involved;
    const char *type, *reason, *component, *message, *field_path;
    char *found;
    int similar;                 /* of the same type and reason, other messages, in 10 minutes */
    char *combined;              /* the aggregate event's name */
};

static bool recent(const struct json *e)
{
    int64_t at = 0;
    const char *last = json_str(e, "lastTimestamp", json_str(e, "eventTime", ""));
    return clock_parse_rfc3339(last, &at) && clock_wall_ms() - at / 1000 < 600000;
}

static void compare(void *arg, const struct json *e)
{
    struct find *f = arg;
    const char *component = json_str(e, "source.component", json_str(e, "reportingComponent", ""));
    if (strcmp(json_str(e, "involvedObject.uid", ""), json_str(f->involved, "metadata.uid", "")) ||
        strcmp(json_str(e, "reason", ""), f->reason) || strcmp(json_str(e, "type", ""), f->type) ||
        strcmp(component, f->component) || !recent(e))
        return;
    const char *message = json_str(e, "message", "");
    bool same_path = !strcmp(json_str(e, "involvedObject.fieldPath", ""), f->field_path);
    if (str_starts(message, "(combined from similar events): ")) {
        free(f->combined);
        f->combined = xstrdup(json_str(e, "metadata.name", ""));
    } else if (!strcmp(message, f->message) && same_path) {
        free(f->found);
        f->found = xstrdup(json_str(e, "metadata.name", ""));
    } else {
        f->similar++;
    }
}

static const char *event_ns(const struct json *involved)
{
    return json_str(involved, "metadata.namespace", "default");
}

static struct json *reference(const struct json *involved, const char *field_path)
{
    struct json *r = json_new_object();
    json_put_str(r, "kind", json_str(involved, "kind", ""));
    json_put_str(r, "namespace", json_str(involved, "metadata.namespace", NULL));
    json_put_str(r, "name", json_str(involved, "metadata.name", ""));
    json_put_str(r, "uid", json_str(involved, "metadata.uid", ""));
    json_put_str(r, "apiVersion", json_str(involved, "apiVersion", ""));
    json_put_str(r, "resourceVersion", json_str(involved, "metadata.resourceVersion", NULL));
    if (*field_path)
        json_put_str(r, "fieldPath", field_path);
    return r;
}

/* Once more the same: count and lastTimestamp, or the series. */
static void count_up(struct api *a, const struct api_user *u, const struct json *involved,
                     const char *name, const char *message)
{
    const struct res *res = res_by_plural("", "events");
    struct json *e = api_get(a, res, event_ns(involved), name);
    struct api_result r;
    char now[36];
    if (!e)
        return;
    if (json_type(json_get(e, "eventTime")) == JSON_STRING) {
        clock_rfc3339(clock_wall_ms() * 1000, 6, now);
        double n = json_num(e, "series.count", 1) + 1;
        json_put_path(e, "series.count", json_new_number(n));
        json_put_path(e, "series.lastObservedTime", json_new_string(now));
    } else {
        api_now(now);
        json_put_num(e, "count", json_num(e, "count", 1) + 1);
        json_put_str(e, "lastTimestamp", now);
    }
    json_put_str(e, "message", message);
    api_update(a, u, res, NULL, e, &r);
    api_result_release(&r);
    json_free(e);
}

static void put_times(struct json *e, bool new_style, const char *component, const char *host)
{
    char now[36];
    if (new_style) {
        clock_rfc3339(clock_wall_ms() * 1000, 6, now);
        json_set(e, "source", json_new_object());
        json_set(e, "firstTimestamp", json_new_null());
        json_set(e, "lastTimestamp", json_new_null());
        json_put_str(e, "eventTime", now);
        json_put_str(e, "reportingComponent", component);
        char *instance = xasprintf("%s-%s", component, host && *host ? host : "podium");
        json_put_str(e, "reportingInstance", instance);
        free(instance);
        return;
    }
    api_now(now);
    json_put_path(e, "source.component", json_new_string(component));
    if (host && *host)
        json_put_path(e, "source.host", json_new_string(host));
    json_put_str(e, "firstTimestamp", now);
    json_put_str(e, "lastTimestamp", now);
    json_put_num(e, "count", 1);
    json_set(e, "eventTime", json_new_null());
    json_put_str(e, "reportingComponent", component);
    json_put_str(e, "reportingInstance", host && *host ? host : "");
}

static void record(struct api *a, const struct api_user *u, const struct find *f, bool new_style,
                   const char *host, const char *message)
{
    static uint64_t serial;
    struct json *e = json_new_object(), *meta = json_new_object();
    struct api_result r;
    char *name = xasprintf("%.200s.%016" PRIx64, json_str(f->involved, "metadata.name", ""),
                           (uint64_t)clock_wall_ms() * 1000000u + serial++ % 1000000u);
    json_put_str(e, "kind", "Event");
    json_put_str(e, "apiVersion", "v1");
    json_put_str(meta, "name", name);
    json_put_str(meta, "namespace", event_ns(f->involved));
    json_set(e, "metadata", meta);
    json_set(e, "involvedObject", reference(f->involved, f->field_path));
    json_put_str(e, "reason", f->reason);
    json_put_str(e, "message", message);
    json_put_str(e, "type", f->type);
    put_times(e, new_style, f->component, host);
    if (new_style)
        json_put_str(e, "action",
                     !strcmp(f->reason, "FailedScheduling") ? "Scheduling" : "Binding");
    api_create(a, u, res_by_plural("", "events"), event_ns(f->involved), e, &r);
    api_result_release(&r);
    json_free(e);
    free(name);
}

void api_event(struct api *a, const struct json *involved, const char *field_path,
               const char *type, const char *reason, const char *component, const char *host,
               bool new_style, const char *fmt, ...)
{
    struct str message;
    va_list ap;
    struct api_user u = {component, NULL, true, component};
    struct find f = {.involved = involved, .type = type, .reason = reason,
                     .component = component, .field_path = field_path ? field_path : ""};
    str_init(&message, 1024);                 /* the API's ceiling of a message */
    va_start(ap, fmt);
    str_vprintf(&message, fmt, ap);
    va_end(ap);
    f.message = message.p;
    api_each(a, res_by_plural("", "events"), event_ns(involved), compare, &f);
    if (f.found) {
        count_up(a, &u, involved, f.found, message.p);
    } else if (f.similar >= 10) {
        char *text = xasprintf("(combined from similar events): %s", message.p);
        if (f.combined)
            count_up(a, &u, involved, f.combined, text);
        else
            record(a, &u, &f, new_style, host, text);
        free(text);
    } else {
        record(a, &u, &f, new_style, host, message.p);
    }
    free(f.found);
    free(f.combined);
    str_release(&message);
}
