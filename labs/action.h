/* action.h - the actions: one file a kind (action_*.c), one table of them all.
 *
 * An action is started by step.run and ends by a message; a step's actions run
 * one after the other. Kinds hold no state: it is in struct action_run.
 */
#ifndef LABS_ACTION_H
#define LABS_ACTION_H

#include "labs/lab_keys.h"
#include "labs/session.h"

enum action_state { ACTION_IDLE, ACTION_RUNNING, ACTION_DONE, ACTION_FAILED };

/* Which list of actions runs: a step's own, those of the scene in the order in
 * which they are made, and those that clear up. */
enum action_list { LIST_DO, LIST_LAB_SETUP, LIST_LAB_FAULTS, LIST_STEP_SETUP, LIST_STEP_FAULTS,
                   LIST_CLEANUP };

struct action_run {
    enum action_state state;
    enum action_list list;
    int step, index;              /* of the lab */
    int stage;                    /* the kind's own */
    uint32_t effect;              /* the open effect, 0: none */
    int64_t started_ms, until_ms; /* wall; until 0: no limit */
    struct json *args;            /* variables replaced; owned */
    struct json *work;            /* the kind's own (a manifest); owned, or NULL */
    struct pd_err err;            /* of ACTION_FAILED */
};

struct action_kind {
    const char *name;
    const struct lab_key *keys;
    /* Begin: add effects and set state (RUNNING, DONE or FAILED with err). */
    void (*start)(struct session *s, struct action_run *a, struct effects *out);
    /* Every message while it runs, its own (m->effect == a->effect) or not. */
    void (*message)(struct session *s, struct action_run *a, const struct msg *m,
                    struct effects *out);
};

const struct action_kind *action_kind_by_name(const char *name, int *index);
const struct action_kind *action_kind_at(int index);
size_t action_kind_count(void);

/* --- helpers of the kinds ------------------------------------------------ */
/* A message to an action whose child works with images: its records are kept in
 * a->work. true when it ended well; a failure is kept and said. */
bool action_child_ended(struct session *s, struct action_run *a, const struct msg *m);
/* What it made is a fact {ref, digest}; the action is done. */
void action_image_fact(struct session *s, struct action_run *a, const char *fact,
                       const char *ref, struct effects *out);
void action_fail(struct action_run *a, enum pd_code code, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void action_fail_err(struct action_run *a, const struct pd_err *err);
/* The error of a MSG_REPLY into a (FAILED); false when the reply is no error. */
bool action_reply_failed(struct action_run *a, const struct msg *m);

#endif
