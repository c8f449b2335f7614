/* effects_conn.c - the contexts there are, a look whether one answers, another
 * namespace, and reviews of oneself. Nothing here waits for a cluster. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/client_io.h"
#include "k8s/kubeconfig.h"
#include "labs/choices.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

enum { PROBE_MS = 5000, CHOICES_BYTES = 1 << 20, CONTEXTS_BYTES = 8 << 20 };

/* --- contexts ---------------------------------------------------------------------- */
static void stop_contexts(struct effects_slot *s)
{
    child_forget(s->handle);
}

static void contexts_line(void *arg, char *line, size_t n)
{
    struct effects_slot *s = arg;
    str_append(&s->out, line, n);
}

static void contexts_end(void *arg, int code, int signo UNUSED, const char *said)
{
    struct effects_slot *s = arg;
    struct json *list = NULL, *body = json_new_object();
    struct pd_err err;
    if (code == 0 && json_parse(s->out.p, s->out.len, &list, &err) == PD_OK) {
        json_set(body, "contexts", list);
    } else {
        if (code != 0)
            pd_fail(&err, PD_KUBECONFIG, "%.*s", (int)strcspn(said ? said : "", "\n"),
                    said ? said : "");
        json_set(body, "error", errjson_make(&err));
        json_set(body, "contexts", json_new_array());
    }
    effects_post(s, MSG_REPLY, body);
    effects_slot_end(s);
}

/* Files of hundreds of contexts, each with its certificates, are a child's work. */
void effects_contexts(struct effects_runner *r, const struct effect *e)
{
    struct json *args = json_from("{\"argv\":[\"podium\",\"kubeconfig\",\"contexts\",\"--json\"]}");
    struct strv argv;
    struct pd_err err;
    struct child *c = NULL;
    strv_init(&argv);
    effects_argv(args, &argv);
    if (r->kubeconfig)
        strv_pushf(&argv, "--kubeconfig=%s", r->kubeconfig);
    strv_pushf(&argv, "--lang=%s", i18n_lang());
    struct effects_slot *s = effects_slot_new(r, e);
    struct child_spec spec = {.argv = argv.v, .line_ceiling = CONTEXTS_BYTES,
                              .line = contexts_line, .exit = contexts_end, .arg = s};
    str_release(&s->out);
    str_init(&s->out, CONTEXTS_BYTES);
    if (child_start(r->loop, &spec, &c, &err) == PD_OK) {
        s->handle = c;
        s->stop = stop_contexts;
    } else {
        effects_slot_end(s);
        effects_refuse(r, e, &err);
    }
    strv_release(&argv);
    json_free(args);
}

/* --- does it answer? ------------------------------------------------------------------ */
struct probe {
    struct k8s *k;
    struct http *http;
    uint32_t trace;
};

/* It is a request as any other, to another server. */
static void show(struct effects_slot *s, int status, int64_t ms)
{
    const struct probe *p = s->handle;
    struct json *body = json_new_object();
    char *path = xasprintf("%s/version", k8s_target(p->k)->base);
    char *line = xasprintf("kubectl get --raw /version --context=%s",
                           json_str(s->args, "context", ""));
    json_put_num(body, "id", p->trace);
    json_put_str(body, "method", "GET");
    json_put_str(body, "path", path);
    json_put_num(body, "status", status);
    json_put_num(body, "ms", (double)ms);
    json_put_str(body, "kubectl", line);
    effects_post_as(s->r, MSG_REQUEST, 0, body);
    free(path);
    free(line);
}

static void probe_free(struct probe *p)
{
    http_cancel(p->http);
    k8s_close(p->k);
    free(p);
}

static void stop_probe(struct effects_slot *s)
{
    probe_free(s->handle);
}

static void probed(void *arg, const struct http_response *h)
{
    struct effects_slot *s = arg;
    struct probe *p = s->handle;
    struct json *body = h->err ? effects_error(h->err) : json_new_object(), *version = NULL;
    struct pd_err err;
    p->http = NULL;
    show(s, h->status ? h->status : -1, h->ms);
    json_put_num(body, "status", h->status);
    json_put_num(body, "ms", (double)h->ms);
    if (!h->err && h->status >= 500) {
        k8s_status_error(h->status, h->body, h->body_len, &err);
        json_set(body, "error", errjson_make(&err));
    }
    if (h->status == 200 && json_parse(h->body, h->body_len, &version, &err) == PD_OK)
        json_put_str(body, "version", json_str(version, "gitVersion", ""));
    json_free(version);
    effects_post(s, MSG_REPLY, body);
    probe_free(p);
    effects_slot_end(s);
}

/* Whoever only looks whether a cluster answers shows it no credentials, and runs
 * no plugin to have some. */
static void without_credentials(struct kube_context *x)
{
    char **secret[] = {&x->token, &x->token_file, &x->username, &x->password, &x->as,
                       &x->exec.command};
    for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
        if (*secret[i])
            explicit_bzero(*secret[i], strlen(*secret[i]));
        free(*secret[i]);
        *secret[i] = NULL;
    }
}

void effects_probe(struct effects_runner *r, const struct effect *e)
{
    struct kube_options o = {.kubeconfig = r->kubeconfig,
                             .context = json_str(e->args, "context", NULL)};
    struct kube_context x;
    struct pd_err err;
    kube_context_init(&x);
    if (kubeconfig_open(&o, &x, &err) != PD_OK) {
        effects_refuse(r, e, &err);
    } else {
        struct effects_slot *s = effects_slot_new(r, e);
        struct probe *p = xcalloc(1, sizeof *p);
        struct http_request q = {.method = "GET", .path = "/version", .timeout_ms = PROBE_MS,
                                 .ceiling = 64 << 10, .done = probed, .arg = s};
        without_credentials(&x);
        p->k = k8s_open(r->loop, &x, 0, NULL);
        s->handle = p;
        s->stop = stop_probe;
        p->trace = k8s_trace_open(p->k, "GET", "/version", NULL, NULL);
        show(s, 0, 0);
        p->http = http_start(r->loop, k8s_target(p->k), &q);
    }
    kube_context_release(&x);
}

/* --- reviews ---------------------------------------------------------------------------- */
static void stop_review(struct effects_slot *s)
{
    k8s_cancel(s->handle);
}

static const char *const who_paths[] = {
    "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    "/apis/authentication.k8s.io/v1beta1/selfsubjectreviews",
    "/apis/authentication.k8s.io/v1alpha1/selfsubjectreviews"};

static void reviewed(void *arg, int status, const struct json *object, const struct pd_err *err);

/* "tried" of the args counts which of the paths is asked. */
static void ask_review(struct effects_slot *s)
{
    struct json *body = json_new_object();
    const char *kind = json_str(s->args, "kind", ""), *ns = json_str(s->args, "namespace", NULL);
    bool who = str_eq(kind, "SelfSubjectReview");
    int at = (int)json_int(s->args, "tried", 0);
    const char *path = who ? who_paths[at]
                           : "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    char version[48];
    size_t n = strcspn(path + strlen("/apis/"), "/") + 1;
    n += strcspn(path + strlen("/apis/") + n, "/");
    str_copy(version, MIN(sizeof version, n + 1), path + strlen("/apis/"));
    json_put_str(body, "apiVersion", version);
    json_put_str(body, "kind", kind);
    if (ns)
        json_put_path(body, "spec.namespace", json_new_string(ns));
    s->handle = k8s_request(s->r->k8s, "POST", path, NULL, body, reviewed, s);
    json_free(body);
}

/* Servers before 1.28 have the question under an older version. */
static void reviewed(void *arg, int status, const struct json *object, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    int tried = (int)json_int(s->args, "tried", 0);
    if (status == 404 && str_eq(json_str(s->args, "kind", ""), "SelfSubjectReview") &&
        tried + 1 < (int)ARRAY_LEN(who_paths)) {
        json_put_num(s->args, "tried", tried + 1);
        ask_review(s);
        return;
    }
    struct json *body = err ? effects_error(err) : json_new_object();
    json_put_num(body, "status", status);
    if (object)
        json_set(body, "object", json_copy(object));
    effects_post(s, MSG_REPLY, body);
    effects_slot_end(s);
}

void effects_review(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    s->stop = stop_review;
    ask_review(s);
}

/* --- namespaces --------------------------------------------------------------------------- */
static char *choices_text(char **path)
{
    struct str text;
    struct pd_err err;
    *path = choices_path();
    str_init(&text, CHOICES_BYTES);
    if (path_read(*path, CHOICES_BYTES, &text, &err) != PD_OK)
        str_clear(&text);
    return str_take(&text);
}

void effects_choice_use(struct effects_runner *r, struct kube_context *x)
{
    char *path, *text = r->o.keep_choices ? choices_text(&path) : NULL;
    const char *from = r->ns ? "flag" : "kubeconfig";
    struct json *e = text ? choices_find(text, x->source ? x->source : "", x->name) : NULL;
    const char *kept = json_str(e, "namespace", NULL);
    json_put_str(r->about, "ns_own", r->ns ? "" : x->ns);
    if (kept && !r->ns) {
        free(x->ns);
        x->ns = xstrdup(kept);
        from = "kept";
    }
    json_put_str(r->about, "ns_from", from);
    if (json_get(e, "used"))
        json_set(r->about, "used", json_copy(json_get(e, "used")));
    json_free(e);
    if (text)
        free(path);
    free(text);
}

/* The choice is kept; that it can't be is no reason not to go there. */
static void keep(struct effects_runner *r, const char *ns)
{
    char *path, *text = choices_text(&path);
    bool own = str_eq(json_str(r->about, "ns_own", ""), ns);
    const char *file = json_str(r->about, "kubeconfig", ""),
               *context = json_str(r->about, "context", "");
    struct pd_err err;
    char *with = choices_with(text, file, context, ns);
    if (own) {                   /* the file says so already */
        char *back = choices_with(with, file, context, NULL);
        free(with);
        with = back;
    }
    if (effects_write_renamed(path, with, &err) == PD_OK) {
        struct json *e = choices_find(with, file, context);
        json_set(r->about, "used", json_copy(json_get(e, "used")));
        json_free(e);
    }
    free(with);
    free(text);
    free(path);
}

void effects_namespace(struct effects_runner *r, const struct effect *e)
{
    const char *ns = json_str(e->args, "namespace", "");
    if (r->o.keep_choices)
        keep(r, ns);
    effects_drop_cluster(r);
    k8s_use(r->k8s, ns);
    json_put_str(r->about, "namespace", ns);
    json_put_str(r->about, "ns_from", "chosen");
    effects_connect_ask(r);
}
