/* rest.c - the front of the HTTP API: path and method to a verb, who may, what
 * form is wanted; and the sending of answers (rest.h).
 */
#include "k8s/practice/rest.h"

#include <zlib.h>

#include "core/base/log.h"
#include "core/base/mem.h"

enum { BODY_CEILING = 3 << 20, GZIP_FROM = 32 << 10 };
#define JSON_TYPE "application/json"

/* --- calls --- */

struct call *rest_hold(struct call *c)
{
    c->refs++;
    return c;
}

void rest_release(struct call *c)
{
    if (--c->refs > 0)
        return;
    strv_release(&c->warnings);
    api_version_unref(c->result);
    free(c->body);
    free(c);
}

static void on_gone(void *arg)
{
    struct call *c = arg;
    c->q = NULL;
    rest_release(c);
}

const char *rest_param(struct call *c, const char *name)
{
    const char *v = c->q ? server_query(c->q, name) : NULL;
    return v ? v : "";
}

bool rest_flag(struct call *c, const char *name)
{
    const char *v = rest_param(c, name);
    return !strcmp(v, "true") || !strcmp(v, "1");
}

int64_t rest_int(struct call *c, const char *name, int64_t def)
{
    int64_t v;
    return str_to_i64(rest_param(c, name), &v) ? v : def;
}

/* --- sending --- */

static char *gzipped(const char *text, size_t n, size_t *out_n)
{
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    size_t room = deflateBound(&z, n);
    char *out = xmalloc(room);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)room;
    int rc = deflate(&z, Z_FINISH);
    *out_n = z.total_out;
    deflateEnd(&z);
    if (rc == Z_STREAM_END)
        return out;
    free(out);
    return NULL;
}

void rest_send_text(struct call *c, int code, const char *content_type, const char *text, size_t n)
{
    if (!c->q)
        return;
    for (size_t i = 0; i < c->warnings.n; i++) {
        struct str w;
        str_init(&w, 8 << 10);
        str_add(&w, "299 - \"");
        for (const char *p = c->warnings.v[i]; *p; p++) {
            if (*p == '"' || *p == '\\')
                str_addc(&w, '\\');
            str_addc(&w, *p);
        }
        str_addc(&w, '"');
        server_add_header(c->q, "Warning", w.p);
        str_release(&w);
    }
    server_add_header(c->q, "Cache-Control", "no-cache, private");
    const char *accepts = server_header(c->q, "Accept-Encoding");
    size_t zn = 0;
    char *z = n >= GZIP_FROM && accepts && strstr(accepts, "gzip") ? gzipped(text, n, &zn) : NULL;
    if (z) {
        server_add_header(c->q, "Content-Encoding", "gzip");
        server_add_header(c->q, "Vary", "Accept-Encoding");
    }
    server_reply(c->q, code, content_type, z ? z : text, z ? zn : n);
    free(z);
}

void rest_send(struct call *c, int code, const struct json *body)
{
    char *text = json_text(body, c->pretty ? 2 : 0);
    rest_send_text(c, code, JSON_TYPE, text, strlen(text));
    free(text);
}

void rest_refuse(struct call *c, struct json *status)
{
    int code = status_code(status);
    int64_t retry = json_int(status, "details.retryAfterSeconds", 0);
    char seconds[24];
    if (retry > 0 && c->q)
        server_add_header(c->q, "Retry-After", str_fmt(seconds, sizeof seconds, "%d", (int)retry));
    rest_send(c, code, status);
    json_free(status);
}

static void committed(void *arg, const struct pd_err *err)
{
    struct call *c = arg;
    if (err) {
        bool full = err->code == PD_LIMIT;
        rest_refuse(c, status_new(full ? 507 : 500, "InternalError", NULL, NULL,
                                  "Internal error occurred: %s", err->msg));
    } else if (c->q) {
        struct json *view = rest_view(c, c->result->j);
        rest_send(c, c->code, view ? view : c->result->j);
        json_free(view);
    }
    rest_release(c);
}

void rest_answer_later(struct call *c, int code, struct api_version *v)
{
    c->code = code;
    c->result = v;
    api_on_commit(c->rest->api, committed, rest_hold(c));
}

/* --- what form is wanted --- */

static void read_form(struct call *c, const char *part)
{
    if (strstr(part, "as=Table") && strstr(part, "g=meta.k8s.io"))
        c->as = REST_TABLE;
    else if (strstr(part, "as=PartialObjectMetadata") && strstr(part, "g=meta.k8s.io"))
        c->as = REST_PARTIAL;
}

/* The first acceptable clause wins. false: none is. */
static bool negotiate(struct call *c)
{
    const char *accept = server_header(c->q, "Accept");
    struct strv parts;
    bool ok = !accept || !*accept;
    strv_init(&parts);
    strv_split(&parts, accept ? accept : "", ',');
    for (size_t i = 0; i < parts.n && !ok; i++) {
        const char *p = parts.v[i] + strspn(parts.v[i], " ");
        ok = str_starts(p, "application/json") || str_starts(p, "*/*") ||
             str_starts(p, "application/*");
        if (ok)
            read_form(c, p);
    }
    strv_release(&parts);
    return ok;
}

/* --- who may --- */

static bool allowed(struct call *c)
{
    struct auth_ask ask = {.user = c->user, .verb = c->verb, .group = c->res->group,
                           .resource = c->res->plural, .sub = c->at.sub, .ns = c->at.ns,
                           .name = c->at.name};
    return auth_allows(c->rest->api, &ask);
}

static void forbid(struct call *c)
{
    char resource[128], full[224], where[300];
    status_resource(c->res, resource);
    str_fmt(full, sizeof full, "%s%s%s", c->res->plural, *c->at.sub ? "/" : "", c->at.sub);
    if (*c->at.ns)
        str_fmt(where, sizeof where, "in the namespace \"%s\"", c->at.ns);
    else
        str_fmt(where, sizeof where, "at the cluster scope");
    bool name = *c->at.name;
    rest_refuse(c, status_new(403, "Forbidden", c->res, c->at.name,
                              "%s%s%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in "
                              "API group \"%s\" %s", resource, name ? " \"" : "", c->at.name,
                              name ? "\"" : "", c->user, c->verb, full, c->res->group, where));
}

/* --- verbs --- */

static const char *verb_of(struct call *c)
{
    const char *m = server_method(c->q);
    bool name = *c->at.name;
    if (!strcmp(m, "GET") || !strcmp(m, "HEAD")) {
        if (name && !c->sub)
            return rest_flag(c, "watch") ? "watch" : "get";
        return name ? "get" : rest_flag(c, "watch") ? "watch" : "list";
    }
    if (!strcmp(m, "POST"))
        return "create";
    if (!strcmp(m, "PUT"))
        return "update";
    if (!strcmp(m, "PATCH"))
        return "patch";
    return !strcmp(m, "DELETE") ? (name ? "delete" : "deletecollection") : "";
}

static bool serves(struct call *c)
{
    static const struct {
        const char *verb;
        unsigned bit;
    } bits[] = {{"create", RES_CREATE}, {"delete", RES_DELETE},
                {"deletecollection", RES_DELETECOLLECTION}, {"get", RES_GET}, {"list", RES_LIST},
                {"patch", RES_PATCH}, {"update", RES_UPDATE}, {"watch", RES_WATCH}};
    unsigned have = c->sub ? c->sub->verbs : c->res->verbs;
    bool posts = !strcmp(c->verb, "create");
    if (!c->sub && posts == (*c->at.name != 0) && (posts || !strcmp(c->verb, "update")))
        return false;                         /* POST to an object */
    for (size_t i = 0; i < ARRAY_LEN(bits); i++)
        if (!strcmp(bits[i].verb, c->verb))
            return have & bits[i].bit;
    return false;
}

static bool is_review(const struct res *r)
{
    return r->verbs == RES_CREATE;
}

static void run_sub(struct call *c)
{
    const char *s = c->sub->name;
    if (!strcmp(s, "log"))
        rest_pod_log(c);
    else if (!strcmp(s, "exec") || !strcmp(s, "attach"))
        rest_pod_exec(c, *s == 'a');
    else if (!strcmp(s, "portforward"))
        rest_pod_forward(c);
    else if (!strcmp(s, "eviction"))
        rest_pod_eviction(c);
    else if (!strcmp(s, "scale"))
        rest_scale(c);
    else if (!strcmp(c->verb, "get"))
        rest_get(c);
    else
        rest_write(c);
}

static void run(struct call *c)
{
    if (is_review(c->res) || (c->sub && !strcmp(c->sub->name, "token")))
        rest_review(c);
    else if (c->sub)
        run_sub(c);
    else if (!strcmp(c->verb, "watch"))
        rest_watch(c);
    else if (!strcmp(c->verb, "list"))
        rest_list(c);
    else if (!strcmp(c->verb, "get"))
        rest_get(c);
    else if (!strncmp(c->verb, "delete", 6))
        rest_delete(c);
    else
        rest_write(c);
}

static void on_body(void *arg, const char *body, size_t n)
{
    struct call *c = arg;
    c->body = xmalloc(n + 1);
    memcpy(c->body, body, n);
    c->body[n] = '\0';
    c->body_len = n;
    rest_hold(c);
    run(c);
    rest_release(c);
}

static bool options_ok(struct call *c)
{
    const char *dry = rest_param(c, "dryRun"), *mode = rest_param(c, "fieldValidation");
    if (*dry && strcmp(dry, "All") != 0) {
        rest_refuse(c, status_bad_request("dryRun: Unsupported value: \"%s\": supported values: "
                                          "\"All\"", dry));
        return false;
    }
    if (*mode && strcmp(mode, "Strict") != 0 && strcmp(mode, "Warn") != 0 &&
        strcmp(mode, "Ignore") != 0) {
        rest_refuse(c, status_bad_request("fieldValidation: Unsupported value: \"%s\": supported "
                                          "values: \"Ignore\", \"Strict\", \"Warn\"", mode));
        return false;
    }
    c->dry_run = *dry != '\0';
    return true;
}

static void resource(struct call *c)
{
    char gv[64];
    c->res = c->at.res;
    c->sub = *c->at.sub ? res_sub(c->res, c->at.sub) : NULL;
    c->type = schema_type(res_api_version(c->res, gv), c->res->kind);
    c->verb = verb_of(c);
    if (*c->at.sub && !c->sub) {
        rest_refuse(c, status_new(404, "NotFound", NULL, NULL,
                                  "the server could not find the requested resource"));
    } else if (!serves(c)) {
        rest_refuse(c, status_new(405, "MethodNotAllowed", NULL, NULL,
                                  "the server does not allow this method on the requested "
                                  "resource"));
    } else if (!allowed(c)) {
        forbid(c);
    } else if (!negotiate(c)) {
        rest_refuse(c, status_new(406, "NotAcceptable", NULL, NULL,
                                  "only the following media types are accepted: "
                                  "application/json"));
    } else if (options_ok(c)) {
        bool reads = !strcmp(c->verb, "get") || !strcmp(c->verb, "list") ||
                     !strcmp(c->verb, "watch") ||
                     (c->sub && strstr("exec attach portforward", c->sub->name));
        struct server_body b = {.end = on_body, .ceiling = BODY_CEILING, .arg = c};
        if (reads)
            run(c);
        else
            server_on_body(c->q, &b);
    }
}

/* --- other paths --- */

static bool known_group_version(const char *path)
{
    char gv[64], prefix[80];
    for (size_t i = 0; i < res_count(); i++) {
        res_api_version(res_row(i), gv);
        str_fmt(prefix, sizeof prefix, "%s%s/", strchr(gv, '/') ? "/apis/" : "/api/", gv);
        if (str_starts(path, prefix))
            return true;
    }
    return false;
}

static void version(struct call *c)
{
    static const char text[] =
        "{\"major\":\"1\",\"minor\":\"34\",\"emulationMajor\":\"1\",\"emulationMinor\":\"34\","
        "\"minCompatibilityMajor\":\"1\",\"minCompatibilityMinor\":\"33\","
        "\"gitVersion\":\"v1.34.4+podium\",\"gitCommit\":\"\",\"gitTreeState\":\"clean\","
        "\"buildDate\":\"2026-02-10T12:00:00Z\",\"goVersion\":\"none\",\"compiler\":\"gcc\","
        "\"platform\":\"linux/amd64\"}";
    rest_send_text(c, 200, JSON_TYPE, text, sizeof text - 1);
}

static bool public_path(struct call *c, const char *path)
{
    static const char *const health[] = {"/healthz", "/livez", "/readyz"};
    if (!strcmp(path, "/version") || !strcmp(path, "/version/")) {
        version(c);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(health); i++)
        if (!strcmp(path, health[i])) {
            rest_send_text(c, 200, "text/plain; charset=utf-8", "ok", 2);
            return true;
        }
    return false;
}

static void other_path(struct call *c, const char *path)
{
    static const char text[] = "404 page not found\n";
    if (discovery_answer(c, path) || openapi_answer(c, path))
        return;
    struct auth_ask ask = {.user = c->user, .verb = "get", .path = path};
    if (known_group_version(path))
        rest_refuse(c, status_new(404, "NotFound", NULL, NULL,
                                  "the server could not find the requested resource"));
    else if (!auth_allows(c->rest->api, &ask))
        rest_refuse(c, status_new(403, "Forbidden", NULL, NULL,
                                  "forbidden: User \"%s\" cannot get path \"%s\"", c->user, path));
    else
        rest_send_text(c, 404, "text/plain; charset=utf-8", text, sizeof text - 1);
}

/* "kubectl/v1.32.0 (linux…)" is manager "kubectl". */
static void set_manager(struct call *c)
{
    const char *given = rest_param(c, "fieldManager"), *agent = server_header(c->q, "User-Agent");
    if (*given)
        str_copy(c->manager, sizeof c->manager, given);
    else if (agent && *agent)
        str_fmt(c->manager, sizeof c->manager, "%.*s", (int)strcspn(agent, "/"), agent);
    else
        str_copy(c->manager, sizeof c->manager, "unknown");
}

/* Act as another, as kubectl --as asks. false: answered. */
static bool impersonate(struct call *c)
{
    const char *as = c->user ? server_header(c->q, "Impersonate-User") : NULL;
    if (!as)
        return true;
    struct auth_ask ask = {.user = c->user, .verb = "impersonate", .group = "", .resource = "users",
                           .sub = "", .ns = "", .name = as};
    if (!auth_allows(c->rest->api, &ask)) {
        rest_refuse(c, status_new(403, "Forbidden", NULL, NULL,
                                  "users \"%s\" is forbidden: User \"%s\" cannot impersonate "
                                  "resource \"users\" in API group \"\" at the cluster scope", as,
                                  c->user));
        return false;
    }
    str_copy(c->as_user, sizeof c->as_user, as);
    c->user = c->as_user;
    return true;
}

static void on_request(void *arg, struct server_request *q)
{
    struct call *c = xcalloc(1, sizeof *c);
    const char *path = server_path(q);
    c->rest = arg;
    c->q = q;
    c->refs = 2;                              /* the request's and this call's */
    strv_init(&c->warnings);
    server_on_gone(q, on_gone, c);
    c->user = server_user(q);
    if (!impersonate(c)) {
        rest_release(c);
        return;
    }
    c->who.name = c->user;
    c->who.groups = c->user ? auth_groups(c->user) : NULL;
    c->pretty = rest_flag(c, "pretty");
    set_manager(c);
    c->who.manager = c->manager;
    if (public_path(c, path))
        ;
    else if (!c->user)
        rest_refuse(c, status_new(401, "Unauthorized", NULL, NULL, "Unauthorized"));
    else if (res_parse_path(path, &c->at))
        resource(c);
    else
        other_path(c, path);
    rest_release(c);
}

void rest_routes(struct rest *rest)
{
    server_route(rest->server, "/", on_request, rest);
}
