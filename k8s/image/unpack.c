/* unpack.c - the entries of layers become files below a root descriptor. A
 * name is always taken apart into a folder, opened inside the root, and a last
 * part that is used with *at calls and never followed. */
#include "k8s/image/unpack.h"

#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/inroot.h"
#include "k8s/image/layer_reader.h"
#include "k8s/image/tree.h"

enum { UNPACK_MAX_ENTRIES = 4 << 20, UNPACK_DEPTH = 400 };

struct folder_time {
    char *path;
    struct timespec mtime;
};

struct unpack {
    int root;
    const struct unpack_options *opt;
    struct unpack_stats *stats;
    struct layer_reader *r;
    struct tree *mine;                    /* names this layer has made */
    struct folder_time *times;            /* set when the layer is done */
    size_t ntimes, cap;
    const char *path;                     /* of the entry at work */
    struct pd_err *err;
};

static enum pd_code fail_entry(const struct unpack *u, const char *what)
{
    return pd_fail_errno(u->err, PD_IO, _("can't unpack /%s: %s"), u->path, what);
}

/* --- removing --------------------------------------------------------------- */

/* Remove everything below dirfd that `keep` (its own name in the layer: path)
 * does not have; keep NULL: everything. */
static int empty_folder(int fd, const struct tree *keep, const char *path, int depth);

static int remove_at(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -1;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || empty_folder(fd, NULL, "", depth + 1) != 0)   /* closes fd */
        return -1;
    return unlinkat(parent, name, AT_REMOVEDIR);
}

static int empty_entry(int fd, const char *name, const struct tree *keep, const char *path,
                       int depth)
{
    if (!keep)
        return remove_at(fd, name, depth);
    char *full = xasprintf("%s%s%s", path, *path ? "/" : "", name);
    enum tree_kind kind = tree_kind_of(keep, full);
    int rc = 0;
    if (kind == TREE_NONE) {
        rc = remove_at(fd, name, depth);
    } else if (kind == TREE_DIR) {
        int sub = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        rc = sub < 0 ? -1 : empty_folder(sub, keep, full, depth + 1);
    }
    free(full);
    return rc;
}

static int empty_folder(int fd, const struct tree *keep, const char *path, int depth)
{
    DIR *d = depth > UNPACK_DEPTH ? NULL : fdopendir(fd);
    if (!d) {
        close(fd);
        errno = depth > UNPACK_DEPTH ? ENAMETOOLONG : errno;
        return -1;
    }
    int rc = 0;
    for (struct dirent *e; rc == 0 && (e = readdir(d));)
        if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
            rc = empty_entry(dirfd(d), e->d_name, keep, path, depth);
    int saved = errno;
    closedir(d);
    errno = saved;
    return rc;
}

static enum pd_code whiteout(struct unpack *u, enum whiteout kind, const char *target)
{
    u->stats->whiteouts++;
    if (kind == WHITEOUT_OPAQUE) {
        int fd = inroot_open(u->root, target, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
            return errno == ENOENT || errno == ENOTDIR ? PD_OK : fail_entry(u, _("opaque folder"));
        return empty_folder(fd, u->mine, target, 0) == 0 ? PD_OK
                                                         : fail_entry(u, _("opaque folder"));
    }
    if (!*target || str_ends(target, "/") || str_ends(target, "/.") || str_ends(target, "/..") ||
        str_eq(target, ".") || str_eq(target, ".."))
        return pd_fail(u->err, PD_IMAGE, _("the whiteout /%s names nothing"), u->path);
    if (tree_kind_of(u->mine, target) != TREE_NONE)
        return PD_OK;
    const char *name;
    int parent = inroot_parent(u->root, target, false, &name);
    if (parent < 0)
        return errno == ENOENT || errno == ENOTDIR ? PD_OK : fail_entry(u, _("whiteout"));
    int rc = remove_at(parent, name, 0), saved = errno;
    close(parent);
    errno = saved;
    return rc == 0 ? PD_OK : fail_entry(u, _("whiteout"));
}

/* --- making ------------------------------------------------------------------ */

static mode_t mode_of(const struct unpack *u, struct archive_entry *e)
{
    mode_t mode = archive_entry_perm(e) & 07777;
    if (u->opt->keep_owner)
        return mode;
    mode &= 0777 | S_ISVTX;               /* no setuid of someone else */
    return archive_entry_filetype(e) == AE_IFDIR ? mode | 0700 : mode;
}

static struct timespec mtime_of(struct archive_entry *e)
{
    return (struct timespec){archive_entry_mtime(e), archive_entry_mtime_nsec(e)};
}

/* Owner, mode and time of something that is no symlink. */
static enum pd_code set_meta(struct unpack *u, int parent, const char *name,
                             struct archive_entry *e)
{
    struct timespec t[2] = {mtime_of(e), mtime_of(e)};
    if (u->opt->keep_owner && fchownat(parent, name, (uid_t)archive_entry_uid(e),
                                       (gid_t)archive_entry_gid(e), AT_SYMLINK_NOFOLLOW) != 0)
        return fail_entry(u, _("owner"));
    if (archive_entry_filetype(e) == AE_IFLNK) {
        utimensat(parent, name, t, AT_SYMLINK_NOFOLLOW);
        return PD_OK;
    }
    if (fchmodat(parent, name, mode_of(u, e), 0) != 0)
        return fail_entry(u, _("mode"));
    utimensat(parent, name, t, AT_SYMLINK_NOFOLLOW);
    return PD_OK;
}

static void remember_time(struct unpack *u, struct archive_entry *e)
{
    if (u->ntimes == u->cap) {
        u->cap = u->cap ? 2 * u->cap : 64;
        u->times = xrealloc_array(u->times, u->cap, sizeof *u->times);
    }
    u->times[u->ntimes++] = (struct folder_time){xstrdup(u->path), mtime_of(e)};
}

static enum pd_code make_folder(struct unpack *u, int parent, const char *name,
                                struct archive_entry *e)
{
    struct stat st;
    bool there = fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && !S_ISDIR(st.st_mode)) {
        if (remove_at(parent, name, 0) != 0)
            return fail_entry(u, _("replace"));
        there = false;
    }
    if (!there && mkdirat(parent, name, 0700) != 0)
        return fail_entry(u, _("folder"));
    remember_time(u, e);
    return set_meta(u, parent, name, e);
}

static int write_at(int fd, const char *p, size_t n, int64_t off)
{
    while (n > 0) {
        ssize_t k = pwrite(fd, p, n, off);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return -1;
        p += k;
        n -= (size_t)k;
        off += k;
    }
    return 0;
}

static enum pd_code copy_data(struct unpack *u, int fd, int64_t size)
{
    int64_t ceiling = u->opt->max_bytes ? u->opt->max_bytes : (int64_t)64 << 30;
    for (;;) {
        const void *p;
        size_t n;
        int64_t off;
        enum pd_code rc = layer_reader_data(u->r, &p, &n, &off, u->err);
        if (rc != PD_OK)
            return rc;
        if (n == 0)
            break;
        u->stats->bytes += (int64_t)n;
        if (u->stats->bytes > ceiling)
            return pd_fail(u->err, PD_LIMIT, _("the image unpacks to more than %lld bytes"),
                           (long long)ceiling);
        if (write_at(fd, p, n, off) != 0)
            return fail_entry(u, _("write"));
    }
    return ftruncate(fd, size) == 0 ? PD_OK : fail_entry(u, _("size"));
}

static enum pd_code make_file(struct unpack *u, int parent, const char *name,
                              struct archive_entry *e)
{
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_entry(u, _("file"));
    enum pd_code rc = copy_data(u, fd, archive_entry_size(e));
    if (close(fd) != 0 && rc == PD_OK)
        rc = fail_entry(u, _("close"));
    return rc == PD_OK ? set_meta(u, parent, name, e) : rc;
}

static enum pd_code make_hardlink(struct unpack *u, int parent, const char *name,
                                  struct archive_entry *e)
{
    char *target = layer_reader_clean(archive_entry_hardlink(e));
    const char *tname;
    enum pd_code rc = PD_OK;
    if (str_eq(target, u->path)) {
        free(target);
        return PD_OK;
    }
    int from = *target ? inroot_parent(u->root, target, false, &tname) : -1;
    if (from < 0 || faccessat(from, tname, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
        rc = pd_fail(u->err, PD_IMAGE, _("/%s is a hard link to /%s, which is not in the image"),
                     u->path, target);
    else if (remove_at(parent, name, 0) != 0 || linkat(from, tname, parent, name, 0) != 0)
        rc = fail_entry(u, _("hard link"));
    if (from >= 0)
        close(from);
    free(target);
    return rc;
}

static enum pd_code make_device(struct unpack *u, int parent, const char *name,
                                struct archive_entry *e)
{
    mode_t type = archive_entry_filetype(e);
    if (type != AE_IFIFO && !u->opt->keep_owner) {
        u->stats->skipped_devices++;
        return PD_OK;
    }
    dev_t dev = 0;
    if (type != AE_IFIFO)
        dev = makedev(archive_entry_rdevmajor(e), archive_entry_rdevminor(e));
    if (mknodat(parent, name, type | 0600, dev) == 0)
        return set_meta(u, parent, name, e);
    if (errno != EPERM || type == AE_IFIFO)
        return fail_entry(u, _("device"));
    u->stats->skipped_devices++;          /* root of a user namespace */
    return PD_OK;
}

static enum pd_code make_symlink(struct unpack *u, int parent, const char *name,
                                 struct archive_entry *e)
{
    const char *target = archive_entry_symlink(e);
    if (!target || symlinkat(target, parent, name) != 0)
        return fail_entry(u, _("symlink"));
    return set_meta(u, parent, name, e);
}

static enum pd_code make(struct unpack *u, int parent, const char *name, struct archive_entry *e)
{
    if (archive_entry_hardlink(e))
        return make_hardlink(u, parent, name, e);
    if (archive_entry_filetype(e) == AE_IFDIR)
        return make_folder(u, parent, name, e);
    if (remove_at(parent, name, 0) != 0)
        return fail_entry(u, _("replace"));
    switch (archive_entry_filetype(e)) {
    case AE_IFREG:
        return make_file(u, parent, name, e);
    case AE_IFLNK:
        return make_symlink(u, parent, name, e);
    case AE_IFCHR:
    case AE_IFBLK:
    case AE_IFIFO:
        return make_device(u, parent, name, e);
    default:
        return pd_fail(u->err, PD_IMAGE, _("/%s is of an unknown kind"), u->path);
    }
}

static enum tree_kind kind_of(struct archive_entry *e)
{
    return archive_entry_filetype(e) == AE_IFDIR && !archive_entry_hardlink(e) ? TREE_DIR
                                                                               : TREE_FILE;
}

static enum pd_code entry(struct unpack *u, struct archive_entry *e)
{
    char *target = NULL;
    if (++u->stats->entries > UNPACK_MAX_ENTRIES)
        return pd_fail(u->err, PD_LIMIT, _("the image has more than %d entries"),
                       UNPACK_MAX_ENTRIES);
    enum whiteout w = layer_reader_whiteout(u->path, &target);
    if (w != WHITEOUT_NONE) {
        enum pd_code rc = whiteout(u, w, target);
        free(target);
        return rc;
    }
    if (!*u->path) {                      /* the root itself: its mode */
        if (archive_entry_filetype(e) != AE_IFDIR)
            return pd_fail(u->err, PD_IMAGE, _("a layer replaces / by something else"));
        return set_meta(u, u->root, ".", e);
    }
    const char *name;
    int parent = inroot_parent(u->root, u->path, true, &name);
    if (parent < 0)
        return fail_entry(u, _("folder above"));
    enum pd_code rc = make(u, parent, name, e);
    close(parent);
    if (rc == PD_OK)
        tree_put(u->mine, u->path, kind_of(e), NULL);
    return rc;
}

static void set_folder_times(struct unpack *u)
{
    for (size_t i = u->ntimes; i-- > 0;) {
        const char *name;
        int parent = inroot_parent(u->root, u->times[i].path, false, &name);
        if (parent >= 0) {
            struct timespec t[2] = {u->times[i].mtime, u->times[i].mtime};
            utimensat(parent, name, t, AT_SYMLINK_NOFOLLOW);
            close(parent);
        }
        free(u->times[i].path);
    }
    free(u->times);
}

static enum pd_code all_entries(struct unpack *u)
{
    for (;;) {
        struct archive_entry *e;
        enum pd_code rc = layer_reader_next(u->r, &e, u->err);
        if (rc != PD_OK || !e)
            return rc;
        char *path = layer_reader_clean(archive_entry_pathname(e));
        u->path = path;
        rc = entry(u, e);
        free(path);
        if (rc != PD_OK)
            return rc;
    }
}

enum pd_code unpack_layer(const char *path, const char *digest, const char *diff_id,
                          int rootfs_fd, const struct unpack_options *opt,
                          struct unpack_stats *stats, struct pd_err *err)
{
    struct unpack u = {.root = rootfs_fd, .opt = opt, .stats = stats, .err = err};
    enum pd_code rc = layer_reader_open(path, &u.r, err);
    if (rc != PD_OK)
        return rc;
    u.mine = tree_new();
    rc = all_entries(&u);
    if (rc == PD_OK)
        rc = layer_reader_finish(u.r, digest, diff_id, err);
    set_folder_times(&u);
    tree_free(u.mine);
    layer_reader_close(u.r);
    return rc;
}

static enum pd_code open_root(const char *rootfs, int *out, struct pd_err *err)
{
    enum pd_code rc = inroot_check(err);
    if (rc == PD_OK)
        rc = path_mkdirs(rootfs, 0755, err);
    if (rc != PD_OK)
        return rc;
    DIR *d = opendir(rootfs);
    if (!d)
        return pd_fail_errno(err, PD_IO, _("can't open %s"), rootfs);
    for (struct dirent *e; rc == PD_OK && (e = readdir(d));)
        if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
            rc = pd_fail(err, PD_IO, _("%s is not empty: it holds %s"), rootfs, e->d_name);
    closedir(d);
    if (rc != PD_OK)
        return pd_set_hint(err, _("unpack into a new folder"));
    *out = open(rootfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *out >= 0 ? PD_OK : pd_fail_errno(err, PD_IO, _("can't open %s"), rootfs);
}

enum pd_code unpack_image(const struct layout *l, const struct image *im, const char *rootfs,
                          const struct unpack_options *opt, struct unpack_stats *stats,
                          struct pd_err *err)
{
    int root = -1;
    enum pd_code rc = open_root(rootfs, &root, err);
    if (rc != PD_OK)
        return rc;
    for (size_t i = 0; i < im->n && rc == PD_OK; i++) {
        char *path = layout_blob_path(l, im->layers[i].desc.digest);
        rc = unpack_layer(path, im->layers[i].desc.digest, im->layers[i].diff_id, root, opt,
                          stats, err);
        free(path);
        if (rc == PD_OK && opt->progress)
            opt->progress(opt->arg, i + 1, im->n, stats->bytes);
    }
    close(root);
    return rc;
}
