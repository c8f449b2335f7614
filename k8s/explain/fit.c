/* fit.c - requests and what nodes have left (fit.h). */
#include "k8s/explain/fit.h"

#include "k8s/explain/fit_rules.h"
#include "k8s/quantity.h"

bool fit_extended(const char *resource)
{
    return strchr(resource, '/') && !str_starts(resource, "kubernetes.io/");
}

bool fit_ended(const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static int64_t milli_of(const struct json *v)
{
    char number[40];
    const char *text = json_string_value(v);
    int64_t milli;
    if (!v)
        return -1;
    if (!text)
        text = str_fmt(number, sizeof number, "%.15g", json_number_value(v));
    return quantity_milli(text, &milli) ? milli : -1;
}

int64_t fit_quantity(const struct json *map, const char *resource)
{
    return milli_of(json_get(map, resource));
}

static int64_t container_asks(const struct json *c, const char *resource)
{
    int64_t v = fit_quantity(json_at(c, "resources.requests"), resource);
    if (v < 0)
        v = fit_quantity(json_at(c, "resources.limits"), resource);
    return MAX(v, 0);
}

int64_t fit_request(const struct json *pod, const char *resource, int *containers)
{
    int64_t sum = 0, side = 0, init = 0;
    int n = 0;
    for (const struct json *c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c)) {
        int64_t v = container_asks(c, resource);
        sum += v;
        n += v > 0;
    }
    for (const struct json *c = json_first(json_at(pod, "spec.initContainers")); c;
         c = json_next(c)) {
        int64_t v = container_asks(c, resource);
        if (str_eq(json_str(c, "restartPolicy", ""), "Always"))
            side += v;
        else
            init = MAX(init, v + side);
    }
    if (containers)
        *containers = n;
    int64_t over = fit_quantity(json_at(pod, "spec.overhead"), resource);
    return MAX(sum + side, init) + MAX(over, 0);
}

static void add_ask(struct fit *f, const struct json *pod, const char *resource)
{
    for (int i = 0; i < f->asks; i++)
        if (str_eq(f->ask[i].resource, resource))
            return;
    struct fit_ask a = {.resource = resource};
    a.milli = fit_request(pod, resource, &a.containers);
    if (a.milli > 0 && f->asks < FIT_ASKS)
        f->ask[f->asks++] = a;
}

/* Extended resources first: they are what a training pod is about. */
static void read_asks(struct fit *f, const struct json *pod)
{
    static const char *const lists[] = {"spec.containers", "spec.initContainers"};
    static const char *const maps[] = {"resources.requests", "resources.limits"};
    for (int pass = 0; pass < 2; pass++)
        for (size_t l = 0; l < 2; l++)
            for (const struct json *c = json_first(json_at(pod, lists[l])); c; c = json_next(c))
                for (size_t m = 0; m < 2; m++)
                    for (const struct json *r = json_first(json_at(c, maps[m])); r;
                         r = json_next(r))
                        if (json_key(r) && fit_extended(json_key(r)) == (pass == 0))
                            add_ask(f, pod, json_key(r));
}

static int64_t used_on(const struct snapshot *s, const char *node, const char *resource,
                       const struct json *but)
{
    int64_t sum = 0;
    const struct snap_list *pods = &s->list[SNAP_PODS];
    for (size_t i = 0; i < pods->n; i++)
        if (pods->v[i].o != but && str_eq(json_str(pods->v[i].o, "spec.nodeName", ""), node) &&
            !fit_ended(pods->v[i].o))
            sum += fit_request(pods->v[i].o, resource, NULL);
    return sum;
}

static void resources(const struct snapshot *s, const struct json *pod, const struct fit *f,
                      struct fit_node *n)
{
    const struct json *has = json_at(n->item->o, "status.allocatable");
    n->offers = n->ever = n->now = true;
    n->short_of = -1;
    for (int i = 0; i < f->asks; i++) {
        const struct fit_ask *a = &f->ask[i];
        int64_t total = fit_quantity(has, a->resource);
        if (total < 0 && !fit_extended(a->resource))
            continue; /* the node does not say: unknown is not zero */
        total = MAX(total, 0);
        int64_t used = used_on(s, n->name, a->resource, pod);
        bool ever = a->milli <= total, now = a->milli <= total - used;
        if (fit_extended(a->resource) && total == 0)
            n->offers = false;
        if ((!ever && n->ever) || (!now && n->now)) {
            n->short_of = i;
            n->allocatable = total;
            n->used = used;
        }
        n->ever &= ever;
        n->now &= now;
    }
}

void fit_compute(const struct snapshot *s, const struct json *pod, struct fit *out)
{
    const struct snap_list *nodes = &s->list[SNAP_NODES];
    memset(out, 0, sizeof *out);
    read_asks(out, pod);
    out->node = xcalloc(nodes->n + 1, sizeof *out->node);
    for (size_t i = 0; i < nodes->n; i++) {
        struct fit_node *n = &out->node[out->nodes++];
        n->item = &nodes->v[i];
        n->name = json_str(n->item->o, "metadata.name", "");
        n->selected = fit_selected(pod, n->item->o);
        n->taint = fit_untolerated(pod, n->item->o);
        n->tolerated = !n->taint;
        n->schedulable = !json_bool(n->item->o, "spec.unschedulable", false);
        const char *ready = json_str(n->item->o, "status.conditions[?type=Ready].status", "True");
        n->ready = str_eq(ready, "True");
        n->beside = fit_beside(s, pod, n->item->o);
        resources(s, pod, out, n);
    }
}

void fit_release(struct fit *f)
{
    free(f->node);
    f->node = NULL;
}

static bool bytes_of(const char *resource)
{
    return str_eq(resource, "memory") || str_eq(resource, "ephemeral-storage") ||
           str_starts(resource, "hugepages-");
}

const char *fit_amount(const char *resource, int64_t milli, char buf[48])
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    double v = (double)milli / 1000;
    int u = 0;
    if (!bytes_of(resource))
        return str_fmt(buf, 48, milli % 1000 ? "%.4g" : "%.0f", v);
    while (u < 4 && v >= 1024)
        v /= 1024, u++;
    return str_fmt(buf, 48, v < 100 && v != (double)(int64_t)v ? "%.1f%s" : "%.0f%s", v, units[u]);
}
