/* discovery.c - what the server serves: aggregated discovery (v2 and v2beta1)
 * and the legacy lists, from the resource table.
 */
#include "core/base/mem.h"
#include "k8s/practice/rest.h"

static const char *const all_verbs[] = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};

static struct json *verbs(unsigned bits)
{
    struct json *a = json_new_array();
    for (size_t i = 0; i < ARRAY_LEN(all_verbs); i++)
        if (bits & (1u << i))
            json_append(a, json_new_string(all_verbs[i]));
    return a;
}

static struct json *strings(const char *const *v)
{
    struct json *a = json_new_array();
    for (; *v; v++)
        json_append(a, json_new_string(*v));
    return a;
}

static bool same_gv(const struct res *a, const struct res *b)
{
    return !strcmp(a->group, b->group) && !strcmp(a->version, b->version);
}

static bool first_of_gv(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_gv(res_row(k), res_row(i)))
            return false;
    return true;
}

/* --- legacy --- */

static struct json *legacy_row(const struct res *r)
{
    struct json *o = json_new_object();
    json_put_str(o, "name", r->plural);
    json_put_str(o, "singularName", r->singular);
    json_put_bool(o, "namespaced", r->namespaced);
    json_put_str(o, "kind", r->kind);
    json_set(o, "verbs", verbs(r->verbs));
    if (r->short_names[0])
        json_set(o, "shortNames", strings(r->short_names));
    if (r->categories[0])
        json_set(o, "categories", strings(r->categories));
    return o;
}

static struct json *legacy_sub(const struct res *r, const struct res_sub *s)
{
    struct json *o = json_new_object();
    char *name = xasprintf("%s/%s", r->plural, s->name);
    json_put_str(o, "name", name);
    json_put_str(o, "singularName", "");
    json_put_bool(o, "namespaced", r->namespaced);
    if (s->group) {
        json_put_str(o, "group", s->group);
        json_put_str(o, "version", s->version);
    }
    json_put_str(o, "kind", s->kind);
    json_set(o, "verbs", verbs(s->verbs));
    free(name);
    return o;
}

static struct json *resource_list(const char *gv)
{
    struct json *l = json_new_object(), *rows = json_new_array();
    char have[64];
    json_put_str(l, "kind", "APIResourceList");
    json_put_str(l, "apiVersion", "v1");
    json_put_str(l, "groupVersion", gv);
    for (size_t i = 0; i < res_count(); i++) {
        const struct res *r = res_row(i);
        if (strcmp(res_api_version(r, have), gv) != 0)
            continue;
        json_append(rows, legacy_row(r));
        for (const struct res_sub *s = r->subs; s->name; s++)
            json_append(rows, legacy_sub(r, s));
    }
    if (json_count(rows) == 0) {
        json_free(rows);
        json_free(l);
        return NULL;
    }
    json_set(l, "resources", rows);
    return l;
}

static struct json *legacy_versions(int port)
{
    struct json *o = json_from("{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                               "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\"}]}");
    char *at = xasprintf("127.0.0.1:%d", port);
    json_put_str(json_at_mut(o, "serverAddressByClientCIDRs[0]"), "serverAddress", at);
    free(at);
    return o;
}

static struct json *group_of(const struct res *r)
{
    char gv[64];
    struct json *g = json_new_object(), *v = json_new_object(), *list = json_new_array();
    json_put_str(g, "name", r->group);
    json_put_str(v, "groupVersion", res_api_version(r, gv));
    json_put_str(v, "version", r->version);
    json_append(list, json_copy(v));
    json_set(g, "versions", list);
    json_set(g, "preferredVersion", v);
    return g;
}

static struct json *legacy_groups(void)
{
    struct json *o = json_new_object(), *groups = json_new_array();
    json_put_str(o, "kind", "APIGroupList");
    json_put_str(o, "apiVersion", "v1");
    for (size_t i = 0; i < res_count(); i++)
        if (*res_row(i)->group && first_of_gv(i))
            json_append(groups, group_of(res_row(i)));
    json_set(o, "groups", groups);
    return o;
}

/* --- aggregated --- */

static struct json *response_kind(const char *group, const char *version, const char *kind)
{
    struct json *o = json_new_object();
    json_put_str(o, "group", group);
    json_put_str(o, "version", version);
    json_put_str(o, "kind", kind);
    return o;
}

static struct json *aggregated_row(const struct res *r)
{
    struct json *o = json_new_object();
    json_put_str(o, "resource", r->plural);
    json_set(o, "responseKind", response_kind("", "", r->kind));
    json_put_str(o, "scope", r->namespaced ? "Namespaced" : "Cluster");
    json_put_str(o, "singularResource", r->singular);
    json_set(o, "verbs", verbs(r->verbs));
    if (r->short_names[0])
        json_set(o, "shortNames", strings(r->short_names));
    if (r->categories[0])
        json_set(o, "categories", strings(r->categories));
    struct json *subs = json_new_array();
    for (const struct res_sub *s = r->subs; s->name; s++) {
        struct json *x = json_new_object();
        json_put_str(x, "subresource", s->name);
        json_set(x, "responseKind", response_kind(s->group ? s->group : "",
                                                  s->version ? s->version : "", s->kind));
        json_set(x, "verbs", verbs(s->verbs));
        json_append(subs, x);
    }
    if (json_count(subs))
        json_set(o, "subresources", subs);
    else
        json_free(subs);
    return o;
}

static struct json *aggregated_group(const struct res *first)
{
    struct json *item = json_new_object(), *meta = json_new_object(), *rows = json_new_array();
    struct json *version = json_new_object(), *versions = json_new_array();
    json_put_str(meta, "name", *first->group ? first->group : NULL);
    json_set(meta, "creationTimestamp", json_new_null());
    json_set(item, "metadata", meta);
    for (size_t i = 0; i < res_count(); i++)
        if (same_gv(res_row(i), first))
            json_append(rows, aggregated_row(res_row(i)));
    json_put_str(version, "version", first->version);
    json_set(version, "resources", rows);
    json_put_str(version, "freshness", "Current");
    json_append(versions, version);
    json_set(item, "versions", versions);
    return item;
}

static struct json *aggregated(bool core, const char *version)
{
    struct json *o = json_new_object(), *items = json_new_array();
    char *gv = xasprintf("apidiscovery.k8s.io/%s", version);
    json_put_str(o, "kind", "APIGroupDiscoveryList");
    json_put_str(o, "apiVersion", gv);
    json_set(o, "metadata", json_new_object());
    for (size_t i = 0; i < res_count(); i++)
        if ((*res_row(i)->group == '\0') == core && first_of_gv(i))
            json_append(items, aggregated_group(res_row(i)));
    json_set(o, "items", items);
    free(gv);
    return o;
}

/* "v2", "v2beta1" or NULL, by the first clause of Accept that is ours. */
static const char *wanted(struct call *c)
{
    const char *accept = server_header(c->q, "Accept");
    const char *found = NULL;
    struct strv parts;
    strv_init(&parts);
    strv_split(&parts, accept ? accept : "", ',');
    for (size_t i = 0; i < parts.n && !found; i++) {
        const char *p = parts.v[i];
        if (!strstr(p, "application/json"))
            continue;
        if (!strstr(p, "as=APIGroupDiscoveryList"))
            break;
        found = strstr(p, "v=v2beta1") ? "v2beta1" : strstr(p, "v=v2") ? "v2" : NULL;
    }
    strv_release(&parts);
    return found;
}

static void send_aggregated(struct call *c, bool core, const char *version)
{
    char type[128];
    struct json *o = aggregated(core, version);
    char *text = json_text(o, 0);
    str_fmt(type, sizeof type,
            "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList", version);
    server_add_header(c->q, "Vary", "Accept");
    server_add_header(c->q, "ETag", core ? "\"podium-core-1.34.4\"" : "\"podium-apis-1.34.4\"");
    rest_send_text(c, 200, type, text, strlen(text));
    free(text);
    json_free(o);
}

static bool send_group(struct call *c, const char *rest)
{
    struct json *o = NULL;
    char gv[128];
    str_fmt(gv, sizeof gv, "%s", rest);
    if (!strchr(gv, '/')) {
        for (size_t i = 0; i < res_count() && !o; i++)
            if (!strcmp(res_row(i)->group, gv) && *gv) {
                o = group_of(res_row(i));
                json_put_str(o, "kind", "APIGroup");
                json_put_str(o, "apiVersion", "v1");
            }
    } else {
        o = resource_list(gv);
    }
    if (o)
        rest_send(c, 200, o);
    json_free(o);
    return o != NULL;
}

bool discovery_answer(struct call *c, const char *path)
{
    size_t n = strlen(path);
    char *p = xstrndup(path, n > 1 && path[n - 1] == '/' ? n - 1 : n);
    bool core = !strcmp(p, "/api"), groups = !strcmp(p, "/apis"), done = true;
    const char *version = core || groups ? wanted(c) : NULL;
    if (version) {
        send_aggregated(c, core, version);
    } else if (core || groups) {
        struct json *o = core ? legacy_versions(server_port(c->rest->server)) : legacy_groups();
        rest_send(c, 200, o);
        json_free(o);
    } else if (!strcmp(p, "/api/v1")) {
        struct json *o = resource_list("v1");
        rest_send(c, 200, o);
        json_free(o);
    } else {
        done = str_starts(p, "/apis/") && send_group(c, p + 6);
    }
    free(p);
    return done;
}
