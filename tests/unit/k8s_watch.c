/* k8s_watch.c - list + watch against a server that does all the wrong things:
 * pages, 410 both ways, in-stream errors, a cut line, empty closes, bookmarks.
 * The clock is virtual: it leaps over each wait (k8s_watch_flow.c measures them). */
#include "tests/api/client_fake.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "tests/unit/k8s_store.h"

static struct fake f;
static struct loop *l;
static struct k8s *k;
static struct watch *w;
static struct store *s;
static struct {
    int lists, items, since_begin, events, deleted, states[6], sent;
    int64_t sent_ms[FAKE_LOG];
    char last_err[512];
    enum pd_code code;
    int64_t next_ms;
    struct watch *stop_in_event;
} seen;

static void on_begin(void *arg UNUSED)
{
    seen.since_begin = 0;
    store_begin(s);
}

static void on_item(void *arg UNUSED, struct json *obj)
{
    CHECK_STR(json_str(obj, "kind", ""), "Pod");
    CHECK_STR(json_str(obj, "apiVersion", ""), "v1");
    seen.items++;
    seen.since_begin++;
    store_item(s, obj);
}

static void on_end(void *arg UNUSED)
{
    seen.lists++;
    store_end(s);
}

static void on_event(void *arg UNUSED, enum watch_type type, struct json *obj)
{
    CHECK(!json_has(obj, "metadata.managedFields"));
    seen.events++;
    seen.deleted += type == WATCH_DELETED;
    store_event(s, type, obj);
    if (seen.stop_in_event) {
        watch_stop(seen.stop_in_event);
        seen.stop_in_event = NULL;
    }
}

static void on_state(void *arg UNUSED, enum watch_state state, const struct pd_err *err,
                     int64_t next_ms)
{
    seen.states[state]++;
    seen.next_ms = next_ms;
    if (err) {
        seen.code = err->code;
        str_copy(seen.last_err, sizeof seen.last_err, err->msg);
    }
}

static void on_trace(void *arg UNUSED, const struct k8s_trace *t)
{
    if (t->status == 0 && seen.sent < FAKE_LOG)
        seen.sent_ms[seen.sent++] = clock_ms();
}

/* From the request before it to the nth. */
static int64_t gap(int nth)
{
    return seen.sent_ms[nth] - seen.sent_ms[nth - 1];
}

static void begin(fake_fn *fn)
{
    char base[64];
    struct kube_context x;
    struct watch_handlers h = {on_begin, on_item, on_end, on_event, on_state, NULL};
    struct watch_spec spec = {.res = "pods", .ns = "lab"};
    struct k8s_hooks hooks = {.trace = on_trace};
    f = fake_start(fn);
    clock_fake(1000000);
    l = loop_new();
    s = store_new();
    kube_context_init(&x);
    x.server = xstrdup(fake_base(&f, base));
    x.ns = xstrdup("default");
    k = k8s_open(l, &x, 1, &hooks);
    kube_context_release(&x);
    w = watch_start(k, &spec, &h);
}

/* A turn of the loop; when the watch waits, the wait is over. At most `most` ms pass. */
static void turn(int64_t most)
{
    int64_t wait = w && k ? watch_next_ms(w) : 0;
    clock_advance(MIN(MAX(wait, 1), most));
    loop_turn(l, 5);
}

static void run_ms(int64_t ms)
{
    for (int64_t end = clock_ms() + ms; clock_ms() < end;)
        turn(end - clock_ms());
}

#define UNTIL(cond)                                                                               \
    do {                                                                                          \
        int64_t end_ = clock_us() + 30000000;                                                     \
        while (!(cond) && clock_us() < end_)                                                      \
            turn(60000);                                                                          \
        CHECK(cond);                                                                              \
    } while (0)

static void finish(void)
{
    watch_stop(w);
    k8s_close(k);
    store_free(s);
    loop_free(l);
    clock_real();
}

static bool has(const struct fake_conn *c, const char *part)
{
    return strstr(c->path, part) != NULL;
}

/* "name", version, uid = name */
static char *pod(const char *name, int rv)
{
    static char buf[4][400];
    static int i;
    i = (i + 1) % 4;
    snprintf(buf[i], sizeof buf[i],
             "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"lab\",\"uid\":\"u-%s\","
             "\"resourceVersion\":\"%d\",\"managedFields\":[{\"manager\":\"x\"}]},"
             "\"spec\":{\"note\":\"a \\\"quoted]\\\" brace } here\"}}", name, name, rv);
    return buf[i];
}

static void event(struct fake_conn *c, const char *type, const char *obj)
{
    char line[800];
    snprintf(line, sizeof line, "{\"type\":\"%s\",\"object\":%s}\n", type, obj);
    fake_chunk(c, line);
}

static void list(struct fake_conn *c, int rv, const char *a, const char *b)
{
    char body[1200];
    snprintf(body, sizeof body, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":"
             "{\"resourceVersion\":\"%d\"},\"items\":[%s%s%s]}", rv, a, b ? "," : "", b ? b : "");
    fake_json(c, 200, body);
}

static void hold(void)
{
    fake_sleep(20000);
}

/* --- a good server --- */

static void serve_good(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), pod("b", 6));
            continue;
        }
        fake_chunked(c, "application/json");
        event(c, "ADDED", pod("c", 11));
        event(c, "MODIFIED", pod("a", 12));
        event(c, "DELETED", pod("b", 13));
        event(c, "BOOKMARK", "{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"99\"}}");
        hold();
    }
}

TEST(watch_lists_then_follows)
{
    begin(serve_good);
    CHECK_INT(watch_age_ms(w), -1);
    UNTIL(!strcmp(watch_version(w), "99"));
    CHECK_INT(seen.lists, 1);
    CHECK_INT(seen.items, 2);
    CHECK_INT(seen.events, 3);
    CHECK_INT(watch_state(w), WATCH_LIVE);
    CHECK(watch_age_ms(w) >= 0 && watch_age_ms(w) < 5000);
    CHECK_INT((long long)store_count(s), 2);
    CHECK_STR(json_str(store_at(s, 1), "metadata.name", ""), "c");
    CHECK_STR(json_str(store_find(s, "lab", "a"), "metadata.resourceVersion", ""), "12");
    CHECK(store_uid(s, "u-b") == NULL);
    CHECK_HAS(f.s->line[0], "GET /api/v1/namespaces/lab/pods?limit=500");
    CHECK_HAS(f.s->line[1], "watch=true&allowWatchBookmarks=true&resourceVersion=10&");
    finish();
}

TEST(watch_may_be_stopped_inside_its_own_event)
{
    begin(serve_good);
    seen.stop_in_event = w;
    UNTIL(seen.events == 1);
    w = NULL;
    run_ms(50);
    CHECK_INT(seen.events, 1);
    finish();
}

TEST(watch_survives_its_connection_being_closed)
{
    begin(serve_good);
    UNTIL(seen.events == 3);
    k8s_close(k);
    run_ms(30);
    watch_retry_now(w);
    watch_stop(w);
    w = NULL;
    k = NULL;
    finish();
}

/* --- pages --- */

static void serve_pages(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (has(c, "watch=")) {
            fake_chunked(c, "application/json");
            hold();
        } else if (!has(c, "continue=")) {
            fake_json(c, 200, "{\"items\":[{\"metadata\":{\"name\":\"a\"}}],\"metadata\":"
                              "{\"continue\":\"t k+1\",\"resourceVersion\":\"7\"}}");
        } else if (c->s->counter[0]++ == 0) {
            fake_json(c, 410, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\","
                              "\"message\":\"The provided continue parameter is too "
                              "old\",\"code\":410}");
        } else {
            fake_json(c, 200, "{\"metadata\":{\"resourceVersion\":\"7\"},\"items\":"
                              "[{\"metadata\":{\"name\":\"b\"}},{\"metadata\":{\"name\":\"c\"}}]}");
        }
    }
}

TEST(watch_reads_pages_and_starts_over_when_the_token_expires)
{
    begin(serve_pages);
    UNTIL(seen.lists == 1);
    CHECK_INT((long long)store_count(s), 3);
    CHECK_HAS(f.s->line[1], "continue=t%20k%2B1");
    CHECK_STR(watch_version(w), "7");
    CHECK(!strstr(f.s->line[2], "continue="));
    finish();
}

/* --- 410, as an HTTP status and in the stream --- */

static void serve_gone_http(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, c->s->counter[0]++ ? 50 : 10, pod("a", 5), NULL);
        } else if (has(c, "resourceVersion=10&")) {
            fake_json(c, 410, "{\"kind\":\"Status\",\"reason\":\"Gone\",\"code\":410,"
                              "\"message\":\"too old resource version: 10 (40)\"}");
        } else {
            fake_chunked(c, "application/json");
            hold();
        }
    }
}

TEST(watch_lists_again_after_410_as_a_status)
{
    begin(serve_gone_http);
    UNTIL(seen.lists == 2 && watch_state(w) == WATCH_LIVE);
    CHECK_STR(watch_version(w), "50");
    CHECK_INT(f.s->requests, 4);
    CHECK(gap(2) < 500);          /* once at once */
    finish();
}

static void serve_gone_stream(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, c->s->counter[0]++ ? 50 : 10, pod("a", 5), NULL);
        } else if (has(c, "resourceVersion=10&")) {
            fake_chunked(c, "application/json");
            event(c, "ERROR", "{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410,"
                              "\"message\":\"too old resource version: 10 (40)\"}");
            fake_chunks_end(c);
        } else {
            fake_chunked(c, "application/json");
            hold();
        }
    }
}

TEST(watch_lists_again_after_410_in_the_stream)
{
    begin(serve_gone_stream);
    UNTIL(seen.lists == 2 && watch_state(w) == WATCH_LIVE);
    CHECK_STR(watch_version(w), "50");
    CHECK_INT(f.s->requests, 4);
    CHECK(gap(2) < 500);
    CHECK_INT(seen.states[WATCH_RETRYING], 0);
    finish();
}

static void serve_always_gone(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch="))
            list(c, 10, pod("a", 5), NULL);
        else
            fake_json(c, 410, "{\"kind\":\"Status\",\"reason\":\"Gone\",\"code\":410}");
    }
}

TEST(watch_does_not_spin_on_410)
{
    begin(serve_always_gone);
    run_ms(1500);
    CHECK(f.s->requests >= 4 && f.s->requests <= 6);
    finish();
}

static void serve_504_in_stream(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
        } else {
            fake_chunked(c, "application/json");
            if (c->s->counter[0]++ == 0) {
                event(c, "ERROR", "{\"kind\":\"Status\",\"reason\":\"Timeout\",\"code\":504,"
                                  "\"message\":\"Too large resource version: 217, current: 213\"}");
                fake_chunks_end(c);
            } else {
                hold();
            }
        }
    }
}

TEST(watch_waits_and_lists_after_another_error_in_the_stream)
{
    begin(serve_504_in_stream);
    UNTIL(seen.states[WATCH_RETRYING] == 1);
    CHECK_HAS(seen.last_err, "Too large resource version");
    CHECK_INT(seen.code, PD_TIMEOUT);
    CHECK(seen.next_ms >= 1000);
    UNTIL(seen.lists == 2 && watch_state(w) == WATCH_LIVE);
    CHECK(gap(2) >= 990);
    finish();
}

/* --- ends --- */

static void serve_cut(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
        } else if (has(c, "resourceVersion=10&")) {
            fake_chunked(c, "application/json");
            event(c, "ADDED", pod("b", 11));
            fake_chunk(c, "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"half");
            return;
        } else if (has(c, "resourceVersion=11&")) {
            fake_chunked(c, "application/json");
            event(c, "ADDED", pod("c", 12));
            fake_sleep(30);
            fake_chunks_end(c);
        } else {
            fake_chunked(c, "application/json");
            hold();
        }
    }
}

TEST(watch_resumes_after_a_cut_line_and_a_clean_end)
{
    begin(serve_cut);
    UNTIL(f.s->requests == 4);
    CHECK_INT(seen.lists, 1);
    CHECK_INT(seen.events, 2);
    CHECK_HAS(f.s->line[2], "resourceVersion=11&");
    CHECK_HAS(f.s->line[3], "resourceVersion=12&");
    CHECK_INT((long long)store_count(s), 3);
    finish();
}

/* every split of an event's bytes */
static void serve_split(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
            continue;
        }
        fake_chunked(c, "application/json");
        for (int at = 1; at < 60; at += 2) {
            char name[32], line[800];
            snprintf(name, sizeof name, "p\xe4\xb8\xad%02d", at);
            snprintf(line, sizeof line, "{\"type\":\"ADDED\",\"object\":"
                "%s}\n", pod(name, 100 + at));
            fake_chunk_n(c, line, (size_t)at);
            fake_sleep(1);
            fake_chunk(c, line + at);
        }
        hold();
    }
}

TEST(watch_gives_the_same_events_whatever_the_split)
{
    begin(serve_split);
    UNTIL(seen.events == 30);
    CHECK_INT((long long)store_count(s), 31);
    CHECK(store_find(s, "lab", "p\xe4\xb8\xad" "07") != NULL);
    finish();
}

/* The second page breaks behind its first item, once. */
static void serve_torn_page(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (has(c, "watch=")) {
            fake_chunked(c, "application/json");
            hold();
        } else if (!has(c, "continue=")) {
            char body[900];
            snprintf(body, sizeof body, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":"
                     "\"10\",\"continue\":\"2\"},\"items\":[%s]}", pod("a", 5));
            fake_json(c, 200, body);
        } else if (c->s->counter[0]++ == 0) {
            fake_chunked(c, "application/json");
            fake_chunk(c, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},"
                          "\"items\":[");
            fake_chunk(c, pod("b", 6));
            fake_chunk(c, ",");
            fake_sleep(50);
            return;
        } else {
            list(c, 10, pod("b", 6), pod("c", 7));
        }
    }
}

TEST(watch_gives_no_item_twice_when_a_page_breaks)
{
    begin(serve_torn_page);
    UNTIL(seen.lists == 1);
    CHECK_INT(seen.since_begin, 3);
    CHECK_INT((long long)store_count(s), 3);
    finish();
}

/* The server answers each watch with 200 and nothing, at once. */
static void serve_empty(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 41000, pod("a", 5), NULL);
        } else {
            fake_chunked(c, "application/json");
            fake_chunks_end(c);
        }
    }
}

TEST(watch_backs_off_from_empty_answers_and_lists_anew)
{
    begin(serve_empty);
    run_ms(10000);
    int watches = 0, lists = 0;
    for (int i = 0; i < f.s->requests; i++) {
        bool watch = strstr(f.s->line[i], "watch=") != NULL;
        watches += watch;
        lists += !watch;
    }
    CHECK_INT(lists, 2);
    CHECK(watches >= 2 && f.s->requests <= 5);
    CHECK(!strstr(f.s->line[3], "watch="));              /* after two empty closes */
    finish();
}

/* --- refusals --- */

static void serve_forbidden(struct fake_conn *c)
{
    while (fake_request(c))
        fake_json(c, 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":"
                          "\"pods is forbidden: User \\\"student\\\" cannot list "
                          "resource \\\"pods\\\""
                          " in API group \\\"\\\" in the namespace \\\"lab\\\"\"}");
}

TEST(watch_says_forbidden_and_waits_long)
{
    begin(serve_forbidden);
    UNTIL(seen.states[WATCH_FORBIDDEN] == 1);
    CHECK_INT(seen.code, PD_FORBIDDEN);
    CHECK(seen.next_ms >= 30000);
    CHECK_HAS(seen.last_err, "cannot list resource");
    run_ms(200);
    CHECK_INT(f.s->requests, 1);
    watch_retry_now(w);
    UNTIL(f.s->requests == 2);
    finish();
}

static void serve_busy(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (c->s->counter[0]++ == 0)
            fake_reply(c, 429, "text/plain", "Retry-After: 3\r\n",
                       "Too many requests, please try again later.");
        else
            list(c, 10, pod("a", 5), NULL);
    }
}

TEST(watch_keeps_retry_after)
{
    begin(serve_busy);
    UNTIL(seen.states[WATCH_RETRYING] == 1);
    CHECK_HAS(seen.last_err, "HTTP 429: Too many requests");
    UNTIL(seen.lists == 1);
    CHECK(gap(1) >= 2990);
    finish();
}

static void serve_html(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (c->s->counter[0]++ == 0)
            fake_reply(c, 502, "text/html", "", "<html><h1>Bad Gateway</h1></html>");
        else
            list(c, 10, pod("a", 5), NULL);
    }
}

TEST(watch_survives_a_proxy_page)
{
    begin(serve_html);
    UNTIL(seen.lists == 1);
    CHECK_HAS(seen.last_err, "HTTP 502 with a web page");
    CHECK(gap(1) >= 790);
    finish();
}

/* --- answers that are none --- */

static const char *const no_lists[] = {
    "{}",
    "{\"message\":\"sign in first\"}",
    "{\"kind\":\"Status\",\"code\":500,\"message\":\"etcdserver: no leader\"}",
    "{\"kind\":\"ServiceList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]}",
    "{\"kind\":\"PodList\",\"items\":[]}",
    "{\"metadata\":{\"resourceVersion\":\"10\"}}",
    "<html><h1>Sign in</h1><script>var a = {\"items\": []}</script></html>",
    "[1, 2]",
    "\"text\"",
    "",
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[]]}",
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"10\"},\"items\":[",
    "\x1f\x8b\x08\xff\xfe",
};

static void serve_no_list(struct fake_conn *c)
{
    while (fake_request(c)) {
        int nth = c->s->counter[0]++;
        if (has(c, "watch=") && c->s->counter[1] == 1)
            fake_reply(c, 200, "text/html", "", no_lists[6]);
        else if (nth > 0 && nth <= (int)ARRAY_LEN(no_lists))
            fake_json(c, 200, no_lists[nth - 1]);
        else if (has(c, "watch="))
            fake_json(c, 410, "{}");
        else
            list(c, 10, pod("a", 5), pod("b", 6));
        c->s->counter[1] += !has(c, "watch=");
    }
}

TEST(watch_empties_no_view_for_an_answer_that_is_no_list)
{
    begin(serve_no_list);
    UNTIL(seen.lists == 1);
    CHECK_INT((long long)store_count(s), 2);
    for (int i = 0; i < 2000 && f.s->counter[0] <= (int)ARRAY_LEN(no_lists); i++) {
        turn(60000);
        if (seen.lists > 1)
            break;
        CHECK_INT((long long)store_count(s), 2);
    }
    UNTIL(seen.lists >= 2);
    CHECK(f.s->counter[0] > (int)ARRAY_LEN(no_lists));
    CHECK(seen.states[WATCH_RETRYING] >= (int)ARRAY_LEN(no_lists) - 1);
    CHECK_INT((long long)store_count(s), 2);
    finish();
}

static void serve_redirect(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (c->s->counter[0]++ == 0)
            fake_reply(c, 302, "text/html", "Location: https://login.example/?to=\x1b[31m\r\n",
                       "<html>{\"items\":[]}</html>");
        else
            list(c, 10, pod("a", 5), NULL);
    }
}

TEST(watch_does_not_follow_a_redirect)
{
    begin(serve_redirect);
    UNTIL(seen.states[WATCH_RETRYING] == 1);
    CHECK_HAS(seen.last_err, "HTTP 302 leads to https://login.example/?to=");
    CHECK(!strchr(seen.last_err, 27));
    CHECK(seen.next_ms >= 30000);
    CHECK_INT(seen.items, 0);
    UNTIL(seen.lists == 1);
    finish();
}

/* Depth, length, lines: each once, then a good event. */
static void serve_monsters(struct fake_conn *c)
{
    char *big = malloc(9 << 20);
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
            continue;
        }
        int nth = c->s->counter[0]++;
        fake_chunked(c, "application/json");
        memset(big, nth == 0 ? '[' : 'x', 9 << 20);
        memcpy(big, "{\"type\":\"ADDED\",\"object\":", 25);
        if (nth < 2) {
            if (nth == 0)
                big[100000] = '\n';
            fake_chunk_n(c, big, nth == 0 ? 100001 : 9 << 20);
            fake_sleep(30);
        } else {
            event(c, "ADDED", pod("b", 11));
            hold();
        }
    }
}

TEST(watch_survives_monsters)
{
    begin(serve_monsters);
    UNTIL(seen.events == 1);
    CHECK_INT(seen.lists, 3);
    CHECK_INT(seen.states[WATCH_RETRYING], 2);
    CHECK_HAS(seen.last_err, "longer than 8 MiB");
    finish();
}

static void serve_megabyte(struct fake_conn *c)
{
    char *line = malloc(2 << 20);
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
            continue;
        }
        int n = snprintf(line, 2 << 20, "{\"type\":\"ADDED\",\"object\":{\"metadata\":"
                              "{\"name\":\"big\","
                              "\"namespace\":\"lab\",\"uid\":\"u\",\"resourceVersion\":\"11\","
                              "\"annotations\":{\"x\":\"");
        memset(line + n, 'y', 1 << 20);
        n += 1 << 20;
        n += snprintf(line + n, 100, "\"}}}}\n");
        fake_chunked(c, "application/json");
        for (int at = 0; at < n; at += 50000)
            fake_chunk_n(c, line + at, (size_t)(n - at < 50000 ? n - at : 50000));
        hold();
    }
}

TEST(watch_reads_a_line_of_a_megabyte)
{
    begin(serve_megabyte);
    UNTIL(seen.events == 1);
    const char *x = json_str(store_find(s, "lab", "big"), "metadata.annotations.x", "");
    CHECK_INT((long long)strlen(x), 1 << 20);
    CHECK_STR(watch_version(w), "11");
    finish();
}

/* --- pages that expire, with a token for the rest --- */

static void serve_expired(struct fake_conn *c)
{
    while (fake_request(c)) {
        char body[900];
        if (has(c, "watch=")) {
            fake_chunked(c, "application/json");
            event(c, "MODIFIED", pod("a", 8));
            event(c, "DELETED", pod("b", 9));
            event(c, "ADDED", pod("c", 12));
            hold();
        } else if (has(c, "continue=rest")) {
            list(c, 12, pod("c", 12), NULL);
        } else if (has(c, "continue=")) {
            fake_json(c, 410, "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\","
                              "\"metadata\":{\"continue\":\"rest\"},\"code\":410,\"message\":"
                              "\"The provided continue parameter is too old to display a "
                              "consistent list result.\"}");
        } else {
            snprintf(body, sizeof body, "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":"
                     "\"7\",\"continue\":\"2\"},\"items\":[%s,%s]}", pod("a", 5), pod("b", 6));
            fake_json(c, 200, body);
        }
    }
}

TEST(watch_reads_the_rest_of_an_expired_list_and_brings_it_up_to_date)
{
    begin(serve_expired);
    UNTIL(seen.events == 3);
    CHECK_INT(seen.lists, 1);
    CHECK_INT(f.s->requests, 4);
    CHECK_HAS(f.s->line[3], "resourceVersion=7&");
    CHECK_INT((long long)store_count(s), 2);
    CHECK_STR(json_str(store_find(s, "lab", "a"), "metadata.resourceVersion", ""), "8");
    CHECK(store_find(s, "lab", "b") == NULL && store_find(s, "lab", "c") != NULL);
    finish();
}

/* --- a list may be read, a watch may not --- */

static void serve_no_watch(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (has(c, "watch="))
            fake_json(c, 403, "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,"
                              "\"message\":\"pods is forbidden: User \\\"ann\\\" cannot watch "
                              "resource \\\"pods\\\" in API group \\\"\\\" in the namespace "
                              "\\\"lab\\\"\"}");
        else
            list(c, 10 + c->s->counter[0], pod("a", 5 + c->s->counter[0]), NULL);
        c->s->counter[0]++;
    }
}

TEST(watch_polls_where_only_list_is_allowed)
{
    begin(serve_no_watch);
    CHECK_INT(watch_poll_ms(w), 0);
    UNTIL(seen.lists == 4);
    CHECK_INT(watch_state(w), WATCH_POLLING);
    CHECK_INT(seen.states[WATCH_POLLING], 1);
    CHECK_INT(seen.code, PD_FORBIDDEN);
    CHECK_INT(watch_poll_ms(w), 10000);
    CHECK(gap(3) >= 10000 && gap(3) < 12000);
    CHECK_STR(json_str(store_find(s, "lab", "a"), "metadata.resourceVersion", ""), "9");
    CHECK(watch_age_ms(w) < 1000);
    UNTIL(f.s->requests >= 2 && strstr(f.s->line[f.s->requests - 1], "watch=") &&
          f.s->requests > 10);
    CHECK(seen.sent_ms[f.s->requests - 1] - seen.sent_ms[1] >= 300000);
    finish();
}

/* --- a link that is half dead --- */

static void serve_mute(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (has(c, "/pods/x")) {
            fake_json(c, 404, "{}");
            if (fake_request(c))                         /* dead, though it looks idle */
                hold();
        } else if (!has(c, "watch=")) {
            list(c, 10 + 10 * c->s->counter[0], pod("a", 5 + 10 * c->s->counter[0]), NULL);
            c->s->counter[0]++;
        } else {
            fake_chunked(c, "application/json");
            hold();
        }
    }
}

static void on_pod(void *arg, int status, const struct json *object UNUSED,
                   const struct pd_err *err UNUSED)
{
    *(int *)arg = status;
}

TEST(watch_finds_out_that_its_stream_is_dead)
{
    int got = 0;
    begin(serve_mute);
    UNTIL(watch_state(w) == WATCH_LIVE);
    k8s_get(k, "pods", "lab", "x", on_pod, &got);
    UNTIL(got == 404);
    int64_t from = clock_ms();
    while (watch_state(w) == WATCH_LIVE) {
        clock_advance(500);
        loop_turn(l, 1);
    }
    CHECK_INT(watch_state(w), WATCH_QUIET);
    CHECK(watch_age_ms(w) >= 80000 && clock_ms() - from < 82000);
    for (int i = 0; i < 4000 && watch_state(w) != WATCH_POLLING; i++) {
        clock_advance(watch_state(w) == WATCH_LISTING ? 1 : 200);
        loop_turn(l, 1);
    }
    CHECK_INT(watch_state(w), WATCH_POLLING);
    CHECK_HAS(seen.last_err, "holds changes back");
    CHECK(clock_ms() - from < 200000);
    CHECK_INT(seen.lists, 3);
    CHECK(f.s->connections >= 3);                        /* dead ones are not used again */
    finish();
}

/* --- a server restored from a backup; an object made anew --- */

static void serve_restored(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            bool first = c->s->counter[0]++ == 0;
            list(c, first ? 100 : 60, pod(first ? "a" : "b", 55), NULL);
        } else if (has(c, "resourceVersion=100&")) {
            fake_chunked(c, "application/json");
            event(c, "ADDED", pod("c", 101));
            event(c, "ADDED", pod("d", 102));
            fake_sleep(20);
            event(c, "MODIFIED", pod("b", 61));
            hold();
        } else {
            fake_chunked(c, "application/json");
            hold();
        }
    }
}

TEST(watch_follows_a_server_that_went_back)
{
    begin(serve_restored);
    UNTIL(seen.lists == 2);
    CHECK_HAS(seen.last_err, "went back from version 102 to 61");
    CHECK_STR(watch_version(w), "60");
    CHECK_INT((long long)store_count(s), 1);
    CHECK(store_find(s, "lab", "b") != NULL);
    finish();
}

static void serve_twins(struct fake_conn *c)
{
    while (fake_request(c)) {
        if (!has(c, "watch=")) {
            list(c, 10, pod("a", 5), NULL);
            continue;
        }
        fake_chunked(c, "application/json");
        event(c, "ADDED", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"lab\",\"uid\":\"other\","
                          "\"resourceVersion\":\"12\"}}");
        event(c, "DELETED", pod("a", 13));
        hold();
    }
}

TEST(watch_keeps_an_object_apart_from_its_namesake)
{
    begin(serve_twins);
    UNTIL(seen.events == 2 || seen.lists == 2);
    CHECK_STR(json_str(store_find(s, "lab", "a"), "metadata.uid", ""), "other");
    finish();
}

/* 2,000 pods of 4 KB: never a callback over the limit. */
static void serve_many(struct fake_conn *c)
{
    char *text = malloc(6000);
    while (fake_request(c)) {
        if (has(c, "watch=")) {
            fake_chunked(c, "application/json");
            hold();
        }
        fake_chunked(c, "application/json");
        fake_chunk(c, "{\"kind\":\"PodList\",\"items\":[");
        for (int i = 0; i < 2000; i++) {
            int n = snprintf(text, 6000, "%s{\"metadata\":{\"name\":\"p%d\",\"uid\":\"%d\"},"
                             "\"spec\":{\"containers\":[", i ? "," : "", i, i);
            for (int e = 0; e < 60; e++)
                n += snprintf(text + n, 6000 - (size_t)n, "%s{\"name\":\"V%d\",\"value\":"
                              "\"some value of a variable\"}", e ? "," : "", e);
            snprintf(text + n, 6000 - (size_t)n, "]}}");
            fake_chunk(c, text);
        }
        fake_chunk(c, "],\"metadata\":{\"resourceVersion\":\"5\"}}");
        fake_chunks_end(c);
    }
}

TEST(watch_reads_a_long_list_in_slices)
{
    const char *name = "";
    begin(serve_many);
    UNTIL(seen.lists == 1);
    CHECK_INT((long long)store_count(s), 2000);
    CHECK_STR(json_str(store_at(s, 0), "spec.containers[59].name", ""), "V59");
    CHECK(loop_slowest(l, &name) < 200000);
    finish();
}

T_MAIN
