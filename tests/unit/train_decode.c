/* train_decode.c - text from a model: ends, whole characters, conversations, two
 * texts side by side. */
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/columns.h"
#include "core/train/decode.h"
#include "core/train/tok_chat.h"
#include "tests/unit/train_check.h"

/* Bytes as tokens 0 … 255 in the byte alphabet's order of ids, then specials. */
static struct tok *make_tok(void)
{
    struct str s;
    struct tok *t;
    struct pd_err err;
    int id = 0, other = 256;
    char utf[4];
    str_init(&s, 1 << 16);
    str_add(&s, "{\"added_tokens\":[");
    static const char *const special[] = {"<|im_start|>", "<|im_end|>", "<|begin_of_text|>",
                                          "<|start_header_id|>", "<|end_header_id|>",
                                          "<|eot_id|>"};
    for (int i = 0; i < 6; i++)
        str_printf(&s, "%s{\"id\":%d,\"content\":\"%s\",\"special\":true}", i ? "," : "", 257 + i,
                   special[i]);
    str_add(&s, "],\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":"
                "{\"type\":\"BPE\",\"merges\":[\"h i\"],\"vocab\":{");
    for (int b = 0; b < 256; b++) {
        bool own = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
        int n = utf8_encode(own ? (uint32_t)b : (uint32_t)other++, utf);
        str_printf(&s, "\"%s%.*s\":%d,", b == '"' || b == '\\' ? "\\" : "", n, utf, id++);
    }
    str_add(&s, "\"hi\":256}}}");
    CHECK_OK(tok_parse(s.p, s.len, "t", &t, &err));
    str_release(&s);
    return t;
}

/* A model that says SCRIPT: the head's row of the token that follows at each
 * position is what the position's embedding points at. Made so: width 64, one
 * dimension a position; the layers add nothing. */
enum { WIDE = 64, VOCAB = 263 };

/* Each token's embedding is one-hot by the order of its first use in script;
 * the head answers with the token behind it. Tokens must be unique. */
static void make_script(struct llama *m, const int32_t *script, int n)
{
    struct llama_config c = {.vocab = VOCAB, .hidden = WIDE, .ffn = 4, .layers = 1, .heads = 1,
                             .kv_heads = 1, .head_dim = 4, .max_pos = 64, .eps = 1e-5,
                             .theta = 1e4, .bos = -1, .pad = -1};
    llama_init(m, &c, false);
    for (int i = 0; i < WIDE; i++)
        m->norm[i] = m->layer[0].norm1[i] = m->layer[0].norm2[i] = 1;
    for (int i = 0; i + 1 < n; i++) {
        m->embed[script[i] * WIDE + i] = 1;
        m->head[script[i + 1] * WIDE + i] = 1;
    }
}

struct heard {
    char part[64][16];
    int n;
};

static void hear(void *arg, const char *text, size_t n)
{
    struct heard *h = arg;
    CHECK(h->n < 64 && n < 16);
    memcpy(h->part[h->n], text, n);
    h->part[h->n++][n] = '\0';
}

struct said {
    struct heard heard;
    char text[64];
    enum decode_end end;
    size_t drawn;
    int len;
};

static struct said run_script(const char *script, int32_t last, const char *stop, int64_t most,
                              int max_len)
{
    struct llama m;
    struct compute c;
    struct pd_err err;
    struct tok *t = make_tok();
    struct tok_ids drawn;
    struct str out;
    struct said s = {0};
    int32_t ids[64];
    int n = 0;
    while (script[n]) {
        ids[n] = (unsigned char)script[n];
        n++;
    }
    ids[n++] = last;
    make_script(&m, ids, n);
    CHECK_OK(compute_init(&c, 1, 64, &err));
    struct decode *d = decode_new(&m, &c, t, max_len);
    struct decode_options o = {.how = {.top_p = 1}, .most = most, .stop = stop, .eos = {258},
                               .n_eos = 1, .say = hear, .arg = &s.heard};
    tok_ids_init(&drawn);
    str_init(&out, 1 << 16);
    CHECK_OK(decode_run(d, &o, ids, 1, &out, &drawn, &s.end, &err));
    str_copy(s.text, sizeof s.text, out.p);
    s.drawn = drawn.n;
    s.len = decode_len(d);
    tok_ids_release(&drawn);
    str_release(&out);
    decode_free(d);
    compute_release(&c);
    llama_release(&m);
    tok_free(t);
    return s;
}

TEST(an_end_token_ends)
{
    struct said s = run_script("abc", 258, NULL, 20, 60);
    CHECK_STR(s.text, "bc");
    CHECK_INT(s.end, DECODE_EOS);
    CHECK_INT(s.drawn, 2);
    CHECK_INT(s.len, 4);                           /* the end token stands in the context */
}

TEST(length_and_context_end)
{
    struct said s = run_script("abcdefgh", 258, NULL, 3, 60);
    CHECK_STR(s.text, "bcd");
    CHECK_INT(s.end, DECODE_LENGTH);
    s = run_script("abcdefgh", 258, NULL, 20, 4);
    CHECK_STR(s.text, "bcde");
    CHECK_INT(s.end, DECODE_CONTEXT);
}

TEST(a_stop_text_is_never_handed_out)
{
    struct said s = run_script("abcdefgh", 258, "def", 20, 60);
    CHECK_STR(s.text, "bc");
    CHECK_INT(s.end, DECODE_STOP);
    CHECK_INT(s.heard.n, 2);                       /* "d" and "de" were held back */
    s = run_script("abcdeXgh", 258, "def", 20, 60);
    CHECK_STR(s.text, "bcdeXgh");
    CHECK_STR(s.heard.part[2], "deX");
    CHECK_INT(s.end, DECODE_EOS);
    s = run_script("abcde", 258, "def", 20, 60);   /* held at the end: handed out */
    CHECK_STR(s.text, "bcde");
}

TEST(characters_come_whole)
{
    struct said s = run_script("a\xe4\xb8\xadz\xf0\x9f\x98\x80", 258, NULL, 20, 60);
    CHECK_STR(s.text, "中z😀");
    CHECK_INT(s.heard.n, 3);
    CHECK_STR(s.heard.part[0], "中");
    CHECK_STR(s.heard.part[2], "😀");
    s = run_script("a\xe4\xb8", 258, NULL, 20, 60);         /* stays torn */
    CHECK_STR(s.text, "\xe4\xb8");
}

TEST(a_prompt_must_fit)
{
    struct llama m;
    struct compute c;
    struct pd_err err;
    struct tok *t = make_tok();
    struct str out;
    enum decode_end end;
    const int32_t ids[4] = {1, 2, VOCAB, 4};
    make_script(&m, ids, 2);
    CHECK_OK(compute_init(&c, 1, 64, &err));
    str_init(&out, 1000);
    struct decode *d = decode_new(&m, &c, t, 4);
    struct decode_options o = {.how = {.top_p = 1}, .most = 1};
    CHECK_INT(decode_run(d, &o, ids, 4, &out, NULL, &end, &err), PD_USAGE);
    CHECK_HAS(err.msg, "4 tokens, the model takes 1 to 3");
    CHECK_INT(decode_run(d, &o, ids, 0, &out, NULL, &end, &err), PD_USAGE);
    CHECK_INT(decode_run(d, &o, ids, 3, &out, NULL, &end, &err), PD_USAGE);
    CHECK_HAS(err.msg, "token 263");
    decode_free(d);
    str_release(&out);
    compute_release(&c);
    llama_release(&m);
    tok_free(t);
}

/* --- templates ------------------------------------------------------------------------ */

#define CHATML "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>'}}"
#define WITH_SYSTEM "{{ '<|im_start|>system\nYou help<|im_end|>\n' }}" CHATML

/* Ids as text, what is trained in 〔〕. */
static const char *rendered(const char *template, const struct tok_message *m, size_t n, bool open)
{
    static char out[1000];
    struct tok *t = make_tok();
    struct tok_chat *c;
    struct pd_err err;
    struct tok_ids ids, mask;
    struct str s;
    bool inside = false;
    tok_ids_init(&ids);
    tok_ids_init(&mask);
    str_init(&s, 1 << 16);
    CHECK_OK(tok_chat_from(template, "x", t, &c, &err));
    CHECK_OK(tok_chat_render(c, m, n, open, &ids, &mask, &err));
    CHECK_INT(ids.n, mask.n);
    for (size_t i = 0; i < ids.n; i++) {
        if (mask.v[i] != inside)
            str_add(&s, inside ? "〕" : "〔");
        inside = mask.v[i];
        tok_decode(t, &ids.v[i], 1, false, &s);
    }
    str_add(&s, inside ? "〕" : "");
    str_copy(out, sizeof out, s.p);
    str_release(&s);
    tok_ids_release(&ids);
    tok_ids_release(&mask);
    tok_chat_free(c);
    tok_free(t);
    return out;
}

static const struct tok_message talk[] = {{"user", " hi "}, {"assistant", "yes\n"}};

TEST(messages_in_chatml)
{
    CHECK_STR(rendered(CHATML, talk, 2, false),
              "<|im_start|>user\n hi <|im_end|>\n<|im_start|>assistant\n〔yes\n<|im_end|>〕\n");
    CHECK_STR(rendered(WITH_SYSTEM, talk, 1, true),
              "<|im_start|>system\nYou help<|im_end|>\n<|im_start|>user\n hi <|im_end|>\n"
              "<|im_start|>assistant\n");
    const struct tok_message own[] = {{"system", "S"}, {"user", "u"}};
    CHECK_STR(rendered(WITH_SYSTEM, own, 2, false),
              "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nu<|im_end|>\n");
}

TEST(messages_of_llama_3)
{
    CHECK_STR(rendered("{{ bos }}<|start_header_id|>", talk, 2, true),
              "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
              "<|start_header_id|>assistant<|end_header_id|>\n\n〔yes<|eot_id|>〕"
              "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

/* As transformers renders Llama 3.1's template: the system message is always there. */
TEST(messages_of_llama_3_1_begin_with_dates)
{
    static const char template[] = "{{ bos }}<|start_header_id|>{{- \"Cutting Knowledge Date: "
                                   "December 2023\\n\" }}";
    static const char dates[] = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n"
                                "Cutting Knowledge Date: December 2023\n"
                                "Today Date: 26 Jul 2024\n\n";
    const struct tok_message own[] = {{"system", " Be brief. "}, {"user", "hi"}};
    char want[400];
    str_fmt(want, sizeof want, "%s<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhi"
            "<|eot_id|>", dates);
    CHECK_STR(rendered(template, talk, 1, false), want);
    str_fmt(want, sizeof want, "%sBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nhi"
            "<|eot_id|>", dates);
    CHECK_STR(rendered(template, own, 2, false), want);
}

TEST(content_can_not_smuggle_a_marker)
{
    struct tok *t = make_tok();
    struct tok_chat *c;
    struct pd_err err;
    struct tok_ids ids;
    const struct tok_message m = {"user", "<|im_end|>"};
    int ends = 0;
    tok_ids_init(&ids);
    CHECK_OK(tok_chat_from(CHATML, "x", t, &c, &err));
    CHECK_OK(tok_chat_render(c, &m, 1, false, &ids, NULL, &err));
    for (size_t i = 0; i < ids.n; i++)
        ends += ids.v[i] == tok_chat_eot(c);
    CHECK_INT(ends, 1);
    const struct tok_message odd = {"human", "x"};
    CHECK_INT(tok_chat_render(c, &odd, 1, false, &ids, NULL, &err), PD_DATA);
    CHECK_HAS(err.msg, "human");
    tok_ids_release(&ids);
    tok_chat_free(c);
    CHECK_INT(tok_chat_from("{{ '[INST]' }}", "x", t, &c, &err), PD_UNSUPPORTED);
    CHECK_OK(tok_chat_from(NULL, "x", t, &c, &err));
    CHECK_INT(tok_chat_kind(c), TOK_CHAT_NONE);
    tok_chat_free(c);
    tok_free(t);
}

/* --- side by side ------------------------------------------------------------------------ */

static const char *side_by_side(const char *a, const char *b, int width)
{
    static char out[2000];
    struct str s;
    str_init(&s, 1 << 16);
    columns_print(a, b, width, &s);
    str_copy(out, sizeof out, s.p);
    str_release(&s);
    return out;
}

TEST(columns_wrap_by_display_width)
{
    CHECK_STR(side_by_side("one two", "three", 5), "one   │ three\ntwo   │\n");
    CHECK_STR(side_by_side("中文字符ab", "x", 6), "中文字 │ x\n符ab   │\n");
    CHECK_STR(side_by_side("中文字符", "x", 5), "中文  │ x\n字符  │\n");
    CHECK_STR(side_by_side("abcdefgh", "x\n\ny", 4), "abcd │ x\nefgh │\n     │ y\n");
    CHECK_STR(side_by_side("ab cd中文", "x", 5), "ab cd │ x\n中文  │\n");
    CHECK_STR(side_by_side("中abc", "x", 4), "中   │ x\nabc  │\n");
    CHECK_STR(side_by_side("", "ab\n", 3), "    │ ab\n");
    for (int width = 1; width < 12; width++) {
        struct str s;
        str_init(&s, 1 << 16);
        columns_print("a 中 bc\n文d😀 e", "长的 words and 字", width, &s);
        for (char *p = s.p, *end; (end = strchr(p, '\n')); p = end + 1) {
            *end = '\0';
            CHECK(width < 2 || utf8_str_width(p) <= 2 * width + 3);
        }
        str_release(&s);
    }
}

T_MAIN
