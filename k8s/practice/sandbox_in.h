/* sandbox_in.h - between the files of the sandbox module alone. */
#ifndef K8S_PRACTICE_SANDBOX_IN_H
#define K8S_PRACTICE_SANDBOX_IN_H

#include "k8s/practice/sandbox.h"

/* In the child: how it tells its parent that it failed. kind 'k': this kind of
 * sandbox does not work here; 'x': the program can't be run. */
struct sandbox_pipe {
    int in, out;                  /* go ahead from the parent; failure to it */
};
NORETURN void sandbox_die(const struct sandbox_pipe *p, char kind, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

/* The mounts and the new root; dies on failure. */
void sandbox_enter_root(const struct shim_spec *spec, const struct sandbox_pipe *p);
/* What a bind shows: `from`, or what lies at `sub` inside it, resolved there by
 * the kernel, so that a link which a pod left in its volume can't lead out of
 * it. A missing sub is made a folder. O_PATH descriptor, or -1. */
int sandbox_source(const char *from, const char *sub);
/* Terminal, descriptors, ids, capabilities, then the program; never returns. */
NORETURN void sandbox_exec(const struct shim_spec *spec, const struct strv *argv,
                           const struct sandbox_io *io, const struct sandbox_pipe *p);
NORETURN void sandbox_proot_exec(const struct shim_spec *spec, const struct strv *argv,
                                 const struct sandbox_io *io, const struct sandbox_pipe *p);
/* Terminal and descriptors; closes all others but p's. */
void sandbox_take_io(const struct sandbox_io *io, const struct sandbox_pipe *p);
/* Read what a child that is about to exec has to say: PD_OK when it did exec.
 * *other: it was the kind that failed, another may be tried. */
enum pd_code sandbox_verdict(int fd, bool *other, struct pd_err *err);

#endif
