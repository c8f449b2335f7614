/* trainer.h - the run: steps, evaluation, checkpoints, control, records.
 *
 * trainer_run does all of `podium-train train`: it opens the model and the
 * data, sizes everything, and writes records (core/base/runlog.h) to `out`,
 * each flushed. After the first step nothing is allocated until a save, an
 * evaluation report or the end.
 */
#ifndef CORE_TRAIN_TRAINER_H
#define CORE_TRAIN_TRAINER_H

#include "core/train/data.h"
#include "core/train/lora.h"
#include "core/train/optim.h"
#include "core/train/progress.h"

struct trainer_options {
    const char *model, *data, *out;
    const char *adapter;          /* start from this one (its r, alpha and targets); NULL: new */
    const char *val;              /* text data: the validation token file */
    const char *val_templates;    /* instructions: data.h */
    double val_fraction;
    const char *too_long;         /* records: data.h */
    bool chat_form, train_prompt, packing;
    int64_t steps, eval_every, save_every;
    double epochs;                /* above 0: whole epochs instead of steps */
    double warmup_ratio;          /* of the steps; 0: warmup counts */
    int batch, accum, seq, threads, keep;
    struct optim optim;
    struct lora_config lora;
    bool full, resume, control, bf16;
    bool checkpointing;           /* activations are computed twice instead of kept */
    int64_t replay;               /* take this step apart instead of training; 0: off */
    int64_t hold_s;               /* -1: no hold; 0: until quit */
    int64_t eval_batches;         /* at most so many (0: the whole split) */
    int64_t memory_limit;         /* bytes of this process; 0: what is free */
    uint64_t seed;
    int fd;                       /* records go here */
    enum progress_mode log;       /* as they are, or as a person reads them */
};
void trainer_defaults(struct trainer_options *o);
/* --epochs and --warmup-ratio become updates of d, as transformers' Trainer counts
 * them; whole epochs are switched on in d. */
void trainer_count_steps(struct trainer_options *o, struct data *d);
/* How the data are read for a model. */
struct data_options trainer_data_options(const struct trainer_options *o,
                                         const struct llama_config *c);

/* Exit codes of the program. */
enum { TRAINER_DONE = 0, TRAINER_FAILED = 1, TRAINER_USAGE = 2, TRAINER_CANT = 3,
       TRAINER_TERMINATED = 143 };

/* Returns an exit code; every failure has written its `error` record. *stop
 * is set by a signal handler: the step is finished, a checkpoint written. */
int trainer_run(const struct trainer_options *o, const volatile int *stop);

#endif
