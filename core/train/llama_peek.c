/* llama_peek.c - what a pass has left behind, for people who look (llama.h). */
#include "core/train/llama_run.h"

#include <math.h>

double llama_peek_rms(const struct llama_run *r, int layer, int from, int to)
{
    int d = r->m->cfg.hidden;
    const float *x = layer < r->m->cfg.layers ? r->act[layer].x : r->out;
    double sum = 0;
    for (size_t i = (size_t)from * (size_t)d; i < (size_t)to * (size_t)d; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum / ((double)(to - from) * d));
}

void llama_peek_logits(struct llama_run *r, int row, float *out)
{
    int d = r->m->cfg.hidden;
    gemm_run(r->c, 1, r->m->cfg.vocab, d, 1.0f, mat_rows(r->h + (size_t)row * (size_t)d, d),
             mat_t(r->m->head, d), false, out, r->m->cfg.vocab);
}
