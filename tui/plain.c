/* plain.c - the loop of the console as lines (plain.h): stdin, signals and the
 * session's messages come in, lines go out; neither waits for the other. */
#include "tui/plain.h"

#include <fcntl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/journal.h"
#include "core/base/lines.h"
#include "core/base/utf8.h"
#include "core/io/loop.h"
#include "labs/effects.h"
#include "tui/editor.h"
#include "tui/plain_priv.h"
#include "tui/start.h"

enum { PLAIN_WIDTH = 72, PLAIN_OUT_MOST = 16 << 20, PLAIN_LINE_MOST = 4096, PLAIN_TICK_MS = 500,
       PLAIN_WRITE = 2048, PLAIN_EDITOR_MS = 50, PLAIN_FLUSH_MS = 2000 };

struct console {
    struct loop *loop;
    struct plain p;
    struct lab_list *labs;
    struct journal *journal;
    struct effects_runner *runner;
    struct effects effects;
    struct lines in;
    struct strv typed;           /* lines that wait for their turn */
    size_t typed_at;
    struct str out;              /* wrapped, on its way */
    bool tty_in, tty_out, ascii, writing, ended, prompted, away;
    uint32_t tick;
    int editor;
    char to_edit[512];           /* the file that the person's editor is to open */
    const struct console_options *o;
    struct start start;
};

/* --- out ------------------------------------------------------------------------------ */
int plain_width(void)
{
    struct winsize w;
    int64_t n;
    const char *env = getenv("COLUMNS");
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0)
        return w.ws_col;
    return env && str_to_i64(env, &n) && n > 0 && n < 1000 ? (int)n : PLAIN_WIDTH;
}

static void write_some(void *arg, int fd, int events UNUSED)
{
    struct console *c = arg;
    ssize_t n = write(fd, c->out.p, MIN(c->out.len, (size_t)PLAIN_WRITE));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n < 0) {                 /* nobody reads any more */
        str_clear(&c->out);
        loop_stop(c->loop, 1);
    } else {
        str_consume(&c->out, (size_t)n);
    }
    if (c->out.len == 0) {
        loop_fd_remove(c->loop, fd);
        c->writing = false;
    }
}

static void put(struct console *c, const char *text)
{
    str_add(&c->out, text);
    if (!c->writing && c->out.len) {
        c->writing = true;
        loop_fd(c->loop, STDOUT_FILENO, LOOP_WRITE, write_some, c);
    }
}

/* At the end: what is said should be read, but a reader that is stuck does not
 * hold us. */
static void flush_all(struct console *c)
{
    int64_t until = clock_us() / 1000 + PLAIN_FLUSH_MS;
    while (c->out.len && clock_us() / 1000 < until) {
        struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
        ssize_t n = poll(&p, 1, 100) > 0
                        ? write(STDOUT_FILENO, c->out.p, MIN(c->out.len, (size_t)PLAIN_WRITE))
                        : 0;
        if (n < 0)
            return;
        str_consume(&c->out, (size_t)n);
    }
}

/* A line was typed already and waits to be read: Enter has ended the prompt's
 * line. */
static bool line_waits(const struct console *c)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return c->tty_in && !c->away && poll(&p, 1, 0) > 0;
}

/* What there is to say goes out whole lines at a time. A line that comes while
 * the prompt stands begins below it. */
static void speak(struct console *c)
{
    struct str lines;
    if (c->p.out.len == 0)
        return;
    c->prompted = c->prompted && !line_waits(c);
    str_init(&lines, PLAIN_OUT_MOST);
    plain_wrap(c->p.out.p, c->p.width, c->ascii, &lines);
    str_clear(&c->p.out);
    if (c->prompted)
        put(c, "\n");
    c->prompted = false;
    put(c, lines.p);
    str_release(&lines);
}

static void prompt(struct console *c)
{
    struct str text;
    if (c->prompted || !c->tty_in || !c->tty_out || c->ended || c->away || !plain_free(&c->p) ||
        line_waits(c))
        return;
    str_init(&text, 1024);
    plain_prompt(&c->p, &text);
    put(c, text.p);
    str_release(&text);
    c->prompted = true;
}

/* --- messages --------------------------------------------------------------------------- */
static void apply(void *arg, struct msg *m)
{
    struct console *c = arg;
    if (c->journal)
        journal_write(c->journal, m);
    app_apply(c->p.app, m, &c->effects);
    msg_free(m);
    if (c->runner && c->effects.n > 0)
        effects_run_all(c->runner, &c->effects);
}

static void deliver(void *arg, struct msg *m)
{
    struct console *c = arg;
    apply(c, m);
    plain_look(&c->p);
}

/* The state learns what time it is. */
static void tell_time(struct console *c)
{
    struct json *body = json_new_object();
    json_put_num(body, "wall_ms", (double)clock_wall_ms());
    apply(c, msg_new(MSG_TICK, body));
}

static void tick(void *arg)
{
    struct console *c = arg;
    c->tick = 0;
    tell_time(c);
    plain_look(&c->p);
}

/* The lines typed so far, as long as they need not wait. A script's lines are
 * repeated, so that what comes out can be read by itself. */
static void take_lines(struct console *c)
{
    while (c->typed_at < c->typed.n && !c->away && plain_free(&c->p)) {
        const char *line = c->typed.v[c->typed_at++];
        tell_time(c);
        if (!c->tty_in)
            plain_line(&c->p.out, "> %s", line);
        plain_take(&c->p, line);
        plain_look(&c->p);
        speak(c);
    }
    if (c->typed_at == c->typed.n && c->typed.n) {
        strv_release(&c->typed);
        strv_init(&c->typed);
        c->typed_at = 0;
    }
    if (c->ended && c->typed.n == 0 && plain_free(&c->p))
        c->p.leave = true;
}

/* --- in ------------------------------------------------------------------------------- */
static void typed(void *arg, char *line, size_t len UNUSED, bool cut)
{
    struct console *c = arg;
    struct str clean;
    c->prompted = false;         /* Enter has ended the prompt's line */
    if (cut) {
        plain_line(&c->p.out, "%s", _("That line was too long."));
        return;
    }
    str_init(&clean, 4 * PLAIN_LINE_MOST);
    utf8_clean(line, strlen(line), false, &clean);
    strv_push(&c->typed, clean.p);
    str_release(&clean);
}

static void read_input(void *arg, int fd, int events UNUSED)
{
    struct console *c = arg;
    char buf[4096];
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0) {
        lines_feed(&c->in, buf, (size_t)n, typed, c);
        return;
    }
    lines_end(&c->in, typed, c);
    c->ended = true;
    loop_fd_remove(c->loop, fd);
    if (c->tty_in)               /* Ctrl-D */
        c->p.leave = true;
}

static void interrupt(struct console *c)
{
    struct app *a = c->p.app;
    c->prompted = false;
    put(c, "\n");
    if (c->p.wait.kind)
        plain_wait_stop(&c->p);
    a->note[0] = c->p.say.note[0] = '\0';
    plain_command(&c->p, "interrupt", NULL, NULL);
    plain_look(&c->p);
}

static void on_signal(void *arg, int signo)
{
    struct console *c = arg;
    if (signo == SIGWINCH)
        c->p.width = plain_width();
    else if (signo == SIGINT && !c->away)
        interrupt(c);
    else if (signo != SIGINT)
        loop_stop(c->loop, 128 + signo);
}

/* --- the person's editor ------------------------------------------------------------------ */
static void editor_poll(void *arg)
{
    struct console *c = arg;
    int code = 0;
    if (!editor_ended(c->editor, &code)) {
        loop_timer(c->loop, PLAIN_EDITOR_MS, editor_poll, c, "editor");
        return;
    }
    c->away = false;
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_input, c);
    if (code != 0)
        plain_line(&c->p.out, _("the editor %s ended with %d"), editor_command(), code);
    plain_line(&c->p.out, "%s", _("Back from the editor; the checks look at the file."));
    plain_command(&c->p, "step.check", NULL, NULL);
    plain_look(&c->p);
}

static void start_editor(struct console *c)
{
    struct pd_err err = {0};
    speak(c);
    flush_all(c);
    enum pd_code rc = editor_start(c->to_edit, &c->editor, &err);
    c->to_edit[0] = '\0';
    if (rc != PD_OK) {
        plain_line(&c->p.out, _("Error: %s"), err.msg);
        return;
    }
    c->away = true;
    loop_fd_remove(c->loop, STDIN_FILENO);
    loop_timer(c->loop, PLAIN_EDITOR_MS, editor_poll, c, "editor");
}

/* --- a credential plugin that asks ---------------------------------------------------------- */
static void input_back(void *arg)
{
    struct console *c = arg;
    c->away = false;
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_input, c);
}

static bool terminal(void *arg, bool take)
{
    struct console *c = arg;
    if (!take) {
        loop_defer(c->loop, input_back, c);
        return true;
    }
    if (c->away || !c->tty_in)
        return false;
    flush_all(c);
    c->away = true;
    loop_fd_remove(c->loop, STDIN_FILENO);
    return true;
}

/* Effects are run inside apply: the editor waits for the end of the turn. */
static void foreign(void *arg, const struct effect *e)
{
    struct console *c = arg;
    if (e->kind == EFF_QUIT)
        c->p.leave = true;
    else if (e->kind == EFF_EDIT && c->p.own_editor)
        str_copy(c->to_edit, sizeof c->to_edit, json_str(e->args, "path", ""));
}

static void after_turn(void *arg)
{
    struct console *c = arg;
    take_lines(c);
    if (c->to_edit[0])
        start_editor(c);
    speak(c);
    prompt(c);
    if (c->p.leave)
        loop_stop(c->loop, !c->tty_in && c->p.missed);
    else if (!c->tick && !c->away && (c->p.wait.kind || c->p.tell || cmd_has_op(c->p.app)))
        c->tick = loop_timer(c->loop, PLAIN_TICK_MS, tick, c, "tick");
}

/* --- beginning and end -------------------------------------------------------------------- */
static void begin(void *arg)
{
    struct console *c = arg;
    start_session(&c->start, c->labs);
    if (!c->o->open)
        plain_labs(c->p.app, &c->p.out);
    plain_line(&c->p.out, "%s", _("Type help for the commands, quit to leave."));
    plain_look(&c->p);
    loop_fd(c->loop, STDIN_FILENO, LOOP_READ, read_input, c);
}

static void setup_plain(struct console *c)
{
    c->p.app = app_new(session_new(c->labs), c->labs);
    c->p.send = apply;
    c->p.arg = c;
    c->p.width = plain_width();
    c->p.own_editor = c->tty_in && c->tty_out && editor_command();
    plain_say_init(&c->p.say);
    str_init(&c->p.out, PLAIN_OUT_MOST);
}

static void setup(struct console *c)
{
    static const int signals[] = {SIGWINCH, SIGTERM, SIGHUP, SIGINT};
    c->loop = loop_new();
    c->labs = lab_list_load(c->o->labs);
    c->tty_in = isatty(STDIN_FILENO);
    c->tty_out = isatty(STDOUT_FILENO);
    setup_plain(c);
    str_init(&c->out, PLAIN_OUT_MOST);
    lines_init(&c->in, PLAIN_LINE_MOST);
    strv_init(&c->typed);
    effects_init(&c->effects);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        loop_signal(c->loop, signals[i], on_signal, c);
    loop_after_turn(c->loop, after_turn, c);
    loop_timer(c->loop, 0, begin, c, "begin");
}

static void release(struct console *c)
{
    effects_runner_free(c->runner);
    journal_close(c->journal);
    app_free(c->p.app);
    lab_list_free(c->labs);
    loop_free(c->loop);
    effects_release(&c->effects);
    lines_release(&c->in);
    strv_release(&c->typed);
    free(c->p.old_text);
    str_release(&c->p.out);
    str_release(&c->out);
}

const char *plain_wanted(const struct console_options *o)
{
    const char *term = getenv("TERM");
    if (start_switch(o, SET_PLAIN))
        return "";
    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return N_("podium has no terminal here, so it speaks in lines (as with --plain).");
    if (!term || !*term || str_eq(term, "dumb"))
        return N_("This terminal can't place the cursor, so podium speaks in lines (as with "
                  "--plain).");
    return NULL;
}

/* Until the end; what is said last is about how it came. */
static int converse(struct console *c)
{
    int code = loop_run(c->loop);
    if (code >= 128)
        plain_line(&c->p.out, _("podium was ended by signal %d; what you did is kept."),
                   code - 128);
    else
        plain_line(&c->p.out, "%s", _("podium has ended; what you did is kept."));
    speak(c);
    flush_all(c);
    return code;
}

int plain_run(const struct console_options *o, const char *why)
{
    struct console c = {.o = o, .start = {.o = o, .send = apply, .arg = &c}};
    struct pd_err err = {0};
    char text[1024];
    uint64_t seed = (uint64_t)clock_wall_ms() & 0xFFFFFFFFFFFFu;
    if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
        fprintf(stderr, "%s\n", _("podium: there is neither a terminal nor an input to read from"));
        return 3;
    }
    setup(&c);
    session_set_work(c.p.app->s, NULL, seed);
    if (start_journal(&c.start, c.p.app, seed, &c.journal, &err) != PD_OK) {
        fprintf(stderr, "podium: %s\n", pd_describe(&err, text, sizeof text));
        release(&c);
        return 2;
    }
    struct effects_options eo = {.kubeconfig = o->kubeconfig, .context = o->context, .ns = o->ns,
                                 .keep_choices = true, .deliver = deliver, .foreign = foreign,
                                 .terminal = terminal, .arg = &c};
    c.runner = effects_runner_new(c.loop, &eo);
    /* signs that take one column everywhere, where there is more than ASCII */
    c.ascii = glyph_set_default("") == GLYPH_ASCII;
    start_look(&c.start, c.ascii ? "ascii" : "cjk-safe", NULL);
    if (*why)
        plain_line(&c.p.out, "%s", _(why));
    int code = converse(&c);
    release(&c);
    return code;
}
