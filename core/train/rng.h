/* rng.h - random numbers without state: a value is a function of (key, counter).
 *
 * Nothing has to be saved to resume a run, and no order of calls or number of
 * threads changes a value. Mixing is the finaliser of SplitMix64 (Steele, Lea
 * and Flood, "Fast splittable pseudorandom number generators", 2014), applied
 * to key + counter * golden ratio.
 */
#ifndef CORE_TRAIN_RNG_H
#define CORE_TRAIN_RNG_H

#include "core/base/base.h"

/* A key for a purpose: fold the parts (seed, step, layer …) one by one. */
uint64_t rng_key(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);
uint64_t rng_u64(uint64_t key, uint64_t counter);
double rng_unit(uint64_t key, uint64_t counter);          /* [0, 1), 53 bits */
double rng_normal(uint64_t key, uint64_t counter);        /* Box-Muller */
void rng_fill_uniform(uint64_t key, float *x, size_t n, float lo, float hi);
void rng_fill_normal(uint64_t key, float *x, size_t n, float std);

#endif
