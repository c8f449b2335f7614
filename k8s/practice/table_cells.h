/* table_cells.h - one cell of a Table: a function a resource and column. */
#ifndef K8S_PRACTICE_TABLE_CELLS_H
#define K8S_PRACTICE_TABLE_CELLS_H

#include "core/base/json.h"
#include "k8s/res.h"

/* A string, number or boolean; owned by the caller. */
struct json *table_cells_make(const struct res *res, const struct res_column *column,
                              const struct json *obj);
/* The STATUS and restarts of a pod, as kubectl shows them (table_pod.c). */
void table_pod_status(const struct json *pod, struct str *out);
void table_pod_ready(const struct json *pod, struct str *out);
void table_pod_restarts(const struct json *pod, struct str *out);
/* "5m12s" since an RFC 3339 time; "<unknown>" when it is none. */
void table_since(const char *time, struct str *out);

#endif
