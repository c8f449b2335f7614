/* glob.h - a shell's patterns on values, as ${A#p} and ${A/p/r} use them: "*" is
 * anything, "?" one character, "\\" takes the next character as it is. No
 * classes. Unlike pattern.h, "/" is a character like others.
 */
#ifndef K8S_IMAGE_GLOB_H
#define K8S_IMAGE_GLOB_H

#include "core/base/str.h"

enum { GLOB_MOST = 4096 };        /* bytes of a value or pattern */

/* Append value without its shortest (greedy: longest) prefix, or suffix, that
 * matches. False: value or pattern is longer than GLOB_MOST. */
bool glob_trim(const char *pattern, const char *value, bool prefix, bool greedy,
               struct str *out);
/* Append value with the first match (all: every one), each as long as can be, replaced. */
bool glob_replace(const char *pattern, const char *value, const char *with, bool all,
                  struct str *out);

#endif
