/* gguf_vocab.h - a folder's tokenizer as the keys tokenizer.ggml.* of a GGUF file.
 *
 * From tokenizer.json: tokens in the order of their ids, their types, merges,
 * and llama.cpp's name for the splitter (smollm, gpt-2, llama-bpe, qwen2); a
 * splitter that has none there is refused, since llama.cpp would then cut text
 * differently. From tokenizer_config.json, chat_template.jinja, config.json:
 * the special ids, whether a beginning-of-text token is added, the template.
 * Ids up to the model's vocab_size without a token become "[PADn]", unused.
 */
#ifndef CORE_TRAIN_GGUF_VOCAB_H
#define CORE_TRAIN_GGUF_VOCAB_H

#include "core/train/gguf_save.h"
#include "core/train/llama.h"

MUST_USE enum pd_code gguf_vocab_add(struct gguf_save *g, const char *dir,
                                     const struct llama_config *c, struct pd_err *err);

#endif
