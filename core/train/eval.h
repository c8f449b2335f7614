/* eval.h - the mean loss over a split, mostly that of validation.
 *
 * Each example once, in the order of the file; the mean is over tokens, not
 * over batches. The same split, batch size and weights give the same bits.
 */
#ifndef CORE_TRAIN_EVAL_H
#define CORE_TRAIN_EVAL_H

#include "core/train/batch.h"
#include "core/train/llama.h"

struct eval_result {
    double loss;
    int64_t tokens, examples;
};
/* most: at most so many batches, 0 for all. */
MUST_USE enum pd_code eval_run(struct llama_run *run, struct data *d, struct batch *b, int rows,
                               int64_t most, struct eval_result *out, struct pd_err *err);

/* The same over another split. */
MUST_USE enum pd_code eval_split(struct llama_run *run, struct data *d, enum data_split split,
                                 struct batch *b, int rows, int64_t most,
                                 struct eval_result *out, struct pd_err *err);

#endif
