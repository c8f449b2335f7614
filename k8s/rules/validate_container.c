/* validate_container.c - containers: name, image, ports, environment, mounts,
 * resources, probes, with the sentences of Kubernetes 1.34
 * (pkg/apis/core/validation, validateContainerCommon). */
#include "core/base/base.h"

#include <ctype.h>

#include "core/base/mem.h"
#include "k8s/quantity.h"
#include "k8s/rules/validate_in.h"

static void at_path(char out[VALIDATE_PATH], const char *base, const char *rest)
{
    str_fmt(out, VALIDATE_PATH, "%s.%s", base, rest);
}

/* --- resources --- */

static bool standard(const char *name)
{
    return !strcmp(name, "cpu") || !strcmp(name, "memory") || !strcmp(name, "ephemeral-storage") ||
           str_starts(name, "hugepages-");
}

/* Names that a container may not ask for but that are standard elsewhere. */
static bool standard_elsewhere(const char *name)
{
    static const char *const names[] = {
        "storage", "pods", "services", "replicationcontrollers", "resourcequotas", "secrets",
        "configmaps", "persistentvolumeclaims", "requests.cpu", "requests.memory",
        "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
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

static void resource_name(const char *name, const char *at, struct ferrs *e)
{
    const char *why = validate_qualified(name);
    struct json *n = json_new_string(name);
    bool bare = !strchr(name, '/');
    if (why)
        ferrs_invalid(e, at, n, "%s", why);
    else if (bare && !standard(name) && !standard_elsewhere(name))
        ferrs_invalid(e, at, n, "must be a standard resource type or fully qualified");
    if (bare && !standard(name))
        ferrs_invalid(e, at, n, "must be a standard resource for containers");
    else if (!bare && !why && str_starts(name, "requests."))
        ferrs_invalid(e, at, n, "doesn't follow extended resource name standard");
    json_free(n);
}

/* "hugepages-2Mi: 3Mi": no whole number of pages. */
static void huge_pages(const char *name, const struct quantity *q, const struct json *v,
                       const char *at, struct ferrs *e)
{
    struct quantity page;
    if (!str_starts(name, "hugepages-") || !quantity_parse(name + strlen("hugepages-"), &page) ||
        page.nano <= 0)
        return;
    if (q->nano <= 0 || q->nano % page.nano != 0)
        ferrs_invalid(e, at, v, "%s is not positive integer multiple of %s",
                      json_string_value(v), name);
}

static void amount(const char *name, const struct json *v, const char *at, struct ferrs *e)
{
    struct quantity q;
    const char *text = json_string_value(v);
    resource_name(name, at, e);
    if (!text || !quantity_parse(text, &q))
        return;
    if (q.nano < 0)
        ferrs_invalid(e, at, v, VALIDATE_NOT_NEGATIVE);
    if (strchr(name, '/') && exact(name) && fractional(&q))
        ferrs_invalid(e, at, v, "must be an integer");
    huge_pages(name, &q, v, at, e);
}

static void against_limit(const struct json *limits, const struct json *r, const char *base,
                          struct ferrs *e)
{
    char req_at[VALIDATE_PATH], limits_at[VALIDATE_PATH];
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
    char path[VALIDATE_PATH];
    const struct json *limits = json_get(resources, "limits");
    bool huge = false, plain = false;
    for (size_t i = 0; i < ARRAY_LEN(sides); i++)
        for (const struct json *m = json_first(json_get(resources, sides[i])); m;
             m = json_next(m)) {
            const char *name = json_key(m);
            str_fmt(path, sizeof path, "%s.%s[%s]", at, sides[i], name);
            amount(name, m, path, e);
            huge = huge || str_starts(name, "hugepages-");
            plain = plain || !strcmp(name, "cpu") || !strcmp(name, "memory");
        }
    for (const struct json *r = json_first(json_get(resources, "requests")); r; r = json_next(r))
        against_limit(limits, r, at, e);
    if (huge && !plain)
        ferrs_forbidden(e, at, "HugePages require cpu or memory");
}

/* --- ports, environment, mounts --- */

static void ports(const struct json *c, const char *base, struct ferrs *e)
{
    int i = 0;
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    struct strv names;
    strv_init(&names);
    for (const struct json *p = json_first(json_get(c, "ports")); p; p = json_next(p), i++) {
        const char *name = json_str(p, "name", "");
        str_fmt(at, sizeof at, "%s.ports[%d]", base, i);
        at_path(path, at, "name");
        size_t before = ferrs_count(e);
        if (*name)
            validate_field_port_name(name, path, e);
        if (*name && ferrs_count(e) == before && strv_has(&names, name))
            ferrs_duplicate(e, path, name);
        strv_push(&names, name);
        at_path(path, at, "containerPort");
        if (json_int(p, "containerPort", 0) == 0)
            ferrs_required(e, path, "");
        else
            validate_field_port(json_get(p, "containerPort"), path, e);
        at_path(path, at, "hostPort");
        if (json_int(p, "hostPort", 0) != 0)
            validate_field_port(json_get(p, "hostPort"), path, e);
        validate_field_enum(p, "protocol", at, "SCTP|TCP|UDP", e);
    }
    strv_release(&names);
}

static const char *env_name_problem(const char *s)
{
    for (; *s; s++)
        if (*s == '=' || !isprint((unsigned char)*s))
            return "a valid environment variable name must consist only of printable ASCII "
                   "characters other than '='";
    return NULL;
}

/* configMapKeyRef and secretKeyRef */
static void key_ref(const struct json *ref, const char *base, struct ferrs *e)
{
    char at[VALIDATE_PATH];
    const char *name = json_str(ref, "name", ""), *why = validate_subdomain_problem(name);
    struct json *v = json_new_string(name);
    at_path(at, base, "name");
    if (why)
        ferrs_invalid(e, at, v, "%s", why);
    validate_field_required(ref, "key", base, e);
    validate_field_name(ref, "key", base, validate_config_key_problem, e);
    json_free(v);
}

static void value_from(const struct json *v, const char *base, struct ferrs *e)
{
    static const char *const sources[] = {"fieldRef", "resourceFieldRef", "configMapKeyRef",
                                          "secretKeyRef"};
    const struct json *from = json_get(v, "valueFrom");
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    int n = 0;
    if (!from)
        return;
    at_path(at, base, "valueFrom");
    for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
        const struct json *ref = json_get(from, sources[i]);
        n += ref != NULL;
        at_path(path, at, sources[i]);
        if (ref && i >= 2)
            key_ref(ref, path, e);
        else if (ref && i == 0)
            validate_field_required(ref, "fieldPath", path, e);
    }
    if (n == 0)
        ferrs_invalid_text(e, at, "\"\"", "must specify one of: `fieldRef`, `resourceFieldRef`, "
                                          "`configMapKeyRef` or `secretKeyRef`");
    else if (*json_str(v, "value", ""))
        ferrs_invalid_text(e, at, "\"\"", "may not be specified when `value` is not empty");
    else if (n > 1)
        ferrs_invalid_text(e, at, "\"\"", "may not have more than one field specified at a time");
}

static void env(const struct json *c, const char *base, struct ferrs *e)
{
    int i = 0;
    char at[VALIDATE_PATH];
    for (const struct json *v = json_first(json_get(c, "env")); v; v = json_next(v), i++) {
        str_fmt(at, sizeof at, "%s.env[%d]", base, i);
        validate_field_required(v, "name", at, e);
        validate_field_name(v, "name", at, env_name_problem, e);
        value_from(v, at, e);
    }
}

static void env_from(const struct json *c, const char *base, struct ferrs *e)
{
    int i = 0;
    static const char *const sources[] = {"configMapRef", "secretRef"};
    char at[VALIDATE_PATH], path[VALIDATE_PATH], all[VALIDATE_PATH];
    at_path(all, base, "envFrom");
    for (const struct json *v = json_first(json_get(c, "envFrom")); v; v = json_next(v), i++) {
        int n = 0;
        str_fmt(at, sizeof at, "%s.envFrom[%d]", base, i);
        validate_field_name(v, "prefix", at, env_name_problem, e);
        for (size_t k = 0; k < ARRAY_LEN(sources); k++) {
            const struct json *ref = json_get(v, sources[k]);
            n += ref != NULL;
            at_path(path, at, sources[k]);
            if (ref)
                validate_field_required(ref, "name", path, e);
            validate_field_name(ref, "name", path, validate_subdomain_problem, e);
        }
        if (n != 1)
            ferrs_invalid_text(e, all, "\"\"", n ? "may not have more than one field specified at "
                                                   "a time"
                                                 : "must specify one of: `configMapRef` or "
                                                   "`secretRef`");
    }
}

static void mounts(const struct json *c, const char *base, const struct validate_names *names,
                   struct ferrs *e)
{
    int i = 0;
    char at[VALIDATE_PATH], path[VALIDATE_PATH], sub[VALIDATE_PATH];
    struct strv paths;
    strv_init(&paths);
    at_path(sub, base, "volumeMounts.subPath");
    for (const struct json *m = json_first(json_get(c, "volumeMounts")); m; m = json_next(m), i++) {
        const char *name = json_str(m, "name", ""), *to = json_str(m, "mountPath", "");
        str_fmt(at, sizeof at, "%s.volumeMounts[%d]", base, i);
        validate_field_required(m, "name", at, e);
        at_path(path, at, "name");
        if (!strv_has(&names->volumes, name))
            ferrs_missing(e, path, name);
        validate_field_required(m, "mountPath", at, e);
        at_path(path, at, "mountPath");
        if (strv_has(&paths, to))
            ferrs_invalid(e, path, json_get(m, "mountPath"), "must be unique");
        validate_field_descending(json_get(m, "subPath"), sub, e);
        strv_push(&paths, to);
    }
    strv_release(&paths);
}

/* --- probes --- */

static void http_get(const struct json *h, const char *at, struct ferrs *e)
{
    char path[VALIDATE_PATH];
    validate_field_required(h, "path", at, e);
    at_path(path, at, "port");
    validate_field_port_or_name(json_get(h, "port"), path, e);
    validate_field_enum(h, "scheme", at, "HTTP|HTTPS", e);
}

static void handler(const struct json *p, const char *at, struct ferrs *e)
{
    static const char *const kinds[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
    char path[VALIDATE_PATH], port[VALIDATE_PATH];
    int n = 0;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *h = json_get(p, kinds[i]);
        if (!h)
            continue;
        at_path(path, at, kinds[i]);
        at_path(port, path, "port");
        if (n++)
            ferrs_forbidden(e, path, "may not specify more than 1 handler type");
        else if (i == 0 && json_count(json_get(h, "command")) == 0) {
            at_path(port, path, "command");
            ferrs_required(e, port, "");
        } else if (i == 1) {
            http_get(h, path, e);
        } else if (i == 2 || i == 3) {
            validate_field_port_or_name(json_get(h, "port"), port, e);
        }
    }
    if (n == 0)
        ferrs_required(e, at, "must specify a handler type");
}

void validate_container_probes(const struct json *c, const char *base, struct ferrs *e)
{
    static const char *const kinds[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    static const char *const counts[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                         "successThreshold", "failureThreshold"};
    char at[VALIDATE_PATH], path[VALIDATE_PATH];
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct json *p = json_get(c, kinds[i]);
        if (!p)
            continue;
        at_path(at, base, kinds[i]);
        handler(p, at, e);
        for (size_t k = 0; k < ARRAY_LEN(counts); k++)
            validate_field_not_negative(p, counts[k], at, e);
        at_path(path, at, "successThreshold");
        if (i != 1 && json_int(p, "successThreshold", 1) > 1)
            ferrs_invalid(e, path, json_get(p, "successThreshold"), "must be 1");
    }
}

/* --- the container --- */

void validate_container(const struct json *c, const char *base, struct validate_names *names,
                        struct ferrs *e)
{
    char at[VALIDATE_PATH];
    validate_field_required(c, "name", base, e);
    validate_field_name(c, "name", base, validate_label_problem, e);
    validate_field_required(c, "image", base, e);
    validate_field_enum(c, "terminationMessagePolicy", base, "File|FallbackToLogsOnError", e);
    ports(c, base, e);
    env(c, base, e);
    env_from(c, base, e);
    mounts(c, base, names, e);
    validate_field_enum(c, "imagePullPolicy", base, "Always|IfNotPresent|Never", e);
    at_path(at, base, "resources");
    validate_resources(json_get(c, "resources"), at, e);
}
