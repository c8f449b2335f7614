/* manifest.h - YAML manifests: to JSON objects, and back from what the server
 * says to a line and a column.
 *
 * Scalars are typed as kubectl types them. ${NAME} in a value is replaced
 * after parsing, so that a value can never change the structure: an unquoted
 * scalar that is only ${NAME} takes the value's own type, anything else stays
 * a string; $${NAME} is a literal ${NAME}. Columns and lines are those of the
 * text as written.
 */
#ifndef K8S_MANIFEST_H
#define K8S_MANIFEST_H

#include "core/base/json.h"
#include "core/base/yaml.h"
#include "k8s/res.h"

/* The value of a variable, or NULL when there is none of this name. */
typedef const char *manifest_var_fn(void *arg, const char *name);

struct manifest_doc {
    struct json *object;              /* owned by the manifest */
    const struct ynode *root;
    const struct res *res;            /* NULL: a kind podium does not know */
    int line;                         /* where the document begins */
};

struct manifest {
    char *name;                       /* of the file, for places */
    struct manifest_doc *docs;
    size_t n;
    struct ydoc *yaml;
};

/* Empty documents are skipped; each other one needs apiVersion, kind and
 * metadata.name (or generateName). A stream of JSON objects is read as well, and
 * what stands in the items of a List counts as a document of its own, as with
 * kubectl. What JSON can't hold (.inf, a null key) is refused. var NULL: nothing
 * is replaced. manifest_load lets incomplete objects pass, for who looks for all
 * that is wrong. */
MUST_USE enum pd_code manifest_parse(const char *name, const char *text, size_t len,
                                     manifest_var_fn *var, void *arg, struct manifest **out,
                                     struct pd_err *err);
MUST_USE enum pd_code manifest_load(const char *name, const char *text, size_t len,
                                    manifest_var_fn *var, void *arg, struct manifest **out,
                                    struct pd_err *err);
MUST_USE enum pd_code manifest_read(const char *path, manifest_var_fn *var, void *arg,
                                    struct manifest **out, struct pd_err *err);
void manifest_free(struct manifest *m);

/* Place of a path as servers write them: "spec.template.spec.containers[0].image",
 * ".spec.containers[name=\"c\"].image", "metadata.labels[a/b]"; of its nearest
 * ancestor when it is not there. */
void manifest_place(const struct manifest_doc *d, const char *path, int *line, int *col);

/* One cause of a refusal. */
struct manifest_cause {
    char path[240];
    char msg[400];
    int line, col;
};
/* The causes in a Status (details.causes, strict decoding errors, undeclared
 * fields of server-side apply), with their places. Returns how many were found. */
size_t manifest_causes(const struct manifest_doc *d, const struct json *status,
                       struct manifest_cause *out, size_t max);
/* A sentence without the middle of a whole object in it: "Invalid value: {…}: field is
 * immutable". Caller frees. */
char *manifest_shortened(const char *sentence);
/* An answer of the server as an error with file:line:col of its first cause. */
enum pd_code manifest_error(const struct manifest *m, const struct manifest_doc *d,
                            int http_status, const struct json *status, struct pd_err *err);

#endif
