/* kubelet_user.c - the user of an image: "1000", "1000:1000", "name[:group]".
 * Names are looked up in the image, whose files are not to be trusted: links stay
 * inside it, and a FIFO in place of a file does not stop the loop. */
#include "k8s/practice/kubelet_in.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "k8s/image/inroot.h"

enum { FILE_MAX = 1 << 20 };

/* A regular file of the image; "" when there is none. */
static void read_inside(const char *rootfs, const char *rel, struct str *out)
{
    struct stat st;
    char buf[16 << 10];
    int root = open(rootfs, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = root < 0 ? -1 : inroot_open(root, rel, O_RDONLY | O_NONBLOCK, 0);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        for (ssize_t n; (n = read(fd, buf, sizeof buf)) > 0;)
            if (!str_append(out, buf, (size_t)n))
                break;
    if (fd >= 0)
        close(fd);
    if (root >= 0)
        close(root);
}

/* The number in the column of the line of this name; also the gid of a user. */
static bool find(const char *rootfs, const char *file, const char *name, int *out, int *gid)
{
    struct str text;
    bool found = false;
    char *save = NULL;
    str_init(&text, FILE_MAX);
    read_inside(rootfs, file, &text);
    for (char *line = strtok_r(text.p, "\n", &save); line && !found;
         line = strtok_r(NULL, "\n", &save)) {
        struct strv part;
        strv_init(&part);
        strv_split(&part, line, ':');
        if (part.n > 3 && strcmp(part.v[0], name) == 0) {
            *out = atoi(part.v[2]);
            if (gid)
                *gid = atoi(part.v[3]);
            found = true;
        }
        strv_release(&part);
    }
    str_release(&text);
    return found;
}

bool kubelet_user_resolve(const char *user, struct shim_spec *s)
{
    int64_t v;
    char name[256];
    str_copy(name, sizeof name, user);
    char *group = strchr(name, ':');
    if (group)
        *group++ = '\0';
    if (s->uid < 0) {
        s->uid = 0;
        int gid = 0;
        if (str_to_i64(name, &v))
            s->uid = (int)v;
        else if (*name && !find(s->rootfs, "etc/passwd", name, &s->uid, &gid))
            return false;
        if (s->gid < 0 && !group)
            s->gid = gid;
    }
    if (s->gid < 0) {
        s->gid = 0;
        if (group && str_to_i64(group, &v))
            s->gid = (int)v;
        else if (group && !find(s->rootfs, "etc/group", group, &s->gid, NULL))
            return false;
    }
    return true;
}
