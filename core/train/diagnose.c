/* diagnose.c - the rules (diagnose.h). Each looks at the whole series and says
 * nothing when the numbers do not speak for it. */
#include "core/train/diagnose.h"

#include <math.h>
#include <stdarg.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { WINDOW = 20, SHORTEST = 8 };

void run_series_init(struct run_series *s)
{
    *s = (struct run_series){.clip = NAN, .warmup = NAN, .rate = NAN};
}

void run_series_release(struct run_series *s)
{
    free(s->v);
}

void run_series_add(struct run_series *s, const struct series_row *row)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 256;
        s->v = xrealloc_array(s->v, (size_t)s->cap, sizeof *s->v);
    }
    s->v[s->n++] = *row;
}

/* --- small statistics -------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
    if (n == 0)
        return NAN;
    qsort(v, (size_t)n, sizeof *v, by_value);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* Of up to WINDOW finite values of a column in rows [from, to). */
static double middle(const struct run_series *s, size_t column, int from, int to)
{
    double v[WINDOW];
    int n = 0;
    for (int i = to; i-- > MAX(from, 0) && n < WINDOW;) {
        double x;
        memcpy(&x, (const char *)&s->v[i] + column, sizeof x);
        if (isfinite(x))
            v[n++] = x;
    }
    return median(v, n);
}

#define MIDDLE(s, column, from, to) middle(s, offsetof(struct series_row, column), from, to)

static int find_rows(const struct run_series *s, bool val)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += val ? s->v[i].has_val : s->v[i].has_loss;
    return n;
}

static bool put(struct diagnosis *d, const char *id, bool certain, double step, const char *hint,
                const char *fmt, ...) PRINTF_LIKE(6, 7);

static bool put(struct diagnosis *d, const char *id, bool certain, double step, const char *hint,
                const char *fmt, ...)
{
    va_list ap;
    *d = (struct diagnosis){.id = id, .certain = certain, .step = step};
    va_start(ap, fmt);
    vsnprintf(d->text, sizeof d->text, fmt, ap);
    va_end(ap);
    str_copy(d->hint, sizeof d->hint, hint);
    return true;
}

/* --- not a number -------------------------------------------------------------------- */

/* The row whose loss or gradient norm is first no number; -1: none. */
static int first_bad(const struct run_series *s)
{
    for (int i = 0; i < s->n; i++)
        if ((s->v[i].has_loss && !isfinite(s->v[i].loss)) ||
            (s->v[i].has_gnorm && !isfinite(s->v[i].gnorm)))
            return i;
    return -1;
}

static const char *nan_hint(const struct run_series *s, bool spike, bool first)
{
    if (first)
        return _("look at the data and the weights first: all labels masked, or a NaN in a "
                 "tensor file (podium-train check)");
    if (s->clip == 0)
        return _("clip gradients (clip 1), lower the rate, go on from the last finite checkpoint");
    return spike ? _("lower the rate or lengthen the warmup; in fp16 use bf16 or loss scaling; go "
                     "on from the last finite checkpoint")
                 : _("in fp16 use bf16 or loss scaling; else replay that step to see which "
                     "operation fails; go on from the last finite checkpoint");
}

static bool rule_nan(const struct run_series *s, struct diagnosis *d)
{
    int i = first_bad(s);
    char before[200] = "";
    if (i < 0)
        return false;
    const struct series_row *r = &s->v[i], *p = i ? &s->v[i - 1] : NULL;
    double usual = MIDDLE(s, gnorm, 0, i - 1);
    bool spike = p && isfinite(p->gnorm) && isfinite(usual) && p->gnorm > 3 * usual;
    if (p)
        str_fmt(before, sizeof before, spike ? _("; at step %g the gradient norm was %.2f, usually "
                                                 "%.2f (x %.0f)")
                                             : _("; at step %g all was finite (gradient norm %.2f, "
                                                 "usually %.2f)"),
                p->step, p->gnorm, usual, p->gnorm / usual);
    const char *what = r->has_loss && !isfinite(r->loss) ? _("the loss") : _("the gradient norm");
    return put(d, "loss-nan", true, r->step, nan_hint(s, spike, i == 0),
               _("%s is NaN or infinite from step %g on%s%s"), what, r->step, before,
               spike ? _(": the run blew up") : "");
}

/* --- nothing is learned ------------------------------------------------------------------ */

static bool rule_zero_rate(const struct run_series *s, struct diagnosis *d)
{
    int n = 0;
    for (int i = 1; i < s->n; i++) {          /* the first step of a warmup has rate 0 */
        if (isfinite(s->v[i].lr) && s->v[i].lr > 0)
            return false;
        n += isfinite(s->v[i].lr);
    }
    if (n < SHORTEST)
        return false;
    return put(d, "rate-zero", true, s->v[0].step,
               _("set a learning rate; check the schedule's number of steps"),
               _("the learning rate is 0 in all %d steps: nothing moves"), n);
}

static bool rule_no_gradient(const struct run_series *s, struct diagnosis *d)
{
    int n = 0, zero = 0;
    for (int i = 0; i < s->n; i++) {
        n += isfinite(s->v[i].gnorm);
        zero += isfinite(s->v[i].gnorm) && s->v[i].gnorm == 0;
    }
    if (n < SHORTEST || zero < n)
        return false;
    double loss = MIDDLE(s, loss, 0, s->n);
    return put(d, "no-gradient", true, s->v[0].step,
               loss == 0 ? _("every label is masked: look at inspect-batch, and at the prompt's "
                             "length")
                         : _("no gradient reaches what is trained: are the right modules "
                             "targeted, and is the base frozen but its inputs not?"),
               _("the gradient norm is 0 in all %d steps, the loss stays at %.3f"), n, loss);
}

static bool rule_flat(const struct run_series *s, struct diagnosis *d)
{
    double first = MIDDLE(s, loss, 0, MIN(s->n, 5)), last = MIDDLE(s, loss, 0, s->n);
    double guess = s->vocab > 1 ? log(s->vocab) : NAN;
    if (find_rows(s, false) < WINDOW || !(fabs(last - first) < 0.01 * first))
        return false;
    if (fabs(last - guess) < 0.02 * guess)
        return put(d, "flat-at-guess", true, s->v[0].step,
                   _("raise the rate; a base with random weights needs far more steps"),
                   _("the loss stays at %.2f, which is ln %.0f: the model only guesses"), last,
                   s->vocab);
    return put(d, "flat", false, s->v[0].step,
               _("raise the rate by ten; look at what is trained (inspect-batch)"),
               _("the loss has not moved: %.3f at first, %.3f at last, over %d steps"), first, last,
               find_rows(s, false));
}

/* --- it gets worse ------------------------------------------------------------------------ */

static int best_row(const struct run_series *s, bool val)
{
    int best = -1;
    for (int i = 0; i < s->n; i++) {
        double x = val ? s->v[i].val : MIDDLE(s, loss, i - 4, i + 1);
        if (isfinite(x) && (best < 0 || x < (val ? s->v[best].val : MIDDLE(s, loss, best - 4,
                                                                             best + 1))))
            best = i;
    }
    return best;
}

/* The first row in which the rate has its largest value. */
static int peak_row(const struct run_series *s)
{
    int peak = -1;
    for (int i = 0; i < s->n; i++)
        if (isfinite(s->v[i].lr) && (peak < 0 || s->v[i].lr > s->v[peak].lr * 1.0001))
            peak = i;
    return peak;
}

static bool rule_diverges(const struct run_series *s, struct diagnosis *d)
{
    int best = best_row(s, false), peak = peak_row(s);
    double low = best < 0 ? NAN : MIDDLE(s, loss, best - 4, best + 1);
    double last = MIDDLE(s, loss, s->n - 5, s->n);
    char about[160] = "";
    if (best < 0 || s->n - best < SHORTEST || !(last > 1.2 * low))
        return false;
    if (peak >= 0 && abs(peak - best) <= MAX(5, s->n / 10))
        str_fmt(about, sizeof about, _("; the rate reached its peak of %.3g at step %g"),
                s->v[peak].lr, s->v[peak].step);
    return put(d, "diverges", true, s->v[best].step,
               _("lower the rate to a third, lengthen the warmup, or clip harder"),
               _("the loss was lowest at step %g (%.3f) and has risen to %.3f since%s"),
               s->v[best].step, low, last, about);
}

static bool rule_overfits(const struct run_series *s, struct diagnosis *d)
{
    int best = best_row(s, true), last = s->n - 1;
    while (last >= 0 && !s->v[last].has_val)
        last--;
    if (find_rows(s, true) < 3 || best < 0 || last <= best ||
        !(s->v[last].val > 1.02 * s->v[best].val))
        return false;
    double then = MIDDLE(s, loss, best - 10, best + 1), now = MIDDLE(s, loss, last - 10, last + 1);
    if (!(now < then))
        return false;
    return put(d, "overfits", true, s->v[best].step,
               _("take the checkpoint of the best step; stop earlier, add data or dropout, or "
                 "lower the rank"),
               _("the validation loss was lowest at step %g (%.3f) and is %.3f now, while the "
                 "training loss went on falling (%.3f to %.3f): it learns the data by heart"),
               s->v[best].step, s->v[best].val, s->v[last].val, then, now);
}

/* --- it shakes ------------------------------------------------------------------------------ */

static bool rule_oscillates(const struct run_series *s, struct diagnosis *d)
{
    double sum = 0, square = 0, first = MIDDLE(s, loss, s->n / 2, s->n / 2 + 10);
    int n = 0, turns = 0;
    for (int i = s->n / 2; i < s->n; i++) {
        double x = s->v[i].loss;
        if (!isfinite(x))
            continue;
        sum += x, square += x * x, n++;
        if (i >= 2 && (x - s->v[i - 1].loss) * (s->v[i - 1].loss - s->v[i - 2].loss) < 0)
            turns++;
    }
    double mean = n ? sum / n : NAN, spread = n ? sqrt(fmax(square / n - mean * mean, 0)) : 0;
    double last = MIDDLE(s, loss, s->n - 10, s->n);
    if (n < WINDOW || !(spread > 0.15 * mean) || turns < n / 2 || last < 0.9 * first)
        return false;
    return put(d, "oscillates", false, s->v[s->n / 2].step,
               _("lower the rate; or make the batch larger (accumulate)"),
               _("the loss swings by %.0f %% around %.3f in the second half and no longer falls"),
               100 * spread / mean, mean);
}

static bool rule_spike(const struct run_series *s, struct diagnosis *d)
{
    for (int i = WINDOW / 2; i + 3 < s->n; i++) {
        double usual = MIDDLE(s, loss, i - WINDOW, i), after = MIDDLE(s, loss, i + 1, i + 4);
        double size = fabs(MIDDLE(s, loss, i - WINDOW, i - WINDOW / 2) - usual) + 0.3 * usual;
        if (isfinite(s->v[i].loss) && s->v[i].loss > usual + 2 * size && after < usual + size / 2)
            return put(d, "spike", true, s->v[i].step,
                       _("look at that step's records (--replay); a spike that heals needs no "
                         "change of the rate"),
                       _("the loss jumped to %.3f at step %g (usually %.3f) and came back: one "
                         "batch is unlike the others"),
                       s->v[i].loss, s->v[i].step, usual);
    }
    return false;
}

static bool rule_stops_early(const struct run_series *s, struct diagnosis *d)
{
    int zero = 0;
    for (int i = s->n; i-- > 1 && isfinite(s->v[i].lr) && s->v[i].lr == 0;)
        zero++;
    if (zero < SHORTEST || zero >= s->n - 1)
        return false;
    return put(d, "rate-ended", true, s->v[s->n - zero].step,
               _("give the schedule the true number of steps"),
               _("the learning rate is 0 since step %g: the last %d steps change nothing"),
               s->v[s->n - zero].step, zero);
}

int diagnose(const struct run_series *s, struct diagnosis out[DIAGNOSES])
{
    static bool (*const rules[])(const struct run_series *, struct diagnosis *) = {
        rule_nan, rule_zero_rate, rule_no_gradient, rule_diverges, rule_overfits, rule_stops_early,
        rule_flat, rule_oscillates, rule_spike};
    int n = 0, losses = find_rows(s, false);
    for (size_t i = 0; i < ARRAY_LEN(rules) && n < DIAGNOSES; i++)
        n += rules[i](s, &out[n]);
    /* what comes before the first NaN says the rest */
    if (n > 1 && str_eq(out[0].id, "loss-nan"))
        n = 1;
    if (n > 1 && (str_eq(out[0].id, "rate-zero") || str_eq(out[0].id, "no-gradient")))
        n = 1;
    if (n > 0)
        return n;
    if (losses < SHORTEST)
        put(&out[0], "too-short", true, NAN, _("let it run on"),
            _("%d losses are too few to say anything"), losses);
    else
        put(&out[0], "fine", true, NAN, "", _("nothing is wrong with these numbers: the loss went "
                                             "from %.3f to %.3f in %d steps"),
            MIDDLE(s, loss, 0, 5), MIDDLE(s, loss, s->n - 5, s->n), losses);
    return 1;
}
