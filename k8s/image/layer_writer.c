/* layer_writer.c - tar by libarchive, gzip by zlib, both hashed on the way to
 * the blob; and the cache that knows which input made which layer. */
#include "k8s/image/layer_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/digest.h"
#include "k8s/image/inroot.h"
#include "k8s/image/layer_reader.h"

/* The level is part of a layer's identity: changing it changes every digest. */
enum { GZIP_LEVEL = 4, PACK_BLOCK = 1 << 17 };
#define CACHE_VERSION "podium-layer-1"

struct packer {
    const struct layer_writer_options *opt;
    struct archive *tar;
    z_stream z;
    gz_header header;
    int strategy;
    struct layout_writer *blob;
    struct digest *diff;
    int64_t done, total;
    struct pd_err *err;
    enum pd_code failed;                  /* a write inside libarchive's callback */
    unsigned char in[PACK_BLOCK], out[PACK_BLOCK];
};

/* --- reading the files -------------------------------------------------------- */

static enum pd_code open_source(const struct layer_writer_options *opt,
                                const struct layer_entry *e, int *fd, struct pd_err *err)
{
    struct stat st;
    *fd = inroot_open(e->src_fd ? e->src_fd : opt->src_fd, e->src, O_RDONLY | O_NONBLOCK, 0);
    if (*fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't read %s of the context"), e->src);
    if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == e->size)
        return PD_OK;
    close(*fd);
    return pd_fail(err, PD_IMAGE, _("%s changed while the image was built"), e->src);
}

typedef enum pd_code block_fn(void *arg, const void *p, size_t n, struct pd_err *err);

/* Give exactly e->size bytes to fn. */
static enum pd_code read_source(const struct layer_writer_options *opt,
                                const struct layer_entry *e, unsigned char *buf, block_fn *fn,
                                void *arg, struct pd_err *err)
{
    int fd = -1;
    if (e->data)
        return fn(arg, e->data, (size_t)e->size, err);
    enum pd_code rc = open_source(opt, e, &fd, err);
    int64_t left = e->size;
    while (rc == PD_OK && left > 0) {
        ssize_t n = read(fd, buf, (size_t)MIN(left, (int64_t)PACK_BLOCK));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = pd_fail_errno(err, PD_IO, _("can't read %s of the context"), e->src);
        else if (n == 0)
            rc = pd_fail(err, PD_IMAGE, _("%s changed while the image was built"), e->src);
        else
            rc = fn(arg, buf, (size_t)n, err);
        left -= n;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* --- tar and gzip ------------------------------------------------------------- */

/* Bytes spread so evenly that matching finds nothing (float weights, archives,
 * noise) are Huffman-coded only: three times as fast and no larger. The measure
 * is the chance that two bytes are equal, in integers, so that every machine
 * decides alike; text and programs lie far above 1/64. */
static bool is_even(const unsigned char *data, size_t n)
{
    uint64_t count[256] = {0}, squares = 0;
    for (size_t i = 0; i < n; i++)
        count[data[i]]++;
    for (int i = 0; i < 256; i++)
        squares += count[i] * count[i];
    return squares * 64 < (uint64_t)n * n;
}

static enum pd_code choose_strategy(struct packer *p, const void *data, size_t n)
{
    int want = is_even(data, n) ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY, rc;
    if (want == p->strategy)
        return PD_OK;
    p->strategy = want;
    p->z.next_in = NULL;
    p->z.avail_in = 0;
    do {                                  /* ends the block begun so far */
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        rc = deflateParams(&p->z, GZIP_LEVEL, want);
        if (rc != Z_OK && rc != Z_BUF_ERROR)
            PD_BUG("deflateParams: %d", rc);
        size_t made = sizeof p->out - p->z.avail_out;
        enum pd_code code = made ? layout_writer_write(p->blob, p->out, made, p->err) : PD_OK;
        if (code != PD_OK)
            return code;
    } while (rc == Z_BUF_ERROR);
    return PD_OK;
}

static enum pd_code deflate_some(struct packer *p, const void *data, size_t n, int flush)
{
    p->z.next_in = (unsigned char *)(uintptr_t)data;
    p->z.avail_in = (unsigned)n;
    do {
        p->z.next_out = p->out;
        p->z.avail_out = sizeof p->out;
        int rc = deflate(&p->z, flush);
        if (rc == Z_STREAM_ERROR)
            PD_BUG("deflate: %d", rc);
        size_t made = sizeof p->out - p->z.avail_out;
        enum pd_code code = made ? layout_writer_write(p->blob, p->out, made, p->err) : PD_OK;
        if (code != PD_OK)
            return code;
    } while (p->z.avail_out == 0);
    return PD_OK;
}

static la_ssize_t tar_bytes(struct archive *a, void *arg, const void *data, size_t n)
{
    struct packer *p = arg;
    digest_update(p->diff, data, n);
    p->failed = choose_strategy(p, data, n);
    if (p->failed == PD_OK)
        p->failed = deflate_some(p, data, n, Z_NO_FLUSH);
    if (p->failed == PD_OK)
        return (la_ssize_t)n;
    archive_set_error(a, EIO, "write failed");
    return -1;
}

static enum pd_code tar_failed(struct packer *p, const char *path)
{
    if (p->failed != PD_OK)
        return p->failed;
    const char *why = archive_error_string(p->tar);
    return pd_fail(p->err, PD_IMAGE, _("can't pack /%s: %s"), path, why ? why : "?");
}

static enum pd_code tar_data(void *arg, const void *data, size_t n, struct pd_err *err UNUSED)
{
    struct packer *p = arg;
    if (archive_write_data(p->tar, data, n) != (la_ssize_t)n)
        return tar_failed(p, "");
    p->done += (int64_t)n;
    if (p->opt->progress)
        p->opt->progress(p->opt->arg, p->done, p->total);
    return PD_OK;
}

static enum pd_code pack_entry(struct packer *p, const struct layer_entry *e)
{
    static const unsigned types[] = {
        [LAYER_DIR] = AE_IFDIR, [LAYER_FILE] = AE_IFREG, [LAYER_LINK] = AE_IFLNK};
    struct archive_entry *a = archive_entry_new();
    char *name = xasprintf("%s%s", e->path, e->kind == LAYER_DIR ? "/" : "");
    archive_entry_set_pathname(a, name);
    archive_entry_set_filetype(a, types[e->kind]);
    archive_entry_set_perm(a, e->mode);
    archive_entry_set_uid(a, e->uid);
    archive_entry_set_gid(a, e->gid);
    archive_entry_set_mtime(a, p->opt->mtime, 0);
    archive_entry_set_size(a, e->kind == LAYER_FILE ? e->size : 0);
    if (e->kind == LAYER_LINK)
        archive_entry_set_symlink(a, e->link);
    int rc = archive_write_header(p->tar, a);
    archive_entry_free(a);
    free(name);
    if (rc < ARCHIVE_WARN)
        return tar_failed(p, e->path);
    if (e->kind != LAYER_FILE)
        return PD_OK;
    return read_source(p->opt, e, p->in, tar_data, p, p->err);
}

static void packer_start(struct packer *p)
{
    /* window 15, +16: gzip; the header is set so that it names no system */
    if (deflateInit2(&p->z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        PD_BUG("deflateInit2");
    p->header.os = 255;
    deflateSetHeader(&p->z, &p->header);
    p->tar = archive_write_new();
    archive_write_set_format_pax_restricted(p->tar);
    archive_write_set_bytes_per_block(p->tar, PACK_BLOCK);
    archive_write_set_bytes_in_last_block(p->tar, 1);
    archive_write_open(p->tar, p, NULL, tar_bytes, NULL);
}

static enum pd_code pack(struct packer *p, struct layout *l, const struct layer_list *list,
                         struct layer_result *out)
{
    enum pd_code rc = layout_writer_new(l, &p->blob, p->err);
    if (rc != PD_OK)
        return rc;
    packer_start(p);
    for (size_t i = 0; i < list->n && rc == PD_OK; i++)
        rc = pack_entry(p, &list->v[i]);
    if (rc == PD_OK && archive_write_close(p->tar) != ARCHIVE_OK)
        rc = tar_failed(p, "");
    if (rc != PD_OK)
        archive_write_fail(p->tar);
    archive_write_free(p->tar);
    if (rc == PD_OK)
        rc = deflate_some(p, NULL, 0, Z_FINISH);
    deflateEnd(&p->z);
    if (rc != PD_OK) {
        layout_writer_abort(p->blob);
        return rc;
    }
    str_copy(out->desc.media_type, sizeof out->desc.media_type, MT_OCI_LAYER_GZIP);
    digest_text(p->diff, out->diff_id);
    return layout_writer_commit(p->blob, NULL, -1, &out->desc, p->err);
}

/* --- the cache ------------------------------------------------------------------ */

static enum pd_code hash_block(void *arg, const void *p, size_t n, struct pd_err *err UNUSED)
{
    digest_update(arg, p, n);
    return PD_OK;
}

/* Everything that decides about the layer's bytes. */
static enum pd_code cache_key(const struct layer_list *list,
                              const struct layer_writer_options *opt, char key[DIGEST_TEXT],
                              struct pd_err *err)
{
    struct digest *d = digest_new();
    unsigned char *buf = xmalloc(PACK_BLOCK);
    char line[256];
    enum pd_code rc = PD_OK;
    str_fmt(line, sizeof line, "%s %s %s %d %lld\n", CACHE_VERSION, zlibVersion(),
            archive_version_string(), GZIP_LEVEL, (long long)opt->mtime);
    digest_update(d, line, strlen(line));
    for (size_t i = 0; i < list->n && rc == PD_OK; i++) {
        const struct layer_entry *e = &list->v[i];
        str_fmt(line, sizeof line, "%d %o %u %u %lld ", (int)e->kind, e->mode, e->uid, e->gid,
                (long long)e->size);
        digest_update(d, line, strlen(line));
        digest_update(d, e->path, strlen(e->path) + 1);
        if (e->kind == LAYER_LINK)
            digest_update(d, e->link, strlen(e->link) + 1);
        if (e->kind == LAYER_FILE)
            rc = read_source(opt, e, buf, hash_block, d, err);
    }
    digest_text(d, key);
    digest_free(d);
    free(buf);
    return rc;
}

static char *cache_path(const char *key)
{
    char *rel = xasprintf("layers/%s", key + strlen("sha256:"));
    char *path = path_home(PATH_CACHE, rel);
    free(rel);
    return path;
}

static bool cache_get(const struct layout *l, const char *key, struct layer_result *out)
{
    struct str text;
    struct pd_err err;
    struct strv parts;
    int64_t size;
    char *path = cache_path(key);
    bool hit = false;
    str_init(&text, 512);
    strv_init(&parts);
    if (path_read(path, 512, &text, &err) == PD_OK) {
        strv_split(&parts, text.p, ' ');
        hit = parts.n == 3 && strlen(parts.v[0]) == DIGEST_TEXT - 1 &&
              strlen(parts.v[2]) == DIGEST_TEXT - 1 && str_to_i64(parts.v[1], &size) &&
              layout_has(l, parts.v[0], size);
    }
    if (hit) {
        str_copy(out->desc.digest, DIGEST_SIZE, parts.v[0]);
        str_copy(out->desc.media_type, sizeof out->desc.media_type, MT_OCI_LAYER_GZIP);
        out->desc.size = size;
        str_copy(out->diff_id, DIGEST_SIZE, parts.v[2]);
    }
    strv_release(&parts);
    str_release(&text);
    free(path);
    return hit;
}

/* A cache that can't be written is no error. */
static void cache_put(const char *key, const struct layer_result *r)
{
    char text[512], *path = cache_path(key);
    struct pd_err err;
    str_fmt(text, sizeof text, "%s %lld %s", r->desc.digest, (long long)r->desc.size, r->diff_id);
    if (path_write_atomic(path, 0600, text, strlen(text), &err) != PD_OK)
        unlink(path);
    free(path);
}

enum pd_code layer_writer_pack(struct layout *l, const struct layer_list *list,
                               const struct layer_writer_options *opt, struct layer_result *out,
                               struct pd_err *err)
{
    char key[DIGEST_TEXT];
    memset(out, 0, sizeof *out);
    enum pd_code rc = cache_key(list, opt, key, err);
    if (rc != PD_OK)
        return rc;
    if (!opt->no_cache && cache_get(l, key, out)) {
        out->cached = true;
        return PD_OK;
    }
    locale_t old = layer_locale_enter();
    struct packer *p = xcalloc(1, sizeof *p);
    p->opt = opt;
    p->err = err;
    p->total = list->bytes;
    p->diff = digest_new();
    rc = pack(p, l, list, out);
    digest_free(p->diff);
    free(p);
    layer_locale_leave(old);
    if (rc == PD_OK)
        cache_put(key, out);
    return rc;
}
