/* limits.c - LimitRanges: defaults and bounds of new pods' containers, and the
 * size of claims (pipeline.h).
 */
#include "core/base/mem.h"
#include "k8s/practice/pipeline.h"
#include "k8s/quantity.h"

struct check {
    const struct json *item;     /* one of spec.limits */
    struct str why;
};

static struct json *resources_of(struct json *container, const char *side)
{
    if (json_type(json_get(container, "resources")) != JSON_OBJECT)
        json_set(container, "resources", json_new_object());
    struct json *r = json_get_mut(container, "resources");
    if (!json_get(r, side))
        json_set(r, side, json_new_object());
    return json_get_mut(r, side);
}

static void fill(struct json *container, const char *side, const struct json *values)
{
    for (const struct json *m = json_first(values); m; m = json_next(m))
        if (!json_get(json_get(json_get(container, "resources"), side), json_key(m)))
            json_set(resources_of(container, side), json_key(m), json_copy(m));
}

static void complain(struct check *c, const char *fmt, const char *name, const char *scope,
                     const char *bound, const char *rest)
{
    str_add(&c->why, c->why.len ? ", " : "");
    str_printf(&c->why, "%s %s usage per %s is %s", fmt, name, scope, bound);
    str_add(&c->why, rest);
}

/* One bound ("max" against limits, "min" against requests). */
static void bound(struct check *c, const char *which, const struct json *have, const char *side,
                  const char *scope)
{
    bool most = strcmp(which, "max") == 0;
    for (const struct json *m = json_first(json_get(c->item, which)); m; m = json_next(m)) {
        const char *edge = json_string_value(m),
                   *is = json_string_value(json_get(have, json_key(m)));
        struct quantity a, b;
        char rest[160];
        if (!edge || !quantity_parse(edge, &b))
            continue;
        if (!is) {
            str_fmt(rest, sizeof rest, ".  No %s is specified", side);
            complain(c, most ? "maximum" : "minimum", json_key(m), scope, edge, rest);
        } else if (quantity_parse(is, &a) && quantity_compare(&a, &b) == (most ? 1 : -1)) {
            str_fmt(rest, sizeof rest, ", but %s is %s", side, is);
            complain(c, most ? "maximum" : "minimum", json_key(m), scope, edge, rest);
        }
    }
}

static void container(struct check *c, struct json *container)
{
    fill(container, "limits", json_get(c->item, "default"));
    fill(container, "requests", json_get(c->item, "defaultRequest"));
    const struct json *r = json_get(container, "resources");
    bound(c, "max", json_get(r, "limits"), "limit", "Container");
    bound(c, "min", json_get(r, "requests"), "request", "Container");
}

static void one_item(struct check *c, const struct api_write *w, struct json *obj)
{
    const char *type = json_str(c->item, "type", "");
    if (!strcmp(w->res->plural, "pods") && !strcmp(type, "Container"))
        for (struct json *x = json_first_mut(json_at_mut(obj, "spec.containers")); x;
             x = json_next_mut(x))
            container(c, x);
    if (!strcmp(w->res->plural, "persistentvolumeclaims") && !strcmp(type, "PersistentVolumeClai"
                                                                           "m")) {
        const struct json *r = json_at(obj, "spec.resources.requests");
        bound(c, "max", r, "request", "PersistentVolumeClaim");
        bound(c, "min", r, "request", "PersistentVolumeClaim");
    }
}

struct json *limits_admit(struct api *a, const struct api_write *w, struct json *obj)
{
    struct api_versions all;
    struct check c = {0};
    struct json *no = NULL;
    char r[128];
    if (strcmp(w->res->plural, "pods") != 0 &&
        strcmp(w->res->plural, "persistentvolumeclaims") != 0)
        return NULL;
    str_init(&c.why, 16 << 10);
    api_snapshot(a, res_by_plural("", "limitranges"), w->ns, &all);
    for (size_t i = 0; i < all.n; i++)
        for (c.item = json_first(json_at(all.v[i]->j, "spec.limits")); c.item;
             c.item = json_next(c.item))
            one_item(&c, w, obj);
    api_snapshot_release(&all);
    const char *name = json_str(obj, "metadata.name", "");
    if (c.why.len)
        no = status_new(403, "Forbidden", w->res, name, "%s \"%s\" is forbidden: %s",
                        status_resource(w->res, r), name, c.why.p);
    str_release(&c.why);
    return no;
}
