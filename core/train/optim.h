/* optim.h - AdamW, clipping and the learning rate, by torch's definitions.
 *
 *   clip      g *= min(1, max_norm / (‖g‖₂ + 1e-6))       over all tensors
 *   AdamW     w *= 1 - lr·wd ;  m += (1-β₁)(g - m) ;  v = β₂v + (1-β₂)g²
 *             w -= lr/(1-β₁ᵗ) · m / (sqrt(v)/sqrt(1-β₂ᵗ) + ε)   t from 1
 *   schedule  transformers' get_{cosine,linear,constant}_schedule_with_warmup:
 *             step s from 0; s < warmup: rate·s/warmup; then to zero at `steps`
 *
 * Weight decay applies to matrices, not to norms (as transformers' Trainer).
 */
#ifndef CORE_TRAIN_OPTIM_H
#define CORE_TRAIN_OPTIM_H

#include "core/train/compute.h"
#include "core/train/tensor.h"

enum optim_schedule { OPTIM_COSINE, OPTIM_LINEAR, OPTIM_CONSTANT };

struct optim {
    double rate, beta1, beta2, eps, decay, clip;          /* clip 0: off */
    enum optim_schedule schedule;
    int64_t warmup, steps;
};
void optim_defaults(struct optim *o);                     /* .9 .999 1e-8, decay 0, clip 1 */
double optim_rate(const struct optim *o, int64_t step);   /* of the step with 0-based index */

/* scale * ‖g‖₂ over all tensors, summed in double in fixed blocks. */
double optim_grad_norm(struct compute *c, const struct tensors *ts, double scale);
/* Gradients are sums over tokens: scale = 1 / tokens makes them means. gnorm
 * is optim_grad_norm with that scale. t counts updates from 1. */
void optim_step(struct compute *c, const struct optim *o, struct tensors *ts, double scale,
                double gnorm, double rate, int64_t t);
/* min(1, clip / (gnorm + 1e-6)); 1 when clipping is off. */
double optim_clip(const struct optim *o, double gnorm);
void optim_zero_grad(struct compute *c, struct tensors *ts);

#endif
