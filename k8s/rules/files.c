/* files.c - the manifests that -f names (files.h). */
#include "k8s/rules/files.h"

#include <dirent.h>
#include <sys/stat.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static bool manifest_name(const char *name)
{
    return name[0] != '.' &&
           (str_ends(name, ".yaml") || str_ends(name, ".yml") || str_ends(name, ".json"));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

enum pd_code files_expand(const char *path, struct strv *out, struct pd_err *err)
{
    struct stat st;
    size_t first = out->n;
    if (str_eq(path, "-")) {
        strv_push(out, path);
        return PD_OK;
    }
    if (stat(path, &st) != 0)
        return pd_fail_errno(err, PD_IO, "%s", path);
    if (!S_ISDIR(st.st_mode)) {
        strv_push(out, path);
        return PD_OK;
    }
    DIR *d = opendir(path);
    if (!d)
        return pd_fail_errno(err, PD_IO, "%s", path);
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (manifest_name(e->d_name)) {
            char *full = path_join(path, e->d_name);
            strv_push(out, full);
            free(full);
        }
    closedir(d);
    qsort(out->v + first, out->n - first, sizeof *out->v, by_name);
    if (out->n > first)
        return PD_OK;
    pd_fail(err, PD_IO, _("the folder %s holds no .yaml, .yml or .json"), path);
    return pd_set_hint(err, "%s", _("name a file, or another folder"));
}

enum pd_code files_read(const char *path, struct str *out, struct pd_err *err)
{
    char buf[8192];
    size_t n;
    if (!str_eq(path, "-"))
        return path_read(path, FILES_MAX, out, err);
    while ((n = fread(buf, 1, sizeof buf, stdin)) > 0)
        str_append(out, buf, n);
    if (ferror(stdin))
        return pd_fail_errno(err, PD_IO, "-");
    return out->full ? pd_fail(err, PD_LIMIT, _("standard input is larger than 4 MiB")) : PD_OK;
}
