/* term.c - ncurses as a differ of cells (term.h).
 *
 * ncurses gets each changed cell once a frame, left to right, as a cchar_t made
 * here: explicit box signs instead of ACS, no erase, no writes over half a wide
 * character, because those three are where it goes wrong. */
#include "tui/term.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/utf8.h"

enum { TERM_PAIRS = 60, TERM_COPY_MOST = 74994 };

#define TERM_TITLE_BACK "\033[23;2t"

struct tty {
    SCREEN *screen;
    bool titled;                 /* the window's title is ours */
    FILE *out;
    char name[64];
    int colours;
    struct grid shown;           /* the last frame */
    bool all;                    /* draw every cell */
    const struct theme *theme;   /* of the last frame */
    char theme_name[64];
    bool ascii;
    int cx, cy;
    struct { short fg, bg; } pair[TERM_PAIRS];
    int pairs;
    short role_pair[ROLE_COUNT]; /* of the theme; -1: not asked for yet */
};

/* What a signal handler needs: prepared while all is well. */
static struct {
    volatile sig_atomic_t armed;
    struct termios before;
    char bytes[256];
    size_t n;
} rescue;

static void restore_now(void)
{
    if (!rescue.armed)
        return;
    rescue.armed = 0;
    ssize_t ignored = write(STDOUT_FILENO, rescue.bytes, rescue.n);
    (void)ignored;
    tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
}

static void on_crash(int signo)
{
    restore_now();
    signal(signo, SIG_DFL);
    raise(signo);
}

static void catch_crashes(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    struct sigaction sa = {.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER)};
    sigemptyset(&sa.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        sigaction(signals[i], &sa, NULL);
    pd_on_die(restore_now);
}

static void rescue_add(const char *s)
{
    size_t n = s && s != (char *)-1 ? strlen(s) : 0;
    if (n > 0 && rescue.n + n < sizeof rescue.bytes && !strchr(s, '$')) {
        memcpy(rescue.bytes + rescue.n, s, n);
        rescue.n += n;
    }
}

static void arm(void)
{
    rescue.n = 0;
    rescue_add("\033[?2004l");
    rescue_add(tigetstr("cnorm"));
    rescue_add(tigetstr("rmcup"));
    rescue_add(tigetstr("sgr0"));
    rescue_add("\r\n");
    if (tigetstr("rmcup"))
        rescue.n -= 2;           /* the main screen comes back where it was */
    rescue.armed = 1;
}

/* --- opening --------------------------------------------------------------- */
static bool known(const char *name)
{
    int code;
    return name && *name && setupterm(name, STDOUT_FILENO, &code) == OK;
}

static bool can_place_cursor(void)
{
    char *cup = tigetstr("cup");
    return cup && cup != (char *)-1;
}

static const char *choose_name(char note[160])
{
    static const char *const spare[] = {"xterm-256color", "xterm", "vt100"};
    const char *name = getenv("TERM");
    note[0] = '\0';
    if (known(name))
        return name;
    for (size_t i = 0; i < ARRAY_LEN(spare); i++) {
        if (known(spare[i])) {
            snprintf(note, 160, _("TERM=%s is not known here; used %s"), name ? name : "",
                     spare[i]);
            return spare[i];
        }
    }
    return NULL;
}

static void set_modes(void)
{
    raw();
    noecho();
    nonl();
    intrflush(NULL, FALSE);
    typeahead(-1);
    curs_set(0);
    scrollok(stdscr, FALSE);
}

enum pd_code term_open(struct tty **out, char note[160], struct pd_err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        pd_fail(err, PD_UNSUPPORTED, _("the console needs a terminal on its input and output"));
        return pd_set_hint(err, "%s", _("without one: podium lab run ID --headless"));
    }
    const char *name = choose_name(note);
    if (!name || !can_place_cursor()) {
        const char *env = getenv("TERM");
        pd_fail(err, PD_UNSUPPORTED, _("the terminal (TERM=%s) can't place the cursor"),
                env ? env : "");
        return pd_set_hint(err, "%s",
                           _("set TERM to what it is, or: podium lab run ID --headless"));
    }
    tcgetattr(STDIN_FILENO, &rescue.before);
    unsetenv("LINES");
    unsetenv("COLUMNS");
    struct tty *t = xcalloc(1, sizeof *t);
    str_copy(t->name, sizeof t->name, name);
    t->screen = newterm(t->name, stdout, stdin);
    if (!t->screen) {
        free(t);
        return pd_fail(err, PD_UNSUPPORTED, _("the terminal '%s' can't be opened"), name);
    }
    catch_crashes();
    arm();
    set_modes();
    if (has_colors() && start_color() == OK) {
        use_default_colors();
        t->colours = COLORS;     /* known only now */
    }
    t->all = true;
    t->cx = t->cy = -1;
    *out = t;
    return PD_OK;
}

void term_close(struct tty *t)
{
    if (!t)
        return;
    endwin();
    if (t->titled)
        term_title(t, "");
    rescue.armed = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &rescue.before);
    delscreen(t->screen);
    grid_release(&t->shown);
    free(t);
}

void term_size(const struct tty *t UNUSED, int *cols, int *rows)
{
    *cols = COLS;
    *rows = LINES;
}

int term_colours(const struct tty *t)
{
    return t->colours;
}

const char *term_name(const struct tty *t)
{
    return t->name;
}

void term_resized(struct tty *t)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) != 0 || ws.ws_col == 0 || ws.ws_row == 0)
        return;
    resizeterm(ws.ws_row, ws.ws_col);
    term_repaint(t);
}

void term_repaint(struct tty *t)
{
    t->all = true;
}

/* --- painting -------------------------------------------------------------- */
static short pair_for(struct tty *t, int fg, int bg)
{
    if (t->colours < 8 || (fg < 0 && bg < 0))
        return 0;
    for (int i = 0; i < t->pairs; i++)
        if (t->pair[i].fg == fg && t->pair[i].bg == bg)
            return (short)(i + 1);
    if (t->pairs >= TERM_PAIRS || t->pairs + 1 >= COLOR_PAIRS)
        return 0;
    t->pair[t->pairs].fg = (short)fg;
    t->pair[t->pairs].bg = (short)bg;
    t->pairs++;
    init_pair((short)t->pairs, (short)fg, (short)bg);
    return (short)t->pairs;
}

static attr_t attributes(unsigned bits)
{
    attr_t a = A_NORMAL;
    if (bits & ATTR_BOLD)
        a |= A_BOLD;
    if (bits & ATTR_UNDERLINE)
        a |= A_UNDERLINE;
    if (bits & ATTR_REVERSE)
        a |= A_REVERSE;
    return a;
}

/* The characters of a cell; false when libc measures them differently than
 * podium's table, so that ncurses would lose count of the columns. */
static bool cell_chars(const struct cell *c, wchar_t out[CCHARW_MAX + 1])
{
    size_t n = strlen(c->text), at = 0;
    int k = 0, len;
    while (at < n && k < CCHARW_MAX) {
        out[k] = (wchar_t)utf8_decode(c->text + at, n - at, &len);
        at += (size_t)len;
        if (wcwidth(out[k]) != (k == 0 ? c->width : 0))
            return false;
        k++;
    }
    out[k] = 0;
    return k > 0;
}

static void cell_ascii(const struct cell *c, wchar_t out[CCHARW_MAX + 1])
{
    int len;
    out[0] = glyph_to_ascii(utf8_decode(c->text, strlen(c->text), &len));
    out[1] = 0;
}

static void paint_cell(void *arg, int x, int y, const struct cell *c)
{
    struct tty *t = arg;
    const struct theme_style *s = &t->theme->style[c->role];
    attr_t attr = attributes(s->attr | c->attr);
    short *pair = &t->role_pair[c->role];
    if (*pair < 0)
        *pair = pair_for(t, theme_index(&s->fg, t->colours), theme_index(&s->bg, t->colours));
    wchar_t text[CCHARW_MAX + 1];
    int times = 1;
    if (t->ascii)
        cell_ascii(c, text);
    else if (!cell_chars(c, text))
        wcscpy(text, L"?");
    if (text[0] < 0x80)
        times = c->width;        /* a replaced wide character keeps its columns */
    cchar_t cc;
    setcchar(&cc, text, attr, *pair, NULL);
    for (int i = 0; i < times; i++)
        mvadd_wch(y, x + i, &cc);
}

static void look_changed(struct tty *t, const struct theme *th, bool ascii)
{
    bool other = strcmp(th->name, t->theme_name) != 0;
    for (int r = 0; other && r < ROLE_COUNT; r++)
        t->role_pair[r] = -1;
    if (ascii != t->ascii || other)
        t->all = true;
    t->ascii = ascii;
    t->theme = th;
    str_copy(t->theme_name, sizeof t->theme_name, th->name);
}

void term_paint(struct tty *t, const struct grid *g, const struct theme *th, bool ascii, int cx,
                int cy)
{
    look_changed(t, th, ascii);
    bool moved = cx != t->cx || cy != t->cy;
    bool all = t->all;
    if (all)
        clearok(stdscr, TRUE);
    int changed = grid_diff(all ? NULL : &t->shown, g, paint_cell, t);
    t->all = false;
    if (changed == 0 && !moved && !all)
        return;
    if (moved)
        curs_set(cx >= 0 ? 1 : 0);
    t->cx = cx;
    t->cy = cy;
    if (cx >= 0)
        move(cy, cx);
    wnoutrefresh(stdscr);
    doupdate();
    grid_copy(&t->shown, g);
}

/* --- giving the terminal away ------------------------------------------------ */
void term_release(struct tty *t UNUSED)
{
    def_prog_mode();
    endwin();
    if (t->titled)
        term_title(t, "");
    rescue.armed = 0;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &rescue.before);
}

void term_retake(struct tty *t)
{
    reset_prog_mode();
    arm();
    set_modes();
    term_resized(t);
    t->cx = t->cy = -1;
    refresh();
    term_repaint(t);
}

void term_stop(struct tty *t)
{
    term_release(t);
    kill(0, SIGSTOP);
    term_retake(t);
}

static void base64(const char *text, size_t n, struct str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = 0;
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < n ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            str_addc(out, i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

bool term_copy(struct tty *t UNUSED, const char *text)
{
    struct str s;
    str_init(&s, TERM_COPY_MOST + 32);
    str_add(&s, "\033]52;c;");
    base64(text, strlen(text), &s);
    bool fits = s.len <= TERM_COPY_MOST && str_add(&s, "\007");
    if (fits)
        fits = write(STDOUT_FILENO, s.p, s.len) == (ssize_t)s.len;
    str_release(&s);
    return fits;
}

static void say_bytes(const char *text)
{
    ssize_t ignored = write(STDOUT_FILENO, text, strlen(text));
    (void)ignored;
}

void term_bell(struct tty *t UNUSED)
{
    say_bytes("\a");
}

/* Terminals that keep window titles on a stack, by the beginning of their name. */
static bool has_title(const struct tty *t)
{
    static const char *const names[] = {"xterm", "tmux", "rxvt", "foot", "alacritty", "ghostty",
                                        "wezterm", "kitty", "vte", "gnome"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_starts(t->name, names[i]))
            return true;
    return false;
}

void term_title(struct tty *t, const char *text)
{
    struct str s;
    if (!has_title(t))
        return;
    str_init(&s, 1024);
    if (!t->titled)
        str_add(&s, "\033[22;2t");
    if (!t->titled && !*text)
        str_clear(&s);
    else if (!*text)
        str_add(&s, TERM_TITLE_BACK);
    else
        str_add(&s, "\033]2;"), utf8_clean(text, strlen(text), false, &s), str_addc(&s, '\007');
    t->titled = *text != '\0';
    say_bytes(s.p);
    str_release(&s);
}
