/* panel_events.c - what happened in the namespace: the newest first, or by
 * object. */
#include "tui/panel_events.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/panel_list.h"

static const char *title(const struct app *a, char buf[160])
{
    const struct list_view *v = &a->list[LIST_EVENTS];
    struct lists_events l = lists_events(a->lists, a->s, v);
    struct str s;
    str_init(&s, 159);
    str_printf(&s, _("Events %s"), a->s->cluster.ns);
    if (panel_list_known(session_table(a->s, "events"), l.total)) {
        if (l.n != l.total)
            str_printf(&s, "  %d/%d", l.n, l.total);
        else
            str_printf(&s, "  %d", l.total);
        str_printf(&s, _("  %d warnings"), l.warnings);
    }
    str_printf(&s, "  %s", v->sort == SORT_NAME ? _("by object") : _("newest first"));
    if (v->only)
        str_printf(&s, "  %s", _("warnings alone"));
    if (v->filter[0])
        str_printf(&s, _("  filter: %s"), v->filter);
    str_copy(buf, 160, s.p);
    str_release(&s);
    return buf;
}

/* " x5" of an event that came again. */
static void times(struct rows *out, const struct eventinfo *e)
{
    if (e->count > 1)
        rows_putf(out, ROLE_MUTED, " x%" PRId64, e->count);
}

void panel_events_row(const struct app *a, struct rows *out, const struct eventinfo *e, int id,
                      int w, bool object)
{
    char age[16], what[400];
    rows_new(out, id);
    rows_cell_right(out, ROLE_MUTED, panel_age(a, e->last_ms, age), 5);
    rows_put(out, ROLE_TEXT, " ");
    rows_sign(out, e->warning ? ROLE_WARN : ROLE_MUTED, e->warning ? G_WARN : G_DOT);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, e->warning ? ROLE_WARN : ROLE_TEXT, panel_list_clean(out, e->reason),
              w < 60 ? 12 : 18);
    if (object && w >= 70) {
        str_fmt(what, sizeof what, *e->name ? "%s/%s" : "-", e->kind, e->name);
        rows_put(out, ROLE_TEXT, " ");
        rows_cell(out, ROLE_TEXT, panel_list_clean(out, what), w / 4);
    }
    times(out, e);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_MUTED, panel_list_clean(out, e->message),
              MAX(w - out->v[out->n - 1].width, 4));
}

void panel_events_of(const struct app *a, struct rows *out, const char *kind,
                     const struct json *object, int most, int w)
{
    static const struct list_view all = {.sort = SORT_AGE};
    struct lists_events l = lists_events(a->lists_all, a->s, &all);
    const struct table *t = session_table(a->s, "events");
    int n = 0;
    if (t->forbidden) {
        panel_list_forbidden(a, out, t, w);
        return;
    }
    for (int i = 0; i < l.n && n < most; i++) {
        const struct eventinfo *e = &l.v[l.order[i]];
        if (!eventinfo_about(e, kind, object))
            continue;
        panel_events_row(a, out, e, -1, w, false);
        n++;
    }
    if (n == 0)
        rows_line(out, ROLE_MUTED, t->synced ? _(" none (events are kept for an hour)")
                                             : _(" loading"));
}

/* The selected event in full. */
static int detail(const struct app *a, struct rows *out, const struct eventinfo *e, int w)
{
    char first[16], last[16];
    int before = out->n;
    rows_new(out, -1);
    if (*e->name)
        rows_putf(out, ROLE_STRONG, "%s/%s  ", panel_list_clean(out, e->kind),
                  panel_list_clean(out, e->name));
    rows_put(out, e->warning ? ROLE_WARN : ROLE_TEXT, panel_list_clean(out, e->reason));
    if (e->count > 1 && e->first_ms)
        rows_putf(out, ROLE_MUTED, _("  %" PRId64 " times, first %s ago, last %s ago"), e->count,
                  panel_age(a, e->first_ms, first), panel_age(a, e->last_ms, last));
    rows_wrap(out, ROLE_TEXT, 1, panel_list_clean(out, e->message), w - 1);
    return out->n - before;
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    const struct list_view *v = &a->list[LIST_EVENTS];
    const struct table *t = session_table(a->s, "events");
    struct lists_events l = lists_events(a->lists, a->s, v);
    panel_list_small(a, out, title);
    panel_list_stale(a, out, t, w);
    if (panel_list_state(a, out, t, l.total, w))
        return;
    if (l.n == 0)
        rows_line(out, ROLE_MUTED, _(" no event passes the filter; Esc shows all"));
    int sel = MIN(MAX(a->sel[PANEL_EVENTS], 0), MAX(l.n - 1, 0));
    struct rows more;
    rows_init(&more, out->glyphs);
    int extra = l.n > 0 ? MIN(detail(a, &more, &l.v[l.order[sel]], w), h / 3) + 1 : 0;
    rows_release(&more);
    int room = MAX(h - out->n - extra, 1), top = panel_list_top(a, PANEL_EVENTS, l.n, room);
    for (int i = top; i < l.n && i < top + room; i++)
        panel_events_row(a, out, &l.v[l.order[i]], i, w, true);
    while (l.n > 0 && out->n < h - extra)
        rows_blank(out);
    if (l.n > 0) {
        rows_blank(out);
        detail(a, out, &l.v[l.order[sel]], w);
    }
    out->n = MIN(out->n, h);
    out->first = top;
    out->total = l.n + (h - room);
    out->ids = l.n;
}

static bool ages(const struct app *a UNUSED)
{
    return true;
}

const struct panel panel_events = {title, rows, NULL, ages, N_("Events")};
