/* llama_back.c - the pass back, layer by layer (llama.h), and the search for
 * the first value that is not finite.
 *
 * dx is the gradient of the residual stream, from the last layer to the first;
 * each half of a block adds its share to it.
 */
#include "core/train/llama_run.h"

#include <math.h>

/* dX = dY W, dW += dYᵀ X. */
static void linear_back(struct llama_run *r, int n, int in, int out, const float *x,
                        const float *w, const float *dy, float *dx, float *dw)
{
    if (dx)
        gemm_run(r->c, n, in, out, 1.0f, mat_rows(dy, out), mat_rows(w, in), false, dx, in);
    if (dw)
        gemm_run(r->c, out, in, n, 1.0f, mat_t(dy, out), mat_rows(x, in), true, dw, in);
}

static void adapt_back(struct llama_run *r, int n, int layer, enum lora_module mod,
                       const float *x, const float *dy, int ldy, float *dx)
{
    struct llama_site site = llama_run_site(r, layer, mod);
    if (site.s)
        lora_backward(site.s, r->c, n, &site.drop, x, r->tmp, r->act[layer].u[mod], dy, ldy, dx);
}

static void mlp_back(struct llama_run *r, const struct rows *rows, int i)
{
    const struct llama_config *c = &r->m->cfg;
    const struct llama_layer *w = &r->m->layer[i];
    struct llama_act *a = &r->act[i];
    int n = rows->n, d = c->hidden, f = c->ffn;
    linear_back(r, n, f, d, a->act, w->down, r->dx, r->dact, w->d_down);
    adapt_back(r, n, i, LORA_DOWN, a->act, r->dx, d, r->dact);
    ops_swiglu_back(r->c, n, f, a->gu, r->dact, r->dgu);
    linear_back(r, n, d, 2 * f, a->h2, w->gu, r->dgu, r->dh, w->d_gu);
    adapt_back(r, n, i, LORA_GATE, a->h2, r->dgu, 2 * f, r->dh);
    adapt_back(r, n, i, LORA_UP, a->h2, r->dgu + f, 2 * f, r->dh);
    ops_rmsnorm_back(r->c, n, d, a->x2, w->norm2, a->rstd2, r->dh, r->dx, w->d_norm2);
}

/* need_dx: whether anything below is trained (the first layer of an adapter
 * run has nothing below it). */
static void attention_back(struct llama_run *r, const struct rows *rows, int i, bool need_dx)
{
    const struct llama_config *c = &r->m->cfg;
    const struct llama_layer *w = &r->m->layer[i];
    struct llama_act *a = &r->act[i];
    int n = rows->n, d = c->hidden, hd = c->head_dim, q = c->heads * hd, kv = c->kv_heads * hd;
    int ld = q + 2 * kv;
    float *dh = need_dx ? r->dh : NULL;
    linear_back(r, n, q, d, a->att, w->o, r->dx, r->datt, w->d_o);
    adapt_back(r, n, i, LORA_O, a->att, r->dx, d, r->datt);
    ops_attention_back(r->c, rows, (struct attn_shape){c->heads, c->kv_heads, hd}, a->qkv, a->att,
                       a->lse, r->datt, r->dqkv);
    ops_rope(r->c, rows, c->heads + c->kv_heads, hd, r->rope, -1, r->dqkv, ld);
    linear_back(r, n, d, ld, a->h1, w->qkv, r->dqkv, dh, w->d_qkv);
    adapt_back(r, n, i, LORA_Q, a->h1, r->dqkv, ld, dh);
    adapt_back(r, n, i, LORA_K, a->h1, r->dqkv + q, ld, dh);
    adapt_back(r, n, i, LORA_V, a->h1, r->dqkv + q + kv, ld, dh);
    if (need_dx)
        ops_rmsnorm_back(r->c, n, d, a->x, w->norm1, a->rstd1, r->dh, r->dx, w->d_norm1);
}

void llama_run_backward(struct llama_run *r, const struct rows *rows)
{
    const struct llama_config *c = &r->m->cfg;
    size_t bytes = (size_t)rows->n * (size_t)c->hidden * sizeof *r->dx;
    memset(r->dx, 0, bytes);
    ops_rmsnorm_back(r->c, rows->n, c->hidden, r->out, r->m->norm, r->rstd, r->dh, r->dx,
                     r->m->d_norm);
    for (int i = c->layers - 1; i >= 0; i--) {
        if (r->keep == LLAMA_RECOMPUTE && i + 1 < c->layers)
            llama_run_again(r, rows, i);
        mlp_back(r, rows, i);
        attention_back(r, rows, i, i > 0 || r->m->full);
    }
    if (r->m->d_embed)
        ops_embed_back(r->c, rows->n, c->hidden, rows->ids, r->dx, r->m->d_embed);
}

static bool finite_all(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* The first of a layer's results, in the order they are computed. */
static const char *layer_trouble(const struct llama_act *a, const struct llama_config *c, size_t n)
{
    size_t d = (size_t)c->hidden, f = (size_t)c->ffn, att = (size_t)(c->heads * c->head_dim);
    const struct {
        const char *name;
        const float *x;
        size_t n;
    } parts[] = {
        {"its input", a->x, n * d},
        {"input_layernorm", a->h1, n * d},
        {"q_proj, k_proj, v_proj", a->qkv, n * (att + 2 * (size_t)(c->kv_heads * c->head_dim))},
        {"attention", a->att, n * att},
        {"o_proj", a->x2, n * d},
        {"post_attention_layernorm", a->h2, n * d},
        {"gate_proj, up_proj", a->gu, n * 2 * f},
        {"SwiGLU", a->act, n * f},
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (!finite_all(parts[i].x, parts[i].n))
            return parts[i].name;
    return NULL;
}

void llama_run_diagnose(struct llama_run *r, const struct rows *rows, char *out, size_t size)
{
    const struct llama_config *c = &r->m->cfg;
    size_t n = (size_t)rows->n, at;
    const struct tensor *t = tensors_nonfinite(&r->m->tensors, 'w', &at);
    if (!t && r->lora)
        t = tensors_nonfinite(&r->lora->tensors, 'w', &at);
    if (t) {
        snprintf(out, size, "the weights: %s[%zu]", t->name, at);
        return;
    }
    for (int i = 0; r->keep != LLAMA_FORWARD && i < c->layers; i++) {
        if (r->keep == LLAMA_RECOMPUTE)
            llama_run_again(r, rows, i);
        const char *part = layer_trouble(&r->act[i], c, n);
        if (part) {
            snprintf(out, size, "layer %d: %s", i, part);
            return;
        }
    }
    bool ok = finite_all(r->out, n * (size_t)c->hidden);
    snprintf(out, size, "%s", ok ? "lm_head: the logits" : "the last layer: down_proj");
}
