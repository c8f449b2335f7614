/* patch_strategic.c - the strategic merge patch: lists of objects merge by the
 * schema's merge key, directives delete, replace, retain and order.
 */
#include "core/base/mem.h"
#include "k8s/practice/patch.h"

#define DELETE_FROM "$deleteFromPrimitiveList/"
#define SET_ORDER "$setElementOrder/"

static enum pd_code merge_object(const struct schema_type *t, struct json *doc,
                                 const struct json *patch, int depth, struct pd_err *err);

/* Copy a value that meets nothing: nulls and directives have no sense there. */
static struct json *plain(const struct json *v)
{
    if (json_type(v) == JSON_OBJECT) {
        struct json *o = json_new_object();
        for (const struct json *m = json_first(v); m; m = json_next(m))
            if (json_type(m) != JSON_NULL && json_key(m)[0] != '$')
                json_set(o, json_key(m), plain(m));
        return o;
    }
    if (json_type(v) != JSON_ARRAY)
        return json_copy(v);
    struct json *a = json_new_array();
    for (const struct json *c = json_first(v); c; c = json_next(c))
        if (!str_eq(json_string_value(json_get(c, "$patch")), "delete"))
            json_append(a, plain(c));
    return a;
}

/* --- lists --- */

static bool same_scalar(const struct json *a, const struct json *b)
{
    return a && b && json_equal(a, b);
}

static int find_by_key(const struct json *list, const char *key, const struct json *value)
{
    int i = 0;
    for (const struct json *c = json_first(list); c; c = json_next(c), i++)
        if (same_scalar(json_get(c, key), value))
            return i;
    return -1;
}

static int find_scalar(const struct json *list, const struct json *value)
{
    int i = 0;
    for (const struct json *c = json_first(list); c; c = json_next(c), i++)
        if (same_scalar(c, value))
            return i;
    return -1;
}

static struct json *nth(struct json *list, int i)
{
    struct json *c = json_first_mut(list);
    for (; c && i > 0; i--)
        c = json_next_mut(c);
    return c;
}

static bool replaces_list(const struct json *patch)
{
    for (const struct json *c = json_first(patch); c; c = json_next(c))
        if (str_eq(json_string_value(json_get(c, "$patch")), "replace"))
            return true;
    return false;
}

static enum pd_code merge_element(const struct schema_field *f, struct json *list,
                                  const struct json *p, int depth, struct pd_err *err)
{
    const char *directive = json_str(p, "$patch", "");
    const struct json *id = json_get(p, f->merge_key);
    if (!id)
        return pd_fail(err, PD_INVALID, "map: %s does not contain declared merge key: %s",
                       f->name, f->merge_key);
    int at = find_by_key(list, f->merge_key, id);
    if (!strcmp(directive, "delete")) {
        for (; at >= 0; at = find_by_key(list, f->merge_key, id))
            json_free(json_detach_item(list, (size_t)at));
        return PD_OK;
    }
    if (*directive && strcmp(directive, "merge") != 0)
        return pd_fail(err, PD_INVALID, "invalid value %s for $patch", directive);
    if (at < 0) {
        json_append(list, plain(p));
        return PD_OK;
    }
    return merge_object(f->ref, nth(list, at), p, depth + 1, err);
}

static enum pd_code merge_list(const struct schema_field *f, struct json *doc, const char *key,
                               const struct json *patch, int depth, struct pd_err *err)
{
    bool objects = f && f->base == SCHEMA_OBJECT && f->merge_key;
    if (!f || !f->merge || json_type(json_get(doc, key)) != JSON_ARRAY || replaces_list(patch)) {
        struct json *fresh = json_new_array();
        for (const struct json *c = json_first(patch); c; c = json_next(c))
            if (!json_get(c, "$patch"))
                json_append(fresh, plain(c));
        json_set(doc, key, fresh);
        return PD_OK;
    }
    struct json *list = json_get_mut(doc, key);
    for (const struct json *c = json_first(patch); c; c = json_next(c)) {
        enum pd_code code = PD_OK;
        if (objects)
            code = merge_element(f, list, c, depth, err);
        else if (find_scalar(list, c) < 0)
            json_append(list, json_copy(c));
        if (code != PD_OK)
            return code;
    }
    return PD_OK;
}

static void delete_scalars(struct json *list, const struct json *gone)
{
    for (const struct json *g = json_first(gone); g; g = json_next(g))
        for (int at = find_scalar(list, g); at >= 0; at = find_scalar(list, g))
            json_free(json_detach_item(list, (size_t)at));
}

static int place_in(const struct json *order, const struct schema_field *f, const struct json *c)
{
    if (f->base == SCHEMA_OBJECT && f->merge_key)
        return find_by_key(order, f->merge_key, json_get(c, f->merge_key));
    return find_scalar(order, c);
}

/* Elements named in `order` come in its order; each other one stays behind the
 * element it followed. */
static void set_order(struct json *doc, const struct schema_field *f, const struct json *order)
{
    struct json *list = json_get_mut(doc, f->name), *sorted = json_new_array();
    if (json_type(list) != JSON_ARRAY || json_type(order) != JSON_ARRAY) {
        json_free(sorted);
        return;
    }
    size_t n = json_count(list);
    int *rank = xcalloc(n + 1, sizeof *rank);
    int last = -1, i = 0;
    for (const struct json *c = json_first(list); c; c = json_next(c), i++) {
        int at = place_in(order, f, c);
        rank[i] = last = at >= 0 ? at : last;
    }
    for (int want = -1; want < (int)json_count(order); want++) {
        i = 0;
        for (const struct json *c = json_first(list); c; c = json_next(c), i++)
            if (rank[i] == want)
                json_append(sorted, json_copy(c));
    }
    free(rank);
    json_set(doc, f->name, sorted);
}

/* --- objects --- */

static void retain_keys(struct json *doc, const struct json *keys)
{
    for (struct json *m = json_first_mut(doc), *next; m; m = next) {
        bool keep = false;
        next = json_next_mut(m);
        for (const struct json *k = json_first(keys); k && !keep; k = json_next(k))
            keep = str_eq(json_string_value(k), json_key(m));
        if (!keep) {
            char *key = xstrdup(json_key(m));
            json_remove(doc, key);
            free(key);
        }
    }
}

static void clear(struct json *doc)
{
    for (struct json *m = json_first_mut(doc); m; m = json_first_mut(doc)) {
        char *key = xstrdup(json_key(m));
        json_remove(doc, key);
        free(key);
    }
}

static enum pd_code merge_member(const struct schema_type *t, struct json *doc,
                                 const struct json *m, int depth, struct pd_err *err)
{
    const char *key = json_key(m);
    const struct schema_field *f = schema_field(t, key);
    if (json_type(m) == JSON_NULL) {
        json_remove(doc, key);
        return PD_OK;
    }
    if (json_type(m) == JSON_ARRAY)
        return merge_list(f, doc, key, m, depth, err);
    bool replace = f && f->replace && !f->merge;
    if (json_type(m) != JSON_OBJECT || replace ||
        json_type(json_get(doc, key)) != JSON_OBJECT) {
        if (json_type(m) == JSON_OBJECT && str_eq(json_string_value(json_get(m, "$patch")), "delet"
                                                                                            "e"))
            json_remove(doc, key);
        else
            json_set(doc, key, plain(m));
        return PD_OK;
    }
    const char *directive = json_str(m, "$patch", "");
    if (!strcmp(directive, "delete")) {
        json_remove(doc, key);
        return PD_OK;
    }
    const struct schema_type *inner = f && f->shape == SCHEMA_ONE ? f->ref : NULL;
    return merge_object(inner, json_get_mut(doc, key), m, depth + 1, err);
}

/* The directives that come after the members. */
static void finish(const struct schema_type *t, struct json *doc, const struct json *patch)
{
    for (const struct json *m = json_first(patch); m; m = json_next(m)) {
        const char *key = json_key(m);
        if (str_starts(key, DELETE_FROM)) {
            struct json *list = json_get_mut(doc, key + strlen(DELETE_FROM));
            if (json_type(list) == JSON_ARRAY)
                delete_scalars(list, m);
        }
    }
    for (const struct json *m = json_first(patch); m; m = json_next(m)) {
        const struct schema_field *f =
            str_starts(json_key(m), SET_ORDER) ? schema_field(t, json_key(m) + strlen(SET_ORDER))
                                               : NULL;
        if (f)
            set_order(doc, f, m);
    }
}

static enum pd_code merge_object(const struct schema_type *t, struct json *doc,
                                 const struct json *patch, int depth, struct pd_err *err)
{
    const char *directive = json_str(patch, "$patch", "");
    if (depth > 100)
        return pd_fail(err, PD_LIMIT, "the patch is nested too deeply");
    if (!strcmp(directive, "replace") || !strcmp(directive, "delete")) {
        clear(doc);
        if (*directive == 'd')
            return PD_OK;
    } else if (*directive && strcmp(directive, "merge") != 0) {
        return pd_fail(err, PD_INVALID, "invalid value %s for $patch", directive);
    }
    for (const struct json *m = json_first(patch); m; m = json_next(m)) {
        if (json_key(m)[0] == '$')
            continue;
        enum pd_code code = merge_member(t, doc, m, depth, err);
        if (code != PD_OK)
            return code;
    }
    if (json_type(json_get(patch, "$retainKeys")) == JSON_ARRAY)
        retain_keys(doc, json_get(patch, "$retainKeys"));
    finish(t, doc, patch);
    return PD_OK;
}

enum pd_code patch_strategic(const struct schema_type *t, struct json *doc,
                             const struct json *patch, struct pd_err *err)
{
    if (json_type(patch) != JSON_OBJECT || json_type(doc) != JSON_OBJECT)
        return pd_fail(err, PD_PARSE, "a strategic merge patch is an object");
    return merge_object(t, doc, patch, 0, err);
}
