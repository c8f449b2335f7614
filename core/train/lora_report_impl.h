/* lora_report_impl.h - what lora_report.c (against a base) and lora_alone.c (without
 * one) share.
 */
#ifndef CORE_TRAIN_LORA_REPORT_IMPL_H
#define CORE_TRAIN_LORA_REPORT_IMPL_H

#include "core/train/lora_report.h"

enum fault { EMPTY, MISSING, LEFT, SHAPE, FAULTS };

struct report {
    struct lora_names names[FAULTS];
    const struct safetensors_entry *odd;         /* the first of another shape */
    const struct tensor *want;
};

bool lora_report_empty(const struct safetensors_entry *e);
/* PD_TRAIN with every list that is not empty; they are released. */
enum pd_code lora_report_tell(const struct safetensors *s, const char *path, struct report *r,
                              struct pd_err *err);

#endif
