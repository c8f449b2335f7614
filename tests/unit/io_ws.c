/* io_ws.c - WebSocket: framing by itself, then a client against a server that
 * splits, fragments, pings, closes and refuses. */
#include "tests/api/client_fakews.h"

#include "core/base/clock.h"
#include "tests/unit/run_until.h"

/* --- framing --- */

TEST(ws_frames_round_trip_at_every_length)
{
    static const size_t sizes[] = {0, 1, 125, 126, 127, 65535, 65536, 70000};
    static char data[70000];
    struct str s;
    struct ws_frame f;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    str_init(&s, 1 << 20);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (int mask = 0; mask < 2; mask++) {
            str_clear(&s);
            ws_build(&s, WS_BINARY, true, mask, data, sizes[i]);
            CHECK(!mask || sizes[i] < 8 || !memmem(s.p, s.len, data, sizes[i]));
            for (size_t cut = 0; cut < MIN(s.len, (size_t)20); cut++)
                CHECK_INT(ws_parse((unsigned char *)s.p, cut, mask, 1 << 20, &f), 0);
            CHECK_INT(ws_parse((unsigned char *)s.p, s.len, mask, 1 << 20, &f), (long)s.len);
            CHECK(f.n == sizes[i] && f.fin && f.opcode == WS_BINARY);
            CHECK(memcmp(f.payload, data, f.n) == 0);
        }
    str_release(&s);
}

TEST(ws_refuses_frames_that_are_not_valid)
{
    static const struct {
        unsigned char b[12];
        size_t n;
    } bad[] = {
        {{0xc2, 0x00}, 2},                       /* reserved bit */
        {{0x83, 0x00}, 2},                       /* unknown opcode */
        {{0x8b, 0x00}, 2},
        {{0x89, 0x7e, 0x00, 0x7e}, 4},           /* ping of 126 */
        {{0x09, 0x00}, 2},                       /* ping in fragments */
        {{0x82, 0x80, 1, 2, 3, 4}, 6},           /* a server that masks */
        {{0x82, 0x7f, 0, 0, 0, 0, 0x7f, 0, 0, 0}, 10},   /* above the ceiling */
    };
    struct ws_frame f;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        unsigned char b[12];
        memcpy(b, bad[i].b, sizeof b);
        CHECK_INT(ws_parse(b, bad[i].n, false, 1 << 20, &f), -1);
    }
    unsigned char plain[] = {0x82, 0x00};
    CHECK_INT(ws_parse(plain, 2, true, 1 << 20, &f), -1);    /* a client that does not */
}

TEST(ws_accept_key_of_the_rfc)
{
    char out[32];
    ws_accept_key("dGhlIHNhbXBsZSBub25jZQ==", out);
    CHECK_STR(out, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

/* --- a connection --- */

static struct {
    int opens, messages, closes, code, status;
    char protocol[64], body[256];
    struct str text;
    struct pd_err err;
    bool close_in_message;
} got;

static struct fake f;
static struct loop *l;
static struct http_target *t;
static struct ws *w;

static void on_open(void *arg UNUSED, const char *protocol)
{
    got.opens++;
    str_copy(got.protocol, sizeof got.protocol, protocol);
}

static void on_message(void *arg UNUSED, bool binary, const char *p, size_t n)
{
    got.messages++;
    str_addc(&got.text, binary ? 'b' : 't');
    str_append(&got.text, p, n);
    str_addc(&got.text, '|');
    if (got.close_in_message) {
        ws_close_now(w);
        w = NULL;
    }
}

static void on_closed(void *arg UNUSED, int code, int status, const char *body,
                      const struct pd_err *err)
{
    got.closes++;
    got.code = code;
    got.status = status;
    str_copy(got.body, sizeof got.body, body);
    if (err)
        got.err = *err;
}

static void begin(fake_fn *fn, const char *protocols)
{
    char base[64];
    struct ws_handlers h = {.open = on_open, .message = on_message, .closed = on_closed};
    f = fake_start(fn);
    l = loop_new();
    t = http_target_new(fake_base(&f, base));
    t->bearer = xstrdup("secret");
    str_init(&got.text, 64 << 20);
    w = ws_open(l, t, "/exec?a=b", protocols, &h);
}

static void finish(void)
{
    loop_free(l);
    CHECK_INT(t->refs, 1);
    http_target_unref(t);
    str_release(&got.text);
}

static void serve_talk(struct fake_conn *c)
{
    struct ws_frame fr;
    char in[1000];
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    fake_ws_frame(c, WS_TEXT, true, "hello", 5, 1);              /* byte by byte */
    fake_ws_frame(c, WS_BINARY, false, "one ", 4, 0);
    fake_ws_frame(c, WS_PING, true, "pp", 2, 0);                 /* between fragments */
    fake_ws_frame(c, WS_CONT, false, "two ", 4, 0);
    fake_ws_frame(c, WS_CONT, true, "three", 5, 3);
    CHECK(fake_ws_read(c, &fr, in, sizeof in));                  /* the pong */
    c->s->counter[0] = fr.opcode == WS_PONG && !strcmp(in, "pp");
    while (fake_ws_read(c, &fr, in, sizeof in) && fr.opcode != WS_CLOSE)
        if (fr.opcode == WS_TEXT)
            fake_ws_frame(c, WS_TEXT, true, in, fr.n, 0);
    fake_ws_close(c, 1000);
}

TEST(ws_talks_and_closes_politely)
{
    begin(serve_talk, "v5.channel.k8s.io, v4.channel.k8s.io");
    RUN_UNTIL(got.messages == 2);
    CHECK_STR(got.protocol, "v5.channel.k8s.io");
    CHECK_STR(got.text.p, "thello|bone two three|");
    ws_send(w, false, "echo", 4);
    RUN_UNTIL(got.messages == 3);
    CHECK_HAS(got.text.p, "|techo|");
    ws_close(w, 1000);
    RUN_UNTIL(got.closes == 1);
    CHECK_INT(got.code, 1000);
    CHECK_INT(f.s->counter[0], 1);
    CHECK_HAS(f.s->head, "GET /exec?a=b HTTP/1.1\r\n");
    CHECK_HAS(f.s->head, "Sec-WebSocket-Protocol: v5.channel.k8s.io, v4.channel.k8s.io\r\n");
    CHECK_HAS(f.s->head, "Authorization: Bearer secret\r\n");
    CHECK_INT(got.err.code, PD_OK);
    finish();
}

TEST(ws_may_be_closed_inside_its_own_message)
{
    got.close_in_message = true;
    begin(serve_talk, NULL);
    RUN_UNTIL(got.messages == 1);
    for (int i = 0; i < 5; i++)
        loop_turn(l, 5);
    CHECK_INT(got.messages, 1);
    CHECK_INT(got.closes, 0);
    finish();
}

/* 10 MB in frames of odd sizes, written at random splits. */
static void serve_much(struct fake_conn *c)
{
    static char data[100000];
    unsigned seed = 7;
    CHECK(fake_request(c));
    fake_ws_accept(c, NULL);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)('a' + i % 26);
    for (int i = 0; i < 100; i++) {
        seed = seed * 1103515245u + 12345u;
        size_t cut = seed % sizeof data;
        fake_ws_frame(c, WS_BINARY, false, data, cut, 0);
        fake_ws_frame(c, WS_CONT, true, data + cut, sizeof data - cut, 1 + seed % 60000);
    }
    fake_ws_close(c, 1001);
}

TEST(ws_brings_10_mb_whole)
{
    begin(serve_much, NULL);
    RUN_UNTIL(got.closes == 1);
    CHECK_INT(got.messages, 100);
    CHECK_INT((long long)got.text.len, 100 * (100000 + 2));
    for (int i = 0; i < 100; i++)
        CHECK(got.text.p[(size_t)i * 100002 + 1 + 99999] == 'a' + 99999 % 26);
    CHECK_INT(got.code, 1001);
    finish();
}

static void serve_sink(struct fake_conn *c)
{
    struct ws_frame fr;
    static char in[70000];
    CHECK(fake_request(c));
    fake_ws_accept(c, NULL);
    fake_sleep(200);                             /* the client's queue fills */
    while (fake_ws_read(c, &fr, in, sizeof in) && fr.opcode != WS_CLOSE) {
        c->s->counter[0] += (int)fr.n;
        for (size_t i = 0; i < fr.n; i++)
            c->s->counter[1] += in[i] != 'z';
        if (c->s->counter[0] == 10 << 20)
            fake_ws_close(c, 1000);
    }
}

TEST(ws_sends_10_mib_through_a_slow_reader)
{
    static char z[32768];
    memset(z, 'z', sizeof z);
    begin(serve_sink, NULL);
    for (int i = 0; i < 320; i++)
        ws_send(w, true, z, sizeof z);
    CHECK(ws_pending(w) > 10 << 20);
    RUN_UNTIL(got.closes == 1);
    CHECK_INT(got.code, 1000);
    CHECK_INT(f.s->counter[0], 10 << 20);
    CHECK_INT(f.s->counter[1], 0);
    finish();
}

static void serve_refusal(struct fake_conn *c)
{
    CHECK(fake_request(c));
    fake_json(c, 403, "{\"kind\":\"Status\",\"message\":\"no exec for you\"}");
    fake_sleep(5000);
}

TEST(ws_hands_over_a_refused_upgrade)
{
    begin(serve_refusal, NULL);
    RUN_UNTIL(got.closes == 1);
    CHECK_INT(got.status, 403);
    CHECK_STR(got.body, "{\"kind\":\"Status\",\"message\":\"no exec for you\"}");
    CHECK_INT(got.opens, 0);
    finish();
}

static void serve_bad(struct fake_conn *c)
{
    CHECK(fake_request(c));
    if (c->nth == 1) {
        fake_say(c, "HTTP/1.1 101 X\r\nSec-WebSocket-Accept: wrong\r\n\r\n");
    } else if (c->nth == 2) {
        fake_ws_accept(c, NULL);
        fake_say(c, "\xc2\x01x");
    } else if (c->nth == 3) {
        fake_ws_accept(c, NULL);
        fake_ws_frame(c, WS_CONT, true, "x", 1, 0);
    } else if (c->nth == 4) {
        fake_ws_accept(c, NULL);
        fake_ws_frame(c, WS_BINARY, true, "x", 1, 0);
        return;                                  /* the link dies */
    } else {
        fake_say(c, "garbage\r\n\r\n");
    }
    fake_sleep(3000);
}

TEST(ws_tells_each_kind_of_broken_peer)
{
    static const struct {
        enum pd_code code;
        int status;
        const char *part;
    } want[] = {{PD_PROTO, 0, "Accept"},   {PD_PROTO, 0, "not valid"}, {PD_PROTO, 0, "fragment"},
                {PD_NET, 0, "without"}, {PD_OK, 502, ""}};
    struct ws_handlers h = {.open = on_open, .message = on_message, .closed = on_closed};
    begin(serve_bad, NULL);
    for (int i = 0; i < 5; i++) {
        if (i > 0)
            w = ws_open(l, t, "/x", NULL, &h);
        got.err.code = PD_OK;
        got.err.msg[0] = '\0';
        RUN_UNTIL(got.closes == i + 1);
        CHECK_INT(got.err.code, want[i].code);
        CHECK_HAS(got.err.msg, want[i].part);
        CHECK_INT(got.status, want[i].status);
        CHECK_INT(got.code, 1006);
    }
    struct http_target *closed = http_target_new("http://127.0.0.1:1");
    w = ws_open(l, closed, "/x", NULL, &h);
    RUN_UNTIL(got.closes == 6);
    CHECK_INT(got.err.code, PD_NET);
    http_target_unref(closed);
    finish();
}

TEST(ws_close_now_at_any_moment)
{
    struct ws_handlers h = {.open = on_open, .message = on_message, .closed = on_closed};
    begin(serve_talk, NULL);
    ws_close_now(w);
    for (int turns = 0; turns < 25; turns++) {
        w = ws_open(l, t, "/x", NULL, &h);
        ws_send(w, true, "abc", 3);
        for (int i = 0; i < turns; i++)
            loop_turn(l, 1);
        ws_close_now(w);
    }
    CHECK_INT(got.closes, 0);
    finish();
}

static void serve_stubborn(struct fake_conn *c)
{
    CHECK(fake_request(c));
    fake_ws_accept(c, NULL);
    for (int i = 0; i < 600; i++) {              /* talks on, never closes */
        if (!fake_ws_frame(c, WS_BINARY, true, "x", 1, 0))
            return;
        fake_sleep(10);
    }
}

TEST(ws_close_does_not_wait_for_ever)
{
    begin(serve_stubborn, NULL);
    RUN_UNTIL(got.opens == 1);
    ws_close(w, 1000);
    int64_t start = clock_us();
    RUN_UNTIL(got.closes == 1);
    CHECK(clock_us() - start < 5500000);
    finish();
}

T_MAIN
