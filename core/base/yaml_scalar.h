/* yaml_scalar.h - what a plain YAML 1.1 scalar is, as sigs.k8s.io/yaml types it
 * (go-yaml v2 resolve.go). For yaml.c alone. */
#ifndef CORE_BASE_YAML_SCALAR_H
#define CORE_BASE_YAML_SCALAR_H

#include "core/base/yaml.h"

/* The kind of a plain scalar; *number is set for booleans and numbers. */
enum ykind yaml_scalar_kind(const char *text, double *number);

#endif
