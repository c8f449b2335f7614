/* panel_ctx.c - the contexts of all kubeconfig files: who, where, and whether
 * the cluster answers, which is looked at only for the one that is selected. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/columns.h"
#include "tui/panel.h"
#include "tui/panel_list.h"
#include "tui/pick.h"

enum { C_NAME, C_CLUSTER, C_USER, C_NS, C_ANSWER, C_COUNT };

static const char *title(const struct app *a, char buf[160])
{
    const struct conn *c = &a->s->conn;
    if (!c->contexts_known)
        return str_copy(buf, 160, _("Contexts"));
    str_fmt(buf, 160, _("Contexts  %d"), (int)c->contexts_n);
    if (a->pick.find[0]) {
        size_t n = strlen(buf);
        str_fmt(buf + n, 160 - n, _("  filter: %s"), a->pick.find);
    }
    return buf;
}

static bool in_use(const struct app *a, const struct conn_context *x)
{
    return str_eq(x->name, a->s->cluster.context);
}

/* Whether it answers, in a few words. */
static const char *answer(const struct app *a, const struct conn_context *x, char buf[400],
                          enum role *role)
{
    const struct cluster_state *k = &a->s->cluster;
    *role = ROLE_MUTED;
    if (x->error[0]) {
        *role = ROLE_FAIL;
        return str_copy(buf, 400, x->error);
    }
    if (in_use(a, x) && k->link == LINK_UP) {
        *role = ROLE_OK;
        return str_fmt(buf, 400, _("in use, %dms  %s"), (int)k->latency_ms, k->version);
    }
    if (in_use(a, x) && k->link == LINK_CONNECTING)
        return str_copy(buf, 400, _("connecting"));
    if (x->probe == PROBE_ASKED)
        return str_copy(buf, 400, _("asking"));
    if (x->probe == PROBE_ANSWERS) {
        *role = ROLE_OK;
        return str_fmt(buf, 400, _("answers, %dms  %s"), (int)x->probe_ms, x->version);
    }
    if (x->probe == PROBE_SILENT || in_use(a, x)) {
        *role = ROLE_WARN;
        return str_fmt(buf, 400, _("no answer: %s"),
                       x->probe == PROBE_SILENT ? x->why : k->error);
    }
    return str_copy(buf, 400, "");
}

static enum glyph sign(const struct app *a, const struct conn_context *x, enum role *role)
{
    bool here = in_use(a, x);
    *role = x->error[0] ? ROLE_FAIL : here ? ROLE_OK : ROLE_MUTED;
    if (x->error[0])
        return G_FAIL;
    return here ? G_LIVE : x->current ? G_OPEN : G_DOT;
}

static void columns(const struct app *a, const struct pick_contexts *l, int w,
                    struct column c[C_COUNT])
{
    const struct column all[C_COUNT] = {{_("CONTEXT"), 12, 8, 100, false, 0},
                                        {_("CLUSTER"), 8, 7, 20, false, 0},
                                        {_("USER"), 6, 4, 30, false, 0},
                                        {_("NAMESPACE"), 9, 9, 60, false, 0},
                                        {_("ANSWERS"), 12, 12, 80, false, 0}};
    char buf[400];
    enum role role;
    memcpy(c, all, sizeof all);
    for (int i = 0; i < l->n; i++) {
        const struct conn_context *x = l->v[i];
        const char *cell[C_COUNT] = {x->name, x->cluster, x->user, x->ns,
                                     answer(a, x, buf, &role)};
        for (int k = 0; k < C_COUNT; k++)
            c[k].want = MIN(MAX(c[k].want, utf8_str_width(cell[k])), k == C_ANSWER ? 400 : 30);
    }
    columns_fit(c, C_COUNT, w - 2);
}

static void context_row(const struct app *a, struct rows *out, const struct conn_context *x,
                        const struct column *c, int id)
{
    char buf[400];
    enum role role, mark;
    const char *text = answer(a, x, buf, &role);
    rows_new(out, id);
    rows_sign(out, ROLE_TEXT, sign(a, x, &mark));
    rows_put(out, ROLE_TEXT, " ");
    columns_cell(c, C_NAME, out, in_use(a, x) ? ROLE_STRONG : ROLE_TEXT,
                 panel_list_clean(out, x->name), true);
    columns_cell(c, C_CLUSTER, out, ROLE_MUTED, panel_list_clean(out, x->cluster), false);
    columns_cell(c, C_USER, out, ROLE_MUTED, panel_list_clean(out, x->user), false);
    columns_cell(c, C_NS, out, ROLE_TEXT, panel_list_clean(out, *x->ns ? x->ns : "-"), false);
    columns_cell(c, C_ANSWER, out, role, panel_list_clean(out, text), false);
}

/* The selected one in full. */
static void detail(const struct app *a, struct rows *out, const struct conn_context *x, int w)
{
    char buf[400], age[16];
    enum role role;
    const char *text = answer(a, x, buf, &role);
    rows_blank(out);
    rows_new(out, -1);
    rows_put(out, ROLE_STRONG, panel_list_clean(out, x->name));
    if (x->current)
        rows_putf(out, ROLE_MUTED, "  %s", _("current-context of the file"));
    rows_wrap(out, ROLE_TEXT, 1, panel_list_clean(out, x->server), w - 1);
    rows_wrap(out, role, 1, panel_list_clean(out, *text ? text : _("p asks whether it answers")),
              w - 1);
    if (x->error[0])
        rows_wrap(out, ROLE_HINT, 1, panel_list_clean(out, x->hint), w - 1);
    if (x->probed_at_ms && !in_use(a, x))
        rows_linef(out, ROLE_MUTED, _(" %s ago"), panel_age(a, x->probed_at_ms, age));
    rows_wrap(out, ROLE_MUTED, 1, panel_list_clean(out, x->file), w - 1);
}

static bool empty(const struct app *a, struct rows *out, const struct pick_contexts *l, int w)
{
    const struct conn *c = &a->s->conn;
    if (!c->contexts_known)
        rows_line(out, ROLE_MUTED, _(" reading the kubeconfig files"));
    else if (c->contexts_error[0])
        rows_wrap(out, ROLE_FAIL, 1, panel_list_clean(out, c->contexts_error), w - 1);
    else if (l->total == 0)
        rows_wrap(out, ROLE_MUTED, 1, _("no kubeconfig has a context"), w - 1);
    else if (l->n == 0)
        rows_line(out, ROLE_MUTED, _(" no context passes the filter; Esc shows all"));
    return l->n == 0;
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    struct pick_contexts l = pick_contexts(a, &out->arena);
    struct column c[C_COUNT];
    struct rows more;
    panel_list_small(a, out, title);
    if (empty(a, out, &l, w))
        return;
    int sel = MIN(MAX(a->sel[PANEL_CTX], 0), l.n - 1), before = out->n;
    rows_init(&more, out->glyphs);
    detail(a, &more, l.v[sel], w);
    int extra = MIN(more.n, MAX(h - before - 4, 0));
    rows_release(&more);
    int room = MAX(h - before - 1 - extra, 1), top = panel_list_top(a, PANEL_CTX, l.n, room);
    columns(a, &l, w, c);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, "  ");
    columns_heads(c, C_COUNT, out);
    for (int i = top; i < l.n && i < top + room; i++)
        context_row(a, out, l.v[i], c, i);
    detail(a, out, l.v[sel], w);
    out->n = MIN(out->n, h);
    out->first = top;
    out->total = l.n + (h - room);
    out->ids = l.n;
}

static const char *foot(const struct app *a, char buf[160])
{
    return str_copy(buf, 160, a->s->conn.contexts_n ? _("no file of yours is written") : "");
}

static bool ages(const struct app *a)
{
    return a->s->conn.contexts_n > 0;
}

const struct panel panel_ctx = {title, rows, foot, ages, N_("Contexts")};
