/* portforward_conn.c - one connection of a port-forward: a local socket joined
 * to a WebSocket, whose messages are SPDY frames (stream 1 for errors, stream 3
 * for data) or channels of v4 (0 data, 1 errors).
 *
 * It ends when the far side has ended and all of it has been written here, as
 * with kubectl; then the stream of errors has a moment to say why. */
#include "k8s/portforward_priv.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/ws.h"

enum { ERRORS = 1, DATA = 3, CHANNELS = 2, PIECE = 32 << 10, LOCAL_HIGH = 256 << 10,
       LOCAL_MAX = 20 << 20, ERROR_MAX = 4096, ERROR_MS = 2000, QUIET_MS = 10000 };

static void on_local(void *arg, int fd, int events);

void pfconn_free(struct pfconn *c)
{
    struct portforward *f = c->f;
    loop_timer_cancel(f->loop, c->timer);
    podlink_close(c->link);
    if (c->fd >= 0) {
        loop_fd_remove(f->loop, c->fd);
        close(c->fd);
    }
    spdy_zip_free(c->zip);
    str_release(&c->in);
    str_release(&c->to_local);
    str_release(&c->error);
    *c->back = c->next;
    if (c->next)
        c->next->back = c->back;
    f->stats.open--;
    free(c);
    portforward_room(f);
}

/* "error forwarding port 9 to pod X, uid Y: …: connect: connection refused" */
static void error_of_peer(const struct pfconn *c, struct pd_err *err)
{
    char text[300];
    if (strstr(c->error.p, "connection refused")) {
        pd_fail(err, PD_NET, _("port %d of pod %s: connection refused: nothing listens there"),
                c->f->remote, c->f->pod);
        pd_set_hint(err, _("check the port that the program listens on, and that it does so on "
                           "127.0.0.1 or on all addresses of the pod"));
        return;
    }
    k8s_clean(text, sizeof text, c->error.p, c->error.len);
    pd_fail(err, PD_NET, _("port %d of pod %s: %s"), c->f->remote, c->f->pod, text);
    pd_set_hint(err, _("the next connection tries again"));
}

/* The end of a connection; it is freed when no call of it is under way. */
static void end(struct pfconn *c, const struct pd_err *err, bool look)
{
    struct pd_err why;
    if (c->ended)
        return;
    c->ended = true;
    if (c->error.len > 0) {
        error_of_peer(c, &why);
        err = &why;
        look = look || !strstr(c->error.p, "connection refused");
    }
    if (err) {
        c->f->stats.failed++;
        portforward_failed(c->f, err, look);
    }
}

static void leave(struct pfconn *c)
{
    if (c->ended)
        pfconn_free(c);
}

static void send_bytes(struct pfconn *c, struct str *s)
{
    podlink_send(c->link, s->p, s->len);
    str_release(s);
}

/* --- waiting for what can go on --- */

static void listen_for(struct pfconn *c)
{
    bool room = c->open && !c->local_eof && podlink_pending(c->link) < WS_HIGH;
    int events = (room ? LOOP_READ : 0) | (c->to_local.len ? LOOP_WRITE : 0);
    if (c->fd < 0)
        return;
    if (events)
        loop_fd(c->f->loop, c->fd, events, on_local, c);
    else
        loop_fd_remove(c->f->loop, c->fd);
    bool pause = c->to_local.len > LOCAL_HIGH;
    if (pause != c->paused) {
        c->paused = pause;
        podlink_pause(c->link, pause);
    }
}

static void timed_out(void *arg)
{
    struct pfconn *c = arg;
    c->timer = 0;
    end(c, NULL, false);
    leave(c);
}

static void end_within(struct pfconn *c, int64_t ms)
{
    loop_timer_cancel(c->f->loop, c->timer);
    c->timer = loop_timer(c->f->loop, ms, timed_out, c, "port-forward end");
}

/* The far side is through and all of it is written here: it is over, once the
 * reason, if there is one, has come. */
static void settle(struct pfconn *c)
{
    if (!c->remote_eof || c->to_local.len > 0 || c->ended)
        return;
    if (!c->shut && c->fd >= 0)
        shutdown(c->fd, SHUT_WR);
    if (!c->shut && c->zip && c->link) {
        struct str s;
        str_init(&s, 64);
        spdy_reset(&s, DATA, SPDY_CANCEL);
        send_bytes(c, &s);
    }
    if (c->error_eof || !c->link)
        end(c, NULL, false);
    else if (!c->shut)
        end_within(c, ERROR_MS);
    c->shut = true;
}

/* --- the local side --- */

static void send_data(struct pfconn *c, const char *p, size_t n)
{
    struct str s;
    str_init(&s, n + 64);
    if (c->zip) {
        spdy_data(&s, DATA, n == 0, p, n);
    } else if (n > 0) {
        str_addc(&s, 0);
        str_append(&s, p, n);
    }
    if (s.len)
        send_bytes(c, &s);
    else
        str_release(&s);
    c->f->stats.sent += (int64_t)n;
}

/* Without SPDY there is no half of a close: when the far side has nothing more
 * to say for a while, it is over. */
static void local_end(struct pfconn *c)
{
    c->local_eof = true;
    if (c->open)
        send_data(c, "", 0);
    if (c->open && !c->zip)
        end_within(c, QUIET_MS);
}

static void read_local(struct pfconn *c)
{
    char buf[PIECE];
    ssize_t n = recv(c->fd, buf, sizeof buf, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        send_data(c, buf, (size_t)n);
    else if (n == 0)
        local_end(c);
    else
        end(c, NULL, false);             /* reset by who connected: nobody reads any more */
}

static void write_local(struct pfconn *c)
{
    while (c->to_local.len > 0) {
        ssize_t n = send(c->fd, c->to_local.p, MIN(c->to_local.len, (size_t)PIECE * 8),
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            end(c, NULL, false);
            return;
        }
        str_consume(&c->to_local, (size_t)n);
    }
    settle(c);
}

static void on_local(void *arg, int fd UNUSED, int events)
{
    struct pfconn *c = arg;
    if (events & LOOP_WRITE && c->to_local.len)
        write_local(c);
    if (events & LOOP_READ && !c->ended && !c->local_eof && c->open)
        read_local(c);
    portforward_changed(c->f);
    if (!c->ended)
        listen_for(c);
    leave(c);
}

/* --- the pod's side --- */

static void got_data(struct pfconn *c, const void *p, size_t n)
{
    c->f->stats.received += (int64_t)n;
    if (!str_append(&c->to_local, p, n)) {
        struct pd_err err;
        pd_fail(&err, PD_LIMIT, _("more came from port %d than can wait here"), c->f->remote);
        end(c, &err, false);
        return;
    }
    write_local(c);
    if (c->local_eof && !c->zip && !c->remote_eof && !c->ended)
        end_within(c, QUIET_MS);
}

static void spdy_one(struct pfconn *c, const struct spdy_frame *f)
{
    bool fin = f->flags & SPDY_FIN || f->type == SPDY_RST_STREAM;
    if (f->type == SPDY_PING) {
        struct str s;
        str_init(&s, 64);
        spdy_control(&s, SPDY_PING, 0, f->p, f->n);
        send_bytes(c, &s);
        return;
    }
    if (f->type == SPDY_DATA && f->stream == DATA)
        got_data(c, f->p, f->n);
    else if (f->type == SPDY_DATA && f->stream == ERRORS)
        str_append(&c->error, f->p, f->n);
    if (f->type == SPDY_PING || f->type == SPDY_WINDOW_UPDATE || !fin)
        return;
    c->remote_eof |= f->stream == DATA;
    c->error_eof |= f->stream == ERRORS;
    settle(c);
}

static void spdy_bytes(struct pfconn *c, const char *p, size_t n)
{
    size_t at = 0;
    bool ok = str_append(&c->in, p, n);
    while (ok && !c->ended) {
        struct spdy_frame f;
        long used = spdy_parse((const unsigned char *)c->in.p + at, c->in.len - at, &f);
        ok = used >= 0;
        if (used <= 0)
            break;
        at += (size_t)used;
        spdy_one(c, &f);
    }
    str_consume(&c->in, at);
    if (!ok && !c->ended) {
        struct pd_err err;
        pd_fail(&err, PD_PROTO, _("the server sent a SPDY frame that is not valid"));
        end(c, &err, false);
    }
}

/* The first message of each channel is its port. */
static void channel(struct pfconn *c, const char *p, size_t n)
{
    int ch = n > 0 ? (unsigned char)p[0] : CHANNELS;
    if (ch >= CHANNELS || n < 2)
        return;
    if (!(c->headers & 1 << ch)) {
        c->headers |= 1 << ch;
        p += MIN(n - 1, (size_t)2);
        n -= MIN(n - 1, (size_t)2);
    }
    if (n > 1 && ch == 0)
        got_data(c, p + 1, n - 1);
    else if (n > 1)
        str_append(&c->error, p + 1, n - 1);
}

static void on_message(void *arg, const char *p, size_t n)
{
    struct pfconn *c = arg;
    if (!c->ended && c->zip)
        spdy_bytes(c, p, n);
    else if (!c->ended)
        channel(c, p, n);
    portforward_changed(c->f);
    if (!c->ended)
        listen_for(c);
    leave(c);
}

static void begin_streams(struct pfconn *c)
{
    char port[16];
    struct str s;
    const char *pairs[] = {"port", port, "requestid", "0", "streamtype", "error", NULL};
    c->zip = spdy_zip_new();
    str_fmt(port, sizeof port, "%d", c->f->remote);
    str_init(&s, 8192);
    spdy_syn(c->zip, &s, SPDY_SYN_STREAM, ERRORS, SPDY_FIN, pairs);
    pairs[5] = "data";
    spdy_syn(c->zip, &s, SPDY_SYN_STREAM, DATA, 0, pairs);
    send_bytes(c, &s);
}

static void on_open(void *arg, const char *protocol)
{
    struct pfconn *c = arg;
    c->open = true;
    c->f->stats.tunnel = str_starts(protocol, "SPDY/3.1+");
    if (c->f->stats.tunnel)
        begin_streams(c);
    if (c->local_eof)
        local_end(c);
    listen_for(c);
    leave(c);
}

static void on_drained(void *arg)
{
    struct pfconn *c = arg;
    if (!c->ended)
        listen_for(c);
}

/* A Close of the server is the end of the data too: v4 has no other. */
static void on_closed(void *arg, int code, bool refused, const struct pd_err *err)
{
    struct pfconn *c = arg;
    struct pd_err why;
    bool clean = !err && !refused && (code == 1000 || code == 1005);
    c->link = NULL;
    c->error_eof = true;
    if (clean && !c->zip)
        c->remote_eof = true;
    if (c->remote_eof && !refused) {
        settle(c);
    } else {
        if (err)
            why = *err;
        else
            pd_fail(&why, PD_NET, _("the connection to port %d of pod %s broke off (%d)"),
                    c->f->remote, c->f->pod, code);
        end(c, &why, true);
    }
    if (!c->ended)
        listen_for(c);
    leave(c);
}

void pfconn_new(struct portforward *f, int fd)
{
    static const char tunnel[] = "SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io";
    static const char channels[] = "v4.channel.k8s.io";
    struct podlink_handlers h = {.open = on_open, .message = on_message, .closed = on_closed,
                                 .drained = on_drained};
    struct pfconn *c = xcalloc(1, sizeof *c);
    h.arg = c;
    c->f = f;
    c->fd = fd;
    str_init(&c->in, LOCAL_MAX);
    str_init(&c->to_local, LOCAL_MAX);
    str_init(&c->error, ERROR_MAX);
    c->next = f->conns;
    c->back = &f->conns;
    if (c->next)
        c->next->back = &c->next;
    f->conns = c;
    f->stats.open++;
    f->stats.total++;
    c->link = podlink_open(f->k, f->path, f->channels ? channels : tunnel,
                           f->channels ? NULL : channels, &h);
}
