/* gguf.h - llama.cpp's model file: keys, tensor table, data. Strict reader.
 *
 * Source of the format: ggml/docs/gguf.md (versions 2 and 3, little-endian).
 *   "GGUF" | u32 version | u64 tensors | u64 keys | keys | tensor table | data
 * The file is mapped; names and strings are borrowed from it and end with it.
 * Every length is checked against the file before it is followed; names must
 * be unique; tensors may not overlap or end behind the file.
 *
 * dim[0] is the innermost (a matrix W [out, in] has dim {in, out}).
 */
#ifndef CORE_TRAIN_GGUF_H
#define CORE_TRAIN_GGUF_H

#include "core/base/err.h"

enum gguf_kv_type { GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32, GGUF_BOOL,
                    GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64, GGUF_KV_TYPES };
/* ggml's numbers of the tensor types that are read here. */
enum gguf_type { GGUF_T_F32 = 0, GGUF_T_F16 = 1, GGUF_T_Q4_0 = 2, GGUF_T_Q4_1 = 3,
                 GGUF_T_Q5_0 = 6, GGUF_T_Q5_1 = 7, GGUF_T_Q8_0 = 8, GGUF_T_Q4_K = 12,
                 GGUF_T_Q5_K = 13, GGUF_T_Q6_K = 14, GGUF_T_BF16 = 30 };

struct gguf;

struct gguf_text {
    const char *p;                /* not NUL-terminated; NULL: not there */
    size_t n;
};

struct gguf_tensor {
    struct gguf_text name;
    int ndim;
    int64_t dim[4], count;
    uint32_t type;
    const uint8_t *data;
    size_t bytes;
};

/* PD_PARSE with what is wrong and where (byte offset). */
MUST_USE enum pd_code gguf_open(const char *path, struct gguf **out, struct pd_err *err);
void gguf_close(struct gguf *g);

size_t gguf_tensors(const struct gguf *g);
const struct gguf_tensor *gguf_tensor_at(const struct gguf *g, size_t i);
const struct gguf_tensor *gguf_find(const struct gguf *g, const char *name);

bool gguf_has(const struct gguf *g, const char *key);
/* A number or bool; def when missing or of another type. */
double gguf_num(const struct gguf *g, const char *key, double def);
struct gguf_text gguf_str(const struct gguf *g, const char *key);
/* Arrays: how many elements (0: none), and one of them. */
size_t gguf_array(const struct gguf *g, const char *key);
struct gguf_text gguf_array_str(const struct gguf *g, const char *key, size_t i);
double gguf_array_num(const struct gguf *g, const char *key, size_t i, double def);

/* "Q4_1", or "type 99". */
const char *gguf_type_name(uint32_t type, char buf[16]);
bool gguf_type_readable(uint32_t type);
/* count values of a readable type (a multiple of its block) as f32. Formulas:
 * ggml's dequantize_row_*, to the bit. */
void gguf_dequantise(uint32_t type, const uint8_t *data, int64_t count, float *out);

#endif
