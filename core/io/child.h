/* child.h - child processes on the loop: argv, never a shell.
 *
 * stdout is cut into lines; stderr is kept (the last 64 KiB). The child runs
 * in its own process group, with every signal as it was at the start of podium.
 * Ends with exactly one `exit` call, after both pipes are at their end (or 2 s
 * after the exit, when a grandchild keeps them open), unless child_forget was
 * called; then the child is freed. A program that can't be started fails
 * child_start.
 */
#ifndef CORE_IO_CHILD_H
#define CORE_IO_CHILD_H

#include "core/base/str.h"
#include "core/io/loop.h"

struct child;

struct child_spec {
    char *const *argv;
    char *const *env;            /* whole environment, or NULL: inherited */
    const char *cwd;             /* or NULL */
    bool want_stdin;             /* keep a pipe to write to */
    bool terminal;               /* our stdin and stderr are its own, and our process group */
    size_t line_ceiling;         /* 0: 1 MiB */
    void (*line)(void *arg, char *line, size_t n);
    void (*exit)(void *arg, int code, int signo, const char *stderr_text);
    void *arg;
};

MUST_USE enum pd_code child_start(struct loop *l, const struct child_spec *spec,
                                  struct child **out, struct pd_err *err);
void child_write(struct child *c, const void *p, size_t n);   /* queued, ceiling 16 MiB */
void child_close_stdin(struct child *c);
void child_kill(struct child *c, int signo);                  /* the whole group */
void child_forget(struct child *c);                           /* kills; no call follows */
int child_pid(const struct child *c);

#endif
