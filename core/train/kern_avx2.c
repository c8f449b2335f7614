/* kern_avx2.c - the inner loops for AVX2 and FMA, vectors of eight floats. */
#include "core/train/kern.h"

#if defined(__x86_64__)
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define VW 8
#define TILE_MR 6
#define TILE_NV 2
#define VFMA(a, b, c) ((vf)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define VSQRT(x) ((vf)_mm256_sqrt_ps((__m256)(x)))
#define KERN_NAME "avx2"
#define KERN_TABLE kern_avx2
#include "core/train/kern_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
const struct kern kern_avx2 = {.name = "avx2"};
#endif
