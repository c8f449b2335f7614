/* speed_peak.c - multiply-adds on registers alone (speed.h). Twelve chains hide
 * the latency of four cycles on two units; each is a variable of its own, since
 * a compiler keeps an array of them in memory.
 */
#include "core/train/speed.h"

#include "core/base/str.h"

enum { CHAINS = 12 };

static volatile float sink;

#if defined(__x86_64__)
#include <immintrin.h>

#define EACH(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11)
#define DECLARE(i) x##i = SET((float)(i)),
#define STEP(i) x##i = FMA(x##i, a, b);
#define SUM(i) a = FMA(x##i, b, a);
#define BODY                                                                                      \
    VEC EACH(DECLARE) a = SET(0.999f), b = SET(1e-6f);                                            \
    for (int64_t r = 0; r < rounds; r++) {                                                        \
        EACH(STEP)                                                                                \
    }                                                                                             \
    EACH(SUM)                                                                                     \
    sink = FIRST(a);                                                                              \
    return 2.0 * CHAINS * (double)(sizeof(VEC) / sizeof(float)) * (double)rounds;

#define VEC __m128
#define SET _mm_set1_ps
#define FMA(x, y, z) _mm_add_ps(_mm_mul_ps(x, y), z)
#define FIRST _mm_cvtss_f32
static double spin_plain(int64_t rounds)
{
    BODY
}
#undef VEC
#undef SET
#undef FMA
#undef FIRST
#define VEC __m256
#define SET _mm256_set1_ps
#define FMA _mm256_fmadd_ps
#define FIRST _mm256_cvtss_f32
__attribute__((target("avx2,fma"))) static double spin_avx2(int64_t rounds)
{
    BODY
}
#undef VEC
#undef SET
#undef FMA
#undef FIRST
#define VEC __m512
#define SET _mm512_set1_ps
#define FMA _mm512_fmadd_ps
#define FIRST _mm512_cvtss_f32
__attribute__((target("avx512f"))) static double spin_avx512(int64_t rounds)
{
    BODY
}

double speed_spin(const char *isa, int64_t rounds)
{
    return str_eq(isa, "avx512") ? spin_avx512(rounds)
           : str_eq(isa, "avx2") ? spin_avx2(rounds)
                                 : spin_plain(rounds);
}
#else
double speed_spin(const char *isa UNUSED, int64_t rounds)
{
    float x[CHAINS] = {0};
    for (int64_t r = 0; r < rounds; r++)
        for (int i = 0; i < CHAINS; i++)
            x[i] = x[i] * 0.999f + 1e-6f;
    sink = x[0];
    return 2.0 * CHAINS * (double)rounds;
}
#endif
