/* tensors.c - the list of a model's or adapter's tensors (tensor.h). */
#include "core/train/tensor.h"

#include <math.h>
#include <stdarg.h>

#include "core/base/mem.h"

void tensors_release(struct tensors *ts)
{
    free(ts->t);
    *ts = (struct tensors){0};
}

struct tensor *tensors_add(struct tensors *ts, int rows, int cols, const char *fmt, ...)
{
    if (ts->n == ts->cap) {
        ts->cap = ts->cap ? 2 * ts->cap : 64;
        ts->t = xrealloc_array(ts->t, (size_t)ts->cap, sizeof *ts->t);
    }
    struct tensor *t = &ts->t[ts->n++];
    *t = (struct tensor){.rows = rows ? rows : 1, .cols = cols, .ndim = rows ? 2 : 1,
                         .decay = rows != 0};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(t->name, sizeof t->name, fmt, ap);
    va_end(ap);
    return t;
}

struct tensor *tensors_find(const struct tensors *ts, const char *name)
{
    for (int i = 0; i < ts->n; i++)
        if (strcmp(ts->t[i].name, name) == 0)
            return &ts->t[i];
    return NULL;
}

size_t tensors_count(const struct tensor *t)
{
    return (size_t)t->rows * (size_t)t->cols;
}

size_t tensors_total(const struct tensors *ts)
{
    size_t n = 0;
    for (int i = 0; i < ts->n; i++)
        n += tensors_count(&ts->t[i]);
    return n;
}

void tensors_take_state(struct tensors *ts, struct slab *s)
{
    for (int i = 0; i < ts->n; i++)
        ts->t[i].g = slab_take(s, tensors_count(&ts->t[i]));
    for (int i = 0; i < ts->n; i++)
        ts->t[i].m = slab_take(s, tensors_count(&ts->t[i]));
    for (int i = 0; i < ts->n; i++)
        ts->t[i].v = slab_take(s, tensors_count(&ts->t[i]));
}

const struct tensor *tensors_nonfinite(const struct tensors *ts, char kind, size_t *at)
{
    for (int i = 0; i < ts->n; i++) {
        const float *x = kind == 'g' ? ts->t[i].g : ts->t[i].w;
        size_t n = x ? tensors_count(&ts->t[i]) : 0;
        for (size_t j = 0; j < n; j++)
            if (!isfinite(x[j])) {
                *at = j;
                return &ts->t[i];
            }
    }
    return NULL;
}
