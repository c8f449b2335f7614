/* rng.c - random numbers as a function of key and counter (rng.h). */
#include "core/train/rng.h"

#include <math.h>

#define GOLDEN 0x9E3779B97F4A7C15ull

static inline uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

uint64_t rng_u64(uint64_t key, uint64_t counter)
{
    return mix(key + (counter + 1) * GOLDEN);
}

uint64_t rng_key(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t k = mix(seed + GOLDEN);
    k = mix(k ^ (a * 0xD1B54A32D192ED03ull + 1));
    k = mix(k ^ (b * 0xD1B54A32D192ED03ull + 2));
    return mix(k ^ (c * 0xD1B54A32D192ED03ull + 3));
}

double rng_unit(uint64_t key, uint64_t counter)
{
    return (double)(rng_u64(key, counter) >> 11) * 0x1p-53;
}

double rng_normal(uint64_t key, uint64_t counter)
{
    double u = 1.0 - rng_unit(key, 2 * counter);              /* (0, 1]: the log is finite */
    double v = rng_unit(key, 2 * counter + 1);
    return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}

void rng_fill_uniform(uint64_t key, float *x, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(lo + (hi - lo) * rng_unit(key, i));
}

void rng_fill_normal(uint64_t key, float *x, size_t n, float std)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(std * rng_normal(key, i));
}
