/* compute.h - what every operation computes with: threads, kernels, scratch.
 *
 * The kernels exist for three instruction sets (plain C with vectors of four,
 * AVX2, AVX-512) and are chosen once, by what the processor has or by
 * PODIUM_ISA=plain|avx2|avx512.
 *
 * Determinism: work is cut into tasks whose results don't depend on which
 * thread runs them, and every sum is taken in a fixed order. The same program
 * on the same instruction set gives the same bytes for any number of threads.
 */
#ifndef CORE_TRAIN_COMPUTE_H
#define CORE_TRAIN_COMPUTE_H

#include "core/base/err.h"

struct pool;
struct kern;

struct compute {
    struct pool *pool;
    const struct kern *k;
    int threads;
    float *shared;                /* packed B of a GEMM */
    float **scratch;              /* one piece a thread: packed A, tiles of attention */
    size_t shared_floats, scratch_floats;
};

/* threads 0: as many processors as this process may use (affinity and the
 * cgroup's CPU quota). PD_USAGE for an instruction set that is not there.
 * max_seq sizes attention's scratch. */
MUST_USE enum pd_code compute_init(struct compute *c, int threads, int max_seq,
                                   struct pd_err *err);
void compute_release(struct compute *c);
const char *compute_isa(const struct compute *c);         /* "avx512" … */
int compute_default_threads(void);

/* Run fn(arg, task, thread) for task 0 … tasks-1 on all threads and wait.
 * thread is 0 … threads-1. Not reentrant. */
typedef void compute_fn(void *arg, int task, int thread);
void compute_run(struct compute *c, compute_fn *fn, void *arg, int tasks);

/* A matrix operand by strides: element (i, j) is p[i * rs + j * cs]. */
struct mat {
    const float *p;
    ptrdiff_t rs, cs;
};

/* The three products of a linear layer with W [out, in]:
 * Y = X Wᵀ, dX = dY W, dW = dYᵀ X. */
static inline struct mat mat_rows(const float *p, ptrdiff_t ld)   /* as stored */
{
    return (struct mat){p, ld, 1};
}
static inline struct mat mat_t(const float *p, ptrdiff_t ld)      /* transposed */
{
    return (struct mat){p, 1, ld};
}

/* C[m,n] = alpha * A[m,k] B[k,n] (+ C when accumulate). C is row-major with
 * pitch ldc. All threads take part. Sums run over k in order, in blocks that
 * depend on k alone. */
void gemm_run(struct compute *c, int m, int n, int k, float alpha, struct mat a, struct mat b,
              bool accumulate, float *out, ptrdiff_t ldc);
/* The same on the calling thread alone (within a task). */
void gemm_local(struct compute *c, int thread, int m, int n, int k, float alpha, struct mat a,
                struct mat b, bool accumulate, float *out, ptrdiff_t ldc);

#endif
