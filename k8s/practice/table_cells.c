/* table_cells.c - the cells of each resource's columns, as the API server
 * formats them.
 */
#include "k8s/practice/table_cells.h"

#include "core/base/clock.h"

typedef void cell_fn(const struct json *obj, struct str *out);

void table_since(const char *time, struct str *out)
{
    int64_t at;
    char age[16];
    if (clock_parse_rfc3339(time, &at))
        str_add(out, clock_age(MAX(0, clock_wall_ms() - at / 1000), age));
    else
        str_add(out, "<unknown>");
}

static void or_none(struct str *out)
{
    if (out->len == 0)
        str_add(out, "<none>");
}

/* --- any object --- */

static void name(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "metadata.name", ""));
}

static void age(const struct json *o, struct str *s)
{
    table_since(json_str(o, "metadata.creationTimestamp", ""), s);
}

static void created(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "metadata.creationTimestamp", ""));
}

static void data_count(const struct json *o, struct str *s)
{
    str_printf(s, "%zu", json_count(json_get(o, "data")) + json_count(json_get(o, "binaryData")));
}

static void top_type(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "type", ""));
}

static void phase(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "status.phase", ""));
}

static void claim_status(const struct json *o, struct str *s)
{
    str_add(s, json_has(o, "metadata.deletionTimestamp") ? "Terminating"
                                                         : json_str(o, "status.phase", ""));
}

static void selector_text(const struct json *sel, struct str *s)
{
    for (const struct json *m = json_first(sel); m; m = json_next(m))
        str_printf(s, "%s%s=%s", s->len ? "," : "", json_key(m),
                   json_string_value(m) ? json_string_value(m) : "");
    or_none(s);
}

static void match_labels(const struct json *o, struct str *s)
{
    selector_text(json_at(o, "spec.selector.matchLabels"), s);
}

static void joined(const struct json *list, const char *member, struct str *s)
{
    for (const struct json *c = json_first(list); c; c = json_next(c))
        str_printf(s, "%s%s", s->len ? "," : "", json_str(c, member, ""));
}

static void template_containers(const struct json *o, struct str *s)
{
    joined(json_at(o, "spec.template.spec.containers"), "name", s);
}

static void template_images(const struct json *o, struct str *s)
{
    joined(json_at(o, "spec.template.spec.containers"), "image", s);
}

/* --- pods --- */

static void pod_ip(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "status.podIP", ""));
    or_none(s);
}

static void pod_node(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.nodeName", ""));
    or_none(s);
}

static void pod_nominated(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "status.nominatedNodeName", ""));
    or_none(s);
}

static void pod_gates(const struct json *o, struct str *s)
{
    size_t n = json_count(json_at(o, "spec.readinessGates"));
    if (n)
        str_printf(s, "0/%zu", n);
    or_none(s);
}

/* --- nodes --- */

static void node_status(const struct json *o, struct str *s)
{
    const struct json *ready = json_at(o, "status.conditions[?type=Ready]");
    const char *is = json_str(ready, "status", "");
    str_add(s, !ready ? "Unknown" : !strcmp(is, "True") ? "Ready" : "NotReady");
    if (json_bool(o, "spec.unschedulable", false))
        str_add(s, ",SchedulingDisabled");
}

static void node_roles(const struct json *o, struct str *s)
{
    static const char prefix[] = "node-role.kubernetes.io/";
    for (const struct json *m = json_first(json_at(o, "metadata.labels")); m; m = json_next(m)) {
        const char *role = NULL;
        if (str_starts(json_key(m), prefix))
            role = json_key(m) + sizeof prefix - 1;
        else if (!strcmp(json_key(m), "kubernetes.io/role"))
            role = json_string_value(m);
        if (role && *role)
            str_printf(s, "%s%s", s->len ? "," : "", role);
    }
    or_none(s);
}

static void node_address(const struct json *o, const char *type, struct str *s)
{
    for (const struct json *a = json_first(json_at(o, "status.addresses")); a; a = json_next(a))
        if (!s->len && !strcmp(json_str(a, "type", ""), type))
            str_add(s, json_str(a, "address", ""));
    or_none(s);
}

static void node_internal(const struct json *o, struct str *s)
{
    node_address(o, "InternalIP", s);
}

static void node_external(const struct json *o, struct str *s)
{
    node_address(o, "ExternalIP", s);
}

static void node_info(const struct json *o, const char *key, struct str *s)
{
    str_add(s, json_str(json_at(o, "status.nodeInfo"), key, "<unknown>"));
}

static void node_version(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "status.nodeInfo.kubeletVersion", ""));
}

static void node_os(const struct json *o, struct str *s)
{
    node_info(o, "osImage", s);
}

static void node_kernel(const struct json *o, struct str *s)
{
    node_info(o, "kernelVersion", s);
}

static void node_runtime(const struct json *o, struct str *s)
{
    node_info(o, "containerRuntimeVersion", s);
}

/* --- jobs --- */

static bool job_is(const struct json *o, const char *type)
{
    for (const struct json *c = json_first(json_at(o, "status.conditions")); c; c = json_next(c))
        if (!strcmp(json_str(c, "type", ""), type) && !strcmp(json_str(c, "status", ""), "True"))
            return true;
    return false;
}

static void job_status(const struct json *o, struct str *s)
{
    const char *is = job_is(o, "Complete")                          ? "Complete"
                     : job_is(o, "Failed")                          ? "Failed"
                     : json_has(o, "metadata.deletionTimestamp")    ? "Terminating"
                     : job_is(o, "Suspended")                       ? "Suspended"
                     : job_is(o, "FailureTarget")                   ? "FailureTarget"
                     : job_is(o, "SuccessCriteriaMet")              ? "SuccessCriteriaMet"
                                                                    : "Running";
    str_add(s, is);
}

static void job_completions(const struct json *o, struct str *s)
{
    int64_t done = json_int(o, "status.succeeded", 0), many = json_int(o, "spec.parallelism", 0);
    if (json_has(o, "spec.completions"))
        str_printf(s, "%" PRId64 "/%" PRId64, done, json_int(o, "spec.completions", 0));
    else if (many > 1)
        str_printf(s, "%" PRId64 "/1 of %" PRId64, done, many);
    else
        str_printf(s, "%" PRId64 "/1", done);
}

static void job_duration(const struct json *o, struct str *s)
{
    int64_t from, to;
    char text[16];
    if (!clock_parse_rfc3339(json_str(o, "status.startTime", ""), &from))
        return;
    if (!clock_parse_rfc3339(json_str(o, "status.completionTime", ""), &to))
        to = clock_wall_ms() * 1000;
    str_add(s, clock_age(MAX(0, to - from) / 1000, text));
}

/* --- events --- */

static const char *event_time(const struct json *o, const char *key)
{
    const char *t = json_str(o, key, "");
    return *t ? t : json_str(o, "eventTime", json_str(o, "metadata.creationTimestamp", ""));
}

static void event_last(const struct json *o, struct str *s)
{
    const char *series = json_str(o, "series.lastObservedTime", "");
    table_since(*series ? series : event_time(o, "lastTimestamp"), s);
}

static void event_first(const struct json *o, struct str *s)
{
    table_since(event_time(o, "firstTimestamp"), s);
}

static void event_reason(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "reason", ""));
}

static void event_object(const struct json *o, struct str *s)
{
    const char *kind = json_str(o, "involvedObject.kind", "");
    for (const char *p = kind; *p; p++)
        str_addc(s, *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p);
    str_printf(s, "/%s", json_str(o, "involvedObject.name", ""));
}

static void event_sub(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "involvedObject.fieldPath", ""));
}

static void event_source(const struct json *o, struct str *s)
{
    const char *component = json_str(o, "source.component", "");
    const char *host = json_str(o, "source.host", "");
    if (!*component) {
        str_printf(s, "%s, %s", json_str(o, "reportingComponent", ""),
                   json_str(o, "reportingInstance", ""));
        return;
    }
    str_printf(s, "%s%s%s", component, *host ? ", " : "", host);
}

static void event_message(const struct json *o, struct str *s)
{
    const char *m = json_str(o, "message", "");
    size_t n = strlen(m);
    while (n && (m[n - 1] == ' ' || m[n - 1] == '\n'))
        n--;
    str_append(s, m, n);
}

static void event_count(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "series.count", json_int(o, "count", 1)));
}

/* --- storage --- */

static void modes(const struct json *list, struct str *s)
{
    static const struct {
        const char *mode, *shown;
    } all[] = {{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"},
               {"ReadWriteOncePod", "RWOP"}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (const struct json *m = json_first(list); m; m = json_next(m))
            if (!strcmp(json_string_value(m) ? json_string_value(m) : "", all[i].mode))
                str_printf(s, "%s%s", s->len ? "," : "", all[i].shown);
}

static void pv_capacity(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.capacity.storage", ""));
}

static void pv_modes(const struct json *o, struct str *s)
{
    modes(json_at(o, "spec.accessModes"), s);
}

static void pv_policy(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.persistentVolumeReclaimPolicy", ""));
}

static void pv_claim(const struct json *o, struct str *s)
{
    if (json_has(o, "spec.claimRef"))
        str_printf(s, "%s/%s", json_str(o, "spec.claimRef.namespace", ""),
                   json_str(o, "spec.claimRef.name", ""));
}

static void storage_class(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.storageClassName", ""));
}

static void attributes_class(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.volumeAttributesClassName", "<unset>"));
}

static void pv_reason(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "status.reason", ""));
}

static void volume_mode(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.volumeMode", "<unset>"));
}

static bool bound(const struct json *o)
{
    return *json_str(o, "spec.volumeName", "") != '\0';
}

static void pvc_volume(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.volumeName", ""));
}

static void pvc_capacity(const struct json *o, struct str *s)
{
    if (bound(o))
        str_add(s, json_str(o, "status.capacity.storage", ""));
}

static void pvc_modes(const struct json *o, struct str *s)
{
    if (bound(o))
        modes(json_at(o, "status.accessModes"), s);
}

static void sc_name(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "metadata.name", ""));
    if (!strcmp(json_str(o, "metadata.annotations['storageclass.kubernetes.io/is-default-class']",
                         ""), "true"))
        str_add(s, " (default)");
}

static void sc_provisioner(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "provisioner", ""));
}

static void sc_reclaim(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "reclaimPolicy", "Delete"));
}

static void sc_binding(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "volumeBindingMode", "Immediate"));
}

static void sc_expands(const struct json *o, struct str *s)
{
    str_add(s, json_bool(o, "allowVolumeExpansion", false) ? "true" : "false");
}

/* --- workloads, services, RBAC and the rest --- */

static void deploy_ready(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64 "/%" PRId64, json_int(o, "status.readyReplicas", 0),
               json_int(o, "spec.replicas", 0));
}

static void deploy_updated(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "status.updatedReplicas", 0));
}

static void deploy_available(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "status.availableReplicas", 0));
}

static void rs_desired(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "spec.replicas", 0));
}

static void rs_current(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "status.replicas", 0));
}

static void rs_ready(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "status.readyReplicas", 0));
}

static void svc_type(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.type", "ClusterIP"));
}

static void svc_ip(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.clusterIP", ""));
    or_none(s);
}

static void svc_external(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.externalName", ""));
    or_none(s);
}

static void svc_ports(const struct json *o, struct str *s)
{
    for (const struct json *p = json_first(json_at(o, "spec.ports")); p; p = json_next(p)) {
        str_printf(s, "%s%" PRId64, s->len ? "," : "", json_int(p, "port", 0));
        if (json_has(p, "nodePort"))
            str_printf(s, ":%" PRId64, json_int(p, "nodePort", 0));
        str_printf(s, "/%s", json_str(p, "protocol", "TCP"));
    }
    or_none(s);
}

static void svc_selector(const struct json *o, struct str *s)
{
    selector_text(json_at(o, "spec.selector"), s);
}

static void sa_secrets(const struct json *o, struct str *s)
{
    str_printf(s, "%zu", json_count(json_get(o, "secrets")));
}

static void binding_role(const struct json *o, struct str *s)
{
    str_printf(s, "%s/%s", json_str(o, "roleRef.kind", ""), json_str(o, "roleRef.name", ""));
}

static void subjects(const struct json *o, const char *kind, struct str *s)
{
    for (const struct json *x = json_first(json_get(o, "subjects")); x; x = json_next(x)) {
        const char *ns = json_str(x, "namespace", "");
        if (!strcmp(json_str(x, "kind", ""), kind))
            str_printf(s, "%s%s%s%s", s->len ? ", " : "", ns, *ns ? "/" : "",
                       json_str(x, "name", ""));
    }
}

static void binding_users(const struct json *o, struct str *s)
{
    subjects(o, "User", s);
}

static void binding_groups(const struct json *o, struct str *s)
{
    subjects(o, "Group", s);
}

static void binding_accounts(const struct json *o, struct str *s)
{
    subjects(o, "ServiceAccount", s);
}

static void lease_holder(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "spec.holderIdentity", ""));
}

static void quota_side(const struct json *o, bool limits, struct str *s)
{
    for (const struct json *m = json_first(json_at(o, "status.hard")); m; m = json_next(m)) {
        const struct json *used = json_get(json_at(o, "status.used"), json_key(m));
        if (str_starts(json_key(m), "limits.") == limits)
            str_printf(s, "%s%s: %s/%s", s->len ? ", " : "", json_key(m),
                       json_string_value(used) ? json_string_value(used) : "0",
                       json_string_value(m) ? json_string_value(m) : "");
    }
}

static void quota_request(const struct json *o, struct str *s)
{
    quota_side(o, false, s);
}

static void quota_limit(const struct json *o, struct str *s)
{
    quota_side(o, true, s);
}

static void pc_value(const struct json *o, struct str *s)
{
    str_printf(s, "%" PRId64, json_int(o, "value", 0));
}

static void pc_default(const struct json *o, struct str *s)
{
    str_add(s, json_bool(o, "globalDefault", false) ? "true" : "false");
}

static void pc_preempts(const struct json *o, struct str *s)
{
    str_add(s, json_str(o, "preemptionPolicy", "PreemptLowerPriority"));
}

/* plural NULL: of any resource that has none of its own. */
static const struct {
    const char *plural, *column;
    cell_fn *fn;
} cells[] = {
    {"pods", "Ready", table_pod_ready},
    {"pods", "Status", table_pod_status},
    {"pods", "Restarts", table_pod_restarts},
    {"pods", "IP", pod_ip},
    {"pods", "Node", pod_node},
    {"pods", "Nominated Node", pod_nominated},
    {"pods", "Readiness Gates", pod_gates},
    {"nodes", "Status", node_status},
    {"nodes", "Roles", node_roles},
    {"nodes", "Version", node_version},
    {"nodes", "Internal-IP", node_internal},
    {"nodes", "External-IP", node_external},
    {"nodes", "OS-Image", node_os},
    {"nodes", "Kernel-Version", node_kernel},
    {"nodes", "Container-Runtime", node_runtime},
    {"jobs", "Status", job_status},
    {"jobs", "Completions", job_completions},
    {"jobs", "Duration", job_duration},
    {"events", "Last Seen", event_last},
    {"events", "Type", top_type},
    {"events", "Reason", event_reason},
    {"events", "Object", event_object},
    {"events", "Subobject", event_sub},
    {"events", "Source", event_source},
    {"events", "Message", event_message},
    {"events", "First Seen", event_first},
    {"events", "Count", event_count},
    {"persistentvolumes", "Capacity", pv_capacity},
    {"persistentvolumes", "Access Modes", pv_modes},
    {"persistentvolumes", "Reclaim Policy", pv_policy},
    {"persistentvolumes", "Status", claim_status},
    {"persistentvolumes", "Claim", pv_claim},
    {"persistentvolumes", "Reason", pv_reason},
    {"persistentvolumeclaims", "Status", claim_status},
    {"persistentvolumeclaims", "Volume", pvc_volume},
    {"persistentvolumeclaims", "Capacity", pvc_capacity},
    {"persistentvolumeclaims", "Access Modes", pvc_modes},
    {NULL, "StorageClass", storage_class},
    {NULL, "VolumeAttributesClass", attributes_class},
    {NULL, "VolumeMode", volume_mode},
    {"storageclasses", "Name", sc_name},
    {"storageclasses", "Provisioner", sc_provisioner},
    {"storageclasses", "ReclaimPolicy", sc_reclaim},
    {"storageclasses", "VolumeBindingMode", sc_binding},
    {"storageclasses", "AllowVolumeExpansion", sc_expands},
    {"deployments", "Ready", deploy_ready},
    {"deployments", "Up-to-date", deploy_updated},
    {"deployments", "Available", deploy_available},
    {"replicasets", "Desired", rs_desired},
    {"replicasets", "Current", rs_current},
    {"replicasets", "Ready", rs_ready},
    {"services", "Type", svc_type},
    {"services", "Cluster-IP", svc_ip},
    {"services", "External-IP", svc_external},
    {"services", "Port(s)", svc_ports},
    {"services", "Selector", svc_selector},
    {"serviceaccounts", "Secrets", sa_secrets},
    {NULL, "Role", binding_role},
    {NULL, "Users", binding_users},
    {NULL, "Groups", binding_groups},
    {NULL, "ServiceAccounts", binding_accounts},
    {"leases", "Holder", lease_holder},
    {"resourcequotas", "Request", quota_request},
    {"resourcequotas", "Limit", quota_limit},
    {"priorityclasses", "Value", pc_value},
    {"priorityclasses", "Global-Default", pc_default},
    {"priorityclasses", "PreemptionPolicy", pc_preempts},
    {NULL, "Name", name},
    {NULL, "Age", age},
    {NULL, "Created At", created},
    {NULL, "Data", data_count},
    {NULL, "Type", top_type},
    {NULL, "Status", phase},
    {NULL, "Selector", match_labels},
    {NULL, "Containers", template_containers},
    {NULL, "Images", template_images},
};

static struct json *typed(const struct res_column *column, const char *text)
{
    double d;
    if (!strcmp(column->type, "integer") && str_to_f64(text, &d))
        return json_new_number(d);
    if (!strcmp(column->type, "boolean"))
        return json_new_bool(!strcmp(text, "true"));
    return json_new_string(text);
}

struct json *table_cells_make(const struct res *res, const struct res_column *column,
                              const struct json *obj)
{
    for (size_t i = 0; i < ARRAY_LEN(cells); i++) {
        if ((cells[i].plural && strcmp(cells[i].plural, res->plural) != 0) ||
            strcmp(cells[i].column, column->name) != 0)
            continue;
        struct str s;
        str_init(&s, 64 << 10);
        cells[i].fn(obj, &s);
        struct json *cell = typed(column, s.p);
        str_release(&s);
        return cell;
    }
    return json_new_string("");
}
