/* run.h - one training run as its log tells it: series, answers, ETA.
 *
 * Pure: lines in, struct run (session.h) out. A line that is no record is only
 * text for the log pane. Records may come again after a reconnect; the same
 * step twice changes nothing.
 *
 * ETA: remaining steps times the mean time of the last 64 that this process of
 * the trainer took, measured from the second one seen; steps longer than 5
 * medians (a warm-up, evaluation, checkpoint) are left out, and what they took
 * beyond is expected again at the interval they came in. A range of two standard
 * errors, at least 2 %, unknown before 5 steps.
 */
#ifndef LABS_RUN_H
#define LABS_RUN_H

#include "labs/session.h"

struct run_answer {
    char id[32], cmd[16];
    bool ok;
    double value;                 /* rate, steps; NaN: none */
    int64_t step;
    char text[240];
};

enum { RUN_ANSWERS = 64, RUN_TIMES = 64 };

struct run_log {
    struct run_answer answers[RUN_ANSWERS];   /* the newest last; a ring would hide the first */
    int answers_n;
    bool hello;
    double params, trainable, seed, done_loss, done_val, rate;
    char model[128], adapter[256];
    /* ETA */
    double times[RUN_TIMES];      /* of the last steps, seconds; a ring */
    int times_n;
    double overhead;              /* seconds of slow steps beyond an ordinary one */
    int slow_n;
    int64_t first_slow, last_slow, began;     /* steps; began: the first one seen */
    int64_t counted, last_ms, steps_seen;
};

/* A record's number as a whole one, whatever it is. */
int64_t run_whole(double v);
void run_init(struct run *r, struct run_log *d);
void run_release(struct run *r);
void run_reset(struct run *r, struct run_log *d);
/* One line of the log; ts_ms is when the pod wrote it (0: unknown). True: it
 * was a record. */
bool run_line(struct run *r, struct run_log *d, const char *text, int64_t ts_ms);
/* The last answer with this id, or with this command (id NULL); NULL: none. */
const struct run_answer *run_answer_find(const struct run_log *d, const char *id,
                                         const char *cmd);
/* "step,loss,val_loss,lr,gnorm,tok_s,tokens,epoch,seconds", a row a step. */
void run_csv(const struct run *r, struct str *out);
/* The same with a column `name` behind the loss: ema[0..n), one a step, with all
 * its digits, so that computing it again gives the same numbers. */
void run_csv_ema(const struct run *r, const double *ema, size_t n, const char *name,
                 struct str *out);
/* "20261130-015851-POD.csv": when it began (UTC), and its pod. */
void run_file_name(const struct run *r, char *out, size_t size);

#endif
