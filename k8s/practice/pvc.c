/* pvc.c - claims and their volumes: the storage class "local" is a folder of
 * the cluster's own state, made when a claim is bound and removed with it
 * (node.h). */
#include "k8s/practice/node.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/child.h"
#include "k8s/practice/kobj.h"

#define PROVISIONER "podium.dev/local"
#define CLAIM_FINALIZER "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

static const struct api_user pvc_user = {
    "system:serviceaccount:kube-system:persistent-volume-binder", NULL, true,
    "kube-controller-manager"};

struct pvc_controller {
    struct api *api;
    uint32_t timer;
    bool stopped;
};

static const struct res *claims_res(void)
{
    return res_by_plural("", "persistentvolumeclaims");
}

static const struct res *volumes_res(void)
{
    return res_by_plural("", "persistentvolumes");
}

static const struct res *classes_res(void)
{
    return res_by_plural("storage.k8s.io", "storageclasses");
}

static void event(struct pvc_controller *c, const struct json *pvc, const char *type,
                  const char *reason, const char *component, const char *text)
{
    api_event(c->api, pvc, NULL, type, reason, component, NULL, false, "%s", text);
}

/* --- storage classes --------------------------------------------------------------------- */

static void make_class(struct api *a, const char *name, const char *mode, bool is_default)
{
    struct api_result r;
    struct json *class = api_get(a, classes_res(), NULL, name);
    if (class) {
        json_free(class);
        return;
    }
    class = json_from("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\","
                      "\"metadata\":{},\"provisioner\":\"" PROVISIONER "\",\"reclaimPolicy\":"
                      "\"Delete\",\"allowVolumeExpansion\":false}");
    json_put_path(class, "metadata.name", json_new_string(name));
    json_put_str(class, "volumeBindingMode", mode);
    if (is_default)
        json_put_str(kobj_member(json_get_mut(class, "metadata"), "annotations"),
                     "storageclass.kubernetes.io/is-default-class", "true");
    api_create(a, &pvc_user, classes_res(), NULL, class, &r);
    api_result_release(&r);
    json_free(class);
}

static void find_default(void *arg, const struct json *class)
{
    char *name = arg;
    const char *is = json_string_value(json_get(json_at(class, "metadata.annotations"),
                                                "storageclass.kubernetes.io/is-default-class"));
    if (str_eq(is, "true"))
        str_copy(name, 256, kobj_name(class));
}

/* --- provisioning --------------------------------------------------------------------------- */

static struct json *new_volume(struct pvc_controller *c, const struct json *pvc,
                               const struct json *class, const char *name, const char *path)
{
    struct json *pv = json_from("{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\","
                                "\"metadata\":{\"annotations\":{\"pv.kubernetes.io/provisioned-by\""
                                ":\"" PROVISIONER "\"},\"finalizers\":[\"" VOLUME_FINALIZER "\"]},"
                                "\"spec\":{\"volumeMode\":\"Filesystem\"}}");
    struct json *spec = json_get_mut(pv, "spec"), *ref = json_new_object(),
                *host = json_new_object(), *capacity = json_new_object();
    json_put_path(pv, "metadata.name", json_new_string(name));
    json_put_str(capacity, "storage", json_str(pvc, "spec.resources.requests.storage", "1Gi"));
    json_set(spec, "capacity", capacity);
    json_set(spec, "accessModes", json_copy(json_at(pvc, "spec.accessModes")));
    json_put_str(spec, "persistentVolumeReclaimPolicy", json_str(class, "reclaimPolicy", "Delete"));
    json_put_str(spec, "storageClassName", kobj_name(class));
    json_put_str(host, "path", path);
    json_put_str(host, "type", "DirectoryOrCreate");
    json_set(spec, "hostPath", host);
    json_put_str(ref, "apiVersion", "v1");
    json_put_str(ref, "kind", "PersistentVolumeClaim");
    json_put_str(ref, "namespace", kobj_ns(pvc));
    json_put_str(ref, "name", kobj_name(pvc));
    json_put_str(ref, "uid", kobj_uid(pvc));
    struct json *fresh = api_get(c->api, claims_res(), kobj_ns(pvc), kobj_name(pvc));
    json_put_str(ref, "resourceVersion", json_str(fresh, "metadata.resourceVersion", ""));
    json_free(fresh);
    json_set(spec, "claimRef", ref);
    return pv;
}

static void set_phase(struct pvc_controller *c, const struct res *res, const char *ns,
                      const char *name, const char *phase, const struct json *pvc)
{
    struct json *o = api_get(c->api, res, ns, name);
    if (!o)
        return;
    struct json *st = kobj_member(o, "status");
    json_put_str(st, "phase", phase);
    if (pvc) {
        struct json *capacity = json_new_object();
        json_put_str(capacity, "storage", json_str(pvc, "spec.resources.requests.storage", "1Gi"));
        json_set(st, "capacity", capacity);
        json_set(st, "accessModes", json_copy(json_at(pvc, "spec.accessModes")));
    }
    kobj_write(c->api, &pvc_user, "status", o, NULL, 0);
    json_free(o);
}

static void bind(struct pvc_controller *c, struct json *pvc, const char *volume)
{
    struct json *notes = kobj_member(json_get_mut(pvc, "metadata"), "annotations");
    json_put_str(notes, "pv.kubernetes.io/bind-completed", "yes");
    json_put_str(notes, "pv.kubernetes.io/bound-by-controller", "yes");
    json_put_str(notes, "volume.kubernetes.io/storage-provisioner", PROVISIONER);
    json_put_str(json_get_mut(pvc, "spec"), "volumeName", volume);
    if (kobj_write(c->api, &pvc_user, NULL, pvc, NULL, 0) >= 400)
        return;
    set_phase(c, volumes_res(), NULL, volume, "Bound", NULL);
    set_phase(c, claims_res(), kobj_ns(pvc), kobj_name(pvc), "Bound", pvc);
}

static void provision(struct pvc_controller *c, struct json *pvc, const struct json *class)
{
    struct api_result r;
    struct pd_err err;
    char *name = xasprintf("pvc-%s", kobj_uid(pvc));
    char *path = xasprintf("%s/volumes/%s", api_state_dir(c->api), name), text[512];
    event(c, pvc, "Normal", "ExternalProvisioning", "persistentvolume-controller",
          "Waiting for a volume to be created either by the external provisioner '" PROVISIONER
          "' or manually by the system administrator. If volume creation is delayed, please verify "
          "that the provisioner is running and correctly registered.");
    str_fmt(text, sizeof text, "External provisioner is provisioning volume for claim \"%s/%s\"",
            kobj_ns(pvc), kobj_name(pvc));
    event(c, pvc, "Normal", "Provisioning", PROVISIONER, text);
    if (path_mkdirs(path, 0755, &err) != PD_OK || chmod(path, 0777) < 0) {
        str_fmt(text, sizeof text, "failed to provision volume with StorageClass \"%s\": %.300s",
                kobj_name(class), err.msg);
        event(c, pvc, "Warning", "ProvisioningFailed", PROVISIONER, text);
    } else {
        struct json *pv = new_volume(c, pvc, class, name, path);
        api_create(c->api, &pvc_user, volumes_res(), NULL, pv, &r);
        if (r.code < 300 || r.code == 409) {
            str_fmt(text, sizeof text, "Successfully provisioned volume %s", name);
            event(c, pvc, "Normal", "ProvisioningSucceeded", PROVISIONER, text);
            bind(c, pvc, name);
        } else {
            str_fmt(text, sizeof text,
                    "failed to provision volume with StorageClass \"%s\": %.300s",
                    kobj_name(class), kobj_result_message(&r));
            event(c, pvc, "Warning", "ProvisioningFailed", PROVISIONER, text);
        }
        api_result_release(&r);
        json_free(pv);
    }
    free(name);
    free(path);
}

/* A volume made by hand that names this claim or fits it. */
struct search {
    const struct json *pvc;
    char name[256];
};

static void match_volume(void *arg, const struct json *pv)
{
    struct search *s = arg;
    const char *want = json_str(s->pvc, "spec.volumeName", "");
    const char *claim = json_str(pv, "spec.claimRef.name", "");
    const char *ns = json_str(pv, "spec.claimRef.namespace", "");
    bool taken = *claim && (strcmp(claim, kobj_name(s->pvc)) != 0 ||
                            strcmp(ns, kobj_ns(s->pvc)) != 0);
    if (!taken && *want && strcmp(want, kobj_name(pv)) == 0)
        str_copy(s->name, sizeof s->name, kobj_name(pv));
}

static void pending(struct pvc_controller *c, struct json *pvc)
{
    struct search s = {.pvc = pvc};
    char name[256];
    str_copy(name, sizeof name, json_str(pvc, "spec.storageClassName", ""));
    if (!json_has(pvc, "spec.storageClassName"))
        api_each(c->api, classes_res(), NULL, find_default, name);
    struct json *class = *name ? api_get(c->api, classes_res(), NULL, name) : NULL;
    const char *chosen = json_string_value(
        json_get(json_at(pvc, "metadata.annotations"), "volume.kubernetes.io/selected-node"));
    if (*json_str(pvc, "spec.volumeName", "")) {
        api_each(c->api, volumes_res(), NULL, match_volume, &s);
        if (s.name[0])
            bind(c, pvc, s.name);
    } else if (!class) {
        char text[512];
        str_fmt(text, sizeof text, *name ? "storageclass.storage.k8s.io \"%s\" not found"
                                         : "no persistent volumes available for this claim and no "
                                           "storage class is set%s", name);
        event(c, pvc, *name ? "Warning" : "Normal", *name ? "ProvisioningFailed" : "FailedBinding",
              "persistentvolume-controller", text);
    } else if (!json_has(pvc, "spec.storageClassName")) {
        json_put_str(json_get_mut(pvc, "spec"), "storageClassName", name);   /* then again */
        kobj_write(c->api, &pvc_user, NULL, pvc, NULL, 0);
    } else if (strcmp(json_str(class, "provisioner", ""), PROVISIONER) == 0) {
        if (strcmp(json_str(class, "volumeBindingMode", ""), "WaitForFirstConsumer") != 0 || chosen)
            provision(c, pvc, class);
        else
            event(c, pvc, "Normal", "WaitForFirstConsumer", "persistentvolume-controller",
                  "waiting for first consumer to be created before binding");
    }
    json_free(class);
}

/* --- the end of a claim ----------------------------------------------------------- */

struct users {
    const struct json *pvc;
    bool used;
};

static void uses(void *arg, const struct json *pod)
{
    struct users *u = arg;
    if (kobj_terminal(pod))
        return;
    for (const struct json *v = json_first(json_at(pod, "spec.volumes")); v; v = json_next(v))
        if (strcmp(json_str(v, "persistentVolumeClaim.claimName", ""), kobj_name(u->pvc)) == 0)
            u->used = true;
}

static void release(struct pvc_controller *c, struct json *pvc)
{
    struct users u = {pvc, false};
    api_each(c->api, res_by_plural("", "pods"), kobj_ns(pvc), uses, &u);
    if (!u.used && kobj_drop_finalizer(pvc, CLAIM_FINALIZER))
        kobj_write(c->api, &pvc_user, NULL, pvc, NULL, 0);
}

bool pvc_own_folder(const char *state_dir, const char *path)
{
    size_t n = strlen(state_dir);
    const char *name = path + n + strlen("/volumes/");
    return strncmp(path, state_dir, n) == 0 && str_starts(path + n, "/volumes/") &&
           path_inside(name) && !strchr(name, '/') && strcmp(name, ".") != 0;
}

static void remove_folder(struct pvc_controller *c, const char *path)
{
    struct pd_err err;
    struct child *child;
    char *bin = path_program_dir(), *self = path_join(bin, "podium-practice");
    char sub[] = "remove-tree";
    char *argv[] = {self, sub, (char *)(uintptr_t)path, NULL};
    struct child_spec spec = {.argv = argv};
    if (pvc_own_folder(api_state_dir(c->api), path) && access(self, X_OK) == 0 &&
        child_start(api_loop(c->api), &spec, &child, &err) != PD_OK)
        api_event(c->api, NULL, NULL, "Warning", "VolumeFailedDelete",
                  "persistentvolume-controller", NULL, false, "%s", err.msg);
    free(self);
    free(bin);
}

/* The claim of this volume is gone: Released, then deleted or kept. */
static void reclaim(struct pvc_controller *c, struct json *pv)
{
    struct api_result r;
    const char *name = kobj_name(pv);
    if (strcmp(json_str(pv, "status.phase", ""), "Bound") == 0) {
        set_phase(c, volumes_res(), NULL, name, "Released", NULL);
        return;
    }
    if (strcmp(json_str(pv, "spec.persistentVolumeReclaimPolicy", ""), "Delete") != 0)
        return;
    remove_folder(c, json_str(pv, "spec.hostPath.path", ""));
    api_delete(c->api, &pvc_user, volumes_res(), NULL, name, NULL, &r);
    api_result_release(&r);
    struct json *fresh = api_get(c->api, volumes_res(), NULL, name);
    if (fresh && kobj_drop_finalizer(fresh, VOLUME_FINALIZER))
        kobj_write(c->api, &pvc_user, NULL, fresh, NULL, 0);
    json_free(fresh);
}

/* --- events ----------------------------------------------------------------------- */

static void look_at_claim(struct pvc_controller *c, const char *ns, const char *name)
{
    struct json *pvc = api_get(c->api, claims_res(), ns, name);
    const char *phase = json_str(pvc, "status.phase", "");
    if (!pvc)
        return;
    if (kobj_deleting(pvc)) {
        release(c, pvc);
    } else if (!kobj_has_finalizer(pvc, CLAIM_FINALIZER)) {
        json_append(kobj_list(json_get_mut(pvc, "metadata"), "finalizers"),
                    json_new_string(CLAIM_FINALIZER));
        kobj_write(c->api, &pvc_user, NULL, pvc, NULL, 0);       /* its news brings us back */
    } else if (!*phase || strcmp(phase, "Pending") == 0) {
        pending(c, pvc);
    }
    json_free(pvc);
}

static void on_claim(void *arg, enum api_change change, const struct json *pvc,
                     const struct json *old UNUSED)
{
    struct pvc_controller *c = arg;
    if (c->stopped)
        return;
    if (change != API_DELETED) {
        look_at_claim(c, kobj_ns(pvc), kobj_name(pvc));
        return;
    }
    struct json *pv = api_get(c->api, volumes_res(), NULL, json_str(pvc, "spec.volumeName", ""));
    if (pv && strcmp(json_str(pv, "spec.claimRef.uid", ""), kobj_uid(pvc)) == 0)
        reclaim(c, pv);
    json_free(pv);
}

static void on_volume(void *arg, enum api_change change, const struct json *pv,
                      const struct json *old UNUSED)
{
    struct pvc_controller *c = arg;
    if (c->stopped || change == API_DELETED)
        return;
    const char *phase = json_str(pv, "status.phase", "");
    struct json *pvc = api_get(c->api, claims_res(), json_str(pv, "spec.claimRef.namespace", ""),
                               json_str(pv, "spec.claimRef.name", ""));
    bool orphan = json_has(pv, "spec.claimRef.uid") &&
                  (!pvc || strcmp(kobj_uid(pvc), json_str(pv, "spec.claimRef.uid", "")) != 0);
    struct json *copy = json_copy(pv);
    if ((strcmp(phase, "Released") == 0 || strcmp(phase, "Bound") == 0) && orphan)
        reclaim(c, copy);
    else if (kobj_deleting(pv) && strcmp(phase, "Bound") != 0 &&
             kobj_drop_finalizer(copy, VOLUME_FINALIZER))
        kobj_write(c->api, &pvc_user, NULL, copy, NULL, 0);
    else if (!json_has(pv, "spec.claimRef") && strcmp(phase, "Available") != 0)
        set_phase(c, volumes_res(), NULL, kobj_name(pv), "Available", NULL);
    json_free(copy);
    json_free(pvc);
}

/* A pod that ended may have been the last that held a claim. */
static void on_pod(void *arg, enum api_change change, const struct json *pod,
                   const struct json *old UNUSED)
{
    struct pvc_controller *c = arg;
    if (c->stopped || (change != API_DELETED && !kobj_terminal(pod)))
        return;
    for (const struct json *v = json_first(json_at(pod, "spec.volumes")); v; v = json_next(v)) {
        const char *name = json_str(v, "persistentVolumeClaim.claimName", "");
        struct json *pvc = *name ? api_get(c->api, claims_res(), kobj_ns(pod), name) : NULL;
        if (pvc && kobj_deleting(pvc))
            release(c, pvc);
        json_free(pvc);
    }
}

static void existing_claim(void *arg, const struct json *pvc)
{
    on_claim(arg, API_ADDED, pvc, NULL);
}

static void existing_volume(void *arg, const struct json *pv)
{
    on_volume(arg, API_ADDED, pv, NULL);
}

struct pvc_controller *pvc_controller_start(struct api *a)
{
    struct pvc_controller *c = xcalloc(1, sizeof *c);
    c->api = a;
    make_class(a, "local", "WaitForFirstConsumer", true);
    make_class(a, "local-immediate", "Immediate", false);
    api_subscribe(a, claims_res(), on_claim, c);
    api_subscribe(a, volumes_res(), on_volume, c);
    api_subscribe(a, res_by_plural("", "pods"), on_pod, c);
    api_each(a, claims_res(), NULL, existing_claim, c);
    api_each(a, volumes_res(), NULL, existing_volume, c);
    return c;
}

void pvc_controller_stop(struct pvc_controller *c)
{
    if (c)
        c->stopped = true;
    free(c);
}
