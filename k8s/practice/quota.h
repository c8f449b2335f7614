/* quota.h - what a namespace uses of its ResourceQuotas: admission and status
 * count by the same rules.
 */
#ifndef K8S_PRACTICE_QUOTA_H
#define K8S_PRACTICE_QUOTA_H

#include "k8s/practice/api_int.h"
#include "k8s/quantity.h"

/* What obj takes of `item` ("pods", "requests.cpu", "requests.nvidia.com/gpu",
 * "count/jobs.batch"); false: nothing. */
bool quota_usage(const struct res *res, const struct json *obj, const char *item,
                 struct quantity *out);
/* The sum over a namespace's objects of `res`. */
void quota_sum(struct api *a, const struct res *res, const char *ns, const char *item,
               struct quantity *out);

/* Keeps status.hard and status.used of every quota right. */
struct quota;
struct quota *quota_start(struct api *a);
void quota_stop(struct quota *q);

#endif
