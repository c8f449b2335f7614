/* sched_pods.c - pods that keep another pod from their node (sched_pods.h). */
#include "k8s/explain/sched_pods.h"

#include "k8s/explain/fit.h"

static bool holds_port(const struct json *pod, int64_t port)
{
    struct dx_ctr c;
    for (int i = 0; dx_container(pod, i, &c); i++)
        for (const struct json *p = json_first(json_get(c.spec, "ports")); p; p = json_next(p))
            if (json_int(p, "hostPort", 0) == port)
                return true;
    return false;
}

static void cite_wait(struct dx *d)
{
    dx_cite(d, "status.conditions[?type=PodScheduled].message");
    dx_cite_event(d, dx_event(d, "FailedScheduling", ""));
}

/* Every pod that stands on a node and holds it. */
static void port_holders(struct dx *d, int64_t port)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    for (size_t i = 0; i < l->n; i++) {
        const char *node = json_str(l->v[i].o, "spec.nodeName", "");
        if (!node[0] || fit_ended(l->v[i].o) || !holds_port(l->v[i].o, port))
            continue;
        dx_line(d, _("%s/%s holds the host port %d on %s."),
                json_str(l->v[i].o, "metadata.namespace", ""),
                json_str(l->v[i].o, "metadata.name", ""), (int)port, node);
        dx_cite_item(d, &l->v[i], "spec.containers[0].ports[0].hostPort");
    }
}

bool sched_host_port(struct dx *d, const char *message)
{
    struct dx_ctr c;
    if (!strstr(message, "free ports"))
        return false;
    for (int i = 0; dx_container(d->o, i, &c); i++) {
        int at = 0;
        for (const struct json *p = json_first(json_get(c.spec, "ports")); p;
             p = json_next(p), at++) {
            int64_t port = json_int(p, "hostPort", 0);
            if (port == 0)
                continue;
            dx_found(d, "host-port-conflict", W_ROOT, SURE_CERTAIN,
                     _("The pod wants the host port %d, and on every node that could take it that "
                       "port is taken."),
                     (int)port);
            dx_cite(d, "%s.ports[%d].hostPort", c.at_spec, at);
            port_holders(d, port);
            cite_wait(d);
            dx_fix(d, "%s",
                   _("Leave hostPort away and use a Service (or kubectl port-forward), or take "
                     "another port."));
            return true;
        }
    }
    return false;
}

bool sched_kept_away(struct dx *d, const char *message)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    if (!strstr(message, "existing pods anti-affinity"))
        return false;
    dx_found(d, "pod-anti-affinity", W_ROOT, SURE_CERTAIN, "%s",
             _("Pods that run already do not want this one beside them (their anti-affinity "
               "selects its labels)."));
    for (size_t i = 0; i < l->n; i++) {
        const char *path = "spec.affinity.podAntiAffinity."
                           "requiredDuringSchedulingIgnoredDuringExecution";
        int at = 0;
        for (const struct json *t = json_first(json_at(l->v[i].o, path)); t;
             t = json_next(t), at++) {
            const char *node = json_str(l->v[i].o, "spec.nodeName", "");
            if (!node[0] || fit_ended(l->v[i].o) ||
                !fit_labels(json_get(t, "labelSelector"), json_at(d->o, "metadata.labels")))
                continue;
            dx_line(d, _("%s keeps it away (it runs on %s)."),
                    json_str(l->v[i].o, "metadata.name", ""), node);
            dx_cite_item(d, &l->v[i], "%s[%d].labelSelector", path, at);
        }
    }
    dx_cite(d, "metadata.labels");
    cite_wait(d);
    dx_fix(d, "%s",
           _("Wait until those pods have ended, or give this one labels that they do not "
             "select."));
    return true;
}
