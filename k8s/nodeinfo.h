/* nodeinfo.h - nodes in rows: state, taints, and of each resource what there is,
 * what is asked for, what is free, and who holds it.
 *
 * The sums are made in one walk over the pods, by the scheduler's rule
 * (accel.h). What a node does not say is -1, never 0; `part` says that only
 * some of the pods were to be seen, so that `used` is a lower bound.
 */
#ifndef K8S_NODEINFO_H
#define K8S_NODEINFO_H

#include "k8s/accel.h"

enum { NODEINFO_DEVICES = 8 };

struct nodeinfo_use {
    const char *resource;            /* borrowed */
    int64_t capacity, allocatable;   /* units, thousandths of cpu; -1: not said */
    int64_t used;
};

struct nodeinfo {
    const struct json *node;         /* borrowed, as are the strings */
    const char *name, *version, *runtime, *arch;
    char roles[64];
    bool ready, cordoned, simulated;
    char pressure[64];               /* "MemoryPressure,DiskPressure"; "" none */
    const char *ready_reason;        /* why not ready; "" */
    int taints;
    int64_t created_ms;
    struct nodeinfo_use cpu, memory, pods;
    struct nodeinfo_use device[NODEINFO_DEVICES];   /* extended resources */
    int devices;
};

struct nodeinfo_list {
    struct nodeinfo *v;
    int n;
};

/* nodes, pods: arrays of objects; pods NULL: none seen. */
void nodeinfo_list_read(const struct json *nodes, const struct json *pods,
                        struct nodeinfo_list *out);
void nodeinfo_list_release(struct nodeinfo_list *l);
/* allocatable - used; -1 when not known. Below zero it is 0: overcommitted. */
int64_t nodeinfo_free(const struct nodeinfo_use *u);
/* "key=value:NoSchedule" of taint i. */
char *nodeinfo_taint(const struct json *node, int i, char *buf, size_t size);
/* The model as a label says it ("HL-225", "NVIDIA-A100"), the CPU features that
 * matter ("AMX AVX-512"); "" when no label does. */
char *nodeinfo_product(const struct json *node, char *buf, size_t size);
char *nodeinfo_features(const struct json *node, char *buf, size_t size);

#endif
