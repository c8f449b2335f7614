/* cmd_bench.c - `bench`: what this machine can do, and what a model's training
 * gets of it.
 */
#include "core/train/cmd.h"

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/batch.h"
#include "core/train/meminfo.h"
#include "core/train/plan.h"
#include "core/train/rng.h"
#include "core/train/speed.h"

enum { WARM = 1, STEPS = 3, SEQ = 512 };

struct bench {
    struct speed speed;
    double tok_s, step_s;
    int rows;
};

/* The shape of SmolLM2-135M: what is measured when no model is given. */
static const struct llama_config small = {.vocab = 49152, .hidden = 576, .ffn = 1536,
                                          .layers = 30, .heads = 9, .kv_heads = 3, .head_dim = 64,
                                          .tied = true, .max_pos = 8192};

/* Random ids, every position trained. */
static void fill(struct batch *b, int n, int len, int vocab)
{
    b->padded.rows = n;
    b->padded.len = len;
    for (int i = 0; i < n * len; i++) {
        b->padded.ids[i] = (int32_t)(rng_key(1, 9, (uint64_t)i, 0) % (uint64_t)vocab);
        b->padded.pos[i] = i % len;
        b->padded.labels[i] = (int32_t)(rng_key(1, 9, (uint64_t)i + 1, 0) % (uint64_t)vocab);
    }
    for (int i = 0; i < n; i++)
        b->padded.lens[i] = len;
    batch_pack(b);
}

static enum pd_code steps(struct llama_run *run, struct compute *c, struct batch *b,
                          struct tensors *trained, struct bench *out, struct pd_err *err)
{
    struct optim optim;
    int64_t best = INT64_MAX;
    optim_defaults(&optim);
    for (int i = 0; i < WARM + STEPS; i++) {
        double sum;
        int64_t count, start = clock_us();
        optim_zero_grad(c, trained);
        if (llama_loss_grad(run, &b->rows, 0, &sum, &count, err) != PD_OK)
            return err->code;
        double gnorm = optim_grad_norm(c, trained, 1 / (double)count);
        optim_step(c, &optim, trained, 1 / (double)count, gnorm, 1e-5, i + 1);
        if (i >= WARM)
            best = MIN(best, clock_us() - start);
    }
    out->rows = b->rows.n;
    out->step_s = (double)best / 1e6;
    out->tok_s = b->rows.n / out->step_s;
    return PD_OK;
}

static enum pd_code measure(const struct options *o, struct llama *m, int batch, int seq,
                            struct bench *out, struct pd_err *err)
{
    struct compute c;
    struct batch b;
    struct lora *l = NULL;
    if (compute_init(&c, o->t.threads, seq, err) != PD_OK)
        return err->code;
    if (!o->t.full) {
        l = xcalloc(1, sizeof *l);
        lora_init(l, &m->cfg, &o->t.lora, 1);
    }
    batch_init(&b, batch, seq);
    fill(&b, batch, seq, m->cfg.vocab);
    struct llama_run *run = llama_run_new(m, l, &c, b.max_rows, seq,
                                          o->t.checkpointing ? LLAMA_RECOMPUTE : LLAMA_KEEP);
    enum pd_code rc = steps(run, &c, &b, l ? &l->tensors : &m->tensors, out, err);
    llama_run_free(run);
    batch_release(&b);
    if (l)
        lora_release(l);
    free(l);
    compute_release(&c);
    return rc;
}

static enum pd_code train_a_little(const struct options *o, const struct llama_config *c,
                                   struct bench *out, struct pd_err *err)
{
    struct llama *m;
    struct plan p;
    char where[280], need[40], has[40];
    int seq = MIN(o->t.seq > 0 ? o->t.seq : SEQ, c->max_pos);
    int batch = o->batch_given ? o->t.batch : 1;
    struct plan_shape s = {.batch = batch, .seq = seq, .rows = batch * seq, .labels = batch * seq};
    plan_make(&o->t, c, &s, &p);
    size_t limit = plan_limit(&o->t, where, sizeof where);
    if (p.total > limit) {
        pd_fail(err, PD_UNSUPPORTED,
                _("this training needs %s of memory, and %s are left (%s)"),
                progress_bytes(p.total, need, sizeof need),
                progress_bytes(limit, has, sizeof has), where);
        return pd_set_hint(err, _("a smaller --batch or --seq"));
    }
    m = xcalloc(1, sizeof *m);
    enum pd_code rc = llama_load(m, o->t.model, o->t.full, err);
    if (rc == PD_OK) {
        rc = measure(o, m, batch, seq, out, err);
        llama_release(m);
    }
    free(m);
    return rc;
}

static void warn_threads(const struct speed *s)
{
    int good = compute_default_threads();
    if (s->threads > good)
        printf(_("warning: %d threads, but this process may use %d processors (affinity and the "
                 "group's CPU quota): --threads %d will be faster\n"), s->threads, good, good);
}

static void say(const struct bench *b)
{
    const struct speed *s = &b->speed;
    char text[40];
    printf(_("kernels %s, %d threads; peak of multiply-adds on registers: %.0f GFLOP/s, one "
             "thread %.0f\n"), s->isa, s->threads, s->peak_gflops, s->peak1_gflops);
    for (size_t i = 0; i < ARRAY_LEN(s->product); i++)
        printf(_("  product %-8s %5d x %5d x %5d  %6.0f GFLOP/s, %3.0f %% of the peak\n"),
               s->product[i].what, s->product[i].m, s->product[i].n, s->product[i].k,
               s->product[i].gflops, 100 * s->product[i].gflops / s->peak_gflops);
    if (b->rows)
        printf(_("training: %.0f tokens a second (%d tokens in %.3g s), at most %s of memory\n"),
               b->tok_s, b->rows, b->step_s,
               progress_bytes(meminfo_resident(MEMINFO_PEAK), text, sizeof text));
}

static void say_json(const struct bench *b)
{
    const struct speed *s = &b->speed;
    printf("{\"isa\":\"%s\",\"threads\":%d,\"peak_gflops\":%.6g,\"peak1_gflops\":%.6g,"
           "\"gemm_gflops\":%.6g,\"tok_s\":%.6g,\"rows\":%d}\n",
           s->isa, s->threads, s->peak_gflops, s->peak1_gflops, s->gemm_gflops, b->tok_s, b->rows);
}

int cmd_bench(const struct options *o)
{
    struct bench b = {.rows = 0};
    struct llama_config c = small;
    struct pd_err err;
    enum pd_code rc = o->t.model ? llama_read_config(o->t.model, &c, &err) : PD_OK;
    if (rc == PD_OK)
        rc = speed_measure(&o->t, &c, &b.speed, &err);
    if (rc == PD_OK && o->t.model)
        rc = train_a_little(o, &c, &b, &err);
    if (rc != PD_OK)
        return cmd_fail(&err);
    if (o->json)
        say_json(&b);
    else
        say(&b);
    if (!o->json)
        warn_threads(&b.speed);
    return TRAINER_DONE;
}
