/* status.h - the API's refusals: Status objects, with the server's
 * sentences.
 */
#ifndef K8S_PRACTICE_STATUS_H
#define K8S_PRACTICE_STATUS_H

#include "core/base/json.h"
#include "k8s/res.h"
#include "k8s/rules/ferrs.h"

/* A Failure with details of `res` and `name` when given (either may be NULL). */
struct json *status_new(int code, const char *reason, const struct res *res, const char *name,
                        const char *fmt, ...) PRINTF_LIKE(5, 6);
struct json *status_success(const struct res *res, const char *name, const char *uid);
struct json *status_not_found(const struct res *res, const char *name);
struct json *status_exists(const struct res *res, const char *name);
struct json *status_stale(const struct res *res, const char *name, const char *why);
struct json *status_expired(const char *fmt, ...) PRINTF_LIKE(1, 2);
struct json *status_bad_request(const char *fmt, ...) PRINTF_LIKE(1, 2);
void status_add_cause(struct json *status, const char *reason, const char *message,
                      const char *field);
int status_code(const struct json *status);

/* "pods", "jobs.batch": a resource as messages name it; buf >= 128. */
const char *status_resource(const struct res *res, char buf[128]);
/* "Pod", "Job.batch". */
const char *status_kind(const struct res *res, char buf[128]);

/* The 422 of what was collected. */
struct json *ferrs_status(const struct ferrs *e, const struct res *res, const char *name);

#endif
