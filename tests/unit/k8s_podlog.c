/* k8s_podlog.c - a log followed over broken connections: no line lost, none
 * twice, gaps told, the end found. */
#include "tests/api/client_fake.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/io/loop.h"
#include "k8s/podlog.h"

/* Time stands still for the client and goes by as fast as the test turns. */
#define RUN_UNTIL(cond)                                                                           \
    do {                                                                                          \
        int64_t end_ = clock_us() + 30000000;                                                     \
        for (clock_advance(0); !(cond) && clock_us() < end_; clock_advance(50))                   \
            loop_turn(l, 5);                                                                      \
        CHECK(cond);                                                                              \
    } while (0)

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct podlog *p;
static struct {
    int lines, states[6];
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

/* The nth request of the log. */
static const char *asked(int n)
{
    for (int i = 0; i < f.s->requests && i < FAKE_LOG; i++)
        if (strstr(f.s->line[i], "/log?") && n-- == 0)
            return f.s->line[i];
    return "";
}

static void begin(fake_fn *fn, bool follow)
{
    char base[64];
    struct kube_context x;
    struct podlog_handlers h = {on_line, on_state, NULL};
    struct podlog_spec spec = {.pod = "p", .container = "c", .follow = follow, .tail = -1};
    f = fake_start(fn);
    clock_fake(INT64_C(1796072400000));
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
    CHECK_STR(asked(0), "GET /api/v1/namespaces/lab/pods/p/log?container=c&follow=true&"
                            "timestamps=true");
    CHECK_HAS(asked(1), "sinceTime=2026-11-30T20%3A59%3A59Z");
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
    CHECK_INT(got.states[PODLOG_RESTART], 0);
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
            int n = c->s->counter[1]++;
            pod(c, n < 4 ? "Pending" : "Failed",
                n < 2   ? "{\"waiting\":{\"reason\":\"ContainerCreating\"}}"
                : n < 4 ? "{\"waiting\":{\"reason\":\"ErrImagePull\",\"message\":\"no such tag\"}}"
                        : "{\"terminated\":{\"exitCode\":1}}");
        } else if (c->s->counter[0]++ < 1) {
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
    RUN_UNTIL(got.states[PODLOG_WAITING] == 2);          /* each reason is told once */
    CHECK_HAS(got.err.msg, "is waiting to start: ErrImagePull: no such tag");
    RUN_UNTIL(got.ended);
    CHECK_INT(got.states[PODLOG_WAITING], 3);            /* and the log's own refusal */
    CHECK_INT(got.states[PODLOG_RETRYING], 0);
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
    CHECK_HAS(got.err.msg, "not found");
    CHECK_INT(f.s->requests, 1);
    finish();
}

/* Deleted while it is followed: said so, after its last line. */
static void serve_deleted(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (has(c, "/log")) {
            fake_chunked(c, "text/plain");
            fake_chunk(c, T0 "last words\n");
            fake_chunks_end(c);
        } else if (c->s->counter[1]++ == 0) {
            pod(c, "Running", "{\"running\":{}}");
        } else {
            fake_json(c, 404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"code\":404,"
                              "\"message\":\"pods \\\"p\\\" not found\"}");
        }
    }
}

TEST(podlog_says_that_the_pod_was_deleted)
{
    begin(serve_deleted, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "last words|");
    CHECK_HAS(got.err.msg, "the pod p was deleted");
    finish();
}

/* The stream breaks, and meanwhile the container starts anew: the rest of the
 * old run comes from the log before, then the new run from its first line. */
static void restarted(struct fake_conn *c, int count, const char *state, int exit_code)
{
    char body[900];
    snprintf(body, sizeof body,
             "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{"
             "\"restartPolicy\":\"OnFailure\"},\"status\":{\"phase\":\"%s\",\"containerStatuses\":["
             "{\"name\":\"c\",\"restartCount\":%d,\"containerID\":\"run%d\",\"state\":%s,"
             "\"lastState\":{\"terminated\":{\"exitCode\":%d,\"containerID\":\"run%d\","
             "\"reason\":\"OOMKilled\"}}}]}}",
             strstr(state, "terminated") ? "Succeeded" : "Running", count, count, state, exit_code,
             count - 1);
    fake_json(c, 200, body);
}

static void serve_restart(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0];
        if (!has(c, "/log")) {
            restarted(c, n > 0, n > 2 ? "{\"terminated\":{\"exitCode\":0,\"containerID\":\"run1\"}}"
                                      : "{\"running\":{}}", 137);
            continue;
        }
        fake_chunked(c, "text/plain");
        c->s->counter[0]++;
        if (n == 0) {
            fake_chunk(c, T0 "old 1\n" T1 "ol");
            return;
        }
        if (has(c, "previous=true"))
            fake_chunk(c, T0 "old 1\n" T1 "old 2\n");
        else
            fake_chunk(c, T2 "new 1\n" T2 "new 1\n");
        fake_chunks_end(c);
    }
}

TEST(podlog_reads_the_old_run_to_its_end_before_the_new_one)
{
    begin(serve_restart, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "old 1|old 2|new 1|new 1|");
    CHECK_INT(got.states[PODLOG_RESTART], 1);
    CHECK_INT(got.states[PODLOG_GAP], 0);
    CHECK_HAS(got.err.msg, "container restarted, exit code 137 (OOMKilled)");
    finish();
}

/* Two restarts while nobody looked: the run before is read, the one before that
 * is gone, and so is said. */
static void serve_restarts(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0];
        if (!has(c, "/log")) {
            restarted(c, n > 0 ? 3 : 0,
                      n > 3 ? "{\"terminated\":{\"exitCode\":0,\"containerID\":\"run3\"}}"
                            : "{\"running\":{}}", 2);
            continue;
        }
        c->s->counter[0]++;
        fake_chunked(c, "text/plain");
        fake_chunk(c, n == 0 ? T0 "first\n" : has(c, "previous=true") ? T2 "third\n" : T3 "now\n");
        fake_chunks_end(c);
    }
}

TEST(podlog_says_which_runs_it_could_not_read)
{
    begin(serve_restarts, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "first|third|now|");
    CHECK_INT(got.states[PODLOG_RESTART], 2);
    CHECK_INT(got.states[PODLOG_GAP], 2);        /* its own end, and one run between */
    finish();
}

/* Another run answers than the pod told of a moment before: no false gap. */
static void serve_race(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0];
        if (!has(c, "/log")) {
            int looks = c->s->counter[1]++;
            restarted(c, looks > 1, n > 3 ? "{\"terminated\":{\"exitCode\":0,\"containerID\":"
                                            "\"run1\"}}" : "{\"running\":{}}", 1);
            continue;
        }
        c->s->counter[0]++;
        fake_chunked(c, "text/plain");
        if (n == 0)
            fake_chunk(c, T0 "old\n");
        else
            fake_chunk(c, has(c, "previous=true") ? T0 "old\n" T1 "end\n" : T2 "new\n");
        fake_chunks_end(c);
    }
}

TEST(podlog_looks_before_it_says_that_lines_are_missing)
{
    begin(serve_race, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "old|end|new|");
    CHECK_INT(got.states[PODLOG_GAP], 0);
    CHECK_INT(got.states[PODLOG_RESTART], 1);
    finish();
}

/* Who may read logs but not pods. */
static void serve_blind(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "/log")) {
            fake_json(c, 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,"
                              "\"message\":\"pods \\\"p\\\" is forbidden\"}");
            continue;
        }
        fake_chunked(c, "text/plain");
        fake_chunk(c, c->s->counter[0]++ == 0 ? T0 "a\n" : T0 "a\n" T1 "b\n");
        fake_chunks_end(c);
    }
}

TEST(podlog_needs_no_right_to_read_the_pod)
{
    begin(serve_blind, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "a|b|");
    CHECK_INT(got.err.code, PD_FORBIDDEN);
    CHECK_HAS(got.err.hint, "verb get on pods");
    finish();
}

static void serve_no_right(struct fake_conn *c)
{
    while (fake_request(c))
        if (has(c, "/log"))
            fake_json(c, 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,"
                              "\"message\":\"pods \\\"p\\\" is forbidden: User \\\"s\\\" cannot "
                              "get resource \\\"pods/log\\\"\"}");
        else
            pod(c, "Running", "{\"running\":{}}");
}

TEST(podlog_names_the_role_that_is_missing)
{
    begin(serve_no_right, true);
    RUN_UNTIL(got.ended);
    CHECK_INT(got.err.code, PD_FORBIDDEN);
    CHECK_HAS(got.err.hint, "resources [\"pods/log\"], verbs [\"get\"]");
    finish();
}

/* A server that has just been started refuses everybody for a moment. */
static void serve_restarted(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0]++;
        if (n == 2 || n == 3)
            fake_json(c, 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,"
                              "\"message\":\"pods \\\"p\\\" is forbidden\"}");
        else if (!has(c, "/log"))
            pod(c, n > 4 ? "Succeeded" : "Running",
                n > 4 ? "{\"terminated\":{\"exitCode\":0}}" : "{\"running\":{}}");
        else {
            fake_chunked(c, "text/plain");
            fake_chunk(c, n < 2 ? T0 "a\n" : T0 "a\n" T1 "b\n");
            fake_chunks_end(c);
        }
    }
}

TEST(podlog_doubts_a_refusal_of_what_was_allowed)
{
    begin(serve_restarted, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "a|b|");
    CHECK(got.states[PODLOG_RETRYING] > 0);
    finish();
}

/* A node that runs out of watches ends each stream with a word of its own. */
static void serve_words(struct fake_conn *c)
{
    while (fake_request(c)) {
        int n = c->s->counter[0];
        if (!has(c, "/log")) {
            pod(c, n > 1 ? "Succeeded" : "Running",
                n > 1 ? "{\"terminated\":{\"exitCode\":0}}" : "{\"running\":{}}");
            continue;
        }
        c->s->counter[0]++;
        fake_chunked(c, "text/plain");
        fake_chunk(c, T0 "one\n");
        if (n == 0)
            fake_chunk(c, "failed to create fsnotify watcher: too many open files");
        fake_chunks_end(c);
    }
}

TEST(podlog_takes_the_nodes_words_for_what_they_are)
{
    begin(serve_words, true);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "one|");
    CHECK_INT(got.states[PODLOG_RETRYING], 1);
    CHECK_HAS(got.err.msg, "too many open files");
    finish();
}

static void serve_once(struct fake_conn *c)
{
    while (fake_request(c)) {
        fake_chunked(c, "text/plain");
        fake_chunk(c, T0 "a\nno timestamp here\n\n" T1 "b\n");
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

/* The API server ends the answer politely when the kubelet's link breaks. */
static void serve_torn(struct fake_conn *c)
{
    while (fake_request(c)) {
        fake_chunked(c, "text/plain");
        fake_chunk(c, c->s->counter[0]++ ? T0 "a\n" T1 "whole" : T0 "a\n" T1 "wh");
        fake_chunks_end(c);
    }
}

TEST(podlog_asks_once_more_when_a_line_is_torn)
{
    begin(serve_torn, false);
    RUN_UNTIL(got.ended);
    CHECK_STR(got.text.p, "a|whole|");
    CHECK_INT(f.s->requests, 2);
    finish();
}

T_MAIN
