/* http.c - HTTP requests on the loop (http.h).
 *
 * libcurl's callbacks only store: a collected body grows in `body`, a streamed
 * one in `pending`, which is handed out by http_ready after curl_multi_perform
 * in pieces of at most 64 KiB. A sink that is slower than the network pauses
 * the transfer at 128 KiB. A request cancelled inside its own callback is freed
 * when that callback returns (`busy`), else at once.
 */
#include "core/io/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/io/http_io.h"
#include "core/io/loop_io.h"

enum { PIECE = 64 << 10, PENDING_HIGH = 128 << 10, BODY_CEILING = 64 << 20, CONNECT_MS = 10000 };

struct http {
    struct loop_transfer transfer;
    struct loop *loop;
    CURL *easy;
    struct curl_slist *headers;
    struct http_setup setup;
    struct http_request q;           /* callbacks, arg and flags; texts are not kept */
    struct http_response r;
    struct str body, pending;
    char *upload;
    int64_t offset;                  /* of an upload from a descriptor */
    int64_t started_ms, sent, received, shown_sent, shown_received;
    bool headers_in, head_called, paused, full, busy, cancelled;
    struct pd_err err;
};

/* --- targets --- */

struct http_target *http_target_new(const char *base)
{
    struct http_target *t = xcalloc(1, sizeof *t);
    t->refs = 1;
    t->base = xstrdup(base);
    for (size_t n = strlen(t->base); n > 0 && t->base[n - 1] == '/'; n--)
        t->base[n - 1] = '\0';
    strv_init(&t->headers);
    return t;
}

struct http_target *http_target_ref(struct http_target *t)
{
    t->refs++;
    return t;
}

static void free_secret(char *s)
{
    if (s)
        explicit_bzero(s, strlen(s));
    free(s);
}

void http_target_unref(struct http_target *t)
{
    if (!t || --t->refs > 0)
        return;
    free(t->base);
    free(t->ca_pem);
    free(t->cert_pem);
    free_secret(t->key_pem);
    free(t->tls_server_name);
    free(t->proxy);
    free_secret(t->bearer);
    free(t->user);
    free_secret(t->password);
    strv_release(&t->headers);
    free(t);
}

/* --- a handle as the target wants it --- */

struct url_parts {
    bool https;
    char host[256];                  /* without the brackets of IPv6 */
    int port;
    const char *rest;                /* from the path on */
};

static bool split_url(const char *url, struct url_parts *u)
{
    u->https = strncasecmp(url, "https://", 8) == 0;
    if (!u->https && strncasecmp(url, "http://", 7) != 0)
        return false;
    const char *p = url + (u->https ? 8 : 7);
    size_t n = strcspn(p, "/?#");
    u->rest = p + n;
    const char *host = p, *end = p + n, *colon = NULL;
    if (*host == '[') {
        const char *close = memchr(host, ']', n);
        if (!close)
            return false;
        colon = close + 1 < end && close[1] == ':' ? close + 1 : NULL;
        host++;
        n = (size_t)(close - host);
    } else {
        colon = memchr(host, ':', n);
        n = colon ? (size_t)(colon - host) : n;
    }
    if (n == 0 || n >= sizeof u->host)
        return false;
    memcpy(u->host, host, n);
    u->host[n] = '\0';
    u->port = colon ? atoi(colon + 1) : u->https ? 443 : 80;
    return u->port > 0 && u->port < 65536;
}

static bool loopback(const char *host)
{
    return !strcmp(host, "localhost") || str_starts(host, "127.") || !strcmp(host, "::1");
}

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
    if (!split_url(s->shown, &u))
        return CURL_SOCKET_BAD;
    int real = s->target->dial(s->target->dial_arg, u.host, u.port, &s->dial_err);
    if (real < 0 || dial_begin(&s->dial, real, &in, &fd, &s->dial_err) != PD_OK)
        return CURL_SOCKET_BAD;
    memcpy(&a->addr, &in, sizeof in);
    a->addrlen = sizeof in;
    loop_transfer_mark(s->transfer);
    return fd;
}

/* tls_server_name: the name goes into the URL, so that SNI and verification
 * use it, and CONNECT_TO leads the connection to the real host. */
static void set_place(struct http_setup *s, CURL *c)
{
    struct http_target *t = s->target;
    struct url_parts u;
    s->url = xstrdup(s->shown);
    if (split_url(s->shown, &u)) {
        bool v6 = strchr(u.host, ':') != NULL;
        char *real = xasprintf(v6 ? "[%s]:%d" : "%s:%d", u.host, u.port);
        if (t->tls_server_name && u.https && s->own_origin) {
            free(s->url);
            s->url = xasprintf("https://%s:%d%s", t->tls_server_name, u.port, u.rest);
            char *to = xasprintf("%s:%d:%s", t->tls_server_name, u.port, real);
            s->connect_to = curl_slist_append(NULL, t->dial ? "::127.0.0.1:1" : to);
            s->host_header = xstrdup(real);
            free(to);
        } else if (t->dial) {
            s->connect_to = curl_slist_append(NULL, "::127.0.0.1:1");
        }
        free(real);
        if (!t->proxy && (loopback(u.host) || t->dial))
            curl_easy_setopt(c, CURLOPT_PROXY, "");
    }
    curl_easy_setopt(c, CURLOPT_URL, s->url);
    if (s->connect_to)
        curl_easy_setopt(c, CURLOPT_CONNECT_TO, s->connect_to);
}

static bool same_origin(const char *base, const char *url)
{
    struct url_parts a, b;
    return split_url(base, &a) && split_url(url, &b) && a.https == b.https && a.port == b.port &&
           !strcasecmp(a.host, b.host);
}

static bool absolute_url(const char *path)
{
    return str_starts(path, "http://") || str_starts(path, "https://");
}

void *http_setup_init(struct http_setup *s, struct http_target *t, const char *path)
{
    memset(s, 0, sizeof *s);
    dial_init(&s->dial);
    CURL *c = curl_easy_init();
    if (!c)
        PD_BUG("out of memory");
    s->target = http_target_ref(t);
    s->shown = absolute_url(path) ? xstrdup(path) : xasprintf("%s%s", t->base, path);
    s->own_origin = !absolute_url(path) || same_origin(t->base, path);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, s->errors);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(c, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, s);
    if (t->proxy)
        curl_easy_setopt(c, CURLOPT_PROXY, t->proxy);
    set_tls(c, t, s->own_origin);
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
    http_target_unref(s->target);
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
    free_secret(plain);
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
    if (!split_url(s->shown, &u))
        str_copy(u.host, sizeof u.host, s->shown);
    pd_fail(err, code, _("%s port %d: %s"), u.host, u.port, text.p);
    if (hint)
        pd_set_hint(err, "%s", _(hint));
    str_release(&text);
    str_copy(err->src, sizeof err->src, s->shown);
    return code;
}

/* --- libcurl's callbacks: they store --- */

static void header_text(const char *line, const char *name, char *dst, size_t size, bool join)
{
    size_t n = strlen(name);
    if (strncasecmp(line, name, n) != 0 || line[n] != ':')
        return;
    const char *v = line + n + 1;
    v += strspn(v, " \t");
    size_t have = join ? strlen(dst) : 0;
    if (have && have + 1 < size)
        dst[have++] = '\n';
    str_copy(dst + have, size - have, v);
}

static void store_header(struct http_response *r, const char *line)
{
    char wait[32] = "";
    header_text(line, "Content-Type", r->content_type, sizeof r->content_type, false);
    header_text(line, "Location", r->location, sizeof r->location, false);
    header_text(line, "Docker-Content-Digest", r->digest, sizeof r->digest, false);
    header_text(line, "Range", r->range, sizeof r->range, false);
    header_text(line, "Warning", r->warning, sizeof r->warning, true);
    header_text(line, "WWW-Authenticate", r->www_authenticate, sizeof r->www_authenticate, true);
    header_text(line, "Retry-After", wait, sizeof wait, false);
    if (wait[0] >= '0' && wait[0] <= '9')
        r->retry_after = MIN(atoi(wait), 3600);
}

static size_t on_header(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    size_t n = size * count, keep = n;
    char line[2048];
    while (n > 0 && (p[n - 1] == '\r' || p[n - 1] == '\n'))
        n--;
    n = MIN(n, sizeof line - 1);
    memcpy(line, p, n);
    line[n] = '\0';
    if (str_starts(line, "HTTP/")) {
        memset(&h->r, 0, sizeof h->r);
        h->r.retry_after = -1;
        const char *space = strchr(line, ' ');
        h->r.status = space ? atoi(space + 1) : 0;
    } else if (n == 0 && h->r.status >= 200) {
        h->headers_in = true;
        loop_transfer_mark(&h->transfer);
    } else {
        store_header(&h->r, line);
    }
    return keep;
}

static bool streamed(const struct http *h)
{
    return h->q.data && !(h->q.no_body_on_error && h->r.status >= 400);
}

static size_t on_body(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    size_t n = size * count;
    if (!streamed(h)) {
        h->full = !str_append(&h->body, p, n);
        return h->full ? 0 : n;
    }
    loop_transfer_mark(&h->transfer);
    if (h->pending.len >= PENDING_HIGH) {
        h->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    str_append(&h->pending, p, n);
    return n;
}

static size_t on_read(char *p, size_t size, size_t count, void *arg)
{
    struct http *h = arg;
    ssize_t n = pread(h->q.body_fd, p, size * count, (off_t)h->offset);
    if (n < 0)
        return CURL_READFUNC_ABORT;
    h->offset += n;
    return (size_t)n;
}

static int on_seek(void *arg, curl_off_t offset, int origin)
{
    struct http *h = arg;
    if (origin != SEEK_SET)
        return CURL_SEEKFUNC_CANTSEEK;
    h->offset = offset;
    return CURL_SEEKFUNC_OK;
}

static int on_progress(void *arg, curl_off_t dl_total UNUSED, curl_off_t dl,
                       curl_off_t ul_total UNUSED, curl_off_t ul)
{
    struct http *h = arg;
    if (dl != h->received || ul != h->sent) {
        h->received = dl;
        h->sent = ul;
        loop_transfer_mark(&h->transfer);
    }
    return 0;
}

/* --- the loop's callbacks: they hand out --- */

static void http_free(struct http *h)
{
    loop_transfer_remove(h->loop, &h->transfer, h->easy);
    curl_easy_cleanup(h->easy);
    curl_slist_free_all(h->headers);
    http_setup_release(&h->setup);
    str_release(&h->body);
    str_release(&h->pending);
    free(h->upload);
    if (h->q.body_fd > 0)
        close(h->q.body_fd);
    free(h);
}

static void fill_response(struct http *h)
{
    h->r.body = h->body.p;
    h->r.body_len = h->body.len;
    h->r.ms = clock_us() / 1000 - h->started_ms;
    h->r.err = h->err.code != PD_OK ? &h->err : NULL;
}

static void call_head(struct http *h)
{
    h->head_called = true;
    if (!h->q.head)
        return;
    struct loop_mark m = loop_mark_begin(h->loop);
    fill_response(h);
    h->q.head(h->q.arg, &h->r);
    loop_mark_end(h->loop, m, "http head");
}

static void call_progress(struct http *h)
{
    if (!h->q.progress || (h->sent == h->shown_sent && h->received == h->shown_received))
        return;
    h->shown_sent = h->sent;
    h->shown_received = h->received;
    h->q.progress(h->q.arg, h->sent, h->received);
}

static void call_data(struct http *h)
{
    size_t at = 0, n = h->pending.len;
    while (at < n && !h->cancelled) {
        size_t piece = MIN(n - at, (size_t)PIECE);
        struct loop_mark m = loop_mark_begin(h->loop);
        h->q.data(h->q.arg, h->pending.p + at, piece);
        loop_mark_end(h->loop, m, "http data");
        at += piece;
    }
    str_consume(&h->pending, n);
}

/* Everything stored so far goes out, in order. */
static void hand_out(struct http *h)
{
    h->busy = true;
    if (h->headers_in && !h->head_called)
        call_head(h);
    if (!h->cancelled)
        call_progress(h);
    if (!h->cancelled)
        call_data(h);
    h->busy = false;
}

static void http_ready(void *arg)
{
    struct http *h = arg;
    dial_swap(&h->setup.dial);
    hand_out(h);
    if (h->cancelled) {
        http_free(h);
        return;
    }
    if (h->paused) {
        h->paused = false;
        curl_easy_pause(h->easy, CURLPAUSE_CONT);
    }
}

static void limit_error(struct http *h)
{
    pd_fail(&h->err, PD_LIMIT, _("the answer is longer than %zu bytes"), h->body.ceiling);
    str_copy(h->err.src, sizeof h->err.src, h->setup.shown);
}

static void http_done(void *arg, int curl_code)
{
    struct http *h = arg;
    if (h->full)
        limit_error(h);
    else if (curl_code != CURLE_OK)
        http_setup_error(&h->setup, curl_code, &h->err);
    hand_out(h);
    if (!h->cancelled && h->q.done) {
        h->busy = true;
        if (h->err.code != PD_OK && !h->headers_in)
            h->r.status = 0;
        fill_response(h);
        struct loop_mark m = loop_mark_begin(h->loop);
        h->q.done(h->q.arg, &h->r);
        loop_mark_end(h->loop, m, "http done");
    }
    http_free(h);
}

static void http_drop(void *arg)
{
    http_free(arg);
}

void http_cancel(struct http *h)
{
    if (!h || h->cancelled)
        return;
    h->cancelled = true;
    if (!h->busy)
        http_free(h);
}

/* --- start --- */

static void set_body(struct http *h, const struct http_request *q)
{
    CURL *c = h->easy;
    bool sends = q->body || q->body_fd > 0 || !strcmp(q->method, "POST") ||
                 !strcmp(q->method, "PUT") || !strcmp(q->method, "PATCH");
    if (q->body_fd > 0) {
        curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
        curl_easy_setopt(c, CURLOPT_READDATA, h);
        curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
        curl_easy_setopt(c, CURLOPT_SEEKDATA, h);
        curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)q->body_fd_size);
    } else if (sends) {
        size_t n = q->body ? q->body_len : 0;
        h->upload = xmalloc(n + 1);
        if (n)
            memcpy(h->upload, q->body, n);
        h->upload[n] = '\0';
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, h->upload);
    } else if (!strcmp(q->method, "HEAD")) {
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    }
    if (strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0)
        curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, q->method);
}

static void set_headers(struct http *h, const struct http_request *q)
{
    struct strv lines;
    strv_init(&lines);
    http_setup_headers(&h->setup, &lines);
    const char *accept = q->accept ? q->accept : "application/json";
    strv_pushf(&lines, "Accept: %s", accept);
    strv_push(&lines, "Expect:");
    if (q->content_type)
        strv_pushf(&lines, "Content-Type: %s", q->content_type);
    else
        strv_push(&lines, "Content-Type:");
    for (size_t i = 0; q->headers && i < q->headers->n; i++)
        strv_push(&lines, q->headers->v[i]);
    for (size_t i = 0; i < lines.n; i++)
        h->headers = curl_slist_append(h->headers, lines.v[i]);
    strv_release(&lines);
    curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
    if (strstr(accept, "json"))
        curl_easy_setopt(h->easy, CURLOPT_ACCEPT_ENCODING, "gzip");
}

struct http *http_start(struct loop *l, struct http_target *t, const struct http_request *q)
{
    struct http *h = xcalloc(1, sizeof *h);
    h->loop = l;
    h->q = *q;
    h->r.retry_after = -1;
    h->started_ms = clock_us() / 1000;
    str_init(&h->body, q->ceiling ? q->ceiling : BODY_CEILING);
    str_init(&h->pending, 2 * PENDING_HIGH + CURL_MAX_READ_SIZE);
    CURL *c = h->easy = http_setup_init(&h->setup, t, q->path);
    set_body(h, q);
    set_headers(h, q);
    h->q.method = h->q.path = h->q.content_type = h->q.accept = NULL;
    h->q.body = NULL;
    h->q.headers = NULL;
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, h);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, h);
    if (q->progress) {
        curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
        curl_easy_setopt(c, CURLOPT_XFERINFODATA, h);
    }
    if (q->timeout_ms > 0)
        curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)q->timeout_ms);
    h->setup.transfer = &h->transfer;
    h->transfer = (struct loop_transfer){
        .ready = http_ready, .done = http_done, .drop = http_drop, .arg = h};
    loop_transfer_add(l, &h->transfer, c);
    return h;
}

/* --- the blocking form --- */

struct run {
    const struct http_request *q;
    struct http_response *r;
    struct loop *loop;
    struct str *out;
    struct pd_err *err;
    enum pd_code code;
};

static void run_data(void *arg, const char *p, size_t n)
{
    struct run *run = arg;
    run->q->data(run->q->arg, p, n);
}

static void run_head(void *arg, const struct http_response *r)
{
    struct run *run = arg;
    run->q->head(run->q->arg, r);
}

static void run_progress(void *arg, int64_t sent, int64_t received)
{
    struct run *run = arg;
    run->q->progress(run->q->arg, sent, received);
}

static void run_done(void *arg, const struct http_response *r)
{
    struct run *run = arg;
    *run->r = *r;
    str_clear(run->out);
    str_append(run->out, r->body, r->body_len);
    run->r->body = run->out->p;
    run->r->body_len = run->out->len;
    run->r->err = NULL;
    if (r->err) {
        *run->err = *r->err;
        run->code = r->err->code;
    }
    loop_stop(run->loop, 0);
}

/* One private loop a process keeps its connections between calls. */
static struct loop *run_loop(void)
{
    static struct loop *l;
    static pid_t owner;
    if (!l || owner != getpid()) {
        l = loop_new();
        loop_unlimited(l);
        owner = getpid();
    }
    return l;
}

enum pd_code http_run(struct http_target *t, const struct http_request *q, struct http_response *r,
                      struct str *out, struct pd_err *err)
{
    struct loop *l = run_loop();
    struct run run = {.q = q, .r = r, .loop = l, .out = out, .err = err, .code = PD_OK};
    struct http_request mine = *q;
    mine.data = q->data ? run_data : NULL;
    mine.head = q->head ? run_head : NULL;
    mine.progress = q->progress ? run_progress : NULL;
    mine.done = run_done;
    mine.arg = &run;
    http_start(l, t, &mine);
    loop_run(l);
    return run.code;
}
