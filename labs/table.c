/* table.c - rows by name, by uid, and the log of their changes (table.h). */
#include "labs/table.h"

#include "core/base/mem.h"

enum { LOG_MAX = 1 << 15, NONE = 0 };      /* numbers are kept plus one, so that 0 is none */

struct row {
    uint32_t pos;                    /* in items, plus one; 0: it does not live */
    uint32_t name_hash, uid_hash, name_next, uid_next;
    uint32_t list;                   /* the list that brought it */
};

struct table_index {
    struct row *rows;                /* by number */
    size_t rows_n, rows_cap;
    uint32_t free_row;               /* chained by name_next */
    uint32_t *at, at_cap;            /* by position: the number plus one */
    uint32_t *by_name, *by_uid;      /* buckets */
    size_t buckets;                  /* a power of two */
    uint32_t list;
    bool listing;
    uint32_t *log;
    size_t log_cap;
    uint64_t log_n;
};

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h ^ h >> 15;
}

static const char *name_of(const struct json *obj) { return json_str(obj, "metadata.name", ""); }
static const char *ns_of(const struct json *obj) { return json_str(obj, "metadata.namespace", ""); }
static const char *uid_of(const struct json *obj) { return json_str(obj, "metadata.uid", ""); }

void table_init(struct table *t, const char *resource)
{
    t->resource = resource;
    t->items = json_rows_new();
    t->index = xcalloc(1, sizeof *t->index);
}

void table_release(struct table *t)
{
    struct table_index *x = t->index;
    json_free(t->items);
    if (x) {
        free(x->rows);
        free(x->at);
        free(x->by_name);
        free(x->by_uid);
        free(x->log);
    }
    free(x);
    memset(t, 0, sizeof *t);
}

/* --- chains --- */

static uint32_t *bucket(const struct table_index *x, uint32_t *heads, uint32_t h)
{
    return &heads[h & (x->buckets - 1)];
}

static void link_row(struct table_index *x, uint32_t number)
{
    struct row *r = &x->rows[number];
    uint32_t *name = bucket(x, x->by_name, r->name_hash), *uid = bucket(x, x->by_uid, r->uid_hash);
    r->name_next = *name;
    r->uid_next = *uid;
    *name = *uid = number + 1;
}

static void unlink_row(struct table_index *x, uint32_t number)
{
    struct row *r = &x->rows[number];
    uint32_t *p = bucket(x, x->by_name, r->name_hash);
    while (*p != number + 1)
        p = &x->rows[*p - 1].name_next;
    *p = r->name_next;
    p = bucket(x, x->by_uid, r->uid_hash);
    while (*p != number + 1)
        p = &x->rows[*p - 1].uid_next;
    *p = r->uid_next;
}

static void more_buckets(struct table_index *x)
{
    x->buckets = x->buckets ? 2 * x->buckets : 64;
    x->by_name = xrealloc_array(x->by_name, x->buckets, sizeof *x->by_name);
    x->by_uid = xrealloc_array(x->by_uid, x->buckets, sizeof *x->by_uid);
    memset(x->by_name, 0, x->buckets * sizeof *x->by_name);
    memset(x->by_uid, 0, x->buckets * sizeof *x->by_uid);
    for (size_t i = 0; i < x->rows_n; i++)
        if (x->rows[i].pos)
            link_row(x, (uint32_t)i);
}

/* The number plus one; of several namespaces' the one that came first. */
static uint32_t find(const struct table *t, const char *ns, const char *name)
{
    const struct table_index *x = t->index;
    uint32_t h = hash(name), best = NONE;
    if (!x || !x->buckets)
        return NONE;
    for (uint32_t i = *bucket(x, x->by_name, h); i; i = x->rows[i - 1].name_next) {
        const struct row *r = &x->rows[i - 1];
        const struct json *obj = json_item(t->items, (int)r->pos - 1);
        if (r->name_hash == h && !strcmp(name_of(obj), name) && (!ns || !strcmp(ns_of(obj), ns)) &&
            (!best || r->pos < x->rows[best - 1].pos))
            best = i;
    }
    return best;
}

const struct json *table_find(const struct table *t, const char *ns, const char *name)
{
    uint32_t i = find(t, ns, name);
    return i ? table_at(t, i - 1) : NULL;
}

const struct json *table_find_uid(const struct table *t, const char *uid)
{
    const struct table_index *x = t->index;
    uint32_t h = hash(uid);
    if (!x || !x->buckets || !*uid)
        return NULL;
    for (uint32_t i = *bucket(x, x->by_uid, h); i; i = x->rows[i - 1].uid_next) {
        const struct json *obj = table_at(t, i - 1);
        if (x->rows[i - 1].uid_hash == h && !strcmp(uid_of(obj), uid))
            return obj;
    }
    return NULL;
}

/* --- the log --- */

static void note(struct table_index *x, uint32_t number)
{
    if (x->log_n == x->log_cap && x->log_cap < LOG_MAX) {
        x->log_cap = x->log_cap ? 2 * x->log_cap : 64;
        x->log = xrealloc_array(x->log, x->log_cap, sizeof *x->log);
    }
    x->log[x->log_n++ % x->log_cap] = number;
}

uint64_t table_log_first(const struct table *t)
{
    const struct table_index *x = t->index;
    return x && x->log_n > x->log_cap ? x->log_n - x->log_cap : 0;
}

uint64_t table_log_end(const struct table *t)
{
    return t->index ? t->index->log_n : 0;
}

size_t table_log(const struct table *t, uint64_t at)
{
    assert(at >= table_log_first(t) && at < t->index->log_n);
    return t->index->log[at % t->index->log_cap];
}

/* --- rows --- */

size_t table_numbers(const struct table *t)
{
    return t->index ? t->index->rows_n : 0;
}

const struct json *table_at(const struct table *t, size_t number)
{
    const struct row *r = &t->index->rows[number];
    return r->pos ? json_item(t->items, (int)r->pos - 1) : NULL;
}

static uint32_t new_number(struct table_index *x)
{
    uint32_t number = x->free_row;
    if (number) {
        x->free_row = x->rows[number - 1].name_next;
        return number - 1;
    }
    if (x->rows_n == x->rows_cap) {
        x->rows_cap = x->rows_cap ? 2 * x->rows_cap : 64;
        x->rows = xrealloc_array(x->rows, x->rows_cap, sizeof *x->rows);
    }
    memset(&x->rows[x->rows_n], 0, sizeof *x->rows);
    return (uint32_t)x->rows_n++;
}

static void add(struct table *t, const struct json *obj)
{
    struct table_index *x = t->index;
    size_t n = json_count(t->items);
    if (n >= x->buckets)
        more_buckets(x);
    if (n >= x->at_cap) {
        x->at_cap = x->at_cap ? 2 * x->at_cap : 64;
        x->at = xrealloc_array(x->at, x->at_cap, sizeof *x->at);
    }
    uint32_t number = new_number(x);
    x->rows[number] = (struct row){.pos = (uint32_t)n + 1, .name_hash = hash(name_of(obj)),
                                   .uid_hash = hash(uid_of(obj)), .list = x->list};
    x->at[n] = number + 1;
    link_row(x, number);
    json_rows_put(t->items, n, obj);
    note(x, number);
}

static void replace(struct table *t, uint32_t number, const struct json *obj)
{
    struct table_index *x = t->index;
    struct row *r = &x->rows[number];
    uint32_t uid = hash(uid_of(obj));
    if (uid != r->uid_hash) {
        unlink_row(x, number);
        r->uid_hash = uid;
        link_row(x, number);
    }
    json_rows_put(t->items, r->pos - 1, obj);
    note(x, number);
}

static void drop(struct table *t, uint32_t number)
{
    struct table_index *x = t->index;
    struct row *r = &x->rows[number];
    size_t n = json_count(t->items), pos = r->pos - 1;
    unlink_row(x, number);
    json_rows_remove(t->items, pos);
    for (size_t i = pos; i + 1 < n; i++) {
        x->at[i] = x->at[i + 1];
        x->rows[x->at[i] - 1].pos--;
    }
    *r = (struct row){.name_next = x->free_row};
    x->free_row = number + 1;
    note(x, number);
}

void table_begin(struct table *t)
{
    t->index->list++;
    t->index->listing = true;
}

void table_clear(struct table *t)
{
    table_begin(t);
    table_end(t);
}

bool table_put(struct table *t, const struct json *obj)
{
    struct table_index *x = t->index;
    /* what has no name is no other's next version */
    uint32_t i = *name_of(obj) ? find(t, ns_of(obj), name_of(obj)) : NONE;
    bool news = true;
    struct json *shared = json_share(obj);
    if (!i) {
        add(t, shared);
    } else {
        x->rows[i - 1].list = x->list;
        news = !json_share_same(table_at(t, i - 1), shared);
        if (news)
            replace(t, i - 1, shared);
    }
    json_free(shared);
    return news;
}

bool table_drop(struct table *t, const struct json *obj)
{
    uint32_t i = find(t, ns_of(obj), name_of(obj));
    if (!i || strcmp(uid_of(table_at(t, i - 1)), uid_of(obj)) != 0)
        return false;
    drop(t, i - 1);
    return true;
}

/* All that the list did not bring, in one pass. */
bool table_end(struct table *t)
{
    struct table_index *x = t->index;
    size_t n = json_count(t->items), kept = 0;
    if (!x->listing)
        return false;
    x->listing = false;
    for (size_t pos = 0; pos < n; pos++) {
        uint32_t number = x->at[pos] - 1;
        struct row *r = &x->rows[number];
        if (r->list == x->list) {
            x->at[kept++] = number + 1;
            r->pos = (uint32_t)kept;
            json_rows_move(t->items, pos, kept - 1);
            continue;
        }
        unlink_row(x, number);
        *r = (struct row){.name_next = x->free_row};
        x->free_row = number + 1;
        note(x, number);
    }
    json_rows_cut(t->items, kept);
    return kept < n;
}
