/* kubeconfig_try.c - a connection really tried (kubeconfig_try.h). */
#include "k8s/kubeconfig_try.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/io/ws.h"
#include "k8s/pem.h"
#include "k8s/client_io.h"

enum { TICK_MS = 200, PEEK_MS = 5000 };

struct attempt {
    struct kubeconfig_report *r;
    struct json *section;
    struct loop *loop;
    struct k8s *k;
    struct ws *ws;
    int64_t left_ms, ws_ms;
    bool plugin_runs, over;
    const char *doing;                /* for the time-out */
};

static void stop(struct attempt *a)
{
    a->over = true;
    loop_stop(a->loop, 0);
}

/* The certificate that was not trusted, beside the CA that should have signed it. It is
 * asked for without credentials. */
static void show_certificate(struct attempt *a)
{
    const struct kube_context *x = &a->r->ctx;
    struct http_target *t = http_target_new(x->server);
    struct http_request q = {.method = "GET", .path = "/version", .timeout_ms = PEEK_MS};
    struct http_response r;
    struct pem_cert ca;
    struct pd_err ignored;
    struct str body;
    t->insecure = true;
    t->tls_server_name = xstrdup(x->tls_server_name);
    t->proxy = xstrdup(x->proxy);
    str_init(&body, 1 << 20);
    if (http_run(t, &q, &r, &body, &ignored) == PD_OK && t->tls.subject[0]) {
        bool own = x->ca_pem && pem_cert(x->ca_pem, &ca);
        kubeconfig_report_fact(a->section, "certificate", _("it showed"),
                               _("a certificate of %s, signed by %s"), t->tls.subject,
                               t->tls.issuer);
        kubeconfig_report_fact(a->section, "trusted", _("trusted is"), "%s",
                               own ? ca.name : _("the CAs of this machine"));
    }
    str_release(&body);
    http_target_unref(t);
}

static void failed(struct attempt *a, const struct pd_err *err)
{
    kubeconfig_report_fact(a->section, "failed", _("failed"), "%s", err->msg);
    kubeconfig_findings_err(&a->r->findings, KC_ERROR, err);
    if (err->code == PD_TLS)
        show_certificate(a);
}

static void on_plugin(void *arg, const char *command, const char *said)
{
    struct attempt *a = arg;
    a->plugin_runs = command != NULL;
    if (command)
        kubeconfig_report_fact(a->section, "plugin", _("plugin"), _("%s was run"), command);
    if (*said)
        kubeconfig_report_fact(a->section, "plugin-said", _("it said"), "%s", said);
}

static void on_tick(void *arg)
{
    struct attempt *a = arg;
    struct pd_err err;
    if (a->over)
        return;
    a->left_ms -= a->plugin_runs ? 0 : TICK_MS;
    if (a->left_ms > 0) {
        loop_timer(a->loop, TICK_MS, on_tick, a, "patience");
        return;
    }
    pd_fail(&err, PD_TIMEOUT, _("%s: no answer from %s"), a->doing, a->r->ctx.server);
    pd_set_hint(&err, _("packets are dropped on the way: check address, VPN, firewall and proxy"));
    failed(a, &err);
    stop(a);
}

/* --- streams -------------------------------------------------------------------- */

static void on_ws_open(void *arg, const char *protocol)
{
    struct attempt *a = arg;
    kubeconfig_report_fact(a->section, "stream", _("exec, attach"), _("the way is open (%s)"),
                           protocol);
    ws_close(a->ws, 1000);
}

/* 404 and 403 come from the API server itself: the upgrade has come through. */
static void on_ws_closed(void *arg, int code UNUSED, int status, const char *body UNUSED,
                         const struct pd_err *err)
{
    struct attempt *a = arg;
    a->ws = NULL;
    if (a->over)
        return;
    if (err && !status) {
        failed(a, err);
    } else if (status == 404 || status == 403) {
        kubeconfig_report_fact(a->section, "stream", _("exec, attach"),
                               _("WebSocket comes through to the API server (%d)"), status);
    } else if (status) {
        kubeconfig_report_fact(a->section, "stream", _("exec, attach"),
                               _("the WebSocket upgrade was answered with %d"), status);
        kubeconfig_findings_add(&a->r->findings, KC_WARNING, NULL, 0, 0,
                                _("exec, attach and port-forward may not work: the WebSocket "
                                  "upgrade was answered with %d"), status);
        kubeconfig_findings_hint(&a->r->findings, _("a proxy or load balancer on the way must let "
                                                    "upgrades pass"));
    }
    stop(a);
}

static void try_stream(struct attempt *a)
{
    static const struct ws_handlers h = {.open = on_ws_open, .closed = on_ws_closed};
    struct ws_handlers mine = h;
    char path[300];
    mine.arg = a;
    a->doing = _("opening a stream");
    str_fmt(path, sizeof path,
            "/api/v1/namespaces/%s/pods/podium-check/exec?command=true&stdout=true", a->r->ctx.ns);
    a->ws = ws_open(a->loop, k8s_target(a->k), path, "v5.channel.k8s.io, v4.channel.k8s.io", &mine);
}

/* --- requests ------------------------------------------------------------------- */

static void on_who(void *arg, int status, const struct json *o, const struct pd_err *err)
{
    struct attempt *a = arg;
    const char *name = json_str(o, "status.userInfo.username", NULL);
    struct str groups;
    if (a->over)
        return;
    str_init(&groups, 1000);
    for (const struct json *g = json_first(json_at(o, "status.userInfo.groups")); g;
         g = json_next(g))
        str_printf(&groups, "%s%s", groups.len ? ", " : "", json_string_value(g));
    if (!err && name)
        kubeconfig_report_fact(a->section, "who", _("it takes you for"), "%s%s%s%s", name,
                               groups.len ? " (" : "", groups.p, groups.len ? ")" : "");
    else if (status == 401)
        failed(a, err);
    else
        kubeconfig_report_fact(a->section, "who", _("it takes you for"),
                               _("not told (the server answered %d)"), status);
    str_release(&groups);
    if (status == 401)
        stop(a);
    else
        try_stream(a);
}

static void ask_who(struct attempt *a)
{
    struct json *body = json_from("{\"apiVersion\":\"authentication.k8s.io/v1\","
                                  "\"kind\":\"SelfSubjectReview\"}");
    a->doing = _("asking who you are");
    k8s_request(a->k, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                "application/json", body, on_who, a);
    json_free(body);
}

static void on_version(void *arg, int status, const struct json *o, const struct pd_err *err)
{
    struct attempt *a = arg;
    const char *version = json_str(o, "gitVersion", NULL);
    if (a->over)
        return;
    if (status == 0) {
        failed(a, err);
        stop(a);
        return;
    }
    if (version)
        kubeconfig_report_fact(a->section, "version", "GET /version", _("Kubernetes %s"), version);
    else
        kubeconfig_report_fact(a->section, "version", "GET /version", "%d%s%s", status,
                               err ? ", " : "", err ? err->msg : "");
    if (status == 401 || (status == 403 && a->r->ctx.as)) {
        failed(a, err);
        stop(a);
    } else {
        ask_who(a);
    }
}

void kubeconfig_try(struct kubeconfig_report *r, int64_t ms)
{
    struct attempt a = {.r = r, .loop = loop_new(), .left_ms = ms, .doing = _("connecting")};
    struct k8s_hooks hooks = {.login = {.plugin = on_plugin, .arg = &a}};
    a.section = kubeconfig_report_section(r, "connection", _("Connection"));
    a.k = k8s_open(a.loop, &r->ctx, 1, &hooks);
    k8s_request(a.k, "GET", "/version", NULL, NULL, on_version, &a);
    loop_timer(a.loop, TICK_MS, on_tick, &a, "patience");
    loop_run(a.loop);
    if (a.ws)
        ws_close_now(a.ws);
    k8s_close(a.k);
    loop_free(a.loop);
}
