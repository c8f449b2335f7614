/* lora_match.h - which linear layers an adapter_config.json means, and with
 * which r and alpha: PEFT's own rules, site by site.
 *
 *   target_modules   list: a module whose path is, or ends in ".", an item;
 *                    text: a regular expression for the whole path, or
 *                    "all-linear"; missing: q_proj and v_proj
 *   exclude_modules  the same forms; goes before
 *   layers_to_transform, layers_pattern   narrow a list
 *   rank_pattern, alpha_pattern           the first key that matches the end of
 *                    the path, as a regular expression
 */
#ifndef CORE_TRAIN_LORA_MATCH_H
#define CORE_TRAIN_LORA_MATCH_H

#include "core/train/lora.h"
#include "core/train/tjson.h"

enum { LORA_RANK_MOST = 1024 };

/* c->r, c->alpha and c->rslora are set; *t and c->targets are filled. */
MUST_USE enum pd_code lora_match(const struct tjson *config, const char *src,
                                 const struct llama_config *m, struct lora_config *c,
                                 struct lora_table *t, struct pd_err *err);

#endif
