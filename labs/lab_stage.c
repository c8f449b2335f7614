/* lab_stage.c - copies what a build context needs besides the person's files. */
#include "labs/lab_stage.h"

#include "core/base/base.h"
#include "core/base/i18n.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/errjson.h"

enum { STAGE_BUFFER = 1 << 20, STAGE_DEPTH = 16 };

struct stage {
    const char *name;
    int64_t done, total;
    struct pd_err err;
};

static void say(struct json *record)
{
    char *text = json_text(record, 0);
    printf("%s\n", text);
    fflush(stdout);
    free(text);
    json_free(record);
}

static void progress(const struct stage *st)
{
    struct json *r = json_new_object();
    json_put_str(r, "ev", "stage");
    json_put_str(r, "text", st->name);
    json_put_num(r, "done", (double)st->done);
    json_put_num(r, "total", (double)st->total);
    say(r);
}

static enum pd_code copy_bytes(struct stage *st, int in, int out, const char *to)
{
    char *buf = xmalloc(STAGE_BUFFER);
    enum pd_code rc = PD_OK;
    ssize_t n;
    while (!rc && (n = read(in, buf, STAGE_BUFFER)) != 0) {
        if (n < 0) {
            rc = pd_fail_errno(&st->err, PD_IO, _("reading for %s"), to);
            break;
        }
        for (ssize_t at = 0, k; at < n && !rc; at += k)
            if ((k = write(out, buf + at, (size_t)(n - at))) < 0)
                rc = pd_fail_errno(&st->err, PD_IO, _("%s can't be written"), to);
        st->done += n;
    }
    free(buf);
    return rc;
}

static enum pd_code copy_file(struct stage *st, const char *from, const char *to, int mode)
{
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (in < 0)
        return pd_fail_errno(&st->err, PD_IO, _("%s can't be read"), from);
    unlink(to);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 0111 ? 0755 : 0644);
    enum pd_code rc = out < 0 ? pd_fail_errno(&st->err, PD_IO, _("%s can't be made"), to)
                              : copy_bytes(st, in, out, to);
    if (out >= 0 && close(out) && !rc)
        rc = pd_fail_errno(&st->err, PD_IO, _("%s can't be written"), to);
    close(in);
    if (!rc)
        progress(st);
    return rc;
}

/* One file or folder; with to NULL only the bytes are counted. */
static enum pd_code walk(struct stage *st, const char *from, const char *to, int depth)
{
    struct stat sb;
    if (lstat(from, &sb))
        return pd_fail_errno(&st->err, PD_IO, _("%s can't be read"), from);
    if (S_ISREG(sb.st_mode)) {
        if (to)
            return copy_file(st, from, to, (int)sb.st_mode);
        st->total += sb.st_size;
        return PD_OK;
    }
    if (!S_ISDIR(sb.st_mode) || depth > STAGE_DEPTH)
        return pd_fail(&st->err, PD_LAB, _("%s is neither a file nor a folder"), from);
    enum pd_code rc = to ? path_mkdirs(to, 0755, &st->err) : PD_OK;
    DIR *d = rc ? NULL : opendir(from);
    if (!d)
        return rc ? rc : pd_fail_errno(&st->err, PD_IO, _("%s can't be read"), from);
    for (struct dirent *e; !rc && (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        char *a = path_join(from, e->d_name), *b = to ? path_join(to, e->d_name) : NULL;
        rc = walk(st, a, b, depth + 1);
        free(a);
        free(b);
    }
    closedir(d);
    return rc;
}

/* lab/what, unless a folder on the way is a link that leads out of the lab; the
 * last part is looked at when it is copied. NULL: it does. */
static char *inside(const char *lab, const char *what)
{
    char *path = path_join(lab, what), *dir = path_dir(path);
    char *top = realpath(lab, NULL), *real = realpath(dir, NULL);
    size_t n = top ? strlen(top) : 0;
    /* what is not there is told by its reader */
    bool out = real && !(top && strncmp(real, top, n) == 0 && (!real[n] || real[n] == '/'));
    free(dir);
    free(top);
    free(real);
    if (!out)
        return path;
    free(path);
    return NULL;
}

/* The place of a source; NULL with err. */
static char *source(struct stage *st, const char *lab, const char *what)
{
    char *path;
    if (str_eq(what, "@podium-train")) {
        char *dir = path_program_dir();
        path = path_join(dir, "podium-train");
        char *real = realpath(path, NULL);        /* an installation may link it */
        if (!real)
            pd_fail_errno(&st->err, PD_IO, _("%s can't be read"), path);
        free(dir);
        free(path);
        return real;
    }
    if (path_inside(what) && (path = inside(lab, what)) != NULL)
        return path;
    pd_fail(&st->err, PD_LAB, _("\"%s\" is no file of the lab's folder"), what);
    return NULL;
}

static enum pd_code one(struct stage *st, const char *lab, const char *context, const char *pair,
                        bool copy)
{
    const char *eq = strchr(pair, '=');
    char *name = xstrndup(pair, eq ? (size_t)(eq - pair) : 0);
    enum pd_code rc = PD_OK;
    if (!path_inside(name))
        rc = pd_fail(&st->err, PD_LAB, _("\"%s\" is not NAME=SOURCE"), pair);
    char *from = rc ? NULL : source(st, lab, eq + 1);
    char *to = from ? path_join(context, name) : NULL;
    st->name = name;
    if (!rc && !from)
        rc = st->err.code;
    if (!rc)
        rc = walk(st, from, copy ? to : NULL, 0);
    free(from);
    free(to);
    free(name);
    return rc;
}

int lab_stage(int argc, char **argv)
{
    struct stage st = {0};
    enum pd_code rc = PD_OK;
    if (argc < 3) {
        fprintf(stderr, "usage: podium lab stage LABDIR CONTEXT NAME=SOURCE...\n");
        return 2;
    }
    rc = path_mkdirs(argv[2], 0755, &st.err);
    for (int pass = 0; pass < 2 && !rc; pass++)
        for (int i = 3; i < argc && !rc; i++)
            rc = one(&st, argv[1], argv[2], argv[i], pass == 1);
    struct json *last = rc ? errjson_make(&st.err) : json_new_object();
    json_put_str(last, "ev", rc ? "error" : "done");
    if (!rc)
        json_put_num(last, "bytes", (double)st.done);
    say(last);
    return rc ? 1 : 0;
}
