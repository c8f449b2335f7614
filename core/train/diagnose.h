/* diagnose.h - what the numbers of a run say: NaN, divergence, nothing learned,
 * overfitting. Evidence first; a cause is proposed only where numbers speak for
 * it, and "fine" is an answer.
 *
 * A series is the run's own history, or what another program wrote: CSV with a
 * header, JSON Lines (ours and Hugging Face's, Python's repr too), or
 * trainer_state.json.
 */
#ifndef CORE_TRAIN_DIAGNOSE_H
#define CORE_TRAIN_DIAGNOSE_H

#include "core/base/err.h"
#include "core/base/str.h"

struct series_row {               /* NAN where a number is not known */
    double step, loss, gnorm, lr, val;
    bool has_loss, has_gnorm, has_val;   /* it was there, though it may be NaN */
    double seconds, examples;     /* of an evaluation */
};

struct run_series {
    struct series_row *v;
    int n, cap;
    double vocab;                 /* 0: not known */
    double clip, warmup, rate;    /* NAN: not known */
};
void run_series_init(struct run_series *s);
void run_series_release(struct run_series *s);
void run_series_add(struct run_series *s, const struct series_row *row);
/* PD_DATA names the line that is no row of numbers. */
MUST_USE enum pd_code run_series_read(struct run_series *s, const char *path, struct pd_err *err);

enum { DIAGNOSES = 8 };
struct diagnosis {
    const char *id;               /* "loss-nan" …, "fine" */
    bool certain;                 /* else: probably */
    char text[480];               /* evidence with steps and numbers */
    char hint[300];
    double step;                  /* where it begins; NAN: everywhere */
};
/* The most important first; returns how many (at least one: "fine" or
 * "too-short"). */
int diagnose(const struct run_series *s, struct diagnosis out[DIAGNOSES]);

#endif
