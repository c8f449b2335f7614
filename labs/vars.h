/* vars.h - variables of a lab: ${NAME} in its texts and arguments.
 *
 * Values are kept as a JSON object NAME -> string. A variable that is read
 * from the cluster is missing until the cluster has said it: what needs it
 * waits, and nothing is guessed. $${NAME} is a literal ${NAME}. Values are
 * never looked at again after they are put in, so they can't name others.
 */
#ifndef LABS_VARS_H
#define LABS_VARS_H

#include "labs/lab.h"

bool vars_name_ok(const char *name);              /* [A-Z][A-Z0-9_]*, at most 40 */
bool vars_source_ok(const char *source);          /* of {from: …} */
const char *vars_sources(void);                   /* "registry, namespace, …" */
/* Every ${NAME} in text is a variable of the lab; else its name in unknown. */
bool vars_all_known(const struct lab *lab, const char *text, char unknown[64]);

/* A number that depends on both and on nothing else (splitmix64). */
uint64_t vars_hash(uint64_t seed, const char *text);

/* The values of a new attempt: fixed ones, and drawn ones by the seed and their
 * own name: a lab may gain, lose and reorder variables. What `kept` has (a map
 * NAME: text of an earlier draw, or NULL) stays as it is. A
 * fixed value may use variables that stand before it; one that uses a missing
 * one is missing too, until vars_settle. */
struct json *vars_draw(const struct lab *lab, uint64_t seed, const struct json *kept);
/* The drawn ones alone, to be kept; NULL: the lab draws none. */
struct json *vars_drawn(const struct lab *lab, const struct json *vars);
/* Give every {from: source} variable its value (NULL: leave it), then settle
 * the fixed ones that use it. True when something changed. */
bool vars_give(const struct lab *lab, struct json *vars, const char *source, const char *value);

/* Replace. False: a value is missing, its name in missing (out is undefined,
 * vars_json returns NULL). */
bool vars_text(const struct json *vars, const char *text, struct str *out, char missing[64]);
/* The same, but what is missing stays as it is written. */
void vars_fill(const struct json *vars, const char *text, struct str *out);
struct json *vars_json(const struct json *vars, const struct json *args, char missing[64]);

#endif
