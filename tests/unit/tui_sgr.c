/* tui_sgr.c - fewer bytes, the same picture: what ncurses would have written
 * and what is left of it are drawn by libvterm and compared cell by cell. */
#include "tests/t.h"

#include <vterm.h>

#include "tui/sgr.h"

enum { ROWS = 12, COLS = 40 };
#define RIGHT_HALF ((uint32_t)-1)

static void squeeze(struct sgr *s, const char *in, struct str *out)
{
    str_clear(out);
    sgr_squeeze(s, in, strlen(in), out);
}

TEST(attributes_wait_until_they_show)
{
    static const struct { const char *in, *out; } t[] = {
        {"\033[1mA\033[m", "\033[1mA\033[m"},
        {"\033[38;5;75mA\033[39m\033(B\033[m   \033[38;5;75mB\033[m",
         "\033[38;5;75mA   B\033[m"},                       /* blanks show no foreground */
        {"\033[7mA\033[m B", "\033[7mA\033[m B"},           /* but they do show reverse */
        {"\033[48;5;4mA\033[m B", "\033[48;5;4mA\033[m B"},
        {"\033[1m\033[38;5;9mA\033[m", "\033[1;38;5;9mA\033[m"},
        {"\033[1m\033[m\033[4;7H", "\033[4;7H"},            /* nothing was drawn */
        {"\033[31mA\033[m\033[5;5H\033[31mB\033[m", "\033[31mA\033[5;5HB\033[m"},
        {"\033[0;10mA", "A"},
        {"\033[38:2::1:2:3mA\033[m", "\033[38:2::1:2:3mA\033[m"},
        {"\033[38;2;1;2;3mA\033[m", "\033[38;2;1;2;3mA\033[m"},
        {"\033[41mA\033[49mB", "\033[41mA\033[mB"},
        {"\033[1mA\033[22mB", "\033[1mA\033[mB"},
        {"\033[41m\033[K\033[m", "\033[41m\033[K\033[m"},   /* erasing shows the background */
        {"\033[31m\033[K\033[m", "\033[K"},
        {"\033[55mA", "\033[55mA"},                         /* not known: as it is */
        {"A\017B", "AB"}};
    struct sgr s;
    struct str out;
    str_init(&out, 1 << 16);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        sgr_init(&s);
        squeeze(&s, "\033(Bx", &out);                        /* the state is known now */
        CHECK_STR(out.p, "\033(B\033[mx");
        squeeze(&s, t[i].in, &out);
        if (strcmp(out.p, t[i].out) != 0)
            t_fail(__FILE__, __LINE__, "row %zu: \"%s\", want \"%s\"", i, out.p + 1, t[i].out + 1);
    }
    str_release(&out);
}

TEST(a_frame_ends_plain_and_the_set_is_chosen_once)
{
    struct sgr s;
    struct str out;
    str_init(&out, 1 << 16);
    sgr_init(&s);
    squeeze(&s, "\033(B\033[mA\033(B\033[0;7mB\033(B\033[m", &out);
    CHECK_STR(out.p, "\033(B\033[mA\033[7mB\033[m");
    squeeze(&s, "\033(BC", &out);
    CHECK_STR(out.p, "C");
    str_release(&out);
}

/* --- the same picture --------------------------------------------------------------- */
static uint32_t seed = 20;

static int pick(int n)
{
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 10) % (uint32_t)n);
}

static void random_frame(struct str *out)
{
    static const char *const parts[] = {
        "\033[m", "\033(B\033[m", "\033[1m", "\033[7m", "\033[4m", "\033[0;1m", "\033[39m",
        "\033[49m", "\033[39;49m", "\033[38;5;200m", "\033[38;5;9m", "\033[48;5;22m", "\033[31m",
        "\033[44m", "\033[91m", "\033[27m", "\033[24m", "\033[22m", " ", "    ", "a", "bcd", "中",
        "\033[K", "\033[1K", "\033[3X", "\033[2P", "\033[2@", "\033[L", "\033[M", "\r\n", "\017",
        "\b", "\033[0;1;38;5;77m", "\033[38;2;9;8;7m", "\033[J"};
    for (int i = 0, n = 5 + pick(60); i < n; i++) {
        if (pick(5) == 0)
            str_printf(out, "\033[%d;%dH", 1 + pick(ROWS), 1 + pick(COLS - 4));
        else
            str_add(out, parts[pick((int)ARRAY_LEN(parts))]);
    }
    str_add(out, "\033[m");      /* as ncurses ends */
}

static VTerm *terminal(VTermScreen **screen)
{
    VTerm *vt = vterm_new(ROWS, COLS);
    vterm_set_utf8(vt, 1);
    *screen = vterm_obtain_screen(vt);
    vterm_screen_reset(*screen, 1);
    return vt;
}

/* What the eye can tell: a blank has no foreground and no bold. */
static bool looks_the_same(const VTermScreenCell *a, const VTermScreenCell *b)
{
    bool blank = a->chars[0] <= ' ' && b->chars[0] <= ' ' && !a->attrs.reverse &&
                 !b->attrs.reverse && !a->attrs.underline && !b->attrs.underline;
    if (a->chars[0] == RIGHT_HALF && b->chars[0] == RIGHT_HALF)
        return true;             /* its left half says it all */
    if (!vterm_color_is_equal(&a->bg, &b->bg))
        return false;
    return blank || (a->chars[0] == b->chars[0] && a->attrs.bold == b->attrs.bold &&
                     a->attrs.reverse == b->attrs.reverse &&
                     a->attrs.underline == b->attrs.underline &&
                     vterm_color_is_equal(&a->fg, &b->fg));
}

static void compare(VTermScreen *a, VTermScreen *b, int round)
{
    for (int y = 0; y < ROWS; y++) {
        for (int x = 0; x < COLS; x++) {
            VTermPos pos = {.row = y, .col = x};
            VTermScreenCell ca, cb;
            vterm_screen_get_cell(a, pos, &ca);
            vterm_screen_get_cell(b, pos, &cb);
            CHECK_MSG(looks_the_same(&ca, &cb), "frame %d: cell %d,%d differs", round, x, y);
        }
    }
}

TEST(random_frames_look_the_same)
{
    VTermScreen *full, *less;
    VTerm *a = terminal(&full), *b = terminal(&less);
    struct sgr s;
    struct str in, out;
    size_t before = 0, after = 0;
    sgr_init(&s);
    str_init(&in, 1 << 16);
    str_init(&out, 1 << 16);
    for (int round = 0; round < 3000; round++) {
        str_clear(&in);
        random_frame(&in);
        squeeze(&s, in.p, &out);
        vterm_input_write(a, in.p, in.len);
        vterm_input_write(b, out.p, out.len);
        before += in.len;
        after += out.len;
        compare(full, less, round);
    }
    CHECK(after < before * 9 / 10);
    vterm_free(a);
    vterm_free(b);
    str_release(&in);
    str_release(&out);
}

T_MAIN
