/* ssa_set.h - sets of field paths in the shape of metadata.managedFields'
 * fieldsV1, and the walks over objects that make and use them.
 *
 * A set is a JSON tree whose keys are path elements: "f:NAME" a field, "k:{…}"
 * an element of a keyed list, "v:…" a value of a set; "." marks its node as a
 * member. On the wire a lone member is {}: ssa_set_expand and ssa_set_compact
 * convert. All functions here take and give expanded sets.
 */
#ifndef K8S_PRACTICE_SSA_SET_H
#define K8S_PRACTICE_SSA_SET_H

#include "core/base/json.h"
#include "k8s/schema.h"

struct json *ssa_set_expand(const struct json *wire);
struct json *ssa_set_compact(const struct json *set);
void ssa_set_add(struct json *to, const struct json *set);          /* union */
void ssa_set_drop(struct json *from, const struct json *set);       /* difference, exact members */
struct json *ssa_set_common(const struct json *a, const struct json *b);
size_t ssa_set_count(const struct json *set);
/* ".spec.template.spec.containers[name=\"c\"].image" of each member, in order. */
void ssa_set_paths(const struct json *set, struct strv *out);

/* How a value is owned. */
enum ssa_kind { SSA_LEAF, SSA_STRUCT, SSA_MAP, SSA_KEYED, SSA_VALUES };
struct ssa_at {
    enum ssa_kind kind;
    const struct schema_type *type;      /* SSA_STRUCT */
    const struct schema_field *field;    /* of the list or map */
};
struct ssa_at ssa_root(const struct schema_type *t);
struct ssa_at ssa_member(const struct ssa_at *at, const char *key);
struct ssa_at ssa_element(const struct ssa_at *at);
/* The path element of a list's element ("k:{\"name\":\"c\"}"); caller frees. */
char *ssa_element_key(const struct ssa_at *at, const struct json *element);
struct json *ssa_find_element(const struct ssa_at *at, struct json *list, const char *key);

/* The fields of an object; what the server itself stamps is left out. */
struct json *ssa_fields(const struct schema_type *t, const struct json *obj);
/* What changed from a to b (added or of another value), and what went. */
void ssa_compare(const struct schema_type *t, const struct json *a, const struct json *b,
                 struct json *changed, struct json *removed);
/* Merge what `config` says into obj. */
void ssa_merge(const struct schema_type *t, struct json *obj, const struct json *config);
/* Remove the members of `gone`, except what `kept` holds or stands in its way. */
void ssa_remove(const struct schema_type *t, struct json *obj, const struct json *gone,
                const struct json *kept);

#endif
