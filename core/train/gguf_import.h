/* gguf_import.h - from a GGUF file to a Hugging Face folder: config.json,
 * model.safetensors, tokenizer.json, tokenizer_config.json,
 * generation_config.json.
 *
 * Architecture "llama" alone. llama.cpp keeps the rows of q and k in the order
 * of an interleaved rotation; here they are put back into the half-split order
 * of transformers (convert_hf_to_gguf.py, permute). Quantised weights keep
 * their rounded values.
 */
#ifndef CORE_TRAIN_GGUF_IMPORT_H
#define CORE_TRAIN_GGUF_IMPORT_H

#include "core/train/gguf.h"
#include "core/train/llama.h"

/* PD_UNSUPPORTED names what can't be imported. */
MUST_USE enum pd_code gguf_import_config(const struct gguf *g, struct llama_config *c,
                                         struct pd_err *err);
/* Into a model laid out by llama_init; names missing and mis-shaped tensors. */
MUST_USE enum pd_code gguf_import_weights(const struct gguf *g, struct llama *m,
                                          struct pd_err *err);
/* tokenizer.json and tokenizer_config.json into dir. */
MUST_USE enum pd_code gguf_import_tokenizer(const struct gguf *g, const char *dir,
                                            struct pd_err *err);
/* All of it into DIR by way of DIR.part; an older DIR that import made is
 * replaced. */
MUST_USE enum pd_code gguf_import(const char *file, const char *dir, bool bf16,
                                  struct llama_config *c, struct pd_err *err);

/* The name in transformers' form to ggml's: "model.layers.0.mlp.up_proj.weight"
 * to "blk.0.ffn_up.weight". False: no such tensor. */
bool gguf_tensor_name(const char *hf, char out[TENSOR_NAME]);

#endif
