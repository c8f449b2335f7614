/* validate.c - metadata, names, labels, and the kinds whose rules are short,
 * with the sentences of Kubernetes 1.34's validation. Pods and Jobs are in
 * validate_pod.c.
 */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/mem.h"
#include "k8s/rules/rules.h"
#include "k8s/quantity.h"

#define QUALIFIED_TEXT                                                                            \
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "   \
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "        \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define LABEL_VALUE_TEXT                                                                          \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "            \
    "'my_value',  or '12345', regex used for validation is "                                      \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define DNS_1035_TEXT                                                                             \
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "  \
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "          \
    "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define CONFIG_KEY_TEXT                                                                           \
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "          \
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"

enum { ANNOTATIONS_MAX = 256 << 10, DATA_MAX = 1 << 20 };

/* --- names --- */

static bool lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool label_n(const char *s, size_t n)
{
    if (n == 0 || n > 63 || !lower_alnum(s[0]) || !lower_alnum(s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!lower_alnum(s[i]) && s[i] != '-')
            return false;
    return true;
}

bool validate_dns_label(const char *s)
{
    return label_n(s, strlen(s));
}

bool validate_dns_name(const char *s)
{
    if (strlen(s) > 253)
        return false;
    for (;;) {
        size_t n = strcspn(s, ".");
        if (n == 0 || !lower_alnum(s[0]) || !lower_alnum(s[n - 1]))
            return false;
        for (size_t i = 0; i < n; i++)
            if (!lower_alnum(s[i]) && s[i] != '-')
                return false;
        if (!s[n])
            return true;
        s += n + 1;
    }
}

static bool word(const char *s, size_t n)
{
    if (n == 0 || !isalnum((unsigned char)s[0]) || !isalnum((unsigned char)s[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("-_.", s[i]))
            return false;
    return true;
}

const char *validate_label_value(const char *s)
{
    size_t n = strlen(s);
    if (n > 63)
        return "must be no more than 63 characters";
    return n == 0 || word(s, n) ? NULL : LABEL_VALUE_TEXT;
}

const char *validate_qualified(const char *s)
{
    const char *slash = strchr(s, '/'), *name = slash ? slash + 1 : s;
    if (slash) {
        char *prefix = xstrndup(s, (size_t)(slash - s));
        bool empty = !*prefix, ok = validate_dns_name(prefix);
        free(prefix);
        if (empty)
            return "prefix part must be non-empty";
        if (!ok)
            return "prefix part " VALIDATE_DNS_NAME_TEXT;
    }
    if (strchr(name, '/'))
        return "a qualified name " QUALIFIED_TEXT " with an optional DNS subdomain prefix and '/' "
               "(e.g. 'example.com/MyName')";
    if (!*name)
        return "name part must be non-empty";
    if (strlen(name) > 63)
        return "name part must be no more than 63 characters";
    return word(name, strlen(name)) ? NULL : "name part " QUALIFIED_TEXT;
}

void validate_labels(const struct json *labels, const char *at, struct ferrs *e)
{
    for (const struct json *m = json_first(labels); m; m = json_next(m)) {
        const char *why = validate_qualified(json_key(m));
        struct json *key = json_new_string(json_key(m));
        if (why)
            ferrs_invalid(e, at, key, "%s", why);
        why = validate_label_value(json_string_value(m) ? json_string_value(m) : "");
        if (why)
            ferrs_invalid(e, at, m, "%s", why);
        json_free(key);
    }
}

static void annotations(const struct json *all, struct ferrs *e)
{
    size_t total = 0;
    for (const struct json *m = json_first(all); m; m = json_next(m)) {
        char *lower = xstrdup(json_key(m));
        for (char *p = lower; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        const char *why = validate_qualified(lower);
        struct json *key = json_new_string(json_key(m));
        if (why)
            ferrs_invalid(e, "metadata.annotations", key, "%s", why);
        total += strlen(json_key(m)) + (json_string_value(m) ? strlen(json_string_value(m)) : 0);
        json_free(key);
        free(lower);
    }
    if (total > ANNOTATIONS_MAX)
        ferrs_too_long(e, "metadata.annotations", ANNOTATIONS_MAX);
}

static bool dns_1035(const char *s)
{
    return validate_dns_label(s) && !isdigit((unsigned char)s[0]);
}

/* RBAC names may hold ':' and more; they only have to fit a path. */
static bool path_name(const char *s)
{
    return *s && !strchr(s, '/') && !strchr(s, '%') && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

static const char *name_problem(const struct res *res, const char *name)
{
    if (!strcmp(res->group, "rbac.authorization.k8s.io"))
        return path_name(name) ? NULL : "may not contain '/' or '%'";
    if (!strcmp(res->plural, "services"))
        return dns_1035(name) ? NULL : DNS_1035_TEXT;
    if (!strcmp(res->plural, "namespaces"))
        return validate_dns_label(name) ? NULL : VALIDATE_DNS_LABEL_TEXT;
    if (strlen(name) > 253)
        return "must be no more than 253 characters";
    return validate_dns_name(name) ? NULL : VALIDATE_DNS_NAME_TEXT;
}

static void owners(const struct json *meta, struct ferrs *e)
{
    static const char *const need[] = {"apiVersion", "kind", "name", "uid"};
    int i = 0, controllers = 0;
    char at[96];
    for (const struct json *o = json_first(json_get(meta, "ownerReferences")); o;
         o = json_next(o), i++) {
        controllers += json_bool(o, "controller", false);
        for (size_t k = 0; k < ARRAY_LEN(need); k++)
            if (!*json_str(o, need[k], "")) {
                str_fmt(at, sizeof at, "metadata.ownerReferences[%d].%s", i, need[k]);
                ferrs_invalid_text(e, at, "\"\"", "must not be empty");
            }
    }
    if (controllers > 1)
        ferrs_invalid(e, "metadata.ownerReferences", json_get(meta, "ownerReferences"),
                      "Only one reference can have Controller set to true");
}

void validate_meta(const struct res *res, const struct json *obj, struct ferrs *e)
{
    const struct json *meta = json_get(obj, "metadata"), *name = json_get(meta, "name");
    const char *text = json_str(meta, "name", "");
    if (!*text) {
        ferrs_required(e, "metadata.name", "name or generateName is required");
    } else {
        const char *why = name_problem(res, text);
        if (why)
            ferrs_invalid(e, "metadata.name", name, "%s", why);
    }
    validate_labels(json_get(meta, "labels"), "metadata.labels", e);
    annotations(json_get(meta, "annotations"), e);
    owners(meta, e);
    for (const struct json *f = json_first(json_get(meta, "finalizers")); f; f = json_next(f)) {
        const char *s = json_string_value(f), *why = s ? validate_qualified(s) : NULL;
        if (why)
            ferrs_invalid(e, "metadata.finalizers", f, "%s", why);
    }
}

void validate_selector(const struct json *sel, const char *at, struct ferrs *e)
{
    char path[256];
    int i = 0;
    str_fmt(path, sizeof path, "%s.matchLabels", at);
    validate_labels(json_get(sel, "matchLabels"), path, e);
    for (const struct json *x = json_first(json_get(sel, "matchExpressions")); x;
         x = json_next(x), i++) {
        const char *op = json_str(x, "operator", "");
        bool set = !strcmp(op, "In") || !strcmp(op, "NotIn");
        str_fmt(path, sizeof path, "%s.matchExpressions[%d].values", at, i);
        if (set && json_count(json_get(x, "values")) == 0)
            ferrs_required(e, path, "must be specified when `operator` is 'In' or 'NotIn'");
        else if (!set && (!strcmp(op, "Exists") || !strcmp(op, "DoesNotExist")) &&
                 json_count(json_get(x, "values")) > 0)
            ferrs_forbidden(e, path, "may not be specified when `operator` is 'Exists' or "
                                     "'DoesNotExist'");
        else if (!set && strcmp(op, "Exists") != 0 && strcmp(op, "DoesNotExist") != 0) {
            str_fmt(path, sizeof path, "%s.matchExpressions[%d].operator", at, i);
            ferrs_invalid(e, path, json_get(x, "operator"), "not a valid selector operator");
        }
    }
}

/* --- short kinds --- */

static void immutable(const struct json *obj, const struct json *old, const char *path,
                      struct ferrs *e)
{
    const struct json *a = json_at(obj, path), *b = json_at(old, path);
    if (!(a && b ? json_equal(a, b) : a == b))
        ferrs_invalid(e, path, a, "field is immutable");
}

static void data_keys(const struct json *data, const char *at, size_t *total, struct ferrs *e)
{
    char path[320];
    for (const struct json *m = json_first(data); m; m = json_next(m)) {
        const char *key = json_key(m);
        bool ok = *key && strlen(key) <= 253 &&
                  strspn(key, "-._abcdefghijklmnopqrstuvwxyzABCDEFGHI"
                              "JKLMNOPQRSTUVWXYZ0123456789") == strlen(key);
        struct json *v = json_new_string(key);
        str_fmt(path, sizeof path, "%s[%s]", at, key);
        if (!ok)
            ferrs_invalid(e, path, v, "%s", CONFIG_KEY_TEXT);
        json_free(v);
        *total += json_string_value(m) ? strlen(json_string_value(m)) : 0;
    }
}

static void config_map(const struct json *o, const struct json *old, struct ferrs *e)
{
    size_t total = 0;
    data_keys(json_get(o, "data"), "data", &total, e);
    data_keys(json_get(o, "binaryData"), "binaryData", &total, e);
    for (const struct json *m = json_first(json_get(o, "binaryData")); m; m = json_next(m))
        if (json_get(json_get(o, "data"), json_key(m))) {
            char path[320];
            str_fmt(path, sizeof path, "data[%s]", json_key(m));
            ferrs_invalid_text(e, path, json_key(m), "duplicate of key present in binaryData");
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

static void secret(const struct json *o, const struct json *old, struct ferrs *e)
{
    size_t total = 0;
    data_keys(json_get(o, "data"), "data", &total, e);
    if (total > DATA_MAX * 4 / 3)
        ferrs_too_long(e, "data", DATA_MAX);
    if (!strcmp(json_str(o, "type", ""), "kubernetes.io/dockerconfigjson") &&
        !json_get(json_get(o, "data"), ".dockerconfigjson"))
        ferrs_required(e, "data[.dockerconfigjson]", "");
    if (old) {
        immutable(o, old, "type", e);
        if (json_bool(old, "immutable", false) &&
            !json_equal(json_get(o, "data"), json_get(old, "data")))
            ferrs_forbidden(e, "data", "field is immutable when `immutable` is set");
    }
}

static void claim(const struct json *o, const struct json *old, struct ferrs *e)
{
    const struct json *spec = json_get(o, "spec"), *size = json_at(spec, "resources.requests."
                                                                         "storage");
    struct quantity q;
    if (json_count(json_get(spec, "accessModes")) == 0)
        ferrs_required(e, "spec.accessModes", "at least 1 access mode is required");
    for (const struct json *m = json_first(json_get(spec, "accessModes")); m; m = json_next(m)) {
        const char *s = json_string_value(m) ? json_string_value(m) : "";
        static const char all[] = "ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod";
        struct strv v;
        strv_init(&v);
        strv_split(&v, all, '|');
        if (!strv_has(&v, s))
            ferrs_unsupported(e, "spec.accessModes", s, all);
        strv_release(&v);
    }
    if (!size)
        ferrs_required(e, "spec.resources[storage]", "");
    else if (quantity_parse(json_string_value(size) ? json_string_value(size) : "", &q) &&
             q.nano <= 0)
        ferrs_invalid(e, "spec.resources[storage]", size, "must be greater than zero");
    if (!old || json_equal(spec, json_get(old, "spec")))
        return;
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

static void service(const struct json *o, const struct json *old, struct ferrs *e)
{
    int i = 0;
    char at[64];
    const struct json *ports = json_at(o, "spec.ports");
    bool named = json_count(ports) > 1;
    if (json_count(ports) == 0 && strcmp(json_str(o, "spec.type", ""), "ExternalName") != 0 &&
        strcmp(json_str(o, "spec.clusterIP", ""), "None") != 0)
        ferrs_required(e, "spec.ports", "");
    for (const struct json *p = json_first(ports); p; p = json_next(p), i++) {
        int64_t n = json_int(p, "port", 0);
        str_fmt(at, sizeof at, "spec.ports[%d].port", i);
        if (n < 1 || n > 65535)
            ferrs_invalid(e, at, json_get(p, "port"), "must be between 1 and 65535, inclusive");
        str_fmt(at, sizeof at, "spec.ports[%d].name", i);
        if (named && !*json_str(p, "name", ""))
            ferrs_required(e, at, "");
    }
    if (old && *json_str(old, "spec.clusterIP", ""))
        immutable(o, old, "spec.clusterIP", e);
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

static void workload(const struct json *o, const struct json *old, struct ferrs *e)
{
    const struct json *sel = json_at(o, "spec.selector");
    if (!sel)
        ferrs_required(e, "spec.selector", "");
    else
        validate_selector(sel, "spec.selector", e);
    for (const struct json *m = json_first(json_get(sel, "matchLabels")); m; m = json_next(m)) {
        const struct json *have =
            json_get(json_at(o, "spec.template.metadata.labels"), json_key(m));
        if (!have || !json_equal(have, m)) {
            ferrs_invalid(e, "spec.template.metadata.labels",
                          json_at(o, "spec.template.metadata.labels"),
                          "`selector` does not match template `labels`");
            break;
        }
    }
    if (json_num(o, "spec.replicas", 0) < 0)
        ferrs_invalid(e, "spec.replicas", json_at(o, "spec.replicas"),
                      "must be greater than or equal to 0");
    validate_pod_spec(json_at(o, "spec.template.spec"), "spec.template.spec", false, e);
    if (old)
        immutable(o, old, "spec.selector", e);
}

void validate_object(const struct res *res, const struct json *obj, const struct json *old,
                     const char *sub, struct ferrs *e)
{
    static const struct {
        const char *kind;
        void (*fn)(const struct json *o, const struct json *old, struct ferrs *e);
    } kinds[] = {{"Pod", pod_kind}, {"Job", validate_job}, {"ConfigMap", config_map},
                 {"Secret", secret}, {"PersistentVolumeClaim", claim}, {"Service", service},
                 {"Event", event}, {"ResourceQuota", quota}, {"RoleBinding", role_binding},
                 {"ClusterRoleBinding", role_binding}, {"StorageClass", storage_class},
                 {"Deployment", workload}, {"ReplicaSet", workload}};
    if (sub && !strcmp(sub, "status"))
        return;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, res->kind))
            kinds[i].fn(obj, old, e);
}
