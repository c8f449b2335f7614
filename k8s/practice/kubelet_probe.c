/* kubelet_probe.c - startup, liveness and readiness probes: a command in the
 * container, a connection, or an HTTP GET on the pod's own port. */
#include "k8s/practice/kubelet_in.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/mem.h"

enum { OUTPUT_MAX = 10 << 10 };

/* One try. */
struct try {
    struct kctr *c;
    int which;
    int fd;
    bool exec, http, sent;
    struct str in, output;
    uint32_t deadline;
};

static struct try *tries[64];         /* at most this many at a time; others come later */

static const struct json *spec_of(const struct kctr *c, int which)
{
    return json_get(kubelet_pod_spec(c), c->probe[which].kind);
}

static void schedule(struct kctr *c, int which, int64_t ms);

static void try_free(struct try *t)
{
    struct loop *l = t->c->pod->k->loop;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++)
        if (tries[i] == t)
            tries[i] = NULL;
    loop_timer_cancel(l, t->deadline);
    if (t->fd >= 0) {
        loop_fd_remove(l, t->fd);
        close(t->fd);
    }
    str_release(&t->in);
    str_release(&t->output);
    free(t);
}

static void failed(struct kctr *c, int which, const char *why)
{
    static const char *const words[] = {"Startup", "Liveness", "Readiness"};
    struct kprobe *p = &c->probe[which];
    const struct json *spec = spec_of(c, which);
    kubelet_event(c->pod, c, "Warning", "Unhealthy", "%s probe failed: %.300s", words[which], why);
    p->good = 0;
    if (++p->bad < json_int(spec, "failureThreshold", 3))
        return;
    p->ok = false;
    if (which == 2)
        return;
    kubelet_event(c->pod, c, "Normal", "Killing", "Container %s failed %s probe, will be restarted",
                  c->name, which == 0 ? "startup" : "liveness");
    p->bad = 0;
    c->probe_kill = true;
    int64_t grace = json_int(c->pod->pod, "spec.terminationGracePeriodSeconds", 30);
    kubelet_ctr_stop(c, kobj_ms(json_int(spec, "terminationGracePeriodSeconds", grace)));
}

static void result(struct try *t, bool good, const char *why)
{
    struct kctr *c = t->c;
    int which = t->which;
    struct kprobe *p = &c->probe[which];
    bool was = p->ok;
    if (good) {
        p->bad = 0;
        if (++p->good >= json_int(spec_of(c, which), "successThreshold", 1))
            p->ok = true;
    } else {
        failed(c, which, why);
    }
    p->known = true;
    try_free(t);
    if (was != p->ok)
        kubelet_wake(c->pod, 0);
    schedule(c, which, kobj_ms(json_int(spec_of(c, which), "periodSeconds", 10)));
}

static void on_deadline(void *arg)
{
    struct try *t = arg;
    t->deadline = 0;
    result(t, false, t->exec ? "command timed out" : "context deadline exceeded");
}

static void on_exec(struct try *t)
{
    char type, text[16];
    const char *p;
    size_t n;
    long used;
    while ((used = shim_parse(t->in.p, t->in.len, &type, &p, &n)) > 0) {
        if (type == SHIM_STDOUT || type == SHIM_STDERR)
            str_append(&t->output, p, n);
        str_copy(text, MIN(sizeof text, n + 1), p);
        bool end = type == SHIM_EXIT || type == SHIM_ERROR;
        bool good = type == SHIM_EXIT && strcmp(text, "0") == 0;
        if (type == SHIM_ERROR)
            str_append(&t->output, p, n);
        str_consume(&t->in, (size_t)used);
        if (end) {
            result(t, good, t->output.p);
            return;
        }
    }
}

static void on_http(struct try *t)
{
    int code = 0;
    char why[64];
    if (!strchr(t->in.p, '\n') || sscanf(t->in.p, "HTTP/%*s %d", &code) != 1)
        return;
    str_fmt(why, sizeof why, "HTTP probe failed with statuscode: %d", code);
    result(t, code >= 200 && code < 400, why);
}

static bool send_all(struct try *t, const char *p, size_t n)
{
    return send(t->fd, p, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void send_http(struct try *t)
{
    const struct json *get = json_get(spec_of(t->c, t->which), "httpGet");
    char *text = xasprintf("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: kube-probe/1.34\r\n"
                           "Accept: */*\r\nConnection: close\r\n\r\n",
                           json_str(get, "path", "/"), t->c->pod->ip);
    if (!send_all(t, text, strlen(text)))
        result(t, false, strerror(errno));
    free(text);
}

static void on_socket(void *arg, int fd, int events)
{
    struct try *t = arg;
    char buf[4096];
    int error = 0;
    socklen_t len = sizeof error;
    if (events & LOOP_WRITE && !t->sent) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
        if (error) {
            result(t, false, strerror(error));
        } else if (!t->http) {
            result(t, true, "");
        } else {
            t->sent = true;
            loop_fd(t->c->pod->k->loop, fd, LOOP_READ, on_socket, t);
            send_http(t);
        }
        return;
    }
    ssize_t n = read(fd, buf, sizeof buf);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        str_append(&t->in, buf, (size_t)n);
    if (n <= 0)
        result(t, false, n < 0 ? strerror(errno) : "EOF");
    else if (t->exec)
        on_exec(t);
    else
        on_http(t);
}

/* A number, or the name of a port of the container. */
static int port_of(const struct kctr *c, const struct json *probe)
{
    const struct json *port = json_get(probe, "port");
    const char *name = json_string_value(port);
    if (!name)
        return (int)json_number_value(port);
    for (const struct json *p = json_first(json_get(kubelet_pod_spec(c), "ports")); p;
         p = json_next(p))
        if (strcmp(json_str(p, "name", ""), name) == 0)
            return (int)json_int(p, "containerPort", 0);
    return atoi(name);
}

static bool start_exec(struct try *t, const struct json *command)
{
    struct str payload, frame;
    str_init(&payload, SHIM_FRAME_MAX);
    str_init(&frame, SHIM_FRAME_MAX + 16);
    str_add(&payload, "oe");
    for (const struct json *a = json_first(command); a; a = json_next(a)) {
        str_append(&payload, "", 1);
        str_add(&payload, json_string_value(a));
    }
    t->fd = shim_connect(t->c->dir);
    bool ok = t->fd >= 0 && shim_frame(&frame, SHIM_EXEC, payload.p, payload.len) &&
              send_all(t, frame.p, frame.len);
    t->exec = t->sent = true;
    str_release(&payload);
    str_release(&frame);
    return ok;
}

static bool start_socket(struct try *t, const struct json *probe)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    sa.sin_port = htons((uint16_t)port_of(t->c, probe));
    inet_pton(AF_INET, json_str(probe, "host", t->c->pod->ip), &sa.sin_addr);
    t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return t->fd >= 0 && (connect(t->fd, (struct sockaddr *)&sa, sizeof sa) == 0 ||
                          errno == EINPROGRESS);
}

static void run(struct kctr *c, int which)
{
    const struct json *spec = spec_of(c, which), *command = json_at(spec, "exec.command");
    size_t slot = 0;
    while (slot < ARRAY_LEN(tries) && tries[slot])
        slot++;
    bool held = which != 0 && json_has(kubelet_pod_spec(c), "startupProbe") && !c->probe[0].ok;
    if (slot == ARRAY_LEN(tries) || held) {
        schedule(c, which, 1000);
        return;
    }
    struct try *t = xcalloc(1, sizeof *t);
    tries[slot] = t;
    t->c = c;
    t->which = which;
    t->fd = -1;
    str_init(&t->in, 4 << 20);
    str_init(&t->output, OUTPUT_MAX);
    t->http = json_has(spec, "httpGet");
    bool ok = command ? start_exec(t, command)
                      : start_socket(t, json_get(spec, t->http ? "httpGet" : "tcpSocket"));
    if (!ok) {
        result(t, false, strerror(errno));
        return;
    }
    loop_fd(c->pod->k->loop, t->fd, t->sent ? LOOP_READ : LOOP_WRITE, on_socket, t);
    t->deadline = loop_timer(c->pod->k->loop, kobj_ms(json_int(spec, "timeoutSeconds", 1)),
                             on_deadline, t, "probe");
}

static void on_startup(void *arg)
{
    struct kctr *c = arg;
    c->probe[0].timer = 0;
    if (!c->probe[0].ok)
        run(c, 0);
}

static void on_liveness(void *arg)
{
    struct kctr *c = arg;
    c->probe[1].timer = 0;
    run(c, 1);
}

static void on_readiness(void *arg)
{
    struct kctr *c = arg;
    c->probe[2].timer = 0;
    run(c, 2);
}

static void schedule(struct kctr *c, int which, int64_t ms)
{
    static loop_fn *const fns[] = {on_startup, on_liveness, on_readiness};
    if (c->state == KCTR_RUNNING && !c->probe_kill && !(which == 0 && c->probe[0].ok))
        c->probe[which].timer = loop_timer(c->pod->k->loop, ms, fns[which], c, "probe");
}

void kubelet_probe_start(struct kctr *c)
{
    c->probe_kill = false;
    for (int i = 0; i < 3; i++) {
        struct kprobe *p = &c->probe[i];
        p->good = p->bad = 0;
        p->known = p->ok = false;
        const struct json *spec = spec_of(c, i);
        if (json_has(spec, "exec") || json_has(spec, "httpGet") || json_has(spec, "tcpSocket"))
            schedule(c, i, kobj_ms(json_int(spec, "initialDelaySeconds", 0)));
    }
}

void kubelet_probe_stop(struct kctr *c)
{
    for (int i = 0; i < 3; i++) {
        loop_timer_cancel(c->pod->k->loop, c->probe[i].timer);
        c->probe[i].timer = 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(tries); i++)
        if (tries[i] && tries[i]->c == c)
            try_free(tries[i]);
}
