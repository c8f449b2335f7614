/* panel_cluster.c - the cluster at a glance: nodes with their accelerators,
 * pods, events. Each section stands alone: what one may not see is said there,
 * and nothing is said to be none before its list has come. */
#include "tui/panel_cluster.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/panel_events.h"
#include "tui/panel_list.h"
#include "tui/panel_nodes.h"
#include "tui/panel_pods.h"
#include "tui/text.h"

enum { EVENTS_SHOWN = 12, RULE_ROWS = 14, ID_NODES = 0, ID_PODS = 1 };

static const struct list_view all = {.sort = SORT_NAME};
static const struct list_view newest = {.sort = SORT_AGE};

static const char *title(const struct app *a UNUSED, char buf[160])
{
    return str_copy(buf, 160, _("Cluster"));
}

static bool is_down(const struct app *a)
{
    return a->s->cluster.link == LINK_DOWN;
}

static int pods_shown(const struct app *a)
{
    return MIN(lists_pods(a->lists_all, a->s, &all).n, PANEL_CLUSTER_PODS_MOST);
}

enum panel_id panel_cluster_list(const struct app *a, int id)
{
    if (id == ID_NODES || id == ID_PODS)
        return id == ID_NODES ? PANEL_NODES : PANEL_PODS;
    return id >= PANEL_CLUSTER_FIRST_POD + pods_shown(a) ? PANEL_EVENTS : PANEL_COUNT;
}

const struct json *panel_cluster_pod(const struct app *a, int id)
{
    struct lists_pods l = lists_pods(a->lists_all, a->s, &all);
    int i = id - PANEL_CLUSTER_FIRST_POD;
    return i >= 0 && i < MIN(l.n, PANEL_CLUSTER_PODS_MOST) ? l.v[l.order[i]].pod : NULL;
}

static void heading(struct rows *out, int id, const char *name, int n, const struct table *t)
{
    rows_new(out, id);
    rows_put(out, ROLE_HEAD, name);
    if (panel_list_known(t, n))
        rows_putf(out, ROLE_HEAD, " %d", n);
}

/* What stands below a heading: why there are no rows, or that they are old. */
static bool begin(const struct app *a, struct rows *out, const struct table *t, int n, int w,
                  int h)
{
    if (t->forbidden && h < RULE_ROWS) {     /* its list, on Enter, has the rule */
        panel_list_forbidden_row(a, out, t, w);
        return false;
    }
    if (!t->forbidden && n > 0 && (!is_down(a) || t->from[0]))
        panel_list_stale(a, out, t, w);
    return !panel_list_state(a, out, t, n, w);
}

/* --- nodes -------------------------------------------------------------------- */
/* " * gaudi-0  habana.ai/gaudi 6/8  mem 71/480Gi": the name is what a Job asks
 * for. */
static void node_row(struct rows *out, const struct nodeinfo *n, bool part, int w, int name_w)
{
    const struct nodeinfo_use *main = n->devices ? &n->device[0] : &n->cpu;
    char share[64], text[128];
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, n->ready ? ROLE_OK : ROLE_FAIL, n->ready ? G_LIVE : G_FAIL);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, panel_list_clean(out, n->name), name_w);
    str_fmt(text, sizeof text, " %s %s", main->resource, panel_nodes_share(main, part, share));
    rows_cell(out, panel_nodes_hw_role(main->resource), panel_list_clean(out, text), 24);
    for (int i = 1; i < n->devices; i++) {
        str_fmt(text, sizeof text, "%s %s  ", podinfo_short_resource(n->device[i].resource),
                panel_nodes_share(&n->device[i], part, share));
        if (out->v[out->n - 1].width + utf8_str_width(text) <= w)
            rows_put(out, panel_nodes_hw_role(n->device[i].resource),
                     panel_list_clean(out, text));
    }
    str_fmt(text, sizeof text, "mem %s", panel_nodes_share(&n->memory, part, share));
    if (n->memory.allocatable >= 0 && out->v[out->n - 1].width + utf8_str_width(text) <= w)
        rows_put(out, ROLE_MUTED, text);
    if (n->cordoned && out->v[out->n - 1].width + 2 + utf8_str_width(_("cordoned")) <= w)
        rows_putf(out, ROLE_WARN, "  %s", _("cordoned"));
    if (n->simulated && w - out->v[out->n - 1].width >= 11)
        rows_right(out, ROLE_MUTED, _("simulated"), w);
}

static void nodes(const struct app *a, struct rows *out, int w, int h)
{
    const struct table *t = session_table(a->s, "nodes");
    struct lists_nodes l = lists_nodes(a->lists_all, a->s, &all);
    int ready = 0, sim = 0, name_w = 8;
    char buf[96];
    for (int i = 0; i < l.n; i++) {
        ready += l.v[i].ready;
        sim += l.v[i].simulated;
        name_w = MAX(name_w, utf8_str_width(l.v[i].name));
    }
    name_w = MIN(name_w, MAX(w - 28, 8));
    heading(out, ID_NODES, _("Nodes"), l.n, t);
    if (sim > 0 && w < 66)
        rows_putf(out, ROLE_MUTED, "  %s", _("simulated"));
    if (l.n > 0 && !t->forbidden) {
        str_fmt(buf, sizeof buf, _("ready %d/%d"), ready, l.n);
        rows_right(out, ready == l.n ? ROLE_OK : ROLE_WARN, buf, w);
    }
    if (!begin(a, out, t, l.n, w, h))
        return;
    for (int i = 0; i < l.n; i++)
        node_row(out, &l.v[l.order[i]], l.part, w, name_w);
}

/* --- pods --------------------------------------------------------------------- */
/* Pods of one Job differ at the end of their names. */
static void pod_name(struct rows *out, const char *name, int w)
{
    struct str s;
    str_init(&s, 1024);
    text_fit_middle(name, w - 1, glyph_of(out->glyphs, G_MORE), &s);
    rows_cell(out, ROLE_TEXT, s.p, w);
    str_release(&s);
}

static int status_width(int w)
{
    return w >= 46 ? 18 : 0;
}

static int name_width(int w)
{
    return MAX(w - 3 - status_width(w) - 17, 8);
}

static void pod_row(const struct app *a, struct rows *out, const struct podinfo *p, int id, int w)
{
    enum role role;
    enum glyph g = panel_pods_sign(p->status, &role);
    char age[16], buf[32];
    rows_new(out, id);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, role, g);
    rows_put(out, ROLE_TEXT, " ");
    pod_name(out, panel_list_clean(out, p->name), name_width(w));
    if (status_width(w))
        rows_cell(out, role, panel_list_clean(out, p->status), status_width(w));
    rows_cell_right(out, ROLE_TEXT, str_fmt(buf, sizeof buf, "%d/%d", p->ready, p->all), 5);
    rows_cell_right(out, ROLE_MUTED, panel_age(a, p->created_ms, age), 6);
    rows_cell_right(out, p->restarts ? ROLE_WARN : ROLE_MUTED,
                    str_fmt(buf, sizeof buf, "%d", p->restarts), 5);
    if (!status_width(w) && !str_eq(p->status, "Running"))
        rows_linef(out, role, "     %s", panel_list_clean(out, p->status));
}

static void pods(const struct app *a, struct rows *out, int w, int h)
{
    const struct table *t = session_table(a->s, "pods");
    struct lists_pods l = lists_pods(a->lists_all, a->s, &all);
    int shown = MIN(l.n, PANEL_CLUSTER_PODS_MOST);
    rows_blank(out);
    heading(out, ID_PODS, _("Pods"), l.n, t);
    rows_put(out, ROLE_TEXT, " ");
    int room = (l.n > 0 ? 3 + name_width(w) : w) - out->v[out->n - 1].width;
    rows_cell(out, ROLE_MUTED, a->s->cluster.ns, MAX(room, 1));
    if (l.n > 0) {
        if (status_width(w))
            rows_cell(out, ROLE_MUTED, _("status"), status_width(w));
        rows_cell_right(out, ROLE_MUTED, _("ready"), 5);
        rows_cell_right(out, ROLE_MUTED, _("age"), 6);
        rows_cell_right(out, ROLE_MUTED, _("rst"), 5);
    }
    if (!begin(a, out, t, l.n, w, h))
        return;
    for (int i = 0; i < shown; i++)
        pod_row(a, out, lists_pod(&l, i), PANEL_CLUSTER_FIRST_POD + i, w);
    if (l.n > shown)
        rows_linef(out, ROLE_MUTED, _("   and %d more: Enter on Pods lists all"), l.n - shown);
}

/* --- events ------------------------------------------------------------------- */
static void events(const struct app *a, struct rows *out, int w, int h)
{
    const struct table *t = session_table(a->s, "events");
    struct lists_events l = lists_events(a->lists_all, a->s, &newest);
    rows_blank(out);
    heading(out, PANEL_CLUSTER_FIRST_POD + pods_shown(a), _("Events"), l.n, t);
    if (l.warnings > 0 && !t->forbidden)
        rows_putf(out, ROLE_WARN, _("  %d warnings"), l.warnings);
    if (!begin(a, out, t, l.n, w, h))
        return;
    for (int i = 0; i < l.n && i < EVENTS_SHOWN; i++)
        panel_events_row(a, out, &l.v[l.order[i]], -1, w, false);
}

/* --- the link ------------------------------------------------------------------- */
static void down(const struct app *a, struct rows *out, int w)
{
    const struct cluster_state *k = &a->s->cluster;
    const struct pd_err *e = &a->s->last_error;
    char age[16], next[16];
    rows_new(out, -1);
    rows_sign(out, ROLE_FAIL, G_FAIL);
    rows_putf(out, ROLE_FAIL, " %s", _("The cluster can't be reached"));
    rows_wrap(out, ROLE_MUTED, 2, k->error, w);
    if (e->code)
        rows_wrap(out, ROLE_HINT, 2, e->hint[0] ? e->hint : _(pd_hint(e->code)), w);
    if (k->next_try_ms > a->now_ms) {
        clock_age(k->next_try_ms - a->now_ms, next);
        rows_linef(out, ROLE_MUTED, _("  next try in %s; Tab, Enter and all lists still work"),
                   next);
    }
    if (k->last_ok_ms > 0)
        rows_linef(out, ROLE_WARN, _("  as it was %s ago:"), panel_age(a, k->last_ok_ms, age));
    rows_blank(out);
    out->dim = true;
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    bool seen = false;
    for (int i = 0; i < SESSION_TABLES; i++)
        seen = seen || a->s->tables[i].synced || json_count(a->s->tables[i].items) > 0;
    if (is_down(a))
        down(a, out, w);
    if (is_down(a) && !seen)
        return;
    void (*const sections[])(const struct app *a, struct rows *out, int w, int h) = {nodes, pods,
                                                                                     events};
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        sections[i](a, out, w, h);
        out->dim = is_down(a);
    }
}

static bool ages(const struct app *a)
{
    bool waits = false;
    for (int i = 0; i < SESSION_WATCHED; i++)
        waits = waits || (!a->s->tables[i].synced && a->s->tables[i].asked_ms > 0);
    return is_down(a) || waits || json_count(session_table(a->s, "pods")->items) > 0;
}

const struct panel panel_cluster = {title, rows, NULL, ages, N_("Cluster")};
