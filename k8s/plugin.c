/* plugin.c - credential plugins (plugin.h). */
#include "k8s/plugin.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/base/yaml.h"
#include "core/io/child.h"
#include "k8s/pem.h"

enum { OUT_MAX = 4 << 20, SAID_MAX = 4096, TAIL = 300 };

extern char **environ;

struct plugin {
    struct loop *loop;
    struct child *child;
    char *name, *api_version, *hint;
    struct str out;
    plugin_fn *fn;
    void *arg;
};

void plugin_cred_release(struct plugin_cred *c)
{
    char *secret[] = {c->token, c->key_pem};
    for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
        if (secret[i])
            explicit_bzero(secret[i], strlen(secret[i]));
        free(secret[i]);
    }
    free(c->cert_pem);
    memset(c, 0, sizeof *c);
}

/* --- what it prints --- */

static enum pd_code wrong(struct pd_err *err, const char *text)
{
    pd_fail(err, PD_AUTH, "%s", text);
    return pd_set_hint(err, _("run the plugin by hand and look at what it prints to stdout: it "
                              "must be one ExecCredential"));
}

static struct json *parse(const char *text, size_t n, struct pd_err *err)
{
    struct json *j = NULL;
    struct ydoc *doc = NULL;
    struct pd_err why;
    char msg[300];
    if (json_parse(text, n, &j, &why) != PD_OK) {
        j = NULL;
        if (yaml_parse("stdout", text, n, &doc, &why) == PD_OK && doc && doc->root)
            j = yaml_to_json(doc->root);
        yaml_docs_free(doc);
    }
    if (json_type(j) == JSON_OBJECT)
        return j;
    json_free(j);
    if (strspn(text, " \t\r\n") >= n)
        wrong(err, _("the exec plugin printed nothing to stdout"));
    else
        wrong(err, str_fmt(msg, sizeof msg, _("decoding stdout: the exec plugin printed %zu bytes "
                                              "that are no ExecCredential"), n));
    return NULL;
}

static enum pd_code check_head(const struct json *j, const char *api_version, struct pd_err *err)
{
    char msg[400], found[120];
    const char *kind = json_str(j, "kind", ""), *version = json_str(j, "apiVersion", "");
    if (strcmp(kind, "ExecCredential") != 0)
        return wrong(err, str_fmt(msg, sizeof msg, _("decoding stdout: the exec plugin printed a "
                                                     "\"%.80s\", not an ExecCredential"), kind));
    if (strcmp(version, api_version) == 0)
        return PD_OK;
    str_copy(found, sizeof found, *version ? version : "(none)");
    pd_fail(err, PD_AUTH, _("exec plugin is configured to use API version %s, plugin returned "
                            "version %s"), api_version, found);
    return pd_set_hint(err, _("write the plugin's version into exec.apiVersion of the kubeconfig, "
                              "or update the plugin"));
}

static char *taken(const struct json *status, const char *key)
{
    const char *s = json_str(status, key, "");
    return *s ? xstrdup(s) : NULL;
}

static enum pd_code check_cred(const struct plugin_cred *c, struct pd_err *err)
{
    char msg[300];
    if (!c->token && !c->cert_pem && !c->key_pem)
        return wrong(err, _("exec plugin didn't return a token or cert/key pair"));
    if (!c->cert_pem != !c->key_pem)
        return wrong(err, _("exec plugin returned only certificate or key, not both"));
    if (c->token && c->token[strcspn(c->token, "\r\n")])
        return wrong(err, _("exec plugin returned a token with a line break in it"));
    const char *bad = c->cert_pem ? pem_pair_wrong(c->cert_pem, c->key_pem) : NULL;
    if (bad)
        return wrong(err, str_fmt(msg, sizeof msg, _("failed parsing client key/certificate: %s"),
                                  _(bad)));
    return PD_OK;
}

enum pd_code plugin_read(const char *text, size_t n, const char *api_version,
                         struct plugin_cred *out, struct pd_err *err)
{
    struct plugin_cred c = {.token = NULL};
    int64_t us = 0;
    struct json *j = parse(text, n, err);
    if (!j)
        return err->code;
    enum pd_code code = check_head(j, api_version, err);
    const struct json *status = json_get(j, "status");
    if (code == PD_OK && json_type(status) != JSON_OBJECT)
        code = wrong(err, _("exec plugin didn't return a status field"));
    if (code == PD_OK) {
        const char *when = json_str(status, "expirationTimestamp", "");
        c.token = taken(status, "token");
        c.cert_pem = taken(status, "clientCertificateData");
        c.key_pem = taken(status, "clientKeyData");
        if (*when && !clock_parse_rfc3339(when, &us))
            code = wrong(err, _("decoding stdout: expirationTimestamp is no RFC 3339 time"));
        c.expires_ms = us / 1000;
    }
    if (code == PD_OK)
        code = check_cred(&c, err);
    json_free(j);
    if (code == PD_OK)
        *out = c;
    else
        plugin_cred_release(&c);
    return code;
}

/* --- what it is told --- */

static struct json *cluster_info(const struct kube_context *x)
{
    struct json *c = json_new_object(), *config = NULL;
    struct pd_err ignored;
    json_put_str(c, "server", x->server);
    if (x->tls_server_name)
        json_put_str(c, "tls-server-name", x->tls_server_name);
    if (x->insecure)
        json_put_bool(c, "insecure-skip-tls-verify", true);
    if (x->ca_pem) {
        char *data = pem_to_base64(x->ca_pem, strlen(x->ca_pem));
        json_put_str(c, "certificate-authority-data", data);
        free(data);
    }
    if (x->proxy)
        json_put_str(c, "proxy-url", x->proxy);
    if (x->disable_compression)
        json_put_bool(c, "disable-compression", true);
    if (x->exec.config && json_parse(x->exec.config, strlen(x->exec.config), &config,
                                     &ignored) == PD_OK)
        json_set(c, "config", config);
    return c;
}

char *plugin_info(const struct kube_context *x, bool interactive)
{
    struct json *j = json_new_object(), *spec = json_new_object();
    json_put_str(j, "kind", "ExecCredential");
    json_put_str(j, "apiVersion", x->exec.api_version);
    if (x->exec.cluster_info)
        json_set(spec, "cluster", cluster_info(x));
    json_put_bool(spec, "interactive", interactive);
    json_set(j, "spec", spec);
    char *text = json_text(j, 0);
    json_free(j);
    return text;
}

static bool runnable(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* A relative part of $PATH would make the working directory a source of
 * programs: as Go does, such a part is passed over. */
char *plugin_path(const char *command)
{
    const char *list = getenv("PATH");
    struct strv parts;
    char *out = NULL;
    if (strchr(command, '/'))
        return runnable(command) ? xstrdup(command) : NULL;
    strv_init(&parts);
    strv_split(&parts, list ? list : "", ':');
    for (size_t i = 0; i < parts.n && !out; i++) {
        char *path = parts.v[i][0] == '/' ? path_join(parts.v[i], command) : NULL;
        if (path && runnable(path))
            out = path;
        else
            free(path);
    }
    strv_release(&parts);
    return out;
}

/* Of a variable that is set twice the last word holds, as for Go. */
static void put_env(struct strv *env, const char *line)
{
    size_t n = strcspn(line, "=") + 1;
    for (size_t i = 0; i < env->n; i++)
        if (!strncmp(env->v[i], line, n)) {
            free(env->v[i]);
            env->v[i] = xstrdup(line);
            return;
        }
    strv_push(env, line);
}

static void make_env(const struct kube_context *x, bool interactive, struct strv *env)
{
    char *info = plugin_info(x, interactive);
    char *line = xasprintf("KUBERNETES_EXEC_INFO=%s", info);
    for (char **e = environ; *e; e++)
        strv_push(env, *e);
    for (size_t i = 0; i < x->exec.env.n; i++)
        put_env(env, x->exec.env.v[i]);
    put_env(env, line);
    free(line);
    free(info);
}

/* --- a run --- */

static enum pd_code not_found(const struct kube_context *x, struct pd_err *err)
{
    bool named = strchr(x->exec.command, '/') != NULL;
    pd_fail(err, PD_AUTH, _("exec: executable %s not found"), x->exec.command);
    if (x->exec.install_hint) {
        struct str clean;
        str_init(&clean, sizeof err->hint - 1);
        utf8_clean(x->exec.install_hint, strlen(x->exec.install_hint), false, &clean);
        pd_set_hint(err, "%s", clean.p);
        str_release(&clean);
        return err->code;
    }
    return pd_set_hint(err, named ? _("make it there, or correct exec.command; a path with a / "
                                      "counts from the folder of the kubeconfig")
                                  : _("install that program, or put its folder into $PATH"));
}

static void plugin_free(struct plugin *p)
{
    free(p->name);
    free(p->api_version);
    free(p->hint);
    explicit_bzero(p->out.p, p->out.len);
    str_release(&p->out);
    free(p);
}

static void on_line(void *arg, char *line, size_t n)
{
    struct plugin *p = arg;
    str_append(&p->out, line, n);
    str_addc(&p->out, '\n');
}

static void failed_run(const struct plugin *p, int code, int signo, const char *said,
                       struct pd_err *err)
{
    size_t n = strlen(said), from = n > TAIL ? n - TAIL : 0;
    while (from > 0 && from < n && ((unsigned char)said[from] & 0xc0) == 0x80)
        from++;
    if (signo)
        pd_fail(err, PD_AUTH, _("exec: executable %s was ended by signal %d"), p->name, signo);
    else
        pd_fail(err, PD_AUTH, _("exec: executable %s failed with exit code %d%s%s"), p->name, code,
                n ? ": " : "", said + from);
    pd_set_hint(err, _("run it by hand; often you must log in again"));
}

static void ended(void *arg, int code, int signo, const char *stderr_text)
{
    struct plugin *p = arg;
    struct plugin_cred cred = {.token = NULL};
    struct pd_err err = {.code = PD_OK};
    struct str said;
    str_init(&said, SAID_MAX);
    size_t n = strlen(stderr_text), from = n > SAID_MAX ? n - SAID_MAX : 0;
    struct str plain;
    str_init(&plain, SAID_MAX + 64);
    log_redact(stderr_text + from, n - from, &plain);
    utf8_clean(plain.p, plain.len, true, &said);
    str_release(&plain);
    while (said.len && said.p[said.len - 1] == '\n')
        said.p[--said.len] = '\0';
    p->child = NULL;
    if (code != 0 || signo)
        failed_run(p, code, signo, said.p, &err);
    else if (plugin_read(p->out.p, p->out.len, p->api_version, &cred, &err) == PD_OK && cred.token)
        log_add_secret(cred.token);
    if (err.code != PD_OK && !err.src[0])
        str_copy(err.src, sizeof err.src, p->name);
    p->fn(p->arg, err.code == PD_OK ? &cred : NULL, said.p, err.code == PD_OK ? NULL : &err);
    plugin_cred_release(&cred);
    str_release(&said);
    plugin_free(p);
}

enum pd_code plugin_start(struct loop *l, const struct kube_context *x, bool interactive,
                          plugin_fn *fn, void *arg, struct plugin **out, struct pd_err *err)
{
    struct strv argv, env;
    char *path = plugin_path(x->exec.command);
    if (!path)
        return not_found(x, err);
    struct plugin *p = xcalloc(1, sizeof *p);
    p->loop = l;
    p->name = xstrdup(x->exec.command);
    p->api_version = xstrdup(x->exec.api_version);
    p->fn = fn;
    p->arg = arg;
    str_init(&p->out, OUT_MAX);
    strv_init(&argv);
    strv_init(&env);
    strv_push(&argv, path);
    for (size_t i = 0; i < x->exec.args.n; i++)
        strv_push(&argv, x->exec.args.v[i]);
    make_env(x, interactive, &env);
    struct child_spec spec = {.argv = argv.v, .env = env.v, .terminal = interactive,
                              .line_ceiling = OUT_MAX, .line = on_line, .exit = ended, .arg = p};
    enum pd_code code = child_start(l, &spec, &p->child, err);
    if (code != PD_OK) {
        err->code = PD_AUTH;
        plugin_free(p);
    } else {
        *out = p;
    }
    strv_release(&argv);
    strv_release(&env);
    free(path);
    return code;
}

void plugin_cancel(struct plugin *p)
{
    if (!p)
        return;
    child_forget(p->child);
    plugin_free(p);
}
