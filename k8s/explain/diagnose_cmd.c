/* diagnose_cmd.c - `podium diagnose` (diagnose_cmd.h). */
#include "k8s/explain/diagnose_cmd.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "k8s/explain/collect.h"
#include "k8s/explain/explain.h"

static const char help[] =
    N_("usage: podium diagnose pod/NAME|job/NAME [-n NAMESPACE] [--context NAME]\n"
       "                       [--kubeconfig FILE] [--json] [--lang en|zh]\n"
       "       podium diagnose -f FOLDER [--json]\n"
       "\n"
       "Says why a Pod or a Job is not doing well: the cause, the fields that prove it, the\n"
       "next step. FOLDER holds pod.json or job.json as kubectl prints it, and beside it what\n"
       "else is known: events.json, nodes.json, pods.json, pvc.json, log.txt ...\n"
       "--json prints one line.\n"
       "\n"
       "Exit codes: 0 nothing is wrong, 1 a cause was found, 2 usage, 3 it can't be told.\n");

struct ask {
    struct kube_options kube;
    const char *folder, *object, *lang;
    bool json;
};

static int usage(const char *why)
{
    fprintf(stderr, "podium diagnose: %s\n%s", why, _(help));
    return 2;
}

static bool parse(int argc, char **argv, struct ask *a)
{
    const struct {
        const char *name, *other;
        const char **value;
    } options[] = {{"-n", "--namespace", &a->kube.ns},
                   {"--context", "", &a->kube.context},
                   {"--kubeconfig", "", &a->kube.kubeconfig},
                   {"-f", "--filename", &a->folder},
                   {"--lang", "", &a->lang}};
    for (int i = 1; i < argc; i++) {
        bool taken = str_eq(argv[i], "--json");
        a->json |= taken;
        for (size_t k = 0; k < ARRAY_LEN(options) && !taken; k++)
            if (str_eq(argv[i], options[k].name) || str_eq(argv[i], options[k].other)) {
                if (++i == argc)
                    return false;
                *options[k].value = argv[i];
                taken = true;
            }
        if (taken)
            continue;
        if (argv[i][0] == '-' || a->object)
            return false;
        a->object = argv[i];
    }
    return (a->folder != NULL) != (a->object != NULL);
}

/* "pod/x", "pods/x", "job/x", "jobs.batch/x"; a bare name is a pod. */
static const char *kind_of(const char *object, const char **name)
{
    const char *slash = strchr(object, '/');
    *name = slash ? slash + 1 : object;
    if (!slash || str_starts(object, "pod") || str_starts(object, "po/"))
        return "pod";
    return str_starts(object, "job") ? "job" : NULL;
}

static enum pd_code live(const struct ask *a, const char *kind, const char *name,
                         struct snapshot *s, struct pd_err *err)
{
    struct kube_context ctx;
    kube_context_init(&ctx);
    enum pd_code rc = kubeconfig_open(&a->kube, &ctx, err);
    if (!rc)
        rc = collect(&ctx, kind, name, s, err);
    kube_context_release(&ctx);
    return rc;
}

static int columns(void)
{
    struct winsize w;
    return isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 0;
}

static int say(const struct ask *a, const struct explanation *e)
{
    struct str out;
    str_init(&out, 1 << 20);
    if (a->json) {
        struct json *o = explanation_json(e);
        json_print(o, 0, &out);
        str_addc(&out, '\n');
        json_free(o);
    } else {
        explanation_print(e, columns(), &out);
    }
    fputs(out.p, stdout);
    str_release(&out);
    return explanation_wrong(e) ? 1 : str_eq(e->v[0].cause, "none") ? 0 : 3;
}

int diagnose_cmd(int argc, char **argv)
{
    struct ask a = {0};
    struct snapshot s;
    struct pd_err err;
    char text[1200];
    const char *name = NULL, *kind = NULL;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help), stdout);
        return 0;
    }
    if (!parse(argc, argv, &a))
        return usage(_("one of pod/NAME, job/NAME or -f FOLDER is needed"));
    if (a.lang && !i18n_set(a.lang))
        return usage(_("--lang: en or zh"));
    if (a.object && !(kind = kind_of(a.object, &name)))
        return usage(_("only pods and Jobs can be explained"));
    snapshot_init(&s);
    enum pd_code rc =
        a.folder ? snapshot_read_dir(&s, a.folder, &err) : live(&a, kind, name, &s, &err);
    int code = 3;
    if (rc)
        fprintf(stderr, "%s\n", pd_describe(&err, text, sizeof text));
    if (!rc) {
        struct explanation *e = explain(&s);
        code = say(&a, e);
        explanation_free(e);
    }
    snapshot_release(&s);
    return code;
}
