/* The Job controller: order of status writes, back-off, deadline, suspend,
 * indexes, TTL; under a clock that the test moves and pods that it plays. */
#include "tests/unit/practice_node_fake.h"

static const struct res *pods(void)
{
    return res_by_name("pods");
}

static void create_job(struct api *a, const char *spec)
{
    char *text = xasprintf("{\"metadata\":{\"name\":\"j\"},\"spec\":%s}", spec);
    fake_create(a, "jobs", text);
    free(text);
}

#define TEMPLATE                                                                                  \
    "\"template\":{\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\","        \
    "\"image\":\"x\"}]}}"
#define JOB "\"completions\":1,\"parallelism\":1,\"backoffLimit\":2," TEMPLATE

static struct json *job(struct api *a)
{
    return api_get(a, res_by_name("jobs"), "default", "j");
}

/* The name of the nth pod that is neither ended nor deleted, or NULL. */
static const char *live_pod(struct api *a, int nth)
{
    for (int i = 0; i < a->n; i++)
        if (a->obj[i].j && a->obj[i].res == pods() && !kobj_terminal(a->obj[i].j) &&
            !kobj_deleting(a->obj[i].j) && nth-- == 0)
            return kobj_name(a->obj[i].j);
    return NULL;
}

static int count_pods(struct api *a)
{
    int n = 0;
    for (int i = 0; i < a->n; i++)
        n += a->obj[i].j && a->obj[i].res == pods();
    return n;
}

static void play(struct api *a, const char *name, const char *phase, int code)
{
    struct json *p = api_get(a, pods(), "default", name);
    char now[36];
    CHECK(p != NULL);
    json_put_path(p, "spec.nodeName", json_new_string("xeon-0"));
    kobj_write(a, &fake_user, NULL, p, NULL, 0);
    json_put_path(p, "status.phase", json_new_string(phase));
    bool ends = strcmp(phase, "Running") != 0;
    kobj_condition(p, "Ready", ends ? "False" : "True", NULL, NULL, false);
    if (ends) {
        struct json *st = json_new_array(), *c = json_new_object();
        json_put_path(c, "state.terminated.exitCode", json_new_number(code));
        json_put_path(c, "state.terminated.finishedAt", json_new_string(kobj_now(now)));
        json_append(st, c);
        json_set(json_get_mut(p, "status"), "containerStatuses", st);
    }
    kobj_write(a, &fake_user, "status", p, NULL, 0);
    json_free(p);
}

static void expect_status(struct api *a, int i, const char *path, const char *want)
{
    struct json *j = json_from(a->status[i]);
    const struct json *v = json_at(j, path);
    char *text = v ? json_text(v, 0) : xstrdup("missing");
    CHECK_MSG(strcmp(text, want) == 0, "write %d: %s = %s, want %s (%s)", i, path, text, want,
              a->status[i]);
    free(text);
    json_free(j);
}

TEST(success_in_the_real_order)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{" JOB "}");
    fake_run(a, 200);
    CHECK_INT(a->statuses, 1);
    expect_status(a, 0, "active", "1");
    expect_status(a, 0, "ready", "0");
    expect_status(a, 0, "terminating", "0");
    expect_status(a, 0, "uncountedTerminatedPods", "{}");
    expect_status(a, 0, "conditions", "missing");
    struct json *p = api_get(a, pods(), "default", live_pod(a, 0));
    CHECK(kobj_has_finalizer(p, "batch.kubernetes.io/job-tracking"));
    CHECK_STR(json_str(p, "metadata.ownerReferences[0].kind", ""), "Job");
    CHECK(json_bool(p, "metadata.ownerReferences[0].controller", false));
    char *name = xstrdup(kobj_name(p)), want[200];
    json_free(p);
    str_fmt(want, sizeof want, "Normal SuccessfulCreate job-controller Created pod: %s", name);
    CHECK_STR(fake_event(a, "SuccessfulCreate"), want);
    play(a, name, "Running", 0);
    fake_run(a, 900);
    CHECK_INT(a->statuses, 1);       /* pod changes are taken together after a second */
    fake_run(a, 300);
    CHECK_INT(a->statuses, 2);
    expect_status(a, 1, "ready", "1");
    play(a, name, "Succeeded", 0);
    fake_run(a, 1300);
    CHECK_INT(a->statuses, 4);
    expect_status(a, 2, "active", "missing");
    expect_status(a, 2, "uncountedTerminatedPods.succeeded", "[\"uid-4\"]");
    expect_status(a, 2, "conditions[0].type", "\"SuccessCriteriaMet\"");
    expect_status(a, 2, "conditions[0].reason", "\"CompletionsReached\"");
    expect_status(a, 2, "conditions[0].message", "\"Reached expected number of succeeded pods\"");
    expect_status(a, 2, "conditions[1]", "missing");
    expect_status(a, 2, "completionTime", "missing");
    expect_status(a, 3, "conditions[1].type", "\"Complete\"");
    expect_status(a, 3, "conditions[1].reason", "\"CompletionsReached\"");
    expect_status(a, 3, "succeeded", "1");
    expect_status(a, 3, "uncountedTerminatedPods", "{}");
    CHECK_STR(fake_event(a, "Completed"), "Normal Completed job-controller Job completed");
    p = api_get(a, pods(), "default", name);
    CHECK(p && !kobj_has_finalizer(p, "batch.kubernetes.io/job-tracking"));
    json_free(p);
    fake_run(a, 5000);
    CHECK_INT(a->statuses, 4);
    CHECK_INT(fake_count_events(a, "Completed"), 1);
    free(name);
    job_controller_stop(c);
    fake_free(a);
}

TEST(failures_back_off_10_then_20_seconds)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{" JOB "}");
    fake_run(a, 200);
    static const int64_t wait[] = {10000, 20000};
    for (int i = 0; i < 2; i++) {
        play(a, live_pod(a, 0), "Failed", 3);
        fake_run(a, 1500);
        struct json *j = job(a);
        CHECK_INT(json_int(j, "status.failed", 0), i + 1);
        json_free(j);
        fake_run(a, wait[i] - 1500 - 1200);
        CHECK_MSG(!live_pod(a, 0), "the pod %d came too early", i + 2);
        fake_run(a, 1700);           /* the time of the end has whole seconds */
        CHECK_MSG(live_pod(a, 0) != NULL, "the pod %d did not come", i + 2);
    }
    int before = a->statuses;
    play(a, live_pod(a, 0), "Failed", 3);
    fake_run(a, 1500);
    CHECK_INT(a->statuses, before + 2);
    expect_status(a, before, "conditions[0].type", "\"FailureTarget\"");
    expect_status(a, before, "conditions[0].reason", "\"BackoffLimitExceeded\"");
    expect_status(a, before, "conditions[1]", "missing");
    expect_status(a, before + 1, "conditions[1].type", "\"Failed\"");
    expect_status(a, before + 1, "conditions[1].message",
                  "\"Job has reached the specified backoff limit\"");
    expect_status(a, before + 1, "failed", "3");
    CHECK_STR(fake_event(a, "BackoffLimitExceeded"),
              "Warning BackoffLimitExceeded job-controller Job has reached the specified backoff "
              "limit");
    CHECK_INT(count_pods(a), 3);
    job_controller_stop(c);
    fake_free(a);
}

TEST(speed_divides_the_back_off)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 10);
    create_job(a, "{" JOB "}");
    fake_run(a, 200);
    play(a, live_pod(a, 0), "Failed", 3);
    fake_run(a, 700);
    CHECK(!live_pod(a, 0));
    fake_run(a, 1500);               /* 10 s / 10, and the finish time has whole seconds */
    CHECK(live_pod(a, 0) != NULL);
    job_controller_stop(c);
    fake_free(a);
}

TEST(on_failure_counts_restarts)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"completions\":1,\"parallelism\":1,\"backoffLimit\":2,\"template\":{\"spec\":"
                  "{\"restartPolicy\":\"OnFailure\",\"containers\":[{\"name\":\"c\"}]}}}");
    fake_run(a, 200);
    struct json *p = api_get(a, pods(), "default", live_pod(a, 0));
    json_put_path(p, "status.phase", json_new_string("Running"));
    json_set(json_get_mut(p, "status"), "containerStatuses",
             json_from("[{\"name\":\"c\",\"restartCount\":2}]"));
    kobj_write(a, &fake_user, "status", p, NULL, 0);
    json_free(p);
    fake_run(a, 2500);
    struct json *j = job(a);
    CHECK_STR(kobj_condition_status(j, "Failed"), "True");
    CHECK_STR(json_str(j, "status.conditions[?type=Failed].reason", ""), "BackoffLimitExceeded");
    json_free(j);
    job_controller_stop(c);
    fake_free(a);
}

TEST(a_deadline_beyond_all_time_is_none)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"activeDeadlineSeconds\":18446744073709,\"ttlSecondsAfterFinished\":"
                  "9e18," JOB "}");
    fake_run(a, 3000);
    struct json *j = job(a);
    CHECK_STR(json_str(j, "status.conditions[0].reason", "none"), "none");
    CHECK(live_pod(a, 0) != NULL);
    CHECK(kobj_ms(INT64_MAX) > 0 && kobj_ms(INT64_MIN) < 0 && kobj_ms(3) == 3000);
    json_free(j);
    job_controller_stop(c);
    fake_free(a);
}

TEST(deadline_deletes_and_waits_for_the_pod)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"activeDeadlineSeconds\":5," JOB "}");
    fake_run(a, 200);
    char *name = xstrdup(live_pod(a, 0));
    play(a, name, "Running", 0);
    fake_run(a, 6500);
    struct json *j = job(a);
    CHECK_STR(json_str(j, "status.conditions[0].type", ""), "FailureTarget");
    CHECK_STR(json_str(j, "status.conditions[0].reason", ""), "DeadlineExceeded");
    CHECK_INT(json_int(j, "status.terminating", -1), 1);
    CHECK_STR(kobj_condition_status(j, "Failed"), "");
    json_free(j);
    char want[200];
    str_fmt(want, sizeof want, "Normal SuccessfulDelete job-controller Deleted pod: %s", name);
    CHECK_STR(fake_event(a, "SuccessfulDelete"), want);
    play(a, name, "Failed", 137);
    fake_run(a, 2500);
    j = job(a);
    CHECK_STR(kobj_condition_status(j, "Failed"), "True");
    CHECK_STR(json_str(j, "status.conditions[?type=Failed].message", ""),
              "Job was active longer than specified deadline");
    CHECK_INT(json_int(j, "status.terminating", -1), 0);
    json_free(j);
    free(name);
    job_controller_stop(c);
    fake_free(a);
}

static void suspend(struct api *a, bool on)
{
    struct json *j = job(a);
    json_put_path(j, "spec.suspend", json_new_bool(on));
    kobj_write(a, &fake_user, NULL, j, NULL, 0);
    json_free(j);
}

TEST(suspend_and_resume)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"suspend\":true," JOB "}");
    fake_run(a, 1200);
    struct json *j = job(a);
    CHECK_INT(count_pods(a), 0);
    CHECK_STR(json_str(j, "status.conditions[0].type", ""), "Suspended");
    CHECK_STR(json_str(j, "status.conditions[0].reason", ""), "JobSuspended");
    CHECK_STR(json_str(j, "status.conditions[0].message", ""), "Job suspended");
    CHECK_STR(json_str(j, "status.startTime", "none"), "none");
    CHECK_STR(fake_event(a, "Suspended"), "Normal Suspended job-controller Job suspended");
    json_free(j);
    suspend(a, false);
    fake_run(a, 1200);
    j = job(a);
    CHECK(live_pod(a, 0) != NULL);
    CHECK_STR(json_str(j, "status.conditions[0].status", ""), "False");
    CHECK_STR(json_str(j, "status.conditions[0].reason", ""), "JobResumed");
    CHECK(*json_str(j, "status.startTime", ""));
    CHECK_STR(fake_event(a, "Resumed"), "Normal Resumed job-controller Job resumed");
    json_free(j);
    suspend(a, true);
    fake_run(a, 1200);
    CHECK(!live_pod(a, 0));
    j = job(a);
    CHECK_STR(json_str(j, "status.conditions[0].status", ""), "True");
    CHECK_INT(json_int(j, "status.failed", 0), 0);
    json_free(j);
    job_controller_stop(c);
    fake_free(a);
}

TEST(indexed_job)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"completionMode\":\"Indexed\",\"completions\":4,\"parallelism\":2,"
                  "\"backoffLimit\":2," TEMPLATE "}");
    fake_run(a, 200);
    CHECK_INT(count_pods(a), 2);
    struct json *p = api_get(a, pods(), "default", live_pod(a, 1));
    CHECK(str_starts(kobj_name(p), "j-1-"));
    CHECK_STR(json_str(p, "spec.hostname", ""), "j-1");
    CHECK_STR(json_str(p, "metadata.labels['batch.kubernetes.io/job-completion-index']", ""), "1");
    CHECK_STR(json_str(p, "metadata.annotations['batch.kubernetes.io/job-completion-index']", ""),
              "1");
    CHECK_STR(json_str(p, "spec.containers[0].env[0].name", ""), "JOB_COMPLETION_INDEX");
    CHECK_STR(json_str(p, "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath", ""),
              "metadata.labels['batch.kubernetes.io/job-completion-index']");
    json_free(p);
    play(a, live_pod(a, 0), "Succeeded", 0);
    play(a, live_pod(a, 0), "Succeeded", 0);
    fake_run(a, 1500);
    struct json *j = job(a);
    CHECK_STR(json_str(j, "status.completedIndexes", ""), "0,1");
    CHECK_INT(json_int(j, "status.succeeded", 0), 2);
    json_free(j);
    CHECK_INT(count_pods(a), 4);
    play(a, live_pod(a, 0), "Succeeded", 0);
    fake_run(a, 1500);
    j = job(a);
    CHECK_STR(json_str(j, "status.completedIndexes", ""), "0-2");
    json_free(j);
    play(a, live_pod(a, 0), "Succeeded", 0);
    fake_run(a, 1500);
    j = job(a);
    CHECK_STR(json_str(j, "status.completedIndexes", ""), "0-3");
    CHECK_STR(kobj_condition_status(j, "Complete"), "True");
    json_free(j);
    job_controller_stop(c);
    fake_free(a);
}

TEST(parallelism_shrinks_and_grows)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    create_job(a, "{\"completions\":6,\"parallelism\":3,\"backoffLimit\":2," TEMPLATE "}");
    fake_run(a, 200);
    CHECK_INT(count_pods(a), 3);
    struct json *j = job(a);
    json_put_path(j, "spec.parallelism", json_new_number(1));
    kobj_write(a, &fake_user, NULL, j, NULL, 0);
    json_free(j);
    fake_run(a, 1500);
    CHECK_INT(count_pods(a), 1);
    job_controller_stop(c);
    fake_free(a);
}

TEST(ttl_deletes_after_the_end)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    struct gc *g = gc_start(a);
    create_job(a, "{\"ttlSecondsAfterFinished\":5," JOB "}");
    fake_run(a, 200);
    play(a, live_pod(a, 0), "Succeeded", 0);
    fake_run(a, 4500);
    struct json *j = job(a);
    CHECK(j != NULL);
    json_free(j);
    fake_run(a, 3000);
    CHECK(!job(a));
    CHECK_INT(count_pods(a), 0);
    gc_stop(g);
    job_controller_stop(c);
    fake_free(a);
}

TEST(deleting_the_job_frees_and_collects_its_pods)
{
    struct api *a = fake_new();
    struct job_controller *c = job_controller_start(a, 1);
    struct gc *g = gc_start(a);
    create_job(a, "{" JOB "}");
    fake_run(a, 200);
    char *name = xstrdup(live_pod(a, 0));
    struct api_result r;
    api_delete(a, &fake_user, res_by_name("jobs"), "default", "j", NULL, &r);
    api_result_release(&r);
    fake_run(a, 1500);
    CHECK_MSG(!api_get(a, pods(), "default", name), "the pod stays");
    free(name);
    gc_stop(g);
    job_controller_stop(c);
    fake_free(a);
}

T_MAIN
