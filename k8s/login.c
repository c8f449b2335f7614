/* login.c - the credentials of one connection (login.h). */
#include "k8s/login.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/log.h"
#include "core/base/mem.h"
#include "k8s/plugin.h"

enum { FILE_MS = 60000, AHEAD_MAX = 60000, PAUSE_MIN = 5000, PAUSE_MAX = 60000, AGAIN_MS = 10000 };

struct login {
    struct loop *loop;
    struct kube_context ctx;
    struct http_target *target;
    struct login_hooks hooks;
    struct plugin *run;
    bool uses_plugin, have, on_terminal;
    bool behind;                      /* the old ones still serve */
    bool asked;                       /* a person was, or ended it: not again unasked */
    uint32_t timer, fail_timer;
    int64_t expires_ms, got_ms, pause_ms, not_before_ms;
    uint32_t renewed_for;             /* the serial that a 401 has made us renew */
    struct pd_err err;                /* of the newest run */
};

static void start(struct login *g, bool terminal);

static char *keep(char **slot, const char *value)
{
    if (*slot)
        explicit_bzero(*slot, strlen(*slot));
    free(*slot);
    return *slot = xstrdup(value);
}

/* --- the token file --- */

static bool read_file(struct login *g)
{
    if (!kube_context_refresh(&g->ctx))
        return false;
    log_add_secret(keep(&g->target->bearer, g->ctx.token));
    g->target->serial++;
    return true;
}

static void on_file_timer(void *arg)
{
    struct login *g = arg;
    read_file(g);
    g->timer = loop_timer(g->loop, FILE_MS, on_file_timer, g, "token file");
}

/* --- the plugin --- */

static bool expired(const struct login *g)
{
    return g->expires_ms && clock_wall_ms() >= g->expires_ms;
}

static void fail_all(void *arg)
{
    struct login *g = arg;
    struct pd_err err = g->err;
    g->fail_timer = 0;
    http_target_wake(g->target, &err);
}

static void on_ahead(void *arg)
{
    struct login *g = arg;
    g->timer = 0;
    if (g->run)
        return;
    g->behind = true;
    start(g, false);
}

/* Ahead of the end by a fifth of the life, a minute at most. */
static void plan_renewal(struct login *g)
{
    int64_t left = g->expires_ms - clock_wall_ms();
    loop_timer_cancel(g->loop, g->timer);
    g->timer = 0;
    if (g->expires_ms && left > 0)
        g->timer = loop_timer(g->loop, left - MIN(left / 5, (int64_t)AHEAD_MAX), on_ahead, g,
                              "credentials' end");
}

static void take(struct login *g, struct plugin_cred *c)
{
    struct http_target *t = g->target;
    keep(&t->bearer, c->token);
    keep(&t->cert_pem, c->cert_pem);
    keep(&t->key_pem, c->key_pem);
    t->serial++;
    g->have = true;
    g->expires_ms = c->expires_ms;
    g->got_ms = clock_ms();
    g->pause_ms = 0;
    /* an end that is over already: they serve, but not for long */
    if (expired(g))
        g->expires_ms = clock_wall_ms() + AGAIN_MS;
    plan_renewal(g);
}

static void give_back(struct login *g)
{
    if (g->on_terminal && g->hooks.terminal)
        g->hooks.terminal(g->hooks.arg, false);
    g->on_terminal = false;
}

static bool may_ask(const struct login *g)
{
    return !str_eq(g->ctx.exec.interactive, "Never") &&
           (g->hooks.terminal || isatty(STDIN_FILENO));
}

static void refuse(struct login *g)
{
    g->pause_ms = MIN(MAX(2 * g->pause_ms, (int64_t)PAUSE_MIN), (int64_t)PAUSE_MAX);
    g->not_before_ms = g->asked ? INT64_MAX : clock_ms() + g->pause_ms;
    if (g->behind && g->have && !expired(g)) {
        loop_timer_cancel(g->loop, g->timer);
        g->timer = loop_timer(g->loop, g->pause_ms, on_ahead, g, "credentials again");
    } else if (!g->fail_timer) {
        g->have = false;
        g->fail_timer = loop_timer(g->loop, 0, fail_all, g, "no credentials");
    }
    g->behind = false;
}

/* The screen is not taken away in the middle of something else. */
static void ended(struct login *g)
{
    g->asked = true;
    pd_fail(&g->err, PD_AUTH, _("the login by %s has ended, and the plugin has to ask you"),
            g->ctx.exec.command);
    pd_set_hint(&g->err, _("choose the context again: you are asked then"));
}

static bool always(const struct login *g)
{
    return str_eq(g->ctx.exec.interactive, "Always");
}

static void on_plugin(void *arg, struct plugin_cred *cred, const char *said,
                      const struct pd_err *err)
{
    struct login *g = arg;
    bool had_terminal = g->on_terminal;
    g->run = NULL;
    give_back(g);
    if (g->hooks.plugin)
        g->hooks.plugin(g->hooks.arg, NULL, said);
    if (cred) {
        take(g, cred);
        g->behind = false;
        http_target_wake(g->target, NULL);
        return;
    }
    g->err = *err;
    bool ask = !had_terminal && !g->behind && g->hooks.terminal && may_ask(g);
    if (ask && !g->got_ms) {
        start(g, true);
        return;
    }
    if (ask)
        ended(g);
    g->asked |= had_terminal && g->hooks.terminal;
    refuse(g);
}

/* Whether a run would have the terminal; false with err when it must and can't. */
static bool get_terminal(struct login *g, bool *terminal)
{
    bool mine = !g->hooks.terminal && isatty(STDIN_FILENO);
    if (always(g) && g->hooks.terminal && g->got_ms) {
        ended(g);
        return false;
    }
    *terminal = may_ask(g) && (*terminal || always(g) || mine);
    if (*terminal && g->hooks.terminal)
        *terminal = g->hooks.terminal(g->hooks.arg, true);
    if (!always(g) || *terminal)
        return true;
    pd_fail(&g->err, PD_AUTH, _("exec plugin cannot support interactive mode: standard input is "
                                "not a terminal"));
    pd_set_hint(&g->err, _("%s has interactiveMode Always: start podium in a terminal"),
                g->ctx.exec.command);
    return false;
}

static void start(struct login *g, bool terminal)
{
    if (g->behind && always(g)) {
        g->behind = false;           /* nobody is to be asked unasked: at the end, then */
        return;
    }
    bool ok = get_terminal(g, &terminal);
    g->on_terminal = ok && terminal;
    if (ok && plugin_start(g->loop, &g->ctx, terminal, on_plugin, g, &g->run, &g->err) == PD_OK) {
        if (g->hooks.plugin)
            g->hooks.plugin(g->hooks.arg, g->ctx.exec.command, "");
        return;
    }
    g->run = NULL;
    give_back(g);
    refuse(g);
}

/* --- what the transport asks --- */

static bool ready(void *arg)
{
    struct login *g = arg;
    if (g->have && !expired(g))
        return true;
    if (g->run) {
        g->behind = false;
    } else if (clock_ms() >= g->not_before_ms) {
        g->behind = false;
        start(g, false);
    } else if (!g->fail_timer) {
        g->fail_timer = loop_timer(g->loop, 0, fail_all, g, "no credentials");
    }
    return false;
}

/* Renewed once for a serial; credentials that are new and refused are wrong. */
static bool refused(void *arg, uint32_t serial)
{
    struct login *g = arg;
    if (serial != g->target->serial)
        return true;
    if (!g->uses_plugin)
        return read_file(g);
    if (g->run)
        return true;
    if (g->renewed_for == serial && clock_ms() - g->got_ms < FILE_MS)
        return false;
    g->have = false;
    g->expires_ms = 0;
    g->not_before_ms = 0;
    g->renewed_for = serial + 1;
    start(g, false);
    return true;
}

/* --- life --- */

static void copy_exec(struct kube_context *to, const struct kube_context *from)
{
    const struct kube_exec *x = &from->exec;
    to->server = xstrdup(from->server);
    to->tls_server_name = xstrdup(from->tls_server_name);
    to->ca_pem = xstrdup(from->ca_pem);
    to->proxy = xstrdup(from->proxy);
    to->insecure = from->insecure;
    to->disable_compression = from->disable_compression;
    to->exec = (struct kube_exec){.api_version = xstrdup(x->api_version),
                                  .command = xstrdup(x->command),
                                  .interactive = xstrdup(x->interactive),
                                  .install_hint = xstrdup(x->install_hint),
                                  .config = xstrdup(x->config),
                                  .cluster_info = x->cluster_info};
    strv_init(&to->exec.args);
    strv_init(&to->exec.env);
    for (size_t i = 0; i < x->args.n; i++)
        strv_push(&to->exec.args, x->args.v[i]);
    for (size_t i = 0; i < x->env.n; i++)
        strv_push(&to->exec.env, x->env.v[i]);
}

struct login *login_new(struct loop *l, const struct kube_context *ctx, struct http_target *t,
                        const struct login_hooks *hooks)
{
    struct login *g = xcalloc(1, sizeof *g);
    g->loop = l;
    g->target = http_target_ref(t);
    if (hooks)
        g->hooks = *hooks;
    kube_context_init(&g->ctx);
    keep(&t->bearer, ctx->token);
    keep(&t->cert_pem, ctx->cert_pem);
    keep(&t->key_pem, ctx->key_pem);
    t->user = xstrdup(ctx->username);
    t->password = xstrdup(ctx->password);
    g->uses_plugin = kube_context_uses_plugin(ctx);
    if (g->uses_plugin) {
        copy_exec(&g->ctx, ctx);
        t->creds = (struct http_creds){ready, refused, g};
    } else if (ctx->token_file) {
        g->ctx.token = xstrdup(ctx->token);
        g->ctx.token_file = xstrdup(ctx->token_file);
        t->creds = (struct http_creds){NULL, refused, g};
        g->timer = loop_timer(l, FILE_MS, on_file_timer, g, "token file");
    }
    return g;
}

void login_cancel(struct login *g)
{
    if (!g->run)
        return;
    plugin_cancel(g->run);
    g->run = NULL;
    give_back(g);
    if (g->hooks.plugin)
        g->hooks.plugin(g->hooks.arg, NULL, "");
    pd_fail(&g->err, PD_CANCELED, _("the login with %s was cancelled"), g->ctx.exec.command);
    pd_set_hint(&g->err, _("choose the context again to log in"));
    g->asked = true;
    g->behind = false;
    refuse(g);
}

void login_free(struct login *g)
{
    if (!g)
        return;
    plugin_cancel(g->run);
    give_back(g);
    loop_timer_cancel(g->loop, g->timer);
    loop_timer_cancel(g->loop, g->fail_timer);
    g->target->creds = (struct http_creds){NULL, NULL, NULL};
    http_target_unref(g->target);
    kube_context_release(&g->ctx);
    free(g);
}

void login_allow(struct login *g)
{
    g->asked = false;
    g->got_ms = g->have ? g->got_ms : 0;
    g->pause_ms = g->not_before_ms = 0;
}

int64_t login_expires_ms(const struct login *g)
{
    return g->expires_ms;
}
