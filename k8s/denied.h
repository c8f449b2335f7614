/* denied.h - a 403 taken apart: which right is missing, the rule to ask for,
 * and the kubectl line that gives it.
 *
 * The API server says: User "ann" cannot list resource "pods" in API group ""
 * in the namespace "lab" (or "at the cluster scope"). Another authoriser's
 * sentence may say less: what it leaves out is taken from the request.
 */
#ifndef K8S_DENIED_H
#define K8S_DENIED_H

#include "core/base/err.h"
#include "core/base/str.h"

struct denied {
    char user[256];              /* "" when not said */
    char verb[24];               /* "list" */
    char resource[128];          /* "pods", "pods/log" */
    char group[128];             /* "" is core */
    char name[256];              /* of one object, or "" */
    char ns[256];                /* "" at the cluster scope */
};

/* message: the server's sentence, or NULL; method and path of the request, or
 * NULL. false when neither names a verb and a resource. */
bool denied_read(struct denied *d, const char *message, const char *method, const char *path);
/* Of an error whose src is "METHOD /path": true only when it is PD_FORBIDDEN. */
bool denied_of(struct denied *d, const struct pd_err *err);

/* The verbs to ask for: "get", "list" and "watch" come together, since a view
 * needs all three. At most 4, NULL-terminated. */
void denied_verbs(const struct denied *d, const char *verbs[4]);
/* {apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"]} */
void denied_rule(const struct denied *d, struct str *out);
/* kubectl create role … && kubectl create rolebinding …: for who may do it. */
void denied_kubectl(const struct denied *d, struct str *out);
/* The same as YAML: a Role and a RoleBinding (ClusterRole … at cluster scope). */
void denied_yaml(const struct denied *d, struct str *out);

#endif
