/* tls.h - the practice cluster's own CA and its server certificate (ECDSA
 * P-256), made once and kept in <dir>/pki.
 */
#ifndef K8S_PRACTICE_TLS_H
#define K8S_PRACTICE_TLS_H

#include "core/base/err.h"

struct tls_files {
    char *ca_path;               /* <dir>/pki/ca.crt */
    char *ca_pem, *cert_pem, *key_pem;
};

/* Reads what is there, or makes what is missing or ends within a month. */
MUST_USE enum pd_code tls_open(const char *dir, struct tls_files *out, struct pd_err *err);
void tls_release(struct tls_files *t);

#endif
