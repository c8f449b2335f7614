/* kubectl.c - a request as the kubectl line that makes it too (kubectl.h). */
#include "k8s/kubectl.h"

#include "core/base/mem.h"
#include "k8s/res.h"

struct line {
    const char *method, *path, *type, *default_ns;
    const struct json *body;
    struct res_place at;
    struct strv names, values;       /* the decoded query */
    struct str *out;
};

/* --- words and the query --- */

static void word(struct line *l, const char *text)
{
    bool plain = *text != '\0';
    for (const char *p = text; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              strchr("-_./:=,@+%", *p)))
            plain = false;
    str_addc(l->out, ' ');
    if (plain) {
        str_add(l->out, text);
        return;
    }
    str_addc(l->out, '\'');
    for (const char *p = text; *p; p++)
        if (*p == '\'')
            str_add(l->out, "'\\''");
        else
            str_addc(l->out, *p);
    str_addc(l->out, '\'');
}

static void option(struct line *l, const char *name, const char *value)
{
    char *text = xasprintf("%s%s", name, value);
    word(l, text);
    free(text);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                        : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void push_decoded(struct strv *v, const char *s, size_t n)
{
    char *out = xmalloc(n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%' && i + 2 < n && digit(s[i + 1]) >= 0 && digit(s[i + 2]) >= 0) {
            out[k++] = (char)(digit(s[i + 1]) << 4 | digit(s[i + 2]));
            i += 2;
        } else {
            out[k++] = s[i] == '+' ? ' ' : s[i];
        }
    }
    out[k] = '\0';
    strv_push(v, out);
    free(out);
}

static void split_query(struct line *l)
{
    const char *p = strchr(l->path, '?');
    while (p && *++p) {
        size_t n = strcspn(p, "&"), name = strcspn(p, "=&");
        push_decoded(&l->names, p, name);
        push_decoded(&l->values, p + MIN(name + 1, n), n - MIN(name + 1, n));
        p = p[n] ? p + n : NULL;
    }
}

static const char *query(const struct line *l, const char *name)
{
    for (size_t i = 0; i < l->names.n; i++)
        if (!strcmp(l->names.v[i], name))
            return l->values.v[i];
    return NULL;
}

static bool query_is(const struct line *l, const char *name, const char *value)
{
    return str_eq(query(l, name), value);
}

/* --- parts of a line --- */

static void namespace_of(struct line *l)
{
    if (!l->at.res->namespaced)
        return;
    if (!*l->at.ns)
        word(l, "-A");
    else if (!l->default_ns || strcmp(l->at.ns, l->default_ns) != 0)
        option(l, "--namespace=", l->at.ns);
}

static void resource(struct line *l)
{
    /* the name that only this group answers to */
    if (res_by_name(l->at.res->plural) == l->at.res)
        word(l, l->at.res->plural);
    else {
        char *full = xasprintf("%s.%s", l->at.res->plural, l->at.res->group);
        word(l, full);
        free(full);
    }
}

static void raw(struct line *l, const char *verb, bool body)
{
    str_printf(l->out, "kubectl %s --raw", verb);
    word(l, l->path);
    if (body)
        str_add(l->out, " -f -");
}

static void selectors(struct line *l)
{
    if (query(l, "labelSelector"))
        option(l, "--selector=", query(l, "labelSelector"));
    if (query(l, "fieldSelector"))
        option(l, "--field-selector=", query(l, "fieldSelector"));
}

/* --- one function a kind of request --- */

static void log_line(struct line *l)
{
    str_add(l->out, "kubectl logs");
    word(l, l->at.name);
    namespace_of(l);
    if (query(l, "container"))
        option(l, "--container=", query(l, "container"));
    if (query_is(l, "follow", "true"))
        word(l, "--follow");
    if (query_is(l, "previous", "true"))
        word(l, "--previous");
    if (query(l, "sinceTime"))
        option(l, "--since-time=", query(l, "sinceTime"));
    if (query(l, "tailLines"))
        option(l, "--tail=", query(l, "tailLines"));
    if (query_is(l, "timestamps", "true"))
        word(l, "--timestamps");
}

static void exec_line(struct line *l)
{
    bool attach = !strcmp(l->at.sub, "attach");
    str_printf(l->out, "kubectl %s", l->at.sub);
    word(l, l->at.name);
    namespace_of(l);
    if (query(l, "container"))
        option(l, "--container=", query(l, "container"));
    if (query_is(l, "stdin", "true"))
        word(l, "--stdin");
    if (query_is(l, "tty", "true"))
        word(l, "--tty");
    if (attach)
        return;
    str_add(l->out, " --");
    for (size_t i = 0; i < l->names.n; i++)
        if (!strcmp(l->names.v[i], "command"))
            word(l, l->values.v[i]);
}

/* Which port it leads from is this machine's own business: any. */
static void forward_line(struct line *l)
{
    char ports[24];
    str_add(l->out, "kubectl port-forward");
    word(l, l->at.name);
    namespace_of(l);
    str_fmt(ports, sizeof ports, ":%s", query(l, "ports") ? query(l, "ports") : "");
    word(l, ports);
}

static void get_line(struct line *l)
{
    bool single = *l->at.name != '\0';
    bool watch = query_is(l, "watch", "1") || query_is(l, "watch", "true");
    if (*l->at.sub) {
        raw(l, "get", false);
        return;
    }
    str_add(l->out, "kubectl get");
    resource(l);
    if (single)
        word(l, l->at.name);
    namespace_of(l);
    selectors(l);
    if (watch)
        word(l, "--watch-only");
    if (query(l, "limit") && strcmp(query(l, "limit"), "500") != 0)
        option(l, "--chunk-size=", query(l, "limit"));
    word(l, "-o");
    str_add(l->out, watch ? " json --output-watch-events" : " json");
}

static void manager(struct line *l)
{
    if (query(l, "fieldManager"))
        option(l, "--field-manager=", query(l, "fieldManager"));
    if (query_is(l, "dryRun", "All"))
        word(l, "--dry-run=server");
}

static void ask_namespace(struct line *l, const char *ns)
{
    if (*ns && (!l->default_ns || strcmp(ns, l->default_ns) != 0))
        option(l, "--namespace=", ns);
}

/* "pods --subresource=log", "jobs.batch" */
static void can_i(struct line *l)
{
    const struct json *a = json_at(l->body, "spec.resourceAttributes");
    const char *group = json_str(a, "group", ""), *name = json_str(a, "resource", "");
    char *full = *group ? xasprintf("%s.%s", name, group) : xstrdup(name);
    str_add(l->out, "kubectl auth can-i");
    word(l, json_str(a, "verb", ""));
    word(l, full);
    if (*json_str(a, "subresource", ""))
        option(l, "--subresource=", json_str(a, "subresource", ""));
    ask_namespace(l, json_str(a, "namespace", ""));
    free(full);
}

/* A question about oneself, as podium asks it; false: it is another object. */
static bool question_line(struct line *l)
{
    const char *kind = json_str(l->body, "kind", "");
    if (l->names.n > 0)
        return false;
    if (!strcmp(kind, "SelfSubjectAccessReview") && json_at(l->body, "spec.resourceAttributes")) {
        can_i(l);
    } else if (!strcmp(kind, "SelfSubjectRulesReview")) {
        str_add(l->out, "kubectl auth can-i --list");
        ask_namespace(l, json_str(l->body, "spec.namespace", ""));
    } else if (!strcmp(kind, "SelfSubjectReview")) {
        str_add(l->out, "kubectl auth whoami");
    } else {
        return false;
    }
    return true;
}

static void create_line(struct line *l)
{
    if (question_line(l))
        return;
    if (*l->at.sub || *l->at.name) {
        raw(l, "create", l->body != NULL);
        return;
    }
    str_add(l->out, "kubectl create");
    manager(l);
    namespace_of(l);
    str_add(l->out, " -f -");
}

static void patch_line(struct line *l)
{
    static const struct {
        const char *type, *flag;
    } types[] = {{"application/merge-patch+json", "--type=merge"},
                 {"application/json-patch+json", "--type=json"},
                 {"application/strategic-merge-patch+json", "--type=strategic"}};
    if (l->type && !strcmp(l->type, "application/apply-patch+yaml")) {
        str_add(l->out, "kubectl apply --server-side");
        manager(l);
        if (query_is(l, "force", "true"))
            word(l, "--force-conflicts");
        namespace_of(l);
        str_add(l->out, " -f -");
        return;
    }
    str_add(l->out, "kubectl patch");
    resource(l);
    word(l, l->at.name);
    namespace_of(l);
    if (*l->at.sub)
        option(l, "--subresource=", l->at.sub);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (l->type && !strcmp(types[i].type, l->type))
            word(l, types[i].flag);
    manager(l);
    char *text = l->body ? json_text(l->body, 0) : xstrdup("{}");
    str_add(l->out, " -p");
    word(l, text);
    free(text);
}

/* kubectl's own delete knows no preconditions. */
static void delete_line(struct line *l)
{
    char grace[32];
    if (!*l->at.name || *l->at.sub || json_has(l->body, "preconditions")) {
        raw(l, "delete", l->body != NULL);
        return;
    }
    str_add(l->out, "kubectl delete");
    resource(l);
    word(l, l->at.name);
    namespace_of(l);
    int64_t seconds = json_int(l->body, "gracePeriodSeconds", -1);
    if (seconds == 0)
        str_add(l->out, " --force --grace-period=0");
    if (seconds > 0)
        word(l, str_fmt(grace, sizeof grace, "--grace-period=%" PRId64, seconds));
    word(l, "--wait=false");
}

static void resource_line(struct line *l)
{
    bool get = !strcmp(l->method, "GET");
    if (!strcmp(l->at.sub, "log"))
        log_line(l);
    else if (!strcmp(l->at.sub, "exec") || !strcmp(l->at.sub, "attach"))
        exec_line(l);
    else if (!strcmp(l->at.sub, "portforward"))
        forward_line(l);
    else if (get)
        get_line(l);
    else if (!strcmp(l->method, "POST"))
        create_line(l);
    else if (!strcmp(l->method, "PATCH"))
        patch_line(l);
    else if (!strcmp(l->method, "DELETE"))
        delete_line(l);
    else
        str_add(l->out, "kubectl replace -f -");
}

static void plain_line(struct line *l)
{
    static const struct {
        const char *method, *verb;
    } verbs[] = {{"GET", "get"}, {"POST", "create"}, {"DELETE", "delete"}, {"PUT", "replace"}};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (!strcmp(verbs[i].method, l->method)) {
            raw(l, verbs[i].verb, l->body != NULL);
            return;
        }
    str_printf(l->out, "(kubectl has no %s of this path)", l->method);
}

void kubectl_line(const char *method, const char *path, const char *content_type,
                  const struct json *body, const char *default_ns, struct str *out)
{
    struct line l = {.method = method, .path = path, .type = content_type, .body = body,
                     .default_ns = default_ns, .out = out};
    strv_init(&l.names);
    strv_init(&l.values);
    split_query(&l);
    if (res_parse_path(path, &l.at))
        resource_line(&l);
    else
        plain_line(&l);
    strv_release(&l.names);
    strv_release(&l.values);
}
