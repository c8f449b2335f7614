/* session_asks.h - what a session has asked and not heard of yet: checks that
 * need an answer, requirements, steering lines. A part of session_priv.h.
 */
#ifndef LABS_SESSION_ASKS_H
#define LABS_SESSION_ASKS_H

#include "core/base/json.h"

/* The question of an asking check (check.h) of the shown step. */
struct ask {
    uint32_t effect;              /* running: its id */
    bool wanted;                  /* ask as soon as it can be */
    int64_t asked_ms, answer_ms;
    char uid[64];                 /* of the pod that was asked */
    struct json *answer;          /* {records, code, signal, stderr}; NULL before */
    int64_t since_ms, seen_ms;    /* of a check with `stable`: it holds since; 0: it does not */
    uint64_t mark;                /* what held */
};

/* The questions to the cluster that requirements have; asked once a connection. */
struct need_asks {
    uint32_t effect[16];          /* one a right; 0: answered or not asked */
    uint32_t storage_effect;
    struct json *rights;          /* "create jobs" -> bool; absent: not known */
    struct json *classes;         /* names of storage classes, with "" for a default; or NULL */
    bool asked;
};

enum { CONTROL_PENDING = 16 };

/* A steering line on its way to the pod. */
struct steer_line {
    char id[24];                  /* "" : free place */
    char cmd[16];
    char text[256];               /* the whole line */
    bool sent;
    int64_t sent_ms;
};

#endif
