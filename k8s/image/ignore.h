/* ignore.h - .dockerignore, by the rules of Docker's pattern matcher: the last
 * matching line decides, "!" takes back, a matched folder takes all below it
 * with it, "**" spans folders, "#" at the start of a line is a comment.
 */
#ifndef K8S_IMAGE_IGNORE_H
#define K8S_IMAGE_IGNORE_H

#include "core/base/err.h"

struct ignore;

/* PD_PARSE with the line of a malformed pattern. Empty text: nothing ignored. */
MUST_USE enum pd_code ignore_parse(const char *name, const char *text, size_t len,
                                   struct ignore **out, struct pd_err *err);
void ignore_free(struct ignore *ig);          /* NULL is fine */
/* Is this path (relative, "/" between parts) left out? ig may be NULL. */
bool ignore_match(const struct ignore *ig, const char *path);
/* May something below an ignored folder still be wanted (a "!" line)? */
bool ignore_has_exceptions(const struct ignore *ig);
/* filepath.Clean: "a//b/./../c" -> "a/c"; "" -> ".". out has strlen + 2 bytes. */
void ignore_clean(const char *path, char *out);

#endif
