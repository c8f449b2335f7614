/* shell_term.c - a terminal inside a pane, by libvterm (shell_term.h). */
#include "tui/shell_term.h"

#include <vterm.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/grid.h"

enum { OUT_MAX = 1 << 20, CELLS_MOST = 400000 };

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
    struct line l = {xcalloc((size_t)cols + 1, sizeof *l.cell), 0};
    int last = 0;
    for (int x = 0; x < cols; x += cells[x].width == 2 ? 2 : 1) {
        l.cell[l.n] = cell_of(t, &cells[x]);
        last = is_blank(&l.cell[l.n++]) ? last : l.n;
    }
    l.n = last;
    l.cell = xrealloc(l.cell, ((size_t)l.n + 1) * sizeof *l.cell);
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

void shell_term_feed(struct shell_term *t, const void *p, size_t n)
{
    vterm_input_write(t->vt, p, n);
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
