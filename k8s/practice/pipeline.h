/* pipeline.h - the steps a write goes through, each in a file of its own:
 * those of k8s/rules (decoding, defaults, validation), admit.c, ssa.c.
 */
#ifndef K8S_PRACTICE_PIPELINE_H
#define K8S_PRACTICE_PIPELINE_H

#include "k8s/practice/api_int.h"
#include "k8s/rules/rules.h"

/* --- admit.c: may this be, now, here? NULL or a Status ------------------------ */
struct json *admit_create(struct api *a, const struct api_write *w, struct json *obj);
/* limits.c: LimitRanges fill what is missing and refuse what is out of bounds. */
struct json *limits_admit(struct api *a, const struct api_write *w, struct json *obj);
/* Quota after everything else; counts what the namespace uses. */
struct json *admit_quota(struct api *a, const struct api_write *w, const struct json *obj);

/* --- ssa.c: who owns which field ------------------------------------------------ */
/* Note in obj.metadata.managedFields that `manager` changed old (or NULL) to obj. */
void ssa_note_update(const struct schema_type *t, const struct json *old, struct json *obj,
                     const char *manager, const char *sub);
/* Server-side apply of `config` onto live (or NULL): the merged object, owned,
 * or NULL with *refusal = a Status. */
struct json *ssa_apply(const struct res *res, const struct schema_type *t,
                       const struct json *live, const struct json *config, const char *manager,
                       const char *sub, bool force, struct json **refusal);

#endif
