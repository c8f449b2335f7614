/* tree.c - nodes with sorted children. */
#include "k8s/image/tree.h"

#include <archive_entry.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/layer_reader.h"

enum { TREE_LINKS = 40 };             /* as the kernel's ELOOP */

struct node {
    char *name, *target;
    enum tree_kind kind;
    struct tree_meta meta;
    struct node **v;                  /* children by name */
    size_t n, cap;
};

struct tree {
    struct node root;
};

struct tree *tree_new(void)
{
    struct tree *t = xcalloc(1, sizeof *t);
    t->root.kind = TREE_DIR;
    return t;
}

static void free_children(struct node *d);

static void free_node(struct node *d)
{
    free_children(d);
    free(d->name);
    free(d->target);
    free(d);
}

static void free_children(struct node *d)
{
    for (size_t i = 0; i < d->n; i++)
        free_node(d->v[i]);
    free(d->v);
    d->v = NULL;
    d->n = d->cap = 0;
}

void tree_free(struct tree *t)
{
    if (!t)
        return;
    free_children(&t->root);
    free(t);
}

static void copy_children(struct node *to, const struct node *from)
{
    to->v = from->n ? xcalloc(from->n, sizeof(struct node *)) : NULL;
    to->n = to->cap = from->n;
    for (size_t i = 0; i < from->n; i++) {
        const struct node *c = from->v[i];
        to->v[i] = xcalloc(1, sizeof *c);
        to->v[i]->name = xstrdup(c->name);
        to->v[i]->target = xstrdup(c->target);
        to->v[i]->kind = c->kind;
        to->v[i]->meta = c->meta;
        copy_children(to->v[i], c);
    }
}

struct tree *tree_copy(const struct tree *t)
{
    struct tree *c = tree_new();
    copy_children(&c->root, &t->root);
    return c;
}

static int compare(const char *name, size_t len, const char *other)
{
    int c = strncmp(name, other, len);
    return c ? c : (other[len] ? -1 : 0);
}

/* Index of the child, or of the place where it belongs. */
static size_t position(const struct node *d, const char *name, size_t len, bool *found)
{
    size_t lo = 0, hi = d->n;
    *found = false;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = compare(name, len, d->v[mid]->name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static struct node *child(const struct node *d, const char *name, size_t len)
{
    bool found;
    size_t i = position(d, name, len, &found);
    return found ? d->v[i] : NULL;
}

static struct node *make_child(struct node *d, const char *name, size_t len)
{
    bool found;
    size_t i = position(d, name, len, &found);
    if (found)
        return d->v[i];
    if (d->n == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 4;
        d->v = xrealloc_array(d->v, d->cap, sizeof(struct node *));
    }
    memmove(d->v + i + 1, d->v + i, (d->n - i) * sizeof *d->v);
    d->n++;
    d->v[i] = xcalloc(1, sizeof *d->v[i]);
    d->v[i]->name = xstrndup(name, len);
    return d->v[i];
}

static void set_kind(struct node *d, enum tree_kind kind, const char *target)
{
    if (kind != TREE_DIR)
        free_children(d);
    free(d->target);
    d->target = xstrdup(kind == TREE_LINK ? target : NULL);
    d->kind = kind;
}

void tree_put(struct tree *t, const char *path, enum tree_kind kind, const char *target)
{
    struct node *d = &t->root;
    for (const char *p = path; *p;) {
        size_t len = strcspn(p, "/");
        if (d->kind != TREE_DIR)
            set_kind(d, TREE_DIR, NULL);
        d = make_child(d, p, len);
        p += len;
        p += *p == '/';
    }
    if (d != &t->root)
        set_kind(d, kind, target);
}

static struct node *find(const struct tree *t, const char *path)
{
    const struct node *d = &t->root;
    for (const char *p = path; d && *p;) {
        size_t len = strcspn(p, "/");
        d = child(d, p, len);
        p += len;
        p += *p == '/';
    }
    return (struct node *)(uintptr_t)d;
}

void tree_note(struct tree *t, const char *path, const struct tree_meta *m)
{
    struct node *d = find(t, path);
    if (d)
        d->meta = *m;
}

struct tree_meta tree_meta_of(const struct tree *t, const char *path)
{
    const struct node *d = find(t, path);
    return d ? d->meta : (struct tree_meta){0};
}

void tree_remove(struct tree *t, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);
    struct node *d = find(t, dir);
    bool found = false;
    size_t i = d ? position(d, base, strlen(base), &found) : 0;
    if (found) {
        free_node(d->v[i]);
        d->n--;
        memmove(d->v + i, d->v + i + 1, (d->n - i) * sizeof *d->v);
    }
    free(dir);
}

static void prune(struct node *d, const struct node *keep)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        struct node *c = d->v[i], *k = keep ? child(keep, c->name, strlen(c->name)) : NULL;
        if (!k) {
            free_node(c);
            continue;
        }
        prune(c, k);
        d->v[n++] = c;
    }
    d->n = n;
}

void tree_prune(struct tree *t, const char *path, const struct tree *keep)
{
    struct node *d = find(t, path);
    if (d)
        prune(d, find(keep, path));
}

enum tree_kind tree_kind_of(const struct tree *t, const char *path)
{
    const struct node *d = find(t, path);
    return d ? d->kind : TREE_NONE;
}

/* Drop the last part of a path. */
static void up(struct str *s)
{
    while (s->len > 0 && s->p[s->len - 1] != '/')
        s->len--;
    s->len -= s->len > 0;
    s->p[s->len] = '\0';
}

static void down(struct str *s, const char *part, size_t len)
{
    if (s->len > 0)
        str_addc(s, '/');
    str_append(s, part, len);
}

enum pd_code tree_resolve(const struct tree *t, const char *path, struct str *out,
                          enum tree_kind *kind, struct pd_err *err)
{
    struct str rest;                      /* what is still to walk */
    int links = 0;
    enum pd_code rc = PD_OK;
    str_init(&rest, 1 << 16);
    str_add(&rest, path);
    str_clear(out);
    for (size_t at = 0; at < rest.len && rc == PD_OK;) {
        size_t len = strcspn(rest.p + at, "/");
        const char *part = rest.p + at;
        size_t next = at + len + (part[len] == '/');
        if (len == 2 && part[0] == '.' && part[1] == '.') {
            up(out);
        } else if (len > 0 && !(len == 1 && part[0] == '.')) {
            down(out, part, len);
            const struct node *d = find(t, out->p);
            if (d && d->kind == TREE_LINK) {
                char *tail = xasprintf("%s/%s", d->target, rest.p + next);
                if (d->target[0] == '/')
                    str_clear(out);
                else
                    up(out);
                str_clear(&rest);
                str_add(&rest, tail);
                free(tail);
                next = 0;
                if (++links > TREE_LINKS || rest.full)
                    rc = pd_fail(err, PD_IMAGE, _("/%s leads through a loop of symlinks"), path);
            }
        }
        at = next;
    }
    str_release(&rest);
    *kind = tree_kind_of(t, out->p);
    return rc;
}

/* The path with the symlinks of its folders followed. Caller frees. */
static enum pd_code real_path(const struct tree *t, char *path, char **out, struct pd_err *err)
{
    char *slash = strrchr(path, '/');
    if (!slash) {
        *out = xstrdup(path);
        return PD_OK;
    }
    struct str dir;
    enum tree_kind kind;
    str_init(&dir, 1 << 16);
    *slash = '\0';
    enum pd_code rc = tree_resolve(t, path, &dir, &kind, err);
    *slash = '/';
    if (rc == PD_OK)
        *out = xasprintf("%s%s", dir.p, dir.len ? slash : slash + 1);
    str_release(&dir);
    return rc;
}

static void put_entry(struct tree *t, const char *path, struct archive_entry *e)
{
    const char *target = archive_entry_symlink(e);
    if (archive_entry_filetype(e) == AE_IFDIR)
        tree_put(t, path, TREE_DIR, NULL);
    else if (archive_entry_filetype(e) == AE_IFLNK && target && !archive_entry_hardlink(e))
        tree_put(t, path, TREE_LINK, target);
    else
        tree_put(t, path, TREE_FILE, NULL);
    struct tree_meta m = {(unsigned)archive_entry_perm(e), (unsigned)archive_entry_uid(e),
                          (unsigned)archive_entry_gid(e)};
    tree_note(t, path, &m);
}

/* Whiteouts act on lower layers only: `mine` holds the names of this one. */
static enum pd_code add_entry(struct tree *t, struct tree *mine, struct archive_entry *e,
                              struct pd_err *err)
{
    char *name = layer_reader_clean(archive_entry_pathname(e)), *path = NULL, *target = NULL;
    enum pd_code rc = real_path(t, name, &path, err);
    free(name);
    if (rc != PD_OK)
        return rc;
    switch (layer_reader_whiteout(path, &target)) {
    case WHITEOUT_NAME:
        if (tree_kind_of(mine, target) == TREE_NONE)
            tree_remove(t, target);
        break;
    case WHITEOUT_OPAQUE:
        tree_prune(t, target, mine);
        break;
    default:
        put_entry(t, path, e);
        put_entry(mine, path, e);
    }
    free(target);
    free(path);
    return PD_OK;
}

enum pd_code tree_add_layer(struct tree *t, const struct layout *l,
                            const struct image_layer *layer, struct pd_err *err)
{
    char *path = layout_blob_path(l, layer->desc.digest);
    enum pd_code rc = tree_add_file(t, path, err);
    free(path);
    return rc;
}

enum pd_code tree_add_file(struct tree *t, const char *path, struct pd_err *err)
{
    struct layer_reader *r;
    struct archive_entry *e = NULL;
    enum pd_code rc = layer_reader_open(path, &r, err);
    if (rc != PD_OK)
        return rc;
    struct tree *mine = tree_new();
    do {
        rc = layer_reader_next(r, &e, err);
        if (rc == PD_OK && e)
            rc = add_entry(t, mine, e, err);
    } while (rc == PD_OK && e);
    tree_free(mine);
    layer_reader_close(r);
    return rc;
}
