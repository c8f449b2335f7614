/* term.c - ncurses as a differ of cells (term.h).
 *
 * ncurses gets each changed cell once a frame, left to right, as a cchar_t made
 * here: explicit box signs instead of ACS, no erase, no writes over half a wide
 * character, because those three are where it goes wrong. It writes into a
 * file in memory; the line itself is tui/wire.c's. */
#include "tui/term.h"

#include <curses.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/utf8.h"
#include "tui/kind.h"
#include "tui/sgr.h"
#include "tui/wire.h"

enum { TERM_PAIRS = 200, TERM_COPY_MOST = 74994, TERM_ASK_MS = 200 };

struct tty {
    SCREEN *screen;
    FILE *memory;                /* what ncurses writes to */
    struct wire wire;
    struct sgr sgr;
    struct str frame, raw;
    char name[64];
    int colours;
    struct grid shown;           /* the last frame */
    bool all;                    /* draw every cell */
    const struct theme *theme;   /* of the last frame */
    char theme_name[64];
    bool ascii;
    int cx, cy;
    struct { int fg, bg; } pair[TERM_PAIRS];
    int pairs;
    int role_pair[ROLE_COUNT];   /* of the theme; -1: not asked for yet */
    bool mouse, paste, sync, titled;
    struct term_stats stats;
};

/* --- bytes that ncurses made ------------------------------------------------- */
/* Take them out of the file in memory, reduced, into t->frame. */
static void collect(struct tty *t)
{
    int fd = fileno(t->memory);
    off_t n = lseek(fd, 0, SEEK_END);
    str_clear(&t->raw);
    str_clear(&t->frame);
    for (off_t at = 0; at < n;) {
        char buf[16384];
        ssize_t got = pread(fd, buf, sizeof buf, at);
        if (got <= 0)
            break;
        str_append(&t->raw, buf, (size_t)got);
        at += got;
    }
    if (ftruncate(fd, 0) == 0)
        lseek(fd, 0, SEEK_SET);
    sgr_squeeze(&t->sgr, t->raw.p, t->raw.len, &t->frame);
}

static void send(struct tty *t, bool bracket)
{
    collect(t);
    if (t->frame.len == 0)
        return;
    bracket = bracket && t->sync;
    if (bracket)
        wire_say(&t->wire, "\033[?2026h");
    wire_put(&t->wire, t->frame.p, t->frame.len);
    if (bracket)
        wire_say(&t->wire, "\033[?2026l");
}

static const char *capability(const char *name)
{
    const char *s = tigetstr(name);
    return s && s != (char *)-1 ? s : NULL;
}

/* How the screen is given back, for wire.c: without delays, which a handler
 * can't wait for. */
static void take_line(struct tty *t)
{
    static const char *const names[] = {"cnorm", "rmcup", "sgr0"};
    char back[256] = "";
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *s = capability(names[i]);
        if (s && !strchr(s, '$') && strlen(back) + strlen(s) < sizeof back - 16)
            strncat(back, s, sizeof back - strlen(back) - 1);
    }
    if (t->titled)
        strncat(back, "\033[23;2t", sizeof back - strlen(back) - 1);
    if (!capability("rmcup"))    /* else the main screen comes back where it was */
        strncat(back, "\r\n", sizeof back - strlen(back) - 1);
    wire_enter(&t->wire, back);
}

/* --- opening --------------------------------------------------------------- */
static bool known(const char *name)
{
    int code;
    return name && *name && setupterm(name, STDOUT_FILENO, &code) == OK;
}

static bool can_place_cursor(void)
{
    return capability("cup") != NULL;
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

/* The entry that writes any colour, when the terminal says that it shows them. */
static void true_colour_name(const char *name, char out[64])
{
    char direct[64];
    if (kind_direct(name, direct) && known(direct) && tigetnum("colors") > 256)
        name = direct;
    str_copy(out, 64, name);
    known(out);
}

static void set_modes(void)
{
    typeahead(-1);
    curs_set(0);
    scrollok(stdscr, FALSE);
}

static enum pd_code refuse(struct pd_err *err)
{
    const char *env = getenv("TERM");
    pd_fail(err, PD_UNSUPPORTED, _("the terminal (TERM=%s) can't place the cursor"),
            env ? env : "");
    return pd_set_hint(err, "%s", _("set TERM to what it is, or: podium lab run ID --headless"));
}

/* ncurses on a file in memory; the size is the terminal's. */
static bool open_screen(struct tty *t, const char *name)
{
    int fd = memfd_create("podium-frame", MFD_CLOEXEC);
    unsetenv("LINES");           /* they would outlive the size they tell */
    unsetenv("COLUMNS");
    true_colour_name(name, t->name);
    t->memory = fd >= 0 ? fdopen(fd, "w+") : NULL;
    t->screen = t->memory ? newterm(t->name, t->memory, stdin) : NULL;
    if (!t->screen)
        return false;
    if (has_colors() && start_color() == OK) {
        use_default_colors();
        t->colours = COLORS;     /* known only now */
    }
    return true;
}

enum pd_code term_open(struct tty **out, char note[160], struct pd_err *err)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
        pd_fail(err, PD_UNSUPPORTED, _("the console needs a terminal on its input and output"));
        return pd_set_hint(err, "%s", _("without one: podium lab run ID --headless"));
    }
    const char *name = choose_name(note);
    if (!name || !can_place_cursor())
        return refuse(err);
    struct tty *t = xcalloc(1, sizeof *t);
    wire_open(&t->wire);
    str_init(&t->raw, WIRE_PENDING_MOST);
    str_init(&t->frame, WIRE_PENDING_MOST);
    sgr_init(&t->sgr);
    if (!open_screen(t, name)) {
        wire_close(&t->wire);
        free(t);
        return pd_fail(err, PD_UNSUPPORTED, _("the terminal '%s' can't be opened"), name);
    }
    take_line(t);
    set_modes();
    t->cx = t->cy = -1;
    t->sync = kind_takes_sync();
    term_resized(t);
    *out = t;
    return PD_OK;
}

/* The screen as it was; the line as it was. */
static void hand_back(struct tty *t)
{
    term_mouse(t, false);
    term_paste(t, false);
    term_title(t, "");
    endwin();
    send(t, false);
    if (!capability("rmcup"))
        wire_say(&t->wire, "\r\n");
    wire_leave(&t->wire);
}

void term_close(struct tty *t)
{
    if (!t)
        return;
    hand_back(t);
    wire_close(&t->wire);
    delscreen(t->screen);
    fclose(t->memory);
    grid_release(&t->shown);
    str_release(&t->raw);
    str_release(&t->frame);
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
static int pair_for(struct tty *t, int fg, int bg)
{
    if (t->colours < 8 || (fg < 0 && bg < 0))
        return 0;
    for (int i = 0; i < t->pairs; i++)
        if (t->pair[i].fg == fg && t->pair[i].bg == bg)
            return i + 1;
    if (t->pairs >= TERM_PAIRS || t->pairs + 1 >= COLOR_PAIRS)
        return 0;
    t->pair[t->pairs].fg = fg;
    t->pair[t->pairs].bg = bg;
    t->pairs++;
    init_extended_pair(t->pairs, fg, bg);
    return t->pairs;
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

/* A selected cell looks selected, whatever else it is: one bar, one style. */
static const struct theme_style *style_of(const struct tty *t, const struct cell *c, int *role)
{
    *role = c->attr & ATTR_REVERSE ? ROLE_SELECT : c->role;
    return &t->theme->style[*role];
}

/* One wide character that ncurses would measure otherwise, or that the set
 * lacks, becomes one that it knows and a blank: its columns stay. */
static void paint_cell(void *arg, int x, int y, const struct cell *c)
{
    struct tty *t = arg;
    int role;
    const struct theme_style *s = style_of(t, c, &role);
    attr_t attr = attributes(role == c->role ? s->attr | c->attr : s->attr);
    if (t->colours < 8 && s->bg.rgb != t->theme->style[ROLE_TEXT].bg.rgb)
        attr |= A_REVERSE;       /* what a background would have said */
    int *pair = &t->role_pair[role];
    if (*pair < 0)
        *pair = pair_for(t, theme_index(&s->fg, t->colours), theme_index(&s->bg, t->colours));
    wchar_t text[CCHARW_MAX + 1];
    if (t->ascii || !cell_chars(c, text))
        cell_ascii(c, text);
    cchar_t cc;
    setcchar(&cc, text, attr, 0, pair);
    mvadd_wch(y, x, &cc);
    if (c->width == 2 && wcwidth(text[0]) == 1) {
        setcchar(&cc, t->ascii ? text : L" ", attr, 0, pair);
        mvadd_wch(y, x + 1, &cc);
    }
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

static void count(struct tty *t, const struct grid *g, int changed, int64_t from)
{
    int64_t us = clock_us() - from;
    struct term_stats *s = &t->stats;
    if (t->frame.len == 0)
        return;
    s->frames++;
    s->bytes += t->frame.len;
    s->most = MAX(s->most, t->frame.len);
    s->cells += (uint64_t)(g->cols * g->rows);
    s->drawn += (uint64_t)changed;
    s->draw_us += us;
    s->draw_most_us = MAX(s->draw_most_us, us);
}

void term_paint(struct tty *t, const struct grid *g, const struct theme *th, bool ascii, int cx,
                int cy)
{
    int64_t from = clock_us();
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
    send(t, true);
    count(t, g, changed, from);
    grid_copy(&t->shown, g);
}

bool term_busy(const struct tty *t)
{
    return wire_busy(&t->wire);
}

int term_fd(const struct tty *t)
{
    return t->wire.fd;
}

int64_t term_flush(struct tty *t)
{
    return wire_flush(&t->wire);
}

void term_settle(struct tty *t)
{
    enum { PATIENCE_MS = 1000 };
    wire_drain(&t->wire, PATIENCE_MS);
}

void term_stats(const struct tty *t, struct term_stats *out)
{
    *out = t->stats;
    out->blocked_ms = t->wire.blocked_ms;
}

/* --- modes ------------------------------------------------------------------------ */
static void mode(struct tty *t, bool *is, bool on, const char *set, const char *reset)
{
    if (*is == on)
        return;
    *is = on;
    wire_say(&t->wire, on ? set : reset);
}

void term_mouse(struct tty *t, bool on)
{
    mode(t, &t->mouse, on, "\033[?1000h\033[?1006h", "\033[?1006l\033[?1000l");
}

void term_paste(struct tty *t, bool on)
{
    mode(t, &t->paste, on, "\033[?2004h", "\033[?2004l");
}

void term_sync(struct tty *t, bool on)
{
    t->sync = on;
}

void term_title(struct tty *t, const char *text)
{
    struct str s;
    if (!kind_keeps_title(t->name) || (!*text && !t->titled))
        return;
    if (!*text) {
        t->titled = false;
        wire_say(&t->wire, "\033[23;2t");
        return;
    }
    str_init(&s, 1024);
    str_add(&s, t->titled ? "\033]2;" : "\033[22;2t\033]2;");
    utf8_clean(text, MIN(strlen(text), (size_t)200), false, &s);
    str_add(&s, "\033\\");
    wire_put(&t->wire, s.p, s.len);
    str_release(&s);
    if (!t->titled) {
        t->titled = true;
        take_line(t);
    }
}

void term_bell(struct tty *t)
{
    wire_say(&t->wire, "\007");
}

/* --- giving the terminal away ------------------------------------------------ */
void term_release(struct tty *t)
{
    hand_back(t);
}

void term_retake(struct tty *t)
{
    take_line(t);
    set_modes();
    t->cx = t->cy = -1;
    sgr_init(&t->sgr);
    refresh();
    term_resized(t);
    term_repaint(t);
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

bool term_copy(struct tty *t, const char *text)
{
    struct str s;
    str_init(&s, TERM_COPY_MOST + 32);
    str_add(&s, "\033]52;c;");
    base64(text, strlen(text), &s);
    bool fits = s.len <= TERM_COPY_MOST && str_add(&s, "\007");
    if (fits)
        wire_put(&t->wire, s.p, s.len);
    str_release(&s);
    return fits;
}

/* --- questions ------------------------------------------------------------------ */
/* The device's answer to DA1 ends every question: what stands before it is the
 * answer, and nothing is left over for the keys. */
static const char *ask(struct tty *t, const char *question, char answer[256])
{
    size_t n = wire_ask(&t->wire, question, 'c', TERM_ASK_MS, answer, 256);
    return n > 0 ? answer : NULL;
}

int term_ask_ambiguous(struct tty *t)
{
    char answer[256];
    const char *s = ask(t, "\r\342\224\200\033[6n\r\033[K\033[c", answer);
    const char *at = s ? strstr(s, "\033[") : NULL;
    int row = 0, col = 0;
    t->all = true;
    if (!at || sscanf(at, "\033[%d;%dR", &row, &col) != 2)
        return 0;
    return col == 3 ? 2 : col == 2 ? 1 : 0;
}

int term_ask_light(struct tty *t)
{
    char answer[256];
    const char *s = ask(t, "\033]11;?\033\\\033[c", answer);
    const char *at = s ? strstr(s, "rgb:") : NULL;
    unsigned r, g, b;
    if (!at || sscanf(at, "rgb:%x/%x/%x", &r, &g, &b) != 3)
        return -1;
    int shift = strcspn(at + 4, "/") > 2 ? 8 : 0;
    int32_t rgb = (int32_t)(((r >> shift) & 255) << 16 | ((g >> shift) & 255) << 8 |
                            ((b >> shift) & 255));
    return theme_contrast(rgb, 0x000000) > theme_contrast(rgb, 0xffffff);
}
