/* review.c - questions that are created: access reviews, who am I, tokens. */
#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/practice/rest.h"

static bool ask_for(struct call *c, const struct json *spec, const char *user)
{
    const struct json *r = json_get(spec, "resourceAttributes");
    const struct json *n = json_get(spec, "nonResourceAttributes");
    struct auth_ask q = {.user = user};
    if (n) {
        q.verb = json_str(n, "verb", "");
        q.path = json_str(n, "path", "");
    } else {
        q.verb = json_str(r, "verb", "");
        q.group = json_str(r, "group", "");
        q.resource = json_str(r, "resource", "");
        q.sub = json_str(r, "subresource", "");
        q.ns = json_str(r, "namespace", "");
        q.name = json_str(r, "name", "");
    }
    return auth_allows(c->rest->api, &q);
}

static void access_review(struct call *c, struct json *o)
{
    const char *user = json_str(o, "spec.user", c->user);
    json_put_path(o, "status.allowed", json_new_bool(ask_for(c, json_get(o, "spec"), user)));
}

static void rules_review(struct call *c, struct json *o)
{
    struct json *status = json_new_object(), *resource = json_new_array(),
                *other = json_new_array();
    auth_rules(c->rest->api, c->user, json_str(o, "spec.namespace", ""), resource, other);
    json_set(status, "resourceRules", resource);
    json_set(status, "nonResourceRules", other);
    json_put_bool(status, "incomplete", false);
    json_set(o, "status", status);
}

static void put_user(struct json *o, const char *path, const char *user)
{
    struct json *info = json_new_object(), *groups = json_new_array();
    json_put_str(info, "username", user);
    for (const char *const *g = auth_groups(user); *g; g++)
        json_append(groups, json_new_string(*g));
    json_set(info, "groups", groups);
    json_put_path(o, path, info);
}

static void self_review(struct call *c, struct json *o)
{
    put_user(o, "status.userInfo", c->user);
}

static void token_review(struct call *c, struct json *o)
{
    char *bearer = xasprintf("Bearer %s", json_str(o, "spec.token", ""));
    const char *user = auth_check(c->rest->auth, bearer);
    free(bearer);
    json_put_path(o, "status.authenticated", json_new_bool(user != NULL));
    if (user)
        put_user(o, "status.user", user);
}

void rest_review(struct call *c)
{
    static const struct {
        const char *kind;
        void (*fn)(struct call *c, struct json *o);
    } kinds[] = {{"SelfSubjectAccessReview", access_review},
                 {"SubjectAccessReview", access_review},
                 {"LocalSubjectAccessReview", access_review},
                 {"SelfSubjectRulesReview", rules_review},
                 {"SelfSubjectReview", self_review},
                 {"TokenReview", token_review}};
    char gv[64];
    if (c->sub) {
        rest_refuse(c, status_new(501, "NotImplemented", c->res, c->at.name,
                                  "the practice cluster issues no service account tokens: use the "
                                  "token of its kubeconfig"));
        return;
    }
    struct json *o = rest_decode(c, c->type, res_api_version(c->res, gv), c->res->kind);
    if (!o)
        return;
    if (json_type(json_get(o, "metadata")) != JSON_OBJECT)
        json_set(o, "metadata", json_new_object());
    json_set(o, "status", json_new_object());
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!strcmp(kinds[i].kind, c->res->kind))
            kinds[i].fn(c, o);
    rest_send(c, 201, o);
    json_free(o);
}
