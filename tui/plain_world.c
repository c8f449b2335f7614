/* plain_world.c - the cluster in words (plain_text.h): an object a line. */
#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "k8s/nodeinfo.h"
#include "tui/panel.h"
#include "tui/plain_text.h"

enum { PLAIN_EVENTS_MOST = 500 };

static const char *age(const struct app *a, int64_t at_ms, char buf[16])
{
    return at_ms > 0 ? panel_age(a, at_ms, buf) : str_copy(buf, 16, "?");
}

/* --- the link --------------------------------------------------------------------- */
static void link_down(const struct app *a, struct str *out)
{
    const struct cluster_state *k = &a->s->cluster;
    const struct pd_err *e = &a->s->last_error;
    char buf[16];
    plain_line(out, _("The cluster can't be reached: %s"), k->error[0] ? k->error : _("no answer"));
    if (e->code)
        plain_line(out, _("Next step: %s"), e->hint[0] ? e->hint : _(pd_hint(e->code)));
    if (k->last_ok_ms > 0)
        plain_line(out, _("What you read about the cluster is as it was %s ago."),
                   age(a, k->last_ok_ms, buf));
    if (k->next_try_ms > a->now_ms)
        plain_line(out, _("The next try is in %s."),
                   clock_age(k->next_try_ms - a->now_ms, buf));
}

void plain_link(const struct app *a, struct str *out)
{
    const struct cluster_state *k = &a->s->cluster;
    if (k->link == LINK_UP)
        plain_line(out, _("Cluster %s, namespace %s: connected, answers in %d ms."), k->context,
                   k->ns, (int)k->latency_ms);
    else if (k->link == LINK_DOWN)
        link_down(a, out);
    else if (k->link == LINK_CONNECTING)
        plain_line(out, _("Cluster %s: connecting."), k->context);
    else
        plain_line(out, "%s", _("No cluster."));
}

static void rule_to_ask(const struct table *t, struct str *out)
{
    struct str rule;
    if (!t->denied.resource[0])
        return;
    str_init(&rule, 1024);
    denied_rule(&t->denied, &rule);
    if (t->denied.ns[0])
        plain_line(out, _("Ask for a Role in %s with this rule: %s"), t->denied.ns, rule.p);
    else
        plain_line(out, _("Ask for a ClusterRole with this rule: %s"), rule.p);
    str_release(&rule);
}

/* False, and said: the list can't be told. */
static bool readable(const struct app *a, const struct table *t, struct str *out)
{
    char buf[16];
    if (t->forbidden && !t->synced) {
        plain_line(out, _("You may not list %s: %s"), t->resource, t->error);
        rule_to_ask(t, out);
        return false;
    }
    if (a->s->cluster.link == LINK_DOWN && t->synced)
        plain_line(out, _("No link: this is as it was %s ago."),
                   age(a, a->s->cluster.last_ok_ms, buf));
    else if (t->from[0])
        plain_line(out, _("The list of %s has not come from here yet."), t->resource);
    else if (!t->synced && t->error[0])
        plain_line(out, _("The list of %s did not come: %s"), t->resource, t->error);
    else if (!t->synced)
        plain_line(out, _("The list of %s is not read yet."), t->resource);
    else if (session_table_old(a->s, t))
        plain_line(out, _("This list is as it was %s ago."), age(a, t->seen_ms, buf));
    return t->synced;
}

/* --- nodes ------------------------------------------------------------------------ */
/* What pods of other namespaces hold is not seen: it is a lower bound. */
static void use(const struct nodeinfo_use *u, double unit, struct str *out)
{
    if (u->resource && u->allocatable >= 0)
        str_printf(out, _(", %s: at least %.1f in use of %.1f"), u->resource,
                   (double)MAX(u->used, 0) / unit, (double)u->allocatable / unit);
}

static void node_line(const struct nodeinfo *n, struct str *out)
{
    char taint[200];
    str_printf(out, _("Node %s: %s%s%s"), n->name, n->ready ? _("Ready") : _("not Ready"),
               n->cordoned ? _(", cordoned") : "", n->simulated ? _(", simulated") : "");
    if (n->pressure[0])
        str_printf(out, ", %s", n->pressure);
    for (int i = 0; i < n->devices; i++)
        use(&n->device[i], 1, out);
    use(&n->cpu, 1000, out);
    for (int i = 0; i < n->taints; i++)
        str_printf(out, _(", taint %s"), nodeinfo_taint(n->node, i, taint, sizeof taint));
    plain_line(out, "%s", _("."));
}

void plain_nodes(const struct app *a, struct str *out)
{
    const struct table *t = session_table(a->s, "nodes"), *pods = session_table(a->s, "pods");
    struct nodeinfo_list list;
    int ready = 0;
    if (!readable(a, t, out))
        return;
    nodeinfo_list_read(t->items, pods->items, &list);
    for (int i = 0; i < list.n; i++)
        ready += list.v[i].ready;
    plain_line(out, _("Nodes: %d, Ready: %d."), list.n, ready);
    for (int i = 0; i < list.n; i++)
        node_line(&list.v[i], out);
    nodeinfo_list_release(&list);
}

/* --- pods ------------------------------------------------------------------------- */
static void pod_line(const struct app *a, const struct json *pod, struct str *out)
{
    struct podinfo p;
    char buf[16];
    podinfo_read(pod, &p);
    str_printf(out, _("Pod %s: %s, %d of %d containers ready"), p.name, p.status, p.ready, p.all);
    if (p.restarts)
        str_printf(out, _(", %d restarts"), p.restarts);
    str_printf(out, _(", on node %s"), *p.node ? p.node : _("none yet"));
    plain_line(out, _(", age %s."), age(a, panel_time(pod, "metadata.creationTimestamp"), buf));
}

void plain_pods(const struct app *a, struct str *out)
{
    const struct table *t = session_table(a->s, "pods");
    if (!readable(a, t, out))
        return;
    plain_line(out, _("Pods in the namespace %s: %d."), a->s->cluster.ns,
               (int)json_count(t->items));
    for (const struct json *c = json_first(t->items); c; c = json_next(c))
        pod_line(a, c, out);
}

/* --- events ------------------------------------------------------------------------ */
static void event_line(const struct app *a, const struct json *e, struct str *out)
{
    struct eventinfo i;
    char buf[16];
    eventinfo_read(e, &i);
    plain_line(out, _("%s ago, %s, %s %s: %s"), age(a, i.last_ms, buf), i.reason, i.kind, i.name,
               i.message);
}

struct newest {
    const struct json *v[PLAIN_EVENTS_MOST];
    int64_t at[PLAIN_EVENTS_MOST];
    int n;
};

static void keep_newest(struct newest *k, const struct json *e, int most)
{
    struct eventinfo info;
    eventinfo_read(e, &info);
    int64_t at = info.last_ms;
    int i = k->n;
    while (i > 0 && k->at[i - 1] < at)
        i--;
    if (i >= most)
        return;
    k->n = MIN(k->n + 1, most);
    for (int j = k->n - 1; j > i; j--) {
        k->v[j] = k->v[j - 1];
        k->at[j] = k->at[j - 1];
    }
    k->v[i] = e;
    k->at[i] = at;
}

/* Oldest first, so that the newest is heard last. */
void plain_events(const struct app *a, int most, struct str *out)
{
    const struct table *t = session_table(a->s, "events");
    struct newest k = {.n = 0};
    if (!readable(a, t, out))
        return;
    most = MIN(MAX(most, 1), PLAIN_EVENTS_MOST);
    for (const struct json *e = json_first(t->items); e; e = json_next(e))
        keep_newest(&k, e, most);
    plain_line(out, _("Events, the newest %d, the newest last:"), k.n);
    while (k.n-- > 0)
        event_line(a, k.v[k.n], out);
}

/* --- log and API ------------------------------------------------------------------ */
void plain_log(const struct app *a, int most, struct str *out)
{
    size_t n = session_log_count(a->s), from = n > (size_t)most ? n - (size_t)most : 0;
    if (n == 0) {
        plain_line(out, "%s", _("No log is followed yet. Type follow and a pod's name."));
        return;
    }
    plain_line(out, _("Log: lines %zu to %zu of %zu:"), from + 1, n, n);
    for (size_t i = from; i < n; i++) {
        const char *text = session_log_line(a->s, i)->text;
        if (!a->filter[0] || strstr(text, a->filter))
            plain_line(out, "%s", text);
    }
    if (a->filter[0])
        plain_line(out, _("Only lines with \"%s\" were read; log.filter changes that."), a->filter);
}

void plain_api(const struct app *a, int most, struct str *out)
{
    size_t n = a->s->api_n, from = n > (size_t)most ? n - (size_t)most : 0;
    plain_line(out, _("Requests, the newest %zu, the newest last:"), n - from);
    for (size_t i = from; i < n; i++) {
        const struct api_row *r = &a->s->api[i];
        plain_line(out, _("%s %s: %d, %d ms. As kubectl: %s"), r->method, r->path ? r->path : "",
                   r->status, (int)r->ms, r->kubectl ? r->kubectl : "");
    }
}

/* --- what is wrong ------------------------------------------------------------------ */
/* "podium diagnose" in words: cause, what it rests on, what to do. */
void plain_explained(const struct app *a, struct str *out)
{
    const struct json *first = json_get(a->why.answer, "primary");
    if (a->why.error[0])
        plain_line(out, _("%s can't be explained: %.*s"), a->why.object,
                   (int)strcspn(a->why.error, "\n"), a->why.error);
    if (!first)
        return;
    plain_line(out, "%s: %s", a->why.object, json_str(first, "text", ""));
    for (const struct json *t = json_first(json_get(first, "details")); t; t = json_next(t))
        plain_line(out, "  %s", json_string_value(t));
    for (const struct json *t = json_first(json_get(first, "fix")); t; t = json_next(t))
        plain_line(out, _("  Next step: %s"), json_string_value(t));
    if (*json_str(first, "command", ""))
        plain_line(out, _("  Command: %s"), json_str(first, "command", ""));
    for (const struct json *f = json_first(json_get(a->why.answer, "also")); f; f = json_next(f))
        plain_line(out, _("  Also: %s"), json_str(f, "text", ""));
}

void plain_why(const struct app *a, struct str *out)
{
    const struct pd_err *e = &a->s->last_error;
    size_t before = out->len;
    if (e->code != PD_OK) {
        plain_line(out, _("Last error, %s: %s"), pd_id(e->code), e->msg);
        if (e->src[0])
            plain_line(out, e->line ? _("  Place: %s, line %d, column %d.") : _("  Place: %s."),
                       e->src, e->line, e->col);
        plain_line(out, _("  Next step: %s"), e->hint[0] ? e->hint : _(pd_hint(e->code)));
    }
    const struct lab *lab = a->s->lab;
    for (int i = 0; plain_loaded(a) && i < lab->steps[a->s->step].checks_n; i++) {
        enum check_result r = a->s->progress[a->s->step].checks[i].result;
        if (r != CHECK_PASS && r != CHECK_BLOCKED)
            plain_check(a, i, out);
    }
    if (out->len == before)
        plain_line(out, "%s", _("Nothing is wrong."));
}
