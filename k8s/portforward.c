/* portforward.c - the listeners of a port-forward, and what becomes of its pod
 * (portforward.h). */
#include "k8s/portforward_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { CHANGED_MS = 250, LOOK_MS = 1000, TIRED_MS = 500, TRIES = 20 };

static void look(struct portforward *f);

/* --- what is told --- */

static void tell_changed(void *arg)
{
    struct portforward *f = arg;
    f->changed_timer = 0;
    if (f->look_again)
        look(f);
    if (f->h.changed)
        f->h.changed(f->h.arg);
}

void portforward_changed(struct portforward *f)
{
    if (!f->changed_timer)
        f->changed_timer = loop_timer(f->loop, CHANGED_MS, tell_changed, f, "port-forward");
}

void portforward_failed(struct portforward *f, const struct pd_err *err, bool look_too)
{
    if (f->h.said)
        f->h.said(f->h.arg, false, err);
    f->look_again |= look_too;
    portforward_changed(f);
}

static void said(struct portforward *f, const struct pd_err *what)
{
    if (str_eq(f->trouble, what->msg))
        return;
    str_copy(f->trouble, sizeof f->trouble, what->msg);
    if (f->h.said)
        f->h.said(f->h.arg, true, what);
}

/* --- the pod --- */

static int restarts_of(const struct json *pod)
{
    int n = 0;
    const struct json *all = json_at(pod, "status.containerStatuses");
    for (const struct json *c = json_first(all); c; c = json_next(c))
        n += (int)json_int(c, "restartCount", 0);
    return n;
}

static void compare(struct portforward *f, const struct json *pod)
{
    const char *uid = json_str(pod, "metadata.uid", ""), *phase = json_str(pod, "status.phase", "");
    int restarts = restarts_of(pod);
    struct pd_err what = {.code = PD_OK};
    if (f->known && !str_eq(uid, f->uid))
        pd_fail(&what, PD_NET, _("pod %s was replaced by a new one of that name: what comes next "
                                 "goes to it"), f->pod);
    else if (f->known && restarts > f->restarts)
        pd_fail(&what, PD_NET, _("a container of pod %s was started again (restart %d): open "
                                 "connections broke off, new ones work once it listens"), f->pod,
                restarts);
    else if (json_has(pod, "metadata.deletionTimestamp"))
        pd_fail(&what, PD_NET, _("pod %s is being deleted"), f->pod);
    else if (!str_eq(phase, "Running"))
        pd_fail(&what, PD_NET, _("pod %s is %s: it takes connections when it is Running"), f->pod,
                phase);
    else
        f->trouble[0] = '\0';
    if (what.code != PD_OK)
        pd_set_hint(&what, _("the port stays open here; connect again"));
    f->known = true;
    f->restarts = restarts;
    str_copy(f->uid, sizeof f->uid, uid);
    if (what.code != PD_OK)
        said(f, &what);
}

static void on_pod(void *arg, int status, const struct json *pod, const struct pd_err *err)
{
    struct portforward *f = arg;
    struct pd_err what;
    f->look = NULL;
    if (!err && pod)
        compare(f, pod);
    if (status != 404)
        return;                          /* no right to see it, or no link: told elsewhere */
    pd_fail(&what, PD_NOTFOUND, _("there is no pod %s in namespace %s"), f->pod, f->ns);
    pd_set_hint(&what, f->known ? _("a controller gives its next pod another name: stop this and "
                                    "start one to that pod") : _("check name and namespace"));
    said(f, &what);
}

static void look(struct portforward *f)
{
    if (f->look || !f->k)
        return;
    if (clock_ms() - f->looked_ms < LOOK_MS && f->looked_ms) {
        f->look_again = true;
        portforward_changed(f);
        return;
    }
    f->look_again = false;
    f->looked_ms = clock_ms();
    f->look = k8s_get(f->k, "pods", f->ns, f->pod, on_pod, f);
}

/* --- listeners --- */

static void on_accept(void *arg, int fd, int events);

static void listen_again(void *arg)
{
    struct portforward *f = arg;
    f->listen_timer = 0;
    f->full = false;
    for (int i = 0; i < 2; i++)
        if (f->fd[i] >= 0)
            loop_fd(f->loop, f->fd[i], LOOP_READ, on_accept, f);
}

static void stop_listening(struct portforward *f)
{
    f->full = true;
    for (int i = 0; i < 2; i++)
        if (f->fd[i] >= 0)
            loop_fd_remove(f->loop, f->fd[i]);
}

void portforward_room(struct portforward *f)
{
    if (f->full && !f->listen_timer && f->k)
        f->listen_timer = loop_timer(f->loop, 0, listen_again, f, "port-forward listen");
    portforward_changed(f);
}

static void on_accept(void *arg, int fd, int events UNUSED)
{
    struct portforward *f = arg;
    int one = 1;
    if (f->stats.open >= PORTFORWARD_MOST) {
        stop_listening(f);
        return;
    }
    int got = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (got < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            stop_listening(f);
            f->listen_timer = loop_timer(f->loop, TIRED_MS, listen_again, f, "port-forward listen");
        }
        return;
    }
    (void)setsockopt(got, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pfconn_new(f, got);
    look(f);                             /* it may have been restarted meanwhile */
    portforward_changed(f);
}

static int bound(const struct sockaddr *a, socklen_t n)
{
    int one = 1, fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (a->sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    if (bind(fd, a, n) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static int bind4(const char *address, int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET, address, &a.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    return bound((struct sockaddr *)&a, sizeof a);
}

static int bind6(const char *address, int port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    if (inet_pton(AF_INET6, address, &a.sin6_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    return bound((struct sockaddr *)&a, sizeof a);
}

static int port_of(int fd)
{
    struct sockaddr_in6 a = {0};         /* the port lies at the same place in both */
    socklen_t n = sizeof a;
    return getsockname(fd, (struct sockaddr *)&a, &n) == 0 ? ntohs(a.sin6_port) : 0;
}

/* 127.0.0.1 and ::1 on one port; a machine without IPv6 has the first alone. */
static bool listen_both(struct portforward *f, int port)
{
    for (int i = 0; i < TRIES; i++) {
        f->fd[0] = bind4("127.0.0.1", port);
        if (f->fd[0] < 0)
            return false;
        f->port = port_of(f->fd[0]);
        f->fd[1] = bind6("::1", f->port);
        if (f->fd[1] >= 0 || errno != EADDRINUSE)
            return true;
        close(f->fd[0]);
        f->fd[0] = -1;
        errno = EADDRINUSE;
        if (port)
            return false;
    }
    return false;
}

static bool listen_at(struct portforward *f, const char *address, int port)
{
    if (!address || str_eq(address, "localhost"))
        return listen_both(f, port);
    f->fd[0] = strchr(address, ':') ? bind6(address, port) : bind4(address, port);
    f->port = f->fd[0] >= 0 ? port_of(f->fd[0]) : 0;
    return f->fd[0] >= 0;
}

static enum pd_code no_listener(const struct portforward_spec *spec, struct pd_err *err)
{
    int why = errno;
    pd_fail_errno(err, PD_IO, _("port %d of this machine can't be listened on"), spec->local);
    if (why == EADDRINUSE)
        pd_set_hint(err, _("another program has it: choose another, or 0:%d for any free one"),
                    spec->remote);
    else if (why == EACCES)
        pd_set_hint(err, _("ports below 1024 are root's: choose another, or 0:%d for any free "
                           "one"), spec->remote);
    else if (why == EINVAL)
        pd_set_hint(err, _("the address must be one of this machine, as 127.0.0.1 or ::1"));
    return err->code;
}

/* --- life --- */

static void let_go(struct portforward *f)
{
    while (f->conns)
        pfconn_free(f->conns);
    for (int i = 0; i < 2; i++) {
        if (f->fd[i] < 0)
            continue;
        loop_fd_remove(f->loop, f->fd[i]);
        close(f->fd[i]);
        f->fd[i] = -1;
    }
    loop_timer_cancel(f->loop, f->changed_timer);
    loop_timer_cancel(f->loop, f->listen_timer);
    f->changed_timer = f->listen_timer = 0;
}

static void on_part_close(void *arg)
{
    struct portforward *f = arg;
    f->k = NULL;
    f->look = NULL;                      /* freed with the connection's calls */
    let_go(f);
}

void portforward_stop(struct portforward *f)
{
    if (!f)
        return;
    if (f->k) {
        k8s_part_remove(f->k, &f->part);
        k8s_cancel(f->look);
    }
    f->k = NULL;
    let_go(f);
    free(f->ns);
    free(f->pod);
    free(f->path);
    free(f);
}

enum pd_code portforward_start(struct k8s *k, const struct portforward_spec *spec,
                               const struct portforward_handlers *h, struct portforward **out,
                               struct pd_err *err)
{
    char path[RES_PATH_MAX], port[16];
    struct str s;
    struct portforward *f = xcalloc(1, sizeof *f);
    f->loop = k8s_loop(k);
    f->remote = spec->remote;
    f->channels = spec->channels;
    f->fd[0] = f->fd[1] = -1;
    if (!listen_at(f, spec->address, spec->local)) {
        no_listener(spec, err);
        free(f);
        return err->code;
    }
    f->k = k;
    f->h = *h;
    f->ns = xstrdup(spec->ns ? spec->ns : k8s_namespace(k));
    f->pod = xstrdup(spec->pod);
    str_init(&s, RES_PATH_MAX + 64);
    str_add(&s, res_path(res_by_name("pods"), f->ns, f->pod, "portforward", path));
    k8s_query(&s, "ports", str_fmt(port, sizeof port, "%d", f->remote));
    f->path = str_take(&s);
    str_release(&s);
    f->part = (struct k8s_part){.close = on_part_close, .arg = f};
    k8s_part_add(k, &f->part);
    listen_again(f);
    look(f);
    *out = f;
    return PD_OK;
}

int portforward_port(const struct portforward *f)
{
    return f->port;
}

const char *portforward_place(const struct portforward *f, int i, char buf[64])
{
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    char host[INET6_ADDRSTRLEN] = "";
    if (i < 0 || i > 1 || f->fd[i] < 0 || getsockname(f->fd[i], (struct sockaddr *)&a, &n) != 0)
        return NULL;
    if (a.ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, host, sizeof host);
    else
        inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, host, sizeof host);
    return str_fmt(buf, 64, a.ss_family == AF_INET6 ? "[%s]:%d" : "%s:%d", host, f->port);
}

void portforward_stats(const struct portforward *f, struct portforward_stats *out)
{
    *out = f->stats;
}

static bool port_number(const char *s, size_t n, bool zero, int *out)
{
    char text[8];
    int64_t v;
    if (n == 0 && zero) {
        *out = 0;
        return true;
    }
    if (n == 0 || n >= sizeof text)
        return false;
    str_fmt(text, sizeof text, "%.*s", (int)n, s);
    bool digits = strspn(text, "0123456789") == n;
    *out = digits && str_to_i64(text, &v) && v <= 65535 ? (int)v : -1;
    return *out > 0 || (zero && *out == 0);
}

enum pd_code portforward_parse(const char *text, int *local, int *remote, struct pd_err *err)
{
    const char *colon = strchr(text, ':'), *far = colon ? colon + 1 : text;
    bool ok = port_number(far, strlen(far), false, remote) &&
              (!colon || port_number(text, (size_t)(colon - text), true, local));
    if (!ok)
        return pd_fail(err, PD_USAGE, _("'%.60s' is no port: LOCAL:REMOTE, REMOTE or :REMOTE, each "
                                        "from 1 to 65535"), text);
    if (!colon)
        *local = *remote;
    return PD_OK;
}
