/* portforward.h - a port of this machine that leads to a port of a pod.
 *
 * Listens on 127.0.0.1 and ::1 (or one address given). Each connection gets a
 * WebSocket of its own, so that a slow one holds up no other: SPDY frames in it
 * where the API server tunnels them (1.31 and later; there one side can end
 * while the other still speaks), else the channels of v4. Nothing waits for
 * anything: bytes that a side can't take are not read from the other.
 *
 * The listener outlives the pod's containers and the pod: a connection that
 * breaks off or is refused is told with what the pod says of itself then.
 */
#ifndef K8S_PORTFORWARD_H
#define K8S_PORTFORWARD_H

#include "k8s/client.h"

struct portforward;

enum { PORTFORWARD_MOST = 128 };         /* connections at once; more wait */

struct portforward_spec {
    const char *ns, *pod;                /* ns NULL: the connection's */
    const char *address;                 /* NULL: 127.0.0.1 and ::1 */
    int local, remote;                   /* local 0: any that is free */
    bool channels;                       /* offer the channels of v4 alone */
};

struct portforward_stats {
    int open, total, failed;             /* connections */
    int64_t sent, received;              /* bytes to and from the pod */
    bool tunnel;                         /* of the newest: SPDY frames, not channels */
};

struct portforward_handlers {
    void (*changed)(void *arg);          /* the figures; not more than four times a second */
    /* A connection failed, or the pod's state changed. lasting: what `what` says
     * holds for all connections. */
    void (*said)(void *arg, bool lasting, const struct pd_err *what);
    void *arg;
};

/* The listener is there when it returns. */
MUST_USE enum pd_code portforward_start(struct k8s *k, const struct portforward_spec *spec,
                                        const struct portforward_handlers *h,
                                        struct portforward **out, struct pd_err *err);
int portforward_port(const struct portforward *f);
/* "127.0.0.1:8080", "[::1]:8080"; NULL after the last. */
const char *portforward_place(const struct portforward *f, int i, char buf[64]);
void portforward_stats(const struct portforward *f, struct portforward_stats *out);
void portforward_stop(struct portforward *f);        /* no call follows */

/* "8080:80", "80" (the same here), ":80" and "0:80" (any free one here). */
MUST_USE enum pd_code portforward_parse(const char *text, int *local, int *remote,
                                        struct pd_err *err);

#endif
