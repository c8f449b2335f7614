/* ckpt.h - checkpoints that are whole or not there.
 *
 * OUT/checkpoint-N holds the trained tensors in their final form (adapter or
 * model), optimizer.safetensors (Adam's moments), state.json (step, tokens and
 * the options that shape the run) and manifest.json (sha256 and size of every
 * other file). It is written as checkpoint-N.tmp, file by file with fsync, the
 * manifest last, and renamed. A folder with a missing or wrong file is not a
 * checkpoint: ckpt_newest skips it and says so.
 */
#ifndef CORE_TRAIN_CKPT_H
#define CORE_TRAIN_CKPT_H

#include "core/base/str.h"
#include "core/train/llama.h"
#include "core/train/lora.h"

struct ckpt_state {
    int64_t step;                 /* updates done */
    int64_t tokens;               /* trained tokens so far */
    double rate;                  /* peak rate as set by control (--rate at first) */
    char shape[512];              /* options that must be equal to resume, as text */
    const char *log;              /* saving: trainer_state.json, borrowed; NULL: none */
    int64_t best;                 /* saving: the step of this checkpoint is kept too; -1 */
};

/* What a run trains: lora, or (lora NULL) the model itself. */
struct ckpt_source {
    struct llama *model;
    struct lora *lora;
    const char *base;             /* model folder: base_model_name_or_path, tokenizer.json */
    bool bf16;                    /* export the full model as BF16 (checkpoints stay f32) */
};

/* Saves OUT/checkpoint-N and keeps the newest `keep` (0: all). *bytes: its
 * size; path gets its name. */
MUST_USE enum pd_code ckpt_save(const char *out, const struct ckpt_source *src,
                                const struct ckpt_state *st, int keep, int64_t *bytes,
                                char *path, size_t path_size, struct pd_err *err);
/* The newest whole checkpoint below OUT: its step, or -1 when none. `skipped`
 * collects a sentence for each one that is not whole. */
int64_t ckpt_newest(const char *out, struct str *skipped);
/* The largest N below `below` of which there is a folder checkpoint-N; -1. */
int64_t ckpt_below(const char *out, int64_t below);
/* As ckpt_newest, for checkpoints of other programs (transformers' Trainer),
 * which have no manifest: the newest whose tensor files are whole and whose
 * trainer_state.json can be read. ckpt_foreign.c */
int64_t ckpt_newest_foreign(const char *out, struct str *skipped);
/* shape: what the state's must be (NULL: any); else PD_TRAIN names the option
 * that differs, before anything is read. */
MUST_USE enum pd_code ckpt_load(const char *out, int64_t step, const struct ckpt_source *dst,
                                const char *shape, struct ckpt_state *st, struct pd_err *err);
/* The trained tensors alone, in their final form, into DIR (made). */
MUST_USE enum pd_code ckpt_export(const char *dir, const struct ckpt_source *src,
                                  struct pd_err *err);
/* Verify a folder against its manifest.json. */
MUST_USE enum pd_code ckpt_verify(const char *dir, struct pd_err *err);

#endif
