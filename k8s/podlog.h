/* podlog.h - the log of one container, followed without loss or repetition.
 *
 * Lines are asked for with timestamps. After a broken connection the log is
 * asked for again from the second of the last line, and what was seen already
 * is skipped (by timestamp, and by count within one timestamp). When the
 * server no longer has the last line (rotated), PODLOG_GAP says so. At the end
 * of a stream the pod is looked at: a container that has ended for good is
 * read once more without follow, then PODLOG_ENDED comes; else it goes on.
 */
#ifndef K8S_PODLOG_H
#define K8S_PODLOG_H

#include "k8s/client.h"

struct podlog;

enum podlog_state { PODLOG_OPEN, PODLOG_RETRYING, PODLOG_GAP, PODLOG_ENDED };

struct podlog_spec {
    const char *ns, *pod, *container;    /* ns NULL: the connection's; container NULL: the only */
    bool follow, previous;
    int64_t tail;                        /* last lines, -1: all */
    int64_t since_s;                     /* lines of the last seconds, 0: all */
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
const char *podlog_state_name(enum podlog_state s);  /* "open" "retrying" "gap" "ended" */

#endif
