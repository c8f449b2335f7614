/* kubeconfig.h - where the cluster is and who you are, as kubectl finds it.
 *
 * Files: --kubeconfig names exactly one; else $KUBECONFIG is a ':' list, of
 * which empty parts and missing files are skipped; else ~/.kube/config; else,
 * inside a pod, the service account. Entries of the same name: the first file
 * wins whole; current-context: the first file that sets it. Relative paths
 * count from the folder of the file that names them. A file that can't be read
 * as YAML fails everything, with its place.
 *
 * The result is resolved: certificates are PEM text, a token file has been
 * read (and wins over `token`), overrides are applied. Everything in it is a
 * copy, owned by the context. Data fields hold base64 and win over file
 * fields, but both set is an error, as for kubectl. Over http:// no
 * credentials are kept, since client-go sends none there; a server without a
 * scheme is http:// there. user:password@ of a server is sent as Basic, and
 * then no token. Where kubectl would ask for a user name or go to
 * localhost:8080, an error says what is missing.
 */
#ifndef K8S_KUBECONFIG_H
#define K8S_KUBECONFIG_H

#include "core/base/err.h"
#include "core/base/str.h"

/* A credential plugin, as written; command NULL: none. */
struct kube_exec {
    char *api_version, *command;      /* command: resolved against the file when it has a '/' */
    struct strv args, env;            /* env: "NAME=value" */
    char *interactive;                /* "Never" "IfAvailable" "Always" */
    char *install_hint;
    char *config;                     /* JSON of the cluster's extension for plugins, or NULL */
    bool cluster_info;
};

struct kube_context {
    char *name, *cluster, *user;      /* names in the file; "" in a pod */
    char *ns;                         /* never NULL: "default" at least */
    char *server;                     /* "https://host:6443/prefix", no slash, query or fragment */
    char *ca_pem, *cert_pem, *key_pem;
    char *token;                      /* of token or tokenFile; or NULL */
    char *token_file;                 /* absolute path to read again, or NULL */
    char *username, *password;
    bool insecure, disable_compression, in_cluster;
    char *tls_server_name, *proxy;
    char *as, *as_uid;                /* impersonation */
    struct strv as_groups, as_extra;  /* as_extra: "key=value", the key as a header's name has it */
    struct kube_exec exec;
    char *source;                     /* file of the context entry; "" in a pod */
};

/* Overrides (command line flags); NULL or false: not given. */
struct kube_options {
    const char *kubeconfig, *context, *cluster, *user, *ns, *server, *token;
    const char *ca_file, *tls_server_name, *as;
    bool insecure;
};

struct kubeconfig;                    /* the merged files */

/* What is wrong (kubectl refuses it too), odd, or worth knowing. */
enum kc_level { KC_ERROR, KC_WARNING, KC_NOTE };
struct kc_finding {
    enum kc_level level;
    struct pd_err err;                /* with file, line and column where there is a place */
};
struct kc_findings {
    struct kc_finding *v;
    size_t n;
};
void kubeconfig_findings_add(struct kc_findings *f, enum kc_level level, const char *file,
                             int line, int col, const char *fmt, ...) PRINTF_LIKE(6, 7);
void kubeconfig_findings_hint(struct kc_findings *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
void kubeconfig_findings_err(struct kc_findings *f, enum kc_level level, const struct pd_err *err);
size_t kubeconfig_findings_errors(const struct kc_findings *f);
void kubeconfig_findings_free(struct kc_findings *f);

/* kubeconfig_load and _resolve for those who explain: nothing is given up at the
 * first mistake, *out holds what could be made out. */
void kubeconfig_gather(const struct kube_options *o, struct kubeconfig **out,
                       struct kc_findings *f);
void kubeconfig_look(const struct kubeconfig *c, const struct kube_options *o,
                     struct kube_context *out, struct kc_findings *f);

MUST_USE enum pd_code kubeconfig_load(const struct kube_options *o, struct kubeconfig **out,
                                      struct pd_err *err);
void kubeconfig_free(struct kubeconfig *c);
/* True when some file or a pod's service account was found. */
bool kubeconfig_found(const struct kubeconfig *c);
const char *kubeconfig_current(const struct kubeconfig *c);      /* "" when unset */

/* The contexts in file order, for lists; borrowed. */
struct kube_entry {
    const char *name, *cluster, *user, *ns, *server, *file;      /* "" when unset */
};
size_t kubeconfig_count(const struct kubeconfig *c);
struct kube_entry kubeconfig_entry(const struct kubeconfig *c, size_t i);

/* Resolve o->context (else current-context) and the overrides. An exec plugin
 * is validated and handed over in out->exec; login.h runs it. No file at all:
 * PD_KUBECONFIG with one sentence and the next step. */
MUST_USE enum pd_code kubeconfig_resolve(const struct kubeconfig *c, const struct kube_options *o,
                                         struct kube_context *out, struct pd_err *err);
/* load + resolve. */
MUST_USE enum pd_code kubeconfig_open(const struct kube_options *o, struct kube_context *out,
                                      struct pd_err *err);
void kube_context_init(struct kube_context *x);
void kube_context_release(struct kube_context *x);
/* A plugin is asked only where nothing else says who we are, and over TLS. */
bool kube_context_uses_plugin(const struct kube_context *x);
/* Read token_file once more (the token on disk rotates): true when token changed. */
bool kube_context_refresh(struct kube_context *x);

#endif
