/* gguf_import.c - configuration and weights (gguf_import.h). */
#include "core/train/gguf_import.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

/* --- names ---------------------------------------------------------------------- */

static const struct {
    const char *hf, *ggml;
} parts[] = {
    {"self_attn.q_proj", "attn_q"},        {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},        {"self_attn.o_proj", "attn_output"},
    {"mlp.gate_proj", "ffn_gate"},         {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},         {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
}, whole[] = {
    {"model.embed_tokens.weight", "token_embd.weight"},
    {"model.norm.weight", "output_norm.weight"},
    {"lm_head.weight", "output.weight"},
};

bool gguf_tensor_name(const char *hf, char out[TENSOR_NAME])
{
    static const char prefix[] = "model.layers.";
    for (size_t i = 0; i < ARRAY_LEN(whole); i++)
        if (str_eq(hf, whole[i].hf))
            return str_copy(out, TENSOR_NAME, whole[i].ggml) != NULL;
    if (!str_starts(hf, prefix))
        return false;
    char *end;
    long layer = strtol(hf + strlen(prefix), &end, 10);
    for (size_t i = 0; i < ARRAY_LEN(parts) && *end == '.'; i++) {
        size_t n = strlen(parts[i].hf);
        if (strncmp(end + 1, parts[i].hf, n) == 0 && str_eq(end + 1 + n, ".weight")) {
            str_fmt(out, TENSOR_NAME, "blk.%ld.%s.weight", layer, parts[i].ggml);
            return true;
        }
    }
    return false;
}

/* --- configuration ---------------------------------------------------------------- */

static enum pd_code read_sizes(const struct gguf *g, struct llama_config *c, struct pd_err *err)
{
    const struct {
        const char *key;
        int *to;
        double def;
    } sizes[] = {
        {"llama.embedding_length", &c->hidden, 0},
        {"llama.feed_forward_length", &c->ffn, 0},
        {"llama.block_count", &c->layers, 0},
        {"llama.attention.head_count", &c->heads, 0},
        {"llama.attention.head_count_kv", &c->kv_heads, gguf_num(g, "llama.attention.head_count",
                                                                 0)},
        {"llama.context_length", &c->max_pos, 2048},
    };
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        double v = gguf_num(g, sizes[i].key, sizes[i].def);
        if (!(v >= 1 && v <= 1 << 20 && v == floor(v)))
            return pd_fail(err, PD_TRAIN, _("the GGUF file has no usable %s"), sizes[i].key);
        *sizes[i].to = (int)v;
    }
    if (c->layers > LLAMA_MAX_LAYERS)
        return pd_fail(err, PD_UNSUPPORTED, _("the model has %d layers, at most %d are computed"),
                       c->layers, LLAMA_MAX_LAYERS);
    c->head_dim = (int)gguf_num(g, "llama.attention.key_length", c->hidden / c->heads);
    if (c->head_dim < 1 || c->head_dim != (int)gguf_num(g, "llama.rope.dimension_count",
                                                        c->head_dim))
        return pd_fail(err, PD_UNSUPPORTED,
                       _("the rotation covers a part of each head, which is not computed here"));
    const struct gguf_tensor *embed = gguf_find(g, "token_embd.weight");
    if (!embed || embed->ndim != 2 || embed->dim[1] > 1 << 20)
        return pd_fail(err, PD_TRAIN, _("the GGUF file has no usable %s"), "token_embd.weight");
    c->vocab = (int)embed->dim[1];
    return PD_OK;
}

/* The shortest decimal that is this float: 1e-05, not 9.99999975e-06. */
static double tidy(double x)
{
    char text[32];
    for (int digits = 1; digits < 9; digits++) {
        str_fmt(text, sizeof text, "%.*g", digits, x);
        if (strtof(text, NULL) == (float)x)
            return strtod(text, NULL);
    }
    return x;
}

/* rope_freqs.weight holds what rope_type llama3 makes of each frequency. Its
 * parameters are found again: the largest divisor is `factor`; the rest is what
 * every model of the kind has, and is checked. */
static enum pd_code read_llama3(const struct gguf *g, struct llama_config *c, struct pd_err *err)
{
    const struct gguf_tensor *t = gguf_find(g, "rope_freqs.weight");
    float f;
    c->rope_factor = 8;
    c->rope_low = 1;
    c->rope_high = 4;
    c->rope_orig = gguf_num(g, "llama.rope.scaling.original_context_length", 8192);
    c->rope_llama3 = t != NULL;
    if (t && (t->type != GGUF_T_F32 || t->count != c->head_dim / 2))
        return pd_fail(err, PD_UNSUPPORTED, _("rope_freqs.weight has another form"));
    for (int64_t i = 0; t && i < t->count; i++) {
        memcpy(&f, t->data + 4 * i, sizeof f);
        c->rope_factor = i ? fmax(c->rope_factor, (double)f) : (double)f;
    }
    return PD_OK;
}

static enum pd_code check_llama3(const struct gguf *g, const struct llama_config *c,
                                 struct pd_err *err)
{
    const struct gguf_tensor *t = gguf_find(g, "rope_freqs.weight");
    double low = c->rope_orig / c->rope_low, high = c->rope_orig / c->rope_high;
    for (int i = 0; t && i < c->head_dim / 2; i++) {
        float f;
        memcpy(&f, t->data + 4 * (size_t)i, sizeof f);
        double wave = 2 * M_PI * pow(c->theta, 2.0 * i / c->head_dim);
        double s = (c->rope_orig / wave - c->rope_low) / (c->rope_high - c->rope_low);
        double want = wave < high ? 1 : wave > low ? c->rope_factor
                                                   : 1 / ((1 - s) / c->rope_factor + s);
        if (fabs((double)f - want) > 1e-3 * want)
            return pd_fail(err, PD_UNSUPPORTED,
                           _("rope_freqs.weight follows another rule than rope_type llama3"));
    }
    return PD_OK;
}

static enum pd_code read_rope(const struct gguf *g, struct llama_config *c, struct pd_err *err)
{
    struct gguf_text scaling = gguf_str(g, "llama.rope.scaling.type");
    if (scaling.p && !(scaling.n == 4 && memcmp(scaling.p, "none", 4) == 0))
        return pd_fail(err, PD_UNSUPPORTED, _("rope scaling \"%.*s\" is not computed here"),
                       (int)scaling.n, scaling.p);
    c->theta = tidy(gguf_num(g, "llama.rope.freq_base", 10000));
    if (read_llama3(g, c, err) != PD_OK)
        return err->code;
    return c->rope_llama3 ? check_llama3(g, c, err) : PD_OK;
}

enum pd_code gguf_import_config(const struct gguf *g, struct llama_config *c, struct pd_err *err)
{
    struct gguf_text arch = gguf_str(g, "general.architecture");
    *c = (struct llama_config){.init_range = 0.02};
    if (arch.n != 5 || memcmp(arch.p, "llama", 5) != 0)
        return pd_fail(err, PD_UNSUPPORTED,
                       _("general.architecture is \"%.*s\", only \"llama\" is computed here"),
                       (int)arch.n, arch.p ? arch.p : "");
    enum pd_code rc = read_sizes(g, c, err);
    if (!rc)
        rc = read_rope(g, c, err);
    if (rc)
        return rc;
    c->eps = tidy(gguf_num(g, "llama.attention.layer_norm_rms_epsilon", 1e-6));
    c->tied = gguf_find(g, "output.weight") == NULL;
    c->bos = (int)gguf_num(g, "tokenizer.ggml.bos_token_id", -1);
    c->pad = (int)gguf_num(g, "tokenizer.ggml.padding_token_id", -1);
    int eos = (int)gguf_num(g, "tokenizer.ggml.eos_token_id", -1);
    int eot = (int)gguf_num(g, "tokenizer.ggml.eot_token_id", -1);
    if (eos >= 0)
        c->eos[c->n_eos++] = eos;
    if (eot >= 0 && eot != eos)
        c->eos[c->n_eos++] = eot;
    return llama_check_config(c, err);
}

/* --- weights ------------------------------------------------------------------------ */

/* Rows (h, i, a) to (h, a, i): a is the half of the head, i the pair. */
static void to_half_split(float *w, int heads, int hd, int cols)
{
    size_t row = (size_t)cols * sizeof *w, head = (size_t)hd * (size_t)cols;
    float *old = xcalloc(head, sizeof *old);
    for (int h = 0; h < heads; h++, w += head) {
        memcpy(old, w, head * sizeof *w);
        for (int i = 0; i < hd; i++)
            memcpy(w + (size_t)(i % 2 * (hd / 2) + i / 2) * (size_t)cols,
                   old + (size_t)i * (size_t)cols, row);
    }
    free(old);
}

static enum pd_code import_one(const struct gguf *g, const struct llama_config *c,
                               struct tensor *t, struct pd_err *err)
{
    char name[TENSOR_NAME], type[16];
    bool known = gguf_tensor_name(t->name, name);
    const struct gguf_tensor *s = known ? gguf_find(g, name) : NULL;
    if (!s)
        return pd_fail(err, PD_TRAIN, _("tensor %s is missing"), name);
    if (s->dim[0] != t->cols || s->dim[1] != t->rows || s->count != (int64_t)tensors_count(t))
        return pd_fail(err, PD_TRAIN, _("tensor %s is [%lld, %lld], the configuration says "
                                        "[%lld, %lld]"), name, (long long)s->dim[1],
                       (long long)s->dim[0], (long long)t->rows, (long long)t->cols);
    if (!gguf_type_readable(s->type)) {
        pd_fail(err, PD_UNSUPPORTED, _("tensor %s is stored as %s, which is not read here"), name,
                gguf_type_name(s->type, type));
        return pd_set_hint(err, "%s", _("take a file with Q4_K, Q6_K, Q8_0, F16 or BF16 weights"));
    }
    gguf_dequantise(s->type, s->data, s->count, t->w);
    if (strstr(name, "attn_q.weight") || strstr(name, "attn_k.weight"))
        to_half_split(t->w, t->rows / c->head_dim, c->head_dim, t->cols);
    return PD_OK;
}

enum pd_code gguf_import_weights(const struct gguf *g, struct llama *m, struct pd_err *err)
{
    size_t at;
    for (int i = 0; i < m->tensors.n; i++)
        if (import_one(g, &m->cfg, &m->tensors.t[i], err) != PD_OK)
            return err->code;
    const struct tensor *bad = tensors_nonfinite(&m->tensors, 'w', &at);
    return bad ? pd_fail(err, PD_TRAIN, _("tensor %s has a value that is no number, at %zu"),
                         bad->name, at)
               : PD_OK;
}

/* --- the folder --------------------------------------------------------------------- */

static enum pd_code write_generation(const char *dir, const struct llama_config *c,
                                     struct pd_err *err)
{
    struct str s;
    str_init(&s, 1 << 16);
    str_printf(&s, "{\n  \"bos_token_id\": %d,\n  \"eos_token_id\": [", c->bos);
    for (int i = 0; i < c->n_eos; i++)
        str_printf(&s, "%s%d", i ? ", " : "", c->eos[i]);
    str_printf(&s, "]%s", c->pad >= 0 ? "" : "\n}\n");
    if (c->pad >= 0)
        str_printf(&s, ",\n  \"pad_token_id\": %d\n}\n", c->pad);
    char *path = path_join(dir, "generation_config.json");
    enum pd_code rc = path_write_atomic(path, 0644, s.p, s.len, err);
    free(path);
    str_release(&s);
    return rc;
}

static enum pd_code write_folder(const struct gguf *g, const char *dir, bool bf16,
                                 const struct llama_config *c, struct pd_err *err)
{
    struct llama m;
    llama_init(&m, c, false);
    enum pd_code rc = gguf_import_weights(g, &m, err);
    if (!rc)
        rc = llama_save(&m, dir, bf16, err);
    llama_release(&m);
    if (!rc)
        rc = gguf_import_tokenizer(g, dir, err);
    return rc ? rc : write_generation(dir, c, err);
}

/* A folder that is no model of ours stays. */
static enum pd_code make_room(const char *dir, struct pd_err *err)
{
    struct stat st;
    char *config = path_join(dir, "generation_config.json");
    bool model = stat(config, &st) == 0;
    free(config);
    if (stat(dir, &st) < 0 || model || rmdir(dir) == 0)
        return model ? path_remove_tree(dir, err) : PD_OK;
    return pd_fail(err, PD_IO, _("%s is there already and is no imported model"), dir);
}

enum pd_code gguf_import(const char *file, const char *dir, bool bf16, struct llama_config *c,
                         struct pd_err *err)
{
    struct gguf *g;
    if (gguf_open(file, &g, err) != PD_OK)
        return err->code;
    char *part = xasprintf("%s.part", dir);
    struct stat st;
    enum pd_code rc = gguf_import_config(g, c, err);
    if (!rc && stat(part, &st) == 0)
        rc = path_remove_tree(part, err);
    if (!rc)
        rc = write_folder(g, part, bf16, c, err);
    if (!rc)
        rc = make_room(dir, err);
    if (!rc && rename(part, dir))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), dir);
    if (rc) {
        struct pd_err ignored;
        (void)!path_remove_tree(part, &ignored);
    }
    gguf_close(g);
    free(part);
    return rc;
}
