/* tui_theme.c - themes: errors with their place, inheritance, contrast, and
 * colours on small terminals. */
#include "tests/t.h"
#include "tui/grid.h"
#include "tui/theme.h"

static enum pd_code parse(const char *text, struct theme *th, struct pd_err *err)
{
    memset(err, 0, sizeof *err);
    return theme_parse("t.yaml", text, strlen(text), th, err);
}

TEST(errors_name_their_place)
{
    static const struct { const char *text; int line, col; const char *has; } t[] = {
        {"podium_theme: 1\nname: x\nrolls: {}\n", 3, 1, "rolls"},
        {"podium_theme: 1\nroles:\n  txt: {fg: default}\n", 3, 3, "txt"},
        {"podium_theme: 1\nroles:\n  text: {fg: \"#12345\"}\n", 3, 14, "#12345"},
        {"podium_theme: 1\nroles:\n  text: {color: 3}\n", 3, 10, "color"},
        {"podium_theme: 1\nroles:\n  text: {attr: [blink]}\n", 3, 17, "blink"},
        {"name: x\n", 1, 1, "podium_theme"},
        {"[1]\n", 1, 1, "map"},
        {"podium_theme: 1\npalette:\n  a: {rgb: \"#000000\", ansi: mauve}\nroles:\n"
         "  text: {fg: a}\n", 3, 29, "mauve"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct theme th;
        struct pd_err err;
        CHECK(parse(t[i].text, &th, &err) == PD_PARSE);
        CHECK_HAS(err.msg, t[i].has);
        CHECK_INT(err.line, t[i].line);
        CHECK_INT(err.col, t[i].col);
    }
}

TEST(a_missing_role_looks_like_its_parent)
{
    struct theme th;
    struct pd_err err;
    CHECK_OK(parse("podium_theme: 1\nname: n\nvariant: mono\nroles:\n  text: {fg: 2}\n"
                   "  state: {fg: \"#ff0000\"}\n  state.fail: {attr: [bold, underline]}\n",
                   &th, &err));
    CHECK_INT(th.style[ROLE_MUTED].fg.ansi, 2);
    CHECK_INT(th.style[ROLE_OK].fg.rgb, 0xff0000);
    CHECK_INT(th.style[ROLE_FAIL].fg.rgb, COLOUR_DEFAULT);
    CHECK_INT(th.style[ROLE_FAIL].attr, ATTR_BOLD | ATTR_UNDERLINE);
    CHECK_STR(th.variant, "mono");
}

TEST(shipped_themes_can_be_read_on_their_background)
{
    static const struct { const char *name; int32_t bg; } t[] = {{"dark", 0x1c1c1c},
                                                                 {"light", 0xffffff}};
    struct pd_err err = {0};
    struct theme th;
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        CHECK_OK(theme_load(t[i].name, &th, &err));
        for (int r = 0; r < ROLE_COUNT; r++) {
            int32_t fg = th.style[r].fg.rgb;
            bool line = r == ROLE_BORDER || r == ROLE_RAW || r == ROLE_BAR_REST;
            if (fg != COLOUR_DEFAULT && theme_contrast(fg, t[i].bg) < (line ? 3.0 : 4.5))
                t_fail(__FILE__, __LINE__, "%s %s: contrast %.2f", t[i].name,
                       theme_role_name((enum role)r), theme_contrast(fg, t[i].bg));
        }
    }
    CHECK_OK(theme_load("mono", &th, &err));
    for (int r = 0; r < ROLE_COUNT; r++)
        CHECK(th.style[r].fg.rgb == COLOUR_DEFAULT && th.style[r].bg.rgb == COLOUR_DEFAULT);
    CHECK(theme_load("nosuch", &th, &err) == PD_NOTFOUND);
}

TEST(colours_fit_the_terminal)
{
    struct colour c = {0x5fafff, 14}, none = {COLOUR_DEFAULT, -1}, plain = {0xff0000, -1};
    CHECK_INT(theme_index(&c, 256), 75);
    CHECK_INT(theme_index(&c, 16), 14);
    CHECK_INT(theme_index(&c, 8), 6);
    CHECK_INT(theme_index(&c, 0), -1);
    CHECK_INT(theme_index(&none, 256), -1);
    CHECK_INT(theme_index(&plain, 16), 9);
    CHECK_NEAR(theme_contrast(0, 0xffffff), 21, 1e-9);
}

TEST(the_theme_key_walks_all)
{
    const char *at = "dark";
    for (int i = 0; theme_name(i); i++)
        at = theme_next(at);
    CHECK_STR(at, "dark");
    setenv("NO_COLOR", "1", 1);
    CHECK_STR(theme_default(256), "mono");
    unsetenv("NO_COLOR");
    setenv("COLORFGBG", "0;15", 1);
    CHECK_STR(theme_default(256), "light");
    unsetenv("COLORFGBG");
    CHECK_STR(theme_default(256), "dark");
    CHECK_STR(theme_default(0), "mono");
}

T_MAIN
