/* tui_grid.c - cells: widths, halves of wide characters, clipping, diff. */
#include "tests/t.h"
#include "tui/grid.h"

static const char *row(const struct grid *g, int y)
{
    static struct str s;
    if (!s.p)
        str_init(&s, 1 << 16);
    str_clear(&s);
    grid_row_text(g, y, &s);
    return s.p;
}

TEST(text_takes_its_columns)
{
    struct grid g;
    grid_init(&g, 20, 2);
    CHECK_INT(grid_text(&g, 0, 0, 0, 0, "训练 loss"), 9);
    CHECK_STR(row(&g, 0), "训练 loss");
    CHECK_INT(grid_at(&g, 0, 0)->width, 2);
    CHECK_INT(grid_at(&g, 1, 0)->width, 0);
    CHECK(grid_sound(&g));
    grid_release(&g);
}

/* The two cases that ncurses gets wrong within a frame. */
TEST(writing_over_half_a_wide_character)
{
    struct grid g;
    grid_init(&g, 12, 2);
    grid_text(&g, 0, 0, 0, 0, "训练损失|");
    grid_text(&g, 1, 0, 0, 0, "X");
    CHECK_STR(row(&g, 0), " X练损失|");
    grid_text(&g, 0, 1, 0, 0, "训练损失|");
    grid_text(&g, 2, 1, 0, 0, "Y");
    CHECK_STR(row(&g, 1), "训Y 损失|");
    CHECK(grid_sound(&g));
    grid_release(&g);
}

TEST(a_wide_character_over_two_halves)
{
    struct grid g;
    grid_init(&g, 8, 1);
    grid_text(&g, 0, 0, 0, 0, "训练损失");
    grid_text(&g, 1, 0, 0, 0, "中");
    CHECK_STR(row(&g, 0), " 中 损失");
    CHECK(grid_sound(&g));
    grid_release(&g);
}

TEST(the_edge_never_splits_a_character)
{
    struct grid g;
    grid_init(&g, 5, 2);
    CHECK_INT(grid_text(&g, 0, 0, 0, 0, "ab训练x"), 7);
    CHECK_STR(row(&g, 0), "ab训");
    grid_text(&g, 1, 1, 0, 0, "训练中");
    CHECK_STR(row(&g, 1), " 训练");
    grid_clear(&g);
    grid_clip(&g, (struct rect){1, 0, 3, 1});
    grid_text(&g, 0, 0, 0, 0, "训练中");
    CHECK_STR(row(&g, 0), "  练");
    grid_text(&g, 0, 1, 0, 0, "outside");
    CHECK_STR(row(&g, 1), "");
    CHECK(grid_sound(&g));
    grid_release(&g);
}

TEST(marks_combine_and_formats_vanish)
{
    struct grid g;
    grid_init(&g, 10, 1);
    CHECK_INT(grid_text(&g, 0, 0, 0, 0, "e\xCC\x81x\xE2\x9A\xA0\xEF\xB8\x8Fy\xE2\x80\x8Dz"), 5);
    CHECK_STR(grid_at(&g, 0, 0)->text, "e\xCC\x81");
    CHECK_STR(grid_at(&g, 1, 0)->text, "x");
    CHECK_STR(grid_at(&g, 2, 0)->text, "\xE2\x9A\xA0");
    CHECK_STR(grid_at(&g, 4, 0)->text, "z");
    for (int i = 0; i < 40; i++)         /* more marks than a cell has room for */
        grid_text(&g, 6, 0, 0, 0, "a\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81"
                                  "\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81");
    CHECK(strlen(grid_at(&g, 6, 0)->text) < GRID_CLUSTER);
    CHECK(grid_sound(&g));
    grid_release(&g);
}

TEST(controls_and_broken_bytes_are_shown_as_marks)
{
    struct grid g;
    grid_init(&g, 10, 1);
    CHECK_INT(grid_text(&g, 0, 0, 0, 0, "a\033[31m\xFF"), 7);
    CHECK_STR(row(&g, 0), "a?[31m?");
    grid_release(&g);
}

static uint32_t seed = 12345;
static uint32_t rnd(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

TEST(fuzz_every_row_keeps_its_columns)
{
    static const char *const pieces[] = {"a", "中", "é", "e\xCC\x81", "训练", "\xF0\x9F\x98\x80",
                                         "\xFF\xFE", "┌──┐", "⣿", "x中y", "\t", "\xE2\x80\x8D"};
    struct grid g;
    grid_init(&g, 37, 9);
    for (int i = 0; i < 100000; i++) {
        char text[200] = "";
        size_t n = 0;
        for (uint32_t k = rnd(5) + 1; k > 0; k--) {
            const char *p = pieces[rnd(ARRAY_LEN(pieces))];
            memcpy(text + n, p, strlen(p) + 1);
            n += strlen(p);
        }
        if (rnd(10) == 0)
            grid_clip(&g, (struct rect){(int)rnd(40) - 2, (int)rnd(10) - 1, (int)rnd(40),
                                        (int)rnd(10)});
        else if (rnd(10) == 0)
            grid_unclip(&g);
        if (rnd(20) == 0)
            grid_fill(&g, (struct rect){(int)rnd(37), (int)rnd(9), (int)rnd(20), (int)rnd(5)}, 1, 0,
                      "─");
        grid_text(&g, (int)rnd(45) - 4, (int)rnd(12) - 1, 2, 0, text);
        if (i % 16 == 0 && !grid_sound(&g))
            t_fail(__FILE__, __LINE__, "unsound after write %d", i);
    }
    CHECK(grid_sound(&g));
    grid_release(&g);
}

static void count(void *arg, int x UNUSED, int y UNUSED, const struct cell *c)
{
    CHECK(c->width > 0);
    ++*(int *)arg;
}

/* Applying the differences makes the old grid the new one. */
static void put(void *arg, int x, int y, const struct cell *c)
{
    struct grid *g = arg;
    grid_text(g, x, y, c->role, c->attr, c->text);
}

TEST(diff_is_small_and_complete)
{
    struct grid a, b;
    int n = 0;
    grid_init(&a, 30, 4);
    grid_init(&b, 30, 4);
    grid_text(&a, 0, 0, 1, 0, "训练 loss");
    grid_copy(&b, &a);
    CHECK_INT(grid_diff(&a, &b, count, &n), 0);
    grid_text(&b, 1, 0, 1, 0, "X");
    CHECK_INT(grid_diff(&a, &b, count, &n), 2);
    grid_copy(&a, &b);
    grid_paint(&b, (struct rect){4, 0, 3, 1}, ATTR_REVERSE);
    CHECK_INT(grid_diff(&a, &b, count, &n), 3);
    for (int i = 0; i < 2000; i++) {
        grid_text(&b, (int)rnd(32) - 1, (int)rnd(4), (int)rnd(3), 0, rnd(2) ? "中文" : "ab");
        grid_diff(&a, &b, put, &a);
        CHECK_INT(grid_diff(&a, &b, count, &n), 0);
        CHECK(grid_sound(&a));
    }
    grid_release(&a);
    grid_release(&b);
}

T_MAIN
