/* panel_list.c - what the lists' screens share (panel_list.h). */
#include "tui/panel_list.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"

const char *panel_list_clean(struct rows *out, const char *text)
{
    struct str t;
    str_init(&t, 8192);
    utf8_clean(text, MIN(strlen(text), (size_t)8192), false, &t);
    const char *kept = arena_strdup(&out->arena, t.p);
    str_release(&t);
    return kept;
}

/* The Role line that would open a list. */
void panel_list_forbidden(const struct app *a, struct rows *out, const struct table *t, int w)
{
    bool wide = str_eq(t->resource, "nodes");
    const char *res = str_eq(t->resource, "pods@all") ? "pods" : t->resource;
    const char *group = str_eq(res, "jobs") ? "batch" : "";
    rows_new(out, -1);
    rows_sign(out, ROLE_WARN, G_LOCKED);
    rows_putf(out, ROLE_WARN, _(" not allowed: list, watch %s"), res);
    char text[320];
    if (wide)
        str_fmt(text, sizeof text, _("Ask for a ClusterRole with this rule:"));
    else
        str_fmt(text, sizeof text, _("Ask for a Role in %s with this rule:"), a->s->cluster.ns);
    rows_wrap(out, ROLE_MUTED, 2, text, w - 2);
    str_fmt(text, sizeof text,
            "> {apiGroups: [\"%s\"], resources: [%s], verbs: [get, list, watch]}", group, res);
    rows_wrap(out, ROLE_CODE, 2, text, w - 2);
}

bool panel_list_state(const struct app *a, struct rows *out, const struct table *t, int n, int w)
{
    if (t->forbidden) {
        panel_list_forbidden(a, out, t, w);
        return true;
    }
    if (n > 0)
        return false;
    if (t->synced)
        rows_line(out, ROLE_MUTED, _(" none"));
    else if (a->s->cluster.link == LINK_OFF)
        rows_line(out, ROLE_MUTED, _(" no cluster"));
    else if (t->error[0])
        rows_wrap(out, ROLE_WARN, 1, t->error, w - 1);
    else
        rows_line(out, ROLE_MUTED,
                  a->s->cluster.link == LINK_UP ? _(" reading") : _(" connecting"));
    return true;
}

int panel_list_top(const struct app *a, enum panel_id panel, int n, int h)
{
    int sel = MIN(MAX(a->sel[panel], 0), MAX(n - 1, 0));
    return MIN(MAX(sel - h + 1, 0), MAX(n - h, 0));
}

void panel_list_title(const struct list_view *v, int n, int total, struct str *out)
{
    if (n != total)
        str_printf(out, "  %d/%d", n, total);
    else
        str_printf(out, "  %d", total);
    str_printf(out, _("  sort: %s"), _(lists_sort_name(v->sort)));
    if (v->filter[0])
        str_printf(out, _("  filter: %s"), v->filter);
}

bool panel_list_is_small(const struct app *a)
{
    struct panes l;
    app_layout(a, &l);
    return l.n > 0 && !l.pane[0].border;
}

void panel_list_small(const struct app *a, struct rows *out,
                      const char *(*title)(const struct app *a, char buf[160]))
{
    char buf[160];
    if (panel_list_is_small(a))
        rows_line(out, ROLE_STRONG, panel_list_clean(out, title(a, buf)));
}

void panel_list_stale(const struct app *a, struct rows *out, int w)
{
    const struct cluster_state *k = &a->s->cluster;
    char age[16], next[16] = "", text[160];
    if (k->link != LINK_DOWN)
        return;
    if (k->next_try_ms > a->now_ms)
        clock_age(k->next_try_ms - a->now_ms, next);
    panel_age(a, k->last_ok_ms, age);
    if (*age && *next)
        str_fmt(text, sizeof text, _("no link: as it was %s ago, next try in %s"), age, next);
    else if (*age)
        str_fmt(text, sizeof text, _("no link: as it was %s ago"), age);
    else
        str_copy(text, sizeof text, _("no link"));
    rows_new(out, -1);
    rows_sign(out, ROLE_FAIL, G_FAIL);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_FAIL, text, MAX(w - 2, 4));
}
