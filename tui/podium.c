/* podium.c - the program: options, subcommands, and nothing else. A word that
 * is no command of its own runs podium-WORD beside the program, as git does. */
#include "core/base/i18n.h"

#include <errno.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/base/str.h"
#include "k8s/explain/diagnose_cmd.h"
#include "k8s/image/image_cmd.h"
#include "k8s/kubeconfig_cmd.h"
#include "k8s/rules/check_cmd.h"
#include "k8s/logs_cmd.h"
#include "k8s/rules/manifest_cmd.h"
#include "k8s/stream_cmd.h"
#include "labs/lab_cmd.h"
#include "labs/model.h"
#include "tui/keys_cmd.h"
#include "tui/console.h"
#include "tui/plain.h"
#include "tui/replay.h"
#include "tui/theme.h"
#include "tui/settings.h"
#include "tui/status.h"

static const char usage[] =
    N_("usage: podium [OPTIONS]              open the console\n"
       "       podium status [LAB]            cluster, lab, run and loss in lines, once\n"
       "       podium lab ...                 labs without a screen: list, lint, run, reset\n"
       "       podium diagnose pod/X|job/X    why it is not doing well\n"
       "       podium exec POD -- COMMAND     run a command in a container\n"
       "       podium cp POD:PATH PATH        between a container and this machine, or back\n"
       "       podium port-forward POD PORT   lead a port of this machine into a pod\n"
       "       podium check|apply|diff|delete -f FILE   manifests: faults, send, compare\n"
       "       podium logs POD|job/X          the log as plain lines, with kubectl's options\n"
       "       podium image ...               build, push and inspect images\n"
       "       podium kubeconfig explain|check  why can't I connect\n"
       "       podium replay FILE             play a recorded session\n"
       "       podium keys [lint FILE]        all commands and keys; check a key map\n"
       "       podium theme list|lint         themes, and whether everybody can read one\n"
       "       podium model ...               pretrained models: list, get, import\n"
       "       podium practice ...            the practice cluster: start, stop, kubeconfig\n"
       "\n"
       "  --lab ID           open this lab at once\n"
       "  --lang en|zh       language (the key L switches)\n"
       "  --theme NAME       podium theme list, or a file (the key T switches)\n"
       "  --glyphs SET       unicode, cjk-safe, ascii\n"
       "  --ambiguous WIDTH  narrow, wide, or probe: ask the terminal\n"
       "  --detect-background   ask the terminal whether it is light or dark\n"
       "  --stats            say at the end what the screen cost\n"
       "  --plain            lines only, for screen readers, dumb terminals and pipes\n"
       "  --big, --motion reduced, ...   every setting has an option of its name\n"
       "  --kubeconfig FILE  default: $KUBECONFIG, ~/.kube/config, else the practice cluster\n"
       "  --context NAME     of the kubeconfig\n"
       "  --namespace NAME   instead of the context's\n"
       "  --labs DIR         labs from this folder\n"
       "  --record FILE      write a journal for podium replay\n"
       "  --version, --help\n"
       "\n"
       "Exit codes: 0 done, 1 failed, 2 usage, 3 can't be shown here; of status:\n"
       "0 all is well, 1 a check is WRONG or the run failed, 3 no cluster.\n");

/* A setting's name stands in its definition. */
struct option {
    const char *name;
    const char **value;
    const struct setting_def *setting;
    bool *flag;                  /* instead of a value */
};

static int usage_error(const char *what)
{
    fprintf(stderr, _("podium: %s\nTry: podium --help\n"), what);
    return 2;
}

/* podium-WORD beside the program, then on PATH. */
static int other_program(char **argv)
{
    char *dir = path_program_dir(), name[160];
    str_fmt(name, sizeof name, "podium-%s", argv[0]);
    char *beside = dir && !strchr(argv[0], '/') ? path_join(dir, name) : NULL;
    if (beside && access(beside, X_OK) == 0)
        execv(beside, argv);
    else if (beside)
        execvp(name, argv);
    free(beside);
    free(dir);
    char what[240];
    return usage_error(str_fmt(what, sizeof what, _("'%s' is no command"), argv[0]));
}

static int run_command(int argc, char **argv, const struct console_options *o)
{
    static const struct { const char *word; int (*run)(int argc, char **argv); } commands[] = {
        {"lab", lab_cmd},
        {"check", check_cmd},
        {"apply", manifest_cmd_apply},
        {"diff", manifest_cmd_diff},
        {"delete", manifest_cmd_delete},
        {"diagnose", diagnose_cmd},
        {"exec", exec_cmd},
        {"cp", copy_cmd},
        {"port-forward", portforward_cmd},
        {"image", image_main},
        {"logs", logs_cmd},
        {"model", model_cmd},
        {"kubeconfig", kubeconfig_cmd},
        {"keys", keys_cmd},
        {"replay", replay_main},
        {"theme", theme_cmd}};
    if (str_eq(argv[0], "status"))
        return status_main(argc, argv, o);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        if (str_eq(commands[i].word, argv[0]))
            return commands[i].run(argc, argv);
    return other_program(argv);
}

/* What stands behind the option's name: "" or "=value"; NULL: another option. */
static const char *matching(const char *arg, const struct option *o)
{
    const char *name = o->setting ? o->setting->name : o->name + 2;
    size_t n = strlen(name);
    if (!str_starts(arg, "--") || !str_starts(arg + 2, name))
        return NULL;
    arg += 2 + n;
    return *arg == '=' || *arg == '\0' ? arg : NULL;
}

/* --big alone is --big=on. */
static bool is_switch(const struct option *o)
{
    return o->setting && str_eq(o->setting->choice(0), "off") &&
           str_eq(o->setting->choice(1), "on");
}

static int bad_setting(enum setting i, const char *value)
{
    char choices[200], what[320];
    str_fmt(what, sizeof what, _("--%s can't be '%.40s'; it is one of: %s"),
            settings_at((size_t)i)->name, value, settings_choices(i, choices, sizeof choices));
    return usage_error(what);
}

/* Options before the first word; returns its index, -1 on an error. */
static int parse(int argc, char **argv, const struct option *options, size_t n)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        bool known = false;
        for (size_t k = 0; k < n && !known; k++) {
            const char *rest = matching(argv[i], &options[k]);
            if (!rest)
                continue;
            known = true;
            if (options[k].flag && *rest)
                return -1;
            if (options[k].flag) {
                *options[k].flag = true;
                continue;
            }
            if (*rest == '\0' && is_switch(&options[k])) {
                *options[k].value = "on";
                continue;
            }
            if (*rest == '\0' && i + 1 >= argc)
                return -1;
            *options[k].value = *rest ? rest + 1 : argv[++i];
        }
        if (!known)
            return -1;
    }
    return i;
}

/* A command whose words did not arrive has failed. */
static int said(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, _("podium: can't write what was asked for: %s\n"), strerror(errno));
    return code ? code : 1;
}

/* --ambiguous=probe is a way to find the setting out, not one of its values. */
static void take_probe(struct console_options *o)
{
    const char *value = o->set[SET_AMBIGUOUS];
    o->probe_width = value && str_eq(value, "probe");
    if (o->probe_width)
        o->set[SET_AMBIGUOUS] = NULL;
}

int main(int argc, char **argv)
{
    struct console_options o = {0};
    struct option options[SET_COUNT + 8] = {
        {"--lab", &o.open, NULL, NULL}, {"--labs", &o.labs, NULL, NULL},
        {"--record", &o.record, NULL, NULL},
        {"--kubeconfig", &o.kubeconfig, NULL, NULL}, {"--context", &o.context, NULL, NULL},
        {"--namespace", &o.ns, NULL, NULL}};
    for (int i = 0; i < SET_COUNT; i++)
        options[6 + i] = (struct option){NULL, &o.set[i], settings_at((size_t)i), NULL};
    if (argc > 1 && str_eq(argv[1], "--version")) {
        puts("podium " PODIUM_VERSION);
        return 0;
    }
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        i18n_init(NULL);
        fputs(_(usage), stdout);
        return 0;
    }
    options[SET_COUNT + 6] = (struct option){"--stats", NULL, NULL, &o.stats};
    options[SET_COUNT + 7] = (struct option){"--detect-background", NULL, NULL,
                                             &o.detect_background};
    int at = parse(argc, argv, options, ARRAY_LEN(options));
    i18n_init(o.set[SET_LANG]);
    take_probe(&o);
    if (at < 0)
        return usage_error(_("unknown option, or its value is missing"));
    for (int i = 0; i < SET_COUNT; i++)
        if (o.set[i] && !settings_ok((enum setting)i, o.set[i]))
            return bad_setting((enum setting)i, o.set[i]);
    if (at < argc)
        return said(run_command(argc - at, argv + at, &o));
    const char *why = plain_wanted(&o);
    return said(why ? plain_run(&o, why) : console_run(&o));
}
