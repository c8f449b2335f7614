/* initial.c - the objects of a fresh cluster and the upkeep of namespaces and
 * events (initial.h).
 */
#include "k8s/practice/initial.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/api_int.h"

enum { EVENT_TTL_S = 3600, TIDY_MS = 60000 };

struct initial {
    struct api *api;
    char *ca_pem;
    uint32_t timer;
    struct api_sub *namespaces, *subs[64];
    size_t n_subs;
    bool work_queued, stopped;
};

static const struct api_user controller = {"system:kube-controller-manager", NULL, true,
                                           "kube-controller-manager"};

#define READ "get list watch"
#define ALL READ " create delete deletecollection patch update"
#define RBAC "rbac.authorization.k8s.io"

/* Words are separated by spaces; groups "-" is the core group; groups NULL: the
 * resources are paths. */
static const struct {
    const char *role, *groups, *resources, *verbs;
} rules[] = {
    {"cluster-admin", "*", "*", "*"},
    {"cluster-admin", NULL, "*", "*"},
    {"admin", "-",
     "configmaps events persistentvolumeclaims pods pods/attach pods/exec pods/log "
     "pods/portforward pods/status pods/eviction pods/ephemeralcontainers secrets "
     "serviceaccounts serviceaccounts/token services",
     ALL},
    {"admin", "-", "resourcequotas limitranges namespaces", READ},
    {"admin", "apps batch policy coordination.k8s.io events.k8s.io", "*", ALL},
    {"admin", RBAC, "roles rolebindings", ALL},
    {"admin", "authorization.k8s.io", "localsubjectaccessreviews", "create"},
    {"view", "-",
     "configmaps events persistentvolumeclaims pods pods/log pods/status serviceaccounts "
     "services resourcequotas limitranges namespaces",
     READ},
    {"view", "apps batch events.k8s.io coordination.k8s.io", "*", READ},
    {"podium:reader", "-", "nodes nodes/status persistentvolumes", READ},
    {"podium:reader", "storage.k8s.io scheduling.k8s.io " RBAC, "*", READ},
    {"system:basic-user", "authorization.k8s.io",
     "selfsubjectaccessreviews selfsubjectrulesreviews", "create"},
    {"system:basic-user", "authentication.k8s.io", "selfsubjectreviews", "create"},
    {"system:discovery", NULL,
     "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/",
     "get"},
};

static const struct {
    const char *name, *role, *kind, *who, *ns;       /* ns NULL: for the whole cluster */
} bindings[] = {
    {"cluster-admin", "cluster-admin", "Group", "system:masters", NULL},
    {"system:basic-user", "system:basic-user", "Group", "system:authenticated", NULL},
    {"system:discovery", "system:discovery", "Group", "system:authenticated", NULL},
    {"podium:student-view", "view", "User", "student", NULL},
    {"podium:student-reader", "podium:reader", "User", "student", NULL},
    {"podium:student-admin", "admin", "User", "student", "default"},
};

static const char *const namespaces[] = {"default", "kube-system", "kube-public",
                                         "kube-node-lease"};

static const char *const objects[] = {
    "{\"kind\":\"StorageClass\",\"apiVersion\":\"storage.k8s.io/v1\",\"metadata\":{\"name\":"
    "\"local\",\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}},"
    "\"provisioner\":\"podium.dev/local\",\"reclaimPolicy\":\"Delete\","
    "\"volumeBindingMode\":\"WaitForFirstConsumer\"}",
    "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata\":{"
    "\"name\":\"system-node-critical\"},\"value\":2000001000}",
    "{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"metadata\":{"
    "\"name\":\"system-cluster-critical\"},\"value\":2000000000}",
};

static void create(struct initial *in, const struct json *o)
{
    struct api_result r;
    const struct res *res = res_of(o);
    const char *ns = json_str(o, "metadata.namespace", "");
    if (!res || api_find(in->api, res, ns, json_str(o, "metadata.name", "")))
        return;
    api_create(in->api, &api_admin, res, ns, o, &r);
    api_result_release(&r);
}

/* --- a fresh cluster --- */

static struct json *new_object(const char *api_version, const char *kind, const char *name,
                               const char *ns)
{
    struct json *o = json_new_object();
    json_put_str(o, "kind", kind);
    json_put_str(o, "apiVersion", api_version);
    json_set(o, "metadata", json_new_object());
    json_put_str(json_get_mut(o, "metadata"), "name", name);
    json_put_str(json_get_mut(o, "metadata"), "namespace", ns);
    return o;
}

static void put_words(struct json *o, const char *key, const char *words)
{
    struct strv v;
    struct json *a = json_new_array();
    strv_init(&v);
    strv_split(&v, words, ' ');
    for (size_t i = 0; i < v.n; i++)
        json_append(a, json_new_string(!strcmp(v.v[i], "-") ? "" : v.v[i]));
    strv_release(&v);
    json_set(o, key, a);
}

static void create_role(struct initial *in, const char *name)
{
    struct json *o = new_object(RBAC "/v1", "ClusterRole", name, NULL);
    json_set(o, "rules", json_new_array());
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        struct json *r;
        if (strcmp(rules[i].role, name) != 0)
            continue;
        r = json_new_object();
        if (rules[i].groups)
            put_words(r, "apiGroups", rules[i].groups);
        put_words(r, rules[i].groups ? "resources" : "nonResourceURLs", rules[i].resources);
        put_words(r, "verbs", rules[i].verbs);
        json_append(json_get_mut(o, "rules"), r);
    }
    create(in, o);
    json_free(o);
}

static void create_binding(struct initial *in, size_t i)
{
    const char *kind = bindings[i].ns ? "RoleBinding" : "ClusterRoleBinding";
    struct json *o = new_object(RBAC "/v1", kind, bindings[i].name, bindings[i].ns);
    struct json *ref = json_new_object(), *subject = json_new_object();
    json_put_str(ref, "apiGroup", RBAC);
    json_put_str(ref, "kind", "ClusterRole");
    json_put_str(ref, "name", bindings[i].role);
    json_set(o, "roleRef", ref);
    json_put_str(subject, "apiGroup", RBAC);
    json_put_str(subject, "kind", bindings[i].kind);
    json_put_str(subject, "name", bindings[i].who);
    json_set(o, "subjects", json_new_array());
    json_append(json_get_mut(o, "subjects"), subject);
    create(in, o);
    json_free(o);
}

/* Where the cluster's registry is, as KEP-1755 has it; the port may be another
 * after a restart. */
static void publish_registry(struct initial *in)
{
    const struct res *res = res_by_plural("", "configmaps");
    const char *name = "local-registry-hosting", *ns = "kube-public";
    struct json *o = api_get(in->api, res, ns, name);
    bool known = o != NULL;
    struct str text;
    struct api_result r;
    if (!known)
        o = new_object("v1", "ConfigMap", name, ns);
    str_init(&text, 256);
    str_printf(&text, "host: \"%s\"\n", api_registry_host(in->api));
    json_put_path(o, "data['localRegistryHosting.v1']", json_new_string(text.p));
    str_release(&text);
    if (known)
        api_update(in->api, &api_admin, res, NULL, o, &r);
    else
        api_create(in->api, &api_admin, res, ns, o, &r);
    api_result_release(&r);
    json_free(o);
}

static void create_all(struct initial *in)
{
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        struct json *o = new_object("v1", "Namespace", namespaces[i], NULL);
        create(in, o);
        json_free(o);
    }
    for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
        struct json *o = json_from(objects[i]);
        create(in, o);
        json_free(o);
    }
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (i == 0 || strcmp(rules[i - 1].role, rules[i].role) != 0)
            create_role(in, rules[i].role);
    for (size_t i = 0; i < ARRAY_LEN(bindings); i++)
        create_binding(in, i);
    publish_registry(in);
}

/* --- each namespace --- */

static void furnish(struct initial *in, const char *ns)
{
    struct json *account = new_object("v1", "ServiceAccount", "default", ns);
    struct json *ca = new_object("v1", "ConfigMap", "kube-root-ca.crt", ns);
    json_put_path(ca, "data['ca.crt']", json_new_string(in->ca_pem));
    create(in, account);
    create(in, ca);
    json_free(account);
    json_free(ca);
}

/* Delete what lives in a namespace; how much is left (pods may take time). */
static size_t empty(struct initial *in, const char *ns)
{
    struct json *options = json_from("{\"propagationPolicy\":\"Background\"}");
    size_t left = 0;
    for (size_t i = 0; i < res_count(); i++) {
        const struct res *res = res_row(i);
        struct api_versions all;
        if (!res->namespaced || res->verbs == RES_CREATE || api_storage_res(res) != res)
            continue;
        api_snapshot(in->api, res, ns, &all);
        for (size_t k = 0; k < all.n; k++) {
            struct api_result r;
            if (!json_has(all.v[k]->j, "metadata.deletionTimestamp")) {
                api_delete(in->api, &controller, res, ns,
                           json_str(all.v[k]->j, "metadata.name", ""), options, &r);
                api_result_release(&r);
            }
            left += api_find(in->api, res, ns, json_str(all.v[k]->j, "metadata.name", "")) != NULL;
        }
        api_snapshot_release(&all);
    }
    json_free(options);
    return left;
}

static void finish(struct initial *in, const char *name)
{
    const struct res *res = res_by_plural("", "namespaces");
    struct json *ns = api_get(in->api, res, "", name);
    struct api_result r;
    json_remove(json_get_mut(ns, "spec"), "finalizers");
    api_update(in->api, &controller, res, NULL, ns, &r);
    api_result_release(&r);
    json_free(ns);
}

static void work(void *arg)
{
    struct initial *in = arg;
    struct api_versions all;
    in->work_queued = false;
    if (in->stopped)
        return;
    api_snapshot(in->api, res_by_plural("", "namespaces"), NULL, &all);
    for (size_t i = 0; i < all.n; i++) {
        const char *name = json_str(all.v[i]->j, "metadata.name", "");
        if (!json_has(all.v[i]->j, "metadata.deletionTimestamp"))
            furnish(in, name);
        else if (empty(in, name) == 0)
            finish(in, name);
    }
    api_snapshot_release(&all);
}

static void queue_work(struct initial *in)
{
    if (!in->work_queued)
        loop_timer(api_loop(in->api), 0, work, in, "namespaces");
    in->work_queued = true;
}

static void on_namespace(void *arg, const struct api_delta *d)
{
    (void)d;
    queue_work(arg);
}

static void on_content(void *arg, const struct api_delta *d)
{
    struct initial *in = arg;
    const char *ns = json_str(d->now->j, "metadata.namespace", "");
    struct api_version *v = api_find(in->api, res_by_plural("", "namespaces"), "", ns);
    if (d->change == API_DELETED && v && json_has(v->j, "metadata.deletionTimestamp"))
        queue_work(in);
}

/* --- upkeep --- */

static void tidy(void *arg)
{
    struct initial *in = arg;
    const struct res *res = res_by_plural("", "events");
    struct api_versions all;
    int64_t now = clock_wall_ms() / 1000, at;
    api_snapshot(in->api, res, NULL, &all);
    for (size_t i = 0; i < all.n; i++) {
        const struct json *o = all.v[i]->j;
        const char *last = json_str(o, "series.lastObservedTime", json_str(o, "lastTimestamp", ""));
        if (!*last)
            last = json_str(o, "metadata.creationTimestamp", "");
        if (clock_parse_rfc3339(last, &at) && now - at / 1000000 > EVENT_TTL_S)
            api_drop(in->api, res, all.v[i]);
    }
    api_snapshot_release(&all);
    store_tidy(api_store(in->api));
    in->timer = loop_timer(api_loop(in->api), TIDY_MS, tidy, in, "event upkeep");
}

struct initial *initial_start(struct api *a, const char *ca_pem)
{
    struct initial *in = xcalloc(1, sizeof *in);
    in->api = a;
    in->ca_pem = xstrdup(ca_pem);
    create_all(in);
    for (size_t i = 0; i < res_count() && in->n_subs < ARRAY_LEN(in->subs); i++) {
        const struct res *res = res_row(i);
        if (res->namespaced && res->verbs != RES_CREATE && api_storage_res(res) == res)
            in->subs[in->n_subs++] = api_sub_add(a, res, on_content, in);
    }
    in->namespaces = api_sub_add(a, res_by_plural("", "namespaces"), on_namespace, in);
    work(in);
    (void)api_flush(a);
    in->timer = loop_timer(api_loop(a), TIDY_MS, tidy, in, "event upkeep");
    return in;
}

void initial_stop(struct initial *in)
{
    if (!in)
        return;
    in->stopped = true;
    loop_timer_cancel(api_loop(in->api), in->timer);
    api_sub_remove(in->api, in->namespaces);
    for (size_t i = 0; i < in->n_subs; i++)
        api_sub_remove(in->api, in->subs[i]);
    free(in->ca_pem);
    free(in);
}
