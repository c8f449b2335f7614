/* train_tok.c - the tokenizer against the `tokenizers` package's ids (a table
 * made by tests/train/make_tok_cases.py), round trips, wrong files, speed. */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok.h"
#include "tests/t.h"

#define BASE PODIUM_SOURCE_DIR "/labs/content/first-finetune/base/tokenizer.json"
#define GPT2 "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"
#define SMOLLM                                                                                    \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true}," \
    GPT2 "]}"
#define LLAMA3                                                                                    \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\""     \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"         \
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+"         \
    "\"},\"behavior\":\"Isolated\",\"invert\":false},{\"type\":\"ByteLevel\","                    \
    "\"add_prefix_space\":false,\"use_regex\":false}]}"

static struct str read_file(const char *path)
{
    struct str s;
    struct pd_err err;
    str_init(&s, (size_t)64 << 20);
    CHECK_OK(path_read(path, (size_t)64 << 20, &s, &err));
    return s;
}

static struct tok *parse(const char *json)
{
    struct tok *t;
    struct pd_err err;
    CHECK_OK(tok_parse(json, strlen(json), "test", &t, &err));
    return t;
}

/* The base tokenizer with another pre_tokenizer. */
static struct tok *with_splitter(const char *pre)
{
    struct str s = read_file(BASE), out;
    char *a = strstr(s.p, "\"pre_tokenizer\""), *b = strstr(s.p, "\"post_processor\"");
    CHECK(a && b && b > a);
    str_init(&out, (size_t)64 << 20);
    str_append(&out, s.p, (size_t)(a - s.p));
    str_printf(&out, "\"pre_tokenizer\":%s,", pre);
    str_add(&out, b);
    struct tok *t = parse(out.p);
    str_release(&s);
    str_release(&out);
    return t;
}

static struct tok *splitter(const char *name)
{
    struct pd_err err;
    struct tok *t;
    if (str_eq(name, "gpt2"))
        return with_splitter(GPT2);
    if (str_eq(name, "llama3"))
        return with_splitter(LLAMA3);
    CHECK_OK(tok_load(BASE, &t, &err));
    return t;
}

struct checker {
    struct tok *t[3];
    int cases;
};
static const char *const names[] = {"smollm", "gpt2", "llama3"};

static void check_case(struct checker *c, const char *line, size_t n, int number)
{
    struct tjson *j;
    struct pd_err err;
    struct tok_ids got;
    size_t text_n;
    CHECK_OK(tjson_parse(line, n, "cases", number, &j, &err));
    const char *text = tjson_bytes(tjson_get(j, "text"), &text_n);
    const struct tjson *want = tjson_get(j, "ids");
    const struct tok *t = NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq(names[i], tjson_str(j, "split", "")))
            t = c->t[i];
    CHECK(t && text);
    tok_ids_init(&got);
    tok_encode(t, text, text_n, true, &got);
    for (size_t i = 0; i < MAX(got.n, tjson_count(want)); i++) {
        int64_t w = tjson_int(tjson_item(want, i), "", -1);
        CHECK_MSG(i < got.n && got.v[i] == w, "case %d, %s \"%s\": token %zu is %d, want %d",
                  number, tjson_str(j, "split", ""), text, i, i < got.n ? (int)got.v[i] : -1,
                  (int)w);
    }
    struct str back;
    str_init(&back, (size_t)64 << 20);
    CHECK(tok_decode(t, got.v, got.n, false, &back));
    CHECK(back.len == text_n && memcmp(back.p, text, text_n) == 0);
    str_release(&back);
    tok_ids_release(&got);
    tjson_free(j);
    c->cases++;
}

TEST(matches_the_reference)
{
    const char *more = getenv("TOK_CASES");
    struct str s = read_file(more ? more : PODIUM_SOURCE_DIR "/tests/train/tok_cases.jsonl");
    struct checker c = {.cases = 0};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        c.t[i] = splitter(names[i]);
    int number = 1;
    for (char *p = s.p, *end; (end = strchr(p, '\n')); p = end + 1)
        check_case(&c, p, (size_t)(end - p), number++);
    CHECK(c.cases >= 600);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        tok_free(c.t[i]);
    str_release(&s);
}

/* FNV-1a over the ids, a mark behind each splitter's: as make_tok_hashes.py. */
static uint32_t hash_ids(const struct checker *c, size_t tokenizers, const char *text, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t k = 0; k < tokenizers; k++) {
        struct tok_ids ids;
        tok_ids_init(&ids);
        tok_encode(c->t[k], text, n, true, &ids);
        for (size_t i = 0; i < ids.n; i++)
            h = (h ^ (uint32_t)ids.v[i]) * 16777619u;
        h = (h ^ 0xffffffffu) * 16777619u;
        tok_ids_release(&ids);
    }
    return h;
}

static void check_hash(struct checker *c, size_t tokenizers, const char *line, size_t n, int number)
{
    struct tjson *j;
    struct pd_err err;
    size_t text_n;
    CHECK(n > 9);
    CHECK_OK(tjson_parse(line + 9, n - 9, "hashes", number, &j, &err));
    const char *text = tjson_bytes(j, &text_n);
    CHECK(text != NULL);
    uint32_t want = (uint32_t)strtoul(line, NULL, 16);
    CHECK_MSG(hash_ids(c, tokenizers, text, text_n) == want, "line %d: other ids for %.*s", number,
              (int)n, line);
    tjson_free(j);
    c->cases++;
}

/* 10,500 strings: sentences of both languages, all of Unicode, random bytes.
 * TOK_HASHES and TOK_BASE name another file and the tokenizer that it is of. */
TEST(ten_thousand_strings_as_the_reference)
{
    const char *more = getenv("TOK_HASHES"), *base = getenv("TOK_BASE");
    struct str s = read_file(more ? more : PODIUM_SOURCE_DIR "/tests/train/tok_hashes.txt");
    struct checker c = {.cases = 0};
    struct pd_err err;
    size_t n = base ? 1 : ARRAY_LEN(names);
    for (size_t i = 0; !base && i < n; i++)
        c.t[i] = splitter(names[i]);
    if (base)
        CHECK_OK(tok_load(base, &c.t[0], &err));
    int number = 1;
    for (char *p = s.p, *end; (end = strchr(p, '\n')); p = end + 1)
        check_hash(&c, n, p, (size_t)(end - p), number++);
    CHECK(c.cases >= 10000);
    for (size_t i = 0; i < n; i++)
        tok_free(c.t[i]);
    str_release(&s);
}

static uint64_t rng_state = 7;
static uint32_t rnd(void)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(rng_state >> 33);
}

static void round_trip(const struct tok *t, const char *s, size_t n)
{
    struct tok_ids ids;
    struct str back;
    tok_ids_init(&ids);
    str_init(&back, (size_t)16 << 20);
    tok_encode(t, s, n, rnd() & 1, &ids);
    CHECK(tok_decode(t, ids.v, ids.n, false, &back));
    CHECK(back.len == n && (n == 0 || memcmp(back.p, s, n) == 0));
    str_release(&back);
    tok_ids_release(&ids);
}

/* Any byte; bytes that make pieces, spaces and broken characters; lead bytes. */
static char any_byte(int kind)
{
    static const char mixed[] = " \n\ta1'.\xe4\xb8\xad\xff";
    return kind == 0 ? (char)rnd() : kind == 1 ? mixed[rnd() % 11] : (char)(0xe0 + rnd() % 32);
}

TEST(any_bytes_come_back)
{
    char buf[600];
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct tok *t = splitter(names[k]);
        for (int i = 0; i < 4000; i++) {
            size_t n = rnd() % sizeof buf;
            for (size_t j = 0; j < n; j++)
                buf[j] = any_byte(i % 3);
            round_trip(t, buf, n);
        }
        tok_free(t);
    }
}

TEST(a_long_piece_is_not_quadratic)
{
    struct tok *t = splitter("smollm");
    size_t n = 2 << 20;
    char *s = xmalloc(n);
    memset(s, 'a', n);
    int64_t begin = clock_us();
    round_trip(t, s, n);
    CHECK(clock_us() - begin < 20 * 1000000);
    free(s);
    tok_free(t);
}

TEST(special_tokens_only_when_asked)
{
    struct tok *t = splitter("smollm");
    struct tok_ids a, b;
    const char *text = "x<|endoftext|>";
    tok_ids_init(&a);
    tok_ids_init(&b);
    tok_encode(t, text, strlen(text), true, &a);
    tok_encode(t, text, strlen(text), false, &b);
    CHECK_INT(a.n, 2);
    CHECK_INT(a.v[1], tok_eos(t));
    CHECK(b.n > 4);
    for (size_t i = 0; i < b.n; i++)
        CHECK(b.v[i] != tok_eos(t));
    CHECK(tok_is_special(t, tok_eos(t)) && !tok_is_special(t, a.v[0]) && !tok_is_special(t, -1));
    struct str s;
    str_init(&s, 100);
    CHECK(tok_decode(t, a.v, a.n, true, &s));
    CHECK_STR(s.p, "x");
    str_release(&s);
    tok_ids_release(&a);
    tok_ids_release(&b);
    tok_free(t);
}

/* --- a small tokenizer of our own: bytes, a few merges, options ----------------- */

static struct str split_json(const char *pre, const char *merges, const char *options,
                             const char *added)
{
    struct str s;
    str_init(&s, 1 << 20);
    str_printf(&s, "{\"normalizer\":null,\"pre_tokenizer\":%s,\"model\":{\"type\":\"BPE\",", pre);
    str_printf(&s, "%s\"vocab\":{", options);
    for (int b = 0, next = 0x100; b < 256; b++) {
        bool plain = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        char c[8] = {0};
        utf8_encode((uint32_t)(plain ? b : next++), c);
        tjson_quote(&s, c);
        str_printf(&s, ":%d,", b);
    }
    str_add(&s, "\"ab\":256,\"abc\":257,\"bc\":258,\"aa\":259,\"\\u0120x\":260,\"11\":261,"
                "\"111\":262,\"1111\":263},\"merges\":");
    str_printf(&s, "%s},\"added_tokens\":[%s]}", merges, added);
    return s;
}

static struct str small_json(const char *merges, const char *options, const char *added)
{
    return split_json(GPT2, merges, options, added);
}

static void check_ids(const struct tok *t, const char *text, const char *want)
{
    struct tok_ids ids;
    struct str s;
    tok_ids_init(&ids);
    str_init(&s, 4096);
    tok_encode(t, text, strlen(text), true, &ids);
    for (size_t i = 0; i < ids.n; i++)
        str_printf(&s, "%s%d", i ? " " : "", (int)ids.v[i]);
    CHECK_STR(s.p, want);
    str_release(&s);
    tok_ids_release(&ids);
}

#define PAIRS "[[\"b\",\"c\"],[\"a\",\"b\"],[\"a\",\"bc\"],[\"a\",\"a\"],[\"\\u0120\",\"x\"]]"
#define WORDS "[\"b c\",\"a b\",\"a bc\",\"a a\",\"\\u0120 x\"]"

TEST(both_forms_of_merges_and_the_lowest_rank_first)
{
    static const char *const forms[] = {PAIRS, WORDS};
    for (int i = 0; i < 2; i++) {
        struct str s = small_json(forms[i], "", "");
        struct tok *t = parse(s.p);
        check_ids(t, "abc", "257");              /* bc first, then a+bc */
        check_ids(t, "ab", "256");
        check_ids(t, "aaaaa", "259 259 97");     /* from the left */
        check_ids(t, " x x", "260 260");
        CHECK_INT(tok_size(t), 264);
        CHECK_INT(tok_eos(t), -1);
        tok_free(t);
        str_release(&s);
    }
}

/* A vocabulary with merged digits shows how numbers are cut. */
TEST(numbers_are_cut_as_the_splitter_says)
{
    static const char *const rows[][2] = {
        {GPT2, "32 261 262"}, {SMOLLM, "32 49 49 49 49 49"}, {LLAMA3, "32 262 261"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str s = split_json(rows[i][0], "[[\"1\",\"1\"],[\"11\",\"1\"],[\"111\",\"1\"]]",
                                  "", "");
        struct tok *t = parse(s.p);
        check_ids(t, " 11111", rows[i][1]);
        tok_free(t);
        str_release(&s);
    }
}

#define REMOVED(pattern)                                                                          \
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\""     \
    pattern "\"},\"behavior\":\"Removed\"},{\"type\":\"ByteLevel\",\"use_regex\":false,"          \
    "\"add_prefix_space\":false}]}"

/* Where PCRE2's tables are others than those of `tokenizers`, whose ids these are. */
TEST(classes_of_a_pattern_are_those_of_the_reference)
{
    static const char *const rows[][3] = {
        {REMOVED("\\\\s"), "a\u180e b", "97 225 160 142 98"},     /* U+180E is no space */
        {REMOVED("[x\\\\s]"), "a\u180e xb", "97 225 160 142 98"},
        {REMOVED("\\\\S+"), "\u180ea b", "32"},
        {REMOVED("\\\\p{L}"), "\u1c89\U000105c0-", "45"},        /* letters of Unicode 16 */
        {REMOVED("[^\\\\p{N}]"), "-1\u00bd", "49 194 189"},
        {REMOVED("\\\\p{N}"), "\U00010d40-", "45"},
        {REMOVED("\\\\w+"), "a\u0300_1-", "45"},                 /* a mark is of the word */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str s = split_json(rows[i][0], PAIRS, "", "");
        struct tok *t = parse(s.p);
        check_ids(t, rows[i][1], rows[i][2]);
        tok_free(t);
        str_release(&s);
    }
}

TEST(ignore_merges_takes_whole_words)
{
    struct str s = small_json("[[\"a\",\"b\"]]", "\"ignore_merges\":true,", "");
    struct tok *t = parse(s.p);
    check_ids(t, "abc", "257");
    check_ids(t, "abcc", "256 99 99");
    tok_free(t);
    str_release(&s);
    s = small_json("[[\"a\",\"b\"]]", "", "");
    t = parse(s.p);
    check_ids(t, "abc", "256 99");
    tok_free(t);
    str_release(&s);
}

TEST(added_tokens_strip_and_match_longest)
{
    struct str s = small_json(
        PAIRS, "",
        "{\"id\":300,\"content\":\"<m>\",\"special\":true,\"lstrip\":true},"
        "{\"id\":301,\"content\":\"<m>>\",\"special\":false,\"rstrip\":true},"
        "{\"id\":302,\"content\":\"word\",\"special\":false,\"single_word\":true},"
        "{\"id\":303,\"content\":\"<|endoftext|>\",\"special\":true}");
    struct tok *t = parse(s.p);
    check_ids(t, "a  <m> b", "97 300 32 98");
    check_ids(t, "a <m>>  b", "97 32 301 98");
    check_ids(t, "word sword words word.", "302 32 115 119 111 114 100 32 119 111 114 100 115 32 "
                                           "302 46");
    CHECK_INT(tok_eos(t), 303);
    CHECK_INT(tok_id(t, "<m>>", 4), 301);
    CHECK_INT(tok_id(t, "<n>", 3), -1);
    size_t n;
    CHECK(!tok_bytes(t, 270, &n) && n == 0);     /* a hole between the ids */
    tok_free(t);
    str_release(&s);
}

/* As tokenizers 0.23 does it: left out without unk_token, else that token. */
TEST(bytes_that_the_vocabulary_lacks)
{
    static const struct {
        const char *unk, *acb, *accb, *c;
    } rows[] = {
        {"", "2", "2", ""},
        {"\"unk_token\":\"u\",", "0 3 1", "0 3 3 1", "3"},
        {"\"unk_token\":\"u\",\"fuse_unk\":true,", "0 3 1", "0 3 1", "3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char json[400];
        str_fmt(json, sizeof json, "{\"pre_tokenizer\":" GPT2 ",\"model\":{%s\"vocab\":{\"a\":0,"
                "\"b\":1,\"ab\":2,\"u\":3},\"merges\":[\"a b\"]}}", rows[i].unk);
        struct tok *t = parse(json);
        check_ids(t, "acb", rows[i].acb);
        check_ids(t, "accb", rows[i].accb);
        check_ids(t, "c", rows[i].c);
        check_ids(t, "ab", "2");
        tok_free(t);
    }
}

static void check_whole(const struct tok *t, const char *text, const char *want)
{
    struct tok_ids ids;
    struct str got;
    tok_ids_init(&ids);
    str_init(&got, 1000);
    tok_encode_whole(t, text, strlen(text), true, &ids);
    for (size_t i = 0; i < ids.n; i++)
        str_printf(&got, "%s%d", i ? " " : "", (int)ids.v[i]);
    CHECK_STR(got.p ? got.p : "", want);
    str_release(&got);
    tok_ids_release(&ids);
}

#define POST(post)                                                                                \
    "{\"pre_tokenizer\":" GPT2 ",\"post_processor\":" post ",\"added_tokens\":[{\"id\":7,"        \
    "\"content\":\"<s>\",\"special\":true}],\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},"      \
    "\"merges\":[\"a b\"]}}"
#define HEAD(name, ids)                                                                           \
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"" name "\"}},"      \
    "{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{\"id\":\"" name "\"}}],"                    \
    "\"special_tokens\":{\"" name "\":{\"ids\":[" ids "]}}}"

/* As tokenizers with add_special_tokens, but what it puts behind; and never twice. */
TEST(what_stands_before_a_text_comes_once)
{
    static const char *const same[] = {
        POST(HEAD("<s>", "7")), POST(HEAD("<s>", "")),
        POST("{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},"
             HEAD("<s>", "7") "]}"),
        POST("{\"type\":\"RobertaProcessing\",\"sep\":[\"b\",1],\"cls\":[\"<s>\",7]}"),
    };
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        struct tok *t = parse(same[i]);
        check_ids(t, "ab", "2");
        check_whole(t, "ab", "7 2");
        check_whole(t, "<s>ab", "7 2");
        check_whole(t, "", "7");
        tok_free(t);
    }
    struct tok *t = parse(POST("{\"type\":\"ByteLevel\"}"));
    check_whole(t, "<s>ab", "7 2");
    check_whole(t, "ab", "2");
    tok_free(t);
}

static void refused(const char *json, enum pd_code code, const char *part)
{
    struct tok *t = NULL;
    struct pd_err err = {0};
    CHECK_INT(tok_parse(json, strlen(json), "t.json", &t, &err), code);
    CHECK_HAS(err.msg, part);
    CHECK_STR(err.src, "t.json");
}

TEST(wrong_files_are_refused)
{
    static const struct {
        const char *merges, *options, *added, *part;
        enum pd_code code;
    } rows[] = {
        {"[]", "", "", "no merges", PD_PARSE},
        {"null", "", "", "no merges", PD_PARSE},
        {"[\"ab\"]", "", "", "merge 0", PD_PARSE},
        {"[[\"a\",\"b\"],[\"a\"]]", "", "", "merge 1", PD_PARSE},
        {"[[\"a\",\"zz\"]]", "", "", "half of it", PD_PARSE},
        {"[[\"a\",\"c\"]]", "", "", "result is not", PD_PARSE},
        {PAIRS, "\"byte_fallback\":true,", "", "byte_fallback beside", PD_UNSUPPORTED},
        {PAIRS, "\"dropout\":0.1,", "", "dropout", PD_UNSUPPORTED},
        {PAIRS, "", "{\"id\":9999999,\"content\":\"x\"}", "in range", PD_PARSE},
        {PAIRS, "", "{\"id\":300}", "no content", PD_PARSE},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str s = small_json(rows[i].merges, rows[i].options, rows[i].added);
        refused(s.p, rows[i].code, rows[i].part);
        str_release(&s);
    }
    refused("{\"model\":{\"type\":\"Unigram\"}}", PD_UNSUPPORTED, "Unigram");
    refused("{\"normalizer\":{\"type\":\"Lowercase\"}}", PD_UNSUPPORTED, "Lowercase");
    refused("{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"x\"}}", PD_UNSUPPORTED,
            "Metaspace");
    refused("{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\"},"
            "{\"type\":\"ByteLevel\"}]}}", PD_UNSUPPORTED, "add_prefix_space");
    refused("{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false}}", PD_PARSE,
            "vocab");
    refused("{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
            "\"model\":{\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}}", PD_PARSE, "two tokens");
    refused("{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
            "\"model\":{\"vocab\":{\"aa\":0,\"bb\":1},\"merges\":[]}}", PD_PARSE, "any byte");
    refused("{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
            "\"model\":{\"unk_token\":\"u\",\"vocab\":{\"a\":0},\"merges\":[]}}", PD_PARSE,
            "unk_token");
    refused(POST(HEAD("<s>", "99")), PD_UNSUPPORTED, "not there: <s>");
    refused(POST(HEAD("<t>", "")), PD_UNSUPPORTED, "not there: <t>");
    refused(POST(HEAD("<s>", "7,7,7,7,7")), PD_UNSUPPORTED, "than podium follows: <s>");
    refused("{\"a\":1,\"a\":2}", PD_PARSE, "duplicate");
}

TEST(five_megabytes_a_second)
{
    struct str s = read_file(PODIUM_SOURCE_DIR "/tests/train/tok_cases.jsonl");
    struct tok *t = splitter("smollm");
    struct tok_ids ids;
    double best = 0;
    for (int i = 0; i < 5; i++) {
        tok_ids_init(&ids);
        int64_t begin = clock_us();
        tok_encode(t, s.p, s.len, false, &ids);
        double rate = (double)s.len / (double)MAX(clock_us() - begin, 1);
        best = MAX(best, rate);
        tok_ids_release(&ids);
    }
    printf("# encode %.1f MB/s\n", best);
#ifdef __SANITIZE_ADDRESS__
    CHECK(best > 0.2);
#else
    CHECK(best > 2.5);                           /* half, for a machine with other work */
#endif
    tok_free(t);
    str_release(&s);
}

T_MAIN
