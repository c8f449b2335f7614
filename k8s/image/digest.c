/* digest.c - SHA-256 through OpenSSL's EVP. */
#include "k8s/image/digest.h"

#include <openssl/evp.h>

#include "core/base/err.h"
#include "core/base/mem.h"

struct digest {
    EVP_MD_CTX *ctx;
};

struct digest *digest_new(void)
{
    struct digest *d = xmalloc(sizeof *d);
    d->ctx = EVP_MD_CTX_new();
    if (!d->ctx || EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL) != 1)
        PD_BUG("SHA-256 is not available");
    return d;
}

void digest_update(struct digest *d, const void *p, size_t n)
{
    if (EVP_DigestUpdate(d->ctx, p, n) != 1)
        PD_BUG("SHA-256 failed");
}

void digest_text(const struct digest *d, char out[DIGEST_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    if (!copy || EVP_MD_CTX_copy_ex(copy, d->ctx) != 1 || EVP_DigestFinal_ex(copy, md, &n) != 1)
        PD_BUG("SHA-256 failed");
    EVP_MD_CTX_free(copy);
    memcpy(out, "sha256:", 7);
    for (unsigned i = 0; i < 32; i++) {
        out[7 + 2 * i] = hex[md[i] >> 4];
        out[8 + 2 * i] = hex[md[i] & 15];
    }
    out[71] = '\0';
}

void digest_free(struct digest *d)
{
    if (!d)
        return;
    EVP_MD_CTX_free(d->ctx);
    free(d);
}

void digest_of(const void *p, size_t n, char out[DIGEST_TEXT])
{
    struct digest *d = digest_new();
    digest_update(d, p, n);
    digest_text(d, out);
    digest_free(d);
}
