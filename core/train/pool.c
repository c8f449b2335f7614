/* pool.c - a pool of POSIX threads that run numbered tasks (pool.h). */
#include "core/train/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"

enum { SPINS = 2000 };

struct worker {
    struct pool *pool;
    pthread_t thread;
    int id;
};

struct pool {
    int threads;
    struct worker *workers;       /* threads - 1 */
    int started;
    pthread_mutex_t lock;
    pthread_cond_t wake, idle;
    atomic_uint round;            /* grows with each pool_run, and to quit */
    atomic_int next, busy;
    atomic_bool quit;
    pool_fn *fn;
    void *arg;
    int tasks;
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void take_tasks(struct pool *p, int id)
{
    int task;
    while ((task = atomic_fetch_add(&p->next, 1)) < p->tasks)
        p->fn(p->arg, task, id);
}

static void wait_round(struct pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&p->round) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->round) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct pool *p = w->pool;
    for (unsigned seen = 0;; seen++) {
        wait_round(p, seen);
        if (atomic_load(&p->quit))
            return NULL;
        take_tasks(p, w->id);
        if (atomic_fetch_sub(&p->busy, 1) == 1) {
            pthread_mutex_lock(&p->lock);
            pthread_cond_signal(&p->idle);
            pthread_mutex_unlock(&p->lock);
        }
    }
}

static void next_round(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->round, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, pool_fn *fn, void *arg, int tasks)
{
    if (p->threads == 1 || tasks <= 1) {
        for (int t = 0; t < tasks; t++)
            fn(arg, t, 0);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    p->tasks = tasks;
    atomic_store(&p->next, 0);
    atomic_store(&p->busy, p->threads - 1);
    next_round(p);
    take_tasks(p, 0);
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&p->busy) == 0)
            return;
        relax();
    }
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->busy) != 0)
        pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* Signals belong to the main thread: workers start with all blocked. */
static int start_workers(struct pool *p)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = 0;
    for (int i = 0; i < p->threads - 1 && rc == 0; i++) {
        p->workers[i] = (struct worker){.pool = p, .id = i + 1};
        rc = pthread_create(&p->workers[i].thread, NULL, work, &p->workers[i]);
        p->started += rc == 0;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

enum pd_code pool_new(int threads, struct pool **out, struct pd_err *err)
{
    struct pool *p = xcalloc(1, sizeof *p);
    p->threads = threads;
    p->workers = xcalloc((size_t)threads, sizeof *p->workers);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    int rc = start_workers(p);
    if (rc != 0) {
        pool_free(p);
        errno = rc;
        return pd_fail_errno(err, PD_TRAIN, _("%d threads can't be started"), threads);
    }
    *out = p;
    return PD_OK;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    atomic_store(&p->quit, true);
    next_round(p);
    for (int i = 0; i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p->workers);
    free(p);
}
