/* validate_in.h - what the files of validation share (validate*.c).
 */
#ifndef K8S_RULES_VALIDATE_IN_H
#define K8S_RULES_VALIDATE_IN_H

#include "k8s/rules/rules.h"

enum { VALIDATE_PATH = 400 };

#define VALIDATE_NOT_NEGATIVE "must be greater than or equal to 0"
#define VALIDATE_PORT "must be between 1 and 65535, inclusive"

/* validate_field.c: o[key], whose owner is named `base`; what is absent passes. */
void validate_field_enum(const struct json *o, const char *key, const char *base,
                         const char *enums, struct ferrs *e);
void validate_field_not_negative(const struct json *o, const char *key, const char *base,
                                 struct ferrs *e);
void validate_field_required(const struct json *o, const char *key, const char *base,
                             struct ferrs *e);
/* A name in o[key] that `problem` has something to say about. */
typedef const char *validate_problem_fn(const char *s);
void validate_field_name(const struct json *o, const char *key, const char *base,
                         validate_problem_fn *problem, struct ferrs *e);
void validate_field_port(const struct json *v, const char *at, struct ferrs *e);
void validate_field_port_name(const char *name, const char *at, struct ferrs *e);
/* intstr.IntOrString */
void validate_field_port_or_name(const struct json *v, const char *at, struct ferrs *e);
/* A path that stays below where it begins. */
void validate_field_descending(const struct json *v, const char *at, struct ferrs *e);

const char *validate_label_problem(const char *s);       /* DNS-1123 label */
const char *validate_subdomain_problem(const char *s);
const char *validate_config_key_problem(const char *s);

/* The names of volumes that a container may mount, and of containers so far. */
struct validate_names {
    struct strv containers, volumes;
};
void validate_volumes(const struct json *spec, const char *base, struct validate_names *names,
                      struct ferrs *e);
/* What all kinds of container have in common. */
void validate_container(const struct json *c, const char *base, struct validate_names *names,
                        struct ferrs *e);
void validate_container_probes(const struct json *c, const char *base, struct ferrs *e);

/* Kinds (validate_kinds.c). */
void validate_kinds(const struct res *res, const struct json *o, const struct json *old,
                    struct ferrs *e);

#endif
