/* identity.c - certificates and token claims in words (identity.h). */
#include "k8s/identity.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <time.h>

#include "core/base/mem.h"
#include "core/io/proxy.h"
#include "k8s/client_io.h"

enum { CLAIMS_MOST = 64 << 10, NAME_MOST = 256 };

/* --- certificates --------------------------------------------------------------- */
static int64_t ends_ms(const X509 *x)
{
    struct tm tm;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(x), &tm) != 1)
        return 0;
    return (int64_t)timegm(&tm) * 1000;
}

/* The i-th part of a name; false: there is none. */
static bool part(const X509_NAME *name, int nid, int *at, char out[NAME_MOST])
{
    unsigned char *text = NULL;
    *at = X509_NAME_get_index_by_NID(name, nid, *at);
    if (*at < 0)
        return false;
    const X509_NAME_ENTRY *e = X509_NAME_get_entry(name, *at);
    int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(e));
    k8s_clean(out, NAME_MOST, n > 0 ? (const char *)text : "", n > 0 ? (size_t)n : 0);
    OPENSSL_free(text);
    return true;
}

static void put_name(struct json *j, const char *key, const X509_NAME *name)
{
    char text[NAME_MOST];
    int at = -1, other = -1;
    if (part(name, NID_commonName, &at, text) || part(name, NID_organizationName, &other, text))
        json_put_str(j, key, text);
}

static struct json *describe(const X509 *x)
{
    struct json *j = json_new_object(), *groups = json_new_array();
    char text[NAME_MOST];
    put_name(j, "subject", X509_get_subject_name(x));
    put_name(j, "issuer", X509_get_issuer_name(x));
    for (int at = -1; part(X509_get_subject_name(x), NID_organizationName, &at, text);)
        json_append(groups, json_new_string(text));
    json_set(j, "groups", groups);
    json_put_num(j, "expires_ms", (double)ends_ms(x));
    return j;
}

struct json *identity_cert(const char *pem)
{
    BIO *bio = pem ? BIO_new_mem_buf(pem, -1) : NULL;
    X509 *first = NULL, *x;
    while (bio && (x = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        if (!first || ends_ms(x) < ends_ms(first)) {
            X509_free(first);
            first = x;
        } else {
            X509_free(x);
        }
    }
    struct json *j = first ? describe(first) : NULL;
    X509_free(first);
    BIO_free(bio);
    return j;
}

/* --- tokens --------------------------------------------------------------------- */
static int digit(char c)
{
    static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *p = c ? strchr(all, c) : NULL;
    return p ? (int)(p - all) : -1;
}

static bool decode(const char *p, size_t n, struct str *out)
{
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < n && p[i] != '='; i++) {
        int d = digit(p[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (uint32_t)d;
        have += 6;
        if (have >= 8) {
            have -= 8;
            str_addc(out, (char)(bits >> have & 255));
        }
    }
    return true;
}

struct json *identity_claims(const char *token)
{
    const char *dot = token ? strchr(token, '.') : NULL;
    const char *end = dot ? strchr(dot + 1, '.') : NULL;
    struct json *j = NULL;
    struct pd_err err;
    struct str text;
    if (!end || strchr(end + 1, '.'))
        return NULL;
    str_init(&text, CLAIMS_MOST);
    if (!decode(dot + 1, (size_t)(end - dot - 1), &text) || text.full ||
        json_parse(text.p, text.len, &j, &err) != PD_OK)
        j = NULL;
    if (j && json_type(j) != JSON_OBJECT) {
        json_free(j);
        j = NULL;
    }
    explicit_bzero(text.p, text.len);
    str_release(&text);
    return j;
}

static void put_clean(struct json *j, const char *key, const char *text)
{
    char clean[NAME_MOST];
    if (text && *text)
        json_put_str(j, key, k8s_clean(clean, sizeof clean, text, strlen(text)));
}

/* Names and times alone: a claim may hold anything. */
static void token(struct json *auth, const char *text)
{
    struct json *claims = identity_claims(text);
    if (!claims)
        return;
    put_clean(auth, "name", json_str(claims, "sub", NULL));
    put_clean(auth, "issuer", json_str(claims, "iss", NULL));
    put_clean(auth, "audience", json_str(claims, "aud", json_str(claims, "aud[0]", NULL)));
    double exp = json_num(claims, "exp", 0);
    if (exp > 0)
        json_put_num(auth, "expires_ms", exp * 1000);
    json_free(claims);
}

/* --- the whole -------------------------------------------------------------------- */
static void add_cert(struct json *certs, const char *what, const char *pem)
{
    struct json *c = identity_cert(pem);
    if (!c)
        return;
    json_put_str(c, "what", what);
    json_append(certs, c);
}

/* Where another sits between: without the password that may stand in it. */
static void through(struct json *out, const struct kube_context *x)
{
    struct proxy p;
    proxy_for(x->server ? x->server : "", x->proxy, &p);
    if (p.url) {
        const char *scheme = strstr(p.url, "://"), *host = scheme ? scheme + 3 : p.url;
        const char *at = strchr(host, '@');
        char *shown = xasprintf("%.*s%s", (int)(host - p.url), p.url, at ? at + 1 : host);
        put_clean(out, "proxy", shown);
        free(shown);
    }
    put_clean(out, "proxy_from", p.variable ? p.variable : p.url ? "kubeconfig" : NULL);
    put_clean(out, "proxy_except", p.except);
    proxy_release(&p);
}

static void strings(struct json *j, const char *key, const struct strv *v)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < v->n; i++)
        json_append(list, json_new_string(v->v[i]));
    json_set(j, key, list);
}

static void certificate(struct json *auth, const char *pem)
{
    struct json *c = identity_cert(pem);
    put_clean(auth, "name", json_str(c, "subject", NULL));
    put_clean(auth, "issuer", json_str(c, "issuer", NULL));
    if (json_get(c, "groups"))
        json_set(auth, "groups", json_copy(json_get(c, "groups")));
    if (json_num(c, "expires_ms", 0) > 0)
        json_put_num(auth, "expires_ms", json_num(c, "expires_ms", 0));
    json_free(c);
}

/* As client-go chooses: a bearer token is sent besides a certificate, and the
 * certificate is what the server looks at first. */
static struct json *auth_of(const struct kube_context *x)
{
    struct json *a = json_new_object();
    const char *how = "none";
    if (x->cert_pem) {
        how = "certificate";
        certificate(a, x->cert_pem);
    } else if (x->token) {
        how = x->token_file ? "token file" : "token";
        token(a, x->token);
    } else if (x->username) {
        how = "password";
        put_clean(a, "name", x->username);
    }
    if (x->exec.command) {
        how = "exec plugin";
        put_clean(a, "plugin", x->exec.command);
    }
    json_put_str(a, "how", how);
    if (x->as) {
        put_clean(a, "as", x->as);
        strings(a, "as_groups", &x->as_groups);
    }
    return a;
}

void identity_given(struct json *auth, const char *bearer, const char *cert_pem,
                    int64_t expires_ms)
{
    if (cert_pem)
        certificate(auth, cert_pem);
    else if (bearer)
        token(auth, bearer);
    if (expires_ms > 0)
        json_put_num(auth, "expires_ms", (double)expires_ms);
}

struct json *identity_of(const struct kube_context *x)
{
    struct json *j = json_new_object(), *certs = json_new_array();
    json_set(j, "auth", auth_of(x));
    add_cert(certs, "ca", x->ca_pem);
    add_cert(certs, "client", x->cert_pem);
    json_set(j, "certs", certs);
    json_put_bool(j, "insecure", x->insecure);
    through(j, x);
    put_clean(j, "tls_server_name", x->tls_server_name);
    return j;
}
