/* accel.c - accelerators and CPU by node, as a vendor table (accel.h). */
#include "k8s/accel.h"

#include "k8s/quantity.h"

static const struct accel_vendor vendors[] = {
    {"habana.ai/gaudi", "Intel Gaudi", "HPU", false, "habana.ai/gaudi.product"},
    {"nvidia.com/gpu", "NVIDIA", "GPU", false, "nvidia.com/gpu.product"},
    {"amd.com/gpu", "AMD", "GPU", false, "amd.com/gpu.product-name"},
    {"gpu.intel.com/i915", "Intel GPU", "GPU", false, NULL},
    {"cpu", "CPU", "cores", true, "feature.node.kubernetes.io/cpu-model.id"},
};

size_t accel_count(void)
{
    return ARRAY_LEN(vendors);
}

const struct accel_vendor *accel_vendor(size_t i)
{
    assert(i < ARRAY_LEN(vendors));
    return &vendors[i];
}

const struct accel_vendor *accel_by_resource(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(vendors); i++)
        if (!strcmp(vendors[i].resource, name))
            return &vendors[i];
    return NULL;
}

/* A quantity may be a string, or a bare number in hand-made JSON. */
static int64_t amount(const struct accel_vendor *v, const struct json *map, int64_t missing)
{
    const struct json *q = json_get(map, v->resource);
    const char *text = json_string_value(q);
    char number[32];
    int64_t out;
    if (json_type(q) == JSON_NUMBER)
        text = str_fmt(number, sizeof number, "%.15g", json_number_value(q));
    if (!text || !(v->milli ? quantity_milli(text, &out) : quantity_units(text, &out)))
        return missing;
    return out;
}

/* An extended resource may stand under limits alone: requests default to it. */
static int64_t container_request(const struct accel_vendor *v, const struct json *c)
{
    const struct json *r = json_get(c, "resources");
    int64_t n = amount(v, json_get(r, "requests"), -1);
    return n >= 0 ? n : amount(v, json_get(r, "limits"), 0);
}

/* Sum of the containers, or the largest moment of the init phase: an init
 * container runs beside the sidecars started before it. */
int64_t accel_pod_request(const struct accel_vendor *v, const struct json *pod)
{
    int64_t sum = 0, sidecars = 0, peak = 0;
    for (const struct json *c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c))
        sum += container_request(v, c);
    const struct json *init = json_at(pod, "spec.initContainers");
    for (const struct json *c = json_first(init); c; c = json_next(c)) {
        int64_t n = container_request(v, c);
        bool sidecar = !strcmp(json_str(c, "restartPolicy", ""), "Always");
        peak = MAX(peak, sidecars + n);
        sidecars += sidecar ? n : 0;
    }
    return MAX(sum + sidecars, peak) + amount(v, json_at(pod, "spec.overhead"), 0);
}

static bool counts(const struct json *pod, const char *node)
{
    const char *phase = json_str(pod, "status.phase", "");
    return !strcmp(json_str(pod, "spec.nodeName", ""), node) && strcmp(phase, "Succeeded") != 0 &&
           strcmp(phase, "Failed") != 0;
}

struct accel_use accel_node(const struct accel_vendor *v, const struct json *node,
                            const struct json *pods)
{
    const char *name = json_str(node, "metadata.name", "");
    const struct json *labels = json_at(node, "metadata.labels");
    struct accel_use u = {
        .vendor = v,
        .capacity = amount(v, json_at(node, "status.capacity"), -1),
        .allocatable = amount(v, json_at(node, "status.allocatable"), -1),
        .product = v->product_label ? json_string_value(json_get(labels, v->product_label)) : NULL,
    };
    for (const struct json *p = json_first(pods); p; p = json_next(p))
        if (counts(p, name))
            u.used += accel_pod_request(v, p);
    return u;
}

const struct accel_vendor *accel_of_node(const struct json *node)
{
    const struct accel_vendor *best = &vendors[ARRAY_LEN(vendors) - 1];
    int64_t most = 0;
    for (size_t i = 0; i + 1 < ARRAY_LEN(vendors); i++) {
        int64_t n = amount(&vendors[i], json_at(node, "status.capacity"), 0);
        if (n > most) {
            most = n;
            best = &vendors[i];
        }
    }
    return best;
}
