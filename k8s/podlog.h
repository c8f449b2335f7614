/* podlog.h - the log of one container, followed without loss or repetition.
 *
 * Lines are asked for with time stamps. After a broken connection the log is
 * asked for again from shortly before the last line, and what was seen already
 * is skipped (logread.h). The pod is looked at before each answer: a container
 * that waits is awaited, one that restarted is read to the end of its old run
 * (the "previous" log) before the new one begins, and a run that ended for good
 * is read until it says nothing new; then PODLOG_ENDED comes. Where something
 * may be missing (rotated away, more than one restart), PODLOG_GAP says so.
 * Without the right to read the pod all this goes by the log's own answers.
 */
#ifndef K8S_PODLOG_H
#define K8S_PODLOG_H

#include "k8s/client.h"

struct podlog;

/* RETRYING: the link broke. WAITING: the container is not there yet, or will
 * start again. RESTART: another run begins, err says how the last one ended. */
enum podlog_state { PODLOG_OPEN, PODLOG_RETRYING, PODLOG_WAITING, PODLOG_GAP, PODLOG_RESTART,
                    PODLOG_ENDED };

struct podlog_spec {
    const char *ns, *pod, *container;    /* ns NULL: the connection's; container NULL: the only */
    bool follow, previous;
    int64_t tail;                        /* last lines, -1: all */
    int64_t since_s;                     /* lines of the last seconds, 0: all */
    int64_t since_ns;                    /* lines from this Unix time on, 0: all */
};

struct podlog_handlers {
    /* ts_ns: Unix time in ns, 0 when the line had none. text: raw bytes of the
     * container, NUL-terminated, without '\n'; cut: longer than 1 MiB. */
    void (*line)(void *arg, int64_t ts_ns, const char *text, size_t n, bool cut);
    /* ENDED is the last call; its err is NULL, or says why no more can come. */
    void (*state)(void *arg, enum podlog_state state, const struct pd_err *err);
    void *arg;
};

struct podlog *podlog_start(struct k8s *k, const struct podlog_spec *spec,
                            const struct podlog_handlers *h);
/* After ENDED the podlog is freed already; before, stop it. */
void podlog_stop(struct podlog *p);
/* "open" "retrying" "waiting" "gap" "restart" "ended" */
const char *podlog_state_name(enum podlog_state s);

#endif
