/* registry_client_auth.c - who we are for a registry: given credentials, a
 * kubeconfig's token, docker's config.json, and the token servers that a
 * Bearer challenge names. */
#include <openssl/evp.h>
#include <strings.h>

#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/registry_client_priv.h"
#include "k8s/kubeconfig.h"

static void free_secret(char *s)
{
    if (s)
        explicit_bzero(s, strlen(s));
    free(s);
}

void registry_auth_release(struct registry_auth *a)
{
    free(a->user);
    free_secret(a->password);
    free_secret(a->token);
    free(a->ca_pem);
    free(a->cert_pem);
    free_secret(a->key_pem);
    free(a->host);
    memset(a, 0, sizeof *a);
}

/* "https://127.0.0.1:6443/x" -> "127.0.0.1:6443"; the default port is dropped. */
static char *host_of(const char *url)
{
    const char *p = strstr(url, "://");
    bool https = str_starts(url, "https://");
    p = p ? p + 3 : url;
    char *host = xstrndup(p, strcspn(p, "/?#"));
    const char *drop = https ? ":443" : ":80";
    if (str_ends(host, drop) && host[0] != '[')
        host[strlen(host) - strlen(drop)] = '\0';
    return host;
}

enum pd_code registry_auth_kubeconfig(const char *path, struct registry_auth *out,
                                      struct pd_err *err)
{
    struct kube_options opt = {.kubeconfig = path};
    struct kube_context ctx;
    kube_context_init(&ctx);
    enum pd_code rc = kubeconfig_open(&opt, &ctx, err);
    if (rc == PD_OK) {
        out->host = host_of(ctx.server);
        out->ca_pem = xstrdup(ctx.ca_pem);
        out->cert_pem = xstrdup(ctx.cert_pem);
        out->key_pem = xstrdup(ctx.key_pem);
        out->token = xstrdup(ctx.token);
        out->user = xstrdup(ctx.username);
        out->password = xstrdup(ctx.password);
        out->insecure = ctx.insecure;
    }
    kube_context_release(&ctx);
    return rc;
}

/* "user:password" out of docker's base64. */
static bool decode_auth(const char *b64, char **user, char **password)
{
    size_t n = strlen(b64);
    unsigned char *plain = xcalloc(1, n + 4);
    int len = n % 4 == 0 && n > 0 ? EVP_DecodeBlock(plain, (const unsigned char *)b64, (int)n) : -1;
    char *colon = len > 0 ? strchr((char *)plain, ':') : NULL;
    if (colon) {
        *user = xstrndup((char *)plain, (size_t)(colon - (char *)plain));
        *password = xstrdup(colon + 1);
    }
    explicit_bzero(plain, n);
    free(plain);
    return colon != NULL;
}

/* The entry of this host in docker's auths; keys may be URLs. */
static void docker_config(const char *registry, char **user, char **password)
{
    const char *dir = getenv("DOCKER_CONFIG"), *home = getenv("HOME");
    const char *want = str_eq(registry, "docker.io") ? "index.docker.io" : registry;
    char *path = dir ? path_join(dir, "config.json")
                     : xasprintf("%s/.docker/config.json", home ? home : "");
    struct json *j = NULL;
    struct pd_err ignored;
    if (json_read_file(path, 1 << 20, &j, &ignored) == PD_OK) {
        for (const struct json *e = json_first(json_get(j, "auths")); e; e = json_next(e)) {
            char *host = host_of(json_key(e));
            if (str_eq(host, want) && decode_auth(json_str(e, "auth", ""), user, password))
                e = NULL;
            free(host);
            if (!e)
                break;
        }
    }
    json_free(j);
    free(path);
}

static bool is_for(const struct registry_auth *a, const char *registry)
{
    return !a->host || str_eq(a->host, registry);
}

enum pd_code registry_client_open(const struct image_ref *ref, const struct registry_auth *auth,
                                  bool push, const struct registry_progress *p,
                                  struct registry_client *c, struct pd_err *err UNUSED)
{
    static const struct registry_auth none;
    const struct registry_auth *a = auth && is_for(auth, ref->registry) ? auth : &none;
    memset(c, 0, sizeof *c);
    char *base = xasprintf("%s://%s", auth && auth->plain_http ? "http" : "https",
                           ref_api_host(ref));
    c->target = http_target_new(base);
    free(base);
    c->ref = ref;
    c->progress = p;
    c->push = push;
    str_init(&c->body, LAYOUT_META_CEILING);
    c->target->insecure = a->insecure;
    c->target->ca_pem = xstrdup(a->ca_pem);
    c->target->cert_pem = xstrdup(a->cert_pem);
    c->target->key_pem = xstrdup(a->key_pem);
    if (a->token) {
        c->target->bearer = xstrdup(a->token);
        log_add_secret(a->token);
    } else if (a->user) {
        c->user = xstrdup(a->user);
        c->password = xstrdup(a->password);
    } else {
        docker_config(ref->registry, &c->user, &c->password);
    }
    if (c->password)
        log_add_secret(c->password);
    return PD_OK;
}

void registry_client_close(struct registry_client *c)
{
    http_target_unref(c->target);
    free(c->user);
    free_secret(c->password);
    str_release(&c->body);
}

char *registry_client_challenge(const char *header, const char *scheme, const char *param)
{
    size_t n = strlen(scheme), k = strlen(param);
    const char *p = header;
    while (*p && !(strncasecmp(p, scheme, n) == 0 && (p[n] == ' ' || p[n] == '\0')))
        p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n');
    if (!*p)
        return NULL;
    if (!k)
        return xstrdup("");
    for (p += n; *p && *p != '\n';) {
        p += strspn(p, " ,");
        const char *eq = p + strcspn(p, "=,\n");
        if (*eq != '=')
            return NULL;
        bool quoted = eq[1] == '"';
        const char *v = eq + 1 + quoted, *e = v + strcspn(v, quoted ? "\"\n" : ",\n");
        if ((size_t)(eq - p) == k && strncasecmp(p, param, k) == 0)
            return xstrndup(v, (size_t)(e - v));
        p = e + (quoted && *e == '"');
    }
    return NULL;
}

static void add_query(struct str *url, const char *name, const char *value)
{
    str_printf(url, "%c%s=", strchr(url->p, '?') ? '&' : '?', name);
    for (const char *p = value; *p; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
            strchr("-._~:/,", *p))
            str_addc(url, *p);
        else
            str_printf(url, "%%%02X", (unsigned char)*p);
}

/* Ask the realm of a Bearer challenge for a token. */
static bool ask_realm(struct registry_client *c, const char *realm, const char *service,
                      const char *scope)
{
    struct str url, body;
    struct http_response r = {0};
    struct pd_err ignored;
    struct http_target *t = http_target_new(realm);
    struct json *j = NULL;
    str_init(&url, 4096);
    str_init(&body, 1 << 20);
    str_add(&url, realm);
    if (service)
        add_query(&url, "service", service);
    if (scope)
        add_query(&url, "scope", scope);
    t->user = xstrdup(c->user);
    t->password = xstrdup(c->password);
    t->ca_pem = xstrdup(c->target->ca_pem);
    t->insecure = c->target->insecure;
    struct http_request q = {.method = "GET", .path = url.p, .timeout_ms = REGISTRY_META_MS};
    bool ok = http_run(t, &q, &r, &body, &ignored) == PD_OK && r.status == 200 &&
              json_parse(body.p, body.len, &j, &ignored) == PD_OK;
    const char *token = json_str(j, "token", json_str(j, "access_token", ""));
    ok = ok && *token;
    if (ok) {
        free_secret(c->target->bearer);
        c->target->bearer = xstrdup(token);
        log_add_secret(token);
    }
    json_free(j);
    str_release(&url);
    str_release(&body);
    http_target_unref(t);
    return ok;
}

bool registry_client_login(struct registry_client *c)
{
    if (c->asked)
        return false;
    c->asked = true;
    char *realm = registry_client_challenge(c->r.www_authenticate, "Bearer", "realm");
    char *basic = registry_client_challenge(c->r.www_authenticate, "Basic", "");
    bool ok = false;
    if (realm && (str_starts(realm, "https://") || str_starts(realm, "http://"))) {
        char *service = registry_client_challenge(c->r.www_authenticate, "Bearer", "service");
        char *scope = xasprintf("repository:%s:%s", c->ref->repository,
                                c->push ? "pull,push" : "pull");
        ok = ask_realm(c, realm, service, scope);
        free(scope);
        free(service);
    }
    if (!ok && basic && c->user && !c->target->user) {
        c->target->user = xstrdup(c->user);
        c->target->password = xstrdup(c->password);
        free_secret(c->target->bearer);
        c->target->bearer = NULL;
        ok = true;
    }
    free(realm);
    free(basic);
    return ok;
}
