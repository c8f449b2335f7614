/* labs_check.c - each kind of check: right, wrong, not yet, stale, unknown. */
#include "tests/unit/labs_fixture.h"

#define HEAD "podium: 1\nid: x\ntitle: X\nrun: {job: j, container: c}\n"

/* One step with one check. */
static void open_check(struct fx *f, const char *check)
{
    char *yaml = xasprintf(HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
                                "      - {title: T, %s}\n", check);
    fx_open(f, yaml, NULL);
    fx_all_synced(f);
    free(yaml);
}

#define NEW_JOB "\"metadata\":{\"name\":\"j\",\"uid\":\"u\",\"creationTimestamp\":" \
                "\"2027-01-15T08:00:00Z\",\"generation\":2}"
#define OLD_JOB "\"metadata\":{\"name\":\"j\",\"uid\":\"u\",\"creationTimestamp\":" \
                "\"2027-01-15T07:59:00Z\"}"

/* --- object ------------------------------------------------------------------------------- */

TEST(object_spec_is_wrong_status_is_not_yet)
{
    struct fx f;
    open_check(&f, "object: {kind: jobs, name: j, expect: {spec.a: 1, status.b: 2}}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"spec\":{\"a\":3},\"status\":{\"b\":2}}]");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_STR(fx_ev(&f, 0)->object, "jobs/j");
    CHECK_STR(fx_ev(&f, 0)->path, "spec.a");
    CHECK_STR(fx_ev(&f, 0)->expected, "1");
    CHECK_STR(fx_ev(&f, 0)->actual, "3");
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"spec\":{\"a\":1},\"status\":{}}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_STR(fx_ev(&f, 0)->actual, "(missing)");
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"spec\":{\"a\":1},\"status\":{\"b\":2}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(object_of_an_earlier_attempt_is_stale)
{
    struct fx f;
    open_check(&f, "object: {kind: jobs, name: j, expect: {spec.a: 1}}");
    fx_list(&f, "jobs", "[{" OLD_JOB ",\"spec\":{\"a\":1}}]");
    CHECK_RESULT(&f, 0, CHECK_STALE);
    fx_end(&f);
    open_check(&f, "object: {kind: jobs, name: j, own: no, expect: {spec.a: 1}}");
    fx_list(&f, "jobs", "[{" OLD_JOB ",\"spec\":{\"a\":1}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* A Job made in this attempt, then replaced by another of the same name. */
TEST(object_with_another_uid_than_ours_is_stale)
{
    struct fx f;
    open_check(&f, "object: {kind: jobs, name: j, expect: {spec.a: 1}}");
    struct json *made = json_from("{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":"
                                  "{\"name\":\"j\",\"uid\":\"mine\"}}");
    f.now += 60000;
    session_priv(f.s)->now_ms = f.now;
    session_made(f.s, made, &f.out);
    json_free(made);
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"spec\":{\"a\":1}}]");
    CHECK_RESULT(&f, 0, CHECK_STALE);
    fx_list(&f, "jobs", "[{\"metadata\":{\"name\":\"j\",\"uid\":\"mine\",\"creationTimestamp\":"
                        "\"2027-01-15T07:00:00Z\"},\"spec\":{\"a\":1}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(object_status_waits_for_the_newest_generation)
{
    struct fx f;
    open_check(&f, "object: {kind: jobs, name: j, expect: {status.b: 2}}");
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"status\":{\"b\":2,\"observedGeneration\":1}}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"status\":{\"b\":2,\"observedGeneration\":2}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(object_wrong_if_ends_the_hope)
{
    struct fx f;
    open_check(&f, "object: {kind: pods, job: j, expect: {status.phase: Running},"
                   " wrong_if: {status.phase: Failed}}, because: [{has: BackOff, tell: look}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "jobs", "[{" NEW_JOB "}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"j-abcde\",\"ownerReferences\":[{\"uid\":"
                        "\"other\"}]},"
                        "\"status\":{\"phase\":\"Running\"}}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);            /* another Job's pod */
    fx_list(&f, "events", "[{\"involvedObject\":{\"name\":\"j-abcde\"},\"reason\":\"BackOff\","
                          "\"message\":\"m\",\"lastTimestamp\":\"2027-01-15T08:00:01Z\"}]");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"j-abcde\",\"ownerReferences\":[{\"uid\":"
                        "\"u\"}]},"
                        "\"status\":{\"phase\":\"Failed\"}}]");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_STR(fx_ev(&f, 0)->object, "pods/j-abcde");
    CHECK_HAS(fx_ev(&f, 0)->event, "BackOff: m");
    CHECK_STR(fx_ev(&f, 0)->because, "look");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"j-abcde\",\"ownerReferences\":[{\"uid\":"
                        "\"u\"}]},"
                        "\"status\":{\"phase\":\"Running\"}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* --- condition, count, event ----------------------------------------------------------------- */

TEST(condition_true_false_and_failed)
{
    struct fx f;
    open_check(&f, "condition: {kind: jobs, name: j, type: Complete, fail: Failed}");
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"status\":{}}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"status\":{\"conditions\":[{\"type\":\"Complete\","
                        "\"status\":\"True\"}]}}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
    open_check(&f, "condition: {kind: jobs, name: j, type: Complete, fail: Failed}");
    fx_list(&f, "jobs", "[{" NEW_JOB ",\"status\":{\"conditions\":[{\"type\":\"Failed\","
                        "\"status\":\"True\",\"reason\":\"BackoffLimitExceeded\",\"message\":"
                        "\"m\"}]}}]");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_HAS(fx_ev(&f, 0)->because, "BackoffLimitExceeded");
    fx_end(&f);
}

TEST(count_against_the_person_s_answer)
{
    struct fx f;
    open_check(&f, "count: {kind: nodes, where: {status.ok: yes}, file: c.yaml, path: k}");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);            /* the file has not been read */
    fx_list(&f, "nodes", "[{\"status\":{\"ok\":true}},{\"status\":{\"ok\":false}}]");
    fx_file(&f, "c.yaml", NULL);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_file(&f, "c.yaml", "k: 2\n");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_STR(fx_ev(&f, 0)->object, "c.yaml:1:4");
    CHECK_STR(fx_ev(&f, 0)->path, "k");
    CHECK_STR(fx_ev(&f, 0)->expected, "1");
    CHECK_STR(fx_ev(&f, 0)->actual, "2");
    fx_file(&f, "c.yaml", "k: {\n");
    CHECK_RESULT(&f, 0, CHECK_WRONG);              /* no YAML */
    fx_file(&f, "c.yaml", "k: 1\n");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(event_since_this_attempt)
{
    struct fx f;
    open_check(&f, "event: {about: j, reason: Pulled}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_list(&f, "events", "[{\"involvedObject\":{\"name\":\"j-abcde\"},\"reason\":\"Pulled\","
                          "\"lastTimestamp\":\"2027-01-15T07:00:00Z\"}]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    /* the scheduler's style of time */
    fx_list(&f, "events", "[{\"involvedObject\":{\"name\":\"j-abcde\"},\"reason\":\"Pulled\","
                          "\"lastTimestamp\":null,\"eventTime\":\"2027-01-15T08:00:01.123456Z\"}]");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* --- file ----------------------------------------------------------------------------------- */

static void put(const char *dir, const char *name, const char *text)
{
    struct pd_err err;
    char *path = path_join(dir, name);
    CHECK_OK(path_write_atomic(path, 0600, text, strlen(text), &err));
    free(path);
}

TEST(file_untouched_is_not_yet_and_changed_is_wrong)
{
    struct fx f;
    put(t_dir(), "job.yaml", "a: {mem: MEMORY, args: [x, --rate=RATE]}\n");
    fx_open(&f, HEAD "steps:\n  - id: a\n    title: A\n    say: s\n"
                     "    files: [{name: job.yaml, from: job.yaml, edit: yes}]\n    checks:\n"
                     "      - {title: M, file: {file: job.yaml, path: a.mem, is: {min: 384Mi, "
                     "max: 2Gi}}}\n"
                     "      - {title: R, file: {file: job.yaml, path: 'a.args[-1]', after: --rate=,"
                     " is: {min: 0.0005, max: 0.01}}}\n", t_dir());
    fx_all_synced(&f);
    CHECK(fx_effect(&f, EFF_WRITE, "path", "/w/x/job.yaml") != NULL);
    fx_file(&f, "job.yaml", "a: {mem: MEMORY, args: [x, --rate=RATE]}\n");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_RESULT(&f, 1, CHECK_NOT_YET);
    static const struct {
        const char *mem, *rate;
        enum check_result m, r;
    } cases[] = {{"64Mi", "0", CHECK_WRONG, CHECK_WRONG},
                 {"384M", "0.5", CHECK_WRONG, CHECK_WRONG},
                 {"512", "x", CHECK_WRONG, CHECK_WRONG},
                 {"4Gi", "-1", CHECK_WRONG, CHECK_WRONG},
                 {"512Mi", "0.003", CHECK_PASS, CHECK_PASS},
                 {"1Gi", "5e-4", CHECK_PASS, CHECK_PASS}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "a: {mem: %s, args: [x, --rate=%s]}\n", cases[i].mem,
                 cases[i].rate);
        fx_file(&f, "job.yaml", text);
        CHECK_RESULT(&f, 0, cases[i].m);
        CHECK_RESULT(&f, 1, cases[i].r);
        if (cases[i].m == CHECK_WRONG) {
            CHECK_STR(fx_ev(&f, 0)->object, "job.yaml:1:10");
            CHECK_STR(fx_ev(&f, 0)->path, "a.mem");
            CHECK_STR(fx_ev(&f, 0)->actual, cases[i].mem);
            CHECK_HAS(fx_ev(&f, 0)->expected, "384Mi");
        }
    }
    CHECK(f.s->finished);
    fx_end(&f);
}

TEST(file_names_a_resource_of_the_cluster)
{
    struct fx f;
    open_check(&f, "file: {file: c.yaml, path: r,"
                   " key_of: {kind: nodes, path: status.allocatable, has: gaudi}}");
    fx_file(&f, "c.yaml", "r: intel.com/gaudi\n");
    fx_list(&f, "nodes", "[{\"status\":{\"allocatable\":{\"habana.ai/gaudi\":\"8\",\"cpu\":\"2\"}"
                         "}}]");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    CHECK_HAS(fx_ev(&f, 0)->expected, "habana.ai/gaudi");
    fx_cluster(&f, "down");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_cluster(&f, "up");
    fx_file(&f, "c.yaml", "r: habana.ai/gaudi\n");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* --- the run: log, metric, control, adapter ------------------------------------- */

static void pod_runs(struct fx *f)
{
    fx_list(f, "jobs", "[{" NEW_JOB "}]");
    fx_list(f, "pods", "[{\"metadata\":{\"name\":\"j-abcde\",\"uid\":\"p1\",\"ownerReferences\":"
                       "[{\"uid\":\"u\"}]},"
                       "\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"name\":\"c\","
                       "\"state\":{\"running\":{}}}]}}]");
}

static void line(struct fx *f, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "text", text);
    json_put_num(body, "ts", (double)f->now);
    f->now += 1000;
    fx_send(f, MSG_LOG_LINE, session_priv(f->s)->run_stream, body);
}

static void train(struct fx *f, int steps, double from, double to)
{
    line(f, "{\"v\":1,\"ev\":\"hello\",\"steps\":100}");
    for (int i = 1; i <= steps; i++) {
        char text[200];
        double v = from + (to - from) * i / steps;
        snprintf(text, sizeof text, "{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%.6f}", i, v);
        line(f, text);
        snprintf(text, sizeof text, "{\"v\":1,\"ev\":\"eval\",\"step\":%d,\"val_loss\":%.6f}", i,
                 v);
        line(f, text);
    }
}

static const char done[] = "{\"v\":1,\"ev\":\"done\",\"steps\":10,\"loss\":1,\"val_loss\":1}";

TEST(metric_needs_points_and_a_fall)
{
    struct fx f;
    open_check(&f, "metric: {series: val, points: 10, fall: 0.3}");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);            /* no log is read */
    pod_runs(&f);
    CHECK(session_priv(f.s)->run_stream != 0);
    train(&f, 9, 4, 2);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    line(&f, "{\"v\":1,\"ev\":\"eval\",\"step\":10,\"val_loss\":3.9}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    line(&f, done);
    CHECK_RESULT(&f, 0, CHECK_WRONG);              /* it is over and did not fall */
    fx_end(&f);
    open_check(&f, "metric: {series: val, points: 10, fall: 0.3}");
    pod_runs(&f);
    train(&f, 10, 4, 2.5);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(metric_of_another_pod_is_not_ours)
{
    struct fx f;
    open_check(&f, "metric: {series: loss, points: 1}");
    fx_list(&f, "jobs", "[{" OLD_JOB "}]");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"j-abcde\",\"uid\":\"p1\",\"ownerReferences\":"
                        "[{\"uid\":\"u\"}]},"
                        "\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"state\":"
                        "{\"running\":{}}}]}}]");
    CHECK_INT(session_priv(f.s)->run_stream, 0);
    CHECK_RESULT(&f, 0, CHECK_STALE);
    fx_end(&f);
}

TEST(log_has_a_text)
{
    struct fx f;
    open_check(&f, "log: {has: ready}");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    pod_runs(&f);
    line(&f, "starting");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    line(&f, "now ready");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* The run's log is followed for its checks whatever log is on show, and a line
 * that scrolled away long ago still counts. */
TEST(log_is_judged_beside_another_log)
{
    struct fx f;
    open_check(&f, "log: {has: now ready}");
    pod_runs(&f);
    fx_cmd(&f, "log.follow", "another", NULL);
    CHECK(!session_log_is_run(f.s));
    line(&f, "starting");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_STR(f.s->progress[0].checks[0].actual, "starting");
    line(&f, "\033[1mnow \033[32mready\033[0m");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK_STR(f.s->progress[0].checks[0].actual, "now ready");
    for (int i = 0; i < SESSION_LOG_LINES + 10; i++)
        session_log_append(f.s, 0, "x", 0, false);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(control_counts_only_what_the_log_answered)
{
    struct fx f;
    open_check(&f, "control: {command: rate, is: {min: 0.001, max: 0.01}}");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    pod_runs(&f);
    train(&f, 1, 4, 4);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_cmd(&f, "train.rate", "0.002", NULL);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);            /* asked is not answered */
    line(&f, "{\"v\":1,\"ev\":\"answer\",\"id\":\"q\",\"cmd\":\"rate\",\"ok\":true,\"rate\":0.5}");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    line(&f, "{\"v\":1,\"ev\":\"answer\",\"id\":\"r\",\"cmd\":\"rate\",\"ok\":true,\"rate\":"
             "0.002}");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

static void copied(struct fx *f)
{
    session_set_fact(f->s, "copy", json_from("{\"to\":\"out\",\"sha256\":\"ab\",\"files\":2}"),
                     &f->out);
    fx_cmd(f, "step.check", NULL, NULL);
}

static void evaluated(struct fx *f, const char *record, int code)
{
    uint32_t id = session_priv(f->s)->asks[0].effect;
    CHECK_MSG(id != 0, "nothing was asked");
    struct json *body = json_new_object(), *r = NULL;
    struct pd_err err;
    if (json_parse(record, strlen(record), &r, &err)) {
        r = json_new_object();
        json_put_str(r, "text", record);
    }
    json_set(body, "record", r);
    fx_send(f, MSG_CHILD_LINE, id, body);
    body = json_new_object();
    json_put_num(body, "code", code);
    fx_send(f, MSG_CHILD_EXIT, id, body);
}

static const char adapter_check[] = "adapter: {dir: out, eval: [--model=m, --data=d], gain: 0.05,"
                                    " tolerance: 0.02}";

TEST(adapter_is_evaluated_here_and_compared_with_the_log)
{
    static const struct {
        const char *record;
        int code;
        enum check_result want;
        const char *why;
    } cases[] = {
        {"{\"ev\":\"done\",\"val_loss\":2.0,\"base_loss\":4.0}", 0, CHECK_PASS, ""},
        /* a pod that only printed falling lines, a rate of 0: nothing changes */
        {"{\"ev\":\"done\",\"val_loss\":4.0,\"base_loss\":4.0}", 0, CHECK_WRONG, "nothing was "
                                                                                 "learned"},
        /* some adapter, but not the one of this log */
        {"{\"ev\":\"done\",\"val_loss\":2.5,\"base_loss\":4.0}", 0, CHECK_WRONG, "the log claims"},
        {"{\"ev\":\"done\",\"val_loss\":1.5,\"base_loss\":4.0}", 0, CHECK_WRONG, "the log claims"},
        {"{\"v\":1,\"ev\":\"done\",\"val_loss\":NaN,\"base_loss\":4.0}", 0, CHECK_WRONG, "no "
                                                                                         "number"},
        {"{\"ev\":\"error\",\"code\":\"PD-DATA\",\"text\":\"no tensor\"}", 1, CHECK_WRONG, "no "
                                                                                           "a"
                                                                                           "d"
                                                                                           "apter"},
        {"{\"text\":\"podium-train can't be started\"}", 127, CHECK_UNKNOWN, "could not"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fx f;
        open_check(&f, adapter_check);
        CHECK_RESULT(&f, 0, CHECK_NOT_YET);
        pod_runs(&f);
        train(&f, 10, 4, 2);
        copied(&f);
        CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
        struct effect *e = fx_effect(&f, EFF_SPAWN, NULL, NULL);
        CHECK_STR(json_str(e->args, "argv[0]", ""), "podium-train");
        CHECK_STR(json_str(e->args, "argv[-1]", ""), "/w/x/out");
        evaluated(&f, cases[i].record, cases[i].code);
        CHECK_RESULT(&f, 0, cases[i].want);
        CHECK_HAS(fx_ev(&f, 0)->because, cases[i].why);
        CHECK(f.s->finished == (cases[i].want == CHECK_PASS));
        fx_end(&f);
    }
}

TEST(adapter_without_the_run_s_log_is_unknown)
{
    struct fx f;
    open_check(&f, adapter_check);
    copied(&f);
    evaluated(&f, "{\"ev\":\"done\",\"val_loss\":2.0,\"base_loss\":4.0}", 0);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    pod_runs(&f);
    train(&f, 10, 4, 2);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(copy_needs_its_files)
{
    struct fx f;
    open_check(&f, "copy: {to: out, files: 3}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    copied(&f);
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    session_set_fact(f.s, "copy", json_from("{\"to\":\"out\",\"sha256\":\"ab\",\"files\":3}"),
                     &f.out);
    fx_cmd(&f, "step.check", NULL, NULL);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

T_MAIN
