/* kobj.h - small things that controllers, scheduler and kubelet do to
 * Kubernetes objects as JSON trees. Times come from core/base/clock.h, so a
 * test's clock reaches all of them.
 */
#ifndef K8S_PRACTICE_KOBJ_H
#define K8S_PRACTICE_KOBJ_H

#include "k8s/practice/api.h"

static inline const char *kobj_name(const struct json *o)
{
    return json_str(o, "metadata.name", "");
}
static inline const char *kobj_ns(const struct json *o)
{
    return json_str(o, "metadata.namespace", "");
}
static inline const char *kobj_uid(const struct json *o)
{
    return json_str(o, "metadata.uid", "");
}

char *kobj_now(char buf[36]);                    /* RFC 3339, whole seconds */
int64_t kobj_time_ms(const struct json *o, const char *path);   /* 0 when missing */
/* Seconds that an object or a request names, as milliseconds: whatever it says,
 * a clock can be added (at most some 3,000 years). */
int64_t kobj_ms(int64_t seconds);
/* The controlling owner's uid, or "". */
const char *kobj_owner_uid(const struct json *o);
bool kobj_terminal(const struct json *pod);      /* phase Succeeded or Failed */
bool kobj_deleting(const struct json *o);
bool kobj_has_finalizer(const struct json *o, const char *name);
/* A list of strings at metadata.finalizers without name; the member goes when
 * nothing is left. false: it was not there. */
bool kobj_drop_finalizer(struct json *o, const char *name);
/* Set a condition in status.conditions; the transition time changes with the
 * status alone. probe: also lastProbeTime, as Jobs have. true: changed. */
bool kobj_condition(struct json *o, const char *type, const char *status, const char *reason,
                    const char *message, bool probe);
const char *kobj_condition_status(const struct json *o, const char *type);   /* "" when absent */
/* One requirement {key, operator, values}: In NotIn Exists DoesNotExist Gt Lt. */
bool kobj_requirement(const struct json *r, const struct json *labels);
/* Write through the API without an optimistic lock; sub NULL or "status".
 * The code; on failure the message goes to why (may be NULL). */
int kobj_write(struct api *a, const struct api_user *u, const char *sub, const struct json *obj,
               char *why, size_t why_size);
/* The Status message of a result, or "". */
const char *kobj_result_message(const struct api_result *r);
/* Set a number member, or remove it when zero (omitempty). */
void kobj_put_count(struct json *o, const char *key, int64_t n);
struct json *kobj_member(struct json *o, const char *key);      /* an object, made when missing */
struct json *kobj_list(struct json *o, const char *key);        /* an array, made when missing */
double kobj_speed(double given);                 /* given, else PODIUM_CLOCK_SPEED, else 1 */

#endif
