/* io_tls.c - one transport: whatever an http_target says of TLS holds for HTTP
 * and for WebSocket alike. The certificates are made here. */
#include "tests/api/client_fakews.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "core/base/clock.h"

struct identity {
    EVP_PKEY *key;
    X509 *cert;
    char *cert_pem, *key_pem;
};

static char *pem_of(X509 *cert, EVP_PKEY *key)
{
    BIO *b = BIO_new(BIO_s_mem());
    char *p;
    if (cert)
        PEM_write_bio_X509(b, cert);
    else
        PEM_write_bio_PrivateKey(b, key, NULL, NULL, 0, NULL, NULL);
    long n = BIO_get_mem_data(b, &p);
    char *out = xstrndup(p, (size_t)n);
    BIO_free(b);
    return out;
}

static void extension(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    CHECK(e && X509_add_ext(cert, e, -1));
    X509_EXTENSION_free(e);
}

/* signer NULL: a CA of its own. */
static struct identity make(const char *cn, const char *san, const struct identity *signer)
{
    static long serial = 1;
    struct identity id = {.key = EVP_EC_gen("P-256"), .cert = X509_new()};
    X509_NAME *name = X509_get_subject_name(id.cert);
    X509_set_version(id.cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(id.cert), serial++);
    X509_gmtime_adj(X509_getm_notBefore(id.cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(id.cert), 86400);
    X509_set_pubkey(id.cert, id.key);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)cn, -1, -1, 0);
    X509_set_issuer_name(id.cert, signer ? X509_get_subject_name(signer->cert) : name);
    extension(id.cert, NID_basic_constraints, signer ? "CA:FALSE" : "critical,CA:TRUE");
    if (san)
        extension(id.cert, NID_subject_alt_name, san);
    CHECK(X509_sign(id.cert, signer ? signer->key : id.key, EVP_sha256()) > 0);
    id.cert_pem = pem_of(id.cert, NULL);
    id.key_pem = pem_of(NULL, id.key);
    return id;
}

static void forget(struct identity *id)
{
    EVP_PKEY_free(id->key);
    X509_free(id->cert);
    free(id->cert_pem);
    free(id->key_pem);
}

static struct identity ca, server, client;

/* Answers over TLS; SNI goes to line[0], the client's name to line[1]. */
static void serve_tls(struct fake_conn *c)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca.cert);
    SSL_CTX_use_certificate(ctx, server.cert);
    SSL_CTX_use_PrivateKey(ctx, server.key);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, c->fd);
    if (SSL_accept(ssl) <= 0)
        return;
    const char *sni = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    X509 *peer = SSL_get0_peer_certificate(ssl);
    char name[64] = "-";
    if (peer)
        X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name, sizeof name);
    str_copy(c->s->line[0], sizeof c->s->line[0], sni ? sni : "-");
    str_copy(c->s->line[1], sizeof c->s->line[1], name);
    for (int n; (n = SSL_read(ssl, c->buf, sizeof c->buf - 1)) > 0;) {
        char key[128] = "", accept[32], reply[300];
        c->buf[n] = '\0';
        if (!str_starts(c->buf, "GET "))
            continue;                            /* the Close of the WebSocket */
        str_copy(c->s->head, sizeof c->s->head, c->buf);
        str_copy(c->head, sizeof c->head, c->buf);
        c->s->requests++;
        if (fake_header(c, "Sec-WebSocket-Key", key, sizeof key)) {
            ws_accept_key(key, accept);
            str_fmt(reply, sizeof reply, "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: %s\r\n\r\n"
                    "\x81\x02hi\x88\x02\x03\xe8", accept);
        } else {
            str_fmt(reply, sizeof reply, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        }
        SSL_write(ssl, reply, (int)strlen(reply));
    }
}

static struct {
    int done, status, messages;
    struct pd_err err;
} got;

static void on_done(void *arg UNUSED, const struct http_response *r)
{
    got.done = 1;
    got.status = r->status;
    if (r->err)
        got.err = *r->err;
}

static void on_message(void *arg UNUSED, bool binary UNUSED, const char *p UNUSED, size_t n UNUSED)
{
    got.messages++;
}

static void on_closed(void *arg UNUSED, int code, int status UNUSED, const char *body UNUSED,
                      const struct pd_err *err)
{
    got.done = 1;
    got.status = code == 1000 ? 200 : 0;
    if (err)
        got.err = *err;
}

static struct fake f;

static int dial(void *arg UNUSED, const char *host UNUSED, int port, struct pd_err *err UNUSED)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

static void go(struct http_target *t, bool ws)
{
    struct loop *l = loop_new();
    struct ws_handlers h = {.message = on_message, .closed = on_closed};
    struct http_request q = {.method = "GET", .path = "/x", .done = on_done};
    memset(&got, 0, sizeof got);
    memset(f.s->line, 0, sizeof f.s->line);
    f.s->head[0] = '\0';
    f.s->requests = 0;
    if (ws)
        ws_open(l, t, "/x", NULL, &h);
    else
        http_start(l, t, &q);
    for (int64_t end = clock_us() + 10000000; !got.done && clock_us() < end;)
        loop_turn(l, 50);
    CHECK_INT(got.done, 1);
    loop_free(l);
}

/* What must hold for both: the status, the error, the name that was asked for. */
static void both(struct http_target *t, int status, enum pd_code code, const char *sni,
                 const char *peer)
{
    for (int ws = 0; ws < 2; ws++) {
        go(t, ws);
        if (code != got.err.code)
            t_fail(__FILE__, __LINE__, "ws %d: %s", ws, got.err.msg);
        CHECK_INT(got.status, status);
        CHECK_INT(got.messages, ws && status == 200);
        if (status != 200) {
            CHECK_INT(f.s->requests, 0);         /* no token to whom we do not trust */
            continue;
        }
        CHECK_STR(f.s->line[0], sni);
        CHECK_STR(f.s->line[1], peer);
        CHECK_HAS(f.s->head, "Authorization: Bearer secret\r\n");
        char host[64];
        str_fmt(host, sizeof host, "\r\nHost: 127.0.0.1:%d\r\n", f.port);
        CHECK_HAS(f.s->head, host);
    }
}

static struct http_target *target(const char *ca_pem)
{
    char base[64];
    str_fmt(base, sizeof base, "https://127.0.0.1:%d", f.port);
    struct http_target *t = http_target_new(base);
    t->bearer = xstrdup("secret");
    t->ca_pem = xstrdup(ca_pem);
    return t;
}

static void begin(const char *san)
{
    ca = make("test-ca", NULL, NULL);
    server = make("server", san, &ca);
    client = make("student", NULL, &ca);
    f = fake_start(serve_tls);
}

static void finish(struct http_target *t)
{
    CHECK_INT(t->refs, 1);
    http_target_unref(t);
    forget(&ca);
    forget(&server);
    forget(&client);
}

TEST(tls_trusts_the_ca_given_and_no_other)
{
    begin("IP:127.0.0.1");
    struct identity other = make("other-ca", NULL, NULL);
    struct http_target *t = target(ca.cert_pem);
    both(t, 200, PD_OK, "-", "-");
    http_target_unref(t);
    t = target(other.cert_pem);
    both(t, 0, PD_TLS, "", "");
    CHECK(got.err.hint[0] && got.err.src[0]);
    http_target_unref(t);
    t = target(NULL);
    both(t, 0, PD_TLS, "", "");                  /* the system's CAs do not know it */
    t->insecure = true;
    both(t, 200, PD_OK, "-", "-");
    forget(&other);
    finish(t);
}

TEST(tls_server_name_is_asked_for_and_verified)
{
    begin("DNS:kubernetes.example");
    struct http_target *t = target(ca.cert_pem);
    both(t, 0, PD_TLS, "", "");
    t->tls_server_name = xstrdup("kubernetes.example");
    both(t, 200, PD_OK, "kubernetes.example", "-");
    free(t->tls_server_name);
    t->tls_server_name = xstrdup("other.example");
    both(t, 0, PD_TLS, "", "");
    finish(t);
}

TEST(tls_client_certificate_is_shown)
{
    begin("IP:127.0.0.1");
    struct http_target *t = target(ca.cert_pem);
    t->cert_pem = xstrdup(client.cert_pem);
    t->key_pem = xstrdup(client.key_pem);
    both(t, 200, PD_OK, "-", "student");
    finish(t);
}

TEST(tls_runs_over_a_dialed_socket)
{
    begin("DNS:kubernetes.example");
    struct http_target *t = target(ca.cert_pem);
    t->tls_server_name = xstrdup("kubernetes.example");
    t->dial = dial;
    both(t, 200, PD_OK, "kubernetes.example", "-");
    finish(t);
}

T_MAIN
