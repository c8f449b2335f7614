/* pem.h - what a PEM text says: certificates, and whether a key is theirs.
 */
#ifndef K8S_PEM_H
#define K8S_PEM_H

#include "core/base/base.h"

struct pem_cert {
    char name[128];              /* CN of the subject, else the whole subject */
    char groups[200];            /* O of the subject, ", " between: a client's groups */
    char issuer[128];
    char sha256[65];             /* of the certificate, lower hex */
    int64_t from_ms, to_ms;      /* validity, Unix time */
    bool ca;
    size_t count;                /* certificates in the text; the rest is of the first */
};

/* False when the text holds no certificate that can be read. */
bool pem_cert(const char *pem, struct pem_cert *out);
/* NULL when the key belongs to the certificate, else what is wrong, in the words
 * of kubectl. */
const char *pem_pair_wrong(const char *cert_pem, const char *key_pem);
/* The key is locked with a passphrase, which kubectl can't open either. */
bool pem_key_locked(const char *key_pem);
/* Strict base64 as Go reads it: line ends are skipped, nothing else. Returns
 * the bytes (caller wipes and frees) or NULL with *bad at the wrong byte. */
unsigned char *pem_base64(const char *text, size_t *n, size_t *bad);
char *pem_to_base64(const void *p, size_t n);        /* caller frees */

#endif
