/* rules.h - what the API server holds an object against, in its own words
 * (Kubernetes 1.34): decoding, defaults, validation. The practice server refuses
 * with them, and a manifest is checked with them before it is sent.
 */
#ifndef K8S_RULES_RULES_H
#define K8S_RULES_RULES_H

#include "k8s/res.h"
#include "k8s/rules/ferrs.h"
#include "k8s/schema.h"

/* --- strict.c: JSON as the schema knows it --------------------------------- */
/* Drops nulls, unknown fields and all but the last of duplicates in place. What
 * Strict would refuse goes to `unknown` ("unknown field \"spec.tmplate\""). A
 * value of the wrong type gives the text of the 400 in *wrong (caller frees),
 * else NULL. */
void strict_decode(const struct schema_type *t, struct json *obj, struct strv *unknown,
                   char **wrong);
/* The same, told one by one. `path` has indices and the keys of maps
 * ("metadata.labels[run]"), `text` is the server's; owner, field (NULL: unknown)
 * and value are borrowed. */
enum strict_kind { STRICT_UNKNOWN, STRICT_DUPLICATE, STRICT_TYPE, STRICT_VALUE };
struct strict_note {
    enum strict_kind kind;
    const char *path, *text;
    const struct schema_type *owner;
    const struct schema_field *field;
    const struct json *value;
};
typedef void strict_fn(void *arg, const struct strict_note *n);
void strict_walk(const struct schema_type *t, struct json *obj, strict_fn *fn, void *arg);

/* --- defaults.c: what the server fills in ------------------------------------ */
void defaults_apply(const struct res *res, struct json *obj);
/* Further ones that need the old object or the cluster: status of a new object,
 * selector and labels of a Job, tolerations, priority, qosClass. */
void defaults_create(const struct res *res, struct json *obj);
void defaults_qos(struct json *pod);             /* once admission has set its resources */
char *defaults_base64(const char *text);         /* caller frees */

/* --- validate*.c --------------------------------------------------------------- */
void validate_object(const struct res *res, const struct json *obj, const struct json *old,
                     const char *sub, struct ferrs *e);
void validate_meta(const struct res *res, const struct json *obj, struct ferrs *e);
void validate_pod(const struct json *pod, const struct json *old, struct ferrs *e);
void validate_pod_spec(const struct json *spec, const char *at, struct ferrs *e);
void validate_template(const struct json *template, const char *at, struct ferrs *e);
void validate_job(const struct json *job, const struct json *old, struct ferrs *e);
void validate_resources(const struct json *resources, const char *at, struct ferrs *e);
void validate_annotations(const struct json *all, const char *at, struct ferrs *e);
void validate_labels(const struct json *labels, const char *at, struct ferrs *e);
void validate_selector(const struct json *selector, const char *at, struct ferrs *e);
bool validate_dns_label(const char *s);
bool validate_dns_name(const char *s);
/* The reason why s is no qualified name / label value, or NULL. */
const char *validate_qualified(const char *s);
const char *validate_label_value(const char *s);
#define VALIDATE_DNS_NAME_TEXT                                                                    \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "  \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used " \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define VALIDATE_DNS_LABEL_TEXT                                                                   \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "  \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "    \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

#endif
