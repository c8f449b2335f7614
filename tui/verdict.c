/* verdict.c - rules on a run's numbers (verdict.h): what is bad first, then what
 * is going on. */
#include "tui/verdict.h"

#include <math.h>

#include "core/base/i18n.h"
#include "tui/text.h"

enum { SPIKE_LEAST = 20, DIVERGE_LEAST = 40, PLATEAU_LEAST = 60, ZERO_STEPS = 5 };

struct numbers {
    const struct run *r;
    const struct curve_line *line;
    const double *ema;
    size_t n;                    /* of loss and ema */
};

typedef bool rule_fn(const struct numbers *s, struct verdict *v);

static double x_at(const struct numbers *s, size_t i)
{
    return series_x(s->r->loss, i);
}

/* --- the loss ------------------------------------------------------------------- */
static bool not_finite(const struct numbers *s, struct verdict *v)
{
    size_t i = s->line->first_bad;
    if (s->line->nan + s->line->inf == 0)
        return false;
    v->step = x_at(s, i);
    v->a = i > 0 ? x_at(s, i - 1) : NAN;
    v->b = i > 0 ? series_y(s->r->loss, i - 1) : NAN;
    return true;
}

/* The newest finite average at or before i; NaN: none. */
static double ema_before(const struct numbers *s, size_t i)
{
    for (i = MIN(i + 1, s->n); i > 0; i--)
        if (isfinite(s->ema[i - 1]))
            return s->ema[i - 1];
    return NAN;
}

static bool diverging(const struct numbers *s, struct verdict *v)
{
    size_t least = s->line->least_at;
    if (s->n < DIVERGE_LEAST)
        return false;
    v->a = s->ema[least];
    v->b = ema_before(s, s->n - 1);
    v->step = x_at(s, least);
    double before = ema_before(s, s->n - 1 - s->n / 5);
    return v->a > 0 && v->b > 1.5 * v->a && v->b > before * 1.02;
}

static bool lr_zero(const struct numbers *s, struct verdict *v)
{
    const struct series *lr = s->r->lr;
    size_t n = lr ? series_count(lr) : 0, i = n;
    while (i > 0 && series_y(lr, i - 1) == 0)
        i--;
    bool over = s->r->steps_total > 0 && s->r->step >= s->r->steps_total;
    if (n - i < ZERO_STEPS || over)
        return false;
    v->step = series_x(lr, i);
    return true;
}

static bool plateau(const struct numbers *s, struct verdict *v)
{
    size_t from = s->n - s->n / 3;
    double least = INFINITY, most = -INFINITY;
    if (s->n < PLATEAU_LEAST)
        return false;
    for (size_t i = from, by = (s->n - from) / 4096 + 1; i < s->n; i += by) {
        least = fmin(least, s->ema[i]);
        most = fmax(most, s->ema[i]);
    }
    v->step = x_at(s, from);
    v->a = ema_before(s, from);
    v->b = ema_before(s, s->n - 1);
    return isfinite(least) && most - least < 0.01 * fabs(v->b);
}

static bool spike(const struct numbers *s, struct verdict *v)
{
    double most = s->line->jump, mean = s->line->jump_sum / (double)s->n;
    size_t at = s->line->jump_at, back = at;
    if (s->n < SPIKE_LEAST)
        return false;
    struct series_extent e = series_range(s->r->loss, 0, s->n);
    if (at == 0 || !e.any || most < 8 * mean || most < 0.2 * (s->ema[0] - e.min))
        return false;
    double normal = s->ema[at - 1] + most * 0.2;
    while (back < s->n && !(series_y(s->r->loss, back) <= normal))
        back++;
    v->step = x_at(s, at);
    v->a = series_y(s->r->loss, at);
    v->to = back < s->n ? x_at(s, back) : NAN;
    return true;
}

/* --- validation ------------------------------------------------------------------ */
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

static bool val_rose(const struct numbers *s, struct verdict *v)
{
    const struct series *val = s->r->val;
    int t = -trend(val);
    if (t < 2)
        return false;
    size_t n = series_count(val), from = n - 1 - (size_t)t;
    v->n = t;
    v->step = series_x(val, from);
    v->a = series_y(val, from);
    v->b = series_y(val, n - 1);
    return v->b > v->a * 1.01;
}

static bool train_fell(const struct numbers *s, double since)
{
    size_t i = series_lower(s->r->loss, since);
    return i < s->n && ema_before(s, s->n - 1) < ema_before(s, i);
}

static bool overfit(const struct numbers *s, struct verdict *v)
{
    return val_rose(s, v) && train_fell(s, v->step);
}

static bool val_worse(const struct numbers *s, struct verdict *v)
{
    return val_rose(s, v) && !train_fell(s, v->step);
}

static bool val_better(const struct numbers *s, struct verdict *v)
{
    const struct series *val = s->r->val;
    int t = trend(val);
    if (t < 2)
        return false;
    v->n = t;
    v->a = series_y(val, series_count(val) - 1 - (size_t)t);
    v->b = series_y(val, series_count(val) - 1);
    v->step = series_x(val, series_count(val) - 1);
    return true;
}

/* --- the rate ---------------------------------------------------------------------- */
static bool warming_up(const struct numbers *s, struct verdict *v)
{
    const struct series *lr = s->r->lr;
    size_t n = lr ? series_count(lr) : 0;
    if (n < 3)
        return false;
    for (size_t i = n; i > 1 && n - i < 200; i--)
        if (!(series_y(lr, i - 1) > series_y(lr, i - 2)))
            return false;
    v->step = series_x(lr, n - 1);
    v->a = series_y(lr, n - 1);
    return true;
}

int verdict_find(const struct run *r, const struct curve_line *line,
                 struct verdict out[VERDICT_MOST])
{
    static rule_fn *const rules[VERDICT_KINDS] = {
        not_finite, diverging, lr_zero, overfit, val_worse, val_better, plateau, spike, warming_up};
    struct numbers s = {r, line, line->cache.ema,
                        r->loss ? MIN(line->cache.n, series_count(r->loss)) : 0};
    int found = 0;
    if (s.n == 0)
        return 0;
    for (int i = 0; i < VERDICT_KINDS; i++) {
        struct verdict v = {.kind = (enum verdict_kind)i, .step = NAN, .to = NAN, .a = NAN,
                            .b = NAN};
        if (rules[i](&s, &v))
            out[found++] = v;
    }
    return found;
}

/* --- in words -------------------------------------------------------------------------- */
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

static void say_bad(const struct verdict *v, struct str *out)
{
    char a[24], b[24];
    text_number(v->a, a);
    text_number(v->b, b);
    if (v->kind == VERDICT_DIVERGING)
        clause(out, _("it diverges: average %s @ %.0f, now %s: lower the rate"), a, v->step, b);
    else if (v->kind == VERDICT_LR_ZERO)
        clause(out, _("the rate is 0 since step %.0f: nothing is learned"), v->step);
    else if (isnan(v->a))
        clause(out, _("loss is not a number since step %.0f, the first: look at the data"),
               v->step);
    else
        clause(out,
               _("loss is not a number since step %.0f (last good: %s @ %.0f): lower the rate"),
               v->step, b, v->a);
}

static void say_val(const struct verdict *v, struct str *out)
{
    char a[24], b[24];
    text_number(v->a, a);
    text_number(v->b, b);
    if (v->kind == VERDICT_OVERFIT)
        clause(out, _("it overfits since step %.0f: val rose %d evals in a row (%s to %s), train "
                      "still falls"), v->step, v->n, a, b);
    else if (v->kind == VERDICT_VAL_WORSE)
        clause(out, _("val rose %d evals in a row since step %.0f (%s to %s)"), v->n, v->step, a,
               b);
    else
        clause(out, _("val improved %d evals in a row (%s to %s)"), v->n, a, b);
}

static void say_rest(const struct verdict *v, struct str *out)
{
    char a[24], b[24];
    text_number(v->a, a);
    text_number(v->b, b);
    if (v->kind == VERDICT_PLATEAU)
        clause(out, _("flat since step %.0f: average %s to %s"), v->step, a, b);
    else if (v->kind == VERDICT_WARMUP)
        clause(out, _("the rate is still warming up (%s)"), a);
    else if (isnan(v->to))
        clause(out, _("spike %.2f @ %.0f"), v->a, v->step);
    else
        clause(out, _("spike %.2f @ %.0f, back to normal @ %.0f"), v->a, v->step, v->to);
}

static enum role say(const struct verdict *v, struct str *out)
{
    if (v->kind <= VERDICT_LR_ZERO) {
        say_bad(v, out);
        return v->kind == VERDICT_LR_ZERO ? ROLE_WARN : ROLE_FAIL;
    }
    if (v->kind <= VERDICT_VAL_BETTER) {
        say_val(v, out);
        return v->kind == VERDICT_VAL_BETTER ? ROLE_TEXT : ROLE_WARN;
    }
    say_rest(v, out);
    return ROLE_TEXT;
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

static enum role worse(enum role a, enum role b)
{
    static const enum role order[] = {ROLE_FAIL, ROLE_WARN, ROLE_OK};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return ROLE_TEXT;
}

void verdict_of(const struct app *a, struct str *out, enum role *role)
{
    const struct run *r = &a->s->run;
    struct verdict v[VERDICT_MOST];
    *role = ROLE_TEXT;
    if (!r->loss || series_count(r->loss) == 0)
        return;
    int n = verdict_find(r, &a->line, v), i = 0;
    while (i < n && v[i].kind <= VERDICT_LR_ZERO)        /* what is bad comes first */
        *role = worse(*role, say(&v[i++], out));
    enum role state = ROLE_TEXT;
    held(r, out, &state);
    *role = worse(*role, state);
    while (i < n)
        *role = worse(*role, say(&v[i++], out));
    if (out->len == 0 && r->val && series_count(r->val) >= 2 && isfinite(r->best_val))
        clause(out, _("best val %.3f @ %.0f"), r->best_val, r->best_step);
    if (out->len == 0)
        clause(out, _("step %" PRId64), r->step);
}
