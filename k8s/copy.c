/* copy.c - copy out of a container: exec, and the tar reader at its stdout
 * (copy.h). */
#include "k8s/copy.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "k8s/client_io.h"
#include "k8s/podcmd.h"

enum { STDERR_MAX = 4096, TRIES = 3, AGAIN_MS = 1000 };

struct copy {
    struct exec *exec;
    struct untar *untar;
    struct copy_handlers h;
    struct str errors;
    int64_t received;
    int files;
    bool busy, stopped;
    struct pd_err err;
    struct k8s *k;
    char *ns, *pod, *container, *to;      /* for another try */
    struct strv argv;
    int tries;
    uint32_t timer;
};

static void begin(void *arg);

static void copy_free(struct copy *c)
{
    exec_close(c->exec);
    untar_free(c->untar);
    str_release(&c->errors);
    loop_timer_cancel(k8s_loop(c->k), c->timer);
    strv_release(&c->argv);
    free(c->ns);
    free(c->pod);
    free(c->container);
    free(c->to);
    free(c);
}

void copy_cancel(struct copy *c)
{
    if (!c || c->stopped)
        return;
    c->stopped = true;
    if (!c->busy)
        copy_free(c);
}

static void leave(struct copy *c)
{
    c->busy = false;
    if (c->stopped)
        copy_free(c);
}

static void on_file(void *arg, const char *path, int64_t size, const char *sha256)
{
    struct copy *c = arg;
    c->files++;
    if (c->h.file && !c->stopped)
        c->h.file(c->h.arg, path, size, sha256);
}

static void finish(struct copy *c, const struct pd_err *err)
{
    char hex[65];
    untar_sha256(c->untar, hex);
    if (c->h.done && !c->stopped)
        c->h.done(c->h.arg, hex, c->files, err);
    c->stopped = true;
}

static void on_output(void *arg, int channel, const char *p, size_t n)
{
    struct copy *c = arg;
    if (channel == 2) {
        str_append(&c->errors, p, n);
        return;
    }
    c->busy = true;
    c->received += (int64_t)n;
    if (untar_feed(c->untar, p, n, &c->err) != PD_OK) {
        finish(c, &c->err);
    } else if (c->h.progress) {
        int64_t size;
        const char *path = untar_path(c->untar, &size);
        c->h.progress(c->h.arg, c->received, size, path);
    }
    leave(c);
}

static void on_exit_code(void *arg, int code, const struct pd_err *err)
{
    struct copy *c = arg;
    struct pd_err why;
    char text[300];
    c->busy = true;
    c->exec = NULL;
    if (podcmd_cut(code, err) && c->tries-- > 0) {
        c->timer = loop_timer(k8s_loop(c->k), AGAIN_MS, begin, c, "copy again");
    } else if (err) {
        finish(c, err);
    } else if (code != 0) {
        pd_fail(&why, PD_IO, _("the command in the container ended with %d: %s"), code,
                k8s_clean(text, sizeof text, c->errors.p, c->errors.len));
        pd_set_hint(&why, code == 127 || code == 126 ? _("the image has no such program")
                                                     : _("check the path in the container"));
        finish(c, &why);
    } else if (untar_end(c->untar, &why) != PD_OK) {
        finish(c, &why);
    } else {
        finish(c, NULL);
    }
    leave(c);
}

/* After a break all over again: what the command writes need not be the same
 * bytes twice. */
static void begin(void *arg)
{
    struct copy *c = arg;
    struct exec_handlers eh = {.output = on_output, .exit = on_exit_code, .arg = c};
    struct exec_spec es = {.ns = c->ns, .pod = c->pod, .container = c->container,
                           .argv = c->argv.v};
    c->timer = 0;
    untar_free(c->untar);
    c->untar = untar_new(c->to, on_file, c);
    str_clear(&c->errors);
    c->received = 0;
    c->files = 0;
    c->exec = exec_start(c->k, &es, &eh);
}

struct copy *copy_start(struct k8s *k, const struct copy_spec *spec, const struct copy_handlers *h)
{
    struct copy *c = xcalloc(1, sizeof *c);
    c->h = *h;
    c->k = k;
    c->ns = xstrdup(spec->ns);
    c->pod = xstrdup(spec->pod);
    c->container = xstrdup(spec->container);
    c->to = xstrdup(spec->to);
    c->tries = TRIES;
    strv_init(&c->argv);
    for (char *const *word = spec->argv; *word; word++)
        strv_push(&c->argv, *word);
    str_init(&c->errors, STDERR_MAX);
    begin(c);
    return c;
}
