/* job.c - the Job controller's queue: which Jobs to look at, and when; TTL
 * after the end; pods that outlived their Job (node.h). */
#include "k8s/practice/job_in.h"

#include "core/base/clock.h"
#include "core/base/mem.h"

enum { BATCH_MS = 1000 };             /* pod changes are taken together */

const struct api_user job_user = {"system:serviceaccount:kube-system:job-controller", NULL, true,
                                  "kube-controller-manager"};

struct item {
    struct item *next;
    struct job_controller *c;
    char *ns, *name, uid[64];
    uint32_t timer;
    int64_t due_ms;                   /* clock_ms of the timer */
    struct job_backoff backoff;
};

struct job_controller {
    struct api *api;
    double speed;
    struct item *items;
    bool stopped;
};

static const struct res *jobs_res(void)
{
    return res_by_plural("batch", "jobs");
}

static struct item *find(struct job_controller *c, const char *ns, const char *name, bool make)
{
    for (struct item *i = c->items; i; i = i->next)
        if (strcmp(i->name, name) == 0 && strcmp(i->ns, ns) == 0)
            return i;
    if (!make)
        return NULL;
    struct item *i = xcalloc(1, sizeof *i);
    i->c = c;
    i->ns = xstrdup(ns);
    i->name = xstrdup(name);
    i->next = c->items;
    c->items = i;
    return i;
}

static void drop(struct job_controller *c, struct item *gone)
{
    for (struct item **p = &c->items; *p; p = &(*p)->next) {
        if (*p != gone)
            continue;
        *p = gone->next;
        loop_timer_cancel(api_loop(c->api), gone->timer);
        free(gone->ns);
        free(gone->name);
        free(gone);
        return;
    }
}

static void run(void *arg);

/* Sooner wins. */
static void queue(struct item *i, int64_t ms)
{
    struct loop *l = api_loop(i->c->api);
    int64_t due = clock_ms() + ms;
    if (i->timer && i->due_ms <= due)
        return;
    loop_timer_cancel(l, i->timer);
    i->due_ms = due;
    i->timer = loop_timer(l, ms, run, i, "job");
}

static bool finished(const struct json *job)
{
    return strcmp(kobj_condition_status(job, "Complete"), "True") == 0 ||
           strcmp(kobj_condition_status(job, "Failed"), "True") == 0;
}

/* Finished Jobs with a TTL go when it has passed, their pods first. */
static int64_t ttl_left(const struct json *job)
{
    int64_t ttl = json_int(job, "spec.ttlSecondsAfterFinished", -1);
    const char *type = strcmp(kobj_condition_status(job, "Complete"), "True") == 0 ? "Complete"
                                                                                   : "Failed";
    char path[96];
    str_fmt(path, sizeof path, "status.conditions[?type=%s].lastTransitionTime", type);
    if (ttl < 0 || kobj_deleting(job))
        return -1;
    return MAX(kobj_time_ms(job, path) + kobj_ms(ttl) - clock_wall_ms(), 0);
}

static void delete_job(struct job_controller *c, const struct json *job)
{
    struct api_result r;
    struct json *options = json_from("{\"propagationPolicy\":\"Foreground\"}");
    json_put_path(options, "preconditions.uid", json_new_string(kobj_uid(job)));
    api_delete(c->api, &job_user, jobs_res(), kobj_ns(job), kobj_name(job), options, &r);
    api_result_release(&r);
    json_free(options);
}

struct orphans {
    struct job_controller *c;
    const char *uid;                  /* of the Job, NULL: whichever is gone */
    struct json **v;
    size_t n;
};

static void take_orphan(void *arg, const struct json *pod)
{
    struct orphans *o = arg;
    const char *owner = kobj_owner_uid(pod);
    if (!kobj_has_finalizer(pod, JOB_FINALIZER) || (o->uid && strcmp(owner, o->uid) != 0))
        return;
    o->v = xrealloc_array(o->v, o->n + 1, sizeof *o->v);
    o->v[o->n++] = json_copy(pod);
}

static struct json *job_of_pod(struct job_controller *c, const struct json *pod)
{
    const char *uid = kobj_owner_uid(pod);
    for (const struct json *r = json_first(json_at(pod, "metadata.ownerReferences")); r;
         r = json_next(r)) {
        if (strcmp(json_str(r, "kind", ""), "Job") != 0)
            continue;
        struct json *job = api_get(c->api, jobs_res(), kobj_ns(pod), json_str(r, "name", ""));
        if (job && strcmp(kobj_uid(job), uid) == 0)
            return job;
        json_free(job);
    }
    return NULL;
}

/* A pod whose Job is gone or finished must not be held by its finalizer. */
static void free_orphans(struct job_controller *c, const char *ns, const char *uid)
{
    struct orphans o = {c, uid, NULL, 0};
    api_each(c->api, res_by_plural("", "pods"), ns, take_orphan, &o);
    for (size_t i = 0; i < o.n; i++) {
        struct json *job = job_of_pod(c, o.v[i]);
        if (!job || finished(job))
            job_pods_untrack(c->api, o.v[i]);
        json_free(job);
        json_free(o.v[i]);
    }
    free(o.v);
}

static void run(void *arg)
{
    struct item *i = arg;
    struct job_controller *c = i->c;
    i->timer = 0;
    if (c->stopped)
        return;
    struct json *job = api_get(c->api, jobs_res(), i->ns, i->name);
    if (!job) {
        free_orphans(c, i->ns, i->uid);
        drop(c, i);
        return;
    }
    if (strcmp(i->uid, kobj_uid(job)) != 0) {
        str_copy(i->uid, sizeof i->uid, kobj_uid(job));
        i->backoff = (struct job_backoff){0};
    }
    if (finished(job)) {
        int64_t left = ttl_left(job);
        if (left == 0)
            delete_job(c, job);
        else if (left > 0)
            queue(i, left);
    } else {
        struct job_sync s = {.api = c->api, .speed = c->speed, .job = job, .ns = i->ns,
                             .name = i->name, .backoff = &i->backoff};
        job_sync_run(&s);
        if (s.again_ms)
            queue(i, s.again_ms);
    }
    json_free(job);
}

static void on_job(void *arg, enum api_change change, const struct json *obj,
                   const struct json *old UNUSED)
{
    struct job_controller *c = arg;
    if (c->stopped)
        return;
    struct item *i = find(c, kobj_ns(obj), kobj_name(obj), true);
    if (change == API_DELETED && !i->uid[0])
        str_copy(i->uid, sizeof i->uid, kobj_uid(obj));
    queue(i, 0);
}

static void on_pod(void *arg, enum api_change change, const struct json *obj,
                   const struct json *old UNUSED)
{
    struct job_controller *c = arg;
    if (c->stopped || !*kobj_owner_uid(obj) || change == API_ADDED)
        return;
    struct json *job = job_of_pod(c, obj);
    if (job)
        queue(find(c, kobj_ns(job), kobj_name(job), true), (int64_t)(BATCH_MS / c->speed));
    else if (change != API_DELETED)
        free_orphans(c, kobj_ns(obj), kobj_owner_uid(obj));
    json_free(job);
}

static void on_existing(void *arg, const struct json *job)
{
    on_job(arg, API_ADDED, job, NULL);
}

struct job_controller *job_controller_start(struct api *a, double speed)
{
    struct job_controller *c = xcalloc(1, sizeof *c);
    c->api = a;
    c->speed = speed;
    api_subscribe(a, jobs_res(), on_job, c);
    api_subscribe(a, res_by_plural("", "pods"), on_pod, c);
    api_each(a, jobs_res(), NULL, on_existing, c);
    free_orphans(c, NULL, NULL);
    return c;
}

void job_controller_stop(struct job_controller *c)
{
    if (!c)
        return;
    c->stopped = true;
    while (c->items)
        drop(c, c->items);
    free(c);
}
