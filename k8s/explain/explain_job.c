/* explain_job.c - Jobs: what keeps pods from being made, why the Job gave up, and
 * the cause that its pods have in common (dx.h). */
#include "k8s/explain/dx.h"

enum { PODS_MOST = 12 };

static void cite_condition(struct dx *d, const char *type)
{
    dx_cite(d, "status.conditions[?type=%s].reason", type);
    dx_cite(d, "status.conditions[?type=%s].message", type);
}

/* --- pods that are never made ------------------------------------------------------------- */
static void quota(struct dx *d, const struct snap_item *e, const char *message)
{
    const char *name = dx_between(d, message, "exceeded quota: ", ",");
    const char *asked = dx_between(d, message, "requested: ", "=");
    const char *want = dx_between(d, message, "requested: ", "\n");
    const struct snap_item *q = dx_find(d, SNAP_QUOTAS, NULL, name);
    const char *resource = asked ? asked : "";
    char path[200];
    str_fmt(path, sizeof path, "status.used%s", dx_member(d, resource));
    const char *used = q ? json_str(q->o, path, "") : "";
    str_fmt(path, sizeof path, "status.hard%s", dx_member(d, resource));
    const char *hard = q ? json_str(q->o, path, "") : "";
    dx_found(d, "quota-exceeded", W_ROOT, SURE_CERTAIN,
             _("No pod can be made: the quota %s of namespace %s is used up for %s %s."), name,
             d->ns, resource, used[0] ? dx_say(d, _("(used %s of %s)"), used, hard) : "");
    dx_line(d, _("Asked: %s"), want ? want : "");
    dx_cite_event(d, e);
    dx_cite_item(d, q, "status.used%s", dx_member(d, resource));
    dx_cite_item(d, q, "status.hard%s", dx_member(d, resource));
    dx_fix(d, "%s",
           _("Wait until another Job of the namespace ends (the Job controller tries again by "
             "itself), "
             "ask for less, or ask for more quota."));
    dx_command(d, "kubectl -n %s describe resourcequota %s", d->ns, name);
}

static const struct {
    const char *has, *cause, *text, *fix;
} refusals[] = {
    {"failed calling webhook", "admission-webhook-unreachable",
     N_("No pod can be made: an admission webhook that must be asked does not answer."),
     N_("See the pods of the service that the message names; while it is away nothing that it "
        "guards can be made.")},
    {"failed quota: ", "quota-needs-resources",
     N_("No pod can be made: the namespace's quota counts resources that the pod template does not "
        "set."),
     N_("Set requests and limits for what the message names (a LimitRange can give defaults).")},
    {"violates PodSecurity", "pod-security-violation",
     N_("No pod can be made: the namespace's Pod Security level forbids what the template asks "
        "for."),
     N_("Change the securityContext fields that the message names.")},
    {"serviceaccount", "service-account-missing",
     N_("No pod can be made: the service account that the template names does not exist."),
     N_("Create the service account, or correct serviceAccountName.")},
    {"usage per Container is", "limit-range",
     N_("No pod can be made: a LimitRange of the namespace forbids the amounts of the template."),
     N_("Stay between its minimum and maximum, which the message names.")},
    {"admission webhook", "admission-denied",
     N_("No pod can be made: an admission webhook denies it."),
     N_("Its message says what it wants.")},
    {"priority class", "priority-class-missing",
     N_("No pod can be made: its priorityClassName does not exist."),
     N_("Correct priorityClassName, or leave it away.")},
    {"PriorityClass", "priority-class-missing",
     N_("No pod can be made: its priorityClassName does not exist."),
     N_("Correct priorityClassName, or leave it away.")},
    {"RuntimeClass", "runtime-class-missing",
     N_("No pod can be made: its runtimeClassName does not exist."),
     N_("Correct runtimeClassName, or have the class made.")},
    {"is forbidden", "pod-forbidden", N_("No pod can be made: the API server forbids it."),
     N_("The message names the rule.")},
    {"is invalid", "pod-invalid", N_("No pod can be made: the template is not valid."),
     N_("The message names the field.")},
};

static bool not_made(struct dx *d)
{
    const struct snap_item *e = dx_event(d, "FailedCreate", "");
    bool later = dx_event(d, "SuccessfulCreate", "") && json_int(d->o, "status.active", 0) > 0;
    const char *message = e ? json_str(e->o, "message", "") : "";
    if (!e || later || json_has(d->o, "status.completionTime"))
        return false;
    if (strstr(message, "exceeded quota: ")) {
        quota(d, e, message);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        if (!strstr(message, refusals[i].has))
            continue;
        dx_found(d, refusals[i].cause, W_ROOT, SURE_CERTAIN, "%s", _(refusals[i].text));
        dx_line(d, "%s", message);
        dx_cite_event(d, e);
        dx_cite(d, "spec.template.spec.serviceAccountName");
        dx_cite(d, "spec.template.spec.securityContext");
        dx_fix(d, "%s", _(refusals[i].fix));
        dx_command(d, "kubectl -n %s describe job/%s", d->ns, d->name);
        return true;
    }
    dx_found(d, "pod-create-failed", W_NAMED, SURE_LIKELY, _("No pod can be made: %s"), message);
    dx_cite_event(d, e);
    dx_fix(d, "%s", _("The message is the API server's."));
    return true;
}

/* --- waiting on purpose --------------------------------------------------------------------- */
static void queued(struct dx *d, const char *queue)
{
    const struct snap_item *w = NULL;
    const struct snap_list *l = &d->s->list[SNAP_WORKLOADS];
    for (size_t i = 0; i < l->n && !w; i++)
        if (strstr(json_str(l->v[i].o, "metadata.name", ""), d->name) ||
            str_eq(json_str(l->v[i].o, "metadata.ownerReferences[0].name", ""), d->name))
            w = &l->v[i];
    const char *why = w ? json_str(w->o, "status.conditions[?type=QuotaReserved].message", "") : "";
    dx_found(d, "kueue-waiting", W_ROOT, w ? SURE_CERTAIN : SURE_LIKELY,
             _("The Job waits in the Kueue queue %s: Kueue holds it suspended until there is "
               "room."),
             queue);
    if (why[0])
        dx_line(d, "%s", why);
    dx_cite(d, "spec.suspend");
    dx_cite(d, "metadata.labels['kueue.x-k8s.io/queue-name']");
    dx_cite_item(d, w, "status.conditions[?type=QuotaReserved].reason");
    dx_cite_item(d, w, "status.conditions[?type=QuotaReserved].message");
    dx_fix(d, "%s",
           _("Don't set suspend to false yourself: see the Workload, what it waits for and who is "
             "before it."));
    dx_command(d, "kubectl -n %s get workloads", d->ns);
}

static bool suspended(struct dx *d)
{
    const char *queue = json_str(d->o, "metadata.labels['kueue.x-k8s.io/queue-name']", NULL);
    if (!json_bool(d->o, "spec.suspend", false))
        return false;
    if (queue) {
        queued(d, queue);
        return true;
    }
    dx_found(d, "job-suspended", W_ROOT, SURE_CERTAIN, "%s",
             _("The Job is suspended (spec.suspend is true): it makes no pods until that is "
               "false."));
    dx_cite(d, "spec.suspend");
    cite_condition(d, "Suspended");
    dx_fix(d, "%s", _("Set spec.suspend to false when it shall run."));
    dx_command(d, "kubectl -n %s patch job %s -p '{\"spec\":{\"suspend\":false}}'", d->ns, d->name);
    return true;
}

/* --- its pods ------------------------------------------------------------------------------- */
static bool owned(const struct dx *d, const struct json *pod)
{
    const char *uid = json_str(d->o, "metadata.uid", "");
    for (const struct json *o = json_first(json_at(pod, "metadata.ownerReferences")); o;
         o = json_next(o))
        if (str_eq(json_str(o, "kind", ""), "Job") && str_eq(json_str(o, "name", ""), d->name) &&
            (!uid[0] || str_eq(json_str(o, "uid", uid), uid)))
            return true;
    return false;
}

/* Explain one pod by the same rules, and take what leads. */
static bool explain_pod(struct dx *d, const struct snap_item *pod, struct finding *lead,
                        struct explanation **keep)
{
    struct snapshot s = *d->s;
    s.object = pod->o;
    s.object_file = pod->prefix[0] ? dx_say(d, "%s: %s", pod->file, pod->prefix) : pod->file;
    *keep = explain(&s);
    *lead = (*keep)->v[0];
    return explanation_wrong(*keep);
}

static void copy_finding(struct dx *d, const struct finding *f, int weight)
{
    dx_found(d, f->cause, weight, f->sure, "%s", f->text);
    for (int i = 0; i < f->lines; i++)
        dx_line(d, "%s", f->line[i]);
    for (int i = 0; i < f->proofs; i++) {
        struct proof *p = &d->f->proof[d->f->proofs++];
        p->file = dx_say(d, "%s", f->proof[i].file);
        p->path = dx_say(d, "%s", f->proof[i].path);
        p->value = dx_say(d, "%s", f->proof[i].value);
    }
    for (int i = 0; i < f->fixes; i++)
        dx_fix(d, "%s", f->fix[i]);
    dx_command(d, "%s", f->command);
}

/* The newest pod in trouble leads; how many share its cause is said. */
static const char *pods_cause(struct dx *d, int weight, bool failed_only)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    const char *name = NULL, *cause = NULL;
    int same = 0, looked = 0;
    for (size_t i = l->n; i-- > 0 && looked < PODS_MOST;) {
        struct explanation *e = NULL;
        struct finding f;
        if (!owned(d, l->v[i].o) ||
            (failed_only && !str_eq(json_str(l->v[i].o, "status.phase", ""), "Failed")))
            continue;
        looked++;
        bool wrong = explain_pod(d, &l->v[i], &f, &e);
        if (wrong && !cause) {
            cause = f.cause; /* ids are literals */
            name = json_str(l->v[i].o, "metadata.name", "");
            copy_finding(d, &f, weight);
            dx_line(d, _("Pod %s."), name);
        }
        same += wrong && str_eq(f.cause, cause);
        explanation_free(e);
    }
    if (same > 1)
        dx_line(d, _("%d of its pods ended in the same way."), same);
    return name;
}

/* --- the end of a Job ------------------------------------------------------------------------ */
static struct finding *pod_finding(struct dx *d, size_t before)
{
    return d->out->n > before ? &d->out->v[d->out->n - 1] : NULL;
}

/* The Job's own finding is written first; the common cause of the pods explains it. */
static void with_pods(struct dx *d)
{
    size_t own = d->out->n - 1;
    const char *name = pods_cause(d, W_GENERIC, true);
    struct finding *pod = pod_finding(d, own + 1);
    d->f = &d->out->v[own];
    if (pod) {
        dx_line(d, _("Its pod %s says why: %s"), name, pod->text);
        for (int i = 0; i < pod->proofs && d->f->proofs < FINDING_PROOFS; i++)
            d->f->proof[d->f->proofs++] = pod->proof[i];
        for (int i = 0; i < pod->fixes; i++)
            dx_fix(d, "%s", pod->fix[i]);
    } else if (dx_log_last(d)) {
        dx_line(d, _("The last words of a pod: %s"), dx_log_last(d));
    } else if (!name && str_eq(json_str(d->o, "spec.template.spec.restartPolicy", ""),
                               "OnFailure")) {
        dx_line(d, "%s",
                _("restartPolicy is OnFailure: the pod was deleted with its log when the limit was "
                  "reached."));
        dx_cite(d, "spec.template.spec.restartPolicy");
        dx_fix(d, "%s",
               _("Set restartPolicy to Never, submit it again, and read the log of a failed pod."));
    }
    dx_cite_log(d, dx_log_last(d));
}

static void backoff(struct dx *d)
{
    dx_found(d, "backoff-limit-exceeded", W_ROOT, SURE_CERTAIN,
             _("The Job gave up after %d failed pods (backoffLimit %d)."),
             (int)json_int(d->o, "status.failed", 0), (int)json_int(d->o, "spec.backoffLimit", 6));
    cite_condition(d, "Failed");
    dx_cite(d, "status.failed");
    dx_cite(d, "spec.backoffLimit");
    with_pods(d);
    dx_fix(d, "%s",
           _("Correct the cause, delete the Job and submit it again; more tries would fail in the "
             "same "
             "way."));
    dx_command(d, "kubectl -n %s delete job %s", d->ns, d->name);
}

static void indexes(struct dx *d, const char *reason)
{
    const char *failed = json_str(d->o, "status.failedIndexes", "?");
    const char *done = json_str(d->o, "status.completedIndexes", "");
    dx_found(d, "indexed-job-partial", W_ROOT, SURE_CERTAIN,
             _("Index %s of the Job failed (%s); %d of %d are complete: %s."), failed, reason,
             (int)json_int(d->o, "status.succeeded", 0), (int)json_int(d->o, "spec.completions", 0),
             done[0] ? done : _("none"));
    dx_cite(d, "status.failedIndexes");
    dx_cite(d, "status.completedIndexes");
    cite_condition(d, "Failed");
    with_pods(d);
    dx_fix(d,
           _("Correct the input of index %s and run that index alone again; the others are "
             "complete."),
           failed);
}

static void deadline(struct dx *d)
{
    dx_found(d, "job-deadline-exceeded", W_ROOT, SURE_CERTAIN,
             _("The Job ran longer than its activeDeadlineSeconds (%d s), so its pods were ended."),
             (int)json_int(d->o, "spec.activeDeadlineSeconds", 0));
    dx_line(d, "%s",
            _("The time counts from the start of the Job: waiting for a node and pulling the image "
              "are "
              "part of it."));
    cite_condition(d, "Failed");
    dx_cite(d, "spec.activeDeadlineSeconds");
    dx_cite(d, "status.startTime");
    dx_fix(d, "%s",
           _("Raise activeDeadlineSeconds, or save checkpoints and go on from the last one."));
}

static void policy(struct dx *d)
{
    dx_found(d, "pod-failure-policy", W_ROOT, SURE_CERTAIN, "%s",
             _("The Job ended at once because its podFailurePolicy says so for this kind of "
               "failure."));
    dx_line(d, "%s", json_str(d->o, "status.conditions[?type=Failed].message", ""));
    cite_condition(d, "Failed");
    dx_cite(d, "spec.podFailurePolicy");
    with_pods(d);
}

static bool failed(struct dx *d)
{
    char at[64];
    const struct json *c = dx_condition(d, "Failed", at);
    if (!str_eq(json_str(c, "status", ""), "True"))
        c = dx_condition(d, "FailureTarget", at);
    const char *reason = json_str(c, "reason", "");
    if (!str_eq(json_str(c, "status", ""), "True"))
        return false;
    if (str_eq(reason, "BackoffLimitExceeded"))
        backoff(d);
    else if (str_eq(reason, "DeadlineExceeded"))
        deadline(d);
    else if (strstr(reason, "FailedIndexes"))
        indexes(d, reason);
    else if (str_eq(reason, "PodFailurePolicy"))
        policy(d);
    else {
        dx_found(d, "job-failed", W_NAMED, SURE_LIKELY, _("The Job has failed: %s"),
                 json_str(c, "message", ""));
        cite_condition(d, "Failed");
        with_pods(d);
    }
    return true;
}

/* --- a sidecar that does not end ------------------------------------------------ */
static bool sidecar(struct dx *d)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    for (size_t i = 0; i < l->n; i++) {
        const char *done = NULL, *runs = NULL;
        struct dx_ctr c;
        int at = 0;
        char done_at[96] = "";
        if (!owned(d, l->v[i].o) || !str_eq(json_str(l->v[i].o, "status.phase", ""), "Running"))
            continue;
        for (; dx_container(l->v[i].o, at, &c); at++) {
            if (!c.init && c.ended_now && c.code == 0) {
                done = c.name;
                str_copy(done_at, sizeof done_at, c.ended_at);
            } else if (!c.init && c.running) {
                runs = c.name;
            }
        }
        if (!done || !runs)
            continue;
        dx_found(d, "sidecar-keeps-job-running", W_ROOT, SURE_CERTAIN,
                 _("Container %s has ended well, but %s still runs, and a pod is complete only "
                   "when all its "
                   "containers are."),
                 done, runs);
        dx_cite_item(d, &l->v[i], "%s.exitCode", done_at);
        dx_cite_item(d, &l->v[i], "status.phase");
        dx_cite(d, "status.active");
        dx_fix(d,
               _("Make %s a sidecar: an init container with restartPolicy Always (Kubernetes 1.29 "
                 "and newer), "
                 "or let it end when the other does."),
               runs);
        return true;
    }
    return false;
}

static void going_well(struct dx *d)
{
    char at[64];
    bool complete = str_eq(json_str(dx_condition(d, "Complete", at), "status", ""), "True");
    int active = (int)json_int(d->o, "status.active", 0);
    if (!complete && active == 0 && json_int(d->o, "status.succeeded", 0) == 0 &&
        d->s->list[SNAP_PODS].known == false)
        return;
    dx_found(d, "none", W_HEALTHY, complete ? SURE_CERTAIN : SURE_LIKELY,
             complete ? _("Nothing is wrong: Job %s is Complete.")
                      : _("Nothing is wrong: Job %s is going on."),
             d->name);
    if (json_int(d->o, "status.failed", 0) > 0)
        dx_line(d, _("%d earlier pods failed; the Job tried again by itself."),
                (int)json_int(d->o, "status.failed", 0));
    dx_cite(d, "status.succeeded");
    dx_cite(d, "status.active");
    dx_cite(d, "status.conditions[?type=Complete].status");
    dx_fix(d, "%s", _("Nothing to do."));
}

/* A Job that is complete may have left its result where it is lost. */
static void complete(struct dx *d)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    for (size_t i = 0; i < l->n; i++) {
        struct explanation *e = NULL;
        struct finding f;
        if (!owned(d, l->v[i].o) || !str_eq(json_str(l->v[i].o, "status.phase", ""), "Succeeded"))
            continue;
        if (explain_pod(d, &l->v[i], &f, &e))
            copy_finding(d, &f, f.weight);
        explanation_free(e);
        if (d->out->n > 0)
            return;
    }
    going_well(d);
}

void dx_job(struct dx *d)
{
    char at[64];
    if (str_eq(json_str(dx_condition(d, "Complete", at), "status", ""), "True")) {
        complete(d);
        return;
    }
    if (failed(d) || suspended(d) || not_made(d) || sidecar(d))
        return;
    if (!pods_cause(d, W_ROOT, false))
        going_well(d);
}
