/* tar.c - write a folder as ustar, with pax records for what does not fit.
 *
 * A pax header is an entry of type x before the entry it describes; its body
 * is lines "LENGTH key=value\n", where LENGTH counts the whole line.
 */
#include "core/base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/tar.h"

#define BLOCK 512
#define BUFFER (64 * 1024)
#define DEPTH_MAX 64
#define OCTAL_MAX 077777777777                   /* what 11 octal digits hold */

struct ustar {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], chksum[8], type, link[100];
    char magic[6], version[2], uname[32], gname[32], major[8], minor[8], prefix[155], pad[12];
};

struct out {
    int fd;
    int64_t mtime;
    size_t n;
    char buf[BUFFER];
};

/* What the archive says of one entry. */
struct entry {
    const char *name, *link;                     /* link: "" when none */
    char type;
    unsigned mode;
    int64_t size;
};

static enum pd_code flush(struct out *o, struct pd_err *err)
{
    for (size_t done = 0; done < o->n;) {
        ssize_t k = write(o->fd, o->buf + done, o->n - done);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return pd_fail_errno(err, PD_IO, _("the archive can't be written"));
        done += (size_t)k;
    }
    o->n = 0;
    return PD_OK;
}

static enum pd_code put(struct out *o, const void *data, size_t n, struct pd_err *err)
{
    const char *p = data;
    while (n > 0) {
        size_t k = MIN(n, sizeof o->buf - o->n);
        memcpy(o->buf + o->n, p, k);
        o->n += k;
        p += k;
        n -= k;
        if (o->n == sizeof o->buf && flush(o, err) != PD_OK)
            return PD_IO;
    }
    return PD_OK;
}

static enum pd_code put_padding(struct out *o, int64_t size, struct pd_err *err)
{
    static const char zero[BLOCK];
    return put(o, zero, (size_t)(-size & (BLOCK - 1)), err);
}

static void octal(char *field, size_t size, uint64_t v)
{
    char text[32];
    str_fmt(text, sizeof text, "%0*" PRIo64, (int)size - 1, v);
    memcpy(field, text, size);
}

static enum pd_code put_header(struct out *o, const struct entry *e, struct pd_err *err)
{
    struct ustar h = {.type = e->type, .magic = "ustar", .version = {'0', '0'}};
    _Static_assert(sizeof h == BLOCK, "a ustar header is one block");
    memcpy(h.name, e->name, MIN(strlen(e->name), sizeof h.name));
    memcpy(h.link, e->link, MIN(strlen(e->link), sizeof h.link));
    octal(h.mode, sizeof h.mode, e->mode);
    octal(h.uid, sizeof h.uid, 0);
    octal(h.gid, sizeof h.gid, 0);
    octal(h.size, sizeof h.size, (uint64_t)(e->size > OCTAL_MAX ? 0 : e->size));
    octal(h.mtime, sizeof h.mtime, (uint64_t)o->mtime);
    octal(h.major, sizeof h.major, 0);
    octal(h.minor, sizeof h.minor, 0);
    memset(h.chksum, ' ', sizeof h.chksum);
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof h; i++)
        sum += ((const unsigned char *)&h)[i];
    octal(h.chksum, sizeof h.chksum - 1, sum);   /* six digits, NUL, space */
    return put(o, &h, sizeof h, err);
}

/* "LENGTH key=value\n"; the length of the length is found by trying. */
static void pax_record(struct str *s, const char *key, const char *value)
{
    size_t rest = strlen(key) + strlen(value) + 3, n = rest;
    char digits[24];
    for (size_t last = 0; n != last;) {
        last = n;
        n = rest + strlen(str_fmt(digits, sizeof digits, "%zu", n));
    }
    str_printf(s, "%zu %s=%s\n", n, key, value);
}

static enum pd_code put_entry(struct out *o, const struct entry *e, struct pd_err *err)
{
    struct str pax;
    char size[24];
    enum pd_code rc = PD_OK;
    str_init(&pax, 1 << 20);
    if (strlen(e->name) > sizeof((struct ustar *)0)->name)
        pax_record(&pax, "path", e->name);
    if (strlen(e->link) > sizeof((struct ustar *)0)->link)
        pax_record(&pax, "linkpath", e->link);
    if (e->size > OCTAL_MAX)
        pax_record(&pax, "size", str_fmt(size, sizeof size, "%" PRId64, e->size));
    if (pax.len > 0) {
        struct entry x = {"PaxHeaders/entry", "", 'x', 0644, (int64_t)pax.len};
        rc = put_header(o, &x, err);
        if (rc == PD_OK)
            rc = put(o, pax.p, pax.len, err);
        if (rc == PD_OK)
            rc = put_padding(o, (int64_t)pax.len, err);
    }
    str_release(&pax);
    return rc == PD_OK ? put_header(o, e, err) : rc;
}

/* --- one file, link, folder ------------------------------------------------------ */

static enum pd_code changed(const char *name, struct pd_err *err)
{
    return pd_fail_at(err, PD_IO, name, 0, 0, _("the file changed its size while it was read"));
}

static enum pd_code put_content(struct out *o, int fd, const char *name, int64_t size,
                                struct pd_err *err)
{
    char buf[16384];
    for (int64_t left = size;;) {
        ssize_t k = read(fd, buf, sizeof buf);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return pd_fail_errno(err, PD_IO, _("%s can't be read"), name);
        if (k > left || (k == 0 && left > 0))
            return changed(name, err);
        if (k == 0)
            return put_padding(o, size, err);
        if (put(o, buf, (size_t)k, err) != PD_OK)
            return PD_IO;
        left -= k;
    }
}

static enum pd_code put_file(struct out *o, int dir, const char *base, const char *name,
                             struct pd_err *err)
{
    struct stat st;
    int fd = openat(dir, base, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        enum pd_code rc = pd_fail_errno(err, PD_IO, _("%s can't be opened"), name);
        if (fd >= 0)
            close(fd);
        return rc;
    }
    struct entry e = {name, "", '0', st.st_mode & 0111 ? 0755 : 0644, st.st_size};
    enum pd_code rc = put_entry(o, &e, err);
    if (rc == PD_OK)
        rc = put_content(o, fd, name, st.st_size, err);
    close(fd);
    return rc;
}

static enum pd_code put_link(struct out *o, int dir, const char *base, const char *name,
                             struct pd_err *err)
{
    char to[4097];
    ssize_t n = readlinkat(dir, base, to, sizeof to - 1);
    if (n < 0)
        return pd_fail_errno(err, PD_IO, _("the link %s can't be read"), name);
    to[n] = '\0';
    struct entry e = {name, to, '2', 0777, 0};
    return put_entry(o, &e, err);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in an open folder, sorted; dir is consumed. */
static enum pd_code list(int dir, const char *name, struct strv *names, struct pd_err *err)
{
    DIR *d = fdopendir(dir);
    if (!d) {
        close(dir);
        return pd_fail_errno(err, PD_IO, _("the folder %s can't be read"), name);
    }
    errno = 0;
    for (struct dirent *e; (e = readdir(d)); errno = 0)
        if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
            strv_push(names, e->d_name);
    enum pd_code rc = errno ? pd_fail_errno(err, PD_IO, _("the folder %s can't be read"), name)
                            : PD_OK;
    closedir(d);
    if (names->n > 1)
        qsort(names->v, names->n, sizeof *names->v, by_bytes);
    return rc;
}

static enum pd_code put_folder(struct out *o, int dir, const char *base, const char *prefix,
                               int depth, struct pd_err *err);

static enum pd_code put_any(struct out *o, int dir, const char *base, const char *name, int depth,
                            struct pd_err *err)
{
    struct stat st;
    if (fstatat(dir, base, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), name);
    if (S_ISREG(st.st_mode))
        return put_file(o, dir, base, name, err);
    if (S_ISLNK(st.st_mode))
        return put_link(o, dir, base, name, err);
    if (!S_ISDIR(st.st_mode))
        return pd_fail_at(err, PD_UNSUPPORTED, name, 0, 0,
                          _("neither a file, a folder nor a symbolic link"));
    char *inside = xasprintf("%s/", name);
    struct entry e = {inside, "", '5', 0755, 0};
    enum pd_code rc = put_entry(o, &e, err);
    if (rc == PD_OK)
        rc = put_folder(o, dir, base, inside, depth + 1, err);
    free(inside);
    return rc;
}

/* Everything in the folder `base` of dir; prefix ends in '/' or is "". */
static enum pd_code put_folder(struct out *o, int dir, const char *base, const char *prefix,
                               int depth, struct pd_err *err)
{
    if (depth > DEPTH_MAX)
        return pd_fail_at(err, PD_LIMIT, prefix, 0, 0, _("folders nest deeper than %d"), DEPTH_MAX);
    struct strv names;
    int self = openat(dir, base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int reader = self < 0 ? -1 : openat(self, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader < 0) {
        enum pd_code rc = pd_fail_errno(err, PD_IO, _("the folder %s%s can't be opened"), prefix,
                                        *prefix ? "" : base);
        if (self >= 0)
            close(self);
        return rc;
    }
    strv_init(&names);
    enum pd_code rc = list(reader, *prefix ? prefix : base, &names, err);
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        char *name = xasprintf("%s%s", prefix, names.v[i]);
        rc = put_any(o, self, names.v[i], name, depth, err);
        free(name);
    }
    strv_release(&names);
    close(self);
    return rc;
}

enum pd_code tar_write(const char *dir, int fd, int64_t mtime, struct pd_err *err)
{
    static const char end[2 * BLOCK];
    struct stat st;
    if (stat(dir, &st) != 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be read"), dir);
    struct out *o = xcalloc(1, sizeof *o);
    o->fd = fd;
    o->mtime = MAX(mtime, 0);
    enum pd_code rc = S_ISDIR(st.st_mode) ? put_folder(o, AT_FDCWD, dir, "", 0, err)
                                          : put_any(o, AT_FDCWD, dir, path_base(dir), 0, err);
    if (rc == PD_OK)
        rc = put(o, end, sizeof end, err);
    if (rc == PD_OK)
        rc = flush(o, err);
    free(o);
    return rc;
}
