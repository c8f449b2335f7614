/* ops_attn.c - causal attention with grouped queries, forward and backward
 * (ops.h).
 *
 * Scores never exist as a whole: tiles of GEMM_ROWS queries against all keys
 * up to the last of them. The backward pass computes a tile's probabilities
 * again from the kept log-sum-exp (Dao et al., "FlashAttention", 2022):
 *   D = Σ dO·O;  P = exp(S - lse);  dP = dO Vᵀ;  dS = P (dP - D) / sqrt(hd)
 *   dQ = dS K;  dK = dSᵀ Q;  dV = Pᵀ dO
 * One task owns all that it writes: a (sequence, query head) forward, a
 * (sequence, key head) with all its query heads backward.
 */
#include "core/train/ops.h"

#include <math.h>

#include "core/train/gemm.h"
#include "core/train/kern.h"

struct attn_job {
    struct compute *c;
    const struct rows *r;
    struct attn_shape s;
    const float *qkv, *o, *dout;
    float *out, *lse, *dqkv;
    int ld, ldo;                  /* pitches of qkv and out */
    float scale;
};

/* What a task works on: pointers at the sequence's first row. */
struct head {
    const float *q, *k, *v;
    int row0, len;
};

static struct head head_at(const struct attn_job *j, int seq, int h)
{
    int row0 = j->r->off[seq], kvh = h / (j->s.heads / j->s.kv_heads), hd = j->s.hd;
    const float *base = j->qkv + (size_t)row0 * (size_t)j->ld;
    return (struct head){.q = base + h * hd, .k = base + (j->s.heads + kvh) * hd,
                         .v = base + (j->s.heads + j->s.kv_heads + kvh) * hd, .row0 = row0,
                         .len = j->r->off[seq + 1] - row0};
}

/* Scores of rows i0 … i0+n-1 against keys 0 … i0+n-1 into tile (pitch i0+n). */
static void scores(const struct attn_job *j, int thread, const struct head *h, int i0, int n,
                   float *tile)
{
    gemm_local(j->c, thread, n, i0 + n, j->s.hd, j->scale,
               mat_rows(h->q + (size_t)i0 * (size_t)j->ld, j->ld), mat_t(h->k, j->ld), false,
               tile, i0 + n);
}

static void softmax_rows(const struct attn_job *j, const struct head *h, int head, int i0, int n,
                         float *tile)
{
    const struct kern *k = j->c->k;
    int cols = i0 + n;
    for (int i = 0; i < n; i++) {
        float *p = tile + (size_t)i * (size_t)cols;
        size_t valid = (size_t)(i0 + i + 1);
        float m = k->max(valid, p), sum = k->exp_sum(valid, m, p);
        k->scale(valid, 1.0f / sum, p, p);
        memset(p + valid, 0, ((size_t)cols - valid) * sizeof *p);
        j->lse[(size_t)(h->row0 + i0 + i) * (size_t)j->s.heads + (size_t)head] = m + logf(sum);
    }
}

static void attn_task(void *arg, int task, int thread)
{
    const struct attn_job *j = arg;
    int seq = task / j->s.heads, head = task % j->s.heads;
    struct head h = head_at(j, seq, head);
    float *tile = gemm_free_scratch(j->c, thread);
    for (int i0 = 0; i0 < h.len; i0 += GEMM_ROWS) {
        int n = MIN(GEMM_ROWS, h.len - i0);
        scores(j, thread, &h, i0, n, tile);
        softmax_rows(j, &h, head, i0, n, tile);
        gemm_local(j->c, thread, n, j->s.hd, i0 + n, 1.0f, mat_rows(tile, i0 + n),
                   mat_rows(h.v, j->ld), false,
                   j->out + (size_t)(h.row0 + i0) * (size_t)j->ldo + head * j->s.hd, j->ldo);
    }
}

static struct attn_job attn_job(struct compute *c, const struct rows *r, struct attn_shape s,
                                const float *qkv)
{
    return (struct attn_job){.c = c, .r = r, .s = s, .qkv = qkv,
                             .ld = (s.heads + 2 * s.kv_heads) * s.hd, .ldo = s.heads * s.hd,
                             .scale = 1.0f / sqrtf((float)s.hd)};
}

void ops_attention(struct compute *c, const struct rows *r, struct attn_shape s, const float *qkv,
                   float *out, float *lse)
{
    struct attn_job j = attn_job(c, r, s, qkv);
    j.out = out;
    j.lse = lse;
    compute_run(c, attn_task, &j, r->nseq * s.heads);
}

/* tile = P again, from the kept log-sum-exp. */
static void probabilities(const struct attn_job *j, const struct head *h, int head, int i0, int n,
                          float *tile)
{
    int cols = i0 + n;
    for (int i = 0; i < n; i++) {
        float *p = tile + (size_t)i * (size_t)cols;
        size_t valid = (size_t)(i0 + i + 1);
        j->c->k->exp_sum(valid,
                         j->lse[(size_t)(h->row0 + i0 + i) * (size_t)j->s.heads + (size_t)head],
                         p);
        memset(p + valid, 0, ((size_t)cols - valid) * sizeof *p);
    }
}

/* p = dS, from P and dP. */
static void score_grads(const struct attn_job *j, const struct head *h, int head, int i0, int n,
                        const float *dp, float *p)
{
    int cols = i0 + n, hd = j->s.hd;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)(h->row0 + i0 + i) * (size_t)j->ldo + (size_t)(head * hd);
        float delta = j->c->k->dot((size_t)hd, j->dout + at, j->o + at);
        j->c->k->softmax_back((size_t)(i0 + i + 1), delta, j->scale,
                              dp + (size_t)i * (size_t)cols, p + (size_t)i * (size_t)cols);
    }
}

static void head_back(const struct attn_job *j, int thread, int seq, int head, float *dk,
                      float *dv)
{
    struct head h = head_at(j, seq, head);
    int hd = j->s.hd, ld = j->ld, ldo = j->ldo;
    float *p = gemm_free_scratch(j->c, thread);
    for (int i0 = 0; i0 < h.len; i0 += GEMM_ROWS) {
        int n = MIN(GEMM_ROWS, h.len - i0), cols = i0 + n;
        float *dp = p + (size_t)GEMM_ROWS * (size_t)cols;
        const float *q = h.q + (size_t)i0 * (size_t)ld;
        const float *dout = j->dout + (size_t)(h.row0 + i0) * (size_t)ldo + head * hd;
        scores(j, thread, &h, i0, n, p);
        probabilities(j, &h, head, i0, n, p);
        gemm_local(j->c, thread, n, cols, hd, 1.0f, mat_rows(dout, ldo), mat_t(h.v, ld), false,
                   dp, cols);
        gemm_local(j->c, thread, cols, hd, n, 1.0f, mat_t(p, cols), mat_rows(dout, ldo), true, dv,
                   ld);
        score_grads(j, &h, head, i0, n, dp, p);
        gemm_local(j->c, thread, n, hd, cols, 1.0f, mat_rows(p, cols), mat_rows(h.k, ld), false,
                   j->dqkv + (size_t)(h.row0 + i0) * (size_t)ld + head * hd, ld);
        gemm_local(j->c, thread, cols, hd, n, 1.0f, mat_t(p, cols), mat_rows(q, ld), true, dk,
                   ld);
    }
}

static void attn_back_task(void *arg, int task, int thread)
{
    const struct attn_job *j = arg;
    int seq = task / j->s.kv_heads, kvh = task % j->s.kv_heads, hd = j->s.hd;
    int group = j->s.heads / j->s.kv_heads;
    float *dk = j->dqkv + (size_t)j->r->off[seq] * (size_t)j->ld + (j->s.heads + kvh) * hd;
    float *dv = dk + j->s.kv_heads * hd;
    for (int i = 0; i < j->r->off[seq + 1] - j->r->off[seq]; i++) {
        memset(dk + (size_t)i * (size_t)j->ld, 0, (size_t)hd * sizeof *dk);
        memset(dv + (size_t)i * (size_t)j->ld, 0, (size_t)hd * sizeof *dv);
    }
    for (int g = 0; g < group; g++)
        head_back(j, thread, seq, kvh * group + g, dk, dv);
}

void ops_attention_back(struct compute *c, const struct rows *r, struct attn_shape s,
                        const float *qkv, const float *out, const float *lse, const float *dout,
                        float *dqkv)
{
    struct attn_job j = attn_job(c, r, s, qkv);
    j.o = out;
    j.lse = (float *)lse;
    j.dout = dout;
    j.dqkv = dqkv;
    compute_run(c, attn_back_task, &j, r->nseq * s.kv_heads);
}
