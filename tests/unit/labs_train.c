/* labs_train.c - the run seen by the session: followed from its first line,
 * steered over attach, taken up again after a restart. */
#include "tests/unit/labs_fixture.h"

static const char lab[] = "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"
                          "steps:\n  - id: a\n    title: A\n    say: s\n"
                          "    do: [{train: {command: step, args: 2}}]\n"
                          "    checks: [{title: T, control: {command: step}}]\n";

static void job(struct fx *f, const char *uid, const char *pod_state)
{
    char text[600];
    snprintf(text, sizeof text, "[{\"metadata\":{\"name\":\"j\",\"uid\":\"%s\","
                                "\"creationTimestamp\":"
                                "\"2027-01-15T08:00:00Z\"}}]", uid);
    fx_list(f, "jobs", text);
    snprintf(text, sizeof text,
             "[{\"metadata\":{\"name\":\"j-%s\",\"uid\":\"pod-%s\",\"ownerReferences\":[{\"uid\":"
             "\"%s\"}]},"
             "\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"%s\":{}}}]}}]",
             uid, uid, uid, pod_state);
    fx_list(f, "pods", text);
}

static void line_of(struct fx *f, uint32_t stream, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "text", text);
    json_put_num(body, "ts", (double)f->now++);
    fx_send(f, MSG_LOG_LINE, stream, body);
}

static void line(struct fx *f, const char *text)
{
    line_of(f, session_priv(f->s)->run_stream, text);
}

static void steps(struct fx *f, int from, int to)
{
    for (int i = from; i <= to; i++) {
        char text[120];
        snprintf(text, sizeof text, "{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%d}", i,
                 100 - i);
        line(f, text);
    }
}

static void begin(struct fx *f)
{
    fx_open(f, lab, NULL);
    fx_all_synced(f);
    job(f, "u1", "waiting");
}

TEST(the_log_is_followed_whole_once_the_container_began)
{
    struct fx f;
    begin(&f);
    CHECK(!fx_effect(&f, EFF_LOG, NULL, NULL));
    job(&f, "u1", "running");
    struct effect *e = fx_effect(&f, EFF_LOG, "pod", "j-u1");
    CHECK(e != NULL);
    CHECK_INT(json_int(e->args, "tail", 0), -1);
    size_t n = f.out.n;
    job(&f, "u1", "running");                      /* once */
    CHECK(fx_effect(&f, EFF_LOG, NULL, NULL) == fx_effect(&f, EFF_LOG, "pod", "j-u1"));
    CHECK_INT(f.out.n, n);
    fx_end(&f);
}

TEST(a_new_pod_is_a_new_curve)
{
    struct fx f;
    begin(&f);
    job(&f, "u1", "running");
    uint32_t old = session_priv(f.s)->run_stream;
    steps(&f, 1, 5);
    CHECK_INT(series_count(f.s->run.loss), 5);
    job(&f, "u2", "running");
    CHECK_INT(series_count(f.s->run.loss), 0);
    CHECK_INT(session_log_count(f.s), 0);
    line_of(&f, old, "{\"v\":1,\"ev\":\"step\",\"step\":6,\"loss\":1}");
    CHECK_INT(series_count(f.s->run.loss), 0);     /* what the old one still says */
    fx_end(&f);
}

static const char journal[] =
    "{\"seq\":1,\"at_ms\":1799999990000,\"ev\":\"attempt\",\"seed\":5}\n"
    "{\"seq\":2,\"at_ms\":1799999991000,\"ev\":\"made\",\"key\":\"jobs/j\",\"value\":"
    "{\"uid\":\"u1\",\"at_ms\":1799999991000}}\n";

TEST(after_a_restart_the_curve_is_whole)
{
    struct fx f;
    struct str csv;
    fx_begin(&f, lab, NULL);
    fx_progress(&f, journal, NULL);
    fx_all_synced(&f);
    job(&f, "u1", "running");
    CHECK(fx_effect(&f, EFF_LOG, "pod", "j-u1") != NULL);
    steps(&f, 1, 40);
    str_init(&csv, 1 << 16);
    session_csv(f.s, &csv);
    int rows = 0;
    for (const char *p = csv.p; (p = strchr(p, '\n')); p++)
        rows++;
    CHECK_INT(rows, 41);
    str_release(&csv);
    fx_end(&f);
}

TEST(steering_waits_for_attach_and_for_the_log)
{
    struct fx f;
    begin(&f);
    job(&f, "u1", "running");
    fx_cmd(&f, "step.run", NULL, NULL);
    CHECK(!fx_effect(&f, EFF_ATTACH, NULL, NULL)); /* the run has not said hello */
    line(&f, "{\"v\":1,\"ev\":\"hello\",\"steps\":10}");
    struct effect *e = fx_effect(&f, EFF_ATTACH, "pod", "j-u1");
    CHECK(e != NULL);
    CHECK(!fx_effect(&f, EFF_ATTACH_SEND, NULL, NULL));
    uint32_t stream = e->id;
    fx_send(&f, MSG_ATTACH, stream, json_from("{\"state\":\"open\"}"));
    e = fx_effect(&f, EFF_ATTACH_SEND, NULL, NULL);
    CHECK(e != NULL);
    CHECK_INT(json_int(e->args, "stream", 0), stream);
    const char *sent = json_str(e->args, "text", "");
    char id[32] = "", answer[200];
    CHECK_INT(sscanf(sent, "#%31s step 2", id), 1);
    CHECK_HAS(sent, " step 2\n");
    CHECK_INT(session_priv(f.s)->act.state, ACTION_RUNNING);
    snprintf(answer, sizeof answer,
             "{\"v\":1,\"ev\":\"answer\",\"id\":\"%s\",\"cmd\":\"step\",\"ok\":true,\"step\":1,"
             "\"n\":2}", id);
    line(&f, answer);
    CHECK_INT(session_priv(f.s)->act.state, ACTION_RUNNING);
    steps(&f, 2, 3);                               /* the two steps were taken */
    CHECK_INT(session_priv(f.s)->act.state, ACTION_IDLE);
    CHECK(f.s->finished);
    fx_end(&f);
}

TEST(a_refused_command_fails_the_action)
{
    struct fx f;
    char id[32], answer[200];
    begin(&f);
    job(&f, "u1", "running");
    line(&f, "{\"v\":1,\"ev\":\"hello\",\"steps\":10}");
    fx_cmd(&f, "step.run", NULL, NULL);
    fx_send(&f, MSG_ATTACH, f.s->attach_stream, json_from("{\"state\":\"open\"}"));
    CHECK_INT(sscanf(json_str(fx_effect(&f, EFF_ATTACH_SEND, NULL, NULL)->args, "text", ""),
                     "#%31s", id), 1);
    snprintf(answer, sizeof answer, "{\"v\":1,\"ev\":\"answer\",\"id\":\"%s\",\"cmd\":\"step\","
                                    "\"ok\":false,\"text\":\"not now\"}", id);
    line(&f, answer);
    CHECK(session_priv(f.s)->act_failed);
    CHECK_HAS(f.s->message, "not now");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    fx_end(&f);
}

TEST(a_lost_attach_is_made_again_for_what_was_not_sent)
{
    struct fx f;
    begin(&f);
    job(&f, "u1", "running");
    line(&f, "{\"v\":1,\"ev\":\"hello\",\"steps\":10}");
    fx_cmd(&f, "train.pause", NULL, NULL);
    uint32_t first = f.s->attach_stream;
    fx_send(&f, MSG_ATTACH, first, json_from("{\"state\":\"open\"}"));
    fx_send(&f, MSG_ATTACH, first, json_from("{\"state\":\"closed\",\"error\":{\"code\":"
                                             "\"PD-NET\",\"text\":\"gone\"}}"));
    CHECK(!f.s->attach_open);
    fx_cmd(&f, "train.resume", NULL, NULL);
    CHECK(f.s->attach_stream != 0 && f.s->attach_stream != first);
    fx_send(&f, MSG_ATTACH, f.s->attach_stream, json_from("{\"state\":\"open\"}"));
    CHECK_HAS(json_str(fx_effect(&f, EFF_ATTACH_SEND, NULL, NULL)->args, "text", ""), " resume\n");
    fx_end(&f);
}

TEST(nothing_is_steered_when_the_run_is_over)
{
    struct fx f;
    begin(&f);
    fx_cmd(&f, "train.pause", NULL, NULL);
    CHECK_HAS(f.s->message, "no run");
    job(&f, "u1", "running");
    line(&f, "{\"v\":1,\"ev\":\"done\",\"steps\":1,\"loss\":1}");
    fx_cmd(&f, "train.pause", NULL, NULL);
    CHECK_HAS(f.s->message, "over");
    CHECK(!fx_effect(&f, EFF_ATTACH, NULL, NULL));
    fx_end(&f);
}

TEST(the_csv_is_kept_when_the_run_is_done)
{
    struct fx f;
    begin(&f);
    job(&f, "u1", "running");
    steps(&f, 1, 3);
    line(&f, "{\"v\":1,\"ev\":\"done\",\"steps\":3,\"loss\":97}");
    struct effect *e = fx_effect(&f, EFF_WRITE, "path", "/w/x/run.csv");
    CHECK(e != NULL);
    CHECK_HAS(json_str(e->args, "text", ""), "\n3,97,");
    CHECK_STR(f.s->run_csv, "/w/x/run.csv");
    fx_end(&f);
}

TEST(a_log_that_ends_without_a_last_record_is_an_error)
{
    struct fx f;
    begin(&f);
    job(&f, "u1", "running");
    steps(&f, 1, 3);
    fx_send(&f, MSG_LOG_STATE, session_priv(f.s)->run_stream, json_from("{\"state\":\"ended\"}"));
    CHECK_STR(f.s->run.state, "error");
    CHECK_HAS(f.s->run.error, "from outside");
    fx_end(&f);
}

/* The same messages give the same state: what replay needs. */
TEST(the_same_messages_give_the_same_state)
{
    char *texts[2];
    for (int k = 0; k < 2; k++) {
        struct fx f;
        struct str all;
        begin(&f);
        job(&f, "u1", "running");
        steps(&f, 1, 20);
        fx_cmd(&f, "train.rate", "0.5", NULL);
        str_init(&all, 1 << 20);
        for (size_t i = 0; i < f.out.n; i++) {
            struct json *j = effect_to_json(&f.out.v[i]);
            json_print(j, 0, &all);
            json_free(j);
        }
        str_printf(&all, "%s %d %" PRIu64, f.s->message, (int)f.s->run.step, f.s->generation);
        texts[k] = str_take(&all);
        str_release(&all);
        fx_end(&f);
    }
    CHECK_STR(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

T_MAIN
