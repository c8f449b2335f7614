/* kubeconfig_try.h - a connection really tried, as three facts of a report: a plain
 * request, who the server takes us for, and whether streams (exec, attach,
 * port-forward) come through. A plugin runs, on the terminal if there is one.
 */
#ifndef K8S_KUBECONFIG_TRY_H
#define K8S_KUBECONFIG_TRY_H

#include "k8s/kubeconfig_report.h"

/* Adds the section "connection" and findings. Blocks; gives up after ms, not
 * counted while a plugin runs. */
void kubeconfig_try(struct kubeconfig_report *r, int64_t ms);

#endif
