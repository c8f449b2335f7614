/* loop_io.h - what loop.c, http.c, ws.c and child.c share and nobody else sees:
 * how a libcurl transfer meets the loop, and what ends with it.
 *
 * libcurl forbids most calls inside its own callbacks, so those only store
 * bytes and mark their transfer; the loop calls `ready` when curl_multi_perform
 * has returned, and there everything is allowed, ending any transfer too.
 */
#ifndef CORE_IO_LOOP_IO_H
#define CORE_IO_LOOP_IO_H

#include "core/io/loop.h"

/* CURLOPT_PRIVATE of every easy handle on the loop's multi handle. */
struct loop_transfer {
    void (*ready)(void *arg);                  /* after loop_transfer_mark */
    void (*done)(void *arg, int curl_code);    /* libcurl has finished; still added */
    void (*drop)(void *arg);                   /* the loop is freed: free yourself */
    void *arg;
    bool marked, due;
    struct loop_transfer *prev, *next;
};

/* Add to and take off the loop, with its easy handle. */
void loop_transfer_add(struct loop *l, struct loop_transfer *t, void *easy);
void loop_transfer_remove(struct loop *l, struct loop_transfer *t, void *easy);
void loop_transfer_mark(struct loop_transfer *t);

/* What is freed with the loop unless it has left before: a child that lives on. */
struct loop_tenant {
    void (*drop)(void *arg);                   /* the loop is freed: leave, free yourself */
    void *arg;
    struct loop_tenant *prev, *next;
};
void loop_tenant_add(struct loop *l, struct loop_tenant *t);
void loop_tenant_remove(struct loop *l, struct loop_tenant *t);

/* Around a callback that does not come from loop.c itself: the 5 ms measure. */
struct loop_mark {
    int64_t wall_us, cpu_us;
    long switches;
};
struct loop_mark loop_mark_begin(const struct loop *l);
void loop_mark_end(struct loop *l, struct loop_mark m, const char *name);
/* This loop belongs to one blocking call: nothing else waits for it. */
void loop_unlimited(struct loop *l);

#endif
