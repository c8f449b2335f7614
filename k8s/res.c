/* res.c - the resource table and the ways into it (res.h). */
#include "k8s/res.h"

#include <strings.h>

/* --- columns --- */
#define NAME {"Name", "string", "name", 0}
#define AGE {"Age", "string", "", 0}
#define S(n) {n, "string", "", 0}
#define W(n) {n, "string", "", 1}
#define I(n) {n, "integer", "", 0}
#define B(n) {n, "boolean", "", 0}
#define COLUMNS(id, ...) \
    static const struct res_column columns_##id[] = {__VA_ARGS__, {NULL, NULL, NULL, 0}}

COLUMNS(plain, NAME, {"Created At", "string", "date", 0});
COLUMNS(pod, NAME, S("Ready"), S("Status"), S("Restarts"), AGE, W("IP"), W("Node"),
        W("Nominated Node"), W("Readiness Gates"));
COLUMNS(node, NAME, S("Status"), S("Roles"), AGE, S("Version"), W("Internal-IP"),
        W("External-IP"), W("OS-Image"), W("Kernel-Version"), W("Container-Runtime"));
COLUMNS(job, NAME, S("Status"), S("Completions"), S("Duration"), AGE, W("Containers"), W("Images"),
        W("Selector"));
COLUMNS(event, S("Last Seen"), S("Type"), S("Reason"), S("Object"), W("Subobject"), W("Source"),
        S("Message"), W("First Seen"), W("Count"), {"Name", "string", "name", 1});
COLUMNS(namespace, NAME, S("Status"), AGE);
COLUMNS(secret, NAME, S("Type"), S("Data"), AGE);
COLUMNS(configmap, NAME, S("Data"), AGE);
COLUMNS(serviceaccount, NAME, S("Secrets"), AGE);
COLUMNS(service, NAME, S("Type"), S("Cluster-IP"), S("External-IP"), S("Port(s)"), AGE,
        W("Selector"));
COLUMNS(pv, NAME, S("Capacity"), S("Access Modes"), S("Reclaim Policy"), S("Status"), S("Claim"),
        S("StorageClass"), S("VolumeAttributesClass"), S("Reason"), AGE, W("VolumeMode"));
COLUMNS(pvc, NAME, S("Status"), S("Volume"), S("Capacity"), S("Access Modes"), S("StorageClass"),
        S("VolumeAttributesClass"), AGE, W("VolumeMode"));
COLUMNS(storageclass, NAME, S("Provisioner"), S("ReclaimPolicy"), S("VolumeBindingMode"),
        S("AllowVolumeExpansion"), AGE);
COLUMNS(deployment, NAME, S("Ready"), S("Up-to-date"), S("Available"), AGE, W("Containers"),
        W("Images"), W("Selector"));
COLUMNS(replicaset, NAME, I("Desired"), I("Current"), I("Ready"), AGE, W("Containers"),
        W("Images"), W("Selector"));
COLUMNS(binding, NAME, S("Role"), AGE, W("Users"), W("Groups"), W("ServiceAccounts"));
COLUMNS(lease, NAME, S("Holder"), AGE);
COLUMNS(quota, NAME, S("Request"), S("Limit"), AGE);
COLUMNS(priority, NAME, I("Value"), B("Global-Default"), AGE, S("PreemptionPolicy"));

/* --- subresources --- */
#define SUBS(id, ...) \
    static const struct res_sub subs_##id[] = {__VA_ARGS__, {NULL, NULL, NULL, NULL, 0}}
#define STATUS(kind) {"status", kind, NULL, NULL, RES_GET | RES_PATCH | RES_UPDATE}
#define SCALE {"scale", "Scale", "autoscaling", "v1", RES_GET | RES_PATCH | RES_UPDATE}

static const struct res_sub subs_none[] = {{NULL, NULL, NULL, NULL, 0}};
SUBS(pod, {"attach", "PodAttachOptions", NULL, NULL, RES_CREATE | RES_GET},
     {"binding", "Binding", NULL, NULL, RES_CREATE},
     {"ephemeralcontainers", "Pod", NULL, NULL, RES_GET | RES_PATCH | RES_UPDATE},
     {"eviction", "Eviction", "policy", "v1", RES_CREATE},
     {"exec", "PodExecOptions", NULL, NULL, RES_CREATE | RES_GET},
     {"log", "Pod", NULL, NULL, RES_GET},
     {"portforward", "PodPortForwardOptions", NULL, NULL, RES_CREATE | RES_GET}, STATUS("Pod"));
SUBS(node, STATUS("Node"));
SUBS(namespace, {"finalize", "Namespace", NULL, NULL, RES_UPDATE}, STATUS("Namespace"));
SUBS(pv, STATUS("PersistentVolume"));
SUBS(pvc, STATUS("PersistentVolumeClaim"));
SUBS(service, STATUS("Service"));
SUBS(serviceaccount, {"token", "TokenRequest", "authentication.k8s.io", "v1", RES_CREATE});
SUBS(quota, STATUS("ResourceQuota"));
SUBS(job, STATUS("Job"));
SUBS(deployment, SCALE, STATUS("Deployment"));
SUBS(replicaset, SCALE, STATUS("ReplicaSet"));

/* --- rows --- */
#define NAMES(...) (const char *const[]){__VA_ARGS__, NULL}
static const char *const none[] = {NULL};
#define IN_ALL NAMES("all")
#define FULL RES_ALL_VERBS
#define V1 "", "v1"
#define APPS "apps", "v1"
#define RBAC "rbac.authorization.k8s.io", "v1"
#define AUTHZ "authorization.k8s.io", "v1"
#define AUTHN "authentication.k8s.io", "v1"

static const struct res rows[] = {
    {"ConfigMap", V1, "configmaps", "configmap", NAMES("cm"), none, true, FULL, subs_none,
     columns_configmap},
    {"Event", V1, "events", "event", NAMES("ev"), none, true, FULL, subs_none, columns_event},
    {"LimitRange", V1, "limitranges", "limitrange", NAMES("limits"), none, true, FULL, subs_none,
     columns_plain},
    {"Namespace", V1, "namespaces", "namespace", NAMES("ns"), none, false,
     FULL & ~(unsigned)RES_DELETECOLLECTION, subs_namespace, columns_namespace},
    {"Node", V1, "nodes", "node", NAMES("no"), none, false, FULL, subs_node, columns_node},
    {"PersistentVolumeClaim", V1, "persistentvolumeclaims", "persistentvolumeclaim", NAMES("pvc"),
     none, true, FULL, subs_pvc, columns_pvc},
    {"PersistentVolume", V1, "persistentvolumes", "persistentvolume", NAMES("pv"), none, false,
     FULL, subs_pv, columns_pv},
    {"Pod", V1, "pods", "pod", NAMES("po"), IN_ALL, true, FULL, subs_pod, columns_pod},
    {"ResourceQuota", V1, "resourcequotas", "resourcequota", NAMES("quota"), none, true, FULL,
     subs_quota, columns_quota},
    {"Secret", V1, "secrets", "secret", none, none, true, FULL, subs_none, columns_secret},
    {"ServiceAccount", V1, "serviceaccounts", "serviceaccount", NAMES("sa"), none, true, FULL,
     subs_serviceaccount, columns_serviceaccount},
    {"Service", V1, "services", "service", NAMES("svc"), IN_ALL, true, FULL, subs_service,
     columns_service},
    {"Deployment", APPS, "deployments", "deployment", NAMES("deploy"), IN_ALL, true, FULL,
     subs_deployment, columns_deployment},
    {"ReplicaSet", APPS, "replicasets", "replicaset", NAMES("rs"), IN_ALL, true, FULL,
     subs_replicaset, columns_replicaset},
    {"Event", "events.k8s.io", "v1", "events", "event", NAMES("ev"), none, true, FULL, subs_none,
     columns_event},
    {"SelfSubjectReview", AUTHN, "selfsubjectreviews", "selfsubjectreview", none, none, false,
     RES_CREATE, subs_none, columns_plain},
    {"TokenReview", AUTHN, "tokenreviews", "tokenreview", none, none, false, RES_CREATE, subs_none,
     columns_plain},
    {"LocalSubjectAccessReview", AUTHZ, "localsubjectaccessreviews", "localsubjectaccessreview",
     none, none, true, RES_CREATE, subs_none, columns_plain},
    {"SelfSubjectAccessReview", AUTHZ, "selfsubjectaccessreviews", "selfsubjectaccessreview", none,
     none, false, RES_CREATE, subs_none, columns_plain},
    {"SelfSubjectRulesReview", AUTHZ, "selfsubjectrulesreviews", "selfsubjectrulesreview", none,
     none, false, RES_CREATE, subs_none, columns_plain},
    {"SubjectAccessReview", AUTHZ, "subjectaccessreviews", "subjectaccessreview", none, none,
     false, RES_CREATE, subs_none, columns_plain},
    {"Job", "batch", "v1", "jobs", "job", none, IN_ALL, true, FULL, subs_job, columns_job},
    {"Lease", "coordination.k8s.io", "v1", "leases", "lease", none, none, true, FULL, subs_none,
     columns_lease},
    {"ClusterRoleBinding", RBAC, "clusterrolebindings", "clusterrolebinding", none, none, false,
     FULL, subs_none, columns_binding},
    {"ClusterRole", RBAC, "clusterroles", "clusterrole", none, none, false, FULL, subs_none,
     columns_plain},
    {"RoleBinding", RBAC, "rolebindings", "rolebinding", none, none, true, FULL, subs_none,
     columns_binding},
    {"Role", RBAC, "roles", "role", none, none, true, FULL, subs_none, columns_plain},
    {"PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", NAMES("pc"),
     none, false, FULL, subs_none, columns_priority},
    {"StorageClass", "storage.k8s.io", "v1", "storageclasses", "storageclass", NAMES("sc"), none,
     false, FULL, subs_none, columns_storageclass},
};

size_t res_count(void)
{
    return ARRAY_LEN(rows);
}

const struct res *res_row(size_t i)
{
    assert(i < ARRAY_LEN(rows));
    return &rows[i];
}

const struct res *res_by_plural(const char *group, const char *plural)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].group, group) == 0 && strcmp(rows[i].plural, plural) == 0)
            return &rows[i];
    return NULL;
}

static bool named(const struct res *r, const char *name)
{
    if (!strcasecmp(r->plural, name) || !strcasecmp(r->singular, name))
        return true;
    for (size_t i = 0; r->short_names[i]; i++)
        if (!strcasecmp(r->short_names[i], name))
            return true;
    return false;
}

/* `rest` is "", "GROUP" or "VERSION.GROUP". */
static bool in_group(const struct res *r, const char *rest)
{
    if (!*rest || !strcasecmp(rest, r->group))
        return true;
    size_t n = strlen(r->version);
    if (strncasecmp(rest, r->version, n) != 0)
        return false;
    return rest[n] == '\0' ? r->group[0] == '\0'
                           : rest[n] == '.' && !strcasecmp(rest + n + 1, r->group);
}

const struct res *res_by_name(const char *name)
{
    char first[128];
    const char *dot = strchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : strlen(name);
    if (n >= sizeof first)
        return NULL;
    memcpy(first, name, n);
    first[n] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (named(&rows[i], first) && in_group(&rows[i], dot ? dot + 1 : ""))
            return &rows[i];
    return NULL;
}

const char *res_api_version(const struct res *r, char buf[64])
{
    return str_fmt(buf, 64, "%s%s%s", r->group, *r->group ? "/" : "", r->version);
}

const struct res *res_by_kind(const char *api_version, const char *kind)
{
    char buf[64];
    if (!api_version || !kind)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].kind, kind) && !strcmp(res_api_version(&rows[i], buf), api_version))
            return &rows[i];
    return NULL;
}

const struct res *res_of(const struct json *object)
{
    return res_by_kind(json_string_value(json_get(object, "apiVersion")),
                       json_string_value(json_get(object, "kind")));
}

const char *res_nearest(const char *name)
{
    const char *all[2 * ARRAY_LEN(rows)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        all[n++] = rows[i].plural;
        all[n++] = rows[i].singular;
    }
    return str_nearest(name, all, n);
}

const struct res_sub *res_sub(const struct res *r, const char *name)
{
    for (const struct res_sub *s = r->subs; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}

const char *res_verb_name(enum res_verb verb)
{
    static const char *const names[] = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (verb == (enum res_verb)(1u << i))
            return names[i];
    return "";
}

/* --- paths --- */

/* Append "/part", percent-encoded as a path segment; buf ends at `end`. */
static char *segment(char *p, const char *end, const char *part)
{
    static const char hex[] = "0123456789ABCDEF";
    if (p < end)
        *p++ = '/';
    for (; *part && p + 3 < end; part++) {
        unsigned char c = (unsigned char)*part;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~:@$&+=,;!()*'", c);
        if (plain) {
            *p++ = (char)c;
        } else {
            *p++ = '%';
            *p++ = hex[c >> 4];
            *p++ = hex[c & 15];
        }
    }
    *p = '\0';
    return p;
}

char *res_path(const struct res *r, const char *ns, const char *name, const char *sub,
               char buf[RES_PATH_MAX])
{
    char *end = buf + RES_PATH_MAX - 1;
    char *p = segment(buf, end, *r->group ? "apis" : "api");
    if (*r->group)
        p = segment(p, end, r->group);
    p = segment(p, end, r->version);
    if (r->namespaced && ns && *ns) {
        p = segment(p, end, "namespaces");
        p = segment(p, end, ns);
    }
    p = segment(p, end, r->plural);
    if (name && *name)
        p = segment(p, end, name);
    if (sub && *sub)
        segment(p, end, sub);
    return buf;
}

static int hex_digit(char c)
{
    const char *at = c ? strchr("0123456789abcdef", c | 0x20) : NULL;
    return at ? (int)(at - "0123456789abcdef") : -1;
}

/* The next decoded segment of *p into out; false at the end of the path. */
static bool next_segment(const char **p, char *out, size_t size)
{
    const char *s = *p;
    size_t n = 0;
    if (*s != '/')
        return false;
    s++;
    while (*s && *s != '/' && *s != '?' && n + 1 < size) {
        int hi = s[0] == '%' ? hex_digit(s[1]) : -1;
        int lo = hi >= 0 ? hex_digit(s[2]) : -1;
        out[n++] = lo >= 0 ? (char)(hi << 4 | lo) : *s;
        s += lo >= 0 ? 3 : 1;
    }
    out[n] = '\0';
    *p = s;
    return n > 0;
}

bool res_parse_path(const char *path, struct res_place *out)
{
    char root[8], group[128] = "", version[32], part[256];
    memset(out, 0, sizeof *out);
    if (!next_segment(&path, root, sizeof root))
        return false;
    bool core = !strcmp(root, "api");
    if (!core && (strcmp(root, "apis") != 0 || !next_segment(&path, group, sizeof group)))
        return false;
    if (!next_segment(&path, version, sizeof version) || !next_segment(&path, part, sizeof part))
        return false;
    if (!strcmp(part, "namespaces")) {
        char ns[256], more[256];
        const char *after = path;
        if (next_segment(&after, ns, sizeof ns) && next_segment(&after, more, sizeof more) &&
            res_by_plural(group, more)) {
            str_copy(out->ns, sizeof out->ns, ns);
            str_copy(part, sizeof part, more);
            path = after;
        }
    }
    out->res = res_by_plural(group, part);
    if (!out->res || strcmp(out->res->version, version) != 0)
        return false;
    if (next_segment(&path, out->name, sizeof out->name) &&
        next_segment(&path, out->sub, sizeof out->sub))
        return *path == '\0' || *path == '?';
    return true;
}
