/* check.h - what is wrong with a manifest, before it is sent: characters that a
 * chat or a web page brought along, YAML, kinds and versions, fields at the wrong
 * level, types, and the refusals of the API server in its own sentences, each
 * with its place, the reason and the next step.
 *
 * It needs no cluster. What only the cluster knows (quota, rights, objects that
 * are there already, admission) is not judged.
 */
#ifndef K8S_RULES_CHECK_H
#define K8S_RULES_CHECK_H

#include "k8s/manifest.h"
#include "k8s/rules/rules.h"

enum check_level {
    CHECK_ERROR,                 /* it will be refused */
    CHECK_WARNING                /* taken, but hardly meant */
};

struct check_finding {
    enum check_level level;
    char cause[48];              /* "label-value-invalid"; never changes */
    char *path;                  /* of the field, "" for the text itself */
    char *said;                  /* what the server or kubectl says, or our own words */
    bool servers;                /* said is the API server's */
    char *why, *next;            /* in the language of the user */
    int line, col;
};

struct check_object {
    char *kind, *name;
    int line;
};

struct check {
    char *file;
    struct check_object *objects;
    size_t objects_n;
    struct check_finding *v;     /* by line */
    size_t n;
};

struct check_options {
    const char *ns;              /* where it will go, or NULL */
    manifest_var_fn *var;        /* as in manifest.h; NULL: nothing is replaced */
    void *arg;
    const struct manifest *before;       /* what is there already, or NULL: what can't be
                                            changed is found by it */
    const char *answer;          /* what a server has said of it: a Status as JSON, or
                                    kubectl's words; NULL: nothing */
};

struct check *check_run(const char *file, const char *text, size_t len,
                        const struct check_options *o);
void check_free(struct check *c);
size_t check_errors(const struct check *c);

/* The causes of a refusal as manifest_causes finds them; where the server names no
 * place, or one without indices (wrong types, quantities, base64), the object tells
 * it. */
size_t check_causes(const struct manifest_doc *d, const struct json *status,
                    struct manifest_cause *out, size_t max);
/* manifest_error with these causes. */
enum pd_code check_refusal(const struct manifest *m, const struct manifest_doc *d, int http_status,
                           const struct json *status, struct pd_err *err);

/* For people: each finding with the line it is about; text as given to check_run. */
struct check_style {
    int columns;                 /* 0: no folding */
    bool colour;
};
void check_print(const struct check *c, const char *text, size_t len,
                 const struct check_style *style, struct str *out);
struct json *check_json(const struct check *c);

#endif
