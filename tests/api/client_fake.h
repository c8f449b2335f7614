/* client_fake.h - a scripted HTTP server for the tests of core/io and k8s: a
 * process that accepts on a loopback port and runs the test's own function on
 * each connection, in a process of its own. What it saw lies in shared memory.
 */
#ifndef TESTS_API_CLIENT_FAKE_H
#define TESTS_API_CLIENT_FAKE_H

#include "tests/t.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FAKE_LOG = 256 };

struct fake_shared {
    int connections, requests;
    int counter[8];                   /* for the scripts */
    char line[FAKE_LOG][512];         /* "GET /path" */
    int64_t at_ms[FAKE_LOG];
    char head[8192];                  /* of the newest request */
    char body[1 << 20];               /* of the newest that had one */
    size_t body_len;
};

struct fake {
    int port;
    pid_t pid;
    struct fake_shared *s;
};

struct fake_conn {
    int fd, nth;                      /* nth connection, from 1 */
    struct fake_shared *s;
    char buf[256 << 10];
    size_t have;
    char path[512], method[16], head[8192];
    char *body;
    size_t body_len;
};

typedef void fake_fn(struct fake_conn *c);

static inline int64_t fake_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline void fake_sleep(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static inline bool fake_put(struct fake_conn *c, const void *p, size_t n)
{
    const char *at = p;
    while (n > 0) {
        ssize_t k = send(c->fd, at, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        at += k;
        n -= (size_t)k;
    }
    return true;
}

static inline bool fake_say(struct fake_conn *c, const char *text)
{
    return fake_put(c, text, strlen(text));
}

static inline const char *fake_header(const struct fake_conn *c, const char *name, char *out,
                                      size_t size)
{
    size_t n = strlen(name);
    for (const char *p = c->head; (p = strstr(p, "\r\n")) != NULL;) {
        p += 2;
        if (strncasecmp(p, name, n) == 0 && p[n] == ':') {
            p += n + 1;
            p += strspn(p, " ");
            snprintf(out, size, "%.*s", (int)strcspn(p, "\r\n"), p);
            return out;
        }
    }
    return NULL;
}

/* A chunked body that fits into the buffer. */
static inline bool fake_unchunk(struct fake_conn *c)
{
    char *end;
    while (c->buf[c->have] = '\0', !(end = strstr(c->buf, "0\r\n\r\n"))) {
        ssize_t k = recv(c->fd, c->buf + c->have, sizeof c->buf - 1 - c->have, 0);
        if (k <= 0)
            return false;
        c->have += (size_t)k;
    }
    free(c->body);
    c->body = calloc(1, c->have + 1);
    for (char *p = c->buf; p < end;) {
        char *data;
        size_t n = strtoul(p, &data, 16);
        memcpy(c->body + c->body_len, data + 2, n);
        c->body_len += n;
        p = data + 2 + n + 2;
    }
    c->have -= (size_t)(end + 5 - c->buf);
    memmove(c->buf, end + 5, c->have);
    return true;
}

/* The next request of the connection; false at its end. */
static inline bool fake_request(struct fake_conn *c)
{
    char *end, length[32];
    while (c->buf[c->have] = '\0', !(end = strstr(c->buf, "\r\n\r\n"))) {
        ssize_t k = recv(c->fd, c->buf + c->have, sizeof c->buf - 1 - c->have, 0);
        if (k <= 0)
            return false;
        c->have += (size_t)k;
    }
    size_t head = (size_t)(end - c->buf) + 4;
    snprintf(c->head, sizeof c->head, "%.*s", (int)head, c->buf);
    sscanf(c->head, "%15s %511s", c->method, c->path);
    size_t need = fake_header(c, "Content-Lengt"
                                 "h", length, sizeof length) ? (size_t)atol(length) : 0;
    free(c->body);
    c->body = calloc(1, need + 1);
    c->body_len = 0;
    size_t left = c->have - head < need ? c->have - head : need;
    memcpy(c->body, c->buf + head, left);
    c->body_len = left;
    memmove(c->buf, c->buf + head + left, c->have - head - left);
    c->have -= head + left;
    while (c->body_len < need) {
        ssize_t k = recv(c->fd, c->body + c->body_len, need - c->body_len, 0);
        if (k <= 0)
            return false;
        c->body_len += (size_t)k;
    }
    if (fake_header(c, "Transfer-Encoding", length, sizeof length) && !fake_unchunk(c))
        return false;
    int i = __atomic_fetch_add(&c->s->requests, 1, __ATOMIC_SEQ_CST);
    if (i < FAKE_LOG) {
        snprintf(c->s->line[i], sizeof c->s->line[i], "%s %.480s", c->method, c->path);
        c->s->at_ms[i] = fake_now();
    }
    snprintf(c->s->head, sizeof c->s->head, "%s", c->head);
    if (c->body_len > 0) {
        c->s->body_len = c->body_len < sizeof c->s->body ? c->body_len : sizeof c->s->body;
        memset(c->s->body, 0, 4096);
        memcpy(c->s->body, c->body, c->s->body_len);
    }
    return true;
}

static inline bool fake_reply(struct fake_conn *c, int status, const char *type, const char *extra,
                              const char *body)
{
    char head[1024];
    snprintf(head, sizeof head, "HTTP/1.1 %d X\r\nContent-Type: %s\r\n%sContent-Length: "
                                "%zu\r\n\r\n",
             status, type, extra, strlen(body));
    return fake_say(c, head) && fake_say(c, body);
}

static inline bool fake_json(struct fake_conn *c, int status, const char *body)
{
    return fake_reply(c, status, "application/json", "", body);
}

static inline bool fake_chunked(struct fake_conn *c, const char *type)
{
    char head[256];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", type);
    return fake_say(c, head);
}

static inline bool fake_chunk_n(struct fake_conn *c, const char *p, size_t n)
{
    char head[32];
    snprintf(head, sizeof head, "%zx\r\n", n);
    return fake_say(c, head) && fake_put(c, p, n) && fake_say(c, "\r\n");
}

static inline bool fake_chunk(struct fake_conn *c, const char *text)
{
    return fake_chunk_n(c, text, strlen(text));
}

static inline bool fake_chunks_end(struct fake_conn *c)
{
    return fake_say(c, "0\r\n\r\n");
}

static inline void fake_connection(struct fake *f, int fd, int nth, fake_fn *fn)
{
    struct fake_conn *c = calloc(1, sizeof *c);
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->fd = fd;
    c->nth = nth;
    c->s = f->s;
    fn(c);
    shutdown(fd, SHUT_WR);
    _exit(0);
}

static inline struct fake fake_start(fake_fn *fn)
{
    struct fake f = {0};
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    f.s = mmap(NULL, sizeof *f.s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || f.s == MAP_FAILED || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
        listen(fd, 64) < 0 || getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        t_fail(__FILE__, __LINE__, "no fake server: %m");
    f.port = ntohs(a.sin_port);
    fflush(NULL);
    f.pid = fork();
    if (f.pid == 0) {
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int conn = accept(fd, NULL, NULL);
            if (conn < 0)
                _exit(0);
            int nth = __atomic_add_fetch(&f.s->connections, 1, __ATOMIC_SEQ_CST);
            if (fork() == 0) {
                close(fd);
                fake_connection(&f, conn, nth, fn);
            }
            close(conn);
        }
    }
    close(fd);
    return f;
}

static inline char *fake_base(const struct fake *f, char buf[64])
{
    snprintf(buf, 64, "http://127.0.0.1:%d", f->port);
    return buf;
}

#endif
