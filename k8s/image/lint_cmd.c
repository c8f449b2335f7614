/* lint_cmd.c - see lint_cmd.h. */
#include "k8s/image/lint_cmd.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { FILE_MOST = 2 << 20 };

static void emit_json(struct json *j)
{
    char *text = json_text(j, 0);
    puts(text);
    fflush(stdout);
    free(text);
    json_free(j);
}

static void print_finding(const struct lint_finding *f)
{
    static const char *const names[] = {N_("error"), N_("warning"), N_("note")};
    printf("%s:%d:%d: %s %s%s%s%s\n", f->file, f->line, f->col, _(names[f->level]), f->rule,
           *f->buildkit ? " (" : "", f->buildkit, *f->buildkit ? ")" : "");
    printf("  %s\n  %s\n", f->cause, f->evidence);
    if (*f->next)
        printf(_("  next: %s\n"), f->next);
}

static void print_all(const struct lint *l, bool json, size_t least)
{
    size_t e = lint_count(l, LINT_ERROR), w = lint_count(l, LINT_WARNING),
           n = lint_count(l, LINT_NOTE);
    for (size_t i = 0; i < l->n; i++) {
        if ((size_t)l->v[i].level > least)
            continue;
        if (json)
            emit_json(lint_json(&l->v[i]));
        else
            print_finding(&l->v[i]);
    }
    if (least < LINT_NOTE)
        return;
    if (json) {
        struct json *j = json_new_object();
        json_put_str(j, "ev", "linted");
        json_put_num(j, "errors", (double)e);
        json_put_num(j, "warnings", (double)w);
        json_put_num(j, "notes", (double)n);
        emit_json(j);
    } else if (l->n) {
        printf(_("%zu errors, %zu warnings, %zu notes\n"), e, w, n);
    } else {
        puts(_("nothing found"));
    }
}

/* A small file into s; false: it is not there. */
static bool read_if_there(const char *path, struct str *s)
{
    struct pd_err ignored;
    str_init(s, FILE_MOST);
    return path && access(path, R_OK) == 0 && path_read(path, FILE_MOST, s, &ignored) == PD_OK;
}

/* What was asked for: the Dockerfile and the folder beside or around it. */
struct where {
    char *file, *context;
};

static void find_where(const struct lint_options *o, struct where *out)
{
    struct stat st;
    bool folder = stat(o->context, &st) != 0 || S_ISDIR(st.st_mode);
    if (o->file) {
        out->file = xstrdup(o->file);
        out->context = xstrdup(o->context);
    } else if (folder) {
        out->file = path_join(o->context, "Dockerfile");
        out->context = xstrdup(o->context);
        if (access(out->file, F_OK) != 0) {
            char *other = path_join(o->context, "Containerfile");
            if (access(other, F_OK) == 0) {
                free(out->file);
                out->file = xstrdup(other);
            }
            free(other);
        }
    } else {
        out->file = xstrdup(o->context);
        out->context = path_dir(o->context);
    }
}

static bool read_subuid(const struct lint_options *o, const char *context, struct str *s)
{
    char *beside = context ? path_join(context, "subuid") : NULL;
    char *group = context ? path_join(context, "subgid") : NULL;
    bool got = read_if_there(o->subuid ? o->subuid : beside, s);
    if (!got && !o->subuid) {
        str_release(s);
        got = read_if_there(group, s);
    }
    if (!got && !o->subuid) {
        str_release(s);
        got = read_if_there("/etc/subuid", s);
    }
    free(beside);
    free(group);
    return got;
}

enum pd_code lint_cmd(const struct lint_options *o, size_t *errors, struct pd_err *err)
{
    struct where at;
    struct str text, error, subuid;
    struct lint l = {0};
    find_where(o, &at);
    str_init(&text, FILE_MOST);
    enum pd_code rc = path_read(at.file, FILE_MOST, &text, err);
    if (rc != PD_OK)
        pd_set_hint(err, _("name the Dockerfile with -f"));
    char *beside = path_join(at.context, "error.txt");
    const char *error_name = o->error ? o->error : beside;
    bool has_error = read_if_there(error_name, &error);
    bool has_subuid = read_subuid(o, at.context, &subuid);
    struct lint_input in = {.name = at.file, .text = text.p, .len = text.len,
                            .context = at.context, .target = o->target,
                            .error_name = error_name, .error = has_error ? error.p : NULL,
                            .subuid = has_subuid ? subuid.p : NULL};
    if (rc == PD_OK && o->error && !has_error)
        rc = pd_fail(err, PD_IO, _("can't read %s"), o->error);
    if (rc == PD_OK) {
        lint_run(&in, &l);
        print_all(&l, o->json, LINT_NOTE);
        *errors = lint_count(&l, LINT_ERROR);
        lint_release(&l);
    }
    str_release(&text);
    str_release(&error);
    str_release(&subuid);
    free(beside);
    free(at.file);
    free(at.context);
    return rc;
}

static enum pd_code read_stream(FILE *f, struct str *out, struct pd_err *err)
{
    char block[8192];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        if (!str_append(out, block, n))
            return pd_fail(err, PD_LIMIT, _("the text is larger than 2 MiB"));
    return PD_OK;
}

enum pd_code lint_cmd_explain(const char *file, const struct lint_options *o, struct pd_err *err)
{
    struct str text, subuid;
    struct lint l = {0};
    bool in = str_eq(file, "-");
    char *dir = in ? NULL : path_dir(file);
    str_init(&text, FILE_MOST);
    enum pd_code rc = in ? read_stream(stdin, &text, err) : path_read(file, FILE_MOST, &text, err);
    bool has_subuid = read_subuid(o, dir, &subuid);
    if (rc == PD_OK) {
        lint_explain(in ? "stdin" : file, text.p, has_subuid ? subuid.p : NULL, &l);
        print_all(&l, o->json, LINT_NOTE);
        lint_release(&l);
    }
    free(dir);
    str_release(&text);
    str_release(&subuid);
    return rc;
}

void lint_cmd_at_build(const char *context, const char *file, const char *target, bool json)
{
    struct lint_options o = {.context = context, .file = file, .target = target};
    struct where at;
    struct str text;
    struct lint l = {0};
    find_where(&o, &at);
    if (read_if_there(at.file, &text)) {
        struct lint_input in = {.name = at.file, .text = text.p, .len = text.len,
                                .context = at.context, .target = target};
        lint_run(&in, &l);
        print_all(&l, json, LINT_WARNING);
        lint_release(&l);
    }
    str_release(&text);
    free(at.file);
    free(at.context);
}
