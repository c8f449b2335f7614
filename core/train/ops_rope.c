/* ops_rope.c - rotary position embedding, half-split pairs (ops.h).
 *
 * The pair (x[i], x[i + hd/2]) turns by the angle pos * freq[i]; turning back
 * is the transpose and so the backward pass.
 */
#include "core/train/ops.h"

#include <math.h>

#include "core/train/kern.h"

enum { ROWS = 32 };

void ops_rope_table(const double *freq, int hd, int positions, float *cs)
{
    for (int p = 0; p < positions; p++, cs += hd)
        for (int i = 0; i < hd / 2; i++) {
            cs[i] = (float)cos(p * freq[i]);
            cs[hd / 2 + i] = (float)sin(p * freq[i]);
        }
}

struct rope_job {
    const struct kern *k;
    const struct rows *r;
    int heads, hd, dir, ld;
    const float *cs;
    float *x;
};

static void rope_task(void *arg, int task, int thread UNUSED)
{
    const struct rope_job *j = arg;
    for (int i = task * ROWS; i < MIN(j->r->n, (task + 1) * ROWS); i++) {
        const float *cs = j->cs + (size_t)j->r->pos[i] * (size_t)j->hd;
        float *x = j->x + (size_t)i * (size_t)j->ld;
        for (int h = 0; h < j->heads; h++)
            j->k->rotate((size_t)j->hd / 2, j->dir, cs, x + h * j->hd);
    }
}

void ops_rope(struct compute *c, const struct rows *r, int heads, int hd, const float *cs,
              int dir, float *x, int ld)
{
    struct rope_job j = {c->k, r, heads, hd, dir, ld, cs, x};
    compute_run(c, rope_task, &j, (r->n + ROWS - 1) / ROWS);
}
