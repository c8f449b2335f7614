/* trainer.c - a run from its options to its end (trainer.h). */
#include "core/train/trainer_impl.h"

#include <math.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/plan.h"
#include "core/train/vocab_check.h"

void trainer_defaults(struct trainer_options *o)
{
    *o = (struct trainer_options){.steps = 100, .eval_every = 20, .save_every = 0, .batch = 8,
                                  .accum = 1, .keep = 2, .hold_s = -1, .seed = 1, .fd = 1};
    optim_defaults(&o->optim);
    o->lora = (struct lora_config){.r = 8, .alpha = 16, .dropout = 0,
                                   .targets = 1u << LORA_Q | 1u << LORA_V};
}

struct data_options trainer_data_options(const struct trainer_options *o,
                                         const struct llama_config *c)
{
    return (struct data_options){.max_len = o->seq, .val_fraction = o->val_fraction,
                                 .val_templates = o->val_templates, .val_path = o->val,
                                 .eos = c->n_eos ? c->eos[0] : -1, .model = o->model,
                                 .chat_pairs = o->chat_form, .train_prompt = o->train_prompt,
                                 .packing = o->packing, .too_long = o->too_long};
}

/* A record that is cut or left out never goes silently. */
static void tell_lost(struct trainer *t)
{
    char text[160];
    if (data_cut(t->data))
        trainer_log_warn(t, str_fmt(text, sizeof text,
                                    _("%lld records were truncated: their answers don't end"),
                                    (long long)data_cut(t->data)));
    if (data_dropped(t->data))
        trainer_log_warn(t, str_fmt(text, sizeof text,
                                    _("%lld records were left out: they are too long"),
                                    (long long)data_dropped(t->data)));
}

static enum pd_code open_data(struct trainer *t, struct pd_err *err)
{
    const struct llama_config *c = &t->model.cfg;
    struct data_options opt = trainer_data_options(t->o, c);
    if (tok_load(t->o->model, &t->tok, err) != PD_OK)
        return err->code;
    if (vocab_check(t->tok, c->vocab, t->o->model, t->o->adapter, err) != PD_OK)
        return err->code;
    if (data_open(t->o->data, t->tok, &opt, &t->data, err) != PD_OK)
        return err->code;
    if (data_max_len(t->data) > c->max_pos)
        return pd_fail(err, PD_DATA, _("%d tokens in a row, but the model has positions for %d"),
                       data_max_len(t->data), c->max_pos);
    return PD_OK;
}

/* An adapter to start from brings its shape; dropout is the run's. */
static enum pd_code make_adapter(struct trainer *t, struct pd_err *err)
{
    if (t->o->full)
        return PD_OK;
    if (!t->o->adapter) {
        lora_init(&t->lora, &t->model.cfg, &t->o->lora, t->o->seed);
        return PD_OK;
    }
    if (lora_load(&t->lora, &t->model.cfg, t->o->adapter, err) != PD_OK)
        return err->code;
    t->lora.cfg.dropout = t->o->lora.dropout;
    return PD_OK;
}

static enum pd_code size_run(struct trainer *t, struct pd_err *err)
{
    int len = data_max_len(t->data);
    batch_init(&t->batch, t->o->batch, len);
    if (make_adapter(t, err) != PD_OK)
        return err->code;
    t->trained = t->o->full ? &t->model.tensors : &t->lora.tensors;
    t->src = (struct ckpt_source){.model = &t->model, .lora = t->o->full ? NULL : &t->lora,
                                  .base = t->o->model, .bf16 = t->o->bf16};
    t->run = llama_run_new(&t->model, t->src.lora, &t->c, t->batch.max_rows, len,
                           t->o->checkpointing ? LLAMA_RECOMPUTE : LLAMA_KEEP);
    return PD_OK;
}

/* Everything that must be equal for a resumed run to equal an unbroken one. */
static void describe_shape(struct trainer *t)
{
    const struct trainer_options *o = t->o;
    snprintf(t->st.shape, sizeof t->st.shape,
             "%s params %zu steps %" PRId64 " batch %d accum %d seq %d seed %" PRIu64
             " r %d alpha %.9g%s dropout %.9g targets %u warmup %" PRId64 " schedule %d clip %.9g "
             "decay %.9g betas %.9g %.9g train %" PRId64 "%s%s%s",
             o->full ? "full" : "lora", llama_parameters(&t->model.cfg), o->steps, o->batch,
             o->accum, data_max_len(t->data), o->seed, t->lora.cfg.r, t->lora.cfg.alpha,
             t->lora.cfg.rslora ? " rslora" : "", t->lora.cfg.dropout, t->lora.cfg.targets,
             o->optim.warmup, (int)o->optim.schedule, o->optim.clip, o->optim.decay, o->optim.beta1,
             o->optim.beta2, data_count(t->data, DATA_TRAIN), o->chat_form ? " chat" : "",
             o->train_prompt ? " prompts" : "", o->packing ? " packing" : "");
}

/* Nothing of our own to resume: a checkpoint of another program must not look
 * like a fresh start. */
static enum pd_code refuse_foreign(const char *out, struct pd_err *err)
{
    struct str skipped;
    str_init(&skipped, 2000);
    int64_t step = ckpt_newest_foreign(out, &skipped);
    str_release(&skipped);
    if (step < 0)
        return PD_OK;
    pd_fail(err, PD_TRAIN, _("%s/checkpoint-%" PRId64 " was written by another program: its "
                             "optimizer can't be read here"), out, step);
    return pd_set_hint(err, _("--adapter %s/checkpoint-%" PRId64 " begins with its weights; leave "
                              "--resume out"), out, step);
}

static enum pd_code resume(struct trainer *t, struct pd_err *err)
{
    struct str skipped;
    struct ckpt_state st = {0};
    str_init(&skipped, 2000);
    int64_t step = ckpt_newest(t->o->out, &skipped);
    if (skipped.len)
        trainer_log_warn(t, skipped.p);
    str_release(&skipped);
    if (step < 0)
        return refuse_foreign(t->o->out, err);
    if (ckpt_load(t->o->out, step, &t->src, t->st.shape, &st, err) != PD_OK)
        return err->code;
    t->st = st;
    t->optim.rate = st.rate;
    t->saved_step = step;
    char *dir = xasprintf("%s/checkpoint-%" PRId64, t->o->out, step);
    trainer_history_read(t, dir);
    free(dir);
    return PD_OK;
}

void trainer_count_steps(struct trainer_options *o, struct data *d)
{
    int64_t batches = data_batches(d, o->batch);
    if (o->epochs > 0) {
        data_whole_epochs(d, true);
        o->steps = (int64_t)ceil(o->epochs * (double)((batches + o->accum - 1) / o->accum));
    }
    if (o->warmup_ratio > 0)
        o->optim.warmup = (int64_t)ceil(o->warmup_ratio * (double)o->steps);
}

static enum pd_code set_up(struct trainer *t, struct pd_err *err)
{
    struct plan plan;
    if (llama_read_config(t->o->model, &t->model.cfg, err) != PD_OK || open_data(t, err) != PD_OK)
        return err->code;
    trainer_count_steps(&t->own, t->data);
    t->optim.warmup = t->o->optim.warmup;
    t->optim.steps = t->o->steps;
    if (plan_check(t->o, &t->model.cfg, t->data, &plan, err) != PD_OK)
        return err->code;
    if (llama_load(&t->model, t->o->model, t->o->full, err) != PD_OK)
        return err->code;
    if (compute_init(&t->c, t->o->threads, data_max_len(t->data), err) != PD_OK)
        return err->code;
    if (size_run(t, err) != PD_OK)
        return err->code;
    trainer_history_init(t);
    describe_shape(t);
    if (path_mkdirs(t->o->out, 0755, err) != PD_OK)
        return err->code;
    return t->o->resume ? resume(t, err) : PD_OK;
}

static bool due(int64_t step, int64_t every)
{
    return every > 0 && step % every == 0;
}

static enum pd_code after_step(struct trainer *t, struct pd_err *err)
{
    bool last = t->st.step == t->o->steps || t->quit;
    if ((last || due(t->st.step, t->o->eval_every)) && trainer_eval(t, err) != PD_OK)
        return err->code;
    if ((last || due(t->st.step, t->o->save_every)) && trainer_save(t, err) != PD_OK)
        return err->code;
    return PD_OK;
}

static enum pd_code steps(struct trainer *t, struct pd_err *err)
{
    if (t->st.step == 0 && trainer_eval(t, err) != PD_OK)
        return err->code;
    for (;;) {
        trainer_control(t);
        if (*t->stop || t->quit || t->st.step >= t->o->steps || t->write_failed)
            break;
        if (trainer_step(t, err) != PD_OK || after_step(t, err) != PD_OK)
            return err->code;
    }
    if (t->write_failed)
        return pd_fail(err, PD_IO, _("nobody reads the records any more"));
    return PD_OK;
}

/* SIGTERM: what is done is kept, and the code says that it was ended. */
static int terminated(struct trainer *t, struct pd_err *err)
{
    if (trainer_save(t, err) != PD_OK) {
        trainer_log_error(t, err);
        return TRAINER_FAILED;
    }
    trainer_log_state(t, "quit");
    return TRAINER_TERMINATED;
}

static int finish(struct trainer *t, struct pd_err *err)
{
    if (*t->stop && t->st.step < t->o->steps)
        return terminated(t, err);
    if (trainer_eval(t, err) != PD_OK || trainer_save(t, err) != PD_OK ||
        ckpt_export(t->o->out, &t->src, err) != PD_OK ||
        trainer_write_state(t, t->o->out, err) != PD_OK) {
        trainer_log_error(t, err);
        return TRAINER_FAILED;
    }
    trainer_log_done(t);
    if (t->o->hold_s >= 0 && !t->quit)
        trainer_hold(t);
    trainer_log_state(t, "quit");
    return TRAINER_DONE;
}

static void tear_down(struct trainer *t)
{
    llama_run_free(t->run);
    run_series_release(&t->history);
    lora_release(&t->lora);
    llama_release(&t->model);
    batch_release(&t->batch);
    if (t->data)
        data_free(t->data);
    if (t->tok)
        tok_free(t->tok);
    compute_release(&t->c);
    control_release(&t->ctl);
    str_release(&t->line);
}

static int exit_code(enum pd_code code)
{
    if (code == PD_USAGE)
        return TRAINER_USAGE;
    return code == PD_UNSUPPORTED ? TRAINER_CANT : TRAINER_FAILED;
}

int trainer_run(const struct trainer_options *o, const volatile int *stop)
{
    struct trainer t = {.own = *o, .stop = stop, .optim = o->optim, .saved_step = -1,
                        .eval_step = -1, .loss = NAN, .val_loss = NAN, .gnorm = NAN};
    struct pd_err err;
    int rc;
    t.o = &t.own;
    t.start_us = clock_us();
    str_init(&t.line, 1 << 16);
    progress_init(&t.progress, o->log, o->fd);
    control_init(&t.ctl, o->control ? 0 : -1);
    if (set_up(&t, &err) != PD_OK) {
        trainer_log_error(&t, &err);
        rc = exit_code(err.code);
    } else {
        trainer_log_hello(&t);
        tell_lost(&t);
        if ((o->replay ? trainer_replay(&t, &err) : steps(&t, &err)) != PD_OK) {
            trainer_log_error(&t, &err);
            rc = TRAINER_FAILED;
        } else {
            rc = o->replay ? TRAINER_DONE : finish(&t, &err);
        }
    }
    tear_down(&t);
    return rc;
}
