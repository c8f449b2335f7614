/* gguf_impl.h - the blocks of GGUF's tensor types; for gguf*.c alone. */
#ifndef CORE_TRAIN_GGUF_IMPL_H
#define CORE_TRAIN_GGUF_IMPL_H

#include "core/base/base.h"

struct gguf_block {
    uint32_t type;
    const char *name;
    int values, bytes;            /* of a block */
    void (*read)(const uint8_t *block, float *out);       /* NULL: known by name alone */
};
/* NULL unless its values can be read. */
const struct gguf_block *gguf_block_of(uint32_t type);

#endif
