/* schema.h - what the pinned Kubernetes release (1.34.4) knows of its fields:
 * one generated table for strict decoding, defaulting, strategic and
 * server-side merge, protobuf bodies, OpenAPI, pre-flight and explain.
 *
 * k8s/schema_gen.py writes k8s/schema.txt (its head tells the format) and
 * k8s/schema_data.c, which embeds it. The table is parsed once, at the first
 * call, and lives as long as the process. Everything returned is borrowed and
 * constant.
 *
 * Types are named "core.v1.PodSpec", "meta.v1.ObjectMeta": the last part of
 * the API group ("core" for the legacy group, "meta" for apimachinery's),
 * version, kind.
 */
#ifndef K8S_SCHEMA_H
#define K8S_SCHEMA_H

#include "core/base/base.h"

enum schema_base {
    SCHEMA_STRING,
    SCHEMA_INT32,
    SCHEMA_INT64,
    SCHEMA_BOOL,
    SCHEMA_DOUBLE,
    SCHEMA_TIME,                 /* RFC 3339, seconds */
    SCHEMA_MICROTIME,            /* RFC 3339, microseconds */
    SCHEMA_BYTES,                /* base64 in JSON */
    SCHEMA_QUANTITY,             /* "500m", "2Gi", or a number */
    SCHEMA_INT_OR_STRING,
    SCHEMA_ANY,                  /* free JSON: RawExtension, FieldsV1 */
    SCHEMA_OBJECT                /* ref says which type */
};
enum schema_shape { SCHEMA_ONE, SCHEMA_LIST, SCHEMA_MAP };       /* maps are keyed by string */
enum schema_list { SCHEMA_ATOMIC, SCHEMA_SET, SCHEMA_LISTMAP };  /* list-type of apply */

struct schema_type;

struct schema_field {
    const char *name;
    int proto;                   /* protobuf number, 0 when none */
    enum schema_base base;       /* of the value, the element or the map's values */
    enum schema_shape shape;
    const struct schema_type *ref;       /* SCHEMA_OBJECT */
    bool required;
    bool atomic;                 /* of a map or object: one owner for the whole */
    enum schema_list list;
    const char *list_keys;       /* "containerPort,protocol" or NULL */
    const char *merge_key;       /* of the strategic merge, or NULL */
    bool merge, retain_keys, replace;    /* patch strategy */
    const char *enums;           /* "Always|Never|OnFailure" or NULL */
    const char *def;             /* default as JSON text, or NULL */
};

struct schema_type {
    const char *name;            /* "core.v1.PodSpec" */
    const char *group, *version, *kind;  /* of a top-level type; else NULL */
    bool atomic;                 /* map-type atomic for the whole type */
    const struct schema_field *field;
    int n;
};

/* The type of a top-level object: apiVersion "batch/v1", kind "Job". */
const struct schema_type *schema_type(const char *api_version, const char *kind);
const struct schema_type *schema_named(const char *name);
const struct schema_field *schema_field(const struct schema_type *t, const char *name);
const struct schema_field *schema_proto(const struct schema_type *t, int number);
/* The field at "spec.template.spec.containers[0].image" (indices and map keys
 * are skipped), or NULL when the schema does not know it. */
const struct schema_field *schema_at(const struct schema_type *t, const char *path);
/* All types in table order. */
const struct schema_type *schema_each(int index);

/* The embedded text of k8s/schema.txt (schema_data.c). */
const char *schema_data_text(size_t *len);

#endif
