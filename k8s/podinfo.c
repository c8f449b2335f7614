/* podinfo.c - a pod in one row (podinfo.h). The words are those of kubectl's
 * STATUS column. */
#include "k8s/podinfo.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "k8s/accel.h"

const char *podinfo_signal(int64_t code)
{
    static const struct { int64_t code; const char *name; } table[] = {
        {129, "SIGHUP"},  {130, "SIGINT"},  {131, "SIGQUIT"}, {132, "SIGILL"}, {134, "SIGABRT"},
        {135, "SIGBUS"},  {136, "SIGFPE"},  {137, "SIGKILL"}, {139, "SIGSEGV"},
        {141, "SIGPIPE"}, {143, "SIGTERM"}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (table[i].code == code)
            return table[i].name;
    return "";
}

const char *podinfo_short_resource(const char *resource)
{
    const char *slash = strchr(resource, '/');
    return slash ? slash + 1 : resource;
}

/* Of an ended container: its reason, else the signal or the exit code. */
static void ended_word(const struct json *end, const char *before, char word[64])
{
    const char *reason = json_str(end, "reason", "");
    int64_t sig = json_int(end, "signal", 0);
    if (*reason)
        str_fmt(word, 64, "%s%s", before, reason);
    else if (sig)
        str_fmt(word, 64, "%sSignal:%" PRId64, before, sig);
    else
        str_fmt(word, 64, "%sExitCode:%" PRId64, before, json_int(end, "exitCode", 0));
}

static bool is_sidecar(const struct json *pod, const char *name)
{
    for (const struct json *c = json_first(json_at(pod, "spec.initContainers")); c;
         c = json_next(c))
        if (str_eq(json_str(c, "name", ""), name))
            return str_eq(json_str(c, "restartPolicy", ""), "Always");
    return false;
}

/* The init phase, while it lasts: true. */
static bool init_word(const struct json *pod, char word[64])
{
    size_t i = 0, n = json_count(json_at(pod, "spec.initContainers"));
    const struct json *list = json_at(pod, "status.initContainerStatuses");
    for (const struct json *c = json_first(list); c; c = json_next(c), i++) {
        const struct json *end = json_at(c, "state.terminated");
        const char *wait = json_str(c, "state.waiting.reason", "");
        if (end && json_int(end, "exitCode", 0) == 0)
            continue;
        if (is_sidecar(pod, json_str(c, "name", "")) && json_bool(c, "started", false))
            continue;
        if (end)
            ended_word(end, "Init:", word);
        else if (*wait && !str_eq(wait, "PodInitializing"))
            str_fmt(word, 64, "Init:%s", wait);
        else
            str_fmt(word, 64, "Init:%zu/%zu", i, n);
        return true;
    }
    return false;
}

static void container_word(const struct json *pod, char word[64])
{
    const struct json *list = json_at(pod, "status.containerStatuses");
    bool running = false;
    for (int i = (int)json_count(list) - 1; i >= 0; i--) {
        const struct json *c = json_item(list, i);
        const char *wait = json_str(c, "state.waiting.reason", "");
        const struct json *end = json_at(c, "state.terminated");
        running = running || (json_has(c, "state.running") && json_bool(c, "ready", false));
        if (*wait)
            str_copy(word, 64, wait);
        else if (end)
            ended_word(end, "", word);
    }
    if (running && str_eq(word, "Completed"))
        str_copy(word, 64, "Running");
}

static void status_word(const struct json *pod, char word[64])
{
    const char *why = json_str(pod, "status.conditions[?type=PodScheduled].reason", "");
    str_copy(word, 64, json_str(pod, "status.reason", json_str(pod, "status.phase", "Unknown")));
    if (str_eq(why, "SchedulingGated"))
        str_copy(word, 64, why);
    if (!init_word(pod, word))
        container_word(pod, word);
    if (json_has(pod, "metadata.deletionTimestamp"))
        str_copy(word, 64, str_eq(json_str(pod, "status.reason", ""), "NodeLost") ? "Unknown"
                                                                                   : "Terminating");
}

static void count(const struct json *pod, struct podinfo *out)
{
    static const char *const lists[] = {"status.containerStatuses", "status.initContainerStatuses"};
    out->all = (int)json_count(json_at(pod, "spec.containers"));
    for (int k = 0; k < 2; k++)
        for (const struct json *c = json_first(json_at(pod, lists[k])); c; c = json_next(c)) {
            bool sidecar = k == 1 && is_sidecar(pod, json_str(c, "name", ""));
            out->all += sidecar;
            if (k == 0 || sidecar)
                out->ready += json_bool(c, "ready", false);
            out->restarts += (int)json_int(c, "restartCount", 0);
        }
    if (out->all == 0)
        out->all = (int)json_count(json_at(pod, lists[0]));
}

static void add_hw(char hw[64], const char *resource, double n)
{
    size_t have = strlen(hw);
    snprintf(hw + have, 64 - have, "%s%s %g", have ? "," : "", podinfo_short_resource(resource), n);
}

/* Extended resources by name; a pod that asks for none, by its cores. */
static void devices(const struct json *pod, char hw[64])
{
    static const char *const parts[] = {"resources.limits", "resources.requests"};
    const struct json *seen = NULL;
    for (const struct json *c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c))
        for (size_t k = 0; k < 2; k++)
            for (const struct json *q = json_first(json_at(c, parts[k])); q; q = json_next(q)) {
                struct accel_vendor v = {json_key(q), "", "", false, NULL};
                char word[64];
                if (!strchr(v.resource, '/') || strstr(v.resource, "kubernetes.io/"))
                    continue;
                str_fmt(word, sizeof word, "%s ", podinfo_short_resource(v.resource));
                int64_t n = strstr(hw, word) ? 0 : accel_pod_request(&v, pod);
                if (n > 0)
                    add_hw(hw, v.resource, (double)n);
                seen = q;
            }
    int64_t milli = seen ? 0 : accel_pod_request(accel_by_resource("cpu"), pod);
    if (milli > 0)
        add_hw(hw, "cpu", (double)milli / 1000);
}

void podinfo_names(const struct json *pod, struct podinfo *out)
{
    int64_t us;
    memset(out, 0, sizeof *out);
    out->pod = pod;
    out->name = json_str(pod, "metadata.name", "?");
    out->ns = json_str(pod, "metadata.namespace", "");
    out->uid = json_str(pod, "metadata.uid", out->name);
    out->node = json_str(pod, "spec.nodeName", "");
    if (clock_parse_rfc3339(json_str(pod, "metadata.creationTimestamp", ""), &us))
        out->created_ms = us / 1000;
}

void podinfo_complete(struct podinfo *p)
{
    const char *phase = json_str(p->pod, "status.phase", "");
    if (p->whole)
        return;
    p->over = str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
    status_word(p->pod, p->status);
    count(p->pod, p);
    devices(p->pod, p->hw);
    p->whole = true;
}

void podinfo_read(const struct json *pod, struct podinfo *out)
{
    podinfo_names(pod, out);
    podinfo_complete(out);
}

static const struct json *spec_of(const struct json *pod, const char *name)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers"};
    for (size_t k = 0; k < 2; k++)
        for (const struct json *c = json_first(json_at(pod, lists[k])); c; c = json_next(c))
            if (str_eq(json_str(c, "name", ""), name))
                return c;
    return NULL;
}

static void exit_cause(const struct json *pod, const struct json *c, const struct json *end,
                       char *buf, size_t size)
{
    int64_t code = json_int(end, "exitCode", 0);
    const char *reason = json_str(end, "reason", ""), *sig = podinfo_signal(code);
    const char *limit = json_str(spec_of(pod, json_str(c, "name", "")), "resources.limits.memory",
                                 "");
    if (str_eq(reason, "OOMKilled") && *limit)
        str_fmt(buf, size, _("exit %" PRId64 " OOMKilled, memory limit %s"), code, limit);
    else if (str_eq(reason, "Error") || !*reason || str_eq(reason, "Completed"))
        str_fmt(buf, size, *sig ? _("exit %" PRId64 " (%s)") : _("exit %" PRId64), code, sig);
    else
        str_fmt(buf, size, _("exit %" PRId64 " %s"), code, reason);
}

char *podinfo_cause(const struct json *pod, char *buf, size_t size)
{
    static const char *const lists[] = {"status.initContainerStatuses", "status.containerStatuses"};
    const struct json *sched = json_at(pod, "status.conditions[?type=PodScheduled]");
    buf[0] = '\0';
    for (size_t k = 0; k < 2; k++)
        for (const struct json *c = json_first(json_at(pod, lists[k])); c; c = json_next(c)) {
            const struct json *end = json_at(c, "state.terminated");
            const char *said = json_str(c, "state.waiting.message", "");
            if (!end && json_has(c, "state.waiting"))
                end = json_at(c, "lastState.terminated");
            if (end && json_int(end, "exitCode", 0) != 0) {
                exit_cause(pod, c, end, buf, size);
                return buf;
            }
            if (*said)
                return str_copy(buf, size, said);
        }
    if (str_eq(json_str(pod, "status.phase", ""), "Failed"))
        return str_copy(buf, size, json_str(pod, "status.message", ""));
    if (str_eq(json_str(sched, "status", ""), "False"))
        str_copy(buf, size, json_str(sched, "message", ""));
    return buf;
}

const char *podinfo_container(const struct json *pod)
{
    static const char annotation[] = "kubectl.kubernetes.io/default-container";
    const struct json *all = json_at(pod, "metadata.annotations");
    const char *name = json_string_value(json_get(all, annotation));
    return name && spec_of(pod, name) ? name : json_str(pod, "spec.containers[0].name", NULL);
}

const char *podinfo_owner(const struct json *pod, const char *kind)
{
    for (const struct json *o = json_first(json_at(pod, "metadata.ownerReferences")); o;
         o = json_next(o))
        if (str_eq(json_str(o, "kind", ""), kind))
            return json_str(o, "uid", "");
    return "";
}
