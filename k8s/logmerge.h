/* logmerge.h - the log of a pod: of one container, or of all of them (init, main
 * and ephemeral) in one stream, in the order of their time stamps.
 *
 * A line is held back until each container that is writing has said something
 * later, but a quarter of a second at most (before its first line: one second),
 * and never more than 8 MiB of lines together: then the oldest goes out as it is.
 * With one container nothing is held.
 */
#ifndef K8S_LOGMERGE_H
#define K8S_LOGMERGE_H

#include "core/base/str.h"
#include "k8s/podlog.h"

struct logmerge;

struct logmerge_handlers {
    /* Whose logs these are, once, before all else; not with one container. */
    void (*containers)(void *arg, const struct strv *names);
    void (*line)(void *arg, const char *container, int64_t ts_ns, const char *text, size_t n,
                 bool cut);
    /* Of a container, as podlog.h has it. ENDED with container NULL is the last call
     * of all; with one container there is no other ENDED. */
    void (*state)(void *arg, const char *container, enum podlog_state state,
                  const struct pd_err *err);
    void *arg;
};

/* all: spec->container is not looked at. */
struct logmerge *logmerge_start(struct k8s *k, const struct podlog_spec *spec, bool all,
                                const struct logmerge_handlers *h);
/* After the last call it is freed already; before, stop it. */
void logmerge_stop(struct logmerge *m);

#endif
