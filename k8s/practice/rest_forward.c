/* rest_forward.c - port-forward of the practice cluster, as kubectl asks for it
 * (SPDY frames in a WebSocket, many connections in one) and as channels of v4
 * (one connection a WebSocket). Its pods share this machine's network: a port of
 * the pod is that port on loopback. */
#include <errno.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/io/spdy.h"
#include "core/io/ws.h"
#include "k8s/practice/rest.h"

enum { FRAME_CEILING = 1 << 20, INPUT_CEILING = 4 << 20, PIECE = 32 << 10, PENDING_MAX = 1 << 20,
       TO_POD_HIGH = 1 << 20, TO_POD_MAX = 8 << 20, PAUSE_MS = 10, PAIRS_MAX = 256 };
static const char tunnel[] = "SPDY/3.1+portforward.k8s.io", channels[] = "v4.channel.k8s.io";

struct pair {                        /* one connection */
    struct fwd *w;
    struct pair *next;
    char id[24];                     /* its request id */
    int port, fd;
    bool v6;                         /* the second try */
    uint32_t errors, data;           /* streams; 0: not there yet */
    bool connected, client_end, ended;
    struct str to_pod;
};

struct fwd {
    struct call *call;
    struct spdy_zip *zip;            /* NULL: channels */
    struct str in, message;
    struct pair *pairs;
    int pairs_n;
    uint32_t timer;                  /* while the client reads slowly */
    char pod[260], uid[64];
    bool ended;
};

static void on_pod(void *arg, int fd, int events);

/* --- to the client --- */

static void frame(struct fwd *w, int opcode, const void *p, size_t n)
{
    struct str f;
    if (!w->call->q || w->ended)
        return;
    str_init(&f, n + 32);
    ws_build(&f, opcode, true, false, p, n);
    server_upgrade_write(w->call->q, f.p, f.len);
    str_release(&f);
}

static void end(struct fwd *w)
{
    if (w->ended || !w->call->q)
        return;
    frame(w, WS_CLOSE, "\x03\xe8", 2);
    w->ended = true;
    server_upgrade_close(w->call->q);
}

/* Bytes of one of a pair's streams; n 0 with fin: its end. */
static void say(struct pair *c, bool error, const void *p, size_t n, bool fin)
{
    struct str s;
    str_init(&s, n + 64);
    if (c->w->zip) {
        spdy_data(&s, error ? c->errors : c->data, fin, p, n);
    } else if (n > 0) {
        str_addc(&s, error ? 1 : 0);
        str_append(&s, p, n);
    }
    if (s.len > 0)
        frame(c->w, WS_BINARY, s.p, s.len);
    str_release(&s);
}

static void end_pair(struct pair *c, const char *why)
{
    if (c->ended)
        return;
    c->ended = true;
    if (why)
        say(c, true, why, strlen(why), false);
    say(c, false, "", 0, true);
    say(c, true, "", 0, true);
    if (c->fd >= 0) {
        loop_fd_remove(api_loop(c->w->call->rest->api), c->fd);
        close(c->fd);
        c->fd = -1;
    }
    if (!c->w->zip)
        end(c->w);
}

static void free_pair(struct pair *c)
{
    if (c->fd >= 0) {
        loop_fd_remove(api_loop(c->w->call->rest->api), c->fd);
        close(c->fd);
    }
    str_release(&c->to_pod);
    free(c);
}

static void sweep(struct fwd *w)
{
    for (struct pair **at = &w->pairs; *at;) {
        struct pair *c = *at;
        if (!c->ended) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        w->pairs_n--;
        free_pair(c);
    }
}

/* --- the pod's side --- */

static void resume(void *arg);

static void listen_for(struct fwd *w)
{
    struct loop *l = api_loop(w->call->rest->api);
    bool slow = w->call->q && server_upgrade_pending(w->call->q) > PENDING_MAX, full = false;
    for (struct pair *c = w->pairs; c; c = c->next) {
        bool out = !c->connected || c->to_pod.len > 0;
        int events = (c->connected && !slow ? LOOP_READ : 0) | (out ? LOOP_WRITE : 0);
        full |= c->to_pod.len > TO_POD_HIGH;
        if (c->fd >= 0 && events)
            loop_fd(l, c->fd, events, on_pod, c);
        else if (c->fd >= 0)
            loop_fd_remove(l, c->fd);
    }
    if (slow && !w->timer)
        w->timer = loop_timer(l, PAUSE_MS, resume, w, "port-forward");
    if (w->call->q && !w->ended)
        server_upgrade_pause(w->call->q, full);
}

static void resume(void *arg)
{
    struct fwd *w = arg;
    w->timer = 0;
    listen_for(w);
}

static int dial(int port, bool v6)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 b = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port),
                             .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int rc = v6 ? connect(fd, (struct sockaddr *)&b, sizeof b)
                : connect(fd, (struct sockaddr *)&a, sizeof a);
    if (fd < 0 || rc == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

static void refused(struct pair *c)
{
    char why[400];
    if (c->fd >= 0) {
        loop_fd_remove(api_loop(c->w->call->rest->api), c->fd);
        close(c->fd);
        c->fd = -1;
    }
    if (!c->v6) {
        c->v6 = true;
        c->fd = dial(c->port, true);
        if (c->fd >= 0)
            return;
    }
    end_pair(c, str_fmt(why, sizeof why, "error forwarding port %d to pod %s, uid %s: failed to "
                        "connect to localhost:%d inside the pod: dial tcp4 127.0.0.1:%d: connect: "
                        "connection refused", c->port, c->w->pod, c->w->uid, c->port, c->port));
}

static void connected(struct pair *c)
{
    int e = 0;
    socklen_t n = sizeof e;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &n);
    if (e)
        refused(c);
    else
        c->connected = true;
}

static void write_pod(struct pair *c)
{
    while (c->connected && c->to_pod.len > 0) {
        ssize_t n = send(c->fd, c->to_pod.p, c->to_pod.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0) {
            if (errno != EAGAIN && errno != EINTR)
                end_pair(c, NULL);
            return;
        }
        str_consume(&c->to_pod, (size_t)n);
    }
    if (c->connected && c->client_end && c->fd >= 0)
        shutdown(c->fd, SHUT_WR);
}

static void read_pod(struct pair *c)
{
    char buf[PIECE];
    ssize_t n = recv(c->fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n > 0)
        say(c, false, buf, (size_t)n, false);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        end_pair(c, NULL);
}

static void on_pod(void *arg, int fd UNUSED, int events)
{
    struct pair *c = arg;
    struct fwd *w = c->w;
    if (!c->connected)
        connected(c);
    else if (events & LOOP_READ)
        read_pod(c);
    if (!c->ended)
        write_pod(c);
    sweep(w);
    listen_for(w);
}

static void begin(struct pair *c)
{
    c->fd = dial(c->port, false);
    if (c->fd < 0)
        refused(c);
}

/* --- from the client --- */

static struct pair *new_pair(struct fwd *w, const char *id, int port)
{
    struct pair *c = xcalloc(1, sizeof *c);
    c->w = w;
    c->fd = -1;
    c->port = port;
    str_copy(c->id, sizeof c->id, id);
    str_init(&c->to_pod, TO_POD_MAX);
    c->next = w->pairs;
    w->pairs = c;
    w->pairs_n++;
    return c;
}

static void to_pod(struct pair *c, const void *p, size_t n)
{
    if (!str_append(&c->to_pod, p, n))
        end_pair(c, "the pod does not read");
    else if (!c->ended)
        write_pod(c);
}

static void open_stream(struct fwd *w, const struct spdy_frame *f)
{
    static const char *const none[] = {NULL};
    struct strv h;
    struct str s;
    strv_init(&h);
    str_init(&s, 4096);
    int64_t port = 0;
    if (!spdy_headers(w->zip, f, &h)) {
        end(w);
    } else if (w->pairs_n >= PAIRS_MAX || !str_to_i64(spdy_header(&h, "port"), &port) || port < 1 ||
               port > 65535) {
        spdy_reset(&s, f->stream, SPDY_CANCEL);
    } else {
        const char *id = spdy_header(&h, "requestid");
        struct pair *c = w->pairs;
        while (c && (c->ended || strcmp(c->id, id) != 0))
            c = c->next;
        c = c ? c : new_pair(w, id, (int)port);
        *(!strcmp(spdy_header(&h, "streamtype"), "error") ? &c->errors : &c->data) = f->stream;
        spdy_syn(w->zip, &s, SPDY_SYN_REPLY, f->stream, 0, none);
        if (c->errors && c->data && c->fd < 0)
            begin(c);
    }
    if (s.len > 0)
        frame(w, WS_BINARY, s.p, s.len);
    str_release(&s);
    strv_release(&h);
}

static void spdy_one(struct fwd *w, const struct spdy_frame *f)
{
    struct pair *c = w->pairs;
    struct str s;
    if (f->type == SPDY_SYN_STREAM) {
        open_stream(w, f);
    } else if (f->type == SPDY_PING) {
        str_init(&s, 64);
        spdy_control(&s, SPDY_PING, 0, f->p, f->n);
        frame(w, WS_BINARY, s.p, s.len);
        str_release(&s);
    }
    while (c && c->data != f->stream)
        c = c->next;
    if (!c || c->ended || !f->stream)
        return;
    if (f->type == SPDY_DATA && f->n > 0)
        to_pod(c, f->p, f->n);
    if (f->type == SPDY_RST_STREAM)
        end_pair(c, NULL);
    else if (f->type == SPDY_DATA && f->flags & SPDY_FIN && !c->ended) {
        c->client_end = true;
        write_pod(c);
    }
}

static void take_spdy(struct fwd *w)
{
    size_t at = 0;
    while (!w->ended) {
        struct spdy_frame f;
        long n = spdy_parse((const unsigned char *)w->message.p + at, w->message.len - at, &f);
        if (n < 0)
            end(w);
        if (n <= 0)
            break;
        spdy_one(w, &f);
        at += (size_t)n;
    }
    str_consume(&w->message, at);
}

static void on_frame(struct fwd *w, const struct ws_frame *f)
{
    if (f->opcode == WS_PING)
        frame(w, WS_PONG, f->payload, f->n);
    if (f->opcode == WS_CLOSE)
        end(w);
    if (f->opcode >= WS_CLOSE)
        return;
    if (!str_append(&w->message, f->payload, f->n)) {
        end(w);
    } else if (w->zip) {
        take_spdy(w);
    } else if (f->fin) {
        if (w->message.len > 1 && w->message.p[0] == 0 && w->pairs)
            to_pod(w->pairs, w->message.p + 1, w->message.len - 1);
        str_clear(&w->message);
    }
}

static void on_bytes(void *arg, const void *p, size_t n)
{
    struct fwd *w = arg;
    size_t at = 0;
    str_append(&w->in, p, n);
    while (at < w->in.len && !w->ended) {
        struct ws_frame f;
        long used = ws_parse((unsigned char *)w->in.p + at, w->in.len - at, true, FRAME_CEILING,
                             &f);
        if (used < 0)
            end(w);
        if (used <= 0)
            break;
        on_frame(w, &f);
        at += (size_t)used;
    }
    str_consume(&w->in, at);
    sweep(w);
    listen_for(w);
}

/* --- life --- */

static void on_gone(void *arg)
{
    struct fwd *w = arg;
    loop_timer_cancel(api_loop(w->call->rest->api), w->timer);
    while (w->pairs) {
        struct pair *c = w->pairs;
        w->pairs = c->next;
        free_pair(c);
    }
    spdy_zip_free(w->zip);
    str_release(&w->in);
    str_release(&w->message);
    w->call->q = NULL;
    rest_release(w->call);
    free(w);
}

/* NULL: answered. */
static const char *handshake(struct call *c)
{
    const char *upgrade = server_header(c->q, "Upgrade"), *offer = server_header(c->q, "Sec-"
                                                                                 "WebSocket-"
                                                                                 "Protocol");
    const char *key = server_header(c->q, "Sec-WebSocket-Key"), *chosen = NULL;
    char accept[32];
    if (!upgrade || strcasecmp(upgrade, "websocket") != 0 || !key) {
        rest_refuse(c, status_bad_request("Upgrade request required"));
        return NULL;
    }
    if (offer && strstr(offer, tunnel))
        chosen = tunnel;
    else if (offer && strstr(offer, channels))
        chosen = channels;
    if (!chosen) {
        rest_refuse(c, status_new(403, "Forbidden", NULL, NULL,
                                  "unable to upgrade: the protocols offered (%s) are not served: "
                                  "%s, %s", offer ? offer : "none", tunnel, channels));
        return NULL;
    }
    ws_accept_key(key, accept);
    server_add_header(c->q, "Sec-WebSocket-Accept", accept);
    server_add_header(c->q, "Sec-WebSocket-Protocol", chosen);
    return chosen;
}

static bool runs(struct call *c, const struct json *pod)
{
    if (!strcmp(json_str(pod, "status.phase", ""), "Running"))
        return true;
    rest_refuse(c, status_new(500, "InternalError", NULL, NULL, "unable to upgrade connection: pod "
                              "%s does not run (%s)", c->at.name,
                              json_str(pod, "status.phase", "Pending")));
    return false;
}

void rest_pod_forward(struct call *c)
{
    struct api_version *pod = api_find(c->rest->api, c->res, c->at.ns, c->at.name);
    int64_t port = rest_int(c, "ports", 0);
    const char *protocol;
    if (!pod) {
        rest_refuse(c, status_not_found(c->res, c->at.name));
        return;
    }
    if (!runs(c, pod->j) || !(protocol = handshake(c)))
        return;
    struct fwd *w = xcalloc(1, sizeof *w);
    w->call = c;
    str_copy(w->pod, sizeof w->pod, c->at.name);
    str_copy(w->uid, sizeof w->uid, json_str(pod->j, "metadata.uid", ""));
    str_init(&w->in, INPUT_CEILING);
    str_init(&w->message, INPUT_CEILING);
    server_on_gone(c->q, on_gone, w);
    struct server_upgrade u = {"websocket", on_bytes, w};
    if (protocol == tunnel) {
        w->zip = spdy_zip_new();
    } else {
        struct pair *p = new_pair(w, "", (int)port);
        const char le[2] = {(char)(port & 255), (char)(port >> 8 & 255)};
        say(p, false, le, 2, false);
        say(p, true, le, 2, false);
        begin(p);
    }
    server_upgrade(c->q, &u);
    listen_for(w);
}
