/* job_in.h - between the files of the Job controller alone. */
#ifndef K8S_PRACTICE_JOB_IN_H
#define K8S_PRACTICE_JOB_IN_H

#include "k8s/practice/kobj.h"
#include "k8s/practice/node.h"

#define JOB_FINALIZER "batch.kubernetes.io/job-tracking"
#define JOB_INDEX "batch.kubernetes.io/job-completion-index"

extern const struct api_user job_user;

/* One pod of a Job; obj is our own copy. */
struct job_pod {
    struct json *obj;
    bool tracked;                     /* has the finalizer: not yet counted */
    bool succeeded, failed, active, terminating, ready;
    int index;                        /* completion index, -1 when none */
    int64_t finished_ms;
};

struct job_pods {
    struct job_pod *v;
    size_t n;
};

/* Failures since the last success: the back-off of the next pod. */
struct job_backoff {
    int failures;
    int64_t last_ms;
};

struct job_sync {
    struct api *api;
    double speed;
    struct json *job;                 /* our copy; status is changed in place */
    const char *ns, *name;
    struct job_pods pods;
    bool indexed, suspended;
    int64_t completions;              /* -1: not given */
    int64_t active, ready, terminating;
    struct job_backoff *backoff;
    int64_t again_ms;                 /* sync again this much later, 0: no */
};

/* job_pods.c */
void job_pods_load(struct job_sync *s);
void job_pods_release(struct job_sync *s);
/* Create one; index -1: none. false: refused (event FailedCreate is out). */
bool job_pods_create(struct job_sync *s, int index);
/* drop_finalizer: it shall not count. */
bool job_pods_delete(struct job_sync *s, struct job_pod *p, bool drop_finalizer);
void job_pods_untrack(struct api *api, struct json *pod);
/* Fill rm (n entries of pods.v indices) with the pods that are too many. */
size_t job_pods_surplus(struct job_sync *s, size_t at_least, size_t *rm);

/* job_index.c: sets of indexes as "0,2-5" */
void job_index_parse(const char *text, bool *set, int64_t n);
void job_index_print(const bool *set, int64_t n, struct str *out);

/* job_sync.c */
void job_sync_run(struct job_sync *s);

#endif
