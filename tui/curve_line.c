/* curve_line.c - a run over steps, tokens, epochs or seconds (curve_line.h). */
#include "tui/curve_line.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

const char *curve_x_name(enum curve_x x)
{
    static const char *const names[X_COUNT] = {N_("step"), N_("tokens"), N_("epoch"), N_("time")};
    return _(names[x]);
}

void curve_line_init(struct curve_line *l)
{
    memset(l, 0, sizeof *l);
    curve_cache_init(&l->cache);
}

static void forget_mapped(struct curve_line *l)
{
    series_free(l->raw);
    series_free(l->val);
    l->raw = l->val = NULL;
    l->mapped = l->val_mapped = 0;
}

void curve_line_release(struct curve_line *l)
{
    forget_mapped(l);
    free(l->ema);
    curve_cache_release(&l->cache);
    memset(l, 0, sizeof *l);
}

static const struct series *unit_of(const struct run *r, enum curve_x x)
{
    return x == X_TOKENS ? r->tokens : x == X_EPOCH ? r->epochs : x == X_TIME ? r->seconds : NULL;
}

double curve_line_x(const struct run *r, enum curve_x x, double step)
{
    const struct series *s = unit_of(r, x);
    if (x == X_STEP)
        return step;
    size_t i = s ? series_lower(s, step) : 0;
    if (!s || i == series_count(s))
        return NAN;
    if (i == 0 && series_x(s, 0) > step)
        return step == 0 ? 0 : NAN;      /* before the first update */
    return series_y(s, i);
}

static void count_average(struct curve_line *l, size_t i, double y)
{
    const double *ema = l->cache.ema;
    double d = i > 0 ? y - ema[i - 1] : NAN;
    if (isfinite(ema[i]) && !(ema[i] >= ema[l->least_at]))
        l->least_at = i;
    if (!isfinite(d))
        return;
    l->jump_sum += fabs(d);
    if (d > l->jump) {
        l->jump = d;
        l->jump_at = i;
    }
}

static void count_odd(struct curve_line *l, const struct series *s)
{
    for (; l->counted < series_count(s); l->counted++) {
        size_t i = l->counted;
        double y = series_y(s, i);
        if (!isfinite(y) && l->nan + l->inf == 0)
            l->first_bad = i;
        l->nan += isnan(y);
        l->inf += isinf(y) != 0;
        if (i > 0) {
            double d = series_x(s, i) - series_x(s, i - 1);
            l->gaps += d > 1.5 ? (size_t)(fmin(d, 1e9) - 0.5) : 0;
        }
        count_average(l, i, y);
    }
}

static void forget_counts(struct curve_line *l)
{
    l->counted = l->nan = l->inf = l->gaps = l->first_bad = l->least_at = l->jump_at = 0;
    l->jump = l->jump_sum = 0;
}

static void map_points(struct curve_line *l, const struct run *r)
{
    if (!l->raw) {
        l->raw = series_new();
        l->val = series_new();
    }
    if (series_count(r->loss) > l->cap) {
        l->cap = series_count(r->loss) * 3 / 2 + 64;
        l->ema = xrealloc_array(l->ema, l->cap, sizeof *l->ema);
    }
    for (; l->mapped < series_count(r->loss); l->mapped++) {
        double x = curve_line_x(r, l->x, series_x(r->loss, l->mapped));
        if (series_append(l->raw, x, series_y(r->loss, l->mapped)))
            l->ema[series_count(l->raw) - 1] = l->cache.ema[l->mapped];
    }
    for (; l->val_mapped < series_count(r->val); l->val_mapped++)
        series_append(l->val, curve_line_x(r, l->x, series_x(r->val, l->val_mapped)),
                      series_y(r->val, l->val_mapped));
}

void curve_line_update(struct curve_line *l, const struct run *r, enum curve_x x, double weight)
{
    bool same = curve_cache_continues(&l->cache, r->loss, weight);
    curve_cache_update(&l->cache, r->loss, weight);
    if (!same || l->x != x)
        forget_mapped(l);
    if (!same)
        forget_counts(l);
    l->x = x;
    if (!r->loss)
        return;
    count_odd(l, r->loss);
    if (x != X_STEP && r->val)
        map_points(l, r);
}

struct curve_trace curve_line_trace(const struct curve_line *l, const struct run *r)
{
    if (l->x == X_STEP)
        return (struct curve_trace){r->loss, r->val, l->cache.n ? l->cache.ema : NULL};
    return (struct curve_trace){l->raw, l->val, l->raw && l->cache.n ? l->ema : NULL};
}

double curve_line_ema(const struct curve_line *l, const struct run *r, double step)
{
    size_t i = r->loss ? series_lower(r->loss, step) : 0;
    return r->loss && i < l->cache.n && series_x(r->loss, i) == step ? l->cache.ema[i] : NAN;
}
