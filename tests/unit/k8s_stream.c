/* k8s_stream.c - the one way into pods: offers and refusals of an upgrade,
 * back-pressure in both directions, port-forward over SPDY frames and over
 * channels, what is told when it breaks; sums and tar streams of copying. */
#include "tests/api/client_fakews.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/io/spdy.h"
#include "k8s/copy.h"
#include "k8s/exec.h"
#include "k8s/portforward.h"
#include "k8s/sums.h"
#include "k8s/tarwrite.h"
#include "tests/unit/run_until.h"

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct {
    int opens, exits, code, drains, said, changed;
    bool half_close, lasting;
    size_t out;
    struct pd_err err;
} got;

static void begin(fake_fn *fn)
{
    char base[64];
    struct kube_context x;
    f = fake_start(fn);
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    k = k8s_open(l, &x, 1, NULL);
    kube_context_release(&x);
}

static void finish(void)
{
    k8s_close(k);
    loop_free(l);
}

/* --- offers and refusals ------------------------------------------------------------------ */

static void on_open(void *arg UNUSED, bool half_close)
{
    got.opens++;
    got.half_close = half_close;
}

static void on_output(void *arg UNUSED, int channel UNUSED, const char *p UNUSED, size_t n)
{
    got.out += n;
}

static void on_end(void *arg UNUSED, int code, const struct pd_err *err)
{
    got.exits++;
    got.code = code;
    if (err)
        got.err = *err;
}

static void on_drained(void *arg UNUSED)
{
    got.drains++;
}

static struct exec *start(const char *word)
{
    char *argv[] = {(char *)(uintptr_t)word, NULL};
    struct exec_spec spec = {.pod = "p", .argv = argv, .std_in = true};
    struct exec_handlers h = {.open = on_open, .output = on_output, .exit = on_end,
                              .drained = on_drained};
    memset(&got, 0, sizeof got);
    return exec_start(k, &spec, &h);
}

/* Knows v4 alone, and takes an offer of anything else for a mistake. */
static void serve_v4_only(struct fake_conn *c)
{
    char offer[200] = "";
    while (fake_request(c)) {
        fake_header(c, "Sec-WebSocket-Protocol", offer, sizeof offer);
        if (strcmp(offer, "v4.channel.k8s.io") != 0) {
            fake_reply(c, 403, "text/plain", "", "unable to upgrade: unsupported protocol");
            continue;
        }
        fake_ws_accept(c, "v4.channel.k8s.io");
        fake_ws_channel(c, 3, "{\"status\":\"Success\"}");
        fake_ws_close(c, 1000);
        return;
    }
}

TEST(exec_offers_v4_alone_where_the_first_offer_is_refused)
{
    begin(serve_v4_only);
    start("true");
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.code, 0);
    CHECK(got.opens == 1 && !got.half_close);
    CHECK_INT(f.s->requests, 2);
    finish();
}

static const struct { const char *word; int status; const char *type, *body; } refusals[] = {
    {"rights", 403, "application/json",
     "{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"pods \\\"p\\\" is forbidden: User "
     "\\\"stu\\\" cannot get resource \\\"pods/exec\\\" in API group \\\"\\\" in the namespace "
     "\\\"lab\\\"\",\"reason\":\"Forbidden\",\"code\":403}"},
    {"gone", 404, "application/json",
     "{\"kind\":\"Status\",\"message\":\"pods \\\"p\\\" not found\",\"reason\":\"NotFound\"}"},
    {"proxy", 502, "text/html", "<html><body>Bad Gateway</body></html>"},
    {"page", 400, "text/html", "<!doctype html><title>nginx</title>"},
    {"which", 400, "application/json",
     "{\"kind\":\"Status\",\"message\":\"a container name must be specified for pod p, choose one "
     "of: [a b]\",\"reason\":\"BadRequest\"}"},
    {"kubelet", 500, "text/plain", "error dialing backend: dial tcp 10.0.0.7:10250: i/o timeout"},
};

static void serve_refusal(struct fake_conn *c)
{
    while (fake_request(c))
        for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
            if (strstr(c->path, refusals[i].word))
                fake_reply(c, refusals[i].status, refusals[i].type, "", refusals[i].body);
}

TEST(exec_tells_why_an_upgrade_was_refused)
{
    static const struct { enum pd_code code; const char *msg, *hint; } want[] = {
        {PD_FORBIDDEN, "cannot get resource", "pods/exec"},
        {PD_NOTFOUND, "not found", "check its name"},
        {PD_HTTP, "a proxy stands before", "kubelet"},
        {PD_INVALID, "a proxy stands before", "Upgrade"},
        {PD_INVALID, "choose one of: [a b]", ""},
        {PD_HTTP, "dialing backend", ""}};
    begin(serve_refusal);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        int before = f.s->requests;
        start(refusals[i].word);
        RUN_UNTIL(got.exits == 1);
        CHECK_INT(got.code, -1);
        CHECK_MSG(got.err.code == want[i].code, "%s: %s", refusals[i].word, got.err.msg);
        CHECK_HAS(got.err.msg, want[i].msg);
        CHECK_HAS(got.err.hint, want[i].hint);
        /* no second try where it can't help */
        CHECK_INT(f.s->requests - before,
                  refusals[i].status == 400 || refusals[i].status == 500 ? 2 : 1);
    }
    finish();
}

static void serve_no_program(struct fake_conn *c)
{
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    fake_ws_channel(c, 3, "{\"status\":\"Failure\",\"reason\":\"InternalError\",\"message\":\"OCI "
                          "runtime exec failed: exec: \\\"bash\\\": executable file not found in "
                          "$PATH: unknown\",\"code\":500}");
    fake_ws_close(c, 1000);
}

TEST(exec_explains_a_program_that_is_not_there)
{
    begin(serve_no_program);
    start("bash");
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.code, -1);
    CHECK_HAS(got.err.hint, "no such program");
    finish();
}

static void put_channel(const char *p, size_t n, struct exec_result *r)
{
    struct exec_handlers h = {.output = on_output};
    exec_message(r, &h, p, n);
}

/* Old servers say it in words, new ones in a Status, and either may come in pieces. */
TEST(exec_reads_every_form_of_the_end)
{
    static const struct { const char *text; int code; const char *why; } table[] = {
        {"{\"status\":\"Success\"}", 0, ""},
        {"{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"
         "\"reason\":\"ExitCode\",\"message\":\"137\"}]}}", 137, ""},
        {"{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"message\":\"command terminated "
         "with exit code 4\"}", 4, ""},
        {"command terminated with non-zero exit code: exit status 5", 5, ""},
        {"{\"status\":\"Failure\",\"message\":\"container not found (\\\"c\\\")\",\"code\":500}",
         -1, "container not found"},
        {"rpc error: code = Unknown", -1, "rpc error"},
        {"{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{\"causes\":[{"
         "\"reason\":\"ExitCode\",\"message\":\"999\"}]},\"message\":\"odd\"}", -1, "odd"}};
    for (size_t i = 0; i < ARRAY_LEN(table) * 2; i++) {
        struct exec_result r = {.ended = false};
        const char *text = table[i / 2].text;
        size_t n = strlen(text), half = i % 2 ? n / 2 : n;
        char *frame = xasprintf("\003%s", text);
        put_channel("\003", 1, &r);              /* an empty frame begins each channel */
        CHECK(!r.ended);
        put_channel(frame, half + 1, &r);
        frame[half] = 3;
        if (half < n)
            put_channel(frame + half, n - half + 1, &r);
        CHECK(r.ended);
        CHECK_MSG(r.code == table[i / 2].code, "%s: %d", text, r.code);
        if (r.code < 0)
            CHECK_HAS(r.err.msg, table[i / 2].why);
        free(frame);
    }
}

/* --- back-pressure -------------------------------------------------------------------------- */

enum { MANY = 12 << 20 };

static void serve_much(struct fake_conn *c)
{
    static char chunk[32769];
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    chunk[0] = 1;
    for (int i = 0; i < MANY / 32768; i++) {
        if (!fake_ws_frame(c, WS_BINARY, true, chunk, sizeof chunk, 0))
            return;
        c->s->counter[0] = i + 1;
    }
    fake_ws_channel(c, 3, "{\"status\":\"Success\"}");
    fake_ws_close(c, 1000);
}

/* Output that is not taken waits at the far end, and none of it is lost. */
TEST(exec_pause_holds_the_sender)
{
    begin(serve_much);
    struct exec *e = start("cat");
    RUN_UNTIL(got.out > 0);
    exec_pause(e, true);
    size_t seen = got.out;
    int64_t end = clock_us() + 300000;
    while (clock_us() < end)
        loop_turn(l, 10);
    CHECK_INT(got.out, seen);
    CHECK_INT(got.exits, 0);
    CHECK_MSG(f.s->counter[0] < MANY / 32768, "all of it was taken in");
    exec_pause(e, false);
    RUN_UNTIL(got.exits == 1);
    CHECK_INT(got.out, MANY);
    CHECK_INT(got.code, 0);
    finish();
}

static void serve_slow_reader(struct fake_conn *c)
{
    static char in[70000];
    struct ws_frame fr;
    long long n = 0;
    CHECK(fake_request(c));
    fake_ws_accept(c, "v5.channel.k8s.io");
    fake_sleep(200);
    while (fake_ws_read(c, &fr, in, sizeof in)) {
        if (fr.opcode == WS_BINARY && in[0] == 0)
            n += (long long)fr.n - 1;
        if (fr.opcode == WS_BINARY && (unsigned char)in[0] == 255)
            break;
    }
    c->s->counter[0] = (int)n;
    fake_ws_channel(c, 3, "{\"status\":\"Success\"}");
    fake_ws_close(c, 1000);
}

/* A sender that waits for `drained` never has more than the high mark waiting. */
TEST(exec_drained_lets_the_sender_go_on)
{
    static char piece[64 << 10];
    size_t sent = 0, most = 0;
    int drains = 0;
    begin(serve_slow_reader);
    struct exec *e = start("cat");
    RUN_UNTIL(got.opens == 1);
    while (sent < MANY) {
        while (sent < MANY && exec_pending(e) < WS_HIGH) {
            exec_send(e, piece, sizeof piece);
            sent += sizeof piece;
        }
        most = MAX(most, exec_pending(e));
        drains = got.drains;
        if (sent < MANY)
            RUN_UNTIL(got.drains > drains);
    }
    CHECK(exec_close_stdin(e));
    RUN_UNTIL(got.exits == 1);
    CHECK(got.drains > 5);
    CHECK_MSG(most < WS_HIGH + 2 * sizeof piece, "%zu bytes waited", most);
    CHECK_INT(f.s->counter[0], MANY);
    finish();
}

/* --- port-forward ------------------------------------------------------------------- */

static void pod_json(struct fake_conn *c)
{
    char body[400];
    int restarts = c->s->counter[1];
    snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"p\",\"uid\":\"u1\"},\"status\":{"
             "\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":%d}]}}",
             restarts);
    fake_json(c, 200, body);
}

static void spdy_say(struct fake_conn *c, uint32_t stream, bool fin, const char *p, size_t n)
{
    struct str s;
    str_init(&s, n + 64);
    spdy_data(&s, stream, fin, p, n);
    size_t half = s.len / 2;                     /* a frame over two messages */
    fake_ws_frame(c, WS_BINARY, true, s.p, half, 0);
    fake_ws_frame(c, WS_PING, true, "x", 1, 0);
    fake_ws_frame(c, WS_BINARY, true, s.p + half, s.len - half, 0);
    str_release(&s);
}

/* Echoes until the client's half of the connection ends; then its own ends. Port 1
 * refuses; port 2 breaks off after its first bytes, and the pod was restarted. */
static void spdy_frame(struct fake_conn *c, struct spdy_zip *z, const struct spdy_frame *sf)
{
    static const char refused[] = "error forwarding port 1 to pod x: connect: connection refused";
    struct strv h;
    strv_init(&h);
    if (sf->type == SPDY_SYN_STREAM && spdy_headers(z, sf, &h) && sf->stream == 3 &&
        str_eq(spdy_header(&h, "port"), "1")) {
        spdy_say(c, 1, false, refused, sizeof refused - 1);
        spdy_say(c, 3, true, "", 0);
        spdy_say(c, 1, true, "", 0);
    } else if (sf->type == SPDY_DATA && sf->stream == 3 && strstr(c->path, "ports=2")) {
        c->s->counter[1] = 1;
        _exit(0);
    } else if (sf->type == SPDY_DATA && sf->stream == 3) {
        if (sf->n)
            spdy_say(c, 3, false, (const char *)sf->p, sf->n);
        if (sf->flags & SPDY_FIN) {
            spdy_say(c, 3, true, "", 0);
            spdy_say(c, 1, true, "", 0);
        }
    }
    strv_release(&h);
}

static void serve_tunnel(struct fake_conn *c)
{
    static char in[300 << 10];
    struct ws_frame fr;
    struct str s;
    char offer[200] = "";
    struct spdy_zip *z = spdy_zip_new();
    while (fake_request(c) && !strstr(c->path, "portforward"))
        pod_json(c);
    if (!strstr(c->path, "portforward"))
        return;
    fake_header(c, "Sec-WebSocket-Protocol", offer, sizeof offer);
    CHECK_STR(offer, "SPDY/3.1+portforward.k8s.io, v4.channel.k8s.io");
    fake_ws_accept(c, "SPDY/3.1+portforward.k8s.io");
    str_init(&s, 64 << 20);
    while (fake_ws_read(c, &fr, in, sizeof in)) {
        if (fr.opcode == WS_CLOSE)
            break;
        if (fr.opcode != WS_BINARY)
            continue;
        str_append(&s, in, fr.n);
        struct spdy_frame sf;
        long n;
        while ((n = spdy_parse((const unsigned char *)s.p, s.len, &sf)) > 0) {
            spdy_frame(c, z, &sf);
            str_consume(&s, (size_t)n);
        }
    }
}

static void on_changed(void *arg UNUSED)
{
    got.changed++;
}

static void on_said(void *arg UNUSED, bool lasting, const struct pd_err *what)
{
    got.said++;
    got.lasting |= lasting;
    got.err = *what;
}

static struct portforward *forward(int remote)
{
    struct portforward_spec spec = {.pod = "p", .remote = remote};
    struct portforward_handlers h = {on_changed, on_said, NULL};
    struct portforward *p = NULL;
    struct pd_err err;
    memset(&got, 0, sizeof got);
    CHECK_OK(portforward_start(k, &spec, &h, &p, &err));
    return p;
}

/* A local connection that sends n bytes, half-closes, and reads to the end. */
struct local {
    int fd;
    size_t sent, want, back;
    bool ended, wrong;
};

static struct local dial(int port, size_t want)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct local c = {.fd = socket(AF_INET, SOCK_STREAM, 0), .want = want};
    CHECK(connect(c.fd, (struct sockaddr *)&a, sizeof a) == 0);
    fcntl(c.fd, F_SETFL, O_NONBLOCK);
    return c;
}

static char byte_at(size_t i)
{
    return (char)(i * 31 + (i >> 12));
}

static bool step(struct local *c)
{
    char buf[32 << 10];
    size_t n = MIN(sizeof buf, c->want - c->sent);
    for (size_t i = 0; i < n; i++)
        buf[i] = byte_at(c->sent + i);
    ssize_t did = n ? send(c->fd, buf, n, MSG_NOSIGNAL) : 0;
    if (did > 0 && (c->sent += (size_t)did) == c->want)
        shutdown(c->fd, SHUT_WR);
    did = recv(c->fd, buf, sizeof buf, 0);
    c->ended |= did == 0 || (did < 0 && errno != EAGAIN);
    for (ssize_t i = 0; i < did; i++)
        c->wrong |= buf[i] != byte_at(c->back + (size_t)i);
    c->back += did > 0 ? (size_t)did : 0;
    return c->ended;
}

static void run_all(struct local *c, size_t n)
{
    size_t ended = 0;
    int64_t end = clock_us() + 30000000;
    while (ended < n && clock_us() < end) {
        ended = 0;
        for (size_t i = 0; i < n; i++)
            ended += c[i].ended || step(&c[i]);
        loop_turn(l, 1);
    }
    CHECK_INT(ended, n);
    for (size_t i = 0; i < n; i++)
        close(c[i].fd);
}

TEST(portforward_carries_several_connections_with_half_closes)
{
    struct portforward_stats st;
    char where[64];
    begin(serve_tunnel);
    struct portforward *p = forward(8080);
    struct local c[4];
    CHECK_HAS(portforward_place(p, 0, where), "127.0.0.1:");
    for (int i = 0; i < 4; i++)
        c[i] = dial(portforward_port(p), i == 0 ? 5 : 1 << 20);
    run_all(c, 4);
    for (int i = 0; i < 4; i++)
        CHECK(c[i].back == c[i].want && !c[i].wrong);
    RUN_UNTIL(got.changed > 0 && (portforward_stats(p, &st), st.open == 0));
    CHECK(st.tunnel && st.total == 4 && st.failed == 0);
    CHECK_INT(st.sent, 5 + 3 * (1 << 20));
    CHECK_INT(st.received, st.sent);
    CHECK_INT(got.said, 0);
    portforward_stop(p);
    finish();
}

TEST(portforward_tells_a_refused_port_and_goes_on)
{
    struct portforward_stats st;
    begin(serve_tunnel);
    struct portforward *p = forward(1);
    for (int i = 1; i <= 2; i++) {
        struct local c = dial(portforward_port(p), 10);
        run_all(&c, 1);
        CHECK_INT(c.back, 0);
        RUN_UNTIL(got.said == i);
    }
    CHECK_HAS(got.err.msg, "port 1 of pod p: connection refused");
    CHECK_HAS(got.err.hint, "listens");
    CHECK(!got.lasting);
    portforward_stats(p, &st);
    CHECK_INT(st.failed, 2);
    portforward_stop(p);
    finish();
}

TEST(portforward_survives_a_restart_with_a_sentence)
{
    begin(serve_tunnel);
    struct portforward *p = forward(2);
    RUN_UNTIL(f.s->requests >= 1);
    struct local c = dial(portforward_port(p), 10);
    run_all(&c, 1);
    RUN_UNTIL(got.lasting);
    CHECK_HAS(got.err.msg, "started again (restart 1)");
    c = dial(portforward_port(p), 10);           /* it still listens */
    run_all(&c, 1);
    portforward_stop(p);
    finish();
}

/* Channels of v4: the first message of each is its port; the server's Close is
 * the end. */
static void serve_channels(struct fake_conn *c)
{
    static char in[70000];
    struct ws_frame fr;
    while (fake_request(c) && !strstr(c->path, "portforward"))
        pod_json(c);
    if (!strstr(c->path, "portforward"))
        return;
    CHECK(strstr(c->path, "?ports=9"));
    fake_ws_accept(c, "v4.channel.k8s.io");
    fake_ws_frame(c, WS_BINARY, true, "\0\x09\0", 3, 0);
    fake_ws_frame(c, WS_BINARY, true, "\1\x09\0", 3, 0);
    while (fake_ws_read(c, &fr, in, sizeof in)) {
        if (fr.opcode != WS_BINARY || in[0] != 0)
            continue;
        fake_ws_frame(c, WS_BINARY, false, "\0", 1, 0);      /* a fragment at a time */
        fake_ws_frame(c, WS_CONT, true, in + 1, fr.n - 1, 1000);
        if (strstr(in + 1, "bye")) {
            fake_ws_close(c, 1000);
            return;
        }
    }
}

/* What comes next, 0 at the end. */
static ssize_t hear(int fd, char *buf, size_t size)
{
    ssize_t n = -1;
    RUN_UNTIL(n >= 0 || (n = recv(fd, buf, size, 0)) >= 0);
    return n;
}

TEST(portforward_over_channels_where_there_is_no_tunnel)
{
    struct portforward_stats st;
    char buf[64];
    begin(serve_channels);
    struct portforward *p = forward(9);
    struct local c = dial(portforward_port(p), 0);
    CHECK_INT(send(c.fd, "hello", 5, 0), 5);
    CHECK(hear(c.fd, buf, sizeof buf) == 5 && memcmp(buf, "hello", 5) == 0);
    CHECK_INT(send(c.fd, "bye", 3, 0), 3);
    CHECK_INT(hear(c.fd, buf, sizeof buf), 3);
    CHECK_INT(hear(c.fd, buf, sizeof buf), 0);
    portforward_stats(p, &st);
    CHECK(!st.tunnel && st.failed == 0 && st.received == 8);
    close(c.fd);
    portforward_stop(p);
    finish();
}

TEST(portforward_listens_on_both_loopbacks_or_says_why_not)
{
    struct portforward_spec spec = {.pod = "p", .remote = 80};
    struct portforward_handlers h = {0};
    struct portforward *second = NULL;
    struct pd_err err;
    char where[64];
    begin(serve_tunnel);
    struct portforward *p = forward(80);
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT,
                             .sin6_port = htons((uint16_t)portforward_port(p))};
    if (portforward_place(p, 1, where)) {
        int fd = socket(AF_INET6, SOCK_STREAM, 0);
        CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
        close(fd);
    }
    spec.local = portforward_port(p);
    CHECK_INT(portforward_start(k, &spec, &h, &second, &err), PD_IO);
    CHECK_HAS(err.hint, "another program has it");
    portforward_stop(p);
    spec.address = "no.address";
    CHECK_INT(portforward_start(k, &spec, &h, &second, &err), PD_IO);
    CHECK_HAS(err.hint, "one of this machine");
    finish();
}

TEST(portforward_reads_ports_as_kubectl_does)
{
    static const struct { const char *text; int local, remote; } table[] = {
        {"80", 80, 80}, {"8080:80", 8080, 80}, {":80", 0, 80}, {"0:80", 0, 80},
        {"65535:1", 65535, 1}, {"", -1, 0}, {"0", -1, 0}, {"80:", -1, 0}, {"80:0", -1, 0},
        {"65536", -1, 0}, {"-1", -1, 0}, {"8 0", -1, 0}, {"+80", -1, 0}, {"a:80", -1, 0},
        {"80:80:80", -1, 0}, {"000000000080", -1, 0}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct pd_err err;
        int local = -1, remote = -1;
        enum pd_code rc = portforward_parse(table[i].text, &local, &remote, &err);
        CHECK_MSG((rc == PD_OK) == (table[i].local >= 0), "%s", table[i].text);
        if (rc == PD_OK)
            CHECK(local == table[i].local && remote == table[i].remote);
    }
}

/* --- copying ------------------------------------------------------------------------- */

static struct str lines;

static void on_sum(void *arg UNUSED, const char *path, const char *value)
{
    str_printf(&lines, "%s=%.6s|", path, value);
}

TEST(sums_are_read_as_the_tools_write_them)
{
    static const char text[] =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /a b\n"
        "\\e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  /x\\\\y\\nz\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 *bin\n"
        "  1234 /size\n99 total\nsha256sum: /x: Permission denied\n12\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  cut";
    str_init(&lines, 4096);
    sums_read(text, sizeof text - 1, on_sum, NULL);
    CHECK_STR(lines.p, "/a b=e3b0c4|/x\\y\nz=e3b0c4|bin=e3b0c4|/size=1234|total=99|");
    str_release(&lines);
}

static int files;
static struct str left;

static void on_file(void *arg UNUSED, const char *path UNUSED, int64_t size UNUSED,
                    const char *sha256 UNUSED)
{
    files++;
}

static void on_left(void *arg UNUSED, const char *text)
{
    str_printf(&left, "%s|", text);
}

static void put(const char *dir, const char *name, const char *text, size_t n)
{
    struct pd_err err;
    char *path = path_join(dir, name), *slash = strrchr(path, '/');
    *slash = '\0';
    CHECK_OK(path_mkdirs(path, 0755, &err));
    *slash = '/';
    CHECK_OK(path_write_atomic(path, 0644, text, n, &err));
    free(path);
}

static void link_at(const char *dir, const char *name, const char *target)
{
    char *path = path_join(dir, name);
    CHECK(symlink(target, path) == 0);
    free(path);
}

/* A tree out as tar and in again: the same, but for what leaves it. */
TEST(tar_stream_round_trip_with_links_and_long_names)
{
    static char big[200000];
    char name[300], *from = path_join(t_dir(), "from"), *to = path_join(t_dir(), "to");
    struct tarwrite t;
    struct pd_err err;
    const char *p;
    size_t n;
    memset(name, 'n', 140);
    str_fmt(name + 140, sizeof name - 140, "/微调");
    memset(big, 'b', sizeof big);
    put(from, "sub/big", big, sizeof big);
    put(from, name, "long", 4);
    put(from, "empty", "", 0);
    link_at(from, "sub/inside", "../empty");
    link_at(from, "out", "/etc/passwd");
    link_at(from, "sub/up", "../../x");
    CHECK_OK(tarwrite_plan(&t, from, "base", &err));
    CHECK_INT(t.left_out.n, 2);
    int64_t total = tarwrite_begin(&t, 0), sum = 0;
    struct untar *u = untar_new(to, on_file, NULL);
    untar_map(u, "base", "file", "new/name");
    untar_lenient(u, on_left);
    str_init(&left, 4096);
    do {
        CHECK_OK(tarwrite_next(&t, &p, &n, &err));
        CHECK_OK(untar_feed(u, p, n, &err));
        sum += (int64_t)n;
    } while (n > 0);
    CHECK_OK(untar_end(u, &err));
    CHECK_INT(sum, total);
    CHECK_INT(files, 3);
    CHECK_STR(left.p, "");
    struct str text;
    str_init(&text, 1 << 20);
    char *path = xasprintf("%s/new/name/sub/big", to), *at = xasprintf("%s/new/name/%s", to, name);
    CHECK_OK(path_read(path, 1 << 20, &text, &err));
    CHECK(text.len == sizeof big && !memcmp(text.p, big, sizeof big));
    CHECK(access(at, R_OK) == 0);
    free(path);
    path = xasprintf("%s/new/name/sub/inside", to);
    char target[64] = "";
    CHECK(readlink(path, target, sizeof target - 1) > 0);
    CHECK_STR(target, "../empty");
    free(path), free(at), free(from), free(to);
    str_release(&text);
    str_release(&left);
    untar_free(u);
    tarwrite_release(&t);
}

TEST(links_of_an_archive_stay_inside)
{
    static const struct { const char *path, *target; bool stays; } table[] = {
        {"f/a", "b", true}, {"f/a", "./b/../c", true}, {"f/s/a", "../b", true},
        {"f/s/a", "../../b", false}, {"f/a", "..", false}, {"f/a", "/b", false},
        {"f/a", "", false}, {"f/a", "x/../../b", false}, {"f/s/a", "x/../../../b", false},
        {"f/a", "...", true}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        CHECK_MSG(tarwrite_link_stays(table[i].path, table[i].target) == table[i].stays, "%s -> %s",
                  table[i].path, table[i].target);
}

T_MAIN
