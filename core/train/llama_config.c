/* llama_config.c - config.json of a Llama, read and written (llama.h).
 *
 * transformers 4 writes rope_theta, rope_scaling and torch_dtype; 5 writes
 * rope_parameters and dtype. Both are read; the form of 4, which both accept,
 * is written.
 */
#include "core/train/llama.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tjson.h"

enum { CONFIG_CEILING = 1 << 20 };

struct size_key {
    const char *key;
    size_t at;                    /* of the int in struct llama_config */
    int def;
    int most;
};

static const struct size_key sizes[] = {
    {"vocab_size", offsetof(struct llama_config, vocab), 32000, 1 << 20},
    {"hidden_size", offsetof(struct llama_config, hidden), 4096, 1 << 16},
    {"intermediate_size", offsetof(struct llama_config, ffn), 11008, 1 << 18},
    {"num_hidden_layers", offsetof(struct llama_config, layers), 32, LLAMA_MAX_LAYERS},
    {"num_attention_heads", offsetof(struct llama_config, heads), 32, 1024},
    {"num_key_value_heads", offsetof(struct llama_config, kv_heads), 0, 1024},
    {"head_dim", offsetof(struct llama_config, head_dim), 0, 512},
    {"max_position_embeddings", offsetof(struct llama_config, max_pos), 2048, 1 << 20},
};

static int *size_at(struct llama_config *c, const struct size_key *s)
{
    return (int *)(void *)((char *)c + s->at);
}

static enum pd_code read_sizes(const struct tjson *j, const char *src, struct llama_config *c,
                               struct pd_err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        const struct tjson *v = tjson_get(j, sizes[i].key);
        enum tjson_type t = tjson_type(v);
        if (t == TJSON_MISSING || t == TJSON_NULL) {
            *size_at(c, &sizes[i]) = sizes[i].def;
            continue;
        }
        int64_t n = tjson_int(v, "", -1);
        if (n < 1 || n > sizes[i].most)
            return pd_fail_at(err, PD_TRAIN, src, 0, 0, _("%s must be a number from 1 to %d"),
                              sizes[i].key, sizes[i].most);
        *size_at(c, &sizes[i]) = (int)n;
    }
    c->kv_heads = c->kv_heads ? c->kv_heads : c->heads;
    c->head_dim = c->head_dim ? c->head_dim : c->hidden / c->heads;
    return PD_OK;
}

/* What the core does not compute must not be computed silently otherwise. */
static enum pd_code refuse_others(const struct tjson *j, const char *src, struct pd_err *err)
{
    static const char *const flags[] = {"attention_bias", "mlp_bias", "rope_interleaved"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (tjson_bool(j, flags[i], false))
            return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("%s: true is not computed here"),
                              flags[i]);
    const char *type = tjson_str(j, "model_type", "llama");
    const char *act = tjson_str(j, "hidden_act", "silu");
    if (!str_eq(type, "llama"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("model_type is \"%s\", only \"llama\" is computed here"), type);
    if (!str_eq(act, "silu"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("hidden_act is \"%s\", only \"silu\" is computed here"), act);
    return PD_OK;
}

static enum pd_code read_rope(const struct tjson *j, const char *src, struct llama_config *c,
                              struct pd_err *err)
{
    const struct tjson *p = tjson_get(j, "rope_parameters");
    if (tjson_type(p) != TJSON_OBJECT)
        p = tjson_get(j, "rope_scaling");
    c->theta = tjson_num(p, "rope_theta", tjson_num(j, "rope_theta", 10000));
    const char *type = tjson_str(p, "rope_type", tjson_str(p, "type", "default"));
    c->rope_llama3 = str_eq(type, "llama3");
    if (!c->rope_llama3 && !str_eq(type, "default"))
        return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0,
                          _("rope_type is \"%s\", only default and llama3 are computed here"),
                          type);
    c->rope_factor = tjson_num(p, "factor", 8);
    c->rope_low = tjson_num(p, "low_freq_factor", 1);
    c->rope_high = tjson_num(p, "high_freq_factor", 4);
    c->rope_orig = tjson_num(p, "original_max_position_embeddings", 8192);
    return PD_OK;
}

static void read_ids(const struct tjson *j, struct llama_config *c)
{
    c->bos = (int)tjson_int(j, "bos_token_id", -1);
    c->pad = (int)tjson_int(j, "pad_token_id", -1);
    const struct tjson *eos = tjson_get(j, "eos_token_id");
    if (tjson_type(eos) == TJSON_INT)
        c->eos[c->n_eos++] = (int)tjson_int(eos, "", -1);
    for (size_t i = 0; i < tjson_count(eos) && c->n_eos < LLAMA_MAX_EOS; i++)
        c->eos[c->n_eos++] = (int)tjson_int(tjson_item(eos, i), "", -1);
}

enum pd_code llama_check_config(const struct llama_config *c, struct pd_err *err)
{
    if (c->heads % c->kv_heads != 0)
        return pd_fail(err, PD_TRAIN, _("%d attention heads can't share %d key heads evenly"),
                       c->heads, c->kv_heads);
    if (c->head_dim % 2 != 0)
        return pd_fail(err, PD_TRAIN, _("head_dim %d is odd: rotary embedding needs pairs"),
                       c->head_dim);
    if (!(c->eps > 0 && c->theta > 0))
        return pd_fail(err, PD_TRAIN, _("rms_norm_eps and rope_theta must be above zero"));
    return PD_OK;
}

static enum pd_code read_fields(const struct tjson *j, const char *src, struct llama_config *c,
                                struct pd_err *err)
{
    *c = (struct llama_config){0};
    if (tjson_type(j) != TJSON_OBJECT)
        return pd_fail_at(err, PD_PARSE, src, 1, 1, _("a model's configuration is an object"));
    enum pd_code rc = refuse_others(j, src, err);
    if (rc == PD_OK)
        rc = read_sizes(j, src, c, err);
    if (rc == PD_OK)
        rc = read_rope(j, src, c, err);
    if (rc != PD_OK)
        return rc;
    c->eps = tjson_num(j, "rms_norm_eps", 1e-6);
    c->init_range = tjson_num(j, "initializer_range", 0.02);
    c->tied = tjson_bool(j, "tie_word_embeddings", false);
    read_ids(j, c);
    return llama_check_config(c, err);
}

enum pd_code llama_read_config(const char *dir, struct llama_config *c, struct pd_err *err)
{
    struct tjson *j = NULL;
    char *path = path_join(dir, "config.json");
    enum pd_code rc = tjson_read(path, CONFIG_CEILING, &j, err);
    if (rc == PD_IO)
        pd_set_hint(err, _("--model needs a folder with config.json, model.safetensors and "
                            "tokenizer.json"));
    if (rc == PD_OK)
        rc = read_fields(j, path, c, err);
    tjson_free(j);
    free(path);
    return rc;
}

static void print_rope(const struct llama_config *c, struct str *s)
{
    str_printf(s, "  \"rope_theta\": %.9g,\n", c->theta);
    if (!c->rope_llama3) {
        str_add(s, "  \"rope_scaling\": null,\n");
        return;
    }
    str_printf(s,
               "  \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": %.9g, "
               "\"low_freq_factor\": %.9g, \"high_freq_factor\": %.9g, "
               "\"original_max_position_embeddings\": %.0f},\n",
               c->rope_factor, c->rope_low, c->rope_high, c->rope_orig);
}

static void print_ids(const struct llama_config *c, struct str *s)
{
    const struct {
        const char *key;
        int id;
    } one[] = {{"bos_token_id", c->bos}, {"pad_token_id", c->pad}};
    for (size_t i = 0; i < ARRAY_LEN(one); i++)
        if (one[i].id >= 0)
            str_printf(s, "  \"%s\": %d,\n", one[i].key, one[i].id);
    if (c->n_eos == 1)
        str_printf(s, "  \"eos_token_id\": %d,\n", c->eos[0]);
    for (int i = 0; c->n_eos > 1 && i < c->n_eos; i++)
        str_printf(s, "%s%d%s", i == 0 ? "  \"eos_token_id\": [" : ", ", c->eos[i],
                   i == c->n_eos - 1 ? "],\n" : "");
}

enum pd_code llama_write_config(const char *dir, const struct llama_config *c, struct pd_err *err)
{
    struct str s;
    str_init(&s, CONFIG_CEILING);
    str_add(&s, "{\n  \"architectures\": [\"LlamaForCausalLM\"],\n  \"model_type\": \"llama\",\n");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        str_printf(&s, "  \"%s\": %d,\n", sizes[i].key,
                   *size_at((struct llama_config *)c, &sizes[i]));
    print_rope(c, &s);
    print_ids(c, &s);
    str_printf(&s,
               "  \"hidden_act\": \"silu\",\n  \"attention_bias\": false,\n"
               "  \"mlp_bias\": false,\n  \"rms_norm_eps\": %.9g,\n"
               "  \"initializer_range\": %.9g,\n  \"tie_word_embeddings\": %s,\n"
               "  \"torch_dtype\": \"float32\"\n}\n",
               c->eps, c->init_range, c->tied ? "true" : "false");
    char *path = path_join(dir, "config.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}

size_t llama_parameters(const struct llama_config *c)
{
    size_t d = (size_t)c->hidden, hd = (size_t)c->head_dim;
    size_t attn = d * hd * 2 * ((size_t)c->heads + (size_t)c->kv_heads);
    size_t layer = attn + 3 * d * (size_t)c->ffn + 2 * d;
    return (size_t)c->layers * layer + (c->tied ? 1 : 2) * d * (size_t)c->vocab + d;
}
