/* effects_connect.c - the connection: which kubeconfig, which context, and what
 * to do when there is none.
 *
 * --kubeconfig, $KUBECONFIG and ~/.kube/config are looked at as kubectl does.
 * When no file is there at all, the default cluster named by a file
 * (default-cluster.yaml of the configuration folder, else the shipped one) is
 * started by its command, and asked for its kubeconfig: to this program it is
 * a cluster like any other. */
#include "core/base/base.h"
#include "core/base/i18n.h"

#include <unistd.h>

#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/yaml.h"
#include "k8s/identity.h"
#include "k8s/kubeconfig.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

static void tell(struct effects_runner *r, const char *state, const struct pd_err *err)
{
    struct json *body = r->about ? json_copy(r->about) : json_new_object();
    json_put_str(body, "state", state);
    r->link = state;
    if (err)
        json_set(body, "error", errjson_make(err));
    effects_post_as(r, MSG_CLUSTER, r->connect_effect, body);
}

/* --- what the client reports ------------------------------------------------------------ */

static void on_trace(void *arg, const struct k8s_trace *t)
{
    struct effects_runner *r = arg;
    struct json *body = json_new_object();
    json_put_num(body, "id", t->id);
    json_put_str(body, "method", t->method);
    json_put_str(body, "path", t->path);
    json_put_num(body, "status", t->status);
    json_put_num(body, "ms", (double)t->ms);
    json_put_str(body, "kubectl", t->kubectl);
    if (t->warning[0])
        json_put_str(body, "warning", t->warning);
    if (t->retry_ms > 0)
        json_put_num(body, "retry_ms", (double)t->retry_ms);
    /* a Secret's data never leaves the request */
    if (t->body && !str_eq(json_str(t->body, "kind", ""), "Secret"))
        json_set(body, "body", json_copy(t->body));
    effects_post_as(r, MSG_REQUEST, 0, body);
}

/* What TLS was agreed on, and what a plugin gave, is known with the first answer. */
static void put_tls(struct effects_runner *r)
{
    const struct http_target *target = k8s_target(r->k8s);
    const struct http_tls *t = &target->tls;
    struct json *j = json_new_object(), *auth = json_get_mut(r->about, "auth");
    if (str_eq(json_str(auth, "how", ""), "exec plugin"))
        identity_given(auth, target->bearer, target->cert_pem, k8s_expires_ms(r->k8s));
    json_put_str(j, "version", t->version);
    json_put_str(j, "subject", t->subject);
    json_put_str(j, "issuer", t->issuer);
    json_put_num(j, "expires_ms", (double)t->expires_ms);
    json_set(r->about, "tls", j);
}

static void on_link(void *arg, bool up, int64_t latency_ms, const struct pd_err *err)
{
    struct effects_runner *r = arg;
    json_put_num(r->about, "latency_ms", (double)latency_ms);
    if (up)
        put_tls(r);
    tell(r, up ? "up" : "down", err);
}

static void on_version(void *arg, int status, const struct json *object, const struct pd_err *err)
{
    struct effects_runner *r = arg;
    if (status == 200)
        json_put_str(r->about, "version", json_str(object, "gitVersion", ""));
    put_tls(r);
    tell(r, err ? "down" : "up", err);
}

/* --- credential plugins ---------------------------------------------------------------- */

static bool on_terminal(void *arg, bool take)
{
    struct effects_runner *r = arg;
    return r->o.terminal(r->o.arg, take);
}

/* A plugin runs, or has ended; its words stay with the connection. */
static void on_plugin(void *arg, const char *command, const char *said)
{
    struct effects_runner *r = arg;
    json_put_str(r->about, "login", command ? path_base(command) : "");
    if (*said)
        json_put_str(r->about, "plugin_said", said);
    tell(r, r->link ? r->link : "connecting", NULL);
}

void effects_login_end(struct effects_runner *r, const struct effect *e UNUSED)
{
    if (r->k8s)
        k8s_cancel_login(r->k8s);
}

/* --- opening ---------------------------------------------------------------------------- */

void effects_connect_ask(struct effects_runner *r)
{
    k8s_allow_login(r->k8s);
    tell(r, "connecting", NULL);
    k8s_request(r->k8s, "GET", "/version", NULL, NULL, on_version, r);
}

static void open_context(struct effects_runner *r, struct kube_context *x)
{
    struct k8s_hooks hooks = {.trace = on_trace, .link = on_link, .arg = r};
    hooks.login = (struct login_hooks){.terminal = r->o.terminal ? on_terminal : NULL,
                                       .plugin = on_plugin, .arg = r};
    json_free(r->about);
    r->about = identity_of(x);
    effects_choice_use(r, x);
    json_put_str(r->about, "context", x->name);
    json_put_str(r->about, "namespace", x->ns);
    json_put_str(r->about, "server", x->server);
    json_put_str(r->about, "user", x->user);
    json_put_str(r->about, "kubeconfig", x->source);
    if (x->token)
        log_add_secret(x->token);
    r->k8s = k8s_open(r->loop, x, ++r->last_cluster, &hooks);
    effects_connect_ask(r);
}

static struct kube_options options(const struct effects_runner *r)
{
    return (struct kube_options){.kubeconfig = r->kubeconfig, .context = r->context, .ns = r->ns};
}

static enum pd_code open_kubeconfig(struct effects_runner *r, bool *found, struct pd_err *err)
{
    struct kube_options o = options(r);
    struct kubeconfig *c = NULL;
    struct kube_context x;
    *found = true;
    enum pd_code rc = kubeconfig_load(&o, &c, err);
    if (rc)
        return rc;
    *found = kubeconfig_found(c);
    kube_context_init(&x);
    rc = kubeconfig_resolve(c, &o, &x, err);
    if (!rc) {
        effects_connect_free(r);
        open_context(r, &x);
    }
    kube_context_release(&x);
    kubeconfig_free(c);
    return rc;
}

/* --- the default cluster ----------------------------------------------------------------- */

static char *default_file(void)
{
    char *own = path_home(PATH_CONFIG, "default-cluster.yaml");
    if (access(own, R_OK) == 0)
        return own;
    free(own);
    return path_shipped("labs/content/default-cluster.yaml");
}

/* A command of the file as the args of a spawn; NULL with err. */
static struct json *default_command(const char *key, struct pd_err *err)
{
    char *path = default_file();
    struct ydoc *doc = NULL;
    struct json *args = NULL;
    if (!path) {
        pd_fail(err, PD_KUBECONFIG, _("there is no kubeconfig, and no default cluster is set up"));
        return NULL;
    }
    if (!yaml_read_file(path, &doc, err)) {
        const struct ynode *argv = doc ? yaml_get(doc->root, key) : NULL;
        if (yaml_count(argv)) {
            args = json_new_object();
            json_set(args, "argv", yaml_to_json(argv));
        } else {
            pd_fail_at(err, PD_KUBECONFIG, path, 1, 1, _("this file has no command \"%s\""), key);
        }
    }
    yaml_docs_free(doc);
    free(path);
    return args;
}

static void failed(struct effects_runner *r, const struct pd_err *err)
{
    tell(r, "down", err);
}

static void stop_child(struct effects_slot *s)
{
    child_forget(s->handle);
}

static bool spawn_default(struct effects_runner *r, const char *key,
                          void (*line)(void *arg, char *line, size_t n),
                          void (*end)(void *arg, int code, int signo, const char *text))
{
    struct pd_err err;
    struct child *c = NULL;
    struct json *args = default_command(key, &err);
    if (!args) {
        failed(r, &err);
        return false;
    }
    struct effect e = {.kind = EFF_CONNECT, .id = r->connect_effect, .args = args};
    struct effects_slot *s = effects_slot_new(r, &e);
    struct strv argv;
    strv_init(&argv);
    effects_argv(args, &argv);
    struct child_spec spec = {.argv = argv.v, .line = line, .exit = end, .arg = s};
    bool ok = !child_start(r->loop, &spec, &c, &err);
    if (ok) {
        s->handle = c;
        s->stop = stop_child;
    } else {
        effects_slot_end(s);
        failed(r, &err);
    }
    strv_release(&argv);
    json_free(args);
    return ok;
}

static void keep_line(void *arg, char *line, size_t n)
{
    struct effects_slot *s = arg;
    str_append(&s->out, line, n);
    str_addc(&s->out, '\n');
}

static void child_failed(struct effects_runner *r, const char *what, int code, const char *text)
{
    struct pd_err err;
    pd_fail(&err, PD_KUBECONFIG, _("the default cluster's command \"%s\" ended with code %d: %s"),
            what, code, text && *text ? text : _("it said nothing"));
    failed(r, &err);
}

/* The command prints the path of a kubeconfig, or its text: a text is kept in
 * a file of ours, readable by this user alone. */
static void got_kubeconfig(void *arg, int code, int signo, const char *stderr_text)
{
    struct effects_slot *s = arg;
    struct effects_runner *r = s->r;
    struct pd_err err;
    bool found;
    (void)signo;
    char *text = str_take(&s->out);
    effects_slot_end(s);
    char *end = strchr(text, '\n');
    if (code != 0) {
        child_failed(r, "kubeconfig", code, stderr_text);
        free(text);
        return;
    }
    free(r->kubeconfig);
    if (*text == '/' && end && !end[1]) {
        *end = '\0';
        r->kubeconfig = xstrdup(text);
    } else {
        r->kubeconfig = path_home(PATH_STATE, "default-kubeconfig");
        if (effects_write_renamed(r->kubeconfig, text, &err)) {
            failed(r, &err);
            free(text);
            return;
        }
    }
    free(text);
    if (open_kubeconfig(r, &found, &err))
        failed(r, &err);
}

static void started(void *arg, int code, int signo, const char *stderr_text)
{
    struct effects_slot *s = arg;
    struct effects_runner *r = s->r;
    (void)signo;
    effects_slot_end(s);
    if (code != 0)
        child_failed(r, "start", code, stderr_text);
    else
        spawn_default(r, "kubeconfig", keep_line, got_kubeconfig);
}

void effects_connect_free(struct effects_runner *r)
{
    effects_drop_cluster(r);
    if (!r->k8s)
        return;
    k8s_close(r->k8s);
    r->k8s = NULL;
}

/* Where the effect leads to; NULL members: as before. */
struct place {
    char *kubeconfig, *context, *ns;
};

static struct place go(struct effects_runner *r, const struct json *args)
{
    const struct { const char *key; char **at; } to[] = {
        {"kubeconfig", &r->kubeconfig}, {"context", &r->context}, {"namespace", &r->ns}};
    struct place old = {xstrdup(r->kubeconfig), xstrdup(r->context), xstrdup(r->ns)};
    for (size_t i = 0; i < ARRAY_LEN(to); i++) {
        const char *value = json_str(args, to[i].key, NULL);
        if (!value)
            continue;
        free(*to[i].at);
        *to[i].at = *value ? xstrdup(value) : NULL;
    }
    return old;
}

static void go_back(struct effects_runner *r, struct place *old)
{
    free(r->kubeconfig);
    free(r->context);
    free(r->ns);
    r->kubeconfig = old->kubeconfig;
    r->context = old->context;
    r->ns = old->ns;
}

void effects_connect(struct effects_runner *r, const struct effect *e)
{
    struct pd_err err;
    bool found = true;
    uint32_t before = r->connect_effect;
    r->connect_effect = e->id;
    if (json_bool(e->args, "default", false)) {
        effects_connect_free(r);
        free(r->kubeconfig);
        free(r->context);
        r->kubeconfig = r->context = NULL;
        spawn_default(r, "start", keep_line, started);
        return;
    }
    struct place old = go(r, e->args);
    bool ok = open_kubeconfig(r, &found, &err) == PD_OK;
    if (!ok && r->k8s) {         /* the connection that there is stays */
        go_back(r, &old);
        r->connect_effect = before;
        effects_refuse(r, e, &err);
        return;
    }
    free(old.kubeconfig);
    free(old.context);
    free(old.ns);
    if (ok)
        return;
    if (found || r->kubeconfig || r->context)
        failed(r, &err);
    else
        spawn_default(r, "start", keep_line, started);
}
