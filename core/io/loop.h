/* loop.h - the only wait of the program: one curl_multi_poll over the network,
 * file descriptors, signals and timers.
 *
 * One thread. Order of a turn: due timers, curl_multi_perform, ready fds,
 * deferred calls, the after-turn hook (the console paints there); then the
 * wait. No callback may run longer than 5 ms: with LOOP_ASSERT=1 (defined, or
 * in the environment; N > 1 means N ms) one that does aborts and is named;
 * otherwise it is counted (loop_slowest).
 *
 * Callbacks may add and remove fds, timers and deferred calls, their own too.
 */
#ifndef CORE_IO_LOOP_H
#define CORE_IO_LOOP_H

#include "core/base/err.h"

struct loop;

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

typedef void loop_fd_fn(void *arg, int fd, int events);
typedef void loop_fn(void *arg);

struct loop *loop_new(void);
void loop_free(struct loop *l);                   /* everything added is dropped */

/* One registration an fd; adding again changes it. */
void loop_fd(struct loop *l, int fd, int events, loop_fd_fn *fn, void *arg);
void loop_fd_remove(struct loop *l, int fd);

/* A timer fires once, `ms` from now; returns its id (never 0). */
uint32_t loop_timer(struct loop *l, int64_t ms, loop_fn *fn, void *arg, const char *name);
void loop_timer_cancel(struct loop *l, uint32_t id);    /* 0 and dead ids are fine */
void loop_defer(struct loop *l, loop_fn *fn, void *arg);

/* SIGCHLD, SIGWINCH, SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGCONT through a
 * signalfd, one handler a signal; a signal with a handler is blocked. */
void loop_signal(struct loop *l, int signo, void (*fn)(void *arg, int signo), void *arg);

void loop_after_turn(struct loop *l, loop_fn *fn, void *arg);
/* Run until loop_stop; returns its code. loop_turn runs one turn, waiting at
 * most max_ms (tests). */
int loop_run(struct loop *l);
void loop_stop(struct loop *l, int code);
void loop_turn(struct loop *l, int64_t max_ms);

/* The slowest callback so far, in microseconds, and its name. */
int64_t loop_slowest(const struct loop *l, const char **name);

#endif
