/* inroot.c - see inroot.h. */
#include "k8s/image/inroot.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

int inroot_open(int root, const char *path, int flags, int mode)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = (flags & O_CREAT) ? (unsigned)mode : 0,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
        /* EAGAIN: a rename beside us; the kernel asks to try again */
        if (fd >= 0 || errno != EAGAIN || tries > 100)
            return (int)fd;
    }
}

/* Make the folders of path[0..n) one by one, each resolved inside the root. */
static int make_dirs(int root, char *path)
{
    for (char *s = path;; s++) {
        s += strcspn(s, "/");
        char keep = *s;
        *s = '\0';
        int fd = inroot_open(root, path, O_PATH | O_DIRECTORY, 0);
        if (fd < 0 && errno == ENOENT) {
            const char *name;
            int parent = inroot_parent(root, path, false, &name);
            if (parent >= 0) {
                if (mkdirat(parent, name, 0755) == 0 || errno == EEXIST)
                    fd = inroot_open(root, path, O_PATH | O_DIRECTORY, 0);
                int saved = errno;
                close(parent);
                errno = saved;
            }
        }
        *s = keep;
        if (fd < 0 || keep == '\0')
            return fd;
        close(fd);
    }
}

int inroot_parent(int root, const char *path, bool make, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        return inroot_open(root, ".", O_PATH | O_DIRECTORY, 0);
    char *dir = xstrndup(path, (size_t)(slash - path));
    int fd = inroot_open(root, dir, O_PATH | O_DIRECTORY, 0);
    if (fd < 0 && errno == ENOENT && make)
        fd = make_dirs(root, dir);
    int saved = errno;
    free(dir);
    errno = saved;
    return fd;
}

enum pd_code inroot_check(struct pd_err *err)
{
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = root < 0 ? -1 : inroot_open(root, ".", O_PATH, 0);
    enum pd_code rc = PD_OK;
    if (fd < 0) {
        rc = pd_fail_errno(err, PD_UNSUPPORTED, _("the kernel can't resolve names inside a root"));
        pd_set_hint(err, _("images are unpacked on Linux 5.6 and newer"));
    } else {
        close(fd);
    }
    if (root >= 0)
        close(root);
    return rc;
}
