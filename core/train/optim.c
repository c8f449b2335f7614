/* optim.c - AdamW, clipping and the learning rate (optim.h). */
#include "core/train/optim.h"

#include <math.h>

#include "core/train/kern.h"

enum { BLOCK = 16384 };           /* floats a task: sums are taken block by block */

void optim_defaults(struct optim *o)
{
    *o = (struct optim){.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1};
}

static double decay_factor(const struct optim *o, double progress)
{
    switch (o->schedule) {
    case OPTIM_COSINE:
        return MAX(0.0, 0.5 * (1 + cos(3.14159265358979323846 * progress)));
    case OPTIM_LINEAR:
        return MAX(0.0, 1 - progress);
    case OPTIM_CONSTANT:
        break;
    }
    return 1;
}

double optim_rate(const struct optim *o, int64_t step)
{
    if (step < o->warmup)
        return o->rate * (double)step / (double)o->warmup;
    int64_t rest = MAX(1, o->steps - o->warmup);
    return o->rate * decay_factor(o, (double)(step - o->warmup) / (double)rest);
}

/* Tensors as one row of blocks: block -> tensor and place. */
struct blocks {
    const struct kern *k;
    const struct tensors *ts;
    int tensor;
    double sum[256];              /* of a batch of blocks */
    int first;                    /* block of the tensor that batch starts with */
    const struct optim *o;
    struct kern_adamw step, step_no_decay;
};

static int count_blocks(const struct tensor *t)
{
    return (int)((tensors_count(t) + BLOCK - 1) / BLOCK);
}

static size_t block_size(const struct tensor *t, int block)
{
    return MIN((size_t)BLOCK, tensors_count(t) - (size_t)block * BLOCK);
}

static void square_task(void *arg, int task, int thread UNUSED)
{
    struct blocks *b = arg;
    const struct tensor *t = &b->ts->t[b->tensor];
    int block = b->first + task;
    const float *g = t->g + (size_t)block * BLOCK;
    size_t n = block_size(t, block);
    double sum = 0;
    for (size_t i = 0; i < n; i += 512) {
        size_t part = MIN((size_t)512, n - i);
        sum += (double)b->k->dot(part, g + i, g + i);
    }
    b->sum[task] = sum;
}

double optim_grad_norm(struct compute *c, const struct tensors *ts, double scale)
{
    struct blocks b = {.k = c->k, .ts = ts};
    double sum = 0;
    for (b.tensor = 0; b.tensor < ts->n; b.tensor++) {
        int blocks = count_blocks(&ts->t[b.tensor]);
        for (b.first = 0; b.first < blocks; b.first += (int)ARRAY_LEN(b.sum)) {
            int n = MIN((int)ARRAY_LEN(b.sum), blocks - b.first);
            compute_run(c, square_task, &b, n);
            for (int i = 0; i < n; i++)
                sum += b.sum[i];
        }
    }
    return scale * sqrt(sum);
}

static void adamw_task(void *arg, int task, int thread UNUSED)
{
    const struct blocks *b = arg;
    const struct tensor *t = &b->ts->t[b->tensor];
    size_t at = (size_t)task * BLOCK;
    b->k->adamw(block_size(t, task), t->decay ? &b->step : &b->step_no_decay, t->g + at,
                t->w + at, t->m + at, t->v + at);
}

double optim_clip(const struct optim *o, double gnorm)
{
    if (o->clip <= 0)
        return 1;
    return MIN(1.0, o->clip / (gnorm + 1e-6));
}

void optim_step(struct compute *c, const struct optim *o, struct tensors *ts, double scale,
                double gnorm, double rate, int64_t t)
{
    struct blocks b = {.k = c->k, .ts = ts, .o = o};
    b.step = (struct kern_adamw){
        .scale = (float)(scale * optim_clip(o, gnorm)), .shrink = (float)(1 - rate * o->decay),
        .take1 = (float)(1 - o->beta1), .beta2 = (float)o->beta2, .take2 = (float)(1 - o->beta2),
        .step = (float)(rate / (1 - pow(o->beta1, (double)t))),
        .root = (float)(1 / sqrt(1 - pow(o->beta2, (double)t))), .eps = (float)o->eps};
    b.step_no_decay = b.step;
    b.step_no_decay.shrink = 1;
    for (b.tensor = 0; b.tensor < ts->n; b.tensor++)
        compute_run(c, adamw_task, &b, count_blocks(&ts->t[b.tensor]));
}

static void zero_task(void *arg, int task, int thread UNUSED)
{
    const struct blocks *b = arg;
    const struct tensor *t = &b->ts->t[b->tensor];
    memset(t->g + (size_t)task * BLOCK, 0, block_size(t, task) * sizeof *t->g);
}

void optim_zero_grad(struct compute *c, struct tensors *ts)
{
    struct blocks b = {.ts = ts};
    for (b.tensor = 0; b.tensor < ts->n; b.tensor++)
        compute_run(c, zero_task, &b, count_blocks(&ts->t[b.tensor]));
}
