/* kubelet_admit.c - does the node have what the pod needs? And which of its
 * (simulated) devices the pod gets. */
#include "k8s/practice/kubelet_in.h"

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/practice/sched_filter.h"

struct others {
    struct kpod *p;
    struct sched_node node;
};

static void count(void *arg, const struct json *pod)
{
    struct others *o = arg;
    if (strcmp(json_str(pod, "spec.nodeName", ""), o->p->node) == 0 && !kobj_terminal(pod) &&
        strcmp(kobj_uid(pod), o->p->uid) != 0 && json_has(pod, "status.startTime"))
        sched_node_add(&o->node, pod);
}

static void reject(struct kpod *p, const char *reason, const char *message)
{
    str_copy(p->reject_reason, sizeof p->reject_reason, reason);
    str_fmt(p->reject_message, sizeof p->reject_message, "Pod was rejected: %s", message);
}

static void reject_resource(struct kpod *p, const struct sched_node *n, const char *reason)
{
    struct sched_amounts want = {0};
    char name[160], why[32 + sizeof name], text[400];
    bool pods = strcmp(reason, "Too many pods") == 0;
    str_copy(name, sizeof name, pods ? "pods" : reason + strlen("Insufficient "));
    sched_amounts_pod(p->pod, &want);
    str_fmt(why, sizeof why, "OutOf%s", name);
    str_fmt(text, sizeof text,
            "Node didn't have enough resource: %s, requested: %" PRId64 ", used: %" PRId64
            ", capacity: %" PRId64,
            name, pods ? 1 : sched_amounts_get(&want, name),
            pods ? n->pods : sched_amounts_get(&n->used, name),
            sched_amounts_get(&n->alloc, name));
    reject(p, why, text);
    sched_amounts_release(&want);
}

/* Is device i of `resource` held by another pod of this node? */
static bool taken(const struct kpod *p, const char *resource, int i)
{
    char want[16];
    str_fmt(want, sizeof want, "%d", i);
    for (const struct kpod *o = p->k->pods; o; o = o->next)
        for (size_t d = 0; d < o->devices.n && o != p && strcmp(o->node, p->node) == 0; d++) {
            struct strv part;
            strv_init(&part);
            strv_split(&part, o->devices.v[d], ' ');
            bool hit = strcmp(part.v[0], resource) == 0 && strv_has(&part, want) &&
                       !kobj_terminal(o->pod);
            strv_release(&part);
            if (hit)
                return true;
        }
    return false;
}

/* "habana.ai/gaudi 0 1": the lowest free ones. */
static bool allocate(struct kpod *p, const char *resource, int64_t n, int64_t capacity)
{
    struct str line;
    str_init(&line, 4096);
    str_add(&line, resource);
    int64_t got = 0;
    for (int i = 0; i < capacity && got < n; i++)
        if (!taken(p, resource, i)) {
            str_printf(&line, " %d", i);
            got++;
        }
    if (got == n)
        strv_push(&p->devices, line.p);
    else
        reject(p, "UnexpectedAdmissionError",
               "Allocate failed due to requested number of devices unavailable, which is "
               "unexpected");
    str_release(&line);
    return got == n;
}

static bool allocate_all(struct kpod *p, const struct sched_node *n)
{
    struct sched_amounts want = {0};
    struct pd_err err;
    struct str text;
    bool ok = true;
    sched_amounts_pod(p->pod, &want);
    str_init(&text, 64 << 10);
    for (size_t i = 0; i < want.n && ok; i++)
        if (strchr(want.v[i].name, '/') && want.v[i].v > 0)
            ok = allocate(p, want.v[i].name, want.v[i].v,
                          sched_amounts_get(&n->alloc, want.v[i].name));
    for (size_t i = 0; i < p->devices.n; i++)
        str_printf(&text, "%s\n", p->devices.v[i]);
    if (ok && text.len && path_mkdirs(p->dir, 0700, &err) == PD_OK) {
        char *path = path_join(p->dir, "devices");
        if (shim_file(path, 0600, text.p, text.len, &err) != PD_OK) {
            reject(p, "UnexpectedAdmissionError", err.msg);
            ok = false;
        }
        free(path);
    }
    str_release(&text);
    sched_amounts_release(&want);
    return ok;
}

bool kubelet_admit(struct kpod *p)
{
    struct json *node = api_get(p->k->api, res_by_plural("", "nodes"), NULL, p->node);
    struct others o = {.p = p};
    struct strv reasons;
    strv_init(&reasons);
    sched_node_init(&o.node, node);
    api_each(p->k->api, res_by_plural("", "pods"), NULL, count, &o);
    bool ok = sched_fits(p->pod, &o.node, &reasons);
    if (!ok)
        reject_resource(p, &o.node, reasons.v[0]);
    else
        ok = allocate_all(p, &o.node);
    sched_node_release(&o.node);
    strv_release(&reasons);
    json_free(node);
    return ok;
}
