/* trainer_step.c - one update, one evaluation, one checkpoint. */
#include "core/train/trainer_impl.h"

#include <math.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/eval.h"
#include "core/train/rng.h"

int64_t trainer_window(const struct trainer *t, int64_t step, int *count)
{
    const struct trainer_options *o = t->o;
    *count = o->accum;
    if (!(o->epochs > 0))
        return step * o->accum;
    int64_t batches = data_batches(t->data, o->batch);
    int64_t updates = (batches + o->accum - 1) / o->accum, at = step % updates * o->accum;
    *count = (int)MIN((int64_t)o->accum, batches - at);
    return step / updates * batches + at;
}

double trainer_epoch(const struct trainer *t, int64_t step)
{
    int count;
    return data_epoch(t->data, trainer_window(t, step, &count), t->o->batch);
}

uint64_t trainer_drop_key(const struct trainer *t)
{
    return rng_key(t->o->seed, 3, 0, 0) | 1;
}

enum pd_code trainer_batch(struct trainer *t, int i, struct pd_err *err)
{
    const struct trainer_options *o = t->o;
    int count;
    int64_t index = trainer_window(t, t->st.step, &count) + i;
    if (data_batch(t->data, DATA_TRAIN, o->seed, index, o->batch, &t->batch.padded, err) != PD_OK)
        return err->code;
    batch_pack(&t->batch);
    return PD_OK;
}

/* Gradients of one micro-batch are added; sums, not means. */
static enum pd_code micro_batch(struct trainer *t, int i, double *sum, int64_t *count,
                                int64_t *rows, struct pd_err *err)
{
    double part;
    int64_t n;
    if (trainer_batch(t, i, err) != PD_OK)
        return err->code;
    if (llama_loss_grad(t->run, &t->batch.rows, trainer_drop_key(t), &part, &n, err) != PD_OK)
        return err->code;
    *sum += part;
    *count += n;
    *rows += t->batch.rows.n;
    return PD_OK;
}

static enum pd_code check_gradient(struct trainer *t, struct pd_err *err)
{
    size_t at = 0;
    if (isfinite(t->gnorm))
        return PD_OK;
    const struct tensor *g = tensors_nonfinite(t->trained, 'g', &at);
    pd_fail(err, PD_TRAIN, _("the gradient is not a number: first seen in %s[%zu]"),
            g ? g->name : "its norm", at);
    return pd_set_hint(err, _("lower --rate, lengthen --warmup, or set --clip"));
}

static enum pd_code update(struct trainer *t, int64_t *rows, struct pd_err *err)
{
    double sum = 0;
    int64_t count = 0;
    int batches;
    trainer_window(t, t->st.step, &batches);
    optim_zero_grad(&t->c, t->trained);
    for (int i = 0; i < batches; i++)
        if (micro_batch(t, i, &sum, &count, rows, err) != PD_OK)
            return err->code == PD_TRAIN ? trainer_explain(t, i, err) : err->code;
    t->loss = sum / (double)count;
    t->grad_scale = 1 / (double)count;
    t->gnorm = optim_grad_norm(&t->c, t->trained, t->grad_scale);
    if (check_gradient(t, err) != PD_OK)
        return trainer_explain(t, batches - 1, err);
    t->lr = optim_rate(&t->optim, t->st.step);
    optim_step(&t->c, &t->optim, t->trained, 1 / (double)count, t->gnorm, t->lr, t->st.step + 1);
    t->st.step++;
    t->st.tokens += count;
    return PD_OK;
}

enum pd_code trainer_step(struct trainer *t, struct pd_err *err)
{
    bool first = t->rows_seen == 0;
    uint64_t allocs = mem_allocations();
    int64_t start = clock_us(), rows = 0;
    if (update(t, &rows, err) != PD_OK)
        return err->code;
    t->rows_seen += rows;
    trainer_history_step(t);
    trainer_log_step(t, rows, clock_us() - start);
    if (!first)
        t->step_allocs += mem_allocations() - allocs;
    return PD_OK;
}

enum pd_code trainer_eval(struct trainer *t, struct pd_err *err)
{
    struct eval_result r;
    int64_t start = clock_us();
    if (t->eval_step == t->st.step || data_count(t->data, DATA_VAL) == 0)
        return PD_OK;
    if (eval_run(t->run, t->data, &t->batch, t->o->batch, t->o->eval_batches, &r, err) != PD_OK)
        return err->code == PD_TRAIN ? trainer_explain_eval(t, err) : err->code;
    t->eval_step = t->st.step;
    t->val_loss = r.loss;
    trainer_history_eval(t, r.examples, clock_us() - start);
    runlog_begin(&t->line, RUN_EVAL);
    runlog_add_int(&t->line, "step", t->st.step);
    runlog_add_num(&t->line, "val_loss", r.loss);
    runlog_add_int(&t->line, "val_tokens", r.tokens);
    trainer_emit(t);
    return PD_OK;
}

enum pd_code trainer_save(struct trainer *t, struct pd_err *err)
{
    char path[512];
    int64_t bytes;
    if (t->saved_step == t->st.step)
        return PD_OK;
    t->st.rate = t->optim.rate;
    t->st.best = t->best_step;
    struct str log;
    str_init(&log, (size_t)256 << 20);
    trainer_print_state(t, &log);
    t->st.log = log.p;
    enum pd_code rc = ckpt_save(t->o->out, &t->src, &t->st, t->o->keep, &bytes, path, sizeof path,
                                err);
    t->st.log = NULL;
    str_release(&log);
    if (rc != PD_OK)
        return rc;
    t->saved_step = t->st.step;
    runlog_begin(&t->line, RUN_SAVE);
    runlog_add_int(&t->line, "step", t->st.step);
    runlog_add_str(&t->line, "path", path);
    runlog_add_int(&t->line, "bytes", bytes);
    trainer_emit(t);
    return PD_OK;
}
