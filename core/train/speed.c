/* speed.c - how fast this machine computes (speed.h). */
#include "core/train/speed.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "core/base/str.h"
#include "core/train/compute.h"
#include "core/train/plan.h"

enum { ROWS = 512, SPIN_ROUNDS = 2000000, MEASURE_US = 120000 };

struct spin {
    const char *isa;
    double ops[256];
};

static void spin_task(void *arg, int task, int thread UNUSED)
{
    struct spin *s = arg;
    s->ops[task] = speed_spin(s->isa, SPIN_ROUNDS);
}

static double peak(struct compute *c, int tasks)
{
    struct spin s = {.isa = compute_isa(c)};
    double best = 0;
    tasks = MIN(tasks, (int)ARRAY_LEN(s.ops));
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        int64_t start = clock_us();
        compute_run(c, spin_task, &s, tasks);
        int64_t us = MAX(clock_us() - start, 1);
        for (int i = 0; i < tasks; i++)
            sum += s.ops[i];
        best = MAX(best, sum / (double)us / 1e3);
    }
    return best;
}

/* One product, again and again for MEASURE_US after a first one; the best. */
static double product(struct compute *c, int m, int n, int k)
{
    size_t size = (size_t)m * (size_t)k + (size_t)n * (size_t)k + (size_t)m * (size_t)n;
    float *a = xmalloc(size * sizeof *a), *b = a + (size_t)m * (size_t)k;
    float *out = b + (size_t)n * (size_t)k;
    double flop = 2.0 * m * n * k, best = 0;
    for (size_t i = 0; i < size; i++)
        a[i] = (float)(i % 7) * 0.1f;
    int64_t begin = clock_us();
    for (int i = 0; i < 3 || clock_us() - begin < MEASURE_US; i++) {
        int64_t start = clock_us();
        gemm_run(c, m, n, k, 1.0f, mat_rows(a, k), mat_t(b, k), false, out, n);
        best = MAX(best, flop / (double)MAX(clock_us() - start, 1) / 1e3);
    }
    free(a);
    return best;
}

static void products(struct compute *c, const struct llama_config *m, struct speed *out)
{
    int q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    const struct {
        const char *what;
        int n, k;
    } shapes[] = {{"q k v", q + 2 * kv, m->hidden}, {"gate up", 2 * m->ffn, m->hidden},
                  {"down", m->hidden, m->ffn}, {"head", MIN(m->vocab, 16384), m->hidden}};
    double flop = 0, time = 0;
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        double g = product(c, ROWS, shapes[i].n, shapes[i].k);
        double work = (double)shapes[i].n * shapes[i].k * (i + 1 < ARRAY_LEN(shapes) ? m->layers
                                                                                     : 1);
        flop += work;
        time += work / g;
        out->product[i].what = shapes[i].what;
        out->product[i].m = ROWS, out->product[i].n = shapes[i].n, out->product[i].k = shapes[i].k;
        out->product[i].gflops = g;
    }
    out->gemm_gflops = flop / time;
}

enum pd_code speed_measure(const struct trainer_options *o, const struct llama_config *c,
                           struct speed *out, struct pd_err *err)
{
    struct compute k;
    *out = (struct speed){.threads = 0};
    if (compute_init(&k, o->threads, ROWS, err) != PD_OK)
        return err->code;
    out->threads = k.threads;
    str_copy(out->isa, sizeof out->isa, compute_isa(&k));
    out->peak1_gflops = peak(&k, 1);
    out->peak_gflops = peak(&k, k.threads);
    products(&k, c, out);
    compute_release(&k);
    return PD_OK;
}

double speed_flop(const struct trainer_options *o, const struct llama_config *c, double rows,
                  double len)
{
    double d = c->hidden, q = (double)c->heads * c->head_dim;
    double kv = (double)c->kv_heads * c->head_dim;
    double layer = d * (q + 2 * kv) + q * d + 3.0 * d * c->ffn;
    double linear = layer * c->layers + d * c->vocab;
    double attention = 2 * q * len * c->layers;               /* causal: half of 4 q len */
    struct lora *l = xcalloc(1, sizeof *l);
    double adapter;
    plan_adapter(o, c, l);
    adapter = 6 * (double)tensors_total(&l->tensors);
    tensors_release(&l->tensors);
    free(l);
    return rows * ((o->full ? 6 : 4) * linear + 3.5 * attention + adapter);
}
