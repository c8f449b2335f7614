/* validate_kinds.c - the kinds whose rules are short, with the sentences of
 * Kubernetes 1.34's validation (validate_in.h). */
#include "core/base/mem.h"
#include "k8s/quantity.h"
#include "k8s/rules/validate_in.h"

enum { DATA_MAX = 1 << 20 };

static void immutable(const struct json *obj, const struct json *old, const char *path,
                      struct ferrs *e)
{
    const struct json *a = json_at(obj, path), *b = json_at(old, path);
    if (!(a && b ? json_equal(a, b) : a == b))
        ferrs_invalid(e, path, a, "field is immutable");
}

static void data_keys(const struct json *data, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    for (const struct json *m = json_first(data); m; m = json_next(m)) {
        const char *key = json_key(m), *why = validate_config_key_problem(key);
        struct json *v = json_new_string(key);
        str_fmt(path, sizeof path, "%s[%s]", at, key);
        if (why)
            ferrs_invalid(e, path, v, "%s", why);
        json_free(v);
    }
}

/* What the values weigh; base64 as what it stands for. */
static size_t weight(const struct json *data, bool base64)
{
    size_t total = 0;
    for (const struct json *m = json_first(data); m; m = json_next(m)) {
        const char *s = json_string_value(m) ? json_string_value(m) : "";
        size_t n = strlen(s);
        total += base64 ? n / 4 * 3 - (n > 0 && s[n - 1] == '=') - (n > 1 && s[n - 2] == '=') : n;
    }
    return total;
}

static void config_map(const struct json *o, const struct json *old, struct ferrs *e)
{
    size_t total = weight(json_get(o, "data"), false) + weight(json_get(o, "binaryData"), true);
    data_keys(json_get(o, "data"), "data", e);
    data_keys(json_get(o, "binaryData"), "binaryData", e);
    for (const struct json *m = json_first(json_get(o, "binaryData")); m; m = json_next(m))
        if (json_get(json_get(o, "data"), json_key(m))) {
            char path[320];
            str_fmt(path, sizeof path, "data[%s]", json_key(m));
            ferrs_invalid_key(e, path, json_key(m), "duplicate of key present in binaryData");
        }
    if (total > DATA_MAX)
        ferrs_too_long(e, "", DATA_MAX);
    if (old && json_bool(old, "immutable", false)) {
        if (!json_bool(o, "immutable", false))
            ferrs_forbidden(e, "immutable", "field is immutable when `immutable` is set");
        if (!json_equal(json_get(o, "data"), json_get(old, "data")))
            ferrs_forbidden(e, "data", "field is immutable when `immutable` is set");
    }
}

/* What a type of Secret must hold. */
static void secret_type(const struct json *o, struct ferrs *e)
{
    static const struct {
        const char *type, *key;
    } needs[] = {{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"},
                 {"kubernetes.io/dockercfg", ".dockercfg"},
                 {"kubernetes.io/ssh-auth", "ssh-privatekey"},
                 {"kubernetes.io/tls", "tls.crt"},
                 {"kubernetes.io/tls", "tls.key"}};
    const struct json *data = json_get(o, "data");
    char at[VALIDATE_PATH];
    for (size_t i = 0; i < ARRAY_LEN(needs); i++) {
        str_fmt(at, sizeof at, "data[%s]", needs[i].key);
        if (!strcmp(json_str(o, "type", ""), needs[i].type) && !json_get(data, needs[i].key))
            ferrs_required(e, at, "");
    }
    if (!strcmp(json_str(o, "type", ""), "kubernetes.io/basic-auth") &&
        !json_get(data, "username") && !json_get(data, "password")) {
        ferrs_required(e, "data[username]", "");
        ferrs_required(e, "data[password]", "");
    }
}

static void secret(const struct json *o, const struct json *old, struct ferrs *e)
{
    data_keys(json_get(o, "data"), "data", e);
    if (weight(json_get(o, "data"), true) > DATA_MAX)
        ferrs_too_long(e, "data", DATA_MAX);
    secret_type(o, e);
    if (old) {
        immutable(o, old, "type", e);
        if (json_bool(old, "immutable", false) &&
            !json_equal(json_get(o, "data"), json_get(old, "data")))
            ferrs_forbidden(e, "data", "field is immutable when `immutable` is set");
    }
}

#define ACCESS_MODES "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod"

/* 0: there is no such mode; 2: the one that stands alone. */
static int access_mode(const char *s)
{
    struct strv v;
    strv_init(&v);
    strv_split(&v, ACCESS_MODES, '|');
    int kind = !strv_has(&v, s) ? 0 : !strcmp(s, "ReadWriteOncePod") ? 2 : 1;
    strv_release(&v);
    return kind;
}

static void claim_update(const struct json *spec, const struct json *old, struct ferrs *e)
{
    struct json *a = json_copy(spec), *b = json_copy(json_get(old, "spec"));
    json_remove(a, "volumeName");             /* the binder sets it once */
    json_remove(b, "volumeName");
    json_remove(json_get_mut(a, "resources"), "requests");
    json_remove(json_get_mut(b, "resources"), "requests");
    if (!json_equal(a, b))
        ferrs_forbidden(e, "spec", "spec is immutable after creation except resources.requests and "
                                   "volumeAttributesClassName for bound claims");
    json_free(a);
    json_free(b);
}

static void claim(const struct json *o, const struct json *old, struct ferrs *e)
{
    const struct json *spec = json_get(o, "spec"), *size = json_at(spec, "resources.requests."
                                                                         "storage");
    struct quantity q;
    bool alone = false, other = false;
    if (json_count(json_get(spec, "accessModes")) == 0)
        ferrs_required(e, "spec.accessModes", "at least 1 access mode is required");
    for (const struct json *m = json_first(json_get(spec, "accessModes")); m; m = json_next(m)) {
        const char *s = json_string_value(m) ? json_string_value(m) : "";
        int kind = access_mode(s);
        if (!kind)
            ferrs_unsupported(e, "spec.accessModes", s, ACCESS_MODES);
        alone = alone || kind == 2;
        other = other || kind == 1;
    }
    if (alone && other)
        ferrs_forbidden(e, "spec.accessModes", "may not use ReadWriteOncePod with other access "
                                               "modes");
    validate_field_name(spec, "storageClassName", "spec", validate_subdomain_problem, e);
    validate_field_enum(spec, "volumeMode", "spec", "Block|Filesystem", e);
    if (!size)
        ferrs_required(e, "spec.resources[storage]", "");
    else if (quantity_parse(json_string_value(size) ? json_string_value(size) : "", &q) &&
             q.nano <= 0)
        ferrs_invalid(e, "spec.resources[storage]", size, "must be greater than zero");
    if (old && !json_equal(spec, json_get(old, "spec")))
        claim_update(spec, old, e);
}

static void service_port(const struct json *p, int i, bool named, struct strv *names,
                         struct ferrs *e)
{
    char at[64], path[VALIDATE_PATH];
    const char *name = json_str(p, "name", "");
    struct json *zero = json_new_number(0);
    str_fmt(at, sizeof at, "spec.ports[%d]", i);
    str_fmt(path, sizeof path, "%s.name", at);
    if (named)
        validate_field_required(p, "name", at, e);
    validate_field_name(p, "name", at, validate_label_problem, e);
    if (*name && strv_has(names, name))
        ferrs_duplicate(e, path, name);
    strv_push(names, name);
    str_fmt(path, sizeof path, "%s.port", at);
    validate_field_port(json_get(p, "port") ? json_get(p, "port") : zero, path, e);
    validate_field_enum(p, "protocol", at, "SCTP|TCP|UDP", e);
    str_fmt(path, sizeof path, "%s.targetPort", at);
    validate_field_port_or_name(json_get(p, "targetPort"), path, e);
    json_free(zero);
}

static void service(const struct json *o, const struct json *old, struct ferrs *e)
{
    int i = 0;
    struct strv names;
    const struct json *ports = json_at(o, "spec.ports");
    bool named = json_count(ports) > 1;
    strv_init(&names);
    if (json_count(ports) == 0 && strcmp(json_str(o, "spec.type", ""), "ExternalName") != 0 &&
        strcmp(json_str(o, "spec.clusterIP", ""), "None") != 0)
        ferrs_required(e, "spec.ports", "");
    for (const struct json *p = json_first(ports); p; p = json_next(p), i++)
        service_port(p, i, named, &names, e);
    validate_labels(json_at(o, "spec.selector"), "spec.selector", e);
    validate_field_enum(json_get(o, "spec"), "type", "spec",
                        "ClusterIP|ExternalName|LoadBalancer|NodePort", e);
    if (old && *json_str(old, "spec.clusterIP", ""))
        immutable(o, old, "spec.clusterIP", e);
    strv_release(&names);
}

static void event(const struct json *o, const struct json *old, struct ferrs *e)
{
    (void)old;
    if (strcmp(json_str(o, "involvedObject.namespace", json_str(o, "metadata.namespace", "")),
               json_str(o, "metadata.namespace", "")) != 0)
        ferrs_invalid(e, "involvedObject.namespace", json_at(o, "involvedObject.namespace"),
                      "does not match event.namespace");
}

static void quota(const struct json *o, const struct json *old, struct ferrs *e)
{
    struct quantity q;
    char at[320];
    (void)old;
    for (const struct json *m = json_first(json_at(o, "spec.hard")); m; m = json_next(m))
        if (json_string_value(m) && quantity_parse(json_string_value(m), &q) && q.nano < 0) {
            str_fmt(at, sizeof at, "spec.hard[%s]", json_key(m));
            ferrs_invalid(e, at, m, "must be greater than or equal to 0");
        }
}

static void role_binding(const struct json *o, const struct json *old, struct ferrs *e)
{
    if (!*json_str(o, "roleRef.name", ""))
        ferrs_required(e, "roleRef.name", "");
    if (old && !json_equal(json_get(o, "roleRef"), json_get(old, "roleRef")))
        ferrs_invalid(e, "roleRef", json_get(o, "roleRef"), "cannot change roleRef");
}

static void storage_class(const struct json *o, const struct json *old, struct ferrs *e)
{
    if (!*json_str(o, "provisioner", ""))
        ferrs_required(e, "provisioner", "");
    if (old)
        immutable(o, old, "provisioner", e);
}

static void pod_kind(const struct json *o, const struct json *old, struct ferrs *e)
{
    validate_pod(o, old, e);
}

static void workload_selector(const struct json *o, const char *kind, struct ferrs *e)
{
    const struct json *sel = json_at(o, "spec.selector");
    const struct json *labels = json_at(o, "spec.template.metadata.labels");
    char text[64];
    if (!sel) {
        ferrs_required(e, "spec.selector", "");
        ferrs_invalid(e, "spec.template.metadata.labels", labels,
                      "`selector` does not match template `labels`");
        return;
    }
    validate_selector(sel, "spec.selector", e);
    str_fmt(text, sizeof text, "empty selector is invalid for %s", kind);
    if (!json_count(json_get(sel, "matchLabels")) && !json_count(json_get(sel, "matchExpressions")))
        ferrs_invalid(e, "spec.selector", sel, "%s", text);
    for (const struct json *m = json_first(json_get(sel, "matchLabels")); m; m = json_next(m)) {
        const struct json *have = json_get(labels, json_key(m));
        if (have && json_equal(have, m))
            continue;
        ferrs_invalid(e, "spec.template.metadata.labels", labels,
                      "`selector` does not match template `labels`");
        return;
    }
}

static void workload(const struct json *o, const struct json *old, struct ferrs *e)
{
    const char *kind = json_str(o, "kind", ""), *policy;
    const struct json *spec = json_get(o, "spec");
    bool deployment = !strcmp(kind, "Deployment");
    validate_field_not_negative(spec, "replicas", "spec", e);
    workload_selector(o, deployment ? "deployment" : "replicaset", e);
    validate_template(json_get(spec, "template"), "spec.template", e);
    policy = json_str(spec, "template.spec.restartPolicy", "Always");
    if (strcmp(policy, "Always") != 0)
        ferrs_unsupported(e, "spec.template.spec.restartPolicy", policy, "Always");
    if (json_at(spec, "template.spec.activeDeadlineSeconds"))
        ferrs_forbidden(e, "spec.template.spec.activeDeadlineSeconds",
                        "activeDeadlineSeconds in ReplicaSet is not Supported");
    validate_field_not_negative(spec, "minReadySeconds", "spec", e);
    validate_field_not_negative(spec, "revisionHistoryLimit", "spec", e);
    validate_field_not_negative(spec, "progressDeadlineSeconds", "spec", e);
    if (old)
        immutable(o, old, "spec.selector", e);
}

void validate_kinds(const struct res *res, const struct json *o, const struct json *old,
                    struct ferrs *e)
{
    static const struct {
        const char *kind;
        void (*fn)(const struct json *o, const struct json *old, struct ferrs *e);
    } kinds[] = {{"Pod", pod_kind}, {"Job", validate_job}, {"ConfigMap", config_map},
                 {"Secret", secret}, {"PersistentVolumeClaim", claim}, {"Service", service},
                 {"Event", event}, {"ResourceQuota", quota}, {"RoleBinding", role_binding},
                 {"ClusterRoleBinding", role_binding}, {"StorageClass", storage_class},
                 {"Deployment", workload}, {"ReplicaSet", workload}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, res->kind))
            kinds[i].fn(o, old, e);
}
