/* auth.h - who asks, and may they: tokens in a 0600 file, and RBAC evaluated
 * from the Role, ClusterRole and binding objects of the store.
 *
 * Users: "student" (the kubeconfig's; admin of the namespace default, reader of
 * the rest), "admin" (group system:masters) and "system:node" for the cluster's
 * own registry pulls.
 */
#ifndef K8S_PRACTICE_AUTH_H
#define K8S_PRACTICE_AUTH_H

#include "k8s/practice/api.h"

struct auth;

/* Reads <dir>/tokens.json or makes it. */
MUST_USE enum pd_code auth_open(const char *dir, struct auth **out, struct pd_err *err);
void auth_close(struct auth *a);
/* The token of "student", "admin", "system:node". */
const char *auth_token(const struct auth *a, const char *user);
/* server_auth_fn: Bearer token, or Basic with the token as password. */
const char *auth_check(void *auth, const char *authorization);
const char *const *auth_groups(const char *user);

struct auth_ask {
    const char *user;
    const char *verb;            /* "get", "create", ... */
    const char *group, *resource, *sub, *ns, *name;      /* ns "": cluster wide */
    const char *path;            /* instead of a resource: "/metrics" */
};
bool auth_allows(struct api *api, const struct auth_ask *q);
/* The rules that hold for user in ns, for SelfSubjectRulesReview: each rule is
 * appended to `resource` or `other` as the API shows it. */
void auth_rules(struct api *api, const char *user, const char *ns, struct json *resource,
                struct json *other);

#endif
