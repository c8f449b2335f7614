/* explain_schedule.c - a pod that no node takes: the constraint that leaves no
 * node, computed over the nodes; the scheduler's words only where nodes are not
 * known (dx.h). */
#include "k8s/explain/dx.h"
#include "k8s/explain/fit.h"
#include "k8s/explain/sched_names.h"
#include "k8s/explain/sched_pods.h"

#define SCHEDULED "status.conditions[?type=PodScheduled]"

/* --- per node --------------------------------------------------------------------- */
static const char *taint_text(struct dx *d, const struct json *t)
{
    const char *value = json_str(t, "value", "");
    return dx_say(d, "%s%s%s:%s", json_str(t, "key", ""), value[0] ? "=" : "", value,
                  json_str(t, "effect", ""));
}

static const char *short_text(struct dx *d, const struct fit *f, const struct fit_node *n)
{
    const struct fit_ask *a = &f->ask[n->short_of];
    char asked[48], total[48], used[48], left[48];
    fit_amount(a->resource, a->milli, asked);
    fit_amount(a->resource, n->allocatable, total);
    fit_amount(a->resource, n->used, used);
    fit_amount(a->resource, MAX(n->allocatable - n->used, 0), left);
    if (n->allocatable == 0)
        return dx_say(d, _("offers no %s"), a->resource);
    if (a->milli > n->allocatable)
        return dx_say(d, _("%s: asked %s, the node has %s in all"), a->resource, asked, total);
    return dx_say(d, _("%s: asked %s, free %s (%s of %s in use)"), a->resource, asked, left, used,
                  total);
}

static const char *node_text(struct dx *d, const struct fit *f, const struct fit_node *n)
{
    if (!n->ready)
        return _("not Ready");
    if (!n->schedulable)
        return _("cordoned (spec.unschedulable)");
    if (!n->selected)
        return _("does not match nodeSelector or node affinity");
    if (n->short_of >= 0 && !n->ever)
        return short_text(d, f, n);
    if (!n->tolerated)
        return dx_say(d, _("untolerated taint %s"), taint_text(d, n->taint));
    if (!n->beside)
        return _("does not satisfy pod affinity");
    if (n->short_of >= 0)
        return short_text(d, f, n);
    return _("could take it");
}

static void every_node(struct dx *d, const struct fit *f)
{
    for (size_t i = 0; i < f->nodes && i < 8; i++)
        dx_line(d, "%s: %s", f->node[i].name, node_text(d, f, &f->node[i]));
    if (f->nodes > 8)
        dx_line(d, _("… and %zu more nodes"), f->nodes - 8);
}

static void cite_asks(struct dx *d, const char *resource)
{
    struct dx_ctr c;
    for (int i = 0; dx_container(d->o, i, &c); i++) {
        const char *m = dx_member(d, resource);
        const struct json *limits = json_at(c.spec, "resources.limits");
        dx_cite(d, "%s.resources.%s%s", c.at_spec,
                json_get(limits, resource) ? "limits" : "requests", m);
    }
}

static void cite_nodes(struct dx *d, const struct fit *f, const char *resource)
{
    for (size_t i = 0; i < f->nodes && i < 4; i++)
        dx_cite_item(d, f->node[i].item, "status.allocatable%s", dx_member(d, resource));
}

static void cite_message(struct dx *d)
{
    dx_cite(d, SCHEDULED ".message");
    dx_cite_event(d, dx_event(d, "FailedScheduling", ""));
}

/* --- a resource that no node offers ------------------------------------------------- */
/* The name is one that nodes offer, nearly: vendor renamed, a MIG slice, a typo. */
static bool near_name(struct dx *d, const struct fit *f, const struct fit_ask *a)
{
    for (size_t i = 0; i < f->nodes; i++) {
        const struct snap_item *n = f->node[i].item;
        for (const struct json *r = json_first(json_at(n->o, "status.allocatable")); r;
             r = json_next(r)) {
            const char *offered = json_key(r);
            int64_t amount = fit_quantity(json_at(n->o, "status.allocatable"), offered);
            const struct sched_name *why = amount > 0 ? sched_names(a->resource, offered) : NULL;
            if (!why)
                continue;
            dx_found(d, why->cause, W_ROOT, SURE_CERTAIN, "%s",
                     dx_fill(d, why->text, a->resource, f->node[i].name, offered));
            dx_cite_item(d, n, "metadata.labels['nvidia.com/mig.strategy']");
            dx_cite_item(d, n, "status.allocatable%s", dx_member(d, a->resource));
            dx_cite_item(d, n, "status.allocatable%s", dx_member(d, offered));
            cite_asks(d, a->resource);
            cite_message(d);
            dx_fix(d, "%s", dx_fill(d, why->fix, offered, "", ""));
            return true;
        }
    }
    return false;
}

/* The node's hardware, by the labels that discovery puts there. */
static const char *hardware_label(const struct json *node, const char *resource)
{
    static const struct {
        const char *vendor, *label;
    } known[] = {{"nvidia.com/", "nvidia.com/gpu.present"},
                 {"nvidia.com/", "nvidia.com/gpu.product"},
                 {"nvidia.com/", "feature.node.kubernetes.io/pci-10de.present"},
                 {"nvidia.com/", "feature.node.kubernetes.io/pci-0302_10de.present"},
                 {"habana.ai/", "habana.ai/device.family"},
                 {"habana.ai/", "habana.ai/device.name"},
                 {"habana.ai/", "feature.node.kubernetes.io/pci-1200_1da3.present"},
                 {"habana.ai/", "feature.node.kubernetes.io/pci-1da3.present"},
                 {"gpu.intel.com/", "feature.node.kubernetes.io/pci-0300_8086.present"}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_starts(resource, known[i].vendor) &&
            json_get(json_at(node, "metadata.labels"), known[i].label))
            return known[i].label;
    return NULL;
}

static void plugin_fix(struct dx *d, const char *resource)
{
    const struct sched_plugin *p = sched_plugin_of(resource);
    if (p) {
        dx_fix(d,
               _("See whether the device plugin runs on that node and what its log says: DaemonSet "
                 "%s in namespace %s."),
               p->daemonset, p->ns);
        dx_command(d, "kubectl -n %s get daemonset,pods -o wide", p->ns);
    } else {
        dx_fix(d, _("See whether the plugin that announces %s runs on the nodes."), resource);
        dx_command(d, "kubectl get daemonsets -A");
    }
}

static void not_offered(struct dx *d, const struct fit *f, const struct fit_ask *a)
{
    for (size_t i = 0; i < f->nodes; i++) {
        const struct snap_item *n = f->node[i].item;
        const char *label = hardware_label(n->o, a->resource);
        int64_t capacity = fit_quantity(json_at(n->o, "status.capacity"), a->resource);
        if (capacity > 0) {
            char amount[48];
            dx_found(d, "device-unhealthy", W_ROOT, SURE_CERTAIN,
                     _("Node %s has %s of %s by capacity, but 0 allocatable: the device plugin "
                       "calls "
                       "its devices unhealthy or has gone."),
                     f->node[i].name, fit_amount(a->resource, capacity, amount), a->resource);
            dx_cite_item(d, n, "status.capacity%s", dx_member(d, a->resource));
        } else if (label) {
            dx_found(d, "device-plugin-missing", W_ROOT, SURE_CERTAIN,
                     _("Node %s has the hardware (label %s), but nothing announces %s there: its "
                       "device plugin does not run."),
                     f->node[i].name, label, a->resource);
            dx_cite_item(d, n, "metadata.labels%s", dx_member(d, label));
        } else {
            continue;
        }
        dx_cite_item(d, n, "status.allocatable%s", dx_member(d, a->resource));
        cite_asks(d, a->resource);
        cite_message(d);
        plugin_fix(d, a->resource);
        return;
    }
    dx_found(d, "device-plugin-missing", W_ROOT, SURE_LIKELY,
             _("No node offers %s: none of %zu nodes announces it. Either its device plugin does "
               "not "
               "run, or no node has such a device."),
             a->resource, f->nodes);
    dx_cite_item(d, f->nodes ? f->node[0].item : NULL, "status.allocatable");
    cite_asks(d, a->resource);
    cite_message(d);
    plugin_fix(d, a->resource);
    dx_fix(d, "%s", _("If the cluster has no such hardware, ask for what its nodes offer."));
}

/* --- the constraint that leaves no node ----------------------------------------------- */
typedef bool keeps(const struct fit_node *n);
static bool ready_of(const struct fit_node *n)
{
    return n->ready;
}
static bool ever_of(const struct fit_node *n)
{
    return n->ever;
}
static bool selected_of(const struct fit_node *n)
{
    return n->selected;
}
static bool schedulable_of(const struct fit_node *n)
{
    return n->schedulable;
}
static bool tolerated_of(const struct fit_node *n)
{
    return n->tolerated;
}
static bool beside_of(const struct fit_node *n)
{
    return n->beside;
}
static bool now_of(const struct fit_node *n)
{
    return n->now;
}

static size_t count(const struct fit *f, keeps *a)
{
    size_t n = 0;
    for (size_t i = 0; i < f->nodes; i++)
        n += a(&f->node[i]);
    return n;
}

/* It would fit, were all the node's devices well. */
static bool devices_lost(struct dx *d, const struct fit *f, const struct fit_ask *a)
{
    for (size_t i = 0; i < f->nodes && fit_extended(a->resource); i++) {
        const struct snap_item *n = f->node[i].item;
        int64_t all = fit_quantity(json_at(n->o, "status.capacity"), a->resource);
        int64_t well = fit_quantity(json_at(n->o, "status.allocatable"), a->resource);
        char asked[48], has[48], left[48];
        if (all < a->milli || well >= a->milli)
            continue;
        dx_found(d, "device-unhealthy", W_ROOT, SURE_CERTAIN,
                 _("The pod asks for %s of %s; node %s has %s by capacity, but only %s "
                   "allocatable: the device plugin calls the others unhealthy."),
                 fit_amount(a->resource, a->milli, asked), a->resource, f->node[i].name,
                 fit_amount(a->resource, all, has),
                 fit_amount(a->resource, MAX(well, 0), left));
        dx_cite_item(d, n, "status.capacity%s", dx_member(d, a->resource));
        dx_cite_item(d, n, "status.allocatable%s", dx_member(d, a->resource));
        cite_asks(d, a->resource);
        cite_message(d);
        plugin_fix(d, a->resource);
        dx_fix(d, _("Until the device is well again, ask for at most %s."), left);
        return true;
    }
    return false;
}

static void too_large(struct dx *d, const struct fit *f)
{
    const struct fit_node *best = &f->node[0];
    for (size_t i = 1; i < f->nodes; i++) /* the node that comes nearest */
        if (f->node[i].short_of >= 0 && f->node[i].offers &&
            (!best->offers || f->node[i].allocatable > best->allocatable))
            best = &f->node[i];
    const struct fit_ask *a = &f->ask[MAX(best->short_of, 0)];
    char asked[48], has[48];
    if (devices_lost(d, f, a))
        return;
    fit_amount(a->resource, a->milli, asked);
    fit_amount(a->resource, best->allocatable, has);
    dx_found(d, "request-exceeds-node", W_ROOT, SURE_CERTAIN,
             _("The pod asks for %s of %s; the largest node (%s) has %s: it can never fit."), asked,
             a->resource, best->name, has);
    if (a->containers > 1)
        dx_line(d,
                _("The scheduler adds up all containers: %d containers of this pod ask for %s, "
                  "%s together."),
                a->containers, a->resource, asked);
    every_node(d, f);
    cite_asks(d, a->resource);
    dx_cite_item(d, best->item, "status.allocatable%s", dx_member(d, a->resource));
    cite_message(d);
    if (a->containers > 1)
        dx_fix(d, _("Let one container hold the %s, or use a node that has %s."), a->resource,
               asked);
    dx_fix(d, _("Ask for at most %s, or use a larger node."), has);
}

/* The label that the selector means: same key, other value; or a near key. */
static void near_labels(struct dx *d, const struct fit *f, const char *key, const char *want)
{
    const char *names[64];
    for (size_t i = 0; i < f->nodes; i++) {
        const struct json *labels = json_at(f->node[i].item->o, "metadata.labels");
        const char *has = json_string_value(json_get(labels, key));
        size_t n = 0;
        for (const struct json *l = json_first(labels); l && n < ARRAY_LEN(names); l = json_next(l))
            names[n++] = json_key(l);
        const char *near = has ? NULL : str_nearest(key, names, n);
        if (has && !str_eq(has, want))
            dx_line(d, _("%s has %s=%s"), f->node[i].name, key, has);
        else if (near)
            dx_line(d, _("%s has %s=%s (not %s)"), f->node[i].name, near,
                    json_string_value(json_get(labels, near)), key);
        if ((has && !str_eq(has, want)) || near)
            dx_cite_item(d, f->node[i].item, "metadata.labels%s", dx_member(d, has ? key : near));
    }
}

static void no_match(struct dx *d, const struct fit *f)
{
    const struct json *selector = json_at(d->o, "spec.nodeSelector");
    const struct json *first = json_first(selector);
    bool affinity = json_has(d->o, "spec.affinity.nodeAffinity");
    if (first)
        dx_found(d, "node-selector-no-match", W_ROOT, SURE_CERTAIN,
                 _("No node matches the pod's nodeSelector (%s=%s%s)."), json_key(first),
                 json_string_value(first), json_next(first) ? ", …" : "");
    else
        dx_found(d, "node-affinity-no-match", W_ROOT, SURE_CERTAIN, "%s",
                 _("No node matches the pod's required node affinity."));
    for (const struct json *m = first; m; m = json_next(m)) {
        dx_cite(d, "spec.nodeSelector%s", dx_member(d, json_key(m)));
        near_labels(d, f, json_key(m), json_string_value(m));
    }
    if (affinity) {
        const char *terms =
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
            ".nodeSelectorTerms[0].matchExpressions[0]";
        const struct json *e = json_at(d->o, terms);
        dx_cite(d, "%s", terms);
        near_labels(d, f, json_str(e, "key", ""),
                    json_string_value(json_item(json_get(e, "values"), 0)));
    }
    cite_message(d);
    dx_fix(d, "%s", _("Write the label as the node has it, or label the node."));
    dx_command(d, "kubectl get nodes --show-labels");
}

static void selector_conflict(struct dx *d, const struct fit *f)
{
    const struct fit_node *match = NULL;
    for (size_t i = 0; i < f->nodes && !match; i++)
        if (f->node[i].selected)
            match = &f->node[i];
    const char *resource = f->ask[MAX(match->short_of, 0)].resource;
    dx_found(d, "selector-conflicts-with-resource", W_ROOT, SURE_CERTAIN,
             _("The nodes that match the pod's nodeSelector or affinity (%s) can't give it %s; "
               "those "
               "that could do not match."),
             match->name, resource);
    every_node(d, f);
    dx_cite(d, "spec.nodeSelector");
    dx_cite(d, "spec.affinity.nodeAffinity");
    cite_nodes(d, f, resource);
    cite_message(d);
    dx_fix(d, _("Select nodes that offer %s."), resource);
}

static void tainted(struct dx *d, const struct fit *f)
{
    const struct fit_node *n = NULL;
    for (size_t i = 0; i < f->nodes && !n; i++)
        if (f->node[i].taint && f->node[i].ever && f->node[i].selected && f->node[i].schedulable)
            n = &f->node[i];
    const struct json *t = n->taint;
    const char *key = json_str(t, "key", ""), *value = json_str(t, "value", "");
    dx_found(d, "untolerated-taint", W_ROOT, SURE_CERTAIN,
             _("Every node that could take the pod has a taint that it does not tolerate: %s has "
               "%s."),
             n->name, taint_text(d, t));
    every_node(d, f);
    dx_cite_item(d, n->item, "spec.taints[?key=%s]", key);
    dx_cite(d, "spec.tolerations");
    cite_message(d);
    if (str_starts(key, "node.kubernetes.io/"))
        dx_fix(d, _("The taint says what ails the node (%s): see its conditions."), key);
    else
        dx_fix(d, _("Add a toleration: key %s, operator %s%s%s, effect %s."), key,
               value[0] ? "Equal, value " : "Exists", value, "", json_str(t, "effect", ""));
    dx_command(d, "kubectl describe node %s", n->name);
}

static void cordoned(struct dx *d, const struct fit *f)
{
    for (size_t i = 0; i < f->nodes; i++) {
        const struct fit_node *n = &f->node[i];
        if (n->schedulable || !n->selected || !n->ever)
            continue;
        dx_found(d, "node-cordoned", W_ROOT, SURE_CERTAIN,
                 _("The node that could take the pod, %s, is cordoned: it takes no new pods."),
                 n->name);
        every_node(d, f);
        dx_cite_item(d, n->item, "spec.unschedulable");
        cite_message(d);
        dx_fix(d, _("Ask who cordoned it and why; kubectl uncordon %s opens it again."), n->name);
        dx_command(d, "kubectl uncordon %s", n->name);
        return;
    }
}

static void not_ready(struct dx *d, const struct fit *f)
{
    for (size_t i = 0; i < f->nodes; i++) {
        const struct fit_node *n = &f->node[i];
        if (n->ready)
            continue;
        dx_found(d, "node-not-ready", W_ROOT, SURE_CERTAIN,
                 _("Node %s, which could take the pod, is not Ready."), n->name);
        every_node(d, f);
        dx_cite_item(d, n->item, "status.conditions[?type=Ready].status");
        dx_cite_item(d, n->item, "status.conditions[?type=Ready].message");
        cite_message(d);
        dx_fix(d, "%s", _("Look at the kubelet and the network of that node."));
        dx_command(d, "kubectl describe node %s", n->name);
        return;
    }
}

/* The pod that it must stand beside, and where that is. */
static void beside(struct dx *d, const struct fit *f)
{
    const struct json *terms = json_at(d->o, "spec.affinity.podAffinity."
                                             "requiredDuringSchedulingIgnoredDuringExecution");
    const struct json *selector = json_get(json_first(terms), "labelSelector");
    const char *resource = f->asks ? f->ask[0].resource : "";
    if (!terms) {
        dx_found(d, "pod-anti-affinity", W_ROOT, SURE_CERTAIN, "%s",
                 _("Every node that could take the pod holds one that its anti-affinity keeps away "
                   "from."));
    } else {
        dx_found(d, "affinity-conflicts-with-resource", W_ROOT, SURE_CERTAIN,
                 _("Pod affinity ties it to nodes that can't give it %s."),
                 resource[0] ? resource : _("what it asks for"));
    }
    const struct snap_list *pods = &d->s->list[SNAP_PODS];
    bool any = false;
    for (size_t i = 0; terms && i < pods->n; i++) {
        const char *node = json_str(pods->v[i].o, "spec.nodeName", "");
        if (!node[0] || !fit_labels(selector, json_at(pods->v[i].o, "metadata.labels")))
            continue;
        dx_line(d, _("It must stand beside %s, which runs on %s."),
                json_str(pods->v[i].o, "metadata.name", ""), node);
        dx_cite_item(d, &pods->v[i], "spec.nodeName");
        any = true;
    }
    if (terms && !any) {
        d->f->cause = "pod-affinity-no-match";
        d->f->text = dx_say(d, "%s",
                            _("Pod affinity wants it beside a pod that does not run on any "
                              "node."));
    }
    every_node(d, f);
    dx_cite(d, "spec.affinity.pod%s.requiredDuringSchedulingIgnoredDuringExecution[0]",
            terms ? "Affinity" : "AntiAffinity");
    if (resource[0])
        cite_nodes(d, f, resource);
    cite_message(d);
    dx_fix(d, "%s",
           terms ? _("Start the other pod on a node that has what this one needs, or drop the "
                     "podAffinity and share the data by a volume.")
                 : _("Free a node, or make the anti-affinity preferred."));
}

/* Who holds what it waits for. */
static void busy(struct dx *d, const struct fit *f)
{
    const struct fit_node *best = NULL;
    for (size_t i = 0; i < f->nodes; i++) {
        const struct fit_node *n = &f->node[i];
        bool could =
            n->ever && n->selected && n->tolerated && n->schedulable && n->ready && n->beside;
        if (could && !n->now &&
            (!best || n->allocatable - n->used > best->allocatable - best->used))
            best = n;
    }
    const struct fit_ask *a = &f->ask[MAX(best->short_of, 0)];
    char asked[48], left[48], total[48], held[48];
    fit_amount(a->resource, a->milli, asked);
    fit_amount(a->resource, MAX(best->allocatable - best->used, 0), left);
    fit_amount(a->resource, best->allocatable, total);
    dx_found(d, "insufficient-resource", W_ROOT, SURE_CERTAIN,
             _("Busy now: the pod asks for %s of %s; the best node (%s) has %s of %s free."), asked,
             a->resource, best->name, left, total);
    const struct snap_list *pods = &d->s->list[SNAP_PODS];
    for (size_t i = 0; i < pods->n; i++) {
        int64_t v = fit_request(pods->v[i].o, a->resource, NULL);
        if (v <= 0 || fit_ended(pods->v[i].o) || pods->v[i].o == d->o ||
            !str_eq(json_str(pods->v[i].o, "spec.nodeName", ""), best->name))
            continue;
        dx_line(d, _("%s/%s holds %s on %s"), json_str(pods->v[i].o, "metadata.namespace", ""),
                json_str(pods->v[i].o, "metadata.name", ""), fit_amount(a->resource, v, held),
                best->name);
    }
    every_node(d, f);
    cite_asks(d, a->resource);
    cite_nodes(d, f, a->resource);
    cite_message(d);
    dx_fix(d, "%s",
           _("Wait until one of those pods ends, or ask for less; the scheduler tries again by "
             "itself."));
}

/* The first filter that leaves nothing names the cause. */
static bool computed(struct dx *d, const struct fit *f)
{
    static const struct {
        keeps *keep;
        void (*say)(struct dx *d, const struct fit *f);
    } filters[] = {{ever_of, too_large},    {selected_of, selector_conflict},
                   {ready_of, not_ready},   {schedulable_of, cordoned},
                   {tolerated_of, tainted}, {beside_of, beside},
                   {now_of, busy}};
    for (int i = 0; i < f->asks && fit_extended(f->ask[i].resource); i++) {
        int64_t most = 0;
        for (size_t k = 0; k < f->nodes; k++)
            most = MAX(most, fit_quantity(json_at(f->node[k].item->o, "status.allocatable"),
                                          f->ask[i].resource));
        if (most > 0)
            continue;
        if (!near_name(d, f, &f->ask[i]))
            not_offered(d, f, &f->ask[i]);
        return true;
    }
    if (count(f, selected_of) == 0) {
        no_match(d, f);
        return true;
    }
    for (size_t k = 0; k < ARRAY_LEN(filters); k++) {
        size_t left = 0;
        for (size_t i = 0; i < f->nodes; i++) {
            bool in = true;
            for (size_t j = 0; j <= k; j++)
                in &= filters[j].keep(&f->node[i]);
            left += in;
        }
        if (left == 0) {
            filters[k].say(d, f);
            return true;
        }
    }
    return false;
}

/* --- without nodes: the scheduler's words ------------------------------------------------ */
static void by_message(struct dx *d, const char *message)
{
    const char *resource = dx_between(d, message, "Insufficient ", ".,");
    for (size_t i = 0; i < sched_messages_n; i++) {
        const struct sched_message *m = &sched_messages[i];
        /* the control plane's own taint is no news beside a lack */
        bool plane = strstr(m->has, "taint") && resource &&
                     strstr(message, "node-role.kubernetes.io/control-plane");
        if (!strstr(message, m->has) || plane)
            continue;
        dx_found(d, m->cause, W_SCHEDULE, SURE_LIKELY, "%s",
                 dx_fill(d, m->text, resource ? resource : "", "", ""));
        cite_message(d);
        if (resource)
            cite_asks(d, resource);
        dx_cite(d, "spec.nodeSelector");
        dx_line(d, "%s",
                d->s->list[SNAP_NODES].forbidden
                    ? _("You may not list nodes: this is the scheduler's own text.")
                    : _("The nodes were not read: this is the scheduler's own text."));
        dx_fix(d, "%s", _(m->fix));
        dx_command(d, "kubectl -n %s describe pod/%s", d->ns, d->name);
        return;
    }
}

static void unseen(struct dx *d)
{
    const char *by = json_str(d->o, "spec.schedulerName", "default-scheduler");
    if (json_count(json_at(d->o, "spec.schedulingGates")) > 0) {
        dx_found(d, "scheduling-gated", W_ROOT, SURE_CERTAIN,
                 _("The pod waits for its scheduling gate %s to be taken away."),
                 json_str(d->o, "spec.schedulingGates[0].name", ""));
        dx_cite(d, "spec.schedulingGates[0].name");
        dx_fix(d, "%s",
               _("See who sets the gate, a queue such as Kueue: it opens it when there is "
                 "room."));
    } else if (!str_eq(by, "default-scheduler")) {
        dx_found(d, "scheduler-not-running", W_ROOT, SURE_LIKELY,
                 _("The pod asks for the scheduler \"%s\", and no scheduler has looked at it."),
                 by);
        dx_cite(d, "spec.schedulerName");
        dx_fix(d, _("See whether %s runs, or leave schedulerName away."), by);
    }
}

void dx_schedule(struct dx *d)
{
    struct fit f;
    if (!str_eq(d->phase, "Pending") || json_str(d->o, "spec.nodeName", NULL))
        return;
    const char *message = json_str(d->o, SCHEDULED ".message", "");
    if (!message[0]) {
        const struct snap_item *e = dx_event(d, "FailedScheduling", "");
        message = e ? json_str(e->o, "message", "") : "";
    }
    if (!message[0] || json_count(json_at(d->o, "spec.schedulingGates")) > 0) {
        unseen(d);
        return;
    }
    fit_compute(d->s, d->o, &f);
    size_t before = d->out->n;
    bool volume = strstr(message, "PersistentVolumeClaim") || strstr(message, "persistentvolume") ||
                  strstr(message, "volume node affinity");
    if (!volume && f.nodes && !computed(d, &f) && !sched_host_port(d, message) &&
        !sched_kept_away(d, message))
        by_message(d, message);
    else if (!volume && !f.nodes)
        by_message(d, message);
    if (d->out->n > before && volume)
        d->f->weight = W_HINT;
    fit_release(&f);
}
