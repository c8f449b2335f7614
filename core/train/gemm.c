/* gemm.c - matrix multiplication, packed and blocked (gemm.h, compute.h). */
#include "core/train/gemm.h"

#include "core/train/kern.h"

struct job {
    struct compute *c;
    int m, n, k;
    float alpha;
    struct mat a, b;
    bool acc;
    float *out;
    ptrdiff_t ldc;
    int k0, kc, n0, nc;           /* the block at work */
    int nr;                       /* width of the register tile */
    int mb, nb;                   /* rows and columns of a task */
    int mtasks;
    float *packed_b;
};

size_t gemm_scratch_floats(int max_seq)
{
    return GEMM_A_FLOATS + GEMM_B_FLOATS + 2 * (size_t)GEMM_ROWS * (size_t)(max_seq + 64) + 4096;
}

float *gemm_free_scratch(struct compute *c, int thread)
{
    return c->scratch[thread] + GEMM_A_FLOATS + GEMM_B_FLOATS;
}

static int round_up(int x, int to)
{
    return (x + to - 1) / to * to;
}

typedef float v4 __attribute__((vector_size(16)));
typedef float v4u __attribute__((vector_size(16), aligned(4), may_alias));

/* Lines already stand side by side: copy them row by row. */
static void pack_copy(const float *src, ptrdiff_t es, int w, int width, int kc, float *dst)
{
    for (int p = 0; p < kc; p++, dst += width, src += es) {
        int i = 0;
        for (; i + 4 <= w; i += 4)
            *(v4u *)(dst + i) = *(const v4u *)(src + i);
        for (; i < w; i++)
            dst[i] = src[i];
        for (; i < width; i++)
            dst[i] = 0;
    }
}

/* Four lines, four elements of each at a time, turned in registers. */
static void pack_four(const float *src, ptrdiff_t ls, int width, int kc, float *dst)
{
    const float *s0 = src, *s1 = s0 + ls, *s2 = s1 + ls, *s3 = s2 + ls;
    int p = 0;
    for (; p + 4 <= kc; p += 4, dst += 4 * width) {
        v4 a = *(const v4u *)(s0 + p), b = *(const v4u *)(s1 + p);
        v4 c = *(const v4u *)(s2 + p), d = *(const v4u *)(s3 + p);
        v4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        v4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        v4 ef = __builtin_shufflevector(a, b, 2, 6, 3, 7);
        v4 gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
        *(v4u *)dst = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
        *(v4u *)(dst + width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        *(v4u *)(dst + 2 * width) = __builtin_shufflevector(ef, gh, 0, 1, 4, 5);
        *(v4u *)(dst + 3 * width) = __builtin_shufflevector(ef, gh, 2, 3, 6, 7);
    }
    for (; p < kc; p++, dst += width)
        *(v4u *)dst = (v4){s0[p], s1[p], s2[p], s3[p]};
}

/* w lines of `src` (distance ls) of kc elements (distance es) become
 * dst[p * width + line]; lines from w to width are zero. */
static void pack_panel(const float *src, ptrdiff_t ls, ptrdiff_t es, int w, int width, int kc,
                       float *dst)
{
    if (ls == 1) {
        pack_copy(src, es, w, width, kc, dst);
        return;
    }
    int i = 0;
    for (; es == 1 && i + 4 <= w; i += 4)
        pack_four(src + i * ls, ls, width, kc, dst + i);
    for (; i < width; i++) {
        float *d = dst + i;
        for (int p = 0; p < kc; p++, d += width)
            *d = i < w ? src[i * ls + p * es] : 0;
    }
}

static void pack_b_task(void *arg, int task, int thread UNUSED)
{
    struct job *j = arg;
    int col = task * j->nr;
    pack_panel(j->b.p + j->k0 * j->b.rs + (j->n0 + col) * j->b.cs, j->b.cs, j->b.rs,
               MIN(j->nr, j->nc - col), j->nr, j->kc,
               j->packed_b + (size_t)col * (size_t)j->kc);
}

static const float *a_at(const struct job *j, int row)
{
    return j->a.p + row * j->a.rs + j->k0 * j->a.cs;
}

/* A that stands in rows is read where it is; only a last tile of fewer rows is
 * packed, so that it can be filled up with zeros. */
static void pack_a(const struct job *j, int row, int rows, float *dst)
{
    int mr = j->c->k->mr;
    for (int i = 0; i < rows; i += mr)
        if (j->a.cs != 1 || rows - i < mr)
            pack_panel(a_at(j, row + i), j->a.rs, j->a.cs, MIN(mr, rows - i), mr, j->kc,
                       dst + (size_t)i * (size_t)j->kc);
}

/* One register tile, whichever way A is read. */
static void run_tile(const struct job *j, int row, const float *packed, const float *b, bool acc,
                     float *out, ptrdiff_t ldc)
{
    const struct kern *k = j->c->k;
    bool thin = j->nr == k->thin;
    if (packed)
        (thin ? k->thin_tile : k->tile)(j->kc, j->alpha, packed, 0, b, acc, out, ldc);
    else
        (thin ? k->thin_rows : k->tile_rows)(j->kc, j->alpha, a_at(j, row), j->a.rs, b, acc, out,
                                             ldc);
}

/* A tile that does not fit goes by way of tmp; every element is computed by the
 * same operations as in a whole tile. */
static void edge_tile(const struct job *j, int row, const float *packed, const float *b, int rows,
                      int cols, bool acc, float *out, float *tmp)
{
    for (int r = 0; acc && r < rows; r++)
        memcpy(tmp + r * j->nr, out + r * j->ldc, (size_t)cols * sizeof *tmp);
    run_tile(j, row, packed, b, acc, tmp, j->nr);
    for (int r = 0; r < rows; r++)
        memcpy(out + r * j->ldc, tmp + r * j->nr, (size_t)cols * sizeof *tmp);
}

static void block(const struct job *j, int row, int rows, int col0, int col1, float *pa)
{
    int mr = j->c->k->mr;
    bool acc = j->acc || j->k0 > 0;
    float *tmp = pa + GEMM_A_FLOATS - GEMM_TILE;
    for (int col = col0; col < col1; col += j->nr) {
        const float *b = j->packed_b + (size_t)col * (size_t)j->kc;
        int cols = MIN(j->nr, j->nc - col);
        for (int i = 0; i < rows; i += mr) {
            int left = MIN(mr, rows - i);
            const float *packed = j->a.cs != 1 || left < mr
                                      ? pa + (size_t)i * (size_t)j->kc : NULL;
            float *out = j->out + (row + i) * j->ldc + j->n0 + col;
            if (left == mr && cols == j->nr)
                run_tile(j, row + i, packed, b, acc, out, j->ldc);
            else
                edge_tile(j, row + i, packed, b, left, cols, acc, out, tmp);
        }
    }
}

static void block_task(void *arg, int task, int thread)
{
    struct job *j = arg;
    int row = task % j->mtasks * j->mb, col = task / j->mtasks * j->nb;
    int rows = MIN(j->mb, j->m - row);
    float *pa = j->c->scratch[thread];
    pack_a(j, row, rows, pa);
    block(j, row, rows, col, MIN(col + j->nb, j->nc), pa);
}

/* Small enough that every thread gets some; never smaller than a register tile. */
static void cut_tasks(struct job *j)
{
    const struct kern *k = j->c->k;
    int want = j->c->threads == 1 ? 1 : 4 * j->c->threads;
    int most = GEMM_MC / k->mr * k->mr;
    j->mb = MIN(most, round_up((j->m + want - 1) / want, k->mr));
    j->mtasks = (j->m + j->mb - 1) / j->mb;
    int ncuts = j->mtasks >= want ? 1 : (want + j->mtasks - 1) / j->mtasks;
    j->nb = round_up((j->nc + ncuts - 1) / ncuts, j->nr);
}

static struct job make_job(struct compute *c, int m, int n, int k, float alpha, struct mat a,
                           struct mat b, bool acc, float *out, ptrdiff_t ldc)
{
    return (struct job){.c = c, .m = m, .n = n, .k = k, .alpha = alpha, .a = a, .b = b,
                        .acc = acc, .out = out, .ldc = ldc,
                        .nr = n <= c->k->thin ? c->k->thin : c->k->nr};
}

/* k is cut evenly into blocks of at most GEMM_KC: by k alone. */
static int k_block(int k)
{
    int blocks = (k + GEMM_KC - 1) / GEMM_KC;
    return (k + blocks - 1) / blocks;
}

void gemm_run(struct compute *c, int m, int n, int k, float alpha, struct mat a, struct mat b,
              bool accumulate, float *out, ptrdiff_t ldc)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    struct job j = make_job(c, m, n, k, alpha, a, b, accumulate, out, ldc);
    j.packed_b = c->shared;
    int kb = k_block(k), nb = GEMM_NC / j.nr * j.nr;
    for (j.n0 = 0; j.n0 < j.n; j.n0 += nb) {
        j.nc = MIN(nb, j.n - j.n0);
        cut_tasks(&j);
        for (j.k0 = 0; j.k0 < k; j.k0 += kb) {
            j.kc = MIN(kb, k - j.k0);
            compute_run(c, pack_b_task, &j, (j.nc + j.nr - 1) / j.nr);
            compute_run(c, block_task, &j, j.mtasks * ((j.nc + j.nb - 1) / j.nb));
        }
    }
}

void gemm_local(struct compute *c, int thread, int m, int n, int k, float alpha, struct mat a,
                struct mat b, bool accumulate, float *out, ptrdiff_t ldc)
{
    if (m <= 0 || n <= 0 || k <= 0)
        return;
    struct job j = make_job(c, m, n, k, alpha, a, b, accumulate, out, ldc);
    float *pa = c->scratch[thread];
    j.packed_b = pa + GEMM_A_FLOATS;
    int kb = k_block(k), nb = GEMM_LOCAL_NC / j.nr * j.nr;
    int mb = GEMM_MC / c->k->mr * c->k->mr;
    for (j.n0 = 0; j.n0 < j.n; j.n0 += nb) {
        j.nc = MIN(nb, j.n - j.n0);
        for (j.k0 = 0; j.k0 < k; j.k0 += kb) {
            j.kc = MIN(kb, k - j.k0);
            for (int p = 0; p * j.nr < j.nc; p++)
                pack_b_task(&j, p, thread);
            for (int row = 0; row < j.m; row += mb) {
                int rows = MIN(mb, j.m - row);
                pack_a(&j, row, rows, pa);
                block(&j, row, rows, 0, j.nc, pa);
            }
        }
    }
}
