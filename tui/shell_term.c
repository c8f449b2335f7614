/* shell_term.c - a terminal inside a pane, by libvterm (shell_term.h). */
#include "tui/shell_term.h"

#include <vterm.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/grid.h"

enum { OUT_MAX = 1 << 20, CELLS_MOST = 400000, SEQ_MAX = 96 };

struct line {
    struct cell *cell;
    int n;
};

struct shell_term {
    VTerm *vt;
    VTermScreen *screen;
    int cols, rows;
    bool cursor;
    struct line line[SHELL_TERM_HISTORY];    /* a ring: `first` is the oldest */
    int first, n;
    size_t cells;                            /* in all lines */
    struct str out;
    /* of the filter before libvterm */
    enum { GROUND, ESCAPE, SEQUENCE, STRING, STRING_ESCAPE } state;
    char seq[SEQ_MAX];                       /* a CSI sequence so far */
    int seq_n;
    struct utf8_feed utf8;
    char last[8];                            /* the last character with a width; "": none */
};

/* --- cells ---------------------------------------------------------------------- */

/* The eight colours of terminals, as what they mostly mean. */
static enum role role_of_index(int i)
{
    static const enum role roles[8] = {ROLE_MUTED, ROLE_FAIL, ROLE_OK, ROLE_WARN,
                                       ROLE_RUN, ROLE_HINT, ROLE_KEY, ROLE_TEXT};
    return i == 8 ? ROLE_MUTED : roles[i & 7];
}

/* The nearest of the eight: which of red, green and blue are strong in it. */
static enum role role_of_rgb(int r, int g, int b)
{
    int most = MAX(MAX(r, g), b), least = MIN(MIN(r, g), b);
    if (most - least < 48)
        return most < 128 ? ROLE_MUTED : ROLE_TEXT;
    int half = (most + least) / 2;
    return role_of_index((r > half) | (g > half) << 1 | (b > half) << 2);
}

static enum role role_of(const struct shell_term *t, VTermColor c)
{
    if (VTERM_COLOR_IS_DEFAULT_FG(&c) || VTERM_COLOR_IS_DEFAULT_BG(&c))
        return ROLE_TEXT;
    if (VTERM_COLOR_IS_INDEXED(&c) && c.indexed.idx < 16)
        return role_of_index(c.indexed.idx);
    vterm_screen_convert_color_to_rgb(t->screen, &c);
    return role_of_rgb(c.rgb.red, c.rgb.green, c.rgb.blue);
}

static bool is_black(const VTermColor *c)
{
    return VTERM_COLOR_IS_DEFAULT_BG(c) ||
           (VTERM_COLOR_IS_INDEXED(c) && (c->indexed.idx == 0 || c->indexed.idx == 16)) ||
           (VTERM_COLOR_IS_RGB(c) && !c->rgb.red && !c->rgb.green && !c->rgb.blue);
}

/* Its text in exactly the columns that the program thinks it has. */
static void text_of(const VTermScreenCell *v, int width, char out[GRID_CLUSTER])
{
    size_t n = 0;
    int have = 0;
    for (int i = 0; i < VTERM_MAX_CHARS_PER_CELL && v->chars[i]; i++) {
        char c[4];
        int w = utf8_width(v->chars[i]), k = utf8_encode(v->chars[i], c);
        if (w < 0 || v->chars[i] > 0x10ffff || n + (size_t)k + 2 >= GRID_CLUSTER)
            break;
        if (have + w > width) {
            n = 0;
            have = 0;
            break;
        }
        memcpy(out + n, c, (size_t)k);
        n += (size_t)k;
        have += w;
    }
    for (; have < width; have++)
        out[n++] = ' ';
    out[n] = '\0';
}

static struct cell cell_of(const struct shell_term *t, const VTermScreenCell *v)
{
    struct cell c = {.width = v->width == 2 ? 2 : 1};
    bool ground = !is_black(&v->bg);
    text_of(v, c.width, c.text);
    c.role = (uint8_t)role_of(t, ground ? v->bg : v->fg);
    c.attr = (uint8_t)((v->attrs.bold ? ATTR_BOLD : 0) | (v->attrs.underline ? ATTR_UNDERLINE : 0) |
                       ((v->attrs.reverse ^ ground) ? ATTR_REVERSE : 0));
    return c;
}

static bool is_blank(const struct cell *c)
{
    return str_eq(c->text, " ") && !(c->attr & (ATTR_REVERSE | ATTR_UNDERLINE));
}

/* A cell that nothing was written to. */
static bool is_nothing(const VTermScreenCell *v)
{
    return v->chars[0] == 0 && !v->attrs.reverse && !v->attrs.underline && is_black(&v->bg);
}

/* --- what scrolled off ------------------------------------------------------------- */

static void drop_oldest(struct shell_term *t)
{
    struct line *l = &t->line[t->first];
    t->cells -= (size_t)l->n;
    free(l->cell);
    *l = (struct line){NULL, 0};
    t->first = (t->first + 1) % SHELL_TERM_HISTORY;
    t->n--;
}

static int on_line(int cols, const VTermScreenCell *cells, void *arg)
{
    struct shell_term *t = arg;
    int used = cols, last = 0;
    while (used > 0 && is_nothing(&cells[used - 1]))
        used--;
    struct line l = {xcalloc((size_t)used + 1, sizeof *l.cell), 0};
    for (int x = 0; x < used; x += cells[x].width == 2 ? 2 : 1) {
        l.cell[l.n] = cell_of(t, &cells[x]);
        last = is_blank(&l.cell[l.n++]) ? last : l.n;
    }
    l.n = last;
    while (t->n == SHELL_TERM_HISTORY || (t->n > 0 && t->cells > CELLS_MOST))
        drop_oldest(t);
    t->line[(t->first + t->n++) % SHELL_TERM_HISTORY] = l;
    t->cells += (size_t)l.n;
    return 1;
}

static int on_prop(VTermProp prop, VTermValue *val, void *arg)
{
    struct shell_term *t = arg;
    if (prop == VTERM_PROP_CURSORVISIBLE)
        t->cursor = val->boolean;
    return 1;
}

static void on_out(const char *p, size_t n, void *arg)
{
    struct shell_term *t = arg;
    str_append(&t->out, p, n);
}

/* --- life ----------------------------------------------------------------------------- */

static int bounded(int v)
{
    return MIN(MAX(v, SHELL_TERM_LEAST), SHELL_TERM_MOST);
}

struct shell_term *shell_term_new(int cols, int rows)
{
    static const VTermScreenCallbacks calls = {.settermprop = on_prop, .sb_pushline = on_line};
    struct shell_term *t = xcalloc(1, sizeof *t);
    t->cols = bounded(cols);
    t->rows = bounded(rows);
    t->cursor = true;
    str_init(&t->out, OUT_MAX);
    t->vt = vterm_new(t->rows, t->cols);
    if (!t->vt)
        PD_BUG("out of memory");
    vterm_set_utf8(t->vt, 1);
    vterm_output_set_callback(t->vt, on_out, t);
    t->screen = vterm_obtain_screen(t->vt);
    vterm_screen_enable_altscreen(t->screen, 1);
    vterm_screen_set_callbacks(t->screen, &calls, t);
    vterm_screen_set_damage_merge(t->screen, VTERM_DAMAGE_SCROLL);
    vterm_screen_reset(t->screen, 1);
    return t;
}

void shell_term_free(struct shell_term *t)
{
    if (!t)
        return;
    while (t->n > 0)
        drop_oldest(t);
    vterm_free(t->vt);
    str_release(&t->out);
    free(t);
}

void shell_term_size(const struct shell_term *t, int *cols, int *rows)
{
    *cols = t->cols;
    *rows = t->rows;
}

void shell_term_resize(struct shell_term *t, int cols, int rows)
{
    t->cols = bounded(cols);
    t->rows = bounded(rows);
    vterm_set_size(t->vt, t->rows, t->cols);
}

/* --- before libvterm ---------------------------------------------------------------
 * libvterm 0.1.4 never comes back from "repeat the last character" (CSI b) when that
 * one has no width: a program in a container could stop the console for good. So
 * sequences are held until they are whole, and that one is carried out here. */

static void repeat(struct shell_term *t)
{
    int n = t->seq[2] >= '0' && t->seq[2] <= '9' ? atoi(t->seq + 2) : 1;
    size_t len = strlen(t->last);
    for (n = MIN(MAX(n, 1), t->cols); n > 0 && len > 0; n--)
        vterm_input_write(t->vt, t->last, len);
}

static void end_sequence(struct shell_term *t, char final)
{
    t->state = GROUND;
    t->seq[t->seq_n] = '\0';
    if (t->seq_n == SEQ_MAX - 1)             /* longer than any that means something */
        return;
    if (final == 'b' && strspn(t->seq + 2, "0123456789;:") == (size_t)t->seq_n - 3)
        repeat(t);
    else if (final != 'b')
        vterm_input_write(t->vt, t->seq, (size_t)t->seq_n);
}

static void in_sequence(struct shell_term *t, char c)
{
    unsigned char b = (unsigned char)c;
    if (c == 0x1b || c == 0x18 || c == 0x1a) {
        t->state = c == 0x1b ? ESCAPE : GROUND;
    } else if (b >= 0x20 && b <= 0x7e) {
        if (t->seq_n < SEQ_MAX - 1)
            t->seq[t->seq_n++] = c;
        if (b >= 0x40)
            end_sequence(t, c);
    }
}

static void after_escape(struct shell_term *t, char c)
{
    static const char strings[] = "]PX^_";
    if (c == 0x1b)
        return;
    t->state = GROUND;
    if (c == '[') {
        t->state = SEQUENCE;
        t->seq_n = 2;
        memcpy(t->seq, "\033[", 2);
        return;
    }
    if (c && strchr(strings, c))
        t->state = STRING;
    vterm_input_write(t->vt, (char[2]){0x1b, c}, 2);
}

static void in_string(struct shell_term *t, char c)
{
    bool ends = c == 0x07 || c == 0x18 || c == 0x1a || (t->state == STRING_ESCAPE && c == '\\');
    if (c == 0x1b) {
        t->state = STRING_ESCAPE;
        return;
    }
    if (t->state == STRING_ESCAPE && !ends) {    /* another sequence broke it off */
        vterm_input_write(t->vt, "\030", 1);
        t->state = ESCAPE;
        after_escape(t, c);
        return;
    }
    if (t->state == STRING_ESCAPE)
        vterm_input_write(t->vt, "\033", 1);
    t->state = ends ? GROUND : STRING;
    vterm_input_write(t->vt, &c, 1);
}

/* Plain bytes as far as they go; returns how many. */
static size_t in_ground(struct shell_term *t, const char *p, size_t n)
{
    size_t i = 0;
    for (; i < n && p[i] != 0x1b; i++) {
        uint32_t cp;
        enum utf8_got got = utf8_push(&t->utf8, (unsigned char)p[i], &cp);
        if (got != UTF8_CHAR || utf8_width(cp) < 1)
            continue;
        t->last[utf8_encode(cp, t->last)] = '\0';
    }
    if (i > 0)
        vterm_input_write(t->vt, p, i);
    if (i < n) {
        t->state = ESCAPE;
        i++;
    }
    return i;
}

void shell_term_feed(struct shell_term *t, const void *bytes, size_t n)
{
    const char *p = bytes;
    for (size_t i = 0; i < n;) {
        if (t->state == GROUND) {
            i += in_ground(t, p + i, n - i);
        } else {
            char c = p[i++];
            if (t->state == ESCAPE)
                after_escape(t, c);
            else if (t->state == SEQUENCE)
                in_sequence(t, c);
            else
                in_string(t, c);
        }
    }
}

struct str *shell_term_out(struct shell_term *t)
{
    return &t->out;
}

int shell_term_history(const struct shell_term *t)
{
    return t->n;
}

/* --- keys ----------------------------------------------------------------------------- */

static const struct { const char *name; VTermKey key; } keys[] = {
    {"Enter", VTERM_KEY_ENTER}, {"Tab", VTERM_KEY_TAB}, {"Backspace", VTERM_KEY_BACKSPACE},
    {"Esc", VTERM_KEY_ESCAPE}, {"Up", VTERM_KEY_UP}, {"Down", VTERM_KEY_DOWN},
    {"Left", VTERM_KEY_LEFT}, {"Right", VTERM_KEY_RIGHT}, {"Ins", VTERM_KEY_INS},
    {"Del", VTERM_KEY_DEL}, {"Home", VTERM_KEY_HOME}, {"End", VTERM_KEY_END},
    {"PgUp", VTERM_KEY_PAGEUP}, {"PgDn", VTERM_KEY_PAGEDOWN}};

static VTermKey special(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_eq(name, keys[i].name))
            return keys[i].key;
    int64_t n;
    bool f = name[0] == 'F' && name[1] && str_to_i64(name + 1, &n) && n >= 1 && n <= 12;
    return f ? (VTermKey)VTERM_KEY_FUNCTION(n) : VTERM_KEY_NONE;
}

/* A control character, or the text itself; Alt is an ESC before it. */
static bool plain(struct shell_term *t, const char *name, VTermModifier mod)
{
    const char *text = str_eq(name, "Space") ? " " : name;
    int len = 0;
    if (!*text)
        return false;
    utf8_decode(text, strlen(text), &len);
    if (text[len])
        return false;
    if (mod & VTERM_MOD_ALT)
        str_addc(&t->out, 0x1b);
    if (!(mod & VTERM_MOD_CTRL))
        return str_append(&t->out, text, (size_t)len);
    char c = *text >= 'a' && *text <= 'z' ? (char)(*text - 32) : *text;
    return str_addc(&t->out, (char)(c & 0x1f));
}

bool shell_term_key(struct shell_term *t, const char *name)
{
    int mod = VTERM_MOD_NONE;
    for (; name[0] && name[1] == '-' && name[2]; name += 2) {
        if (name[0] == 'C')
            mod |= VTERM_MOD_CTRL;
        else if (name[0] == 'M')
            mod |= VTERM_MOD_ALT;
        else if (name[0] == 'S')
            mod |= VTERM_MOD_SHIFT;
        else
            break;
    }
    VTermKey key = special(name);
    if (key == VTERM_KEY_NONE)
        return plain(t, name, (VTermModifier)mod);
    vterm_keyboard_key(t->vt, key, (VTermModifier)mod);
    return true;
}

/* A paste can't end its own bracket. */
void shell_term_paste(struct shell_term *t, const char *text)
{
    vterm_keyboard_start_paste(t->vt);
    for (const char *p = text; *p; p++)
        if (*p != 0x1b)
            str_addc(&t->out, *p == '\n' ? '\r' : *p);
    vterm_keyboard_end_paste(t->vt);
}

/* --- rows ----------------------------------------------------------------------------- */

struct run {
    struct rows *out;
    struct str text;
    int role, attr;
};

static void end_run(struct run *r)
{
    if (r->text.len == 0)
        return;
    rows_put(r->out, (enum role)r->role, r->text.p);
    struct row *row = &r->out->v[r->out->n - 1];
    row->span[row->n - 1].attr = (uint8_t)r->attr;
    str_clear(&r->text);
}

static void put_cell(struct run *r, const struct cell *c)
{
    if (c->role != r->role || c->attr != r->attr)
        end_run(r);
    r->role = c->role;
    r->attr = c->attr;
    str_add(&r->text, c->text);
}

static void put_line(const struct shell_term *t, struct run *r, const struct line *l)
{
    int width = 0;
    for (int i = 0; i < l->n && width + l->cell[i].width <= t->cols; i++) {
        put_cell(r, &l->cell[i]);
        width += l->cell[i].width;
    }
}

static void put_screen(const struct shell_term *t, struct run *r, int y)
{
    for (int x = 0; x < t->cols;) {
        VTermScreenCell v;
        if (!vterm_screen_get_cell(t->screen, (VTermPos){y, x}, &v))
            break;
        struct cell c = cell_of(t, &v);
        if (x + c.width > t->cols)
            str_copy(c.text, sizeof c.text, " ");
        put_cell(r, &c);
        x += c.width;
    }
}

void shell_term_rows(const struct shell_term *t, int back, struct rows *out, int *cx, int *cy)
{
    struct run r = {.out = out};
    VTermPos at;
    str_init(&r.text, 1 << 16);
    back = MIN(MAX(back, 0), t->n);
    for (int i = 0; i < t->rows; i++) {
        int line = t->n - back + i;
        rows_new(out, -1);
        if (line < t->n)
            put_line(t, &r, &t->line[(t->first + line) % SHELL_TERM_HISTORY]);
        else
            put_screen(t, &r, line - t->n);
        end_run(&r);
    }
    str_release(&r.text);
    vterm_state_get_cursorpos(vterm_obtain_state(t->vt), &at);
    bool shown = t->cursor && at.row + back < t->rows && at.col < t->cols;
    *cx = shown ? at.col : -1;
    *cy = shown ? at.row + back : -1;
}
