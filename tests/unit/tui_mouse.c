/* tui_mouse.c - clicks and wheel; a walk through the catalogue. */
#include "tests/screens/fixture.h"
#include "tests/t.h"
#include "tui/catalogue.h"

static void at(struct app *a, const char *what, enum panel_id panel, int dx, int dy)
{
    struct panes l;
    char key[48];
    app_layout(a, &l);
    const struct pane *p = panes_find(&l, panel);
    CHECK(p != NULL);
    fx_key(a, str_fmt(key, sizeof key, "%s@%d,%d", what, p->inner.x + dx, p->inner.y + dy));
}

static bool on_row(const struct app *a, int y, const char *text)
{
    struct str s;
    str_init(&s, 1 << 20);
    fx_screen(a, &s);
    const char *p = s.p;
    while (y-- > 0 && (p = strchr(p, '\n')))
        p++;
    bool has = p && strstr(p, text) && strstr(p, text) < (strchr(p, '\n') ? strchr(p, '\n') : p);
    str_release(&s);
    return has;
}

TEST(a_click_selects_what_is_drawn_there)
{
    struct app *a = fx_app("en", 100, 30, GLYPH_UNICODE);
    int before = a->sel[PANEL_CATALOGUE], hit = -1;
    for (int y = 0; y < 30 && hit < 0; y++)
        if (on_row(a, y, "LoRA on Gaudi"))
            hit = y;
    CHECK(hit > 0);
    char key[48];
    fx_key(a, str_fmt(key, sizeof key, "Click@6,%d", hit));
    CHECK(a->sel[PANEL_CATALOGUE] != before || hit == 0);
    CHECK(on_row(a, hit, "LoRA on Gaudi"));
    const struct lab *lab = a->labs->v[catalogue_at(a, app_lab_beside(a))].lab;
    CHECK(lab && str_eq(lab->id, "lora-gaudi"));
    int sel = a->sel[PANEL_CATALOGUE];
    fx_key(a, "Click@6,29");             /* the key row is no pane */
    fx_key(a, "Click@400,400");
    fx_key(a, "Click@-1,-1");
    CHECK_INT(a->sel[PANEL_CATALOGUE], sel);
    fx_free(a);
}

TEST(a_click_gives_the_focus_and_the_wheel_does_not)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_lab(a);
    fx_log(a->s);
    for (int i = 0; i < 60; i++)
        fx_log_line(a->s, "line");
    fx_key(a, "2");
    enum panel_id focus = a->focus;
    CHECK(focus == PANEL_LOG);
    at(a, "Click", PANEL_STEP, 1, 1);
    CHECK_INT(a->focus, PANEL_STEP);
    CHECK(a->log_follow);
    at(a, "Wheel-Up", PANEL_LOG, 1, 1);
    CHECK(!a->log_follow);
    CHECK_INT(a->focus, PANEL_STEP);
    at(a, "Wheel-Down", PANEL_LOG, 1, 1);
    at(a, "Wheel-Down", PANEL_LOG, 1, 1);
    CHECK(a->log_follow);
    fx_free(a);
}

TEST(the_input_line_is_no_place_for_clicks)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    fx_key(a, ":");
    int sel = a->sel[PANEL_CATALOGUE];
    at(a, "Click", PANEL_CATALOGUE, 2, 4);
    CHECK_STR(a->prompt.text, "");
    CHECK_INT(a->sel[PANEL_CATALOGUE], sel);
    fx_key(a, "@");                      /* the sign itself is a key */
    CHECK_STR(a->prompt.text, "@");
    fx_free(a);
}

TEST(the_key_says_how_to_select_text)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    CHECK(!a->look.mouse);
    fx_key(a, "M");
    CHECK(a->look.mouse);
    CHECK_HAS(a->note, "Shift");
    fx_key(a, "M");
    CHECK(!a->look.mouse);
    fx_free(a);
}

/* The page beside the list stays while one walks, and follows the rest. */
TEST(a_walk_shows_where_it_ends)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    int from = app_lab_beside(a);
    fx_say(a, MSG_KEY, "key", "j", FIXTURE_NOW);
    fx_say(a, MSG_KEY, "key", "j", FIXTURE_NOW + 50);
    CHECK_INT(app_lab_beside(a), from);
    CHECK_INT(app_rest_ms(a), 80);
    fx_say(a, MSG_COMMAND, "name", "rest", FIXTURE_NOW + 100);
    CHECK_INT(app_lab_beside(a), from);
    CHECK_INT(app_rest_ms(a), 30);
    fx_say(a, MSG_COMMAND, "name", "rest", FIXTURE_NOW + 130);
    CHECK_INT(app_lab_beside(a), a->sel[PANEL_CATALOGUE]);
    CHECK(app_lab_beside(a) != from);
    CHECK_INT(app_rest_ms(a), -1);
    fx_free(a);
}

T_MAIN
