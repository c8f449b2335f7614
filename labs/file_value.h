/* file_value.h - a field of a file that the person edits, for the checks. */
#ifndef LABS_FILE_VALUE_H
#define LABS_FILE_VALUE_H

#include "labs/check.h"

/* Read `path` in the YAML document of `kind` (NULL: the first) of a work file.
 * True: *value is what stands there, owned by the caller (NULL: the field is
 * missing), and ev has object, path (with line) and actual. False: ev says why
 * not: UNKNOWN (not read yet), NOT YET (no such file), WRONG (no YAML). */
bool file_value(const struct check_ctx *c, const char *file, const char *kind, const char *path,
                struct json **value, struct evidence *ev);
/* Does the same field of the shipped template hold the same value? */
bool file_untouched(const struct check_ctx *c, const char *file, const char *kind,
                    const char *path, const struct json *value);

#endif
