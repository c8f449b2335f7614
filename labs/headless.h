/* headless.h - a lab worked through without a screen or a person: the same
 * session, commands and effects as by keys, with the lab's own `solve` edits.
 */
#ifndef LABS_HEADLESS_H
#define LABS_HEADLESS_H

#include "labs/session.h"

/* --set STEP:FILE:FIND=>PUT, after the solve edits of the step. */
struct headless_set {
    const char *step, *file;
    char *find, *put;
};

struct lab_test;

struct headless_options {
    const char *lab, *kubeconfig, *context, *ns;
    const char *until;            /* stop after this step, or NULL */
    const char *record;           /* the journal of its messages, or NULL */
    bool json, keep;
    int timeout_s;                /* of the whole run */
    struct headless_set *sets;
    int sets_n;
    struct headless_set *answers; /* --answer STEP:QUIZ=TEXT: file is the question, find the text */
    int answers_n;
    struct lab_test *test;        /* labs/lab_test.h; NULL: a run */
};

/* Returns the exit code: 0 done, 1 not yet or failed, 3 can't be checked here. */
int headless_run(struct lab_list *labs, const struct headless_options *o);
/* Delete what the lab made in the cluster (by its label) and begin its progress
 * anew; the work folder is kept aside. */
int headless_reset(const struct lab *lab, const struct headless_options *o);

#endif
