/* scheduler.c - the queue of pods without a node, and their binding (node.h). */
#include "k8s/practice/node.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/sched_filter.h"

enum { BACKOFF_MS = 1000, BACKOFF_MAX_MS = 10000, FLUSH_MS = 300000 };

static const char *const groups[] = {"system:authenticated", NULL};
static const struct api_user sched_user = {"system:kube-scheduler", groups, true,
                                           "kube-scheduler"};

/* A pod that waits. */
struct waiting {
    struct waiting *next;
    char *ns, *name, uid[64];
    int attempts;
    int64_t not_before_ms;            /* clock_ms; back-off */
    bool parked;                      /* unschedulable until the cluster changes */
};

struct scheduler {
    struct api *api;
    double speed;
    struct waiting *queue;
    uint32_t timer, flush;
    int64_t due_ms;
    bool stopped;
};

static const struct res *pods_res(void)
{
    return res_by_plural("", "pods");
}

static void cycle(void *arg);

static void wake(struct scheduler *s, int64_t ms)
{
    struct loop *l = api_loop(s->api);
    int64_t due = clock_ms() + ms;
    if (s->timer && s->due_ms <= due)
        return;
    loop_timer_cancel(l, s->timer);
    s->due_ms = due;
    s->timer = loop_timer(l, ms, cycle, s, "scheduler");
}

static struct waiting *find(struct scheduler *s, const char *uid)
{
    for (struct waiting *w = s->queue; w; w = w->next)
        if (strcmp(w->uid, uid) == 0)
            return w;
    return NULL;
}

static void drop(struct scheduler *s, struct waiting *gone)
{
    for (struct waiting **p = &s->queue; *p; p = &(*p)->next)
        if (*p == gone) {
            *p = gone->next;
            free(gone->ns);
            free(gone->name);
            free(gone);
            return;
        }
}

static bool wants_us(const struct json *pod)
{
    return !*json_str(pod, "spec.nodeName", "") && !kobj_terminal(pod) && !kobj_deleting(pod) &&
           strcmp(json_str(pod, "spec.schedulerName", "default-scheduler"), "default-scheduler") ==
               0;
}

/* --- snapshot ------------------------------------------------------------------- */

struct snapshot {
    struct json **obj;                /* copies of the nodes */
    struct sched_node *v;
    size_t n;
};

static void take_node(void *arg, const struct json *node)
{
    struct snapshot *s = arg;
    s->obj = xrealloc_array(s->obj, s->n + 1, sizeof *s->obj);
    s->obj[s->n++] = json_copy(node);
}

static void take_pod(void *arg, const struct json *pod)
{
    struct snapshot *s = arg;
    const char *node = json_str(pod, "spec.nodeName", "");
    for (size_t i = 0; i < s->n && *node && !kobj_terminal(pod); i++)
        if (strcmp(kobj_name(s->obj[i]), node) == 0)
            sched_node_add(&s->v[i], pod);
}

static void snapshot_take(struct api *a, struct snapshot *s)
{
    *s = (struct snapshot){0};
    api_each(a, res_by_plural("", "nodes"), NULL, take_node, s);
    s->v = xcalloc(s->n + 1, sizeof *s->v);
    for (size_t i = 0; i < s->n; i++)
        sched_node_init(&s->v[i], s->obj[i]);
    api_each(a, pods_res(), NULL, take_pod, s);
}

static void snapshot_release(struct snapshot *s)
{
    for (size_t i = 0; i < s->n; i++) {
        sched_node_release(&s->v[i]);
        json_free(s->obj[i]);
    }
    free(s->v);
    free(s->obj);
}

/* --- volumes --------------------------------------------------------------------- */

enum claims { CLAIMS_BOUND, CLAIMS_WAIT, CLAIMS_MISSING };

/* What the pod's claims allow. CLAIMS_WAIT: the first node decides for them. */
static enum claims check_claims(struct scheduler *s, const struct json *pod, char why[300])
{
    enum claims state = CLAIMS_BOUND;
    for (const struct json *v = json_first(json_at(pod, "spec.volumes")); v; v = json_next(v)) {
        const char *name = json_str(v, "persistentVolumeClaim.claimName", "");
        if (!*name)
            continue;
        struct json *pvc = api_get(s->api, res_by_plural("", "persistentvolumeclaims"),
                                   kobj_ns(pod), name);
        struct json *class = pvc ? api_get(s->api,
                                           res_by_plural("storage.k8s.io", "storageclasses"), NULL,
                                           json_str(pvc, "spec.storageClassName", ""))
                                 : NULL;
        bool waits = strcmp(json_str(class, "volumeBindingMode", ""), "WaitForFirstConsumer") == 0;
        if (!pvc || kobj_deleting(pvc)) {
            str_fmt(why, 300, pvc ? "persistentvolumeclaim \"%s\" is being deleted"
                                  : "persistentvolumeclaim \"%s\" not found", name);
            state = CLAIMS_MISSING;
        } else if (strcmp(json_str(pvc, "status.phase", ""), "Bound") != 0 && !waits) {
            str_copy(why, 300, "pod has unbound immediate PersistentVolumeClaims");
            state = CLAIMS_MISSING;
        } else if (strcmp(json_str(pvc, "status.phase", ""), "Bound") != 0) {
            state = CLAIMS_WAIT;
        }
        json_free(pvc);
        json_free(class);
        if (state == CLAIMS_MISSING)
            return state;
    }
    return state;
}

static void select_node(struct scheduler *s, const struct json *pod, const char *node)
{
    for (const struct json *v = json_first(json_at(pod, "spec.volumes")); v; v = json_next(v)) {
        const char *name = json_str(v, "persistentVolumeClaim.claimName", "");
        struct json *pvc = *name ? api_get(s->api, res_by_plural("", "persistentvolumeclaims"),
                                           kobj_ns(pod), name)
                                 : NULL;
        if (pvc && strcmp(json_str(pvc, "status.phase", ""), "Bound") != 0) {
            struct json *notes = kobj_member(kobj_member(pvc, "metadata"), "annotations");
            json_put_str(notes, "volume.kubernetes.io/selected-node", node);
            kobj_write(s->api, &sched_user, NULL, pvc, NULL, 0);
        }
        json_free(pvc);
    }
}

/* --- one pod ---------------------------------------------------------------------- */

/* Least used first; nodes with accelerators that the pod does not ask for last. */
static double score(const struct json *pod, const struct sched_node *n)
{
    static const char *const basic[] = {"cpu", "memory"};
    struct sched_amounts want = {0};
    double sum = 0;
    sched_amounts_pod(pod, &want);
    for (size_t i = 0; i < ARRAY_LEN(basic); i++) {
        double all = (double)sched_amounts_get(&n->alloc, basic[i]);
        double used = (double)(sched_amounts_get(&n->used, basic[i]) +
                               sched_amounts_get(&want, basic[i]));
        sum += all > 0 ? 50 * (all - used) / all : 0;
    }
    for (size_t i = 0; i < n->alloc.n; i++)
        if (strchr(n->alloc.v[i].name, '/') && sched_amounts_get(&want, n->alloc.v[i].name) == 0)
            sum -= 1000;
    for (const struct json *t = json_first(json_at(n->obj, "spec.taints")); t; t = json_next(t))
        if (strcmp(json_str(t, "effect", ""), "PreferNoSchedule") == 0 && !sched_tolerates(pod, t))
            sum -= 100;
    sched_amounts_release(&want);
    return sum;
}

static const char *choose(struct scheduler *s, const struct json *pod, struct str *why)
{
    struct snapshot snap;
    char prefilter[300] = "";
    const char *best = NULL;
    double best_score = 0;
    enum claims claims = check_claims(s, pod, prefilter);
    snapshot_take(s->api, &snap);
    struct strv *reasons = xcalloc(snap.n + 1, sizeof *reasons);
    bool *hopeless = xcalloc(snap.n + 1, sizeof *hopeless);
    static char chosen[256];
    for (size_t i = 0; i < snap.n; i++) {
        strv_init(&reasons[i]);
        if (claims == CLAIMS_MISSING ||
            !sched_filter(pod, &snap.v[i], &reasons[i], &hopeless[i]))
            continue;
        double points = score(pod, &snap.v[i]);
        if (!best || points > best_score) {
            best = str_copy(chosen, sizeof chosen, kobj_name(snap.obj[i]));
            best_score = points;
        }
    }
    if (!best)
        sched_fit_error(reasons, hopeless, snap.n, claims == CLAIMS_MISSING ? prefilter : NULL,
                        strcmp(json_str(pod, "spec.preemptionPolicy", ""), "Never") == 0, why);
    for (size_t i = 0; i < snap.n; i++)
        strv_release(&reasons[i]);
    free(reasons);
    free(hopeless);
    snapshot_release(&snap);
    return best;
}

static bool bind(struct scheduler *s, struct json *pod, const char *node)
{
    kobj_condition(pod, "PodScheduled", "True", NULL, NULL, false);
    json_put_str(json_get_mut(pod, "spec"), "nodeName", node);
    int code = kobj_write(s->api, &sched_user, "binding", pod, NULL, 0);
    if (code >= 400)
        return false;
    struct json *fresh = api_get(s->api, pods_res(), kobj_ns(pod), kobj_name(pod));
    if (fresh && kobj_condition(fresh, "PodScheduled", "True", NULL, NULL, false))
        kobj_write(s->api, &sched_user, "status", fresh, NULL, 0);
    json_free(fresh);
    api_event(s->api, pod, NULL, "Normal", "Scheduled", "default-scheduler", NULL, true,
              "Successfully assigned %s/%s to %s", kobj_ns(pod), kobj_name(pod), node);
    return true;
}

static void park(struct scheduler *s, struct waiting *w)
{
    int64_t wait = BACKOFF_MS;
    for (int i = 0; i < w->attempts && wait < BACKOFF_MAX_MS; i++)
        wait *= 2;
    w->attempts++;
    w->not_before_ms = clock_ms() + (int64_t)((double)MIN(wait, BACKOFF_MAX_MS) / s->speed);
    w->parked = true;
}

static void refuse(struct scheduler *s, struct waiting *w, struct json *pod, const char *why)
{
    if (kobj_condition(pod, "PodScheduled", "False", "Unschedulable", why, false))
        kobj_write(s->api, &sched_user, "status", pod, NULL, 0);
    api_event(s->api, pod, NULL, "Warning", "FailedScheduling", "default-scheduler", NULL, true,
              "%s", why);
    park(s, w);
}

static void schedule(struct scheduler *s, struct waiting *w)
{
    struct json *pod = api_get(s->api, pods_res(), w->ns, w->name);
    struct str why;
    char text[300];
    if (!pod || strcmp(kobj_uid(pod), w->uid) != 0 || !wants_us(pod)) {
        json_free(pod);
        drop(s, w);
        return;
    }
    if (json_count(json_at(pod, "spec.schedulingGates")) > 0) {
        if (kobj_condition(pod, "PodScheduled", "False", "SchedulingGated",
                           "Scheduling is blocked due to non-empty scheduling gates", false))
            kobj_write(s->api, &sched_user, "status", pod, NULL, 0);
        w->parked = true;
        json_free(pod);
        return;
    }
    str_init(&why, 64 << 10);
    const char *node = choose(s, pod, &why);
    if (!node) {
        refuse(s, w, pod, why.p);
    } else if (check_claims(s, pod, text) == CLAIMS_WAIT) {
        select_node(s, pod, node);        /* goes on when the claims are bound */
        park(s, w);
    } else if (bind(s, pod, node)) {
        drop(s, w);
    } else {
        park(s, w);
    }
    str_release(&why);
    json_free(pod);
}

/* --- the queue --------------------------------------------------------------------- */

static struct waiting *next_ready(struct scheduler *s, int64_t now)
{
    struct waiting *best = NULL;
    int64_t best_priority = 0;
    for (struct waiting *w = s->queue; w; w = w->next) {
        if (w->parked || w->not_before_ms > now)
            continue;
        struct json *pod = api_get(s->api, pods_res(), w->ns, w->name);
        int64_t priority = json_int(pod, "spec.priority", 0);
        json_free(pod);
        if (!best || priority > best_priority) {
            best = w;
            best_priority = priority;
        }
    }
    return best;
}

/* One pod a call, so that a burst never holds the loop. */
static void cycle(void *arg)
{
    struct scheduler *s = arg;
    int64_t now = clock_ms(), next = -1;
    s->timer = 0;
    if (s->stopped)
        return;
    struct waiting *w = next_ready(s, now);
    if (w)
        schedule(s, w);
    for (w = s->queue; w; w = w->next)
        if (!w->parked)
            next = next < 0 ? w->not_before_ms : MIN(next, w->not_before_ms);
    if (next >= 0)
        wake(s, MAX(next - clock_ms(), 0));
}

/* Something may have changed for the better: parked pods try again when their
 * back-off is over. */
static void unpark(struct scheduler *s)
{
    for (struct waiting *w = s->queue; w; w = w->next)
        w->parked = false;
    if (s->queue)
        wake(s, 0);
}

static void on_pod(void *arg, enum api_change change, const struct json *pod,
                   const struct json *old)
{
    struct scheduler *s = arg;
    if (s->stopped)
        return;
    struct waiting *w = find(s, kobj_uid(pod));
    if (change == API_DELETED || !wants_us(pod)) {
        if (w)
            drop(s, w);
        bool freed = change == API_DELETED || (kobj_terminal(pod) && old && !kobj_terminal(old));
        if (freed && *json_str(pod, "spec.nodeName", ""))
            unpark(s);
        return;
    }
    if (!w) {
        struct waiting **end = &s->queue;
        w = xcalloc(1, sizeof *w);
        w->ns = xstrdup(kobj_ns(pod));
        w->name = xstrdup(kobj_name(pod));
        str_copy(w->uid, sizeof w->uid, kobj_uid(pod));
        while (*end)
            end = &(*end)->next;
        *end = w;
    } else if (old && json_equal(json_get(old, "spec"), json_get(pod, "spec"))) {
        return;                       /* our own status write */
    }
    w->parked = false;
    wake(s, 0);
}

static void on_node(void *arg, enum api_change change UNUSED, const struct json *node,
                    const struct json *old)
{
    struct scheduler *s = arg;
    bool same = old && json_equal(json_get(old, "spec"), json_get(node, "spec")) &&
                json_equal(json_at(old, "metadata.labels"), json_at(node, "metadata.labels")) &&
                json_equal(json_at(old, "status.allocatable"), json_at(node, "status.allocatable"));
    if (!s->stopped && !same)
        unpark(s);
}

static void on_claim(void *arg, enum api_change change, const struct json *pvc,
                     const struct json *old)
{
    struct scheduler *s = arg;
    bool bound = strcmp(json_str(pvc, "status.phase", ""), "Bound") == 0 &&
                 strcmp(json_str(old, "status.phase", ""), "Bound") != 0;
    if (s->stopped || (change == API_MODIFIED && !bound))
        return;
    for (struct waiting *w = s->queue; bound && w; w = w->next)
        w->not_before_ms = 0;
    unpark(s);
}

static void flush(void *arg)
{
    struct scheduler *s = arg;
    if (s->stopped)
        return;
    unpark(s);
    s->flush = loop_timer(api_loop(s->api), FLUSH_MS, flush, s, "scheduler-flush");
}

static void on_existing(void *arg, const struct json *pod)
{
    on_pod(arg, API_ADDED, pod, NULL);
}

struct scheduler *scheduler_start(struct api *a, double speed)
{
    struct scheduler *s = xcalloc(1, sizeof *s);
    s->api = a;
    s->speed = speed;
    api_subscribe(a, pods_res(), on_pod, s);
    api_subscribe(a, res_by_plural("", "nodes"), on_node, s);
    api_subscribe(a, res_by_plural("", "persistentvolumeclaims"), on_claim, s);
    api_each(a, pods_res(), NULL, on_existing, s);
    s->flush = loop_timer(api_loop(a), FLUSH_MS, flush, s, "scheduler-flush");
    return s;
}

void scheduler_stop(struct scheduler *s)
{
    if (!s)
        return;
    s->stopped = true;
    loop_timer_cancel(api_loop(s->api), s->timer);
    loop_timer_cancel(api_loop(s->api), s->flush);
    while (s->queue)
        drop(s, s->queue);
    free(s);
}
