/* rest_write.c - create, update, patch, delete over HTTP: bodies decoded and
 * held against the schema, patches applied, answers after the commit.
 */
#include "core/base/mem.h"
#include "core/base/yaml.h"
#include "k8s/practice/event.h"
#include "k8s/practice/patch.h"
#include "k8s/practice/pipeline.h"
#include "k8s/practice/proto.h"
#include "k8s/practice/rest.h"

#define APPLY "application/apply-patch+yaml"

static void write_of(struct call *c, struct api_write *w)
{
    memset(w, 0, sizeof *w);
    w->user = &c->who;
    w->res = api_storage_res(c->res);
    w->ns = c->at.ns;
    w->name = c->at.name;
    w->sub = c->sub ? c->sub->name : NULL;
    w->manager = c->manager;
    w->dry_run = c->dry_run;
    w->warnings = &c->warnings;
}

/* --- bodies --- */

static bool has_type(struct call *c, const char *type)
{
    const char *have = c->q ? server_header(c->q, "Content-Type") : NULL;
    return have && str_starts(have, type);
}

static struct json *parse_yaml(struct call *c, struct pd_err *err)
{
    struct ydoc *doc = NULL;
    struct json *j = NULL;
    if (yaml_parse("body", c->body, c->body_len, &doc, err) != PD_OK)
        return NULL;
    if (doc && doc->root)
        j = yaml_to_json(doc->root);
    yaml_docs_free(doc);
    return j ? j : json_new_object();
}

struct json *rest_parse(struct call *c)
{
    struct json *j = NULL;
    struct pd_err err = {0};
    bool typed = c->q && server_header(c->q, "Content-Type");
    if (has_type(c, "application/vnd.kubernetes.protobuf")) {
        if (proto_decode(c->body, c->body_len, &j, &err) == PD_OK)
            return j;
    } else if (has_type(c, "application/yaml") || has_type(c, APPLY)) {
        if ((j = parse_yaml(c, &err)) != NULL)
            return j;
    } else if (!typed || has_type(c, "application/json") || strstr(c->verb, "patch")) {
        if (json_parse(c->body, c->body_len, &j, &err) == PD_OK)
            return j;
    } else {
        rest_refuse(c, status_new(415, "UnsupportedMediaType", NULL, NULL,
                                  "the body of the request was in an unknown format - accepted "
                                  "media types include: application/json, application/yaml, "
                                  "application/vnd.kubernetes.protobuf"));
        return NULL;
    }
    rest_refuse(c, status_bad_request("couldn't get version/kind; json parse error: %s", err.msg));
    return NULL;
}

/* false: an answer was sent. */
static bool right_kind(struct call *c, struct json *obj, const char *gv, const char *kind)
{
    const char *have_kind = json_str(obj, "kind", ""), *have_gv = json_str(obj, "apiVersion", "");
    if (json_type(obj) != JSON_OBJECT) {
        rest_refuse(c, status_bad_request("couldn't get version/kind; json parse error: the body "
                                          "is no object"));
        return false;
    }
    if (*have_gv && strcmp(have_gv, gv) != 0) {
        rest_refuse(c, status_bad_request("the API version in the data (%s) does not match the "
                                          "expected API version (%s)", have_gv, gv));
        return false;
    }
    if (*have_kind && strcmp(have_kind, kind) != 0) {
        rest_refuse(c, status_bad_request("%s in version \"%s\" cannot be handled as a %s: "
                                          "converting (%s) to (%s): unknown conversion", have_kind,
                                          gv, kind, have_kind, kind));
        return false;
    }
    json_put_str(obj, "kind", kind);
    json_put_str(obj, "apiVersion", gv);
    return true;
}

/* What the strict decoder found, by fieldValidation. false: answered. */
static bool report(struct call *c, const struct strv *unknown, const char *version,
                   const char *kind, bool patch)
{
    const char *mode = rest_param(c, "fieldValidation");
    if (unknown->n == 0 || !strcmp(mode, "Ignore"))
        return true;
    if (strcmp(mode, "Strict") != 0) {
        for (size_t i = 0; i < unknown->n; i++)
            strv_push(&c->warnings, unknown->v[i]);
        return true;
    }
    struct str all;
    str_init(&all, 64 << 10);
    for (size_t i = 0; i < unknown->n; i++)
        str_printf(&all, "%s%s", i ? ", " : "", unknown->v[i]);
    if (patch)
        rest_refuse(c, status_new(422, "Invalid", NULL, NULL,
                                  " \"\" is invalid: patch: Invalid value: %s: strict decoding "
                                  "error: %s", c->body, all.p));
    else
        rest_refuse(c, status_bad_request("%s in version \"%s\" cannot be handled as a %s: strict "
                                          "decoding error: %s", kind, version, kind, all.p));
    str_release(&all);
    return false;
}

/* Hold obj against type t; false: answered. */
static bool hold_to_schema(struct call *c, const struct schema_type *t, const char *gv,
                           const char *kind, struct json *obj, bool patch)
{
    struct strv unknown;
    char *wrong;
    const char *slash = strchr(gv, '/'), *version = slash ? slash + 1 : gv;
    bool ok = true;
    strv_init(&unknown);
    strict_decode(t, obj, &unknown, &wrong);
    if (wrong) {
        rest_refuse(c, status_bad_request("%s in version \"%s\" cannot be handled as a %s: %s",
                                          kind, version, kind, wrong));
        ok = false;
    } else {
        ok = report(c, &unknown, version, kind, patch);
    }
    free(wrong);
    strv_release(&unknown);
    return ok;
}

struct json *rest_decode(struct call *c, const struct schema_type *t, const char *gv,
                         const char *kind)
{
    struct json *obj = rest_parse(c);
    if (!obj)
        return NULL;
    if (!right_kind(c, obj, gv, kind) || !hold_to_schema(c, t, gv, kind, obj, false)) {
        json_free(obj);
        return NULL;
    }
    return obj;
}

/* --- create and update --- */

static struct json *decode_own(struct call *c)
{
    char gv[64];
    struct json *obj = rest_decode(c, c->type, res_api_version(c->res, gv), c->res->kind);
    if (obj && api_storage_res(c->res) != c->res) {
        struct json *core = event_to_core(obj);
        json_free(obj);
        return core;
    }
    return obj;
}

static void finish(struct call *c, struct json *no, int code, struct api_version *v)
{
    if (no)
        rest_refuse(c, no);
    else
        rest_answer_later(c, code, v);
}

static void create_or_update(struct call *c, bool fresh)
{
    struct api_write w;
    struct api_version *v = NULL;
    struct json *obj = decode_own(c);
    if (!obj)
        return;
    write_of(c, &w);
    struct json *no = (fresh ? api_do_create : api_do_update)(c->rest->api, &w, obj, &v);
    finish(c, no, fresh ? 201 : 200, v);
}

/* --- patches --- */

static struct json *patched(struct call *c, const struct json *live, const struct json *patch)
{
    struct pd_err err = {0};
    struct json *doc = json_copy(live);
    enum pd_code code = PD_OK;
    if (has_type(c, "application/json-patch+json"))
        code = patch_json(&doc, patch, &err);
    else if (has_type(c, "application/merge-patch+json"))
        patch_merge(&doc, patch);
    else
        code = patch_strategic(c->type, doc, patch, &err);
    if (code == PD_OK && json_type(doc) == JSON_OBJECT)
        return doc;
    json_free(doc);
    if (code == PD_PARSE)
        rest_refuse(c, status_bad_request("%s", err.msg));
    else
        rest_refuse(c, status_new(422, "Invalid", NULL, NULL,
                                  "the server rejected our request due to an error in our "
                                  "request"));
    return NULL;
}

static void patch(struct call *c)
{
    struct api_write w;
    struct api_version *old, *v = NULL;
    char gv[64];
    struct json *p = rest_parse(c);
    if (!p)
        return;
    write_of(c, &w);
    old = api_find(c->rest->api, w.res, w.ns, w.name);
    if (!old) {
        rest_refuse(c, status_not_found(c->res, c->at.name));
        json_free(p);
        return;
    }
    struct json *obj = patched(c, old->j, p);
    json_free(p);
    if (!obj)
        return;
    res_api_version(w.res, gv);
    if (!right_kind(c, obj, gv, w.res->kind) ||
        !hold_to_schema(c, schema_type(gv, w.res->kind), gv, w.res->kind, obj, true)) {
        json_free(obj);
        return;
    }
    struct json *no = api_do_update(c->rest->api, &w, obj, &v);
    finish(c, no, 200, v);
}

/* --- server-side apply --- */

static struct json *untyped(struct call *c, const struct json *config, const char *gv,
                            const char *what)
{
    char *path = xstrdup(what);
    char *open = strchr(path, '"'), *close = strrchr(path, '"');
    bool duplicate = str_starts(what, "duplicate");
    if (close)
        *close = '\0';
    struct json *s = status_new(
        500, "", NULL, NULL, "failed to create typed patch object (%s/%s; %s, Kind=%s): .%s: %s",
        json_str(config, "metadata.namespace", ""), json_str(config, "metadata.name", ""), gv,
        c->res->kind, open ? open + 1 : "",
        duplicate ? "duplicate field" : "field not declared in schema");
    free(path);
    return s;
}

/* NULL: answered. */
static struct json *apply_config(struct call *c, const char *gv)
{
    struct json *config = rest_parse(c), *no = NULL;
    struct strv unknown;
    char *wrong = NULL;
    if (!config)
        return NULL;
    if (!right_kind(c, config, gv, c->res->kind)) {
        json_free(config);
        return NULL;
    }
    strv_init(&unknown);
    strict_decode(c->type, config, &unknown, &wrong);
    if (!*rest_param(c, "fieldManager"))
        no = status_new(422, "Invalid", NULL, NULL, "PatchOptions.meta.k8s.io \"\" is invalid: "
                        "fieldManager: Required value: is required for apply patch");
    else if (wrong)
        no = status_new(500, "", NULL, NULL, "failed to create typed patch object (%s/%s; %s, "
                        "Kind=%s): %s", json_str(config, "metadata.namespace", ""),
                        json_str(config, "metadata.name", ""), gv, c->res->kind, wrong);
    else if (unknown.n)
        no = untyped(c, config, gv, unknown.v[0]);
    else if (json_has(config, "metadata.managedFields"))
        no = status_bad_request("metadata.managedFields must be nil");
    else if (strcmp(json_str(config, "metadata.name", c->at.name), c->at.name) != 0)
        no = status_bad_request("the name of the object (%s) does not match the name on the URL "
                                "(%s)", json_str(config, "metadata.name", ""), c->at.name);
    free(wrong);
    strv_release(&unknown);
    if (no) {
        rest_refuse(c, no);
        json_free(config);
        return NULL;
    }
    json_put_path(config, "metadata.name", json_new_string(c->at.name));
    return config;
}

static void apply(struct call *c)
{
    struct api_write w;
    struct api_version *old, *v = NULL;
    struct json *no = NULL;
    char gv[64];
    res_api_version(c->res, gv);
    struct json *config = apply_config(c, gv);
    if (!config)
        return;
    write_of(c, &w);
    w.manage = API_APPLIES;
    old = api_find(c->rest->api, w.res, w.ns, w.name);
    if (!old && w.sub) {
        json_free(config);
        rest_refuse(c, status_not_found(c->res, c->at.name));
        return;
    }
    struct json *obj = ssa_apply(w.res, c->type, old ? old->j : NULL, config, c->manager, w.sub,
                                 rest_flag(c, "force"), &no);
    if (obj)
        no = old ? api_do_update(c->rest->api, &w, obj, &v)
                 : api_do_create(c->rest->api, &w, obj, &v);
    json_free(config);
    finish(c, no, old ? 200 : 201, v);
}

void rest_write(struct call *c)
{
    static const char *const patches[] = {"application/json-patch+json",
                                          "application/merge-patch+json",
                                          "application/strategic-merge-patch+json"};
    if (!strcmp(c->verb, "create")) {
        create_or_update(c, true);
    } else if (!strcmp(c->verb, "update")) {
        create_or_update(c, false);
    } else if (has_type(c, APPLY)) {
        apply(c);
    } else {
        for (size_t i = 0; i < ARRAY_LEN(patches); i++)
            if (has_type(c, patches[i])) {
                patch(c);
                return;
            }
        rest_refuse(c, status_new(415, "UnsupportedMediaType", NULL, NULL,
                                  "the body of the request was in an unknown format - accepted "
                                  "media types include: application/json-patch+json, "
                                  "application/merge-patch+json, application/strategic-merge-"
                                  "patch+json, application/apply-patch+yaml"));
    }
}

/* --- delete --- */

static void answer_gone(struct call *c, const char *uid)
{
    struct api_version *v = xcalloc(1, sizeof *v);
    v->refs = 1;
    v->j = status_success(c->res, c->at.name, uid);
    rest_answer_later(c, 200, v);
}

/* DeleteOptions of the body and the query; NULL: answered. */
static struct json *options_of(struct call *c)
{
    struct json *o = c->body_len ? rest_parse(c) : json_new_object();
    const char *policy = rest_param(c, "propagationPolicy"), *grace = rest_param(c, "gracePeriodSec"
                                                                                    "onds");
    if (!o)
        return NULL;
    if (json_type(o) != JSON_OBJECT) {
        json_free(o);
        o = json_new_object();
    }
    if (*policy)
        json_put_str(o, "propagationPolicy", policy);
    if (*grace)
        json_put_num(o, "gracePeriodSeconds", (double)rest_int(c, "gracePeriodSeconds", 0));
    for (const struct json *d = json_first(json_get(o, "dryRun")); d; d = json_next(d))
        c->dry_run = true;
    const char *p = json_str(o, "propagationPolicy", "");
    if (*p && strcmp(p, "Background") != 0 && strcmp(p, "Foreground") != 0 &&
        strcmp(p, "Orphan") != 0) {
        rest_refuse(c, status_new(422, "Invalid", NULL, NULL, "DeleteOptions.meta.k8s.io \"\" is "
                                  "invalid: propagationPolicy: Unsupported value: \"%s\": "
                                  "supported values: \"Background\", \"Foreground\", \"Orphan\", "
                                  "\"nil\"", p));
        json_free(o);
        return NULL;
    }
    return o;
}

static void delete_one(struct call *c, const struct json *options)
{
    struct api_write w;
    struct api_version *v = NULL;
    char uid[40] = "";
    write_of(c, &w);
    w.sub = NULL;
    struct json *no = api_do_delete(c->rest->api, &w, options, &v, uid);
    if (no)
        rest_refuse(c, no);
    else if (v)
        rest_answer_later(c, 200, v);
    else
        answer_gone(c, uid);
}

void rest_delete(struct call *c)
{
    struct json *options = options_of(c);
    if (!options)
        return;
    if (!strcmp(c->verb, "delete"))
        delete_one(c, options);
    else
        rest_delete_many(c, options);
    json_free(options);
}
