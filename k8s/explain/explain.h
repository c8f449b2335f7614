/* explain.h - why a Pod or a Job is not doing well: findings from what is known
 * around it (snapshot.h), by rules, the same on every run.
 *
 * A finding names one cause with the numbers and names of this case, cites the
 * fields that prove it, and says what to do. `sure` is how far the fields carry:
 * CERTAIN when they leave no other cause, LIKELY when a next look must confirm
 * it, NOT when no rule reaches (cause "cannot-tell": what is known and where to
 * look next). Where nothing is wrong there is one finding, cause "none".
 *
 * Events of the past do not accuse: what counts is the state now. Rules stand in
 * one table (explain.c), a file a family (explain_*.c); they see the case
 * through dx.h. All texts come in the language of i18n_lang().
 */
#ifndef K8S_EXPLAIN_EXPLAIN_H
#define K8S_EXPLAIN_EXPLAIN_H

#include "k8s/explain/snapshot.h"

enum sure { SURE_CERTAIN, SURE_LIKELY, SURE_NOT };
const char *sure_name(enum sure s);          /* "certain" "likely" "cannot-tell" (gettext key) */

/* One field that proves it: file and path as a person would look it up. */
struct proof {
    const char *file, *path, *value;
};

enum { FINDING_PROOFS = 24, FINDING_LINES = 12, FINDING_FIXES = 6 };

struct finding {
    const char *cause;            /* kebab-case id, never translated */
    enum sure sure;
    int weight;                   /* the heaviest finding is the primary one */
    const char *text;             /* one sentence: what is wrong */
    const char *line[FINDING_LINES];     /* what explains it further, a sentence each */
    int lines;
    struct proof proof[FINDING_PROOFS];
    int proofs;
    const char *fix[FINDING_FIXES];      /* next steps, best first */
    int fixes;
    const char *command;          /* one that can be typed; "" none */
};

struct explanation {
    struct finding *v;            /* [0] is the primary one; never empty */
    size_t n, cap;
    const char *kind, *ns, *name;        /* of the object asked about */
    struct arena arena;           /* all texts */
};

/* The snapshot must hold an object, and outlive nothing: all texts are copied. */
struct explanation *explain(const struct snapshot *s);
void explanation_free(struct explanation *e);
/* Something is wrong, for certain or likely. */
bool explanation_wrong(const struct explanation *e);

/* As people read it, lines of at most `width` columns (0: no limit), and as JSON
 * (schema in docs/DIAGNOSIS.md). */
void explanation_print(const struct explanation *e, int width, struct str *out);
struct json *explanation_json(const struct explanation *e);

/* The container whose log tells most, and whether the previous run's does. NULL:
 * no container has a log yet. Borrowed from the pod. */
const char *explain_container(const struct json *pod, bool *previous);

/* The cause of one Pod in a few words for a table's column, "" when nothing is
 * wrong; buf as large as the column allows. */
const char *explain_short(const struct snapshot *s, char *buf, size_t size);

#endif
