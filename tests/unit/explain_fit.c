/* explain_fit.c - the arithmetic and the filters under an explanation: requests,
 * selectors, taints, event times, registry hosts. */
#include "k8s/explain/auths.h"
#include "k8s/explain/explain.h"
#include "k8s/explain/fit.h"
#include "k8s/explain/fit_rules.h"
#include "tests/t.h"

/* Requests as the scheduler counts them: pkg/api/v1/resource PodRequests. */
TEST(requests_are_the_schedulers)
{
    static const struct { const char *pod; int64_t milli; int containers; } rows[] = {
        {"{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\"}}},"
         "{\"resources\":{\"limits\":{\"cpu\":\"2\"}}}]}}", 2500, 2},
        {"{\"spec\":{\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"4\"}}}],"
         "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}", 4000, 1},
        {"{\"spec\":{\"initContainers\":[{\"restartPolicy\":\"Always\","
         "\"resources\":{\"requests\":{\"cpu\":\"1\"}}},"
         "{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"
         "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}", 3000, 1},
        {"{\"spec\":{\"overhead\":{\"cpu\":\"250m\"},\"containers\":[{}]}}", 250, 0}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *pod = json_from(rows[i].pod);
        int containers = -1;
        CHECK_INT(fit_request(pod, "cpu", &containers), rows[i].milli);
        CHECK_INT(containers, rows[i].containers);
        json_free(pod);
    }
}

TEST(amounts_are_readable)
{
    char buf[48];
    CHECK_STR(fit_amount("memory", 64LL * 1024 * 1024 * 1024 * 1000, buf), "64Gi");
    CHECK_STR(fit_amount("cpu", 2500, buf), "2.5");
    CHECK_STR(fit_amount("habana.ai/gaudi", 8000, buf), "8");
}

TEST(label_selectors)
{
    struct json *labels = json_from("{\"a\":\"1\",\"zone\":\"b\"}");
    static const struct { const char *selector; bool match; } rows[] = {
        {"{\"matchLabels\":{\"a\":\"1\"}}", true},
        {"{\"matchLabels\":{\"a\":\"2\"}}", false},
        {"{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\","
         "\"values\":[\"a\"]}]}",
         true},
        {"{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"NotIn\",\"values\":[\"b\"]}]}",
         false},
        {"{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"DoesNotExist\"}]}", false},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"0\"]}]}", true},
        {"{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Lt\",\"values\":[\"1\"]}]}", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *s = json_from(rows[i].selector);
        CHECK_MSG(fit_labels(s, labels) == rows[i].match, "%s", rows[i].selector);
        json_free(s);
    }
    json_free(labels);
}

TEST(tolerations)
{
    struct json *node = json_from("{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\","
                                  "\"effect\":\"NoSchedule\"},{\"key\":\"soft\","
                                  "\"effect\":\"PreferNoSchedule\"}]}}");
    static const struct { const char *pod; bool held; } rows[] = {
        {"{\"spec\":{}}", true},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"k\",\"value\":\"v\"}]}}", false},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"k\",\"value\":\"w\"}]}}", true},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\"}]}}", false},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"x\",\"operator\":\"Exists\"}]}}", true},
        {"{\"spec\":{\"tolerations\":[{\"key\":\"k\",\"operator\":\"Exists\","
         "\"effect\":\"NoExecute\"}]}}", true},
        {"{\"spec\":{\"tolerations\":[{\"operator\":\"Exists\"}]}}", false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json *pod = json_from(rows[i].pod);
        CHECK_MSG((fit_untolerated(pod, node) != NULL) == rows[i].held, "%s", rows[i].pod);
        json_free(pod);
    }
    json_free(node);
}

TEST(hosts_of_images_and_secrets)
{
    static const struct { const char *image, *host; } rows[] = {
        {"python:3.12", "docker.io"},   {"library/python", "docker.io"},
        {"reg.lab:5000/a:1", "reg.lab:5000"}, {"localhost/a", "localhost"},
        {"ghcr.io/x/y@sha256:0", "ghcr.io"}};
    char buf[256];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        CHECK_STR(auths_image_host(rows[i].image, buf), rows[i].host);
    struct json *secret = json_from("{\"hosts\":[\"https://index.docker.io/v1/\",\"reg.lab\"]}");
    CHECK(auths_has_host(secret, "docker.io"));
    CHECK(auths_has_host(secret, "reg.lab"));
    CHECK(!auths_has_host(secret, "reg.lab:5000"));
    json_free(secret);
}

static struct explanation *explain_text(struct snapshot *s, const char *const *objects, size_t n)
{
    snapshot_init(s);
    for (size_t i = 0; i < n; i++)
        snapshot_add(s, json_from(objects[i]), "test.json");
    return explain(s);
}

/* The newest event counts by the time it was last seen, in whichever field that stands. */
TEST(both_shapes_of_events_are_in_time_order)
{
    static const char *const objects[] = {
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\","
        "\"containers\":"
        "[{\"name\":\"c\",\"image\":\"r.io/a:1\"}]},\"status\":{\"phase\":\"Pending\","
        "\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"waiting\":{\"reason\":"
        "\"ImagePullBackOff\"}}}]}}",
        "{\"kind\":\"Event\",\"metadata\":{\"creationTimestamp\":\"2025-01-01T00:00:00Z\"},"
        "\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\"},\"reason\":\"Failed\",\"message\":"
        "\"Failed to pull image: manifest unknown\",\"eventTime\":\"2025-01-01T00:00:00.000000Z\","
        "\"series\":{\"count\":2,\"lastObservedTime\":\"2025-01-01T09:00:00.000000Z\"}}",
        "{\"kind\":\"Event\",\"metadata\":{\"creationTimestamp\":\"2025-01-01T05:00:00Z\"},"
        "\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\"},\"reason\":\"Failed\",\"message\":"
        "\"Failed to pull image: i/o timeout\",\"lastTimestamp\":\"2025-01-01T05:00:00Z\"}"};
    struct snapshot s;
    struct explanation *e = explain_text(&s, objects, ARRAY_LEN(objects));
    CHECK_STR(e->v[0].cause, "image-tag-not-found");
    explanation_free(e);
    snapshot_release(&s);
}

/* A pull secret that is gone is told even when no event says so. */
TEST(a_secret_that_is_gone_is_seen)
{
    static const char *const objects[] = {
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"a\"},"
        "\"spec\":{\"nodeName\":"
        "\"n\",\"imagePullSecrets\":[{\"name\":\"r\"}],\"containers\":[{\"name\":\"c\",\"image\":"
        "\"r.io/a:1\"}]},\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"name\":\"c\","
        "\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\","
        "\"message\":\"401 Unauthorized\"}}}]}}",
        "{\"kind\":\"SecretList\",\"items\":[{\"metadata\":{\"name\":\"r\","
        "\"namespace\":\"b\"}}]}"};
    struct snapshot s;
    struct explanation *e = explain_text(&s, objects, ARRAY_LEN(objects));
    CHECK_STR(e->v[0].cause, "image-pull-secret-missing");
    explanation_free(e);
    snapshot_release(&s);
}

/* "Killed by whom is not known" beside the probe that did it would be a contradiction. */
TEST(what_a_code_says_is_no_news_beside_a_cause)
{
    static const char *const objects[] = {
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\","
        "\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]},\"status\":{\"phase\":\"Failed\","
        "\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{\"exitCode\":137,"
        "\"reason\":\"Error\"}}}]}}",
        "{\"kind\":\"Event\",\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\"},"
        "\"reason\":\"Killing\",\"message\":\"Container c failed liveness probe\"}"};
    struct snapshot s;
    struct explanation *e = explain_text(&s, objects, ARRAY_LEN(objects));
    CHECK_STR(e->v[0].cause, "liveness-probe-kill");
    CHECK_INT(e->n, 1);
    explanation_free(e);
    snapshot_release(&s);
}

T_MAIN
