/* podtimes.h - where a pod's time went: created, scheduled, image pulled,
 * containers started, ready, finished, from its conditions, its container
 * statuses and its events.
 *
 * Every moment has its length since the one before that is known. What is not
 * reached yet is open (the one going on now) or ahead; what can't be known any
 * more (events are kept for an hour) is unknown, never zero. The moments come
 * from several clocks: one before the other way round is `skew`.
 */
#ifndef K8S_PODTIMES_H
#define K8S_PODTIMES_H

#include "core/base/json.h"

enum podtimes_mark { PT_CREATED, PT_SCHEDULED, PT_INIT, PT_PULLED, PT_STARTED, PT_READY,
                     PT_FINISHED, PT_COUNT };
enum podtimes_state { PT_KNOWN, PT_OPEN, PT_AHEAD, PT_UNKNOWN, PT_NEVER };

struct podtimes_row {
    enum podtimes_mark mark;
    enum podtimes_state state;
    int64_t at_ms;                   /* KNOWN: when */
    int64_t took_ms;                 /* KNOWN: since the mark before; OPEN: until now; else -1 */
    bool skew;                       /* the clocks disagree: took_ms is 0 */
    bool cached;                     /* PULLED: the image was there already */
};

struct podtimes {
    struct podtimes_row row[PT_COUNT];
    int n;                           /* PT_INIT only for pods with init containers */
};

/* events: array of objects or NULL. */
void podtimes_read(const struct json *pod, const struct json *events, int64_t now_ms,
                   struct podtimes *out);
const char *podtimes_name(enum podtimes_mark m);     /* gettext key */

#endif
