/* store.h - the practice cluster's objects on disk: SQLite, one writer.
 *
 * Table `object` holds the current text of each object; its autoincrementing
 * id is the resourceVersion. A batch is one transaction, and store_write
 * returns PD_OK only when it is on disk (WAL, synchronous=FULL): what was
 * acknowledged survives kill -9 and power loss. A failed batch changes nothing.
 */
#ifndef K8S_PRACTICE_STORE_H
#define K8S_PRACTICE_STORE_H

#include "core/base/err.h"

struct store;

struct store_change {
    const char *kind;            /* "batch/jobs" */
    const char *ns, *name;
    int64_t rv;
    const char *text;            /* NULL: deleted */
};

/* Opens or makes the file; a damaged one is refused with its name. */
MUST_USE enum pd_code store_open(const char *path, struct store **out, struct pd_err *err);
void store_close(struct store *s);
/* The highest resourceVersion ever given, deletions included. */
int64_t store_revision(struct store *s);
MUST_USE enum pd_code store_load(struct store *s,
                                 void (*fn)(void *arg, const struct store_change *c), void *arg,
                                 struct pd_err *err);
MUST_USE enum pd_code store_write(struct store *s, const struct store_change *c, size_t n,
                                  int64_t revision, struct pd_err *err);
/* Bounded upkeep: fold the WAL back when it has grown. */
void store_tidy(struct store *s);

#endif
