/* loginst.h - what a pod says of the runs of one container: whose log the
 * server would give, and whether it grows. A container that restarts has one
 * run after the other; the log of the one before can still be had ("previous").
 */
#ifndef K8S_LOGINST_H
#define K8S_LOGINST_H

#include "core/base/json.h"
#include "core/base/str.h"

struct loginst_run {
    char id[160];                     /* "" : there is none */
    bool ended;
    int exit;
    char why[64];                     /* "OOMKilled", "" */
};

struct loginst {
    struct loginst_run now, before;   /* asked for, and asked for with previous */
    bool running;                     /* `now` still writes */
    bool over;                        /* the container will never run again */
    bool leaving;                     /* the pod is being deleted */
    int64_t restarts;
    char waiting[320];                /* "CrashLoopBackOff: back-off 10s ...", "" */
};

/* container NULL: the one that kubectl would take. */
void loginst_read(const struct json *pod, const char *container, struct loginst *out);
/* The run with this id, or NULL. */
const struct loginst_run *loginst_find(const struct loginst *i, const char *id);
/* Names of all containers in the order they start: init, main, ephemeral. */
void loginst_containers(const struct json *pod, struct strv *out);

#endif
