/* builder_copy.c - COPY and WORKDIR: files of the context become the entries of
 * one layer. Where a destination leads is looked up in the tree of names, so
 * that a symlinked folder of the base (/bin -> usr/bin) stays one. */
#include <limits.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"

struct copy {
    struct build *b;
    const struct df_instr *in;
    struct layer_list list;
    int mode;                     /* --chmod, or -1 */
    unsigned uid, gid;            /* --chown */
    const char *dest;             /* real path of the destination */
    size_t strip;                 /* of a walked folder: length of its path and "/" */
};

#define HERE(c) (c)->b->df->name, (c)->in->line, (c)->in->col

/* An error of the context gets the place of the word that named it. */
static enum pd_code with_place(struct copy *c, const struct df_word *w, enum pd_code rc)
{
    struct pd_err *err = c->b->err;
    if (rc != PD_OK && err->line == 0) {
        str_copy(err->src, sizeof err->src, c->b->df->name);
        err->line = w->line;
        err->col = w->col;
    }
    return rc;
}

static char *under(const char *dir, const char *rel)
{
    return xasprintf("%s%s%s", dir, *dir && *rel ? "/" : "", rel);
}

/* An entry and the folders above it that are not there yet. */
static struct layer_entry *put(struct copy *c, enum layer_kind kind, const char *path,
                               const char *link)
{
    static const enum tree_kind kinds[] = {
        [LAYER_DIR] = TREE_DIR, [LAYER_FILE] = TREE_FILE, [LAYER_LINK] = TREE_LINK};
    for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/')) {
        char *dir = xstrndup(path, (size_t)(s - path));
        if (tree_kind_of(c->b->tree, dir) == TREE_NONE)
            put(c, LAYER_DIR, dir, NULL);
        free(dir);
    }
    tree_put(c->b->tree, path, kinds[kind], link);
    struct layer_entry *e = layer_list_add(&c->list, kind, path);
    e->mode = kind == LAYER_DIR ? 0755 : kind == LAYER_LINK ? 0777 : 0644;
    e->uid = c->uid;
    e->gid = c->gid;
    return e;
}

/* The folder at path (symlinks followed), made with this mode when missing;
 * *real is it. */
static enum pd_code need_folder(struct copy *c, const char *path, unsigned mode, struct str *real)
{
    enum tree_kind kind;
    enum pd_code rc = tree_resolve(c->b->tree, path, real, &kind, c->b->err);
    if (rc != PD_OK)
        return rc;
    if (kind == TREE_FILE)
        return pd_fail_at(c->b->err, PD_IMAGE, HERE(c),
                          _("/%s is a file in the image, a folder is needed there"), real->p);
    if (kind == TREE_NONE)
        put(c, LAYER_DIR, real->p, NULL)->mode = mode;
    return PD_OK;
}

static enum pd_code add_file(struct copy *c, const char *src, const char *path,
                             const struct stat *st, const char *link)
{
    if (!S_ISREG(st->st_mode) && !link) {
        pd_fail_at(c->b->err, PD_IMAGE, HERE(c), _("%s is neither a file, a folder nor a symlink"),
                   src);
        return pd_set_hint(c->b->err, _("add it to .dockerignore"));
    }
    if (tree_kind_of(c->b->tree, path) == TREE_DIR)
        return pd_fail_at(c->b->err, PD_IMAGE, HERE(c),
                          _("/%s is a folder in the image, %s can't replace it"), path, src);
    struct layer_entry *e = put(c, link ? LAYER_LINK : LAYER_FILE, path, link);
    if (link) {
        e->link = xstrdup(link);
        return PD_OK;
    }
    e->src = xstrdup(src);
    e->size = st->st_size;
    e->mode = c->mode >= 0 ? (unsigned)c->mode : (st->st_mode & 0100) ? 0755 : 0644;
    return PD_OK;
}

/* Place src at rel below the destination folder. */
static enum pd_code place(struct copy *c, const char *src, const char *rel, const struct stat *st,
                          const char *link)
{
    struct str dir;
    char *want = under(c->dest, rel), *slash = strrchr(want, '/');
    const char *base = slash ? slash + 1 : want;
    str_init(&dir, PATH_MAX * 4);
    enum pd_code rc;
    if (S_ISDIR(st->st_mode)) {
        rc = need_folder(c, want, c->mode >= 0 ? (unsigned)c->mode : 0755, &dir);
    } else {
        if (slash)
            *slash = '\0';
        rc = need_folder(c, slash ? want : "", 0755, &dir);
        char *path = under(dir.p, base);
        if (rc == PD_OK)
            rc = add_file(c, src, path, st, link);
        free(path);
    }
    str_release(&dir);
    free(want);
    return rc;
}

static enum pd_code walked(void *arg, const char *path, const struct stat *st, const char *link,
                           struct pd_err *err UNUSED)
{
    struct copy *c = arg;
    return place(c, path, path + c->strip, st, link);
}

/* One match of a source. into: the destination is a folder. */
static enum pd_code copy_one(struct copy *c, const char *path, bool into)
{
    struct stat st;
    enum pd_code rc = context_stat(c->b->ctx, path, &st, c->b->err);
    if (rc != PD_OK)
        return rc;
    if (S_ISDIR(st.st_mode)) {            /* its contents, not itself */
        struct str real;
        str_init(&real, PATH_MAX * 4);
        rc = need_folder(c, c->dest, 0755, &real);
        str_release(&real);
        c->strip = *path ? strlen(path) + 1 : 0;
        return rc == PD_OK ? context_walk(c->b->ctx, path, walked, c, c->b->err) : rc;
    }
    const char *slash = strrchr(path, '/');
    if (into)
        return place(c, path, slash ? slash + 1 : path, &st, NULL);
    if (!*c->dest)
        return pd_fail_at(c->b->err, PD_IMAGE, HERE(c), _("the destination has no name"));
    return place(c, path, "", &st, NULL);
}

/* --- flags ------------------------------------------------------------------------- */

static enum pd_code bad_flag(struct copy *c, const struct df_word *f, const char *what,
                             const char *hint)
{
    pd_fail_at(c->b->err, PD_PARSE, c->b->df->name, f->line, f->col, "%s", what);
    return pd_set_hint(c->b->err, "%s", hint);
}

static bool read_id(const char *s, size_t n, unsigned *out)
{
    char text[16];
    int64_t v;
    str_fmt(text, sizeof text, "%.*s", (int)MIN(n, (size_t)15), s);
    if (!str_to_i64(text, &v) || v < 0 || v > 0xfffffffeLL)
        return str_eq(text, "root") ? (*out = 0, true) : false;
    *out = (unsigned)v;
    return true;
}

static enum pd_code take_flag(struct copy *c, const struct df_word *f)
{
    struct df_word w = *f;
    char *value = NULL;
    enum pd_code rc = PD_OK;
    size_t skip = strcspn(f->text, "=");
    if (!f->text[skip])
        return PD_OK;                     /* --link */
    w.text = f->text + skip + 1;
    if ((rc = builder_vars_word(c->b, &w, &value)) != PD_OK)
        return rc;
    if (str_starts(f->text, "--chmod=")) {
        char *end;
        long mode = strtol(value, &end, 8);
        if (!*value || *end || mode < 0 || mode > 07777)
            rc = bad_flag(c, f, _("--chmod takes an octal mode"), _("write --chmod=755"));
        c->mode = (int)mode;
    } else if (str_starts(f->text, "--chown=")) {
        size_t n = strcspn(value, ":");
        const char *group = value[n] ? value + n + 1 : value;
        if (!read_id(value, n, &c->uid) || !read_id(group, strcspn(group, ":"), &c->gid))
            rc = bad_flag(c, f, _("--chown takes numbers: names stand in the image's /etc/passwd, "
                                  "which this builder does not read"),
                          _("write --chown=1000:1000"));
    }
    free(value);
    return rc;
}

/* --- the instructions ---------------------------------------------------------------- */

static void pack_progress(void *arg, int64_t done, int64_t total)
{
    struct build *b = arg;
    struct builder_event e = {.kind = BUILD_PACK, .done = done, .bytes = total};
    if (b->spec->event)
        b->spec->event(b->spec->arg, &e);
}

static enum pd_code finish_layer(struct copy *c)
{
    struct build *b = c->b;
    struct layer_result r;
    struct layer_writer_options opt = {
        .src_fd = context_fd(b->ctx), .mtime = b->epoch, .no_cache = b->spec->no_cache,
        .progress = pack_progress, .arg = b};
    layer_list_sort(&c->list);
    enum pd_code rc = layer_writer_pack(b->spec->out, &c->list, &opt, &r, b->err);
    if (rc != PD_OK)
        return rc;
    builder_config_layer(b, &r);
    builder_config_history(b, c->in->text, false);
    struct builder_event e = {.kind = BUILD_LAYER, .digest = r.desc.digest, .bytes = r.desc.size,
                              .cached = r.cached};
    if (b->spec->event)
        b->spec->event(b->spec->arg, &e);
    return PD_OK;
}

static enum pd_code find_sources(struct copy *c, struct strv *out)
{
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i + 1 < c->in->nwords && rc == PD_OK; i++) {
        char *text = NULL;
        rc = builder_vars_word(c->b, &c->in->words[i], &text);
        if (rc == PD_OK)
            rc = with_place(c, &c->in->words[i], context_find(c->b->ctx, text, out, c->b->err));
        free(text);
    }
    return rc;
}

static enum pd_code copy_all(struct copy *c, const struct strv *sources, const char *dest)
{
    const struct df_word *last = &c->in->words[c->in->nwords - 1];
    bool slash = str_ends(dest, "/") || str_ends(dest, "/.") || str_eq(dest, ".");
    enum tree_kind kind;
    struct str real;
    if (c->in->nwords > 2 && !slash) {
        pd_fail_at(c->b->err, PD_PARSE, c->b->df->name, last->line, last->col,
                   _("with several sources the destination %s must be a folder"), dest);
        return pd_set_hint(c->b->err, _("end it with /"));
    }
    char *path = builder_config_path(c->b, dest);
    str_init(&real, PATH_MAX * 4);
    enum pd_code rc = tree_resolve(c->b->tree, path, &real, &kind, c->b->err);
    bool into = slash || sources->n > 1 || kind == TREE_DIR;
    /* a file put over a symlink to a file replaces the link, as Docker does */
    c->dest = into || kind == TREE_NONE ? real.p : path;
    for (size_t i = 0; i < sources->n && rc == PD_OK; i++)
        rc = with_place(c, &c->in->words[0], copy_one(c, sources->v[i], into));
    if (rc == PD_OK)
        rc = finish_layer(c);
    str_release(&real);
    free(path);
    return rc;
}

enum pd_code builder_copy(struct build *b, const struct df_instr *in)
{
    struct copy c = {.b = b, .in = in, .mode = -1};
    struct strv sources;
    char *dest = NULL;
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < in->nflags && rc == PD_OK; i++)
        rc = take_flag(&c, &in->flags[i]);
    if (rc != PD_OK)
        return rc;
    layer_list_init(&c.list);
    strv_init(&sources);
    rc = find_sources(&c, &sources);
    if (rc == PD_OK)
        rc = builder_vars_word(b, &in->words[in->nwords - 1], &dest);
    if (rc == PD_OK)
        rc = copy_all(&c, &sources, dest);
    free(dest);
    strv_release(&sources);
    layer_list_release(&c.list);
    return rc;
}

enum pd_code builder_copy_workdir(struct build *b, const struct df_instr *in)
{
    struct copy c = {.b = b, .in = in, .mode = -1};
    char *text = NULL;
    struct str real;
    enum pd_code rc = builder_vars_word(b, &in->words[0], &text);
    if (rc != PD_OK)
        return rc;
    char *path = builder_config_path(b, text), *full = xasprintf("/%s", path);
    layer_list_init(&c.list);
    str_init(&real, PATH_MAX * 4);
    rc = need_folder(&c, path, 0755, &real);
    if (rc == PD_OK && c.list.n > 0)
        rc = finish_layer(&c);
    else if (rc == PD_OK)
        builder_config_history(b, in->text, true);
    if (rc == PD_OK)
        json_put_str(b->config, "WorkingDir", full);
    str_release(&real);
    layer_list_release(&c.list);
    free(full);
    free(path);
    free(text);
    return rc;
}
