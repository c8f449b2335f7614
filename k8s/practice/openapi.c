/* openapi.c - OpenAPI v3, a document a group-version, made from the schema and
 * resource tables when first asked: what kubectl needs for explain, for its
 * checks and for merging. No descriptions.
 */
#include "core/base/base.h"

#include <openssl/sha.h>

#include "core/base/mem.h"
#include "k8s/practice/rest.h"

/* --- schemas --- */

static struct json *reference(const struct schema_type *t)
{
    struct json *o = json_new_object();
    char *ref = xasprintf("#/components/schemas/%s", t->name);
    json_put_str(o, "$ref", ref);
    free(ref);
    return o;
}

static struct json *value_schema(const struct schema_field *f)
{
    static const struct {
        const char *type, *format;
    } of[] = {{"string", NULL},        {"integer", "int32"}, {"integer", "int64"},
              {"boolean", NULL},       {"number", "double"}, {"string", "date-time"},
              {"string", "date-time"}, {"string", "byte"},   {"string", NULL},
              {"string", "int-or-string"}, {"object", NULL}};
    if (f->base == SCHEMA_OBJECT)
        return reference(f->ref);
    struct json *o = json_new_object();
    json_put_str(o, "type", of[f->base].type);
    json_put_str(o, "format", of[f->base].format);
    return o;
}

static struct json *split(const char *text, char sep)
{
    struct strv v;
    struct json *a = json_new_array();
    strv_init(&v);
    strv_split(&v, text, sep);
    for (size_t i = 0; i < v.n; i++)
        json_append(a, json_new_string(v.v[i]));
    strv_release(&v);
    return a;
}

static void list_marks(struct json *o, const struct schema_field *f)
{
    static const char *const kinds[] = {"atomic", "set", "map"};
    json_put_str(o, "x-kubernetes-list-type", kinds[f->list]);
    if (f->list_keys)
        json_set(o, "x-kubernetes-list-map-keys", split(f->list_keys, ','));
    json_put_str(o, "x-kubernetes-patch-merge-key", f->merge_key);
}

static struct json *field_schema(const struct schema_field *f)
{
    struct json *o, *v = value_schema(f);
    if (f->enums && f->base != SCHEMA_OBJECT)
        json_set(v, "enum", split(f->enums, '|'));
    if (f->shape == SCHEMA_ONE && f->base == SCHEMA_OBJECT) {
        o = json_new_object();
        json_set(o, "allOf", json_new_array());
        json_append(json_get_mut(o, "allOf"), v);
    } else if (f->shape == SCHEMA_ONE) {
        o = v;
    } else {
        o = json_new_object();
        json_put_str(o, "type", f->shape == SCHEMA_LIST ? "array" : "object");
        json_set(o, f->shape == SCHEMA_LIST ? "items" : "additionalProperties", v);
    }
    if (f->shape == SCHEMA_LIST)
        list_marks(o, f);
    if (f->atomic)
        json_put_str(o, "x-kubernetes-map-type", "atomic");
    if (f->def)
        json_set(o, "default", json_from(f->def));
    if (f->merge || f->retain_keys)
        json_put_str(o, "x-kubernetes-patch-strategy",
                     f->retain_keys ? (f->merge ? "merge,retainKeys" : "retainKeys") : "merge");
    return o;
}

static struct json *gvk(const char *group, const char *version, const char *kind)
{
    struct json *o = json_new_object();
    json_put_str(o, "group", group);
    json_put_str(o, "version", version);
    json_put_str(o, "kind", kind);
    return o;
}

static struct json *type_schema(const struct schema_type *t)
{
    struct json *o = json_new_object(), *props = json_new_object(), *need = json_new_array();
    json_put_str(o, "type", "object");
    for (int i = 0; i < t->n; i++) {
        json_set(props, t->field[i].name, field_schema(&t->field[i]));
        if (t->field[i].required)
            json_append(need, json_new_string(t->field[i].name));
    }
    json_set(o, "properties", props);
    if (json_count(need))
        json_set(o, "required", need);
    else
        json_free(need);
    if (t->atomic)
        json_put_str(o, "x-kubernetes-map-type", "atomic");
    if (t->kind) {
        struct json *a = json_new_array();
        json_append(a, gvk(t->group, t->version, t->kind));
        json_set(o, "x-kubernetes-group-version-kind", a);
    }
    return o;
}

/* t and everything it refers to. */
static void add_type(struct json *schemas, const struct schema_type *t)
{
    if (!t || json_get(schemas, t->name))
        return;
    json_set(schemas, t->name, type_schema(t));
    for (int i = 0; i < t->n; i++)
        add_type(schemas, t->field[i].ref);
}

/* --- paths --- */

static struct json *parameter(const char *name)
{
    struct json *p = json_from("{\"in\":\"query\",\"schema\":{\"type\":\"string\"}}");
    json_put_str(p, "name", name);
    return p;
}

static struct json *operation(const struct res *r, const char *action)
{
    static const char *const names[] = {"dryRun", "fieldManager", "fieldValidation", "pretty"};
    struct json *o = json_new_object(), *params = json_new_array();
    bool writes = !strcmp(action, "post") || !strcmp(action, "put") || !strcmp(action, "patch");
    for (size_t i = 0; writes && i < ARRAY_LEN(names); i++)
        json_append(params, parameter(names[i]));
    json_set(o, "parameters", params);
    json_set(o, "responses", json_from("{\"200\":{\"description\":\"OK\"}}"));
    json_put_str(o, "x-kubernetes-action", action);
    json_set(o, "x-kubernetes-group-version-kind", gvk(r->group, r->version, r->kind));
    return o;
}

static void add_paths(struct json *paths, const struct res *r)
{
    char path[RES_PATH_MAX], one[RES_PATH_MAX + 8];
    struct json *many = json_new_object(), *single = json_new_object();
    res_path(r, r->namespaced ? "{namespace}" : NULL, NULL, NULL, path);
    char *shown = xstrdup(path), *at;
    while ((at = strstr(shown, "%7Bnamespace%7D")) != NULL) {
        memmove(at + 11, at + 15, strlen(at + 15) + 1);
        memcpy(at, "{namespace}", 11);
    }
    if (r->verbs & RES_LIST)
        json_set(many, "get", operation(r, "list"));
    json_set(many, "post", operation(r, "post"));
    json_set(paths, shown, many);
    str_fmt(one, sizeof one, "%s/{name}", shown);
    static const char *const verbs[] = {"get", "put", "patch", "delete"};
    static const unsigned bits[] = {RES_GET, RES_UPDATE, RES_PATCH, RES_DELETE};
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (r->verbs & bits[i])
            json_set(single, verbs[i], operation(r, verbs[i]));
    if (json_count(single))
        json_set(paths, one, single);
    else
        json_free(single);
    free(shown);
}

/* --- documents --- */

enum { DOCUMENTS = 16 };
static struct document {
    char gv[64];
    char *text;
    size_t n;
    char hash[65];
} documents[DOCUMENTS];
static int document_count;

static char *build(const char *gv)
{
    char have[64];
    struct json *d = json_from("{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\","
                               "\"version\":\"v1.34.4\"}}");
    struct json *paths = json_new_object(), *schemas = json_new_object();
    for (size_t i = 0; i < res_count(); i++) {
        const struct res *r = res_row(i);
        if (strcmp(res_api_version(r, have), gv) != 0)
            continue;
        add_paths(paths, r);
        add_type(schemas, schema_type(gv, r->kind));
        for (const struct res_sub *s = r->subs; s->name; s++)
            if (!s->group)
                add_type(schemas, schema_type(gv, s->kind));
    }
    add_type(schemas, schema_type("v1", "Status"));
    add_type(schemas, schema_named("meta.v1.DeleteOptions"));
    json_set(d, "paths", paths);
    json_set(d, "components", json_new_object());
    json_set(json_get_mut(d, "components"), "schemas", schemas);
    char *text = json_text(d, 0);
    json_free(d);
    return text;
}

static struct document *document(const char *gv)
{
    unsigned char md[SHA256_DIGEST_LENGTH];
    for (int i = 0; i < document_count; i++)
        if (!strcmp(documents[i].gv, gv))
            return &documents[i];
    assert(document_count < DOCUMENTS);
    struct document *d = &documents[document_count++];
    str_copy(d->gv, sizeof d->gv, gv);
    d->text = build(gv);
    d->n = strlen(d->text);
    SHA256((const unsigned char *)d->text, d->n, md);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++)
        str_fmt(d->hash + 2 * i, 3, "%02X", md[i]);
    return d;
}

static void index_answer(struct call *c)
{
    struct json *o = json_new_object(), *paths = json_new_object();
    char gv[64], key[96];
    for (size_t i = 0; i < res_count(); i++) {
        res_api_version(res_row(i), gv);
        str_fmt(key, sizeof key, "%s/%s", strchr(gv, '/') ? "apis" : "api", gv);
        if (json_get(paths, key))
            continue;
        struct json *entry = json_new_object();
        char *url = xasprintf("/openapi/v3/%s?hash=%s", key, document(gv)->hash);
        json_put_str(entry, "serverRelativeURL", url);
        json_set(paths, key, entry);
        free(url);
    }
    json_set(o, "paths", paths);
    rest_send(c, 200, o);
    json_free(o);
}

static bool served(const char *gv)
{
    char have[64];
    for (size_t i = 0; i < res_count(); i++)
        if (!strcmp(res_api_version(res_row(i), have), gv))
            return true;
    return false;
}

bool openapi_answer(struct call *c, const char *path)
{
    char etag[80];
    if (!strcmp(path, "/openapi/v3") || !strcmp(path, "/openapi/v3/")) {
        index_answer(c);
        return true;
    }
    const char *gv = str_starts(path, "/openapi/v3/apis/")  ? path + 17
                     : str_starts(path, "/openapi/v3/api/") ? path + 16
                                                            : NULL;
    if (!gv || !served(gv))
        return false;
    struct document *d = document(gv);
    str_fmt(etag, sizeof etag, "\"%s\"", d->hash);
    const char *match = server_header(c->q, "If-None-Match");
    server_add_header(c->q, "ETag", etag);
    server_add_header(c->q, "Vary", "Accept");
    if (match && !strcmp(match, etag))
        rest_send_text(c, 304, "application/json", "", 0);
    else
        rest_send_text(c, 200, "application/json", d->text, d->n);
    return true;
}
