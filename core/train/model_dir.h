/* model_dir.h - a model's folder in Hugging Face's form, written from one that
 * was read: weights in one file or in shards, config.json with their type, and
 * everything else (tokenizer, templates, generation_config.json) as it was.
 *
 * Shards: model-00001-of-0000N.safetensors, each at most `most` bytes of data
 * (a larger tensor has one of its own), and model.safetensors.index.json, which
 * is written last. What an earlier write left and would be read instead is
 * removed.
 */
#ifndef CORE_TRAIN_MODEL_DIR_H
#define CORE_TRAIN_MODEL_DIR_H

#include "core/train/llama.h"
#include "core/train/safetensors.h"

struct model_dir {
    const char *from, *to;
    enum safetensors_type type;
    int64_t most;
    int shards;                   /* what the write made */
    int64_t bytes;
};

MUST_USE enum pd_code model_dir_write(struct model_dir *d, const struct llama *m,
                                      struct pd_err *err);
/* Read the written weights into m (laid out alike). */
MUST_USE enum pd_code model_dir_read(const struct model_dir *d, struct llama *m,
                                     struct pd_err *err);
/* "5GB", "500MB", "2GiB", "1000000": as transformers reads max_shard_size. */
bool model_dir_size(const char *text, int64_t *bytes);

#endif
