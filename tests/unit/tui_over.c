/* tui_over.c - what lies over the screen: the question before harm is done and
 * panels that have the whole body for a while. */
#include "tests/screens/fixture.h"
#include "tui/confirm.h"

static void ask(struct app *a)
{
    confirm_ask(a, &(struct confirm){.title = "Set the language?", .lost = "The old one is lost.",
                                     .verb = "Set", .command = "language", .arg = "zh"});
}

TEST(a_question_is_answered_by_no_unless_told_otherwise)
{
    static const char *const no[] = {"Enter", "Esc", "n", "q"};
    for (size_t i = 0; i < ARRAY_LEN(no); i++) {
        struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
        ask(a);
        CHECK_INT(app_view(a), VIEW_CONFIRM);
        fx_key(a, no[i]);
        CHECK_STR(i18n_lang(), "en");
        CHECK_INT(a->prompt.kind, PROMPT_NONE);
        CHECK(!a->s->lab);
        fx_free(a);
    }
}

TEST(a_question_is_answered_by_yes)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    ask(a);
    fx_key(a, "y");
    CHECK_STR(i18n_lang(), "zh");
    i18n_set("en");
    ask(a);
    fx_key(a, "Tab");
    fx_key(a, "Enter");
    CHECK_STR(i18n_lang(), "zh");
    i18n_set("en");
    ask(a);
    fx_key(a, "Right");
    fx_key(a, "Left");
    fx_key(a, "Enter");
    CHECK_STR(i18n_lang(), "en");
    fx_free(a);
}

TEST(a_question_says_what_is_lost_at_every_size)
{
    static const int sizes[][2] = {{40, 12}, {80, 24}, {300, 100}};
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct app *a = fx_app("en", sizes[i][0], sizes[i][1], GLYPH_UNICODE);
        struct str s;
        ask(a);
        fx_screen(a, &s);
        CHECK_HAS(s.p, "Set the language?");
        CHECK_HAS(s.p, "The old one is lost.");
        CHECK_HAS(s.p, "[ Cancel ]");
        CHECK_HAS(s.p, "  Set  ");
        CHECK_HAS(s.p, "y do it");
        str_release(&s);
        fx_free(a);
    }
}

TEST(panels_over_the_screen_go_back_one_by_one)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct panes l;
    fx_lab(a);
    app_over(a, PANEL_API);
    app_over(a, PANEL_CLUSTER);
    app_layout(a, &l);
    CHECK_INT(l.n, 1);
    CHECK_INT(l.pane[0].panel, PANEL_CLUSTER);
    app_focus(a, PANEL_LOG);                 /* waits below */
    CHECK_INT(a->focus, PANEL_CLUSTER);
    app_over(a, PANEL_API);                  /* it is below: back to it */
    CHECK_INT(a->over_n, 1);
    CHECK_INT(a->focus, PANEL_API);
    fx_key(a, "Esc");
    CHECK_INT(a->focus, PANEL_LOG);
    CHECK_INT(a->over_n, 0);
    for (int i = 0; i < 9; i++)
        app_over(a, (enum panel_id)(PANEL_CLUSTER + i % 5));
    CHECK(a->over_n <= APP_OVER_MOST);
    for (int i = 0; i < 9 && a->over_n; i++)
        fx_key(a, "Esc");
    CHECK_INT(a->over_n, 0);
    CHECK_INT(a->focus, PANEL_LOG);
    fx_free(a);
}

T_MAIN
