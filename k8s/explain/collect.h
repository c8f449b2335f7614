/* collect.h - fetches from a cluster what an explanation reads: the object, its
 * surroundings, the log of the container that tells most.
 *
 * It asks for no more than the person may see: what is refused stays unknown in
 * the snapshot, marked as forbidden. Blocks on a loop of its own: for programs
 * and child processes, not for the console's loop.
 */
#ifndef K8S_EXPLAIN_COLLECT_H
#define K8S_EXPLAIN_COLLECT_H

#include "k8s/explain/snapshot.h"
#include "k8s/kubeconfig.h"

/* kind "pod" or "job". PD_NOTFOUND, PD_FORBIDDEN, PD_NET … when the object itself
 * can't be had. */
MUST_USE enum pd_code collect(const struct kube_context *ctx, const char *kind, const char *name,
                              struct snapshot *out, struct pd_err *err);

#endif
