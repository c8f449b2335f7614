/* transfer.c - the life of a transfer, its breaks, and the check at its end
 * (transfer.h). */
#include "k8s/transfer_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/sums.h"

enum { ERRORS_MAX = 4096, WAIT_MS = 400, WAIT_MOST_MS = 8000 };

/* --- life ------------------------------------------------------------------------ */

void transfer_free(struct transfer *t)
{
    if (!t)
        return;
    exec_close(t->exec);
    podcmd_cancel(t->cmd);
    loop_timer_cancel(t->loop, t->timer);
    transfer_down_release(t);
    transfer_up_release(t);
    for (size_t i = 0; i < t->files; i++)
        free(t->file[i].path);
    free(t->file);
    char *all[] = {t->ns, t->pod, t->container, t->remote, t->local};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        free(all[i]);
    str_release(&t->errors);
    free(t);
}

void transfer_end(struct transfer *t, const struct pd_err *err)
{
    if (t->ended)
        return;
    t->ended = true;
    loop_timer_cancel(t->loop, t->timer);
    t->timer = 0;
    t->r.files = t->up ? t->r.files : (int)t->files;
    if (t->h.done)
        t->h.done(t->h.arg, &t->r, err);
}

static void begin(void *arg)
{
    struct transfer *t = arg;
    t->timer = 0;
    (t->up ? transfer_up : transfer_down)(t);
}

struct transfer *transfer_start(struct k8s *k, const struct transfer_spec *spec,
                                const struct transfer_handlers *h)
{
    struct transfer *t = xcalloc(1, sizeof *t);
    t->k = k;
    t->loop = k8s_loop(k);
    t->h = *h;
    t->ns = xstrdup(spec->ns);
    t->pod = xstrdup(spec->pod);
    t->container = xstrdup(spec->container);
    t->remote = xstrdup(spec->remote);
    t->local = xstrdup(spec->local);
    t->up = spec->up;
    t->tries = t->left = spec->tries;
    t->fd = t->append_fd = -1;
    str_init(&t->errors, ERRORS_MAX);
    for (size_t n = strlen(t->remote); n > 1 && t->remote[n - 1] == '/'; n--)
        t->remote[n - 1] = '\0';
    t->timer = loop_timer(t->loop, 0, begin, t, "copy");
    return t;
}

/* --- commands ----------------------------------------------------------------------- */

void transfer_exec(struct transfer *t, char *const *argv, bool std_in,
                   const struct exec_handlers *h)
{
    struct exec_spec spec = {.ns = t->ns, .pod = t->pod, .container = t->container, .argv = argv,
                             .std_in = std_in};
    struct exec_handlers mine = *h;
    mine.arg = t;
    str_clear(&t->errors);
    t->exec = exec_start(t->k, &spec, &mine);
}

void transfer_ask(struct transfer *t, char *const *argv, podcmd_fn *fn)
{
    struct exec_spec spec = {.ns = t->ns, .pod = t->pod, .container = t->container, .argv = argv};
    t->cmd = podcmd_start(t->k, &spec, fn, t);
}

void transfer_add(struct transfer *t, const char *path, int64_t size, const char *sha256)
{
    if (t->files == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 64;
        t->file = xrealloc_array(t->file, t->cap, sizeof *t->file);
    }
    struct transfer_file *f = &t->file[t->files++];
    *f = (struct transfer_file){.path = xstrdup(path), .size = size};
    str_copy(f->sha256, sizeof f->sha256, sha256);
}

void transfer_said(struct transfer *t, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (t->h.said)
        t->h.said(t->h.arg, text);
}

static void waited(void *arg)
{
    struct transfer *t = arg;
    t->timer = 0;
    t->next(t);
}

void transfer_wait(struct transfer *t, loop_fn *next)
{
    t->next = next;
    t->timer = loop_timer(t->loop, WAIT_MS, waited, t, "copy");
}

void transfer_again(struct transfer *t, loop_fn *next, const char *how, const struct pd_err *why)
{
    if (t->left <= 0 || !t->opened) {
        transfer_end(t, why);
        return;
    }
    t->left--;
    t->r.resumed++;
    transfer_said(t, _("the connection broke off (%.200s): %s"), why->msg, how);
    t->next = next;
    int64_t ms = MIN((int64_t)WAIT_MS << MIN(t->waits, 5), (int64_t)WAIT_MOST_MS);
    t->waits++;
    t->timer = loop_timer(t->loop, ms, waited, t, "copy again");
}

void transfer_failed(struct transfer *t, int code, const struct pd_err *err)
{
    struct pd_err why;
    char text[300];
    if (err) {
        transfer_end(t, err);
        return;
    }
    pd_fail(&why, PD_IO, _("the command in the container ended with %d: %s"), code,
            k8s_clean(text, sizeof text, t->errors.p, t->errors.len));
    pd_set_hint(&why, _("check the path in the container"));
    transfer_end(t, &why);
}

void transfer_no_tar(struct transfer *t)
{
    struct pd_err why;
    pd_fail(&why, PD_UNSUPPORTED, _("the container has neither tar nor what else could carry this "
                                    "(sh, cat): its image is distroless or built FROM scratch"));
    pd_set_hint(&why, _("kubectl debug -it %s --image=busybox --target=CONTAINER reaches its files "
                        "below /proc/1/root; or let the program write to a volume"), t->pod);
    transfer_end(t, &why);
}

enum pd_code transfer_sha256(const char *path, char hex[65], struct pd_err *err)
{
    unsigned char buf[64 << 10], sum[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : 0;
    if (!ctx || !EVP_DigestInit_ex(ctx, EVP_sha256(), NULL))
        PD_BUG("SHA-256 is not available");
    while (fd >= 0 && (n = read(fd, buf, sizeof buf)) > 0)
        EVP_DigestUpdate(ctx, buf, (size_t)n);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    EVP_DigestFinal_ex(ctx, sum, &len);
    EVP_MD_CTX_free(ctx);
    for (unsigned i = 0; i < 32; i++)
        str_fmt(hex + 2 * i, 3, "%02x", sum[i]);
    errno = saved;
    return n < 0 ? pd_fail_errno(err, PD_IO, _("%s can't be read"), path) : PD_OK;
}

/* --- the check at the end ------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct transfer_file *)a)->path, ((const struct transfer_file *)b)->path);
}

static void compare(void *arg, const char *path, const char *value)
{
    struct transfer *t = arg;
    struct transfer_file key = {.path = (char *)(uintptr_t)path};
    struct transfer_file *f = t->files ? bsearch(&key, t->file, t->files, sizeof key, by_path)
                                       : NULL;
    if (!f || strlen(value) != 64)
        return;
    t->r.checked++;
    if (strcasecmp(f->sha256, value) == 0)
        return;
    if (t->wrong++ == 0)
        k8s_clean(t->wrong_path, sizeof t->wrong_path, path, strlen(path));
}

static void on_sums(void *arg, int code UNUSED, const struct str *out,
                    const struct str *errors UNUSED, const struct pd_err *err UNUSED)
{
    struct transfer *t = arg;
    struct pd_err why;
    t->cmd = NULL;
    sums_read(out->p, out->len, compare, t);
    if (!t->wrong) {
        transfer_end(t, NULL);
        return;
    }
    pd_fail(&why, PD_IO, _("%s differs from what the container has (sha256), and so do %d more"),
            t->wrong_path, t->wrong - 1);
    pd_set_hint(&why, _("something writes to it while it is copied: copy it again once it rests"));
    transfer_end(t, &why);
}

void transfer_check(struct transfer *t, const char *path, bool folder)
{
    char *p = (char *)(uintptr_t)path;
    char *const of_file[] = {"sha256sum", p, NULL};
    char *const of_all[] = {"find", p, "-type", "f", "-exec", "sha256sum", "{}", "+", NULL};
    qsort(t->file, t->files, sizeof *t->file, by_path);
    if (t->files == 0)
        transfer_end(t, NULL);
    else
        transfer_ask(t, folder ? of_all : of_file, on_sums);
}
