/* table_pod.c - a pod's row: the reasons of its containers make its STATUS, by
 * the rules of Kubernetes' printer.
 */
#include "core/base/clock.h"
#include "k8s/practice/table_cells.h"

static bool always_restarts(const struct json *pod, const char *container)
{
    for (const struct json *c = json_first(json_at(pod, "spec.initContainers")); c;
         c = json_next(c))
        if (!strcmp(json_str(c, "name", ""), container))
            return !strcmp(json_str(c, "restartPolicy", ""), "Always");
    return false;
}

static bool has_condition(const struct json *pod, const char *type)
{
    for (const struct json *c = json_first(json_at(pod, "status.conditions")); c; c = json_next(c))
        if (!strcmp(json_str(c, "type", ""), type))
            return !strcmp(json_str(c, "status", ""), "True");
    return false;
}

static void ended_text(const struct json *t, const char *before, struct str *out)
{
    int64_t sig = json_int(t, "signal", 0);
    const char *reason = json_str(t, "reason", "");
    str_clear(out);
    if (*reason)
        str_printf(out, "%s%s", before, reason);
    else if (sig != 0)
        str_printf(out, "%sSignal:%" PRId64, before, sig);
    else
        str_printf(out, "%sExitCode:%" PRId64, before, json_int(t, "exitCode", 0));
}

/* true: initialising, and *out says how. */
static bool init_status(const struct json *pod, struct str *out)
{
    size_t total = json_count(json_at(pod, "spec.initContainers")), i = 0;
    for (const struct json *c = json_first(json_at(pod, "status.initContainerStatuses")); c;
         c = json_next(c), i++) {
        const struct json *ended = json_at(c, "state.terminated");
        const char *waiting = json_str(c, "state.waiting.reason", "");
        if (ended && json_int(ended, "exitCode", 0) == 0)
            continue;
        if (always_restarts(pod, json_str(c, "name", "")) && json_bool(c, "started", false))
            continue;
        if (ended) {
            ended_text(ended, "Init:", out);
        } else if (*waiting && strcmp(waiting, "PodInitializing") != 0) {
            str_clear(out);
            str_printf(out, "Init:%s", waiting);
        } else {
            str_clear(out);
            str_printf(out, "Init:%zu/%zu", i, total);
        }
        return true;
    }
    return false;
}

static void main_status(const struct json *pod, struct str *out)
{
    bool running = false;
    const struct json *all = json_at(pod, "status.containerStatuses");
    for (int i = (int)json_count(all) - 1; i >= 0; i--) {
        const struct json *c = json_item(all, i), *ended = json_at(c, "state.terminated");
        const char *waiting = json_str(c, "state.waiting.reason", "");
        if (*waiting) {
            str_clear(out);
            str_add(out, waiting);
        } else if (ended) {
            ended_text(ended, "", out);
        } else if (json_bool(c, "ready", false) && json_at(c, "state.running")) {
            running = true;
        }
    }
    if (!strcmp(out->p, "Completed") && running) {
        str_clear(out);
        str_add(out, has_condition(pod, "Ready") ? "Running" : "NotReady");
    }
}

void table_pod_status(const struct json *pod, struct str *out)
{
    const char *phase = json_str(pod, "status.phase", "");
    str_clear(out);
    str_add(out, json_str(pod, "status.reason", phase));
    for (const struct json *c = json_first(json_at(pod, "status.conditions")); c; c = json_next(c))
        if (!strcmp(json_str(c, "type", ""), "PodScheduled") &&
            !strcmp(json_str(c, "reason", ""), "SchedulingGated")) {
            str_clear(out);
            str_add(out, "SchedulingGated");
        }
    if (!init_status(pod, out) || has_condition(pod, "Initialized"))
        main_status(pod, out);
    if (!json_has(pod, "metadata.deletionTimestamp"))
        return;
    if (!strcmp(json_str(pod, "status.reason", ""), "NodeLost")) {
        str_clear(out);
        str_add(out, "Unknown");
    } else if (strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0) {
        str_clear(out);
        str_add(out, "Terminating");
    }
}

void table_pod_ready(const struct json *pod, struct str *out)
{
    size_t ready = 0, total = json_count(json_at(pod, "spec.containers"));
    for (const struct json *c = json_first(json_at(pod, "spec.initContainers")); c;
         c = json_next(c))
        total += !strcmp(json_str(c, "restartPolicy", ""), "Always");
    for (const struct json *c = json_first(json_at(pod, "status.containerStatuses")); c;
         c = json_next(c))
        ready += json_bool(c, "ready", false) && json_at(c, "state.running");
    for (const struct json *c = json_first(json_at(pod, "status.initContainerStatuses")); c;
         c = json_next(c))
        ready += json_bool(c, "ready", false) && json_at(c, "state.running") &&
                 always_restarts(pod, json_str(c, "name", ""));
    str_printf(out, "%zu/%zu", ready, total);
}

void table_pod_restarts(const struct json *pod, struct str *out)
{
    int64_t n = 0, last = 0, at;
    char age[16];
    for (const struct json *c = json_first(json_at(pod, "status.containerStatuses")); c;
         c = json_next(c)) {
        n += json_int(c, "restartCount", 0);
        if (clock_parse_rfc3339(json_str(c, "lastState.terminated.finishedAt", ""), &at))
            last = MAX(last, at);
    }
    str_printf(out, "%" PRId64, n);
    if (n > 0 && last > 0)
        str_printf(out, " (%s ago)", clock_age(MAX(0, clock_wall_ms() - last / 1000), age));
}
