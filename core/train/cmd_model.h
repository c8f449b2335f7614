/* cmd_model.h - what eval, generate and logits start with: a model, perhaps an
 * adapter, threads.
 */
#ifndef CORE_TRAIN_CMD_MODEL_H
#define CORE_TRAIN_CMD_MODEL_H

#include "core/train/compute.h"
#include "core/train/llama.h"
#include "core/train/lora.h"
#include "core/train/options.h"

struct cmd_model {
    struct llama m;
    struct lora lora;
    bool adapted;
    struct compute c;
};
MUST_USE enum pd_code cmd_model_open(struct cmd_model *x, const struct options *o,
                                     struct pd_err *err);
void cmd_model_close(struct cmd_model *x);

#endif
