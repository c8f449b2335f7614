/* defaults_create.c - what a new object gets beside the defaults: the first
 * status, a Job's selector, a pod's tolerations, priority and QoS class.
 */
#include "core/base/base.h"

#include <openssl/evp.h>

#include "core/base/mem.h"
#include "k8s/rules/rules.h"
#include "k8s/quantity.h"

char *defaults_base64(const char *text)
{
    size_t n = strlen(text);
    char *out = xmalloc(n / 3 * 4 + 8);
    EVP_EncodeBlock((unsigned char *)out, (const unsigned char *)text, (int)n);
    return out;
}

static struct json *fresh_status(struct json *o)
{
    json_set(o, "status", json_new_object());
    return json_get_mut(o, "status");
}

/* --- pods --- */

static bool tolerates(const struct json *list, const char *key)
{
    for (const struct json *t = json_first(list); t; t = json_next(t)) {
        const char *k = json_str(t, "key", ""), *effect = json_str(t, "effect", "");
        if ((!*k || !strcmp(k, key)) && (!*effect || !strcmp(effect, "NoExecute")))
            return true;
    }
    return false;
}

static void add_tolerations(struct json *spec)
{
    static const char *const keys[] = {"node.kubernetes.io/not-ready",
                                       "node.kubernetes.io/unreachable"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (tolerates(json_get(spec, "tolerations"), keys[i]))
            continue;
        struct json *t = json_from("{\"operator\":\"Exists\",\"effect\":\"NoExecute\","
                                   "\"tolerationSeconds\":300}");
        json_put_str(t, "key", keys[i]);
        if (!json_get(spec, "tolerations"))
            json_set(spec, "tolerations", json_new_array());
        json_append(json_get_mut(spec, "tolerations"), t);
    }
}

static bool same_amount(const struct json *a, const struct json *b)
{
    struct quantity x, y;
    const char *s = json_string_value(a), *t = json_string_value(b);
    return s && t && quantity_parse(s, &x) && quantity_parse(t, &y) &&
           quantity_compare(&x, &y) == 0;
}

static void qos_of(const struct json *containers, bool *any, bool *full)
{
    static const char *const kinds[] = {"cpu", "memory"};
    for (const struct json *c = json_first(containers); c; c = json_next(c)) {
        const struct json *req = json_at(c, "resources.requests");
        const struct json *lim = json_at(c, "resources.limits");
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            const struct json *r = json_get(req, kinds[i]), *l = json_get(lim, kinds[i]);
            *any = *any || r || l;
            *full = *full && l && (!r || same_amount(r, l));
        }
    }
}

void defaults_qos(struct json *pod)
{
    bool any = false, full = true;
    qos_of(json_at(pod, "spec.containers"), &any, &full);
    qos_of(json_at(pod, "spec.initContainers"), &any, &full);
    json_put_path(pod, "status.qosClass",
                  json_new_string(!any ? "BestEffort" : full ? "Guaranteed" : "Burstable"));
}

static void new_pod(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec"), *status = fresh_status(o);
    json_put_str(status, "phase", "Pending");
    if (!spec)
        return;
    add_tolerations(spec);
    if (!json_get(spec, "serviceAccountName")) {
        json_put_str(spec, "serviceAccountName", "default");
        json_put_str(spec, "serviceAccount", "default");
    }
}

/* --- jobs: the selector is the job's uid --- */

static void put_label(struct json *o, const char *path, const char *key, const char *value)
{
    char full[256];
    str_fmt(full, sizeof full, "%s['%s']", path, key);
    json_put_path(o, full, json_new_string(value));
}

static void new_job(struct json *o)
{
    const char *uid = json_str(o, "metadata.uid", ""), *name = json_str(o, "metadata.name", "");
    static const char labels[] = "spec.template.metadata.labels";
    fresh_status(o);
    if (!json_get(o, "spec") || json_bool(o, "spec.manualSelector", false))
        return;
    if (!json_at(o, "spec.template.metadata"))
        json_put_path(o, "spec.template.metadata", json_new_object());
    if (!json_at(o, labels))
        json_put_path(o, labels, json_new_object());
    put_label(o, labels, "batch.kubernetes.io/controller-uid", uid);
    put_label(o, labels, "batch.kubernetes.io/job-name", name);
    put_label(o, labels, "controller-uid", uid);
    put_label(o, labels, "job-name", name);
    if (!json_at(o, "spec.selector.matchLabels"))
        json_put_path(o, "spec.selector.matchLabels", json_new_object());
    put_label(o, "spec.selector.matchLabels", "batch.kubernetes.io/controller-uid", uid);
}

/* --- the rest --- */

static void pending(struct json *o)
{
    json_put_str(fresh_status(o), "phase", "Pending");
}

static void new_namespace(struct json *o)
{
    json_set(o, "spec", json_from("{\"finalizers\":[\"kubernetes\"]}"));
    json_put_str(fresh_status(o), "phase", "Active");
}

static void empty_status(struct json *o)
{
    fresh_status(o);
}

static void new_service(struct json *o)
{
    struct json *spec = json_get_mut(o, "spec");
    const char *type = json_str(spec, "type", "");
    json_set(o, "status", json_from("{\"loadBalancer\":{}}"));
    if (!spec || !strcmp(type, "ExternalName"))
        return;
    if (!*json_str(spec, "clusterIP", "")) {  /* derived from the uid, as nothing routes it */
        unsigned long n = strtoul(json_str(o, "metadata.uid", "0"), NULL, 16);
        char ip[32];
        str_fmt(ip, sizeof ip, "10.96.%lu.%lu", (n >> 8) & 255, 1 + (n & 255) % 254);
        json_put_str(spec, "clusterIP", ip);
    }
    struct json *ips = json_new_array(), *families = json_new_array();
    json_append(ips, json_new_string(json_str(spec, "clusterIP", "")));
    json_set(spec, "clusterIPs", ips);
    json_append(families, json_new_string("IPv4"));
    json_set(spec, "ipFamilies", families);
    json_put_str(spec, "ipFamilyPolicy", "SingleStack");
}

void defaults_create(const struct res *res, struct json *obj)
{
    static const struct {
        const char *kind;
        void (*fn)(struct json *o);
    } kinds[] = {{"Pod", new_pod}, {"Job", new_job}, {"PersistentVolumeClaim", pending},
                 {"PersistentVolume", pending}, {"Namespace", new_namespace},
                 {"Service", new_service}, {"Deployment", empty_status},
                 {"ReplicaSet", empty_status}, {"ResourceQuota", empty_status}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, res->kind))
            kinds[i].fn(obj);
}
