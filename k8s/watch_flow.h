/* watch_flow.h - what a watch does next, and when: the rules of watch.h with no
 * network, clock or memory of their own, so that each can be tested.
 *
 * The driver (watch.c) sends the request that `step` names after `wait_ms`,
 * tells the flow what came of it, and shows `state`, `err` and `wait_ms`.
 * Every call takes the present time (monotonic, ms).
 *
 * Versions are only compared with one another when both are numbers.
 */
#ifndef K8S_WATCH_FLOW_H
#define K8S_WATCH_FLOW_H

#include "k8s/watch_body.h"

enum flow_step { FLOW_LIST, FLOW_WATCH };

/* A refusal: an HTTP status of 300 and more, or an ERROR event's code. */
struct flow_refusal {
    int status;
    bool in_stream;
    int retry_after;             /* seconds, -1: not said */
    const char *token;           /* metadata.continue of the Status, or NULL */
    const struct pd_err *err;
};

struct watch_flow {
    /* the next request */
    enum flow_step step;
    int64_t wait_ms;
    bool firm;                   /* the server named the wait: nothing shortens it */
    bool fresh_link;             /* the connections of before are not trusted */
    bool whole;                  /* a list without limit */
    bool begin;                  /* this page begins a list: what came before counts no more */
    int timeout_s;               /* of a watch */
    char rv[64];                 /* to watch from; "": list first */
    struct str token;            /* of the next page */
    /* the view */
    enum watch_state state;
    struct pd_err err;           /* PD_OK: none */
    int64_t poll_ms;             /* the list is read so often instead of a watch; 0: it is not */
    int64_t heard_ms;            /* when the view was last known to be the server's; -1: never */
    /* own to watch_flow.c */
    char page_rv[64];            /* of the first page of the list on its way */
    int64_t backoff_ms, live_ms, opened_ms, byte_ms, limit_ms, outage_ms;
    int64_t list_began_ms, list_ms, listed_ms, rewatch_ms;
    int64_t seen, pages, total, last_total;
    struct pd_err poll_why;
    uint64_t newest, suspect_rv;
    int empty, gone, headless, hidden, fails;
    bool head, bytes, suspect, moved;
    unsigned seed;
};

void watch_flow_init(struct watch_flow *f, unsigned seed);
void watch_flow_release(struct watch_flow *f);

/* --- a request --- */
void watch_flow_send(struct watch_flow *f, int64_t now);      /* it may change `step` */
void watch_flow_head(struct watch_flow *f, int64_t now);      /* a watch was let in */
void watch_flow_bytes(struct watch_flow *f, int64_t now);     /* of a list */
/* Bytes of a stream were read: false when it must be ended, err says why. */
MUST_USE bool watch_flow_events(struct watch_flow *f, int64_t now, const struct watch_facts *facts,
                                struct pd_err *err);
/* While it is open, every watch_flow_check_in ms: false when it must be ended
 * (then watch_flow_cut). May change `state`. */
int64_t watch_flow_check_in(const struct watch_flow *f, int64_t now);
MUST_USE bool watch_flow_check(struct watch_flow *f, int64_t now);

/* --- its end: sets step, wait_ms, state, err --- */
/* A page is whole. true: with it the list. */
bool watch_flow_page(struct watch_flow *f, int64_t now, const struct watch_facts *facts);
void watch_flow_refused(struct watch_flow *f, int64_t now, const struct flow_refusal *r);
/* No answer, a broken connection, an answer that can't be used (`bad`). */
void watch_flow_broken(struct watch_flow *f, int64_t now, const struct pd_err *err, bool bad);
void watch_flow_ended(struct watch_flow *f, int64_t now);     /* a clean end of a stream */
void watch_flow_cut(struct watch_flow *f, int64_t now);

/* --- from outside --- */
void watch_flow_now(struct watch_flow *f);                    /* the wait is over: try at once */

#endif
