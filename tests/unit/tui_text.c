/* tui_text.c - wrapping, cutting, numbers, rows. */
#include "tests/t.h"
#include "tui/text.h"

#include <math.h>

#include "core/base/utf8.h"
#include "tui/rows.h"

static const char *wrapped(const char *s, int w)
{
    static struct str out;
    if (!out.p)
        str_init(&out, 1 << 16);
    str_clear(&out);
    while (*s) {
        size_t len, next = text_break(s, w, &len);
        CHECK(next > 0);
        str_append(&out, s, len);
        str_addc(&out, '/');
        s += next;
    }
    return out.p;
}

TEST(words_and_wide_characters_wrap)
{
    CHECK_STR(wrapped("the quick brown fox", 10), "the quick/brown fox/");
    CHECK_STR(wrapped("abcdefghij", 4), "abcd/efgh/ij/");
    CHECK_STR(wrapped("one\n\ntwo", 10), "one//two/");
    CHECK_STR(wrapped("训练损失下降", 6), "训练损/失下降/");
    CHECK_STR(wrapped("训练。", 4), "训/练。/");
    CHECK_STR(wrapped("用 Job 训练", 6), "用 Job/训练/");
    CHECK_STR(wrapped("a", 1), "a/");
    CHECK_STR(wrapped("中", 1), "中/");
}

TEST(no_line_is_wider_than_asked)
{
    static const char *const samples[] = {
        "podium POSTs it to the API and watches pods and events.",
        "用 lora-gaudi.yaml 创建 Job。它需要 1 块 Gaudi 卡和 32Gi 内存；（卡数）是错的。",
        "https://127.0.0.1:6443/apis/batch/v1/namespaces/stu-07/jobs"};
    for (size_t i = 0; i < ARRAY_LEN(samples); i++)
        for (int w = 2; w < 60; w++) {
            const char *s = samples[i];
            while (*s) {
                size_t len, next = text_break(s, w, &len);
                char line[512];
                CHECK(next > 0 && len < sizeof line);
                memcpy(line, s, len);
                line[len] = '\0';
                CHECK(utf8_str_width(line) <= w);
                s += next;
            }
        }
}

static const char *fitted(const char *s, int w, bool left)
{
    static struct str out;
    if (!out.p)
        str_init(&out, 1 << 12);
    str_clear(&out);
    if (left)
        text_fit_left(s, w, "…", &out);
    else
        text_fit(s, w, "…", &out);
    CHECK(utf8_str_width(out.p) <= w);
    return out.p;
}

TEST(fitting_cuts_with_a_mark)
{
    CHECK_STR(fitted("abcdef", 6, false), "abcdef");
    CHECK_STR(fitted("abcdef", 4, false), "abc…");
    CHECK_STR(fitted("训练损失", 6, false), "训练…");
    CHECK_STR(fitted("abcdef", 4, true), "…def");
    CHECK_STR(fitted("训练损失", 4, true), "…失");
    CHECK_STR(fitted("abc", 0, false), "");
    struct str s;
    str_init(&s, 256);
    text_fit_middle("first-finetune-wvthn", 14, "…", &s);
    CHECK_STR(s.p, "first-f…-wvthn");
    str_release(&s);
}

TEST(numbers_are_short)
{
    static const struct { double v; const char *s; } t[] = {
        {0.947, "0.947"}, {1284, "1284"},     {1.6e-4, "1.6e-4"}, {0.00012345, "1.23e-4"},
        {12.5, "12.50"},  {0, "0.000"},       {-3.25, "-3.250"},  {1e9, "1e9"},
        {NAN, "-"},       {INFINITY, "Inf"},  {-INFINITY, "-Inf"}, {999999, "999999"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        char buf[24];
        CHECK_STR(text_number(t[i].v, buf), t[i].s);
    }
}

TEST(spans_and_amounts)
{
    char buf[48];
    CHECK_STR(text_span(42, buf), "42s");
    CHECK_STR(text_span(516, buf), "8m36s");
    CHECK_STR(text_span(3900, buf), "1h05m");
    CHECK_STR(text_span(NAN, buf), "-");
    CHECK_STR(text_amount(312e6, 3980e6, "B", buf), "0.3/4.0 GB");
    CHECK_STR(text_amount(12, 40, "records", buf), "12/40 records");
    CHECK_STR(text_amount(512, 0, "B", buf), "512 B");
}

static const char *row_text(const struct rows *r, int i)
{
    static struct str out;
    if (!out.p)
        str_init(&out, 1 << 12);
    str_clear(&out);
    rows_text(&r->v[i], &out);
    return out.p;
}

TEST(paragraphs_flow_and_code_stays)
{
    struct rows r;
    rows_init(&r, GLYPH_UNICODE);
    rows_wrap(&r, ROLE_TEXT, 1, "one\ntwo `three` four\n\n> cmd -x\n- item\n- next", 40);
    CHECK_INT(r.n, 5);
    CHECK_STR(row_text(&r, 0), " one two three four");
    CHECK_STR(row_text(&r, 1), "");
    CHECK_STR(row_text(&r, 2), " > cmd -x");
    CHECK_INT(r.v[2].span[1].role, ROLE_CODE);
    CHECK_STR(row_text(&r, 3), " - item");
    bool code = false;
    for (int i = 0; i < r.v[0].n; i++)
        code = code || (r.v[0].span[i].role == ROLE_CODE &&
                        str_eq(r.v[0].span[i].text, "three"));
    CHECK(code);
    rows_clear(&r);
    rows_wrap(&r, ROLE_TEXT, 0, "a *b c* 2 * 3 `x*y` *.yaml", 40);
    CHECK_STR(row_text(&r, 0), "a b c 2 * 3 x*y *.yaml");
    rows_wrap(&r, ROLE_TEXT, 0, "属于 *扩展资源*，由厂商", 7);   /* the mark spans rows */
    CHECK_STR(row_text(&r, 1), "属于");
    CHECK_STR(row_text(&r, 2), "扩展资");
    CHECK_STR(row_text(&r, 3), "源，由");
    CHECK_INT(r.v[0].span[1].role, ROLE_STRONG);
    CHECK_STR(r.v[0].span[1].text, "b c");
    rows_clear(&r);
    rows_wrap(&r, ROLE_TEXT, 0, "训练\n损失", 40);
    CHECK_STR(row_text(&r, 0), "训练损失");
    rows_release(&r);
}

TEST(cells_have_their_width)
{
    struct rows r;
    rows_init(&r, GLYPH_UNICODE);
    rows_new(&r, -1);
    rows_cell(&r, ROLE_TEXT, "训练损失", 7);
    rows_cell_right(&r, ROLE_TEXT, "9s", 5);
    CHECK_INT(r.v[0].width, 12);
    CHECK_STR(row_text(&r, 0), "训练损…   9s");
    rows_right(&r, ROLE_TEXT, "end", 20);
    CHECK_INT(r.v[0].width, 20);
    rows_new(&r, -1);
    rows_bar(&r, 0.5, 10);
    CHECK_STR(row_text(&r, 1), "━━━━━─────");
    rows_release(&r);
    rows_init(&r, GLYPH_ASCII);
    rows_new(&r, -1);
    rows_bar(&r, 0.25, 10);
    CHECK_STR(row_text(&r, 0), "[##......]");
    rows_release(&r);
}

T_MAIN
