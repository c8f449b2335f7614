/* k8s_denied.c - refusals taken apart: the API server's sentences, others'
 * sentences, the rule and the line to ask for. */
#include "core/base/mem.h"
#include "k8s/client.h"
#include "k8s/denied.h"
#include "tests/t.h"

static struct str s;

static const char *text(void (*fn)(const struct denied *, struct str *), const struct denied *d)
{
    str_release(&s);
    str_init(&s, 1 << 16);
    fn(d, &s);
    return s.p;
}

static const struct {
    const char *message, *method, *path;      /* in */
    const char *user, *verb, *resource, *group, *name, *ns;
    const char *rule, *kubectl;
} rows[] = {
    {"pods is forbidden: User \"ann\" cannot list resource \"pods\" in API group \"\" in the "
     "namespace \"lab\"", NULL, NULL, "ann", "list", "pods", "", "", "lab",
     "{apiGroups: [\"\"], resources: [\"pods\"], verbs: [\"get\", \"list\", \"watch\"]}",
     "kubectl create role podium-pods-list --verb=get,list,watch --resource=pods -n lab && "
     "kubectl create rolebinding podium-pods-list-ann --role=podium-pods-list --user=ann -n lab"},
    {"nodes is forbidden: User \"ann\" cannot watch resource \"nodes\" in API group \"\" at the "
     "cluster scope", NULL, NULL, "ann", "watch", "nodes", "", "", "",
     "{apiGroups: [\"\"], resources: [\"nodes\"], verbs: [\"get\", \"list\", \"watch\"]}",
     "kubectl create clusterrole podium-nodes-watch --verb=get,list,watch --resource=nodes && "
     "kubectl create clusterrolebinding podium-nodes-watch-ann --clusterrole=podium-nodes-watch "
     "--user=ann"},
    {"pods \"p-0\" is forbidden: User \"system:serviceaccount:lab:bob\" cannot get resource "
     "\"pods/log\" in API group \"\" in the namespace \"lab\"", NULL, NULL,
     "system:serviceaccount:lab:bob", "get", "pods/log", "", "p-0", "lab",
     "{apiGroups: [\"\"], resources: [\"pods/log\"], verbs: [\"get\"]}",
     "kubectl create role podium-pods-log-get --verb=get --resource=pods/log -n lab && kubectl "
     "create rolebinding podium-pods-log-get-lab-bob --role=podium-pods-log-get "
     "--serviceaccount=lab:bob -n lab"},
    {"jobs.batch is forbidden: User \"o'hara \\\"x\\\"\" cannot create resource \"jobs\" in API "
     "group \"batch\" in the namespace \"lab\": RBAC: role.rbac.authorization.k8s.io \"gone\" not "
     "found", NULL, NULL, "o'hara \"x\"", "create", "jobs", "batch", "", "lab",
     "{apiGroups: [\"batch\"], resources: [\"jobs\"], verbs: [\"create\"]}",
     "kubectl create role podium-jobs-create --verb=create --resource=jobs.batch -n lab && kubectl "
     "create rolebinding podium-jobs-create-o-hara--x --role=podium-jobs-create "
     "--user='o'\\''hara \"x\"' -n lab"},
    {"deployments.apps \"d\" is forbidden: User \"ann\" cannot patch resource "
     "\"deployments/scale\" in API group \"apps\" in the namespace \"lab\"", NULL, NULL,
     "ann", "patch", "deployments/scale", "apps", "d", "lab",
     "{apiGroups: [\"apps\"], resources: [\"deployments/scale\"], verbs: [\"patch\"]}", NULL},
    /* other authorisers: the request tells */
    {"Access denied by the class proxy", "GET", "/apis/batch/v1/namespaces/lab/jobs?limit=500",
     "", "list", "jobs", "batch", "", "lab",
     "{apiGroups: [\"batch\"], resources: [\"jobs\"], verbs: [\"get\", \"list\", \"watch\"]}",
     "kubectl create role podium-jobs-list --verb=get,list,watch --resource=jobs.batch -n lab && "
     "kubectl create rolebinding podium-jobs-list --role=podium-jobs-list --user=USER -n lab"},
    {"x is forbidden: User \"ann\" cannot list resource \"pods; reboot\" in API group \"\" in the "
     "namespace \"lab\"", "GET", "/api/v1/namespaces/lab/pods", "", "list", "pods", "", "", "lab",
     NULL, NULL},
    {"x is forbidden: User \"ann\" cannot list resource \"pods\" in API group \"\" in the "
     "namespace \"$(reboot)\"", "GET", "/api/v1/namespaces/lab/pods", "", "list", "pods", "", "",
     "lab", NULL, NULL},
    {"no", "GET", "/api/v1/pods?limit=1&watch=true", "", "watch", "pods", "", "", "", NULL, NULL},
    {NULL, "GET", "/api/v1/namespaces/lab/pods/p/log?follow=true", "", "get", "pods/log", "", "p",
     "lab", NULL, NULL},
    {NULL, "DELETE", "/api/v1/namespaces/lab/pods", "", "deletecollection", "pods", "", "", "lab",
     NULL, NULL},
    {NULL, "PATCH", "/api/v1/namespaces/lab/configmaps/c", "", "patch", "configmaps", "", "c",
     "lab", "{apiGroups: [\"\"], resources: [\"configmaps\"], verbs: [\"patch\"]}", NULL},
};

TEST(denied_table)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct denied d;
        CHECK(denied_read(&d, rows[i].message, rows[i].method, rows[i].path));
        CHECK_STR(d.user, rows[i].user);
        CHECK_STR(d.verb, rows[i].verb);
        CHECK_STR(d.resource, rows[i].resource);
        CHECK_STR(d.group, rows[i].group);
        CHECK_STR(d.name, rows[i].name);
        CHECK_STR(d.ns, rows[i].ns);
        if (rows[i].rule)
            CHECK_STR(text(denied_rule, &d), rows[i].rule);
        if (rows[i].kubectl)
            CHECK_STR(text(denied_kubectl, &d), rows[i].kubectl);
    }
    str_release(&s);
}

TEST(denied_yaml_is_a_role_and_its_binding)
{
    struct denied d;
    CHECK(denied_read(&d, rows[2].message, NULL, NULL));
    CHECK_STR(text(denied_yaml, &d),
              "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n"
              "  name: podium-pods-log-get\n  namespace: lab\nrules:\n"
              "- {apiGroups: [\"\"], resources: [\"pods/log\"], verbs: [\"get\"]}\n---\n"
              "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n"
              "  name: podium-pods-log-get-lab-bob\n  namespace: lab\nroleRef:\n"
              "  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: podium-pods-log-get\n"
              "subjects:\n- kind: ServiceAccount\n  namespace: lab\n  name: bob\n");
    CHECK(denied_read(&d, rows[1].message, NULL, NULL));
    CHECK_HAS(text(denied_yaml, &d), "kind: ClusterRole\nmetadata:\n  name: podium-nodes-watch\n"
                                     "rules:");
    CHECK_HAS(s.p, "- apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: \"ann\"\n");
    str_release(&s);
}

TEST(denied_of_an_error_names_the_rule_in_its_hint)
{
    struct denied d;
    struct pd_err err;
    char *body = xasprintf("{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":"
                           "\"nodes is forbidden: User \\\"ann\\\" cannot list resource "
                           "\\\"nodes\\\" in API group \\\"\\\" at the cluster scope\"}");
    CHECK_INT(k8s_status_error(403, body, strlen(body), &err), PD_FORBIDDEN);
    CHECK_STR(err.hint, "ask for a ClusterRole with {apiGroups: [\"\"], resources: [\"nodes\"], "
                        "verbs: [\"get\", \"list\", \"watch\"]}");
    CHECK(denied_of(&d, &err));
    CHECK_STR(d.verb, "list");
    CHECK_INT(k8s_status_error(403, "no", 2, &err), PD_FORBIDDEN);
    CHECK(!denied_of(&d, &err));
    str_copy(err.src, sizeof err.src, "GET /api/v1/namespaces/lab/pods?limit=500");
    CHECK(denied_of(&d, &err));
    CHECK_STR(d.ns, "lab");
    err.code = PD_NET;
    CHECK(!denied_of(&d, &err));
    free(body);
}

TEST(denied_survives_any_cut_of_the_sentence)
{
    for (size_t i = 0; i < 4; i++)
        for (size_t n = strlen(rows[i].message); n-- > 0;) {
            struct denied d;
            char *part = xstrndup(rows[i].message, n);
            if (denied_read(&d, part, NULL, NULL)) {
                CHECK_STR(d.resource, rows[i].resource);
                text(denied_kubectl, &d);
                text(denied_yaml, &d);
            }
            free(part);
        }
    str_release(&s);
}

T_MAIN
