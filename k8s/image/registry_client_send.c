/* registry_client_send.c - one request to a registry: login on 401, retry with
 * backoff where trying again can help. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/registry_client_priv.h"

bool registry_client_transient(const struct registry_client *c, enum pd_code rc)
{
    if (rc != PD_OK)
        return rc == PD_NET || rc == PD_TIMEOUT || rc == PD_PROTO;
    int s = c->r.status;
    return s == 429 || s == 408 || (s >= 500 && s != 501 && s != 505 && s != 507);
}

void registry_client_wait(const struct registry_client *c, int attempt)
{
    int64_t ms = 150LL << MIN(attempt, 6);
    if (c->r.retry_after >= 0)
        ms = MIN(1000LL * c->r.retry_after, 15000LL);
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
}

enum pd_code registry_client_refused(const struct registry_client *c, const char *what,
                                     int64_t size, struct pd_err *err)
{
    enum pd_code rc = registry_client_error(c->r.status, c->r.content_type, c->body.p, c->body.len,
                                            what, size, err);
    str_copy(err->src, sizeof err->src, c->target->base);
    return rc;
}

static enum pd_code once(struct registry_client *c, const struct registry_call *q,
                         struct pd_err *err)
{
    struct strv headers;
    strv_init(&headers);
    if (q->range)
        strv_pushf(&headers, "Range: %s", q->range);
    if (q->content_range)
        strv_pushf(&headers, "Content-Range: %s", q->content_range);
    struct http_request h = {
        .method = q->method, .path = q->path, .content_type = q->content_type, .body = q->body,
        .body_len = q->n, .accept = q->accept ? q->accept : "*/*", .headers = &headers,
        .ceiling = LAYOUT_META_CEILING, .no_body_on_error = true, .data = q->data,
        .head = q->head, .progress = q->moved, .arg = q->arg,
        .timeout_ms = q->data || q->fd > 0 ? 0 : REGISTRY_META_MS,
    };
    if (q->fd > 0) {                      /* http closes what it is given */
        h.body_fd = fcntl(q->fd, F_DUPFD_CLOEXEC, 3);
        h.body_fd_size = q->fd_size;
    }
    memset(&c->r, 0, sizeof c->r);
    c->r.retry_after = -1;
    enum pd_code rc = http_run(c->target, &h, &c->r, &c->body, err);
    strv_release(&headers);
    return rc;
}

/* A registry without TLS answers a TLS greeting with HTTP. */
static bool spoke_http(enum pd_code rc, const struct pd_err *err)
{
    return rc == PD_TLS && strstr(err->msg, "wrong version number");
}

/* On this machine's loopback that is taken as it is, as containerd and docker
 * take it: nothing leaves the machine. Not with credentials in hand. */
static bool fall_back(struct registry_client *c)
{
    const char *base = c->target->base;
    if (c->target->bearer || c->user ||
        !(str_starts(base, "https://127.") || str_starts(base, "https://localhost:") ||
          str_starts(base, "https://[::1]:")))
        return false;
    char *plain = xasprintf("http%s", base + strlen("https"));
    free(c->target->base);
    c->target->base = plain;
    return true;
}

static enum pd_code explain(struct registry_client *c, enum pd_code rc, struct pd_err *err)
{
    if (spoke_http(rc, err)) {
        pd_fail(err, PD_TLS, _("%s speaks plain HTTP, not HTTPS"), c->target->base);
        return pd_set_hint(err, _("add --plain-http (a cluster's nodes need the same told: "
                                  "containerd's hosts.toml)"));
    }
    return rc;
}

enum pd_code registry_client_send(struct registry_client *c, const struct registry_call *q,
                                  struct pd_err *err)
{
    enum pd_code rc = PD_OK;
    for (int attempt = 0; attempt < REGISTRY_TRIES; attempt++) {
        rc = once(c, q, err);
        if (spoke_http(rc, err) && fall_back(c))
            rc = once(c, q, err);
        if (rc == PD_OK && c->r.status == 401 && registry_client_login(c)) {
            rc = once(c, q, err);
            c->asked = c->r.status == 401;    /* a token may run out later */
        }
        if (q->once || !registry_client_transient(c, rc))
            break;
        if (attempt + 1 < REGISTRY_TRIES)
            registry_client_wait(c, attempt);
    }
    return explain(c, rc, err);
}
