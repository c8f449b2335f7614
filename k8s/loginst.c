/* loginst.c - the runs of a container (loginst.h). The rules are the kubelet's:
 * a waiting container that ran before gives the log of that run. */
#include "k8s/loginst.h"

#include "k8s/podinfo.h"

static const struct json *named(const struct json *pod, const char *const *lists, size_t n,
                                const char *name)
{
    for (size_t i = 0; i < n; i++)
        for (const struct json *c = json_first(json_at(pod, lists[i])); c; c = json_next(c))
            if (str_eq(json_str(c, "name", ""), name))
                return c;
    return NULL;
}

static const struct json *status_of(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"status.containerStatuses", "status.initContainerStatuses",
                                        "status.ephemeralContainerStatuses"};
    return named(pod, lists, ARRAY_LEN(lists), name);
}

static bool is_init(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"spec.initContainers"};
    return named(pod, lists, 1, name) != NULL;
}

static bool is_ephemeral(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"spec.ephemeralContainers"};
    return named(pod, lists, 1, name) != NULL;
}

static void read_ended(const struct json *terminated, struct loginst_run *run)
{
    run->ended = true;
    run->exit = (int)json_int(terminated, "exitCode", -1);
    str_copy(run->why, sizeof run->why, json_str(terminated, "reason", ""));
    str_copy(run->id, sizeof run->id, json_str(terminated, "containerID", ""));
}

/* A server that names no containers: their number stands for the name. */
static void number(struct loginst_run *run, int64_t restarts)
{
    if (!run->id[0])
        str_fmt(run->id, sizeof run->id, "#%" PRId64, restarts);
}

/* Will it run again? A terminated main or init container, as its pod wants it. */
static bool is_over(const struct json *pod, const char *name, const struct loginst *i)
{
    static const char *const lists[] = {"spec.initContainers", "spec.containers"};
    const char *phase = json_str(pod, "status.phase", "");
    const struct json *own = named(pod, lists, ARRAY_LEN(lists), name);
    bool init = is_init(pod, name);
    const char *policy = json_str(pod, "spec.restartPolicy", "Always");
    if (init && str_eq(policy, "Always"))
        policy = "OnFailure";
    policy = json_str(own, "restartPolicy", policy);
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
        return true;
    if (i->running || !i->now.ended || i->waiting[0])
        return false;
    if (i->leaving || is_ephemeral(pod, name))
        return true;
    return str_eq(policy, "Never") || (str_eq(policy, "OnFailure") && i->now.exit == 0);
}

static void read_waiting(const struct json *state, struct loginst *out)
{
    const char *reason = json_str(state, "waiting.reason", "");
    const char *message = json_str(state, "waiting.message", "");
    if (json_has(state, "waiting"))
        str_fmt(out->waiting, sizeof out->waiting, "%.60s%s%.240s", *reason ? reason : "waiting",
                *message ? ": " : "", message);
}

void loginst_read(const struct json *pod, const char *container, struct loginst *out)
{
    memset(out, 0, sizeof *out);
    const char *name = container ? container : podinfo_container(pod);
    const struct json *c = name ? status_of(pod, name) : NULL;
    const struct json *state = json_get(c, "state"), *last = json_at(c, "lastState.terminated");
    out->leaving = json_has(pod, "metadata.deletionTimestamp");
    out->restarts = json_int(c, "restartCount", 0);
    read_waiting(state, out);
    if (last) {
        read_ended(last, &out->before);
        number(&out->before, out->restarts - 1);
    }
    if (json_has(state, "running")) {
        out->running = true;
        str_copy(out->now.id, sizeof out->now.id, json_str(c, "containerID", ""));
        number(&out->now, out->restarts);
    } else if (json_has(state, "terminated") &&
               (!last || *json_str(state, "terminated.containerID", "x"))) {
        read_ended(json_get(state, "terminated"), &out->now);
        number(&out->now, out->restarts);
    } else if (last) {
        read_ended(last, &out->now);
        number(&out->now, out->restarts);
        memset(&out->before, 0, sizeof out->before);
    }
    out->over = is_over(pod, name ? name : "", out);
}

const struct loginst_run *loginst_find(const struct loginst *i, const char *id)
{
    if (str_eq(i->now.id, id))
        return &i->now;
    return str_eq(i->before.id, id) ? &i->before : NULL;
}

void loginst_containers(const struct json *pod, struct strv *out)
{
    static const char *const lists[] = {"spec.initContainers", "spec.containers",
                                        "spec.ephemeralContainers"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (const struct json *c = json_first(json_at(pod, lists[i])); c; c = json_next(c))
            strv_push(out, json_str(c, "name", ""));
}
