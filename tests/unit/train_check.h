/* train_check.h - shared by the tests of the training core: random numbers,
 * central differences in f64, every instruction set of this machine. */
#ifndef TESTS_UNIT_TRAIN_CHECK_H
#define TESTS_UNIT_TRAIN_CHECK_H

#include <math.h>

#include "core/train/compute.h"
#include "core/train/kern.h"
#include "core/train/rng.h"
#include "tests/t.h"

static const struct kern *const check_tables[] = {&kern_plain, &kern_avx2, &kern_avx512};

/* f32 values and the same in f64. */
static inline void check_fill(uint64_t key, double *x, float *f, int n, double scale)
{
    for (int i = 0; i < n; i++) {
        f[i] = (float)(scale * rng_normal(rng_key(key, 0, 0, 0), (uint64_t)i));
        x[i] = (double)f[i];
    }
}

/* |a - b| within tol of the larger scale of the two vectors. */
static inline void check_close(const char *what, const float *got, const double *want, int n,
                               double tol)
{
    double scale = 1e-3;
    for (int i = 0; i < n; i++)
        scale = fmax(scale, fabs(want[i]));
    for (int i = 0; i < n; i++)
        CHECK_MSG(fabs((double)got[i] - want[i]) <= tol * scale, "%s[%d] = %.9g, want %.9g", what,
                  i, (double)got[i], want[i]);
}

/* grad must be the derivative of f(arg) by x, n central differences in f64. */
typedef double check_fn(void *arg);
static inline void check_grad(const char *what, check_fn *f, void *arg, double *x, int n,
                              const float *grad)
{
    double want[4096];
    CHECK(n <= 4096);
    for (int i = 0; i < n; i++) {
        double keep = x[i], h = 1e-5;
        x[i] = keep + h;
        double up = f(arg);
        x[i] = keep - h;
        double down = f(arg);
        x[i] = keep;
        want[i] = (up - down) / (2 * h);
    }
    check_close(what, grad, want, n, 2e-5);
}

/* fn with each instruction set that this machine has, 1 and 2 threads. */
typedef void check_with(struct compute *c);
static inline void check_everywhere(check_with *fn)
{
    struct pd_err err;
    for (size_t i = 0; i < ARRAY_LEN(check_tables); i++)
        for (int threads = 1; threads <= 2 && kern_usable(check_tables[i]); threads++) {
            struct compute c;
            setenv("PODIUM_ISA", check_tables[i]->name, 1);
            CHECK_OK(compute_init(&c, threads, 256, &err));
            fn(&c);
            compute_release(&c);
        }
}

#endif
