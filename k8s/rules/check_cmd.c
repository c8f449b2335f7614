/* check_cmd.c - `podium check` (check_cmd.h). */
#include "k8s/rules/check_cmd.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/rules/check.h"
#include "k8s/rules/files.h"

static const char help[] =
    N_("usage: podium check -f FILE|FOLDER|- [-n NAMESPACE] [--before FILE] [--answer FILE]\n"
       "                    [--json] [--lang en|zh]\n"
       "\n"
       "Says what is wrong with manifests before they are sent: each fault with file, line and\n"
       "column, the API server's own sentence (Kubernetes 1.34), the reason and the next step.\n"
       "It needs no cluster; what only a cluster knows (quota, rights, what is there already)\n"
       "is told by podium apply --dry-run.\n"
       "--before: the manifest as it was applied, so that changes of what can't be changed are\n"
       "found. --answer: what a server said (a Status as JSON, or kubectl's words), at its lines.\n"
       "--json prints one line a file.\n"
       "\n"
       "Exit codes: 0 no errors, 1 errors, 2 usage, 3 a file can't be read.\n");

struct ask {
    struct strv files, kept;
    const char *ns, *lang, *before, *answer;
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
        static const char *const options[] = {"-f", "--filename", "-n", "--namespace", "--lang",
                                              "--before", "--answer"};
        bool valued = false;
        for (size_t k = 0; k < ARRAY_LEN(options); k++)
            valued = valued || str_eq(arg, options[k]);
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
        else if (str_eq(arg, "--before"))
            a->before = argv[i];
        else if (str_eq(arg, "--answer"))
            a->answer = argv[i];
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
    struct manifest *before = NULL;
    struct str answer;
    struct check_options o = {.ns = a->ns};
    struct check_style style = {columns(), isatty(1) && !getenv("NO_COLOR")};
    str_init(&text, FILES_MAX);
    str_init(&answer, FILES_MAX);
    if (files_read(path, &text, &err) != PD_OK ||
        (a->before && manifest_read(a->before, NULL, NULL, &before, &err) != PD_OK) ||
        (a->answer && files_read(a->answer, &answer, &err) != PD_OK)) {
        char say[1200];
        fprintf(stderr, "%s\n", pd_describe(&err, say, sizeof say));
        manifest_free(before);
        str_release(&answer);
        str_release(&text);
        return -1;
    }
    o.before = before;
    o.answer = answer.len ? answer.p : NULL;
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
    str_release(&answer);
    manifest_free(before);
    check_free(c);
    return errors;
}

/* A folder of before.yaml, after.yaml and what the server said of it: one change. */
static void change_of(struct ask *a, const char *dir)
{
    static const char *const answers[] = {"answer.json", "status.json", "answer.yaml",
                                          "answer.txt", "error.txt"};
    char *before = path_join(dir, "before.yaml"), *after = path_join(dir, "after.yaml");
    if (access(before, R_OK) == 0 && access(after, R_OK) == 0) {
        strv_release(&a->files);
        strv_init(&a->files);
        strv_push(&a->files, after);
        strv_push(&a->kept, before);
        a->before = a->kept.v[0];
        for (size_t i = 0; i < ARRAY_LEN(answers) && !a->answer; i++) {
            char *path = path_join(dir, answers[i]);
            if (access(path, R_OK) == 0) {
                strv_push(&a->kept, path);
                a->answer = a->kept.v[a->kept.n - 1];
                a->before = a->kept.v[0];
            }
            free(path);
        }
    }
    free(before);
    free(after);
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
    if (named->n == 1)
        change_of(a, named->v[0]);
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
    strv_init(&a.kept);
    if (!parse(argc, argv, &a, &named))
        code = usage(_("-f FILE is needed"));
    else if (a.lang && !i18n_set(a.lang))
        code = usage(_("--lang: en or zh"));
    else
        code = all(&a, &named);
    strv_release(&named);
    strv_release(&a.files);
    strv_release(&a.kept);
    return code;
}
