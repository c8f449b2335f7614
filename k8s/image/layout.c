/* layout.c - blobs and their writer of an OCI image layout. Tags stand in
 * layout_index.c. */
#include "k8s/image/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/digest.h"
#include "k8s/image/layout_priv.h"
#include "k8s/image/ref.h"

struct layout_writer {
    struct layout *l;
    char *tmp;
    int fd;
    int64_t size;
    struct digest *hash;
};

static const char layout_file[] = "{\"imageLayoutVersion\":\"1.0.0\"}";
static const char empty_index[] =
    "{\"schemaVersion\":2,\"mediaType\":\"" MT_OCI_INDEX "\",\"manifests\":[]}";

char *layout_default_dir(void)
{
    return path_home(PATH_DATA, "images");
}

static enum pd_code write_missing(const char *dir, const char *name, const char *text,
                                  struct pd_err *err)
{
    char *path = path_join(dir, name);
    enum pd_code rc = PD_OK;
    if (access(path, F_OK) != 0)
        rc = path_write_atomic(path, 0644, text, strlen(text), err);
    free(path);
    return rc;
}

static enum pd_code create_dir(const char *dir, struct pd_err *err)
{
    char *blobs = path_join(dir, "blobs/sha256");
    enum pd_code rc = path_mkdirs(blobs, 0755, err);
    free(blobs);
    /* index.json first: a folder with oci-layout is a whole layout */
    if (rc == PD_OK)
        rc = write_missing(dir, "index.json", empty_index, err);
    return rc == PD_OK ? write_missing(dir, "oci-layout", layout_file, err) : rc;
}

static enum pd_code check_dir(const char *dir, struct pd_err *err)
{
    char *path = path_join(dir, "oci-layout");
    struct json *j = NULL;
    enum pd_code rc = PD_OK;
    struct pd_err why = {0};
    if (access(path, F_OK) != 0) {
        rc = pd_fail(err, PD_IMAGE, _("%s is no OCI image layout: it has no file oci-layout"), dir);
        pd_set_hint(err, _("name the folder that holds oci-layout, index.json and blobs"));
    } else if (json_read_file(path, 4096, &j, &why) != PD_OK ||
               !str_starts(json_str(j, "imageLayoutVersion", ""), "1.")) {
        rc = pd_fail(err, PD_IMAGE, _("%s: imageLayoutVersion is \"%s\", not 1.x"), path,
                     json_str(j, "imageLayoutVersion", ""));
    }
    json_free(j);
    free(path);
    return rc;
}

enum pd_code layout_open(const char *dir, bool create, struct layout **out, struct pd_err *err)
{
    enum pd_code rc = create ? create_dir(dir, err) : PD_OK;
    if (rc == PD_OK)
        rc = check_dir(dir, err);
    if (rc != PD_OK)
        return rc;
    struct layout *l = xcalloc(1, sizeof *l);
    l->dir = xstrdup(dir);
    *out = l;
    return PD_OK;
}

void layout_close(struct layout *l)
{
    if (!l)
        return;
    free(l->dir);
    free(l);
}

char *layout_blob_path(const struct layout *l, const char *digest)
{
    const char *colon = strchr(digest, ':');
    assert(colon && ref_digest_valid(digest));
    return xasprintf("%s/blobs/%.*s/%s", l->dir, (int)(colon - digest), digest, colon + 1);
}

bool layout_has(const struct layout *l, const char *digest, int64_t size)
{
    struct stat st;
    char *path = layout_blob_path(l, digest);
    bool there = stat(path, &st) == 0 && S_ISREG(st.st_mode) && (size < 0 || st.st_size == size);
    free(path);
    return there;
}

enum pd_code layout_read(const struct layout *l, const char *digest, size_t ceiling,
                         struct str *out, struct pd_err *err)
{
    if (!ref_digest_valid(digest) || !str_starts(digest, "sha256:"))
        return pd_fail(err, PD_IMAGE, _("\"%s\" is no sha256 digest"), digest);
    char *path = layout_blob_path(l, digest);
    size_t before = out->len;
    enum pd_code rc = path_read(path, ceiling, out, err);
    char got[DIGEST_TEXT];
    digest_of(out->p + before, out->len - before, got);
    if (rc == PD_OK && !str_eq(got, digest))
        rc = pd_fail(err, PD_IMAGE, _("%s is damaged: its digest is %s"), path, got);
    free(path);
    return rc;
}

enum pd_code layout_writer_new(struct layout *l, struct layout_writer **out, struct pd_err *err)
{
    /* without a name, so that a killed process leaves nothing */
    char *tmp = NULL;
    int fd = open(l->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        tmp = xasprintf("%s/.podium-XXXXXX", l->dir);
        fd = mkostemp(tmp, O_CLOEXEC);
    }
    if (fd < 0) {
        enum pd_code rc = pd_fail_errno(err, PD_IO, _("can't write into %s"), l->dir);
        free(tmp);
        return rc;
    }
    struct layout_writer *w = xcalloc(1, sizeof *w);
    w->l = l;
    w->tmp = tmp;
    w->fd = fd;
    w->hash = digest_new();
    *out = w;
    return PD_OK;
}

enum pd_code layout_writer_write(struct layout_writer *w, const void *p, size_t n,
                                 struct pd_err *err)
{
    digest_update(w->hash, p, n);
    w->size += (int64_t)n;
    for (const char *c = p; n > 0;) {
        ssize_t k = write(w->fd, c, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return pd_fail_errno(err, PD_IO, _("can't write a blob into %s"), w->l->dir);
        c += k;
        n -= (size_t)k;
    }
    return PD_OK;
}

static void writer_free(struct layout_writer *w)
{
    if (w->fd >= 0)
        close(w->fd);
    digest_free(w->hash);
    free(w->tmp);
    free(w);
}

void layout_writer_abort(struct layout_writer *w)
{
    if (!w)
        return;
    if (w->tmp)
        unlink(w->tmp);
    writer_free(w);
}

/* A name for a file that has none yet. */
static bool give_name(struct layout_writer *w, const char *digest)
{
    char from[64];
    if (w->tmp)
        return true;
    w->tmp = xasprintf("%s/.podium-%.16s-%d", w->l->dir, digest + strlen("sha256:"),
                       (int)getpid());
    str_fmt(from, sizeof from, "/proc/self/fd/%d", w->fd);
    unlink(w->tmp);
    return linkat(AT_FDCWD, from, AT_FDCWD, w->tmp, AT_SYMLINK_FOLLOW) == 0;
}

static enum pd_code publish(struct layout_writer *w, const char *digest, struct pd_err *err)
{
    if (fchmod(w->fd, 0644) != 0 || fdatasync(w->fd) != 0 || !give_name(w, digest))
        return pd_fail_errno(err, PD_IO, _("can't write a blob into %s"), w->l->dir);
    char *path = layout_blob_path(w->l, digest);
    enum pd_code rc = PD_OK;
    if (rename(w->tmp, path) != 0)
        rc = pd_fail_errno(err, PD_IO, _("can't write %s"), path);
    free(path);
    return rc;
}

enum pd_code layout_writer_commit(struct layout_writer *w, const char *expect, int64_t size,
                                  struct image_desc *out, struct pd_err *err)
{
    char got[DIGEST_TEXT];
    enum pd_code rc = PD_OK;
    digest_text(w->hash, got);
    if (size >= 0 && size != w->size)
        rc = pd_fail(err, PD_IMAGE, _("blob %s has %lld bytes, %lld were promised"),
                     expect ? expect : got, (long long)w->size, (long long)size);
    else if (expect && !str_eq(expect, got))
        rc = pd_fail(err, PD_IMAGE, _("blob %s has the digest %s: it was changed on its way"),
                     expect, got);
    else
        rc = publish(w, got, err);
    if (rc != PD_OK) {
        layout_writer_abort(w);
        return rc;
    }
    str_copy(out->digest, sizeof out->digest, got);
    out->size = w->size;
    writer_free(w);
    return PD_OK;
}

enum pd_code layout_put(struct layout *l, const char *media_type, const void *data, size_t n,
                        struct image_desc *out, struct pd_err *err)
{
    struct layout_writer *w;
    enum pd_code rc = layout_writer_new(l, &w, err);
    if (rc != PD_OK)
        return rc;
    if ((rc = layout_writer_write(w, data, n, err)) != PD_OK) {
        layout_writer_abort(w);
        return rc;
    }
    str_copy(out->media_type, sizeof out->media_type, media_type);
    return layout_writer_commit(w, NULL, -1, out, err);
}
