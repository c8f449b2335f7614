/* verdict.c - the curve in one sentence, by rules on its numbers: what is bad
 * first, then what is going on. Every clause names the step it is about. */
#include "tui/verdict.h"

#include <math.h>

#include "core/base/i18n.h"

enum { VERDICT_LEAST = 20 };

static void clause(struct str *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void clause(struct str *out, const char *fmt, ...)
{
    va_list ap;
    if (out->len > 0)
        str_add(out, "; ");
    va_start(ap, fmt);
    str_vprintf(out, fmt, ap);
    va_end(ap);
}

static bool not_finite(const struct series *s, struct str *out)
{
    size_t n = series_count(s);
    if (series_range(s, 0, n).nonfinite == 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(series_y(s, i))) {
            clause(out, _("loss is not a number since step %.0f: lower the rate, look at the data"),
                   series_x(s, i));
            return true;
        }
    }
    return false;
}

/* How often in a row the newest evaluations fell (> 0) or rose (< 0). */
static int trend(const struct series *val)
{
    int run = 0;
    for (size_t i = val ? series_count(val) : 0; i > 1; i--) {
        double d = series_y(val, i - 1) - series_y(val, i - 2);
        int sign = d < 0 ? 1 : d > 0 ? -1 : 0;
        if (sign == 0 || (run != 0 && (run > 0) != (sign > 0)))
            break;
        run += sign;
    }
    return run;
}

static void validation(const struct run *r, struct str *out, enum role *role)
{
    int t = trend(r->val);
    if (t >= 2) {
        clause(out, _("val improved %d evals in a row"), t);
    } else if (t <= -2) {
        clause(out, _("val got worse %d evals in a row since its best @ %.0f: it overfits"), -t,
               r->best_step);
        *role = ROLE_WARN;
    } else if (r->val && series_count(r->val) >= 2) {
        clause(out, _("best val %.3f @ %.0f"), r->best_val, r->best_step);
    }
}

/* The largest jump of raw over the average, when it stands out of the noise:
 * at least eight mean distances and a fifth of the curve's height. */
static void spike(const struct app *a, struct str *out)
{
    const struct series *s = a->s->run.loss;
    size_t n = MIN(series_count(s), a->line.cache.n), at = 0;
    double sum = 0, most = 0;
    for (size_t i = 1; i < n; i++) {
        double d = series_y(s, i) - a->line.cache.ema[i - 1];
        if (!isfinite(d))
            continue;
        sum += fabs(d);
        if (d > most) {
            most = d;
            at = i;
        }
    }
    struct series_extent e = series_range(s, 0, n);
    if (n < VERDICT_LEAST || !e.any || most < 8 * sum / (double)n ||
        most < 0.2 * (a->line.cache.ema[0] - e.min))
        return;
    size_t back = at;
    while (back < n && series_y(s, back) > a->line.cache.ema[at - 1] + most * 0.2)
        back++;
    if (back < n)
        clause(out, _("spike %.2f @ %.0f, back to normal @ %.0f"), series_y(s, at),
               series_x(s, at), series_x(s, back));
    else
        clause(out, _("spike %.2f @ %.0f"), series_y(s, at), series_x(s, at));
}

static bool warming_up(const struct series *lr)
{
    size_t n = lr ? series_count(lr) : 0;
    return n >= 2 && n < 1000 && series_y(lr, n - 1) > series_y(lr, n - 2);
}

static void held(const struct run *r, struct str *out, enum role *role)
{
    if (str_eq(r->state, "paused") || str_eq(r->state, "holding")) {
        clause(out, _("paused at step %" PRId64 ": Space goes on, a takes one step"), r->step);
        *role = ROLE_WARN;
    } else if (str_eq(r->state, "error")) {
        clause(out, _("the training ended with an error at step %" PRId64), r->step);
        *role = ROLE_FAIL;
    } else if (str_eq(r->state, "done")) {
        clause(out, _("the training is done: %" PRId64 " steps"), r->step);
        *role = ROLE_OK;
    }
}

void verdict_of(const struct app *a, struct str *out, enum role *role)
{
    const struct run *r = &a->s->run;
    *role = ROLE_TEXT;
    if (!r->loss || series_count(r->loss) == 0)
        return;
    held(r, out, role);
    if (not_finite(r->loss, out))
        *role = ROLE_FAIL;
    validation(r, out, role);
    spike(a, out);
    if (out->len == 0 && warming_up(r->lr))
        clause(out, _("the rate is still warming up"));
    if (out->len == 0)
        clause(out, _("step %" PRId64), r->step);
}
