/* llama_run.h - what a pass over rows writes: kept activations, temporaries.
 * Shared by llama_run.c (forward), llama_back.c (backward) and llama_peek.c alone.
 */
#ifndef CORE_TRAIN_LLAMA_RUN_H
#define CORE_TRAIN_LLAMA_RUN_H

#include "core/train/llama.h"
#include "core/train/lora.h"

struct llama_act {                /* of one layer; n rows each */
    float *x, *rstd1, *h1;        /* input [d], its norm, normalised [d] */
    float *qkv, *lse, *att;       /* after rotation [(H+2KV) hd], [H], [H hd] */
    float *x2, *rstd2, *h2;       /* after attention [d] … */
    float *gu, *act;              /* [2f], [f] */
    float *u[LORA_MODULES];       /* [r] each */
};

struct llama_run {
    struct llama *m;
    struct lora *lora;            /* NULL: none */
    struct compute *c;
    int max_rows, max_seq;
    enum llama_keep keep;
    struct llama_act act[LLAMA_MAX_LAYERS];
    float *out, *rstd, *h;        /* last residual, its norm, normalised */
    float *rope;                  /* [max_seq, hd] */
    float *dx, *dh, *dqkv, *datt, *dgu, *dact;
    float *tmp;                   /* dropped-out input of an adapter */
    float *ce;
    struct slab slab;
    struct dropout drop;          /* of this pass; key 0: none */
};

/* Module mod of layer l: where its input and its output (pitch) stand. */
struct llama_site {
    const struct lora_site *s;    /* NULL: not adapted, or adapters off */
    struct dropout drop;
};
struct llama_site llama_run_site(const struct llama_run *r, int layer, enum lora_module mod);
/* The table of ops_rope for this configuration. */
void llama_run_rope(const struct llama_config *c, int positions, float *table);
void llama_run_forward(struct llama_run *r, const struct rows *rows);
/* A layer's activations from its input: what LLAMA_RECOMPUTE does again on the way
 * back. */
void llama_run_again(struct llama_run *r, const struct rows *rows, int layer);
void llama_run_backward(struct llama_run *r, const struct rows *rows);
/* "layer 3: attention" … of the first activation with a non-finite value. */
void llama_run_diagnose(struct llama_run *r, const struct rows *rows, char *out,
                        size_t size);

#endif
