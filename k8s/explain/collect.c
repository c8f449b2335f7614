/* collect.c - a snapshot of a live cluster (collect.h). */
#include "k8s/explain/collect.h"

#include "core/base/i18n.h"
#include "k8s/client.h"
#include "k8s/explain/explain.h"

enum { LOG_LINES = 400, LOG_CEILING = 1 << 20, TIMEOUT_MS = 15000, LIST_CEILING = 256 << 20 };

/* One request at a time; the loop stops at its end. */
struct collect {
    struct loop *loop;
    struct k8s *k;
    struct snapshot *s;
    int status;
    struct json *object; /* of the last answer, owned */
    struct pd_err err;
    char *text; /* of the last log, owned */
};

static void on_object(void *arg, int status, const struct json *object, const struct pd_err *err)
{
    struct collect *c = arg;
    c->status = status;
    c->object = err ? NULL : json_copy(object);
    if (err)
        c->err = *err;
    loop_stop(c->loop, 0);
}

static void on_late(void *arg)
{
    struct collect *c = arg;
    pd_fail(&c->err, PD_TIMEOUT, _("the cluster did not answer within %d s"), TIMEOUT_MS / 1000);
    loop_stop(c->loop, 1);
}

static struct json *get(struct collect *c, const char *path)
{
    c->object = NULL;
    c->status = 0;
    struct k8s_call *call = k8s_request(c->k, "GET", path, NULL, NULL, on_object, c);
    uint32_t timer = loop_timer(c->loop, TIMEOUT_MS, on_late, c, "collect");
    if (loop_run(c->loop) != 0)
        k8s_cancel(call);
    loop_timer_cancel(c->loop, timer);
    return c->object;
}

/* --- the log --------------------------------------------------------------------------- */
static void on_log(void *arg, const struct http_response *r)
{
    struct collect *c = arg;
    c->status = r->status;
    if (r->status == 200)
        c->text = xstrndup(r->body, r->body_len);
    loop_stop(c->loop, 0);
}

static bool get_log(struct collect *c, const char *ns, const char *pod, const char *container,
                    bool previous)
{
    char path[1024];
    str_fmt(path, sizeof path,
            "/api/v1/namespaces/%s/pods/%s/log?container=%s&tailLines=%d%s&limitBytes=%d", ns, pod,
            container, LOG_LINES, previous ? "&previous=true" : "", LOG_CEILING);
    struct http_request q = {.method = "GET",
                             .path = path,
                             .accept = "*/*",
                             .ceiling = LOG_CEILING + 4096,
                             .timeout_ms = TIMEOUT_MS,
                             .done = on_log,
                             .arg = c};
    c->text = NULL;
    http_start(c->loop, k8s_target(c->k), &q);
    loop_run(c->loop);
    return c->text != NULL;
}

static void read_log(struct collect *c, const struct json *pod)
{
    bool previous;
    const char *ns = json_str(pod, "metadata.namespace", ""),
               *name = json_str(pod, "metadata.name", "");
    const char *container = explain_container(pod, &previous);
    char file[300];
    if (!container || !(get_log(c, ns, name, container, previous) ||
                        (previous && get_log(c, ns, name, container, false))))
        return;
    snapshot_log(c->s, c->text,
                 str_fmt(file, sizeof file, "log of pod/%s -c %s%s", name, container,
                         previous ? " --previous" : ""));
    free(c->text);
    c->text = NULL;
}

/* --- the lists -------------------------------------------------------------------------- */
static const struct {
    enum snap list;
    const char *path; /* %s: the namespace; without: of the cluster */
} lists[] = {
    {SNAP_EVENTS, "/api/v1/namespaces/%s/events"},
    {SNAP_NODES, "/api/v1/nodes"},
    {SNAP_PODS, "/api/v1/pods"},
    {SNAP_PVCS, "/api/v1/namespaces/%s/persistentvolumeclaims"},
    {SNAP_PVS, "/api/v1/persistentvolumes"},
    {SNAP_CLASSES, "/apis/storage.k8s.io/v1/storageclasses"},
    {SNAP_SECRETS, "/api/v1/namespaces/%s/secrets"},
    {SNAP_QUOTAS, "/api/v1/namespaces/%s/resourcequotas"},
    {SNAP_LIMITS, "/api/v1/namespaces/%s/limitranges"},
    {SNAP_SERVICES, "/api/v1/namespaces/%s/services"},
};

static void take(struct collect *c, enum snap list, struct json *answer)
{
    struct json *items = json_get_mut(answer, "items");
    snapshot_known(c->s, list, false);
    while (json_count(items) > 0)
        snapshot_take(c->s, list, json_detach_item(items, 0));
    json_free(answer);
}

static void read_lists(struct collect *c, const char *ns)
{
    char path[400];
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        str_fmt(path, sizeof path, "%.*s", (int)sizeof path - 1, lists[i].path);
        const char *at = strstr(lists[i].path, "%s");
        if (at)
            str_fmt(path, sizeof path, "%.*s%s%s", (int)(at - lists[i].path), lists[i].path, ns,
                    at + 2);
        struct json *answer = get(c, path);
        if (!answer && lists[i].list == SNAP_PODS) { /* what this namespace shows, at least */
            str_fmt(path, sizeof path, "/api/v1/namespaces/%s/pods", ns);
            answer = get(c, path);
        }
        if (answer)
            take(c, lists[i].list, answer);
        else if (c->status == 403)
            snapshot_known(c->s, lists[i].list, true);
    }
}

static const struct json *newest_pod_of(const struct snapshot *s, const char *job)
{
    const struct json *best = NULL;
    const struct snap_list *l = &s->list[SNAP_PODS];
    for (size_t i = 0; i < l->n; i++) {
        const struct json *p = l->v[i].o;
        if (str_eq(json_str(p, "metadata.ownerReferences[?kind=Job].name", ""), job) &&
            (!best || strcmp(json_str(p, "metadata.creationTimestamp", ""),
                             json_str(best, "metadata.creationTimestamp", "")) >= 0))
            best = p;
    }
    return best;
}

static enum pd_code run(struct collect *c, const char *ns, const char *kind, const char *name,
                        struct pd_err *err)
{
    char path[400], file[300];
    bool job = str_eq(kind, "job");
    str_fmt(path, sizeof path,
            job ? "/apis/batch/v1/namespaces/%s/jobs/%s" : "/api/v1/namespaces/%s/pods/%s", ns,
            name);
    struct json *object = get(c, path);
    if (!object) {
        *err = c->err;
        return err->code;
    }
    json_put_str(object, "kind", job ? "Job" : "Pod");
    snapshot_add(c->s, object, str_fmt(file, sizeof file, "%s/%s", kind, name));
    read_lists(c, ns);
    const struct json *pod = job ? newest_pod_of(c->s, name) : c->s->object;
    if (pod)
        read_log(c, pod);
    return PD_OK;
}

enum pd_code collect(const struct kube_context *ctx, const char *kind, const char *name,
                     struct snapshot *out, struct pd_err *err)
{
    struct collect c = {.loop = loop_new(), .s = out};
    struct k8s_hooks hooks = {0};
    pd_fail(&c.err, PD_NET, _("the server can't be reached"));
    c.k = k8s_open(c.loop, ctx, 1, &hooks);
    enum pd_code rc = run(&c, ctx->ns, kind, name, err);
    k8s_close(c.k);
    loop_free(c.loop);
    return rc;
}
