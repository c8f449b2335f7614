/* server_int.h - what server.c and server_answer.c share; for them alone. */
#ifndef K8S_PRACTICE_SERVER_INT_H
#define K8S_PRACTICE_SERVER_INT_H

#include "k8s/practice/server.h"

struct MHD_Daemon;
struct MHD_Connection;
struct MHD_Response;
struct MHD_UpgradeResponseHandle;
struct ssl_ctx_st;
struct link;                     /* one TLS connection, server_tls.c */

enum { SERVER_ROUTES = 16, SERVER_STREAM_CEILING = 64 << 20 };

struct server {
    struct loop *loop;
    struct MHD_Daemon *daemon;
    int port, epoll_fd, listen_fd;
    struct ssl_ctx_st *ssl;
    struct link *first_link;
    int links;
    int probe_fd;                /* an epoll that hears of clients that left while suspended */
    uint32_t timer;
    bool running;                /* inside MHD_run */
    bool run_queued;
    server_auth_fn *auth;
    void *auth_arg;
    struct {
        char *prefix;
        server_route_fn *fn;
        void *arg;
    } route[SERVER_ROUTES];
    int routes;
    struct server_request *requests;      /* all living ones */
};

struct server_request {
    struct server *s;
    struct server_request *next, **link;
    struct MHD_Connection *conn;
    char method[16];
    char *path;
    const char *user;
    int fd;                      /* the socket, watched while suspended */
    bool suspended, body_ended, has_answer, queued, left;

    struct server_body body;
    struct str collected;
    bool too_large;

    int status;
    struct MHD_Response *response;
    struct strv headers;         /* name, value, name, value … of the answer to come */

    bool streaming, stream_ended, drain_queued;
    struct str out;              /* bytes not yet given to the library */
    loop_fn *drained;
    void *drained_arg;

    struct server_upgrade up;
    struct MHD_UpgradeResponseHandle *urh;
    int up_fd;
    bool up_closing, up_paused;

    loop_fn *gone;
    void *gone_arg;
};

enum pd_code server_tls_start(struct server *s, int listen_fd, const struct server_tls *tls,
                              struct pd_err *err);
void server_tls_flush(struct server *s);
void server_tls_stop(struct server *s);
bool server_add_connection(struct server *s, int fd);     /* plain bytes; takes fd when true */
void server_run(struct server *s);                       /* at the end of this turn */
void server_suspend(struct server_request *q);
void server_resume(struct server_request *q);
void server_queue(struct server_request *q);             /* give the answer to the library */
void server_gone(struct server_request *q);              /* call `gone`, once */
void server_free_answer(struct server_request *q);

#endif
