/* kobj.c - helpers on Kubernetes objects (kobj.h). */
#include "k8s/practice/kobj.h"

#include "core/base/clock.h"
#include "core/base/log.h"

char *kobj_now(char buf[36])
{
    return clock_rfc3339(clock_wall_ms() / 1000 * 1000000, 0, buf);
}

int64_t kobj_ms(int64_t seconds)
{
    const int64_t most = INT64_C(100000000000);
    return MAX(MIN(seconds, most), -most) * 1000;
}

int64_t kobj_time_ms(const struct json *o, const char *path)
{
    int64_t us;
    return clock_parse_rfc3339(json_str(o, path, ""), &us) ? us / 1000 : 0;
}

const char *kobj_owner_uid(const struct json *o)
{
    for (const struct json *r = json_first(json_at(o, "metadata.ownerReferences")); r;
         r = json_next(r))
        if (json_bool(r, "controller", false))
            return json_str(r, "uid", "");
    return "";
}

bool kobj_terminal(const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

bool kobj_deleting(const struct json *o)
{
    return json_has(o, "metadata.deletionTimestamp");
}

bool kobj_has_finalizer(const struct json *o, const char *name)
{
    for (const struct json *f = json_first(json_at(o, "metadata.finalizers")); f; f = json_next(f))
        if (str_eq(json_string_value(f), name))
            return true;
    return false;
}

bool kobj_drop_finalizer(struct json *o, const char *name)
{
    struct json *meta = json_get_mut(o, "metadata"), *list = json_get_mut(meta, "finalizers");
    size_t i = 0;
    bool found = false;
    for (const struct json *f = json_first(list); f; i++) {
        const struct json *next = json_next(f);
        if (str_eq(json_string_value(f), name)) {
            json_free(json_detach_item(list, i--));
            found = true;
        }
        f = next;
    }
    if (found && json_count(list) == 0)
        json_remove(meta, "finalizers");
    return found;
}

struct json *kobj_member(struct json *o, const char *key)
{
    if (json_type(json_get(o, key)) != JSON_OBJECT)
        json_set(o, key, json_new_object());
    return json_get_mut(o, key);
}

struct json *kobj_list(struct json *o, const char *key)
{
    if (json_type(json_get(o, key)) != JSON_ARRAY)
        json_set(o, key, json_new_array());
    return json_get_mut(o, key);
}

static struct json *find_condition(struct json *list, const char *type)
{
    for (struct json *c = json_first_mut(list); c; c = json_next_mut(c))
        if (strcmp(json_str(c, "type", ""), type) == 0)
            return c;
    return NULL;
}

static bool put_or_remove(struct json *c, const char *key, const char *value)
{
    const char *old = json_str(c, key, "");
    bool changed = strcmp(old, value ? value : "") != 0;
    if (value && *value)
        json_put_str(c, key, value);
    else
        json_remove(c, key);
    return changed;
}

bool kobj_condition(struct json *o, const char *type, const char *status, const char *reason,
                    const char *message, bool probe)
{
    char now[36];
    struct json *list = kobj_list(kobj_member(o, "status"), "conditions");
    struct json *c = find_condition(list, type);
    bool fresh = c == NULL, changed = fresh;
    if (fresh) {
        c = json_new_object();
        json_put_str(c, "type", type);
        json_append(list, c);
        c = find_condition(list, type);
    }
    if (strcmp(json_str(c, "status", ""), status) != 0) {
        json_put_str(c, "status", status);
        if (probe)
            json_put_str(c, "lastProbeTime", kobj_now(now));
        else
            json_set(c, "lastProbeTime", json_new_null());
        json_put_str(c, "lastTransitionTime", kobj_now(now));
        changed = true;
    }
    changed = put_or_remove(c, "reason", reason) || changed;
    return put_or_remove(c, "message", message) || changed;
}

const char *kobj_condition_status(const struct json *o, const char *type)
{
    for (const struct json *c = json_first(json_at(o, "status.conditions")); c; c = json_next(c))
        if (strcmp(json_str(c, "type", ""), type) == 0)
            return json_str(c, "status", "");
    return "";
}

static bool in_values(const struct json *values, const char *v)
{
    for (const struct json *x = json_first(values); x; x = json_next(x))
        if (str_eq(json_string_value(x), v))
            return true;
    return false;
}

static bool compares(const struct json *values, const char *v, bool greater)
{
    int64_t a, b;
    const char *bound = json_string_value(json_item(values, 0));
    return v && bound && str_to_i64(v, &a) && str_to_i64(bound, &b) && (greater ? a > b : a < b);
}

bool kobj_requirement(const struct json *r, const struct json *labels)
{
    const char *op = json_str(r, "operator", "");
    const char *v = json_string_value(json_get(labels, json_str(r, "key", "")));
    const struct json *values = json_get(r, "values");
    if (strcmp(op, "In") == 0)
        return v && in_values(values, v);
    if (strcmp(op, "NotIn") == 0)
        return !v || !in_values(values, v);
    if (strcmp(op, "Exists") == 0)
        return v != NULL;
    if (strcmp(op, "DoesNotExist") == 0)
        return v == NULL;
    return (strcmp(op, "Gt") == 0 && compares(values, v, true)) ||
           (strcmp(op, "Lt") == 0 && compares(values, v, false));
}

const char *kobj_result_message(const struct api_result *r)
{
    return json_str(r->body, "message", "");
}

int kobj_write(struct api *a, const struct api_user *u, const char *sub, const struct json *obj,
               char *why, size_t why_size)
{
    struct api_result r;
    struct json *copy = json_copy(obj);
    json_remove(json_get_mut(copy, "metadata"), "resourceVersion");
    api_update(a, u, res_of(obj), sub, copy, &r);
    if (r.code >= 400)
        log_write(LOG_WARN, "%s: update of %s %s/%s: %s", u->name, json_str(obj, "kind", ""),
                  kobj_ns(obj), kobj_name(obj), kobj_result_message(&r));
    if (why)
        str_copy(why, why_size, r.code >= 400 ? kobj_result_message(&r) : "");
    int code = r.code;
    api_result_release(&r);
    json_free(copy);
    return code;
}

void kobj_put_count(struct json *o, const char *key, int64_t n)
{
    if (n)
        json_put_num(o, key, (double)n);
    else
        json_remove(o, key);
}

double kobj_speed(double given)
{
    double v;
    if (given > 0)
        return given;
    const char *env = getenv("PODIUM_CLOCK_SPEED");
    return env && str_to_f64(env, &v) && v >= 0.01 && v <= 10000 ? v : 1;
}
