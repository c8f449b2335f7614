/* http.h - HTTP requests on the loop; the transport of REST, watch, log and
 * (upgraded) exec alike. The one place, with loop.c and ws.c, that knows
 * libcurl.
 *
 * An http_target says where and as whom; requests borrow it, so it must
 * outlive them (it is counted: http_target_ref/unref). A request ends with
 * exactly one `done` call, unless it is cancelled: then none follows and the
 * memory is freed. Bodies stream to `data` when given, else are collected up
 * to `ceiling`.
 *
 * Sockets come from the target's dialer when it has one (an ssh bastion
 * later), else from libcurl.
 */
#ifndef CORE_IO_HTTP_H
#define CORE_IO_HTTP_H

#include "core/base/str.h"
#include "core/io/loop.h"

/* Returns a connected or connecting socket, or -1 with err filled. */
typedef int http_dial_fn(void *arg, const char *host, int port, struct pd_err *err);

/* Credentials that are not there yet, or change: set by the target's owner.
 * Requests on a target that is not `ready` wait for http_target_wake. After a
 * 401 to a request that carried credentials number `serial`, `refused` says
 * whether others are on their way or here: then it is sent once more. */
struct http_creds {
    bool (*ready)(void *arg);
    bool (*refused)(void *arg, uint32_t serial);
    void *arg;
};

struct http_wait;

/* What was seen of the target's newest TLS connection; version "": none yet. */
struct http_tls {
    char version[16];            /* "TLSv1.3" */
    char subject[128], issuer[128];
    int64_t expires_ms;          /* of the server's certificate, Unix ms; 0: not known */
};

struct http_target {
    int refs;
    struct http_tls tls;
    char *base;                  /* "https://127.0.0.1:6443/prefix", no slash at the end */
    char *ca_pem, *cert_pem, *key_pem;   /* PEM text or NULL */
    uint32_t serial;             /* counts the changes of bearer, cert_pem and key_pem */
    struct http_creds creds;     /* or zero */
    struct http_wait *waits, *waits_last;
    bool insecure, plain;        /* plain: ask for no compressed answers */
    char *tls_server_name;       /* or NULL */
    char *proxy;                 /* or NULL: as the environment says (core/io/proxy.h) */
    char *bearer;                /* or NULL; refreshed by the owner */
    char *user, *password;       /* Basic; or NULL */
    struct strv headers;         /* extra "Name: value" lines (impersonation) */
    http_dial_fn *dial;          /* or NULL */
    void *dial_arg;
};

struct http_target *http_target_new(const char *base);    /* refs = 1 */
struct http_target *http_target_ref(struct http_target *t);
void http_target_unref(struct http_target *t);
/* Start what waits for credentials; err: there will be none, they all fail so. */
void http_target_wake(struct http_target *t, const struct pd_err *err);

struct http_response {
    int status;                  /* 0: no answer, see err */
    char content_type[128];
    char location[512];
    char digest[96];             /* Docker-Content-Digest */
    char range[64];
    char warning[512];           /* Warning headers, joined by '\n' */
    char www_authenticate[512];
    int retry_after;             /* seconds, -1 when absent */
    const char *body;            /* collected body, NUL-terminated; "" when streamed */
    size_t body_len;
    int64_t ms;                  /* from start to now */
    const struct pd_err *err;    /* NULL unless the transport failed */
};

struct http_request {
    const char *method;          /* "GET" */
    const char *path;            /* "/api/v1/pods?limit=500", or an absolute URL */
    const char *content_type;    /* of the body, or NULL */
    const void *body;            /* copied; or NULL */
    size_t body_len;
    int body_fd;                 /* upload from this fd instead when > 0 (http closes it) */
    int64_t body_fd_size;
    const char *accept;          /* or NULL: "application/json" */
    struct strv *headers;        /* extra, copied; or NULL */
    size_t ceiling;              /* of a collected body; 0: 64 MiB */
    int64_t timeout_ms;          /* whole request; 0: none (watches, follows) */
    bool fresh_connection;       /* not one that was used before: those may be dead */
    bool no_body_on_error;       /* stream to data only when status < 400; else collect */

    void (*data)(void *arg, const char *p, size_t n);     /* streaming sink, or NULL */
    void (*head)(void *arg, const struct http_response *r);   /* headers are in; or NULL */
    void (*progress)(void *arg, int64_t sent, int64_t received);  /* or NULL */
    void (*done)(void *arg, const struct http_response *r);
    void *arg;
};

struct http;                     /* a running request */

/* Always succeeds in starting; failures come through done, later. */
struct http *http_start(struct loop *l, struct http_target *t, const struct http_request *q);
void http_cancel(struct http *h);
/* The same, blocking, for children and tools with a loop of their own. `out`
 * receives the body; *r is filled (body points into out). */
MUST_USE enum pd_code http_run(struct http_target *t, const struct http_request *q,
                               struct http_response *r, struct str *out, struct pd_err *err);

#endif
