/* k8s_store.h - what a watch says, kept by uid in the order of namespace and
 * name, with a generation that grows with every change: for tests of k8s/watch.h
 * that ask what a client would know at the end. Objects are borrowed until the
 * next change.
 */
#ifndef TESTS_K8S_STORE_H
#define TESTS_K8S_STORE_H

#include "core/base/mem.h"
#include "k8s/watch.h"

struct row {
    struct json *obj;
    const char *ns, *name, *uid, *rv;    /* inside obj */
    bool seen;                           /* by the list in progress */
};

struct store {
    struct row *rows;
    size_t n, cap;
    uint64_t generation;
    bool synced, listing;
    void (*changed)(void *arg);
    void *arg;
};

static inline struct store *store_new(void)
{
    return xcalloc(1, sizeof(struct store));
}

static inline void store_free(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        json_free(s->rows[i].obj);
    free(s->rows);
    free(s);
}

static inline struct row row_of(struct json *obj)
{
    const struct json *meta = json_get(obj, "metadata");
    return (struct row){obj, json_str(meta, "namespace", ""), json_str(meta, "name", ""),
                        json_str(meta, "uid", ""), json_str(meta, "resourceVersion", ""), true};
}

static inline int order(const struct row *r, const char *ns, const char *name)
{
    int c = strcmp(r->ns, ns);
    return c ? c : strcmp(r->name, name);
}

/* The first row not before (ns, name). */
static inline size_t lower(const struct store *s, const char *ns, const char *name)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (order(&s->rows[mid], ns, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static inline struct row *store_slot(const struct store *s, const char *ns, const char *name)
{
    size_t i = lower(s, ns, name);
    return i < s->n && order(&s->rows[i], ns, name) == 0 ? &s->rows[i] : NULL;
}

/* Takes obj. true when the store changed. */
static inline bool store_put(struct store *s, struct json *obj)
{
    struct row r = row_of(obj), *old = store_slot(s, r.ns, r.name);
    if (old) {
        bool same_object = !strcmp(old->uid, r.uid);
        old->seen = true;
        if (same_object && !strcmp(old->rv, r.rv) && *r.rv) {
            json_free(obj);
            return false;
        }
        json_free(old->obj);
        *old = r;
        return true;
    }
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->rows = xrealloc_array(s->rows, s->cap, sizeof *s->rows);
    }
    size_t i = lower(s, r.ns, r.name);
    memmove(&s->rows[i + 1], &s->rows[i], (s->n - i) * sizeof *s->rows);
    s->rows[i] = r;
    s->n++;
    return true;
}

static inline void drop(struct store *s, struct row *r)
{
    size_t i = (size_t)(r - s->rows);
    json_free(r->obj);
    s->n--;
    memmove(r, r + 1, (s->n - i) * sizeof *r);
}

static inline void store_begin(struct store *s)
{
    s->listing = true;
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].seen = false;
}

static inline void store_item(struct store *s, struct json *obj)
{
    if (store_put(s, obj))
        s->generation++;
}

static inline void store_end(struct store *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->rows[i].seen)
            s->rows[kept++] = s->rows[i];
        else
            json_free(s->rows[i].obj);
    }
    if (kept != s->n || !s->synced)
        s->generation++;
    s->n = kept;
    s->listing = false;
    s->synced = true;
}

static inline bool store_event(struct store *s, enum watch_type type, struct json *obj)
{
    bool changed = false;
    if (type == WATCH_DELETED) {
        struct row r = row_of(obj), *old = store_slot(s, r.ns, r.name);
        if (old && !strcmp(old->uid, r.uid)) {
            drop(s, old);
            changed = true;
        }
        json_free(obj);
    } else {
        changed = store_put(s, obj);
    }
    s->generation += changed;
    return changed;
}

static inline size_t store_count(const struct store *s)
{
    return s->n;
}

static inline const struct json *store_at(const struct store *s, size_t i)
{
    return i < s->n ? s->rows[i].obj : NULL;
}

static inline const struct json *store_find(const struct store *s, const char *ns, const char *name)
{
    const struct row *r = store_slot(s, ns, name);
    return r ? r->obj : NULL;
}

static inline const struct json *store_uid(const struct store *s, const char *uid)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->rows[i].uid, uid))
            return s->rows[i].obj;
    return NULL;
}

static inline uint64_t store_generation(const struct store *s)
{
    return s->generation;
}

static inline bool store_synced(const struct store *s)
{
    return s->synced;
}

/* --- the glue to a watch --- */

static inline void store_on_begin(void *arg)
{
    store_begin(arg);
}

static inline void store_on_item(void *arg, struct json *obj)
{
    store_item(arg, obj);
}

static inline void store_tell(struct store *s)
{
    if (s->changed)
        s->changed(s->arg);
}

static inline void store_on_end(void *arg)
{
    store_end(arg);
    store_tell(arg);
}

static inline void store_on_event(void *arg, enum watch_type type, struct json *obj)
{
    if (store_event(arg, type, obj))
        store_tell(arg);
}

static inline void store_on_state(void *arg, enum watch_state state UNUSED,
                                  const struct pd_err *err UNUSED,
                     int64_t next_ms UNUSED)
{
    store_tell(arg);
}

static inline struct watch_handlers store_handlers(struct store *s, void (*changed)(void *arg),
                                                   void *arg)
{
    s->changed = changed;
    s->arg = arg;
    return (struct watch_handlers){store_on_begin, store_on_item, store_on_end,
                                   store_on_event, store_on_state, s};
}

#endif
