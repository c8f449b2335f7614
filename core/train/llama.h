/* llama.h - the Llama architecture: configuration, weights, one pass forward
 * and one back.
 *
 * A folder in Hugging Face's form: config.json and model.safetensors, names
 * as in transformers (model.layers.N.self_attn.q_proj.weight …, [out, in]).
 * Both generations of config.json are read (rope_theta + rope_scaling, or
 * rope_parameters). Weights may be stored as F32, F16 or BF16; they are
 * computed in f32.
 *
 * In memory q, k and v of a layer stand in one piece, and so do gate and up:
 * each pair is one multiplication.
 */
#ifndef CORE_TRAIN_LLAMA_H
#define CORE_TRAIN_LLAMA_H

#include "core/train/ops.h"
#include "core/train/tensor.h"

enum { LLAMA_MAX_LAYERS = 256, LLAMA_MAX_EOS = 8 };

struct llama_config {
    int vocab, hidden, ffn, layers, heads, kv_heads, head_dim, max_pos;
    double eps, theta, init_range;
    bool tied;
    bool rope_llama3;             /* rope_type "llama3" with the four numbers below */
    double rope_factor, rope_low, rope_high, rope_orig;
    int bos, pad, eos[LLAMA_MAX_EOS], n_eos;              /* -1, 0: none */
};

/* Checks sizes and refuses what the core does not compute (attention bias,
 * another activation, another rope_type), naming the key. */
MUST_USE enum pd_code llama_read_config(const char *dir, struct llama_config *c,
                                        struct pd_err *err);
MUST_USE enum pd_code llama_check_config(const struct llama_config *c, struct pd_err *err);
MUST_USE enum pd_code llama_write_config(const char *dir, const struct llama_config *c,
                                         struct pd_err *err);
size_t llama_parameters(const struct llama_config *c);

struct llama_layer {
    float *norm1, *qkv, *o, *norm2, *gu, *down;           /* weights */
    float *d_norm1, *d_qkv, *d_o, *d_norm2, *d_gu, *d_down;   /* gradients or NULL */
};

struct llama {
    struct llama_config cfg;
    struct tensors tensors;       /* every weight, in the order of the file */
    struct llama_layer layer[LLAMA_MAX_LAYERS];
    float *embed, *norm, *head;   /* head == embed when tied */
    float *d_embed, *d_norm, *d_head;
    struct slab weights, state;   /* state: gradients and moments of full training */
    bool full;                    /* weights are trained */
};

/* Lay out (weights zero). full: with gradients and Adam's moments. */
void llama_init(struct llama *m, const struct llama_config *cfg, bool full);
void llama_release(struct llama *m);
/* N(0, init_range) for matrices, 1 for norms. */
void llama_randomise(struct llama *m, uint64_t seed);
MUST_USE enum pd_code llama_load(struct llama *m, const char *dir, bool full,
                                 struct pd_err *err);
/* config.json + model.safetensors (F32, or BF16 rounded to nearest even). */
MUST_USE enum pd_code llama_save(const struct llama *m, const char *dir, bool bf16,
                                 struct pd_err *err);

struct lora;

/* What a pass leaves for the way back: nothing; every activation; or each
 * layer's input alone, from which the rest is computed again (activation
 * checkpointing: a third more work, the same bytes). */
enum llama_keep { LLAMA_FORWARD, LLAMA_KEEP, LLAMA_RECOMPUTE };

/* Activations for at most max_rows rows, and everything a pass writes. */
struct llama_run;
struct llama_run *llama_run_new(struct llama *m, struct lora *lora, struct compute *c,
                                int max_rows, int max_seq, enum llama_keep keep);
void llama_run_free(struct llama_run *r);
size_t llama_run_bytes(const struct llama_run *r);
/* What they will take, in floats, by the code that carves them: weights, and
 * with `full` gradients and moments; a pass's slab (shape: lora_shape or NULL). */
void llama_floats(const struct llama_config *cfg, bool full, size_t *weights, size_t *state);
size_t llama_run_floats(const struct llama_config *c, const struct lora *shape, int max_rows,
                        int max_seq, enum llama_keep keep);

/* Loss summed over the labelled rows, their number in *count. drop_key != 0
 * switches dropout on (training). PD_TRAIN when a row's loss is not finite:
 * the message names the first operation whose output is not. */
MUST_USE enum pd_code llama_loss(struct llama_run *r, const struct rows *rows, uint64_t drop_key,
                                 double *sum, int64_t *count, struct pd_err *err);
/* The same with gradients added to the trained tensors (of the sum). */
MUST_USE enum pd_code llama_loss_grad(struct llama_run *r, const struct rows *rows,
                                      uint64_t drop_key, double *sum, int64_t *count,
                                      struct pd_err *err);
/* After llama_loss: the root mean square of the residual stream before layer
 * `layer` (cfg.layers: after the last) over rows [from, to), and one row's
 * logits, out [vocab] (also after llama_logits). For llama_peek_rms the run must
 * have been made with `backward`. */
double llama_peek_rms(const struct llama_run *r, int layer, int from, int to);
void llama_peek_logits(struct llama_run *r, int row, float *out);
/* Logits of one row after a pass over `rows`; out [vocab]. */
MUST_USE enum pd_code llama_logits(struct llama_run *r, const struct rows *rows, int row,
                                   float *out, struct pd_err *err);

#endif
