/* run.c - a run's log lines become series, answers and an ETA. */
#include "labs/run.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/base/utf8.h"

enum { ETA_MIN_STEPS = 5, ETA_OUTLIER = 5 };

int64_t run_whole(double v)
{
    return isnan(v) ? 0 : (int64_t)fmin(fmax(v, -9e15), 9e15);
}

void run_init(struct run *r, struct run_log *d)
{
    memset(r, 0, sizeof *r);
    memset(d, 0, sizeof *d);
    r->loss = series_new();
    r->val = series_new();
    r->lr = series_new();
    r->gnorm = series_new();
    r->tok_s = series_new();
    r->tokens = series_new();
    r->epochs = series_new();
    r->seconds = series_new();
    r->best_val = r->best_step = r->first_val = r->epoch = NAN;
    r->eta_low = r->eta_high = NAN;
    d->rate = d->done_loss = d->done_val = NAN;
}

void run_release(struct run *r)
{
    series_free(r->loss);
    series_free(r->val);
    series_free(r->lr);
    series_free(r->gnorm);
    series_free(r->tok_s);
    series_free(r->tokens);
    series_free(r->epochs);
    series_free(r->seconds);
    for (int i = 0; i < WALK_STAGES; i++)
        free(r->walk_line[i]);
    free(r->answer_line);
    free(r->inspect_line);
    memset(r, 0, sizeof *r);
}

void run_reset(struct run *r, struct run_log *d)
{
    uint64_t generation = r->generation + 1;
    run_release(r);
    run_init(r, d);
    r->generation = generation;
}

/* --- ETA ------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(const struct run_log *d)
{
    double v[RUN_TIMES];
    int n = MIN(d->times_n, RUN_TIMES);
    if (!n)
        return NAN;
    memcpy(v, d->times, (size_t)n * sizeof *v);
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void eta_forget(struct run *r, struct run_log *d)
{
    d->times_n = d->slow_n = 0;
    d->overhead = 0;
    d->counted = d->steps_seen = d->first_slow = d->last_slow = d->began = 0;
    d->last_ms = 0;
    r->eta_low = r->eta_high = NAN;
}

static void eta_push(struct run_log *d, int64_t step, double seconds)
{
    double m = median(d);
    d->counted++;
    if (d->times_n < ETA_MIN_STEPS || seconds <= ETA_OUTLIER * m) {
        d->times[d->times_n++ % RUN_TIMES] = seconds;
        return;
    }
    d->overhead += seconds - m;
    d->first_slow = d->slow_n++ ? d->first_slow : step;
    d->last_slow = step;
}

/* Mean and spread of the steps that were not slow: early ones that turned out
 * to be (a warm-up) are left out now. */
static double step_time(const struct run_log *d, double *spread)
{
    double m = median(d), sum = 0, squares = 0;
    int n = 0;
    for (int i = 0; i < MIN(d->times_n, RUN_TIMES); i++) {
        if (d->times[i] > ETA_OUTLIER * m)
            continue;
        sum += d->times[i];
        squares += d->times[i] * d->times[i];
        n++;
    }
    double mean = sum / n, variance = squares / n - mean * mean;
    *spread = n > 1 && variance > 0 ? sqrt(variance / n) : 0;
    return mean;
}

/* Seconds of slow steps (evaluation, checkpoint) still to come. They come at
 * intervals: two tell it, and so does one in a run that was seen from step 0. */
static double slow_left(const struct run *r, const struct run_log *d)
{
    double left = (double)MAX(r->steps_total - r->step, 0), every = 0;
    if (d->slow_n == 0)
        return 0;
    if (d->slow_n > 1)
        every = (double)(d->last_slow - d->first_slow) / (d->slow_n - 1);
    else if (d->began == 1)
        every = (double)d->last_slow;
    if (!(every > 0))
        return left * d->overhead / (double)d->counted;
    return d->overhead / d->slow_n *
           floor((double)(r->steps_total - d->last_slow) / every + 1e-9);
}

static void eta_update(struct run *r, struct run_log *d)
{
    double spread;
    r->eta_low = r->eta_high = NAN;
    if (d->counted < ETA_MIN_STEPS || r->steps_total <= 0)
        return;
    double left = (double)MAX(r->steps_total - r->step, 0);
    double mean = step_time(d, &spread), slow = slow_left(r, d);
    double width = MAX(2 * spread, 0.02 * mean);
    r->eta_low = left * MAX(mean - width, 0) + slow * 0.9;
    r->eta_high = left * (mean + width) + slow * 1.1;
}

/* --- records ---------------------------------------------------------------- */

static void take_hello(struct run *r, struct run_log *d, const struct run_record *q)
{
    r->steps_total = run_whole(runlog_num(q, "steps", 0));
    d->params = runlog_num(q, "params", NAN);
    d->trainable = runlog_num(q, "trainable", NAN);
    d->seed = runlog_num(q, "seed", NAN);
    d->rate = runlog_num(q, "rate", NAN);
    r->control = (int)MIN(MAX(runlog_num(q, "control", 1), 0), 1000);
    str_copy(d->model, sizeof d->model, runlog_str(q, "model", ""));
    str_copy(r->state, sizeof r->state, "running");
    r->error[0] = '\0';
    d->hello = true;
    eta_forget(r, d);
}

/* Seconds since the run began: by the clock of the log, else by the steps' own
 * times. */
static void take_time(struct run *r, const struct run_record *q, double step, int64_t ts_ms)
{
    size_t n = series_count(r->seconds);
    double before = n ? series_y(r->seconds, n - 1) : 0;
    double s = ts_ms && r->started_ms ? (double)(ts_ms - r->started_ms) / 1000
                                      : before + runlog_num(q, "ms", NAN) / 1000;
    series_append(r->seconds, step, s < before ? before : s);
}

static void take_walk(struct run *r, const struct run_record *q, const char *line)
{
    static const char *const names[WALK_STAGES] = {"batch", "forward", "loss",
                                                   "backward", "rate", "update"};
    for (int i = 0; i < WALK_STAGES; i++)
        if (str_eq(names[i], runlog_str(q, "stage", ""))) {
            free(r->walk_line[i]);
            r->walk_line[i] = xstrdup(line);
            r->walk_step = run_whole(runlog_num(q, "step", 0));
        }
}

static void take_step(struct run *r, struct run_log *d, const struct run_record *q, int64_t ts_ms)
{
    double step = runlog_num(q, "step", NAN);
    if (!isfinite(step) || !series_append(r->loss, step, runlog_num(q, "loss", NAN)))
        return;
    series_append(r->lr, step, runlog_num(q, "lr", NAN));
    series_append(r->gnorm, step, runlog_num(q, "gnorm", NAN));
    series_append(r->tok_s, step, runlog_num(q, "tok_s", NAN));
    series_append(r->tokens, step, runlog_num(q, "tokens", NAN));
    series_append(r->epochs, step, runlog_num(q, "epoch", NAN));
    take_time(r, q, step, ts_ms);
    r->step = run_whole(step);
    r->epoch = runlog_num(q, "epoch", r->epoch);
    if (d->steps_seen == 0)
        d->began = run_whole(step);
    if (d->last_ms && ts_ms >= d->last_ms)
        eta_push(d, run_whole(step), (double)(ts_ms - d->last_ms) / 1000);
    d->last_ms = ts_ms;
    d->steps_seen++;
    eta_update(r, d);
}

static void take_eval(struct run *r, const struct run_record *q)
{
    double step = runlog_num(q, "step", NAN), v = runlog_num(q, "val_loss", NAN);
    if (!isfinite(step) || !series_append(r->val, step, v) || !isfinite(v))
        return;
    if (!isfinite(r->first_val))
        r->first_val = v;
    if (!isfinite(r->best_val) || v < r->best_val) {
        r->best_val = v;
        r->best_step = step;
    }
}

static void take_state(struct run *r, struct run_log *d, const struct run_record *q)
{
    const char *state = runlog_str(q, "state", "running");
    if (str_eq(r->state, "done"))        /* "quit" follows it: the process leaves */
        return;
    str_copy(r->state, sizeof r->state, state);
    /* what passes while it stands still is no step's time */
    if (!str_eq(state, "running"))
        d->last_ms = 0;
}

static const struct run_field *any_number(const struct run_record *q, const char *a, const char *b)
{
    for (int i = 0; i < q->n; i++)
        if ((str_eq(q->f[i].key, a) || str_eq(q->f[i].key, b)) && q->f[i].type == RF_NUMBER)
            return &q->f[i];
    return NULL;
}

/* Everything that was answered, "key=value" in the record's order. */
static void answer_text(const struct run_record *q, char *out, size_t size)
{
    struct str s;
    str_init(&s, size - 1);
    for (int i = 0; i < q->n; i++) {
        const struct run_field *f = &q->f[i];
        if (str_eq(f->key, "id") || str_eq(f->key, "cmd") || str_eq(f->key, "ok") ||
            str_eq(f->key, "ev") || str_eq(f->key, "v"))
            continue;
        str_add(&s, s.len ? " " : "");
        if (f->type == RF_STRING && str_eq(f->key, "text"))
            str_add(&s, f->str);
        else if (f->type == RF_STRING)
            str_printf(&s, "%s=%s", f->key, f->str);
        else if (f->type == RF_BOOL)
            str_printf(&s, "%s=%s", f->key, f->num != 0 ? "yes" : "no");
        else if (f->type == RF_NUMBER)
            str_printf(&s, "%s=%.6g", f->key, f->num);
    }
    struct str clean;
    str_init(&clean, size - 1);
    utf8_clean(s.p, s.len, false, &clean);
    str_copy(out, size, clean.p);
    str_release(&clean);
    str_release(&s);
}

static void keep_line(struct run *r, const struct run_answer *a, const char *line)
{
    free(r->answer_line);
    r->answer_line = xstrdup(line);
    r->answers++;
    if (!a->ok || !str_eq(a->cmd, "inspect"))
        return;
    free(r->inspect_line);
    r->inspect_line = xstrdup(line);
}

static void take_answer(struct run *r, struct run_log *d, const struct run_record *q,
                        const char *line)
{
    const char *id = runlog_str(q, "id", "");
    char text[1024];
    for (int i = 0; *id && i < d->answers_n; i++)
        if (str_eq(d->answers[i].id, id))
            return;
    answer_text(q, text, sizeof text);
    struct run_answer *a = &d->answers[MIN(d->answers_n, RUN_ANSWERS - 1)];
    if (d->answers_n < RUN_ANSWERS)
        d->answers_n++;
    memset(a, 0, sizeof *a);
    str_copy(a->id, sizeof a->id, id);
    str_copy(a->cmd, sizeof a->cmd, runlog_str(q, "cmd", ""));
    a->ok = runlog_num(q, "ok", 0) != 0;
    const struct run_field *v = any_number(q, "rate", "steps");
    a->value = v ? v->num : runlog_num(q, "n", NAN);
    a->step = run_whole(runlog_num(q, "step", -1));
    str_copy(a->text, sizeof a->text, text);
    str_fmt(r->answer, sizeof r->answer, "%s: %s", a->cmd, text);
    keep_line(r, a, line);
    if (str_eq(a->cmd, "rate") && a->ok)
        d->rate = a->value;
}

static void take_error(struct run *r, const struct run_record *q)
{
    str_copy(r->state, sizeof r->state, "error");
    str_copy(r->error, sizeof r->error, runlog_str(q, "text", ""));
}

static void take_done(struct run *r, struct run_log *d, const struct run_record *q)
{
    str_copy(r->state, sizeof r->state, "done");
    d->done_loss = runlog_num(q, "loss", NAN);
    d->done_val = runlog_num(q, "val_loss", NAN);
    str_copy(d->adapter, sizeof d->adapter, runlog_str(q, "adapter", ""));
    r->eta_low = r->eta_high = NAN;
}

bool run_line(struct run *r, struct run_log *d, const char *text, int64_t ts_ms)
{
    struct run_record q;
    struct pd_err err;
    size_t n = strlen(text);
    if (!runlog_is_record(text, n) || runlog_parse(text, n, &q, &err))
        return false;
    switch (q.ev) {
    case RUN_HELLO: take_hello(r, d, &q); break;
    case RUN_STEP: take_step(r, d, &q, ts_ms); break;
    case RUN_EVAL: take_eval(r, &q); break;
    case RUN_STATE: take_state(r, d, &q); break;
    case RUN_WALK: take_walk(r, &q, text); break;
    case RUN_ANSWER: take_answer(r, d, &q, text); break;
    case RUN_ERROR: take_error(r, &q); break;
    case RUN_DONE: take_done(r, d, &q); break;
    case RUN_SAVE:
    case RUN_WARN:
    case RUN_EVENT_COUNT: break;
    }
    if (!r->started_ms)
        r->started_ms = ts_ms;
    r->last_line_ms = ts_ms;
    r->generation++;
    return true;
}

const struct run_answer *run_answer_find(const struct run_log *d, const char *id, const char *cmd)
{
    for (int i = d->answers_n; i-- > 0;) {
        const struct run_answer *a = &d->answers[i];
        if (id ? str_eq(a->id, id) : str_eq(a->cmd, cmd))
            return a;
    }
    return NULL;
}

static void csv_number(struct str *out, double v)
{
    str_addc(out, ',');
    if (isfinite(v))
        str_printf(out, "%.9g", v);
    else if (isnan(v))
        str_add(out, "NaN");
    else
        str_add(out, v > 0 ? "Infinity" : "-Infinity");
}

/* Point i of a series, or an empty cell. */
static void csv_cell(struct str *out, const struct series *s, size_t i, bool here)
{
    if (here && s && i < series_count(s))
        csv_number(out, series_y(s, i));
    else
        str_addc(out, ',');
}

/* Evaluations may stand at steps of their own (step 0): the rows are the union
 * of both, and a cell without a value is empty. */
void run_csv_ema(const struct run *r, const double *ema, size_t ema_n, const char *name,
                 struct str *out)
{
    size_t i = 0, k = 0, n = series_count(r->loss), m = series_count(r->val);
    str_printf(out, "step,loss,%s%sval_loss,lr,gnorm,tok_s,tokens,epoch,seconds\n",
               name ? name : "", name ? "," : "");
    while (i < n || k < m) {
        double a = i < n ? series_x(r->loss, i) : INFINITY;
        double b = k < m ? series_x(r->val, k) : INFINITY;
        const struct series *rest[] = {r->lr, r->gnorm, r->tok_s, r->tokens, r->epochs, r->seconds};
        str_printf(out, "%.0f", MIN(a, b));
        csv_cell(out, r->loss, i, a <= b);
        if (name && a <= b && i < ema_n && isfinite(ema[i]))
            str_printf(out, ",%.17g", ema[i]);
        else if (name)
            csv_cell(out, r->loss, i, a <= b && !isfinite(series_y(r->loss, i)));
        csv_cell(out, r->val, k, b <= a);
        for (size_t c = 0; c < ARRAY_LEN(rest); c++)
            csv_cell(out, rest[c], i, a <= b);
        str_addc(out, '\n');
        i += a <= b;
        k += b <= a;
    }
}

void run_csv(const struct run *r, struct str *out)
{
    run_csv_ema(r, NULL, 0, NULL, out);
}

void run_file_name(const struct run *r, char *out, size_t size)
{
    char time[36];
    clock_rfc3339(r->started_ms * 1000, 0, time);        /* 2026-11-30T01:58:51Z */
    str_fmt(out, size, "%.4s%.2s%.2s-%.2s%.2s%.2s-%s.csv", time, time + 5, time + 8, time + 11,
            time + 14, time + 17, r->pod);
}
