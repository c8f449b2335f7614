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

bool curve_cache_continues(const struct curve_cache *c, const struct series *s, double weight)
{
    size_t n = s ? series_count(s) : 0;
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
    if (!curve_cache_continues(c, s, weight)) {
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
/* The first point of a series with x > 0; NaN: none. */
static double first_positive(const struct series *s)
{
    for (size_t i = 0; s && i < series_count(s); i++)
        if (series_x(s, i) > 0)
            return series_x(s, i);
    return NAN;
}

static double last_x(const struct series *s)
{
    return s && series_count(s) ? series_x(s, series_count(s) - 1) : 0;
}

void curve_span(const struct curve_ask *a, double *lo, double *hi)
{
    double last = last_x(a->raw), first = first_positive(a->raw);
    for (int i = 0; i < a->ghosts; i++) {
        last = MAX(last, last_x(a->ghost[i].trace.raw));
        first = fmin(first, first_positive(a->ghost[i].trace.raw));
    }
    *lo = isnan(a->x_lo) ? 0 : a->x_lo;
    *hi = isnan(a->x_hi) ? MAX(a->x_total, last) : a->x_hi;
    if (a->log_x && !(*lo > 0))
        *lo = isnan(first) ? 1 : first;
    if (!(*hi > *lo))
        *hi = *lo + (a->log_x ? *lo : 1);
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

/* Points of a series in the view: [*from, *to). */
static void in_view(const struct series *s, const struct axis *x, size_t *from, size_t *to)
{
    *from = series_lower(s, x->lo);
    *to = series_lower(s, x->hi);
    while (*to < series_count(s) && series_x(s, *to) <= x->hi)
        ++*to;
}

static void span_of(const struct series *s, const struct axis *x, bool clip, double *lo, double *hi)
{
    size_t from, to;
    if (!s || series_count(s) == 0)
        return;
    in_view(s, x, &from, &to);
    struct series_extent e = series_range(s, from, to);
    double l = e.min, h = e.max;
    if (!e.any || (clip && !percentiles(s, from, to, &l, &h)))
        return;
    widen(lo, hi, l);
    widen(lo, hi, h);
}

/* Of another run only the average is drawn. */
static void span_ghost(const struct curve_trace *t, const struct axis *x, double *lo, double *hi)
{
    size_t from, to;
    if (!t->raw || !t->ema || series_count(t->raw) == 0)
        return;
    in_view(t->raw, x, &from, &to);
    for (size_t i = from, by = (to - from) / 4096 + 1; i < to; i += by)
        if (isfinite(t->ema[i]))
            widen(lo, hi, t->ema[i]);
}

static void span_y(const struct curve_ask *a, const struct axis *x, double *lo, double *hi)
{
    *lo = *hi = NAN;
    span_of(a->raw, x, a->clip, lo, hi);
    span_of(a->val, x, false, lo, hi);
    for (int i = 0; i < a->ghosts; i++)
        span_ghost(&a->ghost[i].trace, x, lo, hi);
}

enum { CHUNK = 512 };

/* The smallest positive value for a log axis; whole chunks by their extent. */
static double least_positive(const struct series *s)
{
    double least = NAN;
    size_t n = s ? series_count(s) : 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t end = MIN(at + CHUNK, n);
        struct series_extent e = series_range(s, at, end);
        if (e.any && e.min > 0) {
            least = fmin(least, e.min);
            continue;
        }
        for (size_t i = at; e.any && e.max > 0 && i < end; i++)
            if (isfinite(series_y(s, i)) && series_y(s, i) > 0)
                least = fmin(least, series_y(s, i));
    }
    return least;
}

static void make_axes(const struct curve_ask *a, int pw, int ph, struct curve_facts *f)
{
    double lo, hi;
    curve_span(a, &lo, &hi);
    axis_make(&f->x, lo, hi, a->log_x, MAX(pw / 7, 2));
    span_y(a, &f->x, &lo, &hi);
    bool log_y = a->log_y;
    if (log_y && !(lo > 0))
        lo = fmin(least_positive(a->raw), least_positive(a->val));
    if (log_y && (isnan(lo) || hi < lo))
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
static void draw_line(struct plot *p, const struct series *s, const double *y, size_t from,
                      size_t to, int layer)
{
    bool joined = false;
    double px = 0, py = 0;
    for (size_t i = from; i < to; i++) {
        double v = y ? y[i] : series_y(s, i);
        if (!isfinite(v) || (p->f->y.log && v <= 0) || (p->f->x.log && series_x(s, i) <= 0)) {
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
static void column_points(const struct plot *p, const struct series *s, int d, size_t *from,
                          size_t *to)
{
    double w = p->c.w - 1;
    *from = series_lower(s, axis_value(&p->f->x, (d - 0.5) / w));
    *to = series_lower(s, axis_value(&p->f->x, (d + 0.5) / w));
}

/* Many points: from minimum to maximum in each column, grown to touch the
 * column before it, so that the band has no holes. */
static void draw_band(struct plot *p)
{
    double before_lo = NAN, before_hi = NAN;
    for (int d = 0; d < p->c.w; d++) {
        size_t from, to;
        column_points(p, p->a->raw, d, &from, &to);
        struct series_extent e = series_range(p->a->raw, from, to);
        if (!e.any) {
            before_lo = NAN;
            continue;
        }
        if (p->f->y.log)
            e.min = fmax(e.min, p->f->y.lo);     /* what is not positive has no place */
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

/* An average: its last value in each column. */
static void draw_average(struct plot *p, const struct curve_trace *t, int layer)
{
    double px = NAN, py = NAN;
    for (int d = 0; d < p->c.w; d++) {
        size_t from, to;
        column_points(p, t->raw, d, &from, &to);
        double v = NAN;
        for (size_t i = to; i > from && !isfinite(v); i--)
            v = t->ema[i - 1];
        if (!isfinite(v) || (p->f->y.log && v <= 0))
            continue;
        double y = dot_y(p, v);
        for (int i = 0; i <= p->a->thick; i++)
            canvas_line(&p->c, isnan(px) ? d : px, (isnan(px) ? y : py) + i, d, y + i, layer);
        px = d;
        py = y;
    }
}

static void count_points(const struct series *s, size_t from, size_t to, struct curve_facts *f)
{
    for (size_t i = from; i < to; i++) {
        double y = series_y(s, i);
        f->above += y > f->y.hi && isfinite(y);
        f->hidden += f->y.log && y <= 0;
        f->below += y < f->y.lo && isfinite(y) && !(f->y.log && y <= 0);
    }
}

/* Chunks that lie inside the view count nothing. */
static void count_outside(const struct series *s, struct curve_facts *f)
{
    size_t n = s ? series_count(s) : 0, from, to;
    if (n == 0)
        return;
    in_view(s, &f->x, &from, &to);
    for (size_t at = from; at < to; at += CHUNK) {
        struct series_extent e = series_range(s, at, MIN(at + CHUNK, to));
        if (e.any && (e.max > f->y.hi || e.min < f->y.lo))
            count_points(s, at, MIN(at + CHUNK, to), f);
    }
    for (size_t i = 0; f->x.log && i < n && series_x(s, i) <= 0; i++)
        f->hidden++;
}

void curve_count(const struct curve_ask *a, int w, int h, struct curve_facts *f)
{
    memset(f, 0, sizeof *f);
    make_axes(a, w - 6, MAX(h - 2, 1), f);
    count_outside(a->raw, f);
    count_outside(a->val, f);
}

static void draw_trace(struct plot *p, const struct curve_trace *t, bool raw, int layer)
{
    const struct series *s = t->raw;
    if (!s || series_count(s) == 0)
        return;
    size_t from = series_lower(s, p->f->x.lo), to = series_lower(s, p->f->x.hi);
    from -= from > 0;
    to = MIN(to + 1, series_count(s));
    bool few = to - from <= (size_t)p->c.w;
    if (raw && few)
        draw_line(p, s, NULL, from, to, CANVAS_BACK);
    else if (raw)
        draw_band(p);
    if (t->ema && few)
        draw_line(p, s, t->ema, from, to, layer);
    else if (t->ema)
        draw_average(p, t, layer);
}

/* Signs along another run's line, so that it is told apart without colours; the
 * runs' signs stand at different columns. */
static void sign_ghost(struct plot *p, int g)
{
    const struct curve_ghost *ghost = &p->a->ghost[g];
    const struct series *s = ghost->trace.raw;
    int every = MAX(p->c.cols / 8, 6);
    if (!s || !ghost->trace.ema || series_count(s) == 0)
        return;
    for (int col = every / 2 + g * every / CURVE_GHOSTS; col < p->c.cols; col += every) {
        double share = (double)(col * p->c.cell_w) / (p->c.w - 1);
        size_t i = series_lower(s, axis_value(&p->f->x, share));
        if (i < series_count(s) && isfinite(ghost->trace.ema[i]))
            canvas_mark(&p->c, col * p->c.cell_w, dot_y(p, ghost->trace.ema[i]), ghost->mark,
                        ghost->role);
    }
}

static void draw_runs(struct plot *p)
{
    struct curve_trace own = {p->a->raw, p->a->val, p->a->ema};
    for (int g = 0; g < p->a->ghosts; g++) {
        p->c.role[CANVAS_GHOST + g] = p->a->ghost[g].role;
        draw_trace(p, &p->a->ghost[g].trace, false, CANVAS_GHOST + g);
        sign_ghost(p, g);
    }
    draw_trace(p, &own, !p->a->no_band, CANVAS_FRONT);
    count_outside(p->a->raw, p->f);
    count_outside(p->a->val, p->f);
}

static void draw_marks(struct plot *p)
{
    const struct series *s = p->a->val;
    for (size_t i = 0; s && i < series_count(s); i++)
        if (isfinite(series_y(s, i)) && !(p->f->x.log && series_x(s, i) <= 0))
            canvas_mark(&p->c, dot_x(p, series_x(s, i)), dot_y(p, series_y(s, i)), G_VAL, ROLE_VAL);
    s = p->a->raw;
    for (int d = 0; s && series_count(s) && d < p->c.w; d++) {
        size_t from, to;
        column_points(p, s, d, &from, &to);
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
    draw_runs(&p);
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
