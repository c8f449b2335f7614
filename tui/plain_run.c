/* plain_run.c - the operation and the training in words (plain_text.h). */
#include <math.h>

#include "core/base/i18n.h"
#include "tui/answer.h"
#include "tui/cmd.h"
#include "tui/plain_text.h"
#include "tui/text.h"
#include "tui/verdict.h"

enum { PLAIN_TABLE_ROWS = 10, PLAIN_ANSWER_WIDTH = 40, PLAIN_ANSWER_ROWS = 200 };

void plain_op(const struct app *a, struct str *out)
{
    const struct op *op = &a->s->op;
    char amount[48], left[24];
    double s = (double)(a->now_ms - op->started_ms) / 1000;
    if (op->failed) {
        plain_line(out, _("%s: failed. %s"), op->what, op->text);
    } else if (op->ended) {
        plain_line(out, _("%s: done. %s"), op->what,
                   op->text + (str_starts(op->text, "done ") ? 5 : 0));
    } else if (op->total > 0) {
        str_printf(out, _("%s: %.0f percent"), op->what, 100 * op->done / op->total);
        if (op->unit[0])
            str_printf(out, _(", %s"), text_amount(op->done, op->total, op->unit, amount));
        else
            str_printf(out, _(", %.0f of %.0f"), op->done, op->total);
        if (op->done > 0 && s >= 1)
            str_printf(out, _(", about %s left"),
                       text_span((op->total - op->done) * s / op->done, left));
        plain_line(out, "%s", _("."));
    } else {
        plain_line(out, _("%s: running. %s"), op->what, op->text);
    }
}

static double last_of(const struct series *s)
{
    return s && series_count(s) ? series_y(s, series_count(s) - 1) : NAN;
}

static void figure(struct str *out, const char *name, double v)
{
    char buf[24];
    if (!isnan(v))
        str_printf(out, _(", %s %s"), name, text_number(v, buf));
}

static const char *state_word(const char *state)
{
    static const char *const words[] = {N_("running"), N_("paused"), N_("holding"), N_("done"),
                                        N_("error")};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i], state))
            return _(words[i]);
    return state;
}

void plain_point(const struct app *a, struct str *out)
{
    const struct run *r = &a->s->run;
    char lo[24], hi[24], buf[24];
    if (r->steps_total > 0)
        str_printf(out, _("Training step %" PRId64 " of %" PRId64), r->step, r->steps_total);
    else
        str_printf(out, _("Training step %" PRId64), r->step);
    if (!isfinite(last_of(r->loss)))
        str_printf(out, _(", loss is not a number"));
    else
        str_printf(out, _(", loss %s"), text_number(last_of(r->loss), buf));
    figure(out, _("average"), a->line.cache.n ? a->line.cache.ema[a->line.cache.n - 1] : NAN);
    figure(out, _("validation"), last_of(r->val));
    if (str_eq(r->state, "running") && r->eta_high >= 1) {
        text_span(r->eta_low, lo);
        text_span(r->eta_high, hi);
        if (str_eq(lo, hi))
            str_printf(out, _(", about %s left"), lo);
        else
            str_printf(out, _(", %s to %s left"), lo, hi);
    } else if (!str_eq(r->state, "running"))
        str_printf(out, _(", %s"), state_word(r->state));
    plain_line(out, "%s", _("."));
}

/* The newest validation at or before step x. */
static double val_before(const struct series *s, double x)
{
    size_t i = s ? series_lower(s, x + 0.5) : 0;
    return i > 0 ? series_y(s, i - 1) : NAN;
}

static void table_row(const struct app *a, size_t i, struct str *out)
{
    const struct run *r = &a->s->run;
    double x = series_x(r->loss, i);
    char buf[24];
    str_printf(out, _("  Step %.0f: loss %s"), x, text_number(series_y(r->loss, i), buf));
    figure(out, _("average"), i < a->line.cache.n ? a->line.cache.ema[i] : NAN);
    figure(out, _("validation"), val_before(r->val, x));
    plain_line(out, "%s", _("."));
}

static void spread(const struct series *s, struct str *out)
{
    struct series_extent e = series_range(s, 0, series_count(s));
    char lo[24], hi[24];
    if (e.any)
        plain_line(out, _("The loss was between %s and %s."), text_number(e.min, lo),
                   text_number(e.max, hi));
    if (e.nonfinite)
        plain_line(out, _("%zu points are not numbers."), (size_t)e.nonfinite);
}

void plain_curve(const struct app *a, struct str *out)
{
    const struct run *r = &a->s->run;
    struct str verdict;
    enum role role;
    char buf[24];
    if (!cmd_has_run(a)) {
        plain_line(out, "%s", _("No training log yet. It begins when the Job's pod trains."));
        return;
    }
    size_t n = series_count(r->loss);
    plain_line(out, _("Run %s, %s."), r->pod, state_word(r->state));
    plain_point(a, out);
    str_init(&verdict, 2048);
    verdict_of(a, &verdict, &role);
    plain_line(out, _("Verdict: %s."), verdict.p);
    str_release(&verdict);
    spread(r->loss, out);
    if (r->val && series_count(r->val))
        plain_line(out, _("Best validation loss %s at step %.0f."), text_number(r->best_val, buf),
                   r->best_step);
    plain_line(out, _("Learning rate %s."), text_number(last_of(r->lr), buf));
    plain_line(out, "%s", _("In steps:"));
    size_t rows = MIN(n, (size_t)PLAIN_TABLE_ROWS);
    for (size_t k = 0; k < rows; k++)
        table_row(a, rows > 1 ? k * (n - 1) / (rows - 1) : 0, out);
}

void plain_answer(const struct app *a, struct str *out)
{
    struct rows rows;
    rows_init(&rows, a->glyphs);
    if (answer_rows(a->s->run.inspect_line, &rows, PLAIN_ANSWER_WIDTH, PLAIN_ANSWER_ROWS)) {
        for (int i = 0; i < rows.n; i++) {
            rows_text(&rows.v[i], out);
            str_addc(out, '\n');
        }
    }
    rows_release(&rows);
}

void plain_status(const struct app *a, struct str *out)
{
    plain_where(a, out);
    if (a->s->op.what[0])
        plain_op(a, out);
    if (cmd_has_run(a))
        plain_point(a, out);
    if (a->s->run.error[0])
        plain_line(out, _("The training failed: %s"), a->s->run.error);
}
