/* panel_nodes.c - nodes and their accelerators side by side: what there is, what
 * is asked for, what is free, and who holds it. */
#include "tui/panel_nodes.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/quantity.h"
#include "tui/columns.h"
#include "tui/panel.h"
#include "tui/panel_list.h"

enum { C_NAME, C_STATUS, C_HW, C_CPU, C_MEM, C_PODS, C_AGE, C_VERSION, C_COUNT };
enum { HOLDERS_MOST = 500 };

static const char *title(const struct app *a, char buf[160])
{
    const struct list_view *v = &a->list[LIST_NODES];
    struct lists_nodes l = lists_nodes(a->lists, a->s, v);
    struct str s;
    int ready = 0;
    for (int i = 0; i < l.total; i++)
        ready += l.v[i].ready;
    str_init(&s, 159);
    str_add(&s, _("Nodes"));
    if (panel_list_known(session_table(a->s, "nodes"), l.total))
        str_printf(&s, _("  ready %d/%d"), ready, l.total);
    str_printf(&s, _("  sort: %s"), _(lists_sort_name(v->sort)));
    if (v->filter[0])
        str_printf(&s, _("  filter: %s  %d shown"), v->filter, l.n);
    str_copy(buf, 160, s.p);
    str_release(&s);
    return buf;
}

/* "6", "1.5" cores, "71Gi"; "?" when the node does not say. */
char *panel_nodes_amount(const char *resource, int64_t n, char buf[32])
{
    if (n < 0)
        return str_copy(buf, 32, "?");
    if (str_eq(resource, "cpu"))
        return str_fmt(buf, 32, "%g", (double)(n / 100) / 10);
    if (!str_eq(resource, "memory"))
        return str_fmt(buf, 32, "%" PRId64, n);
    double gi = (double)n / (1024.0 * 1024 * 1024);
    return str_fmt(buf, 32, gi > 0 && gi < 10 ? "%.1fGi" : "%.0fGi", gi);
}

/* "6/8", ">=6/8" when other namespaces could not be seen. */
char *panel_nodes_share(const struct nodeinfo_use *u, bool part, char buf[64])
{
    char used[32], all[32];
    panel_nodes_amount(u->resource, u->used, used);
    panel_nodes_amount(u->resource, u->allocatable, all);
    size_t n = strlen(used);
    if (str_eq(u->resource, "memory") && n > 2 && str_ends(all, "Gi") && str_ends(used, "Gi"))
        used[n - 2] = '\0';
    return str_fmt(buf, 64, "%s%s/%s", part ? ">=" : "", used, all);
}

const char *panel_nodes_status(const struct nodeinfo *n, enum role *role, char buf[96])
{
    *role = !n->ready ? ROLE_FAIL : n->cordoned || n->pressure[0] ? ROLE_WARN : ROLE_OK;
    return str_fmt(buf, 96, "%s%s%s%s", n->ready ? "Ready" : "NotReady",
                   n->cordoned ? "," : "", n->cordoned ? _("cordoned") : "",
                   n->pressure[0] ? ",!" : "");
}

static const char *devices(const struct nodeinfo *n, bool part, char buf[128])
{
    char share[64];
    buf[0] = '\0';
    for (int i = 0; i < n->devices; i++) {
        size_t have = strlen(buf);
        snprintf(buf + have, 128 - have, "%s%s %s", have ? "  " : "",
                 podinfo_short_resource(n->device[i].resource),
                 panel_nodes_share(&n->device[i], part, share));
    }
    return buf;
}

enum role panel_nodes_hw_role(const char *resource)
{
    if (strstr(resource, "habana") || strstr(resource, "gaudi"))
        return ROLE_HW_GAUDI;
    return strchr(resource, '/') ? ROLE_HW_NVIDIA : ROLE_HW_XEON;
}

static int widest(int have, const char *text, int most)
{
    return MIN(MAX(have, utf8_str_width(text)), most);
}

static void columns(const struct lists_nodes *l, int w, struct column c[C_COUNT])
{
    const struct column all[C_COUNT] = {
        {_("NAME"), 8, 4, 100, false, 0},  {_("STATUS"), 5, 6, 90, false, 0},
        {_("DEVICES"), 9, 0, 95, false, 0}, {_("CPU"), 6, 6, 60, true, 0},
        {_("MEMORY"), 8, 8, 50, true, 0},  {_("PODS"), 5, 5, 20, true, 0},
        {_("AGE"), 4, 5, 30, true, 0},     {_("VERSION"), 8, 0, 10, false, 0}};
    char buf[128];
    enum role role;
    memcpy(c, all, sizeof all);
    for (int i = 0; i < l->n; i++) {
        const struct nodeinfo *n = &l->v[l->order[i]];
        c[C_NAME].want = widest(c[C_NAME].want, n->name, 40);
        c[C_STATUS].want = widest(c[C_STATUS].want, panel_nodes_status(n, &role, buf), 24);
        c[C_HW].want = widest(c[C_HW].want, devices(n, l->part, buf), 60);
        c[C_CPU].want = widest(c[C_CPU].want, panel_nodes_share(&n->cpu, l->part, buf), 14);
        c[C_MEM].want = widest(c[C_MEM].want, panel_nodes_share(&n->memory, l->part, buf), 16);
        c[C_PODS].want = widest(c[C_PODS].want, panel_nodes_share(&n->pods, l->part, buf), 9);
        c[C_VERSION].want = widest(c[C_VERSION].want, n->version, 20);
    }
    for (int i = 0; i < C_COUNT; i++) {
        if (c[i].want > 0)
            c[i].want = MAX(c[i].want, utf8_str_width(c[i].head));
        c[i].least = i == C_NAME ? MIN(c[i].want, MAX(w / 4, 8)) : c[i].want;
    }
    c[C_HW].least = MIN(c[C_HW].want, MAX(w / 3, 9));
    columns_fit(c, C_COUNT, w - 2);
}

static void node_row(const struct app *a, struct rows *out, const struct nodeinfo *n, bool part,
                     const struct column *c, int id)
{
    char buf[128], age[16];
    enum role role;
    const char *status = panel_nodes_status(n, &role, buf);
    enum role hw = n->devices ? panel_nodes_hw_role(n->device[0].resource) : ROLE_MUTED;
    rows_new(out, id);
    rows_sign(out, role,
              !n->ready ? G_FAIL : role == ROLE_OK ? G_LIVE : G_WARN);
    rows_put(out, ROLE_TEXT, " ");
    columns_cell(c, C_NAME, out, ROLE_TEXT, panel_list_clean(out, n->name), true);
    columns_cell(c, C_STATUS, out, role, panel_list_clean(out, status), false);
    columns_cell(c, C_HW, out, hw, n->devices ? panel_list_clean(out, devices(n, part, buf)) : "-",
                 false);
    columns_cell(c, C_CPU, out, ROLE_TEXT, panel_nodes_share(&n->cpu, part, buf), false);
    columns_cell(c, C_MEM, out, ROLE_TEXT, panel_nodes_share(&n->memory, part, buf), false);
    columns_cell(c, C_PODS, out, ROLE_MUTED, panel_nodes_share(&n->pods, part, buf), false);
    columns_cell(c, C_AGE, out, ROLE_MUTED, panel_age(a, n->created_ms, age), false);
    columns_cell(c, C_VERSION, out, ROLE_MUTED, panel_list_clean(out, n->version), false);
}

/* --- totals over all nodes -------------------------------------------------------- */
struct sum {
    struct nodeinfo_use use;
    bool unknown;
};

static void add(struct sum *v, int *n, const struct nodeinfo_use *u)
{
    int i = 0;
    while (i < *n && !str_eq(v[i].use.resource, u->resource))
        i++;
    if (i == NODEINFO_DEVICES)
        return;
    if (i == *n)
        v[(*n)++] = (struct sum){{u->resource, 0, 0, 0}, false};
    v[i].unknown = v[i].unknown || u->allocatable < 0;
    v[i].use.allocatable += MAX(u->allocatable, 0);
    v[i].use.used += u->used;
}

static void totals(struct rows *out, const struct lists_nodes *l, int w)
{
    struct sum v[NODEINFO_DEVICES];
    int n = 0;
    char buf[64], text[96];
    for (int i = 0; i < l->total; i++)
        for (int k = 0; k < l->v[i].devices; k++)
            add(v, &n, &l->v[i].device[k]);
    for (int i = 0; i < l->total; i++)
        add(v, &n, &l->v[i].cpu);
    rows_new(out, -1);
    rows_put(out, ROLE_HEAD, _("In all"));
    for (int i = 0; i < n; i++) {
        if (v[i].unknown)
            str_fmt(text, sizeof text, "  %s ?", podinfo_short_resource(v[i].use.resource));
        else
            str_fmt(text, sizeof text, "  %s %s", podinfo_short_resource(v[i].use.resource),
                    panel_nodes_share(&v[i].use, l->part, buf));
        if (out->v[out->n - 1].width + utf8_str_width(text) <= w)
            rows_put(out, panel_nodes_hw_role(v[i].use.resource), panel_list_clean(out, text));
    }
}

/* --- the selected node ------------------------------------------------------------ */
static void holders(const struct app *a, struct rows *out, const struct nodeinfo *n,
                    const char *resource, int w, int most)
{
    const struct json *p;
    int64_t held;
    int at = 0;
    while (out->n < most &&
           (p = lists_holder(a->lists, a->s, n->name, resource, &at, &held)) != NULL) {
        char age[16], text[400], amount[32];
        str_fmt(text, sizeof text, "%s/%s", json_str(p, "metadata.namespace", a->s->cluster.ns),
                json_str(p, "metadata.name", "?"));
        rows_new(out, -1);
        rows_putf(out, ROLE_STRONG, "    %4s  ", panel_nodes_amount(resource, held, amount));
        rows_cell(out, ROLE_TEXT, panel_list_clean(out, text), MAX(w - 17, 8));
        rows_cell_right(out, ROLE_MUTED,
                        panel_age(a, panel_time(p, "metadata.creationTimestamp"), age), 6);
    }
}

static void device(const struct app *a, struct rows *out, const struct nodeinfo *n,
                   const struct nodeinfo_use *u, bool part, int w, int most)
{
    char used[32], all[32], left[32];
    int64_t sick = u->capacity >= 0 && u->allocatable >= 0 ? u->capacity - u->allocatable : 0;
    rows_new(out, -1);
    rows_putf(out, panel_nodes_hw_role(u->resource), "  %s", panel_list_clean(out, u->resource));
    rows_putf(out, ROLE_TEXT, _("  %s in all, %s%s used, %s%s free"),
              panel_nodes_amount(u->resource, u->allocatable, all), part ? ">=" : "",
              panel_nodes_amount(u->resource, u->used, used), part ? "<=" : "",
              panel_nodes_amount(u->resource, nodeinfo_free(u), left));
    if (sick > 0)
        rows_putf(out, ROLE_WARN, _("  %" PRId64 " not healthy"), sick);
    if (!str_eq(u->resource, "memory"))
        holders(a, out, n, u->resource, w, most);
}

static void facts(struct rows *out, const struct nodeinfo *n, int w)
{
    char buf[256], product[96], features[96];
    rows_new(out, -1);
    rows_put(out, ROLE_STRONG, panel_list_clean(out, n->name));
    if (n->roles[0])
        rows_putf(out, ROLE_MUTED, "  %s", panel_list_clean(out, n->roles));
    if (n->simulated)
        rows_putf(out, ROLE_MUTED, "  %s", _("simulated"));
    if (*n->arch)
        rows_putf(out, ROLE_MUTED, "  %s", panel_list_clean(out, n->arch));
    if (*n->runtime && w > 60)
        rows_putf(out, ROLE_MUTED, "  %s", panel_list_clean(out, n->runtime));
    if (*nodeinfo_product(n->node, product, sizeof product))
        rows_linef(out, ROLE_TEXT, _("  model %s"), panel_list_clean(out, product));
    if (*nodeinfo_features(n->node, features, sizeof features))
        rows_linef(out, ROLE_HW_XEON, _("  CPU %s"), panel_list_clean(out, features));
    if (!n->ready)
        rows_linef(out, ROLE_FAIL, _("  not ready: %s"), panel_list_clean(out, n->ready_reason));
    if (n->pressure[0])
        rows_linef(out, ROLE_WARN, "  %s", panel_list_clean(out, n->pressure));
    if (n->cordoned)
        rows_linef(out, ROLE_WARN, "  %s", _("cordoned: takes no new pods"));
    for (int i = 0; i < n->taints; i++)
        rows_linef(out, ROLE_WARN, _("  taint %s"),
                   panel_list_clean(out, nodeinfo_taint(n->node, i, buf, sizeof buf)));
}

/* In about `most` rows: a node may hold hundreds of pods. */
static void detail(const struct app *a, struct rows *out, const struct nodeinfo *n, bool part,
                   int w, int most)
{
    facts(out, n, w);
    for (int i = 0; i < n->devices; i++)
        device(a, out, n, &n->device[i], part, w, most);
    device(a, out, n, &n->cpu, part, w, most);
    device(a, out, n, &n->memory, part, w, most);
    if (!part)
        return;
    if (a->s->all_pods.forbidden)
        rows_wrap(out, ROLE_MUTED, 2, _(">= : only pods of this namespace are seen; to see all, "
                                        "ask for a ClusterRole with list on pods."), w - 2);
    else
        rows_wrap(out, ROLE_MUTED, 2, _(">= : the pods of other namespaces are not read yet."),
                  w - 2);
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    const struct table *t = session_table(a->s, "nodes");
    struct lists_nodes l = lists_nodes(a->lists, a->s, &a->list[LIST_NODES]);
    struct column c[C_COUNT];
    panel_list_small(a, out, title);
    panel_list_stale(a, out, t, w);
    if (panel_list_state(a, out, t, l.total, w))
        return;
    columns(&l, w, c);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, "  ");
    columns_heads(c, C_COUNT, out);
    int room = MAX(MIN(l.n, (h - out->n - 1) * 55 / 100), MIN(l.n, 2));
    int top = panel_list_top(a, PANEL_NODES, l.n, room);
    for (int i = top; i < l.n && i < top + room; i++)
        node_row(a, out, &l.v[l.order[i]], l.part, c, i);
    if (l.n == 0)
        rows_line(out, ROLE_MUTED, _(" no node passes the filter; Esc shows all"));
    totals(out, &l, w);
    if (l.n > 0) {
        rows_blank(out);
        detail(a, out, &l.v[l.order[MIN(MAX(a->sel[PANEL_NODES], 0), l.n - 1)]], l.part, w, h);
    }
    if (out->n >= h) {
        out->n = h;
        out->v[h - 1].n = out->v[h - 1].width = 0;
        rows_put(out, ROLE_MUTED, _("  more: Enter shows all of the node"));
    }
    out->first = top;
    out->total = MAX(l.n - room, 0) + h;
    out->ids = l.n;
}

void panel_nodes_detail(const struct app *a, struct rows *out, const char *name, int w)
{
    struct lists_nodes l = lists_nodes(a->lists, a->s, &a->list[LIST_NODES]);
    for (int i = 0; i < l.total; i++)
        if (str_eq(l.v[i].name, name))
            detail(a, out, &l.v[i], l.part, w, HOLDERS_MOST);
}

static bool ages(const struct app *a UNUSED)
{
    return true;
}

const struct panel panel_nodes = {title, rows, NULL, ages, N_("Nodes")};
