/* server.h - the HTTPS side of the practice cluster: libmicrohttpd on the loop.
 * The one place, with server_*.c, that knows it.
 *
 * A request goes to the route with the longest matching prefix, as soon as its
 * headers are in and the token was looked at. The route either answers at once
 * or sets body callbacks and answers later; every request gets exactly one
 * answer: server_reply, server_reply_file, server_stream (then write, end) or
 * server_upgrade. The request is dead after `gone`, which is always the last
 * call, whether the answer was delivered or the client left.
 */
#ifndef K8S_PRACTICE_SERVER_H
#define K8S_PRACTICE_SERVER_H

#include "core/base/err.h"
#include "core/base/str.h"
#include "core/io/loop.h"

struct server;
struct server_request;

struct server_tls {
    const char *cert_pem, *key_pem;
};

/* Bearer or Basic credentials to a user's name, or NULL (anonymous: the route
 * answers 401). `authorization` is the header's value or NULL. */
typedef const char *server_auth_fn(void *arg, const char *authorization);
typedef void server_route_fn(void *arg, struct server_request *q);

/* Listens on 127.0.0.1:port (0: any). */
MUST_USE enum pd_code server_start(struct loop *l, int port, const struct server_tls *tls,
                                   server_auth_fn *auth, void *auth_arg, struct server **out,
                                   struct pd_err *err);
void server_stop(struct server *s);
int server_port(const struct server *s);
void server_route(struct server *s, const char *prefix, server_route_fn *fn, void *arg);

/* --- the request ----------------------------------------------------------- */
const char *server_method(const struct server_request *q);         /* "GET" */
const char *server_path(const struct server_request *q);           /* decoded, without the query */
const char *server_query(const struct server_request *q, const char *name);  /* decoded, or NULL */
void server_query_all(const struct server_request *q, const char *name, struct strv *out);
const char *server_header(const struct server_request *q, const char *name); /* or NULL */
const char *server_user(const struct server_request *q);           /* or NULL: no valid token */

/* Set in the route: the body in pieces as it comes, then `end`. Without `data`
 * the body is collected up to `ceiling` and given to `end` (413 beyond it). */
struct server_body {
    void (*data)(void *arg, const void *p, size_t n);
    void (*end)(void *arg, const char *body, size_t n);
    size_t ceiling;
    void *arg;
};
void server_on_body(struct server_request *q, const struct server_body *b);
/* The last call of a request; sets the arg of it alone. */
void server_on_gone(struct server_request *q, loop_fn *gone, void *arg);

/* --- the answer ------------------------------------------------------------- */
void server_add_header(struct server_request *q, const char *name, const char *value);
/* body is copied. HEAD sends the headers alone. */
void server_reply(struct server_request *q, int status, const char *content_type,
                  const void *body, size_t n);
/* n bytes of an open file from offset; the fd is taken. */
void server_reply_file(struct server_request *q, int status, const char *content_type, int fd,
                       int64_t offset, int64_t n);
/* A chunked answer without end; drained is called when what was written is on
 * its way and more may come (or NULL). */
void server_stream(struct server_request *q, int status, const char *content_type,
                   loop_fn *drained, void *arg);
void server_stream_write(struct server_request *q, const void *p, size_t n);
size_t server_stream_pending(const struct server_request *q);
void server_stream_end(struct server_request *q);

/* 101: from here the bytes are the caller's. write queues (look at
 * pending); who lets more than 64 MiB wait is cut off; close flushes first. */
struct server_upgrade {
    const char *protocol;        /* Upgrade: websocket | SPDY/3.1 */
    void (*data)(void *arg, const void *p, size_t n);
    void *arg;                   /* gone comes through server_on_gone */
};
void server_upgrade(struct server_request *q, const struct server_upgrade *u);
void server_upgrade_write(struct server_request *q, const void *p, size_t n);
size_t server_upgrade_pending(const struct server_request *q);
void server_upgrade_pause(struct server_request *q, bool on);   /* read no more for now */
void server_upgrade_close(struct server_request *q);

#endif
