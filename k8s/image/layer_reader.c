/* layer_reader.c - two libarchive readers in a row: the outer one undoes the
 * compression ("raw" format), the inner one reads the tar. Between and before
 * them everything is hashed. */
#include "k8s/image/layer_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "k8s/image/digest.h"

enum { READ_BLOCK = 1 << 17 };

struct layer_reader {
    char *path;
    int fd;
    bool broken;                  /* reading the file failed: errno_ */
    int errno_;
    struct archive *outer, *inner;
    struct digest *blob, *tar;
    locale_t locale;
    char block[READ_BLOCK];
};

locale_t layer_locale_enter(void)
{
    static locale_t utf8;
    if (!utf8)
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return utf8 ? uselocale(utf8) : (locale_t)0;
}

void layer_locale_leave(locale_t old)
{
    if (old)
        uselocale(old);
}

static la_ssize_t read_blob(struct archive *a, void *arg, const void **buf)
{
    struct layer_reader *r = arg;
    ssize_t n;
    do
        n = read(r->fd, r->block, sizeof r->block);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        archive_set_error(a, errno, "%s", strerror(errno));
        return -1;
    }
    digest_update(r->blob, r->block, (size_t)n);
    *buf = r->block;
    return n;
}

static la_ssize_t read_tar(struct archive *a, void *arg, const void **buf)
{
    struct layer_reader *r = arg;
    size_t n = 0;
    la_int64_t off;
    int rc = archive_read_data_block(r->outer, buf, &n, &off);
    if (rc == ARCHIVE_EOF)
        return 0;
    if (rc < ARCHIVE_WARN) {
        archive_set_error(a, archive_errno(r->outer), "%s", archive_error_string(r->outer));
        return -1;
    }
    digest_update(r->tar, *buf, n);
    return (la_ssize_t)n;
}

static enum pd_code archive_failed(const struct layer_reader *r, struct archive *a,
                                   struct pd_err *err)
{
    const char *why = archive_error_string(a);
    pd_fail(err, PD_IMAGE, _("layer %s can't be read: %s"), r->path,
            why ? why : _("damaged archive"));
    return pd_set_hint(err, _("pull or build the image again"));
}

static enum pd_code open_archives(struct layer_reader *r, struct pd_err *err)
{
    struct archive_entry *e;
    r->outer = archive_read_new();
    r->inner = archive_read_new();
    archive_read_support_format_raw(r->outer);
    archive_read_support_filter_gzip(r->outer);
    archive_read_support_filter_zstd(r->outer);
    archive_read_support_filter_bzip2(r->outer);      /* of ADD; no registry has these two */
    archive_read_support_filter_xz(r->outer);
    archive_read_support_format_tar(r->inner);
    if (archive_read_open(r->outer, r, NULL, read_blob, NULL) != ARCHIVE_OK ||
        archive_read_next_header(r->outer, &e) != ARCHIVE_OK)
        return archive_failed(r, r->outer, err);
    if (archive_read_open(r->inner, r, NULL, read_tar, NULL) != ARCHIVE_OK)
        return archive_failed(r, r->inner, err);
    return PD_OK;
}

enum pd_code layer_reader_open(const char *path, struct layer_reader **out, struct pd_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't open the layer %s"), path);
    struct layer_reader *r = xcalloc(1, sizeof *r);
    r->path = xstrdup(path);
    r->fd = fd;
    r->blob = digest_new();
    r->tar = digest_new();
    r->locale = layer_locale_enter();
    enum pd_code rc = open_archives(r, err);
    if (rc == PD_OK)
        *out = r;
    else
        layer_reader_close(r);
    return rc;
}

void layer_reader_close(struct layer_reader *r)
{
    if (!r)
        return;
    archive_read_free(r->inner);
    archive_read_free(r->outer);
    layer_locale_leave(r->locale);
    close(r->fd);
    digest_free(r->blob);
    digest_free(r->tar);
    free(r->path);
    free(r);
}

enum pd_code layer_reader_next(struct layer_reader *r, struct archive_entry **entry,
                               struct pd_err *err)
{
    int rc = archive_read_next_header(r->inner, entry);
    if (rc == ARCHIVE_EOF) {
        *entry = NULL;
        return PD_OK;
    }
    if (rc < ARCHIVE_WARN)
        return archive_failed(r, r->inner, err);
    if (!archive_entry_pathname(*entry))
        return pd_fail(err, PD_IMAGE, _("layer %s has an entry without a readable name"), r->path);
    return PD_OK;
}

enum pd_code layer_reader_data(struct layer_reader *r, const void **p, size_t *n, int64_t *offset,
                               struct pd_err *err)
{
    la_int64_t off = 0;
    int rc = archive_read_data_block(r->inner, p, n, &off);
    *offset = off;
    if (rc == ARCHIVE_EOF) {
        *n = 0;
        return PD_OK;
    }
    return rc < ARCHIVE_WARN ? archive_failed(r, r->inner, err) : PD_OK;
}

/* What follows the tar's end, so that both digests cover everything. */
static enum pd_code drain(struct layer_reader *r, struct pd_err *err)
{
    const void *p;
    size_t n;
    la_int64_t off;
    int rc;
    while ((rc = archive_read_data_block(r->outer, &p, &n, &off)) != ARCHIVE_EOF) {
        if (rc < ARCHIVE_WARN)
            return archive_failed(r, r->outer, err);
        digest_update(r->tar, p, n);
    }
    for (;;) {
        ssize_t k = read(r->fd, r->block, sizeof r->block);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return pd_fail_errno(err, PD_IO, _("can't read the layer %s"), r->path);
        if (k == 0)
            return PD_OK;
        digest_update(r->blob, r->block, (size_t)k);
    }
}

enum pd_code layer_reader_finish(struct layer_reader *r, const char *digest, const char *diff_id,
                                 struct pd_err *err)
{
    char got[DIGEST_TEXT];
    enum pd_code rc = drain(r, err);
    if (rc != PD_OK)
        return rc;
    digest_text(r->blob, got);
    if (digest && !str_eq(got, digest))
        rc = pd_fail(err, PD_IMAGE, _("layer %s is damaged: its digest is %s"), digest, got);
    digest_text(r->tar, got);
    if (rc == PD_OK && diff_id && !str_eq(got, diff_id))
        rc = pd_fail(err, PD_IMAGE, _("layer %s unpacks to %s, its config promises %s"),
                     digest ? digest : r->path, got, diff_id);
    if (rc != PD_OK)
        pd_set_hint(err, _("pull or build the image again"));
    return rc;
}

char *layer_reader_clean(const char *name)
{
    char *out = xmalloc(strlen(name) + 1);
    size_t n = 0;
    for (const char *p = name; *p;) {
        size_t len = strcspn(p, "/");
        bool up = len == 2 && p[0] == '.' && p[1] == '.';
        if (up) {
            while (n > 0 && out[n - 1] != '/')
                n--;
            n -= n > 0;
        } else if (len > 0 && !(len == 1 && p[0] == '.')) {
            if (n > 0)
                out[n++] = '/';
            memcpy(out + n, p, len);
            n += len;
        }
        p += len;
        p += *p == '/';
    }
    out[n] = '\0';
    return out;
}

enum whiteout layer_reader_whiteout(const char *path, char **target)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t dir = slash ? (size_t)(slash - path) : 0;
    if (!str_starts(base, ".wh."))
        return WHITEOUT_NONE;
    if (str_eq(base, ".wh..wh..opq")) {
        *target = xstrndup(path, dir);
        return WHITEOUT_OPAQUE;
    }
    *target = xasprintf("%.*s%s%s", (int)dir, path, slash ? "/" : "", base + 4);
    return WHITEOUT_NAME;
}
