/* ws.h - WebSocket client (RFC 6455) over a CONNECT_ONLY libcurl connection,
 * so that CA, client certificate, SNI, proxy and token are the target's, just
 * as for REST.
 *
 * Messages are delivered whole (fragments joined, ceiling 16 MiB). Pings are
 * answered; a ping goes out every 5 s. Ends with exactly one `closed` call
 * unless ws_close_now was called; then the ws is freed. The framing functions are separate so that
 * they can be tested and used by the server side (unmasked).
 */
#ifndef CORE_IO_WS_H
#define CORE_IO_WS_H

#include "core/io/http.h"

struct ws;

struct ws_handlers {
    void (*open)(void *arg, const char *protocol);
    void (*message)(void *arg, bool binary, const char *p, size_t n);
    /* code: the close code, 1006 when the link died; status: HTTP status of a
     * refused upgrade, else 0; body: its text. */
    void (*closed)(void *arg, int code, int status, const char *body, const struct pd_err *err);
    void *arg;
    void (*drained)(void *arg);                   /* or NULL: WS_LOW or less waits again */
};
enum { WS_LOW = 128 << 10, WS_HIGH = 512 << 10 }; /* a sender stops above WS_HIGH */

struct ws *ws_open(struct loop *l, struct http_target *t, const char *path,
                   const char *protocols, const struct ws_handlers *h);
void ws_send(struct ws *w, bool binary, const void *p, size_t n);
size_t ws_pending(const struct ws *w);            /* bytes not yet written */
/* Read no more until it is let go on: the peer feels it. No silence is counted. */
void ws_pause(struct ws *w, bool on);
void ws_close(struct ws *w, int code);            /* polite; closed follows */
void ws_close_now(struct ws *w);                  /* frees; no call follows */

/* --- framing --- */
enum { WS_CONT = 0, WS_TEXT = 1, WS_BINARY = 2, WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10 };

struct ws_frame {
    int opcode;
    bool fin;
    const unsigned char *payload;                 /* unmasked in place */
    size_t n;
};
/* Parse one frame at buf[0..len): bytes used, 0 when more is needed, -1 on a
 * protocol error (reserved bits, control frame > 125 or fragmented, length
 * above ceiling, wrong masking for the side). */
long ws_parse(unsigned char *buf, size_t len, bool from_client, size_t ceiling,
              struct ws_frame *out);
/* Append a frame; mask = true for client to server. */
void ws_build(struct str *out, int opcode, bool fin, bool mask, const void *p, size_t n);
/* Sec-WebSocket-Accept of a key. */
void ws_accept_key(const char *key, char out[32]);

#endif
