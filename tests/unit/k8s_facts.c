/* k8s_facts.c - pods, their phase times, events and nodes read as facts. */
#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/yaml.h"
#include "core/base/yaml_out.h"
#include "k8s/eventinfo.h"
#include "k8s/nodesums.h"
#include "k8s/podinfo.h"
#include "k8s/podtimes.h"
#include "tests/t.h"

static int64_t ms(const char *text)
{
    int64_t us = 0;
    CHECK(clock_parse_rfc3339(text, &us));
    return us / 1000;
}

/* --- the word for a pod --------------------------------------------------------------- */
TEST(status_is_the_word_of_kubectl)
{
    static const struct { const char *pod, *word; } table[] = {
        {"{\"status\":{\"phase\":\"Running\"}}", "Running"},
        {"{}", "Unknown"},
        {"{\"metadata\":{\"deletionTimestamp\":\"2026-11-30T02:00:00Z\"},"
         "\"status\":{\"phase\":\"Running\"}}", "Terminating"},
        {"{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}", "Evicted"},
        {"{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
         "\"reason\":\"SchedulingGated\"}]}}", "SchedulingGated"},
        {"{\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":"
         "{\"reason\":\"ImagePullBackOff\"}}}]}}", "ImagePullBackOff"},
        {"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"terminated\":"
         "{\"exitCode\":3}}}]}}", "ExitCode:3"},
        {"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"terminated\":"
         "{\"signal\":9}}}]}}", "Signal:9"},
        {"{\"status\":{\"phase\":\"Running\",\"containerStatuses\":[{\"state\":{\"terminated\":"
         "{\"exitCode\":0,\"reason\":\"Completed\"}}},{\"ready\":true,\"state\":{\"running\":{}}}"
         "]}}", "Running"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"status\":{"
         "\"phase\":\"Pending\",\"initContainerStatuses\":[{\"name\":\"a\",\"state\":{"
        "\"terminated\":"
         "{\"exitCode\":0}}},{\"name\":\"b\",\"state\":{\"waiting\":{"
        "\"reason\":\"PodInitializing\"}}"
         "}]}}", "Init:1/2"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"a\"}]},\"status\":{\"phase\":\"Pending\","
         "\"initContainerStatuses\":[{\"name\":\"a\",\"state\":{\"terminated\":{\"exitCode\":1,"
         "\"reason\":\"Error\"}}}]}}", "Init:Error"},
        {"{\"spec\":{\"initContainers\":[{\"name\":\"a\",\"restartPolicy\":\"Always\"}]},"
        "\"status\":"
         "{\"phase\":\"Running\",\"initContainerStatuses\":[{\"name\":\"a\",\"started\":true,"
         "\"state\":{\"running\":{}}}]}}", "Running"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct json *j = json_from(table[i].pod);
        struct podinfo p;
        podinfo_read(j, &p);
        CHECK_MSG(str_eq(p.status, table[i].word), "%s: %s, want %s", table[i].pod, p.status,
                  table[i].word);
        json_free(j);
    }
}

TEST(a_pod_says_what_it_asks_for)
{
    struct json *j = json_from(
        "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{"
        "\"limits\":{\"habana.ai/gaudi\":\"2\",\"nvidia.com/mig-1g.5gb\":1},\"requests\":{\"cpu\":"
        "\"500m\"}}},{\"name\":\"b\",\"resources\":{\"limits\":{\"habana.ai/gaudi\":\"1\"}}}]}}");
    struct podinfo p;
    podinfo_read(j, &p);
    CHECK_STR(p.hw, "gaudi 3,mig-1g.5gb 1");
    CHECK_INT(p.all, 2);
    CHECK_INT(p.ready, 0);
    json_free(j);
    j = json_from("{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{"
        "\"cpu\":\"1500m\"}}}]}}");
    podinfo_read(j, &p);
    CHECK_STR(p.hw, "cpu 1.5");
    json_free(j);
}

TEST(a_cause_names_the_exit)
{
    static const struct { const char *pod, *has; } table[] = {
        {"{\"spec\":{\"containers\":[{\"name\":\"t\",\"resources\":{\"limits\":{"
        "\"memory\":\"32Gi\"}}"
         "}]},\"status\":{\"containerStatuses\":[{\"name\":\"t\",\"state\":{\"terminated\":{"
         "\"exitCode\":137,\"reason\":\"OOMKilled\"}}}]}}", "memory limit 32Gi"},
        {"{\"status\":{\"containerStatuses\":[{\"name\":\"t\",\"state\":{\"waiting\":{\"reason\":"
         "\"CrashLoopBackOff\"}},\"lastState\":{\"terminated\":{\"exitCode\":143,\"reason\":"
         "\"Error\"}}}]}}", "exit 143 (SIGTERM)"},
        {"{\"status\":{\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":\"ErrImagePull\","
         "\"message\":\"no such tag\"}}}]}}", "no such tag"},
        {"{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"message\":"
         "\"0/3 nodes\"}]}}", "0/3 nodes"},
    };
    char buf[300];
    i18n_init("en");
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct json *j = json_from(table[i].pod);
        CHECK_HAS(podinfo_cause(j, buf, sizeof buf), table[i].has);
        json_free(j);
    }
    struct json *fine = json_from("{\"status\":{\"phase\":\"Succeeded\",\"containerStatuses\":[{"
                                  "\"state\":{\"terminated\":{\"exitCode\":0}}}]}}");
    CHECK_STR(podinfo_cause(fine, buf, sizeof buf), "");
    json_free(fine);
}

TEST(the_container_is_the_one_of_kubectl)
{
    struct json *j = json_from(
        "{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/default-container\":\"b\"}},"
        "\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}");
    CHECK_STR(podinfo_container(j), "b");
    json_free(j);
    j = json_from("{\"metadata\":{\"annotations\":{\"kubectl.kubernetes.io/default-container\":"
                  "\"gone\"}},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}");
    CHECK_STR(podinfo_container(j), "a");
    json_free(j);
}

/* --- phase times -------------------------------------------------------------------------- */
#define SCHED(t) "{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"" t "\"}"
#define READY(t) "{\"type\":\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"" t "\"}"

static struct podtimes read_times(const char *pod, const char *events, const char *now)
{
    struct json *p = json_from(pod), *e = events ? json_from(events) : NULL;
    struct podtimes t;
    podtimes_read(p, e, ms(now), &t);
    json_free(p);
    json_free(e);
    return t;
}

static const struct podtimes_row *row(const struct podtimes *t, enum podtimes_mark m)
{
    for (int i = 0; i < t->n; i++)
        if (t->row[i].mark == m)
            return &t->row[i];
    return NULL;
}

TEST(phases_of_a_running_pod)
{
    struct podtimes t = read_times(
        "{\"metadata\":{\"name\":\"p\",\"uid\":\"u\","
        "\"creationTimestamp\":\"2026-11-30T01:00:00Z\"},"
        "\"status\":{\"phase\":\"Running\",\"conditions\":[" SCHED("2026-11-30T01:00:02Z") ","
        READY("2026-11-30T01:00:50Z") "],\"containerStatuses\":[{\"state\":{\"running\":{"
        "\"startedAt\":\"2026-11-30T01:00:46Z\"}}}]}}",
        "[{\"reason\":\"Pulled\",\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\","
        "\"uid\":\"u\"},"
        "\"message\":\"Successfully pulled\",\"firstTimestamp\":\"2026-11-30T01:00:43Z\"},"
        "{\"reason\":\"Pulled\",\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"x\"},"
        "\"message\":\"of another\",\"firstTimestamp\":\"2026-11-30T01:00:45Z\"}]",
        "2026-11-30T01:10:50Z");
    CHECK_INT(t.n, 6);
    CHECK_INT(row(&t, PT_SCHEDULED)->took_ms, 2000);
    CHECK_INT(row(&t, PT_PULLED)->took_ms, 41000);
    CHECK_INT(row(&t, PT_STARTED)->took_ms, 3000);
    CHECK_INT(row(&t, PT_READY)->took_ms, 4000);
    CHECK_INT(row(&t, PT_FINISHED)->state, PT_OPEN);
    CHECK_INT(row(&t, PT_FINISHED)->took_ms, 600000);
    int64_t sum = 0;
    for (int i = 0; i < t.n; i++)
        sum += t.row[i].state == PT_KNOWN ? MAX(t.row[i].took_ms, 0) : 0;
    CHECK_INT(sum, row(&t, PT_READY)->at_ms - row(&t, PT_CREATED)->at_ms);
}

TEST(phases_that_are_not_reached_wait)
{
    struct podtimes t = read_times(
        "{\"metadata\":{\"creationTimestamp\":\"2026-11-30T01:00:00Z\"},\"status\":{\"phase\":"
        "\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\","
        "\"lastTransitionTime\":\"2026-11-30T01:00:01Z\"}]}}",
        NULL, "2026-11-30T01:00:09Z");
    CHECK_INT(row(&t, PT_SCHEDULED)->state, PT_OPEN);
    CHECK_INT(row(&t, PT_SCHEDULED)->took_ms, 9000);
    CHECK_INT(row(&t, PT_STARTED)->state, PT_AHEAD);
    CHECK_INT(row(&t, PT_STARTED)->took_ms, -1);
}

/* Events are gone after an hour: the pull is unknown, and not zero. */
TEST(phases_without_events_are_unknown)
{
    struct podtimes t = read_times(
        "{\"metadata\":{\"creationTimestamp\":\"2026-11-30T01:00:00Z\"},\"status\":{\"phase\":"
        "\"Failed\",\"conditions\":[" SCHED("2026-11-30T01:00:00Z") "],\"containerStatuses\":[{"
        "\"state\":{\"terminated\":{\"startedAt\":\"2026-11-30T01:00:30Z\",\"finishedAt\":"
        "\"2026-11-30T01:01:30Z\"}}}]}}",
        "[]", "2026-11-30T05:00:00Z");
    CHECK_INT(row(&t, PT_PULLED)->state, PT_UNKNOWN);
    CHECK_INT(row(&t, PT_PULLED)->took_ms, -1);
    CHECK_INT(row(&t, PT_STARTED)->took_ms, 30000);
    CHECK_INT(row(&t, PT_FINISHED)->took_ms, 60000);
    CHECK(row(&t, PT_READY) == NULL);
}

TEST(phases_of_a_pod_that_never_ran)
{
    struct podtimes t = read_times("{\"metadata\":{\"creationTimestamp\":\"2026-11-30T01:00:00Z\"},"
                                   "\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}",
                                   NULL, "2026-11-30T05:00:00Z");
    CHECK_INT(row(&t, PT_STARTED)->state, PT_NEVER);
    t = read_times("{}", NULL, "2026-11-30T05:00:00Z");
    CHECK_INT(row(&t, PT_CREATED)->state, PT_OPEN);
    CHECK_INT(row(&t, PT_CREATED)->took_ms, -1);
}

TEST(phases_by_clocks_that_differ)
{
    struct podtimes t = read_times(
        "{\"metadata\":{\"creationTimestamp\":\"2026-11-30T01:00:05Z\"},\"status\":{\"phase\":"
        "\"Running\",\"conditions\":[" SCHED("2026-11-30T01:00:03Z") "]}}",
        NULL, "2026-11-30T01:00:01Z");
    CHECK(row(&t, PT_SCHEDULED)->skew);
    CHECK_INT(row(&t, PT_SCHEDULED)->took_ms, 0);
    CHECK_INT(row(&t, PT_PULLED)->state, PT_OPEN);
    CHECK_INT(row(&t, PT_PULLED)->took_ms, 0);
}

/* A restart pulls again; the first start counts, with the pull before it. */
TEST(phases_of_a_restarted_container)
{
    struct podtimes t = read_times(
        "{\"metadata\":{\"name\":\"p\",\"creationTimestamp\":\"2026-11-30T01:00:00Z\"},\"spec\":{"
        "\"initContainers\":[{\"name\":\"i\"}]},\"status\":{\"phase\":\"Running\",\"conditions\":["
        "{\"type\":\"Initialized\",\"status\":\"True\",\"lastTransitionTime\":"
        "\"2026-11-30T01:00:04Z\"}],\"containerStatuses\":[{\"state\":{\"running\":{\"startedAt\":"
        "\"2026-11-30T01:05:00Z\"}},\"lastState\":{\"terminated\":{\"startedAt\":"
        "\"2026-11-30T01:00:20Z\"}}}]}}",
        "[{\"reason\":\"Pulled\",\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\"},\"note\":"
        "\"Successfully pulled\",\"eventTime\":\"2026-11-30T01:00:18.000000Z\"},"
        "{\"reason\":\"Pulled\",\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\"},\"note\":"
        "\"already present on machine\",\"eventTime\":\"2026-11-30T01:04:59.000000Z\"}]",
        "2026-11-30T01:06:00Z");
    CHECK_INT(t.n, 7);
    CHECK_INT(row(&t, PT_INIT)->at_ms, ms("2026-11-30T01:00:04Z"));
    CHECK_INT(row(&t, PT_STARTED)->at_ms, ms("2026-11-30T01:00:20Z"));
    CHECK_INT(row(&t, PT_PULLED)->at_ms, ms("2026-11-30T01:00:18Z"));
    CHECK(!row(&t, PT_PULLED)->cached);
}

/* --- events ---------------------------------------------------------------------------------- */
TEST(events_of_both_shapes_read_alike)
{
    struct json *old = json_from(
        "{\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"},\"reason\":\"R\","
        "\"message\":\"m\",\"type\":\"Warning\",\"count\":4,\"firstTimestamp\":"
        "\"2026-11-30T01:00:00Z\",\"lastTimestamp\":\"2026-11-30T01:05:00Z\","
        "\"metadata\":{\"resourceVersion\":\"17\"}}");
    struct json *new = json_from(
        "{\"regarding\":{\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"},\"reason\":\"R\","
        "\"note\":\"m\",\"type\":\"Warning\",\"eventTime\":\"2026-11-30T01:00:00.000000Z\","
        "\"series\":{\"count\":4,\"lastObservedTime\":\"2026-11-30T01:05:00.000000Z\"},"
        "\"metadata\":{\"resourceVersion\":\"17\"}}");
    struct eventinfo a, b;
    eventinfo_read(old, &a);
    eventinfo_read(new, &b);
    CHECK(a.warning && b.warning);
    CHECK_INT(a.count, 4);
    CHECK_INT(b.count, 4);
    CHECK_INT(a.first_ms, b.first_ms);
    CHECK_INT(a.last_ms, b.last_ms);
    CHECK_INT(a.last_ms - a.first_ms, 300000);
    CHECK_STR(b.message, "m");
    CHECK_STR(b.uid, "u");
    CHECK_INT(eventinfo_newer(&a, &b), 0);
    b.place = 18;
    CHECK_INT(eventinfo_newer(&a, &b), 1);
    struct json *other = json_from("{\"metadata\":{\"name\":\"p\",\"uid\":\"v\"}}");
    struct json *bare = json_from("{\"metadata\":{\"name\":\"p\"}}");
    CHECK(!eventinfo_about(&a, "Pod", other));
    CHECK(eventinfo_about(&a, "Pod", bare));
    CHECK(!eventinfo_about(&a, "Job", bare));
    json_free(old);
    json_free(new);
    json_free(other);
    json_free(bare);
}

/* --- nodes --------------------------------------------------------------------------------- */
static const char nodes_text[] =
    "[{\"metadata\":{\"name\":\"b\",\"labels\":{\"node-role.kubernetes.io/worker\":\"\","
    "\"feature.node.kubernetes.io/cpu-cpuid.AMXTILE\":\"true\","
    "\"feature.node.kubernetes.io/cpu-cpuid.AVX512F\":\"true\","
    "\"nvidia.com/gpu.product\":\"A100\"}},\"spec\":{\"unschedulable\":true,\"taints\":["
    "{\"key\":\"gpu\",\"value\":\"yes\",\"effect\":\"NoSchedule\"}]},\"status\":{"
    "\"capacity\":{\"cpu\":\"8\",\"memory\":\"64Gi\",\"nvidia.com/gpu\":\"4\","
    "\"habana.ai/gaudi\":\"8\",\"hugepages-2Mi\":\"0\"},\"allocatable\":{\"cpu\":\"7500m\","
    "\"memory\":\"60Gi\",\"nvidia.com/gpu\":\"3\",\"habana.ai/gaudi\":\"8\",\"pods\":\"110\"},"
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"MemoryPressure\","
    "\"status\":\"True\"}]}},"
    "{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
    "\"Unknown\",\"reason\":\"NodeStatusUnknown\"}]}}]";

static const char pods_text[] =
    "[{\"spec\":{\"nodeName\":\"b\",\"containers\":[{\"resources\":{\"limits\":{"
    "\"habana.ai/gaudi\":\"2\",\"nvidia.com/gpu\":\"1\"},\"requests\":{\"cpu\":\"1\"}}}]},"
    "\"status\":{\"phase\":\"Running\"}},"
    "{\"spec\":{\"nodeName\":\"b\",\"initContainers\":[{\"resources\":{\"requests\":{"
        "\"cpu\":\"3\"}}}],"
    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"}}}]},"
    "\"status\":{\"phase\":\"Pending\"}},"
    "{\"spec\":{\"nodeName\":\"b\",\"containers\":[{\"resources\":{\"limits\":{"
    "\"habana.ai/gaudi\":\"4\"}}}]},\"status\":{\"phase\":\"Succeeded\"}},"
    "{\"spec\":{\"containers\":[{\"resources\":{\"limits\":{\"habana.ai/gaudi\":\"1\"}}}]},"
    "\"status\":{\"phase\":\"Pending\"}}]";

static const struct nodeinfo_use *device(const struct nodeinfo *n, const char *resource)
{
    for (int i = 0; i < n->devices; i++)
        if (str_eq(n->device[i].resource, resource))
            return &n->device[i];
    return NULL;
}

TEST(nodes_sum_what_pods_ask_for)
{
    struct json *nodes = json_from(nodes_text), *pods = json_from(pods_text);
    struct nodeinfo_list l;
    char buf[100];
    nodeinfo_list_read(nodes, pods, &l);
    CHECK_INT(l.n, 2);
    CHECK_STR(l.v[0].name, "a");
    const struct nodeinfo *b = &l.v[1];
    CHECK(b->ready && b->cordoned && !l.v[0].ready);
    CHECK_STR(l.v[0].ready_reason, "NodeStatusUnknown");
    CHECK_STR(b->pressure, "MemoryPressure");
    CHECK_STR(b->roles, "worker");
    CHECK_INT(b->devices, 2);
    CHECK_INT(device(b, "habana.ai/gaudi")->used, 2);
    CHECK_INT(device(b, "nvidia.com/gpu")->used, 1);
    CHECK_INT(device(b, "nvidia.com/gpu")->capacity - device(b, "nvidia.com/gpu")->allocatable, 1);
    CHECK_INT(b->cpu.used, 4000);
    CHECK_INT(b->memory.used, INT64_C(1) << 30);
    CHECK_INT(b->pods.used, 2);
    for (int i = 0; i < b->devices; i++)
        CHECK_INT(nodeinfo_free(&b->device[i]) + b->device[i].used, b->device[i].allocatable);
    CHECK_STR(nodeinfo_taint(b->node, 0, buf, sizeof buf), "gpu=yes:NoSchedule");
    CHECK_STR(nodeinfo_product(b->node, buf, sizeof buf), "A100");
    CHECK_STR(nodeinfo_features(b->node, buf, sizeof buf), "AMX AVX-512");
    struct nodesums_ask ask;
    nodesums_read(json_item(pods, 0), &ask);
    CHECK_STR(ask.node, "b");
    CHECK_INT(ask.device[0].amount, 2);
    nodesums_read(json_item(pods, 2), &ask);
    CHECK_STR(ask.node, "");
    nodeinfo_list_release(&l);
    json_free(nodes);
    json_free(pods);
}

TEST(what_a_node_does_not_say_is_not_zero)
{
    struct json *nodes = json_from(nodes_text);
    struct nodeinfo_list l;
    nodeinfo_list_read(nodes, NULL, &l);
    CHECK_INT(l.v[0].cpu.allocatable, -1);
    CHECK_INT(nodeinfo_free(&l.v[0].cpu), -1);
    struct nodeinfo_use over = {"x", 4, 4, 6};
    CHECK_INT(nodeinfo_free(&over), 0);
    nodeinfo_list_release(&l);
    json_free(nodes);
}

/* --- YAML ------------------------------------------------------------------------------------- */
TEST(yaml_reads_back_as_the_same_tree)
{
    static const char *const texts[] = {
        "{\"a\":\"1\",\"b\":1,\"c\":true,\"d\":\"true\",\"e\":null,\"f\":\"\",\"g\":[],\"h\":{}}",
        "{\"list\":[{\"x\":1,\"y\":[1,[2,3]]},\"two\",{}],\"k:1\":\"a: b\","
        "\"no\":\"# no comment\"}",
        "{\"t\":\"2026-11-30T02:00:00Z\",\"n\":\"0x1F\",\"o\":\"1_000\",\"p\":\" lead\","
        "\"q\":\"tail \"}",
        "{\"script\":\"set -e\\necho hi\\n\",\"odd\":\"two\\nlines\",\"in\":\"a\\n  b\\n\\nc\\n\"}",
        "{\"u\":\"\\u00e9 \\u4e2d\\u6587\",\"c\":\"\\u0001\",\"dash\":\"- x\",\"s\":\"*a\","
        "\"y\":\"Yes\"}",
        "[1,\"a\",[],[[\"deep\"]]]",
        "\"alone\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct json *want = json_from(texts[i]);
        struct ydoc *doc = NULL;
        struct pd_err err;
        struct str s;
        str_init(&s, 1 << 16);
        yaml_out(want, &s);
        CHECK_OK(yaml_parse("out", s.p, s.len, &doc, &err));
        struct json *got = yaml_to_json(doc->root);
        CHECK_MSG(json_equal(want, got), "%s became\n%s", texts[i], s.p);
        json_free(got);
        json_free(want);
        yaml_docs_free(doc);
        str_release(&s);
    }
}

static struct json *random_pod(unsigned *seed)
{
    static const char *const phases[] = {"Running", "Pending", "Succeeded", "Failed"};
    char text[900];
    unsigned r = *seed = *seed * 1103515245u + 12345u;
    r >>= 8;
    str_fmt(text, sizeof text,
            "{\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":"
            "\"%um\",\"memory\":\"%uMi\"},\"limits\":{\"habana.ai/gaudi\":\"%u\"}}}],"
            "\"initContainers\":[{\"restartPolicy\":\"%s\",\"resources\":{\"requests\":{"
            "\"cpu\":\"%u\",\"nvidia.com/gpu\":\"%u\"}}}]%s},\"status\":{\"phase\":\"%s\"}}",
            r % 5 == 0 ? "" : r % 5 == 1 ? "a" : "b", r % 900, r % 77, r % 4,
            r % 3 ? "" : "Always", r % 3, r % 2,
            r % 7 ? "" : ",\"overhead\":{\"memory\":\"5Mi\"}", phases[r % 11 % 4]);
    return json_from(text);
}

/* Kept as pods come and go, the sums are those of a walk over all of them. */
TEST(kept_sums_equal_a_walk)
{
    enum { PODS = 60 };
    struct json *nodes = json_from(
        "[{\"metadata\":{\"name\":\"a\"},\"status\":{\"capacity\":{\"cpu\":\"8\","
        "\"nvidia.com/gpu\":\"2\",\"habana.ai/gaudi\":\"8\"}}},"
        "{\"metadata\":{\"name\":\"b\"},\"status\":{\"capacity\":{\"habana.ai/gaudi\":\"8\"}}},"
        "{\"metadata\":{\"name\":\"c\"}}]");
    struct json *pod[PODS] = {0};
    struct nodesums_ask ask[PODS] = {0};
    struct nodesums *sums = nodesums_new();
    unsigned seed = 12;
    for (int step = 0; step < 600; step++) {
        unsigned i = (seed >> 4) % PODS;
        nodesums_take(sums, &ask[i]);
        json_free(pod[i]);
        pod[i] = random_pod(&seed);
        nodesums_read(pod[i], &ask[i]);
        nodesums_add(sums, &ask[i]);
        struct nodeinfo_list want, got;
        struct json *all = json_new_array();
        for (int k = 0; k < PODS; k++)
            if (pod[k])
                json_append(all, json_copy(pod[k]));
        nodeinfo_list_read(nodes, all, &want);
        nodeinfo_list_read(nodes, NULL, &got);
        for (int k = 0; k < want.n; k++) {
            nodesums_give(sums, &got.v[k]);
            CHECK_INT(got.v[k].cpu.used, want.v[k].cpu.used);
            CHECK_INT(got.v[k].memory.used, want.v[k].memory.used);
            CHECK_INT(got.v[k].pods.used, want.v[k].pods.used);
            for (int d = 0; d < want.v[k].devices; d++)
                CHECK_INT(got.v[k].device[d].used, want.v[k].device[d].used);
        }
        nodeinfo_list_release(&want);
        nodeinfo_list_release(&got);
        json_free(all);
    }
    for (int i = 0; i < PODS; i++)
        json_free(pod[i]);
    nodesums_free(sums);
    json_free(nodes);
}

T_MAIN
