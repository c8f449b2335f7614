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
 * credentials are kept, since client-go sends none there.
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
 * is validated and handed over in out->exec; it is not run, so a user who has
 * no other credential is refused (PD_UNSUPPORTED). No file at all: PD_KUBECONFIG
 * with one sentence and the next step. */
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
