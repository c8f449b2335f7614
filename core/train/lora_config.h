/* lora_config.h - adapter_config.json, read and written.
 *
 * Written: r and alpha of the run; sites that differ stand in rank_pattern and
 * alpha_pattern, under the module's name where all layers agree, else under the
 * whole path; target_modules likewise.
 */
#ifndef CORE_TRAIN_LORA_CONFIG_H
#define CORE_TRAIN_LORA_CONFIG_H

#include "core/train/lora.h"
#include "core/train/tjson.h"

MUST_USE enum pd_code lora_config_write(const struct lora *l, const char *path, const char *base,
                                        struct pd_err *err);
/* Without a base: what is refused, types and numbers. */
MUST_USE enum pd_code lora_config_check(const char *path, struct pd_err *err);
/* c->table is t. */
MUST_USE enum pd_code lora_config_read(const char *path, const struct llama_config *m,
                                       struct lora_config *c, struct lora_table *t,
                                       struct pd_err *err);

#endif
