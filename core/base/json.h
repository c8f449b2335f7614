/* json.h - JSON trees, read by path. The one place that knows cJSON.
 *
 * A struct json is one node of a tree. The root is owned by whoever parsed or
 * made it (json_free); children are borrowed. Setters take ownership of the
 * value given. Getters accept NULL and answer the default, so that paths can
 * be chained over what may be missing.
 *
 * Paths: "status.conditions[0].type", "spec.containers[-1]" (last),
 * "status.conditions[?type=Ready].status" (first element whose member equals),
 * "metadata.labels['app.kubernetes.io/name']". "" is the node itself.
 *
 * Numbers are doubles; integers are exact to 2^53, and to 64 bits when made by
 * json_new_integer (json_int reads them back). They print as Go prints them.
 *
 * Trees that many hold and nobody changes are in json_share.h; all that reads
 * here reads those too.
 */
#ifndef CORE_BASE_JSON_H
#define CORE_BASE_JSON_H

#include "core/base/err.h"
#include "core/base/str.h"

/* jansson, which the trainer reads JSON with, exports these four names too:
 * ours go under others to the linker, so that neither answers for the other. */
#define json_copy json_copy_tree
#define json_equal json_equal_tree
#define json_string_value json_value_string
#define json_number_value json_value_number

struct json;

enum json_type {
    JSON_MISSING,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* Parse exactly one value (white space around it is allowed). PD_PARSE with
 * line and column on a bad text; nesting deeper than 200 is refused.
 * json_from is json_parse of a literal that must be right (else PD_BUG). */
MUST_USE enum pd_code json_parse(const char *text, size_t len, struct json **out,
                                 struct pd_err *err);
struct json *json_from(const char *text);
MUST_USE enum pd_code json_read_file(const char *path, size_t ceiling, struct json **out,
                                     struct pd_err *err);
void json_free(struct json *j);
struct json *json_copy(const struct json *j);
/* What is shared in it (json_share.h) stays shared in the copy. */
struct json *json_copy_kept(const struct json *j);
bool json_equal(const struct json *a, const struct json *b);  /* member order does not matter */

/* Compact (indent 0) or indented text. json_print appends to s, json_text
 * returns a string that the caller frees. Integers print without a point. */
bool json_print(const struct json *j, int indent, struct str *s);
char *json_text(const struct json *j, int indent);

enum json_type json_type(const struct json *j);
const struct json *json_at(const struct json *j, const char *path);
struct json *json_at_mut(struct json *j, const char *path);
const struct json *json_get(const struct json *j, const char *key);     /* one member, no path */
struct json *json_get_mut(struct json *j, const char *key);
bool json_has(const struct json *j, const char *path);

/* Typed reads by path; def when missing or of another type. */
const char *json_str(const struct json *j, const char *path, const char *def);
double json_num(const struct json *j, const char *path, double def);
int64_t json_int(const struct json *j, const char *path, int64_t def);
bool json_bool(const struct json *j, const char *path, bool def);

/* The node's own value. */
const char *json_string_value(const struct json *j);   /* NULL when not a string */
double json_number_value(const struct json *j);
bool json_bool_value(const struct json *j);

/* Children in order, of arrays and objects:
 * for (const struct json *c = json_first(j); c; c = json_next(c)) */
const struct json *json_first(const struct json *j);
const struct json *json_next(const struct json *c);
struct json *json_first_mut(struct json *j);
struct json *json_next_mut(struct json *c);
const char *json_key(const struct json *c);            /* NULL inside arrays */
size_t json_count(const struct json *j);
const struct json *json_item(const struct json *j, int index);   /* negative: from the end */

struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_string(const char *s);
struct json *json_new_string_n(const char *s, size_t n);
struct json *json_new_number(double v);
struct json *json_new_integer(int64_t v);
struct json *json_new_bool(bool v);
struct json *json_new_null(void);

/* Set a member of an object, replacing it in place (order kept). `value` is
 * taken. json_put_* make the value. json_put_path makes missing objects on
 * the way ("a.b.c"; array indices must exist). */
void json_set(struct json *obj, const char *key, struct json *value);
void json_put_str(struct json *obj, const char *key, const char *s);   /* NULL s: no change */
void json_put_num(struct json *obj, const char *key, double v);
void json_put_bool(struct json *obj, const char *key, bool v);
void json_put_path(struct json *root, const char *path, struct json *value);
void json_append(struct json *array, struct json *value);
void json_insert(struct json *array, size_t index, struct json *value);
/* Remove and return (caller frees), NULL when not there. */
struct json *json_detach(struct json *obj, const char *key);
struct json *json_detach_item(struct json *array, size_t index);
void json_remove(struct json *obj, const char *key);
void json_replace(struct json *parent, struct json *old, struct json *value); /* frees old */

#endif
