/* json_share_io.h - how a shared tree lies in memory; for json*.c alone.
 *
 * A struct json pointer is one of: a cJSON node; a slot of a block (bit 0); a
 * whole block (bit 1), which counts when it came from json_share. In a cJSON
 * tree a block hangs on a node of type Raw whose child it is.
 */
#ifndef CORE_BASE_JSON_SHARE_IO_H
#define CORE_BASE_JSON_SHARE_IO_H

#include <cjson/cJSON.h>

#include "core/base/json_share.h"

struct json_node {                   /* a member of a hash table */
    struct json_node *next;
    uint32_t hash, refs;
};

struct json_string {
    struct json_node node;
    uint32_t len, key;               /* key: its number when it is a member's name, or 0 */
    char s[];
};

struct json_slot {
    uint32_t key;                    /* 0: none, an array's element */
    uint8_t type, last;              /* enum json_type */
    union {
        double num;                  /* of a bool too */
        struct json_string *str;
        struct json_block *block;
        uint64_t bits;
    } u;
};

struct json_block {
    struct json_node node;
    uint32_t n : 31, array : 1;
    uint32_t cap;                    /* of rows, which are not in the hash table; else 0 */
    struct json_slot slot[];
};

static inline const struct json_slot *json_as_slot(const struct json *j)
{
    uintptr_t p = (uintptr_t)j;
    return p & 1 ? (const struct json_slot *)(p - 1) : NULL;
}

static inline bool json_is_root(const struct json *j)
{
    return ((uintptr_t)j & 2) != 0;
}

static inline bool json_is_bridge(const struct json *j)
{
    return j && !((uintptr_t)j & 3) && (((const cJSON *)j)->type & 0xff) == cJSON_Raw;
}

/* The block of a shared object or array, else NULL. */
static inline struct json_block *json_as_block(const struct json *j)
{
    const struct json_slot *s = json_as_slot(j);
    if (s)
        return s->type >= JSON_ARRAY ? s->u.block : NULL;
    if (json_is_root(j))
        return (struct json_block *)((uintptr_t)j - 2);
    return json_is_bridge(j) ? (struct json_block *)((const cJSON *)j)->child : NULL;
}

static inline bool json_is_shared(const struct json *j)
{
    return ((uintptr_t)j & 3) != 0 || json_is_bridge(j);
}

static inline const struct json *json_of_slot(const struct json_slot *s)
{
    return (const struct json *)((uintptr_t)s + 1);
}

static inline struct json *json_of_block(struct json_block *b)
{
    return (struct json *)((uintptr_t)b + 2);
}

void json_block_drop(struct json_block *b);
void json_share_idle(void);          /* frees the store when nothing is held any more */
const char *json_key_text(uint32_t key);
struct json_string *json_string_hold(const char *s, size_t n);
uint32_t json_key_of(struct json_string *s);
void json_slots_drop(const struct json_slot *v, size_t n);
struct json_block *json_block_hold(const struct json_slot *v, size_t n, bool array);
/* A cJSON node for a value that is put into a cJSON tree; takes it. */
cJSON *json_to_node(struct json *value);
enum pd_code json_bad_text(const char *text, const char *at, struct pd_err *err);
/* A bug: a shared tree is to be changed. */
void json_must_be_own(const struct json *j);
/* Give back the blocks that hang in a cJSON node or below, before it is deleted. */
void json_drop_bridges(cJSON *c);

#endif
