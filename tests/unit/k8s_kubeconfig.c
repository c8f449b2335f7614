/* k8s_kubeconfig.c - finding, merging and resolving kubeconfig files, as a table
 * of cases and the recorded ones under tests/cases/kubeconfig. */
#include "tests/t.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "k8s/kubeconfig.h"
#include "tests/unit/k8s_pem.h"

#define CA CERT_DATA
#define KEY KEY_DATA
#define CA_PEM CERT_PEM

static char *file(const char *name, const char *text)
{
    struct pd_err err;
    char *path = path_join(t_dir(), name);
    char *dir = path_dir(path);
    CHECK_OK(path_mkdirs(dir, 0700, &err));
    CHECK_OK(path_write_atomic(path, 0600, text, strlen(text), &err));
    free(dir);
    return path;
}

/* A config whose cluster and user are given as flow maps. */
static char *config(const char *cluster, const char *user)
{
    char *text = xasprintf("apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
                           "clusters:\n- name: c\n  cluster: {%s}\n"
                           "users:\n- name: u\n  user: {%s}\n"
                           "contexts:\n- name: lab\n  context: {cluster: c, user: u}\n",
                           cluster, user);
    char *path = file("config", text);
    free(text);
    return path;
}

static void clean_environment(void)
{
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    setenv("HOME", t_dir(), 1);
}

/* What a context must be; NULL fields are not looked at, "-" must be NULL. */
struct want {
    const char *name, *cluster, *user;
    const char *server, *token, *ns, *ca, *cert, *username, *tls_name, *proxy, *as;
    const char *error, *hint;            /* parts of the message */
    bool insecure;
    enum pd_code code;                   /* of the error; PD_OK: PD_KUBECONFIG */
};

static void same(const char *what, const char *got, const char *want)
{
    if (!want)
        return;
    if (!strcmp(want, "-") ? got != NULL : !got || strcmp(got, want) != 0)
        t_fail(__FILE__, __LINE__, "%s = \"%s\", want \"%s\"", what, got ? got : "(null)", want);
}

#define SERVER "server: https://h:6443"
#define TOKEN "token: abc"

static const struct want cases[] = {
    {.name = "plain", .cluster = SERVER, .user = TOKEN, .server = "https://h:6443", .token = "abc",
     .ns = "default", .ca = "-"},
    {.name = "slash", .cluster = "server: 'https://h/k8s/clusters/c-1/'", .user = TOKEN,
     .server = "https://h/k8s/clusters/c-1"},
    {.name = "query", .cluster = "server: 'https://h/a?b=c#d'", .user = TOKEN,
     .server = "https://h/a"},
    {.name = "no scheme, no tls", .cluster = "server: 'h:8080'", .user = TOKEN,
     .server = "http://h:8080", .token = "-"},
    {.name = "no scheme, tls", .cluster = "server: 'h:8080', certificate-authority-data: " CA,
     .user = TOKEN, .server = "http://h:8080", .token = "-"},
    {.name = "path cleaned", .cluster = "server: 'https://h//a/./b/../c//'", .user = TOKEN,
     .server = "https://h/a/c"},
    {.name = "userinfo", .cluster = "server: 'https://me:p%40w@h/x'", .user = TOKEN,
     .server = "https://h/x", .token = "-", .username = "me"},
    {.name = "blank", .cluster = "server: ' https://h'", .user = TOKEN, .error = "has a blank"},
    {.name = "ftp", .cluster = "server: 'ftp://h'", .user = TOKEN, .error = "has a scheme"},
    {.name = "bare IPv6", .cluster = "server: 'https://fd00::1:6443'", .user = TOKEN,
     .error = "can't be read as an address", .hint = "brackets"},
    {.name = "path of Windows", .cluster = SERVER ", certificate-authority: 'C:\\Users\\ca.pem'",
     .user = TOKEN, .error = "can't be read", .hint = "Windows"},
    {.name = "port", .cluster = "server: 'https://h:99999'", .user = TOKEN,
     .error = "can't be read as an address", .hint = "65535"},
    {.name = "http drops all", .cluster = "server: 'http://h'",
     .user = "token: abc, client-certificate-data: " CA ", client-key-data: " KEY, .token = "-",
     .cert = "-"},
    {.name = "ca data", .cluster = SERVER ", certificate-authority-data: " CA, .user = TOKEN,
     .ca = CA_PEM},
    {.name = "ca twice", .cluster = SERVER ", certificate-authority: x, "
        "certificate-authority-data: "
     CA, .user = TOKEN, .error = "both specified for cluster \"c\""},
    {.name = "ca not base64", .cluster = SERVER ", certificate-authority-data: '@@@@'",
     .user = TOKEN, .error = "is not base64", .hint = "base64 -w0"},
    {.name = "ca no pem", .cluster = SERVER ", certificate-authority-data: aGVsbG8=",
     .user = TOKEN, .error = "holds no PEM CERTIFICATE"},
    {.name = "ca missing", .cluster = SERVER ", certificate-authority: none/ca.pem", .user = TOKEN,
     .error = "none/ca.pem", .hint = "relative paths"},
    {.name = "insecure", .cluster = SERVER ", insecure-skip-tls-verify: true", .user = TOKEN,
     .insecure = true},
    {.name = "insecure with ca", .cluster = SERVER ", insecure-skip-tls-verify: true, "
     "certificate-authority-data: " CA, .user = TOKEN, .error = "insecure-skip-tls-verify"},
    {.name = "tls name and proxy", .cluster = SERVER ", tls-server-name: n.x, proxy-url: "
        "'socks5://p:1'",
     .user = TOKEN, .tls_name = "n.x", .proxy = "socks5://p:1"},
    {.name = "bad proxy", .cluster = SERVER ", proxy-url: 'ftp://p'", .user = TOKEN,
     .error = "invalid proxy-url \"ftp://p\" for cluster \"c\"", .hint = "socks5://"},
    {.name = "no server", .cluster = "", .user = TOKEN, .error = "no server found for "
        "cluster \"c\""},
    {.name = "no user fields", .cluster = SERVER, .user = "", .token = "-"},
    {.name = "basic", .cluster = SERVER, .user = "username: me, password: pw", .username = "me"},
    {.name = "two methods", .cluster = SERVER, .user = "token: abc, username: me, password: pw",
     .error = "more than one authentication method"},
    {.name = "yaml boolean as text", .cluster = SERVER, .user = "username: y, password: pw",
     .error = "username of \"u\" must be a string", .hint = "quotes"},
    {.name = "number as token", .cluster = SERVER, .user = "token: 12345",
     .error = "token of \"u\" must be a string, not a number"},
    {.name = "colon in token", .cluster = SERVER, .user = "token: 'kubeconfig-user-x:y z'",
     .token = "kubeconfig-user-x:y z"},
    {.name = "cert and key", .cluster = SERVER,
     .user = "client-certificate-data: " CA ", client-key-data: " KEY, .cert = CA_PEM},
    {.name = "cert, no key", .cluster = SERVER, .user = "client-certificate-data: " CA,
     .error = "client-key-data or client-key must be specified"},
    {.name = "key twice", .cluster = SERVER, .user = "client-certificate-data: " CA
     ", client-key-data: " KEY ", client-key: k",
     .error = "client-key-data and client-key are both specified"},
    {.name = "key that is a cert", .cluster = SERVER, .user = "client-certificate-data: " CA
     ", client-key-data: " CA, .error = "holds no PEM PRIVATE KEY"},
    {.name = "tokenFile wins", .cluster = SERVER, .user = "token: abc, tokenFile: tok",
     .token = "from-file"},
    {.name = "tokenFile missing", .cluster = SERVER, .user = "tokenFile: none",
     .error = "tokenFile of user \"u\"", .hint = "relative paths"},
    {.name = "tokenFile missing beside a token", .cluster = SERVER,
     .user = "token: abc, tokenFile: none", .token = "abc"},
    {.name = "tokenFile and basic", .cluster = SERVER,
     .user = "tokenFile: tok, username: me, password: pw", .error = "tokenFile and username"},
    {.name = "token of two lines", .cluster = SERVER, .user = "token: \"a\\nb\"",
     .error = "line break"},
    {.name = "another key", .cluster = SERVER, .user = "client-certificate-data: " CA
     ", client-key-data: " OTHER_KEY_DATA, .error = "private key does not match public key"},
    {.name = "swapped", .cluster = SERVER, .user = "client-certificate-data: " KEY
     ", client-key-data: " CA, .error = "holds no PEM CERTIFICATE", .hint = "swapped"},
    {.name = "old certificate is still shown", .cluster = SERVER,
     .user = "client-certificate-data: " OLD_CERT_DATA ", client-key-data: " KEY,
     .cert = OLD_CERT_PEM},
    {.name = "base64 with a blank inside", .cluster = SERVER
     ", certificate-authority-data: 'aGVs bG8='", .user = TOKEN, .error = "is not base64"},
    {.name = "base64 in lines", .cluster = SERVER
     ", certificate-authority-data: \"aGVs\\r\\nbG8=\\n\"", .user = TOKEN,
     .error = "holds no PEM"},
    {.name = "base64 with a blank", .cluster = SERVER ", certificate-authority-data: '" CA " '",
     .user = TOKEN, .error = "is not base64 (wrong at byte"},
    {.name = "flag as text", .cluster = SERVER ", insecure-skip-tls-verify: 'true'", .user = TOKEN,
     .error = "must be true or false, not a string", .hint = "without quotes"},
    {.name = "groups as text", .cluster = SERVER, .user = TOKEN ", as: jane, as-groups: a",
     .error = "must be a list of strings, not a string"},
    {.name = "line break in a header", .cluster = SERVER,
     .user = TOKEN ", as: \"jane\\nX: y\"", .error = "line break"},
    {.name = "unknown and repeated fields do no harm", .cluster = SERVER,
     .user = "tokn: x, token: a, token: b", .token = "b"},
    {.name = "oidc", .cluster = SERVER, .user = "auth-provider: {name: oidc, config: "
     "{idp-issuer-url: 'https://i', client-id: c, id-token: cached}}", .token = "cached"},
    {.name = "oidc without a token", .cluster = SERVER, .user = "auth-provider: {name: oidc, "
     "config: {idp-issuer-url: 'https://i', client-id: c}}", .error = "has no id-token"},
    {.name = "exec and auth-provider", .cluster = SERVER, .user = "auth-provider: {name: oidc}, "
     "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x}",
     .error = "can't stand beside an exec plugin"},
    {.name = "exec without apiVersion", .cluster = SERVER, .user = "exec: {command: x}",
     .error = "apiVersion must be specified"},
    {.name = "exec env without a name", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1beta1, command: x, env: [{value: y1}]}",
     .error = "env variable name must be specified"},
    {.name = "impersonation", .cluster = SERVER, .user = TOKEN ", as: jane, as-groups: [a, b], "
     "as-user-extra: {reason: [x, z]}", .as = "jane"},
    {.name = "groups without as", .cluster = SERVER, .user = TOKEN ", as-groups: [a]",
     .error = "without impersonating a user"},
    {.name = "auth-provider", .cluster = SERVER, .user = "auth-provider: {name: gcp}",
     .error = "auth-provider \"gcp\""},
    {.name = "exec v1alpha1", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1alpha1, command: x}", .error = "v1alpha1", .hint = "v1beta1"},
    {.name = "exec v1 without mode", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1, command: x}", .error = "interactiveMode must be specified"},
    {.name = "exec without command", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1beta1}", .error = "command must be specified"},
    {.name = "exec bad mode", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1, command: x, interactiveMode: Maybe}", .error = "Maybe"},
    {.name = "exec alone", .cluster = SERVER, .user = "exec: {apiVersion: "
     "client.authentication.k8s.io/v1beta1, command: x, args: [a, 'b c']}", .token = "-"},
    {.name = "exec beside a token", .cluster = SERVER, .user = TOKEN ", exec: {apiVersion: "
     "client.authentication.k8s.io/v1beta1, command: x}", .token = "abc"},
};

static void check_context(const struct kube_context *x, const struct want *w)
{
    same("server", x->server, w->server);
    same("token", x->token, w->token);
    same("ns", x->ns, w->ns);
    same("ca", x->ca_pem, w->ca);
    same("cert", x->cert_pem, w->cert);
    same("username", x->username, w->username);
    same("tls_server_name", x->tls_server_name, w->tls_name);
    same("proxy", x->proxy, w->proxy);
    same("as", x->as, w->as);
    CHECK_INT(x->insecure, w->insecure);
}

TEST(kubeconfig_table_of_fields)
{
    clean_environment();
    free(file("tok", "  from-file\n\n"));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct want *w = &cases[i];
        struct pd_err err = {.code = PD_OK};
        struct kube_context x;
        char *path = config(w->cluster, w->user);
        struct kube_options o = {.kubeconfig = path};
        enum pd_code code = kubeconfig_open(&o, &x, &err);
        if (!w->error && code != PD_OK)
            t_fail(__FILE__, __LINE__, "%s: %s", w->name, err.msg);
        if (w->error) {
            if (code != (w->code ? w->code : PD_KUBECONFIG))
                t_fail(__FILE__, __LINE__, "%s: no error", w->name);
            CHECK_HAS(err.msg, w->error);
            CHECK_STR(err.src, path);
            CHECK(err.line > 0 && err.col > 0);
            CHECK_HAS(err.hint, w->hint ? w->hint : "");
        } else {
            check_context(&x, w);
            kube_context_release(&x);
        }
        free(path);
    }
}

TEST(kubeconfig_keeps_lists_and_exec)
{
    struct pd_err err;
    struct kube_context x;
    clean_environment();
    char *path = config(SERVER, TOKEN ", as: jane, as-groups: [a, b], "
                        "as-user-extra: {reason: [x, z]}, "
                                "exec: "
                        "{apiVersion: client.authentication.k8s.io/v1, command: bin/login, "
                        "args: [a, 'b c'], env: [{name: A, value: '1'}], interactiveMode: Never, "
                        "provideClusterInfo: true}");
    struct kube_options o = {.kubeconfig = path};
    CHECK_OK(kubeconfig_open(&o, &x, &err));
    CHECK_INT((long long)x.as_groups.n, 2);
    CHECK_STR(x.as_extra.v[1], "reason=z");
    char *command = path_join(t_dir(), "bin/login");
    CHECK_STR(x.exec.command, command);
    CHECK_STR(x.exec.args.v[1], "b c");
    CHECK_STR(x.exec.env.v[0], "A=1");
    CHECK(x.exec.cluster_info);
    kube_context_release(&x);
    free(command);
    free(path);
}

#define ONE(server, token, extra)                                                                  \
    "clusters: [{name: c, cluster: {server: '" server "'}}]\n"                                     \
    "users: [{name: u, user: {token: " token "}}]\n"                                               \
    "contexts: [{name: a, context: {cluster: c, user: u}}" extra "]\n"

TEST(kubeconfig_merges_a_list_first_file_wins)
{
    struct pd_err err;
    struct kube_context x;
    struct kubeconfig *c;
    clean_environment();
    char *one = file("one", ONE("https://one", "t1", ""));
    char *two = file("sub/two", "current-context: b\n"
                     ONE("https://two", "t2", ", {name: b, context: {cluster: c, user: u, "
                                              "namespace: n2}}"));
    char *list = xasprintf(":%s:/no/such/file::%s:%s", one, two, one);
    setenv("KUBECONFIG", list, 1);
    CHECK_OK(kubeconfig_load(NULL, &c, &err));
    CHECK_STR(kubeconfig_current(c), "b");
    CHECK_INT((long long)kubeconfig_count(c), 2);
    CHECK_STR(kubeconfig_entry(c, 0).file, one);
    CHECK_STR(kubeconfig_entry(c, 1).file, two);
    CHECK_STR(kubeconfig_entry(c, 1).ns, "n2");
    CHECK_STR(kubeconfig_entry(c, 1).server, "https://one");
    CHECK_OK(kubeconfig_resolve(c, NULL, &x, &err));
    CHECK_STR(x.server, "https://one");
    CHECK_STR(x.token, "t1");
    CHECK_STR(x.ns, "n2");
    CHECK_STR(x.source, two);
    kube_context_release(&x);
    kubeconfig_free(c);
    free(list);
    free(one);
    free(two);
}

TEST(kubeconfig_flags_override)
{
    struct pd_err err;
    struct kube_context x;
    clean_environment();
    char *path = config(SERVER ", tls-server-name: n.x, certificate-authority-data: " CA,
                        "token: abc");
    struct kube_options o = {.kubeconfig = path, .server = "https://other:1/", .token = "flag",
                             .ns = "here", .as = "jane"};
    CHECK_OK(kubeconfig_open(&o, &x, &err));
    CHECK_STR(x.server, "https://other:1");
    CHECK_STR(x.token, "flag");
    CHECK(x.token_file == NULL);
    CHECK_STR(x.ns, "here");
    CHECK_STR(x.as, "jane");
    CHECK(x.tls_server_name == NULL);            /* a new server, without its old name */
    kube_context_release(&x);
    struct kube_options i = {.kubeconfig = path, .insecure = true};
    CHECK_OK(kubeconfig_open(&i, &x, &err));
    CHECK(x.insecure && !x.ca_pem);
    CHECK_STR(x.tls_server_name, "n.x");
    kube_context_release(&x);
    free(path);
}

TEST(kubeconfig_wrong_names_are_told_with_a_guess)
{
    static const struct {
        const char *text, *context, *user, *part, *hint;
    } bad[] = {
        {"current-context: zz\n" ONE("https://h", "t", ""), NULL, NULL,
         "context was not found for specified context: zz", "there are: a"},
        {ONE("https://h", "t", ", {name: gaudi-lab, context: {}}"), "gaudi-lap", NULL,
         "context \"gaudi-lap\" does not exist", "did you mean \"gaudi-lab\""},
        {ONE("https://h", "t", ""), NULL, NULL, "no current-context is set", "--context: a"},
        {"current-context: b\n" ONE("https://h", "t", ", {name: b, context: {cluster: x, user: u}}"),
         NULL, NULL, "cluster \"x\" was not found for context \"b\"", ""},
        {"current-context: b\n" ONE("https://h", "t", ", {name: b, context: {cluster: c}}"), NULL,
         NULL, "user was not specified for context \"b\"", ""},
        {"current-context: a\n" ONE("https://h", "t", ""), NULL, "nobody",
         "user \"nobody\" does not exist", ""},
    };
    clean_environment();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct pd_err err;
        struct kube_context x;
        char *path = file("config", bad[i].text);
        struct kube_options o = {.kubeconfig = path, .context = bad[i].context,
                                 .user = bad[i].user};
        CHECK_INT(kubeconfig_open(&o, &x, &err), PD_KUBECONFIG);
        CHECK_HAS(err.msg, bad[i].part);
        CHECK_HAS(err.hint, bad[i].hint);
        free(path);
    }
}

TEST(kubeconfig_broken_files_have_a_place)
{
    static const struct {
        const char *text, *part;
        int line;
    } bad[] = {
        {"a: [1,\nb: }\n", "", 2},
        {"clusters:\n  a: b\n", "clusters must be a list", 2},
        {"users:\n- name: 5\n  user: {token: a}\n", "name of an entry of users", 2},
        {"users:\n- name: a\n- name: a\n",
         "duplicate name \"a\" in list users; first at line 2", 3},
        {"users:\n- name: other\n  user: {token: 5}\n", "token of \"other\" must be a string", 3},
        {"apiVersion: v2\n", "its apiVersion is v2", 1},
        {"preferences: no way\n", "preferences must be a map", 1},
        {"\tusers: []\n", "", 1},
        {"kind: Pod\n", "its kind is Pod", 1},
        {"- a\n", "must be a map", 1},
        {"current-context: 5\n", "current-context must be a string", 1},
    };
    clean_environment();
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct pd_err err;
        struct kubeconfig *c;
        char *good = file("good", ONE("https://h", "t", ""));
        char *path = file("bad", bad[i].text);
        char *list = xasprintf("%s:%s", good, path);
        setenv("KUBECONFIG", list, 1);
        CHECK_INT(kubeconfig_load(NULL, &c, &err), PD_KUBECONFIG);   /* one spoils all */
        CHECK_HAS(err.msg, bad[i].part);
        CHECK_STR(err.src, path);
        CHECK_INT(err.line, bad[i].line);
        free(list);
        free(path);
        free(good);
    }
}

TEST(kubeconfig_missing_is_one_sentence_with_the_next_step)
{
    struct pd_err err;
    struct kube_context x;
    clean_environment();
    CHECK_INT(kubeconfig_open(NULL, &x, &err), PD_KUBECONFIG);
    CHECK_HAS(err.msg, "no kubeconfig was found");
    CHECK_HAS(err.msg, "/.kube/config");
    CHECK_HAS(err.hint, "podium practice start");
    struct kube_options o = {.kubeconfig = "/no/such/config"};
    CHECK_INT(kubeconfig_open(&o, &x, &err), PD_KUBECONFIG);
    CHECK_HAS(err.msg, "/no/such/config");
    CHECK_HAS(err.hint, "--kubeconfig");
}

TEST(kubeconfig_default_file_is_in_home)
{
    struct pd_err err;
    struct kube_context x;
    clean_environment();
    free(file(".kube/config", "current-context: a\n" ONE("https://home", "t", "")));
    CHECK_OK(kubeconfig_open(NULL, &x, &err));
    CHECK_STR(x.server, "https://home");
    kube_context_release(&x);
}

TEST(kubeconfig_inside_a_pod)
{
    struct pd_err err;
    struct kube_context x;
    clean_environment();
    free(file("sa/token", "pod-token\n"));
    free(file("sa/ca.crt", CA_PEM));
    free(file("sa/namespace", "team"));
    char *dir = path_join(t_dir(), "sa");
    setenv("PODIUM_SERVICE_ACCOUNT_DIR", dir, 1);
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    CHECK_OK(kubeconfig_open(NULL, &x, &err));
    CHECK_STR(x.server, "https://[fd00::1]:443");
    CHECK_STR(x.token, "pod-token");
    CHECK_STR(x.ns, "team");
    CHECK(x.in_cluster && x.ca_pem);
    free(file("sa/token", "rotated"));
    CHECK(kube_context_refresh(&x));
    CHECK_STR(x.token, "rotated");
    CHECK(!kube_context_refresh(&x));
    kube_context_release(&x);
    setenv("POD_NAMESPACE", "mine", 1);
    CHECK_OK(kubeconfig_open(NULL, &x, &err));
    CHECK_STR(x.ns, "mine");
    kube_context_release(&x);
    free(dir);
}

/* --- the recorded cases --- */

static enum pd_code open_case(const char *dir, struct kube_context *x, struct pd_err *err)
{
    char path[400];
    clean_environment();
    str_fmt(path, sizeof path, PODIUM_SOURCE_DIR "/tests/cases/kubeconfig/%s/config", dir);
    struct kube_options o = {.kubeconfig = path};
    return kubeconfig_open(&o, x, err);
}

TEST(kubeconfig_case_002_relative_paths_from_any_folder)
{
    struct pd_err err;
    struct kube_context x;
    CHECK(chdir("/") == 0);
    CHECK_OK(open_case("002-relative-ca-path", &x, &err));
    CHECK_STR(x.token, "example-token-from-file");
    CHECK_HAS(x.ca_pem, "-----BEGIN CERTIFICATE-----");
    CHECK_HAS(x.token_file, "/tests/cases/kubeconfig/002-relative-ca-path/pki/token");
    CHECK_STR(x.ns, "llm-lab");
    kube_context_release(&x);
}

TEST(kubeconfig_case_005_exec_v1alpha1)
{
    struct pd_err err;
    struct kube_context x;
    CHECK_INT(open_case("005-exec-v1alpha1", &x, &err), PD_KUBECONFIG);
    CHECK_HAS(err.msg, "client.authentication.k8s.io/v1alpha1");
    CHECK_HAS(err.hint, "v1beta1");
}

TEST(kubeconfig_case_008_server_path_prefix)
{
    struct pd_err err;
    struct kube_context x;
    CHECK_OK(open_case("008-server-path-prefix", &x, &err));
    CHECK_STR(x.server, "https://rancher.lab.example/k8s/clusters/c-abc");
    CHECK_STR(x.token, "kubeconfig-user-ab12c:xyz");
    kube_context_release(&x);
}

TEST(kubeconfig_case_011_raw_pem)
{
    struct pd_err err;
    struct kube_context x;
    CHECK_INT(open_case("011-ca-raw-pem", &x, &err), PD_KUBECONFIG);
    CHECK_HAS(err.msg, "certificate-authority-data of cluster \"lab\" is not base64");
    CHECK_HAS(err.hint, "certificate-authority: FILE");
    CHECK_HAS(err.hint, "base64");
    CHECK(err.line > 0);
}

T_MAIN
