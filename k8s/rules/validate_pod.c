/* validate_pod.c - pods and their templates, with the sentences of Kubernetes 1.34
 * (pkg/apis/core/validation, ValidatePodSpec). */
#include "core/base/mem.h"
#include "k8s/rules/validate_in.h"

static void at_path(char out[VALIDATE_PATH], const char *base, const char *rest)
{
    str_fmt(out, VALIDATE_PATH, "%s.%s", base, rest);
}

/* --- containers --- */

static void containers(const struct json *spec, const char *base, struct validate_names *names,
                       struct ferrs *e)
{
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    int i = 0;
    at_path(at, base, "containers");
    if (json_count(json_get(spec, "containers")) == 0)
        ferrs_required(e, at, "");
    for (const struct json *c = json_first(json_get(spec, "containers")); c;
         c = json_next(c), i++) {
        const char *name = json_str(c, "name", "");
        str_fmt(at, sizeof at, "%s.containers[%d]", base, i);
        validate_container(c, at, names, e);
        at_path(path, at, "name");
        if (strv_has(&names->containers, name))
            ferrs_duplicate(e, path, name);
        strv_push(&names->containers, name);
        validate_container_probes(c, at, e);
    }
}

static void init_containers(const struct json *spec, const char *base,
                            struct validate_names *names, struct ferrs *e)
{
    static const char *const never[] = {"lifecycle", "livenessProbe", "readinessProbe",
                                        "startupProbe"};
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    int i = 0;
    for (const struct json *c = json_first(json_get(spec, "initContainers")); c;
         c = json_next(c), i++) {
        const char *name = json_str(c, "name", "");
        bool sidecar = !strcmp(json_str(c, "restartPolicy", ""), "Always");
        str_fmt(at, sizeof at, "%s.initContainers[%d]", base, i);
        validate_container(c, at, names, e);
        validate_field_enum(c, "restartPolicy", at, "Always", e);
        at_path(path, at, "name");
        if (strv_has(&names->containers, name))
            ferrs_duplicate(e, path, name);
        else if (*name)
            strv_push(&names->containers, name);
        if (sidecar)
            validate_container_probes(c, at, e);
        for (size_t k = 0; k < ARRAY_LEN(never) && !sidecar; k++) {
            at_path(path, at, never[k]);
            if (json_get(c, never[k]))
                ferrs_forbidden(e, path, "may not be set for init containers without "
                                         "restartPolicy=Always");
        }
    }
}

/* --- the rest of the spec --- */

static void toleration(const struct json *t, const char *at, struct ferrs *e)
{
    static const char any[] = "operator must be Exists when `key` is empty, which means \"match "
                              "all values and all keys\"";
    char path[VALIDATE_PATH];
    const char *op = json_str(t, "operator", ""), *value = json_str(t, "value", "");
    const char *key = json_str(t, "key", ""), *effect = json_str(t, "effect", "");
    struct json *shown = json_new_string(op), *shown_effect = json_new_string(effect);
    struct json *shown_value = json_new_string(value);
    validate_field_name(t, "key", at, validate_qualified, e);
    at_path(path, at, "operator");
    if (!*key && strcmp(op, "Exists") != 0)
        ferrs_invalid(e, path, shown, "%s", any);
    at_path(path, at, "effect");
    if (json_get(t, "tolerationSeconds") && strcmp(effect, "NoExecute") != 0)
        ferrs_invalid(e, path, shown_effect, "effect must be 'NoExecute' when `tolerationSeconds` "
                                             "is set");
    at_path(path, at, "operator");
    if ((!*op || !strcmp(op, "Equal")) && validate_label_value(value))
        ferrs_invalid(e, path, shown_value, "%s", validate_label_value(value));
    else if (!strcmp(op, "Exists") && *value)
        ferrs_invalid(e, path, shown_value, "value must be empty when `operator` is 'Exists'");
    else if (*op && strcmp(op, "Equal") != 0 && strcmp(op, "Exists") != 0)
        ferrs_unsupported(e, path, op, "Equal|Exists");
    if (*effect)
        validate_field_enum(t, "effect", at, "NoSchedule|PreferNoSchedule|NoExecute", e);
    json_free(shown);
    json_free(shown_effect);
    json_free(shown_value);
}

static void tolerations(const struct json *spec, const char *base, struct ferrs *e)
{
    char at[VALIDATE_PATH];
    int i = 0;
    for (const struct json *t = json_first(json_get(spec, "tolerations")); t;
         t = json_next(t), i++) {
        str_fmt(at, sizeof at, "%s.tolerations[%d]", base, i);
        toleration(t, at, e);
    }
}

/* With the host's network a container's port is the host's. */
static void host_network(const struct json *spec, const char *base, struct ferrs *e)
{
    char at[VALIDATE_PATH];
    int i = 0;
    if (!json_bool(spec, "hostNetwork", false))
        return;
    for (const struct json *c = json_first(json_get(spec, "containers")); c;
         c = json_next(c), i++) {
        int k = 0;
        for (const struct json *p = json_first(json_get(c, "ports")); p; p = json_next(p), k++) {
            const struct json *host = json_get(p, "hostPort");
            str_fmt(at, sizeof at, "%s.containers[%d].ports[%d].hostPort", base, i, k);
            if (host && !json_equal(host, json_get(p, "containerPort")))
                ferrs_invalid(e, at, host, "must match `containerPort` when `hostNetwork` is true");
        }
    }
}

static void names_of(const struct json *spec, const char *at, struct ferrs *e)
{
    static const struct {
        const char *key;
        validate_problem_fn *problem;
    } named[] = {{"serviceAccountName", validate_subdomain_problem},
                 {"nodeName", validate_subdomain_problem},
                 {"hostname", validate_label_problem},
                 {"subdomain", validate_label_problem},
                 {"priorityClassName", validate_subdomain_problem},
                 {"runtimeClassName", validate_subdomain_problem}};
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        validate_field_name(spec, named[i].key, at, named[i].problem, e);
}

void validate_pod_spec(const struct json *spec, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    struct validate_names names;
    strv_init(&names.containers);
    strv_init(&names.volumes);
    validate_volumes(spec, at, &names, e);
    containers(spec, at, &names, e);
    init_containers(spec, at, &names, e);
    host_network(spec, at, e);
    validate_field_enum(spec, "restartPolicy", at, "Always|OnFailure|Never", e);
    validate_field_enum(spec, "dnsPolicy", at, "ClusterFirstWithHostNet|ClusterFirst|Default|None",
                        e);
    at_path(path, at, "nodeSelector");
    validate_labels(json_get(spec, "nodeSelector"), path, e);
    names_of(spec, at, e);
    const struct json *deadline = json_get(spec, "activeDeadlineSeconds");
    at_path(path, at, "activeDeadlineSeconds");
    if (deadline && (json_number_value(deadline) < 1 || json_number_value(deadline) > 2147483647.0))
        ferrs_invalid(e, path, deadline, "must be between 1 and 2147483647, inclusive");
    tolerations(spec, at, e);
    validate_field_enum(spec, "preemptionPolicy", at, "PreemptLowerPriority|Never", e);
    strv_release(&names.containers);
    strv_release(&names.volumes);
}

void validate_template(const struct json *template, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    at_path(path, at, "labels");
    validate_labels(json_at(template, "metadata.labels"), path, e);
    at_path(path, at, "annotations");
    validate_annotations(json_at(template, "metadata.annotations"), path, e);
    at_path(path, at, "spec");
    validate_pod_spec(json_get(template, "spec"), path, e);
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
    validate_pod_spec(spec, "spec", e);
    if (old)
        pod_update(pod, old, e);
}
