/* server.c - the practice cluster's HTTP daemon: libmicrohttpd driven from the
 * loop through its epoll descriptor; requests from their headers to the answer.
 * TLS stands before it, in server_tls.c.
 *
 * A request without an answer is suspended, since the library would spin. It
 * does not look at a suspended socket, so a second epoll with EPOLLRDHUP tells
 * when the client left; the request is then resumed and torn down.
 */
#include "k8s/practice/server_int.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"

enum { CONNECTION_MEMORY = 128 * 1024, CONNECTIONS = 512, IDLE_SECONDS = 300 };

/* --- the daemon on the loop --- */

static void run_now(void *arg)
{
    struct server *s = arg;
    s->run_queued = false;
    if (!s->daemon || s->running)
        return;
    s->running = true;
    MHD_run(s->daemon);
    s->running = false;
    MHD_UNSIGNED_LONG_LONG ms = 0;
    loop_timer_cancel(s->loop, s->timer);
    s->timer = 0;
    if (MHD_get_timeout(s->daemon, &ms) == MHD_YES)
        s->timer = loop_timer(s->loop, (int64_t)MIN(ms, 60000), run_now, s, "https");
}

void server_run(struct server *s)
{
    if (!s->run_queued) {
        s->run_queued = true;
        loop_timer(s->loop, 0, run_now, s, "https");
    }
}

static void on_epoll(void *arg, int fd, int events)
{
    (void)fd;
    (void)events;
    run_now(arg);
}

void server_suspend(struct server_request *q)
{
    if (q->suspended)
        return;
    struct epoll_event ev = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = q};
    q->suspended = true;
    MHD_suspend_connection(q->conn);
    (void)epoll_ctl(q->s->probe_fd, EPOLL_CTL_ADD, q->fd, &ev);
}

void server_resume(struct server_request *q)
{
    if (!q->suspended)
        return;
    q->suspended = false;
    (void)epoll_ctl(q->s->probe_fd, EPOLL_CTL_DEL, q->fd, NULL);
    MHD_resume_connection(q->conn);
    server_run(q->s);
}

static void on_probe(void *arg, int fd, int events)
{
    (void)arg;
    (void)events;
    struct epoll_event ev[32];
    int n = epoll_wait(fd, ev, ARRAY_LEN(ev), 0);
    for (int i = 0; i < n; i++) {
        struct server_request *q = ev[i].data.ptr;
        if (ev[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
            q->left = true;
            server_resume(q);
        }
    }
}

/* --- requests --- */

static struct server_request *request_new(struct server *s, struct MHD_Connection *conn,
                                          const char *url, const char *method)
{
    struct server_request *q = xcalloc(1, sizeof *q);
    const union MHD_ConnectionInfo *info;
    q->s = s;
    q->conn = conn;
    q->path = xstrdup(url);
    q->up_fd = -1;
    str_copy(q->method, sizeof q->method, method);
    str_init(&q->collected, 1);
    str_init(&q->out, SERVER_STREAM_CEILING);
    strv_init(&q->headers);
    info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
    q->fd = info ? info->connect_fd : -1;
    q->next = s->requests;
    q->link = &s->requests;
    if (q->next)
        q->next->link = &q->next;
    s->requests = q;
    if (s->auth)
        q->user = s->auth(s->auth_arg, server_header(q, "Authorization"));
    return q;
}

void server_gone(struct server_request *q)
{
    loop_fn *gone = q->gone;
    q->gone = NULL;
    if (gone)
        gone(q->gone_arg);
}

static void request_free(struct server_request *q)
{
    server_gone(q);
    if (q->up_fd >= 0)
        loop_fd_remove(q->s->loop, q->up_fd);
    *q->link = q->next;
    if (q->next)
        q->next->link = q->link;
    if (q->suspended)
        (void)epoll_ctl(q->s->probe_fd, EPOLL_CTL_DEL, q->fd, NULL);
    server_free_answer(q);
    str_release(&q->collected);
    str_release(&q->out);
    strv_release(&q->headers);
    free(q->path);
    free(q);
}

/* The longest prefix that is the path or ends before a '/'. */
static void route(struct server_request *q)
{
    struct server *s = q->s;
    int best = -1;
    size_t best_len = 0;
    for (int i = 0; i < s->routes; i++) {
        size_t n = strlen(s->route[i].prefix);
        if (str_starts(q->path, s->route[i].prefix) && (best < 0 || n > best_len)) {
            best = i;
            best_len = n;
        }
    }
    if (best >= 0)
        s->route[best].fn(s->route[best].arg, q);
    else
        server_reply(q, 404, "text/plain; charset=utf-8", "404 page not found\n", 19);
}

static void take_body(struct server_request *q, const char *data, size_t n)
{
    if (q->has_answer || !(q->body.data || q->body.end))
        return;                               /* nobody wants it: drained */
    if (q->body.data)
        q->body.data(q->body.arg, data, n);
    else if (!str_append(&q->collected, data, n))
        q->too_large = true;
}

static void end_body(struct server_request *q)
{
    static const char text[] = "the request's body is too large\n";
    q->body_ended = true;
    if (q->has_answer)
        return;
    if (q->too_large)
        server_reply(q, 413, "text/plain; charset=utf-8", text, sizeof text - 1);
    else if (q->body.end)
        q->body.end(q->body.arg, q->collected.p, q->collected.len);
}

static enum MHD_Result on_request(void *cls, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls)
{
    (void)version;
    struct server_request *q = *con_cls;
    if (!q) {
        *con_cls = q = request_new(cls, conn, url, method);
        route(q);
        return MHD_YES;
    }
    if (q->left)
        return MHD_NO;
    if (*size > 0) {
        take_body(q, data, *size);
        *size = 0;
        return MHD_YES;
    }
    if (!q->body_ended)
        end_body(q);
    if (q->has_answer)
        server_queue(q);
    else
        server_suspend(q);
    return MHD_YES;
}

static void on_completed(void *cls, struct MHD_Connection *conn, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    (void)cls;
    (void)conn;
    (void)why;
    struct server_request *q = *con_cls;
    *con_cls = NULL;
    if (q)
        request_free(q);
}

/* --- asking --- */

const char *server_method(const struct server_request *q)
{
    return q->method;
}

const char *server_path(const struct server_request *q)
{
    return q->path;
}

const char *server_user(const struct server_request *q)
{
    return q->user;
}

const char *server_header(const struct server_request *q, const char *name)
{
    return MHD_lookup_connection_value(q->conn, MHD_HEADER_KIND, name);
}

const char *server_query(const struct server_request *q, const char *name)
{
    return MHD_lookup_connection_value(q->conn, MHD_GET_ARGUMENT_KIND, name);
}

struct query_all {
    const char *name;
    struct strv *out;
};

static enum MHD_Result add_query(void *cls, enum MHD_ValueKind kind, const char *key,
                                 const char *value)
{
    (void)kind;
    struct query_all *a = cls;
    if (!strcmp(key, a->name))
        strv_push(a->out, value ? value : "");
    return MHD_YES;
}

void server_query_all(const struct server_request *q, const char *name, struct strv *out)
{
    struct query_all a = {name, out};
    MHD_get_connection_values(q->conn, MHD_GET_ARGUMENT_KIND, add_query, &a);
}

void server_on_body(struct server_request *q, const struct server_body *b)
{
    q->body = *b;
    str_release(&q->collected);
    str_init(&q->collected, b->ceiling ? b->ceiling : 1);
}

void server_on_gone(struct server_request *q, loop_fn *gone, void *arg)
{
    q->gone = gone;
    q->gone_arg = arg;
}

/* --- start and stop --- */

static int listen_on(int port, int *got, struct pd_err *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof at;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0) {
        pd_fail_errno(err, PD_NET, "no socket to listen on");
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 128) ||
        getsockname(fd, (struct sockaddr *)&at, &len)) {
        pd_fail_errno(err, PD_NET, "127.0.0.1:%d can't be listened on", port);
        close(fd);
        return -1;
    }
    *got = ntohs(at.sin_port);
    return fd;
}

enum pd_code server_start(struct loop *l, int port, const struct server_tls *tls,
                          server_auth_fn *auth, void *auth_arg, struct server **out,
                          struct pd_err *err)
{
    struct server *s = xcalloc(1, sizeof *s);
    int fd = listen_on(port, &s->port, err);
    if (fd < 0) {
        free(s);
        return err->code;
    }
    s->loop = l;
    s->auth = auth;
    s->auth_arg = auth_arg;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0,
        NULL, NULL, on_request, s, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (!s->daemon || server_tls_start(s, fd, tls, err) != PD_OK) {
        if (s->daemon)
            MHD_stop_daemon(s->daemon);
        else
            pd_fail(err, PD_NET, "the HTTP daemon can't be started");
        close(fd);
        free(s);
        return err->code;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    s->epoll_fd = info->epoll_fd;
    s->probe_fd = epoll_create1(EPOLL_CLOEXEC);
    loop_fd(l, s->epoll_fd, LOOP_READ, on_epoll, s);
    loop_fd(l, s->probe_fd, LOOP_READ, on_probe, s);
    *out = s;
    return PD_OK;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    for (struct server_request *q = s->requests; q; q = q->next)
        if (q->suspended) {
            q->left = true;
            server_resume(q);
        }
    loop_fd_remove(s->loop, s->epoll_fd);
    loop_fd_remove(s->loop, s->probe_fd);
    loop_timer_cancel(s->loop, s->timer);
    MHD_run(s->daemon);
    server_tls_flush(s);
    MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
    server_tls_stop(s);
    close(s->probe_fd);
    for (int i = 0; i < s->routes; i++)
        free(s->route[i].prefix);
    free(s);
}

bool server_add_connection(struct server *s, int fd)
{
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool ok = MHD_add_connection(s->daemon, fd, (struct sockaddr *)&from, sizeof from) == MHD_YES;
    server_run(s);
    return ok;
}

int server_port(const struct server *s)
{
    return s->port;
}

void server_route(struct server *s, const char *prefix, server_route_fn *fn, void *arg)
{
    assert(s->routes < SERVER_ROUTES);
    s->route[s->routes].prefix = xstrdup(prefix);
    s->route[s->routes].fn = fn;
    s->route[s->routes++].arg = arg;
}
