/* lab_keys.h - which keys a map of a lab file may have, and of which type.
 *
 * One table a map: the parser, `podium lab lint` and docs/LAB-FORMAT.md's
 * test read the same. Keys that begin with "x-" are always accepted.
 */
#ifndef LABS_LAB_KEYS_H
#define LABS_LAB_KEYS_H

#include "core/base/yaml.h"

enum lab_key_type {
    LK_TEXT,                      /* a string, or a map of languages {en:, zh:} */
    LK_STR,                       /* a scalar, read as text */
    LK_ID,                        /* [a-z0-9-], at most 40 */
    LK_NUM,
    LK_BOOL,
    LK_MAP,
    LK_SEQ,
    LK_STRS,                      /* a list of scalars */
    LK_PATH,                      /* a file below the folder: no "..", not absolute */
    LK_RES,                       /* a watched resource: "jobs" */
    LK_MATCH,                     /* a wanted value (match.h) */
    LK_EXPECT,                    /* a map of JSON path -> wanted value */
    LK_ANY
};

struct lab_key {
    const char *name;             /* NULL ends the table */
    enum lab_key_type type;
    bool required;
};

enum { LAB_RESOURCES = 15 };
extern const char *const lab_resources[LAB_RESOURCES];

/* `what` names the map in messages ("step", "check"). PD_LAB with the place of
 * the first thing that is wrong. */
MUST_USE enum pd_code lab_keys_check(const char *path, const struct ynode *map,
                                     const struct lab_key *keys, const char *what,
                                     struct pd_err *err);
/* The type alone, for a node that has no table. */
MUST_USE enum pd_code lab_keys_type(const char *path, const struct ynode *n, const char *name,
                                    enum lab_key_type type, struct pd_err *err);
bool lab_keys_id_ok(const char *s);

#endif
