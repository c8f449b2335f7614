/* sandbox.h - a process in an unpacked image, isolated as far as the kernel
 * and our rights allow. The one module that knows how.
 *
 * Kinds, best first; sandbox_start takes the first that works:
 *   namespaces      root: mount, pid, ipc and uts namespaces, pivot_root
 *   user-namespace  anyone: the same below a user namespace with one id
 *   proot           anyone: ptrace shows the image as "/"; nothing is isolated
 * The network is always the machine's own.
 *
 * The child gets the three descriptors, the environment of the spec and
 * nothing else: no other descriptor, a dozen of a container's usual 14
 * capabilities, no_new_privs. Targets of binds are resolved inside the root and
 * their subs inside the volume, so that no symlink of an image or of a pod leads
 * a mount out of it. No device works but those of the sandbox's own /dev, and
 * what of /proc changes the kernel is read-only (not under proot).
 */
#ifndef K8S_PRACTICE_SANDBOX_H
#define K8S_PRACTICE_SANDBOX_H

#include "k8s/practice/shim.h"

#include <sys/types.h>

enum sandbox_kind { SANDBOX_NAMESPACES, SANDBOX_USERNS, SANDBOX_PROOT, SANDBOX_KINDS };

struct sandbox_report {
    enum sandbox_kind kind;
    char missing[512];            /* what is not isolated, for people; "" when all is */
};

struct sandbox_io {
    int fd[3];
    bool tty;                     /* fd[0] is a terminal to be the controlling one */
};

const char *sandbox_kind_name(enum sandbox_kind kind);

/* Start spec's argv; *pid is the direct child of the caller (for proot: proot).
 * ready is called in the caller when the child exists and before its program
 * runs (limits go here), or NULL. PD_SANDBOX: no kind works, or the program
 * can't be run (the text is the runtime's: exec: "x": … not found in $PATH). */
MUST_USE enum pd_code sandbox_start(const struct shim_spec *spec, const struct sandbox_io *io,
                                    void (*ready)(void *arg, pid_t pid), void *arg, pid_t *pid,
                                    struct sandbox_report *report, struct pd_err *err);
/* Another program in the container whose process is `target`: argv replaces
 * the spec's. *pid is a direct child of the caller. */
MUST_USE enum pd_code sandbox_join(const struct shim_spec *spec, enum sandbox_kind kind,
                                   pid_t target, const struct strv *argv,
                                   const struct sandbox_io *io,
                                   void (*ready)(void *arg, pid_t pid), void *arg, pid_t *pid,
                                   struct pd_err *err);
/* The process that is the container's: proot's child, else pid itself. */
pid_t sandbox_inner(enum sandbox_kind kind, pid_t pid);

#endif
