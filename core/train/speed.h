/* speed.h - how fast this machine computes, measured in about a second.
 *
 * peak   multiply-adds on registers alone: what no program can pass
 * gemm   the products of this model's layers, with the kernels of the training
 */
#ifndef CORE_TRAIN_SPEED_H
#define CORE_TRAIN_SPEED_H

#include "core/train/trainer.h"

struct speed {
    int threads;
    char isa[16];
    double peak_gflops, peak1_gflops, gemm_gflops;    /* all threads, one, all */
    struct {
        const char *what;
        int m, n, k;
        double gflops;
    } product[4];
};
MUST_USE enum pd_code speed_measure(const struct trainer_options *o, const struct llama_config *c,
                                    struct speed *out, struct pd_err *err);
/* Floating-point operations of one micro-batch of `rows` positions in
 * sequences of `len` (docs/TRAINING.md, "Arithmetic"). */
double speed_flop(const struct trainer_options *o, const struct llama_config *c, double rows,
                  double len);

/* speed_peak.c: multiply-adds of `rounds` rounds for an instruction set;
 * returns how many operations that were. */
double speed_spin(const char *isa, int64_t rounds);

#endif
