/* podlink.h - a WebSocket to a subresource of a pod (exec, attach, portforward)
 * over the connection's own transport: its trace and link state, one more try
 * after a 401 with a new token, one more with the plain offer where a server
 * can't take the first, and a refusal told as an error of podium.
 *
 * Ends with exactly one `closed` call unless podlink_close was called.
 */
#ifndef K8S_PODLINK_H
#define K8S_PODLINK_H

#include "k8s/client.h"

struct podlink;

struct podlink_handlers {
    void (*open)(void *arg, const char *protocol);
    void (*message)(void *arg, const char *p, size_t n);
    /* code: as of WebSocket, 1006 when the link died. refused: it never opened.
     * err: NULL after a Close of the server. */
    void (*closed)(void *arg, int code, bool refused, const struct pd_err *err);
    void (*drained)(void *arg);          /* or NULL */
    void *arg;
};

/* offers: the protocols of the first try; plain: of the second, or NULL. */
struct podlink *podlink_open(struct k8s *k, const char *path, const char *offers,
                             const char *plain, const struct podlink_handlers *h);
void podlink_send(struct podlink *l, const void *p, size_t n);
size_t podlink_pending(const struct podlink *l);
void podlink_pause(struct podlink *l, bool on);      /* read no more for now */
void podlink_end(struct podlink *l);                 /* polite; closed follows */
void podlink_close(struct podlink *l);               /* frees; no call follows */

#endif
