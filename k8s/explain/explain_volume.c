/* explain_volume.c - claims, volumes and mounts that hold a pod up (dx.h). */
#include "k8s/explain/dx.h"
#include "k8s/quantity.h"

static const char *claim_of(const struct json *volume)
{
    return json_str(volume, "persistentVolumeClaim.claimName", NULL);
}

static const struct snap_item *claim_event(const struct dx *d, const char *claim,
                                           const char *reason)
{
    for (size_t i = d->events; i-- > 0;)
        if (str_eq(json_str(d->event[i].o, "involvedObject.kind", ""), "PersistentVolumeClaim") &&
            str_eq(json_str(d->event[i].o, "involvedObject.name", ""), claim) &&
            (!reason || str_eq(json_str(d->event[i].o, "reason", ""), reason)))
            return &d->event[i];
    return NULL;
}

static void cite_wait(struct dx *d)
{
    dx_cite(d, "status.conditions[?type=PodScheduled].message");
    dx_cite_event(d, dx_event(d, "FailedScheduling", ""));
}

static bool default_class(const struct dx *d)
{
    const struct snap_list *l = &d->s->list[SNAP_CLASSES];
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(json_str(l->v[i].o,
                            "metadata.annotations['storageclass.kubernetes.io/is-default-class']",
                            ""),
                   "true"))
            return true;
    return false;
}

static const char *class_names(struct dx *d)
{
    struct str s;
    const struct snap_list *l = &d->s->list[SNAP_CLASSES];
    str_init(&s, 1024);
    for (size_t i = 0; i < l->n; i++)
        str_printf(&s, "%s%s", i ? ", " : "", json_str(l->v[i].o, "metadata.name", ""));
    const char *out = dx_say(d, "%s", s.len ? s.p : _("none"));
    str_release(&s);
    return out;
}

static bool has_mode(const struct json *pv, const struct json *pvc)
{
    for (const struct json *m = json_first(json_at(pvc, "spec.accessModes")); m; m = json_next(m)) {
        bool found = false;
        for (const struct json *h = json_first(json_at(pv, "spec.accessModes")); h;
             h = json_next(h))
            found |= str_eq(json_string_value(h), json_string_value(m));
        if (!found)
            return false;
    }
    return true;
}

/* Why a volume that is there does not become the claim's; NULL: it could. */
static const char *unfit(struct dx *d, const struct json *pv, const struct json *pvc)
{
    const char *want = json_str(pvc, "spec.resources.requests.storage", "0");
    const char *has = json_str(pv, "spec.capacity.storage", "0");
    const char *holder = json_str(pv, "spec.claimRef.name", NULL);
    int64_t a, b;
    if (!str_eq(json_str(pv, "spec.storageClassName", ""),
                json_str(pvc, "spec.storageClassName", "")))
        return dx_say(d, _("its class is \"%s\", the claim's is \"%s\""),
                      json_str(pv, "spec.storageClassName", ""),
                      json_str(pvc, "spec.storageClassName", ""));
    if (quantity_units(want, &a) && quantity_units(has, &b) && a > b)
        return dx_say(d, _("it has %s, the claim asks for %s"), has, want);
    if (!has_mode(pv, pvc))
        return dx_say(d, _("its access mode is %s, the claim's is %s"),
                      json_str(pv, "spec.accessModes[0]", ""),
                      json_str(pvc, "spec.accessModes[0]", ""));
    if (holder && !str_eq(holder, json_str(pvc, "metadata.name", "")))
        return dx_say(d, _("it belongs to the claim %s (%s)"), holder,
                      json_str(pv, "status.phase", ""));
    return NULL;
}

/* No provisioner is at work, and no volume that is there fits. */
static bool no_volume_fits(struct dx *d, const struct snap_item *pvc, const char *claim)
{
    const struct snap_list *l = &d->s->list[SNAP_PVS];
    for (size_t i = 0; i < l->n; i++)
        if (!unfit(d, l->v[i].o, pvc->o))
            return false;
    if (!l->known || l->n == 0)
        return false;
    dx_found(d, "pvc-no-matching-volume", W_ROOT, SURE_CERTAIN,
             _("The claim %s is Pending: none of %zu volumes fits it."), claim, l->n);
    for (size_t i = 0; i < l->n && i < 6; i++) {
        dx_line(d, "%s: %s", json_str(l->v[i].o, "metadata.name", ""),
                unfit(d, l->v[i].o, pvc->o));
        dx_cite_item(d, &l->v[i], "spec.capacity.storage");
        dx_cite_item(d, &l->v[i], "spec.accessModes[0]");
    }
    dx_cite_item(d, pvc, "spec.resources.requests.storage");
    dx_fix(d, "%s",
           _("Make a volume that fits, or a claim that asks for what there is (a claim can't be "
             "changed: delete it and make it anew)."));
    return true;
}

static void class_of(struct dx *d, const struct snap_item *pvc, const char *claim)
{
    const char *class = json_str(pvc->o, "spec.storageClassName", NULL);
    const struct snap_item *failed = claim_event(d, claim, "ProvisioningFailed");
    const struct snap_item *binding = claim_event(d, claim, "FailedBinding");
    const struct snap_item *row = class ? dx_find(d, SNAP_CLASSES, NULL, class) : NULL;
    bool classes = d->s->list[SNAP_CLASSES].known;
    bool told_none =
        binding && strstr(json_str(binding->o, "message", ""), "no storage class is set");
    bool told_gone = failed && strstr(json_str(failed->o, "message", ""), "not found");
    if (class && class[0] && ((classes && !row) || told_gone)) {
        dx_found(d, "storage-class-missing", W_ROOT, SURE_CERTAIN,
                 _("The claim %s asks for the storage class %s, which the cluster does not have."),
                 claim, class);
        if (classes)
            dx_line(d, _("Storage classes there are: %s."), class_names(d));
        dx_fix(d, "%s",
               _("Use a class that exists; the class of a claim can't be changed, so delete the "
                 "claim and make it anew."));
    } else if ((!class && classes && !default_class(d)) || told_none) {
        dx_found(d, "no-default-storage-class", W_ROOT, SURE_CERTAIN,
                 _("The claim %s names no storage class (storageClassName), and the cluster has no "
                   "default one."),
                 claim);
        if (classes)
            dx_line(d, _("Storage classes there are: %s."), class_names(d));
        dx_fix(d, "%s",
               _("Name a class in the claim, or ask an administrator to mark one as default."));
    } else if (failed) {
        dx_found(d, "pvc-provisioning-failed", W_ROOT, SURE_CERTAIN,
                 _("The volume for the claim %s can't be made: %s"), claim,
                 json_str(failed->o, "message", ""));
        dx_fix(d, "%s", _("The provisioner's text names the reason; its log says more."));
    } else if (!no_volume_fits(d, pvc, claim)) {
        dx_found(d, "pvc-pending", W_NAMED, SURE_LIKELY,
                 _("The claim %s is Pending: no volume is bound to it yet."), claim);
        dx_fix(d, "%s",
               _("See the claim's events; a volume with its class, size and access mode must "
                 "exist or be made."));
    }
    dx_cite_item(d, pvc, "status.phase");
    dx_cite_item(d, pvc, "spec.storageClassName");
    dx_cite_item(d, pvc, "spec.accessModes[0]");
    dx_cite_event(d, failed);
    dx_cite_event(d, binding);
    dx_cite_item(d, row, "provisioner");
    cite_wait(d);
    dx_command(d, "kubectl -n %s describe pvc %s", d->ns, claim);
}

/* It binds when the pod is placed: waiting is its way. */
static bool waits_for_pod(const struct dx *d, const struct snap_item *pvc, const char *claim)
{
    const char *class = json_str(pvc->o, "spec.storageClassName", "");
    const struct snap_item *row = dx_find(d, SNAP_CLASSES, NULL, class);
    return claim_event(d, claim, "WaitForFirstConsumer") ||
           (row && str_eq(json_str(row->o, "volumeBindingMode", ""), "WaitForFirstConsumer"));
}

static void being_deleted(struct dx *d, const struct snap_item *pvc, const char *claim)
{
    dx_found(d, "pvc-terminating", W_ROOT, SURE_CERTAIN,
             _("The claim %s is being deleted: no new pod gets it."), claim);
    dx_cite_item(d, pvc, "metadata.deletionTimestamp");
    dx_cite_item(d, pvc, "metadata.finalizers");
    cite_wait(d);
    dx_fix(d, "%s",
           _("It goes when the last pod that uses it has gone, and its data with it; then make it "
             "anew."));
    dx_command(d, "kubectl -n %s describe pvc %s", d->ns, claim);
}

static void claims(struct dx *d)
{
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v; v = json_next(v)) {
        const char *claim = claim_of(v);
        const struct snap_item *pvc = claim ? dx_find(d, SNAP_PVCS, d->ns, claim) : NULL;
        if (!claim)
            continue;
        const char *needle = dx_say(d, "persistentvolumeclaim \"%s\" not found", claim);
        const struct snap_item *told = dx_event(d, "FailedScheduling", needle);
        const char *going = dx_say(d, "persistentvolumeclaim \"%s\" is being deleted", claim);
        if (strstr(json_str(d->o, "status.conditions[?type=PodScheduled].message", ""), going) ||
            dx_event(d, "FailedScheduling", going)) {
            being_deleted(d, pvc, claim);
        } else if (told || (!pvc && d->s->list[SNAP_PVCS].known && str_eq(d->phase, "Pending"))) {
            dx_found(d, "pvc-not-found", W_ROOT, SURE_CERTAIN,
                     _("The pod mounts the claim %s, which does not exist in namespace %s."), claim,
                     d->ns);
            dx_cite(d, "spec.volumes[?name=%s].persistentVolumeClaim.claimName",
                    json_str(v, "name", ""));
            cite_wait(d);
            dx_fix(d, _("Create the claim %s, or correct its name in the pod."), claim);
            dx_command(d, "kubectl -n %s get pvc", d->ns);
        } else if (pvc && str_eq(json_str(pvc->o, "status.phase", ""), "Lost")) {
            dx_found(d, "pvc-lost", W_ROOT, SURE_CERTAIN, _("The claim %s has lost its volume %s."),
                     claim, json_str(pvc->o, "spec.volumeName", ""));
            dx_cite_item(d, pvc, "status.phase");
            dx_cite_item(d, pvc, "spec.volumeName");
            dx_fix(d, "%s",
                   _("The data is gone with the volume, or the volume must be made again under "
                     "this name."));
        } else if (pvc && str_eq(json_str(pvc->o, "status.phase", ""), "Pending")) {
            if (!waits_for_pod(d, pvc, claim) || claim_event(d, claim, "ProvisioningFailed"))
                class_of(d, pvc, claim);
        }
    }
}

/* --- attach ------------------------------------------------------------------------ */
static void multi_attach(struct dx *d)
{
    const struct snap_item *e = dx_event(d, "FailedAttachVolume", "Multi-Attach error");
    const char *holder =
        e ? dx_between(d, json_str(e->o, "message", ""), "used by pod(s) ", " ,") : NULL;
    if (!e)
        return;
    const struct snap_item *pod = holder ? dx_find(d, SNAP_PODS, NULL, holder) : NULL;
    const char *node = pod ? json_str(pod->o, "spec.nodeName", "") : "";
    const struct snap_item *pvc = NULL;
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v && !pvc;
         v = json_next(v))
        pvc = claim_of(v) ? dx_find(d, SNAP_PVCS, d->ns, claim_of(v)) : NULL;
    dx_found(d, "volume-multi-attach", W_ROOT, SURE_CERTAIN,
             _("The volume is ReadWriteOnce and still attached to another node%s%s%s%s%s, so %s "
               "can't have "
               "it on %s."),
             holder ? _(": pod ") : "", holder ? holder : "", node[0] ? _(" holds it on ") : "",
             node, "", d->name, json_str(d->o, "spec.nodeName", ""));
    dx_cite_event(d, e);
    dx_cite_item(d, pvc, "spec.accessModes[0]");
    dx_cite_item(d, pod, "spec.nodeName");
    dx_cite(d, "spec.nodeName");
    dx_fix(d, _("Delete the pod that holds it%s%s, or place both on one node."), holder ? ": " : "",
           holder ? holder : "");
    dx_fix(d, "%s", _("Or use a class that gives ReadWriteMany volumes."));
    if (holder)
        dx_command(d, "kubectl -n %s delete pod %s", d->ns, holder);
}

static void affinity(struct dx *d)
{
    if (!str_eq(d->phase, "Pending") || json_str(d->o, "spec.nodeName", NULL))
        return;
    const char *message = json_str(d->o, "status.conditions[?type=PodScheduled].message", "");
    if (!strstr(message, "volume node affinity conflict"))
        return;
    dx_found(d, "volume-node-affinity", W_ROOT, SURE_CERTAIN, "%s",
             _("The pod's volume lives in another zone or on another node than those that could "
               "run it "
               "(volume node affinity conflict)."));
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v; v = json_next(v)) {
        const struct snap_item *pvc =
            claim_of(v) ? dx_find(d, SNAP_PVCS, d->ns, claim_of(v)) : NULL;
        const struct snap_item *pv =
            pvc ? dx_find(d, SNAP_PVS, NULL, json_str(pvc->o, "spec.volumeName", "")) : NULL;
        if (!pv)
            continue;
        const char *at = "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0]";
        const struct json *e = json_at(pv->o, at);
        dx_line(d, _("Volume %s (claim %s) is bound to %s %s."),
                json_str(pv->o, "metadata.name", ""), claim_of(v), json_str(e, "key", ""),
                json_str(e, "values[0]", ""));
        dx_cite_item(d, pvc, "spec.volumeName");
        dx_cite_item(d, pv, "%s.values[0]", at);
    }
    cite_wait(d);
    dx_cite(d, "spec.nodeSelector");
    dx_fix(d, "%s",
           _("Let the pod run where the volume is (drop or change its nodeSelector), or copy the "
             "data to a volume there."));
}

/* A claim for one pod alone is another pod's now. */
static void one_pod(struct dx *d)
{
    const struct snap_list *l = &d->s->list[SNAP_PODS];
    const char *message = json_str(d->o, "status.conditions[?type=PodScheduled].message", "");
    if (!strstr(message, "ReadWriteOncePod access mode") || json_str(d->o, "spec.nodeName", NULL))
        return;
    dx_found(d, "volume-read-write-once-pod", W_ROOT, SURE_CERTAIN, "%s",
             _("A claim of the pod is ReadWriteOncePod, and another pod uses it."));
    for (const struct json *v = json_first(json_at(d->o, "spec.volumes")); v; v = json_next(v)) {
        const char *claim = claim_of(v);
        if (!claim)
            continue;
        dx_cite_item(d, dx_find(d, SNAP_PVCS, d->ns, claim), "spec.accessModes[0]");
        for (size_t i = 0; i < l->n; i++)
            for (const struct json *o = json_first(json_at(l->v[i].o, "spec.volumes")); o;
                 o = json_next(o))
                if (str_eq(claim_of(o), claim) && json_str(l->v[i].o, "spec.nodeName", NULL)) {
                    dx_line(d, _("Pod %s holds the claim %s."),
                            json_str(l->v[i].o, "metadata.name", ""), claim);
                    dx_cite_item(d, &l->v[i], "spec.volumes");
                }
    }
    cite_wait(d);
    dx_fix(d, "%s",
           _("Wait until that pod has ended, or use a claim of ReadWriteOnce or ReadWriteMany."));
}

/* --- mount ------------------------------------------------------------------------- */
static const struct {
    const char *has, *cause, *text, *fix; /* %s: the message */
} mounts[] = {
    {"hostPath type check failed", "volume-path-missing",
     N_("The hostPath does not exist on the node, or is not of the type that is asked for."),
     N_("Make it on that node, or use type DirectoryOrCreate.")},
    {"list of registered CSI drivers", "csi-driver-missing",
     N_("The storage driver (CSI) of the volume does not run on the pod's node."),
     N_("See the driver's DaemonSet on that node: its pod, its tolerations, its log.")},
    {"executable file not found", "nfs-client-missing",
     N_("The node lacks the helper program that mounts this kind of volume."),
     N_("Install the client on the node (nfs-common or nfs-utils for NFS).")},
    {"bad option; for several filesystems", "nfs-client-missing",
     N_("The node lacks the helper program that mounts this kind of volume (mount.nfs)."),
     N_("Install the client on the node (nfs-common or nfs-utils for NFS).")},
    {"access denied by server", "nfs-access-denied",
     N_("The NFS server refuses this node: its address is not in the export."),
     N_("Let the export include the addresses of the nodes.")},
    {"Connection timed out", "volume-server-unreachable",
     N_("The volume's server does not answer."),
     N_("Check the server's address and the network between the node and it.")},
    {"Connection refused", "volume-server-unreachable",
     N_("The volume's server refuses the connection."), N_("See whether the server runs.")},
    {"No such file or directory", "volume-path-missing",
     N_("The path that the volume names does not exist there."),
     N_("Correct the path, or make the folder on the server.")},
    {"is not a directory", "volume-path-type",
     N_("The path that the volume names is not of its type."),
     N_("Correct the path or the volume's type.")},
    {"timed out waiting for the condition", "volume-mount-timeout",
     N_("The volume was not mounted in time."),
     N_("Look for an earlier event that names the reason, and at the storage driver on the node.")},
};

/* "secret "x" not found" in a mount: the object is missing. */
static bool object_missing(struct dx *d, const struct snap_item *e, const char *message)
{
    static const struct {
        const char *word, *cause;
    } objects[] = {{"secret \"", "secret-not-found"}, {"configmap \"", "configmap-not-found"}};
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        const char *name = dx_between(d, message, objects[i].word, "\"");
        if (!name || !strstr(message, "not found"))
            continue;
        dx_found(d, objects[i].cause, W_ROOT, SURE_CERTAIN,
                 _("The pod mounts the %s %s, which does not exist in namespace %s."),
                 i ? "ConfigMap" : "Secret", name, d->ns);
        dx_cite_event(d, e);
        dx_cite(d, "metadata.namespace");
        dx_fix(d, _("Create the %s %s in namespace %s; the kubelet then goes on by itself."),
               i ? "ConfigMap" : "Secret", name, d->ns);
        dx_command(d, "kubectl -n %s get %s", d->ns, i ? "configmaps" : "secrets");
        return true;
    }
    const char *key = dx_between(d, message, "references non-existent ", " :\n");
    if (key && strstr(message, "key")) {
        dx_found(d, "volume-key-missing", W_ROOT, SURE_CERTAIN,
                 _("The pod mounts a key that its Secret or ConfigMap does not have: %s"), message);
        dx_cite_event(d, e);
        dx_fix(d, "%s", _("Correct the key in items, or put it into the object."));
        return true;
    }
    return false;
}

static void failed_mount(struct dx *d)
{
    const struct snap_item *e = NULL;
    if (!str_eq(d->phase, "Pending") || !json_str(d->o, "spec.nodeName", NULL))
        return;
    for (size_t i = d->events; i-- > 0 && !e;) /* a named reason before "timed out" */
        if (str_eq(json_str(d->event[i].o, "reason", ""), "FailedMount") &&
            !strstr(json_str(d->event[i].o, "message", ""), "timed out waiting"))
            e = &d->event[i];
    if (!e)
        e = dx_event(d, "FailedMount", "");
    const char *message = e ? json_str(e->o, "message", "") : "";
    bool passing = strstr(message, "failed to sync") && json_int(e->o, "count", 1) < 3;
    if (!e || passing || dx_went_on(d, e) || object_missing(d, e, message))
        return;
    for (size_t i = 0; i < ARRAY_LEN(mounts); i++) {
        if (!strstr(message, mounts[i].has))
            continue;
        dx_found(d, mounts[i].cause, W_NAMED,
                 i + 1 < ARRAY_LEN(mounts) ? SURE_CERTAIN : SURE_LIKELY, "%s", _(mounts[i].text));
        dx_line(d, "%s", message);
        dx_line(d, _("On the node %s."), json_str(d->o, "spec.nodeName", ""));
        dx_cite_event(d, e);
        dx_cite(d, "spec.volumes");
        dx_fix(d, "%s", _(mounts[i].fix));
        return;
    }
    dx_found(d, "volume-mount-failed", W_NAMED, SURE_LIKELY, _("A volume can't be mounted: %s"),
             message);
    dx_cite_event(d, e);
    dx_fix(d, "%s", _("The text names the volume and the reason."));
}

void dx_volume(struct dx *d)
{
    if (dx_well(d))
        return;
    claims(d);
    multi_attach(d);
    affinity(d);
    one_pod(d);
    failed_mount(d);
}
