/* small_tok.h - a tokenizer small enough that a fuzzer meets all of it. */
#ifndef TESTS_FUZZ_SMALL_TOK_H
#define TESTS_FUZZ_SMALL_TOK_H

#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok.h"

/* Bytes, a few merges, an end token: small enough that the fuzzer meets them. */
static inline struct tok *small_tok(const char *splitter)
{
    struct str s;
    struct tok *t;
    struct pd_err err;
    str_init(&s, 1 << 20);
    str_printf(&s, "{\"pre_tokenizer\":%s,\"added_tokens\":[{\"id\":262,\"content\":"
                   "\"<|endoftext|>\",\"special\":true},{\"id\":263,\"content\":\"<m>\","
                   "\"lstrip\":true,\"rstrip\":true,\"single_word\":true}],\"model\":{\"vocab\":{",
               splitter);
    for (int b = 0, next = 0x100; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        char c[8] = {0};
        utf8_encode((uint32_t)(plain ? b : next++), c);
        tjson_quote(&s, c);
        str_printf(&s, ":%d,", b);
    }
    str_add(&s, "\"aa\":256,\"aaa\":257,\"ab\":258,\"aaab\":259,\"\xc4\xa0\xc4\xa0\":260,"
                "\"\xc3\xa4\xc2\xb8\":261},\"merges\":[[\"a\",\"a\"],[\"aa\",\"a\"],[\"a\",\"b\"],"
                "[\"aaa\",\"b\"],[\"\xc4\xa0\",\"\xc4\xa0\"],[\"\xc3\xa4\",\"\xc2\xb8\"]]}}");
    if (tok_parse(s.p, s.len, "fuzz", &t, &err) != PD_OK)
        PD_BUG("%s", err.msg);
    str_release(&s);
    return t;
}

#endif
