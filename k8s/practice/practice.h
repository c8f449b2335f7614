/* practice.h - the practice cluster as a whole: its folder, its one server
 * process, and the files that tell others of it.
 *
 * Everything is below <state>/practice: cluster.db, tokens.json, pki/,
 * kubeconfig and admin.kubeconfig (0600), server.json (pid, port; written when
 * the server is ready), practice.log, lock (held while the server lives) and
 * start.lock (held by whoever starts or stops it).
 */
#ifndef K8S_PRACTICE_PRACTICE_H
#define K8S_PRACTICE_PRACTICE_H

#include "core/base/err.h"
#include "k8s/practice/auth.h"
#include "k8s/practice/tls.h"

/* <state>/practice, made 0700. Caller frees. NULL: err says why. */
char *practice_dir(struct pd_err *err);

struct practice_state {
    bool running;                /* a server holds the lock */
    int pid, port;               /* 0 when unknown */
    int64_t since_ms;            /* wall time of its start */
};
void practice_look(const char *dir, struct practice_state *out);
/* Lock <dir>/name; -1 when another still holds it after wait_ms (-1: wait for
 * ever). Closing unlocks. A server that was killed holds its lock, and its port,
 * until the kernel has taken it apart: PRACTICE_WAIT_MS is patience for that. */
enum { PRACTICE_WAIT_MS = 2000 };
int practice_lock(const char *dir, const char *name, int wait_ms);

MUST_USE enum pd_code practice_write_kubeconfig(const char *dir, const char *user,
                                                const char *token, const char *ca_pem, int port,
                                                struct pd_err *err);
MUST_USE enum pd_code practice_write_state(const char *dir, int port, struct pd_err *err);

/* Serve until SIGTERM or SIGINT; writes "ready PORT\n" to ready_fd (or -1) when
 * requests are answered. */
MUST_USE enum pd_code practice_serve(const char *dir, int ready_fd, struct pd_err *err);

#endif
