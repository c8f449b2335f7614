/* lab_new.c - copies a template; LAB-ID in its texts becomes the id. */
#include "labs/lab_new.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/lab_keys.h"

enum { NEW_FILE_CEILING = 1 << 20 };

static void put_id(const char *text, const char *id, struct str *out)
{
    static const char mark[] = "LAB-ID";
    for (const char *at; (at = strstr(text, mark)); text = at + sizeof mark - 1) {
        str_append(out, text, (size_t)(at - text));
        str_add(out, id);
    }
    str_add(out, text);
}

static enum pd_code copy_file(const char *from, const char *to, const char *id,
                              struct pd_err *err)
{
    struct str text, out;
    str_init(&text, NEW_FILE_CEILING);
    str_init(&out, 2 * NEW_FILE_CEILING);
    enum pd_code rc = path_read(from, NEW_FILE_CEILING, &text, err);
    if (!rc) {
        put_id(text.p, id, &out);
        rc = path_write_atomic(to, 0644, out.p, out.len, err);
    }
    str_release(&text);
    str_release(&out);
    return rc;
}

static enum pd_code copy_tree(const char *from, const char *to, const char *id, int depth,
                              struct pd_err *err)
{
    struct stat sb;
    enum pd_code rc = path_mkdirs(to, 0755, err);
    DIR *d = rc || depth > 4 ? NULL : opendir(from);
    if (!d)
        return rc ? rc : pd_fail_errno(err, PD_IO, _("%s can't be read"), from);
    for (struct dirent *e; !rc && (e = readdir(d));) {
        if (e->d_name[0] == '.')
            continue;
        char *a = path_join(from, e->d_name), *b = path_join(to, e->d_name);
        bool dir = stat(a, &sb) == 0 && S_ISDIR(sb.st_mode);
        rc = dir ? copy_tree(a, b, id, depth + 1, err) : copy_file(a, b, id, err);
        free(a);
        free(b);
    }
    closedir(d);
    return rc;
}

/* The templates that ship with podium: "basic fault". */
static void print_templates(const char *all)
{
    DIR *d = all ? opendir(all) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            fprintf(stderr, " %s", e->d_name);
    fprintf(stderr, "\n");
    if (d)
        closedir(d);
}

int lab_new(const char *dir, const char *template)
{
    struct pd_err err;
    char text[1024];
    char *trimmed = xstrdup(dir);
    for (size_t n = strlen(trimmed); n > 1 && trimmed[n - 1] == '/'; n--)
        trimmed[n - 1] = '\0';
    const char *id = path_base(trimmed), *name = template ? template : "basic";
    char *all = path_shipped("labs/templates");
    char *from = all && lab_keys_id_ok(name) ? path_join(all, name) : NULL;
    int code = 2;
    if (!lab_keys_id_ok(id)) {
        fprintf(stderr, _("podium lab: \"%s\" is no id: use a-z, 0-9 and \"-\"\n"), id);
    } else if (!from || access(from, R_OK)) {
        fprintf(stderr, _("podium lab: there is no template \"%s\"; there are:"), name);
        print_templates(all);
    } else if (access(trimmed, F_OK) == 0) {
        fprintf(stderr, _("podium lab: %s is there already\n"), trimmed);
    } else if (copy_tree(from, trimmed, id, 0, &err)) {
        fprintf(stderr, "podium: %s\n", pd_describe(&err, text, sizeof text));
        code = 1;
    } else {
        printf(_("%s is made. Next:\n  podium lab lint %s\n  podium lab test %s\n"), trimmed,
               trimmed, trimmed);
        code = 0;
    }
    free(from);
    free(all);
    free(trimmed);
    return code;
}
