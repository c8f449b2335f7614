/* image_keep.h - what a test makes and needs until its process ends: kept in a
 * table, so that the leak checker reports the code under test alone.
 */
#ifndef TESTS_IMAGE_KEEP_H
#define TESTS_IMAGE_KEEP_H

#include "core/base/base.h"

static inline void *image_keep(void *p)
{
    static void *kept[4096];
    static size_t n;
    assert(n < ARRAY_LEN(kept));
    kept[n++] = p;
    return p;
}

#define KEEP(p) ((__typeof__(p))image_keep((void *)(uintptr_t)(p)))

#endif
