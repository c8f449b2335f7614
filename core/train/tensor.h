/* tensor.h - slabs and named tensors: every float of a run has its place
 * before step 0.
 *
 * A slab is one block of memory that is carved up by slab_take. The same code
 * carves twice: first with base NULL, when it only counts, then for real:
 *
 *   struct slab s = {0};  plan(&s, &model);          counts
 *   slab_alloc(&s);       plan(&s, &model);          gives pointers
 *
 * Every piece starts on a 64-byte boundary. Memory is zeroed.
 *
 * A tensor is a matrix [rows, cols], row-major, with its name in the file; a
 * vector has rows = 1 and ndim 1. `g`, `m` and `v` (gradient and Adam's two
 * moments) are NULL when it is frozen.
 */
#ifndef CORE_TRAIN_TENSOR_H
#define CORE_TRAIN_TENSOR_H

#include "core/base/err.h"

enum { TENSOR_NAME = 112, SLAB_ALIGN = 64 };

struct slab {
    float *base;                  /* NULL: planning */
    size_t used, size;            /* in floats */
};
void slab_alloc(struct slab *s);                          /* size = used; used = 0 */
float *slab_take(struct slab *s, size_t n);               /* NULL while planning */
void slab_release(struct slab *s);

struct tensor {
    char name[TENSOR_NAME];
    int rows, cols, ndim;
    bool decay;                   /* AdamW's weight decay applies (matrices only) */
    float *w, *g, *m, *v;
};

struct tensors {                  /* in the order of the file and of every reduction */
    struct tensor *t;
    int n, cap;
};
void tensors_release(struct tensors *ts);                 /* the list, not the slabs */
/* Append an unplaced tensor; rows 0 makes a vector of cols. Borrowed until
 * the next call. */
struct tensor *tensors_add(struct tensors *ts, int rows, int cols, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
struct tensor *tensors_find(const struct tensors *ts, const char *name);
size_t tensors_count(const struct tensor *t);             /* floats */
size_t tensors_total(const struct tensors *ts);
/* Take g, m and v for every tensor: each kind in one piece, in list order. */
void tensors_take_state(struct tensors *ts, struct slab *s);
/* First non-finite value among `kind` ('w' or 'g'): its tensor and index. */
const struct tensor *tensors_nonfinite(const struct tensors *ts, char kind, size_t *at);

#endif
