/* check_api.c - apiVersion and kind: missing, misspelt, in the wrong group, or of
 * a version that Kubernetes no longer serves (check_in.h). */
#include "k8s/rules/check_in.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"

/* Kinds of Kubernetes 1.34 and where they are served. */
static const struct {
    const char *kind, *gv;
} kinds[] = {
    {"APIService", "apiregistration.k8s.io/v1"}, {"Binding", "v1"},
    {"CertificateSigningRequest", "certificates.k8s.io/v1"},
    {"ClusterRole", "rbac.authorization.k8s.io/v1"},
    {"ClusterRoleBinding", "rbac.authorization.k8s.io/v1"}, {"ConfigMap", "v1"},
    {"ControllerRevision", "apps/v1"}, {"CronJob", "batch/v1"}, {"CSIDriver", "storage.k8s.io/v1"},
    {"CustomResourceDefinition", "apiextensions.k8s.io/v1"}, {"DaemonSet", "apps/v1"},
    {"Deployment", "apps/v1"}, {"EndpointSlice", "discovery.k8s.io/v1"}, {"Endpoints", "v1"},
    {"Event", "v1"}, {"HorizontalPodAutoscaler", "autoscaling/v2"},
    {"Ingress", "networking.k8s.io/v1"}, {"IngressClass", "networking.k8s.io/v1"},
    {"Job", "batch/v1"}, {"Lease", "coordination.k8s.io/v1"}, {"LimitRange", "v1"},
    {"MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1"}, {"Namespace", "v1"},
    {"NetworkPolicy", "networking.k8s.io/v1"}, {"Node", "v1"}, {"PersistentVolume", "v1"},
    {"PersistentVolumeClaim", "v1"}, {"Pod", "v1"}, {"PodDisruptionBudget", "policy/v1"},
    {"PodTemplate", "v1"}, {"PriorityClass", "scheduling.k8s.io/v1"}, {"ReplicaSet", "apps/v1"},
    {"ReplicationController", "v1"}, {"ResourceQuota", "v1"},
    {"Role", "rbac.authorization.k8s.io/v1"}, {"RoleBinding", "rbac.authorization.k8s.io/v1"},
    {"RuntimeClass", "node.k8s.io/v1"}, {"Secret", "v1"}, {"Service", "v1"},
    {"ServiceAccount", "v1"}, {"StatefulSet", "apps/v1"}, {"StorageClass", "storage.k8s.io/v1"},
    {"ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1"},
    {"VolumeAttachment", "storage.k8s.io/v1"}};

/* What is gone; kind "" is every kind of the version. now "": it has no heir. */
static const struct {
    const char *gv, *kind, *since, *now;
} gone[] = {
    {"extensions/v1beta1", "Ingress", "1.22", "networking.k8s.io/v1"},
    {"extensions/v1beta1", "NetworkPolicy", "1.16", "networking.k8s.io/v1"},
    {"extensions/v1beta1", "PodSecurityPolicy", "1.25", ""},
    {"extensions/v1beta1", "Deployment", "1.16", "apps/v1"},
    {"extensions/v1beta1", "DaemonSet", "1.16", "apps/v1"},
    {"extensions/v1beta1", "ReplicaSet", "1.16", "apps/v1"},
    {"extensions/v1beta1", "Job", "1.6", "batch/v1"},
    {"apps/v1beta1", "", "1.16", "apps/v1"}, {"apps/v1beta2", "", "1.16", "apps/v1"},
    {"batch/v1beta1", "CronJob", "1.25", "batch/v1"}, {"batch/v1beta1", "Job", "", "batch/v1"},
    {"batch/v2alpha1", "", "1.21", "batch/v1"},
    {"networking.k8s.io/v1beta1", "", "1.22", "networking.k8s.io/v1"},
    {"policy/v1beta1", "PodDisruptionBudget", "1.25", "policy/v1"},
    {"policy/v1beta1", "PodSecurityPolicy", "1.25", ""},
    {"rbac.authorization.k8s.io/v1beta1", "", "1.22", "rbac.authorization.k8s.io/v1"},
    {"rbac.authorization.k8s.io/v1alpha1", "", "1.20", "rbac.authorization.k8s.io/v1"},
    {"storage.k8s.io/v1beta1", "", "1.22", "storage.k8s.io/v1"},
    {"autoscaling/v2beta1", "", "1.25", "autoscaling/v2"},
    {"autoscaling/v2beta2", "", "1.26", "autoscaling/v2"},
    {"apiextensions.k8s.io/v1beta1", "", "1.22", "apiextensions.k8s.io/v1"},
    {"admissionregistration.k8s.io/v1beta1", "", "1.22", "admissionregistration.k8s.io/v1"},
    {"scheduling.k8s.io/v1beta1", "", "1.22", "scheduling.k8s.io/v1"},
    {"coordination.k8s.io/v1beta1", "", "1.22", "coordination.k8s.io/v1"},
    {"certificates.k8s.io/v1beta1", "", "1.22", "certificates.k8s.io/v1"},
    {"discovery.k8s.io/v1beta1", "", "1.25", "discovery.k8s.io/v1"},
    {"events.k8s.io/v1beta1", "", "1.25", "events.k8s.io/v1"},
    {"node.k8s.io/v1beta1", "", "1.25", "node.k8s.io/v1"}};

/* Further places where a kind is served. */
static const char *const also[][2] = {{"Event", "events.k8s.io/v1"},
                                      {"HorizontalPodAutoscaler", "autoscaling/v1"}};

static const char *home_of(const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].gv;
    return NULL;
}

/* A group of Kubernetes itself, for which the tables above are complete enough to
 * judge. */
static bool own_group(const char *gv)
{
    static const char *const groups[] = {"apps", "batch", "extensions", "policy", "autoscaling",
                                         "core"};
    const char *slash = strchr(gv, '/');
    char group[96];
    str_fmt(group, sizeof group, "%.*s", slash ? (int)(slash - gv) : 0, gv);
    if (!slash)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (!strcmp(groups[i], group))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        size_t n = strlen(group);
        if (!strncmp(kinds[i].gv, group, n) && kinds[i].gv[n] == '/')
            return true;
    }
    return false;
}

static const char *nearest_kind(const char *kind)
{
    const char *names[ARRAY_LEN(kinds)];
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        names[i] = kinds[i].kind;
        if (!strcasecmp(kinds[i].kind, kind))
            return kinds[i].kind;
    }
    return str_nearest(kind, names, ARRAY_LEN(kinds));
}

static struct check_finding *no_match(struct check *c, const struct manifest_doc *d,
                                      const char *cause, const char *path)
{
    char *said = xasprintf("no matches for kind \"%s\" in version \"%s\"",
                           json_str(d->object, "kind", ""), json_str(d->object, "apiVersion", ""));
    struct check_finding *f = check_add(c, CHECK_ERROR, cause, path, said);
    if (f->path)
        manifest_place(d, path, &f->line, &f->col);
    free(said);
    return f;
}

static bool was_removed(struct check *c, const struct manifest_doc *d, const char *gv,
                        const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
        if (strcmp(gone[i].gv, gv) != 0 || (*gone[i].kind && strcmp(gone[i].kind, kind) != 0))
            continue;
        struct check_finding *f = no_match(c, d, "api-version-gone", "apiVersion");
        const char *now = home_of(kind) ? home_of(kind) : gone[i].now;
        char *why = *gone[i].since ? xasprintf(_("%s in %s is gone since Kubernetes %s"), kind, gv,
                                               gone[i].since)
                                   : xasprintf(_("%s was never served in %s"), kind, gv);
        check_say(f, why, *now ? xasprintf(_("write apiVersion: %s and look for fields that have "
                                             "changed"), now)
                               : xstrdup(_("take the object out of the file")));
        return true;
    }
    return false;
}

/* The kind is one of Kubernetes', but not here. */
static bool elsewhere(struct check *c, const struct manifest_doc *d, const char *gv,
                      const char *kind)
{
    const char *home = home_of(kind), *near = home ? NULL : nearest_kind(kind);
    if (home) {
        struct check_finding *f = no_match(c, d, "api-version-wrong", "apiVersion");
        check_say(f, xasprintf(_("%s is served in %s, not in %s"), kind, home, gv),
                  xasprintf(_("write apiVersion: %s"), home));
        return true;
    }
    if (!own_group(gv))
        return false;
    struct check_finding *f = no_match(c, d, "kind-unknown", "kind");
    check_say(f, xasprintf(_("Kubernetes has no kind %s in %s"), kind, gv),
              near ? xasprintf(_("write kind: %s, apiVersion: %s"), near, home_of(near))
                   : xstrdup(_("look the kind up with kubectl api-resources")));
    return true;
}

static bool present(struct check *c, const struct manifest_doc *d, const char *key,
                    const char *said, const char *example)
{
    const struct json *v = json_get(d->object, key);
    if (json_type(v) == JSON_STRING && *json_string_value(v))
        return true;
    struct check_finding *f = check_add(c, CHECK_ERROR, "no-kind-or-version", key, said);
    check_at(f, d->root->line, d->root->col);
    const struct ynode *y = yaml_get(d->root, key);
    if (y)
        check_at(f, y->key_line, y->key_col);
    check_say(f, xasprintf(y ? _("%s must be a text") : _("the object has no %s"), key),
              xasprintf(_("add a line such as %s"), example));
    return false;
}

bool check_api(struct check *c, const struct manifest_doc *d)
{
    const char *gv = json_str(d->object, "apiVersion", ""), *kind = json_str(d->object, "kind", "");
    if (d->root->kind != Y_MAP) {
        struct check_finding *f = check_add(c, CHECK_ERROR, "not-an-object", "", "");
        check_at(f, d->root->line, d->root->col);
        check_say(f, xstrdup(_("a manifest must be a map with apiVersion, kind and metadata")),
                  xstrdup(_("check that the file is the one you mean, and its first lines")));
        return false;
    }
    bool both = present(c, d, "apiVersion", "apiVersion not set", "apiVersion: batch/v1");
    both = present(c, d, "kind", "Object 'Kind' is missing", "kind: Job") && both;
    if (!both)
        return false;
    if (schema_type(gv, kind))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(also); i++)
        if (!strcmp(also[i][0], kind) && !strcmp(also[i][1], gv))
            return true;
    if (was_removed(c, d, gv, kind))
        return false;
    return home_of(kind) && !strcmp(home_of(kind), gv) ? true : !elsewhere(c, d, gv, kind);
}
