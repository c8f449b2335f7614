/* screen.c - state to cells (screen.h). */
#include "tui/screen.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/big.h"
#include "tui/cmd.h"
#include "tui/overlay.h"
#include "tui/panel.h"
#include "tui/text.h"

struct frame {
    const struct app *a;
    struct grid *g;
    struct panes l;
    int cx, cy;
};

static const char *glyph(const struct frame *f, enum glyph g)
{
    return glyph_of(f->a->glyphs, g);
}

/* --- rows into a rectangle ------------------------------------------------------ */
static void draw_row(struct frame *f, const struct row *row, struct rect r, int y, bool selected)
{
    int x = r.x, strong = f->a->look.big ? ATTR_BOLD : 0;
    grid_clip(f->g, r);
    for (int i = 0; i < row->n; i++)
        x += grid_text(f->g, x, y, row->dim ? ROLE_MUTED : row->span[i].role,
                       (row->dim ? 0 : row->span[i].attr) | strong, row->span[i].text);
    grid_unclip(f->g);
    if (selected)
        grid_paint(f->g, (struct rect){r.x - 1, y, r.w + 2, 1}, ATTR_REVERSE);
    else if (row->width > r.w)   /* what is cut is seen to be cut */
        grid_text(f->g, r.x + r.w - 1, y, ROLE_MUTED, 0, glyph(f, G_MORE));
}

/* Where the rows begin so that the selection and what belongs to it show. */
static int first_row(const struct frame *f, const struct pane *p, const struct rows *rows)
{
    int total = rows->n, h = p->inner.h, sel = f->a->sel[p->panel], at = f->a->scroll[p->panel];
    bool focused = f->a->focus == p->panel;
    if (rows->total)
        return 0;
    if (p->panel == PANEL_API && !focused)
        return MAX(total - h, 0);
    for (int i = 0; i < total; i++) {
        if (rows->v[i].id != sel || rows->v[i].id < 0)
            continue;
        int last = i;
        while (last + 1 < total && rows->v[last + 1].id < 0 && rows->v[last + 1].width > 0)
            last++;
        at = 0;
        if (last >= h)
            at = MIN(i, MAX(MIN(last, i + h - 1) - h + 1, 0));
        break;
    }
    return MIN(at, MAX(total - h, 0));
}

int screen_first_row(const struct app *a, const struct pane *p, const struct rows *rows)
{
    const struct frame f = {.a = a};
    return first_row(&f, p, rows);
}

static void scroll_mark(struct frame *f, const struct pane *p, const struct rows *rows, int first)
{
    int total = rows->total ? rows->total : rows->n, at = rows->total ? rows->first : first;
    char buf[64];
    if (!p->border || total <= p->inner.h)
        return;
    str_fmt(buf, sizeof buf, " %d-%d/%d ", at + 1, MIN(at + p->inner.h, total), total);
    int w = utf8_str_width(buf);
    if (w + 4 < p->outer.w)
        grid_text(f->g, p->outer.x + 2, p->outer.y + p->outer.h - 1, ROLE_MUTED, 0, buf);
}

static void draw_rows(struct frame *f, const struct pane *p)
{
    struct rows rows;
    bool focused = f->a->focus == p->panel && !f->a->edit.open;
    rows_init(&rows, f->a->glyphs);
    app_panel_rows(f->a, p, &rows);
    int first = screen_first_row(f->a, p, &rows);
    for (int i = 0; i < p->inner.h && first + i < rows.n; i++) {
        const struct row *row = &rows.v[first + i];
        bool sel = focused && row->id >= 0 && row->id == f->a->sel[p->panel];
        draw_row(f, row, p->inner, p->inner.y + i, sel);
    }
    grid_unclip(f->g);
    scroll_mark(f, p, &rows, first);
    rows_release(&rows);
}

/* --- borders -------------------------------------------------------------------- */
void screen_box(struct grid *g, enum glyph_set set, struct rect r, bool focus)
{
    static const enum glyph one[6] = {G_H, G_V, G_TL, G_TR, G_BL, G_BR};
    static const enum glyph two[6] = {G_H2, G_V2, G_TL2, G_TR2, G_BL2, G_BR2};
    const enum glyph *b = focus ? two : one;
    int role = focus ? ROLE_BORDER_FOCUS : ROLE_BORDER, x1 = r.x + r.w - 1, y1 = r.y + r.h - 1;
    grid_fill(g, (struct rect){r.x, r.y, r.w, 1}, role, 0, glyph_of(set, b[0]));
    grid_fill(g, (struct rect){r.x, y1, r.w, 1}, role, 0, glyph_of(set, b[0]));
    grid_fill(g, (struct rect){r.x, r.y, 1, r.h}, role, 0, glyph_of(set, b[1]));
    grid_fill(g, (struct rect){x1, r.y, 1, r.h}, role, 0, glyph_of(set, b[1]));
    grid_text(g, r.x, r.y, role, 0, glyph_of(set, b[2]));
    grid_text(g, x1, r.y, role, 0, glyph_of(set, b[3]));
    grid_text(g, r.x, y1, role, 0, glyph_of(set, b[4]));
    grid_text(g, x1, y1, role, 0, glyph_of(set, b[5]));
}

void screen_rows(struct grid *g, const struct rows *rows, int first, int n, struct rect r)
{
    grid_clip(g, r);
    for (int i = 0; i < MIN(n, r.h) && first + i < rows->n; i++) {
        const struct row *row = &rows->v[first + i];
        int x = r.x;
        for (int k = 0; k < row->n; k++)
            x += grid_text(g, x, r.y + i, row->span[k].role, row->span[k].attr, row->span[k].text);
    }
    grid_unclip(g);
}

void screen_heading(struct grid *g, enum glyph_set set, struct rect r, int y, bool right,
                    enum role role, const char *text)
{
    struct str s;
    if (!text || !*text || r.w < 8)
        return;
    str_init(&s, 1024);
    str_add(&s, " ");
    text_fit(text, r.w - 6, glyph_of(set, G_MORE), &s);
    str_add(&s, " ");
    int w = utf8_str_width(s.p);
    grid_text(g, right ? r.x + r.w - 2 - w : r.x + 1, y, role, 0, s.p);
    str_release(&s);
}

/* --- tabs ----------------------------------------------------------------------- */
struct tabs {
    enum panel_id at[16];
    int number[16];              /* the key; 0: none */
    int n;
};

static const char *tab_text(const struct tabs *t, int i, bool named, char buf[64])
{
    const char *name = _(panel_of(t->at[i])->tab);
    if (!t->number[i])
        return str_copy(buf, 64, name);
    return named ? str_fmt(buf, 64, "%d %s", t->number[i], name)
                 : str_fmt(buf, 64, "%d", t->number[i]);
}

static int tabs_width(const struct tabs *t, const bool *named)
{
    char buf[64];
    int w = -1;
    for (int i = 0; i < t->n; i++)
        w += utf8_str_width(tab_text(t, i, named[i], buf)) + 1;
    return w;
}

/* The one shown has its name; the others, from the left, as there is room, else
 * their number alone, which is their key. */
static void name_tabs(const struct tabs *t, enum panel_id here, int room, bool *named)
{
    for (int i = 0; i < t->n; i++)
        named[i] = t->at[i] == here;
    for (int i = 0; i < t->n; i++) {
        bool was = named[i];
        named[i] = true;
        if (tabs_width(t, named) > room)
            named[i] = was;
    }
}

static void put_tabs(struct frame *f, const struct tabs *t, enum panel_id here, struct rect r,
                     int attr)
{
    bool named[16];
    int x = r.x;
    name_tabs(t, here, r.w, named);
    grid_clip(f->g, r);
    for (int i = 0; i < t->n; i++) {
        char buf[64];
        bool on = t->at[i] == here;
        x += grid_text(f->g, x, r.y, on ? ROLE_STRONG : ROLE_MUTED, on ? attr : 0,
                       tab_text(t, i, named[i], buf));
        if (i < t->n - 1)
            x += grid_text(f->g, x, r.y, ROLE_MUTED, 0, " ");
    }
    grid_unclip(f->g);
}

static void add_tab(struct tabs *t, enum panel_id panel, int number)
{
    t->at[t->n] = panel;
    t->number[t->n++] = number;
}

static void add_lab_tabs(struct tabs *t)
{
    for (int p = TAB_FIRST; p <= (int)TAB_LAST; p++)
        add_tab(t, (enum panel_id)p, p - TAB_FIRST + 1);
}

/* The tabs in the border of the second pane: numbers are the keys. */
static bool tab_heading(struct frame *f, const struct pane *p)
{
    const struct app *a = f->a;
    struct tabs t = {.n = 0};
    if (!a->s->lab || a->zoom || f->l.n < 2 || p != &f->l.pane[1] || a->edit.open)
        return false;
    add_lab_tabs(&t);
    struct rect r = {p->outer.x + 2, p->outer.y, p->outer.w - 4, 1};
    bool named[16];
    name_tabs(&t, p->panel, r.w, named);
    grid_fill(f->g, (struct rect){r.x - 1, r.y, MIN(tabs_width(&t, named), r.w) + 2, 1}, ROLE_MUTED,
              0, " ");
    put_tabs(f, &t, p->panel, r, ATTR_UNDERLINE);
    return true;
}

static void draw_pane(struct frame *f, const struct pane *p)
{
    const struct panel *ops = panel_of(p->panel);
    char buf[160];
    bool focus = p->panel == (f->a->edit.open ? PANEL_EDIT : f->a->focus);
    if (p->border) {
        screen_box(f->g, f->a->glyphs, p->outer, focus);
        if (!tab_heading(f, p) && ops->title)
            screen_heading(f->g, f->a->glyphs, p->outer, p->outer.y, false,
                           focus ? ROLE_STRONG : ROLE_HEAD, ops->title(f->a, buf));
    }
    draw_rows(f, p);
    if (p->border && ops->foot)
        screen_heading(f->g, f->a->glyphs, p->outer, p->outer.y + p->outer.h - 1, true, ROLE_MUTED,
                       ops->foot(f->a, buf));
}

/* --- title ---------------------------------------------------------------------- */
/* How the link is; what it took to answer, or how long it has been silent. */
static int link_mark(const struct frame *f, char buf[96], enum role *role)
{
    static const struct { enum glyph g; const char *word; enum role role; } table[] = {
        [LINK_OFF] = {G_OPEN, N_("no cluster"), ROLE_MUTED},
        [LINK_CONNECTING] = {G_WAIT, N_("connecting"), ROLE_RUN},
        [LINK_UP] = {G_LIVE, N_("live"), ROLE_OK},
        [LINK_DOWN] = {G_FAIL, N_("no link"), ROLE_FAIL}};
    const struct cluster_state *k = &f->a->s->cluster;
    char more[32] = "", age[16];
    if (k->link == LINK_UP && k->latency_ms > 0 && f->a->cols >= 60)
        str_fmt(more, sizeof more, " %dms", (int)MIN(k->latency_ms, 99999));
    else if (k->link == LINK_DOWN && k->last_ok_ms > 0)
        str_fmt(more, sizeof more, " %s", panel_age(f->a, k->last_ok_ms, age));
    bool login = k->link == LINK_CONNECTING && k->login[0];
    *role = table[k->link].role;
    str_fmt(buf, 96, "%s %s%s", glyph(f, table[k->link].g),
            login ? _("logging in") : _(table[k->link].word), more);
    return utf8_str_width(buf);
}

/* "text │" so that it ends before column x; returns where it begins. */
static int title_before(struct frame *f, int x, enum role role, const char *text)
{
    x -= utf8_str_width(text) + 3;
    grid_text(f->g, x, f->l.title.y, role, 0, text);
    grid_text(f->g, x + utf8_str_width(text) + 1, f->l.title.y, ROLE_BORDER, 0, glyph(f, G_V));
    return x;
}

static int title_right(struct frame *f)
{
    const struct app *a = f->a;
    const struct cluster_state *k = &a->s->cluster;
    char mark[96], where[280], clock[16];
    enum role role;
    int y = f->l.title.y, w = link_mark(f, mark, &role), x = a->cols - 1;
    if (a->look.clock && a->cols >= 60 && a->now_ms > 0) {
        panel_clock(a, a->now_ms, false, clock);
        x -= utf8_str_width(clock);
        grid_text(f->g, x, y, ROLE_TITLE, 0, clock);
        x = title_before(f, x, role, mark);
    } else {
        x -= w;
        grid_text(f->g, x, y, role, 0, mark);
    }
    if (k->context[0] && a->cols >= 60) {
        struct str s;
        str_init(&s, 512);
        str_fmt(where, sizeof where, "%s/%s", k->context, k->ns);
        text_fit(where, a->cols / 3, glyph(f, G_MORE), &s);
        x = title_before(f, x, ROLE_TITLE, s.p);
        str_release(&s);
    }
    return x;
}

static int title_part(struct frame *f, int x, int end, enum role role, const char *text)
{
    struct str s;
    if (end - x < 6)
        return x;
    grid_text(f->g, x + 1, f->l.title.y, ROLE_BORDER, 0, glyph(f, G_V));
    str_init(&s, 512);
    text_fit(text, end - x - 3, glyph(f, G_MORE), &s);
    x += 3 + grid_text(f->g, x + 3, f->l.title.y, role, 0, s.p);
    str_release(&s);
    return x;
}

static void draw_title(struct frame *f)
{
    const struct app *a = f->a;
    char buf[160];
    int end = title_right(f) - 1;
    int x = 1 + grid_text(f->g, 1, f->l.title.y, ROLE_BRAND, 0, "podium");
    if (a->replay)
        x += 1 + grid_text(f->g, x + 1, f->l.title.y, ROLE_REPLAY, 0, _(" REPLAY - NOT LIVE "));
    if (!a->s->lab) {
        title_part(f, x, end, ROLE_TITLE, _("Labs"));
        return;
    }
    str_fmt(buf, sizeof buf, a->cols < 60 ? "%d/%d" : _("step %d/%d"), a->s->step + 1,
            a->s->lab->steps_n);
    x = title_part(f, x, end - utf8_str_width(buf) - 4, ROLE_STRONG,
                   ltext_get(&a->s->lab->title));
    title_part(f, x, end, ROLE_TITLE, buf);
}

static void draw_tabs(struct frame *f)
{
    struct tabs t = {.n = 0};
    if (f->a->s->lab) {
        add_tab(&t, PANEL_STEP, 0);
        add_lab_tabs(&t);
    } else {
        add_tab(&t, PANEL_CATALOGUE, 0);
        add_tab(&t, PANEL_ABOUT, 0);
    }
    put_tabs(f, &t, f->a->focus, f->l.tab_row, ATTR_REVERSE);
}

/* --- the last two rows ------------------------------------------------------------ */
/* The running operation in a few words, for where its bar is not on show. */
static const char *op_text(const struct app *a, char buf[640])
{
    const struct op *op = &a->s->op;
    if (op->total > 0)
        return str_fmt(buf, 640, "%s %.0f%%", op->what, 100 * op->done / op->total);
    return str_fmt(buf, 640, "%s  %s", op->what, op->text);
}

/* "! more": an error stands in full elsewhere. */
static const char *more_text(const struct app *a, char buf[64])
{
    char key[16];
    const struct cmd *c = cmd_by_name("messages");
    const char *keys = cmd_keys(a, c, app_view(a));
    bool here = (c->views & app_view(a)) && keys[0] && app_view(a) != VIEW_MESSAGES;
    return here ? str_fmt(buf, 64, "%s %s", cmd_key_label(keys, key), _("more")) : "";
}

static void draw_message(struct frame *f)
{
    const struct app *a = f->a;
    const struct session *s = a->s;
    int y = f->l.message.y;
    char buf[640], buf2[64];
    const char *more = "";
    bool own = a->note[0] != '\0', busy = !own && cmd_has_op(a) && (s->op.what[0] || s->op.text[0]);
    bool bad = own ? a->note_bad : !busy && s->message_code != PD_OK;
    const char *text = own ? a->note : busy ? op_text(a, buf) : s->message;
    struct rows rows;
    rows_init(&rows, a->glyphs);
    rows_new(&rows, -1);
    rows_put(&rows, ROLE_TEXT, " ");
    if (text[0]) {
        more = bad ? more_text(a, buf2) : "";
        rows_sign(&rows, busy ? ROLE_RUN : bad ? ROLE_FAIL : ROLE_OK,
                  busy ? G_WAIT : bad ? G_FAIL : G_DOT);
        rows_put(&rows, ROLE_TEXT, " ");
        int room = a->cols - 4 - (*more ? utf8_str_width(more) + 2 : 0);
        rows_cell(&rows, bad ? ROLE_FAIL : ROLE_STATUS, text, room);
        rows_put(&rows, ROLE_KEY, *more ? "  " : "");
        rows_put(&rows, ROLE_KEY, more);
    }
    draw_row(f, &rows.v[0], f->l.message, y, false);
    rows_release(&rows);
}

/* Commands of the key row in their order, those that work now. */
static int key_commands(const struct app *a, const struct cmd *out[64])
{
    enum view view = app_view(a);
    int n = 0;
    for (int rank = 1; rank <= 40; rank++)
        for (size_t i = 0; i < cmd_count() && n < 64; i++) {
            const struct cmd *c = cmd_at(i);
            if (c->rank == rank && (c->row & view) && cmd_enabled(c, a) &&
                cmd_keys(a, c, view)[0])
                out[n++] = c;
        }
    return n;
}

static const char *key_text(const struct app *a, const struct cmd *c, char buf[16])
{
    return cmd_key_label(cmd_keys(a, c, app_view(a)), buf);
}

static int key_width(const struct cmd *c, const struct app *a)
{
    char buf[16];
    return utf8_str_width(key_text(a, c, buf)) + 1 + utf8_str_width(cmd_label(c, a)) + 2;
}

/* What does not fit is dropped from the middle: the first keys are of this
 * step, the last ones always help on. */
int screen_keys(const struct app *a, const struct cmd *out[64])
{
    const struct cmd *v[64];
    int n = key_commands(a, v), tail = MIN(n, 3), total = 0, x = 1, shown = 0;
    if (a->cols < 60 && n > 3) {         /* help says the rest, and the way out stays */
        v[n - 3] = v[n - 2];
        v[n - 2] = v[n - 1];
        n--;
        tail = 2;
    }
    for (int i = 0; i < tail; i++)
        total += key_width(v[n - 1 - i], a);
    for (int i = 0; i < n; i++) {
        int w = key_width(v[i], a);
        if (i < n - tail && x + w + total - 2 > a->cols)
            continue;
        out[shown++] = v[i];
        x += w;
    }
    return shown;
}

static void draw_keys(struct frame *f)
{
    const struct cmd *v[64];
    int n = screen_keys(f->a, v), x = 1, y = f->l.keys.y;
    for (int i = 0; i < n; i++) {
        char buf[16];
        x += grid_text(f->g, x, y, ROLE_KEY, 0, key_text(f->a, v[i], buf));
        x += 1 + grid_text(f->g, x + 1, y, ROLE_MUTED, 0, cmd_label(v[i], f->a)) + 2;
    }
}

static void too_small(struct frame *f)
{
    char buf[96];
    str_fmt(buf, sizeof buf, _("need %dx%d, have %dx%d"), PANES_COLS_LEAST, PANES_ROWS_LEAST,
            f->a->cols, f->a->rows);
    grid_text(f->g, 0, 0, ROLE_WARN, 0, buf);
}

static void editor_cursor(struct frame *f)
{
    const struct pane *p = panes_find(&f->l, PANEL_EDIT);
    struct rows rows;
    if (!p || !f->a->edit.open)
        return;
    rows_init(&rows, f->a->glyphs);
    edit_rows(&f->a->edit, &rows, p->inner.w, p->inner.h, &f->cx, &f->cy);
    f->cx += p->inner.x;
    f->cy += p->inner.y;
    rows_release(&rows);
}

static void shell_cursor(struct frame *f)
{
    const struct pane *p = panes_find(&f->l, PANEL_SHELL);
    const struct shell *s = &f->a->shell;
    struct rows rows;
    if (!p || !s->term || s->state == SHELL_ENDED || app_view(f->a) != VIEW_SHELL)
        return;
    rows_init(&rows, f->a->glyphs);
    shell_term_rows(s->term, s->back, &rows, &f->cx, &f->cy);
    if (f->cx >= 0) {
        f->cx += p->inner.x;
        f->cy += p->inner.y;
    }
    rows_release(&rows);
}

/* The numbers of big mode, and the keys that were pressed. */
static void draw_big(struct frame *f)
{
    struct rows rows;
    rows_init(&rows, f->a->glyphs);
    if (f->l.banner.h)
        big_banner(f->a, &rows, f->l.banner.w);
    for (int i = 0; i < rows.n; i++)
        draw_row(f, &rows.v[i], f->l.banner, f->l.banner.y + i, false);
    rows_clear(&rows);
    if (f->l.pressed.h) {
        big_pressed(f->a, &rows, f->l.pressed.w);
        draw_row(f, &rows.v[0], f->l.pressed, f->l.pressed.y, false);
    }
    rows_release(&rows);
}

void screen_draw(const struct app *a, struct grid *g, int *cx, int *cy)
{
    struct frame f = {.a = a, .g = g, .cx = -1, .cy = -1};
    if (g->cols != a->cols || g->rows != a->rows)
        grid_resize(g, a->cols, a->rows);
    grid_clear(g);
    app_layout(a, &f.l);
    if (f.l.too_small) {
        too_small(&f);
    } else {
        draw_title(&f);
        if (f.l.tabs)
            draw_tabs(&f);
        for (int i = 0; i < f.l.n; i++)
            draw_pane(&f, &f.l.pane[i]);
        draw_big(&f);
        draw_message(&f);
        draw_keys(&f);
        editor_cursor(&f);
        shell_cursor(&f);
        overlay_draw(a, g, &f.cx, &f.cy);
    }
    *cx = f.cx;
    *cy = f.cy;
}
