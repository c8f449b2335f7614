/* http_setup.c - a libcurl handle as an http_target wants it, its header lines,
 * and libcurl's failures as errors of podium (http_io.h). */
#include <curl/curl.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/http_io.h"
#include "core/io/proxy.h"
#include "core/io/url.h"

enum { CONNECT_MS = 10000 };

static void set_blob(CURL *c, CURLoption option, const char *pem)
{
    struct curl_blob blob = {(void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY};
    curl_easy_setopt(c, option, &blob);
}

/* The system's CAs do not count when the target has its own. */
static void set_tls(CURL *c, const struct http_target *t, bool own_origin)
{
    if (t->insecure) {
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 0L);
    } else if (t->ca_pem) {
        set_blob(c, CURLOPT_CAINFO_BLOB, t->ca_pem);
        curl_easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
    if (own_origin && t->cert_pem && t->key_pem) {
        set_blob(c, CURLOPT_SSLCERT_BLOB, t->cert_pem);
        set_blob(c, CURLOPT_SSLKEY_BLOB, t->key_pem);
    }
}

static curl_socket_t open_socket(void *arg, curlsocktype purpose UNUSED, struct curl_sockaddr *a)
{
    struct http_setup *s = arg;
    struct url_parts u;
    struct sockaddr_in in;
    int fd;
    if (!s->target->dial)
        return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    if (!url_split(s->shown, &u))
        return CURL_SOCKET_BAD;
    int real = s->target->dial(s->target->dial_arg, u.host, u.port, &s->dial_err);
    if (real < 0 || dial_begin(&s->dial, real, &in, &fd, &s->dial_err) != PD_OK)
        return CURL_SOCKET_BAD;
    memcpy(&a->addr, &in, sizeof in);
    a->addrlen = sizeof in;
    loop_transfer_mark(s->transfer);
    return fd;
}

/* "host:port" as it was written. */
static char *authority(const char *url)
{
    const char *p = strstr(url, "://") + 3;
    size_t n = strcspn(p, "/?#");
    for (size_t i = n; i > 0; i--)
        if (p[i - 1] == '@')
            return xstrndup(p + i, n - i);
    return xstrndup(p, n);
}

/* tls_server_name: the name goes into the URL, so that SNI and verification
 * use it, and CONNECT_TO leads the connection to the real host. */
static void set_place(struct http_setup *s, CURL *c)
{
    struct http_target *t = s->target;
    struct url_parts u;
    s->url = xstrdup(s->shown);
    if (url_split(s->shown, &u)) {
        bool v6 = strchr(u.host, ':') != NULL;
        char *real = xasprintf(v6 ? "[%s]:%d" : "%s:%d", u.host, u.port);
        if (t->tls_server_name && u.https && s->own_origin) {
            free(s->url);
            s->url = xasprintf("https://%s:%d%s", t->tls_server_name, u.port, u.rest);
            char *to = xasprintf("%s:%d:%s", t->tls_server_name, u.port, real);
            s->connect_to = curl_slist_append(NULL, t->dial ? "::127.0.0.1:1" : to);
            s->host_header = authority(s->shown);
            free(to);
        } else if (t->dial) {
            s->connect_to = curl_slist_append(NULL, "::127.0.0.1:1");
        }
        free(real);
    }
    curl_easy_setopt(c, CURLOPT_URL, s->url);
    if (s->connect_to)
        curl_easy_setopt(c, CURLOPT_CONNECT_TO, s->connect_to);
}

/* The choice is ours alone: libcurl's own reading of the environment differs
 * from kubectl's. A TLS proxy is judged by the target's CA, as there. */
static void set_proxy(struct http_setup *s, CURL *c)
{
    const struct http_target *t = s->target;
    struct proxy p = {.url = NULL};
    if (!t->dial)
        proxy_for(s->shown, t->proxy, &p);
    curl_easy_setopt(c, CURLOPT_PROXY, p.url ? p.url : "");
    curl_easy_setopt(c, CURLOPT_NOPROXY, "");
    if (p.url && t->insecure) {
        curl_easy_setopt(c, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
    } else if (p.url && t->ca_pem) {
        set_blob(c, CURLOPT_PROXY_CAINFO_BLOB, t->ca_pem);
        curl_easy_setopt(c, CURLOPT_PROXY_CAPATH, NULL);
    }
    proxy_release(&p);
}

void *http_setup_init(struct http_setup *s, struct http_target *t, const char *path)
{
    memset(s, 0, sizeof *s);
    dial_init(&s->dial);
    CURL *c = curl_easy_init();
    if (!c)
        PD_BUG("out of memory");
    s->target = t;
    s->shown = url_absolute(path) ? xstrdup(path) : xasprintf("%s%s", t->base, path);
    s->own_origin = !url_absolute(path) || url_same_origin(t->base, path);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, s->errors);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    /* else giving a request up waits for the name server that it asked */
    curl_easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, s);
    set_tls(c, t, s->own_origin);
    set_proxy(s, c);
    set_place(s, c);
    return c;
}

void http_setup_release(struct http_setup *s)
{
    curl_slist_free_all(s->connect_to);
    free(s->url);
    free(s->shown);
    free(s->host_header);
    dial_release(&s->dial);
}

static void basic_header(const struct http_target *t, struct strv *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *plain = xasprintf("%s:%s", t->user, t->password ? t->password : "");
    size_t n = strlen(plain);
    struct str s;
    str_init(&s, 64 << 10);
    str_add(&s, "Authorization: Basic ");
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)(unsigned char)plain[i] << 16;
        v |= i + 1 < n ? (uint32_t)(unsigned char)plain[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned char)plain[i + 2] : 0;
        str_addc(&s, digits[v >> 18]);
        str_addc(&s, digits[v >> 12 & 63]);
        str_addc(&s, i + 1 < n ? digits[v >> 6 & 63] : '=');
        str_addc(&s, i + 2 < n ? digits[v & 63] : '=');
    }
    strv_push(out, s.p);
    str_release(&s);
    explicit_bzero(plain, n);
    free(plain);
}

void http_setup_headers(const struct http_setup *s, struct strv *out)
{
    const struct http_target *t = s->target;
    strv_push(out, "User-Agent: podium/" PODIUM_VERSION);
    if (s->host_header)
        strv_pushf(out, "Host: %s", s->host_header);
    if (!s->own_origin)
        return;
    if (t->bearer)
        strv_pushf(out, "Authorization: Bearer %s", t->bearer);
    else if (t->user)
        basic_header(t, out);
    for (size_t i = 0; i < t->headers.n; i++)
        strv_push(out, t->headers.v[i]);
}

static const struct {
    CURLcode code;
    enum pd_code pd;
    const char *hint;
} curl_errors[] = {
    {CURLE_COULDNT_RESOLVE_HOST, PD_NET, N_("check the host name, and the network's name server")},
    {CURLE_COULDNT_RESOLVE_PROXY, PD_NET, N_("check proxy-url, or the https_proxy variable")},
    {CURLE_COULDNT_CONNECT, PD_NET, NULL},
    {CURLE_OPERATION_TIMEDOUT, PD_TIMEOUT, NULL},
    {CURLE_PEER_FAILED_VERIFICATION, PD_TLS, NULL},
    {CURLE_SSL_CONNECT_ERROR, PD_TLS, N_("check that the address is that of an HTTPS server")},
    {CURLE_SSL_CERTPROBLEM, PD_TLS, N_("check the client certificate and its key")},
    {CURLE_SSL_CACERT_BADFILE, PD_TLS, N_("check certificate-authority in kubeconfig")},
    {CURLE_SSL_CIPHER, PD_TLS, NULL},
    {CURLE_UNSUPPORTED_PROTOCOL, PD_PROTO, N_("the address must begin with https:// or http://")},
    {CURLE_URL_MALFORMAT, PD_PROTO, N_("check the server's address")},
    {CURLE_WEIRD_SERVER_REPLY, PD_PROTO, NULL},
    {CURLE_BAD_CONTENT_ENCODING, PD_PROTO, NULL},
    {CURLE_WRITE_ERROR, PD_LIMIT, NULL},
    {CURLE_READ_ERROR, PD_IO, NULL},
    {CURLE_ABORTED_BY_CALLBACK, PD_CANCELED, NULL},
};

enum pd_code http_setup_error(const struct http_setup *s, int curl_code, struct pd_err *err)
{
    enum pd_code code = PD_NET;
    const char *hint = NULL;
    for (size_t i = 0; i < ARRAY_LEN(curl_errors); i++)
        if ((int)curl_errors[i].code == curl_code) {
            code = curl_errors[i].pd;
            hint = curl_errors[i].hint;
        }
    if (s->dial_err.code != PD_OK) {
        *err = s->dial_err;
        return err->code;
    }
    struct str text;
    str_init(&text, 400);
    const char *why = s->errors[0] ? s->errors : curl_easy_strerror((CURLcode)curl_code);
    /* "Failed to connect to HOST port N after 0 ms: WHY": the place is said once */
    const char *rest = curl_code == CURLE_COULDNT_CONNECT ? strstr(why, " ms: ") : NULL;
    why = rest ? rest + strlen(" ms: ") : why;
    utf8_clean(why, strlen(why), false, &text);
    struct url_parts u = {.host = ""};
    if (!url_split(s->shown, &u))
        str_copy(u.host, sizeof u.host, s->shown);
    pd_fail(err, code, _("%s port %d: %s"), u.host, u.port, text.p);
    if (hint)
        pd_set_hint(err, "%s", _(hint));
    str_release(&text);
    str_copy(err->src, sizeof err->src, s->shown);
    return code;
}
