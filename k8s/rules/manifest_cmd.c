/* manifest_cmd.c - options, files and answers of the commands about manifests
 * (manifest_cmd_in.h). */
#include "core/base/base.h"

#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/client_io.h"
#include "k8s/rules/check.h"
#include "k8s/rules/files.h"
#include "k8s/rules/manifest_cmd_in.h"

/* --- options --- */

static bool switch_of(struct manifest_cmd *m, const char *arg)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--json", &m->json},           {"--dry-run", &m->dry_run},
                 {"--dry-run=server", &m->dry_run}, {"--force-conflicts", &m->force},
                 {"--no-check", &m->no_check},   {"--no-wait", &m->no_wait},
                 {"--wait=false", &m->no_wait},  {"--ignore-not-found", &m->ignore_absent}};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (str_eq(arg, flags[i].name)) {
            *flags[i].flag = true;
            return true;
        }
    return false;
}

/* Where the value of an option goes; NULL: there is no such option. */
static const char **value_of(struct manifest_cmd *m, const char *arg, size_t n)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"-n", &m->kube.ns},           {"--namespace", &m->kube.ns},
                   {"--context", &m->kube.context}, {"--kubeconfig", &m->kube.kubeconfig},
                   {"--lang", &m->lang},          {"--cascade", &m->cascade},
                   {"--uid", &m->uid},            {"--grace", &m->grace_text},
                   {"--grace-period", &m->grace_text}, {"--timeout", &m->timeout_text},
                   {"-f", &m->last_file},         {"--filename", &m->last_file}};
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strlen(options[i].name) == n && !strncmp(options[i].name, arg, n))
            return options[i].value;
    return NULL;
}

static bool number(const char *text, int least, int *out)
{
    int64_t v;
    if (!text)
        return true;
    if (!str_to_i64(text, &v) || v < least || v > 86400)
        return false;
    *out = (int)v;
    return true;
}

/* NULL, or why the line is wrong. */
static const char *parse(struct manifest_cmd *m, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *eq = strchr(arg, '=');
        if (str_starts(arg, "--all"))
            return _("--all is not known here: name what is to go, by file or KIND/NAME");
        if (switch_of(m, arg))
            continue;
        if (arg[0] != '-' || !arg[1]) {
            strv_push(&m->named, arg);
            continue;
        }
        const char **value = value_of(m, arg, eq ? (size_t)(eq - arg) : strlen(arg));
        if (!value || (!eq && i + 1 == argc))
            return value ? _("the value of an option is missing") : _("unknown option");
        *value = eq ? eq + 1 : argv[++i];
        if (value == &m->last_file)
            strv_push(&m->named, m->last_file);
    }
    if (!number(m->grace_text, 0, &m->grace) || !number(m->timeout_text, 1, &m->timeout_s))
        return _("a number of seconds is wanted");
    return NULL;
}

bool manifest_cmd_parse(struct manifest_cmd *m, int argc, char **argv, const char *help)
{
    *m = (struct manifest_cmd){.grace = -1, .timeout_s = 120, .cascade = "background"};
    strv_init(&m->named);
    strv_init(&m->files);
    const char *why = parse(m, argc, argv);
    if (!why && m->named.n == 0)
        why = _("-f FILE is needed");
    if (!why && m->lang && !i18n_set(m->lang))
        why = _("--lang: en or zh");
    m->colour = isatty(1) && !getenv("NO_COLOR");
    if (why)
        fprintf(stderr, "podium %s: %s\n%s", argv[0], why, _(help));
    return !why;
}

int manifest_cmd_open(struct manifest_cmd *m)
{
    struct pd_err err;
    for (size_t i = 0; i < m->named.n; i++)
        if (files_expand(m->named.v[i], &m->files, &err) != PD_OK) {
            manifest_cmd_error(m, &err);
            return MANIFEST_CMD_NONE;
        }
    if (send_open(&m->send, &m->kube, &err) == PD_OK)
        return MANIFEST_CMD_OK;
    manifest_cmd_error(m, &err);
    return MANIFEST_CMD_NONE;
}

void manifest_cmd_release(struct manifest_cmd *m)
{
    send_close(&m->send);
    strv_release(&m->named);
    strv_release(&m->files);
}

/* --- objects --- */

static int worse(int a, int b)
{
    return a > b ? a : b;
}

static int of_file(struct manifest_cmd *m, const char *path, manifest_cmd_fn *fn, bool backwards)
{
    struct str text;
    struct manifest *file = NULL;
    struct pd_err err;
    int code = MANIFEST_CMD_OK;
    str_init(&text, FILES_MAX);
    if (files_read(path, &text, &err) != PD_OK ||
        manifest_parse(path, text.p, text.len, NULL, NULL, &file, &err) != PD_OK) {
        manifest_cmd_error(m, &err);
        code = MANIFEST_CMD_NONE;
    }
    for (size_t i = 0; file && i < file->n; i++)
        code = worse(code, fn(m, file, &file->docs[backwards ? file->n - 1 - i : i]));
    manifest_free(file);
    str_release(&text);
    return code;
}

int manifest_cmd_each(struct manifest_cmd *m, manifest_cmd_fn *fn, bool backwards)
{
    int code = MANIFEST_CMD_OK;
    for (size_t i = 0; i < m->files.n; i++)
        code = worse(code, of_file(m, m->files.v[backwards ? m->files.n - 1 - i : i], fn,
                                   backwards));
    return code;
}

/* --- answers --- */

static void print_json(struct json *o)
{
    char *text = json_text(o, 0);
    puts(text);
    free(text);
    json_free(o);
}

void manifest_cmd_say(const struct manifest_cmd *m, const struct json *object, const char *action,
                      struct json *more)
{
    char name[400], clean[400];
    if (m->json) {
        struct json *o = more ? more : json_new_object();
        json_put_str(o, "action", action);
        json_put_str(o, "kind", json_str(object, "kind", NULL));
        json_put_str(o, "name", json_str(object, "metadata.name", NULL));
        json_put_str(o, "namespace", json_str(object, "metadata.namespace", NULL));
        json_put_str(o, "uid", json_str(object, "metadata.uid", NULL));
        print_json(o);
        return;
    }
    json_free(more);
    send_name(object, name);
    k8s_clean(clean, sizeof clean, name, strlen(name));
    printf("%s %s%s\n", clean, _(action), m->dry_run ? _(" (dry run, nothing was changed)") : "");
}

void manifest_cmd_error(const struct manifest_cmd *m, const struct pd_err *err)
{
    char text[1200];
    if (m->json) {
        struct json *o = json_new_object();
        json_put_str(o, "error", pd_id(err->code));
        json_put_str(o, "message", err->msg);
        json_put_str(o, "next", err->hint);
        json_put_str(o, "file", err->src);
        json_put_num(o, "line", err->line);
        json_put_num(o, "column", err->col);
        print_json(o);
        return;
    }
    fprintf(stderr, "%s\n", pd_describe(err, text, sizeof text));
}

void manifest_cmd_refused(const struct manifest_cmd *m, const struct manifest *file,
                          const struct manifest_doc *d)
{
    enum { CAUSES = 32 };
    struct manifest_cause cause[CAUSES];
    struct pd_err err;
    size_t n = 0;
    if (!m->send.status || json_type(m->send.object) != JSON_OBJECT) {
        manifest_cmd_error(m, &m->send.err);
        return;
    }
    check_refusal(file, d, m->send.status, m->send.object, &err);
    n = check_causes(d, m->send.object, cause, CAUSES);
    if (n < 2)
        manifest_cmd_error(m, &err);
    for (size_t i = 0; i < n && n >= 2; i++) {
        bool named = strstr(cause[i].msg, cause[i].path) != NULL;
        str_fmt(err.msg, sizeof err.msg, "%.200s%s%.300s", named ? "" : cause[i].path,
                named ? "" : ": ", cause[i].msg);
        err.line = cause[i].line;
        err.col = cause[i].col;
        manifest_cmd_error(m, &err);
    }
}
