/* session.h - the state of a person at work: cluster, lab, step, checks, runs.
 *
 * The headless runner and the console share it. session_apply is the only
 * writer; it does no I/O and answers with effects (core/base/msg.h) that
 * labs/effects.c carries out. tui/ reads the state and sends commands.
 *
 * Commands (MSG_COMMAND, args in order), the same by key, palette or headless:
 *   lab.open ID, lab.close, step.next, step.prev, step.run [force] (the step's
 *   action; force: fields of other managers are taken over), step.preview (what its
 *   manifest would change),
 *   step.check (check now), step.hint, step.edit (writes the step's file to the
 *   work folder and opens it), file.set PATH TEXT (headless edits),
 *   step.solution yes (after the last hint; recorded), quiz.answer [QUIZ] TEXT,
 *   lab.cleanup (looks what there is), lab.cleanup yes (deletes it),
 *   lab.simulate (goes to the practice cluster),
 *   train.pause, train.resume, train.step N, train.inspect WHAT, train.rate R,
 *   train.walk [NAME ROW COL],
 *   train.save, train.quit, log.follow POD, op.cancel, curve.export PATH
 *   train.save, train.quit, op.cancel, curve.export PATH,
 *   log.follow POD, log.since tail|head|SECONDS, log.previous, log.containers,
 *   log.clear, log.save PATH, nodes.look (the pods of all namespaces),
 *   pod.delete "NAME UID"; about the connection (labs/conn.h): ctx.list,
 *   ctx.probe NAME, ctx.use NAME, ns.list, ns.probe NAME, ns.use NAME, conn.look
 *   (who the person is), rights.look (what they may do), can.ask "VERB RESOURCE"
 */
#ifndef LABS_SESSION_H
#define LABS_SESSION_H

#include "core/base/msg.h"
#include "core/base/runlog.h"
#include "core/base/series.h"
#include "labs/build_state.h"
#include "labs/lab.h"
#include "k8s/denied.h"
#include "labs/conn.h"
#include "labs/lab_keys.h"
#include "labs/session_parts.h"
#include "labs/table.h"

enum link_state { LINK_OFF, LINK_CONNECTING, LINK_UP, LINK_DOWN };

struct cluster_state {
    uint16_t id;
    uint32_t epoch;
    enum link_state link;
    char context[128], ns[128], server[256], user[128], version[64];
    int64_t latency_ms, last_ok_ms, next_try_ms;
    char error[512];
    char login[64];               /* a credential plugin that runs, "" none */
};

/* The first SESSION_WATCHED are always watched, the others while a lab asks. */
enum { SESSION_TABLES = LAB_RESOURCES, SESSION_WATCHED = 5 };

enum check_result { CHECK_PASS, CHECK_NOT_YET, CHECK_WRONG, CHECK_BLOCKED, CHECK_UNKNOWN,
                    CHECK_SKIPPED, CHECK_STALE, CHECK_RESULT_COUNT };
const char *check_result_name(enum check_result r);      /* "PASS" "NOT YET" … (gettext key) */

struct evidence {
    enum check_result result;
    char object[160], path[160], expected[160], actual[320];
    char event[320];              /* newest related event */
    char because[512];            /* the lab's or the engine's explanation, in the language */
    int64_t at_ms;
    uint64_t mark;                /* what was looked at: another uid or restart, another mark */
};

/* PASSED: gone past without being done, since the cluster lacks what it needs. */
enum step_state { STEP_LOCKED, STEP_OPEN, STEP_RUNNING, STEP_DONE, STEP_PASSED };

struct step_progress {
    enum step_state state;
    struct evidence *checks;      /* one a check of the step */
    struct evidence *quiz;        /* one a question: actual is the last answer */
    int *tries;                   /* answers given, one a question */
    int hints_shown, attempts;
    bool solution_shown, simulated, read;     /* read: PASSED as a reading */
};

/* One training run as its log tells it. */
struct run {
    char pod[128];
    struct series *loss, *val, *lr, *gnorm, *tok_s;   /* over step */
    struct series *tokens, *epochs, *seconds;         /* over step: what x can be */
    int control;                  /* version of the trainer's channel, 0 unknown */
    char *walk_line[WALK_STAGES]; /* records of the newest walk; NULL: none */
    int64_t walk_step;            /* the step it tells of; 0: none */
    int64_t steps_total, step;
    double best_val, best_step, epoch, first_val;
    int64_t started_ms, last_line_ms;
    char state[16];               /* running paused holding done error */
    char error[512];
    char answer[1024];            /* last answer of the control channel */
    char *answer_line;            /* its record as it came; NULL: none */
    char *inspect_line;           /* the last one that shows norms or a tensor */
    int answers;                  /* how many have come */
    uint64_t generation;
    /* ETA in seconds, low and high; NaN while unknown (first 5 steps). */
    double eta_low, eta_high;
};

/* One API request, for the API panel; the newest last, a ring of 256. */
struct api_row {
    uint32_t id;
    char method[8];
    int status;
    int64_t ms, at_ms;
    int64_t retry_at_ms;          /* the server wants it to be made again then; 0: it is not */
    char *path, *kubectl, *body;
    char *warning;                /* of the server, cleaned; NULL: none */
};

struct session {
    struct cluster_state cluster;
    struct conn conn;
    struct table tables[SESSION_TABLES];
    struct table all_pods;        /* of all namespaces, when asked for; items NULL: never */
    const struct lab *lab;        /* NULL: in the catalogue */
    struct lab_list *labs;
    int step;                     /* index of the shown step */
    struct step_progress *progress;
    struct op op;
    struct build_state build;     /* the newest build and push */
    struct run run;
    struct log_line *log;         /* ring */
    size_t log_n, log_start, log_cap;
    uint64_t log_dropped;
    size_t log_bytes;
    struct log_view log_view;
    uint32_t attach_stream;
    bool attach_open;
    struct api_row *api;
    size_t api_n;
    char message[512];            /* status line */
    enum pd_code message_code;
    struct pd_err last_error;
    bool finished;                /* the lab is done */
    struct step_need need;        /* of the shown step */
    struct scene scene;
    struct clean clean;
    struct manifest_view manifest;
    char adapter[512], run_csv[512];
    char runs_dir[512];           /* runs that ended are kept there as CSV; "": none */
    uint64_t generation;          /* grows with every change */
    struct json *vars;            /* the lab's variables, random ones drawn */
    void *priv;                   /* of session.c */
};

struct session *session_new(struct lab_list *labs);     /* borrows labs */
void session_free(struct session *s);
/* Where work folders and progress are (NULL: the person's own, below
 * $XDG_DATA_HOME/podium/work), and the seed of a new attempt. Before
 * session_start. */
void session_set_work(struct session *s, const char *root, uint64_t seed);
/* The effects to begin with: connect, load progress. */
void session_start(struct session *s, const char *context, struct effects *out);
void session_apply(struct session *s, const struct msg *m, struct effects *out);

/* The open lab's progress and the files of the shown step have been read: what
 * is begun now finds what there is. */
bool session_ready(const struct session *s);
/* The last run of the shown step's actions failed. */
bool session_act_failed(const struct session *s);
/* The file that the connection was read from; "" when it is not known. */
const char *session_kubeconfig(const struct session *s);
const struct table *session_table(const struct session *s, const char *resource);
/* Its rows are old: the link or its own watch is down, or they are of the
 * connection before. */
bool session_table_old(const struct session *s, const struct table *t);
size_t session_log_count(const struct session *s);
const struct log_line *session_log_line(const struct session *s, size_t i);   /* 0 = oldest */
/* The whole log of the lab's run is the one on show. */
bool session_log_is_run(const struct session *s);

#endif
