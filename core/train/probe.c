/* probe.c - logits of fixed random prompts (probe.h). */
#include "core/train/probe.h"

#include <math.h>

#include "core/train/rng.h"

static enum pd_code one(struct llama_run *run, int vocab, int prompt, float *out,
                        struct pd_err *err)
{
    int off[2] = {0, PROBE_LEN}, pos[PROBE_LEN];
    int32_t ids[PROBE_LEN], labels[PROBE_LEN];
    for (int i = 0; i < PROBE_LEN; i++) {
        double u = rng_unit(rng_key(7, (uint64_t)prompt, 0, 0), (uint64_t)i);
        ids[i] = MIN((int32_t)(u * vocab), vocab - 1);
        labels[i] = -1;
        pos[i] = i;
    }
    struct rows rows = {PROBE_LEN, 1, off, ids, labels, pos};
    return llama_logits(run, &rows, PROBE_LEN - 1, out, err);
}

enum pd_code probe_logits(struct llama *m, struct lora *l, struct compute *c, float *out,
                          struct pd_err *err)
{
    struct llama_run *run = llama_run_new(m, l, c, PROBE_LEN, PROBE_LEN, false);
    enum pd_code rc = PD_OK;
    for (int i = 0; i < PROBE_PROMPTS && rc == PD_OK; i++)
        rc = one(run, m->cfg.vocab, i, out + (size_t)i * (size_t)m->cfg.vocab, err);
    llama_run_free(run);
    return rc;
}

static int first(const float *z, int vocab)
{
    int best = 0;
    for (int i = 1; i < vocab; i++)
        best = z[i] > z[best] ? i : best;
    return best;
}

struct probe_diff probe_compare(const float *a, const float *b, int vocab)
{
    struct probe_diff d = {0};
    for (int p = 0; p < PROBE_PROMPTS; p++, a += vocab, b += vocab) {
        for (int i = 0; i < vocab; i++) {
            double diff = fabs((double)a[i] - (double)b[i]);
            d.most = isnan(d.most) || diff <= d.most ? d.most : diff;   /* a NaN stays */
            d.largest = fmax(d.largest, fabs((double)a[i]));
        }
        d.same += first(a, vocab) == first(b, vocab);
    }
    return d;
}
