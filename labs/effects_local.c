/* effects_local.c - this machine: children that speak JSON lines, files written
 * and watched, timers. Files are watched by their folder (inotify), since
 * editors replace them; a change is read again 100 ms after the last event. */
#include "core/base/base.h"
#include "core/base/i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

enum { FILE_CEILING = 8 << 20, SETTLE_MS = 100 };

/* --- children ------------------------------------------------------------------------ */

static void stop_child(struct effects_slot *s)
{
    child_forget(s->handle);
}

/* A line that is no JSON object is passed on as its text. */
static void on_line(void *arg, char *line, size_t n)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object(), *record = NULL;
    struct pd_err err;
    if (json_parse(line, n, &record, &err) || json_type(record) != JSON_OBJECT) {
        json_free(record);
        record = json_new_object();
        json_set(record, "text", json_new_string_n(line, n));
    }
    json_set(body, "record", record);
    effects_post(s, MSG_CHILD_LINE, body);
}

static void on_child_exit(void *arg, int code, int signo, const char *stderr_text)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object();
    json_put_num(body, "code", code);
    json_put_num(body, "signal", signo);
    json_put_str(body, "stderr", stderr_text);
    effects_post(s, MSG_CHILD_EXIT, body);
    effects_slot_end(s);
}

void effects_spawn(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct strv argv;
    struct pd_err err;
    struct child *c = NULL;
    strv_init(&argv);
    effects_argv(s->args, &argv);
    struct child_spec spec = {.argv = argv.v, .cwd = json_str(s->args, "cwd", NULL),
                              .want_stdin = json_has(s->args, "stdin"),
                              .line = on_line, .exit = on_child_exit, .arg = s};
    if (!argv.n || child_start(r->loop, &spec, &c, &err)) {
        struct json *body = argv.n ? effects_error(&err) : json_new_object();
        json_put_num(body, "code", 127);
        json_put_str(body, "stderr", argv.n ? err.msg : "no command");
        effects_post(s, MSG_CHILD_EXIT, body);
        effects_slot_end(s);
    } else {
        s->handle = c;
        s->stop = stop_child;
        if (spec.want_stdin) {
            const char *text = json_str(s->args, "stdin", "");
            child_write(c, text, strlen(text));
            child_close_stdin(c);
        }
    }
    strv_release(&argv);
}

/* --- timers -------------------------------------------------------------------------- */

static void on_timer(void *arg)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object();
    json_put_str(body, "name", json_str(s->args, "name", ""));
    s->timer = 0;
    effects_post(s, MSG_TIMER, body);
    effects_slot_end(s);
}

void effects_timer(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    s->timer = loop_timer(r->loop, json_int(e->args, "ms", 0), on_timer, s, "effect timer");
}

/* --- writing ------------------------------------------------------------------------- */

static enum pd_code write_all(int fd, const char *path, const char *text, size_t n,
                              struct pd_err *err)
{
    while (n > 0) {
        ssize_t k = write(fd, text, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
        text += k;
        n -= (size_t)k;
    }
    return PD_OK;
}

/* No fsync here: it would hold the loop, and what was written survives the
 * end of this process all the same. */
static enum pd_code write_plain(const char *path, int flags, const char *text, struct pd_err *err)
{
    int fd = open(path, flags | O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    enum pd_code rc = write_all(fd, path, text, strlen(text), err);
    close(fd);
    return rc;
}

enum pd_code effects_write_renamed(const char *path, const char *text, struct pd_err *err)
{
    char *tmp = xasprintf("%s.new", path);
    enum pd_code rc = write_plain(tmp, O_TRUNC, text, err);
    if (!rc && rename(tmp, path))
        rc = pd_fail_errno(err, PD_IO, _("%s can't be written"), path);
    free(tmp);
    return rc;
}

void effects_write(struct effects_runner *r, const struct effect *e)
{
    const char *path = json_str(e->args, "path", ""), *text = json_str(e->args, "text", "");
    bool append = json_bool(e->args, "append", false);
    struct pd_err err;
    struct json *body = json_new_object();
    char *dir = path_dir(path);
    enum pd_code rc = path_mkdirs(dir, 0700, &err);
    if (!rc && append)
        rc = write_plain(path, O_APPEND, text, &err);
    else if (!rc && !(json_bool(e->args, "if_missing", false) && access(path, F_OK) == 0))
        rc = effects_write_renamed(path, text, &err);
    if (rc)
        json_set(body, "error", errjson_make(&err));
    json_put_num(body, "status", 0);
    effects_post_as(r, MSG_REPLY, e->id, body);
    free(dir);
}

void effects_move(struct effects_runner *r, const struct effect *e)
{
    const char *path = json_str(e->args, "path", ""), *to = json_str(e->args, "to", "");
    struct json *body = json_new_object();
    struct pd_err err;
    json_put_num(body, "status", 0);
    if (rename(path, to) == 0) {
        json_put_str(body, "path", to);
    } else if (errno == ENOENT) {
        json_put_bool(body, "missing", true);
    } else {
        pd_fail_errno(&err, PD_IO, _("%s can't be moved to %s"), path, to);
        json_set(body, "error", errjson_make(&err));
    }
    effects_post_as(r, MSG_REPLY, e->id, body);
}

/* --- watching files ------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    struct str s;
    struct pd_err err;
    str_init(&s, FILE_CEILING);
    char *text = path_read(path, FILE_CEILING, &s, &err) ? NULL : str_take(&s);
    str_release(&s);
    return text;
}

static void tell_file(struct effects_slot *s, const char *text)
{
    struct json *body = json_new_object();
    json_put_str(body, "path", json_str(s->args, "path", ""));
    if (text)
        json_put_str(body, "text", text);
    else
        json_put_bool(body, "missing", true);
    effects_post(s, MSG_FILE, body);
}

static void reread(void *arg)
{
    struct effects_slot *s = arg;
    char *text = read_text(json_str(s->args, "path", ""));
    s->timer = 0;
    if (str_eq(text, s->text)) {
        free(text);
        return;
    }
    free(s->text);
    s->text = text;
    tell_file(s, text);
}

static void on_inotify(void *arg, int fd, int events)
{
    struct effects_runner *r = arg;
    char buf[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    (void)events;
    ssize_t n = read(fd, buf, sizeof buf);
    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= n;) {
        const struct inotify_event *ev = (const void *)(buf + at);
        at += (ssize_t)(sizeof *ev + ev->len);
        for (struct effects_slot *s = r->slots; s; s = s->next)
            if (s->kind == EFF_WATCH_FILE && s->inotify == ev->wd && !s->timer && ev->len &&
                str_eq(ev->name, path_base(json_str(s->args, "path", ""))))
                s->timer = loop_timer(r->loop, SETTLE_MS, reread, s, "file changed");
    }
}

static void watch_dir(struct effects_slot *s, const char *path)
{
    struct effects_runner *r = s->r;
    char *dir = path_dir(path);
    if (r->inotify_fd < 0) {
        r->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        if (r->inotify_fd >= 0)
            loop_fd(r->loop, r->inotify_fd, LOOP_READ, on_inotify, r);
    }
    if (r->inotify_fd >= 0)
        s->inotify = inotify_add_watch(r->inotify_fd, dir,
                                       IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM);
    free(dir);
}

void effects_watch_file(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    const char *path = json_str(s->args, "path", "");
    s->text = read_text(path);
    tell_file(s, s->text);
    if (json_bool(s->args, "once", false))
        effects_slot_end(s);
    else
        watch_dir(s, path);
}

void effects_local_free(struct effects_runner *r)
{
    if (r->inotify_fd < 0)
        return;
    loop_fd_remove(r->loop, r->inotify_fd);
    close(r->inotify_fd);
    r->inotify_fd = -1;
}
