/* json_share.h - JSON trees that are kept by the thousand: immutable, counted,
 * and equal parts stored once.
 *
 * A shared tree is a struct json: every read of json.h works on it, and it can
 * be a member of an ordinary tree (a message's body). It can't be changed: the
 * setters and _mut getters of json.h are a PD_BUG on it, json_copy makes an
 * ordinary tree of it. json_free gives a reference back.
 *
 * Objects and arrays are blocks of 16-byte slots; strings, keys and whole blocks
 * that are equal exist once, whoever holds them. Fifteen thousand pods of one
 * template, each 5.6 KB of JSON, take about 2 KB each; what differs between two
 * versions of an object is all that the second one costs.
 *
 * The store of the parts is one for the process, like malloc's heap, and is
 * freed with the last tree. It is not for threads.
 */
#ifndef CORE_BASE_JSON_SHARE_H
#define CORE_BASE_JSON_SHARE_H

#include "core/base/json.h"

/* What json_share_parse does to a Kubernetes object on the way. */
struct json_shape {
    const char *kind, *api_version;  /* given to an object that has none; or NULL */
    bool event;                      /* the text is {"type", "object"}: of its object */
    bool lean;                       /* metadata.managedFields is left out, unread */
};

/* Another reference to a shared tree or to a part of one; of an ordinary tree,
 * a shared one that equals it. Strings, numbers … give an ordinary node. */
struct json *json_share(const struct json *j);
/* As json_parse, strict (RFC 8259). shape NULL: all as it stands. */
MUST_USE enum pd_code json_share_parse(const char *text, size_t len,
                                       const struct json_shape *shape, struct json **out,
                                       struct pd_err *err);
/* The same shared part, however reached: then the two are equal. */
bool json_share_same(const struct json *a, const struct json *b);
/* Borrowed: a shared object seen without the array it stands in, which may move
 * or shrink while somebody else holds the object. */
const struct json *json_share_root(const struct json *j);

/* An array of shared objects that grows, for tables: read like any array, with
 * json_item and json_count at once. Not to be put into another tree. */
struct json *json_rows_new(void);
void json_rows_put(struct json *rows, size_t i, const struct json *obj);   /* i = count: append */
void json_rows_remove(struct json *rows, size_t i);                        /* order is kept */
/* For a pass that leaves some out: move row i to a place at or before it (the two
 * change places), then cut what is left behind. */
void json_rows_move(struct json *rows, size_t i, size_t to);
void json_rows_cut(struct json *rows, size_t n);

/* What all shared trees take: bytes asked of malloc, and parts. */
struct json_share_use {
    size_t bytes, strings, blocks;
};
struct json_share_use json_share_use(void);

#endif
