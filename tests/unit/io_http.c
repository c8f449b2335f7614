/* io_http.c - HTTP against a scripted server: split points, cancel everywhere,
 * ceilings, uploads, errors, reuse, tls-server-name, the dialer. */
#include "tests/api/client_fake.h"

#include <fcntl.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/io/http.h"

static struct {
    int heads, datas, dones, status;
    struct str body;
    struct pd_err err;
    char type[128], warning[512];
    int retry_after;
    size_t len;
    int64_t sent, received;
    struct http *cancel;              /* to be cancelled in data */
    bool cancel_head;
} got;

static struct loop *l;
static struct fake f;
static struct http_target *t;

static void on_head(void *arg UNUSED, const struct http_response *r)
{
    got.heads++;
    got.status = r->status;
    if (got.cancel_head) {
        http_cancel(got.cancel);
        got.cancel = NULL;
    }
}

static void on_data(void *arg UNUSED, const char *p, size_t n)
{
    got.datas++;
    str_append(&got.body, p, n);
    if (got.cancel) {
        http_cancel(got.cancel);
        got.cancel = NULL;
    }
}

static void on_done(void *arg UNUSED, const struct http_response *r)
{
    got.dones++;
    got.status = r->status;
    got.retry_after = r->retry_after;
    got.len = r->body_len;
    str_copy(got.type, sizeof got.type, r->content_type);
    str_copy(got.warning, sizeof got.warning, r->warning);
    if (r->err)
        got.err = *r->err;
    if (r->body_len)
        str_append(&got.body, r->body, r->body_len);
}

static void on_progress(void *arg UNUSED, int64_t sent, int64_t received)
{
    got.sent = sent;
    got.received = received;
}

static void begin(fake_fn *fn)
{
    char base[64];
    f = fake_start(fn);
    l = loop_new();
    t = http_target_new(fake_base(&f, base));
    str_init(&got.body, 64 << 20);
}

static void wait_done(int n)
{
    int64_t end = clock_us() + 20000000;
    while (got.dones < n && clock_us() < end)
        loop_turn(l, 100);
    CHECK_INT(got.dones, n);
}

static void finish(void)
{
    CHECK_INT(t->refs, 1);                       /* every request gave its part back */
    http_target_unref(t);
    loop_free(l);
    str_release(&got.body);
}

static void serve_hello(struct fake_conn *c)
{
    while (fake_request(c))
        fake_reply(c, 200, "application/json",
                   "Warning: 299 - \"one\"\r\nWarning: 299 - \"two\"\r\nRetry-After: "
                   "7\r\n", "{\"a\":1}");
}

TEST(http_collects_a_body_and_headers)
{
    begin(serve_hello);
    t->bearer = xstrdup("secret-token");
    strv_push(&t->headers, "Impersonate-User: jane");
    struct http_request q = {.method = "GET", .path = "/api", .done = on_done};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(got.status, 200);
    CHECK_STR(got.body.p, "{\"a\":1}");
    CHECK_STR(got.type, "application/json");
    CHECK_STR(got.warning, "299 - \"one\"\n299 - \"two\"");
    CHECK_INT(got.retry_after, 7);
    CHECK_HAS(f.s->head, "GET /api HTTP/1.1\r\n");
    CHECK_HAS(f.s->head, "\r\nAuthorization: Bearer secret-token\r\n");
    CHECK_HAS(f.s->head, "\r\nImpersonate-User: jane\r\n");
    CHECK_HAS(f.s->head, "\r\nAccept: application/json\r\n");
    CHECK_HAS(f.s->head, "\r\nUser-Agent: podium/");
    CHECK(!strstr(f.s->head, "Content-Type"));
    finish();
}

TEST(http_reuses_a_connection)
{
    begin(serve_hello);
    struct http_request q = {.method = "GET", .path = "/a", .done = on_done};
    for (int i = 0; i < 20; i++) {
        http_start(l, t, &q);
        wait_done(i + 1);
    }
    CHECK_INT(f.s->requests, 20);
    CHECK_INT(f.s->connections, 1);
    finish();
}

TEST(http_sends_no_token_to_another_origin)
{
    char url[128];
    struct fake other = fake_start(serve_hello);
    begin(serve_hello);
    t->bearer = xstrdup("secret-token");
    str_fmt(url, sizeof url, "http://127.0.0.1:%d/blob", other.port);
    struct http_request q = {.method = "GET", .path = url, .done = on_done};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(other.s->requests, 1);
    CHECK(!strstr(other.s->head, "secret-token"));
    str_fmt(url, sizeof url, "http://127.0.0.1:%d/mine", f.port);
    http_start(l, t, &q);
    wait_done(2);
    CHECK_HAS(f.s->head, "secret-token");
    finish();
}

static void serve_every_split(struct fake_conn *c)
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";
    while (fake_request(c)) {
        size_t at = (size_t)atoi(c->path + 1);
        fake_put(c, reply, at);
        fake_sleep(2);
        fake_say(c, reply + at);
    }
}

TEST(http_streams_whatever_the_split)
{
    begin(serve_every_split);
    for (int i = 1; i < 70; i++) {
        char path[16];
        str_fmt(path, sizeof path, "/%d", i);
        str_clear(&got.body);
        got.heads = 0;
        struct http_request q = {.method = "GET", .path = path, .head = on_head, .data = on_data,
                                 .done = on_done};
        http_start(l, t, &q);
        wait_done(i);
        CHECK_STR(got.body.p, "hello world");
        CHECK_INT(got.heads, 1);
        CHECK_INT((long long)got.len, 0);
    }
    finish();
}

static void serve_error(struct fake_conn *c)
{
    while (fake_request(c))
        fake_reply(c, 429, "text/plain", "Retry-After: 1\r\n", "Too many requests");
}

TEST(http_collects_an_error_when_asked_not_to_stream_it)
{
    begin(serve_error);
    struct http_request q = {.method = "GET", .path = "/", .data = on_data, .done = on_done,
                             .no_body_on_error = true};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(got.datas, 0);
    CHECK_INT(got.status, 429);
    CHECK_INT(got.retry_after, 1);
    CHECK_STR(got.body.p, "Too many requests");
    finish();
}

static void serve_big(struct fake_conn *c)
{
    static char big[1 << 20];
    while (fake_request(c)) {
        char head[128];
        memset(big, 'x', sizeof big);
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 20 << 20);
        fake_say(c, head);
        for (int i = 0; i < 20 && fake_put(c, big, sizeof big); i++)
            ;
    }
}

TEST(http_ceiling_is_an_error_not_a_cut_body)
{
    begin(serve_big);
    struct http_request q = {.method = "GET", .path = "/", .ceiling = 1000000, .done = on_done};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(got.err.code, PD_LIMIT);
    CHECK_HAS(got.err.msg, "1000000");
    finish();
}

TEST(http_streams_20_mib_whole)
{
    begin(serve_big);
    struct http_request q = {.method = "GET", .path = "/", .data = on_data, .done = on_done,
                             .progress = on_progress};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(got.err.code, PD_OK);
    CHECK_INT((long long)got.body.len, 20 << 20);
    CHECK_INT(got.received, 20 << 20);
    finish();
}

static void serve_endless(struct fake_conn *c)
{
    while (fake_request(c)) {
        fake_chunked(c, "text/plain");
        while (fake_chunk(c, "tick\n"))
            fake_sleep(1);
    }
}

TEST(http_cancel_from_inside_its_own_data)
{
    begin(serve_endless);
    struct http_request q = {.method = "GET", .path = "/", .data = on_data, .done = on_done};
    got.cancel = http_start(l, t, &q);
    for (int i = 0; i < 100 && got.datas == 0; i++)
        loop_turn(l, 50);
    for (int i = 0; i < 5; i++)
        loop_turn(l, 5);
    CHECK_INT(got.datas, 1);
    CHECK_INT(got.dones, 0);
    finish();
}

TEST(http_cancel_from_inside_head_and_of_another_request)
{
    begin(serve_endless);
    struct http_request q = {.method = "GET", .path = "/", .head = on_head, .data = on_data,
                             .done = on_done};
    struct http *b = http_start(l, t, &q);
    http_start(l, t, &q);                        /* dropped by loop_free */
    got.cancel = b;
    got.cancel_head = true;
    for (int i = 0; i < 100 && (got.datas == 0 || got.heads < 1); i++)
        loop_turn(l, 50);
    CHECK(got.heads >= 1);
    CHECK_INT(got.dones, 0);
    CHECK_INT(t->refs, 2);
    loop_free(l);
    l = loop_new();
    finish();
}

/* Cancel after every number of turns: no leak, no call (ASan is the judge). */
TEST(http_cancel_at_any_moment)
{
    begin(serve_endless);
    for (int turns = 0; turns < 30; turns++) {
        struct http_request q = {.method = "POST", .path = "/", .body = "abc", .body_len = 3,
                                 .data = on_data, .done = on_done};
        struct http *h = http_start(l, t, &q);
        for (int i = 0; i < turns; i++)
            loop_turn(l, 1);
        http_cancel(h);
        int seen = got.datas;
        loop_turn(l, 1);
        CHECK_INT(got.datas, seen);
    }
    CHECK_INT(got.dones, 0);
    finish();
}

static void serve_echo(struct fake_conn *c)
{
    while (fake_request(c)) {
        char text[64];
        snprintf(text, sizeof text, "%s %zu", c->method, c->body_len);
        fake_reply(c, 200, "text/plain", "", text);
    }
}

TEST(http_uploads_from_memory_and_from_a_file)
{
    char path[300];
    begin(serve_echo);
    str_fmt(path, sizeof path, "%s/upload", t_dir());
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100000; i++)
        fprintf(file, "%09d\n", i);
    fclose(file);
    struct http_request q = {.method = "PATCH", .path = "/a", .content_type = "application/json",
                             .body = "{}", .body_len = 2, .done = on_done};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_STR(got.body.p, "PATCH 2");
    CHECK_HAS(f.s->head, "Content-Type: application/json\r\n");
    str_clear(&got.body);
    struct http_request up = {.method = "PUT", .path = "/b", .body_fd = open(path, O_RDONLY),
                              .body_fd_size = 1000000, .progress = on_progress, .done = on_done};
    http_start(l, t, &up);
    wait_done(2);
    CHECK_STR(got.body.p, "PUT 1000000");
    CHECK_INT(got.sent, 1000000);
    CHECK(memcmp(f.s->body + 999990, "000099999\n", 10) == 0);
    str_clear(&got.body);
    struct http_request none = {.method = "POST", .path = "/c", .done = on_done};
    http_start(l, t, &none);
    wait_done(3);
    CHECK_STR(got.body.p, "POST 0");
    str_clear(&got.body);
    struct http_request del = {.method = "DELETE", .path = "/d", .body = "{}", .body_len = 2,
                               .content_type = "application/json", .done = on_done};
    http_start(l, t, &del);
    wait_done(4);
    CHECK_STR(got.body.p, "DELETE 2");
    finish();
}

static void serve_nothing(struct fake_conn *c)
{
    if (fake_request(c)) {
        if (!strcmp(c->path, "/slow"))
            fake_sleep(3000);
        else if (!strcmp(c->path, "/cut"))
            fake_say(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    }
}

TEST(http_failures_have_a_code_a_place_and_a_hint)
{
    static const struct {
        const char *path;
        enum pd_code code;
    } cases[] = {{"/slow", PD_TIMEOUT}, {"/cut", PD_NET}, {"/empty", PD_NET}};
    begin(serve_nothing);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_request q = {.method = "GET", .path = cases[i].path, .timeout_ms = 200,
                                 .done = on_done};
        http_start(l, t, &q);
        wait_done((int)i + 1);
        CHECK_INT(got.err.code, cases[i].code);
        CHECK_HAS(got.err.src, cases[i].path);
        CHECK(got.err.hint[0] != '\0');
    }
    struct http_target *closed = http_target_new("http://127.0.0.1:1");
    struct http_request q = {.method = "GET", .path = "/", .done = on_done};
    http_start(l, closed, &q);
    wait_done(4);
    CHECK_INT(got.err.code, PD_NET);
    CHECK_HAS(got.err.msg, "127.0.0.1 port 1");
    CHECK_INT(got.status, 0);
    http_target_unref(closed);
    finish();
}

static int dialed_port;
static char dialed_host[64];

static int dial(void *arg, const char *host, int port, struct pd_err *err)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)f.port)};
    str_copy(dialed_host, sizeof dialed_host, host);
    dialed_port = port;
    if (arg) {
        pd_fail(err, PD_AUTH, "the bastion refuses");
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(fd, (struct sockaddr *)&a, sizeof a) == 0);
    return fd;
}

TEST(http_takes_its_socket_from_the_dialer)
{
    begin(serve_hello);
    struct http_target *far = http_target_new("http://only-behind-the-bastion.invalid:6443/prefix/");
    far->dial = dial;
    struct http_request q = {.method = "GET", .path = "/api", .done = on_done};
    http_start(l, far, &q);
    wait_done(1);
    CHECK_STR(got.err.msg, "");
    CHECK_INT(got.status, 200);
    CHECK_STR(dialed_host, "only-behind-the-bastion.invalid");
    CHECK_INT(dialed_port, 6443);
    CHECK_HAS(f.s->head, "GET /prefix/api HTTP/1.1\r\nHost: only-behind-the-bastion.invalid:"
                         "6443\r\n");
    http_target_unref(far);
    far = http_target_new("http://other.invalid");
    far->dial = dial;
    far->dial_arg = far;
    http_start(l, far, &q);
    wait_done(2);
    CHECK_INT(got.err.code, PD_AUTH);
    CHECK_HAS(got.err.msg, "the bastion refuses");
    http_target_unref(far);
    finish();
}

TEST(http_ignores_proxy_variables_on_loopback)
{
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    begin(serve_hello);
    struct http_request q = {.method = "GET", .path = "/", .done = on_done};
    http_start(l, t, &q);
    wait_done(1);
    CHECK_INT(got.status, 200);
    http_target_unref(t);
    t = http_target_new("http://far.example");
    char proxy[64];
    t->proxy = xstrdup(fake_base(&f, proxy));
    http_start(l, t, &q);
    wait_done(2);
    CHECK_HAS(f.s->head, "GET http://far.example/ HTTP/1.1");
    finish();
}

TEST(http_run_blocks_and_keeps_its_connection)
{
    struct pd_err err;
    struct http_response r;
    struct str out;
    begin(serve_hello);
    str_init(&out, 1 << 20);
    struct http_request q = {.method = "GET", .path = "/x"};
    CHECK_OK(http_run(t, &q, &r, &out, &err));
    CHECK_OK(http_run(t, &q, &r, &out, &err));
    CHECK_STR(r.body, "{\"a\":1}");
    CHECK_INT(f.s->connections, 1);
    struct http_target *closed = http_target_new("http://127.0.0.1:1");
    CHECK_INT(http_run(closed, &q, &r, &out, &err), PD_NET);
    http_target_unref(closed);
    str_release(&out);
    finish();
}

T_MAIN
