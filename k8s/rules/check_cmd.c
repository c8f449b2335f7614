/* check_cmd.c - `podium check` (check_cmd.h). */
#include "k8s/rules/check_cmd.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "k8s/rules/check.h"
#include "k8s/rules/files.h"

static const char help[] =
    N_("usage: podium check -f FILE|FOLDER|- [-n NAMESPACE] [--json] [--lang en|zh]\n"
       "\n"
       "Says what is wrong with manifests before they are sent: each fault with file, line and\n"
       "column, the API server's own sentence (Kubernetes 1.34), the reason and the next step.\n"
       "It needs no cluster; what only a cluster knows (quota, rights, what is there already)\n"
       "is told by podium apply --dry-run.\n"
       "--json prints one line a file.\n"
       "\n"
       "Exit codes: 0 no errors, 1 errors, 2 usage, 3 a file can't be read.\n");

struct ask {
    struct strv files;
    const char *ns, *lang;
    bool json;
};

static int usage(const char *why)
{
    fprintf(stderr, "podium check: %s\n%s", why, _(help));
    return 2;
}

static bool parse(int argc, char **argv, struct ask *a, struct strv *named)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        bool valued = str_eq(arg, "-f") || str_eq(arg, "--filename") || str_eq(arg, "-n") ||
                      str_eq(arg, "--namespace") || str_eq(arg, "--lang");
        if (str_eq(arg, "--json")) {
            a->json = true;
            continue;
        }
        if (valued && ++i == argc)
            return false;
        if (arg[0] == '-' && arg[1] == 'f')
            strv_push(named, argv[i]);
        else if (str_eq(arg, "--filename"))
            strv_push(named, argv[i]);
        else if (str_eq(arg, "--lang"))
            a->lang = argv[i];
        else if (valued)
            a->ns = argv[i];
        else if (arg[0] != '-' || !arg[1])
            strv_push(named, arg);                /* podium check job.yaml */
        else
            return false;
    }
    return named->n > 0;
}

static int columns(void)
{
    struct winsize w;
    return isatty(1) && ioctl(1, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 0;
}

/* Returns the number of errors, -1 when it can't be read. */
static int file(const struct ask *a, const char *path)
{
    struct str text, out;
    struct pd_err err;
    struct check_options o = {.ns = a->ns};
    struct check_style style = {columns(), isatty(1) && !getenv("NO_COLOR")};
    str_init(&text, FILES_MAX);
    if (files_read(path, &text, &err) != PD_OK) {
        char say[1200];
        fprintf(stderr, "%s\n", pd_describe(&err, say, sizeof say));
        str_release(&text);
        return -1;
    }
    struct check *c = check_run(path, text.p, text.len, &o);
    int errors = (int)check_errors(c);
    str_init(&out, 8 << 20);
    if (a->json) {
        struct json *j = check_json(c);
        json_print(j, 0, &out);
        str_addc(&out, '\n');
        json_free(j);
    } else {
        check_print(c, text.p, text.len, &style, &out);
    }
    fputs(out.p, stdout);
    str_release(&out);
    str_release(&text);
    check_free(c);
    return errors;
}

static int all(struct ask *a, const struct strv *named)
{
    struct pd_err err;
    int errors = 0, unread = 0;
    for (size_t i = 0; i < named->n; i++)
        if (files_expand(named->v[i], &a->files, &err) != PD_OK) {
            char say[1200];
            fprintf(stderr, "%s\n", pd_describe(&err, say, sizeof say));
            unread++;
        }
    for (size_t i = 0; i < a->files.n; i++) {
        int n = file(a, a->files.v[i]);
        errors += n > 0;
        unread += n < 0;
    }
    return unread ? 3 : errors ? 1 : 0;
}

int check_cmd(int argc, char **argv)
{
    struct ask a = {0};
    struct strv named;
    int code;
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        fputs(_(help), stdout);
        return 0;
    }
    strv_init(&named);
    strv_init(&a.files);
    if (!parse(argc, argv, &a, &named))
        code = usage(_("-f FILE is needed"));
    else if (a.lang && !i18n_set(a.lang))
        code = usage(_("--lang: en or zh"));
    else
        code = all(&a, &named);
    strv_release(&named);
    strv_release(&a.files);
    return code;
}
