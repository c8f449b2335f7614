/* node.h - the working half of the practice cluster: nodes, scheduler, Job
 * controller, volume binder, garbage collector and kubelet, on the API seen
 * from inside (api.h).
 *
 * node_start starts all of them; each can be started alone for a test. They
 * live on the api's loop, subscribe before they list, and keep no state that
 * the store or the disk does not hold: after kill -9 of the server a new
 * node_start adopts every living pod through its podium-shim.
 *
 * Stop: nothing of a part may run after its stop, so the api is freed before
 * its loop turns again. Pods live on; node_stop_pods ends them as well.
 *
 * Time runs faster for lessons and tests: `speed` divides the Job back-off
 * (10/20/40 s), the crash-loop and image back-offs (10 s to 300 s) and the
 * scheduler's (1 s to 10 s). 1 is Kubernetes' own pace; the environment
 * variable PODIUM_CLOCK_SPEED sets the default. Deadlines, TTLs and grace
 * periods are always real.
 */
#ifndef K8S_PRACTICE_NODE_H
#define K8S_PRACTICE_NODE_H

#include "k8s/practice/api.h"

struct node_options {
    double speed;                 /* 0: PODIUM_CLOCK_SPEED, else 1 */
    const char *shim;             /* NULL: podium-shim beside the running program */
    const char *self;             /* NULL: the running program (for its own children) */
    bool no_nodes;                /* do not create the three simulated nodes */
};

struct node;
/* opt may be NULL. Never fails: what is missing shows as pod events. */
struct node *node_start(struct api *a, const struct node_options *opt);
void node_stop(struct node *n);
/* Ask every container to end (SIGTERM, then SIGKILL after grace_ms); returns
 * how many were alive. For `podium practice stop --pods` and reset. Blocks up
 * to grace_ms + 1 s: only outside the loop. */
int node_stop_pods(const char *state_dir, int64_t grace_ms);

/* The parts, for tests. speed as above, > 0. */
struct scheduler;
struct scheduler *scheduler_start(struct api *a, double speed);
void scheduler_stop(struct scheduler *s);
struct job_controller;
struct job_controller *job_controller_start(struct api *a, double speed);
void job_controller_stop(struct job_controller *c);
struct pvc_controller;
struct pvc_controller *pvc_controller_start(struct api *a);
void pvc_controller_stop(struct pvc_controller *c);
/* Is path the folder of one volume of the cluster's own storage class, and
 * nothing above, below or beside it? A PersistentVolume says what its writer
 * likes; only such a folder is mounted or removed. */
bool pvc_own_folder(const char *state_dir, const char *path);
struct gc;
struct gc *gc_start(struct api *a);
void gc_stop(struct gc *g);
struct kubelet;
struct kubelet *kubelet_start(struct api *a, const struct node_options *opt);
void kubelet_stop(struct kubelet *k);

/* podium-practice is its own child for work that may not run in the loop:
 * `podium-practice pull-image ...`. main calls this first: true when argv[1]
 * is such a subcommand, with its exit code in *code. */
bool node_child_main(int argc, char **argv, int *code);

#endif
