/* tok_folder.h - do the tokenizer's files of a folder agree with each other?
 *
 * tokenizer.json is what counts here. tokenizer_config.json, added_tokens.json
 * and special_tokens_map.json name tokens too; other programs believe them.
 */
#ifndef CORE_TRAIN_TOK_FOLDER_H
#define CORE_TRAIN_TOK_FOLDER_H

#include "core/train/llama.h"
#include "core/train/tok.h"

/* PD_TRAIN: a file names a token that tokenizer.json lacks or has under another
 * id, or config.json's end of text is no token. What is allowed but surprises
 * (padding that is the end of text, a template without a start for the answer,
 * a beginning of text that stands twice, unused ids) is added to notes, a line
 * each. */
MUST_USE enum pd_code tok_folder_check(const char *dir, const struct tok *t,
                                       const struct llama_config *c, struct str *notes,
                                       struct pd_err *err);

#endif
