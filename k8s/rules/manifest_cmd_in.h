/* manifest_cmd_in.h - what the commands about manifests share (manifest_cmd*.c).
 */
#ifndef K8S_RULES_MANIFEST_CMD_IN_H
#define K8S_RULES_MANIFEST_CMD_IN_H

#include "k8s/manifest.h"
#include "k8s/rules/send.h"

enum { MANIFEST_CMD_OK, MANIFEST_CMD_FAILED, MANIFEST_CMD_USAGE, MANIFEST_CMD_NONE };

struct manifest_cmd {
    struct kube_options kube;
    struct strv named, files;    /* as given, and the files behind them */
    const char *lang, *cascade, *uid;
    const char *grace_text, *timeout_text, *last_file;      /* as given */
    int grace, timeout_s;        /* grace -1: the object's own */
    bool json, dry_run, force, no_check, no_wait, ignore_absent, colour;
    struct send send;
};

/* Options into *m; a usage message and false when they are wrong. `objects`: words
 * without a dash are objects, not files. */
bool manifest_cmd_parse(struct manifest_cmd *m, int argc, char **argv, const char *help);
/* Files and the cluster: MANIFEST_CMD_OK, or what to end with (told already). */
int manifest_cmd_open(struct manifest_cmd *m);
void manifest_cmd_release(struct manifest_cmd *m);

/* fn for each object of all files, in order; the worst answer wins. */
typedef int manifest_cmd_fn(struct manifest_cmd *m, const struct manifest *file,
                            const struct manifest_doc *d);
int manifest_cmd_each(struct manifest_cmd *m, manifest_cmd_fn *fn, bool backwards);

/* One line: text for people, the members of `more` (taken) with --json. */
void manifest_cmd_say(const struct manifest_cmd *m, const struct json *object, const char *action,
                      struct json *more);
void manifest_cmd_error(const struct manifest_cmd *m, const struct pd_err *err);
/* All causes of the last answer, each with its line. */
void manifest_cmd_refused(const struct manifest_cmd *m, const struct manifest *file,
                          const struct manifest_doc *d);

#endif
