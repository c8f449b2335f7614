/* json_share.c - the parts of shared trees, each stored once (json_share.h).
 *
 * The tables grow by linear hashing, one bucket at a time: no insertion ever
 * moves a whole table, so that none holds the loop.
 */
#include "core/base/json_share_io.h"

#include <time.h>

#include "core/base/mem.h"

enum { BUCKETS_MIN = 256 };

struct table {
    struct json_node **head;
    size_t n, buckets, cap, level;   /* level: power of two, buckets in [level, 2 level) */
};

/* The one store: it outlives no tree, and belongs to all of them. */
static struct {
    struct table strings, blocks;
    struct json_string **keys;       /* by number; [0] is not used */
    size_t keys_n, keys_cap;
    uint32_t free_key;               /* number of the first free one; they are chained by len */
    uint32_t *chain;
    uint64_t seed;
    size_t bytes, rows;
} store;

/* --- the tables --- */

static size_t bucket_of(const struct table *t, uint32_t hash)
{
    size_t i = hash & (t->level - 1);
    if (i < t->buckets - t->level)
        i = hash & (2 * t->level - 1);
    return i;
}

static void more_heads(struct table *t, size_t cap)
{
    t->head = xrealloc_array(t->head, cap, sizeof(struct json_node *));
    store.bytes += (cap - t->cap) * sizeof(struct json_node *);
    t->cap = cap;
}

static void split_bucket(struct table *t)
{
    if (t->buckets == t->cap)
        more_heads(t, 2 * t->cap);
    size_t from = t->buckets - t->level;
    struct json_node *list = t->head[from];
    t->head[from] = t->head[t->buckets] = NULL;
    if (++t->buckets == 2 * t->level)
        t->level *= 2;
    while (list) {
        struct json_node *next = list->next, **to = &t->head[bucket_of(t, list->hash)];
        list->next = *to;
        *to = list;
        list = next;
    }
}

static struct json_node **chain_of(struct table *t, uint32_t hash)
{
    if (!t->cap) {
        more_heads(t, BUCKETS_MIN);
        memset(t->head, 0, BUCKETS_MIN * sizeof(struct json_node *));
        t->buckets = t->level = BUCKETS_MIN;
    }
    return &t->head[bucket_of(t, hash)];
}

static void table_add(struct table *t, struct json_node *n)
{
    if (++t->n > t->buckets)
        split_bucket(t);
    struct json_node **to = chain_of(t, n->hash);
    n->next = *to;
    *to = n;
}

static void table_remove(struct table *t, struct json_node *n)
{
    struct json_node **p = chain_of(t, n->hash);
    while (*p != n)
        p = &(*p)->next;
    *p = n->next;
    t->n--;
}

/* --- hashing: seeded, since the texts come from elsewhere --- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static uint32_t hash_text(const char *s, size_t n)
{
    uint64_t h = store.seed + n, v = 0;
    for (; n >= 8; n -= 8, s += 8) {
        memcpy(&v, s, 8);
        h = mix(h, v);
    }
    v = 0;
    if (n)
        memcpy(&v, s, n);
    h = mix(h, v);
    return (uint32_t)(h ^ h >> 29);
}

static uint32_t hash_slots(const struct json_slot *v, size_t n, bool array)
{
    uint64_t h = store.seed ^ (2 * n + array);
    for (size_t i = 0; i < n; i++)
        h = mix(mix(h, (uint64_t)v[i].key << 8 | v[i].type), v[i].u.bits);
    return (uint32_t)(h ^ h >> 29);
}

/* --- strings --- */

static void store_start(void)
{
    struct timespec t;
    if (store.seed)
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    store.seed = mix((uint64_t)t.tv_nsec, (uint64_t)(uintptr_t)&t) | 1;
}

void json_share_idle(void)
{
    if (store.strings.n || store.blocks.n || store.rows)
        return;
    free(store.strings.head);
    free(store.blocks.head);
    free(store.keys);
    free(store.chain);
    memset(&store, 0, sizeof store);
}

struct json_string *json_string_hold(const char *s, size_t n)
{
    store_start();
    n = strnlen(s, MIN(n, (size_t)UINT32_MAX - 64));     /* as a C string ends */
    uint32_t hash = hash_text(s, n);
    for (struct json_node *p = *chain_of(&store.strings, hash); p; p = p->next) {
        struct json_string *str = (struct json_string *)p;
        if (p->hash == hash && str->len == n && !memcmp(str->s, s, n)) {
            p->refs++;
            return str;
        }
    }
    struct json_string *str = xmalloc(sizeof *str + n + 1);
    store.bytes += sizeof *str + n + 1;
    str->node = (struct json_node){NULL, hash, 1};
    str->len = (uint32_t)n;
    str->key = 0;
    memcpy(str->s, s, n);
    str->s[n] = '\0';
    table_add(&store.strings, &str->node);
    return str;
}

static void string_drop(struct json_string *s)
{
    if (--s->node.refs)
        return;
    if (s->key) {
        store.keys[s->key] = NULL;
        store.chain[s->key] = store.free_key;
        store.free_key = s->key;
    }
    table_remove(&store.strings, &s->node);
    store.bytes -= sizeof *s + s->len + 1;
    free(s);
}

/* The number of a member's name; takes the reference to its text. */
uint32_t json_key_of(struct json_string *s)
{
    if (s->key)
        return s->key;
    uint32_t id = store.free_key;
    if (id) {
        store.free_key = store.chain[id];
    } else {
        if (store.keys_n + 1 >= store.keys_cap) {
            store.keys_cap = store.keys_cap ? 2 * store.keys_cap : 256;
            store.keys = xrealloc_array(store.keys, store.keys_cap, sizeof *store.keys);
            store.chain = xrealloc_array(store.chain, store.keys_cap, sizeof *store.chain);
        }
        id = (uint32_t)++store.keys_n;
    }
    store.keys[id] = s;
    return s->key = id;
}

const char *json_key_text(uint32_t key)
{
    return key ? store.keys[key]->s : NULL;
}

/* --- blocks --- */

static void slot_drop(const struct json_slot *s)
{
    if (s->key)
        string_drop(store.keys[s->key]);
    if (s->type == JSON_STRING)
        string_drop(s->u.str);
    else if (s->type >= JSON_ARRAY)
        json_block_drop(s->u.block);
}

void json_slots_drop(const struct json_slot *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        slot_drop(&v[i]);
}

void json_block_drop(struct json_block *b)
{
    if (--b->node.refs)
        return;
    if (b->cap)
        store.rows--;
    else
        table_remove(&store.blocks, &b->node);
    store.bytes -= sizeof *b + (b->cap ? b->cap : b->n) * sizeof b->slot[0];
    json_slots_drop(b->slot, b->n);
    free(b);
    json_share_idle();
}

static bool same_slots(const struct json_block *b, const struct json_slot *v, size_t n, bool array)
{
    if (b->n != n || b->array != array)
        return false;
    for (size_t i = 0; i < n; i++)
        if (b->slot[i].key != v[i].key || b->slot[i].type != v[i].type ||
            b->slot[i].u.bits != v[i].u.bits)
            return false;
    return true;
}

/* The one block of these slots; takes the references that they hold. */
struct json_block *json_block_hold(const struct json_slot *v, size_t n, bool array)
{
    store_start();
    uint32_t hash = hash_slots(v, n, array);
    for (struct json_node *p = *chain_of(&store.blocks, hash); p; p = p->next) {
        struct json_block *b = (struct json_block *)p;
        if (p->hash == hash && same_slots(b, v, n, array)) {
            p->refs++;
            json_slots_drop(v, n);
            return b;
        }
    }
    struct json_block *b = xmalloc(sizeof *b + n * sizeof *v);
    store.bytes += sizeof *b + n * sizeof *v;
    b->node = (struct json_node){NULL, hash, 1};
    b->n = (uint32_t)n & 0x7fffffff;
    b->array = array;
    b->cap = 0;
    if (n) {
        memcpy(b->slot, v, n * sizeof *v);
        b->slot[n - 1].last = 1;
    }
    table_add(&store.blocks, &b->node);
    return b;
}

struct json_share_use json_share_use(void)
{
    return (struct json_share_use){store.bytes, store.strings.n, store.blocks.n};
}

/* --- trees --- */

static struct json_slot slot_of_tree(const struct json *j);

static struct json_block *block_of_tree(const struct json *j)
{
    struct json_block *b = json_as_block(j);
    if (b && !b->cap) {
        b->node.refs++;
        return b;
    }
    size_t n = json_count(j), i = 0;
    struct json_slot *v = xcalloc(n + 1, sizeof *v);
    for (const struct json *c = json_first(j); c; c = json_next(c), i++) {
        const char *key = json_key(c);
        v[i] = slot_of_tree(c);
        if (json_type(j) == JSON_OBJECT)
            v[i].key = json_key_of(json_string_hold(key, strlen(key)));
    }
    b = json_block_hold(v, n, json_type(j) == JSON_ARRAY);
    free(v);
    return b;
}

static struct json_slot slot_of_tree(const struct json *j)
{
    struct json_slot s = {.type = (uint8_t)json_type(j)};
    if (s.type >= JSON_ARRAY) {
        s.u.block = block_of_tree(j);
    } else if (s.type == JSON_STRING) {
        const char *text = json_string_value(j);
        s.u.str = json_string_hold(text, strlen(text));
    } else {
        s.u.num = s.type == JSON_BOOL ? json_bool_value(j) : json_number_value(j);
    }
    return s;
}

struct json *json_share(const struct json *j)
{
    if (!j)
        return NULL;
    return json_type(j) >= JSON_ARRAY ? json_of_block(block_of_tree(j)) : json_copy(j);
}

bool json_share_same(const struct json *a, const struct json *b)
{
    const struct json_block *x = json_as_block(a);
    return x && x == json_as_block(b);
}

const struct json *json_share_root(const struct json *j)
{
    struct json_block *b = json_as_block(j);
    return b ? json_of_block(b) : j;
}

cJSON *json_to_node(struct json *value)
{
    if (!json_is_root(value)) {
        if (json_as_slot(value))
            PD_BUG("a part of a shared JSON tree is given away: json_share it");
        return (cJSON *)value;
    }
    cJSON *c = cJSON_CreateNull();
    if (!c)
        PD_BUG("out of memory in a JSON tree");
    c->type = cJSON_Raw | cJSON_IsReference;
    c->child = (cJSON *)json_as_block(value);
    return c;
}

void json_drop_bridges(cJSON *c)
{
    if ((c->type & 0xff) == cJSON_Raw) {
        json_block_drop((struct json_block *)c->child);
        return;
    }
    for (c = c->child; c; c = c->next)
        json_drop_bridges(c);
}

/* --- rows --- */

struct json *json_rows_new(void)
{
    enum { FIRST = 8 };
    struct json_block *b = xcalloc(1, sizeof *b + FIRST * sizeof b->slot[0]);
    cJSON *c = (cJSON *)json_new_null();
    store_start();
    b->node.refs = 1;
    b->array = 1;
    b->cap = FIRST;
    store.rows++;
    store.bytes += sizeof *b + FIRST * sizeof b->slot[0];
    c->type = cJSON_Raw | cJSON_IsReference;
    c->child = (cJSON *)b;
    return (struct json *)c;
}

static struct json_block *rows_of(const struct json *rows)
{
    struct json_block *b = json_is_bridge(rows) ? json_as_block(rows) : NULL;
    if (!b || !b->cap)
        PD_BUG("these are no rows");
    return b;
}

void json_rows_put(struct json *rows, size_t i, const struct json *obj)
{
    struct json_block *b = rows_of(rows);
    struct json_slot s = slot_of_tree(obj);
    assert(i <= b->n && b->n < 0x7fffffff);
    if (i < b->n) {
        struct json_slot old = b->slot[i];
        s.last = old.last;
        b->slot[i] = s;
        slot_drop(&old);
        return;
    }
    if (b->n == b->cap) {
        store.bytes += b->cap * sizeof b->slot[0];
        b->cap *= 2;
        b = xrealloc(b, sizeof *b + b->cap * sizeof b->slot[0]);
        ((cJSON *)rows)->child = (cJSON *)b;
    }
    if (b->n)
        b->slot[b->n - 1].last = 0;
    s.last = 1;
    b->slot[b->n++] = s;
}

void json_rows_remove(struct json *rows, size_t i)
{
    struct json_block *b = rows_of(rows);
    assert(i < b->n);
    struct json_slot old = b->slot[i];
    b->n--;
    memmove(&b->slot[i], &b->slot[i + 1], (b->n - i) * sizeof old);
    if (b->n)
        b->slot[b->n - 1].last = 1;
    slot_drop(&old);
}

static void mark_last(struct json_block *b)
{
    if (b->n)
        b->slot[b->n - 1].last = 1;
}

void json_rows_move(struct json *rows, size_t i, size_t to)
{
    struct json_block *b = rows_of(rows);
    assert(to <= i && i < b->n);
    struct json_slot s = b->slot[i];
    b->slot[i] = b->slot[to];
    b->slot[to] = s;
    b->slot[i].last = b->slot[to].last = 0;
    mark_last(b);
}

void json_rows_cut(struct json *rows, size_t n)
{
    struct json_block *b = rows_of(rows);
    assert(n <= b->n);
    size_t had = b->n;
    b->n = (uint32_t)n & 0x7fffffff;
    mark_last(b);
    json_slots_drop(b->slot + n, had - n);
}
