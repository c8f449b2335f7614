/* registry_client_priv.h - one conversation with one registry about one
 * repository; shared by registry_client_*.c. */
#ifndef K8S_IMAGE_REGISTRY_CLIENT_PRIV_H
#define K8S_IMAGE_REGISTRY_CLIENT_PRIV_H

#include "core/io/http.h"
#include "k8s/image/registry_client.h"

enum { REGISTRY_TRIES = 5, REGISTRY_META_MS = 60000 };

struct registry_client {
    struct http_target *target;
    const struct image_ref *ref;
    const struct registry_progress *progress;
    char *user, *password;        /* for a token server; or NULL */
    bool push;                    /* scope: pull,push */
    bool asked;                   /* a 401 was answered once already */
    struct http_response r;       /* of the last request; body in `body` */
    struct str body;
};

struct registry_call {
    const char *method, *path;    /* path: absolute URL or "/v2/…" */
    const char *content_type, *accept;
    const void *body;
    size_t n;
    int fd;                       /* upload from this file instead when > 0; kept open */
    int64_t fd_size;
    const char *range;            /* "bytes=5-" of a GET */
    const char *content_range;    /* "5-99" of a PATCH */
    bool once;                    /* no retry here: the caller resumes */
    void (*data)(void *arg, const char *p, size_t n);
    void (*head)(void *arg, const struct http_response *r);
    void (*moved)(void *arg, int64_t sent, int64_t received);
    void *arg;
};

/* --- registry_client_auth.c --- */
MUST_USE enum pd_code registry_client_open(const struct image_ref *ref,
                                           const struct registry_auth *auth, bool push,
                                           const struct registry_progress *p,
                                           struct registry_client *c, struct pd_err *err);
void registry_client_close(struct registry_client *c);
/* After a 401: true when new credentials stand ready and a retry makes sense. */
bool registry_client_login(struct registry_client *c);
/* Quoted parameter of a WWW-Authenticate challenge of this scheme, or NULL.
 * Caller frees. */
char *registry_client_challenge(const char *header, const char *scheme, const char *param);

/* --- registry_client_send.c --- */
/* Sends, logs in on 401, retries on 429, 5xx and broken connections. PD_OK for
 * every HTTP status: look at c->r.status. */
MUST_USE enum pd_code registry_client_send(struct registry_client *c,
                                           const struct registry_call *q, struct pd_err *err);
bool registry_client_transient(const struct registry_client *c, enum pd_code rc);
void registry_client_wait(const struct registry_client *c, int attempt);
/* The error of the last answer; what: as for registry_client_error. */
enum pd_code registry_client_refused(const struct registry_client *c, const char *what,
                                     int64_t size, struct pd_err *err);
void registry_client_size(int64_t bytes, char buf[32]);          /* "1.2 GiB" */

#endif
