/* untar.c - a tar stream unpacked into a folder as it comes (copy.h): POSIX
 * ustar, pax records (path, size, linkpath) and GNU long names. What a
 * container sends is not trusted: a member may only be a plain file or a folder
 * inside the target, reached without following a link. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "k8s/copy.h"
#include "k8s/tarwrite.h"

enum { BLOCK = 512, META_MAX = 1 << 20 };
enum part { HEADER, CONTENT, META, PADDING, ENDED };

struct untar {
    char *to;
    void (*file)(void *arg, const char *path, int64_t size, const char *sha256);
    void *arg;
    EVP_MD_CTX *all, *one;
    enum part part;
    unsigned char block[BLOCK];
    size_t have;
    int64_t left;                     /* of content, meta or padding */
    int64_t padding;
    char type;                        /* of the member in hand */
    struct str meta, path, next_path; /* next_path: from pax or a long name */
    struct str next_link;
    char *map_from, *map_file, *map_dir;
    void (*left_out)(void *arg, const char *text);
    int64_t size, next_size;          /* next_size -1: none */
    int fd;
    char *tmp;                        /* the unfinished file, relative to `to` */
    int zero_blocks;
};

static void to_hex(const unsigned char *p, unsigned n, char *out)
{
    for (unsigned i = 0; i < n; i++)
        str_fmt(out + 2 * i, 3, "%02x", p[i]);
}

struct untar *untar_new(const char *to, void (*file)(void *arg, const char *path, int64_t size,
                                                     const char *sha256), void *arg)
{
    struct untar *u = xcalloc(1, sizeof *u);
    u->to = xstrdup(to);
    u->file = file;
    u->arg = arg;
    u->fd = -1;
    u->next_size = -1;
    str_init(&u->meta, META_MAX);
    str_init(&u->path, 8192);
    str_init(&u->next_path, 8192);
    str_init(&u->next_link, 8192);
    u->all = EVP_MD_CTX_new();
    u->one = EVP_MD_CTX_new();
    if (!u->all || !u->one || !EVP_DigestInit_ex(u->all, EVP_sha256(), NULL))
        PD_BUG("SHA-256 is not available");
    return u;
}

static void forget_file(struct untar *u)
{
    if (u->fd >= 0)
        close(u->fd);
    u->fd = -1;
    if (u->tmp)
        unlink(u->tmp);
    free(u->tmp);
    u->tmp = NULL;
}

void untar_free(struct untar *u)
{
    if (!u)
        return;
    forget_file(u);
    EVP_MD_CTX_free(u->all);
    EVP_MD_CTX_free(u->one);
    str_release(&u->meta);
    str_release(&u->path);
    str_release(&u->next_path);
    str_release(&u->next_link);
    free(u->map_from);
    free(u->map_file);
    free(u->map_dir);
    free(u->to);
    free(u);
}

void untar_map(struct untar *u, const char *from, const char *file_to, const char *dir_to)
{
    u->map_from = xstrdup(from);
    u->map_file = xstrdup(file_to);
    u->map_dir = xstrdup(dir_to);
}

void untar_lenient(struct untar *u, void (*left_out)(void *arg, const char *text))
{
    u->left_out = left_out;
}

/* --- headers --- */

/* Octal text, or GNU's binary form (high bit set). -1 when it is neither. */
static int64_t number(const unsigned char *p, size_t n)
{
    int64_t v = 0;
    size_t i = 0;
    if (p[0] & 0x80) {
        v = p[0] & 0x3f;
        for (i = 1; i < n; i++) {
            if (v > INT64_MAX >> 8)
                return -1;
            v = v << 8 | p[i];
        }
        return v;
    }
    while (i < n && p[i] == ' ')
        i++;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
        v = v << 3 | (p[i] - '0');
    return i < n && p[i] != '\0' && p[i] != ' ' ? -1 : v;
}

static bool sum_is_right(const unsigned char b[BLOCK])
{
    int64_t sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += i >= 148 && i < 156 ? ' ' : b[i];
    return number(b + 148, 8) == sum;
}

static bool all_zero(const unsigned char b[BLOCK])
{
    for (int i = 0; i < BLOCK; i++)
        if (b[i])
            return false;
    return true;
}

static void header_name(struct untar *u)
{
    const char *name = (const char *)u->block, *prefix = (const char *)u->block + 345;
    bool ustar = memcmp(u->block + 257, "ustar", 5) == 0;
    str_clear(&u->path);
    if (u->next_path.len > 0) {
        str_append(&u->path, u->next_path.p, u->next_path.len);
        return;
    }
    if (ustar && prefix[0] && u->block[263] == '0')
        str_printf(&u->path, "%.*s/", (int)strnlen(prefix, 155), prefix);
    str_append(&u->path, name, strnlen(name, 100));
}

/* "./a//b/" becomes "a/b"; "" is the folder itself. */
static void normal_path(struct str *path)
{
    struct str out;
    str_init(&out, path->ceiling);
    for (const char *p = path->p; *p;) {
        size_t n = strcspn(p, "/");
        if (n > 0 && !(n == 1 && p[0] == '.')) {
            if (out.len || path->p[0] == '/')
                str_addc(&out, '/');
            str_append(&out, p, n);
        }
        p += n + (p[n] == '/');
    }
    str_clear(path);
    str_append(path, out.p, out.len);
    str_release(&out);
}

static enum pd_code refuse(struct untar *u, struct pd_err *err, const char *why)
{
    pd_fail(err, PD_IO, _("the member \"%.200s\" of the archive %s"), u->path.p, why);
    return pd_set_hint(err, _("copy a folder that holds plain files only"));
}

/* Every folder on the way must be a folder, not a link to one. */
static enum pd_code open_folder(struct untar *u, const char *rel, struct pd_err *err)
{
    char *path = xstrdup(u->to);
    enum pd_code code = path_mkdirs(path, 0700, err);
    for (const char *p = rel; code == PD_OK && *p;) {
        struct stat st;
        size_t n = strcspn(p, "/");
        char *next = xasprintf("%s/%.*s", path, (int)n, p);
        free(path);
        path = next;
        if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
            code = refuse(u, err, _("has something in its way that is no folder"));
        else if (mkdir(path, 0777) < 0 && errno != EEXIST)
            code = pd_fail_errno(err, PD_IO, _("the folder %s can't be made"), path);
        p += n + (p[n] == '/');
    }
    free(path);
    return code;
}

static enum pd_code open_file(struct untar *u, struct pd_err *err)
{
    char *slash = strrchr(u->path.p, '/');
    char *dir = slash ? xstrndup(u->path.p, (size_t)(slash - u->path.p)) : xstrdup("");
    enum pd_code code = open_folder(u, dir, err);
    free(dir);
    if (code != PD_OK)
        return code;
    u->tmp = xasprintf("%s/%s.part", u->to, u->path.p);
    u->fd = open(u->tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (u->fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be written"), u->tmp);
    EVP_DigestInit_ex(u->one, EVP_sha256(), NULL);
    return PD_OK;
}

static enum pd_code close_file(struct untar *u, struct pd_err *err)
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char hex[2 * EVP_MAX_MD_SIZE + 1];
    int rc = close(u->fd);
    u->fd = -1;
    char *path = xasprintf("%s/%s", u->to, u->path.p);
    enum pd_code code = PD_OK;
    if (rc < 0 || rename(u->tmp, path) < 0)
        code = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    free(path);
    if (code != PD_OK)
        return code;
    free(u->tmp);
    u->tmp = NULL;
    EVP_DigestFinal_ex(u->one, sum, &n);
    to_hex(sum, n, hex);
    if (u->file)
        u->file(u->arg, u->path.p, u->size, hex);
    return PD_OK;
}

/* --- members --- */

static bool is_meta(char type)
{
    return type == 'x' || type == 'g' || type == 'L' || type == 'K';
}

static void begin_data(struct untar *u, enum part part)
{
    u->left = u->size;
    u->padding = (BLOCK - u->size % BLOCK) % BLOCK;
    u->part = part;
}

/* What the owner wants a member to be called; the caller frees it. */
static char *mapped(const struct untar *u, const char *path, bool folder)
{
    size_t n = u->map_from ? strlen(u->map_from) : 0;
    const char *rest = path + n;
    bool itself = n > 0 && str_eq(path, u->map_from);
    if (!u->map_from || (n > 0 && !itself && (!str_starts(path, u->map_from) || *rest != '/')))
        return xstrdup(path);
    rest += *rest == '/';
    if (itself || !*rest)
        return xstrdup(itself && !folder ? u->map_file : u->map_dir);
    return *u->map_dir ? xasprintf("%s/%s", u->map_dir, rest) : xstrdup(rest);
}

static void map_path(struct untar *u)
{
    char *now = mapped(u, u->path.p, u->type == '5');
    str_clear(&u->path);
    str_add(&u->path, now);
    free(now);
}

static enum pd_code make_link(struct untar *u, const char *target, struct pd_err *err)
{
    char *slash = strrchr(u->path.p, '/');
    char *dir = slash ? xstrndup(u->path.p, (size_t)(slash - u->path.p)) : xstrdup("");
    enum pd_code code = open_folder(u, dir, err);
    char *path = xasprintf("%s/%s", u->to, u->path.p);
    char *whole = u->type == '1' ? mapped(u, target, false) : xstrdup(target);
    char *from = u->type == '1' ? xasprintf("%s/%s", u->to, whole) : xstrdup(whole);
    struct stat st;
    if (code == PD_OK && lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        unlink(path);
    if (code == PD_OK && (u->type == '1' ? link(from, path) : symlink(from, path)) < 0)
        code = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    free(path);
    free(dir);
    free(whole);
    free(from);
    return code;
}

/* A second name of a file that came before; its target is reached without
 * following a link. */
static bool hard_link_stays(struct untar *u, const char *target)
{
    struct stat st;
    struct pd_err ignored;
    char *to = mapped(u, target, false), *slash = strrchr(to, '/');
    bool ok = path_inside(target) && path_inside(to);
    if (ok && slash) {
        *slash = '\0';
        ok = open_folder(u, to, &ignored) == PD_OK;
        *slash = '/';
    }
    char *path = xasprintf("%s/%s", u->to, to);
    ok = ok && lstat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    free(to);
    return ok;
}

static void leave_out(struct untar *u, const char *target)
{
    struct str name, to;
    str_init(&name, 300);
    str_init(&to, 300);
    utf8_clean(u->path.p, u->path.len, false, &name);
    utf8_clean(target, strlen(target), false, &to);
    char *text = u->type == '1' || u->type == '2'
                     ? xasprintf(_("%s: a link that leaves the folder (to %s)"), name.p, to.p)
                     : xasprintf(_("%s: neither a file nor a folder"), name.p);
    u->left_out(u->arg, text);
    free(text);
    str_release(&name);
    str_release(&to);
}

/* Links, devices, pipes. */
static enum pd_code special_member(struct untar *u, struct pd_err *err)
{
    char *target = u->next_link.len ? xstrdup(u->next_link.p)
                                    : xstrndup((const char *)u->block + 157, 100);
    char *name = xasprintf("%s%s", u->map_from && *u->map_from ? "" : "./", u->path.p);
    enum pd_code rc = PD_OK;
    str_clear(&u->next_link);
    u->size = u->type == '1' || u->type == '2' ? 0 : u->size;
    begin_data(u, PADDING);
    u->left = (u->size + BLOCK - 1) / BLOCK * BLOCK;
    u->padding = 0;
    if (!path_inside(u->path.p)) {
        rc = refuse(u, err, _("leaves the folder"));
    } else if ((u->type == '2' && tarwrite_link_stays(name, target)) ||
               (u->type == '1' && hard_link_stays(u, target))) {
        map_path(u);
        rc = make_link(u, target, err);
    } else {
        leave_out(u, target);
    }
    free(target);
    free(name);
    return rc;
}

static enum pd_code begin_member(struct untar *u, struct pd_err *err)
{
    u->type = (char)u->block[156];
    u->size = number(u->block + 124, 12);
    if (u->size < 0)
        return pd_fail(err, PD_PROTO, _("a member of the archive has no valid size"));
    if (is_meta(u->type)) {
        if (u->size > META_MAX)
            return pd_fail(err, PD_LIMIT, _("a header of the archive is longer than 1 MiB"));
        str_clear(&u->meta);
        begin_data(u, META);
        return PD_OK;
    }
    header_name(u);
    normal_path(&u->path);
    if (u->next_size >= 0)
        u->size = u->next_size;
    str_clear(&u->next_path);
    u->next_size = -1;
    if (u->left_out && u->type != '0' && u->type != '\0' && u->type != '7' && u->type != '5')
        return special_member(u, err);
    if (u->path.len > 0 && !path_inside(u->path.p))
        return refuse(u, err, _("leaves the folder"));
    map_path(u);
    if (u->type == '5') {
        u->size = 0;
        begin_data(u, PADDING);
        return open_folder(u, u->path.p, err);
    }
    if (u->type != '0' && u->type != '\0' && u->type != '7')
        return refuse(u, err, _("is neither a plain file nor a folder"));
    if (!path_inside(u->path.p))
        return refuse(u, err, _("leaves the folder"));
    begin_data(u, CONTENT);
    return open_file(u, err);
}

/* pax: "LENGTH KEY=VALUE\n" records. */
static enum pd_code pax(struct untar *u, struct pd_err *err)
{
    const char *p = u->meta.p, *end = p + u->meta.len;
    while (p < end) {
        char *rest;
        long n = strtol(p, &rest, 10);
        if (n <= 0 || n > end - p || rest == p || *rest != ' ' || rest + 1 >= p + n)
            return pd_fail(err, PD_PROTO, _("a pax header of the archive is not valid"));
        const char *key = rest + 1, *eq = memchr(key, '=', (size_t)(p + n - key));
        size_t len = eq ? (size_t)(p + n - 1 - (eq + 1)) : 0;
        if (eq && eq - key == 4 && !memcmp(key, "path", 4)) {
            str_clear(&u->next_path);
            str_append(&u->next_path, eq + 1, len);
        } else if (eq && eq - key == 4 && !memcmp(key, "size", 4)) {
            u->next_size = strtoll(eq + 1, NULL, 10);
        } else if (eq && eq - key == 8 && !memcmp(key, "linkpath", 8)) {
            str_clear(&u->next_link);
            str_append(&u->next_link, eq + 1, len);
        }
        p += n;
    }
    return PD_OK;
}

static enum pd_code end_meta(struct untar *u, struct pd_err *err)
{
    if (u->type == 'x')
        return pax(u, err);
    if (u->type == 'K') {
        str_clear(&u->next_link);
        str_append(&u->next_link, u->meta.p, strnlen(u->meta.p, u->meta.len));
    }
    if (u->type == 'L') {
        str_clear(&u->next_path);
        str_append(&u->next_path, u->meta.p, strnlen(u->meta.p, u->meta.len));
    }
    return PD_OK;
}

/* --- feeding --- */

static enum pd_code header_block(struct untar *u, struct pd_err *err)
{
    u->have = 0;
    if (all_zero(u->block)) {
        if (++u->zero_blocks == 2)
            u->part = ENDED;
        return PD_OK;
    }
    u->zero_blocks = 0;
    if (!sum_is_right(u->block))
        return pd_fail(err, PD_PROTO, _("this is no tar archive (or a broken one)"));
    return begin_member(u, err);
}

static enum pd_code write_content(struct untar *u, const unsigned char *p, size_t n,
                                  struct pd_err *err)
{
    EVP_DigestUpdate(u->one, p, n);
    while (n > 0) {
        ssize_t k = write(u->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return pd_fail_errno(err, PD_IO, _("%s can't be written"), u->tmp);
        p += k;
        n -= (size_t)k;
    }
    return PD_OK;
}

/* Phases whose data is complete. */
static enum pd_code settle(struct untar *u, struct pd_err *err)
{
    enum pd_code code = PD_OK;
    if (u->left > 0 || u->part == HEADER || u->part == ENDED)
        return PD_OK;
    if (u->part == PADDING) {
        u->part = HEADER;
        return PD_OK;
    }
    code = u->part == CONTENT ? close_file(u, err) : end_meta(u, err);
    u->left = u->padding;
    u->part = u->padding ? PADDING : HEADER;
    return code;
}

static enum pd_code take(struct untar *u, const unsigned char **p, size_t *n, struct pd_err *err)
{
    size_t piece;
    enum pd_code code = PD_OK;
    if (u->part == HEADER) {
        piece = MIN(*n, BLOCK - u->have);
        memcpy(u->block + u->have, *p, piece);
        u->have += piece;
        if (u->have == BLOCK)
            code = header_block(u, err);
    } else {
        piece = (size_t)MIN((int64_t)*n, u->left);
        if (u->part == CONTENT)
            code = write_content(u, *p, piece, err);
        else if (u->part == META)
            str_append(&u->meta, *p, piece);
        u->left -= (int64_t)piece;
    }
    *p += piece;
    *n -= piece;
    return code == PD_OK ? settle(u, err) : code;
}

enum pd_code untar_feed(struct untar *u, const void *data, size_t n, struct pd_err *err)
{
    const unsigned char *p = data;
    enum pd_code code = PD_OK;
    EVP_DigestUpdate(u->all, p, n);
    while (n > 0 && code == PD_OK && u->part != ENDED)
        code = take(u, &p, &n, err);
    return code;
}

enum pd_code untar_end(struct untar *u, struct pd_err *err)
{
    if (u->part == ENDED || (u->part == HEADER && u->zero_blocks == 1 && u->have == 0))
        return PD_OK;
    forget_file(u);
    if (u->path.len > 0)
        pd_fail(err, PD_PROTO, _("the archive was cut off at %.200s"), u->path.p);
    else
        pd_fail(err, PD_PROTO, _("the archive was cut off"));
    return pd_set_hint(err, _("copy again; the container may have ended meanwhile"));
}

const char *untar_path(const struct untar *u, int64_t *size)
{
    *size = u->size;
    return u->path.p;
}

void untar_sha256(struct untar *u, char hex[65])
{
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_MD_CTX *copy = EVP_MD_CTX_new();
    if (!copy || !EVP_MD_CTX_copy_ex(copy, u->all) || !EVP_DigestFinal_ex(copy, sum, &n))
        PD_BUG("SHA-256 failed");
    EVP_MD_CTX_free(copy);
    to_hex(sum, n, hex);
}
