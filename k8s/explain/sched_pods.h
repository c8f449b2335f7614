/* sched_pods.h - pods that keep another pod from their node: by a host port that they
 * hold, by their own anti-affinity (inside k8s/explain only).
 */
#ifndef K8S_EXPLAIN_SCHED_PODS_H
#define K8S_EXPLAIN_SCHED_PODS_H

#include "k8s/explain/dx.h"

/* True when the scheduler's message is about this, and the finding was written. */
bool sched_host_port(struct dx *d, const char *message);
bool sched_kept_away(struct dx *d, const char *message);

#endif
