/* pool.h - threads that wait for work: fn(arg, task, thread) for each task.
 *
 * The caller is thread 0. Tasks are taken from a counter, so that a slow
 * thread takes fewer; which thread runs a task must not change its result.
 * Waiting spins for a moment, then sleeps.
 */
#ifndef CORE_TRAIN_POOL_H
#define CORE_TRAIN_POOL_H

#include "core/base/err.h"

struct pool;
typedef void pool_fn(void *arg, int task, int thread);

MUST_USE enum pd_code pool_new(int threads, struct pool **out, struct pd_err *err);
void pool_free(struct pool *p);                           /* NULL: nothing */
void pool_run(struct pool *p, pool_fn *fn, void *arg, int tasks);

#endif
