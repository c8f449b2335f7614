/* sched_filter.h - may this pod run on that node? The scheduler's filters as
 * pure functions of objects, and the sentence they end in.
 *
 * Order and texts are kube-scheduler's (pkg/scheduler/framework/plugins):
 * Unschedulable, NodeName, TaintToleration, NodeAffinity, NodePorts,
 * NodeResourcesFit; the first plugin that says no ends a node, and may say
 * several things. The kubelet's admission uses the resource arithmetic too.
 */
#ifndef K8S_PRACTICE_SCHED_FILTER_H
#define K8S_PRACTICE_SCHED_FILTER_H

#include "core/base/json.h"

/* Amounts by resource name: cpu in thousandths, everything else in units. */
struct sched_amounts {
    struct sched_amount {
        char name[128];
        int64_t v;
    } *v;
    size_t n;
};

void sched_amounts_release(struct sched_amounts *a);
int64_t sched_amounts_get(const struct sched_amounts *a, const char *name);
void sched_amounts_add(struct sched_amounts *a, const char *name, int64_t v);
/* A ResourceList ({"cpu":"4",...}). */
void sched_amounts_read(const struct json *list, struct sched_amounts *out);
/* What a pod asks for: the sum of its containers, or its largest init
 * container, plus overhead. A limit without a request counts as one. */
void sched_amounts_pod(const struct json *pod, struct sched_amounts *out);

/* A node and what runs on it. */
struct sched_node {
    const struct json *obj;
    struct sched_amounts alloc, used;
    int pods;
    struct strv ports;                /* "TCP/0.0.0.0/8080" of host ports in use */
};
void sched_node_init(struct sched_node *n, const struct json *node);
void sched_node_add(struct sched_node *n, const struct json *pod);
void sched_node_release(struct sched_node *n);

/* true: it fits. Else reasons are appended, and *unresolvable says whether
 * preemption could ever help. */
bool sched_filter(const struct json *pod, const struct sched_node *n, struct strv *reasons,
                  bool *unresolvable);
/* The resources alone: "Insufficient cpu", "Too many pods". */
bool sched_fits(const struct json *pod, const struct sched_node *n, struct strv *reasons);
bool sched_tolerates(const struct json *pod, const struct json *taint);

/* "0/3 nodes are available: 1 node(s) …, 2 Insufficient cpu. preemption: …" from
 * the nodes' reasons (one strv a node) and which are unresolvable. prefilter:
 * a reason that holds for the pod as a whole, or NULL. */
void sched_fit_error(const struct strv *reasons, const bool *unresolvable, size_t nodes,
                     const char *prefilter, bool never_preempts, struct str *out);

#endif
