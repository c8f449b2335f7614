/* lint_starts.c - ENTRYPOINT and CMD: the form, what they start, and whether it
 * is there. */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/lint_priv.h"

static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "bash", "/bin/sh", "/bin/bash", "/bin/ash", "zsh",
                                         "dash", "/usr/bin/bash", "/usr/bin/env"};
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (str_eq(program, shells[i]))
            return true;
    return false;
}

static const char *shown(const struct df_instr *in)
{
    return dockerfile_op_name(in->op);
}

/* ['python', 'x'] reads like JSON to people only. */
static bool single_quotes(const struct df_instr *in)
{
    return !in->json && in->rest[0] == '[';
}

static void shell_form(struct lint_work *w, const struct df_instr *in)
{
    struct lint_finding *f;
    if (single_quotes(in)) {
        f = lint_add(w, "json-form-broken", LINT_ERROR, (struct place){in->rest_line, in->rest_col},
                     _("%s begins with [ but is no JSON array: a shell gets it as text (\"[…: not "
                       "found\")"), shown(in));
        lint_next(f, "%s", _("write [\"program\", \"argument\"]: double quotes, commas between, no "
                             "comma at the end"));
        return;
    }
    if (!in->rest[0] || str_starts(in->rest, "exec "))
        return;
    f = lint_add(w, "json-args-recommended", LINT_WARNING, lint_at(in),
                 _("%s in shell form: /bin/sh is process 1 and passes no signals on, so a pod that "
                   "is deleted waits its 30 seconds and is killed; a training writes no last "
                   "checkpoint"), shown(in));
    struct strv v;
    struct str list;
    strv_init(&v);
    str_init(&list, 400);
    strv_split(&v, in->rest, ' ');
    for (size_t i = 0; i < v.n; i++)
        if (*v.v[i])
            str_printf(&list, "%s\"%s\"", list.len ? ", " : "", v.v[i]);
    if (strpbrk(in->rest, "$&|;><\"'\\") || list.full)
        lint_next(f, _("write %s [\"/bin/sh\", \"-c\", \"exec …\"], or the exec form"), shown(in));
    else
        lint_next(f, _("write %s [%s]"), shown(in), list.p);
    str_release(&list);
    strv_release(&v);
}

/* An operator of a shell, or a variable. */
static bool for_a_shell(const char *t)
{
    static const char *const ops[] = {"&&", "||", "|", ";", ">", ">>", "2>&1"};
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_eq(t, ops[i]))
            return true;
    return t[0] == '$' || strstr(t, "${") || (strchr(t, '$') && strchr(t, '=')) ||
           strstr(t, "/$") || strstr(t, "$(");
}

static void exec_form(struct lint_work *w, const struct df_instr *in)
{
    struct lint_finding *f;
    if (in->nwords == 0 || is_shell(in->words[0].text))
        return;
    const char *first = in->words[0].text;
    if (in->nwords == 1 && strchr(first, ' ') && !strpbrk(first, "/\\\"'")) {
        f = lint_add(w, "exec-form-one-string", LINT_ERROR, lint_at_word(&in->words[0]),
                     _("[\"%s\"] is one word: a program of that name with blanks in it is looked "
                       "for "
                       "(\"executable file not found in $PATH\")"), first);
        struct strv v;
        struct str list;
        strv_init(&v);
        str_init(&list, 400);
        strv_split(&v, first, ' ');
        for (size_t i = 0; i < v.n; i++)
            if (*v.v[i])
                str_printf(&list, "%s\"%s\"", list.len ? ", " : "", v.v[i]);
        lint_next(f, _("write %s [%s]"), shown(in), list.p);
        str_release(&list);
        strv_release(&v);
        return;
    }
    for (size_t i = 0; i < in->nwords; i++) {
        const char *t = in->words[i].text;
        if (!for_a_shell(t))
            continue;
        f = lint_add(w, "exec-form-shell-feature", LINT_ERROR, lint_find(w, in, t),
                     _("%s in the exec form: no shell runs, so %s reaches the program as it is "
                       "written"), t, t);
        lint_next(f, _("write %s [\"/bin/sh\", \"-c\", \"exec … %s …\"]"), shown(in), t);
        return;
    }
}

/* --- the program ------------------------------------------------------------------- */

static bool installs(const struct stage_facts *s, const char *head)
{
    for (size_t i = 0; i < s->packages.n; i++)
        if (str_starts(s->packages.v[i], head))
            return true;
    return false;
}

/* "python3.9" of python3.9, python3.9-dev…; "python3" of python3; NULL. */
static const char *installed_python(const struct stage_facts *s, char buf[32])
{
    for (size_t i = 0; i < s->packages.n; i++)
        if (str_starts(s->packages.v[i], "python3"))
            return str_fmt(buf, 32, "%.*s",
                           (int)MIN(strspn(s->packages.v[i], "python0123456789."), (size_t)31),
                           s->packages.v[i]);
    return NULL;
}

static void python(struct lint_work *w, const struct df_instr *in, const struct stage_facts *s,
                   const char *program)
{
    char buf[32];
    const char *have = installed_python(s, buf);
    if (!s->base.bare || s->unknown || installs(s, "python-is-python3") ||
        strv_has(&s->packages, "python"))
        return;
    struct lint_finding *f = NULL;
    struct place p = lint_find(w, in, program);
    if (str_eq(program, "python") && have) {
        f = lint_add(w, "cmd-python-missing", LINT_ERROR, p,
                     _("%s uses python, but only %s is installed: there is no program called "
                       "python "
                       "(exec: \"python\": executable file not found in $PATH)"), shown(in), have);
        lint_next(f, _("write %s, or install python-is-python3"), str_starts(have, "python3.")
                                                                       ? have : "python3");
    } else if ((str_eq(program, "python") || str_eq(program, "python3")) && !have) {
        f = lint_add(w, "cmd-python-missing", LINT_ERROR, p,
                     _("%s uses %s, and neither %s nor a line here brings "
                       "Python"), shown(in), program,
                     s->base.repo);
        lint_next(f, "%s", _("install python3, or FROM python:3.11-slim"));
    } else if (str_eq(program, "python3") && have && str_starts(have, "python3.") &&
               !strv_has(&s->packages, "python3") && s->base.cuda) {
        f = lint_add(w, "cmd-python-missing", LINT_NOTE, p,
                     _("%s uses python3, and %s is installed: the package %s does not make python3 "
                       "the same"), shown(in), have, have);
        lint_next(f, _("write %s"), have);
    }
}

/* Head of a file of the context that is copied under this name: CR LF, no "#!". */
static void script(struct lint_work *w, const struct df_instr *in, const char *program)
{
    const char *slash = strrchr(program, '/'), *base = slash ? slash + 1 : program;
    char head[4096], *path;
    struct stat st;
    struct lint_finding *f = NULL;
    bool chmod = false;
    if (!w->ctx || (!str_ends(base, ".sh") && !strstr(base, "entrypoint")))
        return;
    path = path_join(w->in->context, base);
    if (stat(path, &st) != 0) {
        free(path);
        path = xasprintf("%s/scripts/%s", w->in->context, base);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    free(path);
    if (fd < 0)
        return;
    ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof head - 1) : -1;
    close(fd);
    if (n < 0)
        return;
    head[n] = '\0';
    for (size_t i = 0; i < w->df->n; i++)
        chmod = chmod || strstr(w->df->v[i].text, "chmod");
    struct place p = lint_find(w, in, program);
    if (memchr(head, '\r', (size_t)n)) {
        f = lint_add(w, "script-crlf", LINT_ERROR, p,
                     _("%s has CR LF line ends: its first line asks for an interpreter whose name "
                       "ends "
                       "with a CR (\"exec %s: no such file or directory\", though it is "
                       "there)"), base,
                     program);
        lint_next(f, _("dos2unix %s, and *.sh text eol=lf in .gitattributes"), base);
    } else if (!str_starts(head, "#!")) {
        f = lint_add(w, "script-no-interpreter", LINT_ERROR, p,
                     _("%s does not begin with #!: \"exec format error\""), base);
        lint_next(f, _("begin %s with #!/bin/sh"), base);
    } else if (!(st.st_mode & 0111) && !chmod) {
        f = lint_add(w, "script-not-executable", LINT_ERROR, p,
                     _("%s has no x bit (mode %03o), and no line here gives it one (\"permission "
                       "denied\")"), base, (unsigned)(st.st_mode & 0777));
        lint_next(f, _("chmod +x %s, or COPY --chmod=755"), base);
    }
}

/* CMD ["python", "train.py"] with nothing copied at all. */
static void file_there(struct lint_work *w, const struct df_instr *in,
                       const struct stage_facts *s)
{
    if (in->nwords < 2 || s->files || !s->base.repo[0] || !in->json)
        return;
    const char *file = in->words[1].text;
    if (!str_ends(file, ".py") && !str_ends(file, ".sh"))
        return;
    if (!s->base.bare && !str_eq(s->base.repo, "python"))
        return;
    struct lint_finding *f =
        lint_add(w, "cmd-file-missing", LINT_WARNING, lint_find(w, in, file),
                 _("%s starts %s, and no COPY or ADD brings it into the image"), shown(in), file);
    lint_next(f, _("add COPY %s ./ above (or mount it: then ignore this)"), file);
}

static void program(struct lint_work *w, const struct df_instr *in, const struct stage_facts *s)
{
    struct sh_list l;
    lint_shell_split(in, &l);
    const struct sh_cmd *c = l.n ? &l.v[0] : NULL;
    if (c && c->words.n && !single_quotes(in)) {
        python(w, in, s, c->words.v[0]);
        script(w, in, c->words.v[0]);
        if (c->words.n > 1 && is_shell(c->words.v[0]))
            script(w, in, c->words.v[1]);
    }
    lint_shell_release(&l);
    file_there(w, in, s);
}

static void several(struct lint_work *w, size_t i, const struct df_instr *in)
{
    if (lint_last_in_stage(w, i))
        return;
    struct lint_finding *f =
        lint_add(w, "multiple-instructions-disallowed", LINT_WARNING, lint_at(in),
                 _("more than one %s in this stage: only the last one counts, this one is ignored"),
                 shown(in));
    lint_next(f, "%s", _("delete it; to run several programs, use one script or several containers "
                         "in the pod"));
}

static void ignored_cmd(struct lint_work *w, size_t i, const struct df_instr *in)
{
    if (in->json || in->op != DF_ENTRYPOINT || !in->rest[0])
        return;
    size_t from = i;
    while (from > 0 && w->df->v[from].op != DF_FROM)
        from--;
    for (size_t k = from + 1; k < w->df->n && w->df->v[k].op != DF_FROM; k++) {
        if (w->df->v[k].op != DF_CMD)
            continue;
        struct lint_finding *f =
            lint_add(w, "entrypoint-shell-ignores-cmd", LINT_WARNING, lint_at(&w->df->v[k]),
                     _("CMD and a pod's args are ignored: ENTRYPOINT in line %d is in shell form"),
                     in->line);
        lint_next(f, "%s", _("write ENTRYPOINT as [\"program\"]"));
    }
}

static bool counts(const struct lint_work *w, size_t i)
{
    int at = dockerfile_plan_at(&w->plan, i);
    return at >= 0 && lint_last_in_stage(w, i);
}

void lint_starts(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        struct stage_facts *s = lint_stage(w, i);
        bool start = in->op == DF_CMD || in->op == DF_ENTRYPOINT;
        if (!s || (!start && in->op != DF_HEALTHCHECK))
            continue;
        if (in->op == DF_HEALTHCHECK) {
            several(w, i, in);
            continue;
        }
        several(w, i, in);
        ignored_cmd(w, i, in);
        if (!in->json)
            shell_form(w, in);
        else
            exec_form(w, in);
        if (counts(w, i))
            program(w, in, s);
    }
}
