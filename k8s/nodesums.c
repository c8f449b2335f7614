/* nodesums.c - sums of requests by node (nodesums.h). */
#include "k8s/nodesums.h"

#include "core/base/mem.h"

struct device_sum {
    char *resource;
    int64_t used;
};

struct node_sum {
    char *name;
    uint32_t hash;
    int64_t cpu, memory, pods;
    struct device_sum *device;
    size_t devices;
};

struct nodesums {
    struct node_sum *v;              /* in the order they came; none is taken out */
    size_t n, cap;
    uint32_t *slot;                  /* open addressing: index plus one */
    size_t slots;                    /* a power of two, at least twice n */
    uint64_t generation;
};

/* --- what a pod asks for --- */

static void add_device(const struct json *pod, const char *resource, struct nodesums_ask *out)
{
    struct accel_vendor v = {resource, "", "", false, NULL};
    if (!strchr(resource, '/') || strstr(resource, "kubernetes.io/") || out->n == NODEINFO_DEVICES)
        return;
    for (int i = 0; i < out->n; i++)
        if (str_eq(out->device[i].resource, resource))
            return;
    int64_t amount = accel_pod_request(&v, pod);
    if (!amount)
        return;
    out->device[out->n].resource = resource;
    out->device[out->n++].amount = amount;
}

static void devices(const struct json *pod, struct nodesums_ask *out)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers"};
    static const char *const parts[] = {"resources.requests", "resources.limits"};
    for (size_t l = 0; l < ARRAY_LEN(lists); l++)
        for (const struct json *c = json_first(json_at(pod, lists[l])); c; c = json_next(c))
            for (size_t p = 0; p < ARRAY_LEN(parts); p++)
                for (const struct json *q = json_first(json_at(c, parts[p])); q; q = json_next(q))
                    add_device(pod, json_key(q), out);
    for (const struct json *q = json_first(json_at(pod, "spec.overhead")); q; q = json_next(q))
        add_device(pod, json_key(q), out);
}

void nodesums_read(const struct json *pod, struct nodesums_ask *out)
{
    static const struct accel_vendor cpu = {"cpu", "", "", true, NULL};
    static const struct accel_vendor memory = {"memory", "", "", false, NULL};
    const char *phase = json_str(pod, "status.phase", "");
    memset(out, 0, sizeof *out);
    out->node = json_str(pod, "spec.nodeName", "");
    if (str_eq(phase, "Succeeded") || str_eq(phase, "Failed"))
        out->node = "";
    if (!*out->node)
        return;
    out->cpu = accel_pod_request(&cpu, pod);
    out->memory = accel_pod_request(&memory, pod);
    devices(pod, out);
}

/* --- the sums --- */

struct nodesums *nodesums_new(void)
{
    return xcalloc(1, sizeof(struct nodesums));
}

void nodesums_free(struct nodesums *s)
{
    for (size_t i = 0; s && i < s->n; i++) {
        for (size_t k = 0; k < s->v[i].devices; k++)
            free(s->v[i].device[k].resource);
        free(s->v[i].device);
        free(s->v[i].name);
    }
    if (!s)
        return;
    free(s->v);
    free(s->slot);
    free(s);
}

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h ^ h >> 15;
}

static uint32_t *place(const struct nodesums *s, const char *name, uint32_t h)
{
    size_t i = h & (s->slots - 1);
    for (; s->slot[i]; i = (i + 1) & (s->slots - 1)) {
        const struct node_sum *n = &s->v[s->slot[i] - 1];
        if (n->hash == h && !strcmp(n->name, name))
            break;
    }
    return &s->slot[i];
}

static void grow(struct nodesums *s)
{
    s->slots = s->slots ? 2 * s->slots : 64;
    free(s->slot);
    s->slot = xcalloc(s->slots, sizeof *s->slot);
    for (size_t i = 0; i < s->n; i++)
        *place(s, s->v[i].name, s->v[i].hash) = (uint32_t)i + 1;
}

static struct node_sum *sum_of(struct nodesums *s, const char *name)
{
    uint32_t h = hash(name);
    if (2 * (s->n + 1) > s->slots)
        grow(s);
    uint32_t *at = place(s, name, h);
    if (*at)
        return &s->v[*at - 1];
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 32;
        s->v = xrealloc_array(s->v, s->cap, sizeof *s->v);
    }
    s->v[s->n] = (struct node_sum){.name = xstrdup(name), .hash = h};
    *at = (uint32_t)++s->n;
    return &s->v[s->n - 1];
}

static int64_t *device_of(struct node_sum *n, const char *resource)
{
    for (size_t i = 0; i < n->devices; i++)
        if (str_eq(n->device[i].resource, resource))
            return &n->device[i].used;
    n->device = xrealloc_array(n->device, n->devices + 1, sizeof *n->device);
    n->device[n->devices] = (struct device_sum){xstrdup(resource), 0};
    return &n->device[n->devices++].used;
}

static void change(struct nodesums *s, const struct nodesums_ask *a, int sign)
{
    if (!a->node || !*a->node)
        return;
    struct node_sum *n = sum_of(s, a->node);
    n->cpu += sign * a->cpu;
    n->memory += sign * a->memory;
    n->pods += sign;
    for (int i = 0; i < a->n; i++)
        *device_of(n, a->device[i].resource) += sign * a->device[i].amount;
    s->generation++;
}

void nodesums_add(struct nodesums *s, const struct nodesums_ask *a)
{
    change(s, a, 1);
}

void nodesums_take(struct nodesums *s, const struct nodesums_ask *a)
{
    change(s, a, -1);
}

void nodesums_give(const struct nodesums *s, struct nodeinfo *n)
{
    static const struct node_sum none = {0};
    uint32_t i = s->slots ? *place(s, n->name, hash(n->name)) : 0;
    const struct node_sum *sum = i ? &s->v[i - 1] : &none;
    n->cpu.used = sum->cpu;
    n->memory.used = sum->memory;
    n->pods.used = sum->pods;
    for (int d = 0; d < n->devices; d++) {
        n->device[d].used = 0;
        for (size_t k = 0; k < sum->devices; k++)
            if (str_eq(sum->device[k].resource, n->device[d].resource))
                n->device[d].used = sum->device[k].used;
    }
}

uint64_t nodesums_generation(const struct nodesums *s)
{
    return s->generation;
}
