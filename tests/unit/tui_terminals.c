/* tui_terminals.c - terminals that are slow, dragged, wide, gone, or say things
 * of their own: what reaches them, byte by byte, and how they are left. */
#include "tests/pty/pty.h"

#include "core/base/yaml.h"

static void quit(struct term *t)
{
    press(t, "q");
    CHECK_INT(leave(t), 0);
    restored(t);
    done(t);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* --- sizes --------------------------------------------------------------------------- */
static void fresh(int cols, int rows, const char *term, struct str *out)
{
    struct term t;
    start(&t, cols, rows, term, NULL, NULL);
    settled(&t);
    str_add(out, screen(&t));
    quit(&t);
}

/* However the window was dragged, the end is what a fresh start shows. */
static void storm(const int (*size)[2], int n, int64_t every_ms, const char *term)
{
    struct term t;
    struct str want;
    str_init(&want, 1 << 20);
    fresh(size[n - 1][0], size[n - 1][1], term, &want);
    start(&t, 100, 30, term, NULL, NULL);
    settled(&t);
    t.raw.len = 0;
    str_clear(&t.raw);
    int64_t from = clock_us();
    for (int i = 0; i < n; i++) {
        int64_t until = clock_us() + every_ms * 1000;
        resize(&t, size[i][0], size[i][1]);
        while (clock_us() < until)
            feed(&t, (int)MAX((until - clock_us()) / 1000, 1));
    }
    silence(&t, 250);
    double seconds = (double)(clock_us() - from) / 1e6;
    int full = count(t.raw.p, "\033[2J") + count(t.raw.p, "\033[H\033[J");
    CHECK_MSG(full >= 1 && full <= 10 * seconds + 2, "%d full paints in %.2f s", full, seconds);
    if (strcmp(screen(&t), want.p) != 0)
        t_fail(__FILE__, __LINE__, "after the storm:\n%s\nfresh:\n%s", screen(&t), want.p);
    str_release(&want);
    quit(&t);
}

TEST(a_storm_of_sizes_ends_as_a_fresh_start)
{
    int size[51][2];
    for (int i = 0; i < 50; i++) {
        size[i][0] = 20 + i * 37 % 280;
        size[i][1] = 5 + i * 13 % 95;
    }
    size[50][0] = 90;
    size[50][1] = 28;
    storm(size, 51, 10, "xterm-256color");
}

TEST(sizes_from_one_cell_to_a_wall)
{
    static const int size[][2] = {{1, 1}, {2, 1}, {1, 24}, {39, 12}, {40, 11}, {300, 100}, {3, 3},
                                  {80, 24}};
    storm(size, 8, 120, "xterm-256color");
}

TEST(starts_at_any_size)
{
    static const struct { int cols, rows; const char *says; } t[] = {
        {1, 1, ""}, {5, 2, "need"}, {39, 12, "need 40x12, have 39x12"},
        {40, 11, "need 40x12, have 40x11"}, {40, 12, "? help"}, {300, 100, "q quit"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct term m;
        start(&m, t[i].cols, t[i].rows, "xterm-256color", NULL, NULL);
        wait_for(&m, t[i].says);
        silence(&m, 200);
        quit(&m);
    }
}

/* LINES and COLUMNS of the shell that started it are of another time. */
TEST(stale_lines_and_columns)
{
    static const char *const env[] = {"LINES=24", "COLUMNS=80", NULL};
    struct term t;
    struct str want;
    str_init(&want, 1 << 20);
    fresh(140, 50, "xterm-256color", &want);
    start_env(&t, 140, 50, "xterm-256color", env, NULL, NULL);
    settled(&t);
    CHECK_STR(screen(&t), want.p);
    resize(&t, 60, 20);
    wait_for(&t, "Labs About");
    resize(&t, 140, 50);
    wait_for(&t, "Catalogue");
    silence(&t, 200);
    CHECK_STR(screen(&t), want.p);
    str_release(&want);
    quit(&t);
}

/* --- cases ------------------------------------------------------------------------------ */
static struct ydoc *scenario(const char *id)
{
    struct str text;
    struct pd_err err = {0};
    struct ydoc *doc = NULL;
    char *path = xasprintf(PODIUM_SOURCE_DIR "/tests/cases/terminal/%s/terminal.yaml", id);
    str_init(&text, 1 << 20);
    CHECK_OK(path_read(path, 1 << 20, &text, &err));
    CHECK_OK(yaml_parse(path, text.p, text.len, &doc, &err));
    str_release(&text);
    free(path);
    return doc;
}

TEST(case_resize_storm)
{
    struct ydoc *doc = scenario("002-resize-storm");
    const struct ynode *seq = yaml_get(doc->root, "size_sequence");
    int size[32][2], n = 0;
    for (const struct ynode *c = seq->first; c && n < 32; c = c->next, n++) {
        size[n][0] = atoi(c->first->text);
        size[n][1] = atoi(c->first->next->text);
    }
    CHECK(n > 2);
    storm(size, n, atoi(yaml_str(doc->root, "interval_ms", "20")),
          yaml_str(doc->root, "TERM", "xterm"));
    yaml_docs_free(doc);
}

TEST(case_stale_lines_and_columns)
{
    struct ydoc *doc = scenario("008-stale-lines-columns");
    const struct ynode *size = yaml_get(doc->root, "actual_size");
    const struct ynode *env = yaml_get(doc->root, "env");
    char vars[4][64];
    const char *list[5] = {NULL};
    int n = 0;
    for (const struct ynode *c = env->first; c && n < 4; c = c->next, n++)
        list[n] = str_fmt(vars[n], sizeof vars[n], "%s=%s", c->key, c->text);
    struct term t;
    start_env(&t, 100, 30, "xterm-256color", list, NULL, NULL);
    settled(&t);
    int cols = atoi(size->first->text), rows = atoi(size->first->next->text);
    struct str want;
    str_init(&want, 1 << 20);
    fresh(cols, rows, "xterm-256color", &want);
    resize(&t, cols, rows);
    wait_for(&t, "Catalogue");
    silence(&t, 250);
    CHECK_STR(screen(&t), want.p);
    str_release(&want);
    yaml_docs_free(doc);
    quit(&t);
}

/* --- slow links --------------------------------------------------------------------------- */
/* Nothing is read for a while: the program waits with one frame, skips the
 * others, and is right at the end. */
TEST(a_stuck_terminal_gets_no_queue)
{
    struct term t;
    start(&t, 300, 100, "xterm-256color", "--lab", "lora-gaudi");
    wait_for(&t, "Look at the node");
    silence(&t, 300);
    t.bytes = 0;
    for (int i = 0; i < 400; i++) {
        press(&t, i % 2 ? "?" : "\014");         /* help on and off, and everything anew */
        if (i % 2)
            press(&t, "\033[A");
        struct timespec ms = {0, 2000000};
        nanosleep(&ms, NULL);
    }
    silence(&t, 1300);
    CHECK_MSG(t.bytes < 400000, "%zu bytes had been queued", t.bytes);
    press(&t, "\003\003");
    CHECK_INT(leave(&t), 0);
    restored(&t);
    done(&t);
}

TEST(podium_slow_paints_once_a_second)
{
    static const char *const env[] = {"PODIUM_SLOW=1", NULL};
    struct term t;
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    wait_for(&t, "/nowhere/config");
    int frames = 0;
    int64_t from = clock_us();
    while (clock_us() - from < 1500000) {
        press(&t, frames % 2 ? "j" : "k");
        if (feed(&t, 40)) {
            frames++;
            silence(&t, 20);
        }
    }
    CHECK_MSG(frames <= 3, "%d frames in 1.5 s", frames);
    quit(&t);
}

/* --- modes ----------------------------------------------------------------------------------- */
static void modes_off(const struct term *t)
{
    static const char *const modes[] = {"1000", "1006", "2004", "2026"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        char on[24], off[24];
        const char *last_on = NULL, *last_off = NULL;
        str_fmt(on, sizeof on, "\033[?%sh", modes[i]);
        str_fmt(off, sizeof off, "\033[?%sl", modes[i]);
        for (const char *p = t->raw.p; (p = strstr(p, on)); p++)
            last_on = p;
        for (const char *p = t->raw.p; (p = strstr(p, off)); p++)
            last_off = p;
        CHECK_MSG(!last_on || (last_off && last_off > last_on), "mode %s stays on", modes[i]);
    }
}

static void dies_with_all_modes(int signo)
{
    struct term t;
    static const char *const env[] = {"PODIUM_SYNC=1", NULL};
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    settled(&t);
    press(&t, "M");
    wait_for(&t, "mouse on");
    press(&t, ":");
    wait_for(&t, "Commands");
    silence(&t, 100);
    CHECK(strstr(t.raw.p, "\033[?1000h") && strstr(t.raw.p, "\033[?1006h"));
    CHECK(strstr(t.raw.p, "\033[?2004h") && strstr(t.raw.p, "\033[?2026h"));
    kill(t.pid, signo);
    leave(&t);
    modes_off(&t);
    restored(&t);
    done(&t);
}

TEST(sigsegv_undoes_every_mode) { dies_with_all_modes(SIGSEGV); }
TEST(sigabrt_undoes_every_mode) { dies_with_all_modes(SIGABRT); }
TEST(sigterm_undoes_every_mode) { dies_with_all_modes(SIGTERM); }
TEST(sighup_undoes_every_mode) { dies_with_all_modes(SIGHUP); }

/* In the middle of frames, not at rest. */
TEST(killed_while_it_writes)
{
    static const int signals[] = {SIGTERM, SIGSEGV, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct term t;
        start(&t, 300, 100, "xterm-256color", NULL, NULL);
        settled(&t);
        for (int k = 0; k < 40; k++)
            press(&t, "\014");   /* everything anew, and nobody reads it */
        kill(t.pid, signals[i]);
        leave(&t);
        modes_off(&t);
        restored(&t);
        done(&t);
    }
}

TEST(frames_are_bracketed_only_where_that_is_known)
{
    static const struct { const char *env, *term; bool on; } t[] = {
        {"PODIUM_SYNC=1", "xterm-256color", true}, {"X=1", "xterm-256color", false},
        {"TERM_PROGRAM=WezTerm", "xterm-256color", true}, {"PODIUM_SYNC=0", "xterm-kitty", false},
        {"X=1", "xterm-kitty", true}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        const char *env[] = {t[i].env, NULL};
        struct term m;
        start_env(&m, 80, 24, t[i].term, env, NULL, NULL);
        settled(&m);
        int begun = count(m.raw.p, "\033[?2026h");
        CHECK_MSG((begun > 0) == t[i].on, "%s %s", t[i].env, t[i].term);
        CHECK_INT(count(m.raw.p, "\033[?2026l"), begun);
        quit(&m);
    }
}

TEST(the_title_comes_back)
{
    struct term t;
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    CHECK(count(t.raw.p, "\033[22;2t") == 1 && count(t.raw.p, "\033]2;") >= 1);
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    CHECK_INT(count(t.raw.p, "\033[23;2t"), 1);
    done(&t);
    start(&t, 80, 24, "xterm-256color", "--title=off", NULL);
    settled(&t);
    CHECK(!strstr(t.raw.p, "\033]"));
    quit(&t);
    start(&t, 80, 24, "linux", NULL, NULL);
    settled(&t);
    CHECK(!strstr(t.raw.p, "\033]"));
    press(&t, "q");
    CHECK_INT(leave(&t), 0);
    done(&t);
}

/* --- answers of the terminal ---------------------------------------------------------- */
/* Answer a question as soon as it stands in what the program wrote. */
static void answer(struct term *t, const char *question, const char *text)
{
    int64_t end = clock_us() + 5000000;
    while (!strstr(t->raw.p, question)) {
        CHECK_MSG(clock_us() < end, "was not asked");
        feed(t, 20);
    }
    press(t, text);
}

TEST(a_wide_terminal_gets_safe_signs_and_is_asked_once)
{
    static const char *const env[] = {"LANG=zh_CN.UTF-8", NULL};
    struct term t;
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    answer(&t, "\033[6n", "\033[7;3R\033[?1;2c");
    wait_for(&t, "# ");
    CHECK_INT(count(t.raw.p, "\033[6n"), 1);
    silence(&t, 200);
    CHECK(!strstr(screen(&t), "─") && !strstr(screen(&t), "…") && !strstr(screen(&t), "●"));
    quit(&t);
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    wait_for(&t, "# ");
    CHECK(!strstr(t.raw.p, "\033[6n"));
    quit(&t);
}

TEST(a_narrow_terminal_keeps_its_lines)
{
    struct term t;
    start(&t, 80, 24, "xterm-256color", "--ambiguous", "probe");
    answer(&t, "\033[6n", "\033[7;2R\033[?1;2c");
    wait_for(&t, "╔ Catalogue");
    quit(&t);
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    CHECK(!strstr(t.raw.p, "\033[6n") && !strstr(t.raw.p, "\033]11"));   /* nobody asked for it */
    quit(&t);
}

TEST(a_light_background_is_found_where_it_is_asked_for)
{
    struct term t;
    start(&t, 80, 24, "xterm-256color", "--detect-background", NULL);
    answer(&t, "\033]11;?", "\033]11;rgb:ffff/ffff/eeee\033\\\033[?62;4c");
    settled(&t);
    CHECK(strstr(t.raw.p, "38;5;25m"));          /* the light theme's blue */
    quit(&t);
}

/* An answer that comes late, or that nobody asked for, is never typed. */
TEST(late_answers_are_not_typed)
{
    static const char *const late[] = {
        "\033]11;rgb:1c1c/1c1c/1c1c\033\\", "\033]11;rgb:1c1c/1c1c/1c1c\007", "\033[?62;22c",
        "\033[24;80R", "\033P1+r544e=787465726d\033\\", "\033[?2026;2$y", "\033[>1;4600;0c",
        "\033[<0;10;10M\033[<0;10;10m", "\033[I\033[O", "\033_Gi=31;OK\033\\"};
    struct term t;
    start(&t, 80, 24, "xterm-256color", NULL, NULL);
    settled(&t);
    press(&t, ":");
    wait_for(&t, "Commands");
    silence(&t, 150);
    char *before = xstrdup(screen(&t));
    for (size_t i = 0; i < ARRAY_LEN(late); i++)
        for (size_t n = 0; late[i][n]; n++) {
            char byte[2] = {late[i][n], '\0'};
            press(&t, byte);
        }
    silence(&t, 200);
    CHECK_STR(screen(&t), before);
    free(before);
    press(&t, "\033");
    silence(&t, 150);
    quit(&t);
}

/* --- colours and sets ------------------------------------------------------------------ */
TEST(all_colours_where_they_are_promised)
{
    static const struct { const char *env, *term; bool direct; } t[] = {
        {"COLORTERM=truecolor", "xterm-256color", true}, {"COLORTERM=24bit", "xterm-kitty", true},
        {"X=1", "xterm-256color", false}, {"COLORTERM=truecolor", "linux", false}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        const char *env[] = {t[i].env, NULL};
        struct term m;
        start_env(&m, 80, 24, t[i].term, env, NULL, NULL);
        settled(&m);
        bool has = strstr(m.raw.p, "38:2") != NULL || strstr(m.raw.p, "38;2") != NULL;
        CHECK_MSG(has == t[i].direct, "%s %s", t[i].env, t[i].term);
        CHECK(!strstr(m.raw.p, "\033]4;") && !strstr(m.raw.p, "\033]P"));     /* no palette */
        press(&m, "q");
        CHECK_INT(leave(&m), 0);
        done(&m);
    }
}

TEST(plain_terminals_get_plain_signs)
{
    static const struct { const char *env, *term; } t[] = {
        {"LC_ALL=C", "xterm-256color"}, {"LC_ALL=POSIX", "screen-256color"}, {"X=1", "linux"},
        {"X=1", "vt100"}, {"LANG=en_US.ISO-8859-1", "xterm"}};
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        const char *env[] = {t[i].env, NULL};
        struct term m;
        start_env(&m, 80, 24, t[i].term, env, NULL, NULL);
        settled(&m);
        for (const char *p = m.raw.p; *p; p++)
            CHECK_MSG((unsigned char)*p < 0x80, "%s %s writes byte %02x", t[i].env, t[i].term,
                      (unsigned char)*p);
        press(&m, "q");
        CHECK_INT(leave(&m), 0);
        done(&m);
    }
}

/* A locale that is not installed says what the terminal takes all the same. */
TEST(a_missing_locale_is_taken_at_its_word)
{
    static const char *const env[] = {"LC_ALL=xx_YY.UTF-8", NULL};
    struct term t;
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    wait_for(&t, "╔ Catalogue");
    quit(&t);
}

/* --- copying --------------------------------------------------------------------------- */
TEST(copies_through_the_terminal_over_ssh)
{
    static const char *const env[] = {"SSH_TTY=/dev/pts/9", "DISPLAY=:0", NULL};
    struct term t;
    start_env(&t, 80, 24, "xterm-256color", env, NULL, NULL);
    settled(&t);
    press(&t, "Y");
    wait_for(&t, "OSC 52");
    const char *at = strstr(t.raw.p, "\033]52;c;");
    CHECK(at != NULL);
    at += strlen("\033]52;c;");
    CHECK(strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") > 40);
    struct str kept;
    struct pd_err err = {0};
    char *path = xasprintf("%s/home/.cache/podium/clip.txt", t_dir());
    str_init(&kept, 1 << 20);
    CHECK_OK(path_read(path, 1 << 20, &kept, &err));
    CHECK_HAS(kept.p, "LoRA on Gaudi");
    free(path);
    str_release(&kept);
    quit(&t);
}

T_MAIN
