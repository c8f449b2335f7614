/* cgroup.h - the memory and cpu limit of a container, by cgroup v1 or v2 where
 * this process may make one, else not at all (the shim then samples memory).
 *
 * A group is made below the shim's own group, so that nested containers and
 * delegated trees work.
 */
#ifndef K8S_PRACTICE_CGROUP_H
#define K8S_PRACTICE_CGROUP_H

#include "core/base/base.h"

#include <sys/types.h>

struct cgroup {
    char memory[512], cpu[512];   /* folders; "" when there is none */
    bool v2;
    bool memory_limited, cpu_limited;
};

/* Limits 0: none wanted; then nothing is made for it. */
void cgroup_make(struct cgroup *g, const char *name, int64_t memory, int64_t cpu_millis);
void cgroup_add(const struct cgroup *g, pid_t pid);
int64_t cgroup_oom_kills(const struct cgroup *g);     /* 0 when unknown */
void cgroup_remove(struct cgroup *g);

/* Resident bytes of the tree below `root` (without root itself), from /proc. */
int64_t cgroup_tree_rss(pid_t root);
/* Every process below root gets the signal; returns how many there were. */
int cgroup_tree_kill(pid_t root, int signo);

#endif
