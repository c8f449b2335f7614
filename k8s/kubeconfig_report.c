/* kubeconfig_report.c - what a kubeconfig says and decides (kubeconfig_report.h). */
#include "k8s/kubeconfig_report.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/proxy.h"
#include "core/io/url.h"
#include "k8s/client_io.h"
#include "k8s/identity.h"
#include "k8s/kubeconfig_io.h"
#include "k8s/pem.h"
#include "k8s/plugin.h"

struct json *kubeconfig_report_section(struct kubeconfig_report *r, const char *id,
                                       const char *title)
{
    struct json *s = json_new_object();
    json_put_str(s, "id", id);
    json_put_str(s, "title", title);
    json_set(s, "facts", json_new_array());
    json_append(json_get_mut(r->json, "sections"), s);
    return s;
}

static void put_clean(struct json *j, const char *key, const char *text)
{
    char clean[2048];
    json_put_str(j, key, k8s_clean(clean, sizeof clean, text, strlen(text)));
}

struct json *kubeconfig_report_fact(struct json *section, const char *id, const char *name,
                                    const char *fmt, ...)
{
    struct json *f = json_new_object();
    struct str text;
    va_list ap;
    str_init(&text, 8192);
    va_start(ap, fmt);
    str_vprintf(&text, fmt, ap);
    va_end(ap);
    json_put_str(f, "id", id);
    put_clean(f, "name", name);
    put_clean(f, "value", text.p);
    json_append(json_get_mut(section, "facts"), f);
    str_release(&text);
    return f;
}

#define fact kubeconfig_report_fact

static void at(struct json *f, const char *file, int line, int col)
{
    put_clean(f, "file", file);
    json_put_num(f, "line", line);
    json_put_num(f, "column", col);
}

static void at_field(struct json *f, const struct kc_entry *e, const char *key)
{
    const struct ynode *n = kubeconfig_field(e, key);
    if (e)
        at(f, e->file, n ? n->line : e->place->line, n ? n->col : e->place->col);
}

static const struct kc_entry *entry(const struct kubeconfig_report *r, enum kc_kind kind,
                                    const char *name)
{
    return name ? kubeconfig_find(&r->config->lists[kind], name) : NULL;
}

/* --- files ---------------------------------------------------------------------- */

static void files(struct kubeconfig_report *r)
{
    static const char *const states[] = {
        [KC_READ] = N_("read"),
        [KC_MISSING] = N_("not there, passed over"),
        [KC_BROKEN] = N_("can't be used"),
        [KC_AGAIN] = N_("named before, passed over")};
    const struct kubeconfig *c = r->config;
    const char *origin = c->origin ? c->origin : "";
    struct json *s = kubeconfig_report_section(r, "files", _("Files"));
    const char *why = str_eq(origin, "KUBECONFIG")
                          ? _("the list of $KUBECONFIG, in its order; ~/.kube/config is not read")
                      : str_eq(origin, "HOME") ? _("~/.kube/config, since KUBECONFIG is not set")
                      : *origin                ? _("the file of --kubeconfig and no other")
                                               : _("neither --kubeconfig, KUBECONFIG nor HOME");
    fact(s, "origin", _("looked for"), "%s", why);
    for (size_t i = 0; i < c->file_n; i++) {
        const struct kc_file *f = &c->files[i];
        if (f->found == KC_READ)
            fact(s, "file", f->path, _("read: clusters %zu, users %zu, contexts %zu"), f->clusters,
                 f->users, f->contexts);
        else
            fact(s, "file", f->path, "%s", _(states[f->found]));
    }
    if (c->in_pod)
        fact(s, "in-cluster", kubeconfig_pod_dir(), "%s",
             _("no file, but this is a pod: its service account is used"));
}

/* --- context -------------------------------------------------------------------- */

static void contexts(struct kubeconfig_report *r, const struct kube_options *o)
{
    const struct kubeconfig *c = r->config;
    const struct kube_context *x = &r->ctx;
    const struct kc_entry *e = entry(r, KC_CONTEXT, x->name);
    struct json *s = kubeconfig_report_section(r, "context", _("Context"));
    struct str others;
    str_init(&others, 1000);
    for (size_t i = 0; i < kubeconfig_count(c); i++)
        str_printf(&others, "%s%s", i ? ", " : "", kubeconfig_entry(c, i).name);
    if (e) {
        struct json *f = fact(s, "context", _("context"), o && o->context
                                  ? _("%s, of --context") : _("%s, of current-context"), x->name);
        if (o && o->context)
            at_field(f, e, "");
        else
            at(f, c->current_file, c->current_line, c->current_col);
        at_field(fact(s, "cluster", _("cluster"), "%s", x->cluster), e, "cluster");
        at_field(fact(s, "user", _("user"), "%s", x->user), e, "user");
    }
    if (e || c->in_pod) {
        bool given = kubeconfig_field(e, "namespace") != NULL;
        struct json *f = fact(s, "namespace", _("namespace"), o && o->ns ? _("%s, of --namespace")
                                  : given || c->in_pod ? "%s" : _("%s, since the context names "
                                                                  "none"), x->ns);
        if (given)
            at_field(f, e, "namespace");
    }
    if (others.len)
        fact(s, "contexts", _("there are"), "%s", others.p);
    str_release(&others);
}

/* --- server --------------------------------------------------------------------- */

static void say_proxy(struct json *s, const struct kube_context *x, const struct kc_entry *e)
{
    struct proxy p;
    proxy_for(x->server, x->proxy, &p);
    char *shown = url_shown(x->proxy ? x->proxy : p.url ? p.url : "");
    if (x->proxy)
        at_field(fact(s, "proxy", _("proxy"), _("%s, of proxy-url; no_proxy does not count for it"),
                      shown), e, "proxy-url");
    else if (p.url)
        fact(s, "proxy", _("proxy"), _("%s, of the variable %s"), shown, p.variable);
    else if (p.variable)
        fact(s, "proxy", _("proxy"), _("none: %s is set, but no_proxy excepts this host (%s)"),
             p.variable, p.except);
    else
        fact(s, "proxy", _("proxy"), "%s", _("none: neither proxy-url nor the variable "
                                             "HTTPS_PROXY is set"));
    free(shown);
    proxy_release(&p);
}

static void say_ca(struct json *s, const struct kube_context *x, const struct kc_entry *e)
{
    const struct ynode *data = kubeconfig_field(e, "certificate-authority-data");
    const struct ynode *file = kubeconfig_field(e, "certificate-authority");
    struct pem_cert c;
    char until[36];
    if (x->insecure) {
        at_field(fact(s, "ca", _("its certificate"), "%s",
                      _("is not checked at all (insecure-skip-tls-verify)")), e,
                 "insecure-skip-tls-verify");
        return;
    }
    if (!x->ca_pem || !pem_cert(x->ca_pem, &c)) {
        fact(s, "ca", _("its certificate"), "%s",
             file || data ? _("can't be checked: the CA can't be read")
                          : _("is checked against the CAs of this machine"));
        return;
    }
    clock_rfc3339(c.to_ms * 1000, 0, until);
    char *path = file && !data ? kubeconfig_beside(e, file->text) : NULL;
    struct json *f = fact(s, "ca", _("its certificate"),
                          _("must be signed by the CA \"%s\" (until %s, sha256 %.16s...) of "
                            "%s%s%s"),
                          c.name, until, c.sha256,
                          data ? "certificate-authority-data"
                          : file ? file->text
                                 : _("the service account"), path ? " = " : "", path ? path : "");
    at_field(f, e, data ? "certificate-authority-data" : "certificate-authority");
    free(path);
}

static void say_file(struct json *s, const struct kc_entry *e, const char *key)
{
    const struct ynode *n = kubeconfig_field(e, key);
    if (!n || n->kind != Y_STRING)
        return;
    char *path = kubeconfig_beside(e, n->text);
    at_field(fact(s, key, key, n->text[0] == '/' ? "%s"
                               : _("%s, that is %s: relative paths count from the folder of the "
                                   "kubeconfig"), n->text, path), e, key);
    free(path);
}

static void server(struct kubeconfig_report *r)
{
    const struct kube_context *x = &r->ctx;
    const struct kc_entry *e = entry(r, KC_CLUSTER, x->cluster);
    struct url_parts u;
    if (!x->server)
        return;
    struct json *s = kubeconfig_report_section(r, "server", _("Server"));
    at_field(fact(s, "server", _("address"), "%s", x->server), e, "server");
    fact(s, "request", _("a request"), "GET %s/api/v1/namespaces/%s/pods", x->server, x->ns);
    if (!url_split(x->server, &u))
        return;
    fact(s, "stream", _("watch, log, exec"), _("take the same way: %s/api/v1/..."), u.rest);
    if (u.https) {
        const char *name = x->tls_server_name ? x->tls_server_name : u.host;
        bool number = !name[strspn(name, "0123456789.:abcdefABCDEF")];
        fact(s, "name", _("its name"), number ? _("%s must stand in its certificate")
                                              : _("%s is asked for by SNI and must stand in its "
                                                  "certificate"), name);
        if (x->tls_server_name)
            at_field(fact(s, "tls-server-name", "tls-server-name", "%s", x->tls_server_name), e,
                     "tls-server-name");
        say_ca(s, x, e);
        say_file(s, e, "certificate-authority");
    }
    say_proxy(s, x, e);
}

/* --- user ----------------------------------------------------------------------- */

static void say_expiry(struct kubeconfig_report *r, struct json *s, const struct json *auth)
{
    char when[36];
    int64_t ms = json_int(auth, "expires_ms", 0);
    if (!ms)
        return;
    clock_rfc3339(ms * 1000, 0, when);
    bool over = ms < clock_wall_ms();
    fact(s, "expires", _("valid"), over ? _("it has expired: %s") : _("until %s"), when);
    if (over && str_starts(json_str(auth, "how", ""), "token")) {
        const struct kc_entry *e = entry(r, KC_USER, r->ctx.user);
        const struct ynode *n = kubeconfig_field(e, r->ctx.token_file ? "tokenFile" : "token");
        kubeconfig_findings_add(&r->findings, KC_WARNING, e ? e->file : NULL, n ? n->line : 0,
                                n ? n->col : 0, _("the token of user \"%s\" has expired: %s"),
                                r->ctx.user, when);
        kubeconfig_findings_hint(&r->findings, _("fetch a new one; the server answers 401 to "
                                                 "this"));
    }
}

static void say_claims(struct json *s, const struct json *auth)
{
    const char *issuer = json_str(auth, "issuer", NULL), *name = json_str(auth, "name", NULL);
    struct str groups;
    str_init(&groups, 1000);
    for (const struct json *g = json_first(json_get(auth, "groups")); g; g = json_next(g))
        str_printf(&groups, "%s%s", groups.len ? ", " : "", json_string_value(g));
    if (name)
        fact(s, "subject", _("it says"), _("you are %s"), name);
    if (groups.len)
        fact(s, "groups", _("groups"), "%s", groups.p);
    if (issuer)
        fact(s, "issuer", _("issued by"), "%s", issuer);
    str_release(&groups);
}

static void say_plugin(struct kubeconfig_report *r, struct json *s, const struct kc_entry *e)
{
    const struct kube_exec *x = &r->ctx.exec;
    struct str line;
    str_init(&line, 2000);
    str_add(&line, x->command);
    for (size_t i = 0; i < x->args.n; i++)
        str_printf(&line, " %s", x->args.v[i]);
    at_field(fact(s, "plugin", _("plugin"), "%s", line.p), e, "exec");
    str_release(&line);
    char *path = plugin_path(x->command);
    fact(s, "plugin-path", _("found at"), "%s", path ? path : _("nowhere"));
    fact(s, "plugin-version", "apiVersion", "%s, interactiveMode %s%s",
         x->api_version ? x->api_version : "-", x->interactive ? x->interactive : "IfAvailable",
         x->cluster_info ? ", provideClusterInfo" : "");
    if (!path && kube_context_uses_plugin(&r->ctx)) {
        kubeconfig_findings_add(&r->findings, KC_ERROR, e ? e->file : NULL,
                                e ? kubeconfig_field(e, "exec")->line : 0,
                                e ? kubeconfig_field(e, "exec")->col : 0,
                                strchr(x->command, '/')
                                    ? _("exec: executable %s not found")
                                    : _("exec: executable %s not found in $PATH"), x->command);
        if (x->install_hint)
            kubeconfig_findings_hint(&r->findings, _("installHint: %s"), x->install_hint);
        else
            kubeconfig_findings_hint(&r->findings, _("install that program, or put its folder into "
                                                     "$PATH"));
    }
    free(path);
}

static void impersonation(struct json *s, const struct kube_context *x)
{
    struct str text;
    if (!x->as)
        return;
    str_init(&text, 2000);
    str_printf(&text, "Impersonate-User: %s", x->as);
    if (x->as_uid)
        str_printf(&text, ", Impersonate-Uid: %s", x->as_uid);
    for (size_t i = 0; i < x->as_groups.n; i++)
        str_printf(&text, ", Impersonate-Group: %s", x->as_groups.v[i]);
    for (size_t i = 0; i < x->as_extra.n; i++)
        str_printf(&text, ", Impersonate-Extra-%.*s: %s", (int)strcspn(x->as_extra.v[i], "="),
                   x->as_extra.v[i], x->as_extra.v[i] + strcspn(x->as_extra.v[i], "=") + 1);
    fact(s, "impersonation", _("acts as"), "%s", text.p);
    str_release(&text);
}

static void say_method(struct json *s, const struct kube_context *x, const struct kc_entry *e,
                       bool plain)
{
    const char *name = "";
    struct json *f;
    if (plain && !x->username)
        f = fact(s, "method", _("you are"), "%s", _("nobody: over http:// no credentials are sent"));
    else if (x->username)
        f = fact(s, name = "username", _("you are"), _("%s, with a password (Basic)"), x->username);
    else if (x->token_file)
        f = fact(s, name = "tokenFile", _("you are"), _("whom the token in %s names; it is read "
                                                        "again every minute"), x->token_file);
    else if (x->token)
        f = fact(s, name = "token", _("you are"), _("whom the token names (%zu characters, sent as "
                                                    "they are)"), strlen(x->token));
    else if (x->cert_pem)
        f = fact(s, name = "client-certificate", _("you are"), "%s",
                 _("whom the client certificate names"));
    else if (x->exec.command)
        f = fact(s, name = "exec", _("you are"), "%s", _("whom the plugin says"));
    else
        f = fact(s, "method", _("you are"), "%s", _("nobody: there are no credentials"));
    if (*name)
        at_field(f, e, name);
}

static void user(struct kubeconfig_report *r)
{
    const struct kube_context *x = &r->ctx;
    const struct kc_entry *e = entry(r, KC_USER, x->user);
    if (!x->server || (!e && !x->in_cluster))
        return;
    struct json *s = kubeconfig_report_section(r, "user", _("User"));
    struct json *identity = identity_of(x);
    const struct json *auth = json_get(identity, "auth");
    say_method(s, x, e, strncmp(x->server, "http://", 7) == 0);
    say_claims(s, auth);
    say_expiry(r, s, auth);
    say_file(s, e, "client-certificate");
    say_file(s, e, "client-key");
    say_file(s, e, "tokenFile");
    if (x->exec.command)
        say_plugin(r, s, e);
    if (x->exec.command && !kube_context_uses_plugin(x))
        fact(s, "not-used", _("not used"), "%s",
             _("the plugin: other credentials stand beside it"));
    if (x->cert_pem && x->token)
        fact(s, "both", _("also"), "%s", _("a client certificate is shown beside the token"));
    impersonation(s, x);
    json_free(identity);
}

/* --- the whole ------------------------------------------------------------------ */

void kubeconfig_report_make(const struct kube_options *o, struct kubeconfig_report *r)
{
    memset(r, 0, sizeof *r);
    kubeconfig_gather(o, &r->config, &r->findings);
    kubeconfig_look(r->config, o, &r->ctx, &r->findings);
    r->json = json_new_object();
    json_put_bool(r->json, "ok", false);
    json_put_str(r->json, "context", r->ctx.name ? r->ctx.name : "");
    json_set(r->json, "sections", json_new_array());
    files(r);
    contexts(r, o);
    server(r);
    user(r);
}

void kubeconfig_report_close(struct kubeconfig_report *r)
{
    static const char *const levels[] = {"error", "warning", "note"};
    struct json *list = json_new_array();
    for (int level = KC_ERROR; level <= KC_NOTE; level++)
        for (size_t i = 0; i < r->findings.n; i++) {
            const struct kc_finding *f = &r->findings.v[i];
            if ((int)f->level != level)
                continue;
            struct json *j = json_new_object();
            json_put_str(j, "level", levels[level]);
            json_put_str(j, "code", pd_id(f->err.code));
            put_clean(j, "message", f->err.msg);
            put_clean(j, "next", f->err.hint);
            if (f->err.src[0])
                at(j, f->err.src, f->err.line, f->err.col);
            json_append(list, j);
        }
    json_put_bool(r->json, "ok", kubeconfig_findings_errors(&r->findings) == 0);
    json_set(r->json, "findings", list);
}

void kubeconfig_report_free(struct kubeconfig_report *r)
{
    kube_context_release(&r->ctx);
    kubeconfig_findings_free(&r->findings);
    kubeconfig_free(r->config);
    json_free(r->json);
}
