/* client.c - one connection to a Kubernetes API (client.h): its target, its
 * requests, their trace, and what is tried again.
 *
 * A GET is sent again when its answer breaks off, a list when its pages expire,
 * once; every request after 429 or 5xx with Retry-After, at most RETRY_MAX
 * times; what a 401 asks for is the transport's part (login.h). A list follows
 * `continue` and answers one List with all items.
 */
#include "k8s/client.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/kubectl.h"

enum { RETRY_MAX = 5, SOON_MS = 200, TIMEOUT_MS = 60000, LINK_MS = 5000 };

struct k8s_call {
    struct k8s *k;
    struct k8s_call *prev, *next;
    struct http *http;
    uint32_t timer, trace;
    char *method, *path, *content_type, *body;
    struct json *body_json;
    struct json *list;                /* pages so far */
    bool paged;
    bool fresh;                       /* on a connection of its own: the last one broke */
    int tries;
    struct pd_err early;              /* refused before it was sent */
    k8s_reply_fn *fn;
    void *arg;
};

struct k8s {
    struct loop *loop;
    struct http_target *target;
    struct kube_context ctx;
    struct k8s_hooks hooks;
    uint16_t id;
    uint32_t epoch;
    struct login *login;
    struct k8s_call *calls;
    struct k8s_part *parts;
    bool linked, up;
    int64_t link_ms;
};

static void send_call(void *arg);
static uint32_t last_epoch, last_trace;   /* of all connections of this process */

/* --- connection --- */

static void impersonate(struct http_target *t, const struct kube_context *x)
{
    if (!x->as)
        return;
    strv_pushf(&t->headers, "Impersonate-User: %s", x->as);
    if (x->as_uid)
        strv_pushf(&t->headers, "Impersonate-Uid: %s", x->as_uid);
    for (size_t i = 0; i < x->as_groups.n; i++)
        strv_pushf(&t->headers, "Impersonate-Group: %s", x->as_groups.v[i]);
    for (size_t i = 0; i < x->as_extra.n; i++) {
        size_t n = strcspn(x->as_extra.v[i], "=");
        strv_pushf(&t->headers, "Impersonate-Extra-%.*s: %s", (int)n, x->as_extra.v[i],
                   x->as_extra.v[i] + n + 1);
    }
}

static struct http_target *make_target(const struct kube_context *x)
{
    struct http_target *t = http_target_new(x->server);
    t->ca_pem = xstrdup(x->ca_pem);
    t->insecure = x->insecure;
    t->plain = x->disable_compression;
    t->tls_server_name = xstrdup(x->tls_server_name);
    t->proxy = xstrdup(x->proxy);
    impersonate(t, x);
    return t;
}

struct k8s *k8s_open(struct loop *l, const struct kube_context *ctx, uint16_t id,
                     const struct k8s_hooks *hooks)
{
    struct k8s *k = xcalloc(1, sizeof *k);
    k->loop = l;
    k->id = id;
    k->epoch = ++last_epoch;
    if (hooks)
        k->hooks = *hooks;
    kube_context_init(&k->ctx);
    k->ctx.ns = xstrdup(ctx->ns);
    k->target = make_target(ctx);
    k->login = login_new(l, ctx, k->target, hooks ? &hooks->login : NULL);
    return k;
}

static void free_call(struct k8s_call *c)
{
    struct k8s *k = c->k;
    if (c->prev)
        c->prev->next = c->next;
    else
        k->calls = c->next;
    if (c->next)
        c->next->prev = c->prev;
    http_cancel(c->http);
    loop_timer_cancel(k->loop, c->timer);
    free(c->method);
    free(c->path);
    free(c->content_type);
    free(c->body);
    json_free(c->body_json);
    json_free(c->list);
    free(c);
}

void k8s_close(struct k8s *k)
{
    if (!k)
        return;
    while (k->parts) {
        struct k8s_part *p = k->parts;
        k8s_part_remove(k, p);
        p->close(p->arg);
    }
    while (k->calls)
        free_call(k->calls);
    login_free(k->login);
    http_target_unref(k->target);
    kube_context_release(&k->ctx);
    free(k);
}

uint16_t k8s_id(const struct k8s *k)
{
    return k->id;
}

uint32_t k8s_epoch(const struct k8s *k)
{
    return k->epoch;
}

const char *k8s_namespace(const struct k8s *k)
{
    return k->ctx.ns;
}

void k8s_use(struct k8s *k, const char *ns)
{
    char *old = k->ctx.ns;
    k->ctx.ns = xstrdup(ns);
    k->epoch = ++last_epoch;
    free(old);
}

struct http_target *k8s_target(struct k8s *k)
{
    return k->target;
}

void k8s_cancel_login(struct k8s *k)
{
    login_cancel(k->login);
}

void k8s_allow_login(struct k8s *k)
{
    login_allow(k->login);
}

int64_t k8s_expires_ms(const struct k8s *k)
{
    return login_expires_ms(k->login);
}

struct loop *k8s_loop(struct k8s *k)
{
    return k->loop;
}

void k8s_part_add(struct k8s *k, struct k8s_part *p)
{
    p->prev = NULL;
    p->next = k->parts;
    if (p->next)
        p->next->prev = p;
    k->parts = p;
}

void k8s_part_remove(struct k8s *k, struct k8s_part *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        k->parts = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->prev = p->next = NULL;
}

/* --- trace and link --- */

uint32_t k8s_trace_open(struct k8s *k, const char *method, const char *path,
                        const char *content_type, const struct json *body)
{
    uint32_t id = ++last_trace;
    if (!k->hooks.trace)
        return id;
    struct str line;
    str_init(&line, 64 << 10);
    kubectl_line(method, path, content_type, body, k->ctx.ns, &line);
    struct k8s_trace t = {id, method, path, 0, 0, line.p, body, "", 0};
    k->hooks.trace(k->hooks.arg, &t);
    str_release(&line);
    return id;
}

void k8s_trace_ended(struct k8s *k, uint32_t id, const char *method, const char *path,
                     const struct http_response *r, int64_t retry_ms)
{
    struct k8s_trace t = {id, method, path, r->status ? r->status : -1, r->ms, "", NULL, r->warning,
                          retry_ms};
    if (k->hooks.trace)
        k->hooks.trace(k->hooks.arg, &t);
}

void k8s_trace_done(struct k8s *k, uint32_t id, const char *method, const char *path, int status,
                    int64_t ms)
{
    struct http_response r = {.status = status, .ms = ms};
    k8s_trace_ended(k, id, method, path, &r, 0);
}

void k8s_link(struct k8s *k, int64_t ms, const struct pd_err *err)
{
    bool up = err == NULL;
    int64_t now = clock_ms();
    bool news = !k->linked || up != k->up || (up && now - k->link_ms >= LINK_MS);
    bool back = k->linked && up && !k->up;
    k->linked = true;
    k->up = up;
    for (struct k8s_part *p = back ? k->parts : NULL; p; p = p->next)
        if (p->wake)
            p->wake(p->arg);
    if (!news)
        return;
    k->link_ms = now;
    if (k->hooks.link)
        k->hooks.link(k->hooks.arg, up, ms, err);
}

/* --- requests --- */

void k8s_query(struct str *path, const char *name, const char *value)
{
    if (!value)
        return;
    str_printf(path, "%c", strchr(path->p, '?') ? '&' : '?');
    for (int part = 0; part < 2; part++) {
        for (const char *p = part ? value : name; *p; p++) {
            unsigned char c = (unsigned char)*p;
            if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                strchr("-_.~", c))
                str_addc(path, *p);
            else
                str_printf(path, "%%%02X", c);
        }
        if (part == 0)
            str_addc(path, '=');
    }
}

/* The one reply of a call; frees it. */
static void reply(struct k8s_call *c, int status, const struct json *object,
                  const struct pd_err *err)
{
    k8s_reply_fn *fn = c->fn;
    void *arg = c->arg;
    struct json *list = c->list;
    c->list = NULL;
    c->fn = NULL;
    /* Out of the connection's hands first: fn may close it. */
    free_call(c);
    if (fn)
        fn(arg, status, list ? list : object, err);
    json_free(list);
}

static void early_reply(void *arg)
{
    struct k8s_call *c = arg;
    struct pd_err err = c->early;
    c->timer = 0;
    reply(c, 0, NULL, &err);
}

/* An answer that broke off in its middle: reading again does no harm. */
static bool broke_off(const struct k8s_call *c, const struct http_response *r)
{
    return r->err && r->err->code == PD_NET && r->status != 0 && c->tries == 0 &&
           !strcmp(c->method, "GET");
}

/* The pages took longer than the server keeps a version of the list. */
static bool expired(const struct k8s_call *c, const struct http_response *r)
{
    return !r->err && r->status == 410 && c->list && c->tries == 0;
}

static void from_first_page(struct k8s_call *c)
{
    char *token = strstr(c->path, "&continue=");
    json_free(c->list);
    c->list = NULL;
    if (token)
        *token = '\0';
}

/* How long until the call is made once more; 0: it is not. */
static int64_t again_ms(const struct k8s_call *c, const struct http_response *r)
{
    if (c->tries >= RETRY_MAX)
        return 0;
    if (broke_off(c, r) || expired(c, r))
        return SOON_MS;
    if (r->err)
        return 0;
    if (r->status != 429 && (r->status < 500 || r->retry_after < 0))
        return 0;
    return 1000 * (int64_t)MAX(r->retry_after, 1);
}

/* A page of a list: true when the next one is on its way. */
static bool next_page(struct k8s_call *c, struct json *page)
{
    const char *token = json_str(page, "metadata.continue", "");
    struct str path;
    bool more = *token != '\0';
    if (!c->list && !more)
        return false;
    str_init(&path, 64 << 10);
    str_add(&path, c->path);
    char *old = strstr(path.p, "&continue=");
    if (old) {
        *old = '\0';
        path.len = (size_t)(old - path.p);
    }
    k8s_query(&path, "continue", token);
    if (!c->list) {
        c->list = json_copy(page);
    } else {
        struct json *from = json_get_mut(page, "items"), *to = json_get_mut(c->list, "items");
        while (from && to && json_count(from) > 0)
            json_append(to, json_detach_item(from, 0));
    }
    if (more) {
        free(c->path);
        c->path = xstrdup(path.p);
        c->timer = loop_timer(c->k->loop, 0, send_call, c, "next page");
    } else if (json_get(c->list, "metadata")) {
        json_remove(json_get_mut(c->list, "metadata"), "continue");
        json_remove(json_get_mut(c->list, "metadata"), "remainingItemCount");
    }
    str_release(&path);
    return more;
}

static void on_done(void *arg, const struct http_response *r)
{
    struct k8s_call *c = arg;
    struct json *object = NULL;
    struct pd_err err = {.code = PD_OK}, ignored;
    c->http = NULL;
    int64_t ms = again_ms(c, r);
    k8s_trace_ended(c->k, c->trace, c->method, c->path, r, ms);
    k8s_link(c->k, r->ms, ms > 0 ? NULL : r->err);
    if (ms > 0) {
        if (expired(c, r))
            from_first_page(c);
        c->fresh = r->err != NULL;
        c->tries++;
        c->timer = loop_timer(c->k->loop, ms, send_call, c, "request again");
        return;
    }
    k8s_answer_error(r, &err);
    if (!r->err && r->body_len > 0 &&
        json_parse(r->body, r->body_len, &object, &ignored) != PD_OK)
        object = NULL;
    if (err.code == PD_OK && c->paged && object && next_page(c, object)) {
        json_free(object);
        return;
    }
    if (err.code != PD_OK && !err.src[0])
        str_fmt(err.src, sizeof err.src, "%s %s", c->method, c->path);
    reply(c, r->status, object, err.code != PD_OK ? &err : NULL);
    json_free(object);
}

static void send_call(void *arg)
{
    struct k8s_call *c = arg;
    struct http_request q = {
        .method = c->method,
        .path = c->path,
        .content_type = c->body ? c->content_type : NULL,
        .body = c->body,
        .body_len = c->body ? strlen(c->body) : 0,
        .timeout_ms = TIMEOUT_MS,
        .fresh_connection = c->fresh,
        .done = on_done,
        .arg = c,
    };
    c->timer = 0;
    c->trace = k8s_trace_open(c->k, c->method, c->path, q.content_type, c->body_json);
    c->http = http_start(c->k->loop, c->k->target, &q);
}

static struct k8s_call *new_call(struct k8s *k, const char *method, const char *path,
                                 k8s_reply_fn *fn, void *arg)
{
    struct k8s_call *c = xcalloc(1, sizeof *c);
    c->k = k;
    c->method = xstrdup(method);
    c->path = xstrdup(path);
    c->fn = fn;
    c->arg = arg;
    c->next = k->calls;
    if (c->next)
        c->next->prev = c;
    k->calls = c;
    return c;
}

struct k8s_call *k8s_request(struct k8s *k, const char *method, const char *path,
                             const char *content_type, const struct json *body,
                             k8s_reply_fn *fn, void *arg)
{
    struct k8s_call *c = new_call(k, method, path, fn, arg);
    if (body) {
        c->content_type = xstrdup(content_type ? content_type : "application/json");
        c->body_json = json_copy(body);
        c->body = json_text(body, 0);
    }
    send_call(c);
    return c;
}

void k8s_cancel(struct k8s_call *c)
{
    if (c)
        free_call(c);
}

/* --- verbs --- */

static struct k8s_call *refuse(struct k8s *k, const char *method, k8s_reply_fn *fn, void *arg,
                               const struct pd_err *err)
{
    struct k8s_call *c = new_call(k, method, "", fn, arg);
    c->early = *err;
    c->timer = loop_timer(k->loop, 0, early_reply, c, "refused request");
    return c;
}

static const struct res *known(const char *name, struct pd_err *err)
{
    const struct res *r = res_by_name(name);
    if (r)
        return r;
    pd_fail(err, PD_USAGE, _("podium knows no resource \"%s\""), name);
    const char *near = res_nearest(name);
    if (near)
        pd_set_hint(err, _("did you mean \"%s\"?"), near);
    return NULL;
}

struct k8s_call *k8s_get(struct k8s *k, const char *res, const char *ns, const char *name,
                         k8s_reply_fn *fn, void *arg)
{
    char path[RES_PATH_MAX];
    struct pd_err err;
    const struct res *r = known(res, &err);
    if (!r)
        return refuse(k, "GET", fn, arg, &err);
    return k8s_request(k, "GET", res_path(r, ns ? ns : k->ctx.ns, name, NULL, path), NULL, NULL,
                       fn, arg);
}

struct k8s_call *k8s_list(struct k8s *k, const char *res, const char *ns, const char *selector,
                          k8s_reply_fn *fn, void *arg)
{
    char path[RES_PATH_MAX];
    struct pd_err err;
    struct str s;
    const struct res *r = known(res, &err);
    if (!r)
        return refuse(k, "GET", fn, arg, &err);
    str_init(&s, 16 << 10);
    str_add(&s, res_path(r, ns ? ns : k->ctx.ns, NULL, NULL, path));
    k8s_query(&s, "labelSelector", selector);
    k8s_query(&s, "limit", "500");
    struct k8s_call *c = k8s_request(k, "GET", s.p, NULL, NULL, fn, arg);
    c->paged = true;
    str_release(&s);
    return c;
}

/* The row and path of an object to be written. */
static const struct res *place_of(struct k8s *k, const struct json *object,
                                  char path[RES_PATH_MAX], struct pd_err *err)
{
    const char *kind = json_str(object, "kind", ""), *version = json_str(object, "apiVersion", "");
    const char *name = json_str(object, "metadata.name", NULL);
    const struct res *r = res_by_kind(version, kind);
    if (!r) {
        pd_fail(err, PD_INVALID, _("podium knows no kind \"%s\" in apiVersion \"%s\""), kind,
                version);
        return NULL;
    }
    if (!name) {
        pd_fail(err, PD_INVALID, _("the %s has no metadata.name"), kind);
        return NULL;
    }
    res_path(r, json_str(object, "metadata.namespace", k->ctx.ns), name, NULL, path);
    return r;
}

struct k8s_call *k8s_apply(struct k8s *k, const struct json *object, bool force, bool dry_run,
                           k8s_reply_fn *fn, void *arg)
{
    char path[RES_PATH_MAX];
    struct pd_err err;
    if (!place_of(k, object, path, &err))
        return refuse(k, "PATCH", fn, arg, &err);
    char *full = xasprintf("%s?%sfieldManager=podium&fieldValidation=Strict&force=%s", path,
                           dry_run ? "dryRun=All&" : "", force ? "true" : "false");
    struct k8s_call *c =
        k8s_request(k, "PATCH", full, "application/apply-patch+yaml", object, fn, arg);
    free(full);
    return c;
}

struct k8s_call *k8s_delete(struct k8s *k, const char *res, const char *ns, const char *name,
                            const char *uid, int grace, k8s_reply_fn *fn, void *arg)
{
    char path[RES_PATH_MAX];
    struct pd_err err;
    const struct res *r = known(res, &err);
    if (!r)
        return refuse(k, "DELETE", fn, arg, &err);
    struct json *o = json_new_object();
    if (grace >= 0)
        json_put_num(o, "gracePeriodSeconds", grace);
    if (uid && *uid)
        json_put_path(o, "preconditions.uid", json_new_string(uid));
    json_put_str(o, "propagationPolicy", "Background");
    res_path(r, ns ? ns : k->ctx.ns, name, NULL, path);
    struct k8s_call *c = k8s_request(k, "DELETE", path, "application/json", o, fn, arg);
    json_free(o);
    return c;
}
