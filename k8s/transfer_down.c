/* transfer_down.c - out of a container (transfer.h). */
#include "k8s/transfer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"

static void begin(void *arg);
static void by_cat(void *arg);

void transfer_down_release(struct transfer *t)
{
    untar_free(t->untar);
    if (t->fd >= 0)
        close(t->fd);
    char *all[] = {t->dir, t->base, t->to, t->file_to, t->dir_to};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
}

/* --- what came ------------------------------------------------------------------------ */

/* Below `dir_to`, or it is the file itself: how the container calls it. */
static void on_file(void *arg, const char *path, int64_t size, const char *sha256)
{
    struct transfer *t = arg;
    size_t n = strlen(t->dir_to);
    bool below = n == 0 || (str_starts(path, t->dir_to) && path[n] == '/');
    const char *rest = below ? path + n + (n > 0) : "";
    bool itself = str_eq(path, t->file_to) && !str_eq(t->base, ".");
    char *name = itself ? xstrdup(t->remote)
                        : xasprintf("%s%s%s", t->remote, str_ends(t->remote, "/") ? "" : "/", rest);
    transfer_add(t, name, size, sha256);
    t->r.bytes += size;
    free(name);
}

static void on_left_out(void *arg, const char *text)
{
    struct transfer *t = arg;
    t->r.left_out++;
    transfer_said(t, _("left out: %s"), text);
}

static void on_output(void *arg, int channel, const char *p, size_t n)
{
    struct transfer *t = arg;
    struct pd_err err;
    int64_t size = 0;
    if (channel == 2) {
        str_append(&t->errors, p, n);
        return;
    }
    if (t->ended)
        return;
    if (untar_feed(t->untar, p, n, &err) != PD_OK) {
        exec_close(t->exec);
        t->exec = NULL;
        transfer_end(t, &err);
        return;
    }
    t->received += (int64_t)n;
    const char *path = untar_path(t->untar, &size);
    if (t->h.progress)
        t->h.progress(t->h.arg, t->received, -1, path);
}

/* --- how it ended --------------------------------------------------------------------- */

static void start_over(struct transfer *t)
{
    for (size_t i = 0; i < t->files; i++)
        free(t->file[i].path);
    t->files = 0;
    t->received = t->good = t->r.bytes = 0;
    untar_free(t->untar);
    t->untar = NULL;
}

static void on_open(void *arg, bool half_close UNUSED)
{
    ((struct transfer *)arg)->opened = true;
}

static void broke(struct transfer *t, const struct pd_err *err)
{
    char how[160];
    if (t->received > t->good) {
        t->left = t->tries;
        t->waits = 0;
    }
    t->good = t->received;
    transfer_again(t, begin, str_fmt(how, sizeof how, _("going on after %lld bytes"),
                                     (long long)t->received), err);
}

static void on_tar_end(void *arg, int code, const struct pd_err *err)
{
    struct transfer *t = arg;
    struct pd_err why;
    t->exec = NULL;
    if (t->ended)
        return;
    if (podcmd_cut(code, err)) {
        broke(t, err);
    } else if (podcmd_missing(code, err) && t->good > 0) {
        transfer_said(t, "%s", _("the container has no sh and tail to go on with: all over again"));
        start_over(t);
        begin(t);
    } else if (podcmd_missing(code, err)) {
        by_cat(t);
    } else if (code != 0) {
        transfer_failed(t, code, err);
    } else if (untar_end(t->untar, &why) != PD_OK) {
        transfer_end(t, &why);
    } else {
        bool one = t->files == 1 && str_eq(t->file[0].path, t->remote);
        transfer_check(t, t->remote, !one);
    }
}

static void begin(void *arg)
{
    static const struct exec_handlers h = {.open = on_open, .output = on_output,
                                           .exit = on_tar_end};
    struct transfer *t = arg;
    char from[32], *base = xasprintf("./%s", t->base);
    str_fmt(from, sizeof from, "%lld", (long long)t->received + 1);
    char *const whole[] = {"tar", "cf", "-", "-C", t->dir, base, NULL};
    char *const rest[] = {"sh", "-c", "tar cf - -C \"$1\" \"$2\" | tail -c +\"$3\"", "sh", t->dir,
                          base, from, NULL};
    if (!t->untar) {
        t->untar = untar_new(t->to, on_file, t);
        untar_map(t->untar, str_eq(t->base, ".") ? "" : t->base, t->file_to, t->dir_to);
        untar_lenient(t->untar, on_left_out);
    }
    transfer_exec(t, t->received ? rest : whole, false, &h);
    free(base);
}

/* --- without tar: a single file by cat -------------------------------------------------- */

static void cat_output(void *arg, int channel, const char *p, size_t n)
{
    struct transfer *t = arg;
    if (channel == 2) {
        str_append(&t->errors, p, n);
        return;
    }
    while (n > 0 && !t->ended) {
        ssize_t k = write(t->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            struct pd_err err;
            pd_fail_errno(&err, PD_IO, _("%s can't be written"), t->local);
            transfer_end(t, &err);
            return;
        }
        p += k;
        n -= (size_t)k;
        t->received += k;
    }
    if (t->h.progress && !t->ended)
        t->h.progress(t->h.arg, t->received, -1, t->remote);
}

static void cat_done(struct transfer *t)
{
    struct pd_err err;
    char hex[65];
    char *path = path_join(t->to, t->file_to), *part = xasprintf("%s.part", path);
    close(t->fd);
    t->fd = -1;
    if (rename(part, path) < 0) {
        pd_fail_errno(&err, PD_IO, _("%s can't be written"), path);
        transfer_end(t, &err);
    } else if (transfer_sha256(path, hex, &err) != PD_OK) {
        transfer_end(t, &err);
    } else {
        t->r.by_cat = true;
        t->r.bytes = t->received;
        transfer_add(t, t->remote, t->received, hex);
        transfer_check(t, t->remote, false);
    }
    free(path);
    free(part);
}

static void cat_end(void *arg, int code, const struct pd_err *err)
{
    struct transfer *t = arg;
    t->exec = NULL;
    if (t->ended)
        return;
    if (podcmd_cut(code, err)) {
        char how[160];
        t->left = t->received > t->good ? t->tries : t->left;
        t->good = t->received;
        transfer_again(t, by_cat, str_fmt(how, sizeof how, _("going on after %lld bytes"),
                                          (long long)t->received), err);
    } else if (podcmd_missing(code, err)) {
        transfer_no_tar(t);
    } else if (code != 0) {
        transfer_failed(t, code, err);
    } else {
        cat_done(t);
    }
}

static void by_cat(void *arg)
{
    static const struct exec_handlers h = {.open = on_open, .output = cat_output,
                                           .exit = cat_end};
    struct transfer *t = arg;
    struct pd_err err;
    char from[32], *part = xasprintf("%s/%s.part", t->to, t->file_to);
    if (t->fd < 0) {
        transfer_said(t, "%s", _("the container has no tar: one file goes by cat"));
        t->received = t->good = 0;
        if (path_mkdirs(t->to, 0777, &err) == PD_OK)
            t->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    if (t->fd < 0) {
        pd_fail_errno(&err, PD_IO, _("%s can't be written"), part);
        transfer_end(t, &err);
    } else {
        str_fmt(from, sizeof from, "+%lld", (long long)t->received + 1);
        char *const whole[] = {"cat", t->remote, NULL};
        char *const rest[] = {"tail", "-c", from, t->remote, NULL};
        transfer_exec(t, t->received ? rest : whole, false, &h);
    }
    free(part);
}

/* --- where to ------------------------------------------------------------------------------ */

/* Into an existing folder goes a file under its own name and what is in a folder;
 * else the target is the new name. */
void transfer_down(struct transfer *t)
{
    struct stat st;
    const char *slash = strrchr(t->remote, '/');
    const char *name = slash ? slash + 1 : t->remote;
    bool whole = !*name || str_eq(name, ".") || str_eq(name, "..");
    t->base = xstrdup(whole ? "." : name);
    t->dir = whole ? xstrdup(t->remote) : slash == t->remote ? xstrdup("/")
             : slash ? xstrndup(t->remote, (size_t)(slash - t->remote)) : xstrdup(".");
    char *local = xstrdup(t->local);
    for (size_t n = strlen(local); n > 1 && local[n - 1] == '/'; n--)
        local[n - 1] = '\0';
    if (stat(local, &st) == 0 && S_ISDIR(st.st_mode)) {
        t->to = xstrdup(local);
        t->dir_to = xstrdup("");
        t->file_to = xstrdup(t->base);
    } else {
        slash = strrchr(local, '/');
        t->to = slash == local ? xstrdup("/") : slash ? xstrndup(local, (size_t)(slash - local))
                                                      : xstrdup(".");
        t->dir_to = xstrdup(slash ? slash + 1 : local);
        t->file_to = xstrdup(t->dir_to);
    }
    free(local);
    begin(t);
}
