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
    ptrdiff_t ors, ocs;           /* strides of the result */
    int k0, kc, n0, nc;           /* the block at work */
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

/* w lines of `src` (distance ls) of kc elements (distance es) become
 * dst[p * width + line]; lines from w to width are zero. */
static void pack_panel(const float *src, ptrdiff_t ls, ptrdiff_t es, int w, int width, int kc,
                       float *dst)
{
    if (ls == 1) {
        for (int p = 0; p < kc; p++, dst += width, src += es) {
            memcpy(dst, src, (size_t)w * sizeof *dst);
            for (int i = w; i < width; i++)
                dst[i] = 0;
        }
        return;
    }
    int i = 0;
    for (; i + 4 <= w; i += 4) {
        const float *s0 = src + i * ls, *s1 = s0 + ls, *s2 = s1 + ls, *s3 = s2 + ls;
        float *d = dst + i;
        for (int p = 0; p < kc; p++, d += width) {
            d[0] = s0[p * es];
            d[1] = s1[p * es];
            d[2] = s2[p * es];
            d[3] = s3[p * es];
        }
    }
    for (; i < width; i++) {
        float *d = dst + i;
        for (int p = 0; p < kc; p++, d += width)
            *d = i < w ? src[i * ls + p * es] : 0;
    }
}

static void pack_b_task(void *arg, int task, int thread UNUSED)
{
    struct job *j = arg;
    int nr = j->c->k->nr, col = task * nr;
    pack_panel(j->b.p + j->k0 * j->b.rs + (j->n0 + col) * j->b.cs, j->b.cs, j->b.rs,
               MIN(nr, j->nc - col), nr, j->kc, j->packed_b + (size_t)col * (size_t)j->kc);
}

static void pack_a(const struct job *j, int row, int rows, float *dst)
{
    int mr = j->c->k->mr;
    for (int i = 0; i < rows; i += mr)
        pack_panel(j->a.p + (row + i) * j->a.rs + j->k0 * j->a.cs, j->a.rs, j->a.cs,
                   MIN(mr, rows - i), mr, j->kc, dst + (size_t)i * (size_t)j->kc);
}

/* A tile that does not fit, or whose result is transposed, goes by way of tmp;
 * every element is computed by the same operations as in a whole tile. */
static void edge_tile(const struct job *j, const float *a, const float *b, int rows, int cols,
                      bool acc, float *out, float *tmp)
{
    const struct kern *k = j->c->k;
    for (int r = 0; acc && r < rows; r++)
        for (int s = 0; s < cols; s++)
            tmp[r * k->nr + s] = out[r * j->ors + s * j->ocs];
    k->tile(j->kc, j->alpha, a, b, acc, tmp, k->nr);
    for (int r = 0; r < rows; r++)
        for (int s = 0; s < cols; s++)
            out[r * j->ors + s * j->ocs] = tmp[r * k->nr + s];
}

static void block(const struct job *j, int row, int rows, int col0, int col1, float *pa)
{
    const struct kern *k = j->c->k;
    bool acc = j->acc || j->k0 > 0;
    float *tmp = pa + GEMM_A_FLOATS - GEMM_TILE;
    for (int col = col0; col < col1; col += k->nr) {
        const float *b = j->packed_b + (size_t)col * (size_t)j->kc;
        int cols = MIN(k->nr, j->nc - col);
        for (int i = 0; i < rows; i += k->mr) {
            const float *a = pa + (size_t)i * (size_t)j->kc;
            float *out = j->out + (row + i) * j->ors + (j->n0 + col) * j->ocs;
            int left = MIN(k->mr, rows - i);
            if (left == k->mr && cols == k->nr && j->ocs == 1)
                k->tile(j->kc, j->alpha, a, b, acc, out, j->ors);
            else
                edge_tile(j, a, b, left, cols, acc, out, tmp);
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
    j->nb = round_up((j->nc + ncuts - 1) / ncuts, k->nr);
}

/* A narrow result is computed as its transpose: C ᵀ = Bᵀ Aᵀ wastes less of the
 * register tile. */
static struct job make_job(struct compute *c, int m, int n, int k, float alpha, struct mat a,
                           struct mat b, bool acc, float *out, ptrdiff_t ldc)
{
    struct job j = {.c = c, .m = m, .n = n, .k = k, .alpha = alpha, .a = a, .b = b, .acc = acc,
                    .out = out, .ors = ldc, .ocs = 1};
    if (n <= c->k->nr / 2 && m > n) {
        j.m = n;
        j.n = m;
        j.a = (struct mat){b.p, b.cs, b.rs};
        j.b = (struct mat){a.p, a.cs, a.rs};
        j.ors = 1;
        j.ocs = ldc;
    }
    return j;
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
    int kb = k_block(k), nb = GEMM_NC / c->k->nr * c->k->nr;
    for (j.n0 = 0; j.n0 < j.n; j.n0 += nb) {
        j.nc = MIN(nb, j.n - j.n0);
        cut_tasks(&j);
        for (j.k0 = 0; j.k0 < k; j.k0 += kb) {
            j.kc = MIN(kb, k - j.k0);
            compute_run(c, pack_b_task, &j, (j.nc + c->k->nr - 1) / c->k->nr);
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
    int kb = k_block(k), nb = GEMM_LOCAL_NC / c->k->nr * c->k->nr;
    int mb = GEMM_MC / c->k->mr * c->k->mr;
    for (j.n0 = 0; j.n0 < j.n; j.n0 += nb) {
        j.nc = MIN(nb, j.n - j.n0);
        for (j.k0 = 0; j.k0 < k; j.k0 += kb) {
            j.kc = MIN(kb, k - j.k0);
            for (int p = 0; p * c->k->nr < j.nc; p++)
                pack_b_task(&j, p, thread);
            for (int row = 0; row < j.m; row += mb) {
                int rows = MIN(mb, j.m - row);
                pack_a(&j, row, rows, pa);
                block(&j, row, rows, 0, j.nc, pa);
            }
        }
    }
}
