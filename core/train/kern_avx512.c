/* kern_avx512.c - the inner loops for AVX-512, vectors of sixteen floats. */
#include "core/train/kern.h"

#if defined(__x86_64__)
#include <immintrin.h>

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,fma,prefer-vector-width=512")
#endif
#define VW 16
#define TILE_MR 12
#define TILE_NV 2
#define VFMA(a, b, c) ((vf)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define VSQRT(x) ((vf)_mm512_sqrt_ps((__m512)(x)))
#define KERN_NAME "avx512"
#define KERN_TABLE kern_avx512
#include "core/train/kern_body.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
const struct kern kern_avx512 = {.name = "avx512"};
#endif
