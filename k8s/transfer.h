/* transfer.h - files and folders between this machine and a container, as tar
 * through exec (podium cp).
 *
 * A link that breaks is taken up where it stood: a download goes on at that byte
 * of the stream, an upload at that file, or at that byte of it. Afterwards the
 * container says the sha256 of each file, where it has sha256sum; else sizes and
 * tar's own end must do. Without tar in the container a single file still goes
 * by cat. Paths and links that leave the folder are refused.
 */
#ifndef K8S_TRANSFER_H
#define K8S_TRANSFER_H

#include "k8s/client.h"

struct transfer;

struct transfer_spec {
    const char *ns, *pod, *container;
    const char *remote, *local;
    bool up;                             /* to the container */
    int tries;                           /* after a break without progress; 0: none */
};

struct transfer_result {
    int files, left_out, resumed;
    int64_t bytes;
    int checked;                         /* files whose sha256 is that of the other side */
    bool by_cat;                         /* without tar */
};

struct transfer_handlers {
    void (*progress)(void *arg, int64_t done, int64_t total, const char *path);  /* total -1: ? */
    void (*said)(void *arg, const char *text);       /* a break, what was left out */
    void (*done)(void *arg, const struct transfer_result *r, const struct pd_err *err);  /* last */
    void *arg;
};

struct transfer *transfer_start(struct k8s *k, const struct transfer_spec *spec,
                                const struct transfer_handlers *h);
/* At any time, but not from within its calls; none follows. */
void transfer_free(struct transfer *t);

#endif
