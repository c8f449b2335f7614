/* llama_run.c - a pass forward, and the loss (llama.h). */
#include "core/train/llama_run.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/rng.h"

static int qkv_width(const struct llama_config *c)
{
    return (c->heads + 2 * c->kv_heads) * c->head_dim;
}

static void take_act(struct llama_run *r, struct llama_act *a, int layer)
{
    const struct llama_config *c = &r->m->cfg;
    struct slab *s = &r->slab;
    size_t n = (size_t)r->max_rows, d = (size_t)c->hidden, f = (size_t)c->ffn;
    size_t heads = (size_t)c->heads, hd = (size_t)c->head_dim;
    int of = r->keep == LLAMA_KEEP ? layer : -1;          /* -1: room for any layer's rank */
    a->x = slab_take(s, n * d), a->rstd1 = slab_take(s, n), a->h1 = slab_take(s, n * d);
    a->qkv = slab_take(s, n * (size_t)qkv_width(c));
    a->lse = slab_take(s, n * heads), a->att = slab_take(s, n * heads * hd);
    a->x2 = slab_take(s, n * d), a->rstd2 = slab_take(s, n), a->h2 = slab_take(s, n * d);
    a->gu = slab_take(s, n * 2 * f), a->act = slab_take(s, n * f);
    for (int i = 0; r->lora && i < LORA_MODULES; i++)
        a->u[i] = slab_take(s, n * (size_t)lora_rank(r->lora, of, i));
    for (int i = layer + 1; r->keep != LLAMA_KEEP && i < c->layers; i++)
        r->act[i] = *a;
    for (int i = layer + 1; r->keep == LLAMA_RECOMPUTE && i < c->layers; i++)
        r->act[i].x = slab_take(s, n * d);
}

static void take_all(struct llama_run *r)
{
    const struct llama_config *c = &r->m->cfg;
    struct slab *s = &r->slab;
    size_t n = (size_t)r->max_rows, d = (size_t)c->hidden, f = (size_t)c->ffn;
    size_t att = (size_t)(c->heads * c->head_dim);
    for (int i = 0; i < (r->keep == LLAMA_KEEP ? c->layers : 1); i++)
        take_act(r, &r->act[i], i);
    r->out = slab_take(s, n * d), r->rstd = slab_take(s, n), r->h = slab_take(s, n * d);
    r->rope = slab_take(s, (size_t)r->max_seq * (size_t)c->head_dim);
    r->ce = slab_take(s, ops_ce_floats(c->hidden, c->vocab));
    if (r->lora)
        r->tmp = slab_take(s, n * MAX(MAX(d, f), att));
    if (r->keep == LLAMA_FORWARD)
        return;
    r->dx = slab_take(s, n * d), r->dh = slab_take(s, n * d);
    r->dqkv = slab_take(s, n * (size_t)qkv_width(c)), r->datt = slab_take(s, n * att);
    r->dgu = slab_take(s, n * 2 * f), r->dact = slab_take(s, n * f);
}

size_t llama_run_floats(const struct llama_config *c, const struct lora *shape, int max_rows,
                        int max_seq, enum llama_keep keep)
{
    struct llama *m = xcalloc(1, sizeof *m);
    struct llama_run *r = xcalloc(1, sizeof *r);
    struct lora *l = NULL;
    m->cfg = *c;
    if (shape) {
        l = xmalloc(sizeof *l);
        *l = *shape;
    }
    *r = (struct llama_run){.m = m, .lora = l, .max_rows = max_rows, .max_seq = max_seq,
                            .keep = keep};
    take_all(r);
    size_t n = r->slab.used;
    free(l);
    free(r);
    free(m);
    return n;
}

/* Llama 3's stretching of long wavelengths (rope_type "llama3"). */
static double stretch(const struct llama_config *c, double freq)
{
    double wave = 2 * 3.14159265358979323846 / freq;
    if (!c->rope_llama3 || wave < c->rope_orig / c->rope_high)
        return freq;
    if (wave > c->rope_orig / c->rope_low)
        return freq / c->rope_factor;
    double s = (c->rope_orig / wave - c->rope_low) / (c->rope_high - c->rope_low);
    return (1 - s) * freq / c->rope_factor + s * freq;
}

void llama_run_rope(const struct llama_config *c, int positions, float *table)
{
    double freq[256];
    for (int i = 0; i < c->head_dim / 2; i++)
        freq[i] = stretch(c, pow(c->theta, -2.0 * i / c->head_dim));
    ops_rope_table(freq, c->head_dim, positions, table);
}

struct llama_run *llama_run_new(struct llama *m, struct lora *lora, struct compute *c,
                                int max_rows, int max_seq, enum llama_keep keep)
{
    struct llama_run *r = xcalloc(1, sizeof *r);
    r->m = m;
    r->lora = lora;
    r->c = c;
    r->max_rows = max_rows;
    r->max_seq = max_seq;
    r->keep = keep;
    take_all(r);
    slab_alloc(&r->slab);
    take_all(r);
    llama_run_rope(&m->cfg, max_seq, r->rope);
    return r;
}

void llama_run_free(struct llama_run *r)
{
    if (!r)
        return;
    slab_release(&r->slab);
    free(r);
}

size_t llama_run_bytes(const struct llama_run *r)
{
    return r->slab.size * sizeof(float);
}

struct llama_site llama_run_site(const struct llama_run *r, int layer, enum lora_module mod)
{
    struct llama_site site = {0};
    if (!r->lora || !r->lora->on || !r->lora->site[layer][mod].a)
        return site;
    site.s = &r->lora->site[layer][mod];
    site.drop = r->drop;
    if (r->drop.key)
        site.drop.key = rng_key(r->drop.key, (uint64_t)layer, mod, 0) | 1;
    return site;
}

static void adapt(struct llama_run *r, int n, int layer, enum lora_module mod, const float *x,
                  float *y, int ldy)
{
    struct llama_site site = llama_run_site(r, layer, mod);
    if (site.s)
        lora_forward(site.s, r->c, n, &site.drop, x, r->tmp, r->act[layer].u[mod], y, ldy);
}

/* y = x Wᵀ */
static void linear(struct llama_run *r, int n, int in, int out, const float *x, const float *w,
                   bool accumulate, float *y)
{
    gemm_run(r->c, n, out, in, 1.0f, mat_rows(x, in), mat_t(w, in), accumulate, y, out);
}

static void attention_half(struct llama_run *r, const struct rows *rows, int i)
{
    const struct llama_config *c = &r->m->cfg;
    const struct llama_layer *w = &r->m->layer[i];
    struct llama_act *a = &r->act[i];
    int n = rows->n, d = c->hidden, ld = qkv_width(c), hd = c->head_dim;
    int q = c->heads * hd, kv = c->kv_heads * hd;
    ops_rmsnorm(r->c, n, d, (float)c->eps, a->x, w->norm1, a->h1, a->rstd1);
    linear(r, n, d, ld, a->h1, w->qkv, false, a->qkv);
    adapt(r, n, i, LORA_Q, a->h1, a->qkv, ld);
    adapt(r, n, i, LORA_K, a->h1, a->qkv + q, ld);
    adapt(r, n, i, LORA_V, a->h1, a->qkv + q + kv, ld);
    ops_rope(r->c, rows, c->heads + c->kv_heads, hd, r->rope, 1, a->qkv, ld);
    ops_attention(r->c, rows, (struct attn_shape){c->heads, c->kv_heads, hd}, a->qkv, a->att,
                  a->lse);
    memcpy(a->x2, a->x, (size_t)n * (size_t)d * sizeof *a->x);
    linear(r, n, q, d, a->att, w->o, true, a->x2);
    adapt(r, n, i, LORA_O, a->att, a->x2, d);
}

static void mlp_up(struct llama_run *r, const struct rows *rows, int i)
{
    const struct llama_config *c = &r->m->cfg;
    const struct llama_layer *w = &r->m->layer[i];
    struct llama_act *a = &r->act[i];
    int n = rows->n, d = c->hidden, f = c->ffn;
    ops_rmsnorm(r->c, n, d, (float)c->eps, a->x2, w->norm2, a->h2, a->rstd2);
    linear(r, n, d, 2 * f, a->h2, w->gu, false, a->gu);
    adapt(r, n, i, LORA_GATE, a->h2, a->gu, 2 * f);
    adapt(r, n, i, LORA_UP, a->h2, a->gu + f, 2 * f);
    ops_swiglu(r->c, n, f, a->gu, a->act);
}

static void mlp_down(struct llama_run *r, const struct rows *rows, int i, float *next)
{
    const struct llama_config *c = &r->m->cfg;
    const struct llama_layer *w = &r->m->layer[i];
    struct llama_act *a = &r->act[i];
    int n = rows->n, d = c->hidden, f = c->ffn;
    memcpy(next, a->x2, (size_t)n * (size_t)d * sizeof *next);
    linear(r, n, f, d, a->act, w->down, true, next);
    adapt(r, n, i, LORA_DOWN, a->act, next, d);
}

static void layer_but_output(struct llama_run *r, const struct rows *rows, int layer)
{
    attention_half(r, rows, layer);
    mlp_up(r, rows, layer);
}

/* down_proj's adapter keeps a product of its own; the layer's output goes where
 * it was before. */
void llama_run_again(struct llama_run *r, const struct rows *rows, int layer)
{
    layer_but_output(r, rows, layer);
    if (llama_run_site(r, layer, LORA_DOWN).s)
        mlp_down(r, rows, layer, layer + 1 < r->m->cfg.layers ? r->act[layer + 1].x : r->out);
}

void llama_run_forward(struct llama_run *r, const struct rows *rows)
{
    const struct llama_config *c = &r->m->cfg;
    ops_embed(r->c, rows->n, c->hidden, rows->ids, r->m->embed, r->act[0].x);
    for (int i = 0; i < c->layers; i++) {
        layer_but_output(r, rows, i);
        mlp_down(r, rows, i, i + 1 < c->layers ? r->act[i + 1].x : r->out);
    }
    ops_rmsnorm(r->c, rows->n, c->hidden, (float)c->eps, r->out, r->m->norm, r->h, r->rstd);
}

static enum pd_code check_rows(const struct llama_run *r, const struct rows *rows,
                               struct pd_err *err)
{
    if (rows->n > r->max_rows)
        return pd_fail(err, PD_TRAIN, _("a batch of %d tokens, with room for %d"), rows->n,
                       r->max_rows);
    for (int i = 0; i < rows->n; i++) {
        if (rows->pos[i] >= r->max_seq)
            return pd_fail(err, PD_TRAIN, _("a sequence is longer than %d tokens"), r->max_seq);
        if (rows->ids[i] < 0 || rows->ids[i] >= r->m->cfg.vocab ||
            rows->labels[i] >= r->m->cfg.vocab)
            return pd_fail(err, PD_DATA, _("token %d is outside the model's vocabulary of %d"),
                           (int)MAX(rows->ids[i], rows->labels[i]), r->m->cfg.vocab);
    }
    return PD_OK;
}

static enum pd_code run_loss(struct llama_run *r, const struct rows *rows, uint64_t drop_key,
                             bool grad, double *sum, int64_t *count, struct pd_err *err)
{
    int bad;
    if (check_rows(r, rows, err) != PD_OK)
        return err->code;
    r->drop = (struct dropout){r->lora ? (float)r->lora->cfg.dropout : 0, drop_key, rows->place};
    if (!(r->drop.p > 0))
        r->drop.key = 0;
    llama_run_forward(r, rows);
    *sum = ops_cross_entropy(r->c, rows, r->m->cfg.hidden, r->m->cfg.vocab, r->h, r->m->head,
                             r->ce, grad ? r->dh : NULL, grad ? r->m->d_head : NULL, count, &bad);
    if (bad < 0)
        return PD_OK;
    char where[160];
    llama_run_diagnose(r, rows, where, sizeof where);
    pd_fail(err, PD_TRAIN, _("the loss is not a number (row %d): first seen in %s"), bad, where);
    return pd_set_hint(err, _("lower --rate, lengthen --warmup, or check the weights named"));
}

enum pd_code llama_loss(struct llama_run *r, const struct rows *rows, uint64_t drop_key,
                        double *sum, int64_t *count, struct pd_err *err)
{
    return run_loss(r, rows, drop_key, false, sum, count, err);
}

enum pd_code llama_loss_grad(struct llama_run *r, const struct rows *rows, uint64_t drop_key,
                             double *sum, int64_t *count, struct pd_err *err)
{
    if (run_loss(r, rows, drop_key, true, sum, count, err) != PD_OK)
        return err->code;
    llama_run_backward(r, rows);
    return PD_OK;
}

enum pd_code llama_logits(struct llama_run *r, const struct rows *rows, int row, float *out,
                          struct pd_err *err)
{
    int d = r->m->cfg.hidden;
    if (check_rows(r, rows, err) != PD_OK)
        return err->code;
    r->drop.key = 0;
    llama_run_forward(r, rows);
    linear(r, 1, d, r->m->cfg.vocab, r->h + (size_t)row * (size_t)d, r->m->head, false, out);
    return PD_OK;
}
