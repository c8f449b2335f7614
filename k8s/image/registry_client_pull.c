/* registry_client_pull.c - an image from a registry: manifest (through an index
 * to linux/amd64), config, layers; each verified, a broken transfer goes on
 * where it stopped. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/digest.h"
#include "k8s/image/registry_client_priv.h"

#define ACCEPT MT_OCI_MANIFEST ", " MT_OCI_INDEX ", " MT_DOCKER_MANIFEST ", " MT_DOCKER_LIST

enum { PULL_REDIRECTS = 5 };

struct download {
    struct registry_client *c;
    struct layout *l;
    const struct image_desc *d;
    struct layout_writer *w;
    int64_t at;
    int status;                   /* of the answer at work */
    enum pd_code failed;
    struct pd_err *err;
};

static enum pd_code get_manifest(struct registry_client *c, struct layout *l, const char *target,
                                 struct image_desc *out, struct pd_err *err)
{
    char *path = xasprintf("/v2/%s/manifests/%s", c->ref->repository, target);
    char got[DIGEST_TEXT], what[REF_TEXT_MAX + 32], full[REF_TEXT_MAX];
    struct registry_call q = {.method = "GET", .path = path, .accept = ACCEPT};
    enum pd_code rc = registry_client_send(c, &q, err);
    free(path);
    if (rc != PD_OK)
        return rc;
    if (c->r.status != 200) {
        str_fmt(what, sizeof what, "%s", ref_format(c->ref, full));
        return registry_client_refused(c, what, 0, err);
    }
    digest_of(c->body.p, c->body.len, got);
    if (strchr(target, ':') && !str_eq(got, target))
        return pd_fail(err, PD_IMAGE, _("the registry gave another manifest than %s"), target);
    char *semicolon = strchr(c->r.content_type, ';');
    if (semicolon)
        *semicolon = '\0';
    return layout_put(l, c->r.content_type, c->body.p, c->body.len, out, err);
}

/* --- blobs ---------------------------------------------------------------------- */

static void on_head(void *arg, const struct http_response *r)
{
    struct download *d = arg;
    d->status = r->status;
    if (r->status == 200 && d->at > 0) {  /* no ranges here: from the start */
        layout_writer_abort(d->w);
        d->w = NULL;
        d->at = 0;
        d->failed = layout_writer_new(d->l, &d->w, d->err);
    }
}

static void on_data(void *arg, const char *p, size_t n)
{
    struct download *d = arg;
    if ((d->status != 200 && d->status != 206) || d->failed != PD_OK)
        return;
    if (d->at + (int64_t)n > d->d->size) {
        d->failed = pd_fail(d->err, PD_IMAGE, _("blob %s is longer than its %lld bytes"),
                            d->d->digest, (long long)d->d->size);
        return;
    }
    d->failed = layout_writer_write(d->w, p, n, d->err);
    d->at += (int64_t)n;
    if (d->c->progress && d->c->progress->fn && d->at < d->d->size)
        d->c->progress->fn(d->c->progress->arg, d->d->digest, d->at, d->d->size);
}

/* One GET, redirects followed. */
static enum pd_code get_blob(struct download *d)
{
    char range[40];
    char *url = xasprintf("/v2/%s/blobs/%s", d->c->ref->repository, d->d->digest);
    struct registry_call q = {.method = "GET", .data = on_data, .head = on_head, .arg = d,
                              .once = true};
    enum pd_code rc = PD_OK;
    for (int hop = 0; hop <= PULL_REDIRECTS; hop++) {
        str_fmt(range, sizeof range, "bytes=%lld-", (long long)d->at);
        q.range = d->at > 0 ? range : NULL;
        q.path = url;
        rc = registry_client_send(d->c, &q, d->err);
        int s = d->c->r.status;
        if (rc != PD_OK || s < 301 || s > 308 || !d->c->r.location[0])
            break;
        free(url);
        url = xstrdup(d->c->r.location);
    }
    free(url);
    return rc;
}

static enum pd_code download(struct download *d)
{
    enum pd_code rc = layout_writer_new(d->l, &d->w, d->err);
    for (int attempt = 0; rc == PD_OK; attempt++) {
        rc = get_blob(d);
        if (d->failed != PD_OK)
            return d->failed;
        if (rc == PD_OK && (d->c->r.status == 200 || d->c->r.status == 206) &&
            d->at == d->d->size)
            return PD_OK;
        bool cut = rc == PD_OK && d->c->r.status < 300;
        if (attempt + 1 >= REGISTRY_TRIES || !(cut || registry_client_transient(d->c, rc)))
            break;
        registry_client_wait(d->c, attempt);
        rc = PD_OK;
    }
    if (rc != PD_OK)
        return rc;
    if (d->c->r.status < 300)
        return pd_fail(d->err, PD_NET, _("blob %s ended after %lld of %lld bytes"), d->d->digest,
                       (long long)d->at, (long long)d->d->size);
    char what[128];
    str_fmt(what, sizeof what, _("pull of %.19s…"), d->d->digest);
    return registry_client_refused(d->c, what, d->d->size, d->err);
}

static enum pd_code pull_blob(struct registry_client *c, struct layout *l,
                              const struct image_desc *desc, struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    if (!layout_has(l, desc->digest, desc->size)) {
        struct image_desc got;
        struct download d = {.c = c, .l = l, .d = desc, .err = err};
        rc = download(&d);
        if (rc == PD_OK)
            rc = layout_writer_commit(d.w, desc->digest, desc->size, &got, err);
        else
            layout_writer_abort(d.w);
    }
    if (rc == PD_OK && c->progress && c->progress->fn)
        c->progress->fn(c->progress->arg, desc->digest, desc->size, desc->size);
    return rc;
}

/* --- the image -------------------------------------------------------------------- */

static enum pd_code get_image_manifest(struct registry_client *c, struct layout *l,
                                       struct image_desc *out, struct json **manifest,
                                       struct pd_err *err)
{
    enum pd_code rc = get_manifest(c, l, ref_target(c->ref), out, err);
    for (int depth = 0; rc == PD_OK; depth++) {
        struct image_desc child;
        if ((rc = json_parse(c->body.p, c->body.len, manifest, err)) != PD_OK)
            return rc;
        const char *mt = json_str(*manifest, "mediaType", out->media_type);
        if (!image_is_index(mt) || depth > 3) {
            str_copy(out->media_type, sizeof out->media_type, mt);
            return image_is_manifest(mt) ? PD_OK
                                         : pd_fail(err, PD_IMAGE,
                                                   _("the registry gave %.100s, no image manifest"),
                                                   mt);
        }
        rc = image_choose(*manifest, &child, err);
        json_free(*manifest);
        *manifest = NULL;
        if (rc == PD_OK)
            rc = get_manifest(c, l, child.digest, out, err);
    }
    return rc;
}

static enum pd_code pull_blobs(struct registry_client *c, struct layout *l,
                               const struct json *manifest, struct pd_err *err)
{
    struct image_desc d;
    enum pd_code rc = image_desc_read(json_get(manifest, "config"), &d, err);
    if (rc == PD_OK)
        rc = pull_blob(c, l, &d, err);
    const struct json *layers = json_get(manifest, "layers");
    for (const struct json *e = json_first(layers); e && rc == PD_OK; e = json_next(e)) {
        rc = image_desc_read(e, &d, err);
        if (rc == PD_OK)
            rc = pull_blob(c, l, &d, err);
    }
    return rc;
}

enum pd_code registry_client_pull(struct layout *l, const struct image_ref *ref,
                                  const struct registry_auth *auth,
                                  const struct registry_progress *p, struct image_desc *out,
                                  struct pd_err *err)
{
    struct registry_client c;
    struct json *manifest = NULL;
    enum pd_code rc = registry_client_open(ref, auth, false, p, &c, err);
    if (rc != PD_OK)
        return rc;
    rc = get_image_manifest(&c, l, out, &manifest, err);
    if (rc == PD_OK)
        rc = pull_blobs(&c, l, manifest, err);
    json_free(manifest);
    registry_client_close(&c);
    return rc;
}
