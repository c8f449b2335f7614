/* session_priv.h - what the files of the session share and nobody else reads.
 *
 * Facts are what the lab's own actions brought about, kept with the progress
 * (progress.h) and so known after a restart:
 *   {"started_ms", "build": {ref, digest}, "push": {ref, digest},
 *    "copy": {to, sha256, files}, "made": {"jobs/NAME": {uid, at_ms}}}
 */
#ifndef LABS_SESSION_PRIV_H
#define LABS_SESSION_PRIV_H

#include "core/base/str.h"
#include "labs/action.h"
#include "labs/check.h"
#include "labs/run.h"
#include "labs/session.h"
#include "labs/session_asks.h"
#include "labs/session_manifest.h"

struct session_priv {
    char *work_dir;               /* of the open lab; or NULL */
    char *work_root;              /* where work folders are; NULL: the person's own */
    char kubeconfig[512];
    struct json *files;           /* name -> text, null when it is not there */
    struct json *laid;            /* file name -> effect that watches it */
    struct json *progress;        /* progress.h; NULL until it is loaded */
    bool got_journal, got_snapshot, torn;
    char *journal_text, *snapshot_text;
    uint32_t read_journal, read_snapshot, get_registry, connect, act_timer;
    uint64_t new_seed;            /* of the next attempt; given from outside, so that */
                                  /* a replay draws the same */
    bool registry_own;            /* asked for in the namespace of the context */
    char registry[256];
    struct action_run act;
    bool force;                   /* this run of the actions takes fields over */
    struct manifest_run *look;    /* session_manifest.c; NULL: nothing is looked at */
    bool act_failed;              /* the last run of a step's actions */
    struct need_asks need;
    bool watched[SESSION_TABLES]; /* on this connection */
    bool compared;                /* the record with the cluster, once */
    bool recorded;                /* the recorded run of the step was taken in */
    bool scene_hides;             /* a fault is being made: the API panel keeps it */
    struct clean_run *clean;      /* session_clean.c; NULL */
    uint32_t check_timer;
    struct ask *asks;             /* one a check of the shown step */
    int asks_step;
    struct run_log *run_log;
    char log_uid[64];             /* of the pod whose log is the run */
    uint32_t run_stream, log_epoch;
    uint32_t pods_look, pod_delete;       /* effects of session_list.c */
    bool log_ended;
    struct strv warned;           /* what the server warned of, each once */
    struct run_text *texts;       /* session_text.c */
    char *text_last;              /* the run's last line, cleaned; NULL: none */
    struct steer_line control[CONTROL_PENDING];
    unsigned control_n;           /* made so far */
    char attach_pod[128];
    int64_t now_ms;               /* of the message being applied */
};

enum { SESSION_LOG_LINES = 20000, SESSION_LOG_BYTES = 16 << 20, SESSION_LINE_BYTES = 64 << 10,
        SESSION_API_ROWS = 256 };

/* --- state that checks and actions read ----------------------------------- */
struct session_priv *session_priv(const struct session *s);
const struct json *session_fact(const struct session *s, const char *path);
/* The student's file as last read: NULL when unknown or not there. */
const char *session_file(const struct session *s, const char *name, bool *known);
const struct json *session_find(const struct session *s, const char *resource, const char *name);
/* Was it made in this attempt? By its uid, or by its age. */
bool session_is_own(const struct session *s, const char *resource, const struct json *obj);
/* The newest pod of a Job by owner uid (or of the own Job's name); NULL: none. */
const struct json *session_job_pod(const struct session *s, const struct json *job);
const struct lab_step *session_step(const struct session *s);
/* "/…/work/LAB/NAME"; caller frees. */
char *session_work_path(const struct session *s, const char *name);

/* --- changes --------------------------------------------------------------- */
void session_changed(struct session *s);
/* What the cluster, a pod or a lab says, with nothing that steers a terminal. */
void session_clean(char *dst, size_t size, const char *src);
void session_say(struct session *s, enum pd_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Set a fact (a key, no path) and write it to the progress. Takes value. */
void session_set_fact(struct session *s, const char *key, struct json *value,
                      struct effects *out);
void session_made(struct session *s, const struct json *object, struct effects *out);
/* It was taken away on purpose. */
void session_unmade(struct session *s, const char *resource, const char *name,
                    struct effects *out);
/* Once after a lab was opened: is what its steps made still there? Says so. */
void session_reality(struct session *s);
uint32_t session_effect(struct session *s, struct effects *out, enum effect_kind kind,
                        struct json *args);
/* One progress event; takes it. */
void session_record(struct session *s, struct json *event, struct effects *out);

void session_forget_lab(struct session *s);

/* --- the parts -------------------------------------------------------------- */
/* session_world.c: the cluster's messages */
void session_world(struct session *s, const struct msg *m, struct effects *out);
void session_ask_registry(struct session *s, struct effects *out);   /* unless it is known */
/* session_cmd.c */
void session_command(struct session *s, const struct msg *m, struct effects *out);
bool session_open_lab(struct session *s, const char *id, struct effects *out);
void session_close_lab(struct session *s, struct effects *out);
void session_show_step(struct session *s, int step, struct effects *out);
/* session_progress.c */
void session_load(struct session *s, struct effects *out);
bool session_load_message(struct session *s, const struct msg *m, struct effects *out);
void session_snapshot(struct session *s, struct effects *out);
void session_step_done(struct session *s, int step, struct effects *out);
void session_step_passed(struct session *s, int step, bool read, struct effects *out);
void session_vars_update(struct session *s);
/* session_check.c */
void session_checks(struct session *s, struct effects *out);
void session_want_checks(struct session *s);
/* A check of any step as it stands, however far the person is; asks nothing. */
void session_check_peek(const struct session *s, int step, int check, struct evidence *ev);
bool session_check_message(struct session *s, const struct msg *m);
void session_asks_reset(struct session *s, struct effects *out);
/* session_need.c: what the cluster must have */
void session_need_ask(struct session *s, struct effects *out);
bool session_need_message(struct session *s, const struct msg *m);
void session_need_update(struct session *s, struct effects *out);
void session_need_forget(struct session *s);
/* session_scene.c: setup and faults */
void session_scene_update(struct session *s);
void session_scene_start(struct session *s, struct effects *out);
/* The next list of the scene after `a` ended well: true when one was found. */
bool session_scene_next(struct session *s, struct action_run *a, struct effects *out);
void session_scene_failed(struct session *s, const struct action_run *a);
/* session_quiz.c */
void session_answer(struct session *s, const char *quiz, const char *text, struct effects *out);
void session_quiz_restore(struct session *s);
/* session_clean.c */
void session_clean_look(struct session *s, struct effects *out);
void session_clean_go(struct session *s, struct effects *out);
void session_clean_message(struct session *s, const struct msg *m, struct effects *out);
void session_clean_acted(struct session *s, bool failed, struct effects *out);
void session_clean_forget(struct session *s, struct effects *out);
/* Watch what this lab asks for besides. */
void session_watch_lab(struct session *s, struct effects *out);
/* session_act.c: the actions of a step, and the one operation on show */
void session_act_start(struct session *s, struct effects *out);
/* Run a list of actions, from its action `index`. */
void session_act_list(struct session *s, enum action_list list, int step, int index,
                      struct effects *out);
const struct lab_action *session_act_of(const struct lab *lab, enum action_list list, int step,
                                        int *n);
void session_act_message(struct session *s, const struct msg *m, struct effects *out);
void session_act_cancel(struct session *s, struct effects *out);
void session_op_begin(struct session *s, uint32_t effect, const char *what);
void session_op_record(struct session *s, const struct json *record);
void session_op_end(struct session *s, bool failed, const char *text);
/* session_train.c: the run's log and its steering */
void session_follow(struct session *s, struct effects *out);
bool session_train_message(struct session *s, const struct msg *m, struct effects *out);
/* Queue a steering line; its id goes to id (24 bytes). False: nothing to steer. */
bool session_steer(struct session *s, const char *cmd, const char *args, char *id,
                   struct effects *out);
/* The lines of a recorded run stand for the run; NULL: they no longer do. */
void session_recorded(struct session *s, const char *text);
/* session_log.c: the log on show */
void session_follow_pod(struct session *s, const char *pod, struct effects *out);
/* A stream that is the run's: it is shown too. */
void session_log_show_run(struct session *s, uint32_t stream, const char *container,
                          struct effects *out);
void session_log_clear(struct session *s);
void session_log_append(struct session *s, int source, const char *text, int64_t ts_ms, bool cut);
/* End the streams that serve the log on show alone. */
void session_log_close(struct session *s, struct effects *out);
/* A new connection: a log that is not the run's is asked for anew. */
void session_log_again(struct session *s, struct effects *out);
/* A line or a state of a stream on show; others are left alone. */
void session_log_message(struct session *s, const struct msg *m);
void session_log_since(struct session *s, const char *what, struct effects *out);
void session_log_toggle(struct session *s, bool *what, struct effects *out);
void session_log_save(struct session *s, const char *path, struct effects *out);
/* session_warn.c: Warning headers of an answer, kept with its request; each text is
 * said once. */
void session_warned(struct session *s, struct api_row *r, const char *headers);
/* session_text.c: what `log` checks look for in the run's log. begin: its first
 * line comes next. seen: is the text looked for, the newest line that has it (or
 * NULL), the last line of all. */
void session_text_begin(struct session *s);
void session_text_line(struct session *s, const char *text);
bool session_text_seen(const struct session *s, const char *has, const char **line,
                       const char **last);
void session_text_free(struct session *s);
/* session_list.c: what the lists of the console ask for */
void session_nodes_look(struct session *s, struct effects *out);
void session_pod_delete(struct session *s, const char *name_uid, struct effects *out);
bool session_list_message(struct session *s, const struct msg *m);
bool session_list_part(struct session *s, const struct msg *m);
/* session_world.c: one part of a list into its table */
void session_list_take(struct session *s, struct table *t, const struct msg *m);
void session_csv(const struct session *s, struct str *out);

#endif
