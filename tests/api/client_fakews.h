/* client_fakews.h - the WebSocket side of client_fake.h: upgrade, frames to the
 * client in pieces of any size, frames from it. */
#ifndef TESTS_API_CLIENT_FAKEWS_H
#define TESTS_API_CLIENT_FAKEWS_H

#include "core/base/mem.h"
#include "core/io/ws.h"
#include "tests/api/client_fake.h"

static inline bool fake_ws_accept(struct fake_conn *c, const char *protocol)
{
    char key[128] = "", accept[32], head[400];
    fake_header(c, "Sec-WebSocket-Key", key, sizeof key);
    ws_accept_key(key, accept);
    snprintf(head, sizeof head, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
             "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s%s%s\r\n", accept,
             protocol ? "Sec-WebSocket-Protocol: " : "", protocol ? protocol : "",
             protocol ? "\r\n" : "");
    return fake_say(c, head);
}

/* piece 0: in one write. */
static inline bool fake_ws_frame(struct fake_conn *c, int opcode, bool fin, const void *p, size_t n,
                                 size_t piece)
{
    struct str s;
    bool ok = true;
    str_init(&s, 64 << 20);
    ws_build(&s, opcode, fin, false, p, n);
    for (size_t at = 0; at < s.len && ok;) {
        size_t k = piece && s.len - at > piece ? piece : s.len - at;
        ok = fake_put(c, s.p + at, k);
        at += k;
        if (piece)
            fake_sleep(1);
    }
    str_release(&s);
    return ok;
}

static inline bool fake_ws_channel(struct fake_conn *c, int channel, const char *text)
{
    char buf[4096];
    int n = snprintf(buf, sizeof buf, "%c%s", channel, text);
    if (channel == 0)
        buf[0] = 0;
    return fake_ws_frame(c, WS_BINARY, true, buf, (size_t)n, 0);
}

static inline bool fake_ws_close(struct fake_conn *c, int code)
{
    unsigned char p[2] = {(unsigned char)(code >> 8), (unsigned char)code};
    return fake_ws_frame(c, WS_CLOSE, true, p, 2, 0);
}

/* The next frame of the client; the payload is copied to out. false: the end. */
static inline bool fake_ws_read(struct fake_conn *c, struct ws_frame *f, char *out, size_t size)
{
    for (;;) {
        long used = ws_parse((unsigned char *)c->buf, c->have, true, 1 << 20, f);
        if (used < 0)
            return false;
        if (used > 0) {
            size_t n = f->n < size - 1 ? f->n : size - 1;
            memcpy(out, f->payload, n);
            out[n] = '\0';
            c->have -= (size_t)used;
            memmove(c->buf, c->buf + used, c->have);
            return true;
        }
        ssize_t k = recv(c->fd, c->buf + c->have, sizeof c->buf - 1 - c->have, 0);
        if (k <= 0)
            return false;
        c->have += (size_t)k;
    }
}

#endif
