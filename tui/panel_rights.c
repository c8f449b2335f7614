/* panel_rights.c - what podium needs of the cluster and what is allowed, the
 * Role lines to ask for, and all that may be done (kubectl auth can-i --list). */
#include "tui/panel_rights.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/panel_list.h"

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("Rights in %s"), a->s->cluster.ns);
}

static const char *who(const struct app *a)
{
    const struct conn *c = &a->s->conn;
    const char *name = json_str(c->who, "username", NULL);
    if (!name)
        name = json_str(c->about, "auth.as", json_str(c->about, "auth.name", NULL));
    return name ? name : a->s->cluster.user;
}

bool panel_rights_role(const struct app *a, struct str *out)
{
    return a->s->conn.rules && conn_role(&a->s->conn, a->s->cluster.ns, who(a), out);
}

/* --- what podium needs --------------------------------------------------------- */
static void verbs(const struct app *a, struct rows *out, int need)
{
    const struct conn *c = &a->s->conn;
    char verb[24];
    for (int i = 0; *conn_verb(&conn_needs[need], i, verb); i++) {
        bool yes = c->yes[need] & 1 << i, no = c->no[need] & 1 << i;
        rows_putf(out, no ? ROLE_FAIL : yes ? ROLE_TEXT : ROLE_MUTED, i ? ", %s%s" : "%s%s",
                  no ? "-" : "", verb);
    }
}

static void need_row(const struct app *a, struct rows *out, int i, int w)
{
    static const enum glyph signs[] = {G_ASK, G_OK, G_FAIL};
    static const enum role roles[] = {ROLE_MUTED, ROLE_OK, ROLE_FAIL};
    const struct conn_need *n = &conn_needs[i];
    enum conn_may m = conn_need_may(&a->s->conn, i);
    int what_w = w >= 60 ? 20 : 18;
    bool soft = m == MAY_NO && n->more;
    rows_new(out, -1);
    rows_sign(out, soft ? ROLE_WARN : roles[m], soft ? G_WARN : signs[m]);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, _(n->what), what_w - 1);
    rows_put(out, ROLE_TEXT, " ");
    if (w < 60) {
        rows_cell(out, ROLE_MUTED, n->resource, MAX(w - what_w - 2, 8));
        return;
    }
    rows_cell(out, ROLE_MUTED, n->resource, 24);
    rows_put(out, ROLE_TEXT, " ");
    verbs(a, out, i);
    if (n->cluster && out->v[out->n - 1].width + 16 < w)
        rows_putf(out, ROLE_MUTED, "  %s", _("whole cluster"));
}

static void needs(const struct app *a, struct rows *out, int w)
{
    int missing = 0, soft = 0;
    for (int i = 0; i < CONN_NEEDS; i++)
        if (conn_need_may(&a->s->conn, i) == MAY_NO)
            *(conn_needs[i].more ? &soft : &missing) += 1;
    if (missing)
        rows_linef(out, ROLE_FAIL, _("missing for labs: %d"), missing);
    else if (soft)
        rows_linef(out, ROLE_WARN, _("all that labs need; %d more would help"), soft);
    else
        rows_line(out, ROLE_OK, _("all that podium needs"));
    for (int i = 0; i < CONN_NEEDS; i++)
        need_row(a, out, i, w);
}

/* --- what to ask for ------------------------------------------------------------ */
static void role(const struct app *a, struct rows *out, int w)
{
    struct str text;
    str_init(&text, 64 << 10);
    if (panel_rights_role(a, &text)) {
        rows_blank(out);
        rows_wrap(out, ROLE_HEAD, 0, _("What to ask for (y copies it)"), w);
        for (const char *p = text.p; *p;) {
            size_t n = strcspn(p, "\n");
            rows_new(out, -1);
            rows_putf(out, ROLE_CODE, "%.*s", (int)n, p);
            p += n + (p[n] == '\n');
        }
    }
    str_release(&text);
}

/* --- all there is ----------------------------------------------------------------- */
static void join(const struct json *list, struct str *out)
{
    for (const struct json *w = json_first(list); w; w = json_next(w))
        str_printf(out, "%s%s", w == json_first(list) ? "" : " ",
                   json_string_value(w) ? json_string_value(w) : "");
}

/* "pods pods/log  [get list]", with group and names as kubectl writes them. */
static void rule_row(struct rows *out, const struct json *r, int w)
{
    struct str what, may;
    const struct json *groups = json_get(r, "apiGroups"), *names = json_get(r, "resourceNames");
    str_init(&what, 4096);
    str_init(&may, 1024);
    join(json_get(r, json_get(r, "nonResourceURLs") ? "nonResourceURLs" : "resources"), &what);
    const char *group = json_string_value(json_first(groups));
    if (group && *group)
        str_printf(&what, " (%s)", group);
    if (json_count(names) > 0) {
        str_add(&what, ": ");
        join(names, &what);
    }
    join(json_get(r, "verbs"), &may);
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    if (w >= 60) {
        rows_cell(out, ROLE_TEXT, panel_list_clean(out, what.p), w * 55 / 100);
        rows_put(out, ROLE_TEXT, " ");
        rows_cell(out, ROLE_MUTED, panel_list_clean(out, may.p), w - w * 55 / 100 - 2);
    } else {
        rows_cell(out, ROLE_TEXT, panel_list_clean(out, what.p), w - 1);
        rows_new(out, -1);
        rows_put(out, ROLE_TEXT, "   ");
        rows_cell(out, ROLE_MUTED, panel_list_clean(out, may.p), w - 3);
    }
    str_release(&what);
    str_release(&may);
}

static void all(const struct app *a, struct rows *out, int w)
{
    const struct json *rules = a->s->conn.rules;
    rows_blank(out);
    rows_wrap(out, ROLE_HEAD, 0, _("All you may do here"), w);
    if (json_bool(rules, "incomplete", false))
        rows_wrap(out, ROLE_WARN, 1, _("The server says that this list is not complete."), w - 1);
    static const char *const lists[] = {"resourceRules", "nonResourceRules"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct json *r = json_first(json_get(rules, lists[i])); r; r = json_next(r))
            rule_row(out, r, w);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    const struct conn *c = &a->s->conn;
    char age[16];
    panel_list_small(a, out, title);
    rows_new(out, -1);
    rows_putf(out, ROLE_STRONG, "%s", panel_list_clean(out, who(a)));
    if (c->rules)
        rows_putf(out, ROLE_MUTED, _("  as of %s ago"), panel_age(a, c->rules_at_ms, age));
    if (c->rules_error[0])
        rows_wrap(out, ROLE_WARN, 0, panel_list_clean(out, c->rules_error), w);
    if (!c->rules) {
        rows_line(out, ROLE_MUTED,
                  c->rules_effect                    ? _("asking the server")
                  : a->s->cluster.link == LINK_UP ? _("not asked yet")
                                                  : _("no link, and not asked before"));
        return;
    }
    needs(a, out, w);
    role(a, out, w);
    all(a, out, w);
}

static bool ages(const struct app *a)
{
    return a->s->conn.rules != NULL;
}

const struct panel panel_rights = {title, rows, NULL, ages, N_("Rights")};
