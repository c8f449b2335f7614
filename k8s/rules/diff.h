/* diff.h - two objects as YAML, line by line: what an apply would change.
 *
 * What the server keeps for itself (managedFields, resourceVersion, generation,
 * status) is left out; values of Secrets are masked, changed ones told apart.
 */
#ifndef K8S_RULES_DIFF_H
#define K8S_RULES_DIFF_H

#include "core/base/json.h"

/* The unified difference (three lines of context), "" when there is none; either
 * may be NULL. */
void diff_objects(const struct json *live, const struct json *merged, const char *name,
                  struct str *out);
/* The same of two texts. */
void diff_texts(const char *a, const char *b, const char *name_a, const char *name_b,
                struct str *out);
/* Are they the same, but for what the server keeps for itself? */
bool diff_same(const struct json *a, const struct json *b);

#endif
