/* accel.h - accelerators and CPU of a cluster, node by node, as a vendor table:
 * what a node has, what it offers, what pods have asked for.
 *
 * used is the sum of what the scheduler counts: requests of pods bound to the
 * node that have not ended; init containers as max, sidecars added.
 */
#ifndef K8S_ACCEL_H
#define K8S_ACCEL_H

#include "core/base/json.h"

struct accel_vendor {
    const char *resource;            /* "habana.ai/gaudi" */
    const char *title;               /* "Intel Gaudi" */
    const char *unit;                /* "HPU", "GPU", "cores" */
    bool milli;                      /* counts thousandths (cpu) */
    const char *product_label;       /* node label with the model, or NULL */
};

size_t accel_count(void);
const struct accel_vendor *accel_vendor(size_t i);               /* cpu is the last row */
const struct accel_vendor *accel_by_resource(const char *name);  /* NULL: none */

struct accel_use {
    const struct accel_vendor *vendor;
    /* units, or thousandths when vendor->milli; -1: the node does not say */
    int64_t capacity, allocatable, used;
    const char *product;             /* borrowed from the node, or NULL */
};
/* Use of one vendor on one node; pods: array of objects, or NULL. */
struct accel_use accel_node(const struct accel_vendor *v, const struct json *node,
                            const struct json *pods);
/* The accelerator of a node (most capacity), else cpu. */
const struct accel_vendor *accel_of_node(const struct json *node);
/* What one pod asks for of a resource, by the scheduler's rule. */
int64_t accel_pod_request(const struct accel_vendor *v, const struct json *pod);

#endif
