/* llama.c - a Llama's weights: names, places, files (llama.h). */
#include "core/train/llama.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/rng.h"
#include "core/train/safetensors.h"
#include "core/train/shards.h"

/* Places of one layer; q, k, v stand in one piece, and gate, up. */
static void take_layer(struct llama *m, struct llama_layer *l, struct slab *s, bool grad)
{
    const struct llama_config *c = &m->cfg;
    size_t d = (size_t)c->hidden, f = (size_t)c->ffn, hd = (size_t)c->head_dim;
    size_t q = (size_t)c->heads * hd, kv = (size_t)c->kv_heads * hd;
    float *norm1 = slab_take(s, d), *qkv = slab_take(s, (q + 2 * kv) * d);
    float *o = slab_take(s, d * q), *norm2 = slab_take(s, d);
    float *gu = slab_take(s, 2 * f * d), *down = slab_take(s, d * f);
    if (grad) {
        l->d_norm1 = norm1, l->d_qkv = qkv, l->d_o = o;
        l->d_norm2 = norm2, l->d_gu = gu, l->d_down = down;
    } else {
        l->norm1 = norm1, l->qkv = qkv, l->o = o, l->norm2 = norm2, l->gu = gu, l->down = down;
    }
}

static void take_weights(struct llama *m, struct slab *s, bool grad)
{
    size_t d = (size_t)m->cfg.hidden, v = (size_t)m->cfg.vocab;
    float *embed = slab_take(s, v * d);
    for (int i = 0; i < m->cfg.layers; i++)
        take_layer(m, &m->layer[i], s, grad);
    float *norm = slab_take(s, d);
    float *head = m->cfg.tied ? embed : slab_take(s, v * d);
    if (grad)
        m->d_embed = embed, m->d_norm = norm, m->d_head = head;
    else
        m->embed = embed, m->norm = norm, m->head = head;
}

static void add(struct llama *m, const char *name, int rows, int cols, float *w, float *g)
{
    struct tensor *t = tensors_add(&m->tensors, rows, cols, "%s", name);
    t->w = w;
    t->g = g;
}

static void add_in_layer(struct llama *m, int i, const char *part, int rows, int cols, float *w,
                         float *g)
{
    char name[TENSOR_NAME];
    snprintf(name, sizeof name, "model.layers.%d.%s.weight", i, part);
    add(m, name, rows, cols, w, g);
}

#define AT(p, off) ((p) ? (p) + (off) : NULL)

static void name_layer(struct llama *m, int i)
{
    const struct llama_config *c = &m->cfg;
    const struct llama_layer *l = &m->layer[i];
    int d = c->hidden, f = c->ffn, q = c->heads * c->head_dim, kv = c->kv_heads * c->head_dim;
    size_t k_at = (size_t)q * (size_t)d, v_at = k_at + (size_t)kv * (size_t)d;
    size_t up_at = (size_t)f * (size_t)d;
    add_in_layer(m, i, "input_layernorm", 0, d, l->norm1, l->d_norm1);
    add_in_layer(m, i, "self_attn.q_proj", q, d, l->qkv, l->d_qkv);
    add_in_layer(m, i, "self_attn.k_proj", kv, d, AT(l->qkv, k_at), AT(l->d_qkv, k_at));
    add_in_layer(m, i, "self_attn.v_proj", kv, d, AT(l->qkv, v_at), AT(l->d_qkv, v_at));
    add_in_layer(m, i, "self_attn.o_proj", d, q, l->o, l->d_o);
    add_in_layer(m, i, "post_attention_layernorm", 0, d, l->norm2, l->d_norm2);
    add_in_layer(m, i, "mlp.gate_proj", f, d, l->gu, l->d_gu);
    add_in_layer(m, i, "mlp.up_proj", f, d, AT(l->gu, up_at), AT(l->d_gu, up_at));
    add_in_layer(m, i, "mlp.down_proj", d, f, l->down, l->d_down);
}

static void take_moments(struct llama *m, struct slab *s)
{
    for (int i = 0; i < m->tensors.n; i++)
        m->tensors.t[i].m = slab_take(s, tensors_count(&m->tensors.t[i]));
    for (int i = 0; i < m->tensors.n; i++)
        m->tensors.t[i].v = slab_take(s, tensors_count(&m->tensors.t[i]));
}

static void name_all(struct llama *m)
{
    add(m, "model.embed_tokens.weight", m->cfg.vocab, m->cfg.hidden, m->embed, m->d_embed);
    for (int i = 0; i < m->cfg.layers; i++)
        name_layer(m, i);
    add(m, "model.norm.weight", 0, m->cfg.hidden, m->norm, m->d_norm);
    if (!m->cfg.tied)
        add(m, "lm_head.weight", m->cfg.vocab, m->cfg.hidden, m->head, m->d_head);
}

void llama_init(struct llama *m, const struct llama_config *cfg, bool full)
{
    *m = (struct llama){.cfg = *cfg, .full = full};
    take_weights(m, &m->weights, false);
    slab_alloc(&m->weights);
    take_weights(m, &m->weights, false);
    if (!full) {
        name_all(m);
        return;
    }
    struct slab plan = {0};
    name_all(m);
    take_weights(m, &plan, true);
    take_moments(m, &plan);
    m->state = plan;
    slab_alloc(&m->state);
    take_weights(m, &m->state, true);
    m->tensors.n = 0;
    name_all(m);
    take_moments(m, &m->state);
}

void llama_floats(const struct llama_config *cfg, bool full, size_t *weights, size_t *state)
{
    struct llama *m = xcalloc(1, sizeof *m);
    struct slab count = {0}, grads = {0};
    m->cfg = *cfg;
    take_weights(m, &count, false);
    *weights = count.used;
    if (full) {
        name_all(m);
        take_weights(m, &grads, true);
        take_moments(m, &grads);
    }
    *state = grads.used;
    tensors_release(&m->tensors);
    free(m);
}

void llama_release(struct llama *m)
{
    slab_release(&m->weights);
    slab_release(&m->state);
    tensors_release(&m->tensors);
}

void llama_randomise(struct llama *m, uint64_t seed)
{
    for (int i = 0; i < m->tensors.n; i++) {
        struct tensor *t = &m->tensors.t[i];
        size_t n = tensors_count(t);
        if (t->ndim == 2)
            rng_fill_normal(rng_key(seed, 1, (uint64_t)i, 0), t->w, n, (float)m->cfg.init_range);
        else
            for (size_t k = 0; k < n; k++)
                t->w[k] = 1;
    }
}

enum pd_code llama_load(struct llama *m, const char *dir, bool full, struct pd_err *err)
{
    struct llama_config cfg;
    struct shards *s;
    if (llama_read_config(dir, &cfg, err) != PD_OK || shards_open(dir, &s, err) != PD_OK)
        return err->code;
    llama_init(m, &cfg, full);
    enum pd_code rc = shards_load(s, &m->tensors, err);
    shards_close(s);
    if (rc != PD_OK)
        llama_release(m);
    return rc;
}

enum pd_code llama_save(const struct llama *m, const char *dir, bool bf16, struct pd_err *err)
{
    if (path_mkdirs(dir, 0755, err) != PD_OK || llama_write_config(dir, &m->cfg, err) != PD_OK)
        return err->code;
    char *path = path_join(dir, "model.safetensors");
    enum pd_code rc = safetensors_save(path, &m->tensors, SAFETENSORS_W, bf16, NULL, err);
    free(path);
    return rc;
}
