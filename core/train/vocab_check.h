/* vocab_check.h - do tokenizer and embedding fit each other?
 *
 * An id at or above the rows of embed_tokens would read outside of the table:
 * that is stopped before anything is computed.
 */
#ifndef CORE_TRAIN_VOCAB_CHECK_H
#define CORE_TRAIN_VOCAB_CHECK_H

#include "core/train/tok.h"

/* PD_TRAIN names the tokens whose ids have no row, by tokenizer.json (t, may be
 * NULL) and by added_tokens.json of the folders (either may be NULL). */
MUST_USE enum pd_code vocab_check(const struct tok *t, int rows, const char *model_dir,
                                  const char *adapter_dir, struct pd_err *err);

#endif
