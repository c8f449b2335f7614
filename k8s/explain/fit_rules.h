/* fit_rules.h - labels, taints and neighbours: the filters of fit.h that are no
 * arithmetic. */
#ifndef K8S_EXPLAIN_FIT_RULES_H
#define K8S_EXPLAIN_FIT_RULES_H

#include "k8s/explain/snapshot.h"

/* nodeSelector and required node affinity. */
bool fit_selected(const struct json *pod, const struct json *node);
/* The first NoSchedule or NoExecute taint that the pod does not tolerate; NULL none.
 * Cordoning (node.kubernetes.io/unschedulable) is told by spec.unschedulable. */
const struct json *fit_untolerated(const struct json *pod, const struct json *node);
/* Required pod affinity and anti-affinity, by the topology of the node. Unknown
 * pods keep nothing away. */
bool fit_beside(const struct snapshot *s, const struct json *pod, const struct json *node);

#endif
