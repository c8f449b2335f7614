/* gguf_vocab.c - tokenizer.json to tokenizer.ggml.* (gguf_vocab.h). */
#include "core/train/gguf_vocab.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tjson.h"

enum { TOKENIZER_CEILING = 64 << 20, CONFIG_CEILING = 8 << 20 };
enum token_type { NORMAL = 1, CONTROL = 3, USER = 4, UNUSED_ID = 5 };

struct token {
    const char *text;             /* borrowed from the tree; NULL: no token */
    size_t n;
    enum token_type type;
};

struct vocab {
    struct tjson *j, *config;     /* tokenizer.json, tokenizer_config.json (may be NULL) */
    struct token *t;
    int n;
};

/* --- the splitter --------------------------------------------------------------- */

#define LLAMA3_SPLIT                                                                              \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"                      \
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define QWEN2_SPLIT                                                                               \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"                           \
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

static bool is(const struct tjson *j, const char *path, const char *want)
{
    return str_eq(tjson_str(j, path, ""), want);
}

/* llama.cpp's name of a pre_tokenizer; NULL: it has none. */
static const char *splitter(const struct tjson *p)
{
    const struct tjson *list = tjson_get(p, "pretokenizers");
    const struct tjson *first = tjson_item(list, 0), *last = tjson_item(list, 1);
    if (is(p, "type", "ByteLevel") && tjson_bool(p, "use_regex", true) &&
        !tjson_bool(p, "add_prefix_space", true))
        return "gpt-2";
    if (!is(p, "type", "Sequence") || tjson_count(list) != 2 || !is(last, "type", "ByteLevel") ||
        tjson_bool(last, "add_prefix_space", true))
        return NULL;
    if (is(first, "type", "Digits") && tjson_bool(first, "individual_digits", false) &&
        tjson_bool(last, "use_regex", true))
        return "smollm";
    if (!is(first, "type", "Split") || !is(first, "behavior", "Isolated") ||
        tjson_bool(first, "invert", false) || tjson_bool(last, "use_regex", true))
        return NULL;
    if (is(first, "pattern.Regex", LLAMA3_SPLIT))
        return "llama-bpe";
    return is(first, "pattern.Regex", QWEN2_SPLIT) ? "qwen2" : NULL;
}

/* --- tokens ---------------------------------------------------------------------- */

static void place(struct vocab *v, int64_t id, const struct tjson *node, const char *text,
                  enum token_type type)
{
    size_t n = text ? strlen(text) : 0;
    if (node)
        text = tjson_bytes(node, &n);
    if (text && id >= 0 && id < v->n)
        v->t[id] = (struct token){text, n, type};
}

static void read_tokens(struct vocab *v)
{
    const struct tjson *vocab = tjson_at(v->j, "model.vocab");
    const struct tjson *added = tjson_get(v->j, "added_tokens");
    for (void *it = tjson_iter(vocab); it; it = tjson_iter_next(vocab, it))
        place(v, tjson_int(tjson_iter_value(it), "", -1), NULL, tjson_iter_key(it), NORMAL);
    for (size_t i = 0; i < tjson_count(added); i++) {
        const struct tjson *a = tjson_item(added, i);
        place(v, tjson_int(a, "id", -1), tjson_get(a, "content"), NULL,
              tjson_bool(a, "special", false) ? CONTROL : USER);
    }
}

static void add_tokens(struct gguf_save *g, const struct vocab *v)
{
    char name[32];
    gguf_save_texts(g, "tokenizer.ggml.tokens", (size_t)v->n);
    for (int i = 0; i < v->n; i++) {
        str_fmt(name, sizeof name, "[PAD%d]", i);
        gguf_save_text(g, v->t[i].text ? v->t[i].text : name,
                       v->t[i].text ? v->t[i].n : strlen(name));
    }
    gguf_save_numbers(g, "tokenizer.ggml.token_type", (size_t)v->n);
    for (int i = 0; i < v->n; i++)
        gguf_save_number(g, v->t[i].text ? v->t[i].type : UNUSED_ID);
}

/* "a b", or ["a", "b"]. */
static void add_merges(struct gguf_save *g, const struct vocab *v)
{
    const struct tjson *m = tjson_at(v->j, "model.merges");
    struct str s;
    str_init(&s, 1 << 16);
    gguf_save_texts(g, "tokenizer.ggml.merges", tjson_count(m));
    for (size_t i = 0; i < tjson_count(m); i++) {
        const struct tjson *one = tjson_item(m, i);
        const char *whole = tjson_str(one, "", NULL);
        str_clear(&s);
        if (whole)
            str_add(&s, whole);
        else
            str_printf(&s, "%s %s", tjson_str(one, "[0]", ""), tjson_str(one, "[1]", ""));
        gguf_save_text(g, s.p, s.len);
    }
    str_release(&s);
}

/* --- special tokens ---------------------------------------------------------------- */

/* "<s>", or {"content": "<s>"}: its id, -1 when it is not there. */
static int named_id(const struct vocab *v, const char *key)
{
    const struct tjson *j = tjson_get(v->config, key);
    const char *name = tjson_str(j, "", tjson_str(j, "content", NULL));
    for (int i = 0; name && i < v->n; i++)
        if (v->t[i].text && str_eq(v->t[i].text, name))
            return i;
    return -1;
}

static void add_id(struct gguf_save *g, const char *key, int first, int second)
{
    int id = first >= 0 ? first : second;
    if (id >= 0)
        gguf_save_u32(g, key, (uint32_t)id);
}

/* Whether the post-processor (alone, or in a Sequence) puts a special token first. */
static bool adds_bos(const struct tjson *p)
{
    const struct tjson *list = tjson_get(p, "processors");
    if (is(p, "type", "TemplateProcessing"))
        return tjson_type(tjson_at(p, "single[0].SpecialToken")) == TJSON_OBJECT;
    for (size_t i = 0; i < tjson_count(list); i++)
        if (adds_bos(tjson_item(list, i)))
            return true;
    return false;
}

static void add_specials(struct gguf_save *g, const struct vocab *v, const struct llama_config *c)
{
    bool bos = adds_bos(tjson_get(v->j, "post_processor"));
    add_id(g, "tokenizer.ggml.bos_token_id", c->bos, named_id(v, "bos_token"));
    add_id(g, "tokenizer.ggml.eos_token_id", c->n_eos ? c->eos[0] : -1, named_id(v, "eos_token"));
    add_id(g, "tokenizer.ggml.unknown_token_id", named_id(v, "unk_token"), -1);
    add_id(g, "tokenizer.ggml.padding_token_id", c->pad, named_id(v, "pad_token"));
    gguf_save_bool(g, "tokenizer.ggml.add_bos_token", bos);
    gguf_save_bool(g, "tokenizer.ggml.add_eos_token", false);
    gguf_save_bool(g, "tokenizer.ggml.add_space_prefix", false);
}

/* tokenizer_config.json's text, or its list's "default", or chat_template.jinja. */
static enum pd_code add_template(struct gguf_save *g, const struct vocab *v, const char *dir,
                                 struct pd_err *err)
{
    const struct tjson *t = tjson_get(v->config, "chat_template");
    const char *text = tjson_str(t, "", NULL);
    for (size_t i = 0; i < tjson_count(t); i++)
        if (is(tjson_item(t, i), "name", "default"))
            text = tjson_str(tjson_item(t, i), "template", NULL);
    char *path = path_join(dir, "chat_template.jinja");
    enum pd_code rc = PD_OK;
    struct str s;
    str_init(&s, CONFIG_CEILING);
    if (access(path, F_OK) == 0) {
        rc = path_read(path, CONFIG_CEILING, &s, err);
        text = s.p;
    }
    if (rc == PD_OK && text)
        gguf_save_str(g, "tokenizer.chat_template", text);
    str_release(&s);
    free(path);
    return rc;
}

static enum pd_code read_config(struct vocab *v, const char *dir, struct pd_err *err)
{
    char *path = path_join(dir, "tokenizer_config.json");
    enum pd_code rc = PD_OK;
    if (access(path, F_OK) == 0)
        rc = tjson_read(path, CONFIG_CEILING, &v->config, err);
    free(path);
    return rc;
}

static enum pd_code add_all(struct gguf_save *g, struct vocab *v, const char *dir,
                            const struct llama_config *c, const char *path, struct pd_err *err)
{
    const char *pre = splitter(tjson_get(v->j, "pre_tokenizer"));
    if (!is(v->j, "model.type", "BPE"))
        return pd_fail_at(err, PD_UNSUPPORTED, path, 0, 0,
                          _("the tokenizer's model is \"%s\"; only BPE is exported"),
                          tjson_str(v->j, "model.type", ""));
    if (tjson_bool(v->j, "model.byte_fallback", false)) {
        pd_fail_at(err, PD_UNSUPPORTED, path, 0, 0,
                   _("tokenizers of SentencePiece's kind are not exported to GGUF"));
        return pd_set_hint(err, _("podium-train merge makes a folder that llama.cpp's "
                                  "convert_hf_to_gguf.py takes; --adapter-only needs no "
                                  "tokenizer"));
    }
    if (!pre || tjson_type(tjson_get(v->j, "normalizer")) > TJSON_NULL) {
        pd_fail_at(err, PD_UNSUPPORTED, path, 0, 0,
                   _("llama.cpp has no splitter that cuts text as this tokenizer does"));
        return pd_set_hint(err, _("smollm, gpt-2, llama-bpe and qwen2 are known here"));
    }
    gguf_save_str(g, "tokenizer.ggml.model", "gpt2");
    gguf_save_str(g, "tokenizer.ggml.pre", pre);
    v->n = c->vocab;
    v->t = xcalloc((size_t)v->n, sizeof *v->t);
    read_tokens(v);
    add_tokens(g, v);
    add_merges(g, v);
    add_specials(g, v, c);
    return add_template(g, v, dir, err);
}

enum pd_code gguf_vocab_add(struct gguf_save *g, const char *dir, const struct llama_config *c,
                            struct pd_err *err)
{
    struct vocab v = {0};
    char *path = path_join(dir, "tokenizer.json");
    enum pd_code rc = tjson_read(path, TOKENIZER_CEILING, &v.j, err);
    if (rc == PD_OK)
        rc = read_config(&v, dir, err);
    if (rc == PD_OK)
        rc = add_all(g, &v, dir, c, path, err);
    tjson_free(v.j);
    tjson_free(v.config);
    free(v.t);
    free(path);
    return rc;
}
