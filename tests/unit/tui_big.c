/* tui_big.c - big mode: block letters, one pane, the keys that were pressed;
 * and how often what moves may move. */
#include "tests/screens/golden.h"
#include "tui/big.h"
#include "tui/canvas.h"
#include "tui/motion.h"

static void big(struct app *a)
{
    fx_lab(a);
    fx_run(a->s);
    a->look.big = true;
    fx_key(a, "c");
    fx_key(a, "H");
    a->note[0] = a->s->message[0] = '\0';
    a->s->message_code = PD_OK;
}

static void big_curve(struct app *a)
{
    big(a);
    fx_key(a, "3");
    a->note[0] = a->s->message[0] = '\0';
    a->s->message_code = PD_OK;
}

static void big_catalogue(struct app *a)
{
    a->look.big = true;
}

static void pressed(struct app *a)
{
    fx_lab(a);
    a->look.keys_shown = true;
    for (const char *k = "123HN"; *k; k++)
        fx_key(a, (char[]){*k, '\0'});
    fx_key(a, ":");
    fx_key(a, "x");
    fx_key(a, "Esc");
    a->note[0] = a->s->message[0] = '\0';
    a->s->message_code = PD_OK;
}

TEST(big_step_screens) { all_sizes("big-step", big); }
TEST(big_curve_screens) { all_sizes("big-curve", big_curve); }
TEST(big_catalogue_screens) { all_sizes("big-catalogue", big_catalogue); }
TEST(pressed_screens) { all_sizes("pressed", pressed); }

TEST(big_ascii_and_cjk)
{
    static const struct { const char *name; enum glyph_set set; } v[] = {
        {"big-curve-80x24-ascii", GLYPH_ASCII}, {"big-curve-80x24-cjk", GLYPH_CJK}};
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct app *a = fx_app("en", 80, 24, v[i].set);
        big_curve(a);
        compare(a, v[i].name);
        fx_free(a);
    }
}

/* --- invariants that no golden can change ------------------------------------------------ */
static void screen_has(struct app *a, const char *text, bool want)
{
    struct str s;
    fx_screen(a, &s);
    CHECK_MSG((strstr(s.p, text) != NULL) == want, "\"%s\" %s in\n%s", text,
              want ? "is not" : "is", s.p);
    str_release(&s);
}

TEST(every_letter_has_five_rows_of_one_width)
{
    static const char all[] = "0123456789/.%-exv!";
    struct rows r;
    rows_init(&r, GLYPH_ASCII);
    for (const char *p = all; *p; p++) {
        char one[2] = {*p, '\0'};
        bool any = false;
        for (int y = 0; y < BIG_ROWS; y++) {
            struct str s;
            rows_new(&r, -1);
            big_row(&r, ROLE_TEXT, one, y);
            str_init(&s, 256);
            rows_text(&r.v[r.n - 1], &s);
            any = any || strchr(s.p, '#');
            CHECK_INT(r.v[r.n - 1].width, big_width(one));
            str_release(&s);
        }
        CHECK(any);
    }
    rows_release(&r);
}

TEST(the_banner_never_cuts_a_number)
{
    for (int w = 10; w < 120; w++) {
        struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
        struct rows r;
        big(a);
        rows_init(&r, GLYPH_UNICODE);
        big_banner(a, &r, w);
        CHECK_INT(r.n, BIG_BANNER);
        for (int i = 0; i < r.n; i++)
            CHECK(r.v[i].width <= w);
        rows_release(&r);
        fx_free(a);
    }
}

TEST(one_pane_and_bold)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct panes l;
    struct grid g;
    int cx, cy, bold = 0, thin = 0;
    big(a);
    app_layout(a, &l);
    CHECK_INT(l.n, 1);
    CHECK(l.banner.h > 0 && l.banner.y + l.banner.h <= l.pane[0].outer.y);
    grid_init(&g, 0, 0);
    screen_draw(a, &g, &cx, &cy);
    for (int y = l.pane[0].inner.y; y < l.pane[0].inner.y + l.pane[0].inner.h; y++)
        for (int x = l.pane[0].inner.x; x < g.cols - 1; x++)
            if (grid_at(&g, x, y)->text[0] && grid_at(&g, x, y)->text[0] != ' ') {
                bold += (grid_at(&g, x, y)->attr & ATTR_BOLD) != 0;
                thin += !(grid_at(&g, x, y)->attr & ATTR_BOLD);
            }
    CHECK(bold > 200 && thin <= l.pane[0].inner.h);      /* the border is thin */
    grid_release(&g);
    fx_free(a);
}

TEST(tabs_walk_in_big_mode_too)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    big(a);
    enum panel_id before = a->focus;
    fx_key(a, "Tab");
    CHECK(a->focus != before);
    fx_free(a);
}

TEST(what_is_typed_is_never_shown)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    fx_run(a->s);
    a->look.keys_shown = true;
    fx_key(a, "R");
    for (const char *p = "hunter2"; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    fx_key(a, "Esc");
    for (int i = 0; i < a->pressed_n; i++)
        CHECK(strchr("hunter2", a->pressed[i].key[0]) == NULL || a->pressed[i].key[1]);
    CHECK_INT(a->pressed_n, 1);
    CHECK_STR(a->pressed[0].key, "R");
    screen_has(a, " R  rate", true);
    a->look.keys_shown = false;
    screen_has(a, " R  rate", false);
    fx_free(a);
}

TEST(the_last_five_keys_are_kept)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    for (const char *p = "1234512"; *p; p++)
        fx_key(a, (char[]){*p, '\0'});
    CHECK_INT(a->pressed_n, APP_PRESSED_MOST);
    CHECK_STR(a->pressed[0].key, "3");
    CHECK_STR(a->pressed[4].key, "2");
    fx_free(a);
}

static int dots(const struct rows *r)
{
    int n = 0;
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < r->v[i].n; k++)
            n += r->v[i].span[k].role == ROLE_EMA;
    return n;
}

TEST(the_big_curve_is_thicker)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    int n[2];
    fx_lab(a);
    fx_run(a->s);
    fx_key(a, "3");
    for (int i = 0; i < 2; i++) {
        struct rows r;
        struct pane p = {.panel = PANEL_CURVE, .inner = {0, 0, 60, 12}};
        a->look.big = i;
        rows_init(&r, GLYPH_UNICODE);
        app_panel_rows(a, &p, &r);
        n[i] = dots(&r);
        rows_release(&r);
    }
    CHECK_MSG(n[1] > n[0], "%d cells, big %d", n[0], n[1]);
    fx_free(a);
}

/* --- motion ------------------------------------------------------------------------------ */
TEST(reduced_motion_paints_once_a_second)
{
    CHECK_INT(motion_wait(MOTION_FULL, false, 5000, 5001), 0);
    CHECK_INT(motion_wait(MOTION_REDUCED, false, 5000, 5100), 900);
    CHECK_INT(motion_wait(MOTION_REDUCED, false, 5000, 6000), 0);
    CHECK_INT(motion_wait(MOTION_REDUCED, true, 5000, 5001), 0);     /* a key is at once */
    CHECK_INT(motion_wait(MOTION_NONE, false, 5000, 6000), 9000);
    CHECK_INT(motion_wait(MOTION_NONE, true, 5000, 5001), 0);
}

T_MAIN
