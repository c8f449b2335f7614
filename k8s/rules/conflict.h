/* conflict.h - who else owns fields that an apply would change: the 409 of
 * server-side apply, field by field.
 */
#ifndef K8S_RULES_CONFLICT_H
#define K8S_RULES_CONFLICT_H

#include "core/base/json.h"

struct conflict {
    char manager[160];           /* "alice", "kubectl with subresource \"scale\"" */
    char path[320];              /* ".spec.containers[name=\"c\"].image" */
    char *live, *ours;           /* JSON texts, "" when not there; owned */
};

struct conflicts {
    struct conflict *v;
    size_t n;
};

/* Is the Status one of these? */
bool conflict_is(const struct json *status);
/* live may be NULL. Values of Secrets are masked. */
void conflicts_read(struct conflicts *c, const struct json *status, const struct json *live,
                    const struct json *ours);
void conflicts_release(struct conflicts *c);

/* The value at a path as server-side apply writes it, or NULL. */
const struct json *conflict_at(const struct json *o, const char *path);

#endif
