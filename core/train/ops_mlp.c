/* ops_mlp.c - SwiGLU and dropout, elementwise (ops.h). */
#include "core/train/ops.h"

#include "core/train/kern.h"
#include "core/train/rng.h"

enum { ROWS = 16, DROP_ROWS = 8 };

struct mlp_job {
    const struct kern *k;
    int n, f;
    const float *gu, *dact;
    float *act, *dgu;
};

static void swiglu_task(void *arg, int task, int thread UNUSED)
{
    const struct mlp_job *j = arg;
    size_t f = (size_t)j->f;
    for (int i = task * ROWS; i < MIN(j->n, (task + 1) * ROWS); i++) {
        const float *gu = j->gu + (size_t)i * 2 * f;
        j->k->swiglu(f, gu, gu + f, j->act + (size_t)i * f);
    }
}

void ops_swiglu(struct compute *c, int n, int f, const float *gu, float *act)
{
    struct mlp_job j = {.k = c->k, .n = n, .f = f, .gu = gu, .act = act};
    compute_run(c, swiglu_task, &j, (n + ROWS - 1) / ROWS);
}

static void swiglu_back_task(void *arg, int task, int thread UNUSED)
{
    const struct mlp_job *j = arg;
    size_t f = (size_t)j->f;
    for (int i = task * ROWS; i < MIN(j->n, (task + 1) * ROWS); i++) {
        const float *gu = j->gu + (size_t)i * 2 * f;
        float *d = j->dgu + (size_t)i * 2 * f;
        j->k->swiglu_back(f, gu, gu + f, j->dact + (size_t)i * f, d, d + f);
    }
}

void ops_swiglu_back(struct compute *c, int n, int f, const float *gu, const float *dact,
                     float *dgu)
{
    struct mlp_job j = {.k = c->k, .n = n, .f = f, .gu = gu, .dact = dact, .dgu = dgu};
    compute_run(c, swiglu_back_task, &j, (n + ROWS - 1) / ROWS);
}

struct drop_job {
    int n, d;
    const struct dropout *o;
    uint32_t limit;               /* p in 1/65536 */
    const float *x;
    float *y;
};

/* Four elements share one random word, sixteen bits each. */
static void drop_row(const struct drop_job *j, uint64_t key, const float *x, float *y)
{
    float scale = 1.0f / (1.0f - j->o->p);
    for (int i = 0; i < j->d; i += 4) {
        uint64_t bits = rng_u64(key, (uint64_t)i / 4);
        for (int e = i; e < MIN(j->d, i + 4); e++, bits >>= 16)
            y[e] = (bits & 0xffff) >= j->limit ? x[e] * scale : 0;
    }
}

static void drop_task(void *arg, int task, int thread UNUSED)
{
    const struct drop_job *j = arg;
    int end = MIN(j->n, (task + 1) * DROP_ROWS);
    for (int i = task * DROP_ROWS; i < end; i++) {
        uint64_t number = j->o->row ? (uint64_t)j->o->row[i] : (uint64_t)i;
        size_t at = (size_t)i * (size_t)j->d;
        drop_row(j, rng_u64(j->o->key, number), j->x + at, j->y + at);
    }
}

void ops_dropout(struct compute *c, int n, int d, const struct dropout *o, const float *x,
                 float *y)
{
    struct drop_job j = {n, d, o, (uint32_t)(o->p * 65536.0f + 0.5f), x, y};
    compute_run(c, drop_task, &j, (n + DROP_ROWS - 1) / DROP_ROWS);
}
