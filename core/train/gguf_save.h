/* gguf_save.h - the writer of GGUF files (version 3), llama.cpp's format: magic,
 * counts, keys with typed values, tensors' names and places, then their data,
 * each at a multiple of 32.
 *
 *   struct gguf_save *g = gguf_save_new();
 *   gguf_save_str(g, "general.architecture", "llama");
 *   gguf_save_tensor(g, &(struct gguf_save_tensor){.name = …, .w = …});
 *   rc = gguf_save_write(g, path, &bytes, &err);
 *   gguf_save_free(g);
 *
 * Tensors are borrowed until the write, which encodes row by row: nothing is
 * held twice. f16 and bf16 round to the nearest even; q8_0 has one f16 scale
 * max|x| / 127 a block of 32 and rounds half away from zero, as ggml's
 * reference does. Vectors, and matrices whose rows are no multiple of 32, are
 * never q8_0 (f32, f16).
 */
#ifndef CORE_TRAIN_GGUF_SAVE_H
#define CORE_TRAIN_GGUF_SAVE_H

#include "core/base/err.h"

/* The numbers are ggml's. */
enum gguf_save_type { GGUF_SAVE_F32 = 0, GGUF_SAVE_F16 = 1, GGUF_SAVE_Q8_0 = 8,
                      GGUF_SAVE_BF16 = 30 };
enum { GGUF_SAVE_NAME = 64, GGUF_SAVE_BLOCK = 32 };

struct gguf_save_tensor {
    char name[GGUF_SAVE_NAME];
    enum gguf_save_type type;
    int rows, cols;               /* rows 0: a vector */
    /* Above 0: rows are written in the order of an interleaved rotation (pairs
     * side by side), as llama.cpp wants q and k of `heads` heads. */
    int heads;
    float scale;                  /* of every value; 0 counts as 1 */
    const float *w;
};

struct gguf_save;
struct gguf_save *gguf_save_new(void);
void gguf_save_free(struct gguf_save *g);                 /* NULL: nothing */

void gguf_save_str(struct gguf_save *g, const char *key, const char *value);
void gguf_save_u32(struct gguf_save *g, const char *key, uint32_t value);
void gguf_save_f32(struct gguf_save *g, const char *key, float value);
void gguf_save_bool(struct gguf_save *g, const char *key, bool value);
/* An array of n texts or numbers: the items follow by the two below. */
void gguf_save_texts(struct gguf_save *g, const char *key, size_t n);
void gguf_save_numbers(struct gguf_save *g, const char *key, size_t n);
void gguf_save_text(struct gguf_save *g, const char *bytes, size_t n);
void gguf_save_number(struct gguf_save *g, int32_t value);

/* t is copied, t->w borrowed. Its type becomes what the shape allows. */
void gguf_save_tensor(struct gguf_save *g, const struct gguf_save_tensor *t);
/* By way of PATH.part and rename, synced. PD_TRAIN for a value that f16 can't
 * hold, with the tensor's name. */
MUST_USE enum pd_code gguf_save_write(struct gguf_save *g, const char *path, int64_t *bytes,
                                      struct pd_err *err);

/* n values (q8_0: a multiple of 32) encoded to `out`; the bytes they take.
 * False: a value is outside of f16. */
size_t gguf_save_bytes(enum gguf_save_type type, size_t n);
bool gguf_save_encode(enum gguf_save_type type, size_t n, const float *x, uint8_t *out);

#endif
