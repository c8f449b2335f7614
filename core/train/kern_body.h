/* kern_body.h - the inner loops for vectors of VW floats (see kern.h). The
 * includer defines VW, TILE_MR, TILE_NV (vectors a tile's row), VFMA(a, b, c)
 * = a b + c, VSQRT(x), KERN_NAME and KERN_TABLE.
 */
#include "core/train/kern_tile.h"

static float dot(size_t n, const float *x, const float *y)
{
    vf s = {0}, t = {0};
    size_t i = 0;
    for (; i + 2 * VW <= n; i += 2 * VW) {
        s = VFMA(load(x + i), load(y + i), s);
        t = VFMA(load(x + i + VW), load(y + i + VW), t);
    }
    for (; i + VW <= n; i += VW)
        s = VFMA(load(x + i), load(y + i), s);
    if (i < n)
        t = VFMA(load_part(x + i, n - i, 0), load_part(y + i, n - i, 0), t);
    return add_lanes(s + t);
}

static float max_of(size_t n, const float *x)
{
    float lanes[VW], best = x[0];
    vf m = splat(x[0]);
    size_t i = 0;
    for (; i + VW <= n; i += VW) {
        vf v = load(x + i);
        m = choose(v > m, v, m);
    }
    store(lanes, m);
    for (int j = 0; j < VW; j++)
        best = lanes[j] > best ? lanes[j] : best;
    for (; i < n; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

static float exp_sum(size_t n, float shift, float *x)
{
    vf s = {0};
    size_t i = 0;
    for (; i + VW <= n; i += VW) {
        vf e = vexp(load(x + i) - shift);
        store(x + i, e);
        s += e;
    }
    float sum = add_lanes(s);
    if (i < n) {
        float tmp[VW];
        store(tmp, vexp(load_part(x + i, n - i, shift) - shift));
        for (size_t j = 0; i + j < n; j++) {
            x[i + j] = tmp[j];
            sum += tmp[j];
        }
    }
    return sum;
}

/* FOR_VECTORS runs `op` on whole vectors, then on a rest with loads and stores
 * of its length: LD and ST are what op reads and writes with. */
#define LD(p) (rest ? load_part((p) + i, rest, 0) : load((p) + i))
#define ST(p, v) (rest ? store_part((p) + i, rest, v) : store((p) + i, v))
#define FOR_VECTORS(n, op)                                                                        \
    do {                                                                                          \
        size_t i = 0;                                                                             \
        for (; i + VW <= (n); i += VW) {                                                          \
            const size_t rest = 0;                                                                \
            op;                                                                                   \
        }                                                                                         \
        if (i < (n)) {                                                                            \
            const size_t rest = (n) - i;                                                          \
            op;                                                                                   \
        }                                                                                         \
    } while (0)

static void axpy(size_t n, float a, const float *x, float *y)
{
    FOR_VECTORS(n, ST(y, VFMA(splat(a), LD(x), LD(y))));
}

static void scale(size_t n, float a, const float *x, float *y)
{
    FOR_VECTORS(n, ST(y, a * LD(x)));
}

static void scale_by(size_t n, float a, const float *x, const float *w, float *y)
{
    FOR_VECTORS(n, ST(y, a * LD(x) * LD(w)));
}

static void mul_add(size_t n, float a, const float *x, const float *y, float *z)
{
    FOR_VECTORS(n, ST(z, VFMA(a * LD(x), LD(y), LD(z))));
}

static void norm_back(size_t n, float rstd, const float *x, const float *w, const float *dy,
                      float *dx)
{
    vf s = {0};
    FOR_VECTORS(n, s = VFMA(LD(dy) * LD(w), LD(x), s));
    float k = -add_lanes(s) * rstd * rstd * rstd / (float)n;
    FOR_VECTORS(n, ST(dx, LD(dx) + VFMA(rstd * LD(dy), LD(w), k * LD(x))));
}

INLINE vf sigmoid(vf x)
{
    return 1.0f / (1.0f + vexp(-x));
}

static void swiglu(size_t n, const float *gate, const float *up, float *act)
{
    FOR_VECTORS(n, vf g = LD(gate); ST(act, g * sigmoid(g) * LD(up)));
}

/* d silu(g) = σ(g) (1 + g (1 - σ(g))) */
static void swiglu_back(size_t n, const float *gate, const float *up, const float *dact,
                        float *dgate, float *dup)
{
    FOR_VECTORS(n, vf g = LD(gate); vf s = sigmoid(g); vf d = LD(dact); vf u = LD(up);
                ST(dup, d * g * s); ST(dgate, d * u * s * VFMA(g, 1.0f - s, splat(1.0f))));
}

static void softmax_back(size_t n, float delta, float a, const float *dp, float *p)
{
    FOR_VECTORS(n, ST(p, LD(p) * (LD(dp) - delta) * a));
}

static void rotate(size_t n, int dir, const float *cos_sin, float *x)
{
    const float *co = cos_sin, *si = cos_sin + n;
    float *lo = x, *hi = x + n;
    float d = (float)dir;
    FOR_VECTORS(n, vf c = LD(co); vf s = d * LD(si); vf u = LD(lo); vf v = LD(hi);
                ST(lo, u * c - v * s); ST(hi, v * c + u * s));
}

static void adamw(size_t n, const struct kern_adamw *k, const float *g, float *w, float *m,
                  float *v)
{
    FOR_VECTORS(n, vf gs = k->scale * LD(g); vf mo = LD(m); vf ve = LD(v);
                mo = VFMA(splat(k->take1), gs - mo, mo);
                ve = VFMA(k->take2 * gs, gs, k->beta2 * ve); ST(m, mo); ST(v, ve);
                vf den = VSQRT(ve) * k->root + k->eps;
                ST(w, LD(w) * k->shrink - k->step * (mo / den)));
}

const struct kern KERN_TABLE = {
    .name = KERN_NAME, .mr = TILE_MR, .nr = TILE_NV * VW, .thin = VW, .tile = tile,
    .tile_rows = tile_rows, .thin_tile = thin_tile, .thin_rows = thin_rows,
    .dot = dot, .max = max_of,
    .exp_sum = exp_sum, .axpy = axpy, .scale = scale, .scale_by = scale_by,
    .norm_back = norm_back, .mul_add = mul_add, .swiglu = swiglu, .swiglu_back = swiglu_back,
    .softmax_back = softmax_back, .rotate = rotate, .adamw = adamw,
};
