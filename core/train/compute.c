/* compute.c - threads, kernels and scratch of a run (compute.h). */
#include "core/train/compute.h"

#include <sched.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/gemm.h"
#include "core/train/kern.h"
#include "core/train/meminfo.h"
#include "core/train/pool.h"

int compute_default_threads(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    int quota = meminfo_cpu_quota("");
    return MAX(1, quota ? MIN(n, quota) : n);
}

static float *aligned_floats(size_t n)
{
    float *p = aligned_alloc(64, (n * sizeof(float) + 63) / 64 * 64);
    if (!p)
        PD_BUG("no memory for %zu floats of scratch", n);
    return p;
}

enum pd_code compute_init(struct compute *c, int threads, int max_seq, struct pd_err *err)
{
    *c = (struct compute){.threads = threads > 0 ? threads : compute_default_threads()};
    const char *isa = getenv("PODIUM_ISA");
    c->k = kern_choose(isa);
    if (!c->k) {
        pd_fail(err, PD_USAGE, _("PODIUM_ISA=%s: no such instruction set here"), isa);
        return pd_set_hint(err, _("use plain, avx2 or avx512, or leave it unset"));
    }
    if (pool_new(c->threads, &c->pool, err) != PD_OK)
        return err->code;
    c->shared_floats = GEMM_SHARED_FLOATS;
    c->shared = aligned_floats(c->shared_floats);
    c->scratch_floats = gemm_scratch_floats(max_seq);
    c->scratch = xcalloc((size_t)c->threads, sizeof *c->scratch);
    for (int i = 0; i < c->threads; i++)
        c->scratch[i] = aligned_floats(c->scratch_floats);
    return PD_OK;
}

void compute_release(struct compute *c)
{
    pool_free(c->pool);
    for (int i = 0; c->scratch && i < c->threads; i++)
        free(c->scratch[i]);
    free(c->scratch);
    free(c->shared);
    *c = (struct compute){0};
}

const char *compute_isa(const struct compute *c)
{
    return c->k->name;
}

void compute_run(struct compute *c, compute_fn *fn, void *arg, int tasks)
{
    pool_run(c->pool, fn, arg, tasks);
}
