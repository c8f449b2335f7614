/* tui_edit.c - the small editor. */
#include "tests/t.h"
#include "tui/edit.h"

static void keys(struct edit *e, const char *list)
{
    struct strv v;
    strv_init(&v);
    strv_split(&v, list, ' ');
    for (size_t i = 0; i < v.n; i++)
        if (!edit_key(e, v.v[i], 10))
            t_fail(__FILE__, __LINE__, "key %s is not taken", v.v[i]);
    strv_release(&v);
}

static const char *text(const struct edit *e)
{
    static struct str s;
    if (!s.p)
        str_init(&s, 1 << 20);
    str_clear(&s);
    edit_text(e, &s);
    return s.p;
}

TEST(opens_and_gives_back_the_same)
{
    static const char *const samples[] = {"a: 1\nb: 2\n", "", "one", "训练\n\n损失\n"};
    static const char *const want[] = {"a: 1\nb: 2\n", "\n", "one\n", "训练\n\n损失\n"};
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct edit e = {0};
        edit_open(&e, "x", samples[i]);
        CHECK_STR(text(&e), want[i]);
        CHECK(!e.dirty);
        edit_close(&e);
    }
}

TEST(typing_splitting_and_joining)
{
    struct edit e = {0};
    edit_open(&e, "x", "spec:\n  limits: 3\n");
    keys(&e, "Down End Backspace 1 Enter c p u : Space 训");
    CHECK_STR(text(&e), "spec:\n  limits: 1\n  cpu: 训\n");      /* the indent is kept */
    keys(&e, "Home Backspace Backspace");
    CHECK_STR(text(&e), "spec:\n  limits:   cpu: 训\n");
    keys(&e, "Up End Del Del Del");
    CHECK_STR(text(&e), "spec:limits:   cpu: 训\n");
    keys(&e, "End Left Del");
    CHECK_STR(text(&e), "spec:limits:   cpu: \n");
    keys(&e, "C-k");
    CHECK_STR(text(&e), "\n");
    CHECK(e.dirty);
    CHECK(!edit_key(&e, "F5", 10));
    CHECK(!edit_key(&e, "C-s", 10));
    edit_close(&e);
}

TEST(the_cursor_keeps_its_column)
{
    struct edit e = {0};
    edit_open(&e, "x", "abcdef\n中\nabcdef\n");
    keys(&e, "Right Right Right Down");
    CHECK_INT(e.col, 3);                 /* behind 中: three bytes, two columns */
    keys(&e, "Down");
    CHECK_INT(e.col, 3);
    keys(&e, "Down Down Down Up Up Up Up");
    CHECK_INT(e.row, 0);
    edit_close(&e);
}

TEST(paste_brings_lines_without_indent)
{
    struct edit e = {0};
    edit_open(&e, "x", "  a\n");
    keys(&e, "End");
    edit_paste(&e, "b\r\n  c\nd\033[31m");
    CHECK_STR(text(&e), "  ab\n  c\nd\n");
    edit_close(&e);
}

TEST(rows_follow_the_cursor)
{
    struct edit e = {0};
    struct str s;
    int cx, cy;
    str_init(&s, 1 << 16);
    for (int i = 0; i < 50; i++)
        str_printf(&s, "line %d\n", i);
    edit_open(&e, "x", s.p);
    struct rows r;
    rows_init(&r, GLYPH_UNICODE);
    for (int i = 0; i < 60; i++) {
        edit_key(&e, i < 49 ? "Down" : "Up", 10);
        rows_clear(&r);
        edit_rows(&e, &r, 30, 10, &cx, &cy);
        CHECK(cy >= 0 && cy < 10 && r.n == 10);
        CHECK_INT(r.first + cy, e.row);
        CHECK(cx >= 4 && cx < 30);
    }
    str_release(&s);
    rows_release(&r);
    edit_close(&e);
}

TEST(edit_checks_a_manifest_as_it_is_typed)
{
    struct edit e = {0};
    struct edit_fault f;
    edit_open(&e, "/x/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
    CHECK_INT(edit_fault_count(&e), 0);
    edit_go_line(&e, 4);
    edit_key(&e, "End", 10);
    edit_key(&e, "_", 10);
    CHECK_INT(edit_fault_count(&e), 1);
    CHECK(edit_fault_at(&e, 4, &f) && f.error);
    CHECK_HAS(f.text, "lowercase RFC 1123");
    CHECK(*f.next != '\0');
    CHECK(!edit_fault_at(&e, 3, &f));
    CHECK(edit_fault_next(&e, 4, &f) && f.line == 4);      /* round the end */
    edit_key(&e, "Backspace", 10);
    CHECK_INT(edit_fault_count(&e), 0);
    edit_close(&e);
    edit_open(&e, "/x/train.yaml", "lr: 1e-4\nname: A_b\n");     /* no manifest */
    CHECK_INT(edit_fault_count(&e), 0);
    edit_close(&e);
}

TEST(edit_forgets_the_servers_words_when_the_text_changes)
{
    struct edit e = {0};
    struct edit_fault f;
    edit_open(&e, "/x/cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");
    e.told = json_from("[{\"level\":\"error\",\"line\":4,\"message\":\"quota\"}]");
    CHECK(edit_fault_at(&e, 4, &f));
    CHECK_STR(f.text, "quota");
    edit_key(&e, "Down", 10);
    CHECK(edit_fault_at(&e, 4, &f));
    edit_key(&e, "x", 10);
    CHECK(!edit_fault_at(&e, 4, &f));
    edit_close(&e);
}

T_MAIN
