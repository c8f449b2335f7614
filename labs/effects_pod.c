/* effects_pod.c - what goes on inside a pod: its log, attach, exec, and copying
 * out of it. */
#include "k8s/copy.h"
#include "k8s/exec.h"
#include "k8s/logmerge.h"
#include "labs/effects_priv.h"
#include "labs/errjson.h"

/* --- log ---------------------------------------------------------------------------- */

static void stop_log(struct effects_slot *s)
{
    logmerge_stop(s->handle);
}

/* A NUL would end the text: it is shown as a character that can't be shown. */
static char *without_nul(const char *text, size_t n)
{
    struct str s;
    str_init(&s, 3 * n + 1);
    for (size_t i = 0; i < n; i++)
        str_append(&s, text[i] ? text + i : "\xEF\xBF\xBD", text[i] ? 1 : 3);
    char *out = str_take(&s);
    str_release(&s);
    return out;
}

static void on_containers(void *arg, const struct strv *names)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object(), *list = json_new_array();
    for (size_t i = 0; i < names->n; i++)
        json_append(list, json_new_string(names->v[i]));
    json_put_num(body, "stream", s->id);
    json_put_str(body, "state", "containers");
    json_set(body, "containers", list);
    effects_post(s, MSG_LOG_STATE, body);
}

/* Of all containers each message says whose it is. */
static void put_container(const struct effects_slot *s, struct json *body, const char *container)
{
    if (container && json_bool(s->args, "all", false))
        json_put_str(body, "container", container);
}

static void on_line(void *arg, const char *container, int64_t ts_ns, const char *text, size_t n,
                    bool cut)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object();
    json_put_num(body, "stream", s->id);
    json_put_str(body, "pod", json_str(s->args, "pod", ""));
    put_container(s, body, container);
    json_put_num(body, "ts", (double)(ts_ns / 1000000));
    char *seen = memchr(text, '\0', n) ? without_nul(text, n) : NULL;
    json_set(body, "text", seen ? json_new_string(seen) : json_new_string_n(text, n));
    free(seen);
    if (cut)
        json_put_bool(body, "cut", true);
    effects_post(s, MSG_LOG_LINE, body);
}

static void on_log_state(void *arg, const char *container, enum podlog_state state,
                         const struct pd_err *err)
{
    struct effects_slot *s = arg;
    struct json *body = err ? effects_error(err) : json_new_object();
    json_put_num(body, "stream", s->id);
    put_container(s, body, container);
    json_put_str(body, "state", podlog_state_name(state));
    effects_post(s, MSG_LOG_STATE, body);
    if (state == PODLOG_ENDED && !container)
        effects_slot_end(s);
}

void effects_log(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct podlog_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                               .pod = json_str(s->args, "pod", ""),
                               .container = json_str(s->args, "container", NULL),
                               .follow = json_bool(s->args, "follow", true),
                               .previous = json_bool(s->args, "previous", false),
                               .tail = json_int(s->args, "tail", -1),
                               .since_s = json_int(s->args, "since", 0)};
    struct logmerge_handlers h = {on_containers, on_line, on_log_state, s};
    s->stop = stop_log;
    s->handle = logmerge_start(r->k8s, &spec, json_bool(s->args, "all", false), &h);
}

/* --- attach and exec ------------------------------------------------------------------ */

static void stop_exec(struct effects_slot *s)
{
    exec_close(s->handle);
}

static struct json *attach_state(const struct effects_slot *s, const char *state)
{
    struct json *body = json_new_object();
    json_put_num(body, "stream", s->id);
    json_put_str(body, "state", state);
    return body;
}

static void on_attach_open(void *arg, bool half_close)
{
    (void)half_close;
    struct effects_slot *s = arg;
    effects_post(s, MSG_ATTACH, attach_state(s, "open"));
}

/* What comes back over attach stands in the log too, which is read whole. */
static void on_attach_output(void *arg, int channel, const char *p, size_t n)
{
    (void)arg, (void)channel, (void)p, (void)n;
}

static void on_attach_exit(void *arg, int code, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    struct json *body = attach_state(s, "closed");
    json_put_num(body, "exit", code);
    if (err)
        json_set(body, "error", errjson_make(err));
    effects_post(s, MSG_ATTACH, body);
    effects_slot_end(s);
}

void effects_attach(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct exec_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                             .pod = json_str(s->args, "pod", ""),
                             .container = json_str(s->args, "container", NULL),
                             .std_in = true};
    struct exec_handlers h = {.open = on_attach_open, .output = on_attach_output,
                              .exit = on_attach_exit, .arg = s};
    s->stop = stop_exec;
    s->handle = exec_start(r->k8s, &spec, &h);
}

void effects_attach_send(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_find(r, (uint32_t)json_int(e->args, "stream", 0));
    const char *text = json_str(e->args, "text", "");
    if (s && s->kind == EFF_ATTACH)
        exec_send(s->handle, text, strlen(text));
}

static void on_exec_output(void *arg, int channel, const char *p, size_t n)
{
    struct effects_slot *s = arg;
    str_append(channel == 2 ? &s->err : &s->out, p, n);
}

static void on_exec_exit(void *arg, int code, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    struct json *body = code < 0 && err ? effects_error(err) : json_new_object();
    json_put_num(body, "status", 0);
    json_put_num(body, "exit", code);
    json_set(body, "stdout", json_new_string_n(s->out.p, s->out.len));
    json_set(body, "stderr", json_new_string_n(s->err.p, s->err.len));
    effects_post(s, MSG_REPLY, body);
    effects_slot_end(s);
}

void effects_exec(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct strv argv;
    strv_init(&argv);
    for (const struct json *w = json_first(json_get(s->args, "argv")); w; w = json_next(w))
        strv_push(&argv, json_string_value(w) ? json_string_value(w) : "");
    struct exec_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                             .pod = json_str(s->args, "pod", ""),
                             .container = json_str(s->args, "container", NULL),
                             .argv = argv.v};
    struct exec_handlers h = {.output = on_exec_output, .exit = on_exec_exit, .arg = s};
    s->stop = stop_exec;
    s->handle = exec_start(r->k8s, &spec, &h);
    strv_release(&argv);
}

/* --- copy ------------------------------------------------------------------------------ */

static void stop_copy(struct effects_slot *s)
{
    copy_cancel(s->handle);
}

/* How much the stream will have is not known: a file's own size is no total. */
static void on_copy_progress(void *arg, int64_t done, int64_t total UNUSED, const char *path)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object();
    char text[400];
    json_put_str(body, "state", "running");
    json_put_num(body, "done", (double)done);
    json_put_str(body, "path", path);
    json_put_str(body, "text", str_fmt(text, sizeof text, "%.1f MB  %s", (double)done / 1e6, path));
    effects_post(s, MSG_COPY, body);
}

static void on_copy_file(void *arg, const char *path, int64_t size, const char *sha256)
{
    struct effects_slot *s = arg;
    struct json *body = json_new_object();
    json_put_str(body, "state", "running");
    json_put_str(body, "path", path);
    json_put_str(body, "text", path);
    json_put_num(body, "size", (double)size);
    json_put_str(body, "file_sha256", sha256);
    effects_post(s, MSG_COPY, body);
}

static void on_copy_done(void *arg, const char *sha256, int files, const struct pd_err *err)
{
    struct effects_slot *s = arg;
    struct json *body = err ? effects_error(err) : json_new_object();
    json_put_str(body, "state", err ? "failed" : "done");
    json_put_str(body, "path", json_str(s->args, "to", ""));
    json_put_str(body, "sha256", sha256);
    json_put_num(body, "files", files);
    effects_post(s, MSG_COPY, body);
    effects_slot_end(s);
}

void effects_copy_out(struct effects_runner *r, const struct effect *e)
{
    struct effects_slot *s = effects_slot_new(r, e);
    struct strv argv;
    strv_init(&argv);
    for (const struct json *w = json_first(json_get(s->args, "argv")); w; w = json_next(w))
        strv_push(&argv, json_string_value(w) ? json_string_value(w) : "");
    struct copy_spec spec = {.ns = json_str(s->args, "namespace", NULL),
                             .pod = json_str(s->args, "pod", ""),
                             .container = json_str(s->args, "container", NULL),
                             .argv = argv.v,
                             .to = json_str(s->args, "to", "")};
    struct copy_handlers h = {on_copy_progress, on_copy_file, on_copy_done, s};
    s->stop = stop_copy;
    s->handle = copy_start(r->k8s, &spec, &h);
    strv_release(&argv);
}
