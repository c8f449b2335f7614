/* gguf_blocks.c - from ggml's quantised blocks to f32 (gguf.h).
 *
 * Source of each layout: ggml-common.h and dequantize_row_* in ggml-quants.c.
 * A block of the plain types holds 32 values under one scale; a "K" block 256
 * values in parts of 16 or 32 with scales of their own.
 */
#include "core/train/gguf.h"
#include "core/train/gguf_impl.h"

#include "core/base/str.h"
#include "core/train/safetensors.h"

static uint16_t u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static float half(const uint8_t *p)
{
    return safetensors_f16_to_f32(u16(p));
}

static void read_f32(const uint8_t *p, float *y)
{
    memcpy(y, p, sizeof *y);
}

static void read_f16(const uint8_t *p, float *y)
{
    *y = half(p);
}

static void read_bf16(const uint8_t *p, float *y)
{
    *y = safetensors_bf16_to_f32(u16(p));
}

static void read_q4_0(const uint8_t *p, float *y)
{
    float d = half(p);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((p[2 + i] & 15) - 8) * d;
        y[i + 16] = (float)((p[2 + i] >> 4) - 8) * d;
    }
}

static void read_q4_1(const uint8_t *p, float *y)
{
    float d = half(p), m = half(p + 2);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)(p[4 + i] & 15) * d + m;
        y[i + 16] = (float)(p[4 + i] >> 4) * d + m;
    }
}

static uint32_t fifth_bits(const uint8_t *p)
{
    return (uint32_t)u16(p) | (uint32_t)u16(p + 2) << 16;
}

static void read_q5_0(const uint8_t *p, float *y)
{
    float d = half(p);
    uint32_t high = fifth_bits(p + 2);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)(((p[6 + i] & 15) | (int)(high >> i & 1) << 4) - 16) * d;
        y[i + 16] = (float)(((p[6 + i] >> 4) | (int)(high >> (i + 16) & 1) << 4) - 16) * d;
    }
}

static void read_q5_1(const uint8_t *p, float *y)
{
    float d = half(p), m = half(p + 2);
    uint32_t high = fifth_bits(p + 4);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)((p[8 + i] & 15) | (int)(high >> i & 1) << 4) * d + m;
        y[i + 16] = (float)((p[8 + i] >> 4) | (int)(high >> (i + 16) & 1) << 4) * d + m;
    }
}

static void read_q8_0(const uint8_t *p, float *y)
{
    float d = half(p);
    for (int i = 0; i < 32; i++)
        y[i] = (float)(int8_t)p[2 + i] * d;
}

/* Scale and minimum of part j of a K block: 6 bits each, packed in 12 bytes. */
static void part_scale(const uint8_t *q, int j, int *scale, int *min)
{
    if (j < 4) {
        *scale = q[j] & 63;
        *min = q[j + 4] & 63;
    } else {
        *scale = (q[j + 4] & 15) | (q[j - 4] >> 6) << 4;
        *min = (q[j + 4] >> 4) | (q[j] >> 6) << 4;
    }
}

/* high: 32 bytes with the fifth bits of each part, or NULL. */
static void read_parts(const uint8_t *p, const uint8_t *high, const uint8_t *low, float *y)
{
    float d = half(p), dmin = half(p + 2);
    for (int j = 0; j < 8; j++) {
        int scale, min;
        part_scale(p + 4, j, &scale, &min);
        float d1 = d * (float)scale, m1 = dmin * (float)min;
        for (int i = 0; i < 32; i++) {
            int q = j % 2 ? low[j / 2 * 32 + i] >> 4 : low[j / 2 * 32 + i] & 15;
            if (high)
                q += (high[i] >> j & 1) << 4;
            y[j * 32 + i] = d1 * (float)q - m1;
        }
    }
}

static void read_q4_k(const uint8_t *p, float *y)
{
    read_parts(p, NULL, p + 16, y);
}

static void read_q5_k(const uint8_t *p, float *y)
{
    read_parts(p, p + 16, p + 48, y);
}

static void read_q6_k(const uint8_t *p, float *y)
{
    const uint8_t *low = p, *high = p + 128, *scale = p + 192;
    float d = half(p + 208);
    for (int n = 0; n < 2; n++, low += 64, high += 32, scale += 8)
        for (int i = 0; i < 128; i++) {
            int part = i / 32, l = i % 32;
            int q = part < 2 ? low[l + 32 * part] & 15 : low[l + 32 * (part - 2)] >> 4;
            q = (q | (high[l] >> 2 * part & 3) << 4) - 32;
            y[n * 128 + i] = d * (float)(int8_t)scale[l / 16 + 2 * part] * (float)q;
        }
}

static const struct gguf_block blocks[] = {
    {GGUF_T_F32, "F32", 1, 4, read_f32},       {GGUF_T_F16, "F16", 1, 2, read_f16},
    {GGUF_T_BF16, "BF16", 1, 2, read_bf16},    {GGUF_T_Q4_0, "Q4_0", 32, 18, read_q4_0},
    {GGUF_T_Q4_1, "Q4_1", 32, 20, read_q4_1},  {GGUF_T_Q5_0, "Q5_0", 32, 22, read_q5_0},
    {GGUF_T_Q5_1, "Q5_1", 32, 24, read_q5_1},  {GGUF_T_Q8_0, "Q8_0", 32, 34, read_q8_0},
    {GGUF_T_Q4_K, "Q4_K", 256, 144, read_q4_k}, {GGUF_T_Q5_K, "Q5_K", 256, 176, read_q5_k},
    {GGUF_T_Q6_K, "Q6_K", 256, 210, read_q6_k}, {10, "Q2_K", 0, 0, NULL},
    {11, "Q3_K", 0, 0, NULL},                  {9, "Q8_1", 0, 0, NULL},
    {16, "IQ2_XXS", 0, 0, NULL},               {17, "IQ2_XS", 0, 0, NULL},
    {18, "IQ3_XXS", 0, 0, NULL},               {20, "IQ4_NL", 0, 0, NULL},
    {21, "IQ3_S", 0, 0, NULL},                 {23, "IQ4_XS", 0, 0, NULL},
    {28, "F64", 0, 0, NULL},                   {39, "MXFP4", 0, 0, NULL},
};

static const struct gguf_block *known(uint32_t type)
{
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        if (blocks[i].type == type)
            return &blocks[i];
    return NULL;
}

const struct gguf_block *gguf_block_of(uint32_t type)
{
    const struct gguf_block *b = known(type);
    return b && b->read ? b : NULL;
}

const char *gguf_type_name(uint32_t type, char buf[16])
{
    const struct gguf_block *b = known(type);
    return b ? b->name : str_fmt(buf, 16, "type %u", type);
}

bool gguf_type_readable(uint32_t type)
{
    return gguf_block_of(type) != NULL;
}

void gguf_dequantise(uint32_t type, const uint8_t *data, int64_t count, float *out)
{
    const struct gguf_block *b = gguf_block_of(type);
    assert(b && count % b->values == 0);
    if (type == GGUF_T_F32) {
        memcpy(out, data, (size_t)count * sizeof *out);
        return;
    }
    for (int64_t i = 0; i < count; i += b->values, data += b->bytes)
        b->read(data, out + i);
}
