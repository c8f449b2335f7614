/* podinfo.h - a pod in one row, as kubectl shows it: the word for its state,
 * ready containers, restarts, node, devices asked for. And why it is so, from
 * its own object: the last exit, decoded.
 */
#ifndef K8S_PODINFO_H
#define K8S_PODINFO_H

#include "core/base/json.h"

struct podinfo {
    const struct json *pod;          /* borrowed, as are the strings */
    const char *name, *ns, *uid, *node;
    char status[64];                 /* "Running" "Init:0/1" "OOMKilled" "Terminating" */
    char hw[64];                     /* "gaudi 1", "cpu 4"; "" asks for nothing */
    int ready, all, restarts;
    int64_t created_ms;              /* 0: not said */
    bool over;                       /* Succeeded or Failed */
    bool whole;                      /* all of it was read, not its names alone */
};

void podinfo_read(const struct json *pod, struct podinfo *out);
/* Names, node and age alone: for lists of many. podinfo_complete reads the rest. */
void podinfo_names(const struct json *pod, struct podinfo *out);
void podinfo_complete(struct podinfo *p);
/* "gaudi" of "habana.ai/gaudi", "mig-1g.5gb" of its resource. */
const char *podinfo_short_resource(const char *resource);
/* What its own status says of a failure in one line ("last exit 137 (OOMKilled),
 * limit 32Gi", the scheduler's message); "" when there is none. */
char *podinfo_cause(const struct json *pod, char *buf, size_t size);
/* "SIGKILL" of 137, "" when the code is no signal. */
const char *podinfo_signal(int64_t exit_code);
/* The container that kubectl would take: the annotated one, else the first. */
const char *podinfo_container(const struct json *pod);
/* Uid of the controlling owner of a kind; "" none. */
const char *podinfo_owner(const struct json *pod, const char *kind);

#endif
