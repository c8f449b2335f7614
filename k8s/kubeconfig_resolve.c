/* kubeconfig_resolve.c - one context out of the merged files, checked and with
 * everything read in. Rules: client-go tools/clientcmd/{client_config,
 * validation}.go; where kubectl goes on with a prompt or localhost:8080, an
 * error says what is missing. */
#include <openssl/evp.h>

#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/kubeconfig.h"
#include "k8s/kubeconfig_io.h"

enum { PEM_MAX = 1 << 20 };

struct resolve {
    const struct kubeconfig *c;
    const struct kube_options *o;
    struct kube_context *x;
    const struct kc_entry *context, *cluster, *user;
    struct pd_err *err;
};

static enum pd_code fail_at(struct resolve *r, const struct kc_entry *e, const struct ynode *n,
                            const char *text)
{
    const struct ynode *at = n ? n : e->place;
    return pd_fail_at(r->err, PD_KUBECONFIG, e->file, at->line, at->col, "%s", text);
}

static void set(char **slot, const char *value)
{
    free(*slot);
    *slot = xstrdup(value);
}

static const struct ynode *field(const struct kc_entry *e, const char *key)
{
    const struct ynode *n = e ? yaml_get(e->node, key) : NULL;
    return n && n->kind != Y_NULL && (n->kind != Y_STRING || *n->text) ? n : NULL;
}

/* A string field; NULL when unset. Numbers and booleans are what the person
 * forgot to quote: kubectl refuses them, and so does this. */
static enum pd_code text_field(struct resolve *r, const struct kc_entry *e, const char *key,
                               char **slot)
{
    char text[200];
    const struct ynode *n = field(e, key);
    if (!n)
        return PD_OK;
    if (n->kind != Y_STRING) {
        fail_at(r, e, n, str_fmt(text, sizeof text, _("%s of \"%s\" must be a string"), key,
                                 e->name));
        return pd_set_hint(r->err, _("put the value in quotes"));
    }
    set(slot, n->text);
    return PD_OK;
}

static bool flag_field(const struct kc_entry *e, const char *key)
{
    const struct ynode *n = field(e, key);
    return n && n->kind == Y_BOOL && n->number != 0;
}

/* --- files and data --- */

static char *beside(const struct kc_entry *e, const char *path)
{
    if (path[0] == '/')
        return xstrdup(path);
    char *dir = path_dir(e->file), *out = path_join(dir, path);
    free(dir);
    return out;
}

static bool has_pem(const char *text, const char *what)
{
    const char *p = strstr(text, "-----BEGIN ");
    return p && strstr(p, what);
}

static enum pd_code decode_data(struct resolve *r, const struct kc_entry *e, const struct ynode *n,
                                const char *what, char **slot)
{
    size_t len = strlen(n->text);
    char text[300];
    if (str_starts(n->text, "-----BEGIN ")) {
        fail_at(r, e, n, str_fmt(text, sizeof text, _("%s of %s \"%s\" is not base64: it is the "
                                                      "PEM "
                                 "text itself"), n->key, what, e->name));
        return pd_set_hint(r->err, _("put the text into a file and name it with %.*s: FILE, or "
                           "encode it with base64 -w0"), (int)strlen(n->key) - 5, n->key);
    }
    unsigned char *out = xmalloc(len + 4);
    EVP_ENCODE_CTX *ctx = EVP_ENCODE_CTX_new();
    int got = 0, last = 0;
    EVP_DecodeInit(ctx);
    bool ok = len < PEM_MAX && EVP_DecodeUpdate(ctx, out, &got, (const unsigned char *)n->text,
                                                (int)len) >= 0 &&
              EVP_DecodeFinal(ctx, out + got, &last) >= 0 && got + last > 0;
    EVP_ENCODE_CTX_free(ctx);
    if (ok) {
        free(*slot);
        *slot = xstrndup((char *)out, (size_t)(got + last));
    }
    explicit_bzero(out, len + 4);
    free(out);
    if (ok)
        return PD_OK;
    fail_at(r, e, n, str_fmt(text, sizeof text, _("%s of %s \"%s\" is not base64"), n->key, what,
                             e->name));
    return pd_set_hint(r->err, _("encode the PEM file with base64 -w0"));
}

static enum pd_code read_pem_file(struct resolve *r, const struct kc_entry *e,
                                  const struct ynode *n, const char *what, char **slot)
{
    struct str text;
    char msg[480];
    char *path = beside(e, n->text);
    str_init(&text, PEM_MAX);
    enum pd_code code = path_read(path, PEM_MAX, &text, r->err);
    if (code != PD_OK) {
        code = fail_at(r, e, n, str_fmt(msg, sizeof msg, _("%s of %s \"%s\" can't be read: %s"),
                                        n->key, what, e->name, path));
        pd_set_hint(r->err, _("relative paths count from the folder of the kubeconfig"));
    } else {
        set(slot, text.p);
    }
    str_release(&text);
    free(path);
    return code;
}

/* FIELD or FIELD-data into PEM text. */
static enum pd_code pem_field(struct resolve *r, const struct kc_entry *e, const char *key,
                              const char *what, const char *pem, char **slot)
{
    char data_key[64], text[300];
    const struct ynode *file = field(e, key);
    const struct ynode *data = field(e, str_fmt(data_key, sizeof data_key, "%s-data", key));
    if (!file && !data)
        return PD_OK;
    if (file && data) {
        fail_at(r, e, data, str_fmt(text, sizeof text, _("%s and %s are both specified for %s "
                                                         "\"%s\""),
                                    key, data_key, what, e->name));
        return pd_set_hint(r->err, _("remove one of them"));
    }
    const struct ynode *n = data ? data : file;
    if (n->kind != Y_STRING)
        return fail_at(r, e, n, str_fmt(text, sizeof text, _("%s of \"%s\" must be a string"),
                                        n->key, e->name));
    enum pd_code code =
        data ? decode_data(r, e, n, what, slot) : read_pem_file(r, e, n, what, slot);
    if (code == PD_OK && !has_pem(*slot, pem)) {
        code = fail_at(r, e, n, str_fmt(text, sizeof text, _("%s of %s \"%s\" holds no PEM %s"),
                                        n->key, what, e->name, pem));
        pd_set_hint(r->err, _("the text must begin with -----BEGIN %s-----"), pem);
    }
    return code;
}

/* --- cluster --- */

static void clean_server(struct kube_context *x)
{
    char *s = x->server;
    s[strcspn(s, "?#")] = '\0';
    for (size_t n = strlen(s); n > 0 && s[n - 1] == '/'; n--)
        s[n - 1] = '\0';
    if (strstr(s, "://"))
        return;
    bool tls = x->ca_pem || x->insecure || x->cert_pem;
    x->server = xasprintf("%s://%s", tls ? "https" : "http", s);
    free(s);
}

static enum pd_code cluster_flags(struct resolve *r)
{
    const struct kube_options *o = r->o;
    struct kube_context *x = r->x;
    if (o->server) {
        set(&x->server, o->server);
        if (!o->tls_server_name)
            set(&x->tls_server_name, NULL);
    }
    if (o->tls_server_name)
        set(&x->tls_server_name, o->tls_server_name);
    if (o->insecure) {
        x->insecure = true;
        set(&x->ca_pem, NULL);
    }
    if (!o->ca_file)
        return PD_OK;
    struct str pem;
    str_init(&pem, PEM_MAX);
    enum pd_code code = path_read(o->ca_file, PEM_MAX, &pem, r->err);
    if (code == PD_OK)
        set(&x->ca_pem, pem.p);
    str_release(&pem);
    return code;
}

static enum pd_code read_cluster(struct resolve *r)
{
    const struct kc_entry *e = r->cluster;
    struct kube_context *x = r->x;
    char text[300];
    enum pd_code code = text_field(r, e, "server", &x->server);
    if (code == PD_OK)
        code = text_field(r, e, "tls-server-name", &x->tls_server_name);
    if (code == PD_OK)
        code = text_field(r, e, "proxy-url", &x->proxy);
    if (code == PD_OK)
        code = pem_field(r, e, "certificate-authority", "cluster", "CERTIFICATE", &x->ca_pem);
    if (code != PD_OK)
        return code;
    x->insecure = flag_field(e, "insecure-skip-tls-verify");
    x->disable_compression = flag_field(e, "disable-compression");
    if (x->insecure && x->ca_pem && !r->o->insecure) {
        fail_at(r, e, field(e, "insecure-skip-tls-verify"),
                str_fmt(text, sizeof text, _("cluster \"%s\" has a certificate authority and "
                        "insecure-skip-tls-verify"), e->name));
        return pd_set_hint(r->err, _("remove insecure-skip-tls-verify"));
    }
    if (x->proxy && !str_starts(x->proxy, "http://") && !str_starts(x->proxy, "https://") &&
        !str_starts(x->proxy, "socks5://")) {
        fail_at(r, e, field(e, "proxy-url"), str_fmt(text, sizeof text,
                _("proxy-url of cluster \"%s\" must begin with http://, https:// or socks5://"),
                e->name));
        return r->err->code;
    }
    if (!x->server && !r->o->server)
        return fail_at(r, e, NULL, str_fmt(text, sizeof text, _("no server found for cluster "
                                                                "\"%s\""),
                                           e->name));
    return PD_OK;
}

/* --- user --- */

static enum pd_code read_token(struct resolve *r)
{
    const struct kc_entry *e = r->user;
    const struct ynode *file = field(e, "tokenFile");
    enum pd_code code = text_field(r, e, "token", &r->x->token);
    char text[480];
    if (code != PD_OK || !file)
        return code;
    free(r->x->token_file);
    r->x->token_file = beside(e, file->text);
    set(&r->x->token, NULL);
    kube_context_refresh(r->x);
    if (r->x->token)
        return PD_OK;
    fail_at(r, e, file, str_fmt(text, sizeof text, _("tokenFile of user \"%s\" can't be read or is "
                                "empty: %s"), e->name, r->x->token_file));
    return pd_set_hint(r->err, _("relative paths count from the folder of the kubeconfig"));
}

static enum pd_code read_list(struct resolve *r, const struct ynode *n, struct strv *out)
{
    if (n && n->kind != Y_SEQ)
        return fail_at(r, r->user, n, _("this must be a list of strings"));
    for (const struct ynode *c = n ? n->first : NULL; c; c = c->next)
        if (c->text)
            strv_push(out, c->text);
    return PD_OK;
}

static enum pd_code read_impersonation(struct resolve *r)
{
    const struct kc_entry *e = r->user;
    struct kube_context *x = r->x;
    const struct ynode *extra = field(e, "as-user-extra");
    char text[200];
    enum pd_code code = text_field(r, e, "as", &x->as);
    if (code == PD_OK)
        code = text_field(r, e, "as-uid", &x->as_uid);
    if (code == PD_OK)
        code = read_list(r, field(e, "as-groups"), &x->as_groups);
    for (const struct ynode *k = extra ? extra->first : NULL; k && code == PD_OK; k = k->next)
        for (const struct ynode *v = k->first; v; v = v->next)
            strv_pushf(&x->as_extra, "%s=%s", k->key, v->text ? v->text : "");
    if (r->o->as)
        set(&x->as, r->o->as);
    if (code == PD_OK && !x->as && (x->as_uid || x->as_groups.n || x->as_extra.n))
        code = fail_at(r, e, NULL, str_fmt(text, sizeof text, _("user \"%s\" asks for a uid, "
                                                                "groups "
                                           "or extra without impersonating a user (as)"), e->name));
    return code;
}

static enum pd_code check_exec(struct resolve *r, const struct ynode *n)
{
    const struct kube_exec *x = &r->x->exec;
    char text[300];
    if (!x->api_version || (strcmp(x->api_version, "client.authentication.k8s.io/v1") != 0 &&
                            strcmp(x->api_version, "client.authentication.k8s.io/v1beta1") != 0)) {
        fail_at(r, r->user, yaml_get(n, "apiVersion"), str_fmt(text, sizeof text,
                _("the exec plugin of user \"%s\" uses apiVersion %s, which is not known (any "
                  "more)"),
                r->user->name, x->api_version ? x->api_version : "(none)"));
        return pd_set_hint(r->err, _("make the entry anew with client.authentication"
                                     ".k8s.io/v1beta1 "
                           "or v1 (v1 also needs interactiveMode)"));
    }
    if (!x->command)
        return fail_at(r, r->user, n, str_fmt(text, sizeof text, _("command must be specified for "
                       "\"%s\" to use exec authentication plugin"), r->user->name));
    if (!x->interactive && str_ends(x->api_version, "/v1"))
        return fail_at(r, r->user, n, str_fmt(text, sizeof text, _("interactiveMode must be "
                       "specified for \"%s\" to use exec authentication plugin"), r->user->name));
    if (x->interactive && strcmp(x->interactive, "Never") != 0 &&
        strcmp(x->interactive, "IfAvailable") != 0 && strcmp(x->interactive, "Always") != 0)
        return fail_at(r, r->user, yaml_get(n, "interactiveMode"), str_fmt(text, sizeof text,
                       _("interactiveMode %s is none of Never, IfAvailable, Always"),
                       x->interactive));
    return PD_OK;
}

/* Plugins are not run: who has nothing else is told so, with the way round. */
static enum pd_code refuse_exec(struct resolve *r)
{
    const struct kube_context *x = r->x;
    if (!x->exec.command || x->token || x->username || x->cert_pem || r->o->token)
        return PD_OK;
    const struct ynode *n = field(r->user, "exec");
    pd_fail_at(r->err, PD_UNSUPPORTED, r->user->file, n->line, n->col,
               _("user \"%s\" gets its credentials from the program %s, which podium does not run"),
               r->user->name, x->exec.command);
    return pd_set_hint(r->err, _("run it yourself and give its token with \"token:\" or "
                       "\"tokenFile:\", or use a ServiceAccount's (kubectl create token)"));
}

static enum pd_code read_exec(struct resolve *r)
{
    const struct ynode *n = field(r->user, "exec");
    struct kube_exec *x = &r->x->exec;
    if (!n)
        return PD_OK;
    if (n->kind != Y_MAP)
        return fail_at(r, r->user, n, _("exec must be a map"));
    const char *command = yaml_str(n, "command", NULL);
    x->api_version = xstrdup(yaml_str(n, "apiVersion", NULL));
    if (command && *command)
        x->command = strchr(command, '/') ? beside(r->user, command) : xstrdup(command);
    x->interactive = xstrdup(yaml_str(n, "interactiveMode", NULL));
    x->install_hint = xstrdup(yaml_str(n, "installHint", NULL));
    x->cluster_info = !strcmp(yaml_str(n, "provideClusterInfo", "false"), "true");
    enum pd_code code = read_list(r, yaml_get(n, "args"), &x->args);
    const struct ynode *env = yaml_get(n, "env");
    for (const struct ynode *e = env ? env->first : NULL; e; e = e->next)
        strv_pushf(&x->env, "%s=%s", yaml_str(e, "name", ""), yaml_str(e, "value", ""));
    return code == PD_OK ? check_exec(r, n) : code;
}

static enum pd_code check_user(struct resolve *r)
{
    const struct kc_entry *e = r->user;
    struct kube_context *x = r->x;
    char text[300];
    const struct ynode *provider = field(e, "auth-provider");
    if (provider) {
        fail_at(r, e, provider, str_fmt(text, sizeof text, _("user \"%s\" uses auth-provider "
                                                             "\"%s\", "
                "which podium does not speak"), e->name, yaml_str(provider, "name", "")));
        return pd_set_hint(r->err, _("make a new entry with a token or an exec plugin"));
    }
    if (x->cert_pem && !x->key_pem) {
        fail_at(r, e, NULL, str_fmt(text, sizeof text, _("client-key or client-key-data must be "
                "specified for user \"%s\" to use its client certificate"), e->name));
        return r->err->code;
    }
    if (field(e, "token") && (x->username || x->password)) {
        fail_at(r, e, NULL, str_fmt(text, sizeof text, _("more than one authentication method "
                                                         "found "
                "for user \"%s\": token and username; only one is allowed"), e->name));
        return r->err->code;
    }
    return PD_OK;
}

static enum pd_code read_user(struct resolve *r)
{
    struct kube_context *x = r->x;
    enum pd_code code = read_token(r);
    if (code == PD_OK)
        code = text_field(r, r->user, "username", &x->username);
    if (code == PD_OK)
        code = text_field(r, r->user, "password", &x->password);
    if (code == PD_OK)
        code = pem_field(r, r->user, "client-certificate", "user", "CERTIFICATE", &x->cert_pem);
    if (code == PD_OK)
        code = pem_field(r, r->user, "client-key", "user", "PRIVATE KEY", &x->key_pem);
    if (code == PD_OK)
        code = check_user(r);
    if (code == PD_OK)
        code = read_exec(r);
    if (code == PD_OK)
        code = refuse_exec(r);
    if (code == PD_OK)
        code = read_impersonation(r);
    return code;
}

/* --- which context --- */

static void context_names(const struct kubeconfig *c, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < c->contexts.n && at + 2 < size; i++) {
        str_fmt(out + at, size - at, "%s%s", i ? ", " : "", c->contexts.v[i].name);
        at = strlen(out);
    }
}

static enum pd_code no_context(struct resolve *r, const char *name, bool asked)
{
    char names[200];
    const char *all[64];
    size_t n = 0;
    for (; n < r->c->contexts.n && n < ARRAY_LEN(all); n++)
        all[n] = r->c->contexts.v[n].name;
    context_names(r->c, names, sizeof names);
    const char *near = str_nearest(name, all, n);
    if (asked)
        pd_fail_at(r->err, PD_KUBECONFIG, r->c->files.v[0], 0, 0, _("context \"%s\" does not "
                                                                    "exist"),
                   name);
    else
        pd_fail_at(r->err, PD_KUBECONFIG, r->c->current_file, r->c->current_line,
                   r->c->current_col, _("context was not found for specified context: %s"), name);
    if (near)
        return pd_set_hint(r->err, _("did you mean \"%s\"? There are: %s"), near, names);
    return pd_set_hint(r->err, n ? _("there are: %s") : _("the files hold no context%s"), names);
}

static enum pd_code no_file(struct resolve *r)
{
    char *tried = r->c->tried.n ? r->c->tried.v[0] : NULL;
    pd_fail(r->err, PD_KUBECONFIG, _("no kubeconfig was found (looked for %s)"),
            tried ? tried : "~/.kube/config");
    return pd_set_hint(r->err, _("start the practice cluster with \"podium practice start\", or "
                                 "name "
                       "your file with --kubeconfig or KUBECONFIG"));
}

/* The entry that a context or a flag names. */
static enum pd_code pick(struct resolve *r, const struct kc_list *list, const char *key,
                         const char *flag, const struct kc_entry **out)
{
    char text[300];
    const struct ynode *n = field(r->context, key);
    const char *name = flag ? flag : n ? n->text : NULL;
    *out = name ? kubeconfig_find(list, name) : NULL;
    if (*out)
        return PD_OK;
    if (flag)
        return pd_fail(r->err, PD_KUBECONFIG, _("%s \"%s\" does not exist"), key, flag);
    if (!name)
        str_fmt(text, sizeof text, _("%s was not specified for context \"%s\""), key,
                r->context->name);
    else
        str_fmt(text, sizeof text, _("%s \"%s\" was not found for context \"%s\""), key, name,
                r->context->name);
    return fail_at(r, r->context, n, text);
}

static enum pd_code pick_context(struct resolve *r)
{
    const char *asked = r->o->context, *name = asked ? asked : r->c->current;
    char names[200];
    if (!name) {
        context_names(r->c, names, sizeof names);
        pd_fail_at(r->err, PD_KUBECONFIG, r->c->files.v[0], 0, 0, _("no current-context is set"));
        return pd_set_hint(r->err, r->c->contexts.n ? _("choose one with --context: %s")
                                                    : _("the files hold no context%s"), names);
    }
    r->context = kubeconfig_find(&r->c->contexts, name);
    return r->context ? PD_OK : no_context(r, name, asked != NULL);
}

/* --- all of it --- */

static void drop_credentials(struct kube_context *x)
{
    set(&x->token, NULL);
    set(&x->token_file, NULL);
    set(&x->cert_pem, NULL);
    set(&x->key_pem, NULL);
    set(&x->username, NULL);
    set(&x->password, NULL);
}

static enum pd_code from_files(struct resolve *r)
{
    struct kube_context *x = r->x;
    enum pd_code code = pick_context(r);
    if (code == PD_OK)
        code = pick(r, &r->c->clusters, "cluster", r->o->cluster, &r->cluster);
    if (code == PD_OK)
        code = pick(r, &r->c->users, "user", r->o->user, &r->user);
    if (code != PD_OK)
        return code;
    set(&x->name, r->context->name);
    set(&x->cluster, r->cluster->name);
    set(&x->user, r->user->name);
    set(&x->source, r->context->file);
    set(&x->ns, "default");
    code = text_field(r, r->context, "namespace", &x->ns);
    if (code == PD_OK)
        code = read_cluster(r);
    if (code == PD_OK)
        code = read_user(r);
    return code;
}

static enum pd_code resolve(struct resolve *r)
{
    struct kube_context *x = r->x;
    enum pd_code code = r->c->files.n     ? from_files(r)
                        : r->c->in_pod    ? kubeconfig_pod(r->o, x, r->err)
                                          : no_file(r);
    if (code == PD_OK)
        code = cluster_flags(r);
    if (code != PD_OK)
        return code;
    if (r->o->token) {
        set(&x->token, r->o->token);
        set(&x->token_file, NULL);
    }
    if (r->o->ns)
        set(&x->ns, r->o->ns);
    clean_server(x);
    if (str_starts(x->server, "http://"))
        drop_credentials(x);
    if (x->token)
        log_add_secret(x->token);
    if (x->password)
        log_add_secret(x->password);
    return PD_OK;
}

enum pd_code kubeconfig_resolve(const struct kubeconfig *c, const struct kube_options *o,
                                struct kube_context *out, struct pd_err *err)
{
    static const struct kube_options no_options;
    struct kube_context x;
    kube_context_init(&x);
    struct resolve r = {.c = c, .o = o ? o : &no_options, .x = &x, .err = err};
    enum pd_code code = resolve(&r);
    if (code == PD_OK)
        *out = x;
    else
        kube_context_release(&x);
    return code;
}

enum pd_code kubeconfig_open(const struct kube_options *o, struct kube_context *out,
                             struct pd_err *err)
{
    struct kubeconfig *c;
    enum pd_code code = kubeconfig_load(o, &c, err);
    if (code != PD_OK)
        return code;
    code = kubeconfig_resolve(c, o, out, err);
    kubeconfig_free(c);
    return code;
}
