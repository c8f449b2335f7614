/* validate_pod.c - pods, their templates and Jobs, with the sentences of
 * Kubernetes 1.34 (pkg/apis/core/validation, pkg/apis/batch/validation).
 */
#include "core/base/mem.h"
#include "k8s/rules/rules.h"
#include "k8s/quantity.h"

#define NOT_NEGATIVE "must be greater than or equal to 0"

struct names {
    struct strv containers, volumes;
};

static void at_path(char out[320], const char *base, const char *rest)
{
    str_fmt(out, 320, "%s.%s", base, rest);
}

static void need_enum(const struct json *o, const char *key, const char *base, const char *enums,
                      struct ferrs *e)
{
    const char *v = json_str(o, key, NULL);
    char at[320];
    struct strv all;
    if (!v)
        return;
    strv_init(&all);
    strv_split(&all, enums, '|');
    at_path(at, base, key);
    if (!strv_has(&all, v))
        ferrs_unsupported(e, at, v, enums);
    strv_release(&all);
}

static void not_negative(const struct json *o, const char *key, const char *base, struct ferrs *e)
{
    char at[320];
    const struct json *v = json_get(o, key);
    at_path(at, base, key);
    if (v && json_number_value(v) < 0)
        ferrs_invalid(e, at, v, NOT_NEGATIVE);
}

/* --- resources --- */

static bool standard(const char *name)
{
    return !strcmp(name, "cpu") || !strcmp(name, "memory") || !strcmp(name, "ephemeral-storage") ||
           !strcmp(name, "storage");
}

/* Cannot be overcommitted: extended resources and huge pages. */
static bool exact(const char *name)
{
    return (strchr(name, '/') && !strstr(name, "kubernetes.io/")) || str_starts(name, "hugepages-");
}

static bool fractional(const struct quantity *q)
{
    return q->nano % 1000000000 != 0;
}

static void amount(const char *name, const struct json *v, const char *at, struct ferrs *e)
{
    struct quantity q;
    const char *text = json_string_value(v), *why = validate_qualified(name);
    if (why)
        ferrs_invalid_text(e, at, name, why);
    else if (!strchr(name, '/') && !standard(name) && !str_starts(name, "hugepages-")) {
        struct json *n = json_new_string(name);
        ferrs_invalid(e, at, n, "must be a standard resource type or fully qualified");
        ferrs_invalid(e, at, n, "must be a standard resource for containers");
        json_free(n);
    }
    if (!text || !quantity_parse(text, &q))
        return;
    if (q.nano < 0)
        ferrs_invalid(e, at, v, NOT_NEGATIVE);
    if (exact(name) && fractional(&q))
        ferrs_invalid(e, at, v, "must be an integer");
}

static void against_limit(const struct json *limits, const struct json *r, const char *base,
                          struct ferrs *e)
{
    char req_at[320], limits_at[320];
    const char *name = json_key(r), *have = json_string_value(r);
    const struct json *l = json_get(limits, name);
    struct quantity a, b;
    at_path(req_at, base, "requests");
    at_path(limits_at, base, "limits");
    if (!l) {
        if (exact(name))
            ferrs_required(e, limits_at, "Limit must be set for non overcommitable resources");
        return;
    }
    if (!have || !json_string_value(l) || !quantity_parse(have, &a) ||
        !quantity_parse(json_string_value(l), &b))
        return;
    int c = quantity_compare(&a, &b);
    if (exact(name) && c != 0)
        ferrs_invalid(e, req_at, r, "must be equal to %s limit of %s", name, json_string_value(l));
    else if (!exact(name) && c > 0)
        ferrs_invalid(e, req_at, r, "must be less than or equal to %s limit of %s", name,
                      json_string_value(l));
}

void validate_resources(const struct json *resources, const char *at, struct ferrs *e)
{
    static const char *const sides[] = {"limits", "requests"};
    char path[320];
    const struct json *limits = json_get(resources, "limits");
    for (size_t i = 0; i < ARRAY_LEN(sides); i++)
        for (const struct json *m = json_first(json_get(resources, sides[i])); m;
             m = json_next(m)) {
            str_fmt(path, sizeof path, "%s.%s[%s]", at, sides[i], json_key(m));
            amount(json_key(m), m, path, e);
        }
    for (const struct json *r = json_first(json_get(resources, "requests")); r; r = json_next(r))
        against_limit(limits, r, at, e);
}

/* --- containers --- */

static void ports(const struct json *c, const char *base, struct ferrs *e)
{
    int i = 0;
    char at[320];
    for (const struct json *p = json_first(json_get(c, "ports")); p; p = json_next(p), i++) {
        int64_t n = json_int(p, "containerPort", 0);
        str_fmt(at, sizeof at, "%s.ports[%d].containerPort", base, i);
        if (n == 0)
            ferrs_required(e, at, "");
        else if (n < 1 || n > 65535)
            ferrs_invalid(e, at, json_get(p, "containerPort"),
                          "must be between 1 and 65535, inclusive");
        str_fmt(at, sizeof at, "%s.ports[%d]", base, i);
        need_enum(p, "protocol", at, "SCTP|TCP|UDP", e);
    }
}

static void env(const struct json *c, const char *base, struct ferrs *e)
{
    int i = 0;
    char at[320];
    for (const struct json *v = json_first(json_get(c, "env")); v; v = json_next(v), i++) {
        const char *name = json_str(v, "name", "");
        str_fmt(at, sizeof at, "%s.env[%d].name", base, i);
        if (!*name)
            ferrs_required(e, at, "");
        else if (strchr(name, '='))
            ferrs_invalid(e, at, json_get(v, "name"),
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
        str_fmt(at, sizeof at, "%s.env[%d].valueFrom", base, i);
        if (*json_str(v, "value", "") && json_get(v, "valueFrom"))
            ferrs_invalid_text(e, at, "\"\"", "may not be specified when `value` is not empty");
    }
}

static void mounts(const struct json *c, const char *base, struct names *names, struct ferrs *e)
{
    int i = 0;
    char at[320];
    struct strv paths;
    strv_init(&paths);
    for (const struct json *m = json_first(json_get(c, "volumeMounts")); m; m = json_next(m), i++) {
        const char *name = json_str(m, "name", ""), *path = json_str(m, "mountPath", "");
        str_fmt(at, sizeof at, "%s.volumeMounts[%d].name", base, i);
        if (!*name)
            ferrs_required(e, at, "");
        else if (!strv_has(&names->volumes, name))
            ferrs_missing(e, at, name);
        str_fmt(at, sizeof at, "%s.volumeMounts[%d].mountPath", base, i);
        if (!*path)
            ferrs_required(e, at, "");
        else if (strv_has(&paths, path))
            ferrs_invalid(e, at, json_get(m, "mountPath"), "must be unique");
        strv_push(&paths, path);
    }
    strv_release(&paths);
}

static void container(const struct json *c, const char *base, struct names *names,
                      struct ferrs *e)
{
    char at[320];
    const char *name = json_str(c, "name", ""), *image = json_str(c, "image", "");
    at_path(at, base, "name");
    if (!*name)
        ferrs_required(e, at, "");
    else if (!validate_dns_label(name))
        ferrs_invalid(e, at, json_get(c, "name"), "%s", VALIDATE_DNS_LABEL_TEXT);
    else if (strv_has(&names->containers, name))
        ferrs_duplicate(e, at, name);
    strv_push(&names->containers, name);
    at_path(at, base, "image");
    if (!*image)
        ferrs_required(e, at, "");
    else if (image[0] == ' ' || image[strlen(image) - 1] == ' ')
        ferrs_invalid(e, at, json_get(c, "image"), "must not have leading or trailing whitespace");
    need_enum(c, "imagePullPolicy", base, "Always|IfNotPresent|Never", e);
    need_enum(c, "terminationMessagePolicy", base, "FallbackToLogsOnError|File", e);
    ports(c, base, e);
    env(c, base, e);
    mounts(c, base, names, e);
    at_path(at, base, "resources");
    validate_resources(json_get(c, "resources"), at, e);
}

static void containers(const struct json *spec, const char *key, const char *base,
                       struct names *names, struct ferrs *e)
{
    char at[320];
    int i = 0;
    for (const struct json *c = json_first(json_get(spec, key)); c; c = json_next(c), i++) {
        str_fmt(at, sizeof at, "%s.%s[%d]", base, key, i);
        container(c, at, names, e);
    }
}

static void volumes(const struct json *spec, const char *base, struct names *names,
                    struct ferrs *e)
{
    char at[320];
    int i = 0;
    for (const struct json *v = json_first(json_get(spec, "volumes")); v; v = json_next(v), i++) {
        const char *name = json_str(v, "name", "");
        str_fmt(at, sizeof at, "%s.volumes[%d].name", base, i);
        if (!*name)
            ferrs_required(e, at, "");
        else if (!validate_dns_label(name))
            ferrs_invalid(e, at, json_get(v, "name"), "%s", VALIDATE_DNS_LABEL_TEXT);
        else if (strv_has(&names->volumes, name))
            ferrs_duplicate(e, at, name);
        strv_push(&names->volumes, name);
        str_fmt(at, sizeof at, "%s.volumes[%d].persistentVolumeClaim.claimName", base, i);
        if (json_get(v, "persistentVolumeClaim") &&
            !*json_str(v, "persistentVolumeClaim.claimName", ""))
            ferrs_required(e, at, "");
    }
}

static void tolerations(const struct json *spec, const char *base, struct ferrs *e)
{
    char at[320];
    int i = 0;
    for (const struct json *t = json_first(json_get(spec, "tolerations")); t;
         t = json_next(t), i++) {
        const char *op = json_str(t, "operator", "Equal");
        str_fmt(at, sizeof at, "%s.tolerations[%d].operator", base, i);
        if (!*json_str(t, "key", "") && strcmp(op, "Exists") != 0)
            ferrs_invalid(e, at, json_get(t, "operator"), "operator must be Exists when `key` is "
                          "empty, which means \"match all values and all keys\"");
        if (!strcmp(op, "Exists") && *json_str(t, "value", ""))
            ferrs_invalid(e, at, json_get(t, "operator"), "value must be empty when `operator` is "
                          "'Exists'");
        str_fmt(at, sizeof at, "%s.tolerations[%d]", base, i);
        need_enum(t, "operator", at, "Equal|Exists", e);
        need_enum(t, "effect", at, "NoExecute|NoSchedule|PreferNoSchedule", e);
    }
}

void validate_pod_spec(const struct json *spec, const char *at, bool job, struct ferrs *e)
{
    char path[320];
    struct names names;
    strv_init(&names.containers);
    strv_init(&names.volumes);
    volumes(spec, at, &names, e);
    at_path(path, at, "containers");
    if (json_count(json_get(spec, "containers")) == 0)
        ferrs_required(e, path, "");
    containers(spec, "containers", at, &names, e);
    containers(spec, "initContainers", at, &names, e);
    if (!job)
        need_enum(spec, "restartPolicy", at, "Always|OnFailure|Never", e);
    need_enum(spec, "dnsPolicy", at, "ClusterFirstWithHostNet|ClusterFirst|Default|None", e);
    at_path(path, at, "nodeSelector");
    validate_labels(json_get(spec, "nodeSelector"), path, e);
    tolerations(spec, at, e);
    const struct json *deadline = json_get(spec, "activeDeadlineSeconds");
    at_path(path, at, "activeDeadlineSeconds");
    if (deadline && (json_number_value(deadline) < 1 || json_number_value(deadline) > 2147483647.0))
        ferrs_invalid(e, path, deadline, "must be between 1 and 2147483647, inclusive");
    not_negative(spec, "terminationGracePeriodSeconds", at, e);
    strv_release(&names.containers);
    strv_release(&names.volumes);
}

/* --- pods --- */

/* The spec without what may change in place. */
static struct json *fixed_spec(const struct json *spec)
{
    static const char *const free_fields[] = {"activeDeadlineSeconds", "tolerations",
                                              "terminationGracePeriodSeconds", "schedulingGates",
                                              "ephemeralContainers"};
    static const char *const lists[] = {"containers", "initContainers"};
    struct json *s = json_copy(spec);
    for (size_t i = 0; i < ARRAY_LEN(free_fields); i++)
        json_remove(s, free_fields[i]);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (struct json *c = json_first_mut(json_get_mut(s, lists[i])); c; c = json_next_mut(c))
            json_remove(c, "image");
    return s;
}

static void pod_update(const struct json *pod, const struct json *old, struct ferrs *e)
{
    struct json *a = fixed_spec(json_get(pod, "spec")), *b = fixed_spec(json_get(old, "spec"));
    if (!*json_str(old, "spec.nodeName", "")) {       /* the scheduler's binding */
        json_remove(a, "nodeName");
        json_remove(b, "nodeName");
    }
    if (!json_equal(a, b))
        ferrs_forbidden(e, "spec",
                        "pod updates may not change fields other than "
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions "
                        "to existing tolerations),`spec.terminationGracePeriodSeconds` "
                        "(allow it to be set to 1 if it was previously negative)");
    json_free(a);
    json_free(b);
}

void validate_pod(const struct json *pod, const struct json *old, struct ferrs *e)
{
    const struct json *spec = json_get(pod, "spec");
    if (old && json_equal(spec, json_get(old, "spec")))
        return;
    validate_pod_spec(spec, "spec", false, e);
    if (old)
        pod_update(pod, old, e);
}

/* --- jobs --- */

static void job_mode(const struct json *spec, struct ferrs *e)
{
    const char *mode = json_str(spec, "completionMode", "NonIndexed");
    need_enum(spec, "completionMode", "spec", "NonIndexed|Indexed", e);
    if (!strcmp(mode, "Indexed")) {
        if (!json_get(spec, "completions"))
            ferrs_required(e, "spec.completions", "when completion mode is Indexed");
        if (json_num(spec, "parallelism", 0) > 100000)
            ferrs_invalid(e, "spec.parallelism", json_get(spec, "parallelism"),
                          "must be less than or equal to 100000 when completion mode is Indexed");
        return;
    }
    if (json_get(spec, "backoffLimitPerIndex"))
        ferrs_invalid(e, "spec.backoffLimitPerIndex", json_get(spec, "backoffLimitPerIndex"),
                      "requires indexed completion mode");
    if (json_get(spec, "maxFailedIndexes"))
        ferrs_invalid(e, "spec.maxFailedIndexes", json_get(spec, "maxFailedIndexes"),
                      "requires indexed completion mode");
}

static void restart_policy(const struct json *spec, struct ferrs *e)
{
    static const char at[] = "spec.template.spec.restartPolicy";
    const char *policy = json_str(spec, "template.spec.restartPolicy", "");
    if (!*policy || !strcmp(policy, "Always"))
        ferrs_required(e, at, "valid values: \"OnFailure\", \"Never\"");
    else if (strcmp(policy, "OnFailure") != 0 && strcmp(policy, "Never") != 0)
        ferrs_unsupported(e, at, policy, "OnFailure|Never");
}

static void fixed_field(const struct json *job, const struct json *old, const char *path,
                        struct ferrs *e)
{
    const struct json *a = json_at(job, path), *b = json_at(old, path);
    if (!(a && b ? json_equal(a, b) : a == b))
        ferrs_invalid(e, path, a, "field is immutable");
}

static bool suspended_unstarted(const struct json *old)
{
    return json_bool(old, "spec.suspend", false) && !json_has(old, "status.startTime");
}

static void job_update(const struct json *job, const struct json *old, struct ferrs *e)
{
    static const char *const fixed[] = {"spec.selector", "spec.completionMode",
                                        "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
                                        "spec.managedBy", "spec.successPolicy"};
    bool elastic = !strcmp(json_str(old, "spec.completionMode", ""), "Indexed") &&
                   json_equal(json_at(job, "spec.completions"), json_at(job, "spec.parallelism"));
    if (!elastic)
        fixed_field(job, old, "spec.completions", e);
    fixed_field(job, old, "spec.selector", e);
    if (!suspended_unstarted(old))
        fixed_field(job, old, "spec.template", e);
    for (size_t i = 1; i < ARRAY_LEN(fixed); i++)
        fixed_field(job, old, fixed[i], e);
}

void validate_job(const struct json *job, const struct json *old, struct ferrs *e)
{
    static const char *const counts[] = {"parallelism", "completions", "activeDeadlineSeconds",
                                         "backoffLimit", "ttlSecondsAfterFinished",
                                         "backoffLimitPerIndex", "maxFailedIndexes"};
    const struct json *spec = json_get(job, "spec");
    if (!spec)
        return;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        not_negative(spec, counts[i], "spec", e);
    job_mode(spec, e);
    validate_labels(json_at(spec, "template.metadata.labels"), "spec.template.labels", e);
    validate_pod_spec(json_at(spec, "template.spec"), "spec.template.spec", true, e);
    restart_policy(spec, e);
    if (!json_get(spec, "selector"))
        ferrs_required(e, "spec.selector", "");
    if (old)
        job_update(job, old, e);
}
