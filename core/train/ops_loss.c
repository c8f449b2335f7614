/* ops_loss.c - the two ends of the model: embedding, and cross-entropy over
 * the labelled rows (ops.h).
 *
 * The head is applied to OPS_CE_ROWS rows at a time; their probabilities
 * become the gradient of the logits in place (p - 1 at the label).
 */
#include "core/train/ops.h"

#include <math.h>

#include "core/train/kern.h"

enum { ROWS = 32, STRIP = 64 };

struct embed_job {
    const struct kern *k;
    int n, d;
    const int32_t *ids;
    const float *from;
    float *to;
};

static void embed_task(void *arg, int task, int thread UNUSED)
{
    const struct embed_job *j = arg;
    size_t d = (size_t)j->d;
    for (int i = task * ROWS; i < MIN(j->n, (task + 1) * ROWS); i++)
        memcpy(j->to + (size_t)i * d, j->from + (size_t)j->ids[i] * d, d * sizeof *j->to);
}

void ops_embed(struct compute *c, int n, int d, const int32_t *ids, const float *table, float *x)
{
    struct embed_job j = {c->k, n, d, ids, table, x};
    compute_run(c, embed_task, &j, (n + ROWS - 1) / ROWS);
}

/* A strip of columns over all rows in order: an id may occur many times. */
static void embed_back_task(void *arg, int task, int thread UNUSED)
{
    const struct embed_job *j = arg;
    size_t d = (size_t)j->d, col = (size_t)task * STRIP, w = MIN((size_t)STRIP, d - col);
    for (int i = 0; i < j->n; i++)
        j->k->axpy(w, 1.0f, j->from + (size_t)i * d + col,
                   j->to + (size_t)j->ids[i] * d + col);
}

void ops_embed_back(struct compute *c, int n, int d, const int32_t *ids, const float *dx,
                    float *dtable)
{
    struct embed_job j = {c->k, n, d, ids, dx, dtable};
    compute_run(c, embed_back_task, &j, (d + STRIP - 1) / STRIP);
}

struct ce_job {
    const struct kern *k;
    const struct rows *r;
    int n, d, vocab;
    int row[OPS_CE_ROWS];         /* which rows the chunk holds */
    float loss[OPS_CE_ROWS];
    const float *h;
    float *hc, *logits, *dhc, *dh;
    bool grad;
};

static void gather_task(void *arg, int task, int thread UNUSED)
{
    const struct ce_job *j = arg;
    size_t d = (size_t)j->d;
    memcpy(j->hc + (size_t)task * d, j->h + (size_t)j->row[task] * d, d * sizeof *j->hc);
}

static void scatter_task(void *arg, int task, int thread UNUSED)
{
    const struct ce_job *j = arg;
    size_t d = (size_t)j->d;
    memcpy(j->dh + (size_t)j->row[task] * d, j->dhc + (size_t)task * d, d * sizeof *j->dh);
}

static void ce_task(void *arg, int task, int thread UNUSED)
{
    struct ce_job *j = arg;
    size_t v = (size_t)j->vocab;
    float *z = j->logits + (size_t)task * v;
    int label = j->r->labels[j->row[task]];
    float right = z[label], m = j->k->max(v, z), sum = j->k->exp_sum(v, m, z);
    j->loss[task] = m + logf(sum) - right;
    if (j->grad) {
        j->k->scale(v, 1.0f / sum, z, z);
        z[label] -= 1.0f;
    }
}

static void ce_chunk(struct compute *c, struct ce_job *j, const float *w, float *dw)
{
    int d = j->d, v = j->vocab;
    compute_run(c, gather_task, j, j->n);
    gemm_run(c, j->n, v, d, 1.0f, mat_rows(j->hc, d), mat_t(w, d), false, j->logits, v);
    compute_run(c, ce_task, j, j->n);
    if (!j->grad)
        return;
    gemm_run(c, j->n, d, v, 1.0f, mat_rows(j->logits, v), mat_rows(w, d), false, j->dhc, d);
    compute_run(c, scatter_task, j, j->n);
    if (dw)
        gemm_run(c, v, d, j->n, 1.0f, mat_t(j->logits, v), mat_rows(j->hc, d), true, dw, d);
}

size_t ops_ce_floats(int d, int vocab)
{
    return (size_t)OPS_CE_ROWS * (2 * (size_t)d + (size_t)vocab);
}

double ops_cross_entropy(struct compute *c, const struct rows *r, int d, int vocab,
                         const float *h, const float *w, float *scratch, float *dh, float *dw,
                         int64_t *count, int *bad)
{
    struct ce_job j = {.k = c->k, .r = r, .d = d, .vocab = vocab, .h = h, .hc = scratch,
                       .dhc = scratch + (size_t)OPS_CE_ROWS * (size_t)d, .dh = dh,
                       .logits = scratch + (size_t)OPS_CE_ROWS * 2 * (size_t)d, .grad = dh != NULL};
    double sum = 0;
    *count = 0;
    *bad = -1;
    if (dh)
        memset(dh, 0, (size_t)r->n * (size_t)d * sizeof *dh);
    for (int row = 0; row < r->n;) {
        for (j.n = 0; row < r->n && j.n < OPS_CE_ROWS; row++)
            if (r->labels[row] >= 0)
                j.row[j.n++] = row;
        if (j.n == 0)
            break;
        ce_chunk(c, &j, w, dw);
        for (int i = 0; i < j.n; i++) {
            sum += (double)j.loss[i];
            if (!isfinite(j.loss[i]) && *bad < 0)
                *bad = j.row[i];
        }
        *count += j.n;
    }
    return sum;
}
