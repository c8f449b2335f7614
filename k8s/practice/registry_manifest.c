/* registry_manifest.c - manifests by tag and digest, lists of tags, referrers. */
#include <errno.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/image.h"
#include "k8s/image/ref.h"
#include "k8s/practice/registry_priv.h"

/* The digest that a tag or digest stands for; "" when unknown. */
static void resolve(const struct registry_call *c, char digest[DIGEST_TEXT])
{
    digest[0] = '\0';
    if (ref_digest_valid(c->name) && str_starts(c->name, "sha256:")) {
        str_copy(digest, DIGEST_TEXT, c->name);
    } else if (ref_tag_valid(c->name)) {
        char *text = registry_store_read(c->r, c->repo, "_tags", c->name);
        if (text && ref_digest_valid(text))
            str_copy(digest, DIGEST_TEXT, text);
        free(text);
    }
}

static void unknown(struct registry_call *c)
{
    if (!registry_store_repo(c->r, c->repo))
        registry_refuse(c, 404, "NAME_UNKNOWN", "there is no repository %s", c->repo);
    else
        registry_refuse(c, 404, "MANIFEST_UNKNOWN", "there is no %s in %s", c->name, c->repo);
}

static void get(struct registry_call *c)
{
    struct str text;
    struct pd_err ignored;
    resolve(c, c->digest);
    char *mt = c->digest[0] ? registry_store_read(c->r, c->repo, "_revisions", c->digest) : NULL;
    char *path = registry_store_blob(c->r, c->digest);
    str_init(&text, REGISTRY_MANIFEST_MAX);
    if (mt && path_read(path, REGISTRY_MANIFEST_MAX, &text, &ignored) == PD_OK) {
        registry_header(c, "Docker-Content-Digest", "%s", c->digest);
        registry_header(c, "ETag", "\"%s\"", c->digest);
        registry_header(c, "Docker-Distribution-Api-Version", "registry/2.0");
        server_reply(c->q, 200, mt, text.p, text.len);
    } else {
        unknown(c);
    }
    str_release(&text);
    free(path);
    free(mt);
}

/* --- storing ------------------------------------------------------------------------------ */

static bool has_blob(struct registry_call *c, const struct json *desc)
{
    struct image_desc d;
    struct pd_err err;
    if (image_desc_read(desc, &d, &err) != PD_OK) {
        registry_refuse(c, 400, "MANIFEST_INVALID", "%s", err.msg);
        return false;
    }
    if (json_has(desc, "urls") || registry_store_has(c->r, c->repo, "_blobs", d.digest))
        return true;
    registry_refuse(c, 400, "MANIFEST_BLOB_UNKNOWN", "%s is not in %s: push it first", d.digest,
                    c->repo);
    return false;
}

static bool check_image(struct registry_call *c, const struct json *m)
{
    if (!has_blob(c, json_get(m, "config")))
        return false;
    for (const struct json *l = json_first(json_get(m, "layers")); l; l = json_next(l))
        if (!has_blob(c, l))
            return false;
    return true;
}

static bool check_index(struct registry_call *c, const struct json *m)
{
    for (const struct json *e = json_first(json_get(m, "manifests")); e; e = json_next(e)) {
        const char *digest = json_str(e, "digest", "");
        if (ref_digest_valid(digest) && registry_store_has(c->r, c->repo, "_revisions", digest))
            continue;
        registry_refuse(c, 400, "MANIFEST_BLOB_UNKNOWN", "the manifest %.80s is not in %s: push "
                        "it first", digest, c->repo);
        return false;
    }
    return true;
}

static bool check(struct registry_call *c, const struct json *m)
{
    const char *mt = json_str(m, "mediaType", c->media_type);
    if (json_int(m, "schemaVersion", 0) != 2) {
        registry_refuse(c, 400, "MANIFEST_INVALID", "schemaVersion must be 2");
        return false;
    }
    if (!str_eq(mt, c->media_type)) {
        registry_refuse(c, 400, "MANIFEST_INVALID", "mediaType is %.100s, Content-Type %.100s", mt,
                        c->media_type);
        return false;
    }
    if (image_is_index(mt))
        return check_index(c, m);
    if (image_is_manifest(mt))
        return check_image(c, m);
    registry_refuse(c, 400, "MANIFEST_INVALID", "the media type %.100s is not known", mt);
    return false;
}

static void stored(void *arg, int error)
{
    struct registry_call *c = arg;
    if (error) {
        registry_refuse(c, error == ENOSPC || error == EDQUOT ? 507 : 500, "UNKNOWN",
                        "can't store the manifest: %s", strerror(error));
    } else {
        registry_header(c, "Location", "/v2/%s/manifests/%s", c->repo, c->digest);
        registry_header(c, "Docker-Content-Digest", "%s", c->digest);
        if (c->subject[0])
            registry_header(c, "OCI-Subject", "%s", c->subject);
        registry_reply_empty(c, 201);
    }
    registry_job_ended(c);
}

static void store(struct registry_call *c, const char *body, size_t n)
{
    struct registry_job *j = xcalloc(1, sizeof *j);
    struct registry *r = c->r;
    bool by_tag = !strchr(c->name, ':');
    bool ok = registry_store_add(r, j, registry_store_blob(r, c->digest), body, n) &&
              registry_store_add(r, j, registry_store_entry(r, c->repo, "_revisions", c->digest),
                                 c->media_type, strlen(c->media_type));
    if (ok && by_tag)
        ok = registry_store_add(r, j, registry_store_entry(r, c->repo, "_tags", c->name),
                                c->digest, strlen(c->digest));
    if (!ok)
        j->error = errno ? errno : EIO;
    registry_start_job(c, j, stored);
}

static void on_body(void *arg, const char *body, size_t n)
{
    struct registry_call *c = arg;
    struct json *m = NULL;
    struct pd_err err;
    digest_of(body, n, c->digest);
    if (strchr(c->name, ':') && !str_eq(c->name, c->digest)) {
        registry_refuse(c, 400, "DIGEST_INVALID", "the manifest has the digest %s", c->digest);
        return;
    }
    if (json_parse(body, n, &m, &err) != PD_OK) {
        registry_refuse(c, 400, "MANIFEST_INVALID", "line %d, column %d: %s", err.line, err.col,
                        err.msg);
        return;
    }
    const char *subject = json_str(m, "subject.digest", "");
    if (ref_digest_valid(subject))
        str_copy(c->subject, sizeof c->subject, subject);
    if (check(c, m))
        store(c, body, n);
    json_free(m);
}

static void put(struct registry_call *c)
{
    struct server_body b = {.end = on_body, .ceiling = REGISTRY_MANIFEST_MAX, .arg = c};
    const char *mt = server_header(c->q, "Content-Type");
    if (!ref_tag_valid(c->name) &&
        !(ref_digest_valid(c->name) && str_starts(c->name, "sha256:"))) {
        registry_refuse(c, 400, strchr(c->name, ':') ? "DIGEST_INVALID" : "TAG_INVALID",
                        "\"%.100s\" is neither a tag nor a sha256 digest", c->name);
        return;
    }
    size_t n = mt ? strcspn(mt, "; ") : 0;
    if (n == 0 || n > 200) {
        registry_refuse(c, 400, "MANIFEST_INVALID", "Content-Type must say what manifest it is");
        return;
    }
    c->media_type = xstrndup(mt, n);
    server_on_body(c->q, &b);
}

/* --- deleting ------------------------------------------------------------------------------- */

static void drop_tags(struct registry_call *c, const char *digest)
{
    struct strv tags;
    strv_init(&tags);
    registry_store_list(c->r, c->repo, "_tags", &tags);
    for (size_t i = 0; i < tags.n; i++) {
        char *to = registry_store_read(c->r, c->repo, "_tags", tags.v[i]);
        char *path = registry_store_entry(c->r, c->repo, "_tags", tags.v[i]);
        if (to && str_eq(to, digest))
            unlink(path);
        free(path);
        free(to);
    }
    strv_release(&tags);
}

static void delete(struct registry_call *c)
{
    bool by_digest = ref_digest_valid(c->name) && str_starts(c->name, "sha256:");
    if (!by_digest && !ref_tag_valid(c->name)) {
        unknown(c);
        return;
    }
    char *path = registry_store_entry(c->r, c->repo, by_digest ? "_revisions" : "_tags", c->name);
    if (unlink(path) != 0) {
        unknown(c);
    } else {
        if (by_digest)
            drop_tags(c, c->name);
        registry_reply_empty(c, 202);
    }
    free(path);
}

void registry_manifest(struct registry_call *c, const char *method)
{
    if (str_eq(method, "GET") || str_eq(method, "HEAD"))
        get(c);
    else if (str_eq(method, "PUT"))
        put(c);
    else if (str_eq(method, "DELETE"))
        delete(c);
    else
        registry_refuse(c, 405, "UNSUPPORTED", "%s does not work on a manifest", method);
}

/* --- lists -------------------------------------------------------------------- */

void registry_tags(struct registry_call *c, const char *method)
{
    struct strv tags;
    const char *n_text = server_query(c->q, "n"), *last = server_query(c->q, "last");
    int64_t n = REGISTRY_PAGE_MAX;
    if (!str_eq(method, "GET") || !str_eq(c->name, "list")) {
        registry_refuse(c, 404, "UNSUPPORTED", "ask with GET for /v2/%s/tags/list", c->repo);
        return;
    }
    if (!registry_store_repo(c->r, c->repo)) {
        registry_refuse(c, 404, "NAME_UNKNOWN", "there is no repository %s", c->repo);
        return;
    }
    if (n_text && (!str_to_i64(n_text, &n) || n < 0 || n > REGISTRY_PAGE_MAX)) {
        registry_refuse(c, 400, "PAGINATION_NUMBER_INVALID", "n is 0 to %d", REGISTRY_PAGE_MAX);
        return;
    }
    struct json *body = json_new_object(), *list = json_new_array();
    strv_init(&tags);
    registry_store_list(c->r, c->repo, "_tags", &tags);
    size_t i = 0;
    while (last && i < tags.n && strcmp(tags.v[i], last) <= 0)
        i++;
    for (; i < tags.n && n > 0; i++, n--)
        json_append(list, json_new_string(tags.v[i]));
    if (i < tags.n && i > 0)
        registry_header(c, "Link", "</v2/%s/tags/list?n=%s&last=%s>; rel=\"next\"", c->repo,
                        n_text ? n_text : "", tags.v[i - 1]);
    strv_release(&tags);
    json_put_str(body, "name", c->repo);
    json_set(body, "tags", list);
    registry_reply_json(c, 200, "application/json", body);
}

/* A descriptor of the manifest `hex` when it names c->name as its subject. */
static struct json *referrer(const struct registry_call *c, const char *hex, const char *want)
{
    struct str text;
    struct pd_err ignored;
    struct json *m = NULL, *d = NULL;
    char *path = registry_store_blob(c->r, hex);
    str_init(&text, REGISTRY_MANIFEST_MAX);
    if (path_read(path, REGISTRY_MANIFEST_MAX, &text, &ignored) == PD_OK &&
        json_parse(text.p, text.len, &m, &ignored) == PD_OK &&
        str_eq(json_str(m, "subject.digest", ""), c->name)) {
        const char *type = json_str(m, "artifactType", json_str(m, "config.mediaType", ""));
        char digest[DIGEST_TEXT];
        str_fmt(digest, sizeof digest, "sha256:%.64s", hex);
        if (!want || str_eq(want, type)) {
            d = json_new_object();
            json_put_str(d, "mediaType", json_str(m, "mediaType", MT_OCI_MANIFEST));
            json_put_str(d, "digest", digest);
            json_put_num(d, "size", (double)text.len);
            json_put_str(d, "artifactType", type);
            if (json_get(m, "annotations"))
                json_set(d, "annotations", json_copy(json_get(m, "annotations")));
        }
    }
    json_free(m);
    str_release(&text);
    free(path);
    return d;
}

void registry_referrers(struct registry_call *c, const char *method)
{
    struct strv revisions;
    const char *want = server_query(c->q, "artifactType");
    if (!str_eq(method, "GET") || !ref_digest_valid(c->name)) {
        registry_refuse(c, 400, "DIGEST_INVALID", "\"%.100s\" is no digest", c->name);
        return;
    }
    struct json *body = json_new_object(), *list = json_new_array();
    strv_init(&revisions);
    registry_store_list(c->r, c->repo, "_revisions", &revisions);
    for (size_t i = 0; i < revisions.n; i++) {
        struct json *d = referrer(c, revisions.v[i], want);
        if (d)
            json_append(list, d);
    }
    strv_release(&revisions);
    json_put_num(body, "schemaVersion", 2);
    json_put_str(body, "mediaType", MT_OCI_INDEX);
    json_set(body, "manifests", list);
    if (want)
        registry_header(c, "OCI-Filters-Applied", "artifactType");
    registry_reply_json(c, 200, MT_OCI_INDEX, body);
}
