/* portforward_priv.h - what portforward.c (listeners, the pod's state) and
 * portforward_conn.c (one connection) share. */
#ifndef K8S_PORTFORWARD_PRIV_H
#define K8S_PORTFORWARD_PRIV_H

#include "core/io/spdy.h"
#include "k8s/client_io.h"
#include "k8s/podlink.h"
#include "k8s/portforward.h"

struct portforward {
    struct k8s *k;                       /* NULL: its connection was closed */
    struct loop *loop;
    struct k8s_part part;
    struct portforward_handlers h;
    struct portforward_stats stats;
    char *ns, *pod, *path;
    int port, remote, fd[2];
    bool full, channels;
    struct pfconn *conns;
    uint32_t changed_timer, listen_timer;
    struct k8s_call *look;               /* at the pod */
    int64_t looked_ms;
    bool known, look_again;
    char uid[64], trouble[200];          /* the pod as it was seen last */
    int restarts;
};

struct pfconn {
    struct portforward *f;
    struct pfconn *next, **back;
    int fd;
    struct podlink *link;
    struct spdy_zip *zip;                /* NULL: channels */
    struct str in, to_local, error;
    uint32_t timer;
    int headers;                         /* channels whose first message (the port) has come */
    bool open, ended, local_eof, remote_eof, error_eof, paused, shut;
};

void pfconn_new(struct portforward *f, int fd);      /* takes fd */
void pfconn_free(struct pfconn *c);
void portforward_changed(struct portforward *f);
/* A connection failed: tell why, and what the pod says of itself. */
void portforward_failed(struct portforward *f, const struct pd_err *err, bool look);
void portforward_room(struct portforward *f);        /* a connection ended */

#endif
