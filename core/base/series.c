/* series.c - points of one metric with a min/max pyramid, and the debiased
 * moving average (series.h). */
#include "core/base/series.h"

#include <math.h>

#include "core/base/mem.h"

enum { FANOUT = 8, LEVELS = 12 };

struct block {
    double min, max;             /* min > max: no finite point */
    uint32_t nonfinite;
};

struct series {
    double *x, *y;
    size_t n, cap;
    struct {
        struct block *v;
        size_t n, cap;
    } level[LEVELS];             /* level[k] block i covers 8^(k+1) points */
};

struct series *series_new(void)
{
    return xcalloc(1, sizeof(struct series));
}

void series_free(struct series *s)
{
    if (!s)
        return;
    for (int k = 0; k < LEVELS; k++)
        free(s->level[k].v);
    free(s->x);
    free(s->y);
    free(s);
}

static void block_add(struct block *b, double y)
{
    if (!isfinite(y)) {
        b->nonfinite++;
        return;
    }
    b->min = fmin(b->min, y);
    b->max = fmax(b->max, y);
}

static void pyramid_add(struct series *s, size_t index, double y)
{
    for (int k = 0; k < LEVELS; k++) {
        index /= FANOUT;
        if (index >= s->level[k].n) {
            if (index >= s->level[k].cap) {
                s->level[k].cap = s->level[k].cap ? s->level[k].cap * 2 : 16;
                s->level[k].v =
                    xrealloc_array(s->level[k].v, s->level[k].cap, sizeof *s->level[k].v);
            }
            s->level[k].v[s->level[k].n++] = (struct block){INFINITY, -INFINITY, 0};
        }
        block_add(&s->level[k].v[index], y);
    }
}

bool series_append(struct series *s, double x, double y)
{
    if (!isfinite(x) || (s->n > 0 && x <= s->x[s->n - 1]))
        return false;
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 64;
        s->x = xrealloc_array(s->x, s->cap, sizeof *s->x);
        s->y = xrealloc_array(s->y, s->cap, sizeof *s->y);
    }
    s->x[s->n] = x;
    s->y[s->n] = y;
    pyramid_add(s, s->n, y);
    s->n++;
    return true;
}

size_t series_count(const struct series *s)
{
    return s->n;
}

double series_x(const struct series *s, size_t i)
{
    assert(i < s->n);
    return s->x[i];
}

double series_y(const struct series *s, size_t i)
{
    assert(i < s->n);
    return s->y[i];
}

size_t series_lower(const struct series *s, double x)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (s->x[mid] < x)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The largest aligned block that starts at `from` and ends within `to`: its
 * level, or -1 for a single point. */
static int widest(const struct series *s, size_t from, size_t to, size_t *size)
{
    int level = -1;
    *size = 1;
    for (int k = 0; k < LEVELS; k++) {
        size_t wide = *size * FANOUT;
        if (from % wide || from + wide > to || from / wide >= s->level[k].n)
            break;
        level = k;
        *size = wide;
    }
    return level;
}

struct series_extent series_range(const struct series *s, size_t from, size_t to)
{
    struct block sum = {INFINITY, -INFINITY, 0};
    to = MIN(to, s->n);
    while (from < to) {
        size_t size;
        int k = widest(s, from, to, &size);
        if (k < 0) {
            block_add(&sum, s->y[from]);
        } else {
            const struct block *b = &s->level[k].v[from / size];
            sum.min = fmin(sum.min, b->min);
            sum.max = fmax(sum.max, b->max);
            sum.nonfinite += b->nonfinite;
        }
        from += size;
    }
    bool any = sum.min <= sum.max;
    return (struct series_extent){any, any ? sum.min : 0, any ? sum.max : 0, sum.nonfinite};
}

void ema_init(struct ema *e)
{
    *e = (struct ema){.weight_power = 1, .constant = true};
}

double ema_push(struct ema *e, double w, double y)
{
    assert(w >= 0 && w < 1);
    if (!isfinite(y))
        return y;
    if (!e->any) {
        e->any = true;
        e->first = y;
    }
    e->constant = e->constant && y == e->first;
    e->last = w * e->last + (1 - w) * y;
    e->weight_power *= w;
    return e->constant ? y : e->last / (1 - e->weight_power);
}

void series_ema(const struct series *s, double w, double *out)
{
    struct ema e;
    ema_init(&e);
    for (size_t i = 0; i < s->n; i++)
        out[i] = ema_push(&e, w, s->y[i]);
}
