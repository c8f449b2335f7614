/* fault_proxy.h - a proxy before an API server that cuts, delays, truncates and
 * answers wrongly. The nth request's fault follows from the seed alone. Plain
 * HTTP to the client; TLS (unverified) or plain HTTP to the server.
 */
#ifndef TESTS_API_FAULT_PROXY_H
#define TESTS_API_FAULT_PROXY_H

#include "tests/api/client_fake.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <zlib.h>

enum fault {
    FAULT_NONE, FAULT_CUT, FAULT_RESET, FAULT_TRUNCATE, FAULT_REFUSE, FAULT_GONE, FAULT_LINE_GONE,
    FAULT_LINE_504, FAULT_LINE_500, FAULT_LINE_403, FAULT_429, FAULT_502, FAULT_503, FAULT_LOGIN,
    FAULT_REDIRECT, FAULT_EMPTY, FAULT_MUTE, FAULT_NO_HEAD, FAULT_GARBAGE, FAULT_NO_LIST,
    FAULT_OTHER_LIST, FAULT_DELAY, FAULT_CRUMBS, FAULT_GZIP, FAULT_401, FAULT_403, FAULT_BACKWARDS,
    FAULT_TYPE, FAULT_500, FAULT_COUNT
};

struct fault_shared {
    int calm;                          /* 1: no more faults */
    int requests, faults;
    int count[FAULT_COUNT];
};

static struct {
    uint64_t seed;
    char host[256];
    int port;
    SSL_CTX *tls;                      /* NULL: plain */
    struct fault_shared *s;
} fault_plan;

struct fault_up {
    int fd;
    SSL *ssl;
    char buf[65536];
    size_t at, have;
    int64_t left;                      /* of the chunk or the body; -1: to the end */
    bool chunked, over, keep, crlf;    /* crlf: the end of a chunk is still to be read */
    int status;
    char type[128];
};

static inline uint64_t fault_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline size_t fault_rand(uint64_t *state, size_t below)
{
    *state = fault_mix(*state);
    return (size_t)(*state % below);
}

/* --- the server --- */

static inline void fault_up_close(struct fault_up *u)
{
    if (u->ssl)
        SSL_free(u->ssl);
    if (u->fd >= 0)
        close(u->fd);
    *u = (struct fault_up){.fd = -1};
}

static inline bool fault_up_open(struct fault_up *u)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)fault_plan.port)};
    int one = 1;
    *u = (struct fault_up){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    inet_pton(AF_INET, fault_plan.host, &a.sin_addr);
    if (u->fd < 0 || connect(u->fd, (struct sockaddr *)&a, sizeof a) < 0)
        return false;
    setsockopt(u->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!fault_plan.tls)
        return true;
    u->ssl = SSL_new(fault_plan.tls);
    SSL_set_fd(u->ssl, u->fd);
    return SSL_connect(u->ssl) == 1;
}

static inline bool fault_up_put(struct fault_up *u, const char *p, size_t n)
{
    return u->ssl ? SSL_write(u->ssl, p, (int)n) == (int)n
                  : send(u->fd, p, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* More bytes into buf; false at the end, or when the client has left. */
static inline bool fault_fill(struct fault_up *u, int client)
{
    if (u->at == u->have)
        u->at = u->have = 0;
    if (u->have == sizeof u->buf)
        return false;
    while (!u->ssl || SSL_pending(u->ssl) == 0) {
        struct pollfd p[2] = {{u->fd, POLLIN, 0}, {client, POLLIN | POLLRDHUP, 0}};
        if (poll(p, 2, 1000) > 0 && p[1].revents & (POLLRDHUP | POLLHUP | POLLERR))
            return false;
        if (p[0].revents)
            break;
    }
    int room = (int)(sizeof u->buf - u->have);
    int n = u->ssl ? SSL_read(u->ssl, u->buf + u->have, room)
                   : (int)recv(u->fd, u->buf + u->have, (size_t)room, 0);
    if (n <= 0)
        return false;
    u->have += (size_t)n;
    return true;
}

/* A line without its end; NULL at the end of the connection. */
static inline char *fault_line(struct fault_up *u, int client)
{
    for (;;) {
        char *from = u->buf + u->at, *end = memmem(from, u->have - u->at, "\r\n", 2);
        if (end) {
            *end = '\0';
            u->at = (size_t)(end + 2 - u->buf);
            return from;
        }
        if (u->at > 0) {
            memmove(u->buf, from, u->have - u->at);
            u->have -= u->at;
            u->at = 0;
        }
        if (!fault_fill(u, client))
            return NULL;
    }
}

static inline bool fault_head(struct fault_up *u, int client)
{
    char *line = fault_line(u, client);
    if (!line || sscanf(line, "HTTP/1.1 %d", &u->status) != 1)
        return false;
    u->left = -1;
    u->chunked = u->over = u->crlf = false;
    while ((line = fault_line(u, client)) != NULL && *line) {
        if (!strncasecmp(line, "content-length:", 15))
            u->left = atoll(line + 15);
        if (!strncasecmp(line, "content-type:", 13))
            snprintf(u->type, sizeof u->type, "%s", line + 13 + strspn(line + 13, " "));
        if (!strncasecmp(line, "transfer-encoding:", 18))
            u->chunked = true;
    }
    if (u->chunked)
        u->left = 0;
    return line != NULL;
}

/* The next piece of the body (borrowed); 0 at its end, -1 when it breaks. */
static inline long fault_body(struct fault_up *u, int client, char **p, size_t most)
{
    if (u->over)
        return 0;
    if (u->chunked && u->left == 0) {
        char *line = u->crlf ? fault_line(u, client) : "";
        u->crlf = false;
        if (!line || !(line = fault_line(u, client)))
            return -1;
        u->left = (int64_t)strtoul(line, NULL, 16);
        if (u->left == 0) {
            u->over = u->keep = true;
            return fault_line(u, client) ? 0 : -1;
        }
    }
    if (!u->chunked && u->left == 0) {
        u->over = u->keep = true;
        return 0;
    }
    if (u->at == u->have && !fault_fill(u, client))
        return u->left < 0 ? 0 : -1;
    size_t n = u->have - u->at;
    n = n < most ? n : most;
    if (u->left >= 0 && (int64_t)n > u->left)
        n = (size_t)u->left;
    *p = u->buf + u->at;
    u->at += n;
    if (u->left > 0)
        u->left -= (int64_t)n;
    u->crlf = u->chunked && u->left == 0;
    return (long)n;
}

static inline bool fault_ask(struct fake_conn *c, struct fault_up *u)
{
    char head[9000], token[4096] = "";
    fake_header(c, "Authorization", token, sizeof token);
    int n = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: %s:%d\r\nAccept: "
                     "application/json\r\n%s%s%s\r\n", c->method, c->path, fault_plan.host,
                     fault_plan.port, *token ? "Authorization: " : "", token, *token ? "\r\n" : "");
    for (int tries = 0; tries < 2; tries++) {
        bool old = u->fd >= 0;
        if ((old || fault_up_open(u)) && fault_up_put(u, head, (size_t)n) && fault_head(u, c->fd))
            return true;
        fault_up_close(u);
        if (!old)
            break;
    }
    return false;
}

/* --- what is made up --- */

static const struct {
    int status;
    const char *type, *extra, *body;
} fault_answers[FAULT_COUNT] = {
    [FAULT_GONE] = {410, "application/json", "", "{\"kind\":\"Status\",\"status\":\"Failure\","
        "\"reason\":\"Expired\",\"message\":\"too old resource version: 1 (2)\",\"code\":410}"},
    [FAULT_429] = {429, "text/plain", "Retry-After: 1\r\n",
                   "Too many requests, please try again later."},
    [FAULT_502] = {502, "text/html", "", "<html><h1>Bad Gateway</h1></html>"},
    [FAULT_503] = {503, "text/plain", "Retry-After: 2\r\n", "apiserver is shutting down"},
    [FAULT_500] = {500, "application/json", "", "{\"kind\":\"Status\",\"code\":500,\"message\":"
                                                "\"etcdserver: leader changed\"}"},
    [FAULT_LOGIN] = {200, "text/html", "", "<!DOCTYPE html><html><body>Sign in</body></html>"},
    [FAULT_REDIRECT] = {302, "text/html", "Location: https://login.example/\r\n", "<html></html>"},
    [FAULT_EMPTY] = {200, "application/json", "", ""},
    [FAULT_NO_LIST] = {200, "application/json", "", "{\"message\":\"sign in\"}"},
    [FAULT_OTHER_LIST] = {200, "application/json", "", "{\"kind\":\"NodeList\",\"apiVersion\":"
        "\"v1\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}"},
    [FAULT_401] = {401, "application/json", "", "{\"kind\":\"Status\",\"reason\":\"Unauthorized\","
                                                "\"message\":\"Unauthorized\",\"code\":401}"},
    [FAULT_403] = {403, "application/json", "", "{\"kind\":\"Status\",\"reason\":\"Forbidden\","
                                                "\"message\":\"no\",\"code\":403}"},
};

static const char *const fault_lines[FAULT_COUNT] = {
    [FAULT_LINE_GONE] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\","
                        "\"reason\":\"Expired\",\"message\":\"too old resource version: "
                        "1 (2)\",\"code\":410}}\n",
    [FAULT_LINE_504] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Timeout\","
        "\"message\":\"Too large resource version: 217, current: 213\",\"code\":504}}\n",
    [FAULT_LINE_500] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}\n",
    [FAULT_LINE_403] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":"
                       "\"Forbidden\",\"code\":403}}\n",
    [FAULT_GARBAGE] = "{\"type\":\"ADDED\",\"object\":{\"metadata\n",
    [FAULT_BACKWARDS] = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":"
                        "\"1\"}}}\n",
};

/* Hold until the client leaves or calm comes. */
static inline void fault_hold(struct fake_conn *c)
{
    for (;;) {
        struct pollfd p = {c->fd, POLLRDHUP, 0};
        if (poll(&p, 1, 20) > 0 || __atomic_load_n(&fault_plan.s->calm, __ATOMIC_SEQ_CST))
            return;
    }
}

static inline void fault_reset(struct fake_conn *c)
{
    struct linger now = {1, 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(c->fd);
    _exit(0);
}

static inline bool fault_send_gzip(struct fake_conn *c, struct fault_up *u)
{
    static unsigned char out[1 << 22], in[1 << 22];
    char *p, head[256];
    size_t have = 0;
    for (long n; (n = fault_body(u, c->fd, &p, 1 << 16)) > 0;) {
        if (have + (size_t)n > sizeof in)
            return false;
        memcpy(in + have, p, (size_t)n);
        have += (size_t)n;
    }
    z_stream z = {.next_in = in, .avail_in = (uInt)have, .next_out = out,
                  .avail_out = sizeof out};
    if (deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END)
        return false;
    snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
             "Content-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n", u->status, z.total_out);
    deflateEnd(&z);
    return fake_say(c, head) && fake_put(c, out, z.total_out);
}

/* The server's answer, spoilt behind `at` bytes. true: the connection lives on. */
static inline bool fault_relay(struct fake_conn *c, struct fault_up *u, enum fault kind,
                               uint64_t *dice)
{
    char head[256], *p, last = '\n';
    size_t at = fault_rand(dice, 3) ? fault_rand(dice, 900) : fault_rand(dice, 9000), sent = 0;
    size_t enough = strstr(c->path, "watch=") ? 2000 + fault_rand(dice, 20000) : SIZE_MAX;
    bool crumbs = kind == FAULT_CRUMBS, slow = kind == FAULT_DELAY;
    snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: %s\r\nTransfer-Encoding: "
             "chunked\r\n\r\n", u->status, kind == FAULT_TYPE ? "text/plain" : u->type);
    if (!fake_say(c, head))
        return false;
    if (kind == FAULT_MUTE)
        fault_hold(c);
    for (;;) {
        bool spoil = kind == FAULT_CUT || kind == FAULT_RESET || kind == FAULT_TRUNCATE;
        size_t most = crumbs ? 1 + fault_rand(dice, 90) : 1 << 16;
        long n;
        if (spoil && sent >= at) {
            if (kind == FAULT_RESET)
                fault_reset(c);
            if (kind == FAULT_TRUNCATE)
                fake_chunks_end(c);
            return false;
        }
        if (fault_lines[kind] && sent >= at && last == '\n') {
            fake_chunk(c, fault_lines[kind]);
            fake_chunks_end(c);
            return false;
        }
        /* no watch goes on for ever: its clean end is no fault */
        bool calm = __atomic_load_n(&fault_plan.s->calm, __ATOMIC_SEQ_CST);
        if (sent >= enough && last == '\n' && !calm) {
            fake_chunks_end(c);
            return false;
        }
        if (spoil)
            most = at - sent;
        n = fault_body(u, c->fd, &p, most);
        if (n < 0)
            return false;
        if (n == 0)
            return fake_chunks_end(c);
        if (fault_lines[kind] && sent + (size_t)n > at) {       /* up to the end of a line */
            char *end = memchr(p, '\n', (size_t)n);
            size_t part = end ? (size_t)(end - p) + 1 : (size_t)n;
            if (end && !fake_chunk_n(c, p, part))
                return false;
            if (end) {
                sent = at;
                last = '\n';
                continue;
            }
        }
        if (!fake_chunk_n(c, p, (size_t)n))
            return false;
        sent += (size_t)n;
        last = p[n - 1];
        if (slow && sent < 4000)
            fake_sleep(2);
    }
}

static inline enum fault fault_of(uint64_t *dice, bool watch)
{
    enum fault kind = (enum fault)(1 + fault_rand(dice, FAULT_COUNT - 1));
    if (fault_rand(dice, 10) < 3)
        return FAULT_NONE;
    if (watch && kind == FAULT_GZIP)
        return FAULT_CUT;
    if (!watch && fault_lines[kind])
        return FAULT_TRUNCATE;
    return kind;
}

static inline void fault_serve(struct fake_conn *c)
{
    struct fault_up u = {.fd = -1};
    while (fake_request(c)) {
        int nth = __atomic_fetch_add(&fault_plan.s->requests, 1, __ATOMIC_SEQ_CST);
        uint64_t dice = fault_mix(fault_plan.seed + (uint64_t)nth);
        enum fault kind = FAULT_NONE;
        if (!__atomic_load_n(&fault_plan.s->calm, __ATOMIC_SEQ_CST))
            kind = fault_of(&dice, strstr(c->path, "watch=") != NULL);
        __atomic_fetch_add(&fault_plan.s->count[kind], 1, __ATOMIC_SEQ_CST);
        if (kind != FAULT_NONE)
            __atomic_fetch_add(&fault_plan.s->faults, 1, __ATOMIC_SEQ_CST);
        if (kind == FAULT_REFUSE)
            break;
        if (kind == FAULT_NO_HEAD) {
            fault_hold(c);
            break;
        }
        if (fault_answers[kind].status) {
            fake_reply(c, fault_answers[kind].status, fault_answers[kind].type,
                       fault_answers[kind].extra, fault_answers[kind].body);
            continue;
        }
        if (!fault_ask(c, &u) ||
            !(kind == FAULT_GZIP ? fault_send_gzip(c, &u) : fault_relay(c, &u, kind, &dice)))
            break;
        if (!u.keep)
            fault_up_close(&u);
    }
}

/* base: "https://127.0.0.1:PORT"; key and certificate as PEM, or NULL. */
static inline struct fake fault_start(const char *base, const char *cert_pem, const char *key_pem,
                                      uint64_t seed)
{
    const char *host = strstr(base, "://") + 3;
    snprintf(fault_plan.host, sizeof fault_plan.host, "%.*s", (int)strcspn(host, ":/"), host);
    fault_plan.port = atoi(host + strcspn(host, ":") + 1);
    fault_plan.seed = seed;
    fault_plan.s = mmap(NULL, sizeof *fault_plan.s, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!strncmp(base, "https", 5)) {
        fault_plan.tls = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_mode(fault_plan.tls, SSL_MODE_AUTO_RETRY);
    }
    if (fault_plan.tls && cert_pem && key_pem) {
        BIO *c = BIO_new_mem_buf(cert_pem, -1), *k = BIO_new_mem_buf(key_pem, -1);
        X509 *cert = PEM_read_bio_X509(c, NULL, NULL, NULL);
        EVP_PKEY *key = PEM_read_bio_PrivateKey(k, NULL, NULL, NULL);
        SSL_CTX_use_certificate(fault_plan.tls, cert);
        SSL_CTX_use_PrivateKey(fault_plan.tls, key);
        X509_free(cert);
        EVP_PKEY_free(key);
        BIO_free(c);
        BIO_free(k);
    }
    return fake_start(fault_serve);
}

#endif
