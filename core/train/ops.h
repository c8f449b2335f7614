/* ops.h - the operations of a Llama block, forward and backward side by side.
 *
 * Rows are tokens: several sequences stand behind one another without padding
 * (`struct rows`), so that padding costs nothing and can't leak. All tensors
 * are f32, row-major; ld is a pitch in floats. A backward function names what
 * it overwrites (=) and what it adds to (+=).
 */
#ifndef CORE_TRAIN_OPS_H
#define CORE_TRAIN_OPS_H

#include "core/train/compute.h"

/* n rows in nseq sequences; sequence s owns rows off[s] … off[s+1]-1, and a
 * row's position is its distance from off[s]. labels: the id that the row must
 * predict, or < 0 when it takes no part in the loss. */
struct rows {
    int n, nseq;
    int *off;                     /* [nseq + 1] */
    int32_t *ids, *labels;        /* [n] */
    int *pos;                     /* [n] */
    int64_t *place;               /* [n] a row's own number in the run, for dropout; NULL:
                                   * rows are numbered within the pass */
};

/* y = x * rstd * w, rstd = 1/sqrt(mean(x²) + eps). x, y [n,d]; rstd [n]. */
void ops_rmsnorm(struct compute *c, int n, int d, float eps, const float *x, const float *w,
                float *y, float *rstd);
/* dx += ; dw += (dw NULL: frozen). */
void ops_rmsnorm_back(struct compute *c, int n, int d, const float *x, const float *w,
                     const float *rstd, const float *dy, float *dx, float *dw);

/* Rotary embedding, half-split pairs (i, i + hd/2), in place on `heads` heads
 * that start at x (pitch ld). freq [hd/2] are the inverse frequencies; dir +1
 * rotates, -1 rotates back (which is the backward pass). cs: table made by
 * ops_rope_table, [positions, hd]: hd/2 cosines, then hd/2 sines. */
void ops_rope_table(const double *freq, int hd, int positions, float *cs);
void ops_rope(struct compute *c, const struct rows *r, int heads, int hd, const float *cs,
             int dir, float *x, int ld);

/* Causal attention with grouped queries, softmax(q kᵀ / sqrt(hd)) v within
 * each sequence. qkv [n, (H + 2 KV) hd]: q heads, k heads, v heads; query head
 * h reads key head h / (H / KV). out [n, H hd]; lse [n, H] keeps the log of
 * each row's sum. */
struct attn_shape {
    int heads, kv_heads, hd;
};
void ops_attention(struct compute *c, const struct rows *r, struct attn_shape s, const float *qkv,
                  float *out, float *lse);
/* dqkv =. */
void ops_attention_back(struct compute *c, const struct rows *r, struct attn_shape s,
                       const float *qkv, const float *out, const float *lse, const float *dout,
                       float *dqkv);

/* act = silu(gate) * up; gu [n, 2f]: gate, then up. act [n, f]. */
void ops_swiglu(struct compute *c, int n, int f, const float *gu, float *act);
/* dgu =. */
void ops_swiglu_back(struct compute *c, int n, int f, const float *gu, const float *dact,
                    float *dgu);

/* x[i] = table[ids[i]]; backward dtable[ids[i]] += dx[i]. */
void ops_embed(struct compute *c, int n, int d, const int32_t *ids, const float *table, float *x);
void ops_embed_back(struct compute *c, int n, int d, const int32_t *ids, const float *dx,
                   float *dtable);

/* x += y, elementwise over n floats. */
void ops_add(struct compute *c, size_t n, const float *y, float *x);

/* Cross-entropy of h Wᵀ (h [n,d], W [vocab,d]) against labels, summed over the
 * rows with label >= 0; only those are computed, OPS_CE_ROWS at a time, so
 * that logits [n, vocab] never exist. scratch: ops_ce_floats floats.
 * dh NULL: no gradient; else dh = (rows without label: 0), dW += (NULL: frozen).
 * Gradients are of the sum. Returns the sum, with the number of rows in *count.
 * A row whose loss is not finite: its index goes to *bad (else -1). */
enum { OPS_CE_ROWS = 256 };
size_t ops_ce_floats(int d, int vocab);
double ops_cross_entropy(struct compute *c, const struct rows *r, int d, int vocab,
                        const float *h, const float *w, float *scratch, float *dh, float *dw,
                        int64_t *count, int *bad);

/* Inverted dropout of [n,d]: y = x * keep / (1 - p), keep a function of (key, the
 * row's number, column) with 16 bits of resolution; key 0: none. So neither threads
 * nor how rows are cut into passes change what is dropped. y may be x. Linear, so the
 * same call is its own backward. */
struct dropout {
    float p;
    uint64_t key;
    const int64_t *row;           /* [n] numbers of the rows; NULL: 0, 1 … */
};
void ops_dropout(struct compute *c, int n, int d, const struct dropout *o, const float *x,
                 float *y);

#endif
