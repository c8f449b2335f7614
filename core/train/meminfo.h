/* meminfo.h - how much memory this process uses, and how much of the machine it may.
 *
 * The limit is the least of what the machine can still give (MemAvailable) and
 * what each cgroup above this process leaves (version 2: memory.max, version
 * 1: memory.limit_in_bytes; "max" and the huge number of version 1 are none;
 * a group's page cache counts as free). In a container whose groups are shown
 * as "/" or "/../..", the mounted group itself is read.
 */
#ifndef CORE_TRAIN_MEMINFO_H
#define CORE_TRAIN_MEMINFO_H

#include "core/base/err.h"

enum meminfo_when { MEMINFO_NOW, MEMINFO_PEAK };
/* Resident bytes (VmRSS, VmHWM); 0 when the kernel does not tell. */
size_t meminfo_resident(enum meminfo_when when);

struct meminfo_limit {
    int64_t free;                 /* bytes this process can still take; INT64_MAX: unknown */
    int64_t most;                 /* the limit itself (cgroup) or MemTotal */
    bool cgroup;                  /* the least is a cgroup's, not the machine's */
    char where[280];              /* the file that says so */
};
/* root is "" (tests: a folder that holds proc/ and sys/). */
void meminfo_limit(const char *root, struct meminfo_limit *out);
/* Processors that the least quota of these groups allows (cpu.max, or
 * cpu.cfs_quota_us), rounded up; 0: none is set. */
int meminfo_cpu_quota(const char *root);

#endif
