/* fit_rules.c - labels, taints, neighbours (fit_rules.h). */
#include "k8s/explain/fit_rules.h"

#include "k8s/explain/fit.h"

static bool in_values(const struct json *values, const char *v)
{
    for (const struct json *x = json_first(values); x; x = json_next(x))
        if (v && str_eq(json_string_value(x), v))
            return true;
    return false;
}

/* One requirement of a NodeSelectorTerm or a LabelSelector. */
static bool requirement(const struct json *r, const char *value)
{
    const char *op = json_str(r, "operator", "");
    const struct json *values = json_get(r, "values");
    int64_t a, b;
    if (str_eq(op, "In"))
        return in_values(values, value);
    if (str_eq(op, "NotIn"))
        return !in_values(values, value);
    if (str_eq(op, "Exists"))
        return value != NULL;
    if (str_eq(op, "DoesNotExist"))
        return value == NULL;
    if (!value || !str_to_i64(value, &a) ||
        !str_to_i64(
            json_string_value(json_item(values, 0)) ? json_string_value(json_item(values, 0)) : "",
            &b))
        return false;
    return str_eq(op, "Gt") ? a > b : a < b;
}

static const char *label(const struct json *labels, const char *key)
{
    return json_string_value(json_get(labels, key));
}

bool fit_labels(const struct json *selector, const struct json *labels)
{
    for (const struct json *m = json_first(json_get(selector, "matchLabels")); m; m = json_next(m))
        if (!str_eq(label(labels, json_key(m)), json_string_value(m)))
            return false;
    for (const struct json *r = json_first(json_get(selector, "matchExpressions")); r;
         r = json_next(r))
        if (!requirement(r, label(labels, json_str(r, "key", ""))))
            return false;
    return true;
}

static bool term(const struct json *t, const struct json *node)
{
    const struct json *labels = json_at(node, "metadata.labels");
    for (const struct json *r = json_first(json_get(t, "matchExpressions")); r; r = json_next(r))
        if (!requirement(r, label(labels, json_str(r, "key", ""))))
            return false;
    for (const struct json *r = json_first(json_get(t, "matchFields")); r; r = json_next(r))
        if (!requirement(r, json_str(node, "metadata.name", NULL)))
            return false;
    return true;
}

bool fit_selected(const struct json *pod, const struct json *node)
{
    const struct json *labels = json_at(node, "metadata.labels");
    for (const struct json *m = json_first(json_at(pod, "spec.nodeSelector")); m; m = json_next(m))
        if (!str_eq(label(labels, json_key(m)), json_string_value(m)))
            return false;
    const struct json *terms = json_at(pod, "spec.affinity.nodeAffinity."
                                            "requiredDuringSchedulingIgnoredDuringExecution."
                                            "nodeSelectorTerms");
    if (json_count(terms) == 0)
        return true;
    for (const struct json *t = json_first(terms); t; t = json_next(t))
        if (term(t, node))
            return true;
    return false;
}

static bool tolerates(const struct json *t, const struct json *taint)
{
    const char *key = json_str(t, "key", ""), *op = json_str(t, "operator", "Equal");
    const char *effect = json_str(t, "effect", "");
    if (effect[0] && !str_eq(effect, json_str(taint, "effect", "")))
        return false;
    if (!key[0])
        return str_eq(op, "Exists");
    if (!str_eq(key, json_str(taint, "key", "")))
        return false;
    return str_eq(op, "Exists") || str_eq(json_str(t, "value", ""), json_str(taint, "value", ""));
}

const struct json *fit_untolerated(const struct json *pod, const struct json *node)
{
    for (const struct json *taint = json_first(json_at(node, "spec.taints")); taint;
         taint = json_next(taint)) {
        const char *effect = json_str(taint, "effect", "");
        bool held = str_eq(effect, "PreferNoSchedule") ||
                    str_eq(json_str(taint, "key", ""), "node.kubernetes.io/unschedulable");
        for (const struct json *t = json_first(json_at(pod, "spec.tolerations")); t && !held;
             t = json_next(t))
            held = tolerates(t, taint);
        if (!held)
            return taint;
    }
    return NULL;
}

static const struct json *node_of(const struct snapshot *s, const struct json *pod)
{
    const char *name = json_str(pod, "spec.nodeName", "");
    const struct snap_list *nodes = &s->list[SNAP_NODES];
    for (size_t i = 0; i < nodes->n; i++)
        if (str_eq(json_str(nodes->v[i].o, "metadata.name", "-"), name))
            return nodes->v[i].o;
    return NULL;
}

static bool in_namespace(const struct json *t, const struct json *pod, const struct json *other)
{
    const char *ns = json_str(other, "metadata.namespace", "");
    if (json_count(json_get(t, "namespaces")) > 0)
        return in_values(json_get(t, "namespaces"), ns);
    return json_has(t, "namespaceSelector") || str_eq(ns, json_str(pod, "metadata.namespace", ns));
}

/* Does a pod that the term selects stand in the node's part of the topology? */
static bool neighbour(const struct snapshot *s, const struct json *pod, const struct json *t,
                      const struct json *node)
{
    const char *key = json_str(t, "topologyKey", "kubernetes.io/hostname");
    const char *here = label(json_at(node, "metadata.labels"), key);
    const struct snap_list *pods = &s->list[SNAP_PODS];
    for (size_t i = 0; here && i < pods->n; i++) {
        const struct json *p = pods->v[i].o, *its = node_of(s, p);
        if (p != pod && its && !fit_ended(p) && in_namespace(t, pod, p) &&
            str_eq(label(json_at(its, "metadata.labels"), key), here) &&
            fit_labels(json_get(t, "labelSelector"), json_at(p, "metadata.labels")))
            return true;
    }
    return false;
}

bool fit_beside(const struct snapshot *s, const struct json *pod, const struct json *node)
{
    static const char *const places[] = {"spec.affinity.podAffinity", "spec.affinity."
                                                                      "podAntiAffinity"};
    if (!s->list[SNAP_PODS].known)
        return true;
    for (int anti = 0; anti < 2; anti++) {
        const struct json *terms =
            json_get(json_at(pod, places[anti]), "requiredDuringSchedulingIgnoredDuringExecution");
        for (const struct json *t = json_first(terms); t; t = json_next(t))
            if (neighbour(s, pod, t, node) == (anti == 1))
                return false;
    }
    return true;
}
