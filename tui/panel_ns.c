/* panel_ns.c - the namespaces to choose from: the kubeconfig's, those used
 * before, those the server lists where that is allowed, and any name that is
 * typed. What may be done in one is asked for when it is selected. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/columns.h"
#include "tui/panel.h"
#include "tui/panel_list.h"
#include "tui/pick.h"

enum { C_NAME, C_FROM, C_PODS, C_LOGS, C_RUN, C_COUNT };

static const char *title(const struct app *a, char buf[160])
{
    const struct conn *c = &a->s->conn;
    str_fmt(buf, 160, _("Namespaces %s  %d"), a->s->cluster.context, (int)c->ns_n);
    if (a->pick.find[0]) {
        size_t n = strlen(buf);
        str_fmt(buf + n, 160 - n, _("  filter: %s"), a->pick.find);
    }
    return buf;
}

static const char *from(const struct conn_ns *n)
{
    if (n->own)
        return _("kubeconfig");
    if (n->ending)
        return _("being deleted");
    return n->used ? _("used before") : _("listed");
}

static void may(const struct conn_ns *n, enum conn_may m, const struct column *c, int col,
                struct rows *out)
{
    static const char *const words[] = {N_("?"), N_("yes"), N_("no")};
    static const enum role roles[] = {ROLE_MUTED, ROLE_OK, ROLE_WARN};
    const char *text = n->probe == PROBE_NONE    ? ""
                       : n->probe == PROBE_ASKED ? glyph_of(out->glyphs, G_MORE)
                                                 : _(words[m]);
    columns_cell(c, col, out, roles[m], text, false);
}

static void ns_row(const struct app *a, struct rows *out, const struct conn_ns *n,
                   const struct column *c, int id)
{
    bool here = str_eq(n->name, a->s->cluster.ns);
    rows_new(out, id);
    rows_sign(out, here ? ROLE_OK : ROLE_MUTED, here ? G_LIVE : G_DOT);
    rows_put(out, ROLE_TEXT, " ");
    columns_cell(c, C_NAME, out, here ? ROLE_STRONG : ROLE_TEXT, n->name, true);
    columns_cell(c, C_FROM, out, ROLE_MUTED, from(n), false);
    for (int i = 0; i < CONN_NS_MAY; i++)
        may(n, n->may[i], c, C_PODS + i, out);
}

static void columns(const struct pick_spaces *l, int w, struct column c[C_COUNT])
{
    const struct column all[C_COUNT] = {{_("NAMESPACE"), 12, 9, 100, false, 0},
                                        {_("FROM"), 4, 4, 40, false, 0},
                                        {_("PODS"), 4, 5, 60, false, 0},
                                        {_("LOGS"), 4, 5, 50, false, 0},
                                        {_("TRAIN"), 5, 5, 80, false, 0}};
    memcpy(c, all, sizeof all);
    for (int i = 0; i < l->n; i++) {
        c[C_NAME].want = MIN(MAX(c[C_NAME].want, utf8_str_width(l->v[i]->name)), 63);
        c[C_FROM].want = MAX(c[C_FROM].want, utf8_str_width(from(l->v[i])));
    }
    c[C_FROM].least = c[C_FROM].want;
    for (int i = 1; i < C_COUNT; i++) {
        c[i].least = MAX(c[i].least, utf8_str_width(c[i].head));
        c[i].want = MAX(c[i].want, c[i].least);
    }
    columns_fit(c, C_COUNT, w - 2);
}

/* Why these are all, and what to do when the one that is meant is not there. */
static void below(const struct app *a, struct rows *out, int w)
{
    const struct conn *c = &a->s->conn;
    char age[16], text[700];
    rows_blank(out);
    if (c->ns_effect)
        rows_line(out, ROLE_MUTED, _(" reading the list"));
    else if (c->ns_list == MAY_NO)
        rows_wrap(out, ROLE_MUTED, 1, _("Listing all namespaces is not allowed here, and not "
                  "needed: n takes any name."), w - 1);
    else if (c->ns_error[0])
        rows_wrap(out, ROLE_WARN, 1,
                  str_fmt(text, sizeof text, _("The list did not come: %s"), c->ns_error), w - 1);
    else if (c->ns_list == MAY_YES)
        rows_wrap(out, ROLE_MUTED, 1,
                  str_fmt(text, sizeof text, _("As the server listed them %s ago; n takes any "
                                               "name."), panel_age(a, c->ns_at_ms, age)), w - 1);
    else
        rows_wrap(out, ROLE_MUTED, 1, _("No list yet: the server has not answered. n takes any "
                  "name."), w - 1);
    if (c->ns_list == MAY_NO && w >= 60)
        rows_wrap(out, ROLE_MUTED, 1, panel_list_clean(out, c->ns_error), w - 1);
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    struct pick_spaces l = pick_spaces(a, &out->arena);
    struct column c[C_COUNT];
    struct rows more;
    panel_list_small(a, out, title);
    rows_init(&more, out->glyphs);
    below(a, &more, w);
    int before = out->n, extra = MIN(more.n, MAX(h - before - 3, 0));
    rows_release(&more);
    int room = MAX(h - before - 1 - extra, 1), top = panel_list_top(a, PANEL_NS, l.n, room);
    columns(&l, w, c);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, "  ");
    columns_heads(c, C_COUNT, out);
    for (int i = top; i < l.n && i < top + room; i++)
        ns_row(a, out, l.v[i], c, i);
    if (l.n == 0)
        rows_line(out, ROLE_MUTED, a->pick.find[0]
                                       ? _(" no namespace passes the filter; Esc shows all")
                                       : _(" none is known yet"));
    below(a, out, w);
    out->n = MIN(out->n, h);
    out->first = top;
    out->total = l.n + (h - room);
    out->ids = l.n;
}

static bool ages(const struct app *a)
{
    return a->s->conn.ns_list == MAY_YES;
}

const struct panel panel_ns = {title, rows, NULL, ages, N_("Namespaces")};
