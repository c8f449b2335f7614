/* replay.c - playing a journal (replay.h): on the terminal at a speed, or at
 * once with the last screen printed as text. */
#include "tui/replay.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/mem.h"
#include "core/io/loop.h"
#include "tui/app.h"
#include "tui/input.h"
#include "tui/screen.h"
#include "tui/term.h"

const char replay_help[] =
    N_("usage: podium replay FILE [--dump] [--size COLSxROWS] [--speed N] [--messages N]\n"
       "\n"
       "Plays a journal made with podium --record. Nothing is sent to a cluster.\n"
       "\n"
       "  --dump        no terminal: print the last screen as text\n"
       "  --size CxR    of the printed screen (default: as recorded)\n"
       "  --messages N  stop after N messages\n"
       "  --speed N     times faster than recorded (default 1); pauses are cut to 2 s\n"
       "\n"
       "Keys: Space pause, n next message, [ ] slower and faster, q end.\n");

enum { REPLAY_PAUSE_MS = 2000 };

struct replay {
    struct app *app;
    struct lab_list *labs;
    struct effects effects;
    struct grid grid;
    struct msg **v;
    size_t n, cap, at;
    /* options */
    const char *file;
    bool dump;
    int cols, rows;
    double speed;
    size_t most;
    /* on a terminal */
    struct loop *loop;
    struct tty *tty;
    struct theme theme;
    struct input input;
    uint32_t timer;
    bool paused;
};

static void keep(void *arg, struct msg *m)
{
    struct replay *r = arg;
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 256;
        r->v = xrealloc_array(r->v, r->cap, sizeof(struct msg *));
    }
    r->v[r->n++] = m;
}

static void step(struct replay *r)
{
    struct msg *m = r->v[r->at++];
    bool sized = m->kind == MSG_RESIZE && (r->cols || r->tty);
    if (!sized)
        app_apply(r->app, m, &r->effects);
    effects_clear(&r->effects);
}

static void set_size(struct replay *r, int cols, int rows)
{
    struct json *body = json_new_object();
    json_put_num(body, "cols", cols);
    json_put_num(body, "rows", rows);
    struct msg *m = msg_new(MSG_RESIZE, body);
    m->at_ms = r->app->now_ms;
    app_apply(r->app, m, &r->effects);
    msg_free(m);
}

static int dump(struct replay *r)
{
    struct str line;
    int cx, cy;
    if (r->cols)
        set_size(r, r->cols, r->rows);
    while (r->at < r->n && r->at < r->most)
        step(r);
    screen_draw(r->app, &r->grid, &cx, &cy);
    str_init(&line, 1 << 16);
    for (int y = 0; y < r->grid.rows; y++) {
        str_clear(&line);
        grid_row_text(&r->grid, y, &line);
        puts(line.p);
    }
    str_release(&line);
    return 0;
}

/* --- on a terminal ----------------------------------------------------------------- */
static void paint(struct replay *r)
{
    char bar[160];
    int cx, cy, y = r->app->rows - 1;
    screen_draw(r->app, &r->grid, &cx, &cy);
    str_fmt(bar, sizeof bar, _(" REPLAY - NOT LIVE  %zu/%zu  x%g %s  Space pause  n next  [ ] speed"
                               "  q end "),
            r->at, r->n, r->speed, r->paused ? _("paused") : "");
    grid_fill(&r->grid, (struct rect){0, y, r->app->cols, 1}, ROLE_REPLAY, 0, " ");
    grid_text(&r->grid, 0, y, ROLE_REPLAY, 0, bar);
    term_paint(r->tty, &r->grid, &r->theme, r->app->glyphs == GLYPH_ASCII, -1, -1);
    term_settle(r->tty);
}

static void play(void *arg);

static void plan(struct replay *r)
{
    loop_timer_cancel(r->loop, r->timer);
    r->timer = 0;
    if (r->paused || r->at >= r->n)
        return;
    int64_t wait = r->at ? r->v[r->at]->at_ms - r->v[r->at - 1]->at_ms : 0;
    wait = MIN(MAX(wait, 0), REPLAY_PAUSE_MS);
    r->timer = loop_timer(r->loop, (int64_t)((double)wait / r->speed), play, r, "replay");
}

static void play(void *arg)
{
    struct replay *r = arg;
    r->timer = 0;
    step(r);
    paint(r);
    plan(r);
}

static void on_key(void *arg, const char *key, const char *paste UNUSED)
{
    struct replay *r = arg;
    if (!key)
        return;
    if (str_eq(key, "q") || str_eq(key, "Esc") || str_eq(key, "C-c"))
        loop_stop(r->loop, 0);
    else if (str_eq(key, "Space"))
        r->paused = !r->paused;
    else if (str_eq(key, "n") && r->at < r->n)
        step(r);
    else if (str_eq(key, "["))
        r->speed = MAX(r->speed / 2, 0.125);
    else if (str_eq(key, "]"))
        r->speed = MIN(r->speed * 2, 64);
    paint(r);
    plan(r);
}

static void read_keys(void *arg, int fd, int events UNUSED)
{
    struct replay *r = arg;
    char buf[1024];
    ssize_t n = read(fd, buf, sizeof buf);
    if (n <= 0)
        loop_stop(r->loop, 0);
    else
        input_feed(&r->input, buf, (size_t)n);
    if (input_waiting(&r->input))
        input_idle(&r->input);
}

static void on_signal(void *arg, int signo)
{
    struct replay *r = arg;
    int cols, rows;
    if (signo != SIGWINCH) {
        loop_stop(r->loop, 128 + signo);
        return;
    }
    term_resized(r->tty);
    term_size(r->tty, &cols, &rows);
    set_size(r, cols, rows);
    paint(r);
}

static int show(struct replay *r)
{
    struct pd_err err = {0};
    char note[160], buf[800];
    int cols, rows;
    if (term_open(&r->tty, note, &err) != PD_OK ||
        theme_load(theme_default(term_colours(r->tty)), &r->theme, &err) != PD_OK) {
        term_close(r->tty);
        fprintf(stderr, "podium: %s\n", pd_describe(&err, buf, sizeof buf));
        return 3;
    }
    r->loop = loop_new();
    input_init(&r->input, on_key, r);
    term_size(r->tty, &cols, &rows);
    set_size(r, cols, rows);
    r->app->glyphs = glyph_set_default(term_name(r->tty));
    static const int signals[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        loop_signal(r->loop, signals[i], on_signal, r);
    loop_fd(r->loop, STDIN_FILENO, LOOP_READ, read_keys, r);
    paint(r);
    plan(r);
    int code = loop_run(r->loop);
    term_close(r->tty);
    loop_free(r->loop);
    input_release(&r->input);
    return code;
}

/* --- options ------------------------------------------------------------------------ */
static bool set_option(struct replay *r, const char *name, const char *value)
{
    int64_t n;
    if (str_eq(name, "--speed"))
        return str_to_f64(value, &r->speed) && r->speed > 0;
    if (str_eq(name, "--size"))
        return sscanf(value, "%dx%d", &r->cols, &r->rows) == 2 && r->cols > 0 && r->cols <= 1000 &&
               r->rows > 0 && r->rows <= 1000;
    if (!str_eq(name, "--messages") || !str_to_i64(value, &n) || n < 0)
        return false;
    r->most = (size_t)n;
    return true;
}

static bool parse(struct replay *r, int argc, char **argv)
{
    r->speed = 1;
    r->most = SIZE_MAX;
    for (int i = 1; i < argc; i++) {
        if (str_eq(argv[i], "--dump"))
            r->dump = true;
        else if (argv[i][0] != '-' && !r->file)
            r->file = argv[i];
        else if (i + 1 >= argc || !set_option(r, argv[i], argv[i + 1]))
            return false;
        else
            i++;
    }
    return r->file != NULL;
}

static void begin(struct replay *r, const struct json *head)
{
    const char *lang = json_str(head, "lang", "en");
    i18n_set(lang);
    r->labs = lab_list_load(json_str(head, "labs", NULL));
    struct session *s = session_new(r->labs);
    session_set_work(s, NULL, (uint64_t)json_num(head, "seed", 1));
    r->app = app_new(s, r->labs);
    r->app->replay = true;
    str_copy(r->app->theme, sizeof r->app->theme, json_str(head, "theme", "dark"));
    r->app->glyphs = (enum glyph_set)(json_int(head, "glyphs", 0) % GLYPH_SET_COUNT);
    r->app->curve.dots = r->app->glyphs == GLYPH_ASCII ? DOTS_ASCII : DOTS_BRAILLE;
    effects_init(&r->effects);
    grid_init(&r->grid, 0, 0);
}

int replay_main(int argc, char **argv)
{
    struct replay r = {0};
    struct pd_err err = {0};
    struct json *head = NULL;
    char buf[800];
    if (argc > 1 && str_eq(argv[1], "--help")) {
        fputs(_(replay_help), stdout);
        return 0;
    }
    if (!parse(&r, argc, argv)) {
        fputs(_(replay_help), stderr);
        return 2;
    }
    if (journal_read(r.file, &head, keep, &r, &err) != PD_OK) {
        fprintf(stderr, "podium: %s\n", pd_describe(&err, buf, sizeof buf));
        return 1;
    }
    begin(&r, head);
    int code = r.dump ? dump(&r) : show(&r);
    for (size_t i = 0; i < r.n; i++)
        msg_free(r.v[i]);
    free(r.v);
    json_free(head);
    app_free(r.app);
    lab_list_free(r.labs);
    effects_release(&r.effects);
    grid_release(&r.grid);
    return code;
}
