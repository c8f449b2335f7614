/* plan.h - the memory of a training, by class, before it starts.
 *
 * The sizes come from the code that carves the memory up, run in counting mode
 * (llama_floats, llama_run_floats, lora_shape), for the rows that the run's own
 * batches really have: what is reserved for padding is never touched. The
 * program, its tokenizer and its data are what this process has already.
 */
#ifndef CORE_TRAIN_PLAN_H
#define CORE_TRAIN_PLAN_H

#include "core/train/data.h"
#include "core/train/trainer.h"

enum plan_class { PLAN_WEIGHTS, PLAN_TRAINED, PLAN_ACTIVATIONS, PLAN_LOSS, PLAN_SCRATCH,
                  PLAN_BATCH, PLAN_PROGRAM, PLAN_CLASSES };
const char *plan_class_name(enum plan_class c);           /* in English, N_ */

struct plan_shape {
    int batch, seq;               /* sequences in a batch, longest of them */
    int rows, labels;             /* most positions and trained tokens in a batch */
    double mean_rows;             /* of a training batch */
};
struct plan {
    struct plan_shape shape;
    size_t bytes[PLAN_CLASSES], total;
};

/* The batches of o's run over d with `batch` sequences: all of them, or the
 * first PLAN_LOOK and all of validation. */
enum { PLAN_LOOK = 4000 };
MUST_USE enum pd_code plan_look(const struct trainer_options *o, struct data *d, int batch,
                                struct plan_shape *out, struct pd_err *err);
/* lora_shape of what o trains: an adapter to start from brings its own (one that
 * can't be read is the trainer's to tell). Nothing with --full. */
void plan_adapter(const struct trainer_options *o, const struct llama_config *c, struct lora *l);
void plan_make(const struct trainer_options *o, const struct llama_config *c,
               const struct plan_shape *s, struct plan *out);
/* Bytes this process may have in all: o->memory_limit, else what cgroups and
 * machine leave. `where` names who says so. */
size_t plan_limit(const struct trainer_options *o, char *where, size_t size);
/* PD_UNSUPPORTED when it does not fit, with the flag that makes it fit. */
MUST_USE enum pd_code plan_check(const struct trainer_options *o, const struct llama_config *c,
                                 struct data *d, struct plan *out, struct pd_err *err);

#endif
