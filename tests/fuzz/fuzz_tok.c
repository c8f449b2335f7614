/* fuzz_tok.c - any bytes encode and come back, with each splitter; and any
 * bytes as a tokenizer.json.
 * fuzz: core/train/tok*.c core/train/rx.c core/train/data*.c core/train/tjson.c core/base */
#include "tests/fuzz/small_tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const splitters[] = {
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}]}",
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":"
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}},"
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}",
};

static void round_trip(const struct tok *t, const char *s, size_t n)
{
    struct tok_ids ids;
    struct str back;
    tok_ids_init(&ids);
    str_init(&back, 1 << 20);
    tok_encode(t, s, n, false, &ids);
    tok_decode(t, ids.v, ids.n, false, &back);
    if (!memmem(s, n, "<m>", 3))                 /* it eats the spaces around it */
        assert(back.len == n && memcmp(back.p, s, n) == 0);
    ids.n = 0;
    tok_encode(t, s, n, true, &ids);
    for (size_t i = 0; i < ids.n; i++)
        assert(ids.v[i] >= 0 && ids.v[i] < tok_size(t));
    str_release(&back);
    tok_ids_release(&ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tok *t[ARRAY_LEN(splitters)];
    struct pd_err err = {0};
    struct tok *other;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        t[i] = t[i] ? t[i] : small_tok(splitters[i]);
        round_trip(t[i], (const char *)data, size);
    }
    if (tok_parse((const char *)data, size, "fuzz", &other, &err) == PD_OK) {
        round_trip(other, (const char *)data, size);
        tok_free(other);
    }
    return 0;
}
