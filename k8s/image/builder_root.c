/* builder_root.c - folders to copy from besides the context: an image or a
 * stage unpacked, an archive unpacked, a place for a fetched file. They stand
 * in podium's cache folder while the build runs, each with a lock held; what a
 * killed build left (its lock is free) is removed by the next one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/inroot.h"
#include "k8s/image/layer_reader.h"
#include "k8s/image/unpack.h"

enum { ROOT_NEW_SECONDS = 60 };

static char *roots_dir(void)
{
    return path_home(PATH_CACHE, "roots");
}

/* Is nobody at work in it any more? */
static bool left_behind(const char *lock)
{
    struct stat st;
    int fd = open(lock, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool left = flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
                time(NULL) - st.st_mtime > ROOT_NEW_SECONDS;
    close(fd);
    return left;
}

/* X.lock and the folder X. */
static void sweep(const char *dir)
{
    struct pd_err ignored;
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (!str_ends(e->d_name, ".lock"))
            continue;
        char *lock = path_join(dir, e->d_name);
        char *folder = xstrndup(lock, strlen(lock) - 5);
        if (left_behind(lock) && path_remove_tree(folder, &ignored) == PD_OK)
            unlink(lock);
        free(folder);
        free(lock);
    }
    closedir(d);
}

static void free_root(struct build_root *r)
{
    struct pd_err ignored;
    context_close(r->ctx);
    tree_free(r->tree);
    if (r->dir && path_remove_tree(r->dir, &ignored) == PD_OK) {
        char *lock = xasprintf("%s.lock", r->dir);
        unlink(lock);
        free(lock);
    }
    if (r->lock >= 0)
        close(r->lock);
    free(r->dir);
    free(r->key);
    free(r);
}

/* A name nobody has, its lock held. */
static enum pd_code take_name(struct build *b, struct build_root *r, const char *dir)
{
    char *lock = xasprintf("%s/rXXXXXX.lock", dir);
    enum pd_code rc = PD_OK;
    r->lock = mkstemps(lock, 5);
    if (r->lock < 0)
        rc = pd_fail_errno(b->err, PD_IO, _("can't write into %s"), dir);
    else if (fcntl(r->lock, F_SETFD, FD_CLOEXEC) != 0 || flock(r->lock, LOCK_EX | LOCK_NB) != 0)
        rc = pd_fail_errno(b->err, PD_IO, _("can't lock %s"), lock);
    if (rc == PD_OK) {
        r->dir = xstrndup(lock, strlen(lock) - 5);
        rc = path_mkdirs(r->dir, 0700, b->err);
    }
    free(lock);
    return rc;
}

enum pd_code builder_root_new(struct build *b, const char *key, struct build_root **out)
{
    struct build_root *r = xcalloc(1, sizeof *r);
    char *dir = roots_dir();
    r->lock = -1;
    r->key = xstrdup(key);
    enum pd_code rc = path_mkdirs(dir, 0700, b->err);
    if (rc == PD_OK && b->nroots == 0)
        sweep(dir);
    if (rc == PD_OK)
        rc = take_name(b, r, dir);
    if (rc == PD_OK)
        rc = context_open_whole(r->dir, &r->ctx, b->err);
    free(dir);
    if (rc != PD_OK) {
        free_root(r);
        return rc;
    }
    b->roots = xrealloc_array(b->roots, b->nroots + 1, sizeof(struct build_root *));
    b->roots[b->nroots++] = r;
    *out = r;
    return PD_OK;
}

void builder_root_release(struct build *b)
{
    for (size_t i = 0; i < b->nroots; i++)
        free_root(b->roots[i]);
    free(b->roots);
}

static struct build_root *known(const struct build *b, const char *key)
{
    for (size_t i = 0; i < b->nroots; i++)
        if (str_eq(b->roots[i]->key, key))
            return b->roots[i];
    return NULL;
}

static enum pd_code unpack_into(struct build *b, struct build_root *r, const char *blob)
{
    struct unpack_options opt = {.keep_owner = false};
    struct unpack_stats stats = {0};
    return unpack_layer(blob, NULL, NULL, context_fd(r->ctx), &opt, &stats, b->err);
}

static enum pd_code unpack_layers(struct build *b, struct build_root *r, const struct layout *l,
                                  const struct image_layer *v, size_t n)
{
    enum pd_code rc = PD_OK;
    r->tree = tree_new();
    for (size_t i = 0; i < n && rc == PD_OK; i++) {
        char *path = layout_blob_path(l, v[i].desc.digest);
        rc = unpack_into(b, r, path);
        free(path);
        if (rc == PD_OK)
            rc = tree_add_layer(r->tree, l, &v[i], b->err);
    }
    return rc;
}

static enum pd_code from_stage(struct build *b, int stage, struct build_root *r)
{
    const struct json *layers = b->done[stage].layers;
    size_t n = json_count(layers);
    struct image_layer *v = xcalloc(n + 1, sizeof *v);
    for (size_t i = 0; i < n; i++)
        str_copy(v[i].desc.digest, sizeof v[i].desc.digest,
                 json_str(json_item(layers, (int)i), "digest", ""));
    enum pd_code rc = unpack_layers(b, r, b->spec->out, v, n);
    free(v);
    return rc;
}

static enum pd_code from_image(struct build *b, const char *name, struct build_root *r)
{
    struct image_place p = {0};
    struct image *im = NULL;
    enum pd_code rc = builder_from_image(b, name, &p, &im);
    if (rc == PD_OK)
        rc = unpack_layers(b, r, p.layout, im->layers, im->n);
    image_free(im);
    image_place_release(&p);
    return rc;
}

enum pd_code builder_root_from(struct build *b, const char *from, struct build_root **out)
{
    char key[REF_TEXT_MAX + 16];
    int stage = dockerfile_plan_find(&b->plan, (size_t)MAX(b->stage, 0), from);
    if (stage >= 0)
        str_fmt(key, sizeof key, "stage %d", stage);
    else
        str_fmt(key, sizeof key, "image %s", from);
    if ((*out = known(b, key)))
        return PD_OK;
    enum pd_code rc = builder_root_new(b, key, out);
    if (rc != PD_OK)
        return rc;
    return stage >= 0 ? from_stage(b, stage, *out) : from_image(b, from, *out);
}

/* --- archives ------------------------------------------------------------------ */

static bool is_tar(const char *path)
{
    struct layer_reader *r = NULL;
    struct archive_entry *e = NULL;
    struct pd_err ignored;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < 32)
        return false;
    if (layer_reader_open(path, &r, &ignored) != PD_OK)
        return false;
    bool tar = layer_reader_next(r, &e, &ignored) == PD_OK && e;
    layer_reader_close(r);
    return tar;
}

enum pd_code builder_root_tar(struct build *b, struct context *ctx, const char *path,
                              struct build_root **out)
{
    char blob[64], *key;
    int fd = inroot_open(context_fd(ctx), path, O_RDONLY, 0);
    enum pd_code rc = PD_OK;
    *out = NULL;
    if (fd < 0)
        return pd_fail_errno(b->err, PD_IO, _("can't read %s of the context"), path);
    str_fmt(blob, sizeof blob, "/proc/self/fd/%d", fd);
    if (!is_tar(blob)) {
        close(fd);
        return PD_OK;
    }
    key = xasprintf("tar %s/%s", context_dir(ctx), path);
    if (!(*out = known(b, key))) {
        rc = builder_root_new(b, key, out);
        if (rc == PD_OK)
            rc = unpack_into(b, *out, blob);
        if (rc == PD_OK) {
            (*out)->tree = tree_new();
            rc = tree_add_file((*out)->tree, blob, b->err);
        }
    }
    free(key);
    close(fd);
    return rc;
}
