/* lint.h - what is wrong, or will go wrong, in a Dockerfile: each finding with
 * its rule, place, cause, evidence and next step. Nothing is run and nothing
 * is asked over the network: it knows the text, the build context, and tables
 * of facts (lint_facts.c).
 *
 * An ERROR breaks the build or the container; a WARNING is probably wrong; a
 * NOTE makes the image larger or slower. What can't be known (an image that is
 * in no table) is not claimed. "# check=skip=RULE,…" switches rules off, by
 * their name here or by BuildKit's.
 *
 * Files beside the Dockerfile that are read when they are there: .dockerignore;
 * error.txt (what a build said: explained too); subuid and subgid (else those of
 * /etc, for the ids that a rootless build can give).
 */
#ifndef K8S_IMAGE_LINT_H
#define K8S_IMAGE_LINT_H

#include "core/base/err.h"
#include "core/base/json.h"
#include "core/base/str.h"

enum lint_level { LINT_ERROR, LINT_WARNING, LINT_NOTE };

struct lint_finding {
    const char *rule;             /* "base-image-tag-missing" */
    const char *buildkit;         /* its name among BuildKit's checks, or "" */
    enum lint_level level;
    char *file;                   /* Dockerfile, or the file with the error text */
    int line, col;
    char *cause, *evidence, *next;
};

struct lint {
    struct lint_finding *v;       /* errors first, then by line */
    size_t n;
};

struct lint_input {
    const char *name;             /* of the Dockerfile */
    const char *text;
    size_t len;
    const char *context;          /* folder; NULL: files are not looked at */
    const char *target;           /* stage; NULL: the last */
    const char *error_name, *error;       /* what a build said; or NULL */
    const char *subuid;           /* text of /etc/subuid; or NULL */
};

void lint_run(const struct lint_input *in, struct lint *out);
/* Only the error text. */
void lint_explain(const char *name, const char *error, const char *subuid, struct lint *out);
void lint_release(struct lint *l);
size_t lint_count(const struct lint *l, enum lint_level level);
const char *lint_level_name(enum lint_level level);      /* "error" */
/* {"ev":"finding","rule":…,"level":…,"file":…,"line":…,"column":…,"cause":…,
 * "evidence":…,"next":…,"buildkit":…}; caller frees. */
struct json *lint_json(const struct lint_finding *f);

/* Every rule, for the manual: NULL behind the last. */
struct lint_rule {
    const char *name, *buildkit, *about;
};
const struct lint_rule *lint_rule_at(size_t i);

#endif
