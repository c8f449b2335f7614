/* panel_conn.c - the connection: where to and how, who one is and how that is
 * known, how fast it answers, what is how old, and what ends when. */
#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/panel.h"
#include "tui/panel_list.h"

enum { SOON_MS = 7 * 86400 * 1000 };

static const char *title(const struct app *a, char buf[160])
{
    return str_fmt(buf, 160, _("Connection %s"), a->s->cluster.context);
}

/* --- rows ------------------------------------------------------------------------ */
static int label_width(int w)
{
    return w >= 90 ? 24 : w >= 60 ? 18 : 12;
}

/* "Label      value", the value wrapped below itself. */
static void fact(struct rows *out, int w, const char *label, enum role role, const char *value)
{
    int at = label_width(w), room = MAX(w - at, 10);
    if (!*value)
        return;
    const char *clean = panel_list_clean(out, value);
    bool beside = utf8_str_width(clean) <= room && utf8_str_width(label) < at;
    rows_new(out, -1);
    rows_put(out, ROLE_MUTED, label);
    if (beside) {
        rows_pad(out, at);
        rows_put(out, role, clean);
    } else {
        int indent = w >= 60 ? at : 2;
        rows_wrap(out, role, indent, clean, w - indent);
    }
}

static void head(struct rows *out, const char *text)
{
    if (out->n > 0)
        rows_blank(out);
    rows_line(out, ROLE_HEAD, text);
}

/* --- where to ---------------------------------------------------------------------- */
static void link_fact(const struct app *a, struct rows *out, int w)
{
    static const char *const words[] = {N_("no cluster"), N_("connecting"), N_("live"),
                                        N_("no link")};
    static const enum role roles[] = {ROLE_MUTED, ROLE_RUN, ROLE_OK, ROLE_FAIL};
    const struct cluster_state *k = &a->s->cluster;
    char text[700], age[16];
    fact(out, w, _("link"), roles[k->link], _(words[k->link]));
    if (k->last_ok_ms && k->link != LINK_UP)
        fact(out, w, _("last answer"), ROLE_WARN,
             str_fmt(text, sizeof text, _("%s ago"), panel_age(a, k->last_ok_ms, age)));
    if (k->link == LINK_DOWN)
        fact(out, w, _("why"), ROLE_FAIL, k->error);
    if (k->link == LINK_DOWN && k->next_try_ms > a->now_ms)
        fact(out, w, _("next try"), ROLE_TEXT,
             str_fmt(text, sizeof text, _("in %s"), clock_age(k->next_try_ms - a->now_ms, age)));
}

static void server(const struct app *a, struct rows *out, int w)
{
    const struct cluster_state *k = &a->s->cluster;
    const struct json *about = a->s->conn.about;
    char text[600];
    const char *proxy = json_str(about, "proxy", ""), *except = json_str(about, "proxy_except", "");
    head(out, _("Server"));
    link_fact(a, out, w);
    fact(out, w, _("address"), ROLE_TEXT, k->server);
    fact(out, w, _("version"), ROLE_TEXT, k->version);
    str_fmt(text, sizeof text, "%s%s", json_str(about, "tls.version", ""),
            json_bool(about, "insecure", false) ? _(", the certificate is not checked") : "");
    fact(out, w, "TLS", json_bool(about, "insecure", false) ? ROLE_WARN : ROLE_TEXT, text);
    fact(out, w, _("its TLS name"), ROLE_TEXT, json_str(about, "tls_server_name", ""));
    if (*proxy)
        str_fmt(text, sizeof text, _("%s (%s)"), proxy, json_str(about, "proxy_from", ""));
    else if (*except)
        str_fmt(text, sizeof text, _("none: %s is an exception"), except);
    else
        str_copy(text, sizeof text, _("none"));
    fact(out, w, _("proxy"), ROLE_TEXT, text);
    fact(out, w, _("kubeconfig"), ROLE_MUTED, json_str(about, "kubeconfig", ""));
}

/* --- who ----------------------------------------------------------------------------- */
static void join(const struct json *list, struct str *out)
{
    for (const struct json *g = json_first(list); g; g = json_next(g))
        str_printf(out, "%s%s", g == json_first(list) ? "" : ", ",
                   json_string_value(g) ? json_string_value(g) : "");
}

static const char *how_text(const char *how)
{
    static const struct { const char *how, *text; } words[] = {
        {"certificate", N_("client certificate (CN, O)")},
        {"token", N_("token in the kubeconfig")}, {"token file", N_("token file, read again")},
        {"exec plugin", N_("credential plugin")}, {"password", N_("name and password")},
        {"none", N_("no credentials")}};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i].how, how))
            return _(words[i].text);
    return how;
}

static void user(const struct app *a, struct rows *out, int w)
{
    const struct conn *c = &a->s->conn;
    struct str groups;
    char text[700];
    str_init(&groups, 2000);
    head(out, _("You"));
    fact(out, w, _("user entry"), ROLE_TEXT, a->s->cluster.user);
    fact(out, w, _("known by"), ROLE_TEXT, how_text(json_str(c->about, "auth.how", "")));
    fact(out, w, _("plugin"), ROLE_TEXT, json_str(c->about, "auth.plugin", ""));
    if (a->s->cluster.login[0])
        fact(out, w, _("it runs"), ROLE_RUN, _("Esc ends it"));
    fact(out, w, _("it said"), ROLE_TEXT, json_str(c->about, "plugin_said", ""));
    join(json_at(c->about, "auth.groups"), &groups);
    str_fmt(text, sizeof text, groups.len ? "%s (%s)" : "%s", json_str(c->about, "auth.name", ""),
            groups.p);
    fact(out, w, _("it names"), ROLE_TEXT, text);
    fact(out, w, _("issued by"), ROLE_TEXT, json_str(c->about, "auth.issuer", ""));
    fact(out, w, _("acting as"), ROLE_WARN, json_str(c->about, "auth.as", ""));
    str_clear(&groups);
    join(json_get(c->who, "groups"), &groups);
    const char *said = c->who_effect ? _("asking") : c->who_error[0] ? c->who_error
                                                                     : _("not asked yet");
    fact(out, w, _("server says"), c->who ? ROLE_STRONG : ROLE_MUTED,
         json_str(c->who, "username", said));
    fact(out, w, _("your groups"), ROLE_TEXT, groups.p);
    str_release(&groups);
}

static void place(const struct app *a, struct rows *out, int w)
{
    static const struct { const char *from, *text; } words[] = {
        {"flag", N_("of --namespace")}, {"kept", N_("chosen here before")},
        {"chosen", N_("chosen here")}, {"kubeconfig", N_("of the kubeconfig")}};
    const char *from = json_str(a->s->conn.about, "ns_from", ""), *why = "";
    char text[200];
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq(words[i].from, from))
            why = _(words[i].text);
    str_fmt(text, sizeof text, *why ? "%s, %s" : "%s", a->s->cluster.ns, why);
    fact(out, w, _("namespace"), ROLE_TEXT, text);
}

/* --- figures ---------------------------------------------------------------------------- */
static void figures(const struct app *a, struct rows *out, int w)
{
    const struct conn *c = &a->s->conn;
    char text[160];
    head(out, _("Answers"));
    if (conn_last(c) >= 0)
        fact(out, w, _("latency"), ROLE_TEXT,
             str_fmt(text, sizeof text, _("median %dms, last %dms"), (int)conn_latency(c),
                     (int)conn_last(c)));
    fact(out, w, _("requests"), ROLE_TEXT,
         str_fmt(text, sizeof text, _("%.1f a second, %d in all"),
                 conn_rate(c, a->now_ms), (int)c->began_n));
    fact(out, w, _("failed"), c->failed ? ROLE_WARN : ROLE_TEXT,
         str_fmt(text, sizeof text, _("%d, lists begun again %d times"), (int)c->failed,
                 (int)c->retries));
}

/* --- what ends ------------------------------------------------------------------------------ */
struct end {
    const char *what, *who;
    int64_t at_ms;
};
enum { ENDS_MOST = 8 };

/* Certificates and a token, in order; how many. */
static int ends_of(const struct app *a, struct end out[ENDS_MOST])
{
    const struct json *about = a->s->conn.about;
    int n = 0;
    const struct json *c = json_first(json_get(about, "certs"));
    for (; c && n < ENDS_MOST - 2; c = json_next(c))
        out[n++] = (struct end){str_eq(json_str(c, "what", ""), "ca") ? _("CA")
                                                                      : _("your certificate"),
                                json_str(c, "subject", ""), json_int(c, "expires_ms", 0)};
    out[n++] = (struct end){_("server cert"), json_str(about, "tls.subject", ""),
                            json_int(about, "tls.expires_ms", 0)};
    if (!str_eq(json_str(about, "auth.how", ""), "certificate"))
        out[n++] = (struct end){_("your token"), "", json_int(about, "auth.expires_ms", 0)};
    return n;
}

static void end_text(const struct app *a, const struct end *e, char *text, size_t size)
{
    char age[16], day[36];
    int64_t left = e->at_ms - a->now_ms;
    clock_rfc3339(e->at_ms * 1000, 0, day);
    day[16] = '\0';
    day[10] = ' ';
    if (left <= 0)
        str_fmt(text, size, _("over since %s (%s UTC) %s"), clock_age(-left, age), day, e->who);
    else
        str_fmt(text, size, _("in %s (%s UTC) %s"), clock_age(left, age), day, e->who);
}

static void expiry(const struct app *a, struct rows *out, int w)
{
    struct end all[ENDS_MOST];
    char text[400];
    int n = ends_of(a, all), before = out->n, told = 0;
    head(out, _("What ends"));
    for (int i = 0; i < n; i++) {
        int64_t left = all[i].at_ms - a->now_ms;
        if (all[i].at_ms <= 0)
            continue;
        told++;
        end_text(a, &all[i], text, sizeof text);
        fact(out, w, all[i].what, left <= 0 ? ROLE_FAIL : left < SOON_MS ? ROLE_WARN : ROLE_TEXT,
             text);
    }
    if (!told)
        out->n = before;
}

/* What is over or ends within a week stands above all else. */
static void alarms(const struct app *a, struct rows *out, int w)
{
    struct end all[ENDS_MOST];
    char text[500], age[16];
    int n = ends_of(a, all);
    for (int i = 0; i < n; i++) {
        int64_t left = all[i].at_ms - a->now_ms;
        if (all[i].at_ms <= 0 || left >= SOON_MS)
            continue;
        if (left <= 0)
            str_fmt(text, sizeof text, _("%s: over since %s"), all[i].what, clock_age(-left, age));
        else
            str_fmt(text, sizeof text, _("%s: ends in %s"), all[i].what, clock_age(left, age));
        rows_new(out, -1);
        rows_sign(out, left <= 0 ? ROLE_FAIL : ROLE_WARN, left <= 0 ? G_FAIL : G_WARN);
        rows_put(out, ROLE_TEXT, " ");
        rows_cell(out, left <= 0 ? ROLE_FAIL : ROLE_WARN, text, w - 2);
    }
}

/* --- what is how old ---------------------------------------------------------------- */
static void view(const struct app *a, struct rows *out, const struct table *t, int w)
{
    char text[700], age[16], next[16] = "";
    enum role role = ROLE_TEXT;
    if (t->next_ms > a->now_ms)
        clock_age(t->next_ms - a->now_ms, next);
    if (t->forbidden) {
        role = ROLE_WARN;
        str_fmt(text, sizeof text, _("not allowed: %s"), t->denied.verb);
    } else if (t->broken) {
        role = ROLE_FAIL;
        str_fmt(text, sizeof text, *next ? _("%d, %s old, next try in %s") : _("%d, %s old"),
                (int)json_count(t->items), panel_age(a, t->seen_ms, age), next);
    } else if (t->poll_ms) {
        role = ROLE_WARN;
        str_fmt(text, sizeof text, _("%d, polled every %s, %s old: %s"),
                (int)json_count(t->items), clock_age(t->poll_ms, next),
                panel_age(a, t->seen_ms, age), t->error);
    } else if (t->synced) {
        str_fmt(text, sizeof text, _("%d, the server spoke %s ago"), (int)json_count(t->items),
                panel_age(a, t->seen_ms, age));
        if (t->poll_ms)
            str_fmt(text, sizeof text, _("%d, listed every %s, last %s ago"),
                    (int)json_count(t->items), clock_age(t->poll_ms, next), age);
    } else if (t->asked_ms) {
        role = ROLE_MUTED;
        str_fmt(text, sizeof text, _("loading for %s"), panel_age(a, t->asked_ms, age));
    } else {
        return;
    }
    fact(out, w, t->resource, role, text);
}

static void views(const struct app *a, struct rows *out, int w)
{
    head(out, _("Lists"));
    for (int i = 0; i < SESSION_TABLES; i++)
        if (i < SESSION_WATCHED || a->s->tables[i].synced || a->s->tables[i].forbidden)
            view(a, out, &a->s->tables[i], w);
}

static void rows(const struct app *a, struct rows *out, int w, int h UNUSED)
{
    panel_list_small(a, out, title);
    alarms(a, out, w);
    server(a, out, w);
    user(a, out, w);
    place(a, out, w);
    expiry(a, out, w);
    figures(a, out, w);
    views(a, out, w);
}

static bool ages(const struct app *a UNUSED)
{
    return true;
}

const struct panel panel_conn = {title, rows, NULL, ages, N_("Connection")};
