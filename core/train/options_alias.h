/* options_alias.h - what others call our options: the keys of Hugging Face's
 * TrainingArguments and trl's SFTConfig, of PEFT's LoraConfig, and of the
 * well-known programs built on them.
 */
#ifndef CORE_TRAIN_OPTIONS_ALIAS_H
#define CORE_TRAIN_OPTIONS_ALIAS_H

#include "core/base/err.h"

enum options_alias { ALIAS_NONE, ALIAS_OPTION, ALIAS_IDLE, ALIAS_REFUSED };

struct options_alias_row {
    const char *key;
    enum options_alias kind;
    /* ALIAS_OPTION: our option. ALIAS_IDLE: NULL (any value changes nothing
     * here). ALIAS_REFUSED: the only values that are true here, "a|b". */
    const char *text;
};
/* NULL when it is none of theirs. */
const struct options_alias_row *options_alias(const char *key);
/* Their word for a value of ours ("constant_with_warmup": "constant"), else it. */
const char *options_alias_value(const char *option, const char *value);
/* All keys, for "did you mean". Returns how many. */
size_t options_alias_names(const char **names, size_t room);

#endif
