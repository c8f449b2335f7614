/* session_parts.h - parts of the session's state: what the shown step needs of
 * the cluster, its scene, clearing up, the operation on show, lines of the log.
 */
#ifndef LABS_SESSION_PARTS_H
#define LABS_SESSION_PARTS_H

#include "core/base/json.h"

/* What the shown step's requirements make of it. */
enum step_mode { MODE_REAL, MODE_ASKING, MODE_SKIPPED, MODE_READING, MODE_SIMULATED };
struct step_need {
    enum step_mode mode;
    bool recorded;                /* SIMULATED by a recorded run */
    bool whole;                   /* it is the lab's requirement, not the step's */
    char why[400];                /* shown unless REAL: what is missing, and the lab's reason */
};

/* The scene of the shown step: what setup and faults make before it. */
enum scene_state { SCENE_READY, SCENE_WANTED, SCENE_RUNNING, SCENE_FAILED };
struct scene {
    enum scene_state state;
    int step, done, total;        /* done, total: actions */
    char title[96];               /* of the running one; "" when it must not be told */
    char text[512];               /* of FAILED: why */
};

/* Clearing up: first what there is, then (said yes) it goes. */
enum clean_state { CLEAN_NONE, CLEAN_LOOKING, CLEAN_ASKING, CLEAN_RUNNING, CLEAN_DONE,
                   CLEAN_FAILED };
struct clean {
    enum clean_state state;
    struct json *items;           /* ["jobs/NAME", …]; never NULL after CLEAN_ASKING */
    int deleted, left;
    char text[512];               /* of FAILED */
};

/* The manifest of the shown step: what is wrong with it, what an apply would
 * change, what the last one was told. */
enum manifest_look { MANIFEST_NOTHING, MANIFEST_LOOKING, MANIFEST_SHOWN };
struct manifest_view {
    enum manifest_look state;
    int step;                     /* that it is about */
    char file[160];
    int objects;
    bool conflict;                /* the notes are fields of other managers */
    struct json *notes;           /* [{level, line, column, message, why, next}]; or NULL */
    char *diff;                   /* unified; NULL: not looked at, "": no difference */
};

/* A long operation on show: build, push, pull, copy, evaluate. */
struct op {
    uint32_t effect;              /* 0: none */
    char what[96];
    double done, total;           /* bytes or units; total 0 = unknown */
    char unit[16];
    int64_t started_ms;
    bool failed, ended;
    char text[512];               /* last line, or the error */
};

/* A line of the shown log, or a word about it between two lines. */
enum log_kind { LOG_TEXT, LOG_GAP, LOG_AGAIN, LOG_END, LOG_RESTART, LOG_WAIT };
struct log_line {
    int64_t ts_ms;
    char *text;                   /* cleaned; of a word: its reason, or "" */
    uint8_t kind, source;         /* source: index in log_view.source */
    bool cut;                     /* it was longer */
};

/* Which log is shown: of one pod, one container or all of them. */
enum { LOG_SOURCES = 16 };
enum log_state { LOG_NONE, LOG_OPENING, LOG_OPEN, LOG_WAITING, LOG_OVER };
struct log_source {
    uint32_t stream;              /* effect; 0: ended */
    char container[64];
    bool broke;                   /* the link broke after it was open */
    bool back;                    /* it is open again, no line has come since */
};
struct log_view {
    char pod[256];
    int64_t since_s, tail;        /* 0: from the first line; -1: all lines */
    bool previous, all;           /* the container before; all containers */
    uint32_t stream;              /* of all containers; 0: each source has its own */
    struct log_source source[LOG_SOURCES];
    int sources;
    enum log_state state;
    char error[512];              /* WAITING, OVER: why */
    uint64_t serial;              /* grows when lines begin anew */
};

/* A step taken apart by the trainer, stage by stage (docs/RUNLOG.md). */
enum walk_stage { WALK_BATCH, WALK_FORWARD, WALK_LOSS, WALK_BACKWARD, WALK_RATE, WALK_UPDATE,
                  WALK_STAGES };

#endif
