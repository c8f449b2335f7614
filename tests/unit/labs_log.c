/* labs_log.c - the log on show: which streams it asks for, what becomes of
 * lines, and that the run's own log goes on beside it. */
#include "labs/errjson.h"
#include "tests/unit/labs_fixture.h"

static const char lab[] = "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"
                          "steps:\n  - id: a\n    title: A\n    say: s\n";

static const char pods[] =
    "[{\"metadata\":{\"name\":\"two\",\"uid\":\"u2\"},\"spec\":{\"initContainers\":[{\"name\":"
    "\"prep\"}],\"containers\":[{\"name\":\"main\"},{\"name\":\"side\"}]},"
    "\"status\":{\"phase\":\"Running\"}}]";

static void begin(struct fx *f)
{
    fx_open(f, lab, NULL);
    fx_all_synced(f);
    fx_list(f, "pods", pods);
    fx_cmd(f, "log.follow", "two", NULL);
}

static void line(struct fx *f, int source, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "text", text);
    json_put_num(body, "ts", (double)f->now);
    fx_send(f, MSG_LOG_LINE, f->s->log_view.source[source].stream, body);
}

static void line_of(struct fx *f, uint32_t stream, const char *container, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "text", text);
    json_put_str(body, "container", container);
    fx_send(f, MSG_LOG_LINE, stream, body);
}

static void state(struct fx *f, int source, const char *name, const char *error)
{
    struct json *body = json_new_object();
    json_put_str(body, "state", name);
    if (error) {
        struct pd_err err;
        pd_fail(&err, PD_NOTFOUND, "%s", error);
        json_set(body, "error", errjson_make(&err));
    }
    fx_send(f, MSG_LOG_STATE, f->s->log_view.source[source].stream, body);
}

static void refuse(struct fx *f, uint32_t effect, enum pd_code code)
{
    struct json *body = json_new_object();
    struct pd_err err;
    pd_fail(&err, code, "the server refused");
    json_put_num(body, "status", 400);
    json_set(body, "error", errjson_make(&err));
    fx_send(f, MSG_REPLY, effect, body);
}

static const struct log_line *last(const struct fx *f)
{
    return session_log_line(f->s, session_log_count(f->s) - 1);
}

static size_t count(const struct fx *f, enum effect_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < f->out.n; i++)
        n += f->out.v[i].kind == kind;
    return n;
}

TEST(a_pod_of_two_containers_shows_the_first)
{
    struct fx f;
    begin(&f);
    struct effect *e = fx_effect(&f, EFF_LOG, "pod", "two");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "container", ""), "main");
    CHECK_INT(json_int(e->args, "tail", 0), -1);
    CHECK(json_bool(e->args, "follow", false));
    CHECK(!session_log_is_run(f.s));
    fx_end(&f);
}

TEST(all_containers_are_followed_and_told_apart)
{
    struct fx f;
    begin(&f);
    size_t logs = count(&f, EFF_LOG), cancels = count(&f, EFF_CANCEL);
    fx_cmd(&f, "log.containers", NULL, NULL);
    CHECK_INT(count(&f, EFF_LOG) - logs, 1);
    struct effect *all = fx_effect(&f, EFF_LOG, NULL, NULL);
    CHECK(json_bool(all->args, "all", false));
    uint32_t stream = all->id;
    fx_send(&f, MSG_LOG_STATE, stream, json_from("{\"state\":\"containers\",\"containers\":["
                                                 "\"prep\",\"main\",\"side\"]}"));
    CHECK_INT(count(&f, EFF_CANCEL) - cancels, 1);       /* of the one before */
    CHECK_INT(f.s->log_view.sources, 3);
    line_of(&f, stream, "side", "of the side");
    line_of(&f, stream, "prep", "of the first");
    line_of(&f, stream, "nobody", "of none");
    CHECK_INT(session_log_count(f.s), 2);
    CHECK_INT(session_log_line(f.s, 0)->source, 2);
    CHECK_STR(f.s->log_view.source[2].container, "side");
    CHECK_STR(f.s->log_view.source[0].container, "prep");
    fx_cmd(&f, "log.save", "/w/all.log", NULL);
    struct effect *e = fx_effect(&f, EFF_WRITE, "path", "/w/all.log");
    CHECK_STR(json_str(e->args, "text", ""), "side of the side\nprep of the first\n");
    fx_send(&f, MSG_LOG_STATE, stream, json_from("{\"state\":\"ended\",\"container\":\"prep\"}"));
    CHECK_INT(last(&f)->kind, LOG_END);
    CHECK(f.s->log_view.state != LOG_OVER);
    cancels = count(&f, EFF_CANCEL);
    fx_cmd(&f, "log.containers", NULL, NULL);
    CHECK_INT(count(&f, EFF_CANCEL) - cancels, 1);       /* one stream served them all */
    fx_end(&f);
}

TEST(since_and_previous_ask_the_server)
{
    struct fx f;
    begin(&f);
    line(&f, 0, "old");
    fx_cmd(&f, "log.since", "5m", NULL);
    struct effect *e = fx_effect(&f, EFF_LOG, NULL, NULL);
    CHECK_INT(json_int(e->args, "since", 0), 300);
    CHECK_INT(session_log_count(f.s), 0);
    fx_cmd(&f, "log.since", "tail", NULL);
    e = fx_effect(&f, EFF_LOG, NULL, NULL);
    CHECK_INT(json_int(e->args, "since", 0), 0);
    CHECK_INT(json_int(e->args, "tail", 0), 500);
    fx_cmd(&f, "log.previous", NULL, NULL);
    e = fx_effect(&f, EFF_LOG, NULL, NULL);
    CHECK(json_bool(e->args, "previous", false));
    CHECK(!json_bool(e->args, "follow", true));
    size_t logs = count(&f, EFF_LOG);
    fx_cmd(&f, "log.since", "5 minutes", NULL);
    CHECK_INT(count(&f, EFF_LOG), logs);
    CHECK_INT(f.s->message_code, PD_USAGE);
    fx_end(&f);
}

TEST(lines_are_made_safe_and_short)
{
    struct fx f;
    struct str big;
    begin(&f);
    line(&f, 0, "  1%\r 50%\r100%\r");
    CHECK_STR(last(&f)->text, "100%");
    line(&f, 0, "\033[31mred\033[0m \033]0;t\007x");
    CHECK_STR(last(&f)->text, "red x");
    str_init(&big, 4 << 20);
    for (int i = 0; i < 500000; i++)
        str_add(&big, "中");
    line(&f, 0, big.p);
    CHECK(last(&f)->cut);
    CHECK(strlen(last(&f)->text) <= SESSION_LINE_BYTES);
    CHECK(strlen(last(&f)->text) > SESSION_LINE_BYTES - 4);
    CHECK_INT(strlen(last(&f)->text) % 3, 0);            /* no half character */
    line(&f, 0, "short");
    CHECK(!last(&f)->cut);
    str_release(&big);
    fx_end(&f);
}

TEST(the_log_has_a_ceiling_and_counts_what_goes)
{
    struct fx f;
    char text[40];
    begin(&f);
    for (int i = 0; i < SESSION_LOG_LINES + 50; i++)
        line(&f, 0, str_fmt(text, sizeof text, "line %d", i));
    CHECK_INT(session_log_count(f.s), SESSION_LOG_LINES);
    CHECK_INT(f.s->log_dropped, 50);
    CHECK_STR(session_log_line(f.s, 0)->text, "line 50");
    struct str big;
    str_init(&big, 1 << 20);
    for (int i = 0; i < SESSION_LINE_BYTES; i++)
        str_addc(&big, 'x');
    for (int i = 0; i < 400; i++)
        line(&f, 0, big.p);
    CHECK(f.s->log_bytes <= SESSION_LOG_BYTES);
    CHECK_INT(session_log_count(f.s), SESSION_LOG_BYTES / SESSION_LINE_BYTES);
    size_t bytes = 0;
    for (size_t i = 0; i < session_log_count(f.s); i++)
        bytes += strlen(session_log_line(f.s, i)->text);
    CHECK_INT(bytes, f.s->log_bytes);
    str_release(&big);
    fx_end(&f);
}

TEST(gaps_and_ends_stand_between_the_lines)
{
    struct fx f;
    begin(&f);
    state(&f, 0, "open", NULL);
    line(&f, 0, "one");
    state(&f, 0, "retrying", "connection refused");
    CHECK_INT(f.s->log_view.state, LOG_WAITING);
    CHECK_STR(f.s->log_view.error, "connection refused");
    state(&f, 0, "open", NULL);
    CHECK_INT(last(&f)->kind, LOG_TEXT);         /* whether lines are lost isn't known yet */
    line(&f, 0, "two");
    CHECK_INT(session_log_line(f.s, 1)->kind, LOG_AGAIN);
    CHECK_STR(last(&f)->text, "two");
    CHECK_INT(f.s->log_view.state, LOG_OPEN);
    state(&f, 0, "retrying", "connection refused");
    state(&f, 0, "open", NULL);
    state(&f, 0, "gap", "lines between a and b are gone");
    line(&f, 0, "three");
    CHECK_INT(session_log_count(f.s), 5);        /* not "nothing is lost" as well */
    CHECK_INT(session_log_line(f.s, 3)->kind, LOG_GAP);
    state(&f, 0, "restart", "container restarted, exit code 1");
    CHECK_INT(last(&f)->kind, LOG_RESTART);
    CHECK_STR(last(&f)->text, "container restarted, exit code 1");
    state(&f, 0, "gap", "lines between a and b are gone");
    CHECK_INT(last(&f)->kind, LOG_GAP);
    CHECK_HAS(last(&f)->text, "between a and b");
    state(&f, 0, "ended", NULL);
    CHECK_INT(last(&f)->kind, LOG_END);
    CHECK_INT(f.s->log_view.state, LOG_OVER);
    fx_end(&f);
}

/* A pod that waits from the start has no link to come back. */
TEST(waiting_is_not_a_break)
{
    struct fx f;
    begin(&f);
    state(&f, 0, "retrying", "no route to host");
    state(&f, 0, "open", NULL);
    line(&f, 0, "zero");
    CHECK_INT(session_log_count(f.s), 1);                /* it was not open before */
    state(&f, 0, "waiting", "container is waiting to start");
    CHECK_INT(f.s->log_view.state, LOG_WAITING);
    state(&f, 0, "open", NULL);
    line(&f, 0, "one");
    state(&f, 0, "waiting", "back-off 10s");
    state(&f, 0, "open", NULL);
    CHECK_INT(last(&f)->kind, LOG_WAIT);
    CHECK_STR(last(&f)->text, "back-off 10s");
    line(&f, 0, "two");
    for (size_t i = 0; i < session_log_count(f.s); i++)
        CHECK(session_log_line(f.s, i)->kind != LOG_AGAIN);
    fx_end(&f);
}

TEST(the_run_goes_on_beside_another_log)
{
    struct fx f;
    begin(&f);
    fx_list(&f, "jobs", "[{\"metadata\":{\"name\":\"j\",\"uid\":\"u1\",\"creationTimestamp\":"
                        "\"2027-01-15T08:00:01Z\"}}]");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"j-1\",\"uid\":\"p1\",\"ownerReferences\":[{"
                        "\"uid\":\"u1\"}]},\"status\":{\"containerStatuses\":[{\"name\":\"c\","
                        "\"state\":{\"running\":{}}}]}}]");
    uint32_t run = session_priv(f.s)->run_stream;
    CHECK(run != 0);
    CHECK(session_log_is_run(f.s));
    CHECK_STR(f.s->log_view.pod, "j-1");
    size_t cancels = count(&f, EFF_CANCEL);
    fx_cmd(&f, "log.since", "1m", NULL);
    CHECK_INT(session_priv(f.s)->run_stream, run);
    CHECK_INT(count(&f, EFF_CANCEL), cancels);           /* the run's stream lives */
    CHECK(!session_log_is_run(f.s));
    struct json *body = json_from("{\"text\":\"{\\\"v\\\":1,\\\"ev\\\":\\\"step\\\",\\\"step\\\":1,"
                                  "\\\"loss\\\":5}\",\"ts\":1}");
    fx_send(&f, MSG_LOG_LINE, run, body);
    CHECK_INT(series_count(f.s->run.loss), 1);
    CHECK_INT(session_log_count(f.s), 0);                /* not on show */
    fx_end(&f);
}

TEST(all_pods_are_asked_for_once_at_a_time)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "nodes.look", NULL, NULL);
    fx_cmd(&f, "nodes.look", NULL, NULL);
    CHECK_INT(count(&f, EFF_LIST), 1);
    struct effect *e = fx_effect(&f, EFF_LIST, "resource", "pods");
    CHECK_STR(json_str(e->args, "namespace", "?"), "");
    CHECK(json_bool(e->args, "rows", false));
    size_t own = json_count(session_table(f.s, "pods")->items);
    fx_send(&f, MSG_LIST, e->id, json_from("{\"resource\":\"pods\",\"more\":true,"
                                             "\"items\":[{},{}]}"));
    CHECK_INT(json_count(f.s->all_pods.items), 2);       /* on show before the last has come */
    CHECK(!f.s->all_pods.synced);
    fx_send(&f, MSG_LIST, e->id, json_from("{\"resource\":\"pods\",\"items\":[{}],\"from\":2}"));
    fx_send(&f, MSG_REPLY, e->id, json_from("{\"status\":200}"));
    CHECK_INT(json_count(f.s->all_pods.items), 3);
    CHECK_INT(json_count(session_table(f.s, "pods")->items), own);
    CHECK(f.s->all_pods.synced && !f.s->all_pods.forbidden);
    fx_cmd(&f, "nodes.look", NULL, NULL);
    e = fx_effect(&f, EFF_LIST, "resource", "pods");
    refuse(&f, e->id, PD_FORBIDDEN);
    CHECK(f.s->all_pods.forbidden);
    CHECK_INT(f.s->message_code, PD_OK);                 /* said where it matters */
    fx_end(&f);
}

TEST(a_pod_is_deleted_by_its_uid)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "pod.delete", "two", NULL);
    CHECK(!fx_effect(&f, EFF_DELETE, NULL, NULL));
    fx_cmd(&f, "pod.delete", "two u2", NULL);
    struct effect *e = fx_effect(&f, EFF_DELETE, "name", "two");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "uid", ""), "u2");
    refuse(&f, e->id, PD_CONFLICT);
    CHECK_HAS(f.s->message, "another pod of the same name");
    fx_end(&f);
}

T_MAIN
