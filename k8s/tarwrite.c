/* tarwrite.c - a folder of this machine as a tar stream (tarwrite.h). */
#include "k8s/tarwrite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { BLOCK = 512, PIECE = 64 << 10, DEPTH_MAX = 128, NAME_MAX_USTAR = 100 };
#define SIZE_MAX_USTAR 077777777777

/* --- the walk ---------------------------------------------------------------------- */

static struct tarwrite_entry *add(struct tarwrite *t)
{
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->v = xrealloc_array(t->v, t->cap, sizeof *t->v);
    }
    t->v[t->n] = (struct tarwrite_entry){.type = '0'};
    return &t->v[t->n++];
}

/* A link may only lead to what lies beside or below it inside the folder. */
bool tarwrite_link_stays(const char *path, const char *target)
{
    int depth = 0;
    if (*target == '/' || !*target)
        return false;
    for (const char *p = strchr(path, '/'); p && strchr(p + 1, '/'); p = strchr(p + 1, '/'))
        depth++;
    for (const char *p = target; *p;) {
        size_t n = strcspn(p, "/");
        depth += n == 2 && p[0] == '.' && p[1] == '.' ? -1 : n > 0 && !(n == 1 && *p == '.');
        if (depth < 0)
            return false;
        p += n + (p[n] == '/');
    }
    return true;
}

static void take_link(struct tarwrite *t, const char *from, const char *name)
{
    char target[4096];
    ssize_t n = readlink(from, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    if (!strchr(name, '/') || !tarwrite_link_stays(name, target)) {
        strv_pushf(&t->left_out, _("%s: a link that leaves the folder (to %s)"), name, target);
        return;
    }
    struct tarwrite_entry *e = add(t);
    e->path = xstrdup(name);
    e->from = xstrdup(from);
    e->link = xstrdup(target);
    e->type = '2';
    e->mode = 0777;
}

static enum pd_code walk(struct tarwrite *t, const char *from, const char *name, int depth,
                         struct pd_err *err);

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum pd_code walk_folder(struct tarwrite *t, const char *from, const char *name, int depth,
                                struct pd_err *err)
{
    DIR *d = opendir(from);
    struct strv names;
    enum pd_code rc = PD_OK;
    if (!d)
        return pd_fail_errno(err, PD_IO, _("the folder %s can't be read"), from);
    strv_init(&names);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
            strv_push(&names, e->d_name);
    closedir(d);
    if (names.n > 1)
        qsort(names.v, names.n, sizeof names.v[0], by_name);
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        char *below = path_join(from, names.v[i]), *called = path_join(name, names.v[i]);
        rc = walk(t, below, called, depth + 1, err);
        free(below);
        free(called);
    }
    strv_release(&names);
    return rc;
}

static enum pd_code walk(struct tarwrite *t, const char *from, const char *name, int depth,
                         struct pd_err *err)
{
    struct stat st;
    if ((depth == 0 ? stat : lstat)(from, &st) < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), from);
    if (depth > DEPTH_MAX)
        return pd_fail(err, PD_LIMIT, _("%s: folders are nested deeper than %d"), from, DEPTH_MAX);
    if (S_ISLNK(st.st_mode)) {
        take_link(t, from, name);
        return PD_OK;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        strv_pushf(&t->left_out, _("%s: neither a file nor a folder"), name);
        return PD_OK;
    }
    struct tarwrite_entry *e = add(t);
    e->path = xstrdup(name);
    e->from = xstrdup(from);
    e->mode = (int)(st.st_mode & 0777);
    e->mtime = st.st_mtime;
    if (S_ISDIR(st.st_mode)) {
        e->type = '5';
        e->mode |= 0700;                 /* what is in it must still go in */
        return walk_folder(t, from, name, depth, err);
    }
    e->size = st.st_size;
    t->bytes += st.st_size;
    return PD_OK;
}

enum pd_code tarwrite_plan(struct tarwrite *t, const char *from, const char *name,
                           struct pd_err *err)
{
    memset(t, 0, sizeof *t);
    t->fd = -1;
    strv_init(&t->left_out);
    str_init(&t->buf, 1 << 20);
    t->digest = EVP_MD_CTX_new();
    if (!t->digest)
        PD_BUG("out of memory");
    return walk(t, from, name, 0, err);
}

void tarwrite_release(struct tarwrite *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->v[i].path);
        free(t->v[i].from);
        free(t->v[i].link);
    }
    free(t->v);
    if (t->fd >= 0)
        close(t->fd);
    strv_release(&t->left_out);
    str_release(&t->buf);
    EVP_MD_CTX_free(t->digest);
}

/* --- headers ----------------------------------------------------------------------- */

static void octal(char *p, size_t n, int64_t v)
{
    char text[32];
    str_fmt(text, sizeof text, "%0*" PRIo64, (int)n - 1, v);
    memcpy(p, text, n - 1);
}

static void header(struct str *out, const char *path, const char *link, char type, int mode,
                   int64_t size, int64_t mtime)
{
    char b[BLOCK] = {0};
    unsigned sum = 0;
    memcpy(b, path, MIN(strlen(path), (size_t)NAME_MAX_USTAR));
    octal(b + 100, 8, mode);
    octal(b + 108, 8, 0);
    octal(b + 116, 8, 0);
    octal(b + 124, 12, MIN(size, SIZE_MAX_USTAR));
    octal(b + 136, 12, MAX(mtime, 0));
    memset(b + 148, ' ', 8);
    b[156] = type;
    if (link)
        memcpy(b + 157, link, MIN(strlen(link), (size_t)NAME_MAX_USTAR));
    memcpy(b + 257, "ustar\00000", 8);
    for (int i = 0; i < BLOCK; i++)
        sum += (unsigned char)b[i];
    octal(b + 148, 7, sum);
    str_append(out, b, BLOCK);
}

static void pad(struct str *out, int64_t size)
{
    static const char zeros[BLOCK];
    str_append(out, zeros, (size_t)((BLOCK - size % BLOCK) % BLOCK));
}

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static void record(struct str *out, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, n = rest + 1;
    char digits[16];
    while (strlen(str_fmt(digits, sizeof digits, "%zu", n)) + rest != n)
        n = strlen(digits) + rest;
    str_printf(out, "%zu %s=%s\n", n, key, value);
}

static void entry_header(struct str *out, const struct tarwrite_entry *e)
{
    struct str pax;
    char size[24];
    str_init(&pax, 1 << 16);
    if (strlen(e->path) > NAME_MAX_USTAR)
        record(&pax, "path", e->path);
    if (e->link && strlen(e->link) > NAME_MAX_USTAR)
        record(&pax, "linkpath", e->link);
    if (e->size > SIZE_MAX_USTAR)
        record(&pax, "size", str_fmt(size, sizeof size, "%" PRId64, e->size));
    if (pax.len > 0) {
        header(out, "pax", NULL, 'x', 0644, (int64_t)pax.len, e->mtime);
        str_append(out, pax.p, pax.len);
        pad(out, (int64_t)pax.len);
    }
    header(out, e->path, e->link, e->type, e->mode, e->size, e->mtime);
    str_release(&pax);
}

/* --- the stream ---------------------------------------------------------------------- */

int64_t tarwrite_begin(struct tarwrite *t, size_t entry)
{
    int64_t total = 2 * BLOCK;
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    t->left = 0;
    t->at = entry;
    t->ended = false;
    for (size_t i = entry; i < t->n; i++) {
        str_clear(&t->buf);
        entry_header(&t->buf, &t->v[i]);
        total += (int64_t)t->buf.len + (t->v[i].size + BLOCK - 1) / BLOCK * BLOCK;
    }
    str_clear(&t->buf);
    return total;
}

static enum pd_code changed(const struct tarwrite_entry *e, struct pd_err *err)
{
    pd_fail(err, PD_IO, _("%s became shorter while it was read"), e->from);
    return pd_set_hint(err, _("copy it again once nothing writes to it"));
}

static enum pd_code content(struct tarwrite *t, struct tarwrite_entry *e, struct pd_err *err)
{
    char buf[PIECE];
    ssize_t n = read(t->fd, buf, (size_t)MIN(t->left, (int64_t)sizeof buf));
    if (n < 0 && errno == EINTR)
        return PD_OK;
    if (n < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), e->from);
    if (n == 0)
        return changed(e, err);
    EVP_DigestUpdate(t->digest, buf, (size_t)n);
    str_append(&t->buf, buf, (size_t)n);
    t->left -= n;
    return PD_OK;
}

static void close_entry(struct tarwrite *t, struct tarwrite_entry *e)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    close(t->fd);
    t->fd = -1;
    EVP_DigestFinal_ex(t->digest, sum, &n);
    for (unsigned i = 0; i < n && i < 32; i++)
        str_fmt(e->sha256 + 2 * i, 3, "%02x", sum[i]);
    pad(&t->buf, e->size);
    t->at++;
}

static enum pd_code open_entry(struct tarwrite *t, struct tarwrite_entry *e, struct pd_err *err)
{
    entry_header(&t->buf, e);
    if (e->type != '0') {
        t->at++;
        return PD_OK;
    }
    t->fd = open(e->from, O_RDONLY | O_CLOEXEC | (strchr(e->path, '/') ? O_NOFOLLOW : 0));
    if (t->fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), e->from);
    t->left = e->size;
    EVP_DigestInit_ex(t->digest, EVP_sha256(), NULL);
    if (t->left == 0)
        close_entry(t, e);
    return PD_OK;
}

enum pd_code tarwrite_next(struct tarwrite *t, const char **p, size_t *n, struct pd_err *err)
{
    static const char zeros[2 * BLOCK];
    enum pd_code rc = PD_OK;
    str_clear(&t->buf);
    while (t->buf.len < PIECE && t->at < t->n && rc == PD_OK) {
        struct tarwrite_entry *e = &t->v[t->at];
        if (t->fd < 0) {
            rc = open_entry(t, e, err);
        } else {
            rc = content(t, e, err);
            if (rc == PD_OK && t->left == 0)
                close_entry(t, e);
        }
    }
    if (rc == PD_OK && t->at == t->n && !t->ended) {
        str_append(&t->buf, zeros, sizeof zeros);
        t->ended = true;
    }
    *p = t->buf.p;
    *n = t->buf.len;
    return rc;
}
