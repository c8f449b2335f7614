/* panel_list.c - what the lists' screens share (panel_list.h). */
#include "tui/panel_list.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "k8s/res.h"
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

/* The right that is missing: as the server said it, else as it was asked for. */
static struct denied denied(const struct app *a, const struct table *t)
{
    bool all = t == &a->s->all_pods;
    const struct res *r = res_by_name(all ? "pods" : t->resource);
    struct denied d = t->denied;
    if (d.resource[0] || !r)
        return d;
    str_copy(d.verb, sizeof d.verb, "list");
    str_copy(d.resource, sizeof d.resource, r->plural);
    str_copy(d.group, sizeof d.group, r->group);
    str_copy(d.ns, sizeof d.ns, all || !r->namespaced ? "" : a->s->cluster.ns);
    return d;
}

void panel_list_forbidden_row(const struct app *a, struct rows *out, const struct table *t, int w)
{
    struct denied d = denied(a, t);
    char text[640];
    rows_new(out, -1);
    rows_sign(out, ROLE_WARN, G_LOCKED);
    str_fmt(text, sizeof text, _(" not allowed: %s %s in %s"), d.verb, d.resource, d.ns);
    if (!d.ns[0] || utf8_str_width(text) >= w)
        str_fmt(text, sizeof text, _(" not allowed: %s %s"), d.verb, d.resource);
    rows_put(out, ROLE_WARN, panel_list_clean(out, text));
}

/* And the Role line that would open the list. */
void panel_list_forbidden(const struct app *a, struct rows *out, const struct table *t, int w)
{
    struct denied d = denied(a, t);
    struct str rule;
    char text[640];
    panel_list_forbidden_row(a, out, t, w);
    if (d.ns[0])
        str_fmt(text, sizeof text, _("Ask for a Role in %s with this rule:"), d.ns);
    else
        str_copy(text, sizeof text, _("Ask for a ClusterRole with this rule:"));
    rows_wrap(out, ROLE_MUTED, 2, panel_list_clean(out, text), w - 2);
    str_init(&rule, 1024);
    str_add(&rule, "> ");
    denied_rule(&d, &rule);
    rows_wrap(out, ROLE_CODE, 2, panel_list_clean(out, rule.p), w - 2);
    str_release(&rule);
}

static void loading(const struct app *a, struct rows *out, const struct table *t)
{
    char age[16];
    if (a->s->cluster.link == LINK_DOWN)
        rows_line(out, ROLE_MUTED, _(" not read yet: no link"));
    else if (t->asked_ms > 0 && a->now_ms - t->asked_ms >= 1000)
        rows_linef(out, ROLE_MUTED, _(" loading%s %s"), glyph_of(out->glyphs, G_MORE),
                   panel_age(a, t->asked_ms, age));
    else
        rows_linef(out, ROLE_MUTED, _(" loading%s"), glyph_of(out->glyphs, G_MORE));
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
    else if (t->error[0] && a->s->cluster.link != LINK_DOWN)
        rows_wrap(out, ROLE_WARN, 1, panel_list_clean(out, t->error), w - 1);
    else
        loading(a, out, t);
    return true;
}

int panel_list_top(const struct app *a, enum panel_id panel, int n, int h)
{
    int sel = MIN(MAX(a->sel[panel], 0), MAX(n - 1, 0));
    return MIN(MAX(sel - h + 1, 0), MAX(n - h, 0));
}

bool panel_list_known(const struct table *t, int n)
{
    return (n > 0 || t->synced) && !t->forbidden;
}

void panel_list_title(const struct list_view *v, const struct table *t, int n, int total,
                      struct str *out)
{
    if (n != total)
        str_printf(out, "  %d/%d", n, total);
    else if (panel_list_known(t, total))
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

/* "class-a/stu-07, 12s old: class-b has not answered yet" */
static void of_before(const struct app *a, const struct table *t, char buf[200])
{
    const struct cluster_state *k = &a->s->cluster;
    char age[16];
    panel_age(a, t->seen_ms, age);
    if (k->link == LINK_DOWN)
        str_fmt(buf, 200, _("of %s, %s old: no link to %s"), t->from, age, k->context);
    else
        str_fmt(buf, 200, _("of %s, %s old: waiting for %s/%s"), t->from, age, k->context, k->ns);
}

const char *panel_list_stale_words(const struct app *a, const struct table *t, char buf[200])
{
    const struct cluster_state *k = &a->s->cluster;
    int64_t seen = t && t->seen_ms ? t->seen_ms : k->last_ok_ms;
    int64_t next_ms = t && t->broken && t->next_ms ? t->next_ms : k->next_try_ms;
    char age[16], next[16] = "";
    bool down = k->link == LINK_DOWN;
    buf[0] = '\0';
    if (t ? !session_table_old(a->s, t) : !down)
        return buf;
    if (t && t->from[0]) {
        of_before(a, t, buf);
        return buf;
    }
    if (next_ms > a->now_ms)
        clock_age(next_ms - a->now_ms, next);
    panel_age(a, seen, age);
    if (t && t->quiet && !down)
        str_fmt(buf, 200, _("the server is silent: %s old"), age);
    else if (*age && *next)
        str_fmt(buf, 200, down ? _("no link: %s old, next try in %s")
                               : _("broken off: %s old, next try in %s"), age, next);
    else if (*age)
        str_fmt(buf, 200, down ? _("no link: %s old") : _("broken off: %s old"), age);
    else
        str_copy(buf, 200, down ? _("no link") : _("broken off"));
    return buf;
}

/* "polled every 10s, 4s old: you may not watch pods; the rule to ask for: {…}" */
static void polled(const struct app *a, struct rows *out, const struct table *t, int w)
{
    const struct denied *d = &t->denied;
    char text[800], why[600], age[16], every[16];
    struct str rule;
    str_init(&rule, 1024);
    denied_rule(d, &rule);
    str_fmt(why, sizeof why, _("you may not %s %s; the rule to ask for: %s"), d->verb, d->resource,
            rule.p);
    str_release(&rule);
    str_fmt(text, sizeof text, _("polled every %s, %s old: %s"), clock_age(t->poll_ms, every),
            panel_age(a, t->seen_ms, age), d->verb[0] ? why : t->error);
    rows_new(out, -1);
    rows_sign(out, ROLE_WARN, G_WAIT);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_WARN, panel_list_clean(out, text), MAX(w - 2, 4));
}

bool panel_list_stale(const struct app *a, struct rows *out, const struct table *t, int w)
{
    char text[200];
    if (!*panel_list_stale_words(a, t, text)) {
        if (t && t->poll_ms)
            polled(a, out, t, w);
        return false;
    }
    if (t && t->from[0] && utf8_str_width(text) > w - 2) {
        char age[16];
        str_fmt(text, sizeof text, _("of %s, %s old"), t->from, panel_age(a, t->seen_ms, age));
    }
    rows_new(out, -1);
    rows_sign(out, ROLE_FAIL, G_FAIL);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_FAIL, panel_list_clean(out, text), MAX(w - 2, 4));
    out->dim = true;
    return true;
}

bool panel_list_run_stale(const struct app *a)
{
    const char *state = a->s->run.state;
    return a->s->cluster.link == LINK_DOWN && !str_eq(state, "done") && !str_eq(state, "error");
}
