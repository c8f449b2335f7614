/* ssa.c - managedFields: who owns which field, noted at each update, and
 * server-side apply with its conflicts (pipeline.h; the sets are ssa_set.h).
 */
#include "core/base/mem.h"
#include "k8s/practice/pipeline.h"
#include "k8s/practice/ssa_set.h"

static struct json *entries_of(struct json *obj)
{
    struct json *meta = json_get_mut(obj, "metadata");
    if (json_type(json_get(meta, "managedFields")) != JSON_ARRAY)
        json_set(meta, "managedFields", json_new_array());
    return json_get_mut(meta, "managedFields");
}

static struct json *find_entry(struct json *entries, const char *manager, const char *operation,
                               const char *gv, const char *sub)
{
    for (struct json *e = json_first_mut(entries); e; e = json_next_mut(e)) {
        bool apply = !strcmp(operation, "Apply");
        if (str_eq(json_str(e, "manager", ""), manager) &&
            str_eq(json_str(e, "operation", ""), operation) &&
            (apply || str_eq(json_str(e, "apiVersion", ""), gv)) &&
            str_eq(json_str(e, "subresource", ""), sub ? sub : ""))
            return e;
    }
    return NULL;
}

static struct json *new_entry(struct json *entries, const char *manager, const char *operation,
                              const char *gv, const char *sub)
{
    struct json *e = json_new_object();
    json_put_str(e, "manager", manager);
    json_put_str(e, "operation", operation);
    json_put_str(e, "apiVersion", gv);
    json_put_str(e, "fieldsType", "FieldsV1");
    if (sub && *sub)
        json_put_str(e, "subresource", sub);
    json_append(entries, e);
    return e;
}

static struct json *set_of(const struct json *entry)
{
    const struct json *wire = json_get(entry, "fieldsV1");
    struct json *set = json_count(wire) ? ssa_set_expand(wire) : json_new_object();
    return set;
}

/* Takes set. An entry that owns nothing goes; a changed one gets a new time. */
static void keep_set(struct json *entry, struct json *set)
{
    struct json *wire = ssa_set_compact(set);
    if (!json_equal(wire, json_get(entry, "fieldsV1"))) {
        char now[36];
        api_now(now);
        json_put_str(entry, "time", now);
    }
    json_set(entry, "fieldsV1", wire);
    json_free(set);
}

static void drop_empty(struct json *obj)
{
    struct json *entries = entries_of(obj);
    size_t i = 0;
    for (struct json *e = json_first_mut(entries), *next; e; e = next) {
        next = json_next_mut(e);
        if (json_count(json_get(e, "fieldsV1")) == 0)
            json_free(json_detach_item(entries, i));
        else
            i++;
    }
    if (json_count(entries) == 0)
        json_remove(json_get_mut(obj, "metadata"), "managedFields");
}

/* All other managers lose what is in `lost`. */
static void take_from_others(struct json *entries, const struct json *self,
                             const struct json *lost)
{
    for (struct json *e = json_first_mut(entries); e; e = json_next_mut(e)) {
        if (e == self)
            continue;
        struct json *set = set_of(e);
        ssa_set_drop(set, lost);
        keep_set(e, set);
    }
}

void ssa_note_update(const struct schema_type *t, const struct json *old, struct json *obj,
                     const char *manager, const char *sub)
{
    struct json *changed = json_new_object(), *removed = json_new_object();
    char gv[96];
    if (!t || !manager || !*manager) {
        json_free(changed);
        json_free(removed);
        return;
    }
    str_fmt(gv, sizeof gv, "%s", json_str(obj, "apiVersion", "v1"));
    ssa_compare(t, old, obj, changed, removed);
    if (json_count(changed) + json_count(removed) > 0) {
        struct json *entries = entries_of(obj);
        struct json *self = find_entry(entries, manager, "Update", gv, sub);
        if (!self)
            self = new_entry(entries, manager, "Update", gv, sub);
        take_from_others(entries, self, changed);
        take_from_others(entries, self, removed);
        struct json *set = set_of(self);
        ssa_set_add(set, changed);
        ssa_set_drop(set, removed);
        keep_set(self, set);
        drop_empty(obj);
    }
    json_free(changed);
    json_free(removed);
}

/* --- apply --- */

static char *manager_text(const struct json *e)
{
    const char *sub = json_str(e, "subresource", "");
    bool update = !strcmp(json_str(e, "operation", ""), "Update");
    return xasprintf("\"%s\"%s%s%s%s%s", json_str(e, "manager", ""),
                     *sub ? " with subresource \"" : "", sub, *sub ? "\"" : "",
                     update ? " using " : "", update ? json_str(e, "apiVersion", "") : "");
}

/* causes and, for more than one, the sentence's list. */
static void add_conflict(struct json *status, const struct json *e, const struct json *set,
                         struct str *text, int *n)
{
    struct strv paths;
    char *who = manager_text(e), *cause = xasprintf("conflict with %s", who);
    strv_init(&paths);
    ssa_set_paths(set, &paths);
    str_printf(text, "%sconflicts with %s:", text->len ? "\n" : "", who);
    for (size_t i = 0; i < paths.n; i++) {
        status_add_cause(status, "FieldManagerConflict", cause, paths.v[i]);
        str_printf(text, "\n- %s", paths.v[i]);
    }
    *n += (int)paths.n;
    strv_release(&paths);
    free(who);
    free(cause);
}

/* A 409 when other managers own what changes, else NULL. */
static struct json *conflicts(struct json *entries, const struct json *self,
                              const struct json *changed)
{
    struct json *status = NULL;
    struct str text;
    int n = 0;
    str_init(&text, 64 << 10);
    for (struct json *e = json_first_mut(entries); e; e = json_next_mut(e)) {
        if (e == self)
            continue;
        struct json *set = set_of(e), *both = ssa_set_common(set, changed);
        if (ssa_set_count(both) > 0) {
            if (!status)
                status = status_new(409, "Conflict", NULL, NULL, "%s", "");
            add_conflict(status, e, both, &text, &n);
        }
        json_free(set);
        json_free(both);
    }
    if (status) {
        const struct json *one = json_at(status, "details.causes[0]");
        char *message = n == 1 ? xasprintf("Apply failed with 1 conflict: %s: %s",
                                           json_str(one, "message", ""), json_str(one, "field", ""))
                               : xasprintf("Apply failed with %d conflicts: %s", n, text.p);
        json_put_str(status, "message", message);
        free(message);
    }
    str_release(&text);
    return status;
}

/* What everybody but self owns, and what is applied now. */
static struct json *owned(struct json *entries, const struct json *self, const struct json *applied)
{
    struct json *all = json_copy(applied);
    for (struct json *e = json_first_mut(entries); e; e = json_next_mut(e)) {
        if (e == self)
            continue;
        struct json *set = set_of(e);
        ssa_set_add(all, set);
        json_free(set);
    }
    return all;
}

static struct json *start_from(const struct res *res, const struct json *live,
                               const struct json *config)
{
    char gv[64];
    if (live)
        return json_copy(live);
    struct json *obj = json_new_object();
    json_put_str(obj, "apiVersion", res_api_version(res, gv));
    json_put_str(obj, "kind", res->kind);
    json_set(obj, "metadata", json_new_object());
    json_put_str(json_get_mut(obj, "metadata"), "name", json_str(config, "metadata.name", NULL));
    return obj;
}

struct json *ssa_apply(const struct res *res, const struct schema_type *t,
                       const struct json *live, const struct json *config, const char *manager,
                       const char *sub, bool force, struct json **refusal)
{
    struct json *obj = start_from(res, live, config), *entries = entries_of(obj);
    const char *gv = json_str(config, "apiVersion", "v1");
    struct json *self = find_entry(entries, manager, "Apply", gv, sub);
    struct json *last = self ? set_of(self) : json_new_object();
    struct json *applied = ssa_fields(t, config), *changed = json_new_object();
    struct json *removed = json_new_object(), *kept = owned(entries, self, applied);
    struct json *before = json_copy(obj);
    ssa_merge(t, obj, config);
    entries = entries_of(obj);                /* the merge may have moved it */
    self = find_entry(entries, manager, "Apply", gv, sub);
    ssa_remove(t, obj, last, kept);
    ssa_compare(t, live ? before : NULL, obj, changed, removed);
    *refusal = force ? NULL : conflicts(entries, self, changed);
    if (!*refusal) {
        if (!self)
            self = new_entry(entries, manager, "Apply", gv, sub);
        take_from_others(entries, self, changed);
        take_from_others(entries, self, removed);
        json_put_str(self, "apiVersion", gv);
        keep_set(self, json_copy(applied));
        drop_empty(obj);
    }
    json_free(last);
    json_free(applied);
    json_free(changed);
    json_free(removed);
    json_free(kept);
    json_free(before);
    if (*refusal) {
        json_free(obj);
        return NULL;
    }
    return obj;
}
