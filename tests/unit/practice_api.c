/* practice_api.c - the API's inside: stamps, locks, generations, deletion, the
 * ring, and the texts of what is refused.
 */
#include "core/base/base.h"

#include "tests/unit/practice_fixture.h"

#define CM(name)                                                                                   \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"},\"data\":" \
                                                                                   "{\"a\":\"1\"}" \
                                                                                   "}"
#define JOB(name, spec)                                                                            \
    "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"" name "\"},\"spec\":" \
                                                                                   "{" spec "}}"
#define TEMPLATE(policy, container)                                                                \
    "\"template\":{\"spec\":{" policy "\"containers\":[{\"name\":\"c\",\"image\":\"x:"             \
                                      "1\"" container "}]}}"
#define NEVER "\"restartPolicy\":\"Never\","

TEST(api_refuses_with_the_servers_sentences)
{
    static const struct {
        const char *object;
        int code;
        const char *text;
    } rows[] = {
        {JOB("j", TEMPLATE("", "")), 422,
         "Job.batch \"j\" is invalid: spec.template.spec.restartPolicy: Required value: valid "
         "values: "
         "\"OnFailure\", \"Never\""},
        {JOB("j", TEMPLATE(NEVER, ",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"3\"},"
                                  "\"requests\":{\"nvidia.com/gpu\":\"2\"}}")),
         422,
         "spec.template.spec.containers[0].resources.requests: Invalid value: \"2\": must be equal "
         "to "
         "nvidia.com/gpu limit of 3"},
        {JOB("j", TEMPLATE(NEVER, ",\"resources\":{\"limits\":{\"habana.ai/gaudi\":\"500m\"}}")),
         422, "Invalid value: \"500m\": must be an integer"},
        {JOB("j", TEMPLATE(NEVER, ",\"resources\":{\"requests\":{\"habana.ai/gaudi\":\"1\"}}")),
         422,
         "resources.limits: Required value: Limit must be set for non overcommitable resources"},
        {JOB("j", TEMPLATE(NEVER, ",\"resources\":{\"requests\":{\"cpu\":\"2\"},\"limits\":{"
                                  "\"cpu\":\"1\"}}")),
         422, "must be less than or equal to cpu limit of 1"},
        {JOB("Big", TEMPLATE(NEVER, "")), 422, "a lowercase RFC 1123 subdomain must consist of"},
        {JOB("j", TEMPLATE(NEVER, ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]")),
         422, "spec.template.spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        {JOB("j", "\"parallelism\":-1," TEMPLATE(NEVER, "")), 422,
         "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"labels\":{"
         "\"x\":\"a b\"}}}",
         422,
         "metadata.labels: Invalid value: \"a b\": a valid label must be an empty string or "
         "consist of"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{}}", 422,
         "metadata.name: Required value: name or generateName is required"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":"
         "\"nope\"}}",
         404, "namespaces \"nope\" not found"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
         "\"serviceAccountName\":"
         "\"who\",\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}",
         403, "error looking up service account default/who: serviceaccount \"who\" not found"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{"
         "\"priorityClassName\":"
         "\"nope\",\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}",
         403, "no PriorityClass with name nope was found"},
    };
    struct fixture f;
    struct str out;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int code = fixture_create(&f, rows[i].object, &out);
        CHECK_MSG(code == rows[i].code && strstr(out.p, rows[i].text),
                  "%s\n  gave %d %s\n  want %d %s", rows[i].object, code, out.p, rows[i].code,
                  rows[i].text);
    }
    CHECK_INT(fixture_create(&f, CM("a"), &out), 201);
    CHECK_INT(fixture_create(&f, CM("a"), &out), 409);
    CHECK_STR(out.p, "configmaps \"a\" already exists");
    str_release(&out);
    fixture_close(&f);
}

TEST(api_defaults_a_job_and_a_pod)
{
    struct fixture f;
    struct str out;
    struct pd_err err;
    struct json *o;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f, JOB("j", TEMPLATE(NEVER, "")), &out), 201);
    CHECK_OK(json_parse(out.p, out.len, &o, &err));
    CHECK_INT(json_int(o, "spec.backoffLimit", -1), 6);
    CHECK_INT(json_int(o, "spec.completions", -1), 1);
    CHECK_STR(json_str(o, "spec.podReplacementPolicy", ""), "TerminatingOrFailed");
    CHECK_STR(json_str(o, "spec.selector.matchLabels['batch.kubernetes.io/controller-uid']", ""),
              json_str(o, "metadata.uid", "?"));
    CHECK_STR(json_str(o, "spec.template.metadata.labels['job-name']", ""), "j");
    CHECK_STR(json_str(o, "spec.template.spec.containers[0].imagePullPolicy", ""), "IfNotPresent");
    CHECK_INT(json_int(o, "metadata.generation", 0), 1);
    json_free(o);
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                             "\"generateName\":\"p-\"},"
                             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\","
                             "\"resources\":"
                             "{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}}",
                             &out),
              201);
    CHECK_OK(json_parse(out.p, out.len, &o, &err));
    CHECK_STR(json_str(o, "status.qosClass", ""), "Guaranteed");
    CHECK_STR(json_str(o, "spec.containers[0].imagePullPolicy", ""), "Always");
    CHECK_STR(json_str(o, "spec.containers[0].resources.requests.memory", ""), "1Gi");
    CHECK_STR(json_str(o, "spec.serviceAccountName", ""), "default");
    CHECK_INT(json_count(json_at(o, "spec.tolerations")), 2);
    CHECK_INT(strlen(json_str(o, "metadata.name", "")), 7);
    json_free(o);
    str_release(&out);
    fixture_close(&f);
}

TEST(api_locks_optimistically)
{
    struct fixture f;
    struct str out;
    struct api_result r;
    const struct res *cm = res_by_plural("", "configmaps");
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f, CM("a"), &out), 201);
    struct json *one = api_get(f.api, cm, "default", "a"), *two = json_copy(one);
    json_put_path(one, "data.a", json_new_string("2"));
    api_update(f.api, &tester, cm, NULL, one, &r);
    CHECK_INT(r.code, 200);
    CHECK(strcmp(json_str(r.body, "metadata.resourceVersion", ""),
                 json_str(two, "metadata.resourceVersion", "")) != 0);
    api_result_release(&r);
    json_put_path(two, "data.a", json_new_string("3"));
    api_update(f.api, &tester, cm, NULL, two, &r);
    CHECK_INT(r.code, 409);
    CHECK_STR(json_str(r.body, "message", ""), "Operation cannot be fulfilled on configmaps \"a\": "
                                               "the object has been modified; please "
                                               "apply your changes to the latest version and try "
                                               "again");
    api_result_release(&r);
    json_free(one);
    json_free(two);
    str_release(&out);
    fixture_close(&f);
}

TEST(api_does_not_write_what_did_not_change)
{
    struct fixture f;
    struct str out;
    struct api_result r;
    const struct res *cm = res_by_plural("", "configmaps");
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f, CM("a"), &out), 201);
    struct json *o = api_get(f.api, cm, "default", "a");
    CHECK(api_flush(f.api));
    int64_t rv = api_revision(f.api);
    api_update(f.api, &tester, cm, NULL, o, &r);
    CHECK_INT(r.code, 200);
    api_result_release(&r);
    CHECK(api_flush(f.api));
    CHECK_INT(api_revision(f.api), rv);
    json_free(o);
    str_release(&out);
    fixture_close(&f);
}

TEST(api_keeps_spec_and_status_apart)
{
    struct fixture f;
    struct str out;
    struct api_result r;
    const struct res *jobs = res_by_plural("batch", "jobs");
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f, JOB("j", TEMPLATE(NEVER, "")), &out), 201);
    struct json *o = api_get(f.api, jobs, "default", "j");
    json_put_path(o, "status.active", json_new_number(1));
    json_put_path(o, "spec.parallelism", json_new_number(3));
    api_update(f.api, &tester, jobs, "status", o, &r);
    CHECK_INT(r.code, 200);
    CHECK_INT(json_int(r.body, "status.active", 0), 1);
    CHECK_INT(json_int(r.body, "spec.parallelism", 0), 1);
    CHECK_INT(json_int(r.body, "metadata.generation", 0), 1);
    api_result_release(&r);
    json_free(o);
    o = api_get(f.api, jobs, "default", "j");
    json_put_path(o, "status.active", json_new_number(9));
    json_put_path(o, "spec.parallelism", json_new_number(3));
    api_update(f.api, &tester, jobs, NULL, o, &r);
    CHECK_INT(json_int(r.body, "status.active", 0), 1);
    CHECK_INT(json_int(r.body, "spec.parallelism", 0), 3);
    CHECK_INT(json_int(r.body, "metadata.generation", 0), 2);
    api_result_release(&r);
    json_free(o);
    str_release(&out);
    fixture_close(&f);
}

TEST(api_deletes_by_finalizer_grace_and_uid)
{
    struct fixture f;
    struct str out;
    struct api_result r;
    const struct res *cm = res_by_plural("", "configmaps"), *pods = res_by_plural("", "pods");
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                             "\"a\","
                             "\"finalizers\":[\"x.dev/hold\"]}}",
                             &out),
              201);
    struct json *wrong = json_from("{\"preconditions\":{\"uid\":\"other\"}}");
    api_delete(f.api, &tester, cm, "default", "a", wrong, &r);
    CHECK_INT(r.code, 409);
    CHECK_HAS(json_str(r.body, "message", ""), "Precondition failed: UID in precondition: other");
    api_result_release(&r);
    json_free(wrong);
    api_delete(f.api, &tester, cm, "default", "a", NULL, &r);
    CHECK(json_has(r.body, "metadata.deletionTimestamp"));
    api_result_release(&r);
    struct json *o = api_get(f.api, cm, "default", "a");
    json_remove(json_get_mut(o, "metadata"), "finalizers");
    api_update(f.api, &tester, cm, NULL, o, &r);
    api_result_release(&r);
    json_free(o);
    CHECK(!api_get(f.api, cm, "default", "a"));
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}"
                             ",\"spec\":"
                             "{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]"
                             "}}",
                             &out),
              201);
    api_delete(f.api, &tester, pods, "default", "p", NULL, &r);
    CHECK_INT(json_int(r.body, "metadata.deletionGracePeriodSeconds", 0), 30);
    api_result_release(&r);
    struct json *now = json_from("{\"gracePeriodSeconds\":0}");
    api_delete(f.api, &tester, pods, "default", "p", now, &r);
    CHECK_STR(json_str(r.body, "status", ""), "Success");
    api_result_release(&r);
    json_free(now);
    str_release(&out);
    fixture_close(&f);
}

struct heard {
    int added, modified, deleted;
    int64_t last;
    bool rising;
};

static void hear(void *arg, const struct api_delta *d)
{
    struct heard *h = arg;
    h->added += d->change == API_ADDED;
    h->modified += d->change == API_MODIFIED;
    h->deleted += d->change == API_DELETED;
    h->rising = h->rising && d->rv > h->last;
    h->last = d->rv;
}

TEST(api_ring_tells_in_order_and_forgets)
{
    struct fixture f;
    struct heard h = {.rising = true}, again = {.rising = true};
    struct api_result r;
    const struct res *cm = res_by_plural("", "configmaps");
    fixture_open(&f, t_dir());
    CHECK(api_flush(f.api));
    int64_t start = api_revision(f.api);
    struct api_sub *s = api_sub_add(f.api, cm, hear, &h);
    struct json *o = json_from(CM("a"));
    api_create(f.api, &tester, cm, "default", o, &r);
    CHECK_INT(h.added, 0);                    /* not before it is on disk */
    CHECK(api_flush(f.api));
    CHECK_INT(h.added, 1);
    api_result_release(&r);
    for (int i = 0; i < API_RING + 10; i++) {
        char n[16];
        struct json *live = api_get(f.api, cm, "default", "a");
        json_put_path(live, "data.n", json_new_string(str_fmt(n, sizeof n, "%d", i)));
        api_update(f.api, &tester, cm, NULL, live, &r);
        api_result_release(&r);
        json_free(live);
        if (i == 100) {
            CHECK(api_flush(f.api));
            CHECK(api_since(f.api, cm, start, hear, &again));
            CHECK_INT(again.modified, 101);
            CHECK(again.rising);
        }
    }
    api_delete(f.api, &tester, cm, "default", "a", NULL, &r);
    api_result_release(&r);
    CHECK(api_flush(f.api));
    CHECK_INT(h.modified, API_RING + 10);
    CHECK_INT(h.deleted, 1);
    CHECK(h.rising);
    CHECK(!api_since(f.api, cm, start, hear, &again));    /* 410 */
    api_sub_remove(f.api, s);
    json_free(o);
    fixture_close(&f);
}

TEST(api_counts_a_quota)
{
    struct fixture f;
    struct str out;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{"
                             "\"name\":\"q\"},"
                             "\"spec\":{\"hard\":{\"requests.nvidia.com/gpu\":\"2\"}}}",
                             &out),
              201);
    static const char pod[] = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{"
                              "\"generateName\":\"p-\"},\"spec\":{"
                              "\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"resources\":{"
                              "\"limits\":"
                              "{\"nvidia.com/gpu\":\"2\"}}}]}}";
    CHECK_INT(fixture_create(&f, pod, &out), 201);
    CHECK_INT(fixture_create(&f, pod, &out), 403);
    CHECK_HAS(out.p, "exceeded quota: q, requested: requests.nvidia.com/gpu=2, used: "
                     "requests.nvidia.com/gpu=2, limited: requests.nvidia.com/gpu=2");
    str_release(&out);
    fixture_close(&f);
}

TEST(api_holds_pods_to_a_limit_range)
{
    struct fixture f;
    struct str out;
    struct pd_err err;
    struct json *o;
    str_init(&out, 1 << 20);
    fixture_open(&f, t_dir());
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"LimitRange\",\"metadata\":{"
                             "\"name\":"
                             "\"l\"},\"spec\":{\"limits\":[{\"type\":\"Container\",\"max\":{"
                             "\"cpu\":"
                             "\"2\"},\"default\":{\"cpu\":\"1\"},\"defaultRequest\":{\"cpu\":"
                             "\"500m\"}}]}}",
                             &out),
              201);
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}"
                             ","
                             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}",
                             &out),
              201);
    CHECK_OK(json_parse(out.p, out.len, &o, &err));
    CHECK_STR(json_str(o, "spec.containers[0].resources.limits.cpu", ""), "1");
    CHECK_STR(json_str(o, "spec.containers[0].resources.requests.cpu", ""), "500m");
    json_free(o);
    CHECK_INT(fixture_create(&f,
                             "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"q\"}"
                             ","
                             "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\","
                             "\"resources\":"
                             "{\"limits\":{\"cpu\":\"3\"}}}]}}",
                             &out),
              403);
    CHECK_STR(out.p, "pods \"q\" is forbidden: maximum cpu usage per Container is 2, but limit is "
                     "3");
    str_release(&out);
    fixture_close(&f);
}

T_MAIN
