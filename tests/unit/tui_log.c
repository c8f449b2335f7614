/* tui_log.c - the log on the screen: search, filter, marks, moving, long lines. */
#include "tests/screens/fixture.h"
#include "tui/log_line.h"
#include "tui/panel.h"

static struct app *open_log(int lines)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    for (int i = 0; i < lines; i++) {
        char text[64];
        fx_log_line(a->s, str_fmt(text, sizeof text, i % 10 ? "line %d." : "line %d. Ten", i));
    }
    fx_key(a, "2");
    return a;
}

static void type(struct app *a, const char *text)
{
    for (; *text; text++) {
        char key[2] = {*text, '\0'};
        fx_key(a, *text == ' ' ? "Space" : key);
    }
}

static void see(const struct app *a, const char *text, bool there)
{
    struct str s;
    fx_screen(a, &s);
    if ((strstr(s.p, text) != NULL) != there)
        t_fail(__FILE__, __LINE__, "%s is %s:\n%s", text, there ? "missing" : "there", s.p);
    str_release(&s);
}

TEST(search_goes_while_it_is_typed)
{
    struct app *a = open_log(200);
    fx_key(a, "/");
    type(a, "line 13");
    CHECK_INT(a->log.line, 13);              /* the first of 13, 130..139 */
    type(a, "7");
    CHECK_INT(a->log.line, 137);
    see(a, "line 137.", true);
    fx_key(a, "Backspace");
    CHECK_INT(a->log.line, 13);
    fx_key(a, "Esc");                        /* given up: as it was before */
    CHECK_STR(a->log.find, "");
    CHECK(a->log_follow);
    fx_free(a);
}

TEST(n_goes_from_hit_to_hit_and_round)
{
    struct app *a = open_log(35);
    fx_key(a, "/");
    type(a, "Ten");
    fx_key(a, "Enter");
    CHECK_INT(logindex_hits(&a->log.index), 4);
    static const int want[] = {10, 20, 30, 0};
    see(a, "/Ten 1/4", true);
    for (int i = 0; i < 4; i++) {
        fx_key(a, "n");
        CHECK_INT(a->log.line, want[i]);
    }
    fx_key(a, "N");
    CHECK_INT(a->log.line, 30);
    see(a, "/Ten 4/4", true);
    int step = a->s->step;
    fx_key(a, "Esc");
    CHECK(!cmd_log_searching(a));
    CHECK_INT(a->focus, PANEL_LOG);
    CHECK_INT(a->s->step, step);
    fx_free(a);
}

TEST(case_matters_when_the_needle_has_capitals)
{
    CHECK(logindex_match("an Error", "error"));
    CHECK(logindex_match("an Error", "Error"));
    CHECK(!logindex_match("an error", "Error"));
    CHECK(logindex_match("数据 x", "数据"));
}

/* What the person sees is searched: not the digits of a record's raw text. */
TEST(search_reads_what_is_shown)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    fx_log(a->s);
    fx_key(a, "2");
    fx_key(a, "/");
    type(a, "step   305");
    fx_key(a, "Enter");
    CHECK_INT(logindex_hits(&a->log.index), 1);
    fx_key(a, "/");
    type(a, "00016");                        /* shown as 1.6e-4 */
    fx_key(a, "Enter");
    CHECK_INT(logindex_hits(&a->log.index), 0);
    see(a, "no line has \"00016\"", true);
    fx_free(a);
}

TEST(filter_keeps_lines_with_or_without)
{
    struct app *a = open_log(100);
    fx_key(a, "&");
    type(a, "Ten");
    fx_key(a, "Enter");
    CHECK_INT(logindex_count(&a->log.index, a->s), 10);
    see(a, "line 90. Ten", true);
    see(a, "line 99.", false);
    fx_run_command(a, "log.filter", "!Ten");
    CHECK_INT(logindex_count(&a->log.index, a->s), 90);
    see(a, "line 90. Ten", false);
    fx_log_line(a->s, "one more Ten");
    fx_log_line(a->s, "one more");
    fx_run_command(a, "redraw", NULL);
    CHECK_INT(logindex_count(&a->log.index, a->s), 91);
    fx_key(a, "Esc");
    CHECK_INT(logindex_count(&a->log.index, a->s), 102);
    fx_free(a);
}

TEST(a_held_place_stays_while_lines_come)
{
    struct app *a = open_log(200);
    struct str before, after;
    fx_key(a, "g");
    for (int i = 0; i < 40; i++)
        fx_key(a, "j");
    CHECK_INT(a->log.line, 40);
    fx_screen(a, &before);
    for (int i = 0; i < 50; i++)
        fx_log_line(a->s, "new");
    fx_key(a, "C-l");
    fx_screen(a, &after);
    CHECK(strstr(before.p, "line 30.") && strstr(after.p, "line 30."));
    CHECK(!strstr(after.p, "new"));
    fx_key(a, "G");
    CHECK(a->log_follow);
    see(a, "new", true);
    str_release(&before);
    str_release(&after);
    fx_free(a);
}

TEST(pages_go_and_come_back)
{
    struct app *a = open_log(300);
    fx_key(a, "g");
    fx_key(a, "PgDn");
    fx_key(a, "PgDn");
    uint64_t there = a->log.line;
    CHECK_INT(there, 36);                    /* 19 rows, 18 a page */
    fx_key(a, "PgDn");
    fx_key(a, "PgUp");
    CHECK_INT(a->log.line, there);
    for (int i = 0; i < 20; i++)
        fx_key(a, "PgUp");
    CHECK_INT(a->log.line, 0);
    see(a, "line 0. Ten", true);
    fx_free(a);
}

TEST(marks_are_set_and_visited)
{
    struct app *a = open_log(100);
    fx_key(a, "g");
    fx_key(a, "m");
    for (int i = 0; i < 50; i++)
        fx_key(a, "j");
    fx_key(a, "m");
    CHECK_INT(a->log.marks, 2);
    see(a, "▸ line 50. Ten", true);
    fx_key(a, "'");
    CHECK_INT(a->log.line, 0);
    fx_key(a, "'");
    CHECK_INT(a->log.line, 50);
    fx_key(a, "m");
    CHECK_INT(a->log.marks, 1);
    fx_free(a);
}

TEST(the_line_of_a_step_is_found)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    fx_lab(a);
    fx_log(a->s);
    fx_log_line(a->s, "{\"v\":1,\"ev\":\"step\",\"step\":31,\"loss\":1.0}");
    fx_run_command(a, "log.goto", "31");
    CHECK_INT(a->focus, PANEL_LOG);
    CHECK_INT(a->log.line, a->s->log_n - 1);
    CHECK(!a->log_follow);
    fx_run_command(a, "log.goto", "3");
    CHECK(a->note_bad);
    fx_free(a);
}

TEST(long_lines_move_sideways_or_wrap)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str s;
    fx_lab(a);
    str_init(&s, 1 << 20);
    for (int i = 0; i < 300; i++)
        str_printf(&s, "word%d ", i);
    fx_log_line(a->s, s.p);
    fx_key(a, "2");
    see(a, "word0 ", true);
    fx_key(a, ">");
    see(a, "word0 ", false);
    see(a, "from column 17", true);
    fx_key(a, "<");
    see(a, "word0 ", true);
    fx_key(a, "w");
    see(a, "word299", true);                 /* follows the end of a line taller than the pane */
    see(a, "word0 ", false);
    fx_key(a, "g");
    see(a, "word0 ", true);
    fx_key(a, "j");
    see(a, "word0 ", false);                 /* row by row inside it */
    fx_key(a, "k");
    see(a, "word0 ", true);
    str_release(&s);
    fx_free(a);
}

/* One frame looks at what is on show: the lines above cost nothing. */
TEST(a_frame_lays_out_a_screenful)
{
    struct app *a = open_log(5000);
    struct rows rows;
    rows_init(&rows, GLYPH_UNICODE);
    panel_of(PANEL_LOG)->rows(a, &rows, 40, 19);
    CHECK_INT(rows.n, 19);
    CHECK_INT(rows.total, 5000);
    CHECK_INT(rows.first, 4981);
    rows_release(&rows);
    fx_free(a);
}

TEST(levels_are_words)
{
    static const struct { const char *text; enum role role; } table[] = {
        {"2026-11-30 ERROR out of memory", ROLE_LOG_ERROR}, {"error: no file", ROLE_LOG_ERROR},
        {"Traceback (most recent call last):", ROLE_LOG_ERROR},
        {"E1130 02:00:00.0 x", ROLE_LOG_ERROR},
        {"[WARN] slow", ROLE_LOG_WARN}, {"UserWarning", ROLE_LOG}, {"W1130 02:00 x", ROLE_LOG_WARN},
        {"terror", ROLE_LOG}, {"error_rate 0.1", ROLE_LOG}, {"done, 0 errors", ROLE_LOG},
        {"plain", ROLE_LOG}, {"warning: x", ROLE_LOG_WARN}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        CHECK_MSG(log_line_level(table[i].text) == table[i].role, "%s", table[i].text);
}

TEST(another_log_forgets_the_search)
{
    struct app *a = open_log(100);
    fx_key(a, "/");
    type(a, "Ten");
    fx_key(a, "Enter");
    fx_key(a, "m");
    CHECK(cmd_log_searching(a) && a->log.marks == 1);
    fx_run_command(a, "log.follow", "dataaccess-0");
    CHECK(!cmd_log_searching(a) && a->log.marks == 0 && a->log_follow);
    CHECK_STR(a->s->log_view.pod, "dataaccess-0");
    fx_free(a);
}

T_MAIN
