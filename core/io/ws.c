/* ws.c - a WebSocket connection on the loop (ws.h).
 *
 * libcurl makes the connection (CONNECT_ONLY: TCP, proxy, TLS) and then only
 * carries bytes by curl_easy_send and curl_easy_recv; the easy handle stays on
 * the multi handle until the end. The HTTP upgrade and the framing are done
 * here. States: CONNECTING (libcurl at work), UPGRADE (waiting for the 101),
 * OPEN, CLOSING (our Close is out). An object that ended inside one of its own
 * handlers is freed when that handler returns (`busy`).
 */
#include "core/io/ws.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <strings.h>
#include <sys/random.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/http_io.h"
#include "core/io/loop_io.h"

enum { MESSAGE_MAX = 16 << 20, IN_MAX = MESSAGE_MAX + 64, OUT_MAX = 64 << 20, HEAD_MAX = 64 << 10 };
enum { PING_MS = 5000, DEAD_MS = 61000, UPGRADE_MS = 30000, CLOSE_MS = 2000 };
enum { READ_TURN = 256 << 10 };
enum ws_phase { CONNECTING, UPGRADE, OPEN, CLOSING };

struct ws {
    struct loop_transfer transfer;
    struct loop *loop;
    CURL *easy;                      /* NULL while it waits for credentials */
    struct http_setup setup;
    struct http_wait wait;
    struct http_target *target;
    char *path, *protocols;
    uint32_t serial;                 /* of the credentials it was sent with */
    bool renewed;                    /* after a 401: once */
    struct ws_handlers h;
    enum ws_phase phase;
    curl_socket_t fd;
    struct str in, out, message;
    struct str held;                 /* frames for after the 101 */
    char *request, key[32];
    int message_opcode;              /* of the fragments gathered, 0: none */
    int want_status;                 /* of a refused upgrade whose body is read */
    int64_t heard_ms, close_ms, body_left;
    uint32_t timer, resume;
    int close_code;
    bool busy, dead, close_asked, overflow, write_dead, paused, above;
};

static void fail(struct ws *w, int code, int status, const char *body, const struct pd_err *err);
static void reopen(struct ws *w);
static void on_socket(void *arg, int fd, int events);

static void end_transfer(struct ws *w)
{
    if (w->fd != CURL_SOCKET_BAD)
        loop_fd_remove(w->loop, (int)w->fd);
    w->fd = CURL_SOCKET_BAD;
    loop_timer_cancel(w->loop, w->resume);
    w->resume = 0;
    if (!w->easy)
        return;
    loop_transfer_remove(w->loop, &w->transfer, w->easy);
    curl_easy_cleanup(w->easy);
    http_setup_release(&w->setup);
    w->easy = NULL;
    free(w->request);
    w->request = NULL;
}

static void ws_free(struct ws *w)
{
    end_transfer(w);
    loop_timer_cancel(w->loop, w->timer);
    http_wait_cancel(w->target, &w->wait);
    http_target_unref(w->target);
    free(w->path);
    free(w->protocols);
    str_release(&w->in);
    str_release(&w->out);
    str_release(&w->held);
    str_release(&w->message);
    free(w);
}

/* The last call of a connection; frees it unless one of its handlers is still
 * running below. */
static void fail(struct ws *w, int code, int status, const char *body, const struct pd_err *err)
{
    if (w->dead)
        return;
    w->dead = true;
    if (w->h.closed) {
        bool busy = w->busy;
        w->busy = true;
        w->h.closed(w->h.arg, code, status, body, err);
        w->busy = busy;
    }
    if (!w->busy)
        ws_free(w);
}

static void fail_text(struct ws *w, enum pd_code pd, const char *text)
{
    struct pd_err err;
    pd_fail(&err, pd, "%s", text);
    str_copy(err.src, sizeof err.src, w->easy ? w->setup.shown : w->path);
    fail(w, 1006, 0, "", &err);
}

static void fail_curl(struct ws *w, CURLcode code)
{
    struct pd_err err;
    http_setup_error(&w->setup, (int)code, &err);
    fail(w, 1006, 0, "", &err);
}

/* --- writing --- */

static void want(struct ws *w)
{
    int events = (w->paused ? 0 : LOOP_READ) | (w->out.len ? LOOP_WRITE : 0);
    if (w->fd != CURL_SOCKET_BAD && !w->dead && events)
        loop_fd(w->loop, (int)w->fd, events, on_socket, w);
    else if (w->fd != CURL_SOCKET_BAD)
        loop_fd_remove(w->loop, (int)w->fd);
    w->above |= w->out.len > WS_LOW;
}

/* A broken link only ends the writing: what the peer said before it went may
 * still stand in the buffer, and reading finds the end. */
static void flush(struct ws *w)
{
    size_t at = 0, sent = 0;
    CURLcode code = CURLE_OK;
    while (at < w->out.len && !w->write_dead) {
        code = curl_easy_send(w->easy, w->out.p + at, w->out.len - at, &sent);
        if (code != CURLE_OK)
            break;
        at += sent;
    }
    str_consume(&w->out, at);
    w->write_dead |= code != CURLE_OK && code != CURLE_AGAIN;
    if (w->write_dead)
        str_clear(&w->out);
    want(w);
}

static struct str *sink(struct ws *w)
{
    return w->phase < OPEN ? &w->held : &w->out;
}

static void send_close(struct ws *w, int code)
{
    unsigned char p[2] = {(unsigned char)(code >> 8), (unsigned char)code};
    ws_build(sink(w), WS_CLOSE, true, true, p, sizeof p);
}

/* --- the upgrade --- */

static void build_request(struct ws *w)
{
    unsigned char raw[16];
    const char *rest = strstr(w->setup.url, "://");
    const char *host = rest ? rest + 3 : w->setup.url;
    size_t host_n = strcspn(host, "/?#");
    struct strv lines;
    struct str s;
    if (getrandom(raw, sizeof raw, 0) != (ssize_t)sizeof raw)
        PD_BUG("no random bytes");
    EVP_EncodeBlock((unsigned char *)w->key, raw, sizeof raw);
    str_init(&s, HEAD_MAX);
    str_printf(&s, "GET %s%s HTTP/1.1\r\n", host[host_n] == '/' ? "" : "/", host + host_n);
    if (!w->setup.host_header)
        str_printf(&s, "Host: %.*s\r\n", (int)host_n, host);
    str_printf(&s, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: %s\r\n", w->key);
    if (w->protocols && *w->protocols)
        str_printf(&s, "Sec-WebSocket-Protocol: %s\r\n", w->protocols);
    strv_init(&lines);
    http_setup_headers(&w->setup, &lines);
    for (size_t i = 0; i < lines.n; i++)
        str_printf(&s, "%s\r\n", lines.v[i]);
    strv_release(&lines);
    str_add(&s, "\r\n");
    w->request = str_take(&s);
}

/* The value of a header in the head of the answer, cut at its line's end. */
static bool header(const char *head, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);
    for (const char *p = strstr(head, "\r\n"); p; p = strstr(p + 2, "\r\n")) {
        const char *line = p + 2;
        if (strncasecmp(line, name, n) != 0 || line[n] != ':')
            continue;
        line += n + 1;
        line += strspn(line, " \t");
        str_fmt(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
        return true;
    }
    return false;
}

/* An upgrade that was refused: hand over the text once all of it is here. */
static bool refused(struct ws *w, bool at_end)
{
    if (!at_end && (int64_t)w->in.len < w->body_left && w->in.len < HEAD_MAX)
        return true;
    fail(w, 1006, w->want_status, w->in.p, NULL);
    return false;
}

static void strip_head(struct ws *w, size_t head_n)
{
    str_consume(&w->in, head_n);
}

static bool accept_upgrade(struct ws *w)
{
    char value[256], accept[32], length[32];
    char *end = strstr(w->in.p, "\r\n\r\n");
    if (!end) {
        if (w->in.len < HEAD_MAX)
            return true;
        fail_text(w, PD_PROTO, _("the answer to the WebSocket upgrade has no end"));
        return false;
    }
    size_t head_n = (size_t)(end - w->in.p) + 4;
    char *head = xstrndup(w->in.p, head_n);
    const char *space = strchr(head, ' ');
    int status = str_starts(head, "HTTP/1.") && space ? atoi(space + 1) : 0;
    bool have = header(head, "Sec-WebSocket-Accept", value, sizeof value);
    bool sized = header(head, "Content-Length", length, sizeof length);
    char protocol[128] = "";
    header(head, "Sec-WebSocket-Protocol", protocol, sizeof protocol);
    free(head);
    strip_head(w, head_n);
    if (status == 401 && !w->renewed) {
        w->renewed = true;
        if (http_target_renews(w->target, w->serial)) {
            reopen(w);
            return false;
        }
    }
    if (status != 101) {
        w->want_status = status ? status : 502;
        w->body_left = sized ? atoll(length) : HEAD_MAX;
        return refused(w, false);
    }
    ws_accept_key(w->key, accept);
    if (!have || strcmp(accept, value) != 0) {
        fail_text(w, PD_PROTO, _("the server's Sec-WebSocket-Accept is wrong"));
        return false;
    }
    w->phase = w->close_asked ? CLOSING : OPEN;
    str_append(&w->out, w->held.p, w->held.len);
    str_release(&w->held);
    want(w);
    if (w->h.open)
        w->h.open(w->h.arg, protocol);
    return !w->dead;
}

/* --- reading --- */

static bool close_frame(struct ws *w, const struct ws_frame *f)
{
    int code = f->n >= 2 ? f->payload[0] << 8 | f->payload[1] : 1005;
    if (w->phase != CLOSING) {
        send_close(w, f->n >= 2 ? code : 1000);
        flush(w);
    }
    fail(w, code, 0, "", NULL);
    return false;
}

static bool deliver(struct ws *w, int opcode, const char *p, size_t n)
{
    if (w->h.message && w->phase != CLOSING) {
        struct loop_mark m = loop_mark_begin(w->loop);
        w->h.message(w->h.arg, opcode == WS_BINARY, p, n);
        loop_mark_end(w->loop, m, "WebSocket message");
    }
    return !w->dead;
}

static bool data_frame(struct ws *w, const struct ws_frame *f)
{
    const char *p = (const char *)f->payload;
    if ((f->opcode == WS_CONT) != (w->message_opcode != 0)) {
        fail_text(w, PD_PROTO, _("a WebSocket fragment is out of order"));
        return false;
    }
    if (f->fin && f->opcode != WS_CONT)
        return deliver(w, f->opcode, p, f->n);
    if (f->opcode != WS_CONT)
        w->message_opcode = f->opcode;
    if (!str_append(&w->message, p, f->n)) {
        fail_text(w, PD_LIMIT, _("a WebSocket message is longer than 16 MiB"));
        return false;
    }
    if (!f->fin)
        return true;
    int opcode = w->message_opcode;
    w->message_opcode = 0;
    bool alive = deliver(w, opcode, w->message.p, w->message.len);
    str_clear(&w->message);
    return alive;
}

static bool one_frame(struct ws *w, const struct ws_frame *f)
{
    if (f->opcode == WS_CLOSE)
        return close_frame(w, f);
    if (f->opcode == WS_PING) {
        ws_build(&w->out, WS_PONG, true, true, f->payload, f->n);
        flush(w);
    }
    return f->opcode == WS_PING || f->opcode == WS_PONG ? true : data_frame(w, f);
}

static bool frames(struct ws *w)
{
    size_t at = 0;
    bool alive = true;
    while (alive && !w->paused) {
        struct ws_frame f;
        long n = ws_parse((unsigned char *)w->in.p + at, w->in.len - at, false, MESSAGE_MAX, &f);
        if (n < 0) {
            fail_text(w, PD_PROTO, _("the server sent a WebSocket frame that is not valid"));
            return false;
        }
        if (n == 0)
            break;
        at += (size_t)n;
        alive = one_frame(w, &f);
    }
    if (alive)
        str_consume(&w->in, at);
    return alive;
}

static bool digest_input(struct ws *w)
{
    if (w->want_status)
        return refused(w, false);
    if (w->phase == UPGRADE && !accept_upgrade(w))
        return false;
    if (w->phase == UPGRADE || w->want_status)
        return true;
    return frames(w);
}

static void lost(struct ws *w, CURLcode code)
{
    if (w->want_status)
        refused(w, true);
    else if (code != CURLE_OK)
        fail_curl(w, code);
    else
        fail_text(w, PD_NET, _("the connection ended without a WebSocket Close"));
}

/* TLS may hold bytes that poll does not see: read until AGAIN, or come back
 * in the next turn. */
static void resume(void *arg)
{
    struct ws *w = arg;
    w->resume = 0;
    w->busy = true;
    bool alive = w->in.len == 0 || w->phase < OPEN || digest_input(w);
    w->busy = false;
    if (w->dead)
        ws_free(w);
    else if (alive)
        on_socket(w, (int)w->fd, LOOP_READ);
}

static void plan_resume(struct ws *w)
{
    if (!w->resume && !w->paused)
        w->resume = loop_timer(w->loop, 0, resume, w, "WebSocket read");
}

static bool read_all(struct ws *w)
{
    size_t total = 0;
    while (total < READ_TURN && !w->paused) {
        char buf[32 << 10];
        size_t n = 0;
        CURLcode code = curl_easy_recv(w->easy, buf, sizeof buf, &n);
        if (code == CURLE_AGAIN)
            return true;
        if (code != CURLE_OK || n == 0) {
            lost(w, code);
            return false;
        }
        w->heard_ms = clock_ms();
        total += n;
        if (!str_append(&w->in, buf, n)) {
            fail_text(w, PD_LIMIT, _("a WebSocket message is longer than 16 MiB"));
            return false;
        }
        if (!digest_input(w))
            return false;
    }
    plan_resume(w);
    return true;
}

static void on_socket(void *arg, int fd UNUSED, int events)
{
    struct ws *w = arg;
    w->busy = true;
    bool alive = !w->overflow;
    if (w->overflow)
        fail_text(w, PD_LIMIT, _("64 MiB wait to be sent: the peer does not read"));
    if (alive && (events & LOOP_WRITE) && w->out.len)
        flush(w);
    if (alive && w->above && w->out.len <= WS_LOW) {
        w->above = false;
        if (w->h.drained && w->phase == OPEN)
            w->h.drained(w->h.arg);
    }
    if (alive && !w->dead && !w->paused && (events & LOOP_READ))
        read_all(w);
    w->busy = false;
    if (w->dead)
        ws_free(w);
}

/* --- time --- */

static void tick(void *arg)
{
    struct ws *w = arg;
    int64_t quiet = w->paused ? 0 : clock_ms() - w->heard_ms;
    w->timer = loop_timer(w->loop, w->phase == OPEN ? PING_MS : 1000, tick, w, "WebSocket ping");
    if (w->phase == CLOSING && clock_ms() - w->close_ms >= CLOSE_MS)
        fail(w, w->close_code, 0, "", NULL);
    else if (w->easy && w->phase <= UPGRADE && quiet >= UPGRADE_MS)
        fail_text(w, PD_TIMEOUT, _("no answer to the WebSocket upgrade"));
    else if (w->phase == OPEN && quiet >= DEAD_MS)
        fail_text(w, PD_TIMEOUT, _("the WebSocket peer has been silent for a minute"));
    else if (w->phase == OPEN) {
        ws_build(&w->out, WS_PING, true, true, "", 0);
        flush(w);
    }
}

/* --- life --- */

static void on_connected(void *arg, int curl_code)
{
    struct ws *w = arg;
    if (curl_code != CURLE_OK) {
        fail_curl(w, (CURLcode)curl_code);
        return;
    }
    curl_easy_getinfo(w->easy, CURLINFO_ACTIVESOCKET, &w->fd);
    if (w->fd == CURL_SOCKET_BAD) {
        fail_text(w, PD_NET, _("libcurl gave no socket"));
        return;
    }
    w->phase = UPGRADE;
    str_add(&w->out, w->request);
    flush(w);
}

static void on_ready(void *arg)
{
    struct ws *w = arg;
    dial_swap(&w->setup.dial);
}

static void on_drop(void *arg)
{
    ws_free(arg);
}

/* With the target's credentials of this moment. */
static void launch(struct ws *w)
{
    w->heard_ms = clock_ms();
    w->serial = w->target->serial;
    w->easy = http_setup_init(&w->setup, w->target, w->path);
    curl_easy_setopt(w->easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(w->easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
    build_request(w);
    w->setup.transfer = &w->transfer;
    w->transfer = (struct loop_transfer){
        .ready = on_ready, .done = on_connected, .drop = on_drop, .arg = w};
    loop_transfer_add(w->loop, &w->transfer, w->easy);
}

static void go(void *arg, const struct pd_err *err)
{
    struct ws *w = arg;
    if (err)
        fail(w, 1006, 0, "", err);
    else
        launch(w);
}

static void reopen(struct ws *w)
{
    end_transfer(w);
    str_clear(&w->in);
    str_clear(&w->out);
    w->phase = CONNECTING;
    w->want_status = 0;
    w->write_dead = false;
    if (!http_target_wait(w->target, &w->wait))
        launch(w);
}

struct ws *ws_open(struct loop *l, struct http_target *t, const char *path, const char *protocols,
                   const struct ws_handlers *h)
{
    struct ws *w = xcalloc(1, sizeof *w);
    w->loop = l;
    w->h = *h;
    w->fd = CURL_SOCKET_BAD;
    w->target = http_target_ref(t);
    w->path = xstrdup(path);
    w->protocols = xstrdup(protocols);
    w->heard_ms = clock_ms();
    w->wait = (struct http_wait){.go = go, .arg = w};
    str_init(&w->in, IN_MAX);
    str_init(&w->out, OUT_MAX);
    str_init(&w->held, OUT_MAX);
    str_init(&w->message, MESSAGE_MAX);
    if (!http_target_wait(t, &w->wait))
        launch(w);
    w->timer = loop_timer(l, 1000, tick, w, "WebSocket ping");
    return w;
}

void ws_send(struct ws *w, bool binary, const void *p, size_t n)
{
    if (w->dead || w->close_asked || w->overflow)
        return;
    if (ws_pending(w) + n + 16 > OUT_MAX) {
        w->overflow = true;
        return;
    }
    ws_build(sink(w), binary ? WS_BINARY : WS_TEXT, true, true, p, n);
    want(w);
}

size_t ws_pending(const struct ws *w)
{
    return w->out.len + w->held.len;
}

void ws_pause(struct ws *w, bool on)
{
    if (w->dead || w->paused == on)
        return;
    w->paused = on;
    w->heard_ms = clock_ms();
    want(w);
    if (!on && w->phase >= OPEN)
        plan_resume(w);
}

void ws_close(struct ws *w, int code)
{
    if (w->dead || w->close_asked)
        return;
    w->close_asked = true;
    w->close_code = code;
    send_close(w, code);
    if (w->phase == OPEN)
        w->phase = CLOSING;
    w->close_ms = clock_ms();
    want(w);
}

void ws_close_now(struct ws *w)
{
    if (!w || w->dead)
        return;
    w->dead = true;
    w->h = (struct ws_handlers){.arg = NULL};
    if (!w->busy)
        ws_free(w);
}
