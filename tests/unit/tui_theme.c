/* tui_theme.c - themes: errors with their place, inheritance, contrast, and
 * colours on small terminals. */

#include <dirent.h>

#include "core/base/path.h"
#include "core/base/str.h"
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

static void keep_fault(void *arg, const char *what)
{
    str_printf(arg, "%s\n", what);
}

static int lint(const struct theme *th, struct str *faults)
{
    str_init(faults, 1 << 16);
    return theme_lint(th, keep_fault, faults);
}

TEST(shipped_themes_hold_for_all_eyes_and_terminals)
{
    struct pd_err err = {0};
    struct theme th;
    struct str faults;
    int n = 0;
    for (; theme_name(n); n++) {
        CHECK_OK(theme_load(theme_name(n), &th, &err));
        CHECK_STR(th.name, theme_name(n));
        if (lint(&th, &faults) != 0)
            t_fail(__FILE__, __LINE__, "%s:\n%s", th.name, faults.p);
        str_release(&faults);
        if (!str_starts(th.name, "contrast-"))
            continue;
        for (int r = 0; r < ROLE_COUNT; r++) {
            double c = theme_contrast(th.style[r].fg.rgb, th.style[r].bg.rgb);
            bool line = r == ROLE_RAW || (r >= ROLE_SERIES_1 && r <= ROLE_SERIES_5);
            CHECK_MSG(c >= (line ? 4.5 : 7), "%s %s: %.2f", th.name,
                      theme_role_name((enum role)r), c);
        }
    }
    CHECK_INT(n, 7);
    CHECK(theme_load("nosuch", &th, &err) == PD_NOTFOUND);
}

TEST(lint_finds_what_can_not_be_read)
{
    static const struct { const char *roles, *says; } t[] = {
        {"  hint: {fg: \"#555555\"}\n", "hint: contrast 2.2"},
        {"  border: {fg: \"#444444\"}\n", "border: contrast 1.7"},
        {"  state.ok: {fg: \"#00cd00\"}\n  state.fail: {fg: \"#ff5f5f\"}\n",
         "state.ok and state.fail: distance"},
        {"  chart.series2: {fg: \"#5fafff\"}\n", "chart.series1 and chart.series2: distance 0"},
        {"  select: {fg: fg}\n", "select: looks like other text"},
        {"  key: {fg: {rgb: \"#ffaf00\", ansi: black}}\n", "key: contrast 1"},
        {"  key: {bg: \"#ffffff\"}\n", "key: a background of its own needs a fg"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct theme th;
        struct pd_err err;
        struct str faults;
        char text[512];
        str_fmt(text, sizeof text, "podium_theme: 1\nname: x\ninherits: dark\nroles:\n%s",
                t[i].roles);
        CHECK_OK(parse(text, &th, &err));
        CHECK(lint(&th, &faults) > 0);
        CHECK_HAS(faults.p, t[i].says);
        str_release(&faults);
    }
}

TEST(a_theme_inherits)
{
    struct theme th, dark;
    struct pd_err err = {0};
    CHECK_OK(theme_load("dark", &dark, &err));
    CHECK_OK(parse("podium_theme: 1\nname: mine\ninherits: dark\npalette: {orange: \"#ffd700\"}\n"
                   "roles:\n  hint: {fg: orange}\n  key: {fg: sky}\n", &th, &err));
    CHECK_STR(th.name, "mine");
    CHECK_STR(th.variant, "dark");
    CHECK_INT(th.style[ROLE_HINT].fg.rgb, 0xffd700);     /* its own orange */
    CHECK_INT(th.style[ROLE_KEY].fg.rgb, 0x5fafff);      /* the parent's sky */
    CHECK_INT(th.style[ROLE_FAIL].fg.rgb, dark.style[ROLE_FAIL].fg.rgb);
    CHECK(parse("podium_theme: 1\ninherits: nosuch\n", &th, &err) == PD_PARSE);
    CHECK_INT(err.line, 2);
    CHECK_INT(err.col, 11);
}

TEST(a_circle_of_themes_is_refused)
{
    struct theme th;
    struct pd_err err = {0};
    char path[256], text[400];
    str_fmt(path, sizeof path, "%s/round.yaml", t_dir());
    int n = (int)strlen(str_fmt(text, sizeof text, "podium_theme: 1\ninherits: %s\n", path));
    CHECK_OK(path_write_atomic(path, 0600, text, (size_t)n, &err));
    CHECK(theme_load(path, &th, &err) == PD_PARSE);
    CHECK_HAS(err.msg, "three deep");
    CHECK_INT(err.line, 2);
}

/* Where a theme paints its own ground, the terminal's own foreground may be
 * that very colour. */
TEST(an_own_ground_is_under_every_role)
{
    struct theme th;
    struct pd_err err;
    CHECK_OK(parse("podium_theme: 1\nroles:\n  key: {attr: [bold]}\n"
                   "  text: {fg: \"#ffffff\", bg: \"#000000\"}\n", &th, &err));
    CHECK_INT(th.style[ROLE_KEY].bg.rgb, 0x000000);
    CHECK_INT(th.style[ROLE_KEY].fg.rgb, 0xffffff);
    CHECK_INT(th.style[ROLE_HINT].bg.rgb, 0x000000);
}

/* Within a tenth of what another simulation gives for these pairs. */
TEST(eyes_without_a_kind_of_cone)
{
    CHECK_NEAR(theme_distance(0x56b4e9, 0xe69f00, EYES_PROTAN), 103, 10);
    CHECK_NEAR(theme_distance(0x56b4e9, 0xe69f00, EYES_DEUTAN), 120, 10);
    CHECK(theme_distance(0xcd0000, 0x00cd00, EYES_DEUTAN) < 30);
    CHECK(theme_distance(0xcd0000, 0x00cd00, EYES_FULL) > 100);
    CHECK_NEAR(theme_distance(0x123456, 0x123456, EYES_TRITAN), 0, 1e-9);
    CHECK_NEAR(theme_distance(0x000000, 0xffffff, EYES_FULL), 100, 0.01);
}

TEST(colours_fit_the_terminal)
{
    struct colour c = {0x5fafff, 14}, none = {COLOUR_DEFAULT, -1}, plain = {0xff0000, -1};
    CHECK_INT(theme_index(&c, 256), 75);
    CHECK_INT(theme_index(&c, 16), 14);
    CHECK_INT(theme_index(&c, 8), 6);
    CHECK_INT(theme_index(&c, 0), -1);
    struct colour grey = {0x767676, 8}, black = {0x000000, 0};
    CHECK_INT(theme_index(&grey, 16), 8);
    CHECK_INT(theme_index(&grey, 8), -1);        /* not black on black */
    CHECK_INT(theme_index(&c, 1 << 24), 0x5fafff);
    CHECK_INT(theme_index(&black, 1 << 24), 8);  /* 0..7 are the 8 colours */
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

/* Roles only: no file but those of the theme and of the terminal knows colours;
 * the shell's pane reads those of a program (VTERM_COLOR_…) and makes roles of them. */
TEST(no_other_file_names_a_colour)
{
    static const char *const foreign[] = {"COLOR_", "init_pair", "\\033[3", "\\033[4", "\\033[1;",
                                          "\\x1b[", "38;5;", "theme_index("};
    DIR *dir = opendir(PODIUM_SOURCE_DIR "/tui");
    int files = 0;
    CHECK(dir != NULL);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        bool own = str_starts(e->d_name, "theme") || str_starts(e->d_name, "term.") ||
                   str_starts(e->d_name, "sgr.");
        if (n < 3 || own || (!str_eq(e->d_name + n - 2, ".c") && !str_eq(e->d_name + n - 2, ".h")))
            continue;
        struct str text;
        struct pd_err err = {0};
        char path[512];
        str_init(&text, 4 << 20);
        str_fmt(path, sizeof path, PODIUM_SOURCE_DIR "/tui/%s", e->d_name);
        CHECK_OK(path_read(path, 4 << 20, &text, &err));
        for (size_t i = str_starts(e->d_name, "shell_term."); i < ARRAY_LEN(foreign); i++)
            CHECK_MSG(!strstr(text.p, foreign[i]), "%s: %s", e->d_name, foreign[i]);
        str_release(&text);
        files++;
    }
    CHECK(files > 40);
    closedir(dir);
}

T_MAIN
