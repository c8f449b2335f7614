/* registry_client.h - push and pull by the OCI distribution API. It blocks:
 * for child processes (podium image …), not for the loop.
 *
 * Credentials, first match: token or user of struct registry_auth (only for
 * the host they were given for), the kubeconfig whose cluster's server is the
 * registry's host and port (its CA, and its bearer token), then the auths of
 * $DOCKER_CONFIG/config.json or ~/.docker/config.json. A 401 with a Bearer
 * challenge is answered by asking the realm for a token. A registry on the
 * loopback that speaks plain HTTP gets it, unless there are credentials.
 *
 * 5xx, 429 and broken transfers are retried with backoff (an upload resumes
 * where the registry says it stands); 413 is not: its sentence names the
 * layer's size and the proxy's limit. Every blob and manifest is verified
 * against its digest.
 */
#ifndef K8S_IMAGE_REGISTRY_CLIENT_H
#define K8S_IMAGE_REGISTRY_CLIENT_H

#include "k8s/image/image.h"
#include "k8s/image/ref.h"

struct registry_auth {
    char *user, *password;        /* Basic; or NULL */
    char *token;                  /* Bearer; or NULL */
    char *ca_pem;                 /* or NULL: the system's */
    char *cert_pem, *key_pem;     /* client certificate; or NULL */
    char *host;                   /* "127.0.0.1:6443": what these are for; NULL: any */
    bool insecure;
    bool plain_http;              /* for every host */
};
void registry_auth_release(struct registry_auth *a);
/* Server host, CA and token of a kubeconfig's current context; path NULL: the
 * file that kubectl would take. */
MUST_USE enum pd_code registry_auth_kubeconfig(const char *path, struct registry_auth *out,
                                               struct pd_err *err);

struct registry_progress {
    /* digest of the blob, bytes of it moved, its size; at least once a blob
     * (done == total when it is there already) */
    void (*fn)(void *arg, const char *digest, int64_t done, int64_t total);
    void *arg;
};

/* Push the image `d` of the layout to ref (an index is pushed with its
 * linux/amd64 child alone). mount_from: a repository of the same registry to
 * mount blobs from, or NULL. */
MUST_USE enum pd_code registry_client_push(const struct layout *l, const struct image_desc *d,
                                           const struct image_ref *ref, const char *mount_from,
                                           const struct registry_auth *auth,
                                           const struct registry_progress *p,
                                           struct image_desc *out, struct pd_err *err);
/* Pull ref into the layout, untagged: *out is the manifest (of linux/amd64
 * when ref names an index). Blobs that are there already are not asked for. */
MUST_USE enum pd_code registry_client_pull(struct layout *l, const struct image_ref *ref,
                                           const struct registry_auth *auth,
                                           const struct registry_progress *p,
                                           struct image_desc *out, struct pd_err *err);

/* A sentence for an error answer of a registry (errors[] JSON, HTML of a
 * proxy, nothing at all). `what`: "push of layer sha256:… (1.2 GiB)". */
enum pd_code registry_client_error(int status, const char *content_type, const char *body,
                                   size_t n, const char *what, int64_t size,
                                   struct pd_err *err);

#endif
