/* table.h - the rows of one watched resource: whole objects as shared trees
 * (core/base/json_share.h), found by namespace and name, and a log of which rows
 * changed, so that a view keeps up by the row and never by the list.
 *
 * Objects stand whole, without metadata.managedFields: since equal parts are
 * stored once, 15,000 pods of 5.6 KB take about 45 MB, and details, YAML, checks
 * and diagnosis need no further request, however long the list is.
 *
 * A row has a number that stays while it lives (numbers of rows that went are
 * given again). items are the same objects in the order they came, for
 * json_first, json_item and json_count.
 */
#ifndef LABS_TABLE_H
#define LABS_TABLE_H

#include "core/base/json_share.h"
#include "k8s/denied.h"

struct table_index;                  /* of table.c */

/* `synced` is false until the first list has come, whole; until its first row the
 * rows may be those of the connection before (`from`). */
struct table {
    const char *resource;         /* one of lab_resources (labs/lab_keys.h) */
    struct json *items;           /* array of whole objects; NULL: never asked for */
    bool synced, forbidden;
    bool broken;                  /* its watch ended badly and is begun again */
    bool quiet;                   /* its watch is open, but says nothing for too long */
    int64_t poll_ms;              /* it is listed so often instead of watched; 0: watched */
    enum pd_code code;            /* of the error */
    char error[512];
    int64_t changed_ms;
    int64_t asked_ms;             /* since when it is read on this connection */
    int64_t seen_ms;              /* the server last said something of it */
    int64_t next_ms;              /* broken, forbidden: when it is tried again */
    struct denied denied;         /* of forbidden: the right that is missing */
    char from[200];               /* "class-a/stu-07": the rows are of there; "": of here */
    uint64_t generation;
    struct table_index *index;
};

void table_init(struct table *t, const char *resource);   /* t is zeroed, or has no rows yet */
void table_release(struct table *t);
void table_clear(struct table *t);   /* no rows; the log goes on */

/* A list comes as begin, puts, end: what it did not bring has gone. Rows are on
 * show from the first put on. put answers whether anything is new. */
void table_begin(struct table *t);
bool table_put(struct table *t, const struct json *obj);
bool table_drop(struct table *t, const struct json *obj);     /* of the same uid alone */
bool table_end(struct table *t);

/* ns NULL: of any, the first. */
const struct json *table_find(const struct table *t, const char *ns, const char *name);
const struct json *table_find_uid(const struct table *t, const char *uid);

/* Rows are numbered below table_numbers; table_at is NULL where none lives. */
size_t table_numbers(const struct table *t);
const struct json *table_at(const struct table *t, size_t number);
/* The log: changes [table_log_first, table_log_end) are known, each the number
 * of a row that came, changed or went. What is before is not: look at all. */
uint64_t table_log_first(const struct table *t);
uint64_t table_log_end(const struct table *t);
size_t table_log(const struct table *t, uint64_t at);

#endif
