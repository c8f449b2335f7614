/* match.h - does a value of the cluster or of a file hold what a lab expects?
 *
 * A wanted value is a scalar (equal, numbers and quantities by value: 1 = "1"
 * = "1000m"), a list or map (each member must match: a partial object), or one
 * map of the tests below, of which all must hold:
 *   {min: 256Mi, max: 1Gi}  {in: [a, b]}  {not: x}  {has: text}  {starts: text}
 *   {exists: yes}  {lacks: text} (some text, but without this one)
 */
#ifndef LABS_MATCH_H
#define LABS_MATCH_H

#include "core/base/json.h"
#include "core/base/yaml.h"

/* actual NULL: it is not there. */
bool match_value(const struct json *actual, const struct json *want);
/* For people: `"a"`, `256Mi to 1Gi`, `one of a, b`, `not x`; appended. */
void match_text(const struct json *want, struct str *out);
/* A value for people, without the quotes of a plain string; "(missing)". */
void match_actual(const struct json *actual, struct str *out);
/* A matcher in a lab file: unknown tests are PD_LAB with their place. */
MUST_USE enum pd_code match_lint(const char *path, const struct ynode *n, struct pd_err *err);

#endif
