/* k8s_podlog.c - a log followed over broken connections: no line lost, none
 * twice, gaps told, the end found. */
#include "tests/api/client_fake.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/podlog.h"
#include "tests/unit/run_until.h"

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct podlog *p;
static struct {
    int lines, states[4];
    struct str text;
    int64_t ts;
    struct pd_err err;
    bool stop_in_line, ended;
} got;

static void on_line(void *arg UNUSED, int64_t ts_ns, const char *text, size_t n, bool cut UNUSED)
{
    got.lines++;
    got.ts = ts_ns;
    str_append(&got.text, text, n);
    str_addc(&got.text, '|');
    if (got.stop_in_line) {
        podlog_stop(p);
        p = NULL;
        got.stop_in_line = false;
    }
}

static void on_state(void *arg UNUSED, enum podlog_state s, const struct pd_err *err)
{
    got.states[s]++;
    got.ended |= s == PODLOG_ENDED;
    if (err)
        got.err = *err;
}

static void begin(fake_fn *fn, bool follow)
{
    char base[64];
    struct kube_context x;
    struct podlog_handlers h = {on_line, on_state, NULL};
    struct podlog_spec spec = {.pod = "p", .container = "c", .follow = follow, .tail = -1};
    f = fake_start(fn);
    l = loop_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("lab");
    k = k8s_open(l, &x, 1, NULL);
    kube_context_release(&x);
    str_init(&got.text, 1 << 20);
    p = podlog_start(k, &spec, &h);
}

static void finish(void)
{
    k8s_close(k);
    loop_free(l);
    str_release(&got.text);
}

static bool has(const struct fake_conn *c, const char *part)
{
    return strstr(c->path, part) != NULL;
}

static void pod(struct fake_conn *c, const char *phase, const char *state)
{
    char body[600];
    snprintf(body, sizeof body, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},"
             "\"spec\":{\"restartPolicy\":\"Never\"},\"status\":{\"phase\":\"%s\","
             "\"containerStatuses\":[{\"name\":\"c\",\"state\":%s}]}}", phase, state);
    fake_json(c, 200, body);
}

#define T0 "2026-11-30T21:00:00.000000001Z "
#define T1 "2026-11-30T21:00:00.500000000Z "
#define T2 "2026-11-30T21:00:01.000000000Z "
#define T3 "2026-11-30T21:00:02.123456789Z "

/* First the link dies in the middle of a line, after two lines of one time;
 * then a clean end while the pod runs; then the rest and the pod's end. */
static void serve_broken(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "/log")) {
            bool over = c->s->counter[0] >= 3;
            pod(c, over ? "Succeeded" : "Running",
                over ? "{\"terminated\":{\"exitCode\":0}}" : "{\"running\":{}}");
            continue;
        }
        int n = c->s->counter[0]++;
        fake_chunked(c, "text/plain");
        if (n == 0) {
            fake_chunk(c, T0 "zero\n" T1 "one\n" T1 "one again\n" T2 "ha");
            return;
        }
        fake_chunk(c, T0 "zero\n" T1 "one\n" T1 "one again\n" T1 "one more\n" T2 "half\n");
        if (n >= 2)
            fake_chunk(c, T3 "last\n");
        if (n >= 3)
            fake_chunk(c, T3 "very last");
        fake_chunks_end(c);
    }
}

TEST(podlog_loses_and_repeats_nothing_over_reconnects)
{
    begin(serve_broken, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "zero|one|one again|one more|half|last|very last|");
    CHECK_INT(got.states[PODLOG_GAP], 0);
    CHECK_INT(got.states[PODLOG_RETRYING], 1);
    CHECK_INT(got.err.code, PD_NET);
    CHECK_INT(got.ts, 1796072402123456789);
    CHECK_STR(f.s->line[0], "GET /api/v1/namespaces/lab/pods/p/log?container=c&follow=true&"
                            "timestamps=true");
    CHECK_HAS(f.s->line[1], "sinceTime=2026-11-30T21%3A00%3A00Z");
    CHECK(!strstr(f.s->line[f.s->requests - 1], "follow"));     /* the last look */
    finish();
}

static void serve_rotated(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "/log")) {
            pod(c, "Running", "{\"running\":{}}");
            continue;
        }
        fake_chunked(c, "text/plain");
        if (c->s->counter[0]++ == 0) {
            fake_chunk(c, T0 "zero\n");
            fake_chunks_end(c);
        } else {
            fake_chunk(c, T3 "later\n");
            fake_sleep(10000);
        }
    }
}

TEST(podlog_shows_a_gap)
{
    begin(serve_rotated, true);
    RUN_UNTIL(got.lines == 2);
    CHECK_INT(got.states[PODLOG_GAP], 1);
    CHECK_HAS(got.err.msg, "between 2026-11-30T21:00:00.000000001Z and 2026-11-30T21:00:02");
    podlog_stop(p);
    finish();
}

TEST(podlog_may_be_stopped_inside_a_line)
{
    begin(serve_rotated, true);
    got.stop_in_line = true;
    RUN_UNTIL(got.lines == 1);
    for (int i = 0; i < 10; i++)
        loop_turn(l, 5);
    CHECK_INT(got.lines, 1);
    finish();
}

static void serve_waiting(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "/log")) {
            pod(c, "Failed", "{\"terminated\":{\"exitCode\":1}}");
        } else if (c->s->counter[0]++ < 2) {
            fake_json(c, 400, "{\"kind\":\"Status\",\"reason\":\"BadRequest\",\"code\":"
                              "400,\"message\":"
                      "\"container \\\"c\\\" in pod \\\"p\\\" is waiting to start: "
                      "ContainerCreating\"}");
        } else {
            fake_chunked(c, "text/plain");
            fake_chunk(c, T0 "started\n");
            fake_chunks_end(c);
        }
    }
}

TEST(podlog_waits_for_a_container_to_start)
{
    begin(serve_waiting, true);
    RUN_UNTIL(got.ended);
    CHECK_INT(got.states[PODLOG_RETRYING], 2);
    CHECK_HAS(got.err.msg, "is waiting to start");
    CHECK_STR(got.text.p, "started|");
    finish();
}

static void serve_missing(struct fake_conn *c)
{
    while (fake_request(c))
        fake_json(c, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404,"
                          "\"message\":\"pods \\\"p\\\" not found\"}");
}

TEST(podlog_ends_with_the_reason)
{
    begin(serve_missing, true);
    RUN_UNTIL(got.ended);
    CHECK_INT(got.err.code, PD_NOTFOUND);
    CHECK_INT(f.s->requests, 1);
    finish();
}

static void serve_once(struct fake_conn *c)
{
    while (fake_request(c)) {
        fake_chunked(c, "text/plain");
        fake_chunk(c, T0 "a\nno timestamp here\n\n" T1 "b");
        fake_chunks_end(c);
    }
}

TEST(podlog_without_follow_reads_once)
{
    begin(serve_once, false);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "a|no timestamp here||b|");
    CHECK_INT(f.s->requests, 1);
    finish();
}

T_MAIN
