/* gguf_encode.c - f32 to the types of a GGUF file (gguf_save.h). */
#include "core/train/gguf_save.h"

#include <math.h>

#include "core/train/safetensors.h"

size_t gguf_save_bytes(enum gguf_save_type type, size_t n)
{
    if (type == GGUF_SAVE_Q8_0)
        return n / GGUF_SAVE_BLOCK * (2 + GGUF_SAVE_BLOCK);
    return n * (type == GGUF_SAVE_F32 ? 4 : 2);
}

static bool encode_half(size_t n, const float *x, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t h = safetensors_f32_to_f16(x[i]);
        if ((h & 0x7c00) == 0x7c00)
            return false;
        memcpy(out + 2 * i, &h, 2);
    }
    return true;
}

static void encode_bf16(size_t n, const float *x, uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t h = safetensors_f32_to_bf16(x[i]);
        memcpy(out + 2 * i, &h, 2);
    }
}

static bool encode_block(const float *x, uint8_t *out)
{
    float most = 0;
    for (int i = 0; i < GGUF_SAVE_BLOCK; i++)
        most = fmaxf(most, fabsf(x[i]));
    float d = most / 127, inverse = d != 0 ? 1 / d : 0;
    if (!encode_half(1, &d, out))
        return false;
    for (int i = 0; i < GGUF_SAVE_BLOCK; i++)
        out[2 + i] = (uint8_t)(int8_t)roundf(x[i] * inverse);
    return true;
}

bool gguf_save_encode(enum gguf_save_type type, size_t n, const float *x, uint8_t *out)
{
    bool good = true;
    if (type == GGUF_SAVE_F32)
        memcpy(out, x, n * sizeof *x);
    else if (type == GGUF_SAVE_BF16)
        encode_bf16(n, x, out);
    else if (type == GGUF_SAVE_F16)
        return encode_half(n, x, out);
    else
        for (size_t i = 0; i < n / GGUF_SAVE_BLOCK; i++, out += 2 + GGUF_SAVE_BLOCK)
            good = good && encode_block(x + i * GGUF_SAVE_BLOCK, out);
    return good;
}
