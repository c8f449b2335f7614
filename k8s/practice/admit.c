/* admit.c - admission of new objects: the namespace lives, the service account
 * and priority class exist, a claim gets the default class, the quota holds.
 */
#include "core/base/mem.h"
#include "k8s/practice/pipeline.h"
#include "k8s/practice/quota.h"

static struct json *check_namespace(struct api *a, const struct api_write *w)
{
    char r[128];
    if (!w->res->namespaced)
        return NULL;
    struct api_version *ns = api_find(a, res_by_plural("", "namespaces"), "", w->ns);
    if (!ns)
        return status_new(404, "NotFound", res_by_plural("", "namespaces"), w->ns,
                          "namespaces \"%s\" not found", w->ns);
    if (strcmp(json_str(ns->j, "status.phase", ""), "Terminating") != 0 ||
        !strcmp(w->res->plural, "events"))
        return NULL;
    const char *name = w->name ? w->name : "";
    struct json *s = status_new(403, "Forbidden", w->res, name,
                                "%s \"%s\" is forbidden: unable to create new content in namespace "
                                "%s because it is being terminated", status_resource(w->res, r),
                                name, w->ns);
    char *message = xasprintf("namespace %s is being terminated", w->ns);
    status_add_cause(s, "NamespaceTerminating", message, "metadata.namespace");
    free(message);
    return s;
}

/* --- pods --- */

static struct json *check_account(struct api *a, const struct api_write *w, const struct json *obj)
{
    const char *name = json_str(obj, "spec.serviceAccountName", "default");
    if (api_find(a, res_by_plural("", "serviceaccounts"), w->ns, name))
        return NULL;
    return status_new(403, "Forbidden", w->res, json_str(obj, "metadata.name", ""),
                      "pods \"%s\" is forbidden: error looking up service account %s/%s: "
                      "serviceaccount \"%s\" not found", json_str(obj, "metadata.name", ""), w->ns,
                      name, name);
}

struct find_default {
    const char *path;
    const struct json *found;
};

static void find_global(void *arg, const struct json *pc)
{
    struct find_default *f = arg;
    if (json_bool(pc, "globalDefault", false))
        f->found = pc;
}

static struct json *set_priority(struct api *a, const struct api_write *w, struct json *obj)
{
    const struct res *res = res_by_plural("scheduling.k8s.io", "priorityclasses");
    const char *name = json_str(obj, "spec.priorityClassName", "");
    const struct json *class = NULL;
    if (*name) {
        struct api_version *v = api_find(a, res, "", name);
        if (!v)
            return status_new(403, "Forbidden", w->res, json_str(obj, "metadata.name", ""),
                              "pods \"%s\" is forbidden: no PriorityClass with name %s was found",
                              json_str(obj, "metadata.name", ""), name);
        class = v->j;
    } else {
        struct find_default f = {0};
        api_each(a, res, NULL, find_global, &f);
        class = f.found;
    }
    if (class && !*name)
        json_put_path(obj, "spec.priorityClassName",
                      json_new_string(json_str(class, "metadata.name", "")));
    json_put_path(obj, "spec.priority", json_new_number(json_num(class, "value", 0)));
    if (!json_has(obj, "spec.preemptionPolicy"))
        json_put_path(obj, "spec.preemptionPolicy", json_new_string(json_str(
                          class, "preemptionPolicy", "PreemptLowerPriority")));
    return NULL;
}

/* --- claims --- */

static void find_class(void *arg, const struct json *sc)
{
    struct find_default *f = arg;
    if (!strcmp(json_str(sc, "metadata.annotations['storageclass.kubernetes.io/is-default-class']",
                         ""), "true"))
        f->found = sc;
}

static void set_class(struct api *a, struct json *obj)
{
    struct find_default f = {0};
    if (!json_get(obj, "spec") || json_has(obj, "spec.storageClassName"))
        return;
    api_each(a, res_by_plural("storage.k8s.io", "storageclasses"), NULL, find_class, &f);
    if (f.found)
        json_put_path(obj, "spec.storageClassName",
                      json_new_string(json_str(f.found, "metadata.name", "")));
}

struct json *admit_create(struct api *a, const struct api_write *w, struct json *obj)
{
    struct api_write named = *w;
    named.name = json_str(obj, "metadata.name", "");
    struct json *no = check_namespace(a, &named);
    if (no || !json_get(obj, "spec"))
        return no;
    if (!strcmp(w->res->plural, "pods")) {
        if ((no = check_account(a, w, obj)) == NULL)
            no = set_priority(a, w, obj);
        return no ? no : limits_admit(a, w, obj);
    }
    if (!strcmp(w->res->plural, "persistentvolumeclaims"))
        set_class(a, obj);
    return limits_admit(a, w, obj);
}

/* --- quota --- */

/* Items of pods that a quota names must be specified. */
static bool must_say(const struct res *res, const char *item)
{
    static const char *const words[] = {"requests.cpu", "requests.memory", "limits.cpu",
                                        "limits.memory", "cpu", "memory"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!strcmp(words[i], item))
            return !strcmp(res->plural, "pods");
    return false;
}

struct verdict {
    struct str requested, used, limited, missing;
};

static void judge_item(struct api *a, const struct api_write *w, const struct json *obj,
                       const char *item, const char *hard, struct verdict *v)
{
    struct quantity want, limit, used, total;
    char one[64], two[64], three[64];
    if (!quota_usage(w->res, obj, item, &want)) {
        if (must_say(w->res, item))
            str_printf(&v->missing, "%s%s", v->missing.len ? "," : "", item);
        return;
    }
    quota_sum(a, w->res, w->ns, item, &used);
    total = used;
    quantity_add(&total, &want);
    if (!quantity_parse(hard, &limit) || quantity_compare(&total, &limit) <= 0)
        return;
    str_printf(&v->requested, "%s%s=%s", v->requested.len ? "," : "", item,
               quantity_text(&want, one));
    str_printf(&v->used, "%s%s=%s", v->used.len ? "," : "", item, quantity_text(&used, two));
    str_printf(&v->limited, "%s%s=%s", v->limited.len ? "," : "", item,
               quantity_text(&limit, three));
}

static struct json *judge(struct api *a, const struct api_write *w, const struct json *obj,
                          const struct json *quota)
{
    struct verdict v;
    char r[128];
    struct json *no = NULL;
    const char *q = json_str(quota, "metadata.name", ""),
               *name = json_str(obj, "metadata.name", "");
    str_init(&v.requested, 4096);
    str_init(&v.used, 4096);
    str_init(&v.limited, 4096);
    str_init(&v.missing, 4096);
    for (const struct json *m = json_first(json_at(quota, "spec.hard")); m; m = json_next(m))
        judge_item(a, w, obj, json_key(m), json_string_value(m) ? json_string_value(m) : "0", &v);
    status_resource(w->res, r);
    if (v.missing.len)
        no = status_new(403, "Forbidden", w->res, name,
                        "%s \"%s\" is forbidden: failed quota: %s: must specify %s for: %s", r,
                        name, q, v.missing.p, json_str(obj, "spec.containers[0].name", ""));
    else if (v.requested.len)
        no = status_new(403, "Forbidden", w->res, name,
                        "%s \"%s\" is forbidden: exceeded quota: %s, requested: %s, used: %s, "
                        "limited: %s", r, name, q, v.requested.p, v.used.p, v.limited.p);
    str_release(&v.requested);
    str_release(&v.used);
    str_release(&v.limited);
    str_release(&v.missing);
    return no;
}

struct json *admit_quota(struct api *a, const struct api_write *w, const struct json *obj)
{
    struct api_versions quotas;
    struct json *no = NULL;
    if (!w->res->namespaced || !strcmp(w->res->plural, "events"))
        return NULL;
    api_snapshot(a, res_by_plural("", "resourcequotas"), w->ns, &quotas);
    for (size_t i = 0; i < quotas.n && !no; i++)
        no = judge(a, w, obj, quotas.v[i]->j);
    api_snapshot_release(&quotas);
    return no;
}
