/* identity.h - who a connection says it is, and until when: read from the
 * resolved context alone (certificates, the claims of a token, a plugin), for
 * the connection panel. No secret is in the answer.
 */
#ifndef K8S_IDENTITY_H
#define K8S_IDENTITY_H

#include "core/base/json.h"
#include "k8s/kubeconfig.h"

/* {"auth": {"how": "certificate" | "token" | "token file" | "exec plugin" |
 *           "password" | "none", "name", "groups": [], "issuer", "expires_ms",
 *           "audience", "plugin", "as", "as_groups": []},
 *  "certs": [{"what": "ca" | "client", "subject", "issuer", "expires_ms"}],
 *  "proxy", "proxy_from": "kubeconfig" | a variable's name, "proxy_except": why there is none,
 *  "insecure", "tls_server_name"}
 * Members that are not known are not there. Caller frees. */
struct json *identity_of(const struct kube_context *x);

/* What a plugin gave goes into "auth" of such an answer: who it names, and when it
 * ends (0: it did not say). bearer, cert_pem: or NULL. */
void identity_given(struct json *auth, const char *bearer, const char *cert_pem,
                    int64_t expires_ms);

/* The claims of a JSON Web Token; NULL when it is none. Nothing is verified.
 * Caller frees. */
struct json *identity_claims(const char *token);
/* {"subject", "groups": [], "issuer", "expires_ms"} of the certificate of a PEM
 * text that ends first; NULL: there is none. Caller frees. */
struct json *identity_cert(const char *pem);

#endif
