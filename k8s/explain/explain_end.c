/* explain_end.c - pods that the kubelet or the cluster ended, and containers whose
 * exit code tells how they ended (dx.h). */
#include "k8s/explain/dx.h"

/* --- refused or ended from outside ---------------------------------------------------- */
static void cite_status(struct dx *d)
{
    dx_cite(d, "status.reason");
    dx_cite(d, "status.message");
    dx_cite(d, "status.phase");
}

static void evicted(struct dx *d, const char *message)
{
    const char *low = dx_between(d, message, "low on resource: ", ".");
    const char *limit = dx_between(d, message, "exceeds the limit \"", "\"");
    const char *volume = dx_between(d, message, "EmptyDir volume \"", "\"");
    bool local =
        strstr(message, "local ephemeral storage") || strstr(message, "ephemeral local storage");
    if (!low)
        low = dx_between(d, message, "The node had condition: [", "]");
    if (volume) {
        dx_found(d, "emptydir-limit-exceeded", W_ROOT, SURE_CERTAIN,
                 _("The pod was evicted: its emptyDir volume %s grew beyond its limit %s."), volume,
                 limit ? limit : "");
        dx_cite(d, "spec.volumes[?name=%s].emptyDir.sizeLimit", volume);
        dx_fix(d, "%s", _("Raise sizeLimit, or write the data to a persistent volume."));
    } else if (local) {
        dx_found(d, "ephemeral-storage-exceeded", W_ROOT, SURE_CERTAIN, "%s",
                 _("The pod was evicted: it wrote more to its container's own disk than its "
                   "ephemeral-storage limit allows."));
        dx_fix(d, "%s",
               _("Write checkpoints and caches to a volume, or raise the limit on "
                 "ephemeral-storage."));
    } else if (low) {
        bool disk = strstr(low, "storage") || strstr(low, "fs") || strstr(low, "inodes") ||
                    strstr(low, "Disk");
        dx_found(d, disk ? "node-disk-pressure" : "node-memory-pressure", W_ROOT, SURE_CERTAIN,
                 _("The node %s ran low on %s and evicted the pod."),
                 json_str(d->o, "spec.nodeName", ""), low);
        dx_fix(d, "%s",
               disk ? _("Free the node's disk; ask for ephemeral-storage so that the scheduler "
                        "counts it.")
                    : _("Set memory requests near to what is used, so that the pod is not the "
                        "first to go."));
    } else {
        dx_found(d, "evicted", W_NAMED, SURE_LIKELY, "%s", _("The pod was evicted from its node."));
        dx_fix(d, "%s", _("The message names what ran low."));
    }
    if (message[0])
        dx_line(d, "%s", message);
    cite_status(d);
    dx_cite_event(d, dx_event(d, "Evicted", ""));
}

static void out_of(struct dx *d, const char *reason, const char *message)
{
    const char *resource = reason + strlen("OutOf");
    dx_found(d, "node-out-of-resource", W_ROOT, SURE_CERTAIN,
             _("The kubelet of %s refused the pod: when it arrived there was not enough %s left."),
             json_str(d->o, "spec.nodeName", ""), resource);
    dx_line(d, "%s", message);
    cite_status(d);
    dx_fix(d, "%s",
           _("Another pod was faster. Delete this one; its Job makes another. Don't set nodeName "
             "yourself: it passes the scheduler by."));
    dx_command(d, "kubectl -n %s delete pod %s", d->ns, d->name);
}

static void stale_device(struct dx *d, const char *message)
{
    const char *node = json_str(d->o, "spec.nodeName", "");
    const char *resource = dx_between(d, message, "unavailable for ", ". ");
    dx_found(d, "device-allocation-stale", W_ROOT, SURE_CERTAIN,
             _("UnexpectedAdmissionError: the scheduler saw a free device on %s, but the kubelet "
               "there has "
               "none to give (%s)."),
             node, message);
    cite_status(d);
    dx_cite(d, "spec.nodeName");
    const struct snap_item *n = dx_find(d, SNAP_NODES, NULL, node);
    if (resource)
        dx_cite_item(d, n, "status.allocatable%s", dx_member(d, resource));
    dx_fix(d, "%s", _("The pod itself is right: delete it and let its Job make another."));
    dx_fix(d,
           _("If it comes again, have the kubelet and the device plugin on %s restarted and the "
             "devices "
             "looked at."),
           node);
    dx_command(d, "kubectl -n %s delete pod %s", d->ns, d->name);
}

struct outer {
    const char *reason, *cause, *text, *fix; /* text: %s node (gettext keys) */
};

static const struct outer outers[] = {
    {"DeadlineExceeded", "active-deadline-exceeded",
     N_("The pod ran longer than its activeDeadlineSeconds allows and was ended."),
     N_("Raise activeDeadlineSeconds, or make the run shorter.")},
    {"NodeAffinity", "node-affinity-changed",
     N_("The kubelet of %s refused the pod: the node's labels do not match its nodeSelector or "
        "affinity."),
     N_("Correct the labels or the selector; nodeName passes the scheduler by.")},
    {"NodeLost", "node-lost", N_("The node %s stopped answering; the pod's state is not known."),
     N_("See whether the node runs.")},
    {"Terminated", "node-shutdown", N_("The node %s was shut down and ended its pods."),
     N_("The Job makes another pod; save checkpoints so that it can go on.")},
    {"NodeShutdown", "node-shutdown", N_("The node %s was shut down and ended its pods."),
     N_("The Job makes another pod; save checkpoints so that it can go on.")},
    {"Preempting", "preempted", N_("A pod of higher priority took the place on %s."),
     N_("Wait, or use a higher priorityClassName if you may.")},
    {"TopologyAffinityError", "topology-affinity",
     N_("The kubelet of %s can't give CPUs and devices of one NUMA node."),
     N_("Ask for fewer CPUs or devices, or have the topology manager's policy changed.")},
    {"SMTAlignmentError", "smt-alignment",
     N_("The kubelet of %s gives whole cores only, and the request is not a multiple of them."),
     N_("Ask for an even number of CPUs.")},
    {"PreemptionByScheduler", "preempted", N_("A pod of higher priority took the place on %s."),
     N_("Wait, or use a higher priorityClassName if you may.")},
    {"DeletionByTaintManager", "evicted-by-taint",
     N_("The node %s got a taint that the pod does not tolerate, and its pods were deleted."),
     N_("See the node's taints and conditions: it may have gone.")},
    {"EvictionByEvictionAPI", "drained", N_("The node %s was drained: its pods were evicted."),
     N_("The Job makes another pod; save checkpoints so that it can go on.")},
    {"TerminationByKubelet", "ended-by-kubelet",
     N_("The kubelet of %s ended the pod (shutdown or pressure on the node)."),
     N_("The message says which.")},
};

static bool outside(struct dx *d, const char *reason)
{
    char at[64];
    for (size_t i = 0; i < ARRAY_LEN(outers); i++) {
        if (!str_eq(outers[i].reason, reason))
            continue;
        dx_found(d, outers[i].cause, W_ROOT, SURE_CERTAIN, "%s",
                 dx_fill(d, outers[i].text, json_str(d->o, "spec.nodeName", "?"), "", ""));
        cite_status(d);
        if (dx_condition(d, "DisruptionTarget", at)) {
            dx_cite(d, "%s.reason", at);
            dx_cite(d, "%s.message", at);
        }
        dx_cite(d, "spec.activeDeadlineSeconds");
        dx_fix(d, "%s", _(outers[i].fix));
        return true;
    }
    return false;
}

void dx_kubelet(struct dx *d)
{
    char at[64];
    const char *reason = json_str(d->o, "status.reason", "");
    const char *message = json_str(d->o, "status.message", "");
    const struct json *cut = dx_condition(d, "DisruptionTarget", at);
    if (str_eq(reason, "Evicted"))
        evicted(d, message);
    else if (str_starts(reason, "OutOf"))
        out_of(d, reason, message);
    else if (str_eq(reason, "UnexpectedAdmissionError"))
        stale_device(d, message);
    else if (!outside(d, reason) && cut && str_eq(json_str(cut, "status", ""), "True") &&
             !dx_well(d))
        outside(d, json_str(cut, "reason", ""));
}

/* The pod runs, or is being deleted, on a node that does not report any more. */
static void node_gone(struct dx *d)
{
    char at[64];
    const char *node = json_str(d->o, "spec.nodeName", "");
    const struct json *ready = dx_condition(d, "Ready", at);
    const struct snap_item *n = node[0] ? dx_find(d, SNAP_NODES, NULL, node) : NULL;
    const char *state = n ? json_str(n->o, "status.conditions[?type=Ready].status", "") : "";
    bool told = str_eq(json_str(ready, "reason", ""), "NodeNotReady");
    bool gone = str_eq(state, "Unknown") || str_eq(state, "False");
    if (!str_eq(d->phase, "Running") || dx_well(d) || (!told && !gone) || str_eq(state, "True"))
        return;
    dx_found(d, "node-not-ready", W_ROOT + 3, gone ? SURE_CERTAIN : SURE_LIKELY,
             _("The node %s, on which the pod runs, is not Ready: whether the pod still runs is "
               "not known."),
             node);
    dx_cite(d, "%s.reason", at);
    dx_cite(d, "spec.nodeName");
    dx_cite_item(d, n, "status.conditions[?type=Ready].status");
    dx_cite_item(d, n, "status.conditions[?type=Ready].message");
    dx_cite(d, "metadata.deletionTimestamp");
    dx_fix(d, _("See whether %s runs and its kubelet answers; when it is back, the pod goes on "
                "or is cleared away."),
           node);
    dx_command(d, "kubectl describe node %s", node);
}

/* Placed on a node that the cluster does not have (nodeName was set by hand). */
static void node_unknown(struct dx *d)
{
    const char *node = json_str(d->o, "spec.nodeName", "");
    if (!str_eq(d->phase, "Pending") || !node[0] || !d->s->list[SNAP_NODES].known ||
        json_has(d->o, "status.containerStatuses") || dx_event(d, "Scheduled", "") ||
        dx_find(d, SNAP_NODES, NULL, node))
        return;
    dx_found(d, "node-missing", W_ROOT, SURE_LIKELY,
             _("The pod is bound to the node %s, and there is no such node: nobody starts it."),
             node);
    dx_cite(d, "spec.nodeName");
    dx_fix(d, "%s",
           _("Leave nodeName away (it passes the scheduler by) and use nodeSelector; delete this "
             "pod."));
    dx_command(d, "kubectl get nodes");
}

void dx_terminating(struct dx *d)
{
    node_gone(d);
    node_unknown(d);
    if (!json_has(d->o, "metadata.deletionTimestamp"))
        return;
    const char *finalizer = json_str(d->o, "metadata.finalizers[0]", NULL);
    dx_found(d, "terminating", finalizer ? W_ROOT : W_HINT, SURE_LIKELY,
             finalizer
                 ? _("The pod is being deleted and waits for its finalizer %s.")
                 : _("The pod is being deleted; its containers have their grace period to end.%s"),
             finalizer ? finalizer : "");
    dx_cite(d, "metadata.deletionTimestamp");
    dx_cite(d, "metadata.finalizers");
    dx_cite(d, "spec.terminationGracePeriodSeconds");
    dx_fix(d, "%s", _("If it stays, see the node: a kubelet that is away can't report the end."));
}

/* --- probes ----------------------------------------------------------------------------- */
static void cite_end(struct dx *d)
{
    dx_cite(d, "%s.exitCode", d->c.ended_at);
    dx_cite(d, "%s.reason", d->c.ended_at);
    dx_cite(d, "%s.restartCount", d->c.at);
}

static void probe_budget(struct dx *d, const char *probe)
{
    char at[96];
    str_fmt(at, sizeof at, "%.60s.%s", d->c.at_spec, probe);
    const struct json *p = json_at(d->o, at);
    int delay = (int)json_int(p, "initialDelaySeconds", 0);
    int period = (int)json_int(p, "periodSeconds", 10);
    int fails = (int)json_int(p, "failureThreshold", 3),
        timeout = (int)json_int(p, "timeoutSeconds", 1);
    if (!p)
        return;
    dx_line(d,
            _("The probe gives %d s + %d x %d s = %d s until it kills, and each answer a timeout "
              "of %d "
              "s."),
            delay, fails, period, delay + fails * period, timeout);
    static const char *const fields[] = {"initialDelaySeconds", "periodSeconds", "failureThreshold",
                                         "timeoutSeconds"};
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        dx_cite(d, "%s.%s", at, fields[i]);
}

/* The kubelet said so, and of this container; not while the pod serves again. */
static bool probe_killed(struct dx *d, const char *kind, const char *field, const char *cause)
{
    const struct snap_item *e = dx_event(d, "Killing", kind);
    bool final = d->c.ended_now && d->c.restarts == 0; /* restartPolicy Never */
    if (!e || !strstr(json_str(e->o, "message", ""), d->c.name) ||
        (d->c.restarts == 0 && (!final || dx_well(d))) || str_eq(d->c.reason, "OOMKilled"))
        return false;
    bool slow = dx_event(d, "Unhealthy", "context deadline exceeded") ||
                dx_event(d, "Unhealthy", "Client.Timeout");
    dx_found(d, cause, W_KILL, SURE_CERTAIN,
             final ? _("The kubelet ended container %s (%d restarts): its %s probe failed. Exit "
                       "code %d%s is the answer to that, not the cause.")
                   : _("The kubelet ends container %s again and again (%d restarts): its %s probe "
                       "fails. Exit code %d%s is the answer to that, not the cause."),
             d->c.name, d->c.restarts, str_eq(field, "livenessProbe") ? "liveness" : "startup",
             d->c.code,
             d->c.code == 143   ? " (SIGTERM)"
             : d->c.code == 137 ? " (SIGKILL)"
                                : "");
    if (slow)
        dx_line(d, "%s", _("The answers come too late: a timeout, not an error."));
    probe_budget(d, field);
    dx_cite_event(d, e);
    dx_cite_event(d, dx_event(d, "Unhealthy", ""));
    cite_end(d);
    dx_fix(d, "%s",
           str_eq(field, "livenessProbe")
               ? _("Add a startupProbe (or a longer initialDelaySeconds) that covers the time "
                   "until "
                   "it serves.")
               : _("Raise failureThreshold x periodSeconds of the startupProbe above the time that "
                   "it needs to start."));
    if (slow)
        dx_fix(d, "%s",
               _("Raise timeoutSeconds and failureThreshold, or let the health answer not wait for "
                 "the busy loop."));
    return true;
}

static void not_serving(struct dx *d)
{
    const struct snap_item *e = dx_event(d, "Unhealthy", "Readiness probe failed");
    if (!str_eq(d->phase, "Running") || dx_well(d) || !d->c.running || !e || d->c.restarts > 0)
        return;
    dx_found(d, "readiness-probe-failing", W_KILL, SURE_CERTAIN,
             _("Container %s runs, but its readiness probe fails, so it gets no traffic."),
             d->c.name);
    dx_cite_event(d, e);
    for (const struct json *p = json_first(json_get(d->c.spec, "ports")); p; p = json_next(p))
        dx_line(d, _("The container names port %d; the probe asks port %d."),
                (int)json_int(p, "containerPort", 0),
                (int)json_int(d->c.spec, "readinessProbe.httpGet.port",
                              json_int(d->c.spec, "readinessProbe.tcpSocket.port", 0)));
    dx_cite(d, "%s.readinessProbe", d->c.at_spec);
    dx_cite(d, "%s.ready", d->c.at);
    dx_fix(d, "%s",
           _("Compare the probe's port and path with what the program serves; it may still be "
             "loading its model."));
    dx_command(d, "kubectl -n %s logs %s -c %s", d->ns, d->name, d->c.name);
}

static bool hook(struct dx *d)
{
    const struct snap_item *e = dx_event(d, "FailedPostStartHook", "");
    if (!e || dx_well(d) || !json_has(d->c.spec, "lifecycle.postStart"))
        return false;
    dx_found(d, "post-start-hook-failing", W_KILL + 2, SURE_CERTAIN,
             _("The postStart hook of container %s fails, and the kubelet then kills the "
               "container (exit code %d)."),
             d->c.name, d->c.code);
    dx_cite_event(d, e);
    dx_cite(d, "%s.lifecycle.postStart", d->c.at_spec);
    cite_end(d);
    dx_fix(d, "%s",
           _("Run the hook's command by hand in the image; what must precede the program belongs "
             "into an init container."));
    return true;
}

void dx_probe(struct dx *d)
{
    if (hook(d))
        return;
    if (d->c.name[0] &&
        !probe_killed(d, "failed liveness probe", "livenessProbe", "liveness-probe-kill"))
        probe_killed(d, "failed startup probe", "startupProbe", "startup-probe-kill");
    not_serving(d);
}

/* --- exit codes -------------------------------------------------------------------------- */
/* What lies in an emptyDir of medium Memory is memory of the container. */
static void memory_files(struct dx *d)
{
    int i = 0;
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v;
         v = json_next(v), i++) {
        if (!str_eq(json_str(v, "emptyDir.medium", ""), "Memory"))
            continue;
        for (const struct json *m = json_first(json_get(d->c.spec, "volumeMounts")); m;
             m = json_next(m))
            if (str_eq(json_str(m, "name", ""), json_str(v, "name", "-"))) {
                dx_line(d,
                        _("Files in %s (emptyDir, medium Memory, sizeLimit %s) count against the "
                          "same limit."),
                        json_str(m, "mountPath", ""),
                        json_str(v, "emptyDir.sizeLimit", _("none")));
                dx_cite(d, "spec.volumes[%d].emptyDir", i);
            }
    }
}

static void oom(struct dx *d)
{
    const char *limit = json_str(d->c.spec, "resources.limits.memory", NULL);
    if (limit)
        dx_found(d, "oom-killed", W_KILL + 1, SURE_CERTAIN,
                 _("Container %s used more memory than its limit of %s and was killed (OOMKilled, "
                   "exit code "
                   "%d)."),
                 d->c.name, limit, d->c.code);
    else
        dx_found(d, "oom-killed", W_KILL + 1, SURE_CERTAIN,
                 _("Container %s was killed for lack of memory (OOMKilled, exit code %d); it has "
                   "no limit "
                   "of its own, so the node or the pod ran out."),
                 d->c.name, d->c.code);
    if (dx_well(d))
        dx_line(d, _("It runs again now, after %d restarts."), d->c.restarts);
    memory_files(d);
    dx_cite(d, "%s.reason", d->c.ended_at);
    cite_end(d);
    dx_cite(d, "%s.resources.limits.memory", d->c.at_spec);
    dx_fix(d, "%s",
           _("Lower what it needs: batch size, sequence length, workers of the data loader, "
             "offloading to host memory."));
    dx_fix(d, "%s", _("Or raise limits.memory, if the node and the quota allow it."));
    dx_command(d, "kubectl -n %s top pod %s --containers", d->ns, d->name);
}

struct code_rule {
    int code;
    const char *cause;
    enum sure sure;
    const char *text; /* %s container (gettext key) */
    const char *fix;
};

static const struct code_rule codes[] = {
    {126, "command-not-executable", SURE_CERTAIN,
     N_("Exit code 126: the command of container %s was found but may not be executed."),
     N_("Give the file its x bit in the image (chmod +x), or name its interpreter in command.")},
    {127, "command-not-found", SURE_CERTAIN,
     N_("Exit code 127: the shell of container %s did not find the command; it is not installed in "
        "the image "
        "or not on its PATH."),
     N_("Use an image that has it installed, or write its whole path (python3 -m ... for "
        "modules).")},
    {128, "exit-128", SURE_LIKELY,
     N_("Exit code 128: container %s ended with an invalid exit code."),
     N_("Read the last lines of its log.")},
    {132, "illegal-instruction", SURE_LIKELY,
     N_("Exit code 132 (SIGILL): container %s used an instruction that this processor does not "
        "have."),
     N_("Use a build for the node's processor (no AVX-512 or AMX where it has none).")},
    {134, "aborted", SURE_LIKELY,
     N_("Exit code 134 (SIGABRT): the program of container %s ended itself."),
     N_("Its log says why: an assertion or a library that gave up.")},
    {135, "bus-error", SURE_LIKELY,
     N_("Exit code 135 (SIGBUS): a mapped file of container %s is not there "
        "any more, or /dev/shm is full."),
     N_("Check the size of /dev/shm and the mapped files.")},
    {137, "killed-137", SURE_NOT,
     N_("Exit code 137 (SIGKILL) without OOMKilled: container %s was killed from outside. What is "
        "known does "
        "not show by whom: a deletion whose grace period ran out, the node's own memory, or a "
        "person."),
     N_("Look at the node's events and at its kernel log for \"Out of memory\".")},
    {139, "segmentation-fault", SURE_LIKELY,
     N_("Exit code 139 (SIGSEGV): the program of container %s touched memory that is not its own: "
        "a fault in "
        "native code."),
     N_("Look for versions that do not fit each other (driver, CUDA, PyTorch, a compiled "
        "extension).")},
    {143, "terminated-143", SURE_NOT,
     N_("Exit code 143 (SIGTERM): container %s was asked to end, by a deletion, an eviction or the "
        "node; what "
        "is known does not show which."),
     N_("Look at the events of the pod and the node.")},
};

/* 0 is an end too, where a program should go on for ever. */
static void ends_well(struct dx *d)
{
    if (d->c.code != 0 || !str_eq(d->c.waiting, "CrashLoopBackOff"))
        return;
    dx_found(d, "main-process-ends", W_EXIT, SURE_CERTAIN,
             _("Container %s ends by itself with code 0, and restartPolicy %s starts it again: its "
               "command "
               "does not stay in the foreground."),
             d->c.name, json_str(d->o, "spec.restartPolicy", "Always"));
    cite_end(d);
    dx_cite(d, "spec.restartPolicy");
    dx_cite(d, "%s.command", d->c.at_spec);
    dx_fix(d, "%s",
           _("Run work that ends as a Job (restartPolicy Never or OnFailure), or keep the program "
             "in the foreground."));
}

static bool by_code(struct dx *d)
{
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        const struct code_rule *r = &codes[i];
        if (r->code != d->c.code)
            continue;
        dx_found(d, r->cause, r->sure == SURE_NOT ? W_EXIT - 5 : W_EXIT, r->sure, "%s",
                 dx_fill(d, r->text, d->c.name, "", ""));
        cite_end(d);
        dx_cite(d, "%s.command", d->c.at_spec);
        dx_cite(d, "%s.args", d->c.at_spec);
        dx_cite_log(d, dx_log_last(d));
        if (dx_log_last(d))
            dx_line(d, _("Its last words: %s"), dx_log_last(d));
        dx_fix(d, "%s", _(r->fix));
        return true;
    }
    return false;
}

static void own_error(struct dx *d)
{
    const char *last = dx_log_last(d);
    if (last)
        dx_found(d, "application-error", W_GENERIC, SURE_LIKELY,
                 _("The program of container %s ended by itself with exit code %d: %s"), d->c.name,
                 d->c.code, last);
    else
        dx_found(d, "application-error", W_GENERIC, SURE_NOT,
                 _("The program of container %s ended by itself with exit code %d; its log was not "
                   "read or "
                   "is empty, so the reason is not known."),
                 d->c.name, d->c.code);
    if (d->c.code == 2)
        dx_line(d, "%s", _("Code 2 is what shells and argparse use for a wrong command line."));
    else if (d->c.code > 128 && d->c.code < 165)
        dx_line(d, _("Codes above 128 mean a signal: %d."), d->c.code - 128);
    cite_end(d);
    dx_cite_log(d, last);
    dx_cite(d, "%s.command", d->c.at_spec);
    dx_fix(d, "%s", _("Read the log from its first error on; the cluster did its part."));
    dx_command(d, "kubectl -n %s logs %s -c %s%s", d->ns, d->name, d->c.name,
               d->c.ended_now ? "" : " --previous");
}

void dx_exit(struct dx *d)
{
    if (str_eq(d->c.reason, "OOMKilled")) {
        oom(d);
        return;
    }
    ends_well(d);
    if (!dx_failing(d) || d->c.code <= 0 || json_str(d->o, "status.reason", "")[0] ||
        str_eq(d->c.reason, "StartError") || str_eq(d->c.reason, "ContainerCannotRun"))
        return;
    if (!by_code(d))
        own_error(d);
}
