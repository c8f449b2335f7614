/* registry_store.c - the registry's folders: names in, small facts out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "k8s/image/ref.h"
#include "k8s/practice/registry_priv.h"

static const char *hex_of(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon ? colon + 1 : name;
}

char *registry_store_blob(const struct registry *r, const char *digest)
{
    return xasprintf("%s/blobs/sha256/%s", r->dir, hex_of(digest));
}

char *registry_store_entry(const struct registry *r, const char *repo, const char *kind,
                           const char *name)
{
    return xasprintf("%s/repos/%s/%s%s%s", r->dir, repo, kind, *name ? "/" : "", hex_of(name));
}

bool registry_store_has(const struct registry *r, const char *repo, const char *kind,
                        const char *name)
{
    char *path = registry_store_entry(r, repo, kind, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

char *registry_store_read(const struct registry *r, const char *repo, const char *kind,
                          const char *name)
{
    char *path = registry_store_entry(r, repo, kind, name), *text = NULL;
    struct str s;
    struct pd_err ignored;
    str_init(&s, 512);
    if (path_read(path, 512, &s, &ignored) == PD_OK && s.len > 0)
        text = str_take(&s);
    str_release(&s);
    free(path);
    return text;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_folder(const char *path, struct strv *out)
{
    DIR *d = opendir(path);
    if (!d)
        return false;
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            strv_push(out, e->d_name);
    closedir(d);
    if (out->n > 1)
        qsort(out->v, out->n, sizeof *out->v, by_name);
    return true;
}

bool registry_store_list(const struct registry *r, const char *repo, const char *kind,
                         struct strv *out)
{
    char *path = registry_store_entry(r, repo, kind, "");
    bool ok = list_folder(path, out);
    free(path);
    return ok;
}

bool registry_store_repo(const struct registry *r, const char *repo)
{
    return registry_store_has(r, repo, "_revisions", "") ||
           registry_store_has(r, repo, "_blobs", "");
}

/* Folders below `rel`; one that has revisions is a repository. */
static void find_repos(const struct registry *r, const char *rel, struct strv *out)
{
    struct strv names;
    char *path = xasprintf("%s/repos%s%s", r->dir, *rel ? "/" : "", rel);
    strv_init(&names);
    list_folder(path, &names);
    free(path);
    if (strv_has(&names, "_revisions"))
        strv_push(out, rel);
    for (size_t i = 0; i < names.n; i++) {
        if (names.v[i][0] == '_')
            continue;
        char *sub = xasprintf("%s%s%s", rel, *rel ? "/" : "", names.v[i]);
        find_repos(r, sub, out);
        free(sub);
    }
    strv_release(&names);
}

void registry_store_repos(const struct registry *r, struct strv *out)
{
    find_repos(r, "", out);
    if (out->n > 1)
        qsort(out->v, out->n, sizeof *out->v, by_name);
}

int registry_store_temp(struct registry *r, char **path)
{
    *path = xasprintf("%s/tmp/%d-%" PRIu64, r->dir, (int)getpid(), ++r->names);
    int fd = open(*path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        int saved = errno;
        free(*path);
        *path = NULL;
        errno = saved;
    }
    return fd;
}

bool registry_store_make_dirs(const char *path_of_file)
{
    struct pd_err ignored;
    char *dir = path_dir(path_of_file);
    bool ok = path_mkdirs(dir, 0700, &ignored) == PD_OK;
    free(dir);
    return ok;
}

bool registry_store_add(struct registry *r, struct registry_job *j, char *final, const void *p,
                        size_t n)
{
    struct registry_file *f = &j->f[j->n];
    assert(j->n < (int)ARRAY_LEN(j->f));
    f->final = final;
    f->fd = registry_store_make_dirs(final) ? registry_store_temp(r, &f->tmp) : -1;
    if (f->fd < 0) {
        free(final);
        f->final = NULL;
        return false;
    }
    j->n++;
    return n == 0 || write(f->fd, p, n) == (ssize_t)n;
}
