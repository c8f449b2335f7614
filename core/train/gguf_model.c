/* gguf_model.c - names, sizes and tensors of a Llama in GGUF (gguf_model.h). */
#include "core/train/gguf_model.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/gguf_vocab.h"

/* Hugging Face's name within a layer, llama.cpp's, and which heads it has. */
static const struct part {
    const char *hf, *gguf;
    size_t heads;                 /* offset in llama_config; 0: none */
} parts[] = {
    {"input_layernorm", "attn_norm", 0},
    {"self_attn.q_proj", "attn_q", offsetof(struct llama_config, heads)},
    {"self_attn.k_proj", "attn_k", offsetof(struct llama_config, kv_heads)},
    {"self_attn.v_proj", "attn_v", 0},
    {"self_attn.o_proj", "attn_output", 0},
    {"post_attention_layernorm", "ffn_norm", 0},
    {"mlp.gate_proj", "ffn_gate", 0},
    {"mlp.up_proj", "ffn_up", 0},
    {"mlp.down_proj", "ffn_down", 0},
};

static const struct {
    const char *hf, *gguf;
} outer[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

static int heads_of(const struct part *p, const struct llama_config *c)
{
    int n = 0;
    if (p->heads)
        memcpy(&n, (const char *)c + p->heads, sizeof n);
    return n;
}

/* "model.layers.3.mlp.up_proj.SUFFIX" to its part and layer; NULL: none. */
static const struct part *part_of(const char *name, const char *suffix, int *layer)
{
    char rest[TENSOR_NAME];
    if (sscanf(name, "model.layers.%d.%100s", layer, rest) != 2)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t n = strlen(parts[i].hf);
        if (str_starts(rest, parts[i].hf) && str_eq(rest + n, suffix))
            return &parts[i];
    }
    return NULL;
}

static void add_tensor(struct gguf_save *g, const struct llama_config *c, const struct tensor *t,
                       enum gguf_save_type type)
{
    struct gguf_save_tensor to = {.type = type, .rows = t->ndim == 2 ? t->rows : 0,
                                  .cols = t->cols, .w = t->w};
    int layer;
    const struct part *p = part_of(t->name, ".weight", &layer);
    if (p) {
        to.heads = heads_of(p, c);
        str_fmt(to.name, sizeof to.name, "blk.%d.%s.weight", layer, p->gguf);
    }
    for (size_t i = 0; i < ARRAY_LEN(outer); i++)
        if (str_eq(t->name, outer[i].hf))
            str_copy(to.name, sizeof to.name, outer[i].gguf);
    assert(to.name[0]);
    gguf_save_tensor(g, &to);
}

/* llama.cpp divides each inverse frequency by these. */
static void rope_factors(const struct llama_config *c, float *out)
{
    for (int i = 0; i < c->head_dim / 2; i++) {
        double freq = pow(c->theta, -2.0 * i / c->head_dim), wave = 2 * M_PI / freq;
        double low = c->rope_orig / c->rope_low, high = c->rope_orig / c->rope_high;
        double s = (c->rope_orig / wave - c->rope_low) / (c->rope_high - c->rope_low);
        double f = wave < high ? 1 : wave > low ? c->rope_factor : 0;
        out[i] = (float)(f != 0 ? f : 1 / ((1 - s) / c->rope_factor + s));
    }
}

static void add_sizes(struct gguf_save *g, const struct llama_config *c)
{
    const struct {
        const char *key;
        int n;
    } sizes[] = {
        {"llama.block_count", c->layers}, {"llama.context_length", c->max_pos},
        {"llama.embedding_length", c->hidden}, {"llama.feed_forward_length", c->ffn},
        {"llama.attention.head_count", c->heads},
        {"llama.attention.head_count_kv", c->kv_heads},
        {"llama.attention.key_length", c->head_dim},
        {"llama.attention.value_length", c->head_dim},
        {"llama.rope.dimension_count", c->head_dim}, {"llama.vocab_size", c->vocab},
    };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        gguf_save_u32(g, sizes[i].key, (uint32_t)sizes[i].n);
    gguf_save_f32(g, "llama.rope.freq_base", (float)c->theta);
    gguf_save_f32(g, "llama.attention.layer_norm_rms_epsilon", (float)c->eps);
}

/* general.file_type: what most tensors are. */
static uint32_t file_type(enum gguf_save_type t)
{
    switch (t) {
    case GGUF_SAVE_F32: return 0;
    case GGUF_SAVE_F16: return 1;
    case GGUF_SAVE_Q8_0: return 7;
    default: return 32;
    }
}

/* The folder's name, its last "/" left out. */
static void add_name(struct gguf_save *g, const char *dir)
{
    char name[200];
    str_copy(name, sizeof name, dir);
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = '\0';
    gguf_save_str(g, "general.name", path_base(name));
}

static void add_general(struct gguf_save *g, const char *type, enum gguf_save_type t)
{
    gguf_save_str(g, "general.architecture", "llama");
    gguf_save_str(g, "general.type", type);
    gguf_save_u32(g, "general.file_type", file_type(t));
    gguf_save_u32(g, "general.quantization_version", 2);
}

enum pd_code gguf_model_save(const struct llama *m, const char *dir, const char *path,
                             enum gguf_save_type type, int64_t *bytes, struct pd_err *err)
{
    float factors[512];
    struct gguf_save *g = gguf_save_new();
    add_general(g, "model", type);
    add_name(g, dir);
    add_sizes(g, &m->cfg);
    if (m->cfg.rope_llama3) {
        gguf_save_u32(g, "llama.rope.scaling.original_context_length",
                      (uint32_t)m->cfg.rope_orig);
        rope_factors(&m->cfg, factors);
        gguf_save_tensor(g, &(struct gguf_save_tensor){.name = "rope_freqs.weight",
                                                       .cols = m->cfg.head_dim / 2, .w = factors});
    }
    for (int i = 0; i < m->tensors.n; i++)
        add_tensor(g, &m->cfg, &m->tensors.t[i], type);
    enum pd_code rc = gguf_vocab_add(g, dir, &m->cfg, err);
    if (rc == PD_OK)
        rc = gguf_save_write(g, path, bytes, err);
    gguf_save_free(g);
    return rc;
}

static void add_site(struct gguf_save *g, const struct lora *l, const struct llama_config *c,
                     int layer, enum lora_module mod, enum gguf_save_type type)
{
    const struct lora_site *s = &l->site[layer][mod];
    char path[TENSOR_NAME];
    lora_site_path(layer, mod, path, sizeof path);
    const struct part *p = part_of(path, "", &layer);
    struct gguf_save_tensor a = {.type = type, .rows = s->r, .cols = s->in, .w = s->a};
    struct gguf_save_tensor b = {.type = type, .rows = s->out, .cols = s->r, .w = s->b,
                                 .heads = heads_of(p, c),
                                 .scale = (float)(s->scale / (l->cfg.alpha / s->r))};
    str_fmt(a.name, sizeof a.name, "blk.%d.%s.weight.lora_a", layer, p->gguf);
    str_fmt(b.name, sizeof b.name, "blk.%d.%s.weight.lora_b", layer, p->gguf);
    gguf_save_tensor(g, &a);
    gguf_save_tensor(g, &b);
}

enum pd_code gguf_adapter_save(const struct lora *l, const struct llama_config *c,
                               const char *path, enum gguf_save_type type, int64_t *bytes,
                               struct pd_err *err)
{
    if (l->cfg.alpha == 0)
        return pd_fail(err, PD_UNSUPPORTED, _("lora_alpha is 0: the adapter changes nothing"));
    struct gguf_save *g = gguf_save_new();
    add_general(g, "adapter", type);
    gguf_save_str(g, "adapter.type", "lora");
    gguf_save_f32(g, "adapter.lora.alpha", (float)l->cfg.alpha);
    for (int i = 0; i < l->layers; i++)
        for (int mod = 0; mod < LORA_MODULES; mod++)
            if (l->site[i][mod].r)
                add_site(g, l, c, i, (enum lora_module)mod, type);
    enum pd_code rc = gguf_save_write(g, path, bytes, err);
    gguf_save_free(g);
    return rc;
}
