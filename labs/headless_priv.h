/* headless_priv.h - what the headless run and the lab test share. */
#ifndef LABS_HEADLESS_PRIV_H
#define LABS_HEADLESS_PRIV_H

#include "core/base/journal.h"
#include "labs/effects.h"
#include "labs/headless.h"
#include "labs/headless_say.h"
#include "labs/session_priv.h"

enum stage { STAGE_OPEN, STAGE_SCENE, STAGE_TRY, STAGE_EDIT, STAGE_RUN, STAGE_WAIT, STAGE_CLEAN };

struct headless {
    const struct headless_options *o;
    struct lab_test *test;        /* NULL: a run */
    struct loop *loop;
    struct session *s;
    struct effects_runner *r;
    struct effects out;
    struct headless_say say;
    struct journal *journal;      /* NULL without --record */
    const char *root;             /* where work folders are */
    enum stage stage;
    int step;                     /* being worked on */
    int64_t begun_ms, wrong_since, link_since, edit_since, asked_ms, clean_since;
    unsigned answered;            /* questions whose answer was not right, as bits */
    int code;
};

void headless_apply(struct headless *h, struct msg *m);
void headless_command(struct headless *h, const char *name, const char *a, const char *b);
/* Say the result, clear up, end. */
void headless_finish(struct headless *h, int code, const char *why);
/* The text of a work file with the edits of the step's solve; NULL: no file. */
char *headless_solved(struct headless *h, const char *file);
/* An empty work folder. */
MUST_USE enum pd_code headless_fresh(struct headless *h, const char *root, struct pd_err *err);

#endif
