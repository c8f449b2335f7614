/* nodesums.h - what is asked for on every node, kept as pods come, change and go:
 * the same sums as nodeinfo_list_read makes over all of them, without a walk.
 *
 * Who keeps the sums keeps with each pod what was added for it, and takes that
 * away before the pod's next version is added.
 */
#ifndef K8S_NODESUMS_H
#define K8S_NODESUMS_H

#include "k8s/nodeinfo.h"

struct nodesums;

struct nodesums_ask {
    const char *node;                /* borrowed from the pod, as the names; "": counts nowhere */
    int64_t cpu, memory;             /* thousandths, bytes */
    int n;                           /* of extended resources */
    struct {
        const char *resource;
        int64_t amount;
    } device[NODEINFO_DEVICES];
};

void nodesums_read(const struct json *pod, struct nodesums_ask *out);

struct nodesums *nodesums_new(void);
void nodesums_free(struct nodesums *s);
void nodesums_add(struct nodesums *s, const struct nodesums_ask *a);
void nodesums_take(struct nodesums *s, const struct nodesums_ask *a);
/* Fill in what is used on it. */
void nodesums_give(const struct nodesums *s, struct nodeinfo *n);
uint64_t nodesums_generation(const struct nodesums *s);      /* grows when a sum changes */

#endif
