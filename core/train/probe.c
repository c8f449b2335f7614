/* probe.c - logits of fixed random prompts (probe.h). */
#include "core/train/probe.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/train/rng.h"

enum { ROWS = PROBE_PROMPTS * PROBE_LEN };

/* All prompts behind one another. */
struct prompts {
    int off[PROBE_PROMPTS + 1], pos[ROWS];
    int32_t ids[ROWS], labels[ROWS];
};

static void fill(struct prompts *p, int vocab)
{
    for (int i = 0; i < ROWS; i++) {
        double u = rng_unit(rng_key(7, (uint64_t)(i / PROBE_LEN), 0, 0), (uint64_t)(i % PROBE_LEN));
        p->ids[i] = MIN((int32_t)(u * vocab), vocab - 1);
        p->labels[i] = -1;
        p->pos[i] = i % PROBE_LEN;
    }
    for (int i = 0; i <= PROBE_PROMPTS; i++)
        p->off[i] = i * PROBE_LEN;
}

enum pd_code probe_logits(struct llama *m, struct lora *l, struct compute *c, float *out,
                          struct pd_err *err)
{
    struct prompts *p = xcalloc(1, sizeof *p);
    struct rows rows = {ROWS, PROBE_PROMPTS, p->off, p->ids, p->labels, p->pos, NULL};
    struct llama_run *run = llama_run_new(m, l, c, ROWS, PROBE_LEN, false);
    size_t vocab = (size_t)m->cfg.vocab;
    fill(p, m->cfg.vocab);
    enum pd_code rc = llama_logits(run, &rows, PROBE_LEN - 1, out, err);
    for (int i = 1; i < PROBE_PROMPTS && rc == PD_OK; i++)
        llama_peek_logits(run, p->off[i + 1] - 1, out + (size_t)i * vocab);
    llama_run_free(run);
    free(p);
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
