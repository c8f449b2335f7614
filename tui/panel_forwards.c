/* panel_forwards.c - the port-forwards as a table; what troubles the selected
 * one below it. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/columns.h"
#include "tui/panel.h"
#include "tui/panel_list.h"

enum { C_FROM, C_POD, C_PORT, C_CONNS, C_SENT, C_GOT, C_AGE, C_COUNT };

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("Port-forwards (%d)"), a->forwards.n);
}

static const char *amount(int64_t n, char buf[24])
{
    if (n < 10000)
        return str_fmt(buf, 24, "%d B", (int)n);
    if (n < 10000000)
        return str_fmt(buf, 24, "%d kB", (int)(n / 1000));
    return str_fmt(buf, 24, "%.1f MB", (double)n / 1e6);
}

static void columns(const struct app *a, int w, struct column c[C_COUNT])
{
    const struct column all[C_COUNT] = {
        {_("HERE"), 15, 15, 100, false, 0}, {_("POD"), 10, 10, 100, false, 0},
        {_("PORT"), 5, 5, 100, true, 0},    {_("OPEN/ALL"), 8, 8, 50, true, 0},
        {_("SENT"), 8, 9, 30, true, 0},     {_("RECEIVED"), 8, 9, 40, true, 0},
        {_("AGE"), 4, 5, 20, true, 0}};
    memcpy(c, all, sizeof all);
    for (int i = 0; i < a->forwards.n; i++)
        c[C_POD].want = MAX(c[C_POD].want, MIN(utf8_str_width(a->forwards.v[i].pod), 60));
    for (int i = 0; i < C_COUNT; i++) {
        c[i].least = MAX(c[i].least, utf8_str_width(c[i].head));
        c[i].want = MAX(c[i].want, c[i].least);
    }
    columns_fit(c, C_COUNT, w - 2);
}

static void one(const struct app *a, struct rows *out, const struct forward *f,
                const struct column *c, int id)
{
    static const struct { enum glyph g; enum role role; } signs[] = {
        [FORWARD_OPENING] = {G_WAIT, ROLE_RUN}, [FORWARD_OPEN] = {G_LIVE, ROLE_OK},
        [FORWARD_FAILED] = {G_FAIL, ROLE_FAIL}};
    char buf[64];
    bool warn = f->state == FORWARD_OPEN && f->trouble[0];
    rows_new(out, id);
    rows_sign(out, warn ? ROLE_WARN : signs[f->state].role, signs[f->state].g);
    rows_put(out, ROLE_TEXT, " ");
    str_fmt(buf, sizeof buf, "127.0.0.1:%d", f->local);
    columns_cell(c, C_FROM, out, ROLE_STRONG, buf, false);
    columns_cell(c, C_POD, out, ROLE_TEXT, panel_list_clean(out, f->pod), true);
    str_fmt(buf, sizeof buf, "%d", f->remote);
    columns_cell(c, C_PORT, out, ROLE_TEXT, buf, false);
    str_fmt(buf, sizeof buf, "%d/%d", f->open, f->total);
    columns_cell(c, C_CONNS, out, f->open ? ROLE_OK : ROLE_MUTED, buf, false);
    columns_cell(c, C_SENT, out, ROLE_MUTED, amount(f->sent, buf), false);
    columns_cell(c, C_GOT, out, ROLE_MUTED, amount(f->received, buf), false);
    columns_cell(c, C_AGE, out, ROLE_MUTED, panel_age(a, f->began_ms, buf), false);
}

static void detail(struct rows *out, const struct forward *f, int w)
{
    if (f->failed)
        rows_linef(out, ROLE_WARN, _(" %d connections failed"), f->failed);
    if (f->trouble[0])
        rows_wrap(out, f->state == FORWARD_FAILED ? ROLE_FAIL : ROLE_WARN, 1, f->trouble, w - 1);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    struct column c[C_COUNT];
    int sel = a->sel[PANEL_FORWARDS];
    panel_list_small(a, out, title);
    if (a->forwards.n == 0) {
        rows_wrap(out, ROLE_MUTED, 0, _("No port of this machine leads into a pod. F on a pod "
                                        "starts one."), w);
        return;
    }
    columns(a, w, c);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, "  ");
    columns_heads(c, C_COUNT, out);
    for (int i = 0; i < a->forwards.n; i++)
        one(a, out, &a->forwards.v[i], c, i);
    rows_blank(out);
    if (sel >= 0 && sel < a->forwards.n)
        detail(out, &a->forwards.v[sel], w);
}

static bool ages(const struct app *a)
{
    return a->forwards.n > 0;
}

const struct panel panel_forwards = {title, rows, NULL, ages, N_("Forwards")};
