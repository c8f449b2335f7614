/* train_ops.c - every operation of the training core: its result against a
 * plain f64 version, its gradient against central differences of that. */
#include "core/train/ops.h"

#include "tests/unit/train_check.h"

/* --- RMSNorm -------------------------------------------------------------- */
enum { N = 5, D = 37 };           /* odd, so that vectors have a rest */

struct norm_case {
    double x[N * D], w[D], g[N * D];
};

static void ref_norm(const struct norm_case *k, double *y)
{
    for (int i = 0; i < N; i++) {
        double s = 0;
        for (int j = 0; j < D; j++)
            s += k->x[i * D + j] * k->x[i * D + j];
        for (int j = 0; j < D; j++)
            y[i * D + j] = k->x[i * D + j] / sqrt(s / D + 1e-5) * k->w[j];
    }
}

static double dot_d(const double *a, const double *b, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

static double norm_loss(void *arg)
{
    double y[N * D];
    ref_norm(arg, y);
    return dot_d(y, ((struct norm_case *)arg)->g, N * D);
}

static void norm_case(struct compute *c)
{
    static struct norm_case k;
    static float x[N * D], w[D], g[N * D], y[N * D], rstd[N], dx[N * D], dw[D];
    double want[N * D];
    check_fill(1, k.x, x, N * D, 1);
    check_fill(2, k.w, w, D, 1);
    check_fill(3, k.g, g, N * D, 1);
    ops_rmsnorm(c, N, D, 1e-5f, x, w, y, rstd);
    ref_norm(&k, want);
    check_close("y", y, want, N * D, 1e-6);
    memset(dx, 0, sizeof dx);
    memset(dw, 0, sizeof dw);
    ops_rmsnorm_back(c, N, D, x, w, rstd, g, dx, dw);
    check_grad("dx", norm_loss, &k, k.x, N * D, dx);
    check_grad("dw", norm_loss, &k, k.w, D, dw);
}

TEST(rmsnorm) { check_everywhere(norm_case); }

/* --- rotary embedding ----------------------------------------------------- */
enum { HD = 10, HEADS = 3, ROWS = 7 };

struct rope_case {
    double x[ROWS * HEADS * HD], g[ROWS * HEADS * HD], freq[HD / 2];
    int pos[ROWS];
};

/* The pair (i, i + HD/2) of a head turns by pos * freq[i]. */
static void ref_rope(const struct rope_case *k, double *y)
{
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < HEADS; h++)
            for (int i = 0; i < HD / 2; i++) {
                int a = (r * HEADS + h) * HD + i, b = a + HD / 2;
                double t = k->pos[r] * k->freq[i];
                y[a] = k->x[a] * cos(t) - k->x[b] * sin(t);
                y[b] = k->x[b] * cos(t) + k->x[a] * sin(t);
            }
}

static double rope_loss(void *arg)
{
    double y[ROWS * HEADS * HD];
    ref_rope(arg, y);
    return dot_d(y, ((struct rope_case *)arg)->g, ROWS * HEADS * HD);
}

static void rope_case(struct compute *c)
{
    static struct rope_case k;
    static float x[ROWS * HEADS * HD], g[ROWS * HEADS * HD], cs[16 * HD];
    double want[ROWS * HEADS * HD];
    check_fill(4, k.x, x, ROWS * HEADS * HD, 1);
    check_fill(5, k.g, g, ROWS * HEADS * HD, 1);
    for (int i = 0; i < HD / 2; i++)
        k.freq[i] = pow(10000, -2.0 * i / HD);
    for (int r = 0; r < ROWS; r++)
        k.pos[r] = (r * 5) % 16;
    struct rows rows = {.n = ROWS, .pos = k.pos};
    ops_rope_table(k.freq, HD, 16, cs);
    ops_rope(c, &rows, HEADS, HD, cs, 1, x, HEADS * HD);
    ref_rope(&k, want);
    check_close("rotated", x, want, ROWS * HEADS * HD, 1e-6);
    ops_rope(c, &rows, HEADS, HD, cs, -1, g, HEADS * HD);
    check_grad("dx", rope_loss, &k, k.x, ROWS * HEADS * HD, g);
}

TEST(rope) { check_everywhere(rope_case); }

/* --- attention ------------------------------------------------------------ */
enum { AH = 4, AKV = 2, AHD = 6, AN = 11, AW = (AH + 2 * AKV) * AHD };

struct attn_case {
    double qkv[AN * AW], g[AN * AH * AHD];
    int off[3];
};

static void ref_attn_row(const struct attn_case *k, int first, int row, int h, double *out)
{
    double p[AN], max = -1e9, sum = 0;
    const double *q = k->qkv + row * AW + h * AHD;
    int kvh = h / (AH / AKV);
    for (int t = first; t <= row; t++) {
        p[t] = dot_d(q, k->qkv + t * AW + (AH + kvh) * AHD, AHD) / sqrt(AHD);
        max = fmax(max, p[t]);
    }
    for (int t = first; t <= row; t++)
        sum += p[t] = exp(p[t] - max);
    for (int i = 0; i < AHD; i++) {
        out[i] = 0;
        for (int t = first; t <= row; t++)
            out[i] += p[t] / sum * k->qkv[t * AW + (AH + AKV + kvh) * AHD + i];
    }
}

static void ref_attn(const struct attn_case *k, double *out)
{
    for (int s = 0; s < 2; s++)
        for (int row = k->off[s]; row < k->off[s + 1]; row++)
            for (int h = 0; h < AH; h++)
                ref_attn_row(k, k->off[s], row, h, out + (row * AH + h) * AHD);
}

static double attn_loss(void *arg)
{
    double out[AN * AH * AHD];
    ref_attn(arg, out);
    return dot_d(out, ((struct attn_case *)arg)->g, AN * AH * AHD);
}

static void attn_case(struct compute *c)
{
    static struct attn_case k = {.off = {0, 4, AN}};
    static float qkv[AN * AW], g[AN * AH * AHD], out[AN * AH * AHD], lse[AN * AH], d[AN * AW];
    double want[AN * AH * AHD];
    check_fill(6, k.qkv, qkv, AN * AW, 1);
    check_fill(7, k.g, g, AN * AH * AHD, 1);
    struct rows rows = {.n = AN, .nseq = 2, .off = k.off};
    struct attn_shape s = {AH, AKV, AHD};
    ops_attention(c, &rows, s, qkv, out, lse);
    ref_attn(&k, want);
    check_close("out", out, want, AN * AH * AHD, 2e-6);
    ops_attention_back(c, &rows, s, qkv, out, lse, g, d);
    check_grad("dqkv", attn_loss, &k, k.qkv, AN * AW, d);
}

TEST(attention_with_grouped_queries) { check_everywhere(attn_case); }

/* A long sequence crosses the tile of queries; the causal mask must hold there:
 * a change of the last key changes the last row alone. */
TEST(attention_looks_back_only)
{
    enum { LONG = 150 };
    static float qkv[LONG * AW], out[LONG * AH * AHD], other[LONG * AH * AHD], lse[LONG * AH];
    struct compute c;
    struct pd_err err;
    int off[] = {0, LONG};
    struct rows rows = {.n = LONG, .nseq = 1, .off = off};
    CHECK_OK(compute_init(&c, 1, LONG, &err));
    rng_fill_normal(9, qkv, ARRAY_LEN(qkv), 1);
    ops_attention(&c, &rows, (struct attn_shape){AH, AKV, AHD}, qkv, out, lse);
    for (int i = AH * AHD; i < AW; i++)
        qkv[(LONG - 1) * AW + i] += 3;
    ops_attention(&c, &rows, (struct attn_shape){AH, AKV, AHD}, qkv, other, lse);
    CHECK(memcmp(out, other, (LONG - 1) * AH * AHD * sizeof *out) == 0);
    CHECK(memcmp(out + (LONG - 1) * AH * AHD, other + (LONG - 1) * AH * AHD,
                 AH * AHD * sizeof *out) != 0);
    compute_release(&c);
}

/* --- SwiGLU --------------------------------------------------------------- */
enum { F = 21 };

struct glu_case {
    double gu[N * 2 * F], g[N * F];
};

static void ref_glu(const struct glu_case *k, double *y)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < F; j++) {
            double gate = k->gu[i * 2 * F + j];
            y[i * F + j] = gate / (1 + exp(-gate)) * k->gu[i * 2 * F + F + j];
        }
}

static double glu_loss(void *arg)
{
    double y[N * F];
    ref_glu(arg, y);
    return dot_d(y, ((struct glu_case *)arg)->g, N * F);
}

static void glu_case(struct compute *c)
{
    static struct glu_case k;
    static float gu[N * 2 * F], g[N * F], y[N * F], d[N * 2 * F];
    double want[N * F];
    check_fill(10, k.gu, gu, N * 2 * F, 3);
    check_fill(11, k.g, g, N * F, 1);
    ops_swiglu(c, N, F, gu, y);
    ref_glu(&k, want);
    check_close("act", y, want, N * F, 1e-6);
    ops_swiglu_back(c, N, F, gu, g, d);
    check_grad("dgu", glu_loss, &k, k.gu, N * 2 * F, d);
}

TEST(swiglu) { check_everywhere(glu_case); }

/* --- embedding ------------------------------------------------------------ */
static void embed_case(struct compute *c)
{
    static float table[6 * D], x[N * D], dtable[6 * D];
    const int32_t ids[N] = {4, 0, 4, 5, 4};
    double want[6 * D] = {0};
    rng_fill_normal(12, table, ARRAY_LEN(table), 1);
    ops_embed(c, N, D, ids, table, x);
    for (int i = 0; i < N; i++) {
        CHECK(memcmp(x + i * D, table + ids[i] * D, D * sizeof *x) == 0);
        for (int j = 0; j < D; j++)
            want[ids[i] * D + j] += (double)x[i * D + j];
    }
    memset(dtable, 0, sizeof dtable);
    ops_embed_back(c, N, D, ids, x, dtable);
    check_close("dtable", dtable, want, 6 * D, 1e-6);
}

TEST(embedding_adds_repeated_ids) { check_everywhere(embed_case); }

/* --- cross-entropy -------------------------------------------------------- */
enum { CN = 300, CD = 9, V = 13 };   /* more labelled rows than one chunk holds */

struct ce_case {
    double h[CN * CD], w[V * CD];
    int32_t labels[CN];
};

static double ce_loss(void *arg)
{
    const struct ce_case *k = arg;
    double sum = 0;
    for (int i = 0; i < CN; i++) {
        double z = 0, right = 0;
        for (int v = 0; k->labels[i] >= 0 && v < V; v++) {
            double logit = dot_d(k->h + i * CD, k->w + v * CD, CD);
            z += exp(logit);
            right = v == k->labels[i] ? logit : right;
        }
        sum += k->labels[i] >= 0 ? log(z) - right : 0;
    }
    return sum;
}

static void ce_case(struct compute *c)
{
    static struct ce_case k;
    static float h[CN * CD], w[V * CD], dh[CN * CD], dw[V * CD];
    int64_t count, want = 0;
    int bad;
    check_fill(13, k.h, h, CN * CD, 1);
    check_fill(14, k.w, w, V * CD, 1);
    for (int i = 0; i < CN; i++) {
        k.labels[i] = i % 11 == 3 ? -100 : (i * 7) % V;
        want += k.labels[i] >= 0;
    }
    struct rows rows = {.n = CN, .labels = k.labels};
    float *scratch = calloc(ops_ce_floats(CD, V), sizeof *scratch);
    double sum = ops_cross_entropy(c, &rows, CD, V, h, w, scratch, NULL, NULL, &count, &bad);
    CHECK_INT(count, want);
    CHECK_INT(bad, -1);
    CHECK_NEAR(sum, ce_loss(&k), 1e-3);
    memset(dw, 0, sizeof dw);
    CHECK_NEAR(ops_cross_entropy(c, &rows, CD, V, h, w, scratch, dh, dw, &count, &bad), sum, 0);
    check_grad("dh", ce_loss, &k, k.h, CN * CD, dh);
    check_grad("dw", ce_loss, &k, k.w, V * CD, dw);
    for (int i = 0; i < CD; i++)
        CHECK(dh[3 * CD + i] == 0);               /* a masked row has no gradient */
    free(scratch);
}

TEST(cross_entropy_over_labelled_rows) { check_everywhere(ce_case); }

TEST(the_loss_of_a_large_vocabulary_fits)
{
    /* 2,048 rows of Llama 3's vocabulary would be 1 GB of logits */
    CHECK(ops_ce_floats(2048, 128256) * sizeof(float) < 200u << 20);
}

TEST(cross_entropy_names_a_bad_row)
{
    enum { ROW = 2 };
    float h[4 * CD], w[V * CD];
    int32_t labels[4] = {1, -100, 2, 3};
    struct rows rows = {.n = 4, .labels = labels};
    struct compute c;
    struct pd_err err;
    int64_t count;
    int bad;
    CHECK_OK(compute_init(&c, 1, 8, &err));
    float *scratch = calloc(ops_ce_floats(CD, V), sizeof *scratch);
    rng_fill_normal(1, h, ARRAY_LEN(h), 1);
    rng_fill_normal(2, w, ARRAY_LEN(w), 1);
    h[ROW * CD + 1] = NAN;
    ops_cross_entropy(&c, &rows, CD, V, h, w, scratch, NULL, NULL, &count, &bad);
    CHECK_INT(bad, ROW);
    free(scratch);
    compute_release(&c);
}

/* --- dropout -------------------------------------------------------------- */
TEST(dropout_keeps_the_mean_and_repeats)
{
    enum { LINES = 40, WIDE = 1003, M = LINES * WIDE };
    static float x[M], y[M], z[M];
    static int64_t number[LINES];
    struct dropout o = {.p = 0.25f, .key = 77};
    struct compute c;
    struct pd_err err;
    int kept = 0;
    CHECK_OK(compute_init(&c, 2, 8, &err));
    for (int i = 0; i < M; i++)
        x[i] = 1;
    ops_dropout(&c, LINES, WIDE, &o, x, y);
    ops_dropout(&c, LINES, WIDE, &o, x, z);
    CHECK(memcmp(y, z, sizeof y) == 0);
    for (int i = 0; i < M; i++) {
        CHECK(y[i] == 0 || fabsf(y[i] - 1 / 0.75f) < 1e-6f);
        kept += y[i] != 0;
    }
    CHECK_NEAR((double)kept / M, 0.75, 0.01);
    CHECK(memcmp(y, y + WIDE, WIDE * sizeof *y) != 0);  /* each row its own */
    for (int i = 0; i < LINES; i++)
        number[i] = LINES - 1 - i;
    o.row = number;                               /* by its number, wherever it stands */
    ops_dropout(&c, LINES, WIDE, &o, x, z);
    for (int i = 0; i < LINES; i++)
        CHECK(memcmp(y + i * WIDE, z + (LINES - 1 - i) * WIDE, WIDE * sizeof *y) == 0);
    o = (struct dropout){.p = 0.25f, .key = 78};
    ops_dropout(&c, LINES, WIDE, &o, x, z);
    CHECK(memcmp(y, z, sizeof y) != 0);
    compute_release(&c);
}

T_MAIN
