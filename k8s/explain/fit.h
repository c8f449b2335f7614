/* fit.h - which node could take a pod, and what keeps it from each of the others:
 * the scheduler's filters computed over node and pod objects.
 *
 * Requests are the scheduler's: request, else limit; containers are summed,
 * init containers count by their largest, sidecars (restartPolicy Always) add.
 * Amounts are thousandths. Used is what pods bound to the node ask for, unless
 * they have ended. Source: pkg/scheduler/framework/plugins of Kubernetes 1.34.
 */
#ifndef K8S_EXPLAIN_FIT_H
#define K8S_EXPLAIN_FIT_H

#include "k8s/explain/snapshot.h"

enum { FIT_ASKS = 16 };

struct fit_ask {
    const char *resource;
    int64_t milli;
    int containers;              /* how many ask for it */
};

struct fit_node {
    const struct snap_item *item;
    const char *name;
    bool selected;               /* nodeSelector and required node affinity */
    bool tolerated, schedulable, ready, beside;      /* beside: pod (anti-)affinity */
    bool offers;                 /* every extended resource is there at all */
    bool ever;                   /* all requests fit an empty node */
    bool now;                    /* all requests fit what is free */
    int short_of;                /* first ask that does not fit, -1 none */
    int64_t allocatable, used;   /* of that one */
    const struct json *taint;    /* the first untolerated one */
};

struct fit {
    struct fit_ask ask[FIT_ASKS];
    int asks;
    struct fit_node *node;
    size_t nodes;
};

void fit_compute(const struct snapshot *s, const struct json *pod, struct fit *out);
void fit_release(struct fit *f);

/* What a pod asks for of a resource. */
int64_t fit_request(const struct json *pod, const char *resource, int *containers);
int64_t fit_quantity(const struct json *map, const char *resource);  /* -1: not there */
bool fit_extended(const char *resource);                            /* "vendor/device" */
bool fit_labels(const struct json *selector, const struct json *labels);   /* a LabelSelector */
bool fit_ended(const struct json *pod);
/* "3", "1500m", "64Gi": an amount of that resource for people; buf >= 48. */
const char *fit_amount(const char *resource, int64_t milli, char buf[48]);

#endif
