/* cmd.h - the commands of podium-train. Each returns an exit code
 * (trainer.h); a failure is an `error` record on stdout, and a sentence on
 * stderr where stdout is not a run's log.
 */
#ifndef CORE_TRAIN_CMD_H
#define CORE_TRAIN_CMD_H

#include "core/train/options.h"

int cmd_run(const struct options *o, const volatile int *stop);

int cmd_plan(const struct options *o);                    /* cmd_plan.c */
int cmd_bench(const struct options *o);
int cmd_eval(const struct options *o);                    /* cmd_eval.c */
int cmd_inspect_batch(const struct options *o);
int cmd_generate(const struct options *o);                /* cmd_generate.c */
int cmd_compare(const struct options *o);                 /* cmd_compare.c */
int cmd_chat(const struct options *o);                    /* cmd_chat.c */
int cmd_merge(const struct options *o);                   /* cmd_export.c */
int cmd_export(const struct options *o);
int cmd_logits(const struct options *o);
int cmd_import(const struct options *o);                  /* cmd_import.c */
int cmd_check(const struct options *o);                   /* cmd_check.c */
int cmd_doctor(const struct options *o);                  /* cmd_doctor.c */
int cmd_diagnose(const struct options *o);                /* cmd_diagnose.c */

/* Set by a signal; what works for long looks at it. */
const volatile int *cmd_stop_flag(void);
/* Tell of an error on stderr; the exit code for it. */
int cmd_fail(const struct pd_err *err);

#endif
