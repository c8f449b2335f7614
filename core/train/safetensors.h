/* safetensors.h - Hugging Face's tensor file: u64 header length, JSON header,
 * data.
 *
 * The reader is strict: header at most 100,000,000 bytes and the file's exact
 * size, unique keys, offsets contiguous from 0 without hole or overlap, each
 * range as long as its shape says. It maps the file; tensors convert to f32.
 * The writer sorts by name (one type: f32, bf16 or f16), pads the header to 8 and
 * writes {"format":"pt"}, without which transformers refuses the file.
 */
#ifndef CORE_TRAIN_SAFETENSORS_H
#define CORE_TRAIN_SAFETENSORS_H

#include "core/train/tensor.h"

struct safetensors;
struct safetensors_entry {
    const char *name;
    const char *dtype;            /* "F32" … */
    int ndim;
    int64_t shape[8];
    const uint8_t *data;
    size_t bytes;
};

MUST_USE enum pd_code safetensors_open(const char *path, struct safetensors **out,
                                       struct pd_err *err);
void safetensors_close(struct safetensors *s);
int safetensors_count(const struct safetensors *s);
const struct safetensors_entry *safetensors_at(const struct safetensors *s, int i);
const struct safetensors_entry *safetensors_find(const struct safetensors *s, const char *name);

/* One entry of the file `path` as t's values in f32; PD_TRAIN on another shape,
 * PD_UNSUPPORTED on a type other than F32, F16 and BF16. */
MUST_USE enum pd_code safetensors_fill(const char *path, const struct safetensors_entry *e,
                                       const struct tensor *t, float *to, struct pd_err *err);
/* Fill each tensor's w from the entry of its name. PD_TRAIN names what is
 * missing or mis-shaped, and, with `exact`, what is left over. */
MUST_USE enum pd_code safetensors_load(const char *path, const struct tensors *ts, bool exact,
                                       struct pd_err *err);

/* Types of a written file; F16 turns what it can't hold into infinity. */
enum safetensors_type { SAFETENSORS_F32, SAFETENSORS_BF16, SAFETENSORS_F16 };
enum safetensors_what { SAFETENSORS_W = 1, SAFETENSORS_M = 2, SAFETENSORS_V = 4 };
/* Write w under the tensor's name; m and v as "m.NAME" and "v.NAME". fsynced,
 * by way of PATH.part and rename. *bytes (may be NULL): the file's size. */
MUST_USE enum pd_code safetensors_save(const char *path, const struct tensors *ts, int what,
                                       enum safetensors_type type, int64_t *bytes,
                                       struct pd_err *err);
/* Read m and v back. */
MUST_USE enum pd_code safetensors_load_moments(const char *path, const struct tensors *ts,
                                               struct pd_err *err);
float safetensors_bf16_to_f32(uint16_t v);
float safetensors_f16_to_f32(uint16_t v);
uint16_t safetensors_f32_to_bf16(float v);                /* nearest even; NaN stays NaN */
uint16_t safetensors_f32_to_f16(float v);

#endif
