/* tui_kind.c - what is known of terminals by their names, where copies go, when
 * to paint, and which signs are safe where. */
#include "tests/t.h"

#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/base/yaml.h"
#include "tui/clip.h"
#include "tui/glyph.h"
#include "tui/grid.h"
#include "tui/kind.h"
#include "tui/look.h"
#include "tui/pace.h"

static void clean(void)
{
    static const char *const vars[] = {"COLORTERM", "TMUX", "STY", "TERM", "TERM_PROGRAM",
                                       "TERM_PROGRAM_VERSION", "PODIUM_SYNC", "SSH_TTY",
                                       "SSH_CONNECTION", "SSH_CLIENT", "DISPLAY",
                                       "WAYLAND_DISPLAY", "LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < ARRAY_LEN(vars); i++)
        unsetenv(vars[i]);
}

TEST(direct_entries_only_where_colours_are_promised)
{
    static const struct { const char *term, *direct; } t[] = {
        {"xterm-256color", "xterm-direct"}, {"tmux-256color", "tmux-direct"},
        {"xterm", "xterm-direct"}, {"xterm-kitty", "kitty-direct"}, {"foot", "foot-direct"},
        {"alacritty", "alacritty-direct"}};
    char name[64];
    clean();
    CHECK(!kind_direct("xterm-256color", name));
    setenv("COLORTERM", "yes", 1);
    CHECK(!kind_direct("xterm-256color", name));
    setenv("COLORTERM", "truecolor", 1);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        CHECK(kind_direct(t[i].term, name));
        CHECK_STR(name, t[i].direct);
    }
}

TEST(frames_are_bracketed_for_those_who_know)
{
    static const struct { const char *set[3]; bool on; } t[] = {
        {{"TERM=xterm-256color"}, false}, {{"TERM=xterm-kitty"}, true},
        {{"TERM=xterm-256color", "TERM_PROGRAM=ghostty"}, true},
        {{"TERM=xterm-kitty", "TMUX=/x"}, false},
        {{"TMUX=/x", "TERM_PROGRAM=tmux", "TERM_PROGRAM_VERSION=3.3a"}, false},
        {{"TMUX=/x", "TERM_PROGRAM=tmux", "TERM_PROGRAM_VERSION=3.7"}, true},
        {{"TERM=xterm-kitty", "STY=1.x"}, false}, {{"TERM=linux", "PODIUM_SYNC=1"}, true},
        {{"TERM=xterm-kitty", "PODIUM_SYNC=0"}, false}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        clean();
        for (size_t k = 0; k < 3 && t[i].set[k]; k++)
            putenv((char *)(uintptr_t)t[i].set[k]);
        CHECK_MSG(kind_takes_sync() == t[i].on, "row %zu", i);
    }
}

static bool has_all(const char *program UNUSED)
{
    return true;
}

static bool has_none(const char *program UNUSED)
{
    return false;
}

TEST(copies_go_where_they_can_be_pasted)
{
    static const struct { const char *set[3]; bool all; const char *term; enum clip_way way;
                          const char *program; } t[] = {
        {{NULL}, false, "xterm-256color", CLIP_OSC52, NULL},
        {{"DISPLAY=:0"}, true, "xterm-256color", CLIP_PROGRAM, "xclip"},
        {{"DISPLAY=:0", "WAYLAND_DISPLAY=wayland-0"}, true, "foot", CLIP_PROGRAM, "wl-copy"},
        {{"DISPLAY=:0", "SSH_TTY=/dev/pts/1"}, true, "xterm", CLIP_OSC52, NULL},
        {{"TMUX=/x", "SSH_TTY=/dev/pts/1"}, true, "tmux-256color", CLIP_PROGRAM, "tmux"},
        {{"TMUX=/x"}, false, "tmux-256color", CLIP_OSC52, NULL},
        {{"DISPLAY=:0"}, false, "xterm", CLIP_OSC52, NULL},
        {{NULL}, false, "linux", CLIP_FILE, NULL},
        {{"SSH_CONNECTION=1"}, true, "vt100", CLIP_FILE, NULL}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct clip_plan plan;
        clean();
        for (size_t k = 0; k < 3 && t[i].set[k]; k++)
            putenv((char *)(uintptr_t)t[i].set[k]);
        clip_choose(t[i].all ? has_all : has_none, t[i].term, &plan);
        CHECK_MSG(plan.way == t[i].way, "row %zu: way %d", i, plan.way);
        if (t[i].program)
            CHECK_STR(plan.argv[0], t[i].program);
    }
}

TEST(frames_wait_their_turn)
{
    struct pace p;
    setenv("PODIUM_SLOW", "", 1);
    pace_init(&p);
    CHECK_INT(pace_wait(&p, 30, false, 1000), 0);
    pace_painted(&p, 1000);
    CHECK_INT(pace_wait(&p, 30, false, 1010), 23);
    CHECK_INT(pace_wait(&p, 10, false, 1010), 90);
    CHECK_INT(pace_wait(&p, 10, true, 1003), 5);
    CHECK_INT(pace_wait(&p, 10, true, 1010), 0);
    pace_took(&p, 101);
    CHECK_INT(pace_wait(&p, 30, false, 1010), 990);
    for (int i = 0; i < PACE_GOOD_FRAMES; i++)
        pace_took(&p, 0);
    CHECK_INT(pace_wait(&p, 30, false, 1010), 23);
    p.resized_ms = 1000;
    CHECK_INT(pace_resize_wait(&p, 1030), 70);
    CHECK_INT(pace_resize_wait(&p, 1200), 0);
    setenv("PODIUM_SLOW", "1", 1);
    pace_init(&p);
    pace_painted(&p, 1000);
    pace_took(&p, 0);
    CHECK_INT(pace_wait(&p, 30, false, 1010), 990);
    CHECK_INT(pace_wait(&p, 30, true, 1010), 990);       /* a slow link stays slow */
}

/* Where ambiguous characters are two columns wide, no sign of the safe set is;
 * where there is only ASCII, all are ASCII. */
TEST(safe_signs_are_narrow_everywhere)
{
    utf8_set_ambiguous_wide(true);
    for (int g = 0; g < GLYPH_COUNT; g++) {
        const char *cjk = glyph_of(GLYPH_CJK, (enum glyph)g);
        const char *ascii = glyph_of(GLYPH_ASCII, (enum glyph)g);
        CHECK_MSG(utf8_str_width(cjk) == 1, "%s", cjk);
        CHECK(strlen(ascii) == 1 && ascii[0] > ' ' && ascii[0] < 0x7f);
    }
    for (int i = 0; i < 8; i++) {
        CHECK_INT(utf8_str_width(glyph_spark(GLYPH_CJK, i)), 1);
        CHECK_INT(strlen(glyph_spark(GLYPH_ASCII, i)), 1);
    }
    utf8_set_ambiguous_wide(false);
}

TEST(sets_are_chosen_by_locale_and_terminal)
{
    static const struct { const char *env, *term; enum glyph_set set; bool cjk; } t[] = {
        {"LANG=C.UTF-8", "xterm", GLYPH_UNICODE, false}, {"LC_ALL=C", "xterm", GLYPH_ASCII, false},
        {"LANG=zh_CN.UTF-8", "xterm", GLYPH_UNICODE, true},
        {"LANG=zh_CN.GB18030", "xterm", GLYPH_ASCII, true},
        {"LC_ALL=ja_JP.utf8", "linux", GLYPH_ASCII, true},
        {"LANG=C.UTF-8", "vt100", GLYPH_ASCII, false}, {"LC_CTYPE=xx.UTF-8", "tmux", GLYPH_UNICODE,
                                                        false}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        clean();
        putenv((char *)(uintptr_t)t[i].env);
        CHECK_MSG(glyph_set_default(t[i].term) == t[i].set, "row %zu", i);
        CHECK_MSG(look_cjk_locale() == t[i].cjk, "row %zu", i);
    }
}

/* The texts of the case in one column, cut to every width: what stands behind
 * them lines up. */
TEST(case_cjk_columns)
{
    struct str file, row;
    struct pd_err err = {0};
    struct ydoc *doc = NULL;
    struct grid g;
    const char *path = PODIUM_SOURCE_DIR "/tests/cases/terminal/005-cjk-columns/terminal.yaml";
    str_init(&file, 1 << 20);
    str_init(&row, 1 << 16);
    CHECK_OK(path_read(path, 1 << 20, &file, &err));
    CHECK_OK(yaml_parse(path, file.p, file.len, &doc, &err));
    const struct ynode *texts = yaml_get(doc->root, "texts");
    grid_init(&g, 80, 24);
    for (int width = 1; width < 14; width++) {
        int y = 0;
        for (const struct ynode *c = texts->first; c; c = c->next, y++) {
            grid_clip(&g, (struct rect){2, y, width, 1});
            grid_text(&g, 2, y, 0, ATTR_REVERSE, c->text);
            grid_unclip(&g);
            grid_text(&g, 2 + width, y, 0, 0, "|");
            CHECK_STR(grid_at(&g, 2 + width, y)->text, "|");
        }
        CHECK(y >= 6 && grid_sound(&g));
        grid_clear(&g);
    }
    grid_release(&g);
    yaml_docs_free(doc);
    str_release(&file);
    str_release(&row);
}

T_MAIN
