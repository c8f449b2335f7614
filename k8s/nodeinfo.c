/* nodeinfo.c - nodes in rows, their resources summed (nodeinfo.h). */
#include "k8s/nodeinfo.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/quantity.h"

static int64_t amount(const struct json *map, const char *resource, bool milli)
{
    const struct json *q = json_get(map, resource);
    const char *text = json_string_value(q);
    char number[32];
    int64_t out;
    if (json_type(q) == JSON_NUMBER)
        text = str_fmt(number, sizeof number, "%.15g", json_number_value(q));
    if (!text || !(milli ? quantity_milli(text, &out) : quantity_units(text, &out)))
        return -1;
    return out;
}

static struct nodeinfo_use use_of(const struct json *node, const char *resource, bool milli)
{
    const struct json *has = json_at(node, "status.capacity");
    const struct json *gives = json_at(node, "status.allocatable");
    return (struct nodeinfo_use){resource, amount(has, resource, milli),
                                 amount(gives, resource, milli), 0};
}

static void pressures(const struct json *node, struct nodeinfo *out)
{
    for (const struct json *c = json_first(json_at(node, "status.conditions")); c;
         c = json_next(c)) {
        const char *type = json_str(c, "type", "");
        bool yes = str_eq(json_str(c, "status", ""), "True");
        size_t have = strlen(out->pressure);
        if (str_eq(type, "Ready")) {
            out->ready = yes;
            out->ready_reason = yes ? "" : json_str(c, "reason", "");
        } else if (yes) {
            snprintf(out->pressure + have, sizeof out->pressure - have, "%s%s", have ? "," : "",
                     type);
        }
    }
}

static bool is_simulated(const struct json *node)
{
    const struct json *meta = json_get(node, "metadata");
    for (int part = 0; part < 2; part++) {
        const struct json *m = json_get(meta, part ? "annotations" : "labels");
        for (const struct json *c = json_first(m); c; c = json_next(c))
            if (strstr(json_key(c), "simulated") && !str_eq(json_string_value(c), "false"))
                return true;
    }
    return false;
}

static void roles(const struct json *node, char *buf, size_t size)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    size_t have = 0;
    buf[0] = '\0';
    for (const struct json *l = json_first(json_at(node, "metadata.labels")); l; l = json_next(l)) {
        if (!str_starts(json_key(l), prefix) || have >= size)
            continue;
        snprintf(buf + have, size - have, "%s%s", have ? "," : "",
                 json_key(l) + sizeof prefix - 1);
        have = strlen(buf);
    }
}

/* "vendor.com/device": not the built-in ones, which have no domain of others. */
static bool extended(const char *resource)
{
    return strchr(resource, '/') && !strstr(resource, "kubernetes.io/");
}

static void read_node(const struct json *node, struct nodeinfo *out)
{
    int64_t us;
    memset(out, 0, sizeof *out);
    out->node = node;
    out->name = json_str(node, "metadata.name", "?");
    out->version = json_str(node, "status.nodeInfo.kubeletVersion", "");
    out->runtime = json_str(node, "status.nodeInfo.containerRuntimeVersion", "");
    out->arch = json_str(node, "status.nodeInfo.architecture", "");
    out->ready_reason = "";
    out->cordoned = json_bool(node, "spec.unschedulable", false);
    out->taints = (int)json_count(json_at(node, "spec.taints"));
    if (clock_parse_rfc3339(json_str(node, "metadata.creationTimestamp", ""), &us))
        out->created_ms = us / 1000;
    out->simulated = is_simulated(node);
    pressures(node, out);
    roles(node, out->roles, sizeof out->roles);
    out->cpu = use_of(node, "cpu", true);
    out->memory = use_of(node, "memory", false);
    out->pods = use_of(node, "pods", false);
    for (const struct json *q = json_first(json_at(node, "status.capacity")); q; q = json_next(q))
        if (extended(json_key(q)) && out->devices < NODEINFO_DEVICES)
            out->device[out->devices++] = use_of(node, json_key(q), false);
}

static bool counts(const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    return !str_eq(phase, "Succeeded") && !str_eq(phase, "Failed");
}

static int64_t request(const struct json *pod, const char *resource)
{
    struct accel_vendor v = {resource, "", "", str_eq(resource, "cpu"), NULL};
    return accel_pod_request(&v, pod);
}

static int by_name(const void *a, const void *b)
{
    const struct nodeinfo *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void add_pod(struct nodeinfo *n, const struct json *pod)
{
    n->cpu.used += request(pod, "cpu");
    n->memory.used += request(pod, "memory");
    n->pods.used++;
    for (int i = 0; i < n->devices; i++)
        n->device[i].used += request(pod, n->device[i].resource);
}

void nodeinfo_list_read(const struct json *nodes, const struct json *pods,
                        struct nodeinfo_list *out)
{
    int i = 0;
    out->n = (int)json_count(nodes);
    out->v = xcalloc((size_t)out->n + 1, sizeof *out->v);
    for (const struct json *n = json_first(nodes); n; n = json_next(n))
        read_node(n, &out->v[i++]);
    qsort(out->v, (size_t)out->n, sizeof *out->v, by_name);
    for (const struct json *p = json_first(pods); p; p = json_next(p)) {
        struct nodeinfo key = {.name = json_str(p, "spec.nodeName", "")};
        struct nodeinfo *n = *key.name && counts(p)
                                 ? bsearch(&key, out->v, (size_t)out->n, sizeof key, by_name)
                                 : NULL;
        if (n)
            add_pod(n, p);
    }
}

void nodeinfo_list_release(struct nodeinfo_list *l)
{
    free(l->v);
    memset(l, 0, sizeof *l);
}

int64_t nodeinfo_free(const struct nodeinfo_use *u)
{
    return u->allocatable < 0 ? -1 : MAX(u->allocatable - u->used, 0);
}

char *nodeinfo_taint(const struct json *node, int i, char *buf, size_t size)
{
    const struct json *t = json_item(json_at(node, "spec.taints"), i);
    const char *value = json_str(t, "value", "");
    return str_fmt(buf, size, "%s%s%s:%s", json_str(t, "key", ""), *value ? "=" : "", value,
                   json_str(t, "effect", ""));
}

char *nodeinfo_product(const struct json *node, char *buf, size_t size)
{
    static const char *const labels[] = {"habana.ai/gaudi.product", "nvidia.com/gpu.product",
                                         "amd.com/gpu.product-name", "gpu.intel.com/product"};
    const struct json *l = json_at(node, "metadata.labels");
    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        const char *s = json_string_value(json_get(l, labels[i]));
        if (s && *s)
            return str_copy(buf, size, s);
    }
    return buf;
}

char *nodeinfo_features(const struct json *node, char *buf, size_t size)
{
    static const struct { const char *label, *name; } table[] = {
        {"AMXTILE", "AMX"}, {"AMXBF16", "AMX-BF16"}, {"AMXINT8", "AMX-INT8"},
        {"AVX512F", "AVX-512"}, {"AVX512BF16", "AVX512-BF16"}, {"AVX512VNNI", "VNNI"}};
    const struct json *l = json_at(node, "metadata.labels");
    size_t have = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(table) && have < size; i++) {
        char key[96];
        str_fmt(key, sizeof key, "feature.node.kubernetes.io/cpu-cpuid.%s", table[i].label);
        if (!str_eq(json_string_value(json_get(l, key)), "true"))
            continue;
        snprintf(buf + have, size - have, "%s%s", have ? " " : "", table[i].name);
        have = strlen(buf);
    }
    return buf;
}
