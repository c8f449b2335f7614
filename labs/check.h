/* check.h - the checks: one file a kind (check_*.c), one table of them all.
 *
 * A check reads the session's picture of the world and fills one struct
 * evidence; it changes nothing. What it can't see is UNKNOWN, never PASS. A
 * check whose answer needs work (a registry asked, an adapter evaluated) says
 * so with `ask`; the session has the work done and calls eval again with the
 * answer.
 */
#ifndef LABS_CHECK_H
#define LABS_CHECK_H

#include "labs/lab_keys.h"
#include "labs/session.h"

struct check_ctx {
    const struct session *s;
    const struct lab_step *step;
    const struct lab_check *check;
    const struct json *args;      /* variables replaced */
    /* Of asking kinds: NULL until there is one. {records: [...], code, signal,
     * stderr} of the child that was asked. */
    const struct json *answer;
    bool asking;                  /* the work is under way */
};

enum { CHECK_SEEN_KEY = 400 };

struct check_kind {
    const char *name;
    const struct lab_key *keys;   /* of its arguments */
    void (*eval)(const struct check_ctx *c, struct evidence *ev);
    /* NULL for kinds that only look. Returns the arguments of an EFF_SPAWN, or
     * NULL when it can't be asked yet. It is asked when the person says "check",
     * when the step's actions ended, and once when the step is opened. */
    struct json *(*ask)(const struct check_ctx *c);
    /* The question is a command in a pod (EFF_EXEC, with the pod's "uid"); it is
     * asked again every few seconds, since no message tells of a change. */
    bool in_pod;
    /* Is what the check is about there now, and under which key is that kept?
     * For kinds that count only what was seen before; NULL. */
    bool (*seen)(const struct check_ctx *c, char key[CHECK_SEEN_KEY]);
};

const struct check_kind *check_kind_by_name(const char *name, int *index);
const struct check_kind *check_kind_at(int index);
size_t check_kind_count(void);

/* --- helpers of the kinds ------------------------------------------------ */
void check_set(struct evidence *ev, enum check_result r, const char *fmt, ...) PRINTF_LIKE(3, 4);
void check_subject(struct evidence *ev, const char *fmt, ...) PRINTF_LIKE(2, 3);
int64_t check_event_ms(const struct json *event);     /* newest time in it, wall ms, 0: none */
/* UNKNOWN with the reason and true when the table can't be trusted: no link,
 * not listed yet, forbidden. */
bool check_blind(const struct check_ctx *c, const char *resource, struct evidence *ev);
/* The newest event that regards the object, "reason: message" into ev->event. */
void check_newest_event(const struct session *s, const char *name, struct evidence *ev);
/* The object of args {kind, name, own}: NULL with ev filled (UNKNOWN, NOT YET,
 * STALE) when it can't be used. */
const struct json *check_find(const struct check_ctx *c, struct evidence *ev);
/* A number that is another one for another object, and after a restart. */
uint64_t check_mark(const struct json *obj);
/* The controller has not seen the newest version of it, or has not brought it
 * about everywhere yet: why (status can't be believed), or NULL. */
const char *check_behind(const char *kind, const struct json *obj);

#endif
