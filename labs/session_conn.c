/* session_conn.c - choosing contexts and namespaces, and what the person may do
 * (conn.h): commands become questions, their answers become state. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/res.h"
#include "labs/errjson.h"
#include "labs/session_conn.h"
#include "labs/session_priv.h"

typedef void conn_fn(struct session *s, const char *arg, struct effects *out);

static struct json *with(const char *key, const char *value)
{
    struct json *args = json_new_object();
    json_put_str(args, key, value);
    return args;
}

static const char *text_of(const struct json *j, const char *path, char *dst, size_t size)
{
    session_clean(dst, size, json_str(j, path, ""));
    return dst;
}

/* --- contexts ---------------------------------------------------------------- */
static void ctx_list(struct session *s, const char *arg UNUSED, struct effects *out)
{
    if (!s->conn.contexts_effect)
        s->conn.contexts_effect = effects_add(out, EFF_CONTEXTS, 0, 0, json_new_object());
}

static void ctx_probe(struct session *s, const char *arg, struct effects *out)
{
    struct conn_context *x = arg ? conn_context_find(&s->conn, arg) : NULL;
    if (!x || x->effect || x->error[0])
        return;
    x->probe = PROBE_ASKED;
    x->effect = effects_add(out, EFF_PROBE, 0, 0, with("context", arg));
}

static void ctx_use(struct session *s, const char *arg, struct effects *out)
{
    struct json *args = with("context", arg);
    if (!arg || !*arg) {
        session_say(s, PD_USAGE, "%s", _("ctx.use needs the name of a context"));
        json_free(args);
        return;
    }
    json_put_str(args, "namespace", "");
    s->conn.going = session_priv(s)->connect = effects_add(out, EFF_CONNECT, 0, 0, args);
    s->conn.arriving = true;
    session_say(s, PD_OK, _("going to the context %s"), arg);
}

static void read_context(struct conn_context *x, const struct json *j)
{
    struct pd_err err;
    memset(x, 0, sizeof *x);
    text_of(j, "name", x->name, sizeof x->name);
    text_of(j, "cluster", x->cluster, sizeof x->cluster);
    text_of(j, "user", x->user, sizeof x->user);
    text_of(j, "namespace", x->ns, sizeof x->ns);
    text_of(j, "server", x->server, sizeof x->server);
    text_of(j, "file", x->file, sizeof x->file);
    x->current = json_bool(j, "current", false);
    if (!errjson_read(json_get(j, "error"), &err))
        return;
    session_clean(x->error, sizeof x->error, err.msg);
    session_clean(x->hint, sizeof x->hint, err.hint);
}

/* What probes had found stays with a context of the same name. */
static void take_contexts(struct session *s, const struct msg *m)
{
    struct conn *c = &s->conn;
    const struct json *list = json_get(m->body, "contexts");
    struct conn_context *old = c->context;
    size_t old_n = c->contexts_n, n = 0;
    struct pd_err err;
    c->contexts_effect = 0;
    c->contexts_error[0] = '\0';
    if (errjson_read(json_get(m->body, "error"), &err))
        pd_describe(&err, c->contexts_error, sizeof c->contexts_error);
    c->context = xcalloc(json_count(list) + 1, sizeof *c->context);
    for (const struct json *j = json_first(list); j; j = json_next(j)) {
        struct conn_context *x = &c->context[n++];
        read_context(x, j);
        for (size_t i = 0; i < old_n; i++)
            if (str_eq(old[i].name, x->name) && str_eq(old[i].server, x->server)) {
                x->probe = old[i].probe;
                x->probe_ms = old[i].probe_ms;
                x->probed_at_ms = old[i].probed_at_ms;
                x->effect = old[i].effect;
                str_copy(x->version, sizeof x->version, old[i].version);
                str_copy(x->why, sizeof x->why, old[i].why);
            }
    }
    c->contexts_n = n;
    c->contexts_known = true;
    free(old);
}

static bool take_probe(struct session *s, const struct msg *m)
{
    struct pd_err err;
    struct conn_context *x = NULL;
    for (size_t i = 0; i < s->conn.contexts_n; i++)
        if (s->conn.context[i].effect == m->effect)
            x = &s->conn.context[i];
    if (!x)
        return false;
    bool bad = errjson_read(json_get(m->body, "error"), &err);
    x->effect = 0;
    x->probe = bad ? PROBE_SILENT : PROBE_ANSWERS;
    x->probe_ms = json_int(m->body, "ms", 0);
    x->probed_at_ms = m->at_ms;
    text_of(m->body, "version", x->version, sizeof x->version);
    session_clean(x->why, sizeof x->why, bad ? err.msg : "");
    return true;
}

/* --- namespaces -------------------------------------------------------------- */
static void ns_list(struct session *s, const char *arg UNUSED, struct effects *out)
{
    if (!s->conn.ns_effect)
        s->conn.ns_effect = session_effect(s, out, EFF_LIST, with("resource", "namespaces"));
}

static struct json *review(const char *kind, const char *ns)
{
    struct json *args = with("kind", kind);
    if (ns)
        json_put_str(args, "namespace", ns);
    return args;
}

static void ns_probe(struct session *s, const char *arg, struct effects *out)
{
    struct conn_ns *n = arg ? conn_ns_find(&s->conn, arg) : NULL;
    if (!n || n->effect)
        return;
    n->probe = PROBE_ASKED;
    n->effect = session_effect(s, out, EFF_REVIEW, review("SelfSubjectRulesReview", arg));
}

static void ns_use(struct session *s, const char *arg, struct effects *out)
{
    if (!arg || !conn_ns_name(arg)) {
        session_say(s, PD_USAGE, _("\"%s\" can't be a namespace's name: small letters, digits and "
                                   "\"-\" between them, at most 63"), arg ? arg : "");
        return;
    }
    if (!s->cluster.id) {
        session_say(s, PD_NET, "%s", _("there is no cluster"));
        return;
    }
    s->conn.going = session_effect(s, out, EFF_NAMESPACE, with("namespace", arg));
    s->conn.arriving = true;
    session_say(s, PD_OK, _("going to the namespace %s"), arg);
}

static void take_namespaces(struct session *s, const struct msg *m)
{
    struct conn *c = &s->conn;
    struct pd_err err;
    char name[64];
    c->ns_effect = 0;
    c->ns_error[0] = '\0';
    if (errjson_read(json_get(m->body, "error"), &err)) {
        c->ns_list = err.code == PD_FORBIDDEN ? MAY_NO : c->ns_list;
        session_clean(c->ns_error, sizeof c->ns_error, err.msg);
        return;
    }
    c->ns_list = MAY_YES;
    c->ns_at_ms = m->at_ms;
    for (size_t i = 0; i < c->ns_n; i++)
        c->ns[i].listed = false;
    const struct json *o = json_first(json_at(m->body, "object.items"));
    for (; o; o = json_next(o)) {
        struct conn_ns *n = conn_ns_put(c, text_of(o, "metadata.name", name, sizeof name));
        if (!n)
            continue;
        n->listed = true;
        n->ending = str_eq(json_str(o, "status.phase", ""), "Terminating");
    }
}

static const struct { const char *verb, *group, *resource; } ns_may[CONN_NS_MAY] = {
    [NS_PODS] = {"list", "", "pods"}, [NS_LOGS] = {"get", "", "pods/log"},
    [NS_RUN] = {"create", "batch", "jobs"}};

static bool take_ns_rules(struct session *s, const struct msg *m, struct effects *out)
{
    const struct json *rules = json_at(m->body, "object.status");
    struct conn_ns *n = NULL;
    for (size_t i = 0; i < s->conn.ns_n; i++)
        if (s->conn.ns[i].effect == m->effect)
            n = &s->conn.ns[i];
    if (!n)
        return false;
    n->effect = 0;
    n->probe = rules ? PROBE_ANSWERS : PROBE_SILENT;
    for (int i = 0; i < CONN_NS_MAY; i++) {
        n->may[i] = conn_rules_may(rules, ns_may[i].verb, ns_may[i].group, ns_may[i].resource);
        if (!rules || n->may[i] != MAY_UNKNOWN)
            continue;
        struct json *args = with("verb", ns_may[i].verb);
        json_put_str(args, "resource", ns_may[i].resource);
        json_put_str(args, "namespace", n->name);
        n->ask[i] = session_effect(s, out, EFF_CAN, args);
    }
    return true;
}

static bool take_ns_ask(struct session *s, const struct msg *m)
{
    const struct json *allowed = json_at(m->body, "object.status.allowed");
    for (size_t i = 0; i < s->conn.ns_n; i++)
        for (int k = 0; k < CONN_NS_MAY; k++) {
            if (s->conn.ns[i].ask[k] != m->effect)
                continue;
            s->conn.ns[i].ask[k] = 0;
            if (allowed)
                s->conn.ns[i].may[k] = json_bool(m->body, "object.status.allowed", false)
                                           ? MAY_YES : MAY_NO;
            return true;
        }
    return false;
}

/* --- who, and what they may do ------------------------------------------------- */
static void conn_look(struct session *s, const char *arg UNUSED, struct effects *out)
{
    if (!s->conn.who_effect && s->cluster.id)
        s->conn.who_effect = session_effect(s, out, EFF_REVIEW, review("SelfSubjectReview", NULL));
}

static void rights_look(struct session *s, const char *arg UNUSED, struct effects *out)
{
    conn_look(s, NULL, out);
    if (!s->conn.rules_effect && s->cluster.id)
        s->conn.rules_effect = session_effect(
            s, out, EFF_REVIEW, review("SelfSubjectRulesReview", s->cluster.ns));
}

/* What the rules don't tell is asked verb by verb: whether a rule holds for the
 * whole cluster, and all that an incomplete review leaves open. */
static void ask_verb(struct session *s, int need, int verb, struct effects *out)
{
    struct conn *c = &s->conn;
    const struct conn_need *n = &conn_needs[need];
    char word[24];
    if (c->asks == CONN_ASKS)
        return;
    struct json *args = with("verb", conn_verb(n, verb, word));
    json_put_str(args, "resource", n->resource);
    if (!n->cluster)
        json_put_str(args, "namespace", s->cluster.ns);
    c->ask[c->asks++] = (struct conn_ask){session_effect(s, out, EFF_CAN, args), (uint8_t)need,
                                          (uint8_t)verb};
}

static void judge(struct session *s, struct effects *out)
{
    struct conn *c = &s->conn;
    char word[24];
    c->asks = 0;
    for (int i = 0; i < CONN_NEEDS; i++) {
        const struct conn_need *n = &conn_needs[i];
        c->yes[i] = c->no[i] = 0;
        for (int k = 0; *conn_verb(n, k, word); k++) {
            enum conn_may may = n->cluster ? MAY_UNKNOWN
                                           : conn_rules_may(c->rules, word, n->group, n->resource);
            c->yes[i] |= (uint8_t)((may == MAY_YES) << k);
            c->no[i] |= (uint8_t)((may == MAY_NO) << k);
            if (may == MAY_UNKNOWN)
                ask_verb(s, i, k, out);
        }
    }
}

static void take_rules(struct session *s, const struct msg *m, struct effects *out)
{
    struct conn *c = &s->conn;
    const struct json *rules = json_at(m->body, "object.status");
    struct pd_err err;
    c->rules_effect = 0;
    c->rules_error[0] = '\0';
    if (errjson_read(json_get(m->body, "error"), &err))
        session_clean(c->rules_error, sizeof c->rules_error, err.msg);
    json_free(c->rules);
    c->rules = rules ? json_copy(rules) : NULL;
    c->rules_at_ms = m->at_ms;
    judge(s, out);
}

static bool take_ask(struct session *s, const struct msg *m)
{
    struct conn *c = &s->conn;
    for (int i = 0; i < c->asks; i++) {
        struct conn_ask *a = &c->ask[i];
        if (a->effect != m->effect)
            continue;
        const struct json *allowed = json_at(m->body, "object.status.allowed");
        if (allowed)
            *(json_bool(m->body, "object.status.allowed", false) ? &c->yes[a->need]
                                                                 : &c->no[a->need]) |=
                (uint8_t)(1 << a->verb);
        a->effect = 0;
        return true;
    }
    return false;
}

static void take_who(struct session *s, const struct msg *m)
{
    struct conn *c = &s->conn;
    const struct json *info = json_at(m->body, "object.status.userInfo");
    struct pd_err err;
    c->who_effect = 0;
    c->who_error[0] = '\0';
    json_free(c->who);
    c->who = info ? json_copy(info) : NULL;
    if (errjson_read(json_get(m->body, "error"), &err))
        session_clean(c->who_error, sizeof c->who_error, err.msg);
}

/* "delete pods", "get pods/log": one question of the person's own. */
static void can_ask(struct session *s, const char *arg, struct effects *out)
{
    char verb[32], resource[100];
    if (!arg || sscanf(arg, "%31s %99s", verb, resource) != 2 || !s->cluster.id) {
        session_say(s, PD_USAGE, "%s", _("can needs a verb and a resource: delete pods"));
        return;
    }
    struct json *args = with("verb", verb);
    json_put_str(args, "resource", resource);
    json_put_str(args, "namespace", s->cluster.ns);
    str_fmt(s->conn.can, sizeof s->conn.can, "%s %s", verb, resource);
    s->conn.can_effect = session_effect(s, out, EFF_CAN, args);
}

static void take_can(struct session *s, const struct msg *m)
{
    const struct json *allowed = json_at(m->body, "object.status.allowed");
    const char *reason = json_str(m->body, "object.status.reason", "");
    struct pd_err err;
    s->conn.can_effect = 0;
    if (errjson_read(json_get(m->body, "error"), &err))
        session_say(s, err.code, "%s: %s", s->conn.can, err.msg);
    else if (allowed && json_bool(m->body, "object.status.allowed", false))
        session_say(s, PD_OK, _("yes: you may %s in %s"), s->conn.can, s->cluster.ns);
    else
        session_say(s, PD_OK, *reason ? _("no: you may not %s in %s (%s)")
                                      : _("no: you may not %s in %s%s"),
                    s->conn.can, s->cluster.ns, reason);
}

/* --- what comes ------------------------------------------------------------------ */
bool session_conn_message(struct session *s, const struct msg *m, struct effects *out)
{
    struct conn *c = &s->conn;
    bool ours = true;
    if (m->kind != MSG_REPLY || !m->effect)
        return false;
    if (m->effect == c->going) {
        c->going = 0;
        c->arriving = false;         /* it stays where it is; the error is said by others */
        return false;
    }
    if (m->effect == c->contexts_effect)
        take_contexts(s, m);
    else if (m->effect == c->ns_effect)
        take_namespaces(s, m);
    else if (m->effect == c->rules_effect)
        take_rules(s, m, out);
    else if (m->effect == c->who_effect)
        take_who(s, m);
    else if (m->effect == c->can_effect)
        take_can(s, m);
    else
        ours = take_probe(s, m) || take_ns_rules(s, m, out) || take_ns_ask(s, m) || take_ask(s, m);
    if (ours)
        session_changed(s);
    return ours;
}

void session_conn_take(struct session *s, const struct msg *m, bool fresh)
{
    struct conn *c = &s->conn;
    bool same = str_eq(json_str(c->about, "server", ""), json_str(m->body, "server", "?")) &&
                str_eq(json_str(c->about, "context", ""), json_str(m->body, "context", "?"));
    if (fresh && !same)
        conn_forget(c);
    if (fresh) {                 /* questions of the epoch before are never answered */
        c->going = 0;
        c->blind = false;
        json_free(c->rules);
        c->rules = NULL;
        c->asks = 0;
        c->ns_effect = c->who_effect = c->rules_effect = c->can_effect = 0;
        memset(c->yes, 0, sizeof c->yes);
        memset(c->no, 0, sizeof c->no);
        for (size_t i = 0; i < c->ns_n; i++) {
            c->ns[i].effect = 0;
            memset(c->ns[i].ask, 0, sizeof c->ns[i].ask);
        }
    }
    if (c->arriving && !c->going && s->cluster.link == LINK_UP) {
        c->arriving = false;
        session_say(s, PD_OK, "%s", "");
    }
    json_free(c->about);
    c->about = json_copy(m->body);
    const char *own = json_str(m->body, "ns_own", "");
    for (size_t i = 0; i < c->ns_n; i++)
        c->ns[i].own = c->ns[i].used = false;
    struct conn_ns *n = conn_ns_put(c, own);
    if (n)
        n->own = true;
    const struct json *u = json_first(json_get(m->body, "used"));
    for (; u; u = json_next(u))
        if ((n = conn_ns_put(c, json_string_value(u))))
            n->used = true;
    if ((n = conn_ns_put(c, s->cluster.ns)))
        n->used = true;
}

void session_conn_command(struct session *s, const char *name, const char *arg,
                          struct effects *out)
{
    static const struct {
        const char *name;
        conn_fn *fn;
    } table[] = {{"ctx.list", ctx_list},   {"ctx.probe", ctx_probe}, {"ctx.use", ctx_use},
                 {"ns.list", ns_list},     {"ns.probe", ns_probe},   {"ns.use", ns_use},
                 {"conn.look", conn_look}, {"rights.look", rights_look},
                 {"can.ask", can_ask}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_eq(table[i].name, name)) {
            table[i].fn(s, arg, out);
            session_changed(s);
        }
}
