/* builder_copy.c - COPY, ADD and WORKDIR: files of the context, of a stage, an
 * image, an archive, a URL or a here-document become the entries of one layer.
 * Where a destination leads is looked up in the tree of names, so that a
 * symlinked folder of the base (/bin -> usr/bin) stays one. */
#include <limits.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/ignore.h"

struct copy {
    struct build *b;
    const struct df_instr *in;
    struct layer_list list;
    struct build_mode mode;       /* --chmod */
    bool owner;                   /* --chown was given */
    unsigned uid, gid;
    bool parents;                 /* --parents */
    struct ignore *exclude;       /* --exclude; or NULL */
    struct context *ctx;          /* the source at work, and its owners and modes or NULL */
    const struct tree *meta;
    const char *dest;             /* real path of the destination */
    size_t strip;                 /* of a walked folder: length of its path and "/" */
    const char *below;            /* and what stands for it below dest */
};

#define HERE(c) (c)->b->df->name, (c)->in->line, (c)->in->col

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
        if (tree_kind_of(c->b->now.tree, dir) == TREE_NONE)
            put(c, LAYER_DIR, dir, NULL);
        free(dir);
    }
    tree_put(c->b->now.tree, path, kinds[kind], link);
    struct layer_entry *e = layer_list_add(&c->list, kind, path);
    e->mode = kind == LAYER_DIR ? 0755 : kind == LAYER_LINK ? 0777 : 0644;
    e->uid = c->uid;
    e->gid = c->gid;
    return e;
}

/* What the flags and the source say about owner and mode. src NULL: neither. */
static void dress(struct copy *c, struct layer_entry *e, const char *src)
{
    struct tree_meta m = {0};
    if (src && c->meta)
        m = tree_meta_of(c->meta, src);
    if (src && c->meta && e->kind != LAYER_LINK && m.mode)
        e->mode = m.mode;
    if (src && c->meta && !c->owner) {
        e->uid = m.uid;
        e->gid = m.gid;
    }
    if (e->kind != LAYER_LINK)
        e->mode = builder_mode_apply(&c->mode, e->mode, e->kind == LAYER_DIR);
}

/* The folder at path (symlinks followed), made when missing; *real is it. src:
 * the folder it stands for, or NULL. */
static enum pd_code need_folder(struct copy *c, const char *path, const char *src,
                                struct str *real)
{
    enum tree_kind kind;
    enum pd_code rc = tree_resolve(c->b->now.tree, path, real, &kind, c->b->err);
    if (rc != PD_OK)
        return rc;
    if (kind == TREE_FILE)
        return pd_fail_at(c->b->err, PD_IMAGE, HERE(c),
                          _("/%s is a file in the image, a folder is needed there"), real->p);
    if (kind == TREE_NONE) {
        struct layer_entry *e = put(c, LAYER_DIR, real->p, NULL);
        if (src)
            dress(c, e, src);
    }
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
    if (tree_kind_of(c->b->now.tree, path) == TREE_DIR)
        return pd_fail_at(c->b->err, PD_IMAGE, HERE(c),
                          _("/%s is a folder in the image, %s can't replace it"), path, src);
    struct layer_entry *e = put(c, link ? LAYER_LINK : LAYER_FILE, path, link);
    if (link) {
        e->link = xstrdup(link);
    } else {
        e->src = xstrdup(src);
        e->src_fd = context_fd(c->ctx);
        e->size = st->st_size;
        e->mode = (st->st_mode & 0100) ? 0755 : 0644;
    }
    dress(c, e, src);
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
        rc = need_folder(c, want, src, &dir);
    } else {
        if (slash)
            *slash = '\0';
        rc = need_folder(c, slash ? want : "", NULL, &dir);
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
    if (ignore_match(c->exclude, path + c->strip))
        return PD_OK;
    char *rel = under(c->below, path + c->strip);
    enum pd_code rc = place(c, path, rel, st, link);
    free(rel);
    return rc;
}

static enum pd_code copy_folder(struct copy *c, const char *path, const char *rel)
{
    struct str real;
    char *want = under(c->dest, rel);
    str_init(&real, PATH_MAX * 4);
    enum pd_code rc = need_folder(c, want, *rel ? path : NULL, &real);
    str_release(&real);
    free(want);
    c->strip = *path ? strlen(path) + 1 : 0;
    c->below = rel;
    return rc == PD_OK ? context_walk(c->ctx, path, walked, c, c->b->err) : rc;
}

/* One match of a source. into: the destination is a folder. pivot: with
 * --parents, how much of the path does not come along. */
static enum pd_code copy_one(struct copy *c, const char *path, bool into, size_t pivot)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (*path && ignore_match(c->exclude, base))
        return PD_OK;
    enum pd_code rc = context_stat(c->ctx, path, &st, c->b->err);
    if (rc != PD_OK)
        return rc;
    if (S_ISDIR(st.st_mode))              /* its contents, not itself */
        return copy_folder(c, path, c->parents ? path + MIN(pivot, strlen(path)) : "");
    if (into)
        return place(c, path, c->parents ? path + MIN(pivot, strlen(path)) : base, &st, NULL);
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

static enum pd_code take_flag(struct copy *c, const struct df_word *f, struct str *excludes)
{
    struct df_word w = *f;
    char *value = NULL;
    enum pd_code rc = PD_OK;
    size_t skip = strcspn(f->text, "=");
    if (!f->text[skip])
        return PD_OK;
    w.text = f->text + skip + 1;
    if ((rc = builder_vars_word(c->b, &w, &value)) != PD_OK)
        return rc;
    if (str_starts(f->text, "--chmod=")) {
        c->mode.set = true;
        str_copy(c->mode.text, sizeof c->mode.text, value);
        if (!builder_mode_valid(value))
            rc = bad_flag(c, f, _("--chmod takes an octal mode, or clauses such as u=rwX,go=rX"),
                          _("write --chmod=755"));
    } else if (str_starts(f->text, "--chown=")) {
        c->owner = true;
        rc = builder_user(c->b, f, value, &c->uid, &c->gid);
    } else if (str_starts(f->text, "--exclude=")) {
        str_printf(excludes, "%s\n", value);
    }
    free(value);
    return builder_placed(c->b, f, rc);
}

static enum pd_code take_flags(struct copy *c)
{
    struct str excludes;
    enum pd_code rc = PD_OK;
    str_init(&excludes, 1 << 16);
    c->parents = dockerfile_flag_on(c->in, "parents");
    for (size_t i = 0; i < c->in->nflags && rc == PD_OK; i++)
        rc = take_flag(c, &c->in->flags[i], &excludes);
    if (rc == PD_OK && excludes.len)
        rc = ignore_parse(c->b->df->name, excludes.p, excludes.len, &c->exclude, c->b->err);
    str_release(&excludes);
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
    for (size_t i = 0; i < c->list.n; i++) {
        const struct layer_entry *e = &c->list.v[i];
        struct tree_meta m = {e->mode, e->uid, e->gid};
        tree_note(b->now.tree, e->path, &m);
    }
    builder_config_layer(b, &r);
    builder_config_history(b, c->in->text, false);
    b->cached = r.cached;
    struct builder_event e = {.kind = BUILD_LAYER, .digest = r.desc.digest, .bytes = r.desc.size,
                              .cached = r.cached};
    if (b->spec->event)
        b->spec->event(b->spec->arg, &e);
    return PD_OK;
}

static void use_root(struct copy *c, struct build_root *r)
{
    c->ctx = r ? r->ctx : c->b->ctx;
    c->meta = r ? r->tree : NULL;
}

/* Where in a source's clean path the part begins that --parents keeps. */
static size_t pivot_of(const char *text)
{
    const char *p = strstr(text, "/./");
    if (!p)
        return 0;
    char *head = xstrndup(text, (size_t)(p - text)), *clean = xmalloc(strlen(head) + 2);
    ignore_clean(head + strspn(head, "/"), clean);
    size_t n = str_eq(clean, ".") ? 0 : strlen(clean) + 1;
    free(head);
    free(clean);
    return n;
}

/* The matches of a source, one by one. */
static enum pd_code copy_matches(struct copy *c, const char *text, bool into, bool several)
{
    struct strv found;
    struct build_root *tar = NULL;
    bool unpack = c->in->op == DF_ADD && !str_eq(dockerfile_flag(c->in, "unpack")
                                                 ? dockerfile_flag(c->in, "unpack") : "", "false");
    strv_init(&found);
    enum pd_code rc = context_find(c->ctx, text, &found, c->b->err);
    struct context *ctx = c->ctx;
    for (size_t i = 0; i < found.n && rc == PD_OK; i++) {
        tar = NULL;
        if (unpack)
            rc = builder_root_tar(c->b, ctx, found.v[i], &tar);
        if (rc == PD_OK && tar) {
            use_root(c, tar);
            rc = copy_folder(c, "", "");
            c->ctx = ctx;
            c->meta = NULL;
        } else if (rc == PD_OK) {
            rc = copy_one(c, found.v[i], into || several || found.n > 1, pivot_of(text));
        }
    }
    strv_release(&found);
    return rc;
}

static enum pd_code copy_heredoc(struct copy *c, const struct df_heredoc *h, bool into)
{
    struct df_word w = {.text = h->text, .line = h->line, .col = 1};
    struct str text, dir;
    char *want = into ? under(c->dest, h->name) : xstrdup(c->dest), *slash = strrchr(want, '/');
    enum pd_code rc = PD_OK;
    str_init(&text, 2 << 20);
    str_init(&dir, PATH_MAX * 4);
    if (!h->expand)
        str_add(&text, h->text);
    else
        rc = dockerfile_expand_raw(c->b->df, &w, builder_vars_lookup, c->b, &text, c->b->err);
    if (slash)
        *slash = '\0';
    if (rc == PD_OK)
        rc = need_folder(c, slash ? want : "", NULL, &dir);
    char *path = under(dir.p, slash ? slash + 1 : want);
    if (rc == PD_OK && (!*path || tree_kind_of(c->b->now.tree, path) == TREE_DIR)) {
        pd_fail_at(c->b->err, PD_IMAGE, HERE(c), _("/%s is a folder, the here-document a file"),
                   path);
        rc = pd_set_hint(c->b->err, _("write the file's name, or / at the end"));
    }
    if (rc == PD_OK) {
        struct layer_entry *e = put(c, LAYER_FILE, path, NULL);
        e->size = (int64_t)text.len;
        e->data = str_take(&text);
        dress(c, e, NULL);
    }
    free(path);
    free(want);
    str_release(&dir);
    str_release(&text);
    return rc;
}

static enum pd_code copy_url(struct copy *c, const struct df_word *w, const char *url, bool into)
{
    struct build_root *r;
    struct stat st;
    char *name = NULL, *sum = NULL;
    struct df_word word = {(char *)(uintptr_t)dockerfile_flag(c->in, "checksum"), w->line, w->col};
    enum pd_code rc = builder_vars_word(c->b, &word, &sum);
    if (rc == PD_OK)
        rc = builder_fetch(c->b, w, url, sum, &r, &name);
    free(sum);
    if (rc == PD_OK && into && !*name) {
        pd_fail_at(c->b->err, PD_IMAGE, HERE(c), _("the URL names no file"));
        rc = pd_set_hint(c->b->err, _("write the file's name as the destination"));
    }
    if (rc == PD_OK) {
        use_root(c, r);
        struct build_mode mode = c->mode;
        if (!c->mode.set)                 /* as Docker: for root alone */
            c->mode = (struct build_mode){.set = true, .text = "600"};
        rc = context_stat(c->ctx, "file", &st, c->b->err);
        if (rc == PD_OK && dockerfile_flag_on(c->in, "unpack")) {
            c->mode = mode;
            rc = copy_matches(c, "file", into, false);
        } else if (rc == PD_OK) {
            rc = place(c, "file", into ? name : "", &st, NULL);
        }
        c->mode = mode;
    }
    free(name);
    return rc;
}

static enum pd_code copy_source(struct copy *c, size_t i, bool into, bool several)
{
    const struct df_word *w = &c->in->words[i];
    const struct df_heredoc *h = dockerfile_heredoc(c->in, w->text);
    char *text = NULL;
    if (h)
        return copy_heredoc(c, h, into || several);
    enum pd_code rc = builder_vars_item(c->b, c->in, i, &text);
    if (rc == PD_OK && c->in->op == DF_ADD && strstr(text, "://"))
        rc = copy_url(c, w, text, into || several);
    else if (rc == PD_OK)
        rc = copy_matches(c, text, into, several);
    free(text);
    return builder_placed(c->b, w, rc);
}

static enum pd_code copy_all(struct copy *c, const char *dest)
{
    const struct df_word *last = &c->in->words[c->in->nwords - 1];
    bool slash = str_ends(dest, "/") || str_ends(dest, "/.") || str_eq(dest, ".") || c->parents;
    bool several = c->in->nwords > 2;
    enum tree_kind kind;
    struct str real;
    if (several && !slash) {
        pd_fail_at(c->b->err, PD_PARSE, c->b->df->name, last->line, last->col,
                   _("with several sources the destination %s must be a folder"), dest);
        return pd_set_hint(c->b->err, _("end it with /"));
    }
    char *path = builder_config_path(c->b, dest);
    str_init(&real, PATH_MAX * 4);
    enum pd_code rc = tree_resolve(c->b->now.tree, path, &real, &kind, c->b->err);
    bool into = slash || kind == TREE_DIR;
    /* a file put over a symlink to a file replaces the link, as Docker does */
    c->dest = into || kind == TREE_NONE ? real.p : path;
    struct context *ctx = c->ctx;
    const struct tree *meta = c->meta;
    for (size_t i = 0; i + 1 < c->in->nwords && rc == PD_OK; i++) {
        c->ctx = ctx;
        c->meta = meta;
        rc = copy_source(c, i, into, several);
    }
    if (rc == PD_OK)
        rc = finish_layer(c);
    str_release(&real);
    free(path);
    return rc;
}

enum pd_code builder_copy(struct build *b, const struct df_instr *in)
{
    struct copy c = {.b = b, .in = in, .ctx = b->ctx};
    const char *from = in->op == DF_COPY ? dockerfile_flag(in, "from") : NULL;
    struct build_root *root = NULL;
    char *dest = NULL;
    enum pd_code rc = take_flags(&c);
    if (rc == PD_OK && from)
        rc = builder_placed(b, &in->flags[0], builder_root_from(b, from, &root));
    if (rc == PD_OK && from)
        use_root(&c, root);
    layer_list_init(&c.list);
    if (rc == PD_OK)
        rc = builder_vars_item(b, in, in->nwords - 1, &dest);
    if (rc == PD_OK)
        rc = copy_all(&c, dest);
    free(dest);
    ignore_free(c.exclude);
    layer_list_release(&c.list);
    return rc;
}

enum pd_code builder_copy_workdir(struct build *b, const struct df_instr *in)
{
    struct copy c = {.b = b, .in = in, .ctx = b->ctx};
    char *text = NULL;
    struct str real;
    enum pd_code rc = builder_vars_word(b, &in->words[0], &text);
    if (rc != PD_OK)
        return rc;
    char *path = builder_config_path(b, text), *full = xasprintf("/%s", path);
    layer_list_init(&c.list);
    str_init(&real, PATH_MAX * 4);
    rc = need_folder(&c, path, NULL, &real);
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
