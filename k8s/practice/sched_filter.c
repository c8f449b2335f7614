/* sched_filter.c - filters and the FailedScheduling sentence (sched_filter.h). */
#include "k8s/practice/sched_filter.h"

#include "core/base/mem.h"
#include "k8s/practice/kobj.h"
#include "k8s/quantity.h"

/* --- amounts ------------------------------------------------------------------ */

void sched_amounts_release(struct sched_amounts *a)
{
    free(a->v);
    *a = (struct sched_amounts){0};
}

static struct sched_amount *slot(struct sched_amounts *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].name, name) == 0)
            return &a->v[i];
    a->v = xrealloc_array(a->v, a->n + 1, sizeof *a->v);
    str_copy(a->v[a->n].name, sizeof a->v[a->n].name, name);
    a->v[a->n].v = 0;
    return &a->v[a->n++];
}

int64_t sched_amounts_get(const struct sched_amounts *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->v[i].name, name) == 0)
            return a->v[i].v;
    return 0;
}

void sched_amounts_add(struct sched_amounts *a, const char *name, int64_t v)
{
    slot(a, name)->v += v;
}

static void read_one(const char *name, const struct json *value, struct sched_amounts *out)
{
    char text[64];
    int64_t v;
    const char *s = json_string_value(value);
    if (!s && json_type(value) == JSON_NUMBER)
        s = str_fmt(text, sizeof text, "%.15g", json_number_value(value));
    if (s && (strcmp(name, "cpu") == 0 ? quantity_milli(s, &v) : quantity_units(s, &v)))
        sched_amounts_add(out, name, v);
}

void sched_amounts_read(const struct json *list, struct sched_amounts *out)
{
    for (const struct json *m = json_first(list); m; m = json_next(m))
        read_one(json_key(m), m, out);
}

/* Requests of a container; a limit alone stands for its request. */
static void read_container(const struct json *c, struct sched_amounts *out)
{
    const struct json *requests = json_at(c, "resources.requests");
    sched_amounts_read(requests, out);
    for (const struct json *m = json_first(json_at(c, "resources.limits")); m; m = json_next(m))
        if (!json_get(requests, json_key(m)))
            read_one(json_key(m), m, out);
}

void sched_amounts_pod(const struct json *pod, struct sched_amounts *out)
{
    const struct json *c;
    for (c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c))
        read_container(c, out);
    for (c = json_first(json_at(pod, "spec.initContainers")); c; c = json_next(c)) {
        struct sched_amounts one = {0};
        read_container(c, &one);
        for (size_t i = 0; i < one.n; i++) {
            struct sched_amount *s = slot(out, one.v[i].name);
            s->v = MAX(s->v, one.v[i].v);
        }
        sched_amounts_release(&one);
    }
    sched_amounts_read(json_at(pod, "spec.overhead"), out);
}

/* --- nodes -------------------------------------------------------------------- */

static void add_ports(struct strv *out, const struct json *pod)
{
    for (const struct json *c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c))
        for (const struct json *p = json_first(json_get(c, "ports")); p; p = json_next(p))
            if (json_int(p, "hostPort", 0) > 0)
                strv_pushf(out, "%s/%" PRId64, json_str(p, "protocol", "TCP"),
                           json_int(p, "hostPort", 0));
}

void sched_node_init(struct sched_node *n, const struct json *node)
{
    *n = (struct sched_node){.obj = node};
    strv_init(&n->ports);
    sched_amounts_read(json_at(node, "status.allocatable"), &n->alloc);
}

void sched_node_add(struct sched_node *n, const struct json *pod)
{
    sched_amounts_pod(pod, &n->used);
    n->pods++;
    add_ports(&n->ports, pod);
}

void sched_node_release(struct sched_node *n)
{
    sched_amounts_release(&n->alloc);
    sched_amounts_release(&n->used);
    strv_release(&n->ports);
}

/* --- filters ------------------------------------------------------------------ */

static bool tolerates_one(const struct json *t, const struct json *taint)
{
    const char *effect = json_str(t, "effect", ""), *key = json_str(t, "key", "");
    if (*effect && strcmp(effect, json_str(taint, "effect", "")) != 0)
        return false;
    if (*key && strcmp(key, json_str(taint, "key", "")) != 0)
        return false;
    if (strcmp(json_str(t, "operator", "Equal"), "Exists") == 0)
        return true;
    return *key && strcmp(json_str(t, "value", ""), json_str(taint, "value", "")) == 0;
}

bool sched_tolerates(const struct json *pod, const struct json *taint)
{
    for (const struct json *t = json_first(json_at(pod, "spec.tolerations")); t; t = json_next(t))
        if (tolerates_one(t, taint))
            return true;
    return false;
}

static bool filter_unschedulable(const struct json *pod, const struct sched_node *n,
                                 struct strv *reasons)
{
    struct json *taint = json_from("{\"key\":\"node.kubernetes.io/unschedulable\","
                                   "\"effect\":\"NoSchedule\"}");
    bool ok = !json_bool(n->obj, "spec.unschedulable", false) || sched_tolerates(pod, taint);
    json_free(taint);
    if (!ok)
        strv_push(reasons, "node(s) were unschedulable");
    return ok;
}

static bool filter_name(const struct json *pod, const struct sched_node *n, struct strv *reasons)
{
    const char *want = json_str(pod, "spec.nodeName", "");
    if (!*want || strcmp(want, kobj_name(n->obj)) == 0)
        return true;
    strv_push(reasons, "node(s) didn't match the requested node name");
    return false;
}

static bool filter_taints(const struct json *pod, const struct sched_node *n, struct strv *reasons)
{
    for (const struct json *t = json_first(json_at(n->obj, "spec.taints")); t; t = json_next(t)) {
        if (strcmp(json_str(t, "effect", ""), "PreferNoSchedule") == 0 || sched_tolerates(pod, t))
            continue;
        strv_pushf(reasons, "node(s) had untolerated taint {%s: %s}", json_str(t, "key", ""),
                   json_str(t, "value", ""));
        return false;
    }
    return true;
}

static bool term_matches(const struct json *term, const struct json *node)
{
    const struct json *labels = json_at(node, "metadata.labels"), *r;
    bool any = false;
    for (r = json_first(json_get(term, "matchExpressions")); r; r = json_next(r)) {
        any = true;
        if (!kobj_requirement(r, labels))
            return false;
    }
    for (r = json_first(json_get(term, "matchFields")); r; r = json_next(r)) {
        any = true;
        if (!kobj_requirement(r, json_get(node, "metadata")) &&
            strcmp(json_str(r, "values[0]", ""), kobj_name(node)) != 0)
            return false;
    }
    return any;
}

static bool filter_affinity(const struct json *pod, const struct sched_node *n,
                            struct strv *reasons)
{
    const struct json *labels = json_at(n->obj, "metadata.labels");
    const struct json *required = json_at(
        pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    bool ok = true, term_ok = required == NULL;
    for (const struct json *m = json_first(json_at(pod, "spec.nodeSelector")); m; m = json_next(m))
        ok = ok && str_eq(json_string_value(json_get(labels, json_key(m))), json_string_value(m));
    for (const struct json *t = json_first(json_get(required, "nodeSelectorTerms")); t;
         t = json_next(t))
        term_ok = term_ok || term_matches(t, n->obj);
    if (ok && term_ok)
        return true;
    strv_push(reasons, "node(s) didn't match Pod's node affinity/selector");
    return false;
}

static bool filter_ports(const struct json *pod, const struct sched_node *n, struct strv *reasons)
{
    struct strv want;
    bool ok = true;
    strv_init(&want);
    add_ports(&want, pod);
    for (size_t i = 0; i < want.n; i++)
        ok = ok && !strv_has(&n->ports, want.v[i]);
    strv_release(&want);
    if (!ok)
        strv_push(reasons, "node(s) didn't have free ports for the requested pod ports");
    return ok;
}

bool sched_fits(const struct json *pod, const struct sched_node *n, struct strv *reasons)
{
    static const char *const first[] = {"cpu", "memory", "ephemeral-storage"};
    struct sched_amounts want = {0};
    size_t before = reasons->n;
    if (n->pods + 1 > sched_amounts_get(&n->alloc, "pods"))
        strv_push(reasons, "Too many pods");
    sched_amounts_pod(pod, &want);
    for (size_t k = 0; k < ARRAY_LEN(first) + want.n; k++) {
        const char *name = k < ARRAY_LEN(first) ? first[k] : want.v[k - ARRAY_LEN(first)].name;
        bool basic = false;
        for (size_t i = 0; i < ARRAY_LEN(first); i++)
            basic = basic || strcmp(name, first[i]) == 0;
        int64_t v = sched_amounts_get(&want, name);
        if (basic == (k < ARRAY_LEN(first)) && v > 0 &&
            v > sched_amounts_get(&n->alloc, name) - sched_amounts_get(&n->used, name))
            strv_pushf(reasons, "Insufficient %s", name);
    }
    sched_amounts_release(&want);
    return reasons->n == before;
}

bool sched_filter(const struct json *pod, const struct sched_node *n, struct strv *reasons,
                  bool *unresolvable)
{
    static const struct {
        bool (*fn)(const struct json *, const struct sched_node *, struct strv *);
        bool unresolvable;
    } filters[] = {{filter_unschedulable, true}, {filter_name, true},   {filter_taints, true},
                   {filter_affinity, true},      {filter_ports, false}, {sched_fits, false}};
    for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
        *unresolvable = filters[i].unresolvable;
        if (!filters[i].fn(pod, n, reasons))
            return false;
    }
    return true;
}

/* --- the sentence --------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "1 a, 2 b", sorted as strings (so "10 x" stands before "2 y"). */
static void histogram(struct strv *all, struct str *out)
{
    struct strv lines;
    strv_init(&lines);
    if (all->n)
        qsort(all->v, all->n, sizeof *all->v, by_text);
    for (size_t i = 0; i < all->n;) {
        size_t k = i;
        while (k < all->n && strcmp(all->v[k], all->v[i]) == 0)
            k++;
        strv_pushf(&lines, "%zu %s", k - i, all->v[i]);
        i = k;
    }
    if (lines.n)
        qsort(lines.v, lines.n, sizeof *lines.v, by_text);
    for (size_t i = 0; i < lines.n; i++)
        str_printf(out, "%s%s", i ? ", " : " ", lines.v[i]);
    if (lines.n)
        str_addc(out, '.');
    strv_release(&lines);
}

void sched_fit_error(const struct strv *reasons, const bool *unresolvable, size_t nodes,
                     const char *prefilter, bool never_preempts, struct str *out)
{
    struct strv all, preemption;
    if (nodes == 0) {
        str_add(out, "no nodes available to schedule pods");
        return;
    }
    strv_init(&all);
    strv_init(&preemption);
    for (size_t i = 0; i < nodes; i++) {
        for (size_t k = 0; !prefilter && k < reasons[i].n; k++)
            strv_push(&all, reasons[i].v[k]);
        strv_push(&preemption, prefilter || unresolvable[i]
                                   ? "Preemption is not helpful for scheduling"
                                   : "No preemption victims found for incoming pod");
    }
    str_printf(out, "0/%zu nodes are available:", nodes);
    if (prefilter)
        str_printf(out, " %s.", prefilter);
    histogram(&all, out);
    str_add(out, " preemption: ");
    if (never_preempts) {
        str_add(out, "not eligible due to preemptionPolicy=Never.");
    } else {
        str_printf(out, "0/%zu nodes are available:", nodes);
        histogram(&preemption, out);
    }
    strv_release(&all);
    strv_release(&preemption);
}
