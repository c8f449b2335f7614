/* copy_cmd.c - podium cp: files and folders between this machine and a container
 * (k8s/transfer.h). */
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/stream_cmd.h"
#include "k8s/transfer.h"

enum { SHOW_MS = 250, FAILED = 1 };

static const char help[] =
    N_("usage: podium cp [NAMESPACE/]POD:PATH PATH [-c CONTAINER] [-n NAMESPACE]\n"
       "       podium cp PATH [NAMESPACE/]POD:PATH [-c CONTAINER] [-n NAMESPACE]\n"
       "                 [--retries N] [--context NAME] [--kubeconfig FILE] [--lang en|zh]\n"
       "\n"
       "Copies a file or a folder by tar through the container, as kubectl cp does, compares\n"
       "the sha256 of every file where the container has sha256sum, and goes on where it stood\n"
       "when the connection breaks (--retries, 5 unless given). Links and paths that leave the\n"
       "folder are refused. Without tar in the container a single file goes by cat.\n"
       "\n"
       "Exit codes: 0 copied, 1 not (or not whole), 2 usage.\n");

static struct {
    struct stream_cmd cmd;
    const char *container, *retries;
    int64_t shown_ms;
    bool line, tty;
    int code;
} app = {.cmd = {.name = "podium cp", .help = help}};

static void clear_line(void)
{
    if (app.line)
        fputs("\r\033[K", stderr);
    app.line = false;
}

static void on_progress(void *arg UNUSED, int64_t done, int64_t total, const char *path)
{
    int64_t now = clock_ms();
    if (!app.tty || now - app.shown_ms < SHOW_MS)
        return;
    app.shown_ms = now;
    clear_line();
    if (total > 0)
        fprintf(stderr, "%.1f / %.1f MB  %.60s", (double)done / 1e6, (double)total / 1e6, path);
    else
        fprintf(stderr, "%.1f MB  %.60s", (double)done / 1e6, path);
    app.line = true;
    fflush(stderr);
}

static void on_said(void *arg UNUSED, const char *text)
{
    clear_line();
    fprintf(stderr, "podium cp: %s\n", text);
}

static void on_done(void *arg UNUSED, const struct transfer_result *r, const struct pd_err *err)
{
    clear_line();
    app.code = err ? FAILED : 0;
    if (err) {
        stream_cmd_fail(&app.cmd, err, FAILED);
    } else if (r->checked == r->files && r->files > 0) {
        printf(_("%d files, %lld bytes, sha256 the same on both sides\n"), r->files,
               (long long)r->bytes);
    } else if (r->by_cat) {
        printf(_("%d files, %lld bytes, not compared: the container has no sha256sum\n"), r->files,
               (long long)r->bytes);
    } else {
        printf(_("%d files, %lld bytes, sha256 of %d compared: the others by size and tar's end\n"),
               r->files, (long long)r->bytes, r->checked);
    }
    loop_stop(app.cmd.loop, app.code);
}

/* "POD:PATH" or "NS/POD:PATH"; false: a path of this machine. The caller frees pod. */
static bool remote_spec(const char *word, char **ns, char **pod, const char **path)
{
    const char *colon = strchr(word, ':'), *slash = strchr(word, '/');
    if (!colon || colon == word || *word == '/' || *word == '.')
        return false;
    bool named = slash && slash < colon;
    *ns = named ? xstrndup(word, (size_t)(slash - word)) : NULL;
    *pod = named ? xstrndup(slash + 1, (size_t)(colon - slash - 1))
                 : xstrndup(word, (size_t)(colon - word));
    *path = colon[1] ? colon + 1 : ".";
    return true;
}

static int run(struct transfer_spec *spec)
{
    struct transfer_handlers h = {on_progress, on_said, on_done, NULL};
    int64_t tries = 5;
    if (app.retries && (!str_to_i64(app.retries, &tries) || tries < 0 || tries > 1000))
        return stream_cmd_usage(&app.cmd, _("--retries: a number from 0 on"));
    spec->tries = (int)tries;
    spec->container = app.container;
    if (!stream_cmd_connect(&app.cmd))
        return stream_cmd_fail(&app.cmd, &app.cmd.err, FAILED);
    app.tty = isatty(STDERR_FILENO);
    stream_cmd_signals(&app.cmd);
    if (!spec->container)
        spec->container = stream_cmd_container(&app.cmd, spec->ns, spec->pod);
    struct transfer *t = transfer_start(app.cmd.k, spec, &h);
    int code = loop_run(app.cmd.loop);
    clear_line();
    transfer_free(t);
    return code;
}

int copy_cmd(int argc, char **argv)
{
    const struct stream_option own[] = {{"-c", "--container", &app.container, NULL},
                                        {"", "--retries", &app.retries, NULL}};
    struct transfer_spec spec = {0};
    char *ns[2] = {NULL}, *pod[2] = {NULL};
    const char *path[2] = {NULL};
    bool far[2] = {false};
    int code = 0;
    if (!stream_cmd_parse(&app.cmd, argc, argv, own, ARRAY_LEN(own), &code))
        return code;
    for (size_t i = 0; i < 2 && i < app.cmd.words.n; i++)
        far[i] = remote_spec(app.cmd.words.v[i], &ns[i], &pod[i], &path[i]);
    if (app.cmd.words.n != 2 || far[0] == far[1]) {
        code = stream_cmd_usage(&app.cmd, _("two paths are needed, one of them POD:PATH"));
    } else {
        int i = far[0] ? 0 : 1;
        spec = (struct transfer_spec){.ns = ns[i], .pod = pod[i], .remote = path[i],
                                      .local = app.cmd.words.v[1 - i], .up = far[1]};
        code = run(&spec);
    }
    for (int i = 0; i < 2; i++) {
        free(ns[i]);
        free(pod[i]);
    }
    if (app.cmd.k)
        stream_cmd_release(&app.cmd);
    return code;
}
