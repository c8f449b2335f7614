/* tjson.h - JSON for the static trainer. The one place that knows jansson.
 *
 * A struct tjson is one node of a tree. The root belongs to whoever parsed it
 * (tjson_free); children are borrowed. Duplicate keys, invalid UTF-8 and text
 * behind the value are refused. Objects keep the order of the text. Getters
 * accept NULL and answer the default, so that paths chain over what may be
 * missing.
 *
 * Paths: "model.vocab", "pre_tokenizer.pretokenizers[0].type"; "" is the node
 * itself. Keys with a dot or bracket in them: tjson_get.
 */
#ifndef CORE_TRAIN_TJSON_H
#define CORE_TRAIN_TJSON_H

#include "core/base/err.h"
#include "core/base/str.h"

struct tjson;

enum tjson_type { TJSON_MISSING, TJSON_NULL, TJSON_BOOL, TJSON_INT, TJSON_REAL, TJSON_STRING,
                  TJSON_ARRAY, TJSON_OBJECT };

/* PD_PARSE with `src`, line and column. src names the text in errors; first
 * is the line number of the text's first line (1 for a whole file). */
MUST_USE enum pd_code tjson_parse(const char *text, size_t n, const char *src, int first,
                                  struct tjson **out, struct pd_err *err);
/* A file of at most `ceiling` bytes. */
MUST_USE enum pd_code tjson_read(const char *path, size_t ceiling, struct tjson **out,
                                 struct pd_err *err);
void tjson_free(struct tjson *j);                             /* NULL: nothing */

enum tjson_type tjson_type(const struct tjson *j);            /* NULL: TJSON_MISSING */
const char *tjson_type_name(enum tjson_type t);               /* "string" … */
const struct tjson *tjson_at(const struct tjson *j, const char *path);
const struct tjson *tjson_get(const struct tjson *j, const char *key);   /* one member, no path */
const struct tjson *tjson_item(const struct tjson *j, size_t i);         /* of an array */
size_t tjson_count(const struct tjson *j);                    /* of an array or object, else 0 */

/* Typed reads by path; def when missing or of another type. tjson_num takes
 * integers and reals, tjson_int integers only. */
const char *tjson_str(const struct tjson *j, const char *path, const char *def);
double tjson_num(const struct tjson *j, const char *path, double def);
int64_t tjson_int(const struct tjson *j, const char *path, int64_t def);
bool tjson_bool(const struct tjson *j, const char *path, bool def);
/* A string node's bytes (may hold NULs); NULL when it is no string. */
const char *tjson_bytes(const struct tjson *j, size_t *n);

/* Members of an object in the order of the text:
 * for (void *it = tjson_iter(o); it; it = tjson_iter_next(o, it)) … */
void *tjson_iter(const struct tjson *obj);
void *tjson_iter_next(const struct tjson *obj, void *it);
const char *tjson_iter_key(void *it);
const struct tjson *tjson_iter_value(void *it);

/* Set a member of an object (the root must be the caller's own). */
void tjson_set_str(struct tjson *obj, const char *key, const char *value);
/* Append the tree with two blanks a level, in its order, and a line end. */
bool tjson_print(const struct tjson *j, struct str *out);
/* Writing: append s as a JSON string with its quotes. */
bool tjson_quote(struct str *out, const char *s);

#endif
