/* train_gemm.c - matrix multiplication of each instruction set against f64 on
 * odd shapes, and the vector functions against plain C. */
#include "core/train/compute.h"

#include <sys/mman.h>

#include "core/train/kern.h"
#include "tests/unit/train_check.h"

enum { MOST = 700 * 700 };
static float a[MOST], b[MOST], out[MOST], first[MOST];

static const int shapes[][3] = {
    {1, 1, 1},    {1, 33, 7},   {13, 31, 257}, {12, 32, 256}, {6, 16, 3},   {97, 65, 300},
    {25, 8, 70},  {100, 3, 19}, {5, 16, 513},  {130, 17, 64}, {48, 96, 40}, {7, 300, 9},
};

/* C = alpha A B + C0 in f64, at a few hundred places. */
static void check_product(const int s[3], struct mat x, struct mat y, float alpha, bool acc,
                          const float *got, int ldc)
{
    int m = s[0], n = s[1], k = s[2], step = m * n > 400 ? m * n / 397 : 1;
    for (int at = 0; at < m * n; at += step) {
        int i = at / n, j = at % n;
        double sum = 0, size = 1;
        for (int p = 0; p < k; p++) {
            double t = (double)x.p[i * x.rs + p * x.cs] * (double)y.p[p * y.rs + j * y.cs];
            sum += t;
            size += fabs(t);
        }
        sum = (double)alpha * sum + (acc ? 0.5 : 0);
        CHECK_MSG(fabs((double)got[i * ldc + j] - sum) < 1e-6 * size,
                  "%d x %d x %d at %d,%d: %.9g, want %.9g", m, n, k, i, j,
                  (double)got[i * ldc + j], sum);
    }
}

static void clear(int n, float value)
{
    for (int i = 0; i < n; i++)
        out[i] = value;
}

static void one_product(struct compute *c, const int s[3], bool ta, bool tb, bool acc, bool local)
{
    int m = s[0], n = s[1], k = s[2], ldc = n + 3;
    struct mat x = ta ? mat_t(a, m + 1) : mat_rows(a, k + 2);
    struct mat y = tb ? mat_t(b, k + 1) : mat_rows(b, n + 2);
    float alpha = acc ? 0.75f : 1.0f;
    clear(m * ldc, 0.5f);
    if (local)
        gemm_local(c, 0, m, n, k, alpha, x, y, acc, out, ldc);
    else
        gemm_run(c, m, n, k, alpha, x, y, acc, out, ldc);
    check_product(s, x, y, alpha, acc, out, ldc);
    for (int i = 0; i < m; i++)
        for (int j = n; j < ldc; j++)
            CHECK_MSG(out[i * ldc + j] == 0.5f, "written behind row %d", i);
}

static void products(struct compute *c)
{
    rng_fill_normal(1, a, MOST, 1);
    rng_fill_normal(2, b, MOST, 1);
    for (size_t s = 0; s < ARRAY_LEN(shapes); s++)
        for (int form = 0; form < 16; form++)
            one_product(c, shapes[s], form & 1, form & 2, form & 4, form & 8);
}

TEST(products_of_odd_shapes) { check_everywhere(products); }

/* One and three threads, and a batch cut in two, give the same bytes. */
static void same_bytes(struct compute *c)
{
    struct compute three;
    struct pd_err err;
    enum { M = 301, N = 130, K = 517 };
    CHECK_OK(compute_init(&three, 3, 8, &err));
    gemm_run(c, M, N, K, 1, mat_rows(a, K), mat_t(b, K), false, first, N);
    gemm_run(&three, M, N, K, 1, mat_rows(a, K), mat_t(b, K), false, out, N);
    CHECK(memcmp(first, out, M * N * sizeof *out) == 0);
    clear(M * N, 0);
    gemm_run(c, 101, N, K, 1, mat_rows(a, K), mat_t(b, K), false, out, N);
    gemm_run(c, M - 101, N, K, 1, mat_rows(a + 101 * K, K), mat_t(b, K), false, out + 101 * N, N);
    CHECK(memcmp(first, out, M * N * sizeof *out) == 0);
    compute_release(&three);
}

TEST(threads_and_batches_change_no_byte)
{
    rng_fill_normal(3, a, MOST, 1);
    rng_fill_normal(4, b, MOST, 1);
    check_everywhere(same_bytes);
}

/* n floats that end where an unreadable page begins. */
static float *at_the_edge(size_t n)
{
    size_t size = (n * sizeof(float) + 4095) / 4096 * 4096;
    char *p = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && mprotect(p + size, 4096, PROT_NONE) == 0);
    float *x = (float *)(void *)(p + size) - n;
    rng_fill_normal(8, x, n, 1);
    return x;
}

static void at_edges(struct compute *c)
{
    for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
        int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        float *x = at_the_edge((size_t)(m * k)), *y = at_the_edge((size_t)(k * n));
        float *z = at_the_edge((size_t)(m * n));
        gemm_run(c, m, n, k, 1, mat_rows(x, k), mat_rows(y, n), true, z, n);
        gemm_run(c, m, n, k, 1, mat_t(x, m), mat_t(y, k), false, z, n);
        check_product(shapes[s], mat_t(x, m), mat_t(y, k), 1, false, z, n);
    }
}

TEST(nothing_behind_the_operands_is_touched) { check_everywhere(at_edges); }

static void vector_functions(const struct kern *k, size_t n)
{
    float x[70], y[70], z[70];
    rng_fill_normal(5, x, n, 2);
    rng_fill_normal(6, y, n, 2);
    double dot = 0, sum = 0, max = -1e9;
    for (size_t i = 0; i < n; i++) {
        dot += (double)x[i] * (double)y[i];
        max = fmax(max, (double)x[i]);
        z[i] = x[i];
    }
    CHECK_NEAR(k->dot(n, x, y), dot, 1e-4);
    CHECK_NEAR(k->max(n, x), max, 0);
    for (size_t i = 0; i < n; i++)
        sum += exp((double)(x[i] - 1.5f));
    CHECK_NEAR(k->exp_sum(n, 1.5f, z), sum, 1e-6 * sum);
    for (size_t i = 0; i < n; i++)
        CHECK_NEAR(z[i], exp((double)(x[i] - 1.5f)), 2e-7 * exp((double)(x[i] - 1.5f)));
    memcpy(z, y, sizeof z);
    k->axpy(n, 0.5f, x, z);
    for (size_t i = 0; i < n; i++)
        CHECK_NEAR(z[i], 0.5 * (double)x[i] + (double)y[i], 1e-6);
}

TEST(vector_functions_of_every_length)
{
    for (size_t t = 0; t < ARRAY_LEN(check_tables); t++)
        for (size_t n = 1; n < 70 && kern_usable(check_tables[t]); n++)
            vector_functions(check_tables[t], n);
}

TEST(exp_keeps_its_ends)
{
    for (size_t t = 0; t < ARRAY_LEN(check_tables); t++) {
        float x[] = {-1000, -87, 0, 88, 1000, NAN, -INFINITY};
        if (!kern_usable(check_tables[t]))
            continue;
        check_tables[t]->exp_sum(ARRAY_LEN(x), 0, x);
        CHECK(x[0] >= 0 && x[0] < 1e-37f && x[6] >= 0 && x[6] < 1e-37f);
        CHECK_NEAR(x[2], 1, 0);
        CHECK(x[3] > 1e38f && x[4] >= x[3]);
        CHECK(isnan(x[5]));
    }
}

TEST(isa_by_name)
{
    struct compute c;
    struct pd_err err;
    CHECK(kern_choose("plain") == &kern_plain);
    CHECK(kern_choose("sse9") == NULL);
    CHECK(kern_usable(kern_choose(NULL)));
    setenv("PODIUM_ISA", "sse9", 1);
    CHECK_INT(compute_init(&c, 1, 8, &err), PD_USAGE);
    CHECK_HAS(err.msg, "sse9");
}

T_MAIN
