/* lora.h - low-rank adapters: y = W x + scale · B A dropout(x), scale = alpha / r.
 *
 * A [r, in] starts as U(-1/sqrt(in), 1/sqrt(in)) (PEFT's kaiming_uniform with
 * a = sqrt 5), B [out, r] as zero. Only A and B are trained; they are f32 on
 * any base. With rslora the scale is alpha / sqrt(r). r and alpha may differ
 * from site to site (PEFT's rank_pattern and alpha_pattern).
 */
#ifndef CORE_TRAIN_LORA_H
#define CORE_TRAIN_LORA_H

#include "core/base/str.h"
#include "core/train/llama.h"

/* The linear layers of a block, in the order of the file. */
enum lora_module { LORA_Q, LORA_K, LORA_V, LORA_O, LORA_GATE, LORA_UP, LORA_DOWN, LORA_MODULES };
const char *lora_module_name(enum lora_module m);         /* "q_proj" … */

/* r and alpha site by site; r 0: not adapted. */
struct lora_table {
    int r[LLAMA_MAX_LAYERS][LORA_MODULES];
    double alpha[LLAMA_MAX_LAYERS][LORA_MODULES];
};

struct lora_config {
    int r;
    double alpha, dropout;
    unsigned targets;             /* bit 1 << LORA_Q … */
    bool rslora;
    const struct lora_table *table;   /* NULL: r and alpha at every target */
};

struct lora_site {                /* one linear layer; r 0: not adapted */
    int in, out, r;
    double alpha, scale;
    float *a, *b, *da, *db;
};

struct lora {
    struct lora_config cfg;
    int layers;
    struct tensors tensors;       /* names as PEFT writes them */
    struct lora_site site[LLAMA_MAX_LAYERS][LORA_MODULES];
    struct slab slab;
    bool on;                      /* off: the base alone (eval compares both) */
};

/* "q_proj,v_proj" or "all" to bits. PD_USAGE names an unknown one and the
 * nearest known. */
MUST_USE enum pd_code lora_parse_targets(const char *list, unsigned *bits, struct pd_err *err);
/* cfg's table is read here only. */
void lora_init(struct lora *l, const struct llama_config *m, const struct lora_config *cfg,
               uint64_t seed);
/* The sites and tensors alone, without memory: slab.used floats are what
 * lora_init takes. */
void lora_shape(struct lora *l, const struct llama_config *m, const struct lora_config *cfg);
/* The same of the adapter in folder dir; PD_* when its configuration can't be read. */
MUST_USE enum pd_code lora_shape_of(struct lora *l, const struct llama_config *m, const char *dir,
                                    struct pd_err *err);
void lora_release(struct lora *l);
/* W += scale B A for every site of m. */
void lora_merge(const struct lora *l, struct llama *m);

/* A site's r; layer -1: the largest of all layers. */
int lora_rank(const struct lora *l, int layer, int module);
/* The adapted layer's path within the model: "model.layers.0.self_attn.q_proj". */
void lora_site_path(int layer, enum lora_module m, char *out, size_t size);

/* One site within a pass: y [n,out] (pitch ldy) += scale · (xd Aᵀ) Bᵀ with
 * xd = dropout(x) (x itself when its key is 0); u [n,r] keeps xd Aᵀ.
 * tmp: room for [n, in] floats. */
void lora_forward(const struct lora_site *s, struct compute *c, int n, const struct dropout *drop,
                  const float *x, float *tmp, float *u, float *y, int ldy);
/* da +=, db +=, dx += (dx NULL: not needed). u is used up. */
void lora_backward(const struct lora_site *s, struct compute *c, int n,
                   const struct dropout *drop, const float *x, float *tmp, float *u,
                   const float *dy, int ldy, float *dx);

/* PEFT's form: adapter_config.json + adapter_model.safetensors. Reading follows
 * PEFT's rules for target_modules (list, regular expression, "all-linear"),
 * exclude_modules, layers_to_transform, rank_pattern, alpha_pattern and rslora,
 * and takes F32, F16 and BF16. What would change the result and is not computed
 * here is refused by its key. Every tensor that is missing, left over, empty or
 * mis-shaped is counted and named. */
MUST_USE enum pd_code lora_save(const struct lora *l, const char *dir, const char *base,
                                struct pd_err *err);
MUST_USE enum pd_code lora_load(struct lora *l, const struct llama_config *m, const char *dir,
                                struct pd_err *err);
/* What a person should know of a whole adapter ("every lora_B is zero: …"),
 * a sentence with a line end; nothing when there is nothing. */
void lora_notes(const struct lora *l, struct str *out);

#endif
