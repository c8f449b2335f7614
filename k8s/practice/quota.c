/* quota.c - counts what namespaces use, and keeps the status of ResourceQuotas
 * (quota.h).
 */
#include "k8s/practice/quota.h"

#include "core/base/mem.h"

static bool pod_usage(const struct json *pod, const char *side, const char *name,
                      struct quantity *sum)
{
    bool any = false;
    for (const struct json *c = json_first(json_at(pod, "spec.containers")); c; c = json_next(c)) {
        const struct json *q = json_get(json_get(json_get(c, "resources"), side), name);
        struct quantity v;
        if (q && json_string_value(q) && quantity_parse(json_string_value(q), &v)) {
            quantity_add(sum, &v);
            any = true;
        }
    }
    return any;
}

static bool ended(const struct json *pod)
{
    const char *phase = json_str(pod, "status.phase", "");
    return !strcmp(phase, "Succeeded") || !strcmp(phase, "Failed");
}

static bool counts(const struct res *res, const char *item)
{
    char full[160];
    str_fmt(full, sizeof full, "count/%s%s%s", res->plural, *res->group ? "." : "", res->group);
    return !strcmp(item, full) || (!*res->group && !strcmp(item, res->plural));
}

bool quota_usage(const struct res *res, const struct json *obj, const char *item,
                  struct quantity *out)
{
    memset(out, 0, sizeof *out);
    out->format = 'd';
    bool pod = !strcmp(res->plural, "pods");
    if (pod && ended(obj))
        return false;
    if (counts(res, item)) {
        out->nano = 1000000000;
        return true;
    }
    if (pod && str_starts(item, "requests."))
        return pod_usage(obj, "requests", item + 9, out);
    if (pod && str_starts(item, "limits."))
        return pod_usage(obj, "limits", item + 7, out);
    if (pod && (!strcmp(item, "cpu") || !strcmp(item, "memory")))
        return pod_usage(obj, "requests", item, out);
    if (!strcmp(res->plural, "persistentvolumeclaims") && !strcmp(item, "requests.storage"))
        return quantity_parse(json_str(obj, "spec.resources.requests.storage", "0"), out);
    return false;
}

struct tally {
    const struct res *res;
    const char *item;
    struct quantity sum;
};

static void add_usage(void *arg, const struct json *obj)
{
    struct tally *t = arg;
    struct quantity q;
    if (quota_usage(t->res, obj, t->item, &q))
        quantity_add(&t->sum, &q);
}

void quota_sum(struct api *a, const struct res *res, const char *ns, const char *item,
               struct quantity *out)
{
    struct tally t = {.res = res, .item = item, .sum = {.format = 'd'}};
    api_each(a, res, ns, add_usage, &t);
    *out = t.sum;
}

/* --- status --- */

static const struct api_user controller = {"system:serviceaccount:kube-system:resourcequota-"
                                           "controller",
                                           NULL, true, "kube-controller-manager"};

struct quota {
    struct api *api;
    struct api_sub *subs[64];
    size_t n;
    bool queued, stopped;
};

/* The sum over all kinds: an item names one, but which is its own affair. */
static void sum_all(struct api *a, const char *ns, const char *item, struct quantity *out)
{
    memset(out, 0, sizeof *out);
    out->format = 'd';
    for (size_t i = 0; i < res_count(); i++) {
        const struct res *res = res_row(i);
        struct quantity q;
        if (!res->namespaced || res->verbs == RES_CREATE || api_storage_res(res) != res)
            continue;
        quota_sum(a, res, ns, item, &q);
        if (q.nano != 0)
            out->format = q.format;
        quantity_add(out, &q);
    }
}

static void refresh(struct quota *q, const struct json *quota)
{
    struct json *o = json_copy(quota), *used = json_new_object();
    const struct json *hard = json_at(quota, "spec.hard");
    struct api_result r;
    for (const struct json *m = json_first(hard); m; m = json_next(m)) {
        struct quantity sum;
        char text[64];
        sum_all(q->api, json_str(quota, "metadata.namespace", ""), json_key(m), &sum);
        json_put_str(used, json_key(m), quantity_text(&sum, text));
    }
    json_set(o, "status", json_new_object());
    if (hard)
        json_set(json_get_mut(o, "status"), "hard", json_copy(hard));
    json_set(json_get_mut(o, "status"), "used", used);
    api_update(q->api, &controller, res_by_plural("", "resourcequotas"), "status", o, &r);
    api_result_release(&r);
    json_free(o);
}

static void work(void *arg)
{
    struct quota *q = arg;
    struct api_versions all;
    q->queued = false;
    if (q->stopped)
        return;
    api_snapshot(q->api, res_by_plural("", "resourcequotas"), NULL, &all);
    for (size_t i = 0; i < all.n; i++)
        refresh(q, all.v[i]->j);
    api_snapshot_release(&all);
}

static void on_delta(void *arg, const struct api_delta *d)
{
    struct quota *q = arg;
    (void)d;
    if (!q->queued)
        loop_timer(api_loop(q->api), 0, work, q, "quota");
    q->queued = true;
}

struct quota *quota_start(struct api *a)
{
    struct quota *q = xcalloc(1, sizeof *q);
    q->api = a;
    for (size_t i = 0; i < res_count() && q->n < ARRAY_LEN(q->subs); i++) {
        const struct res *res = res_row(i);
        if (res->namespaced && res->verbs != RES_CREATE && strcmp(res->plural, "events") != 0 &&
            strcmp(res->plural, "leases") != 0)
            q->subs[q->n++] = api_sub_add(a, res, on_delta, q);
    }
    return q;
}

void quota_stop(struct quota *q)
{
    if (!q)
        return;
    q->stopped = true;
    for (size_t i = 0; i < q->n; i++)
        api_sub_remove(q->api, q->subs[i]);
    free(q);
}
