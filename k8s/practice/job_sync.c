/* job_sync.c - one look at a Job: count what ended, decide whether it is
 * finished, make or delete pods, write status in the order of Kubernetes'
 * own controller (pkg/controller/job, 1.34): the interim condition and the
 * uncounted pods first, then the finalizers go, then the counters and the
 * final condition.
 */
#include "k8s/practice/job_in.h"

#include "core/base/clock.h"
#include "core/base/mem.h"

enum { BACKOFF_MS = 10000, BACKOFF_MAX_MS = 600000, PODS_PER_SYNC = 500 };

struct verdict {
    const char *interim, *final;      /* condition types; NULL: not finished */
    char reason[64], message[256];
};

static struct json *status_of(struct job_sync *s)
{
    return kobj_member(s->job, "status");
}

static bool in_list(const struct json *list, const char *text)
{
    for (const struct json *x = json_first(list); x; x = json_next(x))
        if (str_eq(json_string_value(x), text))
            return true;
    return false;
}

static const struct json *uncounted(struct job_sync *s, const char *which)
{
    return json_get(json_get(status_of(s), "uncountedTerminatedPods"), which);
}

static bool index_ok(const struct job_sync *s, const struct job_pod *p)
{
    return !s->indexed || (p->index >= 0 && p->index < s->completions);
}

/* Ended, and neither counted nor about to be. */
static bool newly(struct job_sync *s, const struct job_pod *p, bool succeeded)
{
    const char *uid = kobj_uid(p->obj);
    return p->tracked && index_ok(s, p) && (succeeded ? p->succeeded : p->failed) &&
           !in_list(uncounted(s, succeeded ? "succeeded" : "failed"), uid);
}

static void conclude(struct verdict *v, bool success, const char *reason, const char *message)
{
    v->interim = success ? "SuccessCriteriaMet" : "FailureTarget";
    v->final = success ? "Complete" : "Failed";
    str_copy(v->reason, sizeof v->reason, reason);
    str_copy(v->message, sizeof v->message, message);
}

static bool standing(struct job_sync *s, const char *type, struct verdict *v)
{
    if (strcmp(kobj_condition_status(s->job, type), "True") != 0)
        return false;
    char path[96];
    str_fmt(path, sizeof path, "status.conditions[?type=%s]", type);
    const struct json *c = json_at(s->job, path);
    conclude(v, strcmp(type, "SuccessCriteriaMet") == 0, json_str(c, "reason", ""),
             json_str(c, "message", ""));
    return true;
}

/* OnFailure: containers restart in place, so their restarts are what counts. */
static bool past_restarts(struct job_sync *s, int64_t limit)
{
    static const char *const lists[] = {"status.initContainerStatuses",
                                        "status.containerStatuses"};
    int64_t sum = 0;
    if (strcmp(json_str(s->job, "spec.template.spec.restartPolicy", ""), "OnFailure") != 0)
        return false;
    for (size_t i = 0; i < s->pods.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(lists) && !kobj_terminal(s->pods.v[i].obj); k++)
            for (const struct json *c = json_first(json_at(s->pods.v[i].obj, lists[k])); c;
                 c = json_next(c))
                sum += json_int(c, "restartCount", 0);
    return limit == 0 ? sum > 0 : sum >= limit;
}

/* Milliseconds to the deadline; INT64_MAX when there is none. */
static int64_t to_deadline(struct job_sync *s)
{
    int64_t limit = json_int(s->job, "spec.activeDeadlineSeconds", -1);
    int64_t start = kobj_time_ms(s->job, "status.startTime");
    if (limit < 0 || !start || s->suspended)
        return INT64_MAX;
    return start + kobj_ms(limit) - clock_wall_ms();
}

static void judge(struct job_sync *s, int64_t failed, struct verdict *v)
{
    int64_t limit = json_int(s->job, "spec.backoffLimit", 6), deadline = to_deadline(s);
    if (standing(s, "SuccessCriteriaMet", v) || standing(s, "FailureTarget", v))
        return;
    if (failed > limit || past_restarts(s, limit))
        conclude(v, false, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
    else if (deadline <= 0)
        conclude(v, false, "DeadlineExceeded", "Job was active longer than specified deadline");
    else if (deadline != INT64_MAX)
        s->again_ms = s->again_ms ? MIN(s->again_ms, deadline) : deadline;
}

/* --- back-off ----------------------------------------------------------------- */

static void note_backoff(struct job_sync *s)
{
    struct job_backoff *b = s->backoff;
    int64_t success = 0;
    for (size_t i = 0; i < s->pods.n; i++)
        if (newly(s, &s->pods.v[i], true))
            success = MAX(success, s->pods.v[i].finished_ms);
    if (success)
        *b = (struct job_backoff){0};
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct job_pod *p = &s->pods.v[i];
        if (newly(s, p, false) && p->finished_ms > success) {
            b->failures++;
            b->last_ms = MAX(b->last_ms, p->finished_ms);
        }
    }
}

static int64_t backoff_left(const struct job_sync *s)
{
    const struct job_backoff *b = s->backoff;
    int64_t wait = BACKOFF_MS;
    if (b->failures == 0)
        return 0;
    for (int i = 1; i < b->failures && wait < BACKOFF_MAX_MS; i++)
        wait *= 2;
    wait = (int64_t)((double)MIN(wait, BACKOFF_MAX_MS) / s->speed);
    return MAX(b->last_ms + wait - clock_wall_ms(), 0);
}

/* --- pods --------------------------------------------------------------------- */

static void delete_pods(struct job_sync *s, const size_t *which, size_t n, bool drop_finalizer)
{
    for (size_t i = 0; i < n; i++) {
        struct job_pod *p = &s->pods.v[which[i]];
        if (!p->active || !job_pods_delete(s, p, drop_finalizer))
            continue;
        s->active--;
        s->ready -= p->ready;
        s->terminating += *json_str(p->obj, "spec.nodeName", "") != '\0';
        p->active = false;
    }
}

static void delete_active(struct job_sync *s)
{
    size_t n = 0, *all = xcalloc(s->pods.n + 1, sizeof *all);
    for (size_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].active)
            all[n++] = i;
    delete_pods(s, all, n, false);
    free(all);
}

/* Indexes that neither succeeded nor have a pod at work. */
static size_t pending_indexes(struct job_sync *s, size_t want, int *out)
{
    size_t n = 0;
    bool *busy = xcalloc((size_t)s->completions + 1, sizeof *busy);
    job_index_parse(json_str(s->job, "status.completedIndexes", ""), busy, s->completions);
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct job_pod *p = &s->pods.v[i];
        if (index_ok(s, p) && (p->active || p->succeeded))
            busy[p->index] = true;
    }
    for (int i = 0; i < s->completions && n < want; i++)
        if (!busy[i])
            out[n++] = i;
    free(busy);
    return n;
}

static void create_pods(struct job_sync *s, int64_t diff)
{
    int64_t left = backoff_left(s);
    if (left > 0) {
        s->again_ms = s->again_ms ? MIN(s->again_ms, left) : left;
        return;
    }
    diff = MIN(diff, PODS_PER_SYNC);
    int *index = xcalloc((size_t)diff, sizeof *index);
    size_t n = s->indexed ? pending_indexes(s, (size_t)diff, index) : (size_t)diff;
    for (size_t i = 0; i < n; i++) {
        if (!job_pods_create(s, s->indexed ? index[i] : -1)) {
            int64_t retry = (int64_t)(10000 / s->speed);
            s->again_ms = s->again_ms ? MIN(s->again_ms, retry) : retry;
            break;
        }
        s->active++;
    }
    free(index);
}

static void manage(struct job_sync *s, int64_t succeeded)
{
    int64_t parallelism = json_int(s->job, "spec.parallelism", 1), want = parallelism;
    if (s->suspended)
        want = 0;
    else if (s->completions < 0)
        want = succeeded > 0 ? s->active : parallelism;
    else
        want = MAX(MIN(s->completions - succeeded, parallelism), 0);
    size_t *rm = xcalloc(s->pods.n + 1, sizeof *rm);
    size_t n = job_pods_surplus(s, (size_t)MAX(s->active - want, 0), rm);
    bool only_failed = strcmp(json_str(s->job, "spec.podReplacementPolicy", ""), "Failed") == 0;
    if (n > 0)
        delete_pods(s, rm, n, true);
    else if (want - s->active - (only_failed ? s->terminating : 0) > 0)
        create_pods(s, want - s->active - (only_failed ? s->terminating : 0));
    free(rm);
}

static bool note_suspension(struct job_sync *s)
{
    char now[36];
    bool known = *kobj_condition_status(s->job, "Suspended") != '\0';
    bool was = strcmp(kobj_condition_status(s->job, "Suspended"), "True") == 0;
    if (s->suspended == was || (!s->suspended && !known))
        return false;
    kobj_condition(s->job, "Suspended", s->suspended ? "True" : "False",
                   s->suspended ? "JobSuspended" : "JobResumed",
                   s->suspended ? "Job suspended" : "Job resumed", true);
    if (!s->suspended)
        json_put_str(status_of(s), "startTime", kobj_now(now));
    api_event(s->api, s->job, NULL, "Normal", s->suspended ? "Suspended" : "Resumed",
              "job-controller", NULL, false, "%s", s->suspended ? "Job suspended" : "Job resumed");
    return true;
}

/* --- counting ------------------------------------------------------------------ */

static void add_uncounted(struct job_sync *s, const char *which, const char *uid)
{
    struct json *u = kobj_member(status_of(s), "uncountedTerminatedPods");
    json_append(kobj_list(u, which), json_new_string(uid));
}

static bool tracked_uid(struct job_sync *s, const char *uid)
{
    for (size_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].tracked && strcmp(kobj_uid(s->pods.v[i].obj), uid) == 0)
            return true;
    return false;
}

/* Uncounted pods whose finalizer is gone become numbers. */
static bool count_untracked(struct job_sync *s)
{
    static const char *const which[] = {"succeeded", "failed"};
    struct json *u = kobj_member(status_of(s), "uncountedTerminatedPods");
    bool changed = false;
    for (size_t k = 0; k < ARRAY_LEN(which); k++) {
        struct json *list = json_get_mut(u, which[k]), *keep = json_new_array();
        int64_t gone = 0;
        for (const struct json *x = json_first(list); x; x = json_next(x)) {
            if (tracked_uid(s, json_string_value(x)))
                json_append(keep, json_copy(x));
            else
                gone++;
        }
        kobj_put_count(status_of(s), which[k], json_int(status_of(s), which[k], 0) + gone);
        changed = changed || gone > 0;
        if (json_count(keep))
            json_set(u, which[k], keep);
        else {
            json_remove(u, which[k]);
            json_free(keep);
        }
    }
    return changed;
}

static bool count_indexes(struct job_sync *s, const struct job_pod *p)
{
    struct str text;
    bool *set = xcalloc((size_t)s->completions + 1, sizeof *set);
    job_index_parse(json_str(s->job, "status.completedIndexes", ""), set, s->completions);
    bool fresh = p && !set[p->index];
    if (p)
        set[p->index] = true;
    int64_t total = 0;
    for (int64_t i = 0; i < s->completions; i++)
        total += set[i];
    str_init(&text, 1 << 20);
    job_index_print(set, s->completions, &text);
    if (text.len)
        json_put_str(status_of(s), "completedIndexes", text.p);
    kobj_put_count(status_of(s), "succeeded", total);
    str_release(&text);
    free(set);
    return fresh;
}

/* Choose the pods whose finalizer goes now and note them in the status. */
static bool note_ended(struct job_sync *s, const struct verdict *v, bool *chosen)
{
    bool changed = false, job_gone = kobj_deleting(s->job);
    bool fails = v->final && strcmp(v->final, "Failed") == 0;
    for (size_t i = 0; i < s->pods.n; i++) {
        struct job_pod *p = &s->pods.v[i];
        if (!p->tracked || !(job_gone || v->final || p->succeeded || p->failed))
            continue;
        chosen[i] = true;
        const char *uid = kobj_uid(p->obj);
        if (p->succeeded && s->indexed && index_ok(s, p))
            changed = count_indexes(s, p) || changed;
        else if (newly(s, p, true)) {
            add_uncounted(s, "succeeded", uid);
            changed = true;
        } else if (!p->succeeded && (p->failed || fails) && index_ok(s, p) &&
                   !in_list(uncounted(s, "failed"), uid)) {
            add_uncounted(s, "failed", uid);
            changed = true;
        }
    }
    return changed;
}

static void flush(struct job_sync *s)
{
    kobj_write(s->api, &job_user, "status", s->job, NULL, 0);
}

static bool uncounted_left(struct job_sync *s)
{
    return json_count(uncounted(s, "succeeded")) + json_count(uncounted(s, "failed")) > 0;
}

static void announce(struct job_sync *s, const struct verdict *v)
{
    if (strcmp(v->final, "Complete") == 0)
        api_event(s->api, s->job, NULL, "Normal", "Completed", "job-controller", NULL, false,
                  "Job completed");
    else
        api_event(s->api, s->job, NULL, "Warning", v->reason, "job-controller", NULL, false, "%s",
                  v->message);
}

static void track(struct job_sync *s, const struct verdict *v, bool dirty)
{
    bool *chosen = xcalloc(s->pods.n + 1, sizeof *chosen), finished = false;
    char now[36];
    dirty = count_untracked(s) || dirty;
    dirty = note_ended(s, v, chosen) || dirty;
    if (v->interim && strcmp(kobj_condition_status(s->job, v->interim), "True") != 0)
        dirty = kobj_condition(s->job, v->interim, "True", v->reason, v->message, true) || dirty;
    if (dirty)
        flush(s);
    for (size_t i = 0; i < s->pods.n; i++)
        if (chosen[i]) {
            job_pods_untrack(s->api, s->pods.v[i].obj);
            s->pods.v[i].tracked = false;
        }
    free(chosen);
    dirty = count_untracked(s);
    if (v->final && !uncounted_left(s) && s->terminating == 0) {
        kobj_condition(s->job, v->final, "True", v->reason, v->message, true);
        if (strcmp(v->final, "Complete") == 0)
            json_put_str(status_of(s), "completionTime", kobj_now(now));
        finished = true;
    }
    if (dirty || finished)
        flush(s);
    if (finished)
        announce(s, v);
}

/* --- the whole ------------------------------------------------------------------ */

static void count_pods(struct job_sync *s, int64_t *succeeded, int64_t *failed)
{
    *succeeded = json_int(s->job, "status.succeeded", 0) +
                 (int64_t)json_count(uncounted(s, "succeeded"));
    *failed = json_int(s->job, "status.failed", 0) + (int64_t)json_count(uncounted(s, "failed"));
    for (size_t i = 0; i < s->pods.n; i++) {
        const struct job_pod *p = &s->pods.v[i];
        *succeeded += newly(s, p, true);
        *failed += newly(s, p, false);
        s->active += p->active;
        s->ready += p->ready;
        s->terminating += p->terminating;
    }
    if (!s->indexed)
        return;
    bool *set = xcalloc((size_t)s->completions + 1, sizeof *set);
    job_index_parse(json_str(s->job, "status.completedIndexes", ""), set, s->completions);
    for (size_t i = 0; i < s->pods.n; i++)
        if (s->pods.v[i].succeeded && index_ok(s, &s->pods.v[i]))
            set[s->pods.v[i].index] = true;
    *succeeded = 0;
    for (int64_t i = 0; i < s->completions; i++)
        *succeeded += set[i];
    free(set);
}

static bool put_numbers(struct job_sync *s)
{
    struct json *st = status_of(s);
    bool changed = json_int(st, "active", 0) != s->active ||
                   json_int(st, "ready", -1) != s->ready ||
                   json_int(st, "terminating", -1) != s->terminating;
    kobj_put_count(st, "active", s->active);
    json_put_num(st, "ready", (double)s->ready);
    json_put_num(st, "terminating", (double)s->terminating);
    return changed;
}

void job_sync_run(struct job_sync *s)
{
    char now[36];
    struct verdict v = {0};
    int64_t succeeded, failed;
    bool dirty = false;
    if (strcmp(kobj_condition_status(s->job, "Complete"), "True") == 0 ||
        strcmp(kobj_condition_status(s->job, "Failed"), "True") == 0)
        return;
    s->suspended = json_bool(s->job, "spec.suspend", false);
    s->completions = json_int(s->job, "spec.completions", -1);
    s->indexed = strcmp(json_str(s->job, "spec.completionMode", ""), "Indexed") == 0;
    kobj_member(status_of(s), "uncountedTerminatedPods");
    job_pods_load(s);
    count_pods(s, &succeeded, &failed);
    if (!json_has(s->job, "status.startTime") && !s->suspended)
        json_put_str(status_of(s), "startTime", kobj_now(now));
    note_backoff(s);
    judge(s, failed, &v);
    if (v.final) {
        delete_active(s);
        if (s->active > 0)
            v = (struct verdict){0};
    } else if (!kobj_deleting(s->job)) {
        manage(s, succeeded);
        if (s->completions < 0 ? succeeded > 0 && s->active == 0
                               : succeeded >= s->completions && s->active == 0)
            conclude(&v, true, "CompletionsReached", "Reached expected number of succeeded pods");
        else
            dirty = note_suspension(s);
    }
    dirty = put_numbers(s) || dirty;
    track(s, &v, dirty);
    job_pods_release(s);
}
