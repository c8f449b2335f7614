/* podcmd.h - a short command in a container, its output collected whole.
 *
 * Ends with exactly one call unless podcmd_cancel was called.
 */
#ifndef K8S_PODCMD_H
#define K8S_PODCMD_H

#include "k8s/exec.h"

struct podcmd;

/* code: of the command, -1 when it is not known: err says why. Output beyond
 * 16 MiB is dropped, and `full` says so. */
typedef void podcmd_fn(void *arg, int code, const struct str *out, const struct str *errors,
                       const struct pd_err *err);

struct podcmd *podcmd_start(struct k8s *k, const struct exec_spec *spec, podcmd_fn *fn, void *arg);
void podcmd_cancel(struct podcmd *c);
/* The container has no program of that name (as runtimes and shells say it). */
bool podcmd_missing(int code, const struct pd_err *err);
/* The link broke or a proxy cut it: another try may go on. */
bool podcmd_cut(int code, const struct pd_err *err);

#endif
