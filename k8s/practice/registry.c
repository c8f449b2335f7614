/* registry.c - routes and answers of the practice cluster's registry. Grammar of
 * the paths, status codes and error bodies: the OCI distribution
 * specification. */
#include "k8s/practice/registry.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/ref.h"
#include "k8s/practice/registry_priv.h"

/* --- answers ----------------------------------------------------------------------- */

void registry_header(struct registry_call *c, const char *name, const char *fmt, ...)
{
    char value[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    if (c->q)
        server_add_header(c->q, name, value);
}

void registry_reply_json(struct registry_call *c, int status, const char *content_type,
                         struct json *body)
{
    char *text = json_text(body, 0);
    json_free(body);
    if (c->q) {
        server_add_header(c->q, "Docker-Distribution-Api-Version", "registry/2.0");
        server_reply(c->q, status, content_type, text, strlen(text));
    }
    free(text);
}

void registry_reply_empty(struct registry_call *c, int status)
{
    if (!c->q)
        return;
    server_add_header(c->q, "Docker-Distribution-Api-Version", "registry/2.0");
    server_reply(c->q, status, NULL, "", 0);
}

void registry_refuse(struct registry_call *c, int status, const char *code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct json *e = json_new_object(), *list = json_new_array(), *body = json_new_object();
    json_put_str(e, "code", code);
    json_put_str(e, "message", text);
    json_append(list, e);
    json_set(body, "errors", list);
    registry_reply_json(c, status, "application/json", body);
}

/* --- a call's life ------------------------------------------------------------------ */

static void free_call(struct registry_call *c)
{
    if (c->q || c->job)
        return;
    registry_upload_release(c);
    free(c->repo);
    free(c->name);
    free(c->media_type);
    free(c);
}

static void gone(void *arg)
{
    struct registry_call *c = arg;
    c->q = NULL;
    free_call(c);
}

void registry_start_job(struct registry_call *c, struct registry_job *j,
                        void (*done)(void *arg, int error))
{
    j->done = done;
    j->arg = c;
    c->job = true;
    registry_sync_add(c->r->sync, j);
}

void registry_job_ended(struct registry_call *c)
{
    c->job = false;
    if (!c->q)                            /* nobody waits any more */
        free_call(c);
}

/* --- routes --------------------------------------------------------------------------- */

static void catalog(struct registry_call *c)
{
    struct strv names;
    const char *n_text = server_query(c->q, "n"), *last = server_query(c->q, "last");
    int64_t n = REGISTRY_PAGE_MAX;
    struct json *body = json_new_object(), *list = json_new_array();
    if (n_text && (!str_to_i64(n_text, &n) || n < 0 || n > REGISTRY_PAGE_MAX))
        n = REGISTRY_PAGE_MAX;
    strv_init(&names);
    registry_store_repos(c->r, &names);
    size_t i = 0;
    while (last && i < names.n && strcmp(names.v[i], last) <= 0)
        i++;
    for (; i < names.n && n > 0; i++, n--)
        json_append(list, json_new_string(names.v[i]));
    if (i < names.n && i > 0)
        registry_header(c, "Link", "</v2/_catalog?n=%s&last=%s>; rel=\"next\"",
                        n_text ? n_text : "", names.v[i - 1]);
    json_set(body, "repositories", list);
    strv_release(&names);
    registry_reply_json(c, 200, "application/json", body);
}

/* The rightmost of these parts of a path tells what is asked for. */
static const struct route {
    const char *part;
    registry_route *fn;
} routes[] = {
    {"/blobs/uploads/", registry_upload_one}, {"/blobs/", registry_blob},
    {"/manifests/", registry_manifest},       {"/tags/", registry_tags},
    {"/referrers/", registry_referrers},
};

static const char *rightmost(const char *path, const char *part)
{
    const char *found = NULL;
    for (const char *p = strstr(path, part); p; p = strstr(p + 1, part))
        found = p;
    return found;
}

static void dispatch(struct registry_call *c, const char *path)
{
    const char *method = server_method(c->q), *at = NULL;
    const struct route *route = NULL;
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        const char *p = rightmost(path, routes[i].part);
        /* the same place ("/blobs/uploads/"): the first of the table */
        if (p && (!at || p > at)) {
            at = p;
            route = &routes[i];
        }
    }
    if (!route && str_ends(path, "/blobs/uploads")) {
        at = path + strlen(path) - strlen("/blobs/uploads");
        route = &routes[0];
    }
    if (!route) {
        registry_refuse(c, 404, "UNSUPPORTED", "there is no /v2/%s", path);
        return;
    }
    c->repo = xstrndup(path, (size_t)(at - path));
    size_t n = strlen(route->part);
    c->name = xstrdup(strlen(at) >= n ? at + n : "");
    if (!ref_repository_valid(c->repo)) {
        registry_refuse(c, 400, "NAME_INVALID", "invalid repository name: %.200s", c->repo);
        return;
    }
    if (route->fn == registry_upload_one && !*c->name)
        registry_upload_start(c, method);
    else
        route->fn(c, method);
}

static void on_request(void *arg, struct server_request *q)
{
    struct registry_call *c = xcalloc(1, sizeof *c);
    const char *path = server_path(q);
    c->r = arg;
    c->q = q;
    server_on_gone(q, gone, c);
    if (!server_user(q)) {
        registry_header(c, "WWW-Authenticate", "Basic realm=\"podium practice registry\"");
        registry_refuse(c, 401, "UNAUTHORIZED",
                        "log in with the cluster's user and its token as the password");
    } else if (str_eq(path, "/v2/") || str_eq(path, "/v2")) {
        registry_reply_json(c, 200, "application/json", json_new_object());
    } else if (!str_starts(path, "/v2/")) {
        registry_refuse(c, 404, "UNSUPPORTED", "there is no %s", path);
    } else if (str_eq(path, "/v2/_catalog")) {
        catalog(c);
    } else {
        dispatch(c, path + 4);
    }
}

/* --- start and stop --------------------------------------------------------------------- */

static enum pd_code make_folders(const char *dir, struct pd_err *err)
{
    static const char *const sub[] = {"blobs/sha256", "repos", "tmp"};
    enum pd_code rc = PD_OK;
    char *tmp = path_join(dir, "tmp");
    if (access(tmp, F_OK) == 0)           /* what an earlier life left half done */
        rc = path_remove_tree(tmp, err);
    free(tmp);
    for (size_t i = 0; i < ARRAY_LEN(sub) && rc == PD_OK; i++) {
        char *path = path_join(dir, sub[i]);
        rc = path_mkdirs(path, 0700, err);
        free(path);
    }
    return rc;
}

enum pd_code registry_start(struct loop *l, struct server *s, const char *dir,
                            struct registry **out, struct pd_err *err)
{
    struct registry *r = xcalloc(1, sizeof *r);
    r->loop = l;
    r->dir = xstrdup(dir);
    enum pd_code rc = make_folders(dir, err);
    if (rc == PD_OK)
        rc = registry_sync_start(l, &r->sync, err);
    if (rc != PD_OK) {
        free(r->dir);
        free(r);
        return rc;
    }
    server_route(s, "/v2", on_request, r);
    *out = r;
    return PD_OK;
}

void registry_stop(struct registry *r)
{
    if (!r)
        return;
    registry_sync_stop(r->sync);
    registry_upload_free_all(r);
    free(r->dir);
    free(r);
}
