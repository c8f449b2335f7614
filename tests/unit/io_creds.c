/* io_creds.c - credentials that come later or change, for HTTP and WebSocket
 * alike, and through which proxy a URL is asked for. */
#include "tests/api/client_fakews.h"

#include "core/io/proxy.h"
#include "tests/unit/run_until.h"

/* --- proxies --- */

struct proxy_case {
    const char *url, *fixed, *https, *http, *no, *want;
};

static const struct proxy_case proxies[] = {
    {"https://h.example:6443", NULL, NULL, NULL, NULL, NULL},
    {"https://h.example:6443", NULL, "http://p:1", "http://q:2", NULL, "http://p:1"},
    {"http://h.example", NULL, "http://p:1", "http://q:2", NULL, "http://q:2"},
    {"https://h.example", NULL, "p:1", NULL, NULL, "http://p:1"},
    {"https://h.example", NULL, "socks5://p:1", NULL, NULL, "socks5h://p:1"},
    {"https://127.0.0.1:6443", NULL, "http://p:1", NULL, NULL, NULL},
    {"https://localhost", NULL, "http://p:1", NULL, NULL, NULL},
    {"https://127.0.0.1:6443", "http://p:1", NULL, NULL, "*", "http://p:1"},
    {"https://h.example", "socks5://p:1", NULL, NULL, "h.example", "socks5h://p:1"},
    {"https://h.example", NULL, "http://p:1", NULL, "*", NULL},
    {"https://h.example", NULL, "http://p:1", NULL, "x, h.Example ", NULL},
    {"https://a.h.example", NULL, "http://p:1", NULL, "h.example", NULL},
    {"https://a.h.example", NULL, "http://p:1", NULL, ".h.example", NULL},
    {"https://h.example", NULL, "http://p:1", NULL, ".h.example", "http://p:1"},
    {"https://a.h.example", NULL, "http://p:1", NULL, "*.h.example", NULL},
    {"https://xh.example", NULL, "http://p:1", NULL, "h.example", "http://p:1"},
    {"https://h.example:6443", NULL, "http://p:1", NULL, "h.example:6443", NULL},
    {"https://h.example:6443", NULL, "http://p:1", NULL, "h.example:443", "http://p:1"},
    {"https://10.1.2.3:6443", NULL, "http://p:1", NULL, "10.0.0.0/8", NULL},
    {"https://11.1.2.3:6443", NULL, "http://p:1", NULL, "10.0.0.0/8", "http://p:1"},
    {"https://10.1.2.3:6443", NULL, "http://p:1", NULL, "10.1.2.3", NULL},
    {"https://10.1.2.3:6443", NULL, "http://p:1", NULL, "10.1.2.3:443", "http://p:1"},
    {"https://[fd00::1]:6443", NULL, "http://p:1", NULL, "fd00::/16", NULL},
    {"https://[fd00::1]:6443", NULL, "http://p:1", NULL, "[fd00::1]:6443", NULL},
    {"https://10.example", NULL, "http://p:1", NULL, "10.0.0.0/8", "http://p:1"},
    {"https://user:pw@h.example/x", NULL, "http://p:1", NULL, "h.example", NULL},
};

static void set_or_not(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

TEST(proxy_is_the_one_kubectl_takes)
{
    for (size_t i = 0; i < ARRAY_LEN(proxies); i++) {
        const struct proxy_case *c = &proxies[i];
        struct proxy p;
        set_or_not("HTTPS_PROXY", i % 2 ? c->https : NULL);
        set_or_not("https_proxy", i % 2 ? NULL : c->https);
        set_or_not("HTTP_PROXY", c->http);
        set_or_not("NO_PROXY", c->no);
        setenv("all_proxy", "http://nobody:9", 1);
        proxy_for(c->url, c->fixed, &p);
        if (!str_eq(p.url, c->want))
            t_fail(__FILE__, __LINE__, "case %zu %s no=%s: %s, want %s", i, c->url,
                   c->no ? c->no : "", p.url ? p.url : "none", c->want ? c->want : "none");
        CHECK(!c->https || c->fixed || !str_starts(c->url, "https") || p.variable);
        proxy_release(&p);
    }
}

TEST(proxy_url_has_one_of_three_schemes)
{
    char buf[32];
    CHECK(!proxy_bad_scheme("http://p", buf) && !proxy_bad_scheme("socks5://p:1", buf));
    CHECK_STR(proxy_bad_scheme("ftp://p", buf), "ftp");
    CHECK_STR(proxy_bad_scheme("p:8080", buf), "");
}

/* --- credentials --- */

static struct loop *l;
static struct fake f;
static struct http_target *t;
static struct {
    bool ready, renews;
    int refused, dones, status, opens, closes, heads;
    uint32_t serial;
    char body[200];
    struct pd_err err;
} got;

static bool is_ready(void *arg UNUSED)
{
    return got.ready;
}

static bool refused(void *arg UNUSED, uint32_t serial)
{
    got.refused++;
    got.serial = serial;
    got.ready = false;
    return got.renews;
}

static void done(void *arg UNUSED, const struct http_response *r)
{
    got.dones++;
    got.status = r->status;
    str_copy(got.body, sizeof got.body, r->body);
    if (r->err)
        got.err = *r->err;
}

static void head(void *arg UNUSED, const struct http_response *r UNUSED)
{
    got.heads++;
}

static void opened(void *arg UNUSED, const char *protocol UNUSED)
{
    got.opens++;
}

static void said(void *arg UNUSED, bool binary UNUSED, const char *p, size_t n)
{
    str_fmt(got.body, sizeof got.body, "%.*s", (int)n, p);
}

static void closed(void *arg UNUSED, int code UNUSED, int status, const char *body UNUSED,
                   const struct pd_err *err)
{
    got.closes++;
    got.status = status;
    if (err)
        got.err = *err;
}

/* 401 to all but "new"; an upgrade answers with what the client says first. */
static void serve(struct fake_conn *c)
{
    while (fake_request(c)) {
        char value[64] = "", text[64];
        struct ws_frame frame;
        fake_header(c, "Authorization", value, sizeof value);
        if (strcmp(value, "Bearer new") != 0) {
            fake_reply(c, 401, "text/plain", "", "no");
        } else if (fake_header(c, "Upgrade", value, sizeof value)) {
            fake_ws_accept(c, NULL);
            if (fake_ws_read(c, &frame, text, sizeof text))
                fake_ws_frame(c, WS_TEXT, true, text, strlen(text), 0);
            fake_ws_close(c, 1000);
        } else {
            fake_reply(c, 200, "text/plain", "", c->body_len ? c->body : "yes");
        }
    }
}

static void begin(bool ready, bool renews)
{
    char base[64];
    f = fake_start(serve);
    l = loop_new();
    t = http_target_new(fake_base(&f, base));
    got.ready = ready;
    got.renews = renews;
    t->creds = (struct http_creds){is_ready, refused, NULL};
    t->serial = 7;
}

static void give(const char *token)
{
    free(t->bearer);
    t->bearer = xstrdup(token);
    t->serial++;
    got.ready = true;
    http_target_wake(t, NULL);
}

static void end(void)
{
    CHECK_INT(t->refs, 1);
    http_target_unref(t);
    loop_free(l);
}

static struct http *request(const char *method, const char *body)
{
    char path[] = "/x";                          /* gone when it is sent */
    struct http_request q = {.method = method, .path = path, .body = body,
                             .body_len = body ? strlen(body) : 0, .done = done, .head = head};
    return http_start(l, t, &q);
}

TEST(creds_requests_wait_and_go_in_order)
{
    begin(false, false);
    request("GET", NULL);
    struct http *second = request("GET", NULL);
    request("POST", "late body");
    loop_turn(l, 10);
    CHECK_INT(f.s->connections, 0);
    http_cancel(second);
    give("new");
    RUN_UNTIL(got.dones == 2);
    CHECK_INT(f.s->requests, 2);
    CHECK_INT(got.status, 200);
    CHECK_INT(got.refused, 0);
    end();
}

TEST(creds_failure_ends_all_that_waits)
{
    struct pd_err err;
    struct ws_handlers h = {.open = opened, .message = said, .closed = closed};
    begin(false, false);
    request("GET", NULL);
    ws_open(l, t, "/ws", NULL, &h);
    pd_fail(&err, PD_AUTH, "the plugin failed");
    http_target_wake(t, &err);
    CHECK_INT(got.dones, 1);
    CHECK_INT(got.closes, 1);
    CHECK_STR(got.err.msg, "the plugin failed");
    CHECK_INT(f.s->connections, 0);
    end();
}

TEST(creds_one_retry_after_401)
{
    begin(true, true);
    request("POST", "the body");
    RUN_UNTIL(got.refused == 1);
    CHECK_INT(got.serial, 7);
    CHECK_INT(got.dones, 0);
    give("new");
    RUN_UNTIL(got.dones == 1);
    CHECK_INT(got.status, 200);
    CHECK_INT(got.heads, 1);                     /* nobody saw the 401 */
    CHECK_STR(got.body, "the body");
    CHECK_INT(f.s->requests, 2);
    end();
}

TEST(creds_second_401_is_the_answer)
{
    begin(true, true);
    request("GET", NULL);
    RUN_UNTIL(got.refused == 1);
    give("still wrong");
    RUN_UNTIL(got.dones == 1);
    CHECK_INT(got.status, 401);
    CHECK_STR(got.body, "no");
    CHECK_INT(f.s->requests, 2);
    end();
}

TEST(creds_that_can_not_change_give_the_401_at_once)
{
    begin(true, false);
    request("GET", NULL);
    RUN_UNTIL(got.dones == 1);
    CHECK_INT(got.status, 401);
    CHECK_INT(f.s->requests, 1);
    end();
}

TEST(creds_websocket_waits_renews_and_loses_no_frame)
{
    struct ws_handlers h = {.open = opened, .message = said, .closed = closed};
    begin(false, true);
    struct ws *w = ws_open(l, t, "/ws", NULL, &h);
    ws_send(w, false, "first words", 11);
    loop_turn(l, 10);
    CHECK_INT(f.s->connections, 0);
    give("old");
    RUN_UNTIL(got.refused == 1);
    CHECK_INT(got.closes, 0);
    give("new");
    RUN_UNTIL(got.closes == 1);
    CHECK_INT(got.opens, 1);
    CHECK_STR(got.body, "first words");
    end();
}

T_MAIN
