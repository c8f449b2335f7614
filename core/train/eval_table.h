/* eval_table.h - what an evaluation found, for people: base and adapter, one or
 * both splits, loss and perplexity (e to the loss).
 */
#ifndef CORE_TRAIN_EVAL_TABLE_H
#define CORE_TRAIN_EVAL_TABLE_H

#include "core/base/str.h"
#include "core/train/eval.h"

enum { EVAL_BASE, EVAL_ADAPTER, EVAL_SIDES };

struct eval_found {
    struct eval_result r[DATA_SPLITS][EVAL_SIDES];        /* tokens 0: not evaluated */
    double unigram;               /* NaN: unknown */
};

void eval_table_print(const struct eval_found *f, struct str *out);

#endif
