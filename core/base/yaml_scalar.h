/* yaml_scalar.h - what a plain YAML 1.1 scalar is, as sigs.k8s.io/yaml types it
 * (go-yaml v2 resolve.go). For yaml.c alone. */
#ifndef CORE_BASE_YAML_SCALAR_H
#define CORE_BASE_YAML_SCALAR_H

#include "core/base/yaml.h"

struct yscalar {
    enum ykind kind;
    double number;
    int64_t integer;
    const char *flaw;            /* as in struct ynode */
};

/* What a scalar is: `implicit` when it is plain and has no tag; tag NULL, "!" or
 * the long form ("tag:yaml.org,2002:int"). */
struct yscalar yaml_scalar_of(const char *text, bool implicit, const char *tag);
/* The scalar as a JSON key, or NULL with *flaw. buf >= 40. */
const char *yaml_scalar_key(const struct yscalar *s, const char *text, char buf[40],
                            const char **flaw);

#endif
