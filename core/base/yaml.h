/* yaml.h - YAML 1.1 documents as kubectl reads them, with line and column.
 * The one place that knows libyaml.
 *
 * A document becomes a tree of struct ynode, all owned by its struct ydoc.
 * Aliases are resolved (a document that expands beyond 1e5 nodes is refused),
 * `<<` merge keys are applied, duplicate keys are an error with both places.
 * Plain scalars are typed by YAML 1.1 as sigs.k8s.io/yaml does (yes/no/on/off
 * are booleans; 0o17, 017, 0x1F, 0b11, 1_000 integers, exact to 64 bits; 1e400,
 * dates and 12:30 strings). What JSON has no value for (.inf, .nan, a null key,
 * !!int abc) stays a string with `flaw` set, for who must refuse it.
 */
#ifndef CORE_BASE_YAML_H
#define CORE_BASE_YAML_H

#include "core/base/err.h"
#include "core/base/json.h"

enum ykind { Y_NULL, Y_BOOL, Y_INT, Y_FLOAT, Y_STRING, Y_SEQ, Y_MAP };

struct ynode {
    enum ykind kind;
    const char *key;             /* as written, when in a map; else NULL */
    const char *json_key;        /* as JSON has it: "true" of yes:, "8" of 010: */
    int key_line, key_col;       /* place of the key */
    int line, col;               /* place of the value, 1-based */
    const char *text;            /* scalars: the text as written (unquoted) */
    bool quoted;                 /* scalars: quoted or block style */
    double number;               /* Y_BOOL (0/1), Y_INT, Y_FLOAT */
    int64_t integer;             /* Y_INT */
    bool merged;                 /* brought by a merge key */
    int repeats_line;            /* of the same key before it (yaml_parse_first), else 0 */
    const char *flaw;            /* why JSON can't hold it (English, N_), or NULL */
    struct ynode *first, *next;  /* children in order; next sibling */
};

struct ydoc {
    struct ynode *root;          /* NULL for an empty document */
    struct ydoc *next;           /* next document of the stream */
};

/* All documents of a text; `name` is used in errors. BOM and CRLF are fine.
 * yaml_parse_part: a text whose first line is `line` of a larger one. */
MUST_USE enum pd_code yaml_parse(const char *name, const char *text, size_t len,
                                 struct ydoc **out, struct pd_err *err);
MUST_USE enum pd_code yaml_parse_part(const char *name, int line, const char *text, size_t len,
                                      struct ydoc **out, struct pd_err *err);
/* The first document alone, as kubectl reads a kubeconfig: what follows is not
 * looked at, and of keys that stand twice the last holds. */
MUST_USE enum pd_code yaml_parse_first(const char *name, const char *text, size_t len,
                                       struct ydoc **out, struct pd_err *err);
MUST_USE enum pd_code yaml_read_file(const char *path, struct ydoc **out, struct pd_err *err);
void yaml_docs_free(struct ydoc *docs);               /* the whole chain */

const struct ynode *yaml_get(const struct ynode *map, const char *key);
const struct ynode *yaml_at(const struct ynode *n, const char *path);   /* "a.b[0].c" */
const char *yaml_str(const struct ynode *map, const char *key, const char *def);
size_t yaml_count(const struct ynode *n);
struct json *yaml_to_json(const struct ynode *n);                       /* NULL gives null */
/* Place of a JSON-style path ("spec.template.spec.containers[0].image") or of
 * its nearest ancestor that exists. */
const struct ynode *yaml_locate(const struct ynode *root, const char *path);

#endif
