/* check.c - the table of check kinds, and what they share: finding the object
 * in question, and saying honestly when it can't be seen. */
#include "labs/check.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/check_kinds.h"
#include "labs/session_priv.h"
#include "labs/vars.h"

static const struct check_kind *const kinds[] = {
    &check_object, &check_count,  &check_condition, &check_event, &check_log,    &check_file,
    &check_image,  &check_metric, &check_adapter,   &check_control, &check_copy, &check_absent,
    &check_exec,   &check_model};

const struct check_kind *check_kind_by_name(const char *name, int *index)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eq(kinds[i]->name, name)) {
            if (index)
                *index = (int)i;
            return kinds[i];
        }
    return NULL;
}

const struct check_kind *check_kind_at(int index)
{
    assert(index >= 0 && (size_t)index < ARRAY_LEN(kinds));
    return kinds[index];
}

size_t check_kind_count(void)
{
    return ARRAY_LEN(kinds);
}

const char *check_result_name(enum check_result r)
{
    static const char *const names[] = {N_("PASS"),    N_("NOT YET"), N_("WRONG"), N_("BLOCKED"),
                                        N_("UNKNOWN"), N_("SKIPPED"), N_("STALE")};
    return names[r];
}

void check_set(struct evidence *ev, enum check_result r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ev->result = r;
    vsnprintf(ev->because, sizeof ev->because, fmt, ap);
    va_end(ap);
}

void check_subject(struct evidence *ev, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ev->object, sizeof ev->object, fmt, ap);
    va_end(ap);
}

/* Which right is missing, and the rule to ask for. */
static void denied_text(const struct table *t, struct evidence *ev)
{
    struct str rule;
    str_init(&rule, sizeof ev->because);
    denied_rule(&t->denied, &rule);
    check_set(ev, CHECK_UNKNOWN, _("you may not %s %s; ask for a %s with this rule: %s"),
              t->denied.verb, t->denied.resource, t->denied.ns[0] ? "Role" : "ClusterRole",
              rule.p);
    str_release(&rule);
}

bool check_blind(const struct check_ctx *c, const char *resource, struct evidence *ev)
{
    const struct cluster_state *k = &c->s->cluster;
    const struct table *t = session_table(c->s, resource);
    if (k->link != LINK_UP) {
        check_set(ev, CHECK_UNKNOWN, "%s %s%s%s", _("the cluster can't be seen:"), k->server,
                  *k->error ? ": " : "", k->error);
        return true;
    }
    if (t && t->forbidden && t->denied.resource[0]) {
        denied_text(t, ev);
        return true;
    }
    if (!t || t->forbidden || !t->synced) {
        check_set(ev, CHECK_UNKNOWN, "%s: %s", resource,
                  t && *t->error ? t->error : _("not listed yet"));
        return true;
    }
    return false;
}

static int64_t event_ms(const struct json *e)
{
    static const char *const paths[] = {"series.lastObservedTime", "lastTimestamp", "eventTime",
                                        "firstTimestamp", "metadata.creationTimestamp"};
    int64_t us;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        const char *t = json_str(e, paths[i], NULL);
        if (t && clock_parse_rfc3339(t, &us))
            return us / 1000000 * 1000;
    }
    return 0;
}

/* Most times of events have whole seconds and eventTime has microseconds: within
 * a second the server's own order tells. */
static bool newer(const struct json *a, const struct json *b)
{
    int64_t x = event_ms(a), y = event_ms(b), va, vb;
    if (x != y || !str_to_i64(json_str(a, "metadata.resourceVersion", ""), &va) ||
        !str_to_i64(json_str(b, "metadata.resourceVersion", ""), &vb))
        return x >= y;
    return va >= vb;
}

int64_t check_event_ms(const struct json *event)
{
    return event_ms(event);
}

void check_newest_event(const struct session *s, const char *name, struct evidence *ev)
{
    const struct table *t = session_table(s, "events");
    const struct json *best = NULL;
    for (const struct json *e = t ? json_first(t->items) : NULL; e; e = json_next(e)) {
        /* a Job's pods carry its name, and five letters behind it */
        const char *about = json_str(e, "involvedObject.name", "");
        size_t n = strlen(name);
        if (strncmp(about, name, n) || (about[n] && (about[n] != '-' || strlen(about + n) != 6)))
            continue;
        if (!best || newer(e, best))
            best = e;
    }
    if (best)
        snprintf(ev->event, sizeof ev->event, "%s: %s", json_str(best, "reason", ""),
                 json_str(best, "message", ""));
}

static const struct json *find_job_pod(const struct check_ctx *c, const char *job_name,
                                       struct evidence *ev)
{
    check_subject(ev, "jobs/%s", job_name);
    const struct json *job = session_find(c->s, "jobs", job_name);
    if (check_blind(c, "jobs", ev))
        return NULL;
    if (!job) {
        check_set(ev, CHECK_NOT_YET, _("there is no Job %s"), job_name);
        return NULL;
    }
    if (!session_is_own(c->s, "jobs", job)) {
        check_set(ev, CHECK_STALE, _("the Job %s is from an earlier attempt"), job_name);
        return NULL;
    }
    const struct json *pod = session_job_pod(c->s, job);
    if (!pod) {
        check_set(ev, CHECK_NOT_YET, _("the Job %s has no Pod yet"), job_name);
        check_newest_event(c->s, job_name, ev);
    } else {
        check_subject(ev, "pods/%s", json_str(pod, "metadata.name", ""));
        ev->mark = check_mark(pod);
    }
    return pod;
}

const struct json *check_find(const struct check_ctx *c, struct evidence *ev)
{
    const char *kind = json_str(c->args, "kind", ""), *job = json_str(c->args, "job", NULL);
    const char *name = json_str(c->args, "name", "");
    check_subject(ev, "%s/%s", kind, name);
    if (check_blind(c, kind, ev))
        return NULL;
    if (job && str_eq(kind, "pods"))
        return find_job_pod(c, job, ev);
    const struct json *obj = session_find(c->s, kind, name);
    if (!obj) {
        check_set(ev, CHECK_NOT_YET, _("%s/%s is not there"), kind, name);
        check_newest_event(c->s, name, ev);
        return NULL;
    }
    if (json_bool(c->args, "own", !str_eq(kind, "nodes")) && !session_is_own(c->s, kind, obj)) {
        check_set(ev, CHECK_STALE, _("%s/%s is from an earlier attempt: run the step again"), kind,
                  name);
        return NULL;
    }
    ev->mark = check_mark(obj);
    return obj;
}

uint64_t check_mark(const struct json *obj)
{
    const struct json *list = json_at(obj, "status.containerStatuses");
    int64_t restarts = json_int(obj, "status.failed", 0);
    for (const struct json *c = json_first(list); c; c = json_next(c))
        restarts += json_int(c, "restartCount", 0);
    return vars_hash((uint64_t)restarts, json_str(obj, "metadata.uid", ""));
}

static bool is_workload(const char *kind)
{
    static const char *const kinds_of[] = {"deployments", "statefulsets", "daemonsets",
                                           "replicasets"};
    for (size_t i = 0; i < ARRAY_LEN(kinds_of); i++)
        if (str_eq(kinds_of[i], kind))
            return true;
    return false;
}

const char *check_behind(const char *kind, const struct json *obj)
{
    int64_t generation = json_int(obj, "metadata.generation", 0);
    int64_t seen = json_int(obj, "status.observedGeneration", is_workload(kind) ? 0 : generation);
    if (seen < generation)
        return _("the controller has not seen the newest version yet");
    bool rolls = str_eq(kind, "deployments") || str_eq(kind, "statefulsets");
    int64_t want = json_int(obj, "spec.replicas", 1);
    int64_t updated = json_int(obj, "status.updatedReplicas", 0);
    if (str_eq(kind, "daemonsets")) {
        want = json_int(obj, "status.desiredNumberScheduled", 0);
        updated = json_int(obj, "status.updatedNumberScheduled", 0);
        rolls = true;
    }
    /* a copy of the old version that is still ready says nothing of the new one */
    if (rolls && (updated < want || (str_eq(kind, "deployments") &&
                                     json_int(obj, "status.replicas", 0) > updated)))
        return _("the newest version does not run everywhere yet");
    return NULL;
}
