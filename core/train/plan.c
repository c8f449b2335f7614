/* plan.c - the memory of a training before it starts (plan.h). */
#include "core/train/plan.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/batch.h"
#include "core/train/gemm.h"
#include "core/train/meminfo.h"

enum { STACK = 64 << 10,          /* what a thread touches of its own */
       BATCH_INTS = 9 };          /* of a position: ids, labels and places, padded and not */

const char *plan_class_name(enum plan_class c)
{
    static const char *const names[PLAN_CLASSES] = {
        [PLAN_WEIGHTS] = N_("weights (f32)"),
        [PLAN_TRAINED] = N_("what is trained, its gradient, Adam's two moments"),
        [PLAN_ACTIVATIONS] = N_("activations and their gradients"),
        [PLAN_LOSS] = N_("the loss (logits of 256 tokens at a time)"),
        [PLAN_SCRATCH] = N_("packed blocks of the kernels"),
        [PLAN_BATCH] = N_("the batch"),
        [PLAN_PROGRAM] = N_("program, tokenizer, data set"),
    };
    return names[c];
}

static void take_batch(struct plan_shape *s, struct batch *b)
{
    batch_pack(b);
    int labels = 0;
    for (int i = 0; i < b->rows.n; i++)
        labels += b->rows.labels[i] >= 0;
    s->rows = MAX(s->rows, b->rows.n);
    s->labels = MAX(s->labels, labels);
}

static void look_validation(const struct trainer_options *o, struct data *d, int batch,
                            struct batch *b, struct plan_shape *s)
{
    int64_t most = o->eval_batches > 0 ? MIN(o->eval_batches, PLAN_LOOK) : PLAN_LOOK;
    for (int64_t i = 0; i < most && data_count(d, DATA_VAL) > 0; i++) {
        data_eval_batch(d, DATA_VAL, i, batch, &b->padded);
        if (b->padded.rows == 0)
            return;
        take_batch(s, b);
    }
}

enum pd_code plan_look(const struct trainer_options *o, struct data *d, int batch,
                       struct plan_shape *out, struct pd_err *err)
{
    struct batch b;
    enum pd_code rc = PD_OK;
    int64_t n = MIN(o->steps * (int64_t)o->accum, PLAN_LOOK);
    double sum = 0;
    *out = (struct plan_shape){.batch = batch, .seq = data_max_len(d)};
    batch_init(&b, batch, out->seq);
    for (int64_t i = 0; i < n && rc == PD_OK; i++) {
        rc = data_batch(d, DATA_TRAIN, o->seed, i, batch, &b.padded, err);
        if (rc == PD_OK) {
            take_batch(out, &b);
            sum += b.rows.n;
        }
    }
    out->mean_rows = n > 0 ? sum / (double)n : 0;
    if (rc == PD_OK)
        look_validation(o, d, batch, &b, out);
    batch_release(&b);
    return rc;
}

static size_t floats(size_t n)
{
    return n * sizeof(float);
}

/* Of the loss's scratch only the chunk's rows that exist are touched, of the
 * room for dropped-out inputs nothing without dropout. */
static void count_pass(const struct trainer_options *o, const struct llama_config *c,
                       const struct lora *shape, struct plan *p)
{
    const struct plan_shape *s = &p->shape;
    size_t width = (size_t)MAX(MAX(c->hidden, c->ffn), c->heads * c->head_dim);
    enum llama_keep keep = o->checkpointing ? LLAMA_RECOMPUTE : LLAMA_KEEP;
    size_t all = floats(llama_run_floats(c, shape, s->rows, s->seq, keep));
    size_t loss = floats(ops_ce_floats(c->hidden, c->vocab));
    p->bytes[PLAN_ACTIVATIONS] = all - loss;
    if (shape && !(o->lora.dropout > 0))
        p->bytes[PLAN_ACTIVATIONS] -= floats((size_t)s->rows * width);
    p->bytes[PLAN_LOSS] = loss / OPS_CE_ROWS * (size_t)MIN(s->labels, OPS_CE_ROWS);
}

/* The packed part of a right-hand matrix [k, n]. */
static size_t packed(int k, int n)
{
    return (size_t)MIN(k, GEMM_KC) * (size_t)MIN(n, GEMM_NC + 64);
}

/* Matrices smaller than the blocks touch a part of them: the largest of the
 * products out of d, into d, and (full) of the weights' gradients. */
static size_t count_scratch(const struct trainer_options *o, const struct llama_config *c,
                            const struct plan_shape *s, int threads)
{
    int qkv = (c->heads + 2 * c->kv_heads) * c->head_dim, d = c->hidden;
    int widest = MAX(MAX(2 * c->ffn, c->vocab), qkv);
    size_t shared = MAX(packed(d, widest), packed(widest, d));
    if (o->full)
        shared = MAX(shared, packed(s->rows, MAX(d, c->ffn)));
    size_t unused = GEMM_B_FLOATS - (size_t)MIN(c->head_dim, GEMM_KC) * GEMM_LOCAL_NC;
    size_t own = floats(gemm_scratch_floats(s->seq) - unused) + STACK;
    return floats(shared) + (size_t)threads * own;
}

void plan_adapter(const struct trainer_options *o, const struct llama_config *c, struct lora *l)
{
    struct pd_err ignored;
    if (o->full || (o->adapter && lora_shape_of(l, c, o->adapter, &ignored) == PD_OK))
        return;
    lora_shape(l, c, &o->lora);
}

void plan_make(const struct trainer_options *o, const struct llama_config *c,
               const struct plan_shape *s, struct plan *out)
{
    size_t weights, state;
    struct lora *l = xcalloc(1, sizeof *l);
    int threads = o->threads > 0 ? o->threads : compute_default_threads();
    *out = (struct plan){.shape = *s};
    llama_floats(c, o->full, &weights, &state);
    plan_adapter(o, c, l);
    out->bytes[PLAN_WEIGHTS] = floats(weights);
    out->bytes[PLAN_TRAINED] = floats(o->full ? state : l->slab.used);
    count_pass(o, c, o->full ? NULL : l, out);
    out->bytes[PLAN_SCRATCH] = count_scratch(o, c, s, threads);
    out->bytes[PLAN_BATCH] = (size_t)s->batch * (size_t)s->seq * BATCH_INTS * sizeof(int32_t);
    out->bytes[PLAN_PROGRAM] = meminfo_resident(MEMINFO_NOW);
    for (int i = 0; i < PLAN_CLASSES; i++)
        out->total += out->bytes[i];
    tensors_release(&l->tensors);
    free(l);
}

size_t plan_limit(const struct trainer_options *o, char *where, size_t size)
{
    struct meminfo_limit l;
    if (o->memory_limit > 0) {
        str_copy(where, size, "--memory-limit");
        return (size_t)o->memory_limit;
    }
    meminfo_limit("", &l);
    str_copy(where, size, l.where);
    if (l.free == INT64_MAX)
        return SIZE_MAX;
    return MIN((size_t)l.free + meminfo_resident(MEMINFO_NOW), (size_t)l.most);
}

/* The largest divisor of the batch that fits: --accum makes up for it. */
static enum pd_code try_batches(const struct trainer_options *o, const struct llama_config *c,
                                struct data *d, size_t limit, int *batch, struct pd_err *err)
{
    struct plan p;
    for (*batch = o->batch / 2; *batch >= 1; (*batch)--) {
        if (o->batch % *batch)
            continue;
        if (plan_look(o, d, *batch, &p.shape, err) != PD_OK)
            return err->code;
        struct plan_shape s = p.shape;
        plan_make(o, c, &s, &p);
        if (p.total <= limit)
            return PD_OK;
    }
    return PD_OK;
}

/* The longest sequence with which a batch of one fits; 0 when none does. */
static int try_lengths(const struct trainer_options *o, const struct llama_config *c,
                       const struct plan_shape *from, size_t limit)
{
    struct plan p;
    for (int seq = MIN(from->seq, from->rows) / 16 * 16; seq >= 16; seq -= 16) {
        struct plan_shape s = {.batch = 1, .seq = seq, .rows = seq, .labels = seq};
        plan_make(o, c, &s, &p);
        if (p.total <= limit)
            return seq;
    }
    return 0;
}

static enum pd_code propose(const struct trainer_options *o, const struct llama_config *c,
                            struct data *d, const struct plan *p, size_t limit,
                            struct pd_err *err)
{
    struct pd_err said = *err;
    struct trainer_options again = *o;
    struct plan less;
    char need[40];
    int batch;
    again.checkpointing = true;
    plan_make(&again, c, &p->shape, &less);
    if (!o->checkpointing && less.total <= limit)
        return pd_set_hint(err, _("--checkpointing fits and gives the same bytes, about a third "
                                  "slower"));
    if (try_batches(o, c, d, limit, &batch, err) != PD_OK)
        return err->code;
    *err = said;
    if (batch >= 1)
        return pd_set_hint(err, _("--batch %d --accum %d fits and trains the same"), batch,
                           o->accum * (o->batch / batch));
    int seq = try_lengths(o, c, &p->shape, limit);
    if (seq > 0)
        return pd_set_hint(err, _("--batch 1 --seq %d fits; longer records must be shortened"),
                           seq);
    if (o->full)
        return pd_set_hint(err, _("train an adapter (without --full), or give it more memory"));
    return pd_set_hint(err, _("take a smaller model, or give it %s"),
                       progress_bytes(p->total, need, sizeof need));
}

enum pd_code plan_check(const struct trainer_options *o, const struct llama_config *c,
                        struct data *d, struct plan *out, struct pd_err *err)
{
    char where[280], need[40], has[40];
    size_t limit = plan_limit(o, where, sizeof where);
    struct plan_shape s;
    if (plan_look(o, d, o->batch, &s, err) != PD_OK)
        return err->code;
    plan_make(o, c, &s, out);
    if (out->total <= limit)
        return PD_OK;
    pd_fail(err, PD_UNSUPPORTED, _("this training needs %s of memory, and %s are left (%s)"),
            progress_bytes(out->total, need, sizeof need),
            progress_bytes(limit, has, sizeof has), where);
    return propose(o, c, d, out, limit, err);
}
