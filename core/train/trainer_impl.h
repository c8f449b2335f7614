/* trainer_impl.h - the state of a run, shared by trainer*.c alone. */
#ifndef CORE_TRAIN_TRAINER_IMPL_H
#define CORE_TRAIN_TRAINER_IMPL_H

#include "core/base/runlog.h"
#include "core/train/batch.h"
#include "core/train/ckpt.h"
#include "core/train/control.h"
#include "core/train/diagnose.h"
#include "core/train/trainer.h"

struct trainer {
    const struct trainer_options *o;      /* own */
    struct trainer_options own;  /* with --epochs and --warmup-ratio as steps */
    const volatile int *stop;
    struct optim optim;           /* o->optim, with the rate as it is now */
    struct compute c;
    struct llama model;
    struct lora lora;
    struct tok *tok;
    struct data *data;
    struct batch batch;
    struct llama_run *run;
    struct tensors *trained;
    struct control ctl;
    struct ckpt_source src;
    struct ckpt_state st;
    struct str line;              /* the record being written */
    struct progress progress;     /* what a person sees instead, by o->log */
    bool paused, quit, write_failed;
    int64_t step_left;            /* of `step N` while paused */
    int64_t saved_step, eval_step;
    int64_t rows_seen;            /* computed positions since the start of this process */
    double loss, val_loss, gnorm, lr;
    double grad_scale;           /* 1 / tokens of the last update: sums become means */
    struct run_series history;
    int64_t best_step;           /* of the lowest validation loss; -1: none */
    double best_val;
    int64_t start_us;
    uint64_t step_allocs;         /* allocations within steps after the first */
};

/* trainer_log.c: records. Each is flushed with one write. */
void trainer_emit(struct trainer *t);                     /* ends and writes t->line */
void trainer_log_hello(struct trainer *t);
void trainer_log_step(struct trainer *t, int64_t rows, int64_t us);
void trainer_log_state(struct trainer *t, const char *state);
void trainer_log_warn(struct trainer *t, const char *text);
void trainer_log_error(struct trainer *t, const struct pd_err *err);
void trainer_log_done(struct trainer *t);

/* trainer_step.c */
/* The first micro-batch of an update (0-based) and how many it has: --accum, or
 * what is left of the epoch. */
int64_t trainer_window(const struct trainer *t, int64_t step, int *count);
/* Epochs behind so many updates. */
double trainer_epoch(const struct trainer *t, int64_t step);
/* Micro-batch i of the next update into t->batch. */
MUST_USE enum pd_code trainer_batch(struct trainer *t, int i, struct pd_err *err);
/* Switches dropout on. One key for the whole run: rows have numbers of their own. */
uint64_t trainer_drop_key(const struct trainer *t);
MUST_USE enum pd_code trainer_step(struct trainer *t, struct pd_err *err);
MUST_USE enum pd_code trainer_eval(struct trainer *t, struct pd_err *err);
MUST_USE enum pd_code trainer_save(struct trainer *t, struct pd_err *err);

/* trainer_state.c */
void trainer_history_init(struct trainer *t);
void trainer_history_step(struct trainer *t);
void trainer_history_eval(struct trainer *t, int64_t examples, int64_t us);
/* What a checkpoint's trainer_state.json holds comes before what follows. */
void trainer_history_read(struct trainer *t, const char *dir);
void trainer_print_state(const struct trainer *t, struct str *s);
MUST_USE enum pd_code trainer_write_state(const struct trainer *t, const char *dir,
                                          struct pd_err *err);
/* trainer_fail.c: *err, of micro-batch `micro` of the next step, gets the step,
 * the records and the cause. */
enum pd_code trainer_explain(struct trainer *t, int micro, struct pd_err *err);
/* The same for an evaluation. */
enum pd_code trainer_explain_eval(struct trainer *t, struct pd_err *err);
/* trainer_replay.c: --replay STEP. */
MUST_USE enum pd_code trainer_replay(struct trainer *t, struct pd_err *err);

/* trainer_control.c: carry out what stands on the control channel; waits while
 * paused. Failures of `save` are answers, not errors of the run. */
void trainer_control(struct trainer *t);
/* trainer_walk.c: compute the next update, tell all of it in `walk` records, and
 * leave everything as it was. */
MUST_USE enum pd_code trainer_walk(struct trainer *t, const struct control_line *l,
                                   struct pd_err *err);
/* After the last step: wait for quit, SIGTERM or the end of --hold. */
void trainer_hold(struct trainer *t);

#endif
