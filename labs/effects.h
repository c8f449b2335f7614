/* effects.h - the only place that turns effects (core/base/msg.h) into calls of
 * k8s/ and core/io, and their results into messages.
 *
 * Every effect that asks for an answer ends with one message that carries the
 * effect's id (MSG_REPLY, MSG_CHILD_EXIT, MSG_COPY with state done|failed,
 * MSG_LOG_STATE ended, MSG_ATTACH closed, MSG_FILE), unless EFF_CANCEL came
 * first: then none follows. Messages of a connection carry its id and epoch;
 * what a dead epoch still says is dropped here already.
 *
 * The owner gets messages through `deliver` and must free them; it applies
 * them to its state and hands the new effects back with effects_run_all.
 * deliver may be called from within effects_run_all never: always from the
 * loop, later.
 */
#ifndef LABS_EFFECTS_H
#define LABS_EFFECTS_H

#include "core/base/msg.h"
#include "core/io/loop.h"

struct effects_runner;

struct effects_options {
    const char *kubeconfig;       /* --kubeconfig, or NULL: $KUBECONFIG, ~/.kube/config, default */
    const char *context;          /* --context, or NULL */
    const char *ns;               /* --namespace, or NULL */
    bool keep_choices;            /* the namespace chosen last in a context holds again */
    /* A message happened: takes it. */
    void (*deliver)(void *arg, struct msg *m);
    /* A credential plugin needs the terminal (false: not now) or gives it back.
     * NULL: stdin is a plugin's, if it is a terminal. */
    bool (*terminal)(void *arg, bool take);
    /* An effect that is not for here (EFF_EDIT, EFF_COPY_TEXT, EFF_QUIT);
     * borrowed for the call. NULL: ignored. */
    void (*foreign)(void *arg, const struct effect *e);
    void *arg;
};

struct effects_runner *effects_runner_new(struct loop *l, const struct effects_options *o);
void effects_runner_free(struct effects_runner *r);   /* cancels all; children are killed */
/* Carry out every effect of the queue and empty it. */
void effects_run_all(struct effects_runner *r, struct effects *e);
/* Effects that are still open (0: nothing will be delivered any more). */
size_t effects_open(const struct effects_runner *r);

#endif
