/* gguf_tok.c - tokenizer.ggml.* to tokenizer.json (gguf_import.h).
 *
 * ggml keeps what the tokenizer's files hold but for the splitter, of which it
 * keeps a name ("smollm"); the table below gives the splitter back in the form
 * that transformers writes.
 */
#include "core/train/gguf_import.h"

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tjson.h"

enum { TOKENIZER_CEILING = 64 << 20 };
enum token_type { TYPE_NORMAL = 1, TYPE_UNKNOWN, TYPE_CONTROL, TYPE_USER, TYPE_UNUSED, TYPE_BYTE };

#define BYTE_LEVEL(regex) \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true," \
    "\"use_regex\":" regex "}"
#define LLAMA3                                                                                    \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"          \
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"

static const struct splitter {
    const char *pre, *json;
    bool ignore_merges;
} splitters[] = {
    {"smollm", "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\","
               "\"individual_digits\":true}," BYTE_LEVEL("true") "]}", false},
    {"gpt-2", BYTE_LEVEL("true"), false},
    {"llama-bpe", "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":"
                  "{\"Regex\":\"" LLAMA3 "\"},\"behavior\":\"Isolated\",\"invert\":false},"
                  BYTE_LEVEL("false") "]}", true},
    {"llama3", NULL, true}, {"llama-v3", NULL, true},      /* other names of llama-bpe */
};

static bool is(struct gguf_text t, const char *s)
{
    return t.n == strlen(s) && memcmp(t.p, s, t.n) == 0;
}

static const struct splitter *splitter_of(struct gguf_text pre)
{
    for (size_t i = 0; i < ARRAY_LEN(splitters); i++)
        if (pre.p && is(pre, splitters[i].pre))
            return splitters[i].json ? &splitters[i] : splitter_of((struct gguf_text){"llama-bpe",
                                                                                      9});
    return NULL;
}

static void quote(struct str *s, struct gguf_text t)
{
    struct str copy;
    str_init(&copy, TOKENIZER_CEILING);
    str_append(&copy, t.p, t.n);
    tjson_quote(s, copy.p ? copy.p : "");
    str_release(&copy);
}

static int type_at(const struct gguf *g, size_t i)
{
    return (int)gguf_array_num(g, "tokenizer.ggml.token_type", i, TYPE_NORMAL);
}

/* What is matched before the text is split. */
static void print_added(const struct gguf *g, size_t n, struct str *s)
{
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        int type = type_at(g, i);
        struct gguf_text t = gguf_array_str(g, "tokenizer.ggml.tokens", i);
        if ((type != TYPE_CONTROL && type != TYPE_USER) || t.n == 0)
            continue;
        str_printf(s, "%s\n    {\"id\":%zu,\"content\":", first ? "" : ",", i);
        quote(s, t);
        str_printf(s, ",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                      "\"normalized\":false,\"special\":%s}", type == TYPE_CONTROL ? "true"
                                                                                   : "false");
        first = false;
    }
}

static void print_vocab(const struct gguf *g, size_t n, struct str *s)
{
    bool first = true;
    for (size_t i = 0; i < n; i++) {
        if (type_at(g, i) == TYPE_UNUSED)
            continue;
        str_add(s, first ? "" : ",");
        quote(s, gguf_array_str(g, "tokenizer.ggml.tokens", i));
        str_printf(s, ":%zu", i);
        first = false;
    }
}

static void print_merges(const struct gguf *g, struct str *s)
{
    size_t n = gguf_array(g, "tokenizer.ggml.merges");
    for (size_t i = 0; i < n; i++) {
        str_add(s, i ? "," : "");
        quote(s, gguf_array_str(g, "tokenizer.ggml.merges", i));
    }
}

/* Llama 3 begins a text with its beginning-of-text token. */
static void print_post(const struct gguf *g, struct str *s)
{
    size_t bos = (size_t)gguf_num(g, "tokenizer.ggml.bos_token_id", -1);
    struct gguf_text name = gguf_array_str(g, "tokenizer.ggml.tokens", bos);
    if (gguf_num(g, "tokenizer.ggml.add_bos_token", 0) == 0 || !name.p) {
        str_add(s, "null");
        return;
    }
    str_add(s, "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":");
    quote(s, name);
    str_add(s, ",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}],\"pair\":["
               "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\","
               "\"type_id\":1}}],\"special_tokens\":{");
    quote(s, name);
    str_add(s, ":{\"id\":");
    quote(s, name);
    str_printf(s, ",\"ids\":[%zu],\"tokens\":[", bos);
    quote(s, name);
    str_add(s, "]}}}");
}

static void print_tokenizer(const struct gguf *g, const struct splitter *how, size_t n,
                            struct str *s)
{
    str_add(s, "{\n  \"version\":\"1.0\",\n  \"truncation\":null,\n  \"padding\":null,\n"
               "  \"added_tokens\":[");
    print_added(g, n, s);
    str_printf(s, "\n  ],\n  \"normalizer\":null,\n  \"pre_tokenizer\":%s,\n"
                  "  \"post_processor\":", how->json);
    print_post(g, s);
    str_printf(s, ",\n  \"decoder\":" BYTE_LEVEL("true") ",\n"
                  "  \"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":null,"
                  "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,"
                  "\"fuse_unk\":false,\"byte_fallback\":false,\"ignore_merges\":%s,\n\"vocab\":{",
               how->ignore_merges ? "true" : "false");
    print_vocab(g, n, s);
    str_add(s, "},\n\"merges\":[");
    print_merges(g, s);
    str_add(s, "]}\n}\n");
}

static void print_config(const struct gguf *g, struct str *s)
{
    static const struct {
        const char *name, *key;
    } tokens[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                  {"eos_token", "tokenizer.ggml.eos_token_id"},
                  {"unk_token", "tokenizer.ggml.unknown_token_id"},
                  {"pad_token", "tokenizer.ggml.padding_token_id"}};
    str_add(s, "{\n  \"tokenizer_class\": \"PreTrainedTokenizerFast\",\n"
               "  \"clean_up_tokenization_spaces\": false,\n");
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
        double id = gguf_num(g, tokens[i].key, -1);
        struct gguf_text t = id < 0 ? (struct gguf_text){0}
                                    : gguf_array_str(g, "tokenizer.ggml.tokens", (size_t)id);
        if (!t.p)
            continue;
        str_printf(s, "  \"%s\": ", tokens[i].name);
        quote(s, t);
        str_add(s, ",\n");
    }
    struct gguf_text chat = gguf_str(g, "tokenizer.chat_template");
    if (chat.p) {
        str_add(s, "  \"chat_template\": ");
        quote(s, chat);
        str_add(s, ",\n");
    }
    str_printf(s, "  \"model_max_length\": %.0f\n}\n", gguf_num(g, "llama.context_length", 2048));
}

static enum pd_code write_text(const char *dir, const char *name, struct str *s,
                               struct pd_err *err)
{
    char *path = path_join(dir, name);
    enum pd_code rc = path_write_atomic(path, 0644, s->p, s->len, err);
    free(path);
    str_clear(s);
    return rc;
}

enum pd_code gguf_import_tokenizer(const struct gguf *g, const char *dir, struct pd_err *err)
{
    struct gguf_text model = gguf_str(g, "tokenizer.ggml.model");
    struct gguf_text pre = gguf_str(g, "tokenizer.ggml.pre");
    size_t n = gguf_array(g, "tokenizer.ggml.tokens");
    const struct splitter *how = splitter_of(pre);
    if (!model.p || !is(model, "gpt2") || n == 0) {
        pd_fail(err, PD_UNSUPPORTED, _("the tokenizer is \"%.*s\", only byte-level BPE (\"gpt2\") "
                                       "is read here"), (int)model.n, model.p ? model.p : "");
        return pd_set_hint(err, "%s", _("Llama 3 and SmolLM files have one; Llama 1 and 2 do not"));
    }
    if (!how)
        return pd_fail(err, PD_UNSUPPORTED, _("tokenizer.ggml.pre is \"%.*s\": how it splits a "
                                              "text is not known here"), (int)pre.n,
                       pre.p ? pre.p : "");
    struct str s;
    str_init(&s, TOKENIZER_CEILING);
    print_tokenizer(g, how, n, &s);
    enum pd_code rc = write_text(dir, "tokenizer.json", &s, err);
    if (!rc) {
        print_config(g, &s);
        rc = write_text(dir, "tokenizer_config.json", &s, err);
    }
    str_release(&s);
    return rc;
}
