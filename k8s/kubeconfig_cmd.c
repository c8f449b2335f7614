/* kubeconfig_cmd.c - `podium kubeconfig` (kubeconfig_cmd.h). */
#include "k8s/kubeconfig_cmd.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/kubeconfig_report.h"
#include "k8s/kubeconfig_try.h"

enum { PATIENCE_MS = 15000 };

static const char help[] =
    N_("usage: podium kubeconfig explain [OPTIONS]   what the files say, decide and get wrong\n"
       "       podium kubeconfig check [OPTIONS]     the same, and then really connect\n"
       "       podium kubeconfig view [OPTIONS]      as kubectl config view prints it\n"
       "       podium kubeconfig contexts            the contexts there are\n"
       "\n"
       "explain reads files alone: it sends nothing and runs no program. Each mistake is told\n"
       "with its file, line, column, cause and next step. check runs the credential plugin,\n"
       "if there is one, asks for the version, who you are, and for a stream.\n"
       "\n"
       "  --kubeconfig FILE, --context NAME, --cluster NAME, --user NAME, -n NAMESPACE,\n"
       "  --server URL, --token TOKEN, --as NAME, --certificate-authority FILE,\n"
       "  --tls-server-name NAME, --insecure-skip-tls-verify    instead of what the files say\n"
       "  --json             explain, check, contexts: one JSON object (docs/KUBECONFIG.md)\n"
       "  --minify, --raw    view: this context alone; with its secrets\n"
       "  --timeout SECONDS  check: 15 when not given\n"
       "  --lang en|zh\n"
       "\n"
       "Exit codes: 0 fine, 1 it can't connect so, 2 usage.\n");

struct ask {
    struct kube_options kube;
    const char *lang, *timeout, *output;
    bool json, minify, raw;
    int64_t patience_ms;
};

static int usage(const char *why)
{
    fprintf(stderr, "podium kubeconfig: %s\n%s", why, _(help));
    return 2;
}

/* NAME VALUE and NAME=VALUE. */
static bool take(int argc, char **argv, int *i, const char *name, const char **value)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0)
        return false;
    if (argv[*i][n] == '=' && n > 2) {
        *value = argv[*i] + n + 1;
        return true;
    }
    if (argv[*i][n] || *i + 1 >= argc)
        return false;
    *value = argv[++*i];
    return true;
}

static bool parse(int argc, char **argv, struct ask *a)
{
    struct kube_options *k = &a->kube;
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--kubeconfig", &k->kubeconfig}, {"--context", &k->context},
                   {"--cluster", &k->cluster}, {"--user", &k->user}, {"-n", &k->ns},
                   {"--namespace", &k->ns}, {"--server", &k->server}, {"--token", &k->token},
                   {"--as", &k->as}, {"--certificate-authority", &k->ca_file},
                   {"--tls-server-name", &k->tls_server_name}, {"--lang", &a->lang},
                   {"--timeout", &a->timeout}, {"-o", &a->output}, {"--output", &a->output}};
    const struct {
        const char *name;
        bool *value;
    } flags[] = {{"--json", &a->json}, {"--minify", &a->minify}, {"--raw", &a->raw},
                 {"--insecure-skip-tls-verify", &k->insecure}};
    for (int i = 2; i < argc; i++) {
        bool taken = false;
        for (size_t n = 0; n < ARRAY_LEN(flags) && !taken; n++)
            if ((taken = str_eq(argv[i], flags[n].name)))
                *flags[n].value = true;
        for (size_t n = 0; n < ARRAY_LEN(options) && !taken; n++)
            taken = take(argc, argv, &i, options[n].name, options[n].value);
        if (!taken)
            return false;
    }
    int64_t s = PATIENCE_MS / 1000;
    if (a->timeout && (!str_to_i64(a->timeout, &s) || s < 1 || s > 3600))
        return false;
    a->patience_ms = s * 1000;
    a->json |= str_eq(a->output, "json");
    return true;
}

static void print_json(const struct json *j, int indent)
{
    char *text = json_text(j, indent);
    puts(text);
    free(text);
}

static int explain(const struct ask *a, bool connect)
{
    struct kubeconfig_report r;
    struct str text;
    kubeconfig_report_make(&a->kube, &r);
    if (connect && kubeconfig_findings_errors(&r.findings) == 0)
        kubeconfig_try(&r, a->patience_ms);
    kubeconfig_report_close(&r);
    str_init(&text, 1 << 20);
    kubeconfig_report_text(r.json, &text);
    if (a->json)
        print_json(r.json, 0);
    else
        fputs(text.p, stdout);
    bool ok = json_bool(r.json, "ok", false);
    str_release(&text);
    kubeconfig_report_free(&r);
    return ok ? 0 : 1;
}

static int cmd_explain(const struct ask *a)
{
    return explain(a, false);
}

static int cmd_check(const struct ask *a)
{
    return explain(a, true);
}

static int say_error(const struct pd_err *err)
{
    char line[1200];
    fprintf(stderr, "%s\n", pd_describe(err, line, sizeof line));
    return 1;
}

static int cmd_view(const struct ask *a)
{
    struct pd_err err;
    struct kubeconfig *c;
    if (kubeconfig_load(&a->kube, &c, &err) != PD_OK)
        return say_error(&err);
    struct json *j = kubeconfig_view(c, &a->kube, a->minify, a->raw, &err);
    if (j)
        print_json(j, 4);
    json_free(j);
    kubeconfig_free(c);
    return j ? 0 : say_error(&err);
}

/* What is wrong with a context is found by resolving it; NULL: nothing. */
static struct json *context_error(const struct kubeconfig *c, const struct ask *a,
                                  const char *name)
{
    struct kube_options o = a->kube;
    struct kube_context x;
    struct pd_err err;
    struct json *j = NULL;
    o.context = name;
    kube_context_init(&x);
    if (kubeconfig_resolve(c, &o, &x, &err) != PD_OK) {
        j = json_new_object();
        json_put_str(j, "code", pd_id(err.code));
        json_put_str(j, "text", err.msg);
        json_put_str(j, "hint", err.hint);
    }
    kube_context_release(&x);
    return j;
}

static struct json *context_json(const struct kube_entry *e, bool current)
{
    struct json *j = json_new_object();
    json_put_str(j, "name", e->name);
    json_put_bool(j, "current", current);
    json_put_str(j, "cluster", e->cluster);
    json_put_str(j, "user", e->user);
    json_put_str(j, "namespace", e->ns);
    json_put_str(j, "server", e->server);
    json_put_str(j, "file", e->file);
    return j;
}

static int cmd_contexts(const struct ask *a)
{
    struct pd_err err;
    struct kubeconfig *c;
    if (kubeconfig_load(&a->kube, &c, &err) != PD_OK)
        return say_error(&err);
    struct json *list = json_new_array();
    struct str line;
    str_init(&line, 8192);
    for (size_t i = 0; i < kubeconfig_count(c); i++) {
        struct kube_entry e = kubeconfig_entry(c, i);
        bool current = str_eq(e.name, kubeconfig_current(c));
        struct json *j = context_json(&e, current);
        struct json *error = a->json ? context_error(c, a, e.name) : NULL;
        if (error)
            json_set(j, "error", error);
        json_append(list, j);
        char *text = xasprintf("%s %s  %s  %s  %s  %s", current ? "*" : " ", e.name, e.server,
                               e.user, *e.ns ? e.ns : "default", e.file);
        str_clear(&line);
        utf8_clean(text, strlen(text), false, &line);
        if (!a->json)
            puts(line.p);
        free(text);
    }
    if (a->json)
        print_json(list, 0);
    str_release(&line);
    json_free(list);
    kubeconfig_free(c);
    return 0;
}

int kubeconfig_cmd(int argc, char **argv)
{
    static const struct {
        const char *word;
        int (*run)(const struct ask *a);
    } verbs[] = {{"explain", cmd_explain}, {"check", cmd_check}, {"view", cmd_view},
                 {"contexts", cmd_contexts}};
    struct ask a = {.json = false};
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help), stdout);
        return 0;
    }
    if (argc < 2)
        return usage(_("what is to be done?"));
    if (!parse(argc, argv, &a))
        return usage(_("unknown option, or its value is missing"));
    if (a.lang)
        i18n_init(a.lang);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_eq(argv[1], verbs[i].word))
            return verbs[i].run(&a);
    return usage(_("unknown word"));
}
