/* kubelet_in.h - between the files of the kubelet alone.
 *
 * One kubelet serves all simulated nodes. A kpod is one pod that a node was
 * chosen for, a kctr one container of it; kctr->attempt counts its starts and
 * is its restartCount. Everything but timers and connections can be rebuilt
 * from the pod object and the pod's folder:
 *   pods/UID/ctr/NAME/ATTEMPT/{spec,state,lock,sock,rootfs/,termination-log}
 *   pods/UID/logs/NAME/ATTEMPT.log
 *   pods/UID/volumes/NAME/
 *   pods/UID/devices             "habana.ai/gaudi 0 1"
 */
#ifndef K8S_PRACTICE_KUBELET_IN_H
#define K8S_PRACTICE_KUBELET_IN_H

#include "core/io/child.h"
#include "k8s/practice/kobj.h"
#include "k8s/practice/node.h"
#include "k8s/practice/shim.h"

struct kpod;

struct kubelet {
    struct api *api;
    struct loop *loop;
    double speed;
    char *shim, *self, *dir;          /* programs; the state folder */
    struct kpod *pods;
    struct klog *logs;                /* followers */
    uint32_t log_timer;
    uint32_t next_ip;
    bool stopped;
};

enum kctr_state { KCTR_WAITING, KCTR_RUNNING, KCTR_EXITED };
enum kctr_busy { KCTR_IDLE, KCTR_PULLING, KCTR_UNPACKING, KCTR_STARTING };

struct kprobe {
    const char *kind;                 /* "livenessProbe" … */
    uint32_t timer;
    int good, bad;                    /* in a row */
    bool known, ok;
};

struct kctr {
    struct kpod *pod;
    char *name;
    bool init;
    enum kctr_state state;
    enum kctr_busy busy;
    char reason[64], message[1024];   /* of the waiting state */
    int attempt;                      /* -1: never created */
    struct shim_state now, last;      /* now: of `attempt` once it started */
    bool has_last, ever_started;
    int last_attempt;
    char *dir;                        /* of `attempt` */
    struct child *child;
    int64_t busy_since_ms;
    int64_t backoff_ms;               /* next crash-loop wait; 0: the first restart is free */
    int64_t try_at_ms;                /* clock_ms before which nothing is tried; 0: now */
    int64_t pull_backoff_ms;
    char pull_error[900];             /* "ErrImagePull: …" of the last try */
    bool invalid_image, kill_sent, pulled;
    char image_id[512], image_digest[96];
    int fd;                           /* watch connection, -1 */
    struct str in;
    struct kprobe probe[3];           /* startup, liveness, readiness */
    bool probe_kill;                  /* ended by its liveness probe */
};

struct kpod {
    struct kpod *next;
    struct kubelet *k;
    struct json *pod;                 /* our copy of the object, newest */
    char uid[64];
    char *ns, *name, *node, *dir;
    struct kctr *ctr;                 /* init containers first */
    size_t n, inits;
    char ip[32];
    char reject_reason[64], reject_message[512];
    bool admitted, volumes_ready, told_volume;
    bool expired;                     /* activeDeadlineSeconds passed */
    bool gone;                        /* the object is deleted: end and forget */
    bool killing, finalized;
    int64_t started_ms;               /* wall: status.startTime */
    struct strv devices;              /* "habana.ai/gaudi 0 1" */
    uint32_t timer;
    int64_t due_ms;
};

/* --- kubelet.c --- */
extern const struct api_user kubelet_user;
struct kpod *kubelet_find(struct kubelet *k, const char *uid);
void kubelet_event(struct kpod *p, const struct kctr *c, const char *type, const char *reason,
                   const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Look at the pod again in ms (sooner wins). */
void kubelet_wake(struct kpod *p, int64_t ms);
void kubelet_forget(struct kpod *p);              /* frees it and its folder */

/* --- kubelet_pod.c: the state machine --- */
void kubelet_pod_sync(struct kpod *p);
const struct json *kubelet_pod_spec(const struct kctr *c);    /* of the container, borrowed */
const char *kubelet_pod_policy(const struct kpod *p);         /* restartPolicy */

/* --- kubelet_admit.c --- */
bool kubelet_admit(struct kpod *p);               /* false: reject_* are set */

/* --- kubelet_ctr.c: one container --- */
void kubelet_ctr_init(struct kctr *c);
void kubelet_ctr_release(struct kctr *c);         /* leaves the process alone */
/* Find what the disk knows of earlier attempts; connects to a living shim. */
void kubelet_ctr_adopt(struct kctr *c);
void kubelet_ctr_start(struct kctr *c);           /* image first, then the process */
void kubelet_ctr_stop(struct kctr *c, int64_t grace_ms);
void kubelet_ctr_wait(struct kctr *c, const char *reason, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
void kubelet_ctr_exited(struct kctr *c);          /* state now.* is known */
char *kubelet_ctr_log(const struct kpod *p, const char *name, int attempt);  /* caller frees */
char *kubelet_ctr_id(const struct kpod *p, const char *name, int attempt, char buf[80]);
int64_t kubelet_ctr_scaled(const struct kubelet *k, int64_t ms);

/* --- kubelet_image.c --- */
/* Make the image ready, then call kubelet_ctr_create; or leave a waiting state. */
void kubelet_image_ensure(struct kctr *c);
struct json *kubelet_image_meta(struct kubelet *k, const char *image);   /* or NULL */
char *kubelet_image_store(struct kubelet *k);
int kubelet_image_pull_main(int argc, char **argv);
int kubelet_image_unpack_main(int argc, char **argv);
void kubelet_ctr_create(struct kctr *c, const struct json *meta);

/* --- kubelet_env.c --- */
/* argv, env, cwd, user of the spec. PD_NOTFOUND etc.: CreateContainerConfigError. */
MUST_USE enum pd_code kubelet_env_fill(struct kctr *c, const struct json *meta,
                                       struct shim_spec *s, struct pd_err *err);
/* A downward API field ("metadata.name", "status.podIP"), NULL when unknown. */
char *kubelet_env_field(const struct kpod *p, const char *path);
/* limits.cpu … of a container by name, divided; NULL when unknown. */
char *kubelet_env_resource(const struct kpod *p, const struct json *ref, const char *container);
void kubelet_env_expand(const char *text, const struct strv *env, struct str *out);

/* --- kubelet_user.c --- */
/* uid and gid of the spec where they are < 0, from the image's USER and its
 * etc/passwd and etc/group. false: a name is not in them. */
bool kubelet_user_resolve(const char *user, struct shim_spec *s);

/* --- kubelet_volume.c --- */
/* Make the pod's volumes. false: why is filled; tried again later. */
bool kubelet_volume_mount(struct kpod *p, char why[512]);
MUST_USE enum pd_code kubelet_volume_binds(struct kctr *c, struct shim_spec *s,
                                           struct pd_err *err);

/* --- kubelet_status.c --- */
void kubelet_status_write(struct kpod *p);
const char *kubelet_status_phase(const struct kpod *p);
bool kubelet_status_ready(const struct kctr *c);

/* --- kubelet_log.c, kubelet_exec.c --- */
enum pd_code kubelet_log(void *arg, const struct json *pod, const struct api_log_options *o,
                         struct api_stream *s, int *http, struct pd_err *err);
enum pd_code kubelet_exec(void *arg, const struct json *pod, const struct api_exec_options *o,
                          struct api_stream *s, int *http, struct pd_err *err);

/* --- kubelet_probe.c --- */
void kubelet_probe_start(struct kctr *c);
void kubelet_probe_stop(struct kctr *c);

#endif
