/* kern_plain.c - the inner loops in portable C, vectors of four floats (SSE2
 * on x86-64, NEON on arm64). The other tables are tested against this one. */
#include "core/train/kern.h"

#include <math.h>

#define VW 4
#define TILE_MR 4
#define TILE_NV 2
#define VFMA(a, b, c) ((a) * (b) + (c))
#define VSQRT(x) root(x)
#define KERN_NAME "plain"
#define KERN_TABLE kern_plain

typedef float root_vf __attribute__((vector_size(VW * 4)));
static inline root_vf root(root_vf x)
{
    return (root_vf){sqrtf(x[0]), sqrtf(x[1]), sqrtf(x[2]), sqrtf(x[3])};
}

#include "core/train/kern_body.h"
