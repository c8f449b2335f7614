/* k8s_login.c - credential plugins: what they are told, what they print, and when
 * they run; real programs, a scripted server. */
#include "tests/api/client_fakews.h"

#include <sys/stat.h>

#include "core/base/path.h"
#include "k8s/client.h"
#include "k8s/plugin.h"
#include "tests/unit/run_until.h"

#define V1 "client.authentication.k8s.io/v1"

/* --- what a plugin prints --- */

static enum pd_code read_text(const char *text, struct plugin_cred *c, struct pd_err *err)
{
    return plugin_read(text, strlen(text), V1, c, err);
}

TEST(plugin_reads_json_and_yaml)
{
    struct pd_err err;
    struct plugin_cred c;
    CHECK_OK(read_text("{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\",\"status\":{"
                       "\"token\":\"t\",\"expirationTimestamp\":\"2030-01-01T00:00:00Z\"}}", &c,
                       &err));
    CHECK_STR(c.token, "t");
    CHECK_INT(c.expires_ms, 1893456000000LL);
    plugin_cred_release(&c);
    CHECK_OK(read_text("apiVersion: " V1 "\nkind: ExecCredential\nstatus: {token: yt}\n", &c,
                       &err));
    CHECK_STR(c.token, "yt");
    CHECK_INT(c.expires_ms, 0);
    plugin_cred_release(&c);
}

#define CRED(version, kind, rest)                                                                  \
    "{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\"" rest "}"

TEST(plugin_says_what_is_wrong_and_never_what_was_printed)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"s3cret", "that are no ExecCredential"},
        {"[\"s3cret\"]", "that are no ExecCredential"},
        {" \n", "printed nothing"},
        {"", "printed nothing"},
        {CRED(V1, "Token", ",\"status\":{\"token\":\"s3cret\"}"), "printed a \"Token\""},
        {CRED(V1 "beta1", "ExecCredential", ",\"status\":{\"token\":\"s3cret\"}"),
         "is configured to use API version " V1 ", plugin returned version " V1 "beta1"},
        {CRED(V1, "ExecCredential", ""), "didn't return a status field"},
        {CRED(V1, "ExecCredential", ",\"status\":{}"), "didn't return a token or cert/key pair"},
        {CRED(V1, "ExecCredential", ",\"status\":{\"clientKeyData\":\"s3cret\"}"),
         "only certificate or key, not both"},
        {CRED(V1, "ExecCredential",
              ",\"status\":{\"clientCertificateData\":\"x\",\"clientKeyData\":\"s3cret\"}"),
         "failed parsing client key/certificate: failed to find any PEM data"},
        {CRED(V1, "ExecCredential",
              ",\"status\":{\"token\":\"s3cret\",\"expirationTimestamp\":\"soon\"}"),
         "no RFC 3339 time"},
        {CRED(V1, "ExecCredential", ",\"status\":{\"token\":\"s3cret\\nX: y\"}"), "line break"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct pd_err err;
        struct plugin_cred c;
        CHECK_INT(read_text(bad[i].text, &c, &err), PD_AUTH);
        CHECK_HAS(err.msg, bad[i].part);
        CHECK(!strstr(err.msg, "s3cret") && !strstr(err.hint, "s3cret"));
        CHECK(err.hint[0]);
    }
}

/* --- what it is told --- */

static struct kube_context ctx;

static void context(const char *server, const char *command)
{
    kube_context_init(&ctx);
    ctx.name = xstrdup("lab");
    ctx.ns = xstrdup("default");
    ctx.server = xstrdup(server);
    ctx.exec.api_version = xstrdup(V1);
    ctx.exec.interactive = xstrdup("Never");
    ctx.exec.command = xstrdup(command);
}

TEST(plugin_info_is_kubectls)
{
    context("https://h:6443", "x");
    char *text = plugin_info(&ctx, true);
    CHECK_STR(text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                    "\",\"spec\":{\"interactive\":true}}");
    free(text);
    ctx.exec.cluster_info = true;
    ctx.exec.config = xstrdup("{\"a\":1}");
    ctx.tls_server_name = xstrdup("n");
    ctx.ca_pem = xstrdup("abc");
    ctx.proxy = xstrdup("http://p");
    text = plugin_info(&ctx, false);
    CHECK_STR(text, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"spec\":{\"cluster\":"
                    "{\"server\":\"https://h:6443\",\"tls-server-name\":\"n\","
                    "\"certificate-authority-data\":\"YWJj\",\"proxy-url\":\"http://p\","
                    "\"config\":{\"a\":1}},\"interactive\":false}}");
    free(text);
    kube_context_release(&ctx);
}

TEST(plugin_path_takes_no_program_of_the_working_directory)
{
    struct pd_err err;
    char *here = path_join(t_dir(), "helper");
    CHECK_OK(path_write_atomic(here, 0700, "#!/bin/sh\n", 10, &err));
    CHECK(chdir(t_dir()) == 0);
    setenv("PATH", ":.:", 1);
    CHECK(plugin_path("helper") == NULL);
    setenv("PATH", t_dir(), 1);
    char *found = plugin_path("helper");
    CHECK_STR(found, here);
    free(found);
    CHECK(chmod(here, 0600) == 0 && plugin_path("helper") == NULL);
    CHECK(plugin_path("/bin") == NULL);
    free(here);
}

/* --- when it runs --- */

static struct loop *l;
static struct fake f;
static struct k8s *k;
static struct {
    int replies, status, ran, taken, back;
    struct pd_err err;
    char said[200];
    bool no_terminal;
} got;

static void on_reply(void *arg UNUSED, int status, const struct json *o UNUSED,
                     const struct pd_err *err)
{
    got.replies++;
    got.status = status;
    got.err.code = PD_OK;
    if (err)
        got.err = *err;
}

static void on_plugin(void *arg UNUSED, const char *command, const char *said)
{
    got.ran += command != NULL;
    if (*said)
        str_copy(got.said, sizeof got.said, said);
}

static bool on_terminal(void *arg UNUSED, bool take)
{
    got.taken += take;
    got.back += !take;
    return !got.no_terminal;
}

/* "tN" is taken while counter[0] is at most N. */
static void serve(struct fake_conn *c)
{
    while (fake_request(c)) {
        char token[64] = "";
        fake_header(c, "Authorization", token, sizeof token);
        bool good = str_starts(token, "Bearer t") && atoi(token + 8) >= c->s->counter[0];
        fake_reply(c, good ? 200 : 401, "application/json", "",
                   good ? "{}" : "{\"kind\":\"Status\",\"message\":\"Unauthorized\"}");
    }
}

/* The plugin counts its runs in a file and gives the token "tN". */
static void begin(const char *script, const char *mode, bool terminal)
{
    struct pd_err err;
    char base[64], *path = path_join(t_dir(), "plugin");
    char *text = xasprintf("#!/bin/sh\ncd '%s'\necho run >>runs\nn=$(($(wc -l <runs)))\n%s\n",
                           t_dir(), script);
    CHECK_OK(path_write_atomic(path, 0700, text, strlen(text), &err));
    f = fake_start(serve);
    l = loop_new();
    context("https://placeholder", path);
    free(ctx.exec.interactive);
    ctx.exec.interactive = xstrdup(mode);
    struct k8s_hooks hooks = {.login = {.terminal = terminal ? on_terminal : NULL,
                                        .plugin = on_plugin}};
    k = k8s_open(l, &ctx, 1, &hooks);
    struct http_target *t = k8s_target(k);       /* the scripted server speaks no TLS */
    free(t->base);
    t->base = xstrdup(fake_base(&f, base));
    free(text);
    free(path);
}

static void ask(void)
{
    k8s_request(k, "GET", "/version", NULL, NULL, on_reply, NULL);
}

static void end(void)
{
    k8s_close(k);
    loop_free(l);
    kube_context_release(&ctx);
}

#define PRINT(extra)                                                                               \
    "echo '{\"apiVersion\":\"" V1 "\",\"kind\":\"ExecCredential\","                               \
    "\"status\":{\"token\":\"t'$n'\"" extra "}}'"

TEST(login_runs_the_plugin_once_for_many_requests)
{
    begin("echo 'welcome \033[31mback' >&2\n" PRINT(""), "Never", false);
    for (int i = 0; i < 5; i++)
        ask();
    CHECK_INT(got.ran, 1);
    RUN_UNTIL(got.replies == 5);
    CHECK_INT(got.status, 200);
    CHECK_STR(got.said, "welcome back");
    ask();
    RUN_UNTIL(got.replies == 6);
    CHECK_INT(got.ran, 1);
    end();
}

TEST(login_renews_once_after_a_401)
{
    begin(PRINT(""), "Never", false);
    f.s->counter[0] = 2;                         /* the first token is too old */
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.status, 200);
    CHECK_INT(got.ran, 2);
    f.s->counter[0] = 99;                        /* none will do: no run a request */
    for (int i = 0; i < 4; i++) {
        ask();
        RUN_UNTIL(got.replies == 2 + i);
    }
    CHECK_INT(got.status, 401);
    CHECK(got.ran <= 3);
    end();
}

TEST(login_renews_ahead_of_the_end)
{
    begin(PRINT(",\"expirationTimestamp\":\"'$(date -u -d '+2 seconds' +%FT%TZ)'\""), "Never",
          false);
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.ran, 1);
    CHECK(k8s_expires_ms(k) > clock_wall_ms());
    RUN_UNTIL(got.ran == 2);
    CHECK(clock_wall_ms() < k8s_expires_ms(k) + 50);
    end();
}

TEST(login_failure_ends_what_waits_and_pauses)
{
    begin("echo 'no session, log in' >&2; exit 7", "Never", false);
    ask();
    ask();
    RUN_UNTIL(got.replies == 2);
    CHECK_INT(got.err.code, PD_AUTH);
    CHECK_HAS(got.err.msg, "failed with exit code 7: no session, log in");
    CHECK(got.err.hint[0]);
    ask();
    RUN_UNTIL(got.replies == 3);
    CHECK_INT(got.ran, 1);                       /* not again so soon */
    CHECK_INT(f.s->connections, 0);
    end();
}

TEST(login_can_be_cancelled)
{
    begin("exec sleep 1000", "Never", false);
    ask();
    loop_turn(l, 10);
    k8s_cancel_login(k);
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.err.code, PD_CANCELED);
    ask();
    RUN_UNTIL(got.replies == 2);
    CHECK_INT(got.ran, 1);                       /* not before somebody connects again */
    k8s_allow_login(k);
    ask();
    CHECK_INT(got.ran, 2);
    end();
}

TEST(login_does_not_take_the_screen_later)
{
    begin("case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) ;; *) exit 1;; esac\n" PRINT(""),
          "IfAvailable", true);
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.taken, 1);
    f.s->counter[0] = 99;
    ask();
    RUN_UNTIL(got.replies == 2);
    CHECK_INT(got.taken, 1);
    CHECK_HAS(got.err.msg, "has to ask you");
    CHECK_HAS(got.err.hint, "choose the context again");
    end();
}

TEST(login_takes_the_terminal_only_when_it_must)
{
    begin("case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) ;; *) exit 1;; esac\n" PRINT(""),
          "IfAvailable", true);
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_INT(got.status, 200);
    CHECK_INT(got.ran, 2);
    CHECK_INT(got.taken, 1);
    CHECK_INT(got.back, 1);
    end();
}

TEST(login_always_interactive_needs_a_terminal)
{
    got.no_terminal = true;
    begin(PRINT(""), "Always", true);
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_HAS(got.err.msg, "standard input is not a terminal");
    CHECK_INT(got.ran, 0);
    end();
}

TEST(login_missing_plugin_gives_its_install_hint)
{
    begin("", "Never", false);
    k8s_close(k);
    loop_free(l);
    l = loop_new();
    free(ctx.exec.command);
    ctx.exec.command = xstrdup("no-such-plugin");
    ctx.exec.install_hint = xstrdup("get it \033[1mhere");
    k = k8s_open(l, &ctx, 2, NULL);
    ask();
    RUN_UNTIL(got.replies == 1);
    CHECK_HAS(got.err.msg, "exec: executable no-such-plugin not found");
    CHECK_STR(got.err.hint, "get it here");
    end();
}

T_MAIN
