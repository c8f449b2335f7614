/* kube_context.c - a resolved context: its memory, its token file, and the one
 * that a pod finds in its service account (kubeconfig.h). */
#include <ctype.h>
#include <strings.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/kubeconfig.h"
#include "k8s/kubeconfig_io.h"

enum { SMALL_MAX = 1 << 20 };

void kube_context_init(struct kube_context *x)
{
    memset(x, 0, sizeof *x);
    strv_init(&x->as_groups);
    strv_init(&x->as_extra);
    strv_init(&x->exec.args);
    strv_init(&x->exec.env);
}

static void wipe(char *s)
{
    if (s)
        explicit_bzero(s, strlen(s));
    free(s);
}

void kube_context_release(struct kube_context *x)
{
    char *plain[] = {x->name, x->cluster, x->user, x->ns, x->server, x->ca_pem, x->cert_pem,
                     x->token_file, x->username, x->tls_server_name, x->proxy, x->as, x->as_uid,
                     x->exec.api_version, x->exec.command, x->exec.interactive,
                     x->exec.install_hint, x->exec.config, x->source};
    char *secret[] = {x->key_pem, x->token, x->password};
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        free(plain[i]);
    for (size_t i = 0; i < ARRAY_LEN(secret); i++)
        wipe(secret[i]);
    strv_release(&x->as_groups);
    strv_release(&x->as_extra);
    strv_release(&x->exec.args);
    strv_release(&x->exec.env);
    kube_context_init(x);
}

/* A small file without the white space around it; NULL when unreadable or empty. */
static char *trimmed_file(const char *path)
{
    struct str s;
    struct pd_err err;
    char *out = NULL;
    str_init(&s, SMALL_MAX);
    if (path_read(path, SMALL_MAX, &s, &err) == PD_OK) {
        size_t a = 0, b = s.len;
        while (a < b && isspace((unsigned char)s.p[a]))
            a++;
        while (b > a && isspace((unsigned char)s.p[b - 1]))
            b--;
        if (b > a)
            out = xstrndup(s.p + a, b - a);
    }
    str_release(&s);
    return out;
}

bool kube_context_refresh(struct kube_context *x)
{
    char *token = x->token_file ? trimmed_file(x->token_file) : NULL;
    if (!token || str_eq(token, x->token)) {
        wipe(token);
        return false;
    }
    wipe(x->token);
    x->token = token;
    return true;
}

bool kube_context_uses_plugin(const struct kube_context *x)
{
    return x->exec.command && !x->token && !x->token_file && !x->username && !x->cert_pem &&
           strncasecmp(x->server, "https://", 8) == 0;
}

void kubeconfig_pod(struct kube_context *x, struct kc_findings *f)
{
    const char *dir = kubeconfig_pod_dir(), *host = getenv("KUBERNETES_SERVICE_HOST");
    const char *port = getenv("KUBERNETES_SERVICE_PORT"), *ns = getenv("POD_NAMESPACE");
    char *ca = path_join(dir, "ca.crt"), *space = path_join(dir, "namespace");
    bool v6 = strchr(host, ':') != NULL;
    x->in_cluster = true;
    x->name = xstrdup("in-cluster");
    x->cluster = xstrdup("");
    x->user = xstrdup("");
    x->source = xstrdup("");
    x->server = xasprintf(v6 ? "https://[%s]:%s" : "https://%s:%s", host, port);
    x->token_file = path_join(dir, "token");
    kube_context_refresh(x);
    x->ca_pem = trimmed_file(ca);
    char *own = ns && *ns ? xstrdup(ns) : trimmed_file(space);
    if (own)
        kubeconfig_set(&x->ns, own);
    free(own);
    if (!x->token) {
        kubeconfig_findings_add(f, KC_ERROR, x->token_file, 0, 0,
                                _("the service account's token can't be read: %s"), x->token_file);
        kubeconfig_findings_hint(f, _("see whether the pod mounts one "
                                      "(automountServiceAccountToken)"));
    }
    free(ca);
    free(space);
}
