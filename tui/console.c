/* console.c - the loop of the console (console.h): bytes become messages,
 * messages change the state, a changed state is painted after the turn, at most
 * thirty times a second. The first paint comes before the first request. */
#include "tui/console.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/loop.h"
#include "labs/effects.h"
#include "tui/app.h"
#include "tui/clip.h"
#include "tui/editor.h"
#include "tui/input.h"
#include "tui/look.h"
#include "tui/pace.h"
#include "tui/plain.h"
#include "tui/screen.h"
#include "tui/settings.h"
#include "tui/start.h"
#include "tui/term.h"
#include "tui/theme.h"

enum { CONSOLE_MINUTE_MS = 60000, CONSOLE_EDITOR_MS = 50 };

struct console {
    struct loop *loop;
    struct tty *tty;
    struct app *app;
    struct lab_list *labs;
    struct grid grid;
    struct theme theme;
    char theme_name[64];
    struct input input;
    struct journal *journal;
    struct effects_runner *runner;
    struct effects effects;
    bool dirty, away, stopping;
    bool asked;                  /* what changed since the last frame was asked for, or is news */
    bool blocked;                /* the terminal is still taking a frame */
    bool key;                    /* the next frame answers a key */
    bool resumed;                /* the SIGCONT to come is of our own stop */
    struct pace pace;
    int64_t tick_due_ms;
    uint32_t paint_timer, tick_timer, esc_timer, size_timer, rest_timer;
    int editor;
    const struct console_options *o;
    struct start start;
};

static void run_effects(struct console *c)
{
    if (c->runner && c->effects.n > 0)
        effects_run_all(c->runner, &c->effects);
}

static void load_theme(struct console *c);

/* The one way in: journal, state, effects. Takes m. */
static void apply(struct console *c, struct msg *m)
{
    char said[sizeof c->app->s->message];
    str_copy(said, sizeof said, c->app->s->message);
    if (c->journal && !shell_private(c->app, m))
        journal_write(c->journal, m);
    app_apply(c->app, m, &c->effects);
    c->asked = c->asked || m->kind == MSG_KEY || m->kind == MSG_PASTE || m->kind == MSG_RESIZE ||
               m->kind == MSG_COMMAND || !str_eq(said, c->app->s->message);
    if (c->asked && c->app->look.motion != MOTION_FULL) {    /* it may wait long */
        loop_timer_cancel(c->loop, c->paint_timer);
        c->paint_timer = 0;
    }
    msg_free(m);
    c->dirty = true;
    run_effects(c);
    if (!str_eq(c->theme_name, c->app->theme))
        load_theme(c);
}

static void command(struct console *c, const char *name, const char *arg, const char *second)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    json_append(args, json_new_string(arg));
    if (second)
        json_append(args, json_new_string(second));
    json_set(body, "args", args);
    apply(c, msg_new(MSG_COMMAND, body));
}

/* What the theme is on this terminal goes into the state as a message too. */
static void load_theme(struct console *c)
{
    struct pd_err err = {0};
    struct theme th;
    str_copy(c->theme_name, sizeof c->theme_name, c->app->theme);
    if (theme_load(c->app->theme, &th, &err) == PD_OK)
        c->theme = th;
    else
        command(c, "note", "bad", err.msg);
    bool mono = str_eq(c->theme.variant, "mono") || term_colours(c->tty) < 8;
    if (mono != c->app->mono)
        command(c, "theme.mono", mono ? "yes" : "no", NULL);
}

static void deliver(void *arg, struct msg *m)
{
    apply(arg, m);
}

/* --- painting -------------------------------------------------------------------- */
static void can_write(void *arg, int fd, int events UNUSED)
{
    struct console *c = arg;
    int64_t waited = term_flush(c->tty);
    if (waited < 0)
        return;
    loop_fd_remove(c->loop, fd);
    c->blocked = false;
    pace_took(&c->pace, waited);
}

/* As long as bytes wait for the terminal there is no next frame. */
static void watch_output(struct console *c)
{
    if (c->blocked || !term_busy(c->tty))
        return;
    c->blocked = true;
    loop_fd(c->loop, term_fd(c->tty), LOOP_WRITE, can_write, c);
}

static void paint(struct console *c)
{
    int cx, cy;
    c->dirty = c->asked = c->key = false;
    pace_painted(&c->pace, clock_ms());
    screen_draw(c->app, &c->grid, &cx, &cy);
    term_mouse(c->tty, c->app->look.mouse);
    term_paste(c->tty, app_types(c->app));
    term_paint(c->tty, &c->grid, &c->theme, c->app->glyphs == GLYPH_ASCII, cx, cy);
    watch_output(c);
    if (!c->blocked)
        pace_took(&c->pace, 0);
}

static void paint_now(void *arg)
{
    struct console *c = arg;
    c->paint_timer = 0;
    if (c->dirty && !c->away && !c->blocked)
        paint(c);
}

static void tick(void *arg)
{
    struct console *c = arg;
    struct json *body = json_new_object();
    c->tick_timer = 0;
    json_put_num(body, "wall_ms", (double)clock_wall_ms());
    apply(c, msg_new(MSG_TICK, body));
}

static void send_size(struct console *c);

/* The terminal is the child's or the shell's for a while, and back. */
static void give_away(struct console *c)
{
    if (c->blocked)
        loop_fd_remove(c->loop, term_fd(c->tty));
    c->blocked = false;
    term_release(c->tty);
}

static void stop_here(struct console *c)
{
    c->stopping = false;
    if (c->away) {
        raise(SIGSTOP);
        return;
    }
    give_away(c);
    c->resumed = true;
    kill(0, SIGSTOP);
    term_retake(c->tty);
    send_size(c);                /* the window may have changed meanwhile */
}

/* Stopped from outside, without a word: the shell has had the line, and has
 * written over the screen. */
static void take_back(struct console *c)
{
    give_away(c);
    term_retake(c->tty);
    send_size(c);
}

/* The selection has rested: what stands beside it follows. */
static void rested(void *arg)
{
    struct console *c = arg;
    c->rest_timer = 0;
    command(c, "rest", "", NULL);
}

static void plan_rest(struct console *c)
{
    int64_t wait = app_rest_ms(c->app);
    if (wait >= 0 && !c->rest_timer)
        c->rest_timer = loop_timer(c->loop, wait, rested, c, "rest");
}

/* Ages are renewed as often as is set; a clock alone ticks with the minute. */
static void plan_tick(struct console *c)
{
    const struct app *a = c->app;
    int64_t wait = a->look.clock ? CONSOLE_MINUTE_MS - clock_wall_ms() % CONSOLE_MINUTE_MS : 0;
    if (a->look.ages_s && app_wants_tick(a))
        wait = (int64_t)a->look.ages_s * 1000;
    int64_t due = clock_ms() + wait;
    if (c->away || !wait || (c->tick_timer && c->tick_due_ms <= due))
        return;
    loop_timer_cancel(c->loop, c->tick_timer);
    c->tick_due_ms = due;
    c->tick_timer = loop_timer(c->loop, wait, tick, c, "tick");
}

static void after_turn(void *arg)
{
    struct console *c = arg;
    if (c->stopping)
        stop_here(c);
    plan_tick(c);
    plan_rest(c);
    if (!c->away)
        watch_output(c);
    c->pace.skipped += c->dirty && c->blocked;
    if (c->key && c->paint_timer) {              /* that one would come too late */
        loop_timer_cancel(c->loop, c->paint_timer);
        c->paint_timer = 0;
    }
    if (!c->dirty || c->away || c->paint_timer || c->blocked)
        return;
    int64_t now = clock_ms();
    int64_t wait = MAX(pace_wait(&c->pace, c->app->look.frames, c->key, now),
                       motion_wait(c->app->look.motion, c->asked, c->pace.painted_ms, now));
    if (wait <= 0)
        paint(c);
    else
        c->paint_timer = loop_timer(c->loop, wait, paint_now, c, "paint");
}

/* --- keys and signals -------------------------------------------------------------- */
static void on_key(void *arg, const char *key, const char *paste)
{
    struct json *body = json_new_object();
    json_put_str(body, key ? "key" : "text", key ? key : paste);
    ((struct console *)arg)->key = true;
    apply(arg, msg_new(key ? MSG_KEY : MSG_PASTE, body));
}

static void esc_timeout(void *arg)
{
    struct console *c = arg;
    c->esc_timer = 0;
    input_idle(&c->input);
}

static void read_keys(void *arg, int fd, int events UNUSED)
{
    struct console *c = arg;
    char buf[4096];
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {                /* the terminal is gone */
        loop_stop(c->loop, 128 + SIGHUP);
        return;
    }
    loop_timer_cancel(c->loop, c->esc_timer);
    c->esc_timer = 0;
    input_feed(&c->input, buf, (size_t)n);
    if (input_waiting(&c->input))
        c->esc_timer = loop_timer(c->loop, INPUT_ESC_MS, esc_timeout, c, "escape");
}

static void send_size(struct console *c)
{
    struct json *body = json_new_object();
    int cols, rows;
    term_size(c->tty, &cols, &rows);
    json_put_num(body, "cols", cols);
    json_put_num(body, "rows", rows);
    apply(c, msg_new(MSG_RESIZE, body));
}

/* A window being dragged says so dozens of times a second. */
static void take_size(void *arg)
{
    struct console *c = arg;
    c->size_timer = 0;
    if (c->away)
        return;
    c->pace.resized_ms = clock_ms();
    term_resized(c->tty);
    send_size(c);
}

static void on_signal(void *arg, int signo)
{
    struct console *c = arg;
    switch (signo) {
    case SIGWINCH:
        if (!c->size_timer)
            c->size_timer = loop_timer(c->loop, pace_resize_wait(&c->pace, clock_ms()), take_size,
                                       c, "size");
        break;
    case SIGTSTP:
        c->stopping = true;
        break;
    case SIGCONT:
        if (!c->resumed && !c->away)
            take_back(c);
        c->resumed = false;
        c->dirty = true;
        break;
    case SIGINT:                 /* a terminal in raw mode sends none by itself */
        if (c->away)
            break;
        /* fall through */
    default:
        loop_stop(c->loop, 128 + signo);
    }
}

/* --- what only the console can do ---------------------------------------------------- */
static void editor_poll(void *arg)
{
    struct console *c = arg;
    int code = 0;
    if (!editor_ended(c->editor, &code)) {
        loop_timer(c->loop, CONSOLE_EDITOR_MS, editor_poll, c, "editor");
        return;
    }
    c->away = false;
    term_retake(c->tty);
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_keys, c);
    if (code != 0) {
        char text[320];
        command(c, "note", "bad", str_fmt(text, sizeof text, _("the editor %s ended with %d"),
                                          editor_command(), code));
    }
    send_size(c);
    struct json *body = json_new_object();
    json_put_str(body, "name", "step.check");
    apply(c, msg_new(MSG_COMMAND, body));
}

static void own_editor(struct console *c, const char *path)
{
    struct pd_err err = {0};
    loop_fd_remove(c->loop, STDIN_FILENO);
    give_away(c);
    c->away = true;
    if (editor_start(path, &c->editor, &err) != PD_OK) {
        c->away = false;
        term_retake(c->tty);
        loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_keys, c);
        command(c, "note", "bad", err.msg);
        return;
    }
    loop_timer(c->loop, CONSOLE_EDITOR_MS, editor_poll, c, "editor");
}

static void edit_file(struct console *c, const char *path)
{
    struct pd_err err = {0};
    struct str text;
    if (editor_command()) {
        own_editor(c, path);
        return;
    }
    str_init(&text, EDIT_BYTES_MOST);
    if (path_read(path, EDIT_BYTES_MOST / 2, &text, &err) != PD_OK) {
        command(c, "note", "bad", err.msg);
    } else {
        char *arg = xasprintf("%s\n%s", path, text.p);
        command(c, "edit.open", arg, NULL);
        free(arg);
    }
    str_release(&text);
}

struct later {
    struct console *c;
    enum effect_kind kind;
    char *text;
    int code;
};

static void copy_note(void *arg, bool bad, const char *text)
{
    command(arg, "note", bad ? "bad" : "good", text);
}

static void foreign_later(void *arg)
{
    struct later *l = arg;
    struct console *c = l->c;
    switch ((int)l->kind) {
    case EFF_EDIT:
        edit_file(c, l->text);
        break;
    case EFF_COPY_TEXT:
        clip_copy(c->loop, c->tty, l->text, copy_note, c);
        break;
    case EFF_REDRAW:
        term_repaint(c->tty);
        break;
    case EFF_SUSPEND:
        c->stopping = true;
        break;
    case EFF_BELL:
        term_bell(c->tty);
        break;
    case EFF_TITLE:
        term_title(c->tty, c->app->look.window_title ? l->text : "");
        break;
    case EFF_QUIT:
        loop_stop(c->loop, l->code);
        break;
    }
    c->dirty = true;
    free(l->text);
    free(l);
}

/* Effects are run inside apply: what gives messages of its own waits. */
static void foreign(void *arg, const struct effect *e)
{
    struct console *c = arg;
    struct later *l = xcalloc(1, sizeof *l);
    l->c = c;
    l->kind = e->kind;
    l->text = xstrdup(json_str(e->args, e->kind == EFF_EDIT ? "path" : "text", ""));
    l->code = (int)json_int(e->args, "code", 0);
    loop_defer(c->loop, foreign_later, l);
}

/* --- a credential plugin that asks ------------------------------------------------------- */
static void screen_back(void *arg)
{
    struct console *c = arg;
    c->away = false;
    term_retake(c->tty);
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_keys, c);
    send_size(c);
    c->dirty = true;
}

static bool terminal(void *arg, bool take)
{
    struct console *c = arg;
    if (!take) {
        loop_defer(c->loop, screen_back, c);
        return true;
    }
    if (c->away)
        return false;
    loop_fd_remove(c->loop, STDIN_FILENO);
    give_away(c);
    c->away = true;
    printf("%s\n", _("podium: a program of your kubeconfig asks who you are; the screen comes back "
                     "when it is done (Ctrl-C ends it)."));
    fflush(stdout);
    return true;
}

/* --- beginning and end ----------------------------------------------------------------- */
static void begin(void *arg)
{
    struct console *c = arg;
    start_session(&c->start, c->labs);
}

/* What is known before the first paint. */
static void choose_look(struct console *c, const char *note)
{
    struct look_found found;
    look_find(c->tty, c->o, &found);
    start_command(&c->start, "set.from", "ambiguous", found.wide ? "wide" : "narrow", "auto");
    start_look(&c->start, found.glyphs, found.theme);
    if (*note)
        command(c, "note", "good", note);
}

static void watch_terminal(struct console *c)
{
    static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT};
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        loop_signal(c->loop, signals[i], on_signal, c);
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_keys, c);
    loop_after_turn(c->loop, after_turn, c);
}

static void say_stats(const struct term_stats *s, uint64_t skipped)
{
    double frames = MAX((double)s->frames, 1.0);
    printf(_("frames %llu, skipped turns %llu\n"
             "bytes %llu, a frame %.0f, most %llu\n"
             "cells elided %.1f%%\n"
             "drawing %.2f ms a frame, most %.2f ms\n"
             "longest wait for the terminal %lld ms\n"),
           (unsigned long long)s->frames, (unsigned long long)skipped,
           (unsigned long long)s->bytes, (double)s->bytes / frames, (unsigned long long)s->most,
           100.0 * (1.0 - (double)s->drawn / MAX((double)s->cells, 1.0)),
           (double)s->draw_us / frames / 1000, (double)s->draw_most_us / 1000,
           (long long)s->blocked_ms);
}

static void release(struct console *c)
{
    struct term_stats stats;
    term_stats(c->tty, &stats);
    term_close(c->tty);
    if (c->o->stats)
        say_stats(&stats, c->pace.skipped);
    effects_runner_free(c->runner);
    journal_close(c->journal);
    app_free(c->app);
    lab_list_free(c->labs);
    loop_free(c->loop);
    effects_release(&c->effects);
    input_release(&c->input);
    grid_release(&c->grid);
}

static int complain(const struct pd_err *err, int code)
{
    char buf[1024];
    fprintf(stderr, "podium: %s\n", pd_describe(err, buf, sizeof buf));
    return code;
}

int console_run(const struct console_options *o)
{
    struct console c = {.o = o, .start = {.o = o, .send = deliver, .arg = &c}};
    struct pd_err err = {0};
    char note[160];
    uint64_t seed = (uint64_t)clock_wall_ms() & 0xFFFFFFFFFFFFu;
    if (term_open(&c.tty, note, &err) != PD_OK) {
        char why[sizeof err.msg + 80];
        return plain_run(o, str_fmt(why, sizeof why, _("%s: podium speaks in lines (as with "
                                                       "--plain)."), err.msg));
    }
    c.loop = loop_new();
    c.labs = lab_list_load(o->labs);
    c.app = app_new(session_new(c.labs), c.labs);
    session_set_work(c.app->s, NULL, seed);
    effects_init(&c.effects);
    grid_init(&c.grid, 0, 0);
    input_init(&c.input, on_key, &c);
    pace_init(&c.pace);
    if (start_journal(&c.start, c.app, seed, &c.journal, &err) != PD_OK) {
        release(&c);
        return complain(&err, 2);
    }
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .keep_choices = true, .deliver = deliver, .foreign = foreign,
                                 .terminal = terminal, .arg = &c};
    c.runner = effects_runner_new(c.loop, &eo);
    watch_terminal(&c);
    choose_look(&c, note);
    send_size(&c);
    paint(&c);
    loop_timer(c.loop, 0, begin, &c, "begin");
    int code = loop_run(c.loop);
    release(&c);
    return code;
}
