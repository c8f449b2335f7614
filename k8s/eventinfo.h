/* eventinfo.h - events in both shapes (v1 and events.k8s.io/v1) read as one:
 * what happened, to what, how often, from when to when.
 */
#ifndef K8S_EVENTINFO_H
#define K8S_EVENTINFO_H

#include "core/base/json.h"

struct eventinfo {
    const char *reason, *message;    /* borrowed from the object, "" when missing */
    const char *kind, *name, *uid;   /* of the object it is about */
    const char *source;
    bool warning;
    int64_t first_ms, last_ms;       /* Unix; 0: not said */
    int64_t count;
    int64_t place;                   /* its version: the order within one second */
};

void eventinfo_read(const struct json *event, struct eventinfo *out);
/* Is it about this object? By uid when both have one, else by kind and name. */
bool eventinfo_about(const struct eventinfo *e, const char *kind, const struct json *object);
/* For qsort: the newest first. */
int eventinfo_newer(const struct eventinfo *a, const struct eventinfo *b);

#endif
