/* yaml_out.h - a JSON tree as YAML that reads back as the same tree. */
#ifndef CORE_BASE_YAML_OUT_H
#define CORE_BASE_YAML_OUT_H

#include "core/base/json.h"

/* Appends block style, two blanks a level. */
void yaml_out(const struct json *j, struct str *out);

#endif
