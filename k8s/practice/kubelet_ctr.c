/* kubelet_ctr.c - one container: from its image to its exit code, through
 * podium-shim; and finding it again after a restart of the server. */
#include "k8s/practice/kubelet_in.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/path.h"

enum { RETRY_MS = 10000 };

int64_t kubelet_ctr_scaled(const struct kubelet *k, int64_t ms)
{
    return (int64_t)((double)ms / k->speed);
}

static char *attempt_dir(const struct kctr *c, int attempt)
{
    return xasprintf("%s/ctr/%s/%d", c->pod->dir, c->name, attempt);
}

char *kubelet_ctr_log(const struct kpod *p, const char *name, int attempt)
{
    return xasprintf("%s/logs/%s/%d.log", p->dir, name, attempt);
}

/* 64 hexadecimal digits that stay the same over restarts of the server. */
char *kubelet_ctr_id(const struct kpod *p, const char *name, int attempt, char buf[80])
{
    unsigned char md[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char *text = xasprintf("%s/%s/%d", p->uid, name, attempt);
    EVP_Digest(text, strlen(text), md, &n, EVP_sha256(), NULL);
    free(text);
    str_copy(buf, 80, "podium://");
    for (unsigned i = 0; i < n && i < 32; i++)
        str_fmt(buf + 9 + i * 2, 80 - 9 - i * 2, "%02x", md[i]);
    return buf;
}

void kubelet_ctr_init(struct kctr *c)
{
    c->attempt = c->last_attempt = -1;
    c->fd = -1;
    str_init(&c->in, SHIM_FRAME_MAX + 65536);
    c->probe[0].kind = "startupProbe";
    c->probe[1].kind = "livenessProbe";
    c->probe[2].kind = "readinessProbe";
    kubelet_ctr_wait(c, c->init || c->pod->inits == 0 ? "ContainerCreating" : "PodInitializing",
                     "%s", "");
    if (c->init && c != &c->pod->ctr[0])
        str_copy(c->reason, sizeof c->reason, "PodInitializing");
}

static void disconnect(struct kctr *c)
{
    if (c->fd < 0)
        return;
    loop_fd_remove(c->pod->k->loop, c->fd);
    close(c->fd);
    c->fd = -1;
    str_clear(&c->in);
}

void kubelet_ctr_release(struct kctr *c)
{
    kubelet_probe_stop(c);
    disconnect(c);
    if (c->child && c->busy != KCTR_STARTING)      /* a start comes to its end by itself */
        child_forget(c->child);
    str_release(&c->in);
    free(c->name);
    free(c->dir);
}

void kubelet_ctr_wait(struct kctr *c, const char *reason, const char *fmt, ...)
{
    va_list ap;
    c->state = KCTR_WAITING;
    str_copy(c->reason, sizeof c->reason, reason);
    va_start(ap, fmt);
    vsnprintf(c->message, sizeof c->message, fmt, ap);
    va_end(ap);
}

/* --- the connection to the shim ------------------------------------------------------ */

void kubelet_ctr_exited(struct kctr *c)
{
    disconnect(c);
    kubelet_probe_stop(c);
    c->state = KCTR_EXITED;
    c->busy = KCTR_IDLE;
    c->reason[0] = '\0';
    c->kill_sent = false;
    kubelet_wake(c->pod, 0);
}

static void vanished(struct kctr *c)
{
    c->now.exit_code = 137;
    c->now.signal = 9;
    str_copy(c->now.reason, sizeof c->now.reason, "ContainerStatusUnknown");
    str_copy(c->now.message, sizeof c->now.message,
             "The container could not be located when the pod was terminated");
    c->now.finished_us = clock_wall_ms() * 1000;
    struct pd_err err;
    if (shim_state_write(&c->now, c->dir, &err) != PD_OK)
        c->now.message[0] = '\0';
    kubelet_ctr_exited(c);
}

/* The shim's end of the line: what does its file say? */
static void on_closed(struct kctr *c)
{
    struct shim_state st;
    disconnect(c);
    if (shim_state_read(c->dir, &st) && st.finished_us) {
        c->now = st;
        kubelet_ctr_exited(c);
    } else {
        vanished(c);
    }
}

static void on_data(void *arg, int fd, int events UNUSED)
{
    struct kctr *c = arg;
    char buf[65536];
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        str_append(&c->in, buf, (size_t)n);
    for (;;) {
        char type;
        const char *p;
        size_t len;
        struct shim_state st;
        long used = shim_parse(c->in.p, c->in.len, &type, &p, &len);
        if (used <= 0)
            break;
        str_consume(&c->in, (size_t)used);
        if (type == SHIM_STATE && shim_state_read(c->dir, &st) && st.finished_us) {
            c->now = st;
            kubelet_ctr_exited(c);
            return;
        }
    }
    if (n <= 0)
        on_closed(c);
}

static bool send_frame(int fd, char type, const char *payload)
{
    struct str out;
    str_init(&out, SHIM_FRAME_MAX + 16);
    shim_frame(&out, type, payload, strlen(payload));
    bool ok = send(fd, out.p, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
    str_release(&out);
    return ok;
}

static void watch(struct kctr *c)
{
    c->fd = shim_connect(c->dir);
    if (c->fd < 0 || !send_frame(c->fd, SHIM_WATCH, "")) {
        on_closed(c);
        return;
    }
    loop_fd(c->pod->k->loop, c->fd, LOOP_READ, on_data, c);
}

void kubelet_ctr_stop(struct kctr *c, int64_t grace_ms)
{
    char text[32];
    str_fmt(text, sizeof text, "%" PRId64, grace_ms);
    if (c->fd >= 0 && send_frame(c->fd, SHIM_STOP, text))
        c->kill_sent = true;
}

/* --- start ----------------------------------------------------------------------------- */

static void running(struct kctr *c)
{
    struct kpod *p = c->pod;
    c->state = KCTR_RUNNING;
    c->busy = KCTR_IDLE;
    c->ever_started = true;
    c->reason[0] = c->message[0] = '\0';
    kubelet_event(p, c, "Normal", "Started", "Started container %s", c->name);
    if (c->now.missing[0] && c->attempt == 0)
        kubelet_event(p, c, "Normal", "Sandbox", "Container %s runs in a %s sandbox; %s", c->name,
                      c->now.isolation, c->now.missing);
    watch(c);
    if (c->state == KCTR_RUNNING)
        kubelet_probe_start(c);
    kubelet_wake(p, 0);
}

static void on_started(void *arg, int code, int signo UNUSED, const char *text)
{
    struct kctr *c = arg;
    struct kpod *p = c->pod;
    c->child = NULL;
    c->busy = KCTR_IDLE;
    kubelet_event(p, c, "Normal", "Created", "Created container: %s", c->name);
    if (code == 0 && shim_state_read(c->dir, &c->now)) {
        running(c);
        return;
    }
    char why[600];
    str_copy(why, sizeof why, text);
    why[strcspn(why, "\n")] = '\0';
    memset(&c->now, 0, sizeof c->now);
    shim_state_read(c->dir, &c->now);
    c->now.exit_code = 128;
    str_copy(c->now.reason, sizeof c->now.reason, "StartError");
    str_fmt(c->now.message, sizeof c->now.message,
            "failed to create containerd task: failed to create shim task: OCI runtime create "
            "failed: runc create failed: unable to start container process: error during "
            "container init: %.250s: unknown", why);
    c->now.started_us = 0;
    if (!c->now.finished_us)
        c->now.finished_us = clock_wall_ms() * 1000;
    struct pd_err err;
    (void)!shim_state_write(&c->now, c->dir, &err);
    kubelet_event(p, c, "Warning", "Failed", "Error: %s", c->now.message);
    kubelet_ctr_exited(c);
}

static void config_error(struct kctr *c, const char *reason, const char *why)
{
    kubelet_event(c->pod, c, "Warning", "Failed", "Error: %s", why);
    c->busy = KCTR_IDLE;
    c->attempt--;                       /* it never came to be */
    free(c->dir);
    c->dir = c->attempt >= 0 ? attempt_dir(c, c->attempt) : NULL;
    kubelet_ctr_wait(c, reason, "%s", why);
    c->try_at_ms = clock_ms() + kubelet_ctr_scaled(c->pod->k, RETRY_MS);
    kubelet_wake(c->pod, 0);
}

static void start_shim(struct kctr *c)
{
    struct pd_err err;
    char *env[] = {NULL}, run[] = "run", *argv[] = {c->pod->k->shim, run, c->dir, NULL};
    struct child_spec spec = {.argv = argv, .env = env, .exit = on_started, .arg = c};
    c->busy = KCTR_STARTING;
    if (child_start(c->pod->k->loop, &spec, &c->child, &err) != PD_OK)
        config_error(c, "RunContainerError", err.msg);
}

/* Everything is on disk: describe the container and hand it to its shim. */
static void create(struct kctr *c, const struct json *meta)
{
    struct pd_err err;
    struct shim_spec s;
    struct kpod *p = c->pod;
    char id[80], *logdir = xasprintf("%s/logs/%s", p->dir, c->name);
    shim_spec_init(&s);
    s.name = xstrdup(c->name);
    s.rootfs = path_join(c->dir, "rootfs");
    s.log = kubelet_ctr_log(p, c->name, c->attempt);
    s.cgroup = xasprintf("podium-%.16s", kubelet_ctr_id(p, c->name, c->attempt, id) + 9);
    enum pd_code rc = path_mkdirs(logdir, 0700, &err);
    if (rc == PD_OK)
        rc = kubelet_env_fill(c, meta, &s, &err);
    if (rc == PD_OK)
        rc = kubelet_volume_binds(c, &s, &err);
    if (rc == PD_OK && !kubelet_user_resolve(json_str(meta, "config.user", ""), &s))
        rc = pd_fail(&err, PD_SANDBOX, "unable to find user %s: no matching entries in passwd file",
                     json_str(meta, "config.user", ""));
    if (rc == PD_OK)
        rc = shim_spec_write(&s, c->dir, &err);
    shim_spec_release(&s);
    free(logdir);
    if (rc != PD_OK)
        config_error(c, "CreateContainerConfigError", err.msg);
    else
        start_shim(c);
}

static void on_unpacked(void *arg, int code, int signo UNUSED, const char *text)
{
    struct kctr *c = arg;
    c->child = NULL;
    c->busy = KCTR_IDLE;
    struct json *meta = kubelet_image_meta(c->pod->k, json_str(kubelet_pod_spec(c), "image", ""));
    if (code != 0 || !meta) {
        char why[600];
        str_copy(why, sizeof why, *text ? text : "the image went away");
        why[strcspn(why, "\n")] = '\0';
        config_error(c, "CreateContainerError", why);
    } else {
        create(c, meta);
    }
    json_free(meta);
}

/* Attempts older than the previous one are of no use any more. */
static void clean_attempts(struct kctr *c)
{
    struct pd_err err;
    struct child *child;
    char *old = c->attempt >= 2 ? attempt_dir(c, c->attempt - 2) : NULL;
    char *root = c->attempt >= 1 ? xasprintf("%s/ctr/%s/%d/rootfs", c->pod->dir, c->name,
                                             c->attempt - 1) : NULL;
    char remove[] = "remove-tree", *argv[] = {c->pod->k->self, remove, root, old, NULL};
    struct child_spec spec = {.argv = argv};
    if (old) {
        char *log = kubelet_ctr_log(c->pod, c->name, c->attempt - 2);
        unlink(log);
        free(log);
    }
    if (root && child_start(c->pod->k->loop, &spec, &child, &err) != PD_OK)
        c->message[0] = '\0';
    free(old);
    free(root);
}

/* The image is here: a fresh file system for this attempt. */
void kubelet_ctr_create(struct kctr *c, const struct json *meta)
{
    struct pd_err err;
    struct kubelet *k = c->pod->k;
    c->attempt++;
    free(c->dir);
    c->dir = attempt_dir(c, c->attempt);
    clean_attempts(c);
    if (path_mkdirs(c->dir, 0700, &err) != PD_OK) {
        config_error(c, "CreateContainerError", err.msg);
        return;
    }
    char *store = kubelet_image_store(k), *root = path_join(c->dir, "rootfs");
    char unpack[] = "unpack-image", *argv[] = {k->self, unpack, store,
                    (char *)(uintptr_t)json_str(meta, "digest", ""), root, NULL};
    struct child_spec spec = {.argv = argv, .exit = on_unpacked, .arg = c};
    c->busy = KCTR_UNPACKING;
    if (child_start(k->loop, &spec, &c->child, &err) != PD_OK)
        config_error(c, "CreateContainerError", err.msg);
    free(store);
    free(root);
}

void kubelet_ctr_start(struct kctr *c)
{
    if (c->state == KCTR_EXITED) {      /* the old state stays visible until the new one runs */
        c->last = c->now;
        c->last_attempt = c->attempt;
        c->has_last = true;
    }
    c->busy_since_ms = clock_ms();
    kubelet_image_ensure(c);
}

/* --- after a restart of the server -------------------------------------------------------- */

static int newest_attempt(const struct kctr *c)
{
    char *dir = xasprintf("%s/ctr/%s", c->pod->dir, c->name);
    DIR *d = opendir(dir);
    struct dirent *e;
    int best = -1;
    while (d && (e = readdir(d))) {
        int64_t v;
        char *state = xasprintf("%s/%s/state", dir, e->d_name);
        if (str_to_i64(e->d_name, &v) && v >= 0 && access(state, F_OK) == 0)
            best = MAX(best, (int)v);
        free(state);
    }
    if (d)
        closedir(d);
    free(dir);
    return best;
}

void kubelet_ctr_adopt(struct kctr *c)
{
    c->attempt = newest_attempt(c);
    if (c->attempt < 0)
        return;
    c->dir = attempt_dir(c, c->attempt);
    if (!shim_state_read(c->dir, &c->now))
        return;
    struct json *meta = kubelet_image_meta(c->pod->k, json_str(kubelet_pod_spec(c), "image", ""));
    str_copy(c->image_id, sizeof c->image_id, json_str(meta, "image_id", ""));
    json_free(meta);
    c->ever_started = c->now.started_us != 0;
    if (c->attempt > 0) {
        char *dir = attempt_dir(c, c->attempt - 1);
        c->has_last = shim_state_read(dir, &c->last);
        c->last_attempt = c->attempt - 1;
        c->backoff_ms = 10000;
        for (int i = 1; i < c->attempt && c->backoff_ms < 300000; i++)
            c->backoff_ms = MIN(c->backoff_ms * 2, 300000);
        free(dir);
    }
    if (c->now.finished_us) {
        c->state = KCTR_EXITED;
        c->reason[0] = '\0';
        return;
    }
    c->state = KCTR_RUNNING;
    c->reason[0] = '\0';
    watch(c);
    if (c->state == KCTR_RUNNING)
        kubelet_probe_start(c);
}
