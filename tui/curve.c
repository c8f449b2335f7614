/* curve.c - series to dots, dots to cells (curve.h). */
#include "tui/curve.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/canvas.h"

void curve_cache_init(struct curve_cache *c)
{
    memset(c, 0, sizeof *c);
}

void curve_cache_release(struct curve_cache *c)
{
    free(c->ema);
    curve_cache_init(c);
}

static bool continues(const struct curve_cache *c, const struct series *s, double weight)
{
    size_t n = series_count(s);
    if (c->n == 0 || n < c->n || c->weight != weight || series_x(s, c->n - 1) != c->last_x)
        return false;
    double first = series_y(s, 0);
    return first == c->first_y || (isnan(first) && isnan(c->first_y));
}

void curve_cache_update(struct curve_cache *c, const struct series *s, double weight)
{
    size_t n = s ? series_count(s) : 0;
    if (n == 0) {
        c->n = 0;
        return;
    }
    if (!continues(c, s, weight)) {
        c->n = 0;
        c->weight = weight;
        c->first_y = series_y(s, 0);
        ema_init(&c->state);
    }
    if (n > c->cap) {
        c->cap = n + n / 2 + 64;
        c->ema = xrealloc_array(c->ema, c->cap, sizeof *c->ema);
    }
    for (; c->n < n; c->n++)
        c->ema[c->n] = ema_push(&c->state, weight, series_y(s, c->n));
    c->last_x = series_x(s, n - 1);
}

/* --- limits ---------------------------------------------------------------- */
void curve_span(const struct curve_ask *a, double *lo, double *hi)
{
    size_t n = a->raw ? series_count(a->raw) : 0;
    double last = n ? series_x(a->raw, n - 1) : 0;
    *lo = isnan(a->x_lo) ? 0 : a->x_lo;
    *hi = isnan(a->x_hi) ? MAX(a->x_total, last) : a->x_hi;
    if (!(*hi > *lo))
        *hi = *lo + 1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The 2nd and 98th percentile of the finite points in [from, to). */
static bool percentiles(const struct series *s, size_t from, size_t to, double *lo, double *hi)
{
    size_t stride = (to - from) / 4096 + 1, n = 0;
    double *v = xmalloc(((to - from) / stride + 1) * sizeof *v);
    for (size_t i = from; i < to; i += stride)
        if (isfinite(series_y(s, i)))
            v[n++] = series_y(s, i);
    qsort(v, n, sizeof *v, compare);
    if (n > 0) {
        *lo = v[n * 2 / 100];
        *hi = v[MIN(n * 98 / 100, n - 1)];
    }
    free(v);
    return n > 0;
}

static void widen(double *lo, double *hi, double v)
{
    *lo = isnan(*lo) ? v : MIN(*lo, v);
    *hi = isnan(*hi) ? v : MAX(*hi, v);
}

static void span_y(const struct curve_ask *a, const struct axis *x, double *lo, double *hi)
{
    const struct series *both[2] = {a->raw, a->val};
    *lo = *hi = NAN;
    for (int i = 0; i < 2; i++) {
        const struct series *s = both[i];
        if (!s || series_count(s) == 0)
            continue;
        size_t from = series_lower(s, x->lo), to = series_lower(s, x->hi);
        while (to < series_count(s) && series_x(s, to) <= x->hi)
            to++;
        struct series_extent e = series_range(s, from, to);
        double l = e.min, h = e.max;
        if (!e.any || (i == 0 && a->clip && !percentiles(s, from, to, &l, &h)))
            continue;
        widen(lo, hi, l);
        widen(lo, hi, h);
    }
}

/* The smallest positive value for a log axis. */
static double least_positive(const struct curve_ask *a)
{
    double least = NAN;
    for (size_t i = 0; a->raw && i < series_count(a->raw); i++) {
        double y = series_y(a->raw, i);
        if (isfinite(y) && y > 0)
            least = isnan(least) ? y : MIN(least, y);
    }
    return least;
}

static void make_axes(const struct curve_ask *a, int pw, int ph, struct curve_facts *f)
{
    double lo, hi;
    curve_span(a, &lo, &hi);
    axis_make(&f->x, lo, hi, false, MAX(pw / 7, 2));
    span_y(a, &f->x, &lo, &hi);
    bool log_y = a->log_y;
    if (log_y && !(lo > 0))
        lo = least_positive(a);
    if (log_y && (isnan(lo) || hi <= lo))
        log_y = false;
    double pad = log_y ? 0 : (hi - lo) * 0.04;
    axis_make(&f->y, log_y ? lo / 1.05 : lo - pad, log_y ? hi * 1.05 : hi + pad, log_y,
              MAX(ph / 2, 2));
}

/* --- dots ------------------------------------------------------------------ */
struct plot {
    const struct curve_ask *a;
    struct curve_facts *f;
    struct canvas c;
};

static double dot_x(const struct plot *p, double x)
{
    return axis_share(&p->f->x, x) * (p->c.w - 1);
}

static double dot_y(const struct plot *p, double y)
{
    return (1 - axis_share(&p->f->y, y)) * (p->c.h - 1);
}

/* Few points: a line through them. */
static void draw_line(struct plot *p, const double *y, size_t from, size_t to, int layer)
{
    const struct series *s = p->a->raw;
    bool joined = false;
    double px = 0, py = 0;
    for (size_t i = from; i < to; i++) {
        double v = y ? y[i] : series_y(s, i);
        if (!isfinite(v)) {
            joined = false;
            continue;
        }
        double cx = dot_x(p, series_x(s, i)), cy = dot_y(p, v);
        if (joined)
            canvas_line(&p->c, px, py, cx, cy, layer);
        else
            canvas_line(&p->c, cx, cy, cx, cy, layer);
        px = cx;
        py = cy;
        joined = true;
    }
}

/* The points of dot column d: [*from, *to). */
static void column_points(const struct plot *p, int d, size_t *from, size_t *to)
{
    double w = p->c.w - 1;
    *from = series_lower(p->a->raw, axis_value(&p->f->x, (d - 0.5) / w));
    *to = series_lower(p->a->raw, axis_value(&p->f->x, (d + 0.5) / w));
}

/* Many points: from minimum to maximum in each column, grown to touch the
 * column before it, so that the band has no holes. */
static void draw_band(struct plot *p)
{
    double before_lo = NAN, before_hi = NAN;
    for (int d = 0; d < p->c.w; d++) {
        size_t from, to;
        column_points(p, d, &from, &to);
        struct series_extent e = series_range(p->a->raw, from, to);
        if (!e.any) {
            before_lo = NAN;
            continue;
        }
        double lo = e.min, hi = e.max;
        if (!isnan(before_lo)) {
            lo = MIN(lo, before_hi);
            hi = MAX(hi, before_lo);
        }
        if (p->a->edges) {
            canvas_line(&p->c, d, dot_y(p, e.min), d, dot_y(p, e.min), CANVAS_BACK);
            canvas_line(&p->c, d, dot_y(p, e.max), d, dot_y(p, e.max), CANVAS_BACK);
        } else {
            canvas_line(&p->c, d, dot_y(p, lo), d, dot_y(p, hi), CANVAS_BACK);
        }
        before_lo = e.min;
        before_hi = e.max;
    }
}

/* The average: its last value in each column. */
static void draw_average(struct plot *p)
{
    double px = NAN, py = NAN;
    for (int d = 0; d < p->c.w; d++) {
        size_t from, to;
        column_points(p, d, &from, &to);
        double v = NAN;
        for (size_t i = to; i > from && !isfinite(v); i--)
            v = p->a->ema[i - 1];
        if (!isfinite(v))
            continue;
        double y = dot_y(p, v);
        for (int i = 0; i <= p->a->thick; i++)
            canvas_line(&p->c, isnan(px) ? d : px, (isnan(px) ? y : py) + i, d, y + i,
                        CANVAS_FRONT);
        px = d;
        py = y;
    }
}

static void count_outside(struct plot *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        double y = series_y(p->a->raw, i);
        p->f->above += y > p->f->y.hi && isfinite(y);
        p->f->below += y < p->f->y.lo && isfinite(y);
        p->f->hidden += p->f->y.log && y <= 0;
    }
}

static void draw_raw(struct plot *p)
{
    const struct series *s = p->a->raw;
    if (!s || series_count(s) == 0)
        return;
    size_t from = series_lower(s, p->f->x.lo), to = series_lower(s, p->f->x.hi);
    from -= from > 0;
    to = MIN(to + 1, series_count(s));
    bool few = to - from <= (size_t)p->c.w;
    if (!p->a->no_band && few)
        draw_line(p, NULL, from, to, CANVAS_BACK);
    else if (!p->a->no_band)
        draw_band(p);
    if (p->a->ema && few)
        draw_line(p, p->a->ema, from, to, CANVAS_FRONT);
    else if (p->a->ema)
        draw_average(p);
    if (p->a->clip || p->f->y.log)
        count_outside(p, from, to);
}

static void draw_marks(struct plot *p)
{
    const struct series *s = p->a->val;
    for (size_t i = 0; s && i < series_count(s); i++)
        if (isfinite(series_y(s, i)))
            canvas_mark(&p->c, dot_x(p, series_x(s, i)), dot_y(p, series_y(s, i)), G_VAL, ROLE_VAL);
    s = p->a->raw;
    for (int d = 0; s && series_count(s) && d < p->c.w; d++) {
        size_t from, to;
        column_points(p, d, &from, &to);
        if (from < to && series_range(s, from, to).nonfinite)
            canvas_mark(&p->c, d, p->c.h - 1, G_NAN, ROLE_FAIL);
    }
    if (!isnan(p->a->cursor))
        canvas_column(&p->c, dot_x(p, p->a->cursor));
}

/* --- rows ------------------------------------------------------------------ */
static int label_width(const struct axis *y)
{
    char buf[24];
    int w = 3;
    for (int i = 0; i < y->n; i++)
        w = MAX(w, utf8_str_width(axis_label(y, y->tick[i], buf)));
    return w;
}

static void y_label(struct rows *out, const struct plot *p, int row, int width)
{
    char buf[24];
    const struct axis *y = &p->f->y;
    for (int i = y->n - 1; i >= 0; i--) {
        int at = (int)lround(dot_y(p, y->tick[i])) / p->c.cell_h;
        if (at == row) {
            rows_cell_right(out, ROLE_AXIS, axis_label(y, y->tick[i], buf), width);
            rows_sign(out, ROLE_AXIS, G_TICK_Y);
            return;
        }
    }
    rows_pad(out, width);
    rows_sign(out, ROLE_AXIS, G_V);
}

/* The base line with its ticks, and the labels under them: a label that would
 * touch the one before it is left out. */
static void x_axis(struct rows *out, const struct plot *p, int left, int pw)
{
    const struct axis *x = &p->f->x;
    int col[AXIS_TICKS];
    for (int i = 0; i < x->n; i++)
        col[i] = MIN((int)lround(dot_x(p, x->tick[i])) / p->c.cell_w, pw - 1);
    rows_new(out, -1);
    rows_pad(out, left - 1);
    rows_sign(out, ROLE_AXIS, G_CORNER);
    for (int c = 0, i = 0; c < pw; c++) {
        while (i < x->n && col[i] < c)
            i++;
        rows_sign(out, ROLE_AXIS, i < x->n && col[i] == c && c > 0 ? G_TICK_X : G_H);
    }
    struct row *labels = rows_new(out, -1);
    for (int i = 0; i < x->n; i++) {
        char buf[24];
        int w = utf8_str_width(axis_label(x, x->tick[i], buf));
        int at = MIN(left + col[i] - w / 2, left + pw - w);
        if (at < labels->width + (labels->width > 0))
            continue;
        rows_pad(out, at);
        rows_put(out, ROLE_AXIS, buf);
        labels = &out->v[out->n - 1];
    }
}

void curve_rows(const struct curve_ask *a, struct rows *out, int w, int h,
                struct curve_facts *facts)
{
    struct curve_facts own;
    struct plot p = {.a = a, .f = facts ? facts : &own};
    memset(p.f, 0, sizeof *p.f);
    int ph = MAX(h - 2, 1);
    make_axes(a, w - 6, ph, p.f);
    int left = label_width(&p.f->y) + 1, pw = MAX(w - left, 4);
    canvas_init(&p.c, pw, ph, a->dots);
    draw_raw(&p);
    draw_marks(&p);
    for (int y = 0; y < ph; y++) {
        rows_new(out, -1);
        y_label(out, &p, y, left - 1);
        canvas_row(&p.c, y, out);
    }
    x_axis(out, &p, left, pw);
    canvas_release(&p.c);
}

void curve_spark(const struct series *s, struct rows *out, int width)
{
    size_t n = s ? series_count(s) : 0;
    struct series_extent e = n ? series_range(s, 0, n) : (struct series_extent){0};
    if (!e.any || width < 1)
        return;
    int w = (int)MIN((size_t)width, n);
    for (int c = 0; c < w; c++) {
        size_t from = n * (size_t)c / (size_t)w, to = n * (size_t)(c + 1) / (size_t)w;
        struct series_extent k = series_range(s, from, to);
        double v = k.any ? (fabs(k.min - e.max) > fabs(k.max - e.max) && k.min < k.max
                                ? k.min : k.max) : NAN;
        double share = e.max > e.min ? (v - e.min) / (e.max - e.min) : 0.5;
        if (isnan(share))
            rows_put(out, ROLE_RAW, " ");
        else
            rows_put(out, ROLE_RAW, glyph_spark(out->glyphs, (int)(share * 7.0 + 0.5)));
    }
}
