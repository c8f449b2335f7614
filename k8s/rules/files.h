/* files.h - the manifests that -f names: a file, a folder (its *.yaml, *.yml and
 * *.json, by name) or "-" for standard input, as with kubectl.
 */
#ifndef K8S_RULES_FILES_H
#define K8S_RULES_FILES_H

#include "core/base/err.h"
#include "core/base/str.h"

enum { FILES_MAX = 4 << 20 };    /* bytes of one */

/* The paths behind one -f; "-" stays as it is. PD_NOTFOUND-like errors name the
 * folder that holds none. */
MUST_USE enum pd_code files_expand(const char *path, struct strv *out, struct pd_err *err);
MUST_USE enum pd_code files_read(const char *path, struct str *out, struct pd_err *err);

#endif
