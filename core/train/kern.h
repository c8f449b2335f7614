/* kern.h - the inner loops, one table of functions an instruction set.
 *
 * kern_body.h is compiled three times, by kern_plain.c, kern_avx2.c and
 * kern_avx512.c, with vectors of 4, 8 and 16 floats. Sums over a row are taken
 * in vector lanes, then over the lanes in order: fixed for one table.
 */
#ifndef CORE_TRAIN_KERN_H
#define CORE_TRAIN_KERN_H

#include "core/base/base.h"

struct kern_adamw {               /* one update, see optim.h */
    float scale;                  /* of the gradient: 1/tokens times the clip factor */
    float shrink;                 /* 1 - lr·wd */
    float take1, beta2, take2;    /* 1 - β₁, β₂, 1 - β₂ */
    float step;                   /* lr / (1 - β₁ᵗ) */
    float root, eps;              /* root = 1 / sqrt(1 - β₂ᵗ) */
};

struct kern {
    const char *name;
    int mr, nr, thin;             /* the GEMM's register tile; width of the thin one */
    /* c[mr,nr] (pitch ldc) = alpha * Σ a(i,p) b[p·nr + j], + c when acc. Three
     * ways to read A: packed a[p·mr + i]; rows a[i·lda + p]; and rows for a
     * result of `thin` columns. Every element is the same chain of operations
     * in each of them. */
    void (*tile)(int k, float alpha, const float *a, ptrdiff_t lda, const float *b, bool acc,
                 float *c, ptrdiff_t ldc);
    void (*tile_rows)(int k, float alpha, const float *a, ptrdiff_t lda, const float *b, bool acc,
                      float *c, ptrdiff_t ldc);
    void (*thin_tile)(int k, float alpha, const float *a, ptrdiff_t lda, const float *b, bool acc,
                      float *c, ptrdiff_t ldc);
    void (*thin_rows)(int k, float alpha, const float *a, ptrdiff_t lda, const float *b, bool acc,
                      float *c, ptrdiff_t ldc);
    float (*dot)(size_t n, const float *x, const float *y);
    float (*max)(size_t n, const float *x);
    float (*exp_sum)(size_t n, float shift, float *x);        /* x = exp(x - shift); Σ */
    void (*axpy)(size_t n, float a, const float *x, float *y);          /* y += a x */
    void (*scale)(size_t n, float a, const float *x, float *y);         /* y = a x */
    void (*scale_by)(size_t n, float a, const float *x, const float *w, float *y); /* y = a x w */
    /* RMSNorm backward of one row: dx += rstd (dy w - x (Σ dy w x) rstd² / n) */
    void (*norm_back)(size_t n, float rstd, const float *x, const float *w, const float *dy,
                      float *dx);
    void (*mul_add)(size_t n, float a, const float *x, const float *y, float *z); /* z += a x y */
    void (*swiglu)(size_t n, const float *gate, const float *up, float *act);
    void (*swiglu_back)(size_t n, const float *gate, const float *up, const float *dact,
                        float *dgate, float *dup);
    /* softmax backward of one row: p = p (dp - delta) a */
    void (*softmax_back)(size_t n, float delta, float a, const float *dp, float *p);
    void (*rotate)(size_t n, int dir, const float *cos_sin, float *x);  /* n pairs (i, i+n) */
    void (*adamw)(size_t n, const struct kern_adamw *k, const float *g, float *w, float *m,
                  float *v);
};

extern const struct kern kern_plain, kern_avx2, kern_avx512;

/* The table to use: by PODIUM_ISA or by the processor. NULL when PODIUM_ISA
 * names an unknown one or one that the processor lacks. */
const struct kern *kern_choose(const char *isa);
/* Whether this processor (and program) can run a table. */
bool kern_usable(const struct kern *k);

#endif
