/* trainer_fail.c - a loss or gradient that is no number: which step, which
 * records, and what the run's history says of the cause. */
#include "core/train/trainer_impl.h"

#include <math.h>

#include "core/base/i18n.h"

enum { LINES_SHOWN = 12 };

/* " (micro-batch 2 of 4, lines 3, 9 of the data)" */
static void name_records(struct trainer *t, int i, struct str *out)
{
    int lines[LINES_SHOWN], batches;
    int64_t first = trainer_window(t, t->st.step, &batches);
    int n = data_batch_lines(t->data, DATA_TRAIN, t->o->seed, first + i, t->o->batch, LINES_SHOWN,
                             lines);
    if (batches > 1)
        str_printf(out, _("; batch %d of %d of this step"), i + 1, batches);
    for (int k = 0; k < n; k++)
        str_printf(out, "%s%d", k ? ", " : _("; its records are on the lines "), lines[k]);
    if (n && t->o->batch > n)
        str_add(out, " …");
}

/* The cause by the numbers before: the failing step is put behind them as NaN. */
static const char *cause(struct trainer *t, struct diagnosis *d)
{
    struct diagnosis all[DIAGNOSES];
    t->st.step++;
    t->loss = NAN;
    t->lr = optim_rate(&t->optim, t->st.step - 1);
    trainer_history_step(t);
    t->st.step--;
    diagnose(&t->history, all);
    *d = all[0];
    return d->text;
}

/* What the options speak for, strongest first; NULL: nothing. */
static const char *blame(const struct trainer *t)
{
    double rate = t->optim.rate, usual = t->o->full ? 1e-3 : 3e-2;
    if (t->st.step == 0)
        return _("it fails before anything was learned: look at the weights (podium-train check) "
                 "and at the data (doctor), not at the rate");
    if (rate > usual)
        return _("the rate is far above what is usual: --rate");
    if (t->o->optim.clip == 0)
        return _("gradients are not clipped: --clip 1");
    if (t->o->optim.warmup == 0)
        return _("there is no warmup: --warmup");
    return NULL;
}

enum pd_code trainer_explain(struct trainer *t, int micro, struct pd_err *err)
{
    struct diagnosis d;
    struct str s;
    const char *why = blame(t), *seen = cause(t, &d);
    str_init(&s, 1 << 14);
    str_printf(&s, _("step %" PRId64 ": %.240s"), t->st.step + 1, err->msg);
    name_records(t, micro, &s);
    str_copy(err->msg, sizeof err->msg, s.p);
    if (str_eq(d.id, "loss-nan"))
        trainer_log_warn(t, seen);
    if (why)
        pd_set_hint(err, "%s; %s", why, _("--replay shows the step again"));
    else
        pd_set_hint(err, "%s", d.hint);
    str_release(&s);
    return err->code;
}

enum pd_code trainer_explain_eval(struct trainer *t, struct pd_err *err)
{
    struct str s;
    const char *why = blame(t);
    str_init(&s, 1 << 14);
    str_printf(&s, _("evaluation after step %" PRId64 ": %.380s"), t->st.step, err->msg);
    str_copy(err->msg, sizeof err->msg, s.p);
    if (why)
        pd_set_hint(err, "%s", why);
    str_release(&s);
    return err->code;
}
