/* safetensors_load.c - from the file's entries to tensors in f32
 * (safetensors.h). */
#include "core/train/safetensors.h"

#include <sys/mman.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/str.h"

float safetensors_bf16_to_f32(uint16_t v)
{
    uint32_t bits = (uint32_t)v << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t safetensors_f32_to_bf16(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);                 /* NaN must not become infinity */
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t safetensors_f32_to_f16(float v)
{
    uint32_t bits, sign, man;
    memcpy(&bits, &v, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);                     /* NaN */
    if (bits >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00);                     /* 65520 and more round to infinity */
    if (bits >= 0x38800000)                                   /* 2^-14: a normal half */
        return (uint16_t)(sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13);
    if (bits < 0x33000000)
        return (uint16_t)sign;                                /* below half of 2^-24 */
    man = (bits & 0x7fffff) | 0x800000;
    int shift = 126 - (int)(bits >> 23);
    uint32_t half = man >> shift, rest = man & ((1u << shift) - 1), middle = 1u << (shift - 1);
    return (uint16_t)(sign | (half + (rest > middle || (rest == middle && half & 1))));
}

float safetensors_f16_to_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = h >> 10 & 31, man = h & 1023;
    uint32_t bits;
    float f;
    if (exp == 0) {
        f = (float)man * 0x1p-24f;                            /* zero and subnormals */
        return sign ? -f : f;
    }
    bits = sign | (exp == 31 ? 255u : exp + 112) << 23 | man << 13;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* What was copied need not stay in memory: the file is read once. Whole pages
 * of the mapping alone. */
static void let_go(const uint8_t *data, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)data + page - 1) / page * page;
    uintptr_t to = ((uintptr_t)data + bytes) / page * page;
    if (to > from)
        madvise((void *)from, to - from, MADV_DONTNEED);
}

static void convert16(const uint8_t *from, size_t n, float (*one)(uint16_t), float *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = one((uint16_t)(from[2 * i] | from[2 * i + 1] << 8));
}

enum pd_code safetensors_fill(const char *path, const struct safetensors_entry *e,
                              const struct tensor *t, float *to, struct pd_err *err)
{
    int64_t rows = t->ndim == 2 ? t->rows : t->cols, cols = t->ndim == 2 ? t->cols : 1;
    int64_t has = e->ndim == 2 ? e->shape[1] : 1;
    if (e->ndim != t->ndim || e->shape[0] != rows || has != cols)
        return pd_fail_at(err, PD_TRAIN, path, 0, 0,
                          _("tensor %s is [%lld, %lld], the configuration says [%lld, %lld]"),
                          e->name, (long long)(e->ndim ? e->shape[0] : 0), (long long)has,
                          (long long)rows, (long long)cols);
    size_t n = tensors_count(t);
    if (str_eq(e->dtype, "F32"))
        memcpy(to, e->data, n * sizeof *to);
    else if (str_eq(e->dtype, "BF16"))
        convert16(e->data, n, safetensors_bf16_to_f32, to);
    else if (str_eq(e->dtype, "F16"))
        convert16(e->data, n, safetensors_f16_to_f32, to);
    else
        return pd_fail_at(err, PD_UNSUPPORTED, path, 0, 0,
                          _("tensor %s is stored as %s; F32, BF16 and F16 are read here"),
                          e->name, e->dtype);
    let_go(e->data, e->bytes);
    return PD_OK;
}

static enum pd_code fill_named(const struct safetensors *s, const char *path, const char *prefix,
                               const struct tensor *t, float *to, struct pd_err *err)
{
    char name[TENSOR_NAME + 8];
    snprintf(name, sizeof name, "%s%s", prefix, t->name);
    const struct safetensors_entry *e = safetensors_find(s, name);
    if (!e) {
        pd_fail_at(err, PD_TRAIN, path, 0, 0, _("tensor %s is missing"), name);
        return pd_set_hint(err, _("the file must belong to the same configuration"));
    }
    return safetensors_fill(path, e, t, to, err);
}

static enum pd_code refuse_rest(const struct safetensors *s, const char *path,
                                const struct tensors *ts, struct pd_err *err)
{
    for (int i = 0; i < safetensors_count(s); i++) {
        const char *name = safetensors_at(s, i)->name;
        if (!tensors_find(ts, name))
            return pd_fail_at(err, PD_TRAIN, path, 0, 0, _("tensor %s is not expected"), name);
    }
    return PD_OK;
}

enum pd_code safetensors_load(const char *path, const struct tensors *ts, bool exact,
                              struct pd_err *err)
{
    struct safetensors *s;
    enum pd_code rc = safetensors_open(path, &s, err);
    if (rc != PD_OK)
        return rc;
    for (int i = 0; i < ts->n && rc == PD_OK; i++)
        rc = fill_named(s, path, "", &ts->t[i], ts->t[i].w, err);
    if (rc == PD_OK && exact)
        rc = refuse_rest(s, path, ts, err);
    safetensors_close(s);
    return rc;
}

enum pd_code safetensors_load_moments(const char *path, const struct tensors *ts,
                                      struct pd_err *err)
{
    struct safetensors *s;
    enum pd_code rc = safetensors_open(path, &s, err);
    if (rc != PD_OK)
        return rc;
    for (int i = 0; i < ts->n && rc == PD_OK; i++) {
        rc = fill_named(s, path, "m.", &ts->t[i], ts->t[i].m, err);
        if (rc == PD_OK)
            rc = fill_named(s, path, "v.", &ts->t[i], ts->t[i].v, err);
    }
    safetensors_close(s);
    return rc;
}
