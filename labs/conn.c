/* conn.c - rights, needs and figures of the connection (conn.h). */
#include "labs/conn.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { RATE_MS = 10000 };

const struct conn_need conn_needs[CONN_NEEDS] = {
    {N_("see pods"), "get list watch", "", "pods", false, false},
    {N_("see Jobs"), "get list watch", "batch", "jobs", false, false},
    {N_("read logs"), "get", "", "pods/log", false, false},
    {N_("run a training"), "create patch", "batch", "jobs", false, false},
    {N_("steer it"), "get create", "", "pods/attach", false, false},
    {N_("end it"), "delete", "batch", "jobs", false, false},
    {N_("see storage"), "get list watch", "", "persistentvolumeclaims", false, false},
    {N_("ask for storage"), "create patch delete", "", "persistentvolumeclaims", false, false},
    {N_("take results out"), "get create", "", "pods/exec", false, false},
    {N_("make pods"), "create patch delete", "", "pods", false, false},
    {N_("settings of labs"), "get create patch delete", "", "configmaps", false, false},
    {N_("see events"), "list watch", "", "events", false, true},
    {N_("secrets of labs"), "create patch delete", "", "secrets", false, true},
    {N_("see the quota"), "list watch", "", "resourcequotas", false, true},
    {N_("forward ports"), "get create", "", "pods/portforward", false, true},
    {N_("see nodes"), "list watch", "", "nodes", true, true},
    {N_("list namespaces"), "list", "", "namespaces", true, true},
};

void conn_forget(struct conn *c)
{
    json_free(c->who);
    json_free(c->rules);
    free(c->ns);
    c->who = c->rules = NULL;
    c->ns = NULL;
    c->ns_n = 0;
    c->ns_list = MAY_UNKNOWN;
    c->ns_error[0] = c->who_error[0] = c->rules_error[0] = '\0';
    c->ns_at_ms = c->rules_at_ms = 0;
    c->ns_effect = c->who_effect = c->rules_effect = 0;
    memset(c->yes, 0, sizeof c->yes);
    memset(c->no, 0, sizeof c->no);
    c->asks = 0;
}

void conn_release(struct conn *c)
{
    conn_forget(c);
    json_free(c->about);
    free(c->context);
    memset(c, 0, sizeof *c);
}

/* --- rights -------------------------------------------------------------------- */
static bool has(const struct json *list, const char *word)
{
    for (const struct json *w = json_first(list); w; w = json_next(w)) {
        const char *text = json_string_value(w);
        if (text && (str_eq(text, "*") || str_eq(text, word)))
            return true;
    }
    return false;
}

/* "pods/log" is named as such, as "*", or as a subresource of all: star-slash-log. */
static bool has_resource(const struct json *list, const char *resource)
{
    char any[80];
    const char *sub = strchr(resource, '/');
    if (has(list, resource))
        return true;
    return sub && has(list, str_fmt(any, sizeof any, "*%s", sub));
}

enum conn_may conn_rules_may(const struct json *rules, const char *verb, const char *group,
                             const char *resource)
{
    if (!rules)
        return MAY_UNKNOWN;
    const struct json *r = json_first(json_get(rules, "resourceRules"));
    for (; r; r = json_next(r))
        if (has(json_get(r, "verbs"), verb) && has(json_get(r, "apiGroups"), group) &&
            has_resource(json_get(r, "resources"), resource) &&
            json_count(json_get(r, "resourceNames")) == 0)
            return MAY_YES;
    return json_bool(rules, "incomplete", false) ? MAY_UNKNOWN : MAY_NO;
}

const char *conn_verb(const struct conn_need *n, int i, char buf[24])
{
    const char *p = n->verbs;
    while (i-- > 0 && *p) {
        p += strcspn(p, " ");
        p += strspn(p, " ");
    }
    return str_copy(buf, MIN(strcspn(p, " ") + 1, (size_t)24), p);
}

static int verbs(const struct conn_need *n)
{
    char buf[24];
    int i = 0;
    while (*conn_verb(n, i, buf))
        i++;
    return i;
}

enum conn_may conn_need_may(const struct conn *c, int need)
{
    int all = (1 << verbs(&conn_needs[need])) - 1;
    if (c->no[need])
        return MAY_NO;
    return (c->yes[need] & all) == all ? MAY_YES : MAY_UNKNOWN;
}

/* --- what to ask for ------------------------------------------------------------ */
static bool missing(const struct conn *c, int need, struct str *out)
{
    char verb[24];
    str_clear(out);
    for (int i = 0; *conn_verb(&conn_needs[need], i, verb); i++)
        if (c->no[need] & 1 << i)
            str_printf(out, "%s%s", out->len ? ", " : "", verb);
    return out->len > 0;
}

/* Short lines: they are read on narrow screens and wrapped in plain text. */
static bool rules_of(const struct conn *c, bool cluster, struct str *out)
{
    struct str some;
    bool any = false;
    str_init(&some, 256);
    for (int i = 0; i < CONN_NEEDS; i++) {
        const struct conn_need *n = &conn_needs[i];
        if (n->cluster != cluster || !missing(c, i, &some))
            continue;
        any = true;
        str_printf(out, "# %s\n- apiGroups: [\"%s\"]\n  resources: [\"%s\"]\n  verbs: [%s]\n",
                   _(n->what), n->group, n->resource, some.p);
    }
    str_release(&some);
    return any;
}

static void meta(const char *kind, const char *ns, struct str *out)
{
    str_printf(out, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n"
                    "  name: podium\n", kind);
    if (ns)
        str_printf(out, "  namespace: %s\n", ns);
}

/* A role of this kind with its binding; false: nothing is missing. */
static bool role(const struct conn *c, const char *ns, const char *subject, struct str *out)
{
    struct str rules;
    str_init(&rules, 16 << 10);
    bool any = rules_of(c, !ns, &rules);
    if (any) {
        meta(ns ? "Role" : "ClusterRole", ns, out);
        str_printf(out, "rules:\n%s", rules.p);
        meta(ns ? "RoleBinding" : "ClusterRoleBinding", ns, out);
        str_printf(out, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n"
                        "  name: podium\nsubjects:\n- apiGroup: rbac.authorization.k8s.io\n"
                        "  kind: User\n  name: \"%s\"\n", ns ? "Role" : "ClusterRole", subject);
    }
    str_release(&rules);
    return any;
}

/* A name for a text in double quotes of YAML: it may hold anything. */
static void quoted(const char *name, struct str *out)
{
    for (const char *p = name; *p; p++) {
        if (*p == '"' || *p == '\\')
            str_addc(out, '\\');
        if ((unsigned char)*p >= 0x20 && *p != 0x7f)
            str_addc(out, *p);
    }
}

bool conn_role(const struct conn *c, const char *ns, const char *subject, struct str *out)
{
    struct str who;
    str_init(&who, 4096);
    quoted(subject, &who);
    bool own = role(c, ns, who.p, out);
    own = role(c, NULL, who.p, out) || own;
    str_release(&who);
    return own;
}

/* --- figures ---------------------------------------------------------------------- */
void conn_began(struct conn *c, int64_t at_ms)
{
    c->began[c->began_n++ % CONN_TOOK] = at_ms;
}

void conn_ended(struct conn *c, int64_t ms, bool good)
{
    if (good)
        c->took[c->took_n++ % CONN_TOOK] = ms;
    else
        c->failed++;
}

int64_t conn_latency(const struct conn *c)
{
    int64_t sorted[CONN_TOOK];
    int n = (int)MIN(c->took_n, (uint64_t)CONN_TOOK);
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > c->took[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = c->took[i];
    }
    return n ? sorted[n / 2] : -1;
}

int64_t conn_last(const struct conn *c)
{
    return c->took_n ? c->took[(c->took_n - 1) % CONN_TOOK] : -1;
}

double conn_rate(const struct conn *c, int64_t now_ms)
{
    int n = 0;
    for (int i = 0; i < (int)MIN(c->began_n, (uint64_t)CONN_TOOK); i++)
        n += now_ms - c->began[i] < RATE_MS;
    return n * 1000.0 / RATE_MS;
}

/* --- lists ------------------------------------------------------------------------- */
bool conn_ns_name(const char *name)
{
    size_t n = strlen(name);
    static const char can[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return n > 0 && n <= 63 && strspn(name, can) == n && name[0] != '-' && name[n - 1] != '-';
}

struct conn_ns *conn_ns_find(const struct conn *c, const char *name)
{
    for (size_t i = 0; i < c->ns_n; i++)
        if (str_eq(c->ns[i].name, name))
            return &c->ns[i];
    return NULL;
}

struct conn_ns *conn_ns_put(struct conn *c, const char *name)
{
    struct conn_ns *have = name ? conn_ns_find(c, name) : NULL;
    size_t at = c->ns_n;
    if (have || !name || !conn_ns_name(name))
        return have;
    c->ns = xrealloc_array(c->ns, c->ns_n + 1, sizeof *c->ns);
    for (; at > 0 && strcmp(c->ns[at - 1].name, name) > 0; at--)
        c->ns[at] = c->ns[at - 1];
    c->ns_n++;
    memset(&c->ns[at], 0, sizeof c->ns[at]);
    str_copy(c->ns[at].name, sizeof c->ns[at].name, name);
    return &c->ns[at];
}

struct conn_context *conn_context_find(const struct conn *c, const char *name)
{
    for (size_t i = 0; i < c->contexts_n; i++)
        if (str_eq(c->context[i].name, name))
            return &c->context[i];
    return NULL;
}
