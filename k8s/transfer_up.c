/* transfer_up.c - into a container (transfer.h). */
#include "k8s/transfer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/io/ws.h"
#include "k8s/sums.h"

static void begin(void *arg);

void transfer_up_release(struct transfer *t)
{
    if (t->planned)
        tarwrite_release(&t->tar);
    if (t->append_fd >= 0)
        close(t->append_fd);
}

static char *remote_path(const struct transfer *t, const char *in_archive)
{
    return str_eq(t->dir, "/") ? xasprintf("/%s", in_archive)
                               : xasprintf("%s/%s", t->dir, in_archive);
}

/* --- sending ------------------------------------------------------------------------------ */

static void stop_with(struct transfer *t, const struct pd_err *err)
{
    exec_close(t->exec);
    t->exec = NULL;
    transfer_end(t, err);
}

/* The rest of one file, behind what the container has of it. */
static bool append_piece(struct transfer *t)
{
    char buf[64 << 10];
    struct pd_err err;
    ssize_t n = read(t->append_fd, buf, sizeof buf);
    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0) {
        pd_fail_errno(&err, PD_IO, _("%s can't be read"), t->tar.v[t->at].from);
        stop_with(t, &err);
        return false;
    }
    if (n > 0)
        exec_send(t->exec, buf, (size_t)n);
    t->sent += n;
    return n > 0;
}

static bool tar_piece(struct transfer *t)
{
    const char *p;
    size_t n;
    struct pd_err err;
    if (tarwrite_next(&t->tar, &p, &n, &err) != PD_OK) {
        stop_with(t, &err);
        return false;
    }
    if (n > 0)
        exec_send(t->exec, p, n);
    t->sent += (int64_t)n;
    return n > 0;
}

static void pump(void *arg)
{
    struct transfer *t = arg;
    bool more = true;
    while (more && t->exec && !t->ended && exec_pending(t->exec) < WS_HIGH)
        more = t->append ? append_piece(t) : tar_piece(t);
    if (t->ended || !t->exec)
        return;
    if (!more && !t->counted)
        exec_close_stdin(t->exec);
    if (t->h.progress) {
        size_t at = MIN(t->append ? t->at : t->tar.at, t->tar.n - 1);
        t->h.progress(t->h.arg, MIN(t->sent, t->tar.bytes), t->tar.bytes, t->tar.v[at].path);
    }
}

/* A server that speaks v4 can't be told the end: the container counts. */
static void on_open(void *arg, bool half_close)
{
    struct transfer *t = arg;
    t->opened = true;
    if (!half_close && !t->counted) {
        t->counted = true;
        exec_close(t->exec);
        t->exec = NULL;
        begin(t);
        return;
    }
    pump(t);
}

static void on_output(void *arg, int channel, const char *p, size_t n)
{
    struct transfer *t = arg;
    if (channel == 2)
        str_append(&t->errors, p, n);
}

/* --- after a break --------------------------------------------------------------------------- */

struct named {
    char *path;                          /* as the container calls it */
    size_t entry;
};

struct there {
    struct named *name;                  /* sorted */
    size_t n;
    int64_t *size, sum;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->path, ((const struct named *)b)->path);
}

static void there_init(struct there *x, const struct transfer *t)
{
    *x = (struct there){.n = t->tar.n};
    x->name = xcalloc(x->n + 1, sizeof *x->name);
    x->size = xcalloc(x->n + 1, sizeof *x->size);
    for (size_t i = 0; i < x->n; i++)
        x->name[i] = (struct named){remote_path(t, t->tar.v[i].path), i};
    qsort(x->name, x->n, sizeof *x->name, by_name);
}

static void there_release(struct there *x)
{
    for (size_t i = 0; i < x->n; i++)
        free(x->name[i].path);
    free(x->name);
    free(x->size);
}

static void on_size(void *arg, const char *path, const char *value)
{
    struct there *x = arg;
    struct named key = {(char *)(uintptr_t)path, 0};
    const struct named *f = bsearch(&key, x->name, x->n, sizeof key, by_name);
    int64_t size = 0;
    if (!f || !str_to_i64(value, &size))
        return;
    x->size[f->entry] = size;
    x->sum += size;
}

static void go_on(struct transfer *t, const int64_t *there)
{
    size_t i = 0;
    while (i < t->tar.n && (t->tar.v[i].type != '0' || there[i] == t->tar.v[i].size))
        i++;
    if (i > t->at || (i < t->tar.n && there[i] > t->offset)) {
        t->left = t->tries;
        t->waits = 0;
    }
    t->append = i < t->tar.n && there[i] > 0 && there[i] < t->tar.v[i].size;
    t->offset = t->append ? there[i] : 0;
    t->at = i;
    if (i == t->tar.n && t->tar.n > 0)
        t->at = t->tar.n - 1;            /* all files are there: the last one once more */
    begin(t);
}

static void ask_sizes(void *arg);

static void on_sizes(void *arg, int code, const struct str *out, const struct str *errors UNUSED,
                     const struct pd_err *err)
{
    struct transfer *t = arg;
    struct there x;
    t->cmd = NULL;
    if (podcmd_cut(code, err)) {
        transfer_again(t, ask_sizes, _("asking once more what came through"), err);
        return;
    }
    there_init(&x, t);
    sums_read(out->p, out->len, on_size, &x);
    bool rests = x.sum == t->asked_sum;
    t->asked_sum = x.sum;
    if (rests)
        go_on(t, x.size);
    else                                 /* what was on its way still comes in */
        transfer_wait(t, ask_sizes);
    there_release(&x);
}

static void ask_sizes(void *arg)
{
    struct transfer *t = arg;
    char *root = remote_path(t, t->tar.v[0].path);
    char *const argv[] = {"find", root, "-type", "f", "-exec", "wc", "-c", "{}", "+", NULL};
    transfer_ask(t, argv, on_sizes);
    free(root);
}

/* --- how it ended -------------------------------------------------------------------------- */

static void all_sent(struct transfer *t)
{
    char *root = remote_path(t, t->tar.v[0].path);
    for (size_t i = 0; i < t->tar.n; i++) {
        struct tarwrite_entry *e = &t->tar.v[i];
        struct pd_err err;
        if (e->type != '0')
            continue;
        if (!e->sha256[0] && transfer_sha256(e->from, e->sha256, &err) != PD_OK) {
            transfer_end(t, &err);
            break;
        }
        char *name = remote_path(t, e->path);
        t->r.files++;
        t->r.bytes += e->size;
        transfer_add(t, name, e->size, e->sha256);
        free(name);
    }
    if (!t->ended)
        transfer_check(t, root, t->tar.v[0].type == '5');
    free(root);
}

static void no_program(struct transfer *t)
{
    if (t->plain || t->counted || t->tar.n != 1 || t->tar.v[0].type != '0') {
        transfer_no_tar(t);
        return;
    }
    transfer_said(t, "%s", _("the container has no tar: one file goes by cat"));
    t->plain = t->append = t->r.by_cat = true;
    t->offset = 0;
    t->at = 0;
    begin(t);
}

static void on_exit_code(void *arg, int code, const struct pd_err *err)
{
    struct transfer *t = arg;
    t->exec = NULL;
    if (t->ended)
        return;
    if (podcmd_cut(code, err)) {
        t->asked_sum = -1;
        transfer_again(t, ask_sizes, _("looking at what came through"), err);
    } else if (podcmd_missing(code, err)) {
        no_program(t);
    } else if (code != 0) {
        transfer_failed(t, code, err);
    } else if (t->append && t->at + 1 < t->tar.n) {
        t->append = false;               /* that file is whole: the others */
        t->at++;
        begin(t);
    } else {
        all_sent(t);
    }
}

/* --- beginning ----------------------------------------------------------------------------- */

static bool open_append(struct transfer *t)
{
    struct pd_err err;
    struct tarwrite_entry *e = &t->tar.v[t->at];
    if (t->append_fd >= 0)
        close(t->append_fd);
    t->append_fd = open(e->from, O_RDONLY | O_CLOEXEC);
    if (t->append_fd >= 0 && lseek(t->append_fd, t->offset, SEEK_SET) >= 0)
        return true;
    pd_fail_errno(&err, PD_IO, _("%s can't be read"), e->from);
    transfer_end(t, &err);
    return false;
}

static void begin(void *arg)
{
    static const struct exec_handlers h = {.open = on_open, .output = on_output,
                                           .exit = on_exit_code, .drained = pump};
    struct transfer *t = arg;
    char count[32];
    if (t->append && !open_append(t))
        return;
    int64_t total = t->append ? t->tar.v[t->at].size - t->offset : tarwrite_begin(&t->tar, t->at);
    char *path = remote_path(t, t->tar.v[t->at].path);
    str_fmt(count, sizeof count, "%lld", (long long)total);
    t->sent = 0;
    for (size_t i = 0; i < t->at; i++)
        t->sent += t->tar.v[i].size;
    t->sent += t->offset;
    t->counted |= t->append;
    char *const tar[] = {"tar", "-xmf", "-", "-C", t->dir, NULL};
    char *const counted[] = {"sh", "-c", "head -c \"$2\" | tar -xmf - -C \"$1\"", "sh", t->dir,
                             count, NULL};
    /* containerd closes stdin once nothing holds stdout any more: the shell must
     * stay and hold it, not become head */
    char *const append[] = {"sh", "-c", t->plain && t->offset == 0
                            ? "head -c \"$2\" > \"$1\"; exit $?"
                            : "head -c \"$2\" >> \"$1\"; exit $?", "sh", path, count, NULL};
    transfer_exec(t, t->append ? append : t->counted ? counted : tar, true, &h);
    free(path);
}

static void plan(struct transfer *t, const char *dir, const char *name)
{
    struct pd_err err;
    t->dir = xstrdup(dir);
    t->planned = true;
    if (tarwrite_plan(&t->tar, t->local, name, &err) != PD_OK) {
        transfer_end(t, &err);
        return;
    }
    for (size_t i = 0; i < t->tar.left_out.n; i++)
        transfer_said(t, _("left out: %s"), t->tar.left_out.v[i]);
    t->r.left_out = (int)t->tar.left_out.n;
    if (t->tar.n == 0) {
        pd_fail(&err, PD_IO, _("%s: nothing in it can be copied"), t->local);
        transfer_end(t, &err);
        return;
    }
    begin(t);
}

/* Into a folder that is there it goes under its own name. */
static void on_test(void *arg, int code, const struct str *out UNUSED,
                    const struct str *errors UNUSED, const struct pd_err *err)
{
    struct transfer *t = arg;
    t->cmd = NULL;
    if (code < 0 && !podcmd_missing(code, err)) {
        transfer_end(t, err);
        return;
    }
    char *local = xstrdup(t->local);
    for (size_t n = strlen(local); n > 1 && local[n - 1] == '/'; n--)
        local[n - 1] = '\0';
    const char *slash = strrchr(t->remote, '/');
    if (code == 0) {
        plan(t, t->remote, path_base(local));
    } else {
        char *dir = slash == t->remote ? xstrdup("/")
                    : slash ? xstrndup(t->remote, (size_t)(slash - t->remote)) : xstrdup(".");
        plan(t, dir, slash ? slash + 1 : t->remote);
        free(dir);
    }
    free(local);
}

void transfer_up(struct transfer *t)
{
    struct stat st;
    struct pd_err err;
    char *const argv[] = {"test", "-d", t->remote, NULL};
    if (stat(t->local, &st) < 0) {
        pd_fail_errno(&err, PD_IO, _("%s can't be read"), t->local);
        transfer_end(t, &err);
        return;
    }
    transfer_ask(t, argv, on_test);
}
