/* path.c - places in the file system, atomic writes (path.h). */
#include "core/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

static const struct {
    const char *env, *fallback;
} homes[] = {
    [PATH_STATE] = {"XDG_STATE_HOME", ".local/state"},
    [PATH_DATA] = {"XDG_DATA_HOME", ".local/share"},
    [PATH_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
    [PATH_CACHE] = {"XDG_CACHE_HOME", ".cache"},
    [PATH_RUNTIME] = {"XDG_RUNTIME_DIR", ".local/state"},
};

char *path_join(const char *dir, const char *rel)
{
    if (!*rel)
        return xstrdup(dir);
    return xasprintf("%s%s%s", dir, str_ends(dir, "/") ? "" : "/", rel);
}

char *path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return xstrdup(".");
    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *home_dir(enum path_home which)
{
    const char *dir = getenv(homes[which].env), *home = getenv("HOME");
    if (dir && dir[0] == '/')
        return xasprintf("%s/podium", dir);
    if (!home || home[0] != '/')
        home = "/tmp";
    return xasprintf("%s/%s/podium", home, homes[which].fallback);
}

char *path_home(enum path_home which, const char *rel)
{
    struct pd_err err;
    char *dir = home_dir(which), *full = path_join(dir, rel), *above = path_dir(full);
    /* a failure shows where the file itself is opened */
    enum pd_code code = path_mkdirs(*rel ? above : full, 0700, &err);
    (void)code;
    free(above);
    free(dir);
    return full;
}

char *path_program_dir(void)
{
    char buf[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", buf, sizeof buf - 1);
    if (n <= 0)
        return xstrdup(".");
    buf[n] = '\0';
    return path_dir(buf);
}

char *path_shipped(const char *rel)
{
    char *dir = path_program_dir();
    char *tries[] = {path_join(dir, rel), xasprintf("%s/../share/podium/%s", dir, rel),
                     xasprintf("%s/../%s", dir, rel), xasprintf("%s/%s", PODIUM_SOURCE_DIR, rel)};
    char *found = NULL;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        if (!found && access(tries[i], R_OK) == 0)
            found = tries[i];
        else
            free(tries[i]);
    }
    free(dir);
    return found;
}

enum pd_code path_mkdirs(const char *path, int mode, struct pd_err *err)
{
    char *copy = xstrdup(path);
    enum pd_code code = PD_OK;
    for (char *p = copy + 1; code == PD_OK; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, (mode_t)mode) < 0 && errno != EEXIST)
            code = pd_fail_errno(err, PD_IO, _("can't make the folder %s"), copy);
        *p = c;
        if (!c)
            break;
    }
    free(copy);
    return code;
}

enum pd_code path_read(const char *path, size_t ceiling, struct str *out, struct pd_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't read %s"), path);
    char buf[65536];
    ssize_t n;
    enum pd_code code = PD_OK;
    size_t total = 0;
    while (code == PD_OK && (n = read(fd, buf, sizeof buf)) != 0) {
        if (n < 0 && errno != EINTR)
            code = pd_fail_errno(err, PD_IO, _("can't read %s"), path);
        else if (n > 0 && ((total += (size_t)n) > ceiling || !str_append(out, buf, (size_t)n)))
            code = pd_fail(err, PD_LIMIT, _("%s is larger than %zu bytes"), path, ceiling);
    }
    close(fd);
    return code;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, p, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return false;
        p += w;
        n -= (size_t)w;
    }
    return true;
}

enum pd_code path_sync_dir(const char *dir, struct pd_err *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? PD_OK : pd_fail_errno(err, PD_IO, _("%s can't be synced"), dir);
    bool ok = fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
    enum pd_code code = ok ? PD_OK : pd_fail_errno(err, PD_IO, _("%s can't be synced"), dir);
    close(fd);
    return code;
}

enum pd_code path_write_atomic(const char *path, int mode, const void *data, size_t n,
                               struct pd_err *err)
{
    char *tmp = xasprintf("%s.tmp-%d", path, (int)getpid());
    enum pd_code code = PD_OK;
    int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)mode);
    if (fd < 0) {
        code = pd_fail_errno(err, PD_IO, _("can't write %s"), tmp);
    } else {
        bool ok = fchmod(fd, (mode_t)mode) == 0 && write_all(fd, data, n) && fsync(fd) == 0;
        ok = close(fd) == 0 && ok;
        if (!ok || rename(tmp, path) < 0) {
            code = pd_fail_errno(err, PD_IO, _("can't write %s"), path);
            unlink(tmp);
        } else {
            char *dir = path_dir(path);
            code = path_sync_dir(dir, err);
            free(dir);
        }
    }
    free(tmp);
    return code;
}

static enum pd_code remove_at(int dir, const char *name, const char *path, struct pd_err *err);

static enum pd_code remove_children(int fd, const char *path, struct pd_err *err)
{
    enum pd_code code = PD_OK;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return pd_fail_errno(err, PD_IO, _("can't read the folder %s"), path);
    }
    struct dirent *e;
    while (code == PD_OK && (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            code = remove_at(dirfd(d), e->d_name, path, err);
    closedir(d);
    return code;
}

static enum pd_code remove_at(int dir, const char *name, const char *path, struct pd_err *err)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return PD_OK;
    if (errno != EISDIR && errno != EPERM)
        return pd_fail_errno(err, PD_IO, _("can't remove %s in %s"), name, path);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
        fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("can't remove %s in %s"), name, path);
    (void)fchmod(fd, 0700);
    enum pd_code code = remove_children(fd, path, err);
    if (code == PD_OK && unlinkat(dir, name, AT_REMOVEDIR) < 0)
        code = pd_fail_errno(err, PD_IO, _("can't remove %s in %s"), name, path);
    return code;
}

enum pd_code path_remove_tree(const char *path, struct pd_err *err)
{
    return remove_at(AT_FDCWD, path, path, err);
}

bool path_inside(const char *rel)
{
    if (!*rel || *rel == '/')
        return false;
    for (const char *p = rel; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && memcmp(p, "..", 2) == 0)
            return false;
        p += n + (p[n] == '/');
    }
    return true;
}
