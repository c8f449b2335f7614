/* invariants.h - what must hold on every screen whatever its golden says: in
 * nine sizes, both languages and all sets of signs. golden.h runs them for each
 * screen that has a golden.
 */
#ifndef TESTS_SCREENS_INVARIANTS_H
#define TESTS_SCREENS_INVARIANTS_H

#include "tests/screens/fixture.h"
#include "tui/panel.h"

typedef void setup_fn(struct app *a);

struct iv {
    const char *what;
    const struct app *a;
    struct grid g;
    struct panes l;
    bool overlay;
};

/* Facts that a person needs of a screen, in every language; `wide`: from 80x24. */
static const struct { const char *what, *fact; bool wide; } iv_facts[] = {
    {"catalogue", "3/4", false}, {"catalogue", "Gaudi", false}, {"catalogue", "04", false},
    {"catalogue", "4/6", true}, {"catalogue", "1, has 8", true},
    {"catalogue-broken", "broken/lab.yaml:3:1", true}, {"catalogue-broken", "titel", false},
    {"question", "Gaudi", false}, {"question", "3", false}, {"question", "class-a/stu-07", false},
    {"settings", "dark", false}, {"settings", "PODIUM_THEME", false},
    {"settings", "--theme", false},
    {"settings", "30", true}, {"messages", "PD-LAB", false}, {"messages", "lab.yaml:7:3", false},
    {"messages", "titel", false}, {"messages", "02:00:00", false},
    {"keys", "lab.open", false}, {"keys", "Enter", false}, {"step", "3/4", false},
    {"step", "lora-gaudi", false}, {"building", "8%", true}, {"building", "train:1.0", false},
    {"curve", "310", true}, {"curve", "0.9", true}, {"curve-large", "310/500", true},
    {"log", "310", false}, {"api", "201", true}, {"api", "Job", false},
    {"down", "refused", true}, {"palette", "train.rate", false},
    {"ctx", "gaudi-lab", false}, {"ctx", "41ms", true}, {"ctx-broken", "nowhere", false},
    {"ns", "stu-07", false}, {"ns-denied", "any", false}, {"conn", "10.0.0.1", false},
    {"conn", "TLSv1.3", true}, {"conn", "ends in 4d", false}, {"rights", "pods/attach", false},
    {"rights", "-create", true}, {"pods-down", "42s old", false},
    {"loading", "9s", false}, {"switching", "class-a/stu-07", false},
    {"editor", "kind: Job", false}, {"editor", "lora-gaudi.yaml", true},
};

NORETURN UNUSED static void iv_fail(const struct iv *v, const char *why, int x, int y)
{
    struct str s;
    str_init(&s, 1 << 20);
    for (int i = 0; i < v->g.rows; i++) {
        grid_row_text(&v->g, i, &s);
        str_addc(&s, '\n');
    }
    t_fail(v->what, 1, "%s at %d,%d of %dx%d, %s, signs %d:\n%s", why, x, y, v->g.cols, v->g.rows,
           i18n_lang(), (int)v->a->glyphs, s.p);
}

UNUSED static const char *iv_at(const struct iv *v, int x, int y)
{
    const struct cell *c = grid_at(&v->g, x, y);
    return c ? c->text : "";
}

UNUSED static bool iv_is(const struct iv *v, int x, int y, enum glyph one, enum glyph two)
{
    const char *t = iv_at(v, x, y);
    return str_eq(t, glyph_of(v->a->glyphs, one)) || str_eq(t, glyph_of(v->a->glyphs, two));
}

/* --- frames: closed, whole, and a blank inside them -------------------------------- */
UNUSED static void iv_frame(const struct iv *v, struct rect r)
{
    int x1 = r.x + r.w - 1, y1 = r.y + r.h - 1;
    if (!iv_is(v, r.x, r.y, G_TL, G_TL2) || !iv_is(v, x1, r.y, G_TR, G_TR2) ||
        !iv_is(v, r.x, y1, G_BL, G_BL2) || !iv_is(v, x1, y1, G_BR, G_BR2))
        iv_fail(v, "a corner is missing", r.x, r.y);
    for (int y = r.y + 1; y < y1; y++) {
        if (!iv_is(v, r.x, y, G_V, G_V2) || !iv_is(v, x1, y, G_V, G_V2))
            iv_fail(v, "the frame is open", x1, y);
        if (!str_eq(iv_at(v, r.x + 1, y), " ") || !str_eq(iv_at(v, x1 - 1, y), " "))
            iv_fail(v, "something touches the frame", x1 - 1, y);
    }
    if (!iv_is(v, x1 - 1, r.y, G_H, G_H2) && !str_eq(iv_at(v, x1 - 1, r.y), " "))
        iv_fail(v, "a heading runs into the corner", x1 - 1, r.y);
}

UNUSED static void iv_frames(const struct iv *v)
{
    for (int i = 0; i < v->l.n && !v->overlay; i++)
        if (v->l.pane[i].border)
            iv_frame(v, v->l.pane[i].outer);
}

/* The box of a help, a question or a list of commands is closed too. */
UNUSED static void iv_overlay(const struct iv *v)
{
    bool boxed = v->a->help || v->a->prompt.kind == PROMPT_CONFIRM;
    bool found = false;
    if (!boxed || v->a->glyphs != GLYPH_UNICODE)
        return;
    for (int y = 0; y < v->g.rows && !found; y++)
        for (int x = 0; x < v->g.cols && !found; x++) {
            int w = 1, h = 1;
            if (!str_eq(iv_at(v, x, y), "╔"))
                continue;
            while (y + h < v->g.rows && str_eq(iv_at(v, x, y + h), "║"))
                h++;
            while (x + w < v->g.cols && !str_eq(iv_at(v, x + w, y), "╗"))
                w++;
            bool closed = x + w < v->g.cols && str_eq(iv_at(v, x, y + h), "╚") &&
                          str_eq(iv_at(v, x + w, y + h), "╝");
            for (int k = 1; k < h && closed; k++)
                closed = str_eq(iv_at(v, x + w, y + k), "║");
            found = closed && w > 20;
        }
    if (!found)
        iv_fail(v, "no closed box", 0, 0);
}

/* --- text: cut only where it doesn't fit --------------------------------------------- */
/* A cut word with nothing but blanks behind it up to the edge had room. */
UNUSED static void iv_cut(const struct iv *v, struct rect r)
{
    const char *more = glyph_of(v->a->glyphs, G_MORE);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            int blanks = 0;
            if (!str_eq(iv_at(v, x, y), more) || v->a->glyphs != GLYPH_UNICODE)
                continue;
            while (x + 1 + blanks < r.x + r.w && str_eq(iv_at(v, x + 1 + blanks, y), " "))
                blanks++;
            if (x + 1 + blanks == r.x + r.w && blanks > 2)
                iv_fail(v, "cut where there is room", x, y);
        }
}

/* " 3-19/35 " in a lower edge: in order, and no more rows than there are. */
UNUSED static void iv_scroll(const struct iv *v, const struct pane *p)
{
    struct str s;
    int from, to, all;
    str_init(&s, 1 << 16);
    grid_row_text(&v->g, p->outer.y + p->outer.h - 1, &s);
    for (const char *at = s.p; (at = strpbrk(at, "0123456789")); at += strspn(at, "0123456789")) {
        if (sscanf(at, "%d-%d/%d ", &from, &to, &all) != 3)
            continue;
        if (from < 1 || from > to || to > all || to - from + 1 > v->g.rows)
            iv_fail(v, "the row numbers don't add up", p->outer.x, p->outer.y + p->outer.h - 1);
    }
    str_release(&s);
}

/* --- the key row is the table ---------------------------------------------------------- */
UNUSED static void iv_key_row(const struct iv *v)
{
    const struct cmd *c[64];
    struct str want, got;
    int n = screen_keys(v->a, c);
    if (v->a->prompt.kind == PROMPT_PALETTE || v->a->prompt.kind == PROMPT_ASK)
        return;
    str_init(&want, 1 << 16);
    str_init(&got, 1 << 16);
    for (int i = 0; i < n; i++) {
        char key[16];
        str_printf(&want, "%s%s %s", i ? "  " : " ",
                   cmd_key_label(cmd_keys(v->a, c[i], app_view(v->a)), key),
                   cmd_label(c[i], v->a));
        if (cmd_for_key(v->a, app_view(v->a), (char[]){0}) != NULL)
            iv_fail(v, "a command without a key", 0, v->g.rows - 1);
    }
    grid_row_text(&v->g, v->g.rows - 1, &got);
    if (strcmp(want.p, got.p) != 0)
        iv_fail(v, want.p, 0, v->g.rows - 1);
    if (n < 1 || utf8_str_width(want.p) > v->g.cols)
        iv_fail(v, "the key row is empty or too long", 0, v->g.rows - 1);
    str_release(&want);
    str_release(&got);
}

/* --- where one is ------------------------------------------------------------------------ */
UNUSED static bool iv_reversed(const struct iv *v, struct rect r)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            if (grid_at(&v->g, x, y)->attr & ATTR_REVERSE)
                return true;
    return false;
}

/* The focus is seen without colour: a double frame, or the tab reversed; so is
 * the selected row. */
UNUSED static void iv_focus(const struct iv *v)
{
    const struct app *a = v->a;
    enum panel_id focus = a->edit.open ? PANEL_EDIT : a->focus;
    const struct pane *p = panes_find(&v->l, focus);
    struct rows rows;
    bool can = false;
    if (v->overlay)
        return;
    if (!p)
        iv_fail(v, "what has the focus is not shown", 0, 0);
    for (int i = 0; i < v->l.n; i++) {
        struct rect r = v->l.pane[i].outer;
        bool twice = str_eq(iv_at(v, r.x, r.y), glyph_of(a->glyphs, G_TL2)) &&
                     str_eq(iv_at(v, r.x, r.y + 1), glyph_of(a->glyphs, G_V2));
        if (v->l.pane[i].border && twice != (v->l.pane[i].panel == focus))
            iv_fail(v, "the focus is not seen", r.x, r.y);
    }
    if (v->l.tabs && !iv_reversed(v, v->l.tab_row))
        iv_fail(v, "no tab is marked", 0, v->l.tab_row.y);
    rows_init(&rows, a->glyphs);
    app_panel_rows(a, p, &rows);
    for (int i = 0; i < rows.n; i++)
        can = can || (rows.v[i].id >= 0 && rows.v[i].id == a->sel[focus]);
    rows_release(&rows);
    if (can && focus != PANEL_LOG && focus != PANEL_EDIT && !iv_reversed(v, p->inner))
        iv_fail(v, "the selected row is not seen", p->inner.x, p->inner.y);
}

UNUSED static void iv_required(const struct iv *v)
{
    struct str s;
    bool wide = v->g.cols >= 80 && v->g.rows >= 24, ascii = v->a->glyphs == GLYPH_ASCII;
    str_init(&s, 1 << 20);
    for (int y = 0; y < v->g.rows; y++) {
        grid_row_text(&v->g, y, &s);
        str_addc(&s, '\n');
    }
    for (size_t i = 0; i < ARRAY_LEN(iv_facts); i++)
        if (str_eq(iv_facts[i].what, v->what) && (wide || (!iv_facts[i].wide && v->g.cols != 41)) &&
            !strstr(s.p, iv_facts[i].fact) && str_eq(i18n_lang(), "en"))
            iv_fail(v, iv_facts[i].fact, 0, 0);
    if (!strstr(s.p, "podium"))
        iv_fail(v, "no title", 0, 0);
    for (const char *p = s.p; ascii && *p; p++)
        if ((unsigned char)*p >= 0x80 && str_starts(p, "─"))
            iv_fail(v, "a sign that ASCII has not", 0, 0);
    str_release(&s);
}

UNUSED static void iv_check(const char *what, const struct app *a)
{
    struct iv v = {.what = what, .a = a, .overlay = a->help || a->prompt.kind != PROMPT_NONE};
    int cx, cy;
    grid_init(&v.g, a->cols, a->rows);
    screen_draw(a, &v.g, &cx, &cy);
    app_layout(a, &v.l);
    if (!v.l.too_small)
        iv_required(&v);
    if (!grid_sound(&v.g))
        iv_fail(&v, "half a character, or a row of another width", 0, 0);
    if (cx >= a->cols || cy >= a->rows)
        iv_fail(&v, "the cursor is outside", cx, cy);
    if (!v.l.too_small) {
        iv_frames(&v);
        iv_overlay(&v);
        for (int i = 0; i < v.l.n && !v.overlay; i++) {
            iv_cut(&v, v.l.pane[i].inner);
            iv_scroll(&v, &v.l.pane[i]);
        }
        iv_cut(&v, v.l.title);
        iv_cut(&v, v.l.message);
        iv_key_row(&v);
        iv_focus(&v);
    }
    grid_release(&v.g);
}

/* --- each key of the row does something ------------------------------------------------- */
UNUSED static void iv_press(const char *what, setup_fn *setup, struct app *a, const char *key)
{
    struct app *b = fx_app(i18n_lang(), a->cols, a->rows, a->glyphs);
    struct str before, after;
    struct effects out;
    struct json *body = json_new_object();
    setup(b);
    fx_screen(b, &before);
    uint64_t generation = b->s->generation;
    json_put_str(body, "key", key);
    struct msg *m = msg_new(MSG_KEY, body);
    m->at_ms = FIXTURE_NOW;
    effects_init(&out);
    str_copy(b->note, sizeof b->note, "");
    app_apply(b, m, &out);
    msg_free(m);
    fx_screen(b, &after);
    char *not_now = xstrndup(_("not now: %s"), strcspn(_("not now: %s"), "%"));
    CHECK_MSG(!b->note[0] || !str_starts(b->note, not_now), "%s: %s: %s", what, key, b->note);
    CHECK_MSG(strcmp(before.p, after.p) != 0 || out.n > 0 || b->s->generation != generation,
              "%s: %s does nothing on\n%s", what, key, before.p);
    free(not_now);
    effects_release(&out);
    str_release(&before);
    str_release(&after);
    fx_free(b);
}

UNUSED static void iv_keys(const char *what, setup_fn *setup, int cols, int rows)
{
    struct app *a = fx_app("en", cols, rows, GLYPH_UNICODE);
    const struct cmd *c[64];
    setup(a);
    int n = screen_keys(a, c);
    bool typing = a->prompt.kind == PROMPT_PALETTE || a->prompt.kind == PROMPT_ASK;
    for (int i = 0; i < n && !typing; i++) {
        char key[32];
        const char *keys = cmd_keys(a, c[i], app_view(a));
        str_copy(key, MIN(sizeof key, strcspn(keys, " ") + 1), keys);
        CHECK(cmd_for_key(a, app_view(a), key) == c[i]);
        if (str_eq(c[i]->name, "op.cancel") && session_priv(a->s)->act.state != ACTION_RUNNING)
            continue;            /* an operation that the test made up */
        if (str_eq(c[i]->name, "back") && a->s->scene.state == SCENE_RUNNING)
            continue;            /* it cancels that */
        iv_press(what, setup, a, key);
    }
    fx_free(a);
}

/* Every size, language and set of signs. */
UNUSED static void iv_all(const char *what, setup_fn *setup)
{
    static const int at[][2] = {{40, 12}, {41, 12}, {79, 23}, {80, 24}, {100, 30}, {119, 39},
                                {120, 40}, {200, 60}, {300, 100}};
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        for (int set = 0; set < GLYPH_SET_COUNT; set++)
            for (int l = 0; l < (set == GLYPH_ASCII ? 1 : 2); l++) {
                struct app *a = fx_app(l ? "zh" : "en", at[i][0], at[i][1], (enum glyph_set)set);
                setup(a);
                iv_check(what, a);
                fx_free(a);
            }
    iv_keys(what, setup, 80, 24);
    iv_keys(what, setup, 40, 12);
}

#endif
