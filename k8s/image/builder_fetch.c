/* builder_fetch.c - ADD of a URL: the file is fetched, its checksum compared,
 * and only then it is there. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/http.h"
#include "k8s/image/builder_priv.h"
#include "k8s/image/digest.h"

enum { FETCH_REDIRECTS = 8, FETCH_ERROR_MOST = 4096 };

struct fetch {
    struct build *b;
    struct digest *sum;
    int fd, failed;               /* errno of a write, 0 */
    int64_t got;
    const char *url;
};

static void on_data(void *arg, const char *p, size_t n)
{
    struct fetch *f = arg;
    struct builder_event e = {.kind = BUILD_PULL, .digest = f->url};
    digest_update(f->sum, p, n);
    f->got += (int64_t)n;
    while (n > 0 && !f->failed) {
        ssize_t k = write(f->fd, p, n);
        if (k < 0 && errno != EINTR)
            f->failed = errno;
        p += MAX(k, 0);
        n -= (size_t)MAX(k, 0);
    }
    e.done = e.bytes = f->got;
    if (f->b->spec->event)
        f->b->spec->event(f->b->spec->arg, &e);
}

/* "https://host:1/a" -> "https://host:1". Caller frees. */
static char *origin(const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    return xstrndup(url, (size_t)(host - url) + strcspn(host, "/?#"));
}

static char *absolute(const char *url, const char *location)
{
    if (strstr(location, "://"))
        return xstrdup(location);
    char *base = origin(url), *out = xasprintf("%s%s%s", base, *location == '/' ? "" : "/",
                                               location);
    free(base);
    return out;
}

/* One request; a redirect's target in *next (caller frees). */
static enum pd_code once(struct fetch *f, const char *url, char **next)
{
    struct http_response r = {0};
    struct str body;
    char *base = origin(url);
    struct http_target *t = http_target_new(base);
    struct http_request q = {.method = "GET", .path = url, .accept = "*/*", .data = on_data,
                             .no_body_on_error = true, .ceiling = FETCH_ERROR_MOST, .arg = f};
    str_init(&body, FETCH_ERROR_MOST);
    *next = NULL;
    enum pd_code rc = http_run(t, &q, &r, &body, f->b->err);
    if (rc == PD_OK && r.status >= 300 && r.status < 400 && r.location[0])
        *next = absolute(url, r.location);
    else if (rc == PD_OK && r.status != 200)
        rc = pd_fail(f->b->err, PD_HTTP, _("%.200s answered with status %d"), url, r.status);
    else if (rc == PD_OK && f->failed)
        rc = pd_fail(f->b->err, PD_IO, _("can't keep %.200s: %s"), url, strerror(f->failed));
    str_release(&body);
    http_target_unref(t);
    free(base);
    return rc;
}

static enum pd_code get(struct fetch *f, const char *url)
{
    char *at = xstrdup(url), *next = NULL;
    enum pd_code rc = PD_OK;
    int left = FETCH_REDIRECTS;
    for (; rc == PD_OK && at && left > 0; left--) {
        if (ftruncate(f->fd, 0) != 0 || lseek(f->fd, 0, SEEK_SET) != 0)
            f->failed = errno;
        digest_free(f->sum);
        f->sum = digest_new();
        f->got = 0;
        rc = once(f, at, &next);
        free(at);
        at = next;
    }
    if (rc == PD_OK && at)
        rc = pd_fail(f->b->err, PD_HTTP, _("%.200s leads from redirect to redirect"), url);
    free(at);
    return rc;
}

static enum pd_code compare(struct fetch *f, const char *want)
{
    char got[DIGEST_TEXT];
    digest_text(f->sum, got);
    if (str_eq(got, want))
        return PD_OK;
    pd_fail(f->b->err, PD_IMAGE, _("the fetched file has the checksum %s, not %.80s"), got, want);
    return pd_set_hint(f->b->err, _("the file at the URL has changed: look at it, then write its "
                                    "checksum"));
}

enum pd_code builder_fetch(struct build *b, const struct df_word *w, const char *url,
                           const char *checksum, struct build_root **out, char **name)
{
    struct fetch f = {.b = b, .url = url, .fd = -1};
    size_t end = strcspn(url, "?#"), start = end;
    if (!str_starts(checksum, "sha256:") || strlen(checksum) != DIGEST_TEXT - 1) {
        pd_fail_at(b->err, PD_PARSE, b->df->name, w->line, w->col,
                   _("--checksum=%.80s is no sha256 checksum"), checksum);
        return pd_set_hint(b->err, _("write --checksum=sha256: and 64 digits"));
    }
    while (start > 0 && url[start - 1] != '/')
        start--;
    *name = xstrndup(url + start, end - start);
    enum pd_code rc = builder_root_new(b, url, out);
    if (rc == PD_OK) {
        char *path = path_join((*out)->dir, "file");
        f.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (f.fd < 0)
            rc = pd_fail_errno(b->err, PD_IO, _("can't write %s"), path);
        free(path);
    }
    if (rc == PD_OK)
        rc = get(&f, url);
    if (rc == PD_OK)
        rc = compare(&f, checksum);
    digest_free(f.sum);
    if (f.fd >= 0)
        close(f.fd);
    return builder_placed(b, w, rc);
}
