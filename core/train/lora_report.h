/* lora_report.h - an adapter's file against what its configuration and the base
 * need: everything missing, left over, empty or mis-shaped, counted and named.
 *
 * Names are shortened: "layers.0-29.self_attn.q_proj.lora_A/B" stands for sixty
 * tensors of base_model.model.model.layers.N.self_attn.q_proj.lora_A.weight.
 */
#ifndef CORE_TRAIN_LORA_REPORT_H
#define CORE_TRAIN_LORA_REPORT_H

#include "core/train/lora.h"
#include "core/train/safetensors.h"

/* PD_TRAIN unless the file has exactly l's tensors. */
MUST_USE enum pd_code lora_report(const struct safetensors *s, const char *path,
                                  const struct lora *l, struct pd_err *err);
/* An adapter's file without its base: empty tensors, an A without its B or the
 * other way round or with another r, names that are no adapter's, values that are
 * no numbers. */
MUST_USE enum pd_code lora_report_alone(const struct safetensors *s, const char *path,
                                        struct pd_err *err);
/* What a person should know of such a file: the lora_B that are zero, a sentence
 * with a line end; nothing when there is nothing. */
void lora_report_zero(const struct safetensors *s, struct str *out);

/* Append the names in short form, separated by ", ", in at most `most` bytes,
 * then "… and N more". */
struct lora_names {
    struct lora_name {
        char rest[TENSOR_NAME];   /* behind "layers.N.", or the whole name */
        int layer;                /* -1: no layer in it */
    } *v;
    int n, cap;
};
void lora_names_add(struct lora_names *x, const char *tensor);
void lora_names_print(struct lora_names *x, size_t most, struct str *out);   /* sorts */
/* The sentence about `zero` of `all` lora_B; releases. */
void lora_names_zero(struct lora_names *zero, int all, struct str *out);
void lora_names_release(struct lora_names *x);

#endif
