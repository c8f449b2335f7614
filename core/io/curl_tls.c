/* curl_tls.c - what TLS a connection agreed on, and the server's certificate
 * (http.h): read from OpenSSL while libcurl has the connection in its hands. */
#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <time.h>

#include "core/base/utf8.h"
#include "core/io/http_io.h"

static void name_of(const X509_NAME *name, char *dst, size_t size)
{
    unsigned char *text = NULL;
    struct str s;
    int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    dst[0] = '\0';
    if (at < 0)
        return;
    int n = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    str_init(&s, size - 1);
    if (n > 0)
        utf8_clean((const char *)text, (size_t)n, false, &s);
    str_copy(dst, size, s.p);
    str_release(&s);
    OPENSSL_free(text);
}

void curl_tls_look(void *easy, struct http_target *t)
{
    struct curl_tlssessioninfo *info = NULL;
    long made = 0;
    struct tm tm;
    /* a connection that is used again is the one that was looked at */
    if (curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &made) || (!made && t->tls.version[0]) ||
        curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info || !info->internals ||
        info->backend != CURLSSLBACKEND_OPENSSL)
        return;
    SSL *ssl = info->internals;
    X509 *x = SSL_get1_peer_certificate(ssl);
    str_copy(t->tls.version, sizeof t->tls.version, SSL_get_version(ssl));
    if (!x)
        return;
    name_of(X509_get_subject_name(x), t->tls.subject, sizeof t->tls.subject);
    name_of(X509_get_issuer_name(x), t->tls.issuer, sizeof t->tls.issuer);
    if (ASN1_TIME_to_tm(X509_get0_notAfter(x), &tm) == 1)
        t->tls.expires_ms = (int64_t)timegm(&tm) * 1000;
    X509_free(x);
}
