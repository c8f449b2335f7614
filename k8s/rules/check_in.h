/* check_in.h - what the files of the check share (check*.c).
 */
#ifndef K8S_RULES_CHECK_IN_H
#define K8S_RULES_CHECK_IN_H

#include "k8s/rules/check.h"

/* Add a finding; its texts are copied, why and next may be NULL. Returns it, valid
 * until the next one. */
struct check_finding *check_add(struct check *c, enum check_level level, const char *cause,
                                const char *path, const char *said);
void check_say(struct check_finding *f, char *why, char *next);      /* takes both */
void check_at(struct check_finding *f, int line, int col);
/* Is one of the findings from..to at `path` or at one of its ancestors? */
bool check_covered(const struct check *c, size_t from, size_t to, const char *path);

/* check_look.c: the text, character by character. */
void check_look(struct check *c, const char *text, size_t len);
/* What a failure to read it means. */
void check_unreadable(struct check *c, const char *text, size_t len, const struct pd_err *err);

/* check_api.c: apiVersion and kind; false: no such pair, or one that podium has
 * no fields of. */
bool check_api(struct check *c, const struct manifest_doc *d);

/* check_level.c: an unknown field: misspelt, or where it belongs. */
void check_level(struct check_finding *f, const struct schema_type *root,
                 const struct strict_note *n);
/* check_type.c: a value of the wrong type, or one that can't be read. */
void check_type(struct check_finding *f, const struct strict_note *n);

/* check_words.c: cause, reason and next step of one of the server's sentences. */
void check_words(struct check_finding *f);

/* check_answer.c: what a server said, at its lines. */
void check_answer(struct check *c, const struct manifest *m, const char *answer);
/* check_change.c: the object of that kind and name in `before`, ready to be compared
 * (caller frees), or NULL; where the two differ first, "" nowhere; buf >= 400. */
struct json *check_before(const struct manifest *before, const struct json *object);
const char *check_change(const struct json *old, const struct json *new, const char *path,
                         char buf[400]);

/* check_sense.c: what is taken but hardly meant. */
void check_sense(struct check *c, const struct manifest_doc *d);
/* check_twice.c: entries of a list with the same key, which apply refuses. */
void check_twice(struct check *c, const struct manifest_doc *d, const struct schema_type *t,
                 size_t from);

#endif
