/* The scheduler: its sentences word for word, binding, retry. */
#include "k8s/practice/sched_filter.h"
#include "tests/unit/practice_node_fake.h"

static const char *const nodes[] = {
    "{\"metadata\":{\"name\":\"gaudi-0\",\"labels\":{\"kubernetes.io/hostname\":\"gaudi-0\"}},"
    "\"spec\":{\"taints\":[{\"key\":\"habana.ai/gaudi\",\"value\":\"true\",\"effect\":"
    "\"NoSchedule\"}]},\"status\":{\"allocatable\":{\"cpu\":\"96\",\"memory\":\"1024Gi\","
    "\"pods\":\"110\",\"habana.ai/gaudi\":\"8\"}}}",
    "{\"metadata\":{\"name\":\"nvidia-0\",\"labels\":{\"kubernetes.io/hostname\":\"nvidia-0\"}},"
    "\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"32\",\"memory\":\"256Gi\",\"pods\":\"110\","
    "\"nvidia.com/gpu\":\"2\"}}}",
    "{\"metadata\":{\"name\":\"xeon-0\",\"labels\":{\"kubernetes.io/hostname\":\"xeon-0\","
    "\"amx\":\"true\"}},\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"56\",\"memory\":"
    "\"480Gi\",\"pods\":\"110\"}}}"};

static struct api *cluster(void)
{
    struct api *a = fake_new();
    for (size_t i = 0; i < ARRAY_LEN(nodes); i++)
        fake_create(a, "nodes", nodes[i]);
    fake_run(a, 0);
    return a;
}

static struct json *pod_after(struct api *a, int64_t ms)
{
    fake_run(a, ms);
    return api_get(a, res_by_name("pods"), "default", "p");
}

static void expect(const char *spec, const char *want)
{
    struct api *a = cluster();
    struct scheduler *s = scheduler_start(a, 1);
    char text[2000];
    str_fmt(text, sizeof text, "{\"metadata\":{\"name\":\"p\"},\"spec\":%s}", spec);
    fake_create(a, "pods", text);
    struct json *p = pod_after(a, 200);
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].message", ""), want);
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].reason", ""), "Unschedulable");
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].status", ""), "False");
    char event[1200];
    str_fmt(event, sizeof event, "Warning FailedScheduling default-scheduler %s", want);
    CHECK_STR(fake_event(a, "FailedScheduling"), event);
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

TEST(taint_and_cpu)
{
    expect("{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"200\"}}}]}",
           "0/3 nodes are available: 1 node(s) had untolerated taint {habana.ai/gaudi: true}, 2 "
           "Insufficient cpu. preemption: 0/3 nodes are available: 1 Preemption is not helpful for "
           "scheduling, 2 No preemption victims found for incoming pod.");
}

TEST(gaudi_tolerated_but_too_many)
{
    expect("{\"tolerations\":[{\"key\":\"habana.ai/gaudi\",\"operator\":\"Exists\"}],"
           "\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"habana.ai/gaudi\":"
           "\"16\"}}}]}",
           "0/3 nodes are available: 3 Insufficient habana.ai/gaudi. preemption: 0/3 nodes are "
           "available: 3 No preemption victims found for incoming pod.");
}

TEST(gaudi_without_toleration)
{
    expect("{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"habana.ai/gaudi\":"
           "\"1\"}}}]}",
           "0/3 nodes are available: 1 node(s) had untolerated taint {habana.ai/gaudi: true}, 2 "
           "Insufficient habana.ai/gaudi. preemption: 0/3 nodes are available: 1 Preemption is "
           "not helpful for scheduling, 2 No preemption victims found for incoming pod.");
}

TEST(cpu_and_memory_are_two_reasons)
{
    expect("{\"nodeSelector\":{\"kubernetes.io/hostname\":\"xeon-0\"},\"containers\":[{\"name\":"
           "\"c\",\"resources\":{\"requests\":{\"cpu\":\"57\",\"memory\":\"1Ti\"}}}]}",
           "0/3 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) didn't "
           "match Pod's node affinity/selector, 1 node(s) had untolerated taint {habana.ai/gaudi: "
           "true}. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming "
           "pod, 2 Preemption is not helpful for scheduling.");
}

TEST(selector_matches_nothing)
{
    expect("{\"nodeSelector\":{\"disk\":\"ssd\"},\"tolerations\":[{\"operator\":\"Exists\"}],"
           "\"containers\":[{\"name\":\"c\"}]}",
           "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. "
           "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.");
}

TEST(missing_claim)
{
    expect("{\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"nope\"}}],"
           "\"containers\":[{\"name\":\"c\"}]}",
           "0/3 nodes are available: persistentvolumeclaim \"nope\" not found. preemption: 0/3 "
           "nodes are available: 3 Preemption is not helpful for scheduling.");
}

TEST(no_nodes)
{
    struct api *a = fake_new();
    struct scheduler *s = scheduler_start(a, 1);
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
                           "\"c\"}]}}");
    struct json *p = pod_after(a, 200);
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].message", ""),
              "no nodes available to schedule pods");
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

static void set_unschedulable(struct api *a, bool on)
{
    static const char *const names[] = {"nvidia-0", "xeon-0"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct json *n = api_get(a, res_by_name("nodes"), NULL, names[i]);
        json_put_bool(json_get_mut(n, "spec"), "unschedulable", on);
        kobj_write(a, &fake_user, NULL, n, NULL, 0);
        json_free(n);
    }
}

TEST(cordon_then_uncordon)
{
    struct api *a = cluster();
    struct scheduler *s = scheduler_start(a, 1);
    set_unschedulable(a, true);
    fake_run(a, 0);
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
                           "\"c\"}]}}");
    struct json *p = pod_after(a, 200);
    CHECK_HAS(json_str(p, "status.conditions[?type=PodScheduled].message", ""),
              "2 node(s) were unschedulable.");
    json_free(p);
    int tries = fake_count_events(a, "FailedScheduling");
    p = pod_after(a, 20000);
    CHECK_INT(fake_count_events(a, "FailedScheduling"), tries);   /* nothing changed: no try */
    json_free(p);
    set_unschedulable(a, false);
    p = pod_after(a, 2500);
    CHECK_STR(json_str(p, "spec.nodeName", ""), "xeon-0");
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].status", ""), "True");
    CHECK_STR(fake_event(a, "Scheduled default"),
              "Normal Scheduled default-scheduler Successfully assigned default/p to xeon-0");
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

TEST(accelerators_are_kept_for_those_who_ask)
{
    struct api *a = cluster();
    struct scheduler *s = scheduler_start(a, 1);
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":"
                           "\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"2\"}}}]}}");
    struct json *p = pod_after(a, 200);
    CHECK_STR(json_str(p, "spec.nodeName", ""), "nvidia-0");
    json_free(p);
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"containers\":[{\"name\":"
                           "\"c\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}");
    fake_run(a, 200);
    p = api_get(a, res_by_name("pods"), "default", "q");
    CHECK_HAS(json_str(p, "status.conditions[?type=PodScheduled].message", ""),
              "2 Insufficient nvidia.com/gpu");
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

TEST(higher_priority_goes_first)
{
    struct api *a = cluster();
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"priority\":0,\"containers\":"
                           "[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"40\"}}}]}}");
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"priority\":1000,"
                           "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":"
                           "\"40\"}}}]}}");
    struct scheduler *s = scheduler_start(a, 1);
    struct json *p = pod_after(a, 500);
    CHECK_STR(json_str(p, "spec.nodeName", ""), "");
    json_free(p);
    p = api_get(a, res_by_name("pods"), "default", "q");
    CHECK_STR(json_str(p, "spec.nodeName", ""), "xeon-0");
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

TEST(gates_hold_without_an_event)
{
    struct api *a = cluster();
    struct scheduler *s = scheduler_start(a, 1);
    fake_create(a, "pods", "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulingGates\":[{"
                           "\"name\":\"g\"}],\"containers\":[{\"name\":\"c\"}]}}");
    struct json *p = pod_after(a, 500);
    CHECK_STR(json_str(p, "status.conditions[?type=PodScheduled].reason", ""), "SchedulingGated");
    CHECK_INT(a->events, 0);
    json_free(p);
    scheduler_stop(s);
    fake_free(a);
}

TEST(a_waiting_claim_is_bound_at_the_first_pod)
{
    struct api *a = cluster();
    struct pvc_controller *c = pvc_controller_start(a);
    struct scheduler *s = scheduler_start(a, 1);
    fake_create(a, "persistentvolumeclaims",
                "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
                "\"data\"},\"spec\":{\"storageClassName\":\"local\",\"accessModes\":"
                "[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}},"
                "\"status\":{\"phase\":\"Pending\"}}");
    fake_run(a, 500);
    CHECK_STR(fake_event(a, "WaitForFirstConsumer"),
              "Normal WaitForFirstConsumer persistentvolume-controller waiting for first consumer "
              "to be created before binding");
    fake_create(a, "pods", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                           "\"spec\":{\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":"
                           "{\"claimName\":\"data\"}}],\"containers\":[{\"name\":\"c\"}]}}");
    struct json *p = pod_after(a, 3000);
    CHECK_STR(json_str(p, "spec.nodeName", ""), "xeon-0");
    json_free(p);
    p = api_get(a, res_by_name("persistentvolumeclaims"), "default", "data");
    CHECK_STR(json_str(p, "status.phase", ""), "Bound");
    CHECK_STR(json_str(p, "status.capacity.storage", ""), "1Gi");
    CHECK_STR(json_str(p, "metadata.finalizers[0]", ""), "kubernetes.io/pvc-protection");
    struct json *pv = api_get(a, res_by_name("persistentvolumes"), NULL,
                              json_str(p, "spec.volumeName", ""));
    CHECK_STR(json_str(pv, "status.phase", ""), "Bound");
    CHECK_STR(json_str(pv, "spec.claimRef.name", ""), "data");
    json_free(pv);
    json_free(p);
    struct api_result r;             /* in use: the claim stays until the pod is gone */
    api_delete(a, &fake_user, res_by_name("persistentvolumeclaims"), "default", "data", NULL, &r);
    api_result_release(&r);
    fake_run(a, 500);
    CHECK((p = api_get(a, res_by_name("persistentvolumeclaims"), "default", "data")) != NULL);
    json_free(p);
    struct json *now = json_from("{\"gracePeriodSeconds\":0}");
    api_delete(a, &fake_user, res_by_name("pods"), "default", "p", now, &r);
    api_result_release(&r);
    json_free(now);
    fake_run(a, 1000);
    CHECK(!api_get(a, res_by_name("persistentvolumeclaims"), "default", "data"));
    int left = 0;
    for (int i = 0; i < a->n; i++)
        left += a->obj[i].j && a->obj[i].res == res_by_name("persistentvolumes");
    CHECK_INT(left, 0);
    scheduler_stop(s);
    pvc_controller_stop(c);
    fake_free(a);
}

T_MAIN
