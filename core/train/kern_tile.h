/* kern_tile.h - vectors of VW floats, exp, and the register tile of the matrix
 * multiplication. Included by kern_body.h alone.
 */
typedef float vf __attribute__((vector_size(VW * 4)));
typedef int32_t vi __attribute__((vector_size(VW * 4)));
typedef float vfu __attribute__((vector_size(VW * 4), aligned(4), may_alias));

#define INLINE static inline __attribute__((always_inline))

INLINE vf load(const float *p)
{
    return *(const vfu *)p;
}
INLINE void store(float *p, vf v)
{
    *(vfu *)p = v;
}
INLINE vf splat(float x)
{
    return x - (vf){0};
}
INLINE vf load_part(const float *p, size_t n, float fill)
{
    float tmp[VW];
    for (size_t i = 0; i < VW; i++)
        tmp[i] = i < n ? p[i] : fill;
    return load(tmp);
}
INLINE void store_part(float *p, size_t n, vf v)
{
    float tmp[VW];
    store(tmp, v);
    for (size_t i = 0; i < n; i++)
        p[i] = tmp[i];
}
INLINE float add_lanes(vf v)
{
    float tmp[VW], s = 0;
    store(tmp, v);
    for (int i = 0; i < VW; i++)
        s += tmp[i];
    return s;
}
INLINE vf choose(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

/* exp by range reduction to [-ln2/2, ln2/2] and the Taylor polynomial of degree
 * 7 (error below 1 ulp there); arguments are held within ±87, NaN stays. */
INLINE vf vexp(vf x)
{
    const float magic = 12582912.0f;                          /* 1.5 · 2²³: rounds to integer */
    x = choose(x < -87.0f, splat(-87.0f), x);
    x = choose(x > 88.0f, splat(88.0f), x);
    vf n = VFMA(x, splat(1.44269504f), splat(magic)) - magic;
    vf r = VFMA(n, splat(-0.693145752f), x);
    r = VFMA(n, splat(-1.42860682e-6f), r);
    vf p = splat(1.0f / 5040);
    p = VFMA(p, r, splat(1.0f / 720));
    p = VFMA(p, r, splat(1.0f / 120));
    p = VFMA(p, r, splat(1.0f / 24));
    p = VFMA(p, r, splat(1.0f / 6));
    p = VFMA(p, r, splat(0.5f));
    p = VFMA(p, r, splat(1.0f));
    p = VFMA(p, r, splat(1.0f));
    vi e = (__builtin_convertvector(choose(n == n, n, splat(0)), vi) + 127) << 23;
    return p * (vf)e;
}

/* The register tile: TILE_MR rows of nv vectors stay in registers over k. A is
 * packed, or (rows) read where it stands: three rows share a pointer, so that
 * few address registers are needed. nv and rows are constants to the inliner. */
INLINE void any_tile(int nv, bool rows, int k, float alpha, const float *a, ptrdiff_t lda,
                     const float *b, bool acc, float *c, ptrdiff_t ldc)
{
    vf s[TILE_MR][TILE_NV];
    const float *g[(TILE_MR + 2) / 3];
#pragma GCC unroll 16
    for (int i = 0; i < TILE_MR; i++)
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++)
            s[i][j] = (vf){0};
#pragma GCC unroll 8
    for (int i = 0; i < (TILE_MR + 2) / 3; i++)
        g[i] = rows ? a + 3 * i * lda : a;
    for (int p = 0; p < k; p++, a += TILE_MR, b += nv * VW) {
        vf bv[TILE_NV];
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++)
            bv[j] = load(b + j * VW);
#pragma GCC unroll 16
        for (int i = 0; i < TILE_MR; i++) {
            vf av = splat(rows ? g[i / 3][i % 3 * lda] : a[i]);
#pragma GCC unroll 4
            for (int j = 0; j < nv; j++)
                s[i][j] = VFMA(av, bv[j], s[i][j]);
        }
#pragma GCC unroll 8
        for (int i = 0; rows && i < (TILE_MR + 2) / 3; i++)
            g[i]++;
    }
    vf al = splat(alpha);
#pragma GCC unroll 16
    for (int i = 0; i < TILE_MR; i++)
#pragma GCC unroll 4
        for (int j = 0; j < nv; j++) {
            float *at = c + i * ldc + j * VW;
            store(at, acc ? VFMA(al, s[i][j], load(at)) : al * s[i][j]);
        }
}

#define TILE(name, nv, rows)                                                                      \
    static void name(int k, float alpha, const float *a, ptrdiff_t lda, const float *b, bool acc, \
                     float *c, ptrdiff_t ldc)                                                     \
    {                                                                                             \
        any_tile(nv, rows, k, alpha, a, lda, b, acc, c, ldc);                                     \
    }
TILE(tile, TILE_NV, false)
TILE(tile_rows, TILE_NV, true)
TILE(thin_tile, 1, false)
TILE(thin_rows, 1, true)
