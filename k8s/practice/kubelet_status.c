/* kubelet_status.c - the pod's status as the API shall see it: container
 * states, phase, conditions; written when it changed. */
#include "k8s/practice/kubelet_in.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/practice/crilog.h"

static bool is_sidecar(const struct kctr *c)
{
    return c->init && strcmp(json_str(kubelet_pod_spec(c), "restartPolicy", ""), "Always") == 0;
}

static void put_time(struct json *o, const char *key, int64_t us)
{
    char buf[36];
    if (us)
        json_put_str(o, key, clock_rfc3339(us / 1000000 * 1000000, 0, buf));
    else
        json_set(o, key, json_new_null());
}

/* --- termination message ------------------------------------------------------------- */

enum { MESSAGE_MAX = 4096, FALLBACK_MAX = 2048, FALLBACK_LINES = 80 };

/* The end of the log: at most 80 lines and 2048 bytes. */
static void log_tail(const struct kctr *c, int attempt, struct str *out)
{
    struct str text;
    char *path = kubelet_ctr_log(c->pod, c->name, attempt);
    FILE *f = fopen(path, "re");
    char buf[16384];
    size_t n = 0;
    if (f) {
        if (fseek(f, -(long)sizeof buf, SEEK_END) != 0)
            rewind(f);
        n = fread(buf, 1, sizeof buf, f);
        fclose(f);
    }
    free(path);
    str_init(&text, sizeof buf);
    for (size_t i = 0; i < n;) {
        const char *nl = memchr(buf + i, '\n', n - i);
        size_t len = nl ? (size_t)(nl - buf) - i : n - i;
        struct crilog_record r;
        if (crilog_parse(buf + i, len, &r)) {
            str_append(&text, r.text, r.len);
            if (r.full)
                str_addc(&text, '\n');
        }
        i += len + 1;
    }
    size_t from = text.len > FALLBACK_MAX ? text.len - FALLBACK_MAX : 0, lines = 0;
    for (size_t i = text.len; i-- > from;)
        if (text.p[i] == '\n' && i + 1 < text.len && ++lines == FALLBACK_LINES)
            from = i + 1;
    str_append(out, text.p + from, text.len - from);
    str_release(&text);
}

static char *message_of(const struct kctr *c, const struct shim_state *st, int attempt)
{
    struct pd_err err;
    struct str out;
    const char *policy = json_str(kubelet_pod_spec(c), "terminationMessagePolicy", "File");
    char *path = xasprintf("%s/ctr/%s/%d/termination-log", c->pod->dir, c->name, attempt);
    str_init(&out, 64 << 10);
    if (access(path, R_OK) == 0 && path_read(path, 64 << 10, &out, &err) == PD_OK &&
        out.len > MESSAGE_MAX)
        out.p[out.len = MESSAGE_MAX] = '\0';
    free(path);
    if (!out.len && strcmp(policy, "FallbackToLogsOnError") == 0 && st->exit_code != 0)
        log_tail(c, attempt, &out);
    if (!out.len)
        str_add(&out, st->message);
    return str_take(&out);
}

/* --- container statuses ----------------------------------------------------------------- */

static struct json *terminated(const struct kctr *c, const struct shim_state *st, int attempt)
{
    struct json *outer = json_new_object(), *t = json_new_object();
    char id[80], *message = message_of(c, st, attempt);
    json_put_num(t, "exitCode", st->exit_code);
    json_put_str(t, "reason", st->reason);
    if (*message)
        json_put_str(t, "message", message);
    free(message);
    put_time(t, "startedAt", st->started_us);
    put_time(t, "finishedAt", st->finished_us);
    json_put_str(t, "containerID", kubelet_ctr_id(c->pod, c->name, attempt, id));
    json_set(outer, "terminated", t);
    return outer;
}

/* A start in progress does not count yet. */
static int shown_attempt(const struct kctr *c)
{
    return c->attempt - (c->busy == KCTR_UNPACKING || c->busy == KCTR_STARTING);
}

static struct json *state_of(const struct kctr *c)
{
    struct json *outer = json_new_object(), *s = json_new_object();
    if (c->state == KCTR_EXITED) {      /* still the old one while the next is being made */
        json_free(outer);
        json_free(s);
        return terminated(c, &c->now, shown_attempt(c));
    }
    if (c->state == KCTR_RUNNING) {
        put_time(s, "startedAt", c->now.started_us);
        json_set(outer, "running", s);
        return outer;
    }
    json_put_str(s, "reason", c->reason);
    if (c->message[0])
        json_put_str(s, "message", c->message);
    json_set(outer, "waiting", s);
    return outer;
}

bool kubelet_status_ready(const struct kctr *c)
{
    const struct kprobe *startup = &c->probe[0], *ready = &c->probe[2];
    if (c->init && !is_sidecar(c))
        return c->state == KCTR_EXITED && c->now.exit_code == 0;
    if (c->state != KCTR_RUNNING)
        return false;
    const struct json *spec = kubelet_pod_spec(c);
    if (json_has(spec, "startupProbe") && !startup->ok)
        return false;
    return !json_has(spec, "readinessProbe") || ready->ok;
}

static struct json *container_status(const struct kctr *c)
{
    struct json *s = json_new_object();
    char id[80];
    const char *image = json_str(kubelet_pod_spec(c), "image", "");
    bool startup = json_has(kubelet_pod_spec(c), "startupProbe");
    json_put_str(s, "name", c->name);
    json_set(s, "state", state_of(c));
    bool last = c->has_last && c->last_attempt >= 0 &&
                (c->state != KCTR_EXITED || c->last_attempt < shown_attempt(c));
    json_set(s, "lastState", last ? terminated(c, &c->last, c->last_attempt) : json_new_object());
    json_put_bool(s, "ready", kubelet_status_ready(c));
    int attempt = shown_attempt(c);
    json_put_num(s, "restartCount", MAX(attempt, 0));
    json_put_str(s, "image", image);
    json_put_str(s, "imageID", attempt < 0 ? "" : c->image_id);
    if (attempt >= 0 && (c->state != KCTR_WAITING || c->has_last))
        json_put_str(s, "containerID", kubelet_ctr_id(c->pod, c->name, attempt, id));
    json_put_bool(s, "started", c->state == KCTR_RUNNING && (!startup || c->probe[0].ok));
    return s;
}

/* --- phase -------------------------------------------------------------------------------- */

struct counts {
    int pending_inits, failed_inits, running, waiting, stopped, succeeded;
};

static void count_init(const struct kctr *c, struct counts *n)
{
    if (is_sidecar(c)) {
        n->running += c->state == KCTR_RUNNING;
        n->waiting += c->state == KCTR_WAITING && !c->has_last;
    } else if (c->state == KCTR_EXITED) {
        n->failed_inits += c->now.exit_code != 0;
    } else if (c->state == KCTR_WAITING && c->has_last) {
        n->failed_inits += c->last.exit_code != 0;
    } else {
        n->pending_inits++;
    }
}

static void count_main(const struct kctr *c, struct counts *n)
{
    n->running += c->state == KCTR_RUNNING;
    n->stopped += c->state == KCTR_EXITED || (c->state == KCTR_WAITING && c->has_last);
    n->waiting += c->state == KCTR_WAITING && !c->has_last;
    n->succeeded += c->state == KCTR_EXITED && c->now.exit_code == 0;
}

/* As kubelet_pods.go's getPhase. */
static const char *phase_of(const struct counts *n, const char *policy, bool ending)
{
    if (n->pending_inits || n->failed_inits || n->waiting)
        return ending && n->running == 0 && (n->stopped || n->failed_inits) ? "Failed" : "Pending";
    if (n->running)
        return "Running";
    if (!n->stopped)
        return "Pending";
    if (ending)
        return n->stopped == n->succeeded ? "Succeeded" : "Failed";
    if (strcmp(policy, "Always") == 0)
        return "Running";
    if (n->stopped == n->succeeded)
        return "Succeeded";
    return strcmp(policy, "Never") == 0 ? "Failed" : "Running";
}

const char *kubelet_status_phase(const struct kpod *p)
{
    struct counts n = {0};
    const char *policy = kubelet_pod_policy(p), *old = json_str(p->pod, "status.phase", "");
    if (strcmp(old, "Succeeded") == 0 || strcmp(old, "Failed") == 0)
        return old;
    for (size_t i = 0; i < p->n; i++)
        (p->ctr[i].init ? count_init : count_main)(&p->ctr[i], &n);
    if (p->reject_reason[0] || (n.failed_inits && strcmp(policy, "Never") == 0) ||
        (p->expired && n.running == 0))
        return "Failed";
    return phase_of(&n, policy, p->expired || p->gone || kobj_deleting(p->pod));
}

/* --- conditions ----------------------------------------------------------------------------- */

/* "[a b]" of the containers for which test is false. */
static void list_names(const struct kpod *p, bool init, struct str *out)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct kctr *c = &p->ctr[i];
        bool mine = init ? c->init && !is_sidecar(c) : !c->init || is_sidecar(c);
        if (mine && !kubelet_status_ready(c))
            str_printf(out, "%s%s", out->len ? " " : "", c->name);
    }
}

static void put_ready(struct kpod *p, struct json *o, const char *phase)
{
    static const char *const types[] = {"Ready", "ContainersReady"};
    struct str names;
    char *text;
    str_init(&names, 4096);
    list_names(p, false, &names);
    text = xasprintf("containers with unready status: [%s]", names.p);
    bool failed = strcmp(phase, "Failed") == 0, done = strcmp(phase, "Succeeded") == 0;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (failed || done)
            kobj_condition(o, types[i], "False", failed ? "PodFailed" : "PodCompleted", NULL,
                           false);
        else if (names.len)
            kobj_condition(o, types[i], "False", "ContainersNotReady", text, false);
        else
            kobj_condition(o, types[i], "True", NULL, NULL, false);
    }
    free(text);
    str_release(&names);
}

static void put_initialized(struct kpod *p, struct json *o, const char *phase)
{
    struct str names;
    bool begun = false;
    str_init(&names, 4096);
    list_names(p, true, &names);
    for (size_t i = p->inits; i < p->n; i++)
        begun = begun || p->ctr[i].ever_started;
    char *text = xasprintf("containers with incomplete status: [%s]", names.p);
    if (strcmp(phase, "Succeeded") == 0)
        kobj_condition(o, "Initialized", "True", "PodCompleted", NULL, false);
    else if (names.len && !begun)
        kobj_condition(o, "Initialized", "False", "ContainersNotInitialized", text, false);
    else
        kobj_condition(o, "Initialized", "True", NULL, NULL, false);
    free(text);
    str_release(&names);
}

static bool sandbox_up(const struct kpod *p, const char *phase)
{
    bool any = strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0 && p->volumes_ready;
    for (size_t i = 0; i < p->n; i++)
        any = any || p->ctr[i].state == KCTR_RUNNING;
    return any && !p->reject_reason[0];
}

/* The kubelet's own five first and in its order, others behind. */
static void put_conditions(struct kpod *p, struct json *o, const char *phase)
{
    static const char *const order[] = {"PodReadyToStartContainers", "Initialized", "Ready",
                                        "ContainersReady", "PodScheduled"};
    kobj_condition(o, "PodReadyToStartContainers", sandbox_up(p, phase) ? "True" : "False", NULL,
                   NULL, false);
    put_initialized(p, o, phase);
    put_ready(p, o, phase);
    if (!*kobj_condition_status(o, "PodScheduled"))
        kobj_condition(o, "PodScheduled", "True", NULL, NULL, false);
    struct json *st = kobj_member(o, "status"), *old = json_detach(st, "conditions");
    struct json *list = json_new_array();
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        for (struct json *c = json_first_mut(old); c; c = json_next_mut(c))
            if (strcmp(json_str(c, "type", ""), order[i]) == 0)
                json_append(list, json_copy(c));
    for (struct json *c = json_first_mut(old); c; c = json_next_mut(c)) {
        bool own = false;
        for (size_t i = 0; i < ARRAY_LEN(order); i++)
            own = own || strcmp(json_str(c, "type", ""), order[i]) == 0;
        if (!own)
            json_append(list, json_copy(c));
    }
    json_free(old);
    json_set(st, "conditions", list);
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_addresses(struct kpod *p, struct json *st)
{
    struct json *node = api_get(p->k->api, res_by_plural("", "nodes"), NULL, p->node);
    const char *host = json_str(node, "status.addresses[?type=InternalIP].address", "127.0.0.1");
    struct json *one = json_new_object(), *list = json_new_array();
    json_put_str(st, "hostIP", host);
    json_put_str(one, "ip", host);
    json_append(list, one);
    json_set(st, "hostIPs", list);
    json_free(node);
    if (!p->volumes_ready && !json_has(st, "podIP"))
        return;
    json_put_str(st, "podIP", p->ip);
    one = json_new_object();
    list = json_new_array();
    json_put_str(one, "ip", p->ip);
    json_append(list, one);
    json_set(st, "podIPs", list);
}

static void put_containers(struct kpod *p, struct json *st)
{
    struct json *init = json_new_array(), *main = json_new_array();
    for (size_t i = 0; i < p->n; i++)
        json_append(p->ctr[i].init ? init : main, container_status(&p->ctr[i]));
    if (json_count(init))
        json_set(st, "initContainerStatuses", init);
    else
        json_free(init);
    json_set(st, "containerStatuses", main);
}

void kubelet_status_write(struct kpod *p)
{
    struct json *o = api_get(p->k->api, res_by_plural("", "pods"), p->ns, p->name);
    const char *phase = kubelet_status_phase(p);
    if (!o || strcmp(kobj_uid(o), p->uid) != 0) {
        json_free(o);
        return;
    }
    struct json *st = kobj_member(o, "status"), *before = json_copy(st);
    json_put_str(st, "phase", phase);
    put_time(st, "startTime", p->started_ms * 1000);
    if (p->reject_reason[0]) {
        json_put_str(st, "reason", p->reject_reason);
        json_put_str(st, "message", p->reject_message);
    } else {
        if (p->expired) {
            json_put_str(st, "reason", "DeadlineExceeded");
            json_put_str(st, "message",
                         "Pod was active on the node longer than the specified deadline");
        }
        put_addresses(p, st);
        put_containers(p, st);
        put_conditions(p, o, phase);
    }
    if (!json_equal(before, json_get(o, "status")))
        kobj_write(p->k->api, &kubelet_user, "status", o, NULL, 0);
    json_free(before);
    json_free(o);
}
