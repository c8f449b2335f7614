/* train_tok_steps.c - pre-tokenizers as files write them, against the ids of the
 * `tokenizers` package (tests/train/make_tok_splits.py, make_tok_spaced.py), and the
 * recorded case. */
#include <stdlib.h>

#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok.h"
#include "tests/t.h"

static struct str read_file(const char *path)
{
    struct str s;
    struct pd_err err;
    str_init(&s, (size_t)8 << 20);
    CHECK_OK(path_read(path, (size_t)8 << 20, &s, &err));
    return s;
}

typedef void encode_fn(const struct tok *t, const char *text, size_t n, bool specials,
                       struct tok_ids *out);

static void check_by(encode_fn *encode, bool specials, const struct tok *t,
                     const struct tjson *row, int number)
{
    size_t n;
    const char *text = tjson_bytes(tjson_get(row, "text"), &n);
    const struct tjson *want = tjson_get(row, "ids");
    struct tok_ids got;
    tok_ids_init(&got);
    encode(t, text, n, specials, &got);
    CHECK_MSG(got.n == tjson_count(want), "line %d, \"%s\": %zu tokens, want %zu", number, text,
              got.n, tjson_count(want));
    for (size_t i = 0; i < got.n; i++)
        CHECK_MSG(got.v[i] == tjson_int(tjson_item(want, i), "", -1),
                  "line %d, \"%s\": token %zu is %d", number, text, i, (int)got.v[i]);
    tok_ids_release(&got);
}

static void check_ids(const struct tok *t, const struct tjson *row, int number)
{
    check_by(tok_encode, false, t, row, number);
}

/* "pre_tokenizer" and what follows it as they stand in the line, in a tokenizer of bytes and a few
 * merges. */
static struct tok *make(const char *pre, size_t n)
{
    static const char merges[] =
        "[\"a\",\"a\"],[\"aa\",\"b\"],[\"\u010a\",\"\u010a\"],[\"a\",\"\u010a\"],"
        "[\"1\",\"2\"],[\"-\",\"-\"],[\"a\",\"-\"],[\"\u0120\",\"a\"]";
    static const char *const made[] = {"aa", "aab", "\u010a\u010a", "a\u010a", "12", "--", "a-",
                                       "\u0120a"};
    struct str s;
    struct tok *t = NULL;
    struct pd_err err;
    str_init(&s, 1 << 20);
    str_printf(&s, "{\"pre_tokenizer\": %.*s,\"model\":{\"vocab\":{", (int)n, pre);
    for (int b = 0, next = 0x100; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        char c[8] = {0};
        utf8_encode((uint32_t)(plain ? b : next++), c);
        tjson_quote(&s, c);
        str_printf(&s, ":%d,", b);
    }
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        str_printf(&s, "%s\"%s\":%zu", i ? "," : "", made[i], 256 + i);
    str_printf(&s, "},\"merges\":[%s]}}", merges);
    CHECK_OK(tok_parse(s.p, s.len, "test", &t, &err));
    str_release(&s);
    return t;
}

TEST(ids_follow_the_file_as_it_is)
{
    struct str s = read_file(PODIUM_SOURCE_DIR "/tests/train/tok_splits.jsonl");
    int number = 0;
    for (char *p = s.p, *end; (end = strchr(p, '\n')); p = end + 1) {
        struct tjson *j;
        struct pd_err err;
        char *rows = strstr(p, ", \"rows\"");
        CHECK(rows && rows < end);
        CHECK_OK(tjson_parse(p, (size_t)(end - p), "splits", ++number, &j, &err));
        struct tok *t = make(p + strlen("{\"pre\": "), (size_t)(rows - p) - strlen("{\"pre\": "));
        const struct tjson *list = tjson_get(j, "rows");
        for (size_t i = 0; i < tjson_count(list); i++)
            check_ids(t, tjson_item(list, i), number);
        tok_free(t);
        tjson_free(j);
    }
    CHECK_INT(number, 46);
    str_release(&s);
}

/* What was encoded comes back, behind at most one space that the kind puts there. */
static void check_back(const struct tok *t, const struct tjson *row)
{
    size_t n;
    const char *text = tjson_bytes(tjson_get(row, "text"), &n);
    struct tok_ids ids;
    struct str back;
    tok_ids_init(&ids);
    str_init(&back, 10000);
    tok_encode(t, text, n, false, &ids);
    tok_decode(t, ids.v, ids.n, false, &back);
    size_t space = back.len > n;
    CHECK_INT(back.len, n + space);
    CHECK(memcmp(back.p ? back.p + space : "", text, n) == 0);
    str_release(&back);
    tok_ids_release(&ids);
}

/* The reference doubles what a text begins with already. */
static void with_begin(const struct tok *t, const char *text, size_t n, bool specials,
                       struct tok_ids *out)
{
    tok_begin(t, out);
    tok_encode(t, text, n, specials, out);
}

/* TOK_SPACED: another file of the same form (make parity). */
TEST(sentencepiece_as_the_reference)
{
    const char *path = getenv("TOK_SPACED");
    struct str s = read_file(path ? path : PODIUM_SOURCE_DIR "/tests/train/tok_spaced.jsonl");
    int number = 0, rows_n = 0;
    for (char *p = s.p, *end; (end = strchr(p, '\n')); p = end + 1) {
        struct tjson *j;
        struct pd_err err;
        struct tok *t;
        char *from = p + strlen("{\"tokenizer\": "), *rows = strstr(p, ", \"rows\": ");
        CHECK(rows && rows < end);
        CHECK_OK(tok_parse(from, (size_t)(rows - from), "spaced", &t, &err));
        CHECK_OK(tjson_parse(p, (size_t)(end - p), "spaced", ++number, &j, &err));
        const struct tjson *list = tjson_get(j, "rows");
        bool fallback = tjson_bool(j, "tokenizer.model.byte_fallback", false);
        for (size_t i = 0; i < tjson_count(list); i++, rows_n++) {
            check_by(with_begin, true, t, tjson_item(list, i), number);
            if (fallback && !strstr(tjson_str(tjson_item(list, i), "text", ""), "\u2581"))
                check_back(t, tjson_item(list, i));
        }
        tok_free(t);
        tjson_free(j);
    }
    CHECK(number == 8 && rows_n > 300);
    str_release(&s);
}

/* An answer goes on behind its prompt: no space is put before it. */
TEST(what_goes_on_gets_no_space)
{
    struct str s = read_file(PODIUM_SOURCE_DIR "/tests/train/tok_spaced.jsonl");
    struct tok_ids a, b;
    struct tok *t;
    struct pd_err err;
    char *rows = strstr(s.p, ", \"rows\": ");
    char *from = s.p + strlen("{\"tokenizer\": ");
    CHECK_OK(tok_parse(from, (size_t)(rows - from), "spaced", &t, &err));
    tok_ids_init(&a);
    tok_ids_init(&b);
    tok_encode(t, "for\nthe pod", 11, false, &a);
    tok_encode(t, "for\n", 4, false, &b);
    tok_encode_more(t, "the pod", 7, false, &b);
    CHECK(a.n == b.n && memcmp(a.v, b.v, a.n * sizeof *a.v) == 0);
    tok_ids_release(&a);
    tok_ids_release(&b);
    tok_free(t);
    str_release(&s);
}

TEST(a_text_is_no_pattern)
{
    struct str s = read_file(PODIUM_SOURCE_DIR
                             "/tests/cases/tokenizer/002-split-literal-vs-regex/checks.json");
    struct tjson *j;
    struct pd_err err;
    CHECK_OK(tjson_parse(s.p, s.len, "checks", 1, &j, &err));
    CHECK_INT(tjson_count(j), 2);
    for (size_t i = 0; i < tjson_count(j); i++) {
        char path[400];
        struct tok *t = NULL;
        snprintf(path, sizeof path, "%s/tests/cases/tokenizer/002-split-literal-vs-regex/%s",
                 PODIUM_SOURCE_DIR, tjson_str(tjson_item(j, i), "file", ""));
        CHECK_OK(tok_load(path, &t, &err));
        check_ids(t, tjson_item(j, i), (int)i);
        tok_free(t);
    }
    tjson_free(j);
    str_release(&s);
}

TEST(what_can_not_be_followed_is_named)
{
    static const struct {
        const char *pre, *says;
    } rows[] = {
        {"{\"type\":\"Metaspace\",\"replacement\":\"_\"}", "Metaspace"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":"
         "{\"Regex\":\"(a\"}},{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}", "(a"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{}},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}", "no pattern"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"behavior\":\"Odd\"},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}", "Odd"},
        {"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Punctuation\"},"
         "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}", "Punctuation"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char json[800];
        struct tok *t = NULL;
        struct pd_err err;
        snprintf(json, sizeof json, "{\"pre_tokenizer\":%s,\"model\":{}}", rows[i].pre);
        CHECK(tok_parse(json, strlen(json), "t.json", &t, &err) != PD_OK);
        CHECK_HAS(err.msg, rows[i].says);
    }
}

T_MAIN
