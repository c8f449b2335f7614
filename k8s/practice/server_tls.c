/* server_tls.c - the TLS side of the server: accepts on loopback, speaks TLS
 * with OpenSSL, and hands the plain bytes to libmicrohttpd over a socket pair.
 *
 * libmicrohttpd could do TLS itself, but its 0.9.75 forwards an upgraded TLS
 * connection four bytes at a time (its pool is used up by then), which makes
 * exec unusable; behind a socket pair an upgraded connection is a plain socket.
 */
#include "k8s/practice/server_int.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"

enum { BUFFER = 128 << 10, PIECE = 16 << 10, CONNECTIONS = 500, HANDSHAKE_MS = 20000 };

struct link {
    struct server *s;
    struct link *next, **back;
    SSL *ssl;
    int net, pair;
    bool ready, net_wants_write, net_ended, pair_ended;
    struct str to_net, to_pair;
    uint32_t timer;              /* of the handshake */
};

static void on_net(void *arg, int fd, int events);
static void on_pair(void *arg, int fd, int events);

static void link_free(struct link *k)
{
    loop_timer_cancel(k->s->loop, k->timer);
    loop_fd_remove(k->s->loop, k->net);
    loop_fd_remove(k->s->loop, k->pair);
    SSL_free(k->ssl);
    close(k->net);
    close(k->pair);
    str_release(&k->to_net);
    str_release(&k->to_pair);
    *k->back = k->next;
    if (k->next)
        k->next->back = k->back;
    k->s->links--;
    free(k);
}

/* What an SSL call that did not succeed wants. false: the connection is over. */
static bool wants(struct link *k, int rc)
{
    int e = SSL_get_error(k->ssl, rc);
    ERR_clear_error();
    if (e == SSL_ERROR_WANT_WRITE)
        k->net_wants_write = true;
    return e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE;
}

static void handshake(struct link *k)
{
    int rc = SSL_accept(k->ssl);
    if (rc == 1) {
        k->ready = true;
        loop_timer_cancel(k->s->loop, k->timer);
        k->timer = 0;
    } else if (!wants(k, rc)) {
        k->net_ended = true;
    }
}

static void read_net(struct link *k)
{
    char buf[PIECE];
    while (!k->net_ended && k->to_pair.len < BUFFER) {
        int n = SSL_read(k->ssl, buf, sizeof buf);
        if (n > 0)
            str_append(&k->to_pair, buf, (size_t)n);
        else if (!wants(k, n))
            k->net_ended = true;
        else
            return;
    }
}

static void write_net(struct link *k)
{
    while (!k->net_ended && k->to_net.len > 0) {
        int n = SSL_write(k->ssl, k->to_net.p, (int)MIN(k->to_net.len, (size_t)PIECE));
        if (n > 0)
            str_consume(&k->to_net, (size_t)n);
        else if (!wants(k, n))
            k->net_ended = true;
        else
            return;
    }
}

static void write_pair(struct link *k)
{
    while (k->to_pair.len > 0) {
        ssize_t n = send(k->pair, k->to_pair.p, k->to_pair.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n <= 0) {
            k->pair_ended = k->pair_ended || (errno != EAGAIN && errno != EINTR);
            return;
        }
        str_consume(&k->to_pair, (size_t)n);
    }
}

static void read_pair(struct link *k)
{
    char buf[PIECE];
    while (!k->pair_ended && k->to_net.len < BUFFER) {
        ssize_t n = recv(k->pair, buf, sizeof buf, MSG_DONTWAIT);
        if (n > 0)
            str_append(&k->to_net, buf, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            k->pair_ended = true;
        else
            return;
    }
}

/* Move what can move, then wait for what is missing. */
static void pump(struct link *k)
{
    k->net_wants_write = false;
    if (!k->ready)
        handshake(k);
    if (k->ready) {
        read_net(k);
        write_pair(k);
        read_pair(k);
        write_net(k);
    }
    if (k->net_ended || (k->pair_ended && k->to_net.len == 0)) {
        if (k->ready && !k->net_ended)
            SSL_shutdown(k->ssl);
        link_free(k);
        return;
    }
    int net = k->to_pair.len < BUFFER ? LOOP_READ : 0, pair = 0;
    if (k->net_wants_write)
        net |= LOOP_WRITE;
    if (k->ready && k->to_net.len < BUFFER && !k->pair_ended)
        pair |= LOOP_READ;
    if (k->to_pair.len > 0)
        pair |= LOOP_WRITE;
    loop_fd(k->s->loop, k->net, net, on_net, k);
    loop_fd(k->s->loop, k->pair, pair, on_pair, k);
}

static void on_net(void *arg, int fd, int events)
{
    (void)fd;
    (void)events;
    pump(arg);
}

static void on_pair(void *arg, int fd, int events)
{
    (void)fd;
    (void)events;
    pump(arg);
}

static void on_timeout(void *arg)
{
    struct link *k = arg;
    k->timer = 0;
    link_free(k);
}

static void link_new(struct server *s, int net)
{
    int ends[2], one = 1;
    SSL *ssl = SSL_new(s->ssl);
    (void)setsockopt(net, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!ssl || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        SSL_free(ssl);
        close(net);
        return;
    }
    struct link *k = xcalloc(1, sizeof *k);
    k->s = s;
    k->ssl = ssl;
    k->net = net;
    k->pair = ends[0];
    SSL_set_fd(ssl, net);
    str_init(&k->to_net, BUFFER + PIECE);
    str_init(&k->to_pair, BUFFER + PIECE);
    k->next = s->first_link;
    k->back = &s->first_link;
    if (k->next)
        k->next->back = &k->next;
    s->first_link = k;
    s->links++;
    k->timer = loop_timer(s->loop, HANDSHAKE_MS, on_timeout, k, "tls handshake");
    if (!server_add_connection(s, ends[1])) {
        close(ends[1]);
        link_free(k);
        return;
    }
    pump(k);
}

static void on_accept(void *arg, int fd, int events)
{
    struct server *s = arg;
    (void)events;
    for (;;) {
        int net = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (net < 0)
            return;
        if (s->links >= CONNECTIONS)
            close(net);
        else
            link_new(s, net);
    }
}

static bool load(SSL_CTX *ctx, const struct server_tls *tls)
{
    BIO *c = BIO_new_mem_buf(tls->cert_pem, -1), *k = BIO_new_mem_buf(tls->key_pem, -1);
    X509 *cert = PEM_read_bio_X509(c, NULL, NULL, NULL);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(k, NULL, NULL, NULL);
    bool ok = cert && key && SSL_CTX_use_certificate(ctx, cert) == 1 &&
              SSL_CTX_use_PrivateKey(ctx, key) == 1;
    X509_free(cert);
    EVP_PKEY_free(key);
    BIO_free(c);
    BIO_free(k);
    return ok;
}

enum pd_code server_tls_start(struct server *s, int listen_fd, const struct server_tls *tls,
                              struct pd_err *err)
{
    s->ssl = SSL_CTX_new(TLS_server_method());
    if (!s->ssl || !load(s->ssl, tls))
        return pd_fail(err, PD_TLS, "the HTTPS server can't be started with its certificate");
    SSL_CTX_set_min_proto_version(s->ssl, TLS1_2_VERSION);
    SSL_CTX_set_mode(s->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    s->listen_fd = listen_fd;
    loop_fd(s->loop, listen_fd, LOOP_READ, on_accept, s);
    return PD_OK;
}

/* A last chance for answers that are written but not sent. */
void server_tls_flush(struct server *s)
{
    for (struct link *k = s->first_link, *next; k; k = next) {
        next = k->next;
        pump(k);
    }
}

void server_tls_stop(struct server *s)
{
    while (s->first_link)
        link_free(s->first_link);
    if (s->listen_fd > 0) {
        loop_fd_remove(s->loop, s->listen_fd);
        close(s->listen_fd);
    }
    SSL_CTX_free(s->ssl);
}
