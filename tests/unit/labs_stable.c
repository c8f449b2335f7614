/* labs_stable.c - checks over time: stable, absent, exec, workloads that roll. */
#include "tests/unit/labs_fixture.h"

#define HEAD "podium: 1\nid: x\ntitle: X\n"

static void open_check(struct fx *f, const char *check)
{
    char *yaml = xasprintf(HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
                                "      - {title: T, %s}\n", check);
    fx_open(f, yaml, NULL);
    fx_all_synced(f);
    free(yaml);
}

static void pods(struct fx *f, const char *uid, const char *phase, int restarts)
{
    char *list = xasprintf("[{\"metadata\":{\"name\":\"p\",\"uid\":\"%s\",\"creationTimestamp\":"
                           "\"2027-01-15T08:00:01Z\"},\"status\":{\"phase\":\"%s\","
                           "\"containerStatuses\":[{\"restartCount\":%d}]}}]",
                           uid, phase, restarts);
    fx_list(f, "pods", list);
    free(list);
}

/* Seconds go by, with the timer that the session set. */
static void wait(struct fx *f, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        f->now += 1000;
        fx_send(f, MSG_TIMER, session_priv(f->s)->check_timer, json_from("{\"name\":\"check\"}"));
    }
}

static const char running[] = "object: {kind: pods, name: p, expect: {status.phase: Running}}, "
                              "stable: 10s";

TEST(stable_passes_after_its_time)
{
    struct fx f;
    open_check(&f, running);
    pods(&f, "u", "Running", 0);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK(session_priv(f.s)->check_timer != 0);
    wait(&f, 9);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_HAS(fx_ev(&f, 0)->because, "9 of 10");
    wait(&f, 1);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    CHECK_INT(f.s->progress[0].state, STEP_DONE);
    fx_end(&f);
}

TEST(flapping_does_not_pass)
{
    struct fx f;
    open_check(&f, running);
    for (int i = 0; i < 20; i++) {
        pods(&f, "u", i % 2 ? "Failed" : "Running", 0);
        wait(&f, 3);
        CHECK(f.s->progress[0].state != STEP_DONE);
    }
    fx_end(&f);
}

/* Between two events it ran again: only the count of restarts tells. */
TEST(a_restart_begins_the_time_anew)
{
    struct fx f;
    open_check(&f, running);
    pods(&f, "u", "Running", 0);
    wait(&f, 8);
    pods(&f, "u", "Running", 1);
    wait(&f, 8);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    pods(&f, "v", "Running", 1);                         /* another Pod of that name */
    wait(&f, 8);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    wait(&f, 2);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(time_that_nobody_watched_does_not_count)
{
    struct fx f;
    open_check(&f, running);
    pods(&f, "u", "Running", 0);
    wait(&f, 2);
    f.now += 60000;                                      /* the machine slept */
    pods(&f, "u", "Running", 0);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    wait(&f, 4);
    fx_cluster(&f, "down");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_cluster(&f, "up");
    wait(&f, 7);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    f.now -= 3600000;                                    /* the clock was set back */
    pods(&f, "u", "Running", 0);
    wait(&f, 9);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    wait(&f, 1);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(a_time_that_is_none_is_refused)
{
    static const char *const bad[] = {"0s", "-1", "soon", "2h", "\"\"", "7200"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct lab *lab = NULL;
        struct pd_err err = {0};
        char *yaml = xasprintf(HEAD "steps:\n  - id: a\n    title: A\n    say: s\n    checks:\n"
                                    "      - {title: T, count: {kind: pods, is: 1}, stable: %s}\n",
                               bad[i]);
        CHECK_MSG(lab_parse("l.yaml", yaml, strlen(yaml), NULL, &lab, &err) == PD_LAB, "%s",
                  bad[i]);
        CHECK_HAS(err.msg, "stable");
        free(yaml);
    }
}

/* --- absent ------------------------------------------------------------------------------- */

TEST(absent_needs_to_have_been_there)
{
    struct fx f;
    open_check(&f, "absent: {kind: pods, name: p}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    pods(&f, "u", "Running", 0);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_STR(fx_ev(&f, 0)->object, "pods/p");
    fx_cluster(&f, "down");
    fx_list(&f, "pods", "[]");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_cluster(&f, "up");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(absent_does_not_count_what_an_earlier_attempt_left)
{
    struct fx f;
    open_check(&f, "absent: {kind: pods, name: p}");
    fx_list(&f, "pods", "[{\"metadata\":{\"name\":\"p\",\"uid\":\"o\",\"creationTimestamp\":"
                        "\"2027-01-15T07:00:00Z\"}}]");
    fx_list(&f, "pods", "[]");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    fx_end(&f);
}

TEST(absent_of_a_later_step_is_seen_from_the_beginning)
{
    struct fx f;
    fx_open(&f, HEAD "steps:\n  - {id: a, title: A, say: s}\n  - id: b\n    title: B\n    say: s\n"
                     "    checks: [{title: T, absent: {kind: pods, name: p}}]\n", NULL);
    fx_all_synced(&f);
    pods(&f, "u", "Running", 0);
    fx_list(&f, "pods", "[]");
    fx_cmd(&f, "step.next", NULL, NULL);
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* --- exec ------------------------------------------------------------------------------------ */

static const char execs[] = "exec: {pod: p, command: [cat, /etc/x], output: {has: sure}, "
                            "timeout: 5}";

static void said(struct fx *f, const char *body)
{
    fx_send(f, MSG_REPLY, session_priv(f->s)->asks[0].effect, json_from(body));
}

TEST(exec_compares_code_and_output)
{
    struct fx f;
    open_check(&f, execs);
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK(!fx_effect(&f, EFF_EXEC, NULL, NULL));         /* there is no Pod yet */
    pods(&f, "u", "Running", 0);
    wait(&f, 3);
    struct effect *e = fx_effect(&f, EFF_EXEC, "pod", "p");
    CHECK(e != NULL);
    CHECK_STR(json_str(e->args, "argv[1]", ""), "/etc/x");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    said(&f, "{\"exit\":1,\"stdout\":\"\",\"stderr\":\"no file\"}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_STR(fx_ev(&f, 0)->actual, "1");
    wait(&f, 3);
    said(&f, "{\"exit\":0,\"stdout\":\"no\\n\",\"stderr\":\"\"}");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_STR(fx_ev(&f, 0)->actual, "no");
    wait(&f, 3);
    said(&f, "{\"exit\":0,\"stdout\":\"sure\\n\",\"stderr\":\"\"}");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

TEST(exec_that_does_not_end_is_unknown)
{
    struct fx f;
    open_check(&f, execs);
    pods(&f, "u", "Running", 0);
    wait(&f, 3);
    uint32_t id = session_priv(f.s)->asks[0].effect;
    CHECK(id != 0);
    wait(&f, 6);
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    CHECK_HAS(fx_ev(&f, 0)->because, "in time");
    bool cancelled = false;
    for (size_t i = 0; i < f.out.n; i++)
        cancelled |= f.out.v[i].kind == EFF_CANCEL && json_int(f.out.v[i].args, "effect", 0) == id;
    CHECK(cancelled);
    fx_end(&f);
}

TEST(exec_of_another_pod_proves_nothing)
{
    struct fx f;
    open_check(&f, execs);
    pods(&f, "u", "Running", 0);
    wait(&f, 3);
    pods(&f, "v", "Running", 0);
    said(&f, "{\"exit\":0,\"stdout\":\"sure\",\"stderr\":\"\"}");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_end(&f);
}

/* --- workloads ---------------------------------------------------------------------- */

static void deployment(struct fx *f, const char *status)
{
    char *list = xasprintf("[{\"metadata\":{\"name\":\"d\",\"uid\":\"u\",\"generation\":2,"
                           "\"creationTimestamp\":\"2027-01-15T08:00:01Z\"},\"spec\":{\"replicas\":"
                           "1},\"status\":{%s}}]", status);
    fx_list(f, "deployments", list);
    free(list);
}

TEST(an_old_copy_that_is_ready_is_not_the_new_version)
{
    struct fx f;
    open_check(&f, "object: {kind: deployments, name: d, expect: {status.readyReplicas: 1}}");
    CHECK(fx_effect(&f, EFF_WATCH, "resource", "deployments") != NULL);
    fx_list(&f, "deployments", "[]");
    deployment(&f, "\"readyReplicas\":1,\"updatedReplicas\":1,\"replicas\":1");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);                  /* nobody has seen generation 2 */
    deployment(&f, "\"observedGeneration\":2,\"readyReplicas\":1,\"replicas\":1");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    CHECK_HAS(fx_ev(&f, 0)->because, "newest version");
    deployment(&f, "\"observedGeneration\":2,\"readyReplicas\":1,\"updatedReplicas\":1,"
                   "\"replicas\":2");
    CHECK_RESULT(&f, 0, CHECK_NOT_YET);
    deployment(&f, "\"observedGeneration\":2,\"readyReplicas\":1,\"updatedReplicas\":1,"
                   "\"replicas\":1");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

/* --- no link: nothing is judged ------------------------------------------------------ */

TEST(without_a_link_even_a_file_is_unknown)
{
    struct fx f;
    open_check(&f, "file: {file: a.yaml, path: k, is: 3}");
    fx_file(&f, "a.yaml", "k: 4\n");
    CHECK_RESULT(&f, 0, CHECK_WRONG);
    fx_cluster(&f, "down");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    fx_file(&f, "a.yaml", "k: 3\n");
    CHECK_RESULT(&f, 0, CHECK_UNKNOWN);
    CHECK(f.s->progress[0].state != STEP_DONE);
    fx_cluster(&f, "up");
    CHECK_RESULT(&f, 0, CHECK_PASS);
    fx_end(&f);
}

T_MAIN
