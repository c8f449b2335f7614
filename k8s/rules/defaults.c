/* defaults.c - what the server fills in: the defaulting functions of the served
 * kinds (Kubernetes 1.34) and what a new object gets.
 */
#include "core/base/mem.h"
#include "k8s/rules/rules.h"
#include "k8s/quantity.h"

static void str_default(struct json *o, const char *key, const char *value)
{
    if (!json_get(o, key))
        json_put_str(o, key, value);
}

static void num_default(struct json *o, const char *key, double value)
{
    if (!json_get(o, key))
        json_put_num(o, key, value);
}

static void object_default(struct json *o, const char *key)
{
    if (!json_get(o, key))
        json_set(o, key, json_new_object());
}

static void each(struct json *o, const char *key, void (*fn)(struct json *item))
{
    for (struct json *c = json_first_mut(json_get_mut(o, key)); c; c = json_next_mut(c))
        fn(c);
}

/* --- pod specs --- */

/* Always without a tag or with :latest, and without a digest. */
static const char *pull_policy(const char *image)
{
    const char *slash = strrchr(image, '/'), *name = slash ? slash + 1 : image;
    const char *tag = strchr(name, ':');
    if (strchr(name, '@'))
        return "IfNotPresent";
    return !tag || !strcmp(tag, ":latest") ? "Always" : "IfNotPresent";
}

static void port(struct json *p)
{
    str_default(p, "protocol", "TCP");
}

static void handler(struct json *h)
{
    struct json *get = json_get_mut(h, "httpGet");
    if (get) {
        str_default(get, "path", "/");
        str_default(get, "scheme", "HTTP");
    }
}

static void probe(struct json *c, const char *key)
{
    struct json *p = json_get_mut(c, key);
    if (!p)
        return;
    handler(p);
    num_default(p, "timeoutSeconds", 1);
    num_default(p, "periodSeconds", 10);
    num_default(p, "successThreshold", 1);
    num_default(p, "failureThreshold", 3);
}

static void env(struct json *e)
{
    struct json *ref = json_at_mut(e, "valueFrom.fieldRef");
    if (ref)
        str_default(ref, "apiVersion", "v1");
}

static void container(struct json *c)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    str_default(c, "terminationMessagePath", "/dev/termination-log");
    str_default(c, "terminationMessagePolicy", "File");
    str_default(c, "imagePullPolicy", pull_policy(json_str(c, "image", "")));
    object_default(c, "resources");
    each(c, "ports", port);
    each(c, "env", env);
    for (size_t i = 0; i < ARRAY_LEN(probes); i++)
        probe(c, probes[i]);
}

static void volume(struct json *v)
{
    static const char *const moded[] = {"secret", "configMap", "projected", "downwardAPI"};
    if (json_count(v) < 2)
        object_default(v, "emptyDir");
    for (size_t i = 0; i < ARRAY_LEN(moded); i++)
        if (json_get(v, moded[i]))
            num_default(json_get_mut(v, moded[i]), "defaultMode", 0644);
    if (json_get(v, "hostPath"))
        str_default(json_get_mut(v, "hostPath"), "type", "");
}

static void pod_spec(struct json *spec)
{
    const char *account =
        json_str(spec, "serviceAccountName", json_str(spec, "serviceAccount", NULL));
    str_default(spec, "restartPolicy", "Always");
    num_default(spec, "terminationGracePeriodSeconds", 30);
    str_default(spec, "dnsPolicy", "ClusterFirst");
    str_default(spec, "schedulerName", "default-scheduler");
    object_default(spec, "securityContext");
    if (account) {
        char *copy = xstrdup(account);
        json_put_str(spec, "serviceAccountName", copy);
        json_put_str(spec, "serviceAccount", copy);
        free(copy);
    }
    each(spec, "containers", container);
    each(spec, "initContainers", container);
    each(spec, "volumes", volume);
}

/* A limit without a request requests as much. */
static void requests(struct json *c)
{
    struct json *r = json_get_mut(c, "resources");
    const struct json *limits = json_get(r, "limits");
    if (!limits || json_count(limits) == 0)
        return;
    object_default(r, "requests");
    for (const struct json *m = json_first(limits); m; m = json_next(m))
        if (!json_get(json_get(r, "requests"), json_key(m)))
            json_set(json_get_mut(r, "requests"), json_key(m), json_copy(m));
}

static void pod(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    if (!spec)
        return;
    pod_spec(spec);
    each(spec, "containers", requests);
    each(spec, "initContainers", requests);
    if (!json_get(spec, "enableServiceLinks"))
        json_put_bool(spec, "enableServiceLinks", true);
}

/* --- the other kinds --- */

static void template_spec(struct json *spec)
{
    struct json *t = json_at_mut(spec, "template.spec");
    if (t)
        pod_spec(t);
}

static void job(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    const struct json *labels = json_at(o, "spec.template.metadata.labels");
    if (!spec)
        return;
    if (!json_get(spec, "completions") && !json_get(spec, "parallelism"))
        json_put_num(spec, "completions", 1);
    num_default(spec, "parallelism", 1);
    num_default(spec, "backoffLimit", json_get(spec, "backoffLimitPerIndex") ? 2147483647.0 : 6);
    str_default(spec, "completionMode", "NonIndexed");
    if (!json_get(spec, "suspend"))
        json_put_bool(spec, "suspend", false);
    str_default(spec, "podReplacementPolicy",
                json_get(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    if (json_count(labels) && !json_count(json_at(o, "metadata.labels")))
        json_put_path(o, "metadata.labels", json_copy(labels));
    template_spec(spec);
}

static void deployment(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec"), *s;
    if (!spec)
        return;
    num_default(spec, "replicas", 1);
    object_default(spec, "strategy");
    s = json_get_mut(spec, "strategy");
    str_default(s, "type", "RollingUpdate");
    if (!strcmp(json_str(s, "type", ""), "RollingUpdate")) {
        object_default(s, "rollingUpdate");
        str_default(json_get_mut(s, "rollingUpdate"), "maxUnavailable", "25%");
        str_default(json_get_mut(s, "rollingUpdate"), "maxSurge", "25%");
    }
    num_default(spec, "revisionHistoryLimit", 10);
    num_default(spec, "progressDeadlineSeconds", 600);
    template_spec(spec);
}

static void replicaset(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    if (!spec)
        return;
    num_default(spec, "replicas", 1);
    template_spec(spec);
}

static void secret(struct json *o)
{
    struct json *text = json_detach(o, "stringData");
    str_default(o, "type", "Opaque");
    for (const struct json *m = json_first(text); m; m = json_next(m)) {
        const char *v = json_string_value(m);
        object_default(o, "data");
        char *b64 = defaults_base64(v ? v : "");
        json_put_str(json_get_mut(o, "data"), json_key(m), b64);
        free(b64);
    }
    json_free(text);
}

static void service_port(struct json *p)
{
    port(p);
    if (!json_get(p, "targetPort") && json_get(p, "port"))
        json_put_num(p, "targetPort", json_num(p, "port", 0));
}

static void service(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    if (!spec)
        return;
    str_default(spec, "type", "ClusterIP");
    str_default(spec, "sessionAffinity", "None");
    str_default(spec, "internalTrafficPolicy", "Cluster");
    each(spec, "ports", service_port);
}

static void claim(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    if (spec)
        str_default(spec, "volumeMode", "Filesystem");
    const struct json *limits = json_at(spec, "resources.limits");
    if (limits && !json_at(spec, "resources.requests"))
        json_put_path(spec, "resources.requests", json_copy(limits));
}

static void volume_object(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    if (!spec)
        return;
    str_default(spec, "persistentVolumeReclaimPolicy", "Retain");
    str_default(spec, "volumeMode", "Filesystem");
}

static void storage_class(struct json *o)
{
    str_default(o, "reclaimPolicy", "Delete");
    str_default(o, "volumeBindingMode", "Immediate");
}

static void namespace(struct json *o)
{
    json_put_path(o, "metadata.labels['kubernetes.io/metadata.name']",
                  json_new_string(json_str(o, "metadata.name", "")));
    object_default(o, "spec");
}

static void subject(struct json *s)
{
    if (strcmp(json_str(s, "kind", ""), "ServiceAccount") != 0)
        str_default(s, "apiGroup", "rbac.authorization.k8s.io");
}

static void binding(struct json *o)
{
    if (json_get(o, "roleRef"))
        str_default(json_get_mut(o, "roleRef"), "apiGroup", "rbac.authorization.k8s.io");
    each(o, "subjects", subject);
}

static void priority_class(struct json *o)
{
    str_default(o, "preemptionPolicy", "PreemptLowerPriority");
}

static void limit_item(struct json *item)
{
    const struct json *limits = json_get(item, "default");
    if (strcmp(json_str(item, "type", ""), "Container") != 0)
        return;
    if (!limits && json_get(item, "max"))
        json_set(item, "default", json_copy(json_get(item, "max")));
    if (!json_get(item, "defaultRequest") && json_get(item, "default"))
        json_set(item, "defaultRequest", json_copy(json_get(item, "default")));
}

static void limit_range(struct json *o)
{
    each(json_get_mut(o, "spec"), "limits", limit_item);
}

void defaults_apply(const struct res *res, struct json *obj)
{
    static const struct {
        const char *kind;
        void (*fn)(struct json *o);
    } kinds[] = {{"Pod", pod}, {"Job", job}, {"Deployment", deployment},
                 {"ReplicaSet", replicaset}, {"Secret", secret}, {"Service", service},
                 {"PersistentVolumeClaim", claim}, {"PersistentVolume", volume_object},
                 {"StorageClass", storage_class}, {"Namespace", namespace},
                 {"RoleBinding", binding}, {"ClusterRoleBinding", binding},
                 {"PriorityClass", priority_class}, {"LimitRange", limit_range}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, res->kind))
            kinds[i].fn(obj);
}
