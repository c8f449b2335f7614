/* auth.c - tokens and RBAC (auth.h). */
#include "k8s/practice/auth.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static const char *const users[] = {"student", "admin", "system:node"};

struct auth {
    char *token[ARRAY_LEN(users)];
};

/* --- tokens --- */

static char *new_token(void)
{
    unsigned char b[24];
    char hex[2 * sizeof b + 1];
    if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        PD_BUG("getrandom failed");
    for (size_t i = 0; i < sizeof b; i++)
        str_fmt(hex + 2 * i, 3, "%02x", b[i]);
    return xstrdup(hex);
}

static enum pd_code save(struct auth *a, const char *path, struct pd_err *err)
{
    struct json *j = json_new_object();
    for (size_t i = 0; i < ARRAY_LEN(users); i++)
        json_put_str(j, users[i], a->token[i]);
    char *text = json_text(j, 2);
    enum pd_code code = path_write_atomic(path, 0600, text, strlen(text), err);
    free(text);
    json_free(j);
    return code;
}

enum pd_code auth_open(const char *dir, struct auth **out, struct pd_err *err)
{
    struct auth *a = xcalloc(1, sizeof *a);
    char *path = path_join(dir, "tokens.json");
    struct json *j = NULL;
    enum pd_code code = PD_OK;
    bool fresh = access(path, F_OK) != 0;
    if (!fresh)
        code = json_read_file(path, 64 << 10, &j, err);
    for (size_t i = 0; i < ARRAY_LEN(users) && code == PD_OK; i++) {
        const char *have = json_string_value(json_get(j, users[i]));
        a->token[i] = have ? xstrdup(have) : new_token();
        fresh = fresh || !have;
        log_add_secret(a->token[i]);
    }
    if (code == PD_OK && fresh)
        code = save(a, path, err);
    json_free(j);
    free(path);
    if (code != PD_OK) {
        auth_close(a);
        return code;
    }
    *out = a;
    return PD_OK;
}

void auth_close(struct auth *a)
{
    for (size_t i = 0; a && i < ARRAY_LEN(users); i++)
        free(a->token[i]);
    free(a);
}

const char *auth_token(const struct auth *a, const char *user)
{
    for (size_t i = 0; i < ARRAY_LEN(users); i++)
        if (!strcmp(users[i], user))
            return a->token[i];
    return NULL;
}

static const char *owner(const struct auth *a, const char *token)
{
    const char *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(users); i++) {
        size_t n = strlen(a->token[i]);
        if (strlen(token) == n && CRYPTO_memcmp(token, a->token[i], n) == 0)
            found = users[i];
    }
    return found;
}

/* "Basic BASE64(user:token)": how image clients log in. */
static const char *basic(const struct auth *a, const char *text)
{
    unsigned char plain[512];
    size_t n = strlen(text);
    if (n == 0 || n > sizeof plain / 3 * 4 || n % 4 != 0)
        return NULL;
    int len = EVP_DecodeBlock(plain, (const unsigned char *)text, (int)n);
    if (len <= 0 || len >= (int)sizeof plain)
        return NULL;
    len -= (text[n - 1] == '=') + (text[n - 2] == '=');
    plain[len] = '\0';
    char *colon = strchr((char *)plain, ':');
    if (!colon)
        return NULL;
    *colon = '\0';
    const char *user = owner(a, colon + 1);
    return user && !strcmp(user, (char *)plain) ? user : NULL;
}

const char *auth_check(void *auth, const char *authorization)
{
    if (!authorization)
        return NULL;
    if (str_starts(authorization, "Bearer "))
        return owner(auth, authorization + 7);
    return str_starts(authorization, "Basic ") ? basic(auth, authorization + 6) : NULL;
}

const char *const *auth_groups(const char *user)
{
    static const char *const plain[] = {"system:authenticated", NULL};
    static const char *const masters[] = {"system:masters", "system:authenticated", NULL};
    return str_eq(user, "admin") || str_eq(user, "system:node") ? masters : plain;
}

/* --- RBAC --- */

static bool lists(const struct json *list, const char *s)
{
    for (const struct json *c = json_first(list); c; c = json_next(c)) {
        const char *v = json_string_value(c);
        if (v && (!strcmp(v, "*") || !strcmp(v, s)))
            return true;
    }
    return false;
}

static bool lists_resource(const struct json *list, const char *resource, const char *sub)
{
    char full[256];
    if (!*sub)
        return lists(list, resource);
    str_fmt(full, sizeof full, "%s/%s", resource, sub);
    if (lists(list, full))
        return true;
    str_fmt(full, sizeof full, "*/%s", sub);
    return lists(list, full);
}

static bool rule_allows(const struct json *rule, const struct auth_ask *q)
{
    if (!lists(json_get(rule, "verbs"), q->verb))
        return false;
    if (q->path) {
        for (const struct json *c = json_first(json_get(rule, "nonResourceURLs")); c;
             c = json_next(c)) {
            const char *v = json_string_value(c);
            size_t n = v ? strlen(v) : 0;
            if (n && ((v[n - 1] == '*' && !strncmp(v, q->path, n - 1)) || !strcmp(v, q->path)))
                return true;
        }
        return false;
    }
    const struct json *names = json_get(rule, "resourceNames");
    return lists(json_get(rule, "apiGroups"), q->group) &&
           lists_resource(json_get(rule, "resources"), q->resource, q->sub) &&
           (json_count(names) == 0 || lists(names, q->name));
}

static bool subject_is(const struct json *binding, const char *user)
{
    const char *const *groups = auth_groups(user);
    for (const struct json *s = json_first(json_get(binding, "subjects")); s; s = json_next(s)) {
        const char *kind = json_str(s, "kind", ""), *name = json_str(s, "name", "");
        if (!strcmp(kind, "User") && !strcmp(name, user))
            return true;
        for (int i = 0; !strcmp(kind, "Group") && groups[i]; i++)
            if (!strcmp(groups[i], name))
                return true;
    }
    return false;
}

struct scan {
    struct api *api;
    const char *user;
    void (*rule)(struct scan *s, const struct json *rule);
    const struct auth_ask *ask;
    bool allowed;
    struct json *resource, *other;
};

static void on_binding(void *arg, const struct json *binding)
{
    struct scan *s = arg;
    const char *kind = json_str(binding, "roleRef.kind", "");
    if (s->allowed || !subject_is(binding, s->user))
        return;
    bool cluster = !strcmp(kind, "ClusterRole");
    const struct res *res = res_by_plural("rbac.authorization.k8s.io",
                                          cluster ? "clusterroles" : "roles");
    struct json *role =
        api_get(s->api, res, cluster ? "" : json_str(binding, "metadata.namespace", ""),
                json_str(binding, "roleRef.name", ""));
    for (const struct json *r = json_first(json_get(role, "rules")); r; r = json_next(r))
        s->rule(s, r);
    json_free(role);
}

static void scan_bindings(struct scan *s, const char *ns)
{
    const char *rbac = "rbac.authorization.k8s.io";
    api_each(s->api, res_by_plural(rbac, "clusterrolebindings"), NULL, on_binding, s);
    if (ns && *ns)
        api_each(s->api, res_by_plural(rbac, "rolebindings"), ns, on_binding, s);
}

static void judge(struct scan *s, const struct json *rule)
{
    s->allowed = s->allowed || rule_allows(rule, s->ask);
}

bool auth_allows(struct api *api, const struct auth_ask *q)
{
    struct scan s = {.api = api, .user = q->user, .rule = judge, .ask = q};
    for (const char *const *g = auth_groups(q->user); *g; g++)
        if (!strcmp(*g, "system:masters"))
            return true;
    scan_bindings(&s, q->path ? "" : q->ns);
    return s.allowed;
}

static void note(struct scan *s, const struct json *rule)
{
    bool other = json_get(rule, "nonResourceURLs") != NULL;
    json_append(other ? s->other : s->resource, json_copy(rule));
}

void auth_rules(struct api *api, const char *user, const char *ns, struct json *resource,
                struct json *other)
{
    struct scan s = {.api = api, .user = user, .rule = note, .resource = resource, .other = other};
    if (str_eq(user, "admin")) {
        json_append(resource, json_from("{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],"
                                        "\"resources\":[\"*\"]}"));
        json_append(other, json_from("{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}"));
    }
    scan_bindings(&s, ns);
}
