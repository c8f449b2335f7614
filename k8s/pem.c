/* pem.c - certificates and keys (pem.h). */
#include "k8s/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/base/utf8.h"

static void name_part(const X509_NAME *name, int nid, char *out, size_t size)
{
    struct str s;
    str_init(&s, size - 1);
    for (int i = -1; (i = X509_NAME_get_index_by_NID(name, nid, i)) >= 0;) {
        unsigned char *text = NULL;
        int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, i)));
        if (s.len)
            str_add(&s, ", ");
        if (n > 0)
            utf8_clean((char *)text, (size_t)n, false, &s);
        OPENSSL_free(text);
    }
    str_copy(out, size, s.p);
    str_release(&s);
}

static void whole_name(const X509_NAME *name, char *out, size_t size)
{
    name_part(name, NID_commonName, out, size);
    if (*out)
        return;
    BIO *b = BIO_new(BIO_s_mem());
    char *p;
    X509_NAME_print_ex(b, name, 0, XN_FLAG_RFC2253);
    long n = BIO_get_mem_data(b, &p);
    struct str s;
    str_init(&s, size - 1);
    utf8_clean(p, (size_t)n, false, &s);
    str_copy(out, size, s.p);
    str_release(&s);
    BIO_free(b);
}

static int64_t time_ms(const ASN1_TIME *t)
{
    struct tm tm;
    return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) * 1000 : 0;
}

static void read_cert(X509 *c, struct pem_cert *out)
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    whole_name(X509_get_subject_name(c), out->name, sizeof out->name);
    name_part(X509_get_subject_name(c), NID_organizationName, out->groups, sizeof out->groups);
    whole_name(X509_get_issuer_name(c), out->issuer, sizeof out->issuer);
    out->from_ms = time_ms(X509_get0_notBefore(c));
    out->to_ms = time_ms(X509_get0_notAfter(c));
    out->ca = X509_check_ca(c) != 0;
    X509_digest(c, EVP_sha256(), md, &n);
    for (unsigned i = 0; i < n && i < 32; i++)
        str_fmt(out->sha256 + 2 * i, 3, "%02x", md[i]);
}

bool pem_cert(const char *pem, struct pem_cert *out)
{
    BIO *b = BIO_new_mem_buf(pem, -1);
    X509 *c;
    memset(out, 0, sizeof *out);
    while ((c = PEM_read_bio_X509(b, NULL, NULL, NULL)) != NULL) {
        if (out->count++ == 0)
            read_cert(c, out);
        X509_free(c);
    }
    BIO_free(b);
    ERR_clear_error();
    return out->count > 0;
}

bool pem_key_locked(const char *key_pem)
{
    return strstr(key_pem, "ENCRYPTED PRIVATE KEY") || strstr(key_pem, "Proc-Type: 4,ENCRYPTED");
}

static int no_passphrase(char *buf UNUSED, int size UNUSED, int rw UNUSED, void *arg UNUSED)
{
    return -1;
}

const char *pem_pair_wrong(const char *cert_pem, const char *key_pem)
{
    const char *wrong = NULL;
    BIO *cb = BIO_new_mem_buf(cert_pem, -1), *kb = BIO_new_mem_buf(key_pem, -1);
    X509 *cert = PEM_read_bio_X509(cb, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(kb, NULL, no_passphrase, NULL);
    if (!cert && strstr(cert_pem, "PRIVATE KEY-----"))
        wrong = N_("failed to find certificate PEM data in certificate input, but did find a "
                   "private key; PEM inputs may have been switched");
    else if (!cert)
        wrong = strstr(cert_pem, "-----BEGIN ")
                    ? N_("the certificate can't be read")
                    : N_("failed to find any PEM data in certificate input");
    else if (!key && pem_key_locked(key_pem))
        wrong = N_("the key is locked with a passphrase");
    else if (!key && strstr(key_pem, "-----BEGIN CERTIFICATE"))
        wrong = N_("found a certificate rather than a key in the PEM for the private key");
    else if (!key)
        wrong = strstr(key_pem, "-----BEGIN ") ? N_("the key can't be read")
                                               : N_("failed to find any PEM data in key input");
    else if (X509_check_private_key(cert, key) != 1)
        wrong = N_("private key does not match public key");
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(cb);
    BIO_free(kb);
    ERR_clear_error();
    return wrong;
}

/* --- base64 --- */

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of four: bytes written, -1 at a wrong sign (*at stands on it). */
static int group(const char *text, size_t *at, unsigned char *out, bool *last)
{
    int n = 0, pads = 0;
    uint32_t v = 0;
    while (n + pads < 4) {
        char c = text[*at];
        if (c == '\n' || c == '\r') {
            (*at)++;
            continue;
        }
        int d = digit(c);
        bool pad = c == '=' && n >= 2;
        if ((d < 0 && !pad) || (pads && !pad))
            return c == '\0' && n + pads == 0 ? 0 : -1;
        v = v << 6 | (uint32_t)(pad ? 0 : d);
        n += !pad;
        pads += pad;
        (*at)++;
    }
    *last = pads > 0;
    out[0] = (unsigned char)(v >> 16);
    out[1] = (unsigned char)(v >> 8);
    out[2] = (unsigned char)v;
    return 3 - pads;
}

unsigned char *pem_base64(const char *text, size_t *n, size_t *bad)
{
    size_t at = 0;
    bool last = false;
    unsigned char *out = xmalloc(strlen(text) + 4);
    *n = 0;
    for (;;) {
        int got = last ? 0 : group(text, &at, out + *n, &last);
        if (got < 0)
            break;
        *n += (size_t)got;
        while (last && (text[at] == '\n' || text[at] == '\r'))
            at++;
        if (text[at] == '\0' && (got == 0 || last))
            return out;
        if (got == 0)
            break;
    }
    *bad = at;
    explicit_bzero(out, strlen(text) + 4);
    free(out);
    return NULL;
}

char *pem_to_base64(const void *p, size_t n)
{
    char *out = xmalloc(4 * ((n + 2) / 3) + 1);
    EVP_EncodeBlock((unsigned char *)out, p, (int)n);
    return out;
}
