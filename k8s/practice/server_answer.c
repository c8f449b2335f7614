/* server_answer.c - the answers of the HTTPS side: whole, from a file, streamed
 * without end, or a protocol switch whose bytes then belong to the route.
 */
#include "core/base/base.h"

#include <microhttpd.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/mem.h"
#include "k8s/practice/server_int.h"

void server_add_header(struct server_request *q, const char *name, const char *value)
{
    strv_push(&q->headers, name);
    strv_push(&q->headers, value);
}

/* The answer is known: keep it until the library asks, or wake it. */
static void ready(struct server_request *q, int status, const char *content_type,
                  struct MHD_Response *r)
{
    assert(!q->has_answer && r);
    q->status = status;
    q->response = r;
    q->has_answer = true;
    if (content_type)
        MHD_add_response_header(r, "Content-Type", content_type);
    for (size_t i = 0; i + 1 < q->headers.n; i += 2)
        MHD_add_response_header(r, q->headers.v[i], q->headers.v[i + 1]);
    server_resume(q);
}

void server_queue(struct server_request *q)
{
    if (q->queued)
        return;
    q->queued = true;
    MHD_queue_response(q->conn, (unsigned)q->status, q->response);
}

void server_free_answer(struct server_request *q)
{
    if (q->response)
        MHD_destroy_response(q->response);
    q->response = NULL;
}

void server_reply(struct server_request *q, int status, const char *content_type,
                  const void *body, size_t n)
{
    ready(q, status, content_type,
          MHD_create_response_from_buffer(n, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY));
}

void server_reply_file(struct server_request *q, int status, const char *content_type, int fd,
                       int64_t offset, int64_t n)
{
    ready(q, status, content_type,
          MHD_create_response_from_fd_at_offset64((uint64_t)n, fd, (uint64_t)offset));
}

/* --- streams --- */

static void call_drained(void *arg)
{
    struct server *s = arg;
    for (struct server_request *q = s->requests, *next; q; q = next) {
        next = q->next;
        if (q->drain_queued) {
            q->drain_queued = false;
            if (q->drained)
                q->drained(q->drained_arg);
        }
    }
}

static void note_drained(struct server_request *q)
{
    if (!q->drained || q->drain_queued || q->out.len > 0)
        return;
    q->drain_queued = true;
    loop_defer(q->s->loop, call_drained, q->s);
}

static ssize_t read_stream(void *cls, uint64_t pos, char *buf, size_t max)
{
    (void)pos;
    struct server_request *q = cls;
    if (q->left)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = MIN(q->out.len, max);
    if (n > 0) {
        memcpy(buf, q->out.p, n);
        str_consume(&q->out, n);
        note_drained(q);
        return (ssize_t)n;
    }
    if (q->stream_ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    server_suspend(q);
    return 0;
}

void server_stream(struct server_request *q, int status, const char *content_type,
                   loop_fn *drained, void *arg)
{
    q->streaming = true;
    q->drained = drained;
    q->drained_arg = arg;
    ready(q, status, content_type,
          MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32 * 1024, read_stream, q, NULL));
}

void server_stream_write(struct server_request *q, const void *p, size_t n)
{
    assert(q->streaming);
    if (!str_append(&q->out, p, n)) {         /* a client that does not read: cut it off */
        q->left = true;
    }
    server_resume(q);
}

size_t server_stream_pending(const struct server_request *q)
{
    return q->out.len;
}

void server_stream_end(struct server_request *q)
{
    q->stream_ended = true;
    server_resume(q);
}

/* --- protocol switch --- */

static void finish_upgrade(struct server_request *q)
{
    struct server *s = q->s;
    loop_fd_remove(s->loop, q->up_fd);
    shutdown(q->up_fd, SHUT_WR);
    q->up_fd = -1;
    server_gone(q);
    MHD_upgrade_action(q->urh, MHD_UPGRADE_ACTION_CLOSE);    /* `completed` follows and frees q */
    server_run(s);
}

static bool flush_upgrade(struct server_request *q)
{
    while (q->out.len > 0) {
        ssize_t n = send(q->up_fd, q->out.p, q->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        str_consume(&q->out, (size_t)n);
    }
    return true;
}

static bool read_upgrade(struct server_request *q)
{
    char buf[32 * 1024];
    ssize_t n = recv(q->up_fd, buf, sizeof buf, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    if (n > 0 && !q->up_closing)
        q->up.data(q->up.arg, buf, (size_t)n);
    return true;
}

static void on_upgraded(void *arg, int fd, int events);

static void want(struct server_request *q)
{
    int events = (q->up_paused ? 0 : LOOP_READ) | (q->out.len > 0 ? LOOP_WRITE : 0);
    if (events)
        loop_fd(q->s->loop, q->up_fd, events, on_upgraded, q);
    else
        loop_fd_remove(q->s->loop, q->up_fd);
}

static void on_upgraded(void *arg, int fd, int events)
{
    (void)fd;
    struct server_request *q = arg;
    bool alive = !(events & LOOP_READ) || read_upgrade(q);
    alive = alive && flush_upgrade(q);
    if (!alive || (q->up_closing && q->out.len == 0))
        finish_upgrade(q);
    else
        want(q);
}

static void opened(void *cls, struct MHD_Connection *conn, void *con_cls, const char *extra,
                   size_t extra_n, MHD_socket sock, struct MHD_UpgradeResponseHandle *urh)
{
    (void)conn;
    (void)con_cls;
    struct server_request *q = cls;
    q->urh = urh;
    q->up_fd = sock;
    if (extra_n > 0)
        q->up.data(q->up.arg, extra, extra_n);
    want(q);
}

void server_upgrade(struct server_request *q, const struct server_upgrade *u)
{
    q->up = *u;
    server_add_header(q, "Upgrade", u->protocol);
    ready(q, 101, NULL, MHD_create_response_for_upgrade(opened, q));
}

void server_upgrade_write(struct server_request *q, const void *p, size_t n)
{
    if (!str_append(&q->out, p, n)) {         /* a client that does not read: cut it off */
        str_clear(&q->out);
        q->up_closing = true;
    }
    if (q->up_fd >= 0)
        want(q);
}

size_t server_upgrade_pending(const struct server_request *q)
{
    return q->out.len;
}

void server_upgrade_pause(struct server_request *q, bool on)
{
    bool changed = q->up_paused != on;
    q->up_paused = on;
    if (changed && q->up_fd >= 0)
        want(q);
}

void server_upgrade_close(struct server_request *q)
{
    q->up_closing = true;
    if (q->up_fd >= 0)
        loop_fd(q->s->loop, q->up_fd, LOOP_READ | LOOP_WRITE, on_upgraded, q);
}
