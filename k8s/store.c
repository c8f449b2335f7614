/* store.c - the cache of one watched resource (store.h): a vector sorted by
 * namespace and name. Lookups by uid walk it; lists of 15,000 rows are walked
 * in well under a millisecond. */
#include "k8s/store.h"

#include "core/base/mem.h"

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

struct store *store_new(void)
{
    return xcalloc(1, sizeof(struct store));
}

void store_free(struct store *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        json_free(s->rows[i].obj);
    free(s->rows);
    free(s);
}

static struct row row_of(struct json *obj)
{
    const struct json *meta = json_get(obj, "metadata");
    return (struct row){obj, json_str(meta, "namespace", ""), json_str(meta, "name", ""),
                        json_str(meta, "uid", ""), json_str(meta, "resourceVersion", ""), true};
}

static int order(const struct row *r, const char *ns, const char *name)
{
    int c = strcmp(r->ns, ns);
    return c ? c : strcmp(r->name, name);
}

/* The first row not before (ns, name). */
static size_t lower(const struct store *s, const char *ns, const char *name)
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

static struct row *find(const struct store *s, const char *ns, const char *name)
{
    size_t i = lower(s, ns, name);
    return i < s->n && order(&s->rows[i], ns, name) == 0 ? &s->rows[i] : NULL;
}

/* Versions of one resource are numbers in every real server; others only
 * compare equal or not. */
static bool older(const char *a, const char *b)
{
    int64_t x, y;
    return str_to_i64(a, &x) && str_to_i64(b, &y) && x < y;
}

/* Takes obj. true when the store changed. */
static bool put(struct store *s, struct json *obj)
{
    struct row r = row_of(obj), *old = find(s, r.ns, r.name);
    if (old) {
        bool same_object = !strcmp(old->uid, r.uid);
        old->seen = true;
        if ((same_object && !strcmp(old->rv, r.rv) && *r.rv) || older(r.rv, old->rv)) {
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

static void drop(struct store *s, struct row *r)
{
    size_t i = (size_t)(r - s->rows);
    json_free(r->obj);
    s->n--;
    memmove(r, r + 1, (s->n - i) * sizeof *r);
}

void store_begin(struct store *s)
{
    s->listing = true;
    for (size_t i = 0; i < s->n; i++)
        s->rows[i].seen = false;
}

void store_item(struct store *s, struct json *obj)
{
    if (put(s, obj))
        s->generation++;
}

void store_end(struct store *s)
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

bool store_event(struct store *s, enum watch_type type, struct json *obj)
{
    bool changed = false;
    if (type == WATCH_DELETED) {
        struct row r = row_of(obj), *old = find(s, r.ns, r.name);
        if (old && !strcmp(old->uid, r.uid)) {
            drop(s, old);
            changed = true;
        }
        json_free(obj);
    } else {
        changed = put(s, obj);
    }
    s->generation += changed;
    return changed;
}

size_t store_count(const struct store *s)
{
    return s->n;
}

const struct json *store_at(const struct store *s, size_t i)
{
    return i < s->n ? s->rows[i].obj : NULL;
}

const struct json *store_find(const struct store *s, const char *ns, const char *name)
{
    const struct row *r = find(s, ns, name);
    return r ? r->obj : NULL;
}

const struct json *store_uid(const struct store *s, const char *uid)
{
    for (size_t i = 0; i < s->n; i++)
        if (!strcmp(s->rows[i].uid, uid))
            return s->rows[i].obj;
    return NULL;
}

uint64_t store_generation(const struct store *s)
{
    return s->generation;
}

bool store_synced(const struct store *s)
{
    return s->synced;
}

/* --- the glue to a watch --- */

static void on_begin(void *arg)
{
    store_begin(arg);
}

static void on_item(void *arg, struct json *obj)
{
    store_item(arg, obj);
}

static void tell(struct store *s)
{
    if (s->changed)
        s->changed(s->arg);
}

static void on_end(void *arg)
{
    store_end(arg);
    tell(arg);
}

static void on_event(void *arg, enum watch_type type, struct json *obj)
{
    if (store_event(arg, type, obj))
        tell(arg);
}

static void on_state(void *arg, enum watch_state state UNUSED, const struct pd_err *err UNUSED,
                     int64_t next_ms UNUSED)
{
    tell(arg);
}

struct watch_handlers store_handlers(struct store *s, void (*changed)(void *arg), void *arg)
{
    s->changed = changed;
    s->arg = arg;
    return (struct watch_handlers){on_begin, on_item, on_end, on_event, on_state, s};
}
