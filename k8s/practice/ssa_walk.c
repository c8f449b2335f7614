/* ssa_walk.c - walks over objects along the schema for server-side apply: which
 * fields there are, what changed, merging, removing (ssa_set.h).
 */
#include "core/base/mem.h"
#include "k8s/practice/ssa_set.h"

/* --- how a value is owned --- */

static struct ssa_at leaf(void)
{
    return (struct ssa_at){SSA_LEAF, NULL, NULL};
}

struct ssa_at ssa_root(const struct schema_type *t)
{
    return t && t->n > 0 && !t->atomic ? (struct ssa_at){SSA_STRUCT, t, NULL} : leaf();
}

static struct ssa_at of_field(const struct schema_field *f)
{
    if (!f || f->atomic)
        return leaf();
    if (f->shape == SCHEMA_MAP)
        return (struct ssa_at){SSA_MAP, NULL, f};
    if (f->shape == SCHEMA_LIST)
        return f->list == SCHEMA_ATOMIC ? leaf()
                                        : (struct ssa_at){f->list == SCHEMA_SET ? SSA_VALUES
                                                                                : SSA_KEYED,
                                                          NULL, f};
    return f->base == SCHEMA_OBJECT ? ssa_root(f->ref) : leaf();
}

struct ssa_at ssa_member(const struct ssa_at *at, const char *key)
{
    if (at->kind == SSA_STRUCT)
        return of_field(schema_field(at->type, key));
    return ssa_element(at);
}

struct ssa_at ssa_element(const struct ssa_at *at)
{
    return at->field && at->field->base == SCHEMA_OBJECT ? ssa_root(at->field->ref) : leaf();
}

char *ssa_element_key(const struct ssa_at *at, const struct json *element)
{
    struct str s;
    str_init(&s, 64 << 10);
    if (at->kind == SSA_VALUES) {
        str_add(&s, "v:");
        json_print(element, 0, &s);
        return str_take(&s);
    }
    struct strv keys;
    strv_init(&keys);
    strv_split(&keys, at->field->list_keys ? at->field->list_keys : "name", ',');
    struct json *k = json_new_object();
    for (size_t i = 0; i < keys.n; i++) {
        const struct json *v = json_get(element, keys.v[i]);
        const struct schema_field *f = schema_field(at->field->ref, keys.v[i]);
        if (v)
            json_set(k, keys.v[i], json_copy(v));
        else if (f && f->def)
            json_set(k, keys.v[i], json_from(f->def));
    }
    str_add(&s, "k:");
    json_print(k, 0, &s);
    json_free(k);
    strv_release(&keys);
    return str_take(&s);
}

struct json *ssa_find_element(const struct ssa_at *at, struct json *list, const char *key)
{
    for (struct json *c = json_first_mut(list); c; c = json_next_mut(c)) {
        char *k = ssa_element_key(at, c);
        bool same = strcmp(k, key) == 0;
        free(k);
        if (same)
            return c;
    }
    return NULL;
}

static bool is_list(const struct ssa_at *at)
{
    return at->kind == SSA_KEYED || at->kind == SSA_VALUES;
}

/* The value has the JSON type that its place asks for. */
static bool fits(const struct ssa_at *at, const struct json *v)
{
    return json_type(v) == (is_list(at) ? JSON_ARRAY : JSON_OBJECT);
}

/* --- the node of a set for a child --- */

static char *child_key(const struct ssa_at *at, const struct json *c)
{
    return is_list(at) ? ssa_element_key(at, c) : xasprintf("f:%s", json_key(c));
}

static struct ssa_at child_at(const struct ssa_at *at, const struct json *c)
{
    return is_list(at) ? ssa_element(at) : ssa_member(at, json_key(c));
}

static void mark(struct json *node)
{
    if (!json_get(node, "."))
        json_set(node, ".", json_new_object());
}

/* Put `node` under key when it holds anything, merging with what is there. */
static void attach(struct json *set, const char *key, struct json *node)
{
    struct json *have = json_get_mut(set, key);
    if (json_count(node) == 0) {
        json_free(node);
    } else if (have) {
        ssa_set_add(have, node);
        json_free(node);
    } else {
        json_set(set, key, node);
    }
}

static void collect(const struct ssa_at *at, const struct json *v, struct json *node)
{
    if (at->kind == SSA_LEAF || !fits(at, v)) {
        mark(node);
        return;
    }
    for (const struct json *c = json_first(v); c; c = json_next(c)) {
        char *key = child_key(at, c);
        struct ssa_at inner = child_at(at, c);
        struct json *child = json_new_object();
        collect(&inner, c, child);
        if (at->kind != SSA_STRUCT || (json_type(c) == JSON_OBJECT && json_count(c) == 0))
            mark(child);
        attach(node, key, child);
        free(key);
    }
}

/* --- compare --- */

static void differ(const struct ssa_at *at, const struct json *a, const struct json *b,
                   struct json *changed, struct json *removed);

static const struct json *counterpart(const struct ssa_at *at, const struct json *other,
                                      const struct json *c, const char *key)
{
    if (!other || !fits(at, other))
        return NULL;
    if (!is_list(at))
        return json_get(other, json_key(c));
    return ssa_find_element(at, (struct json *)(uintptr_t)other, key);
}

static void differ_child(const struct ssa_at *at, const struct json *shape, const char *key,
                         const struct json *a, const struct json *b, struct json *changed,
                         struct json *removed)
{
    struct ssa_at inner = child_at(at, shape);
    struct json *add = json_new_object(), *gone = json_new_object();
    differ(&inner, a, b, add, gone);
    if (at->kind != SSA_STRUCT && !a)
        mark(add);
    if (at->kind != SSA_STRUCT && !b)
        mark(gone);
    attach(changed, key, add);
    attach(removed, key, gone);
}

static void differ(const struct ssa_at *at, const struct json *a, const struct json *b,
                   struct json *changed, struct json *removed)
{
    bool open = at->kind != SSA_LEAF && (!a || fits(at, a)) && (!b || fits(at, b)) &&
                json_count(a) + json_count(b) > 0;
    if (!open) {
        if (b && !(a && json_equal(a, b)))
            mark(changed);
        if (a && !b)
            mark(removed);
        return;
    }
    for (const struct json *c = json_first(b); c; c = json_next(c)) {
        char *key = child_key(at, c);
        differ_child(at, c, key, counterpart(at, a, c, key), c, changed, removed);
        free(key);
    }
    for (const struct json *c = json_first(a); c; c = json_next(c)) {
        char *key = child_key(at, c);
        if (!counterpart(at, b, c, key))
            differ_child(at, c, key, c, NULL, changed, removed);
        free(key);
    }
    if (at->kind == SSA_MAP && !a)
        mark(changed);
    if (at->kind == SSA_MAP && !b)
        mark(removed);
}

/* What the server stamps belongs to nobody. */
static void strip(struct json *set)
{
    static const char *const meta[] = {"f:name", "f:namespace", "f:creationTimestamp",
                                       "f:selfLink", "f:uid", "f:generation", "f:managedFields",
                                       "f:resourceVersion", "f:deletionTimestamp",
                                       "f:deletionGracePeriodSeconds", "."};
    json_remove(set, "f:apiVersion");
    json_remove(set, "f:kind");
    json_remove(set, ".");
    struct json *m = json_get_mut(set, "f:metadata");
    for (size_t i = 0; m && i < ARRAY_LEN(meta); i++)
        json_remove(m, meta[i]);
    if (m && json_count(m) == 0)
        json_remove(set, "f:metadata");
}

struct json *ssa_fields(const struct schema_type *t, const struct json *obj)
{
    struct ssa_at at = ssa_root(t);
    struct json *set = json_new_object();
    collect(&at, obj, set);
    strip(set);
    return set;
}

void ssa_compare(const struct schema_type *t, const struct json *a, const struct json *b,
                 struct json *changed, struct json *removed)
{
    struct ssa_at at = ssa_root(t);
    differ(&at, a, b, changed, removed);
    strip(changed);
    strip(removed);
}

/* --- merge --- */

static void merge(const struct ssa_at *at, struct json *to, const struct json *from)
{
    for (const struct json *c = json_first(from); c; c = json_next(c)) {
        struct ssa_at inner = child_at(at, c);
        struct json *have;
        char *key = NULL;
        if (is_list(at)) {
            key = ssa_element_key(at, c);
            have = ssa_find_element(at, to, key);
        } else {
            have = json_get_mut(to, json_key(c));
        }
        if (have && inner.kind != SSA_LEAF && fits(&inner, have) && fits(&inner, c))
            merge(&inner, have, c);
        else if (is_list(at) && !have)
            json_append(to, json_copy(c));
        else if (!is_list(at))
            json_set(to, json_key(c), json_copy(c));
        free(key);
    }
}

void ssa_merge(const struct schema_type *t, struct json *obj, const struct json *config)
{
    struct ssa_at at = ssa_root(t);
    merge(&at, obj, config);
}

/* --- remove --- */

static void delete_child(const struct ssa_at *at, struct json *v, struct json *c)
{
    if (!is_list(at)) {
        char *key = xstrdup(json_key(c));
        json_remove(v, key);
        free(key);
        return;
    }
    size_t i = 0;
    for (struct json *x = json_first_mut(v); x; x = json_next_mut(x), i++)
        if (x == c) {
            json_free(json_detach_item(v, i));
            return;
        }
}

static void prune(const struct ssa_at *at, struct json *v, const struct json *gone,
                  const struct json *kept)
{
    for (struct json *c = json_first_mut(v), *next; c; c = next) {
        next = json_next_mut(c);
        char *key = child_key(at, c);
        const struct json *g = json_get(gone, key), *k = json_get(kept, key);
        struct ssa_at inner = child_at(at, c);
        free(key);
        if (!g)
            continue;
        bool full = json_count(c) > 0;
        if (json_get(g, ".") && !k) {
            delete_child(at, v, c);
        } else if (inner.kind != SSA_LEAF && fits(&inner, c)) {
            prune(&inner, c, g, k);
            if (full && json_count(c) == 0 && !(k && json_get(k, ".")))
                delete_child(at, v, c);
        }
    }
}

void ssa_remove(const struct schema_type *t, struct json *obj, const struct json *gone,
                const struct json *kept)
{
    struct ssa_at at = ssa_root(t);
    prune(&at, obj, gone, kept);
}
