/* fuzz_chat.c - any bytes as a chat template, and as what is said in one: only the
 * template's own markers become special tokens, and as many as there are messages.
 * fuzz: core/train/tok*.c core/train/rx.c core/train/tjson.c core/base */
#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok_chat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tok *make_tok(void)
{
    struct str s;
    struct tok *t;
    struct pd_err err;
    str_init(&s, 1 << 20);
    str_add(&s, "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
                "\"added_tokens\":[{\"id\":257,\"content\":\"<|im_start|>\",\"special\":true},"
                "{\"id\":258,\"content\":\"<|im_end|>\",\"special\":true}],"
                "\"model\":{\"type\":\"BPE\",\"merges\":[\"a b\"],\"vocab\":{\"ab\":256");
    for (int b = 0, next = 0x100; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        char c[8] = {0};
        utf8_encode((uint32_t)(plain ? b : next++), c);
        str_addc(&s, ',');
        tjson_quote(&s, c);
        str_printf(&s, ":%d", b);
    }
    str_add(&s, "}}}");
    if (tok_parse(s.p, s.len, "fuzz", &t, &err) != PD_OK)
        abort();
    str_release(&s);
    return t;
}

static void render(const struct tok_chat *c, const char *text)
{
    const struct tok_message m[] = {{"system", text}, {"user", text}, {"assistant", text}};
    struct tok_ids ids, mask;
    struct pd_err err;
    int starts = 0;
    tok_ids_init(&ids);
    tok_ids_init(&mask);
    if (tok_chat_render(c, m, 3, true, &ids, &mask, &err) == PD_OK) {
        assert(ids.n == mask.n);
        for (size_t i = 0; i < ids.n; i++)
            starts += ids.v[i] == 257;
        assert(starts == 4);
    }
    tok_ids_release(&ids);
    tok_ids_release(&mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tok *t;
    struct tok_chat *c;
    struct pd_err err;
    char *text = strndup((const char *)data, size);
    t = t ? t : make_tok();
    if (tok_chat_from(text, "fuzz", t, &c, &err) == PD_OK) {
        render(c, text);
        tok_chat_free(c);
    }
    if (tok_chat_from("<|im_start|>", "fuzz", t, &c, &err) != PD_OK)
        abort();
    render(c, text);
    tok_chat_free(c);
    free(text);
    return 0;
}
