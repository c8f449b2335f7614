/* pattern.h - file name patterns: Go's filepath.Match (COPY) and the same with
 * "**" (.dockerignore).
 *
 * "*" any characters but "/", "?" one character but "/", "[a-z]" and "[^a-z]"
 * classes, "\" takes the next character as it is. With PATTERN_GLOBSTAR "**"
 * matches any number of folders, and everything at the end.
 * Matching takes time O(pattern * path), whatever the pattern.
 */
#ifndef K8S_IMAGE_PATTERN_H
#define K8S_IMAGE_PATTERN_H

#include "core/base/err.h"

struct pattern;

enum { PATTERN_GLOBSTAR = 1 };

/* NULL when the pattern is malformed (an open class, a trailing "\"). */
struct pattern *pattern_new(const char *text, int flags);
void pattern_free(struct pattern *p);         /* NULL is fine */
bool pattern_match(const struct pattern *p, const char *path);
/* Is there an unescaped * ? or [ in the text? */
bool pattern_is_glob(const char *text);

#endif
