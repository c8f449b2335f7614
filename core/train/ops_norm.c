/* ops_norm.c - RMSNorm and the residual addition (ops.h).
 *
 *   y = x r w,  r = (mean(x²) + eps)^-1/2
 *   dx = r (dy w) - x r³ / d · Σ(dy w x);  dw = Σ_rows dy x r
 */
#include "core/train/ops.h"

#include <math.h>

#include "core/train/kern.h"

enum { ROWS = 32, STRIP = 64, CHUNK = 16384 };

struct norm_job {
    const struct kern *k;
    int n, d;
    float eps;
    const float *x, *w, *dy;
    float *y, *rstd, *dx, *dw;
};

static void norm_task(void *arg, int task, int thread UNUSED)
{
    const struct norm_job *j = arg;
    for (int i = task * ROWS; i < MIN(j->n, (task + 1) * ROWS); i++) {
        const float *x = j->x + (size_t)i * (size_t)j->d;
        float r = 1.0f / sqrtf(j->k->dot((size_t)j->d, x, x) / (float)j->d + j->eps);
        j->rstd[i] = r;
        j->k->scale_by((size_t)j->d, r, x, j->w, j->y + (size_t)i * (size_t)j->d);
    }
}

void ops_rmsnorm(struct compute *c, int n, int d, float eps, const float *x, const float *w,
                 float *y, float *rstd)
{
    struct norm_job j = {.k = c->k, .n = n, .d = d, .eps = eps, .x = x, .w = w, .y = y,
                         .rstd = rstd};
    compute_run(c, norm_task, &j, (n + ROWS - 1) / ROWS);
}

static void norm_back_task(void *arg, int task, int thread UNUSED)
{
    const struct norm_job *j = arg;
    for (int i = task * ROWS; i < MIN(j->n, (task + 1) * ROWS); i++) {
        size_t at = (size_t)i * (size_t)j->d;
        j->k->norm_back((size_t)j->d, j->rstd[i], j->x + at, j->w, j->dy + at, j->dx + at);
    }
}

/* A strip of columns over all rows, in order. */
static void norm_weight_task(void *arg, int task, int thread UNUSED)
{
    const struct norm_job *j = arg;
    int col = task * STRIP;
    size_t w = (size_t)MIN(STRIP, j->d - col);
    for (int i = 0; i < j->n; i++) {
        size_t at = (size_t)i * (size_t)j->d + (size_t)col;
        j->k->mul_add(w, j->rstd[i], j->x + at, j->dy + at, j->dw + col);
    }
}

void ops_rmsnorm_back(struct compute *c, int n, int d, const float *x, const float *w,
                      const float *rstd, const float *dy, float *dx, float *dw)
{
    struct norm_job j = {.k = c->k, .n = n, .d = d, .x = x, .w = w, .rstd = (float *)rstd,
                         .dy = dy, .dx = dx, .dw = dw};
    compute_run(c, norm_back_task, &j, (n + ROWS - 1) / ROWS);
    if (dw)
        compute_run(c, norm_weight_task, &j, (d + STRIP - 1) / STRIP);
}

struct add_job {
    const struct kern *k;
    size_t n;
    const float *y;
    float *x;
};

static void add_task(void *arg, int task, int thread UNUSED)
{
    const struct add_job *j = arg;
    size_t at = (size_t)task * CHUNK;
    j->k->axpy(MIN((size_t)CHUNK, j->n - at), 1.0f, j->y + at, j->x + at);
}

void ops_add(struct compute *c, size_t n, const float *y, float *x)
{
    struct add_job j = {c->k, n, y, x};
    compute_run(c, add_task, &j, (int)((n + CHUNK - 1) / CHUNK));
}
