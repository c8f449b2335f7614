/* job_pods.c - the pods of a Job: finding, counting, making and deleting. */
#include "k8s/practice/job_in.h"

#include "core/base/clock.h"
#include "core/base/mem.h"

static const struct res *pods_res(void)
{
    return res_by_plural("", "pods");
}

/* When the last container ended; else when Ready fell, the deletion, the birth. */
static int64_t finished_ms(const struct json *pod)
{
    int64_t latest = 0;
    bool all = json_count(json_at(pod, "status.containerStatuses")) > 0;
    for (const struct json *c = json_first(json_at(pod, "status.containerStatuses")); c;
         c = json_next(c)) {
        int64_t t = kobj_time_ms(c, "state.terminated.finishedAt");
        all = all && t > 0;
        latest = MAX(latest, t);
    }
    if (all)
        return latest;
    if (strcmp(kobj_condition_status(pod, "Ready"), "False") == 0)
        return kobj_time_ms(pod, "status.conditions[?type=Ready].lastTransitionTime");
    if (kobj_deleting(pod))
        return kobj_time_ms(pod, "metadata.deletionTimestamp") -
               kobj_ms(json_int(pod, "metadata.deletionGracePeriodSeconds", 0));
    return kobj_time_ms(pod, "metadata.creationTimestamp");
}

static int index_of(const struct json *pod)
{
    int64_t v;
    const char *text = json_string_value(json_get(json_at(pod, "metadata.annotations"), JOB_INDEX));
    return text && str_to_i64(text, &v) && v >= 0 && v <= INT32_MAX ? (int)v : -1;
}

static void take(void *arg, const struct json *pod)
{
    struct job_sync *s = arg;
    if (strcmp(kobj_owner_uid(pod), kobj_uid(s->job)) != 0)
        return;
    const char *phase = json_str(pod, "status.phase", "");
    bool terminal = kobj_terminal(pod), deleting = kobj_deleting(pod);
    struct job_pod p = {.obj = json_copy(pod),
                        .tracked = kobj_has_finalizer(pod, JOB_FINALIZER),
                        .succeeded = strcmp(phase, "Succeeded") == 0,
                        .active = !terminal && !deleting,
                        .terminating = !terminal && deleting,
                        .index = index_of(pod),
                        .finished_ms = finished_ms(pod)};
    bool only_failed = strcmp(json_str(s->job, "spec.podReplacementPolicy", ""), "Failed") == 0;
    p.failed = strcmp(phase, "Failed") == 0 || (deleting && !p.succeeded && !only_failed);
    p.ready = p.active && strcmp(kobj_condition_status(pod, "Ready"), "True") == 0;
    s->pods.v = xrealloc_array(s->pods.v, s->pods.n + 1, sizeof *s->pods.v);
    s->pods.v[s->pods.n++] = p;
}

static int by_index(const void *a, const void *b)
{
    const struct job_pod *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

void job_pods_load(struct job_sync *s)
{
    api_each(s->api, pods_res(), s->ns, take, s);
    if (s->indexed && s->pods.n)
        qsort(s->pods.v, s->pods.n, sizeof *s->pods.v, by_index);
}

void job_pods_release(struct job_sync *s)
{
    for (size_t i = 0; i < s->pods.n; i++)
        json_free(s->pods.v[i].obj);
    free(s->pods.v);
    s->pods.v = NULL;
    s->pods.n = 0;
}

/* --- create ------------------------------------------------------------------ */

static void add_index_env(struct json *containers)
{
    for (struct json *c = json_first_mut(containers); c; c = json_next_mut(c)) {
        bool there = false;
        for (const struct json *e = json_first(json_get(c, "env")); e; e = json_next(e))
            there = there || strcmp(json_str(e, "name", ""), "JOB_COMPLETION_INDEX") == 0;
        if (!there)
            json_append(kobj_list(c, "env"),
                        json_from("{\"name\":\"JOB_COMPLETION_INDEX\",\"valueFrom\":{\"fieldRef\":"
                                  "{\"apiVersion\":\"v1\",\"fieldPath\":"
                                  "\"metadata.labels['" JOB_INDEX "']\"}}}"));
    }
}

static void set_index(struct job_sync *s, struct json *pod, int index)
{
    struct json *meta = kobj_member(pod, "metadata"), *spec = kobj_member(pod, "spec");
    char text[24];
    str_fmt(text, sizeof text, "%d", index);
    json_put_str(kobj_member(meta, "annotations"), JOB_INDEX, text);
    json_put_str(kobj_member(meta, "labels"), JOB_INDEX, text);
    char *host = xasprintf("%s-%d", s->name, index), *stem = xasprintf("%.57s-", host);
    json_put_str(spec, "hostname", host);
    json_put_str(meta, "generateName", stem);
    free(host);
    free(stem);
    add_index_env(json_get_mut(spec, "containers"));
    add_index_env(json_get_mut(spec, "initContainers"));
}

static struct json *pod_of(struct job_sync *s, int index)
{
    struct json *pod = json_copy(json_at(s->job, "spec.template"));
    struct json *meta = kobj_member(pod, "metadata");
    struct json *owner = json_new_object();
    json_put_str(pod, "apiVersion", "v1");
    json_put_str(pod, "kind", "Pod");
    json_remove(meta, "creationTimestamp");
    json_put_str(meta, "namespace", s->ns);
    char *stem = xasprintf("%.57s-", s->name);
    json_put_str(meta, "generateName", stem);
    free(stem);
    json_put_str(owner, "apiVersion", "batch/v1");
    json_put_str(owner, "kind", "Job");
    json_put_str(owner, "name", s->name);
    json_put_str(owner, "uid", kobj_uid(s->job));
    json_put_bool(owner, "controller", true);
    json_put_bool(owner, "blockOwnerDeletion", true);
    json_append(kobj_list(meta, "ownerReferences"), owner);
    if (!kobj_has_finalizer(pod, JOB_FINALIZER))
        json_append(kobj_list(meta, "finalizers"), json_new_string(JOB_FINALIZER));
    if (index >= 0)
        set_index(s, pod, index);
    return pod;
}

bool job_pods_create(struct job_sync *s, int index)
{
    struct api_result r;
    struct json *pod = pod_of(s, index);
    api_create(s->api, &job_user, pods_res(), s->ns, pod, &r);
    bool ok = r.code < 300;
    if (ok)
        api_event(s->api, s->job, NULL, "Normal", "SuccessfulCreate", "job-controller", NULL,
                  false, "Created pod: %s", kobj_name(r.body));
    else if (!strstr(kobj_result_message(&r), "because it is being terminated"))
        api_event(s->api, s->job, NULL, "Warning", "FailedCreate", "job-controller", NULL, false,
                  "Error creating: %s", kobj_result_message(&r));
    api_result_release(&r);
    json_free(pod);
    return ok;
}

/* --- delete ------------------------------------------------------------------ */

void job_pods_untrack(struct api *api, struct json *pod)
{
    struct json *fresh = api_get(api, pods_res(), kobj_ns(pod), kobj_name(pod));
    if (fresh && strcmp(kobj_uid(fresh), kobj_uid(pod)) == 0 &&
        kobj_drop_finalizer(fresh, JOB_FINALIZER))
        kobj_write(api, &job_user, NULL, fresh, NULL, 0);
    json_free(fresh);
    kobj_drop_finalizer(pod, JOB_FINALIZER);
}

bool job_pods_delete(struct job_sync *s, struct job_pod *p, bool drop_finalizer)
{
    struct api_result r;
    if (drop_finalizer && p->tracked) {
        job_pods_untrack(s->api, p->obj);
        p->tracked = false;
    }
    api_delete(s->api, &job_user, pods_res(), s->ns, kobj_name(p->obj), NULL, &r);
    bool ok = r.code < 300;
    if (ok)
        api_event(s->api, s->job, NULL, "Normal", "SuccessfulDelete", "job-controller", NULL,
                  false, "Deleted pod: %s", kobj_name(p->obj));
    else
        api_event(s->api, s->job, NULL, "Warning", "FailedDelete", "job-controller", NULL, false,
                  "Error deleting: %s", kobj_result_message(&r));
    ok = ok || r.code == 404;
    api_result_release(&r);
    return ok;
}

/* Earlier stages go first: unscheduled, pending, not ready, younger. */
static int stage(const struct job_pod *p)
{
    const char *phase = json_str(p->obj, "status.phase", "");
    return (*json_str(p->obj, "spec.nodeName", "") ? 4 : 0) +
           (strcmp(phase, "Running") == 0 ? 2 : 0) + (p->ready ? 1 : 0);
}

static bool before(const struct job_pod *a, const struct job_pod *b)
{
    if (stage(a) != stage(b))
        return stage(a) < stage(b);
    return kobj_time_ms(a->obj, "metadata.creationTimestamp") >
           kobj_time_ms(b->obj, "metadata.creationTimestamp");
}

size_t job_pods_surplus(struct job_sync *s, size_t at_least, size_t *rm)
{
    size_t n = 0, left_n = 0, *left = xcalloc(s->pods.n + 1, sizeof *left);
    int last = -1;
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct job_pod *p = &s->pods.v[i];
        if (!p->active)
            continue;
        bool wrong = s->indexed && (p->index < 0 || p->index >= s->completions || p->index == last);
        if (wrong)
            rm[n++] = i;
        else
            left[left_n++] = i;
        last = p->index;
    }
    for (size_t i = 1; i < left_n; i++)         /* insertion sort: lists are short */
        for (size_t k = i; k > 0 && before(&s->pods.v[left[k]], &s->pods.v[left[k - 1]]); k--) {
            size_t t = left[k];
            left[k] = left[k - 1];
            left[k - 1] = t;
        }
    for (size_t i = 0; n < at_least && i < left_n; i++)
        rm[n++] = left[i];
    free(left);
    return n;
}
