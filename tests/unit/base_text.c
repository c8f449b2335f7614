/* Strings, UTF-8, widths, cleaning, lines. */
#include "core/base/lines.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/utf8.h"
#include "tests/t.h"

TEST(str_keeps_its_ceiling)
{
    struct str s;
    str_init(&s, 5);
    CHECK(str_add(&s, "abc"));
    CHECK(!str_add(&s, "defg"));
    CHECK_STR(s.p, "abcde");
    CHECK(s.full);
    str_clear(&s);
    CHECK(str_printf(&s, "%d", 12345));
    CHECK_STR(s.p, "12345");
    str_consume(&s, 2);
    CHECK_STR(s.p, "345");
    char *p = str_take(&s);
    CHECK_STR(p, "345");
    CHECK_STR(s.p, "");
    free(p);
    str_release(&s);
}

TEST(str_prints_long_texts_whole)
{
    struct str s;
    char big[3000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    str_init(&s, 10000);
    CHECK(str_printf(&s, "<%s>", big));
    CHECK_INT(s.len, 3001);
    CHECK(s.p[0] == '<' && s.p[3000] == '>');
    str_release(&s);
}

TEST(strv_splits_and_is_an_argv)
{
    struct strv v;
    strv_init(&v);
    strv_split(&v, "a::b", ':');
    strv_pushf(&v, "n%d", 7);
    CHECK_INT(v.n, 4);
    CHECK_STR(v.v[1], "");
    CHECK_STR(v.v[3], "n7");
    CHECK(v.v[4] == NULL);
    CHECK(strv_has(&v, "b") && !strv_has(&v, "c"));
    strv_release(&v);
}

TEST(numbers_are_whole_strings)
{
    int64_t i;
    double d;
    CHECK(str_to_i64("-12", &i) && i == -12);
    CHECK(!str_to_i64("12x", &i) && !str_to_i64("", &i) && !str_to_i64(" 1", &i));
    CHECK(!str_to_i64("9999999999999999999", &i));
    CHECK(str_to_f64("2e-4", &d) && d == 2e-4);
    CHECK(!str_to_f64("1.5.2", &d) && !str_to_f64("1e999", &d));
}

TEST(nearest_finds_a_typing_error)
{
    static const char *const words[] = {"checks", "hints", "title", "actions"};
    CHECK_STR(str_nearest("cheks", words, 4), "checks");
    CHECK(str_nearest("zebra", words, 4) == NULL);
}

TEST(utf8_round_trip_and_bad_bytes)
{
    static const uint32_t cps[] = {'A',    0x7F,   0x80,    0x7FF,   0x800,
                                   0x4E2D, 0xFFFF, 0x10000, 0x10FFFF};
    char b[4];
    int len;
    for (size_t i = 0; i < ARRAY_LEN(cps); i++) {
        int n = utf8_encode(cps[i], b);
        CHECK_INT(utf8_decode(b, (size_t)n, &len), cps[i]);
        CHECK_INT(len, n);
    }
    CHECK_INT(utf8_decode("\xC0\x80", 2, &len), 0xFFFD);      /* overlong */
    CHECK_INT(len, 1);
    CHECK_INT(utf8_decode("\xED\xA0\x80", 3, &len), 0xFFFD);  /* surrogate */
    CHECK_INT(utf8_decode("\xE4\xB8", 2, &len), 0xFFFD);      /* cut */
    CHECK(utf8_valid("中文", 6) && !utf8_valid("\xE4\xB8", 2));
}

TEST(utf8_feed_joins_split_reads)
{
    const char *s = "a中\xF0\x9F\x98\x80";
    struct utf8_feed f = {0};
    uint32_t cp, got[4];
    int n = 0;
    for (const char *p = s; *p; p++)
        if (utf8_push(&f, (unsigned char)*p, &cp) == UTF8_CHAR)
            got[n++] = cp;
    CHECK_INT(n, 3);
    CHECK_INT(got[1], 0x4E2D);
    CHECK_INT(got[2], 0x1F600);
    CHECK_INT(utf8_push(&f, 0xE4, &cp), UTF8_MORE);
    CHECK_INT(utf8_push(&f, 'x', &cp), UTF8_BAD_AGAIN);
    CHECK_INT(utf8_push(&f, 'x', &cp), UTF8_CHAR);
}

TEST(widths)
{
    CHECK_INT(utf8_width('a'), 1);
    CHECK_INT(utf8_width(0x4E2D), 2);
    CHECK_INT(utf8_width(0x0301), 0);       /* combining acute */
    CHECK_INT(utf8_width(0x1B), -1);
    CHECK_INT(utf8_width(0x28FF), 1);       /* braille */
    CHECK_INT(utf8_width(0xFF01), 2);       /* fullwidth ! */
    CHECK_INT(utf8_width(0x2500), 1);       /* box: ambiguous */
    utf8_set_ambiguous_wide(true);
    CHECK_INT(utf8_width(0x2500), 2);
    CHECK_INT(utf8_width(0x28FF), 1);
    utf8_set_ambiguous_wide(false);
    CHECK_INT(utf8_str_width("训练 loss"), 9);
    CHECK_INT(utf8_cut("训练", 3), 3);
}

static void clean_is(const char *in, const char *want)
{
    struct str out;
    str_init(&out, 1000);
    utf8_clean(in, strlen(in), false, &out);
    CHECK_STR(out.p, want);
    str_release(&out);
}

TEST(cleaned_text_cannot_control_the_terminal)
{
    clean_is("\x1b[31mred\x1b[0m", "red");
    clean_is("\x1b]0;title\x07x", "x");
    clean_is("\x1b]52;c;aGk=\x1b\\x", "x");
    clean_is("a\rb\bc\x7f", "abc");
    clean_is("a\tb", "a       b");
    clean_is("\xc2\x9b" "31mx", "31mx");     /* C1 CSI */
    clean_is("\xe2\x80\xae" "abc", "abc");   /* right-to-left override */
    clean_is("\xff" "a", "\xef\xbf\xbd" "a");
    clean_is("\x1b(0lqk", "lqk");
    clean_is("\x1b[31", "");
}

struct seen {
    char text[200];
    int lines, cuts;
};

static void see(void *arg, char *line, size_t len, bool cut)
{
    struct seen *s = arg;
    CHECK_INT(strlen(line), len);
    strncat(s->text, line, sizeof s->text - strlen(s->text) - 1);
    strncat(s->text, "|", 2);
    s->lines++;
    s->cuts += cut;
}

TEST(lines_are_the_same_for_every_split)
{
    const char *text = "one\r\n\ntwo\nthis line is much too long\nend";
    size_t n = strlen(text);
    for (size_t a = 0; a <= n; a++) {
        struct lines l;
        struct seen s = {{0}, 0, 0};
        lines_init(&l, 12);
        lines_feed(&l, text, a, see, &s);
        lines_feed(&l, text + a, n - a, see, &s);
        lines_end(&l, see, &s);
        CHECK_STR(s.text, "one||two|this line is|end|");
        CHECK_INT(s.cuts, 1);
        lines_release(&l);
    }
}

TEST(arena_is_zeroed_and_reused)
{
    struct arena a;
    arena_init(&a, 1 << 20);
    char *p = arena_alloc(&a, 100);
    memset(p, 1, 100);
    CHECK_STR(arena_printf(&a, "%s-%d", "x", 3), "x-3");
    arena_alloc(&a, 100000);
    arena_clear(&a);
    char *q = arena_alloc(&a, 100);
    for (int i = 0; i < 100; i++)
        CHECK_INT(q[i], 0);
    arena_release(&a);
}

T_MAIN
