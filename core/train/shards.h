/* shards.h - the tensors of a model folder, in one file or several.
 *
 * model.safetensors, or model.safetensors.index.json with its weight_map
 * {tensor: file} (as transformers shards: model-00001-of-0000N.safetensors).
 * Each file is mapped and read strictly. Files must lie in the folder; every
 * tensor of the map must be in the file that the map names, and in no other.
 */
#ifndef CORE_TRAIN_SHARDS_H
#define CORE_TRAIN_SHARDS_H

#include "core/train/safetensors.h"

struct shards;

MUST_USE enum pd_code shards_open(const char *dir, struct shards **out, struct pd_err *err);
void shards_close(struct shards *s);
int shards_files(const struct shards *s);
const char *shards_path(const struct shards *s, int file);
const struct safetensors *shards_file(const struct shards *s, int file);
/* NULL: no such tensor. *file (may be NULL): where it stands. */
const struct safetensors_entry *shards_find(const struct shards *s, const char *name, int *file);
/* What metadata.total_size says beside what is there; -1: it says nothing. */
int64_t shards_said(const struct shards *s);
int64_t shards_bytes(const struct shards *s);
/* Fill each tensor's w, as safetensors_load does. */
MUST_USE enum pd_code shards_load(const struct shards *s, const struct tensors *ts,
                                  struct pd_err *err);

#endif
