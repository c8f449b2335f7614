/* slab.c - one block of memory for many tensors (tensor.h). */
#include "core/train/tensor.h"

#include "core/base/mem.h"

enum { ALIGN_FLOATS = SLAB_ALIGN / (int)sizeof(float) };

void slab_alloc(struct slab *s)
{
    s->size = s->used;
    s->used = 0;
    /* whole pages, so that zeroing is left to the kernel and touched late */
    char *raw = xcalloc(s->size + 2 * ALIGN_FLOATS, sizeof(float));
    size_t off = SLAB_ALIGN - (uintptr_t)raw % SLAB_ALIGN;
    s->base = (float *)(raw + off);
    raw[off - 1] = (char)off;                     /* how far back the block starts */
}

float *slab_take(struct slab *s, size_t n)
{
    size_t at = s->used;
    s->used += (n + ALIGN_FLOATS - 1) / ALIGN_FLOATS * ALIGN_FLOATS;
    if (!s->base)
        return NULL;
    if (s->used > s->size)
        PD_BUG("a slab of %zu floats is asked for %zu", s->size, s->used);
    return s->base + at;
}

void slab_release(struct slab *s)
{
    if (s->base) {
        char *base = (char *)s->base;
        free(base - base[-1]);
    }
    *s = (struct slab){0};
}
