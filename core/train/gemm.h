/* gemm.h - sizes of the matrix multiplication's buffers (functions:
 * compute.h).
 *
 * C = A B is cut as in Goto and van de Geijn, "Anatomy of high-performance
 * matrix multiplication" (2008): blocks of GEMM_KC along k; B packed into
 * panels of nr columns, A into panels of mr rows, both zero-padded; the
 * register tile runs over them. A packed panel of A stays in the first-level
 * cache, a block of A in the second.
 */
#ifndef CORE_TRAIN_GEMM_H
#define CORE_TRAIN_GEMM_H

#include "core/train/compute.h"

enum {
    GEMM_KC = 256,                /* most of k in one block */
    GEMM_NC = 2304,               /* most columns of B packed at once (all threads) */
    GEMM_MC = 96,                 /* most rows of A packed at once */
    GEMM_LOCAL_NC = 512,          /* columns of B packed at once by gemm_local */
    GEMM_TILE = 16 * 64,          /* largest register tile, for edges */
    GEMM_SHARED_FLOATS = GEMM_KC * (GEMM_NC + 64),
    GEMM_A_FLOATS = GEMM_KC * (GEMM_MC + 16) + GEMM_TILE,
    GEMM_B_FLOATS = GEMM_KC * (GEMM_LOCAL_NC + 64),
    GEMM_ROWS = 64                /* query rows of an attention tile */
};

/* Scratch of a thread: packed A and edge tile, packed B of gemm_local, then
 * what gemm_free_scratch gives: two attention tiles [GEMM_ROWS, max_seq]. */
size_t gemm_scratch_floats(int max_seq);
float *gemm_free_scratch(struct compute *c, int thread);

#endif
