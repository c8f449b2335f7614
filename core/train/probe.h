/* probe.h - one model against another form of it: the logits of fixed random
 * prompts before and after (adapter and merged weights, f32 and bf16).
 */
#ifndef CORE_TRAIN_PROBE_H
#define CORE_TRAIN_PROBE_H

#include "core/train/lora.h"

enum { PROBE_PROMPTS = 16, PROBE_LEN = 16 };

struct probe_diff {
    double most;                  /* max |Δlogit| */
    double largest;               /* max |logit| of the first */
    int same;                     /* prompts with the same first token */
};

/* out [PROBE_PROMPTS, vocab]: logits behind each prompt. l NULL: the base. */
MUST_USE enum pd_code probe_logits(struct llama *m, struct lora *l, struct compute *c,
                                   float *out, struct pd_err *err);
struct probe_diff probe_compare(const float *a, const float *b, int vocab);

#endif
