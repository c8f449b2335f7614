/* context.c - see context.h. */
#include "k8s/image/context.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/ignore.h"
#include "k8s/image/inroot.h"
#include "k8s/image/pattern.h"

enum { CONTEXT_DEPTH = 200 };

struct context {
    int fd;
    char *dir;
    struct ignore *ignore;
};

struct walk {
    const struct context *c;
    context_fn *fn;
    void *arg;
    struct pd_err *err;
};

static enum pd_code read_ignore(struct context *c, const char *path, struct pd_err *err)
{
    struct str text;
    str_init(&text, 1 << 20);
    enum pd_code rc = path_read(path, 1 << 20, &text, err);
    if (rc == PD_OK)
        rc = ignore_parse(path, text.p, text.len, &c->ignore, err);
    str_release(&text);
    return rc;
}

enum pd_code context_open_whole(const char *dir, struct context **out, struct pd_err *err)
{
    enum pd_code rc = inroot_check(err);
    if (rc != PD_OK)
        return rc;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't open the build context %s"), dir);
    struct context *c = xcalloc(1, sizeof *c);
    c->fd = fd;
    c->dir = xstrdup(dir);
    *out = c;
    return PD_OK;
}

enum pd_code context_open(const char *dir, const char *dockerfile, struct context **out,
                          struct pd_err *err)
{
    struct context *c = NULL;
    enum pd_code rc = context_open_whole(dir, &c, err);
    if (rc != PD_OK)
        return rc;
    char *own = xasprintf("%s.dockerignore", dockerfile), *common = path_join(dir, ".dockerignore");
    if (access(own, F_OK) == 0)
        rc = read_ignore(c, own, err);
    else if (access(common, F_OK) == 0)
        rc = read_ignore(c, common, err);
    free(own);
    free(common);
    if (rc == PD_OK)
        *out = c;
    else
        context_close(c);
    return rc;
}

void context_close(struct context *c)
{
    if (!c)
        return;
    close(c->fd);
    free(c->dir);
    ignore_free(c->ignore);
    free(c);
}

int context_fd(const struct context *c)
{
    return c->fd;
}

const char *context_dir(const struct context *c)
{
    return c->dir;
}

enum pd_code context_stat(const struct context *c, const char *path, struct stat *st,
                          struct pd_err *err)
{
    int fd = inroot_open(c->fd, path, O_PATH, 0);
    if (fd < 0)
        return pd_fail_errno(err, PD_IMAGE, _("can't look at %s in the context"), path);
    int rc = fstat(fd, st);
    close(fd);
    return rc == 0 ? PD_OK : pd_fail_errno(err, PD_IO, _("can't look at %s"), path);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum pd_code list_folder(const struct context *c, const char *path, struct strv *names,
                                struct pd_err *err)
{
    int fd = inroot_open(c->fd, path, O_RDONLY | O_DIRECTORY, 0);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return pd_fail_errno(err, PD_IO, _("can't read the folder %s/%s"), c->dir, path);
    }
    for (struct dirent *e; (e = readdir(d));)
        if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
            strv_push(names, e->d_name);
    closedir(d);
    if (names->n)
        qsort(names->v, names->n, sizeof *names->v, by_name);
    return PD_OK;
}

static enum pd_code walk_folder(struct walk *w, const char *path, int depth);

static enum pd_code visit(struct walk *w, const char *path, int depth)
{
    struct stat st;
    char link[PATH_MAX + 1];
    bool ignored = ignore_match(w->c->ignore, path);
    if (ignored && !ignore_has_exceptions(w->c->ignore))
        return PD_OK;
    if (fstatat(w->c->fd, path, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return pd_fail_errno(w->err, PD_IO, _("can't look at %s/%s"), w->c->dir, path);
    ssize_t n = S_ISLNK(st.st_mode) ? readlinkat(w->c->fd, path, link, PATH_MAX) : 0;
    if (n < 0)
        return pd_fail_errno(w->err, PD_IO, _("can't read the symlink %s/%s"), w->c->dir, path);
    link[n] = '\0';
    enum pd_code rc = PD_OK;
    if (!ignored)
        rc = w->fn(w->arg, path, &st, S_ISLNK(st.st_mode) ? link : NULL, w->err);
    return rc == PD_OK && S_ISDIR(st.st_mode) ? walk_folder(w, path, depth + 1) : rc;
}

static enum pd_code walk_folder(struct walk *w, const char *path, int depth)
{
    struct strv names;
    if (depth > CONTEXT_DEPTH)
        return pd_fail(w->err, PD_LIMIT, _("the context is nested deeper than %d folders"),
                       CONTEXT_DEPTH);
    strv_init(&names);
    enum pd_code rc = list_folder(w->c, path, &names, w->err);
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        char *full = xasprintf("%s%s%s", path, *path ? "/" : "", names.v[i]);
        rc = visit(w, full, depth);
        free(full);
    }
    strv_release(&names);
    return rc;
}

enum pd_code context_walk(const struct context *c, const char *path, context_fn *fn, void *arg,
                          struct pd_err *err)
{
    struct walk w = {.c = c, .fn = fn, .arg = arg, .err = err};
    return walk_folder(&w, path, 0);
}

struct globbing {
    struct pattern *p;
    struct strv *out;
};

static enum pd_code glob_one(void *arg, const char *path, const struct stat *st UNUSED,
                             const char *link UNUSED, struct pd_err *err UNUSED)
{
    struct globbing *g = arg;
    if (pattern_match(g->p, path))
        strv_push(g->out, path);
    return PD_OK;
}

static enum pd_code find_glob(const struct context *c, const char *source, const char *clean,
                              struct strv *out, struct pd_err *err)
{
    struct globbing g = {.p = pattern_new(clean, 0), .out = out};
    if (!g.p) {
        pd_fail(err, PD_PARSE, _("the pattern \"%s\" is malformed"), source);
        return pd_set_hint(err, _("close each [ with ], and put a character behind each \\"));
    }
    size_t before = out->n;
    enum pd_code rc = context_walk(c, "", glob_one, &g, err);
    pattern_free(g.p);
    if (rc == PD_OK && out->n == before) {
        pd_fail(err, PD_IMAGE, _("no file of the context matches %s"), source);
        rc = pd_set_hint(err, _("look at the names in %s, and at .dockerignore"), c->dir);
    }
    return rc;
}

static enum pd_code find_path(const struct context *c, const char *source, const char *clean,
                              struct strv *out, struct pd_err *err)
{
    struct stat st;
    struct pd_err why;
    if (ignore_match(c->ignore, clean) && !ignore_has_exceptions(c->ignore)) {
        pd_fail(err, PD_IMAGE, _("%s is left out by .dockerignore"), source);
        return pd_set_hint(err, _("take its line out of .dockerignore, or add !%s"), clean);
    }
    if (*clean && context_stat(c, clean, &st, &why) != PD_OK) {
        pd_fail(err, PD_IMAGE, _("%s is not in the build context %s"), source, c->dir);
        return pd_set_hint(err, _("paths are relative to the context folder, not to the shell"));
    }
    strv_push(out, clean);
    return PD_OK;
}

enum pd_code context_find(const struct context *c, const char *source, struct strv *out,
                          struct pd_err *err)
{
    char *clean = xmalloc(strlen(source) + 2);
    ignore_clean(source + strspn(source, "/"), clean);
    enum pd_code rc;
    if (str_eq(clean, "..") || str_starts(clean, "../")) {
        pd_fail(err, PD_IMAGE, _("%s lies outside the build context"), source);
        rc = pd_set_hint(err, _("copy it into %s first, or build from a folder above"), c->dir);
    } else if (pattern_is_glob(clean) || strchr(clean, '\\')) {
        rc = find_glob(c, source, clean, out, err);
    } else {
        rc = find_path(c, source, str_eq(clean, ".") ? "" : clean, out, err);
    }
    free(clean);
    return rc;
}
