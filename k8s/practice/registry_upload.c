/* registry_upload.c - blobs: uploads in one piece, in pieces and by mount;
 * downloads with ranges; deletion. */
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/image/ref.h"
#include "k8s/practice/registry_priv.h"

enum { UPLOAD_IDLE_MS = 3600000, UPLOAD_OPEN_MAX = 256 };

/* --- the list of open uploads --------------------------------------------------------- */

static void free_upload(struct registry_upload *u)
{
    if (u->fd >= 0)
        close(u->fd);
    if (u->tmp)
        unlink(u->tmp);
    digest_free(u->hash);
    free(u->tmp);
    free(u->repo);
    free(u);
}

static void drop_upload(struct registry *r, struct registry_upload *u)
{
    struct registry_upload **p = &r->uploads;
    while (*p && *p != u)
        p = &(*p)->next;
    if (*p)
        *p = u->next;
    free_upload(u);
}

void registry_upload_free_all(struct registry *r)
{
    while (r->uploads)
        drop_upload(r, r->uploads);
}

/* Idle ones go; returns how many stay. */
static size_t expire(struct registry *r)
{
    size_t n = 0;
    for (struct registry_upload *u = r->uploads, *next; u; u = next) {
        next = u->next;
        if (!u->busy && clock_ms() - u->used_ms > UPLOAD_IDLE_MS)
            drop_upload(r, u);
        else
            n++;
    }
    return n;
}

static struct registry_upload *new_upload(struct registry_call *c)
{
    unsigned char random[16];
    struct registry_upload *u = xcalloc(1, sizeof *u);
    if (getrandom(random, sizeof random, 0) != sizeof random)
        PD_BUG("getrandom");
    for (size_t i = 0; i < sizeof random; i++)
        str_fmt(u->id + 2 * i, 3, "%02x", random[i]);
    u->fd = registry_store_temp(c->r, &u->tmp);
    u->repo = xstrdup(c->repo);
    u->hash = digest_new();
    u->used_ms = clock_ms();
    if (u->fd < 0) {
        registry_refuse(c, 500, "UNKNOWN", "can't write: %s", strerror(errno));
        free_upload(u);
        return NULL;
    }
    u->next = c->r->uploads;
    c->r->uploads = u;
    return u;
}

static struct registry_upload *find(const struct registry_call *c)
{
    struct registry_upload *u = c->r->uploads;
    while (u && !(str_eq(u->id, c->name) && str_eq(u->repo, c->repo)))
        u = u->next;
    return u;
}

void registry_upload_release(struct registry_call *c)
{
    if (!c->up)
        return;
    c->up->busy = false;
    c->up->used_ms = clock_ms();
    c->up = NULL;
}

static void tell_position(struct registry_call *c, const struct registry_upload *u, int status)
{
    registry_header(c, "Location", "/v2/%s/blobs/uploads/%s", u->repo, u->id);
    registry_header(c, "Range", "0-%lld", (long long)(u->size > 0 ? u->size - 1 : 0));
    registry_header(c, "Docker-Upload-UUID", "%s", u->id);
    registry_reply_empty(c, status);
}

/* --- writing ---------------------------------------------------------------------------- */

static void on_data(void *arg, const void *p, size_t n)
{
    struct registry_call *c = arg;
    struct registry_upload *u = c->up;
    digest_update(u->hash, p, n);
    for (const char *s = p; n > 0 && c->error == 0;) {
        ssize_t k = write(u->fd, s, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            c->error = errno;
            break;
        }
        s += k;
        n -= (size_t)k;
        u->size += k;
    }
}

static void write_failed(struct registry_call *c, int error)
{
    struct registry_upload *u = c->up;
    registry_refuse(c, error == ENOSPC || error == EDQUOT ? 507 : 500, "UNKNOWN",
                    "can't store the blob: %s", strerror(error));
    if (u) {
        c->up = NULL;
        drop_upload(c->r, u);
    }
}

static void created(struct registry_call *c)
{
    registry_header(c, "Location", "/v2/%s/blobs/%s", c->repo, c->digest);
    registry_header(c, "Docker-Content-Digest", "%s", c->digest);
    registry_reply_empty(c, 201);
}

static void stored(void *arg, int error)
{
    struct registry_call *c = arg;
    if (error) {
        registry_refuse(c, error == ENOSPC || error == EDQUOT ? 507 : 500, "UNKNOWN",
                        "can't store the blob: %s", strerror(error));
    } else {
        created(c);
    }
    registry_job_ended(c);
}

/* The blob (when given) and the repository's claim on it become durable. */
static void claim(struct registry_call *c, struct registry_upload *u)
{
    struct registry_job *j = xcalloc(1, sizeof *j);
    if (u) {
        j->f[j->n++] = (struct registry_file){u->fd, u->tmp, registry_store_blob(c->r, c->digest)};
        u->fd = -1;
        u->tmp = NULL;
        c->up = NULL;
        drop_upload(c->r, u);
    }
    if (!registry_store_add(c->r, j, registry_store_entry(c->r, c->repo, "_blobs", c->digest), "",
                            0))
        j->error = errno ? errno : EIO;
    registry_start_job(c, j, stored);
}

/* The last byte is in: the digest decides. */
static void finish(struct registry_call *c)
{
    struct registry_upload *u = c->up;
    char got[DIGEST_TEXT];
    digest_text(u->hash, got);
    if (str_eq(got, c->digest)) {
        claim(c, u);
        return;
    }
    registry_refuse(c, 400, "DIGEST_INVALID", "the %lld bytes have the digest %s, not %s",
                    (long long)u->size, got, c->digest);
    c->up = NULL;
    drop_upload(c->r, u);
}

/* A piece is in: the upload is free for the next request before we answer. */
static void let_go(struct registry_call *c)
{
    struct registry_upload *u = c->up;
    registry_upload_release(c);
    tell_position(c, u, 202);
}

static void on_end(void *arg, const char *body UNUSED, size_t n UNUSED)
{
    struct registry_call *c = arg;
    if (c->error)
        write_failed(c, c->error);
    else if (c->digest[0])
        finish(c);
    else
        let_go(c);
}

static void take_body(struct registry_call *c, struct registry_upload *u)
{
    struct server_body b = {.data = on_data, .end = on_end, .arg = c};
    u->busy = true;
    c->up = u;
    server_on_body(c->q, &b);
}

/* The digest parameter into c->digest; false: refused. */
static bool take_digest(struct registry_call *c, const char *digest)
{
    if (!digest || !ref_digest_valid(digest) || !str_starts(digest, "sha256:")) {
        registry_refuse(c, 400, "DIGEST_INVALID", "\"%.100s\" is no sha256 digest",
                        digest ? digest : "");
        return false;
    }
    str_copy(c->digest, sizeof c->digest, digest);
    return true;
}

static bool mount(struct registry_call *c)
{
    const char *digest = server_query(c->q, "mount"), *from = server_query(c->q, "from");
    if (!digest || !ref_digest_valid(digest) || !str_starts(digest, "sha256:") || !from ||
        !ref_repository_valid(from) || !registry_store_has(c->r, from, "_blobs", digest))
        return false;
    str_copy(c->digest, sizeof c->digest, digest);
    claim(c, NULL);
    return true;
}

void registry_upload_start(struct registry_call *c, const char *method)
{
    if (!str_eq(method, "POST")) {
        registry_refuse(c, 405, "UNSUPPORTED", "an upload starts with POST");
        return;
    }
    if (mount(c))
        return;
    const char *digest = server_query(c->q, "digest");
    if (digest && !take_digest(c, digest))
        return;
    if (expire(c->r) >= UPLOAD_OPEN_MAX) {
        registry_refuse(c, 429, "TOOMANYREQUESTS", "%d uploads are open", UPLOAD_OPEN_MAX);
        return;
    }
    struct registry_upload *u = new_upload(c);
    if (!u)
        return;
    if (digest)
        take_body(c, u);
    else
        tell_position(c, u, 202);
}

/* "5-99" must begin where the upload stands. */
static bool in_order(struct registry_call *c, const struct registry_upload *u)
{
    const char *range = server_header(c->q, "Content-Range");
    long long from = 0, to = 0;
    if (!range)
        return true;
    if (str_starts(range, "bytes "))
        range += 6;
    return sscanf(range, "%lld-%lld", &from, &to) == 2 && from == u->size && to >= from;
}

void registry_upload_one(struct registry_call *c, const char *method)
{
    struct registry_upload *u = find(c);
    bool put = str_eq(method, "PUT");
    if (!u) {
        registry_refuse(c, 404, "BLOB_UPLOAD_UNKNOWN", "there is no upload %.60s", c->name);
    } else if (str_eq(method, "GET")) {
        tell_position(c, u, 204);
    } else if (u->busy) {
        registry_refuse(c, 409, "BLOB_UPLOAD_INVALID", "the upload is at work");
    } else if (str_eq(method, "DELETE")) {
        drop_upload(c->r, u);
        registry_reply_empty(c, 204);
    } else if (!put && !str_eq(method, "PATCH")) {
        registry_refuse(c, 405, "UNSUPPORTED", "%s does not work here", method);
    } else if (!in_order(c, u)) {
        tell_position(c, u, 416);
    } else if (!put || take_digest(c, server_query(c->q, "digest"))) {
        take_body(c, u);
    }
}

/* --- reading -------------------------------------------------------------------------------- */

/* "bytes=A-B", "bytes=A-" or "bytes=-N" within size; false: not satisfiable. */
static bool read_range(const char *text, int64_t size, int64_t *from, int64_t *n)
{
    long long a = 0, b = 0;
    int end = 0;
    if (!str_starts(text, "bytes="))
        return false;
    text += 6;
    if (*text == '-') {
        if (sscanf(text + 1, "%lld%n", &b, &end) != 1 || text[1 + end] || b <= 0)
            return false;
        *from = b >= size ? 0 : size - b;
        *n = size - *from;
        return size > 0;
    }
    if (sscanf(text, "%lld-%n", &a, &end) != 1 || end == 0 || a < 0 || a >= size)
        return false;
    text += end;
    b = size - 1;
    if (*text && (sscanf(text, "%lld%n", &b, &end) != 1 || text[end] || b < a))
        return false;
    *from = a;
    *n = MIN((int64_t)b, size - 1) - a + 1;
    return true;
}

static void send_blob(struct registry_call *c, int fd, int64_t size)
{
    const char *range = server_header(c->q, "Range");
    int64_t from = 0, n = size;
    int status = 200;
    if (range && !read_range(range, size, &from, &n)) {
        close(fd);
        registry_header(c, "Content-Range", "bytes */%lld", (long long)size);
        registry_refuse(c, 416, "SIZE_INVALID", "no such range of %lld bytes", (long long)size);
        return;
    }
    if (range) {
        status = 206;
        registry_header(c, "Content-Range", "bytes %lld-%lld/%lld", (long long)from,
                        (long long)(from + n - 1), (long long)size);
    }
    registry_header(c, "Docker-Content-Digest", "%s", c->name);
    registry_header(c, "Accept-Ranges", "bytes");
    registry_header(c, "ETag", "\"%s\"", c->name);
    if (n > 0) {
        server_reply_file(c->q, status, "application/octet-stream", fd, from, n);
    } else {
        close(fd);
        server_reply(c->q, status, "application/octet-stream", "", 0);
    }
}

static void get_blob(struct registry_call *c)
{
    struct stat st;
    char *path = registry_store_blob(c->r, c->name);
    int fd = registry_store_has(c->r, c->repo, "_blobs", c->name)
                 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    free(path);
    if (fd < 0 || fstat(fd, &st) != 0) {
        if (fd >= 0)
            close(fd);
        registry_refuse(c, 404, "BLOB_UNKNOWN", "%s is not in %s", c->name, c->repo);
        return;
    }
    send_blob(c, fd, st.st_size);
}

void registry_blob(struct registry_call *c, const char *method)
{
    if (!ref_digest_valid(c->name) || !str_starts(c->name, "sha256:")) {
        registry_refuse(c, 400, "DIGEST_INVALID", "\"%.100s\" is no sha256 digest", c->name);
    } else if (str_eq(method, "GET") || str_eq(method, "HEAD")) {
        get_blob(c);
    } else if (str_eq(method, "DELETE")) {
        char *path = registry_store_entry(c->r, c->repo, "_blobs", c->name);
        if (unlink(path) == 0)
            registry_reply_empty(c, 202);
        else
            registry_refuse(c, 404, "BLOB_UNKNOWN", "%s is not in %s", c->name, c->repo);
        free(path);
    } else {
        registry_refuse(c, 405, "UNSUPPORTED", "%s does not work on a blob", method);
    }
}
