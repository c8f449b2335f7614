/* plain_conn.c - the connection in words: contexts, namespaces, who one is, what
 * one may do. What the cluster is asked for is told when it has answered. */
#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "tui/panel.h"
#include "tui/panel_rights.h"
#include "tui/plain_priv.h"
#include "tui/plain_text.h"

enum { TELL_MS = 10000, SOON_MS = 7 * 86400 * 1000 };

/* --- contexts ------------------------------------------------------------------------- */
static void context_line(const struct app *a, const struct conn_context *x, struct str *out)
{
    bool here = str_eq(x->name, a->s->cluster.context);
    str_printf(out, _("Context %s: cluster %s, user %s, namespace %s"), x->name, x->cluster,
               x->user, *x->ns ? x->ns : _("default"));
    if (here)
        str_printf(out, "%s", _(", in use"));
    if (x->current)
        str_printf(out, "%s", _(", current-context of the file"));
    if (x->error[0])
        str_printf(out, _(". It can't be used: %s"), x->error);
    else if (x->probe == PROBE_ANSWERS)
        str_printf(out, _(", answers in %d ms"), (int)x->probe_ms);
    else if (x->probe == PROBE_SILENT)
        str_printf(out, _(", does not answer: %s"), x->why);
    plain_line(out, "%s", _("."));
}

static void contexts(const struct app *a, struct str *out)
{
    const struct conn *c = &a->s->conn;
    if (c->contexts_error[0])
        plain_line(out, _("The kubeconfig files can't be used: %s"), c->contexts_error);
    else if (c->contexts_n == 0)
        plain_line(out, "%s", _("No kubeconfig has a context."));
    for (size_t i = 0; i < c->contexts_n; i++)
        context_line(a, &c->context[i], out);
    if (c->contexts_n > 1)
        plain_line(out, "%s", _("Type ctx and a name to go there."));
}

/* --- namespaces ------------------------------------------------------------------------ */
static void spaces(const struct app *a, struct str *out)
{
    const struct conn *c = &a->s->conn;
    plain_line(out, _("You are in the namespace %s."), a->s->cluster.ns);
    for (size_t i = 0; i < c->ns_n; i++)
        plain_line(out, _("Namespace %s: %s."), c->ns[i].name,
                   c->ns[i].own      ? _("of the kubeconfig")
                   : c->ns[i].ending ? _("being deleted")
                   : c->ns[i].used   ? _("used before")
                                     : _("listed"));
    if (c->ns_list == MAY_NO)
        plain_line(out, "%s", _("Listing all namespaces is not allowed here, and not needed."));
    else if (c->ns_error[0])
        plain_line(out, _("The list did not come: %s"), c->ns_error);
    plain_line(out, "%s", _("Type ns and any name to go there."));
}

/* --- who and how ------------------------------------------------------------------------- */
static void ends(const struct app *a, const char *what, int64_t at_ms, bool always,
                 struct str *out)
{
    char age[16];
    int64_t left = at_ms - a->now_ms;
    if (at_ms <= 0 || (!always && left > SOON_MS))
        return;
    if (left <= 0)
        plain_line(out, _("%s ended %s ago."), what, clock_age(-left, age));
    else
        plain_line(out, _("%s ends in %s."), what, clock_age(left, age));
}

static void all_ends(const struct app *a, bool always, struct str *out)
{
    const struct json *about = a->s->conn.about;
    bool cert = str_eq(json_str(about, "auth.how", ""), "certificate");
    for (const struct json *c = json_first(json_get(about, "certs")); c; c = json_next(c))
        ends(a, str_eq(json_str(c, "what", ""), "ca") ? _("The CA's certificate")
                                                      : _("Your certificate"),
             json_int(c, "expires_ms", 0), always, out);
    ends(a, _("The server's certificate"), json_int(about, "tls.expires_ms", 0), always, out);
    if (!cert)
        ends(a, _("Your token"), json_int(about, "auth.expires_ms", 0), always, out);
}

static void missing(const struct app *a, struct str *out)
{
    const struct conn *c = &a->s->conn;
    int n = 0;
    if (!c->rules)
        return;
    for (int i = 0; i < CONN_NEEDS; i++)
        if (conn_need_may(c, i) == MAY_NO && !conn_needs[i].more) {
            str_printf(out, n++ ? ", %s" : _("Not allowed, but needed by labs: %s"),
                       _(conn_needs[i].what));
        }
    if (n)
        plain_line(out, "%s", _(". Type rights for the Role to ask for."));
    else
        plain_line(out, "%s", _("You may do all that labs need."));
}

void plain_who(const struct app *a, struct str *out)
{
    const struct conn *c = &a->s->conn;
    const struct cluster_state *k = &a->s->cluster;
    if (!c->about)
        return;
    str_printf(out, _("Server %s"), k->server);
    if (k->version[0])
        str_printf(out, _(", version %s"), k->version);
    plain_line(out, _(", user %s."), json_str(c->who, "username", k->user));
    missing(a, out);
    all_ends(a, false, out);
}

static void lists(const struct app *a, struct str *out)
{
    char age[16];
    for (int i = 0; i < SESSION_TABLES; i++) {
        const struct table *t = &a->s->tables[i];
        if (t->forbidden)
            plain_line(out, _("The list of %s is not allowed."), t->resource);
        else if (t->synced)
            plain_line(out, session_table_old(a->s, t) ? _("The list of %s is old: %s.")
                                                       : _("The list of %s was heard of %s ago."),
                       t->resource, panel_age(a, t->seen_ms, age));
    }
}

static void connection(const struct app *a, struct str *out)
{
    const struct conn *c = &a->s->conn;
    const char *proxy = json_str(c->about, "proxy", "");
    plain_link(a, out);
    plain_who(a, out);
    const char *name = json_str(c->about, "auth.name", "");
    plain_line(out, *name ? _("You are known by: %s %s.") : _("You are known by: %s%s."),
               json_str(c->about, "auth.how", "?"), name);
    if (c->who_error[0])
        plain_line(out, _("The server did not say who you are: %s"), c->who_error);
    if (*proxy)
        plain_line(out, _("Through the proxy %s."), proxy);
    all_ends(a, true, out);
    if (conn_last(c) >= 0)
        plain_line(out, _("Latency: median %d ms, last %d ms. %d requests, %d failed."),
                   (int)conn_latency(c), (int)conn_last(c), (int)c->began_n, (int)c->failed);
    lists(a, out);
}

/* --- rights -------------------------------------------------------------------------------- */
static void rights(const struct app *a, struct str *out)
{
    static const char *const words[] = {N_("not known"), N_("yes"), N_("no")};
    const struct conn *c = &a->s->conn;
    struct str role;
    if (!c->rules) {
        plain_line(out, _("What you may do is not known: %s"),
                   c->rules_error[0] ? c->rules_error : _("the cluster has not answered"));
        return;
    }
    for (int i = 0; i < CONN_NEEDS; i++)
        plain_line(out, _("%s (%s on %s): %s."), _(conn_needs[i].what), conn_needs[i].verbs,
                   conn_needs[i].resource, _(words[conn_need_may(c, i)]));
    missing(a, out);
    str_init(&role, 64 << 10);
    if (panel_rights_role(a, &role)) {
        plain_line(out, "%s", _("What to ask for:"));
        plain_line(out, "%s", role.p);
    }
    str_release(&role);
}

/* --- words ------------------------------------------------------------------------------------ */
static bool open_question(const struct conn *c, enum plain_tell kind)
{
    bool asks = false;
    for (int i = 0; i < c->asks; i++)
        asks = asks || c->ask[i].effect;
    switch (kind) {
    case PLAIN_TELL_CTX: return c->contexts_effect != 0;
    case PLAIN_TELL_NS: return c->ns_effect != 0;
    case PLAIN_TELL_CONN: return c->who_effect != 0;
    case PLAIN_TELL_RIGHTS: return c->rules_effect != 0 || c->who_effect != 0 || asks;
    case PLAIN_TELL_GO: return c->going != 0;
    case PLAIN_TELL_CAN: return c->can_effect != 0;
    default: return false;
    }
}

/* The other place has answered: its lists have come, or there is no link. */
static bool there(const struct session *s)
{
    if (s->cluster.link == LINK_CONNECTING)
        return false;
    for (int i = 0; i < SESSION_WATCHED && s->cluster.link == LINK_UP; i++)
        if (!s->tables[i].synced && !s->tables[i].forbidden && !s->tables[i].broken)
            return false;
    return true;
}

/* That the link is another one, and a yes or no, is said as any news is. */
static void went(const struct app *a UNUSED, struct str *out UNUSED)
{
}

/* Without a link what is known is told at once. */
void plain_tell_look(struct plain *p)
{
    static void (*const tell[])(const struct app *a, struct str *out) = {
        [PLAIN_TELL_CTX] = contexts, [PLAIN_TELL_NS] = spaces, [PLAIN_TELL_CONN] = connection,
        [PLAIN_TELL_RIGHTS] = rights, [PLAIN_TELL_GO] = went,
        [PLAIN_TELL_CAN] = went};
    const struct app *a = p->app;
    bool local = p->tell == PLAIN_TELL_CTX || p->tell == PLAIN_TELL_GO;
    bool linked = a->s->cluster.link == LINK_UP;
    if (p->tell == PLAIN_TELL_NONE)
        return;
    bool busy = open_question(&a->s->conn, p->tell) || (p->tell == PLAIN_TELL_GO && !there(a->s));
    if (busy && (local || linked) && a->now_ms < p->tell_until_ms)
        return;
    enum plain_tell kind = p->tell;
    p->tell = PLAIN_TELL_NONE;
    tell[kind](a, &p->out);
}

static void ask(struct plain *p, enum plain_tell kind, const char *command, const char *arg)
{
    p->tell_until_ms = p->app->now_ms + TELL_MS;
    if (command)
        plain_command(p, command, arg, NULL);
    p->tell = kind;
    plain_tell_look(p);
}

void plain_ctx(struct plain *p, const char *arg)
{
    if (*arg)
        ask(p, PLAIN_TELL_GO, "ctx.use", arg);
    else
        ask(p, PLAIN_TELL_CTX, "ctx.list", NULL);
}

void plain_ns(struct plain *p, const char *arg)
{
    bool can = p->app->s->cluster.link == LINK_UP && p->app->s->conn.ns_list != MAY_NO;
    if (*arg)
        ask(p, PLAIN_TELL_GO, "ns.use", arg);
    else
        ask(p, PLAIN_TELL_NS, can ? "ns.list" : NULL, NULL);
}

void plain_conn(struct plain *p, const char *arg UNUSED)
{
    ask(p, PLAIN_TELL_CONN, "conn.look", NULL);
}

void plain_rights(struct plain *p, const char *arg UNUSED)
{
    ask(p, PLAIN_TELL_RIGHTS, "rights.look", NULL);
}

void plain_can(struct plain *p, const char *arg)
{
    if (*arg)
        ask(p, PLAIN_TELL_CAN, "can.ask", arg);
    else
        plain_rights(p, arg);
}
