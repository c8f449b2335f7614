/* kubelet_pod.c - a pod's life: admission, volumes, init containers one after
 * another, containers side by side, restarts, deadlines, and the end. */
#include "k8s/practice/kubelet_in.h"

#include "core/base/clock.h"
#include "core/base/mem.h"

enum { VOLUME_RETRY_MS = 2000 };

const char *kubelet_pod_policy(const struct kpod *p)
{
    return json_str(p->pod, "spec.restartPolicy", "Always");
}

const struct json *kubelet_pod_spec(const struct kctr *c)
{
    const struct json *list =
        json_at(c->pod->pod, c->init ? "spec.initContainers" : "spec.containers");
    for (const struct json *s = json_first(list); s; s = json_next(s))
        if (strcmp(json_str(s, "name", ""), c->name) == 0)
            return s;
    return NULL;
}

/* An init container that restarts always is a sidecar: it need not end. */
static bool sidecar(const struct kctr *c)
{
    return c->init && strcmp(json_str(kubelet_pod_spec(c), "restartPolicy", ""), "Always") == 0;
}

static bool restarts(const struct kctr *c)
{
    const char *policy = sidecar(c) ? "Always" : kubelet_pod_policy(c->pod);
    if (c->init && !sidecar(c) && c->now.exit_code == 0)
        return false;
    return (strcmp(policy, "Always") == 0 && (!c->init || sidecar(c) || c->now.exit_code != 0)) ||
           (strcmp(policy, "OnFailure") == 0 && c->now.exit_code != 0);
}

static bool alive(const struct kctr *c)
{
    return c->state == KCTR_RUNNING || c->busy == KCTR_STARTING;
}

/* --- ending ------------------------------------------------------------------------ */

static bool all_dead(const struct kpod *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (alive(&p->ctr[i]))
            return false;
    return true;
}

static int64_t grace_ms(const struct kpod *p)
{
    if (p->gone)
        return 0;
    int64_t s = json_int(p->pod, "metadata.deletionGracePeriodSeconds",
                         json_int(p->pod, "spec.terminationGracePeriodSeconds", 30));
    return kobj_ms(MAX(s, 0));
}

static void kill_all(struct kpod *p)
{
    for (size_t i = 0; i < p->n; i++) {
        struct kctr *c = &p->ctr[i];
        if (c->state == KCTR_RUNNING && !c->kill_sent && !p->gone)
            kubelet_event(p, c, "Normal", "Killing", "Stopping container %s", c->name);
        if (alive(c))
            kubelet_ctr_stop(c, grace_ms(p));
        if (c->busy == KCTR_PULLING || c->busy == KCTR_UNPACKING) {
            child_forget(c->child);
            c->child = NULL;
            c->busy = KCTR_IDLE;
        }
    }
    p->killing = true;
}

/* The kubelet's last word: delete with grace 0, only this very pod. */
static void finalize(struct kpod *p)
{
    struct api_result r;
    if (p->finalized)
        return;
    p->finalized = true;
    struct json *options = json_from("{\"gracePeriodSeconds\":0}");
    json_put_path(options, "preconditions.uid", json_new_string(p->uid));
    api_delete(p->k->api, &kubelet_user, res_by_plural("", "pods"), p->ns, p->name, options, &r);
    api_result_release(&r);
    json_free(options);
}

static void end_pod(struct kpod *p)
{
    kill_all(p);
    if (!all_dead(p)) {
        if (!p->gone)
            kubelet_status_write(p);
        return;
    }
    if (p->gone) {
        kubelet_forget(p);
        return;
    }
    kubelet_status_write(p);
    finalize(p);
}

/* --- deadline ------------------------------------------------------------------------ */

static bool past_deadline(struct kpod *p)
{
    int64_t limit = json_int(p->pod, "spec.activeDeadlineSeconds", -1);
    if (limit < 0 || !p->started_ms || p->expired)
        return p->expired;
    int64_t left = p->started_ms + kobj_ms(limit) - clock_wall_ms();
    if (left > 0) {
        kubelet_wake(p, left);
        return false;
    }
    p->expired = true;
    kubelet_event(p, NULL, "Normal", "DeadlineExceeded",
                  "Pod was active on the node longer than the specified deadline");
    return true;
}

/* --- containers ----------------------------------------------------------------------- */

static void format_wait(int64_t ms, char buf[32])
{
    int64_t s = ms / 1000;
    if (s >= 60)
        str_fmt(buf, 32, "%" PRId64 "m%" PRId64 "s", s / 60, s % 60);
    else
        str_fmt(buf, 32, "%" PRId64 "s", s);
}

enum { CRASH_MS = 10000, CRASH_MAX_MS = 300000, CRASH_RESET_MS = 600000 };

/* true: it may start now. The first restart is free, then 10 s, 20 s … 300 s
 * after the end; ten minutes of running forgive. */
static bool backoff_over(struct kctr *c)
{
    struct kpod *p = c->pod;
    char wait[32];
    int64_t ran = (c->now.finished_us - c->now.started_us) / 1000;
    if (ran > CRASH_RESET_MS)
        c->backoff_ms = 0;
    int64_t until = c->now.finished_us / 1000 + kubelet_ctr_scaled(p->k, c->backoff_ms);
    if (c->backoff_ms && clock_wall_ms() < until) {
        format_wait(c->backoff_ms, wait);
        if (strcmp(c->reason, "CrashLoopBackOff") != 0)
            kubelet_event(p, c, "Warning", "BackOff",
                          "Back-off restarting failed container %s in pod %s_%s(%s)", c->name,
                          p->name, p->ns, p->uid);
        c->last = c->now;
        c->last_attempt = c->attempt;
        c->has_last = true;
        kubelet_ctr_wait(c, "CrashLoopBackOff",
                         "back-off %s restarting failed container=%s pod=%s_%s(%s)", wait, c->name,
                         p->name, p->ns, p->uid);
        kubelet_wake(p, until - clock_wall_ms() + 1);
        return false;
    }
    c->backoff_ms = c->backoff_ms ? MIN(c->backoff_ms * 2, CRASH_MAX_MS) : CRASH_MS;
    return true;
}

/* Was it that this container exited and now waits for its next start? */
static bool in_crash_loop(const struct kctr *c)
{
    return c->state == KCTR_WAITING && strcmp(c->reason, "CrashLoopBackOff") == 0;
}

static void drive(struct kctr *c)
{
    int64_t now = clock_ms();
    if (c->busy != KCTR_IDLE || c->state == KCTR_RUNNING || c->invalid_image)
        return;
    if (c->state == KCTR_EXITED || in_crash_loop(c)) {
        if ((c->state == KCTR_EXITED && !restarts(c)) || !backoff_over(c))
            return;
        c->last = c->now;
        c->last_attempt = c->attempt;
        c->has_last = true;
    } else if (c->try_at_ms > now && !c->pull_error[0]) {
        kubelet_wake(c->pod, c->try_at_ms - now);
        return;
    }
    kubelet_ctr_start(c);
}

/* The containers proper have ended for good. */
static bool work_done(const struct kpod *p)
{
    for (size_t i = p->inits; i < p->n; i++)
        if (p->ctr[i].state != KCTR_EXITED || restarts(&p->ctr[i]))
            return false;
    return true;
}

/* Init containers in order. true: all are done. */
static bool drive_inits(struct kpod *p)
{
    for (size_t i = 0; i < p->inits; i++) {
        struct kctr *c = &p->ctr[i];
        if (c->state == KCTR_EXITED && c->now.exit_code == 0 && !sidecar(c))
            continue;
        if (sidecar(c) && work_done(p))
            continue;                   /* it is on its way out */
        drive(c);
        if (!(sidecar(c) && c->state == KCTR_RUNNING))
            return false;
    }
    return true;
}

static bool ready_volumes(struct kpod *p)
{
    char why[512];
    if (p->volumes_ready)
        return true;
    if (kubelet_volume_mount(p, why)) {
        p->volumes_ready = true;
        return true;
    }
    kubelet_event(p, NULL, "Warning", "FailedMount", "%s", why);
    kubelet_wake(p, VOLUME_RETRY_MS);
    return false;
}

static void begin(struct kpod *p)
{
    p->started_ms = clock_wall_ms() / 1000 * 1000;
    p->admitted = kubelet_admit(p);
    if (!p->admitted)
        kubelet_event(p, NULL, "Warning", p->reject_reason, "%s",
                      p->reject_message + strlen("Pod was rejected: "));
}

/* Sidecars end when the work is done. */
static void end_sidecars(struct kpod *p)
{
    if (!work_done(p))
        return;
    for (size_t i = 0; i < p->inits; i++)
        if (sidecar(&p->ctr[i]) && p->ctr[i].state == KCTR_RUNNING && !p->ctr[i].kill_sent)
            kubelet_ctr_stop(&p->ctr[i], grace_ms(p));
}

void kubelet_pod_sync(struct kpod *p)
{
    if (p->gone || kobj_deleting(p->pod)) {
        end_pod(p);
        return;
    }
    if (kobj_terminal(p->pod) || p->reject_reason[0])
        return;
    if (!p->started_ms)
        begin(p);
    if (p->admitted && past_deadline(p)) {
        kill_all(p);
    } else if (p->admitted && ready_volumes(p)) {
        if (drive_inits(p))
            for (size_t i = p->inits; i < p->n; i++)
                drive(&p->ctr[i]);
        end_sidecars(p);
    }
    kubelet_status_write(p);
}
