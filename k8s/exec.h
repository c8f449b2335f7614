/* exec.h - run a command in a container, or attach to it, over WebSocket.
 *
 * Offers v5.channel.k8s.io and v4.channel.k8s.io; the first byte of a message
 * is its channel (0 stdin, 1 stdout, 2 stderr, 3 status, 4 resize, 255 close).
 * Ends with exactly one `exit` call, after all output, unless exec_close was
 * called; then the exec is freed.
 */
#ifndef K8S_EXEC_H
#define K8S_EXEC_H

#include "k8s/client.h"

struct exec;

struct exec_spec {
    const char *ns, *pod, *container;    /* ns NULL: the connection's; container NULL: first */
    char *const *argv;                   /* NULL: attach */
    bool std_in, tty;
    bool no_stdout;                      /* what it writes is not asked for */
};

struct exec_handlers {
    /* half_close: stdin can be closed alone (v5). */
    void (*open)(void *arg, bool half_close);
    void (*output)(void *arg, int channel, const char *p, size_t n);     /* 1 or 2 */
    /* code: 0..255 from the server; -1 when it is not known, err says why. */
    void (*exit)(void *arg, int code, const struct pd_err *err);
    void *arg;
    void (*drained)(void *arg);          /* or NULL: more may be sent */
};

struct exec *exec_start(struct k8s *k, const struct exec_spec *spec,
                        const struct exec_handlers *h);
void exec_send(struct exec *e, const void *p, size_t n);     /* stdin; cut into 32 KiB frames */
bool exec_close_stdin(struct exec *e);                       /* false: the server speaks v4 */
void exec_resize(struct exec *e, int cols, int rows);
/* Output that can't be taken now waits at the far end, so does input above
 * WS_HIGH (core/io/ws.h) of exec_pending: a sender waits for `drained`. */
void exec_pause(struct exec *e, bool on);
size_t exec_pending(const struct exec *e);
void exec_close(struct exec *e);                             /* no call follows */

/* What the channel messages of one session mean; also for recorded sessions. */
struct exec_result {
    bool ended;                          /* a status came */
    int code;
    struct pd_err err;
    char text[2048];                     /* of the status channel, which may come in pieces */
};
/* One message; output goes to h->output. */
void exec_message(struct exec_result *r, const struct exec_handlers *h, const char *p, size_t n);

#endif
