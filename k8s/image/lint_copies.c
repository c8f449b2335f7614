/* lint_copies.c - COPY and ADD against the build context: outside, not there,
 * left out by .dockerignore, or taken as a shell would. */
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/ignore.h"
#include "k8s/image/lint_priv.h"
#include "k8s/image/pattern.h"

enum { NEAR_FILES = 4000 };

struct files {
    struct strv names, bases;
};

static enum pd_code collect(void *arg, const char *path, const struct stat *st UNUSED,
                            const char *link UNUSED, struct pd_err *err UNUSED)
{
    struct files *f = arg;
    const char *slash = strrchr(path, '/');
    if (f->names.n >= NEAR_FILES)
        return PD_LIMIT;
    strv_push(&f->names, path);
    strv_push(&f->bases, slash ? slash + 1 : path);
    return PD_OK;
}

/* A file of the context that was probably meant. Caller frees. */
static char *nearest(const struct lint_work *w, const char *source)
{
    struct files f;
    struct pd_err ignored;
    char *out = NULL;
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    strv_init(&f.names);
    strv_init(&f.bases);
    (void)!context_walk(w->ctx, "", collect, &f, &ignored);
    for (size_t i = 0; i < f.names.n && !out; i++)        /* another folder, or other letters */
        if (strcasecmp(f.names.v[i], source) == 0 || strcasecmp(f.bases.v[i], base) == 0)
            out = xstrdup(f.names.v[i]);
    const char *near = out ? NULL : str_nearest(source, (const char *const *)f.names.v, f.names.n);
    if (near)
        out = xstrdup(near);
    near = out ? NULL : str_nearest(base, (const char *const *)f.bases.v, f.bases.n);
    for (size_t i = 0; near && !out && i < f.names.n; i++)
        if (str_eq(f.bases.v[i], near))
            out = xstrdup(f.names.v[i]);
    strv_release(&f.names);
    strv_release(&f.bases);
    return out;
}

static bool on_disk(const struct lint_work *w, const char *clean)
{
    struct stat st;
    char *path = path_join(w->in->context, clean);
    bool there = lstat(path, &st) == 0;
    free(path);
    return there;
}

static void missing(struct lint_work *w, const struct df_instr *in, const struct df_word *at,
                    const char *source, const char *clean)
{
    struct lint_finding *f;
    const char *op = dockerfile_op_name(in->op);
    if (!pattern_is_glob(clean) && on_disk(w, clean)) {
        f = lint_add(w, "copy-ignored-file", LINT_ERROR, lint_at_word(at),
                     _("%s %s: .dockerignore leaves %s out of the build context (\"not found\", "
                       "though "
                       "the file is there)"), op, source, clean);
        lint_next(f, _("take its line out of .dockerignore, or add !%s to it"), clean);
        return;
    }
    char *near = nearest(w, clean);
    f = lint_add(w, "copy-missing-file", LINT_ERROR, lint_at_word(at),
                 pattern_is_glob(clean)
                     ? _("%s %s: nothing in the build context matches it")
                     : _("%s %s: the file is not in the build context (\"not "
                         "found\")"), op, source);
    if (near)
        lint_next(f, _("did you mean %s? (names are compared letter by letter, from the context "
                       "folder on)"), near);
    else
        lint_next(f, _("put it into the context folder %s, or build with the folder that has it: "
                       "docker build -f Dockerfile FOLDER"), w->in->context);
    free(near);
}

static void outside(struct lint_work *w, const struct df_instr *in, const struct df_word *at,
                    const char *source, const char *why)
{
    struct lint_finding *f =
        lint_add(w, "copy-outside-context", LINT_ERROR, lint_at_word(at), "%s %s: %s",
                 dockerfile_op_name(in->op), source, why);
    lint_next(f, "%s", _("build from the folder above (docker build -f sub/Dockerfile ..), or "
                         "copy the "
                         "file beside the Dockerfile first"));
}

/* Paths of the host as people write them by mistake. */
static const char *host_path(const char *s)
{
    static const char *const homes[] = {"/home/", "/Users/", "/mnt/", "/root/", "/tmp/"};
    if (isalpha((unsigned char)s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/'))
        return _("a path of Windows is no path of the build context");
    if (s[0] == '~')
        return _("~ is not the home folder here: sources are below the build context");
    for (size_t i = 0; i < ARRAY_LEN(homes); i++)
        if (str_starts(s, homes[i]))
            return _("sources begin at the build context, not at the root of this machine");
    return NULL;
}

static void source(struct lint_work *w, const struct df_instr *in, size_t i)
{
    const struct df_word *at = &in->words[i];
    struct pd_err ignored;
    struct strv found;
    const char *text = at->text, *host;
    if (strchr(text, '$') || dockerfile_heredoc(in, text) || strstr(text, "://") ||
        str_starts(text, "git@"))
        return;
    char *clean = xmalloc(strlen(text) + 2);
    ignore_clean(text + strspn(text, "/"), clean);
    strv_init(&found);
    if (str_eq(clean, "..") || str_starts(clean, "../"))
        outside(w, in, at, text, _("it lies outside the build context (\"forbidden path\")"));
    else if ((host = host_path(text)) && !(w->ctx && on_disk(w, clean)))
        outside(w, in, at, text, host);
    else if (w->ctx && !strpbrk(text, "\"'\\") && !str_eq(clean, ".") &&
             context_find(w->ctx, text, &found, &ignored) != PD_OK)
        missing(w, in, at, text, clean);
    strv_release(&found);
    free(clean);
}

/* COPY a b || true; COPY a && b: no shell reads it. */
static bool shell_in_copy(struct lint_work *w, const struct df_instr *in)
{
    static const char *const words[] = {"&&", "||", "|", ";", ">", "2>/dev/null", "true"};
    for (size_t i = 0; i < in->nwords && !in->json; i++)
        for (size_t k = 0; k < 6; k++) {
            if (!str_eq(in->words[i].text, words[k]))
                continue;
            struct lint_finding *f =
                lint_add(w, "shell-in-copy", LINT_ERROR, lint_at_word(&in->words[i]),
                         _("%s is taken as a file name: %s is no shell command"),
                         in->words[i].text, dockerfile_op_name(in->op));
            lint_next(f, "%s", _("write one COPY a line; a file that may be missing can be written "
                                 "as a pattern: fil[e]"));
            return true;
        }
    return false;
}

static void everything(struct lint_work *w, const struct df_instr *in, size_t at)
{
    static const char *const secret[] = {".env", "id_rsa", "id_ed25519", ".aws", ".kube",
                                         ".netrc", ".huggingface"};
    bool all = false;
    for (size_t i = 0; i + 1 < in->nwords; i++)
        all = all || str_eq(in->words[i].text, ".") || str_eq(in->words[i].text, "./");
    for (size_t i = 0; all && w->ctx && i < ARRAY_LEN(secret); i++) {
        struct strv found;
        struct pd_err ignored;
        strv_init(&found);
        if (context_find(w->ctx, secret[i], &found, &ignored) == PD_OK) {
            struct lint_finding *f =
                lint_add(w, "secret-file-copied", LINT_WARNING, lint_at(in),
                         _("COPY . takes %s along into the image"), secret[i]);
            lint_next(f, _("add %s to .dockerignore"), secret[i]);
        }
        strv_release(&found);
    }
    static const char *const heavy[] = {".git", "node_modules", "venv", ".venv"};
    for (size_t i = 0; all && w->ctx && i < ARRAY_LEN(heavy); i++) {
        struct strv found;
        struct pd_err ignored;
        strv_init(&found);
        if (context_find(w->ctx, heavy[i], &found, &ignored) == PD_OK) {
            struct lint_finding *f =
                lint_add(w, "context-unneeded", LINT_NOTE, lint_at(in),
                         _("COPY . takes %s along: a larger image, and a new layer at each change"),
                         heavy[i]);
            lint_next(f, _("add %s to .dockerignore"), heavy[i]);
        }
        strv_release(&found);
    }
    for (size_t k = at + 1; all && k < w->df->n && w->df->v[k].op != DF_FROM; k++) {
        if (w->df->v[k].op != DF_RUN || !strstr(w->df->v[k].rest, "pip install") ||
            !strstr(w->df->v[k].rest, " -r ") || in->nwords != 2)
            continue;
        struct lint_finding *f =
            lint_add(w, "cache-order", LINT_NOTE, lint_at(in),
                     _("COPY . stands before pip install -r (line %d): each change of any file "
                       "installs everything again"), w->df->v[k].line);
        lint_next(f, "%s", _("COPY requirements.txt first, install, then COPY ."));
        break;
    }
}

static void several(struct lint_work *w, const struct df_instr *in)
{
    const struct df_word *dest = &in->words[in->nwords - 1];
    if (in->nwords < 3 || str_ends(dest->text, "/") || str_ends(dest->text, ".") ||
        strchr(dest->text, '$') || in->nheredocs || strchr(in->rest, '#') || in->json)
        return;
    struct lint_finding *f =
        lint_add(w, "copy-destination-no-folder", LINT_ERROR, lint_at_word(dest),
                 _("%s has %zu sources, so %s must end with / (\"the destination must be a "
                   "directory and end with a /\")"), dockerfile_op_name(in->op), in->nwords - 1,
                 dest->text);
    lint_next(f, _("write %s/"), dest->text);
}

void lint_copies(struct lint_work *w)
{
    for (size_t i = 0; i < w->df->n; i++) {
        const struct df_instr *in = &w->df->v[i];
        if ((in->op != DF_COPY && in->op != DF_ADD) || dockerfile_flag(in, "from"))
            continue;
        bool comment = strstr(in->rest, " # ") != NULL;
        if (shell_in_copy(w, in) || comment)
            continue;
        for (size_t k = 0; k + 1 < in->nwords; k++)
            source(w, in, k);
        several(w, in);
        everything(w, in, i);
    }
}
