/* lint_cmd.h - `podium image lint` and `podium image explain`, and the findings
 * printed at a build.
 */
#ifndef K8S_IMAGE_LINT_CMD_H
#define K8S_IMAGE_LINT_CMD_H

#include "k8s/image/lint.h"

struct lint_options {
    const char *context;          /* a folder, or the Dockerfile itself */
    const char *file;             /* -f; NULL: CONTEXT/Dockerfile */
    const char *error;            /* --error: file with what a build said; or NULL */
    const char *subuid;           /* --subuid: instead of /etc/subuid; or NULL */
    const char *target;
    bool json;
};

/* Print the findings; *errors is how many are errors. */
MUST_USE enum pd_code lint_cmd(const struct lint_options *o, size_t *errors, struct pd_err *err);
/* file "-": standard input. */
MUST_USE enum pd_code lint_cmd_explain(const char *file, const struct lint_options *o,
                                       struct pd_err *err);
/* Errors and warnings of the Dockerfile of a build; nothing when it can't be read. */
void lint_cmd_at_build(const char *context, const char *file, const char *target, bool json);

#endif
