/* stream_cmd.c - options and connection of the stream commands (stream_cmd.h). */
#include "k8s/stream_cmd.h"

#include <signal.h>

#include "core/base/i18n.h"

enum { COMMON = 5 };

int stream_cmd_usage(const struct stream_cmd *c, const char *why)
{
    fprintf(stderr, "%s: %s\n%s", c->name, why, _(c->help));
    return 2;
}

int stream_cmd_fail(const struct stream_cmd *c, const struct pd_err *err, int code)
{
    char text[1200];
    fprintf(stderr, "%s: %s\n", c->name, pd_describe(err, text, sizeof text));
    return code;
}

/* "-n x", "--namespace x", "--namespace=x": words used, 0: another option, -1: wrong. */
static int take(const struct stream_option *o, int argc, char **argv, int i)
{
    const char *arg = argv[i], *full = *o->other ? o->other : o->name;
    size_t n = strlen(full);
    bool with = str_starts(arg, full) && arg[n] == '=';
    if (!with && !(*o->name && str_eq(arg, o->name)) && !str_eq(arg, full))
        return 0;
    if (o->flag) {
        *o->flag = true;
        return with ? -1 : 1;
    }
    if (!with && i + 1 >= argc)
        return -1;
    *o->value = with ? arg + n + 1 : argv[i + 1];
    return with ? 1 : 2;
}

static int take_any(const struct stream_option *o, size_t n, int argc, char **argv, int i)
{
    int used = 0;
    for (size_t k = 0; k < n && !used; k++)
        used = take(&o[k], argc, argv, i);
    return used;
}

bool stream_cmd_parse(struct stream_cmd *c, int argc, char **argv, const struct stream_option *own,
                      size_t n, int *code)
{
    const struct stream_option common[COMMON] = {{"-n", "--namespace", &c->kube.ns, NULL},
                                                 {"--context", "", &c->kube.context, NULL},
                                                 {"--kubeconfig", "", &c->kube.kubeconfig, NULL},
                                                 {"--as", "", &c->kube.as, NULL},
                                                 {"--lang", "", &c->lang, NULL}};
    strv_init(&c->words);
    for (int i = 1; i < argc;) {
        if (str_eq(argv[i], "--")) {
            c->rest = argv + i + 1;
            break;
        }
        if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
            fputs(_(c->help), stdout);
            *code = 0;
            return false;
        }
        int used = take_any(common, COMMON, argc, argv, i);
        used = used ? used : take_any(own, n, argc, argv, i);
        if (used < 0 || (used == 0 && argv[i][0] == '-' && argv[i][1])) {
            char why[200];
            *code = stream_cmd_usage(c, str_fmt(why, sizeof why, used < 0
                                                ? _("%.80s: its value is missing, or it takes none")
                                                : _("%.80s: no such option"), argv[i]));
            return false;
        }
        if (used == 0)
            strv_push(&c->words, argv[i++]);
        i += used;
    }
    if (c->lang && !i18n_set(c->lang)) {
        *code = stream_cmd_usage(c, _("--lang: en or zh"));
        return false;
    }
    return true;
}

bool stream_cmd_connect(struct stream_cmd *c)
{
    struct kube_context ctx;
    kube_context_init(&ctx);
    bool ok = kubeconfig_open(&c->kube, &ctx, &c->err) == PD_OK;
    if (ok) {
        c->loop = loop_new();
        c->k = k8s_open(c->loop, &ctx, 1, NULL);
    }
    kube_context_release(&ctx);
    return ok;
}

static void on_pod(void *arg, int status UNUSED, const struct json *pod,
                   const struct pd_err *err)
{
    struct stream_cmd *c = arg;
    const struct json *all = json_at(pod, "spec.containers");
    const struct json *notes = json_at(pod, "metadata.annotations");
    const char *named = json_string_value(json_get(notes,
                                                   "kubectl.kubernetes.io/default-container"));
    c->container[0] = '\0';
    if (!err && json_count(all) > 0)
        str_copy(c->container, sizeof c->container, named ? named : json_str(json_first(all),
                                                                              "name", ""));
    if (!err && json_count(all) > 1 && !named)
        fprintf(stderr, _("%s: container %s, the first of %zu (-c names another)\n"), c->name,
                c->container, json_count(all));
    loop_stop(c->loop, 0);
}

const char *stream_cmd_container(struct stream_cmd *c, const char *ns, const char *pod)
{
    k8s_get(c->k, "pods", ns, pod, on_pod, c);
    loop_run(c->loop);
    return c->container[0] ? c->container : NULL;
}

void stream_cmd_release(struct stream_cmd *c)
{
    k8s_close(c->k);
    loop_free(c->loop);
    strv_release(&c->words);
}

static void on_signal(void *arg, int signo)
{
    loop_stop(((struct stream_cmd *)arg)->loop, 128 + signo);
}

void stream_cmd_signals(struct stream_cmd *c)
{
    static const int all[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        loop_signal(c->loop, all[i], on_signal, c);
}
