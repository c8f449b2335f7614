/* gguf_model.h - a model, or an adapter alone, as GGUF for llama.cpp.
 *
 * The model: general.architecture "llama", its sizes, the tokenizer
 * (gguf_vocab.h), tensors as blk.N.attn_q.weight … with the rows of q and k in
 * the order of an interleaved rotation; rope_type llama3 as the tensor
 * rope_freqs.weight; no output.weight when it is tied.
 * The adapter: general.type "adapter", blk.N.attn_q.weight.lora_a/.lora_b.
 * llama.cpp scales by adapter.lora.alpha / rank; where a site's scale is
 * another (rslora, alpha_pattern), its B carries the difference.
 */
#ifndef CORE_TRAIN_GGUF_MODEL_H
#define CORE_TRAIN_GGUF_MODEL_H

#include "core/train/gguf_save.h"
#include "core/train/lora.h"

/* dir: the folder of tokenizer.json, tokenizer_config.json, chat template. */
MUST_USE enum pd_code gguf_model_save(const struct llama *m, const char *dir, const char *path,
                                      enum gguf_save_type type, int64_t *bytes,
                                      struct pd_err *err);
MUST_USE enum pd_code gguf_adapter_save(const struct lora *l, const struct llama_config *c,
                                        const char *path, enum gguf_save_type type,
                                        int64_t *bytes, struct pd_err *err);

#endif
