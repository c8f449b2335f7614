/* panel_pods.c - the pods of the namespace as a table; the selected one in words
 * below it. */
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/columns.h"
#include "tui/panel.h"
#include "tui/panel_list.h"
#include "tui/panel_pods.h"

enum { C_NAME, C_READY, C_STATUS, C_RST, C_AGE, C_NODE, C_HW, C_WHY, C_COUNT };
enum { WHY_A_FRAME = 4 };

static const char *title(const struct app *a, char buf[160])
{
    const struct list_view *v = &a->list[LIST_PODS];
    struct lists_pods l = lists_pods(a->lists, a->s, v);
    struct str s;
    str_init(&s, 159);
    str_printf(&s, _("Pods %s"), a->s->cluster.ns);
    const struct table *t = session_table(a->s, "pods");
    panel_list_title(v, t, l.n, l.total, &s);
    if (!t->synced && !t->from[0] && l.total > 0)
        str_add(&s, _("  reading on"));
    str_copy(buf, 160, s.p);
    str_release(&s);
    return buf;
}

enum glyph panel_pods_sign(const char *status, enum role *role)
{
    static const struct { const char *word; enum glyph g; enum role role; } table[] = {
        {"Running", G_LIVE, ROLE_OK},         {"Completed", G_OK, ROLE_OK},
        {"Succeeded", G_OK, ROLE_OK},         {"Pending", G_WAIT, ROLE_RUN},
        {"ContainerCreating", G_WAIT, ROLE_RUN}, {"PodInitializing", G_WAIT, ROLE_RUN},
        {"Terminating", G_WAIT, ROLE_RUN},    {"SchedulingGated", G_WAIT, ROLE_RUN},
        {"Unknown", G_ASK, ROLE_WARN}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_eq(table[i].word, status)) {
            *role = table[i].role;
            return table[i].g;
        }
    }
    bool init = str_starts(status, "Init:") && status[5] >= '0' && status[5] <= '9';
    *role = init ? ROLE_RUN : ROLE_FAIL;
    return init ? G_WAIT : G_FAIL;
}

static int widest(int have, const char *text, int most)
{
    return MIN(MAX(have, utf8_str_width(text)), most);
}

/* As wide as what is on show asks for. */
static void columns(const struct lists_pods *l, int top, int n, const struct panel_pods_why *why,
                    int w, struct column c[C_COUNT])
{
    const struct column all[C_COUNT] = {
        {_("NAME"), 14, 8, 100, false, 0},  {_("READY"), 5, 5, 40, true, 0},
        {_("STATUS"), 12, 8, 100, false, 0}, {_("RST"), 3, 3, 30, true, 0},
        {_("AGE"), 4, 5, 60, true, 0},      {_("NODE"), 8, 4, 10, false, 0},
        {_("HW"), 7, 3, 20, false, 0},      {_("WHY"), 14, 0, 25, false, 0}};
    memcpy(c, all, sizeof all);
    for (int i = top; i < l->n && i < top + n; i++) {
        const struct podinfo *p = lists_pod(l, i);
        c[C_NAME].want = widest(c[C_NAME].want, p->name, 60);
        c[C_STATUS].want = widest(c[C_STATUS].want, p->status, 26);
        c[C_NODE].want = widest(c[C_NODE].want, p->node, 24);
        c[C_HW].want = widest(c[C_HW].want, p->hw, 20);
        c[C_WHY].want = widest(c[C_WHY].want, why[i - top].text, 200);
    }
    c[C_NAME].least = MIN(c[C_NAME].want, MAX(14, MIN(26, w / 3)));
    c[C_STATUS].least = MIN(c[C_STATUS].want, 18);
    c[C_NODE].least = MIN(c[C_NODE].want, 14);
    c[C_HW].least = MIN(c[C_HW].want, 12);
    for (int i = 1; i < C_COUNT; i++)        /* heads are not cut */
        if (c[i].want > 0) {
            c[i].least = MAX(c[i].least, utf8_str_width(c[i].head));
            c[i].want = MAX(c[i].want, c[i].least);
        }
    columns_fit(c, C_COUNT, w - 2);
}

static void pod_row(const struct app *a, struct rows *out, const struct podinfo *p,
                    const struct column *c, int id, const char *why)
{
    char buf[32], age[16];
    enum role role;
    enum glyph g = panel_pods_sign(p->status, &role);
    rows_new(out, id);
    rows_sign(out, role, g);
    rows_put(out, ROLE_TEXT, " ");
    columns_cell(c, C_NAME, out, ROLE_TEXT, panel_list_clean(out, p->name), true);
    str_fmt(buf, sizeof buf, "%d/%d", p->ready, p->all);
    columns_cell(c, C_READY, out, ROLE_TEXT, buf, false);
    columns_cell(c, C_STATUS, out, role, panel_list_clean(out, p->status), false);
    str_fmt(buf, sizeof buf, "%d", p->restarts);
    columns_cell(c, C_RST, out, p->restarts ? ROLE_WARN : ROLE_MUTED, buf, false);
    columns_cell(c, C_AGE, out, ROLE_MUTED, panel_age(a, p->created_ms, age), false);
    columns_cell(c, C_NODE, out, ROLE_TEXT, *p->node ? panel_list_clean(out, p->node) : "-", false);
    columns_cell(c, C_HW, out, ROLE_MUTED, panel_list_clean(out, p->hw), false);
    columns_cell(c, C_WHY, out, role, why, false);
}

void panel_pods_cause(const struct app *a, const struct podinfo *p, char *buf, size_t size)
{
    enum role role;
    char raw[512];
    struct str clean;
    buf[0] = '\0';
    panel_pods_sign(p->status, &role);
    if (role == ROLE_OK && p->ready == p->all)
        return;
    const char *known = lists_why(a->lists, p, a->now_ms);
    if (known) {
        str_copy(buf, size, known);
        return;
    }
    panel_pods_explain(a, p, raw, sizeof raw);
    if (!*raw)
        podinfo_cause(p->pod, raw, sizeof raw);
    str_init(&clean, size - 1);
    utf8_clean(raw, strlen(raw), false, &clean);
    str_copy(buf, size, clean.p);
    lists_why_keep(a->lists, p, a->now_ms, clean.p);
    str_release(&clean);
}

/* Where many pods fail at once, the rules look at some of them a frame; the others
 * say what their own status says until it is their turn. */
static void quick_cause(const struct app *a, const struct podinfo *p, int *budget, char *buf,
                        size_t size)
{
    enum role role;
    panel_pods_sign(p->status, &role);
    bool known = lists_why(a->lists, p, a->now_ms) != NULL;
    bool fine = role == ROLE_OK && p->ready == p->all;
    if (known || fine || (*budget)-- > 0)
        panel_pods_cause(a, p, buf, size);
    else
        podinfo_cause(p->pod, buf, size);
}

/* What the columns had no room for. */
static void detail(const struct app *a, struct rows *out, const struct podinfo *p,
                   const struct column *c, int w)
{
    char cause[512];
    rows_new(out, -1);
    rows_put(out, ROLE_STRONG, panel_list_clean(out, p->name));
    if (!c[C_HW].width && *p->hw)
        rows_putf(out, ROLE_MUTED, "  %s", panel_list_clean(out, p->hw));
    if (!c[C_NODE].width)
        rows_putf(out, ROLE_MUTED, _("  on %s"), *p->node ? panel_list_clean(out, p->node)
                                                           : _("no node yet"));
    if (!c[C_RST].width && p->restarts)
        rows_putf(out, ROLE_WARN, _("  %d restarts"), p->restarts);
    panel_pods_cause(a, p, cause, sizeof cause);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, cause, MAX(w - 1, 4));
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    const struct table *t = session_table(a->s, "pods");
    struct lists_pods l = lists_pods(a->lists, a->s, &a->list[LIST_PODS]);
    struct column c[C_COUNT];
    panel_list_small(a, out, title);
    panel_list_stale(a, out, t, w);
    if (panel_list_state(a, out, t, l.total, w))
        return;
    int sel = MIN(MAX(a->sel[PANEL_PODS], 0), MAX(l.n - 1, 0));
    int room = MAX(h - out->n - 1 - 3, 1), top = panel_list_top(a, PANEL_PODS, l.n, room);
    struct panel_pods_why *why = arena_alloc(&out->arena, (size_t)room * sizeof *why);
    int budget = WHY_A_FRAME;
    for (int i = top; i < l.n && i < top + room; i++)
        quick_cause(a, lists_pod(&l, i), &budget, why[i - top].text, sizeof why[0].text);
    columns(&l, top, room, why, w, c);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, "  ");
    columns_heads(c, C_COUNT, out);
    for (int i = top; i < l.n && i < top + room; i++)
        pod_row(a, out, lists_pod(&l, i), c, i, why[i - top].text);
    if (l.n == 0)
        rows_line(out, ROLE_MUTED, _(" no pod passes the filter; Esc shows all"));
    while (l.n > 0 && out->n < h - 2)
        rows_blank(out);
    if (l.n > 0)
        detail(a, out, lists_pod(&l, sel), c, w);
    out->n = MIN(out->n, h);
    out->first = top;
    out->total = l.n + (h - room);
    out->ids = l.n;
}

static bool ages(const struct app *a UNUSED)
{
    return true;
}

const struct panel panel_pods = {title, rows, NULL, ages, N_("Pods")};
