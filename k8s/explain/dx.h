/* dx.h - the case as its rules see it (inside k8s/explain only): the object, the
 * container that troubles it, its events in time order, its log, and the pen
 * that writes findings.
 */
#ifndef K8S_EXPLAIN_DX_H
#define K8S_EXPLAIN_DX_H

#include "core/base/i18n.h"
#include "k8s/explain/explain.h"

/* A container with its state. */
struct dx_ctr {
    const struct json *spec, *status;     /* status NULL: not started yet */
    const char *name, *image;
    char at[64], at_spec[64];             /* "status.containerStatuses[0]", "spec.containers[0]" */
    bool init;
    const char *waiting, *message;        /* of state.waiting; "" when not waiting */
    const struct json *ended;             /* terminated, now or last; NULL: never */
    char ended_at[96];                    /* path of it */
    bool ended_now;                       /* state, not lastState */
    int code;                             /* exit code, -1 unknown */
    const char *reason;                   /* of its end: "OOMKilled" "Error" "Completed" */
    int restarts;
    bool ready, running;
};

struct dx {
    const struct snapshot *s;
    struct explanation *out;
    const struct json *o;                 /* the object */
    bool job;
    const char *ns, *name, *phase;        /* phase "" for a Job */
    struct dx_ctr c;                      /* the container in trouble; name "" none */
    struct snap_item *event;              /* of the object and its volumes' claims, oldest first */
    size_t events;
    struct finding *f;                    /* being written */
};

typedef void dx_rule(struct dx *d);

/* --- reading ------------------------------------------------------------------ */
void dx_open(struct dx *d, const struct snapshot *s, struct explanation *out);
void dx_close(struct dx *d);
/* Container number i of a pod, init containers first; false when there is none. */
bool dx_container(const struct json *pod, int i, struct dx_ctr *out);
/* The newest event of the object with this reason ("" any) and text; NULL none. */
const struct snap_item *dx_event(const struct dx *d, const char *reason, const char *has);
/* After this event the kubelet went on to the pod's images and containers. */
bool dx_went_on(const struct dx *d, const struct snap_item *event);
/* The first line of the log with this text; NULL none. Up to its end, in the arena. */
const char *dx_log(const struct dx *d, const char *has);
const char *dx_log_last(const struct dx *d);          /* last line that is not blank; NULL none */
/* Text behind `before` up to one of `stops`, in the arena; NULL when not there. */
const char *dx_between(struct dx *d, const char *text, const char *before, const char *stops);
/* A member of the list by its name (and namespace unless ns is NULL). */
const struct snap_item *dx_find(const struct dx *d, enum snap list, const char *ns,
                                const char *name);
/* A condition of the object; NULL none. `at` gets its path. */
const struct json *dx_condition(const struct dx *d, const char *type, char at[64]);
/* The case is a pod that is ready, or has ended well. */
bool dx_well(const struct dx *d);
/* A pod's end: phase Failed or a container that keeps ending. */
bool dx_failing(const struct dx *d);
const char *dx_say(struct dx *d, const char *fmt, ...) PRINTF_LIKE(2, 3);    /* into the arena */
/* A text of a table in the language, its %s filled in turn. */
const char *dx_fill(struct dx *d, const char *text, const char *a, const char *b, const char *c);
/* "['habana.ai/gaudi']" or ".cpu": a member as it stands in a path. */
const char *dx_member(struct dx *d, const char *key);

/* --- writing ------------------------------------------------------------------ */
/* Begin a finding. The sentence is translated by the caller. */
void dx_found(struct dx *d, const char *cause, int weight, enum sure sure, const char *fmt, ...)
    PRINTF_LIKE(5, 6);
void dx_line(struct dx *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
void dx_fix(struct dx *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
void dx_command(struct dx *d, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Cite a field: its value is read there; nothing is cited that is not there. */
void dx_cite(struct dx *d, const char *fmt, ...) PRINTF_LIKE(2, 3);           /* of the object */
void dx_cite_item(struct dx *d, const struct snap_item *item, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void dx_cite_image(struct dx *d, const char *path);                           /* its config */
void dx_cite_event(struct dx *d, const struct snap_item *event);              /* its message */
void dx_cite_log(struct dx *d, const char *line);
void dx_cite_end(struct dx *d, const char *line);                 /* the line, and the exit code */

/* --- the rules, a file a family ------------------------------------------------ */
dx_rule dx_image, dx_schedule, dx_volume, dx_config, dx_create, dx_kubelet, dx_exit, dx_probe,
    dx_app, dx_init, dx_peer, dx_quiet, dx_output, dx_terminating, dx_job, dx_healthy;

/* What the model hub answered; true when it was that (explain_hub.c). */
bool dx_hub(struct dx *d);

/* Weights: how near to the root a cause stands. */
enum { W_HEALTHY = 1, W_HINT = 10, W_GENERIC = 20, W_EXIT = 30, W_START = 40, W_APP = 50,
       W_SCHEDULE = 50, W_NAMED = 60, W_KILL = 65, W_ROOT = 70 };

#endif
