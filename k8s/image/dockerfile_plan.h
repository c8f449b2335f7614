/* dockerfile_plan.h - the stages of a Dockerfile: which there are, what each
 * starts from and copies from, and which the target needs. What isn't needed is
 * neither built nor refused.
 */
#ifndef K8S_IMAGE_DOCKERFILE_PLAN_H
#define K8S_IMAGE_DOCKERFILE_PLAN_H

#include "k8s/image/dockerfile.h"

struct df_stage {
    size_t from, end;             /* its instructions: [from, end); v[from] is FROM */
    const char *name;             /* of AS, borrowed; "" without */
    char *base;                   /* expanded; "scratch", an image, or a stage's name */
    int parent;                   /* the stage it starts from, -1 for an image */
    bool needed;
};

struct df_plan {
    struct df_stage *v;
    size_t n, target;
};

/* target: name or number of a stage; NULL: the last. lookup: ARGs before FROM. */
MUST_USE enum pd_code dockerfile_plan(const struct dockerfile *d, const char *target,
                                      dockerfile_lookup_fn *lookup, void *arg,
                                      struct df_plan *out, struct pd_err *err);
void dockerfile_plan_release(struct df_plan *p);
/* The stage below `before` that a name or number means; -1: none. */
int dockerfile_plan_find(const struct df_plan *p, size_t before, const char *text);
/* The stage that holds an instruction; -1: it stands before the first FROM. */
int dockerfile_plan_at(const struct df_plan *p, size_t instr);
/* What RUN --mount=…,from=X names, into buf; NULL: nothing. */
const char *dockerfile_plan_mount_from(const char *mount, char buf[256]);

/* Refuse, at its place, what podium's own builder can't carry out in a stage
 * that is needed: PD_ENGINE for RUN, else PD_UNSUPPORTED. */
MUST_USE enum pd_code dockerfile_refuse(const struct dockerfile *d, const struct df_plan *p,
                                        struct pd_err *err);

#endif
