/* jlist.h - a Kubernetes list, read item by item while its bytes arrive, so
 * that a page of 500 pods never stands in memory as one tree and no call parses
 * more than one object.
 *
 * Feed the body in any pieces. Each element of the top-level "items" is handed
 * out parsed, and its text is forgotten; everything else of the object is kept
 * and parsed at the end (metadata, or a whole Status).
 */
#ifndef K8S_JLIST_H
#define K8S_JLIST_H

#include "core/base/json_share.h"

/* Takes the item, a shared tree (json_share.h). false stops the reading:
 * jlist_feed returns PD_CANCELED. */
typedef bool jlist_item_fn(void *arg, struct json *item);

struct jlist {
    struct str rest, item;           /* the object without its items; the item in hand */
    int depth;
    bool in_string, escaped, in_items, key_next, started;
    struct str key;                  /* last key at depth 1 */
    struct json_shape shape;
    jlist_item_fn *fn;
    void *arg;
};

/* shape: of each item; its texts are borrowed. NULL: as it comes. */
void jlist_init(struct jlist *l, const struct json_shape *shape, jlist_item_fn *fn, void *arg);
void jlist_release(struct jlist *l);
void jlist_clear(struct jlist *l);
MUST_USE enum pd_code jlist_feed(struct jlist *l, const char *p, size_t n, struct pd_err *err);
/* The object around the items ("items" is an empty array in it). */
MUST_USE enum pd_code jlist_end(struct jlist *l, struct json **out, struct pd_err *err);

#endif
