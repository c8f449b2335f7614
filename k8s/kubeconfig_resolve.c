/* kubeconfig_resolve.c - one context out of the merged files, checked and with
 * everything read in: which context, its cluster, and what flags say instead.
 * Rules: client-go tools/clientcmd/{client_config,validation}.go. */
#include <ctype.h>
#include <strings.h>

#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/proxy.h"
#include "core/io/url.h"
#include "k8s/kubeconfig_io.h"
#include "k8s/pem.h"

enum { PEM_MAX = 1 << 20 };

void kubeconfig_at(struct kc_look *r, enum kc_level level, const struct kc_entry *e,
                   const struct ynode *n, const char *fmt, ...)
{
    const struct ynode *at = n ? n : e->place;
    char text[sizeof r->f->v->err.msg];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    kubeconfig_findings_add(r->f, level, e->file, at->line, at->col, "%s", text);
}

void kubeconfig_set(char **slot, const char *value)
{
    char *old = *slot;
    *slot = xstrdup(value);
    free(old);
}

const struct ynode *kubeconfig_field(const struct kc_entry *e, const char *key)
{
    const struct ynode *n = e ? yaml_get(e->node, key) : NULL;
    return n && n->kind != Y_NULL && (n->kind != Y_STRING || *n->text) ? n : NULL;
}

/* A string field; another type was told when the file was read. */
void kubeconfig_text(const struct kc_entry *e, const char *key, char **slot)
{
    const struct ynode *n = kubeconfig_field(e, key);
    if (n && n->kind == Y_STRING)
        kubeconfig_set(slot, n->text);
}

/* "/a//b/../c/" as "/a/c". */
static void clean_path(const char *path, struct str *out)
{
    struct strv parts, kept;
    strv_init(&parts);
    strv_init(&kept);
    strv_split(&parts, path, '/');
    for (size_t i = 0; i < parts.n; i++) {
        const char *p = parts.v[i];
        if (!strcmp(p, "..") && kept.n > 0) {
            free(kept.v[--kept.n]);
            kept.v[kept.n] = NULL;
        } else if (*p && strcmp(p, ".") != 0 && strcmp(p, "..") != 0) {
            strv_push(&kept, p);
        }
    }
    for (size_t i = 0; i < kept.n; i++)
        str_printf(out, "/%s", kept.v[i]);
    strv_release(&kept);
    strv_release(&parts);
}

char *kubeconfig_beside(const struct kc_entry *e, const char *path)
{
    struct str s;
    char *dir = path_dir(e->file), *whole = path[0] == '/' ? xstrdup(path) : path_join(dir, path);
    str_init(&s, 64 << 10);
    if (path[0] == '/')
        str_add(&s, path);
    else
        clean_path(whole, &s);
    free(dir);
    free(whole);
    return str_take(&s);
}

static bool flag(const struct kc_entry *e, const char *key)
{
    const struct ynode *n = kubeconfig_field(e, key);
    return n && n->kind == Y_BOOL && n->number != 0;
}

/* --- the server's address --- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

static char *percent_decoded(const char *s, size_t n)
{
    char *out = xmalloc(n + 1);
    size_t w = 0;
    for (size_t i = 0; i < n; i++) {
        bool escape = s[i] == '%' && i + 2 < n && hex(s[i + 1]) >= 0 && hex(s[i + 2]) >= 0;
        out[w++] = escape ? (char)(hex(s[i + 1]) * 16 + hex(s[i + 2])) : s[i];
        i += escape ? 2 : 0;
    }
    out[w] = '\0';
    return out;
}

/* user:password@ of the address is who we are, before all else. */
static void take_userinfo(struct kube_context *x, const char *info, size_t n)
{
    const char *colon = memchr(info, ':', n);
    size_t user = colon ? (size_t)(colon - info) : n;
    char *name = percent_decoded(info, user);
    char *password = colon ? percent_decoded(colon + 1, n - user - 1) : xstrdup("");
    kubeconfig_set(&x->username, name);
    kubeconfig_set(&x->password, password);
    kubeconfig_set(&x->token, NULL);
    kubeconfig_set(&x->token_file, NULL);
    free(name);
    free(password);
}

/* Without TLS nothing of it is read, for a proxy's certificate neither. */
static void drop_credentials(struct kube_context *x)
{
    char **all[] = {&x->token, &x->token_file, &x->cert_pem, &x->key_pem, &x->username,
                    &x->password, &x->exec.command, &x->ca_pem, &x->tls_server_name};
    x->insecure = false;
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        kubeconfig_set(all[i], NULL);
}

static void place(struct kc_look *r, enum kc_level level, const char *text, const char *hint)
{
    if (r->cluster && !r->o->server) {
        kubeconfig_at(r, level, r->cluster, kubeconfig_field(r->cluster, "server"),
                      _("server of cluster \"%s\" %s: %s"), r->cluster->name, text, r->x->server);
    } else {
        kubeconfig_findings_add(r->f, level, NULL, 0, 0, _("the server's address %s: %s"), text,
                                r->x->server);
    }
    kubeconfig_findings_hint(r->f, "%s", hint);
}

static bool bare_v6(const char *authority)
{
    size_t n = strcspn(authority, "/?#"), colons = 0;
    for (size_t i = 0; i < n; i++)
        colons += authority[i] == ':';
    return authority[0] != '[' && colons > 1 && strspn(authority, "0123456789abcdefABCDEF:") == n;
}

static void bad_server(struct kc_look *r)
{
    const char *s = r->x->server;
    if (strpbrk(s, " \t\r\n"))
        place(r, KC_ERROR, _("has a blank in it"), _("remove it"));
    else if (strstr(s, "://") && !url_absolute(s))
        place(r, KC_ERROR, _("has a scheme that is no server's"), _("write https://HOST:PORT"));
    else if (url_absolute(s) && bare_v6(strstr(s, "://") + 3))
        place(r, KC_ERROR, _("can't be read as an address"),
              _("put an IPv6 address into brackets: https://[ADDRESS]:PORT"));
    else
        place(r, KC_ERROR, _("can't be read as an address"),
              _("write https://HOST:PORT, with a port from 1 to 65535"));
}

/* ":port" that is no number; after user:password@ and an IPv6 address. */
static bool bad_port(const char *authority, size_t n)
{
    const char *colon = NULL;
    for (size_t i = 0; i < n; i++)
        colon = authority[i] == ':' ? authority + i
                : strchr("@[]", authority[i]) ? NULL
                                              : colon;
    size_t left = colon ? (size_t)(authority + n - colon) - 1 : 0;
    return colon && strspn(colon + 1, "0123456789") < left;
}

/* A query is dropped; Go reads a # as a part of the path, if there is one. */
static void cut_query(struct kube_context *x)
{
    x->server[strcspn(x->server, "?")] = '\0';
    const char *authority = strstr(x->server, "://") + 3;
    char *hash = strchr(x->server, '#');
    if (hash && strcspn(authority, "/") > (size_t)(hash - authority))
        *hash = '\0';
    while ((hash = strchr(x->server, '#'))) {
        char *whole = xasprintf("%.*s%%23%s", (int)(hash - x->server), x->server, hash + 1);
        kubeconfig_set(&x->server, whole);
        free(whole);
    }
}

static void clean_server(struct kc_look *r)
{
    struct kube_context *x = r->x;
    struct url_parts u;
    struct str s;
    bool bare = !strstr(x->server, "://");
    if (bare) {
        place(r, KC_WARNING, _("has no scheme, so http:// is meant and no credentials are sent"),
              _("write https:// before it"));
        char *full = xasprintf("http://%s", x->server);
        kubeconfig_set(&x->server, full);
        free(full);
    }
    cut_query(x);
    if (strpbrk(x->server, " \t\r\n") || !url_split(x->server, &u) ||
        bad_port(strstr(x->server, "://") + 3, strcspn(strstr(x->server, "://") + 3, "/"))) {
        bad_server(r);
        return;
    }
    if (!u.https)
        drop_credentials(x);
    const char *authority = strstr(x->server, "://") + 3;
    const char *at = NULL;
    for (const char *p = authority; p < u.rest; p++)
        at = *p == '@' ? p : at;
    if (at)
        take_userinfo(x, authority, (size_t)(at - authority));
    const char *host = at ? at + 1 : authority;
    str_init(&s, 8192);
    str_printf(&s, "%s://%.*s", u.https ? "https" : "http", (int)(u.rest - host), host);
    clean_path(u.rest, &s);
    kubeconfig_set(&x->server, s.p);
    str_release(&s);
    if (!u.https && !bare && !url_loopback(u.host))
        place(r, KC_WARNING, _("begins with http://, so no credentials are sent"),
              _("write https:// if the server speaks it"));
}

/* --- cluster --- */

static void cluster_flags(struct kc_look *r)
{
    const struct kube_options *o = r->o;
    struct kube_context *x = r->x;
    struct str pem;
    struct pd_err err;
    if (o->server) {
        kubeconfig_set(&x->server, o->server);
        kubeconfig_set(&x->tls_server_name, NULL);
    }
    if (o->tls_server_name)
        kubeconfig_set(&x->tls_server_name, o->tls_server_name);
    if (o->insecure) {
        x->insecure = true;
        kubeconfig_set(&x->ca_pem, NULL);
    }
    if (!o->ca_file)
        return;
    str_init(&pem, PEM_MAX);
    if (path_read(o->ca_file, PEM_MAX, &pem, &err) == PD_OK)
        kubeconfig_set(&x->ca_pem, pem.p);
    else
        kubeconfig_findings_err(r->f, KC_ERROR, &err);
    str_release(&pem);
}

static void check_ca(struct kc_look *r)
{
    const struct kc_entry *e = r->cluster;
    struct kube_context *x = r->x;
    struct pem_cert c;
    if (x->ca_pem && !*x->ca_pem)
        kubeconfig_set(&x->ca_pem, NULL);
    if (x->insecure && x->ca_pem && !r->o->insecure) {
        kubeconfig_at(r, KC_ERROR, e, kubeconfig_field(e, "insecure-skip-tls-verify"),
                      _("cluster \"%s\": specifying a root certificates file with the insecure "
                        "flag is not allowed (certificate-authority and insecure-skip-tls-verify)"),
                      e->name);
        kubeconfig_findings_hint(r->f, _("remove insecure-skip-tls-verify"));
    } else if (x->insecure) {
        kubeconfig_at(r, KC_WARNING, e, kubeconfig_field(e, "insecure-skip-tls-verify"),
                      _("insecure-skip-tls-verify of cluster \"%s\": anybody on the way can read "
                        "your token"), e->name);
        kubeconfig_findings_hint(r->f, _("name the cluster's CA with certificate-authority"));
    } else if (x->ca_pem && strstr(x->ca_pem, "CERTIFICATE") && !pem_cert(x->ca_pem, &c)) {
        const struct ynode *n = kubeconfig_field(e, "certificate-authority-data");
        n = n ? n : kubeconfig_field(e, "certificate-authority");
        kubeconfig_at(r, KC_ERROR, e, n, _("%s of cluster \"%s\": unable to load root "
                                           "certificates: the PEM holds no certificate that can "
                                           "be read"), n ? n->key : "certificate-authority",
                      e->name);
        kubeconfig_findings_hint(r->f, _("copy it anew; a part may be missing"));
    }
}

static void check_proxy(struct kc_look *r)
{
    char scheme[32];
    const char *proxy = r->x->proxy;
    if (!proxy || (!proxy_bad_scheme(proxy, scheme) && !strpbrk(proxy, " \t\r\n")))
        return;
    char *shown = url_shown(proxy);
    kubeconfig_at(r, KC_ERROR, r->cluster, kubeconfig_field(r->cluster, "proxy-url"),
                  _("invalid proxy-url \"%s\" for cluster \"%s\": unsupported scheme \"%s\", must "
                    "be http, https, or socks5"), shown, r->cluster->name, scheme);
    kubeconfig_findings_hint(r->f, _("it must begin with http://, https:// or socks5://"));
    free(shown);
}

static void read_cluster(struct kc_look *r)
{
    const struct kc_entry *e = r->cluster;
    struct kube_context *x = r->x;
    kubeconfig_text(e, "server", &x->server);
    kubeconfig_text(e, "tls-server-name", &x->tls_server_name);
    kubeconfig_text(e, "proxy-url", &x->proxy);
    kubeconfig_pem(r, e, "certificate-authority", "cluster", "CERTIFICATE", &x->ca_pem);
    x->insecure = flag(e, "insecure-skip-tls-verify");
    x->disable_compression = flag(e, "disable-compression");
    check_ca(r);
    check_proxy(r);
    if (!x->server && !r->o->server) {
        kubeconfig_at(r, KC_ERROR, e, NULL, _("no server found for cluster \"%s\""), e->name);
        kubeconfig_findings_hint(r->f, _("add server: https://HOST:PORT to the cluster"));
    }
}

/* --- which context --- */

static void context_names(const struct kubeconfig *c, char *out, size_t size)
{
    const struct kc_list *l = &c->lists[KC_CONTEXT];
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < l->n && at + 2 < size; i++) {
        str_fmt(out + at, size - at, "%s%s", i ? ", " : "", l->v[i].name);
        at = strlen(out);
    }
}

static const char *nearest(const struct kc_list *l, const char *name)
{
    const char *all[64];
    size_t n = 0;
    for (; n < l->n && n < ARRAY_LEN(all); n++)
        all[n] = l->v[n].name;
    return str_nearest(name, all, n);
}

static void no_context(struct kc_look *r, const char *name, bool asked)
{
    char names[160];
    const struct kubeconfig *c = r->c;
    context_names(c, names, sizeof names);
    const char *near = nearest(&c->lists[KC_CONTEXT], name);
    if (asked)
        kubeconfig_findings_add(r->f, KC_ERROR, c->files[0].path, 0, 0,
                                _("context \"%s\" does not exist"), name);
    else
        kubeconfig_findings_add(r->f, KC_ERROR, c->current_file, c->current_line, c->current_col,
                                _("context was not found for specified context: %s "
                                  "(current-context)"), name);
    if (near)
        kubeconfig_findings_hint(r->f, _("did you mean \"%s\"? There are: %s"), near, names);
    else
        kubeconfig_findings_hint(r->f, *names ? _("there are: %s")
                                              : _("the files hold no context%s"), names);
}

static void no_file(struct kc_look *r)
{
    const struct kubeconfig *c = r->c;
    struct str tried;
    str_init(&tried, 300);
    for (size_t i = 0; i < c->file_n; i++)
        str_printf(&tried, "%s%s", i ? ", " : "", c->files[i].path);
    kubeconfig_findings_add(r->f, KC_ERROR, NULL, 0, 0,
                            _("no kubeconfig was found (looked for %s)"),
                            tried.len ? tried.p : "~/.kube/config");
    kubeconfig_findings_hint(r->f, _("start the practice cluster with \"podium practice start\", "
                                     "or name your file with --kubeconfig or KUBECONFIG"));
    str_release(&tried);
}

/* The entry that a context or a flag names. */
static const struct kc_entry *pick(struct kc_look *r, enum kc_kind kind, const char *by_flag)
{
    const struct kc_list *list = &r->c->lists[kind];
    const char *key = kubeconfig_fields_table(kind)->inner;
    const struct ynode *n = kubeconfig_field(r->context, key);
    const char *name = by_flag ? by_flag : n && n->kind == Y_STRING ? n->text : NULL;
    const struct kc_entry *e = name ? kubeconfig_find(list, name) : NULL;
    if (e)
        return e;
    if (by_flag)
        kubeconfig_findings_add(r->f, KC_ERROR, r->c->files[0].path, 0, 0,
                                _("%s \"%s\" does not exist"), key, by_flag);
    else if (!name)
        kubeconfig_at(r, KC_ERROR, r->context, n, _("%s was not specified for context \"%s\""), key,
                      r->context->name);
    else
        kubeconfig_at(r, KC_ERROR, r->context, n, _("%s \"%s\" was not found for context \"%s\""),
                      key, name, r->context->name);
    const char *near = name ? nearest(list, name) : list->n == 1 ? list->v[0].name : NULL;
    if (near)
        kubeconfig_findings_hint(r->f, _("did you mean \"%s\"?"), near);
    else
        kubeconfig_findings_hint(r->f, _("add it to the list %s of one of the files"),
                                 kubeconfig_fields_table(kind)->list);
    return NULL;
}

static bool pick_context(struct kc_look *r)
{
    const char *asked = r->o->context, *name = asked ? asked : r->c->current;
    char names[160];
    if (!name) {
        context_names(r->c, names, sizeof names);
        const struct kubeconfig *c = r->c;
        kubeconfig_findings_add(r->f, KC_ERROR, c->current_file ? c->current_file
                                                                : c->files[0].path,
                                c->current_line, c->current_col,
                                _("no current-context is set; kubectl goes to localhost:8080 "
                                  "then"));
        kubeconfig_findings_hint(r->f, *names ? _("choose one with --context: %s")
                                              : _("the files hold no context%s"), names);
        return false;
    }
    r->context = kubeconfig_find(&r->c->lists[KC_CONTEXT], name);
    if (!r->context)
        no_context(r, name, asked != NULL);
    return r->context != NULL;
}

static void check_namespace(struct kc_look *r)
{
    const char *ns = r->x->ns;
    size_t n = strlen(ns);
    bool ok = n > 0 && n <= 63 && ns[0] != '-' && ns[n - 1] != '-' &&
              strspn(ns, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
    if (ok)
        return;
    kubeconfig_at(r, KC_WARNING, r->context, kubeconfig_field(r->context, "namespace"),
                  _("namespace \"%s\" of context \"%s\" can't be the name of one"), ns,
                  r->context->name);
    kubeconfig_findings_hint(r->f, _("small letters, digits and - alone, 63 at most"));
}

/* --- all of it --- */

static void from_files(struct kc_look *r)
{
    struct kube_context *x = r->x;
    if (!pick_context(r))
        return;
    kubeconfig_set(&x->name, r->context->name);
    kubeconfig_set(&x->source, r->context->file);
    kubeconfig_text(r->context, "namespace", &x->ns);
    check_namespace(r);
    r->cluster = pick(r, KC_CLUSTER, r->o->cluster);
    r->user = pick(r, KC_USER, r->o->user);
    kubeconfig_set(&x->cluster, r->cluster ? r->cluster->name : "");
    kubeconfig_set(&x->user, r->user ? r->user->name : "");
    if (r->cluster)
        read_cluster(r);
    if (r->user)
        kubeconfig_user(r);
}

/* kubectl's tokenFile wins over its --token too. */
static void token_flag(struct kc_look *r)
{
    struct kube_context *x = r->x;
    if (!x->token_file || !x->token) {
        kubeconfig_set(&x->token, r->o->token);
        kubeconfig_set(&x->token_file, NULL);
        return;
    }
    kubeconfig_findings_add(r->f, KC_WARNING, NULL, 0, 0,
                            _("--token is not used: the tokenFile of user \"%s\" wins, as for "
                              "kubectl"), x->user);
    kubeconfig_findings_hint(r->f, _("remove tokenFile, or choose another user with --user"));
}

void kubeconfig_look(const struct kubeconfig *c, const struct kube_options *o,
                     struct kube_context *x, struct kc_findings *f)
{
    static const struct kube_options no_options;
    struct kc_look r = {.c = c, .o = o ? o : &no_options, .x = x, .f = f};
    kube_context_init(x);
    kubeconfig_set(&x->ns, "default");
    if (c->doc_n)
        from_files(&r);
    else if (c->in_pod)
        kubeconfig_pod(x, f);
    else if (!kubeconfig_findings_errors(f))
        no_file(&r);
    cluster_flags(&r);
    if (r.o->token)
        token_flag(&r);
    if (r.o->ns)
        kubeconfig_set(&x->ns, r.o->ns);
    if (x->server)
        clean_server(&r);
    if (x->token)
        log_add_secret(x->token);
    if (x->password)
        log_add_secret(x->password);
}
