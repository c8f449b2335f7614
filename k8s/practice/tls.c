/* tls.c - a CA and a server certificate with OpenSSL (tls.h). */
#include "k8s/practice/tls.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"

enum { CA_DAYS = 3650, SERVER_DAYS = 800, RENEW_DAYS = 30, PEM_CEILING = 64 << 10 };

struct pair {
    X509 *cert;
    EVP_PKEY *key;
};

static void pair_release(struct pair *p)
{
    X509_free(p->cert);
    EVP_PKEY_free(p->key);
    p->cert = NULL;
    p->key = NULL;
}

static bool extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = e && X509_add_ext(cert, e, -1);
    X509_EXTENSION_free(e);
    return ok;
}

static bool fill(X509 *cert, EVP_PKEY *key, const char *name, int days)
{
    uint64_t serial = 0;
    X509_NAME *subject = X509_get_subject_name(cert);
    RAND_bytes((unsigned char *)&serial, sizeof serial);
    return X509_set_version(cert, 2) &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(cert), serial >> 1) &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -300) &&
           X509_gmtime_adj(X509_getm_notAfter(cert), (long)days * 86400) &&
           X509_set_pubkey(cert, key) &&
           X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_UTF8, (const unsigned char *)"podium",
                                      -1, -1, 0) &&
           X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, (const unsigned char *)name,
                                      -1, -1, 0);
}

/* ca NULL: a CA that signs itself. */
static bool make(struct pair *out, const char *name, const struct pair *ca)
{
    out->key = EVP_EC_gen("P-256");
    out->cert = X509_new();
    if (!out->key || !out->cert || !fill(out->cert, out->key, name, ca ? SERVER_DAYS : CA_DAYS))
        return false;
    X509 *issuer = ca ? ca->cert : out->cert;
    bool ok = X509_set_issuer_name(out->cert, X509_get_subject_name(issuer));
    if (!ca)
        ok = ok && extend(out->cert, issuer, NID_basic_constraints, "critical,CA:TRUE") &&
             extend(out->cert, issuer, NID_key_usage, "critical,keyCertSign,cRLSign") &&
             extend(out->cert, issuer, NID_subject_key_identifier, "hash");
    else
        ok = ok && extend(out->cert, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
             extend(out->cert, issuer, NID_key_usage, "critical,digitalSignature") &&
             extend(out->cert, issuer, NID_ext_key_usage, "serverAuth") &&
             extend(out->cert, issuer, NID_subject_alt_name,
                    "DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,IP:127.0.0.1");
    return ok && X509_sign(out->cert, ca ? ca->key : out->key, EVP_sha256()) > 0;
}

static char *pem_of(BIO *bio)
{
    char *p;
    long n = BIO_get_mem_data(bio, &p);
    char *text = xstrndup(p, (size_t)n);
    BIO_free(bio);
    return text;
}

static char *cert_text(X509 *cert)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    return pem_of(bio);
}

static char *key_text(EVP_PKEY *key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    return pem_of(bio);
}

static enum pd_code write_pair(const char *dir, const char *name, const struct pair *p,
                               struct pd_err *err)
{
    char *crt = xasprintf("%s/%s.crt", dir, name), *key = xasprintf("%s/%s.key", dir, name);
    char *cert_pem = cert_text(p->cert), *key_pem = key_text(p->key);
    enum pd_code code = path_write_atomic(key, 0600, key_pem, strlen(key_pem), err);
    if (code == PD_OK)
        code = path_write_atomic(crt, 0644, cert_pem, strlen(cert_pem), err);
    OPENSSL_cleanse(key_pem, strlen(key_pem));
    free(crt);
    free(key);
    free(cert_pem);
    free(key_pem);
    return code;
}

static char *read_text(const char *dir, const char *file)
{
    struct str s;
    struct pd_err err;
    char *path = path_join(dir, file), *text = NULL;
    str_init(&s, PEM_CEILING);
    if (access(path, R_OK) == 0 && path_read(path, PEM_CEILING, &s, &err) == PD_OK)
        text = str_take(&s);
    str_release(&s);
    free(path);
    return text;
}

/* A pair from disk that is good for another month. */
static bool read_pair(const char *dir, const char *name, struct pair *out)
{
    char file[64];
    char *crt = read_text(dir, str_fmt(file, sizeof file, "%s.crt", name));
    char *key = read_text(dir, str_fmt(file, sizeof file, "%s.key", name));
    time_t soon = time(NULL) + RENEW_DAYS * 86400L;
    bool ok = false;
    if (crt && key) {
        BIO *a = BIO_new_mem_buf(crt, -1), *b = BIO_new_mem_buf(key, -1);
        out->cert = PEM_read_bio_X509(a, NULL, NULL, NULL);
        out->key = PEM_read_bio_PrivateKey(b, NULL, NULL, NULL);
        ok = out->cert && out->key && X509_check_private_key(out->cert, out->key) == 1 &&
             X509_cmp_time(X509_get0_notAfter(out->cert), &soon) > 0;
        BIO_free(a);
        BIO_free(b);
    }
    if (!ok)
        pair_release(out);
    free(crt);
    free(key);
    return ok;
}

static enum pd_code need_pair(const char *dir, const char *file, const char *name,
                              const struct pair *ca, struct pair *out, struct pd_err *err)
{
    if (read_pair(dir, file, out) &&
        (!ca || X509_verify(out->cert, ca->key) == 1))
        return PD_OK;
    pair_release(out);
    if (!make(out, name, ca))
        return pd_fail(err, PD_TLS, "the certificate of %s can't be made", name);
    return write_pair(dir, file, out, err);
}

enum pd_code tls_open(const char *dir, struct tls_files *out, struct pd_err *err)
{
    struct pair ca = {0}, server = {0};
    char *pki = path_join(dir, "pki");
    memset(out, 0, sizeof *out);
    enum pd_code code = path_mkdirs(pki, 0700, err);
    if (code == PD_OK)
        code = need_pair(pki, "ca", "podium practice CA", NULL, &ca, err);
    if (code == PD_OK)
        code = need_pair(pki, "server", "podium-practice", &ca, &server, err);
    if (code == PD_OK) {
        out->ca_path = path_join(pki, "ca.crt");
        out->ca_pem = cert_text(ca.cert);
        out->cert_pem = cert_text(server.cert);
        out->key_pem = key_text(server.key);
    }
    pair_release(&ca);
    pair_release(&server);
    free(pki);
    return code;
}

void tls_release(struct tls_files *t)
{
    if (t->key_pem)
        OPENSSL_cleanse(t->key_pem, strlen(t->key_pem));
    free(t->ca_path);
    free(t->ca_pem);
    free(t->cert_pem);
    free(t->key_pem);
    memset(t, 0, sizeof *t);
}
