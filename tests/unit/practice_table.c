/* practice_table.c - selectors as a table, and the cells that kubectl shows. */
#include "core/base/base.h"

#include "core/base/clock.h"
#include "k8s/practice/event.h"
#include "k8s/practice/selector.h"
#include "k8s/practice/table.h"
#include "tests/t.h"

TEST(selector_matches_labels)
{
    static const struct {
        const char *selector, *labels;
        int want;                /* 1 match, 0 none, -1 refused */
    } rows[] = {
        {"a=b", "{\"a\":\"b\"}", 1},        {"a==b", "{\"a\":\"b\"}", 1},
        {"a=b", "{\"a\":\"c\"}", 0},        {"a!=b", "{}", 1},
        {"a!=b", "{\"a\":\"b\"}", 0},       {"a", "{\"a\":\"\"}", 1},
        {"!a", "{\"a\":\"\"}", 0},          {"!a", "{}", 1},
        {"a in (b,c)", "{\"a\":\"c\"}", 1}, {"a in (b, c)", "{\"a\":\"d\"}", 0},
        {"a notin (b)", "{}", 1},           {"a notin (b)", "{\"a\":\"b\"}", 0},
        {"a>3", "{\"a\":\"4\"}", 1},        {"a<3", "{\"a\":\"4\"}", 0},
        {"a=b,c=d", "{\"a\":\"b\"}", 0},    {"a=b, c=d", "{\"a\":\"b\",\"c\":\"d\"}", 1},
        {"x.io/a=b", "{\"x.io/a\":\"b\"}", 1},
        {"", "{}", 1},                      {"a in (b", "{}", -1},
        {"=b", "{}", -1},                   {"a=b,", "{}", -1},
        {"inn=b", "{\"inn\":\"b\"}", 1},    {"a=", "{\"a\":\"\"}", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct selector s;
        struct pd_err err;
        selector_init(&s);
        int got = -1;
        if (selector_labels(rows[i].selector, &s, &err) == PD_OK) {
            struct json *l = json_from(rows[i].labels);
            got = selector_match_labels(&s, l);
            json_free(l);
        }
        CHECK_MSG(got == rows[i].want, "%s on %s: %d", rows[i].selector, rows[i].labels, got);
        selector_release(&s);
    }
}

TEST(selector_knows_the_fields_of_each_kind)
{
    struct selector s;
    struct pd_err err;
    const struct res *pods = res_by_plural("", "pods"), *cm = res_by_plural("", "configmaps");
    struct json *pod = json_from("{\"metadata\":{\"name\":\"p\"},\"spec\":{\"nodeName\":\"n\"},"
                                 "\"status\":{\"phase\":\"Running\"}}");
    selector_init(&s);
    CHECK_OK(selector_fields(pods, "spec.nodeName=n,status.phase!=Failed", &s, &err));
    CHECK(selector_match_fields(&s, pod));
    selector_release(&s);
    CHECK_OK(selector_fields(pods, "status.phase!=Running", &s, &err));
    CHECK(!selector_match_fields(&s, pod));
    selector_release(&s);
    CHECK_INT(selector_fields(pods, "spec.foo=1", &s, &err), PD_PARSE);
    CHECK_STR(err.msg, "field label not supported: spec.foo");
    selector_release(&s);
    CHECK_INT(selector_fields(cm, "data.x=1", &s, &err), PD_PARSE);
    CHECK_STR(err.msg, "\"data.x\" is not a known field selector: only \"metadata.name\", "
                       "\"metadata.namespace\"");
    selector_release(&s);
    json_free(pod);
}

static void cell(const char *plural, const char *group, const char *object, const char *column,
                 const char *want)
{
    const struct res *res = res_by_plural(group, plural);
    struct json *o = json_from(object), *t = table_new(res, true);
    table_add(t, res, o, TABLE_NONE);
    CHECK_STR(table_cell(json_item(json_get(t, "rows"), 0), res, column), want);
    json_free(t);
    json_free(o);
}

#define POD(status) "{\"spec\":{\"containers\":[{\"name\":\"c\"}]},\"status\":{" status "}}"
#define STATE(s) "\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":3," s "}]"

TEST(table_shows_the_status_of_pods)
{
    static const struct {
        const char *pod, *want;
    } rows[] = {
        {POD("\"phase\":\"Pending\""), "Pending"},
        {POD("\"phase\":\"Failed\",\"reason\":\"Evicted\""), "Evicted"},
        {POD("\"phase\":\"Pending\"," STATE("\"state\":{\"waiting\":{\"reason\":"
                                            "\"ImagePullBackOff\"}}")),
         "ImagePullBackOff"},
        {POD("\"phase\":\"Running\"," STATE("\"state\":{\"terminated\":{\"reason\":\"OOMKilled\","
                                            "\"exitCode\":137}}")),
         "OOMKilled"},
        {POD("\"phase\":\"Failed\"," STATE("\"state\":{\"terminated\":{\"exitCode\":3}}")), "ExitCo"
                                                                                            "de:3"},
        {POD("\"phase\":\"Failed\"," STATE("\"state\":{\"terminated\":{\"signal\":9,\"exitCode\":1}"
                                           "}")),
         "Signal:9"},
        {POD("\"phase\":\"Running\"," STATE("\"ready\":true,\"state\":{\"running\":{}}")), "Runnin"
                                                                                           "g"},
        {"{\"metadata\":{\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},\"status\":{\"phase\":"
         "\"Running\"}}",
         "Terminating"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"i\"},{\"name\":\"k\"}]},\"status\":{\"phase\":"
         "\"Pending\",\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"terminated\":{"
         "\"exitCode\":"
         "0}}},{\"name\":\"k\",\"state\":{\"running\":{}}}]}}",
         "Init:1/2"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"i\"}]},\"status\":{\"phase\":\"Pending\","
         "\"initContainerStatuses\":[{\"name\":\"i\",\"state\":{\"waiting\":{\"reason\":"
         "\"CrashLoopBackOff\"}}}]}}",
         "Init:CrashLoopBackOff"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        cell("pods", "", rows[i].pod, "Status", rows[i].want);
    cell("pods", "", POD(STATE("\"ready\":true,\"state\":{\"running\":{}}")), "Ready", "1/1");
    cell("pods", "", POD("\"phase\":\"Pending\""), "Ready", "0/1");
    cell("pods", "", POD("\"phase\":\"Pending\""), "Node", "<none>");
}

TEST(table_shows_ages_and_restarts)
{
    int64_t now;
    CHECK(clock_parse_rfc3339("2026-01-01T00:10:00Z", &now));
    clock_fake(now / 1000);
    cell("pods", "", "{\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:05:48Z\"}}", "Age",
         "4m12s");
    cell("pods", "",
         POD(STATE("\"lastState\":{\"terminated\":{\"finishedAt\":\"2026-01-01T00:09:55Z\"}}")),
         "Restarts", "3 (5s ago)");
    cell("events", "", "{\"eventTime\":\"2026-01-01T00:09:51.000000Z\",\"lastTimestamp\":null}",
         "Last Seen", "9s");
    clock_real();
}

TEST(table_shows_jobs_nodes_and_claims)
{
    cell("jobs", "batch", "{\"spec\":{\"completions\":3},\"status\":{\"succeeded\":1}}",
         "Completions", "1/3");
    cell("jobs", "batch", "{\"spec\":{\"parallelism\":2}}", "Completions", "0/1 of 2");
    cell("jobs", "batch",
         "{\"status\":{\"conditions\":[{\"type\":\"SuccessCriteriaMet\",\"status\":\"True\"},"
         "{\"type\":\"Complete\",\"status\":\"True\"}]}}",
         "Status", "Complete");
    cell("jobs", "batch",
         "{\"status\":{\"conditions\":[{\"type\":\"FailureTarget\",\"status\":\"True\"}]}}",
         "Status", "FailureTarget");
    cell("jobs", "batch", "{\"status\":{\"startTime\":\"2026-01-01T00:00:00Z\",\"completionTime\":"
         "\"2026-01-01T00:00:42Z\"}}", "Duration", "42s");
    cell("nodes", "",
         "{\"spec\":{\"unschedulable\":true},\"status\":{\"conditions\":[{\"type\":\"Ready\","
         "\"status\":\"True\"}]}}",
         "Status", "Ready,SchedulingDisabled");
    cell("nodes", "", "{\"metadata\":{\"labels\":{\"node-role.kubernetes.io/gpu\":\"\"}}}", "Roles",
         "gpu");
    cell("persistentvolumeclaims", "",
         "{\"spec\":{\"volumeName\":\"v\"},\"status\":{\"phase\":\"Bound\","
         "\"accessModes\":[\"ReadWriteOnce\",\"ReadOnlyMany\"]}}",
         "Access Modes", "RWO,ROX");
    cell("services", "",
         "{\"spec\":{\"ports\":[{\"port\":80},{\"port\":53,\"protocol\":\"UDP\"}]}}", "Port(s)",
         "80/TCP,53/UDP");
    cell("storageclasses", "storage.k8s.io", "{\"metadata\":{\"name\":\"local\",\"annotations\":{"
         "\"storageclass.kubernetes.io/is-default-class\":\"true\"}}}", "Name", "local (default)");
}

TEST(event_shapes_turn_into_each_other)
{
    struct json *core = json_from("{\"apiVersion\":\"v1\",\"message\":\"m\",\"involvedObject\":{"
                                  "\"name\":"
                                  "\"p\"},\"reportingComponent\":\"s\",\"count\":2}");
    struct json *other = event_to_new(core), *back = event_to_core(other);
    CHECK_STR(json_str(other, "note", ""), "m");
    CHECK_STR(json_str(other, "regarding.name", ""), "p");
    CHECK_STR(json_str(other, "apiVersion", ""), "events.k8s.io/v1");
    CHECK(json_equal(back, core));
    json_free(core);
    json_free(other);
    json_free(back);
}

T_MAIN
