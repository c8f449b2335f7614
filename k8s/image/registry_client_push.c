/* registry_client_push.c - an image to a registry: each blob that is not there,
 * then the manifest. An upload that breaks goes on where the registry says it
 * stands. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/registry_client_priv.h"

enum { PUSH_PIECE = 4 << 20 };

struct upload {
    struct registry_client *c;
    const struct image_desc *d;
    char *location;               /* of the open upload, or NULL */
    int fd;
    int64_t at;                   /* bytes the registry has */
    bool done;
    struct pd_err *err;
};

static void report(const struct registry_client *c, const struct image_desc *d, int64_t done)
{
    if (c->progress && c->progress->fn)
        c->progress->fn(c->progress->arg, d->digest, done, d->size);
}

static void moved(void *arg, int64_t sent, int64_t received UNUSED)
{
    const struct upload *u = arg;
    if (sent > 0)
        report(u->c, u->d, MIN(u->at + sent, u->d->size));
}

static enum pd_code refused(const struct upload *u)
{
    char what[200], size[32];
    registry_client_size(u->d->size, size);
    str_fmt(what, sizeof what, _("push of layer %.19s… (%s)"), u->d->digest, size);
    return registry_client_refused(u->c, what, u->d->size, u->err);
}

static bool take_location(struct upload *u)
{
    if (!u->c->r.location[0])
        return u->location != NULL;
    free(u->location);
    u->location = xstrdup(u->c->r.location);
    return true;
}

static enum pd_code start(struct upload *u, const char *mount_from)
{
    struct registry_client *c = u->c;
    char *path = mount_from ? xasprintf("/v2/%s/blobs/uploads/?mount=%s&from=%s",
                                        c->ref->repository, u->d->digest, mount_from)
                            : xasprintf("/v2/%s/blobs/uploads/", c->ref->repository);
    struct registry_call q = {.method = "POST", .path = path};
    enum pd_code rc = registry_client_send(c, &q, u->err);
    free(path);
    u->at = 0;
    if (rc != PD_OK)
        return rc;
    if (c->r.status == 201) {             /* mounted */
        u->done = true;
        return PD_OK;
    }
    if (c->r.status != 202)
        return refused(u);
    if (!take_location(u))
        return pd_fail(u->err, PD_PROTO, _("the registry opened an upload without a Location"));
    return PD_OK;
}

static char *final_url(const struct upload *u)
{
    return xasprintf("%s%cdigest=%s", u->location, strchr(u->location, '?') ? '&' : '?',
                     u->d->digest);
}

/* The whole blob in one PUT. */
static enum pd_code put_whole(struct upload *u)
{
    char *url = final_url(u);
    struct registry_call q = {.method = "PUT", .path = url, .fd = u->fd, .fd_size = u->d->size,
                              .content_type = "application/octet-stream", .once = true,
                              .moved = moved, .arg = u};
    enum pd_code rc = registry_client_send(u->c, &q, u->err);
    free(url);
    u->done = rc == PD_OK && u->c->r.status == 201;
    return rc;
}

/* How far is the open upload? A lost one is opened anew. */
static enum pd_code ask_position(struct upload *u)
{
    struct registry_call q = {.method = "GET", .path = u->location, .once = true};
    enum pd_code rc = registry_client_send(u->c, &q, u->err);
    long long last = -1;
    if (rc != PD_OK)
        return rc;
    if (u->c->r.status == 404)
        return start(u, NULL);
    if (u->c->r.status != 204)
        return PD_OK;                     /* the caller looks at the status */
    take_location(u);
    const char *dash = strchr(u->c->r.range, '-');
    if (dash && sscanf(dash + 1, "%lld", &last) == 1 && last > 0 && last < u->d->size)
        u->at = last + 1;
    else
        u->at = 0;
    return PD_OK;
}

/* One piece behind what the registry has. */
static enum pd_code patch_piece(struct upload *u, char *buf)
{
    ssize_t n;
    char range[64];
    do
        n = pread(u->fd, buf, PUSH_PIECE, u->at);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return pd_fail_errno(u->err, PD_IO, _("can't read layer %s"), u->d->digest);
    str_fmt(range, sizeof range, "%lld-%lld", (long long)u->at, (long long)(u->at + n - 1));
    struct registry_call q = {.method = "PATCH", .path = u->location, .body = buf, .n = (size_t)n,
                              .content_type = "application/octet-stream", .once = true,
                              .content_range = range};
    enum pd_code rc = registry_client_send(u->c, &q, u->err);
    if (rc != PD_OK || u->c->r.status != 202)
        return rc;
    take_location(u);
    u->at += n;
    report(u->c, u->d, u->at);
    return PD_OK;
}

/* From u->at to the end, then the closing PUT. */
static enum pd_code put_rest(struct upload *u)
{
    char *buf = xmalloc(PUSH_PIECE);
    enum pd_code rc = PD_OK;
    bool ok = true;
    while (rc == PD_OK && ok && u->at < u->d->size) {
        rc = patch_piece(u, buf);
        ok = u->c->r.status == 202;
    }
    free(buf);
    if (rc != PD_OK || !ok)
        return rc;
    char *url = final_url(u);
    struct registry_call q = {.method = "PUT", .path = url, .once = true};
    rc = registry_client_send(u->c, &q, u->err);
    free(url);
    u->done = rc == PD_OK && u->c->r.status == 201;
    return rc;
}

static enum pd_code transfer(struct upload *u)
{
    enum pd_code rc = put_whole(u);
    for (int attempt = 0; attempt < REGISTRY_TRIES && !u->done; attempt++) {
        bool again = registry_client_transient(u->c, rc) || u->c->r.status == 416;
        if (!again || attempt + 1 == REGISTRY_TRIES)
            return rc != PD_OK ? rc : refused(u);
        registry_client_wait(u->c, attempt);
        rc = ask_position(u);
        if (rc == PD_OK && (u->c->r.status == 204 || u->c->r.status == 202))
            rc = put_rest(u);
    }
    return u->done ? PD_OK : rc != PD_OK ? rc : refused(u);
}

static enum pd_code push_missing(struct registry_client *c, const struct layout *l,
                                 const struct image_desc *d, const char *mount_from,
                                 struct pd_err *err)
{
    char *path = layout_blob_path(l, d->digest);
    struct upload u = {.c = c, .d = d, .err = err, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    enum pd_code rc;
    if (u.fd < 0) {
        rc = pd_fail_errno(err, PD_IMAGE, _("the image lacks its blob %s"), path);
    } else {
        rc = start(&u, mount_from);
        if (rc == PD_OK && !u.done)
            rc = transfer(&u);
        close(u.fd);
    }
    free(u.location);
    free(path);
    return rc;
}

static enum pd_code push_blob(struct registry_client *c, const struct layout *l,
                              const struct image_desc *d, const char *mount_from,
                              struct pd_err *err)
{
    char *path = xasprintf("/v2/%s/blobs/%s", c->ref->repository, d->digest);
    struct registry_call q = {.method = "HEAD", .path = path};
    enum pd_code rc = registry_client_send(c, &q, err);
    free(path);
    if (rc != PD_OK)
        return rc;
    if (c->r.status == 404)
        rc = push_missing(c, l, d, mount_from, err);
    else if (c->r.status != 200)
        rc = registry_client_refused(c, _("push"), d->size, err);
    if (rc == PD_OK)
        report(c, d, d->size);
    return rc;
}

static enum pd_code push_manifest(struct registry_client *c, const struct layout *l,
                                  const struct image *im, struct pd_err *err)
{
    struct str text;
    str_init(&text, LAYOUT_META_CEILING);
    char *path = xasprintf("/v2/%s/manifests/%s", c->ref->repository,
                           c->ref->tag[0] ? c->ref->tag : im->manifest.digest);
    enum pd_code rc = layout_read(l, im->manifest.digest, LAYOUT_META_CEILING, &text, err);
    struct registry_call q = {.method = "PUT", .path = path, .body = text.p, .n = text.len,
                              .content_type = im->manifest.media_type};
    if (rc == PD_OK)
        rc = registry_client_send(c, &q, err);
    if (rc == PD_OK && c->r.status != 201)
        rc = registry_client_refused(c, _("push of the manifest"), im->manifest.size, err);
    else if (rc == PD_OK && c->r.digest[0] && !str_eq(c->r.digest, im->manifest.digest))
        rc = pd_fail(err, PD_PROTO, _("the registry stored the manifest as %s instead of %s"),
                     c->r.digest, im->manifest.digest);
    free(path);
    str_release(&text);
    return rc;
}

enum pd_code registry_client_push(const struct layout *l, const struct image_desc *d,
                                  const struct image_ref *ref, const char *mount_from,
                                  const struct registry_auth *auth,
                                  const struct registry_progress *p, struct image_desc *out,
                                  struct pd_err *err)
{
    struct image *im = NULL;
    struct registry_client c;
    enum pd_code rc = image_load(l, d, &im, err);
    if (rc != PD_OK)
        return rc;
    if ((rc = registry_client_open(ref, auth, true, p, &c, err)) == PD_OK) {
        for (size_t i = 0; i < im->n && rc == PD_OK; i++)
            rc = push_blob(&c, l, &im->layers[i].desc, mount_from, err);
        if (rc == PD_OK)
            rc = push_blob(&c, l, &im->config, NULL, err);
        if (rc == PD_OK)
            rc = push_manifest(&c, l, im, err);
        registry_client_close(&c);
    }
    if (rc == PD_OK)
        *out = im->manifest;
    image_free(im);
    return rc;
}
