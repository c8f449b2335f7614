/* trainer_log.c - the run's records on stdout (docs/RUNLOG.md). */
#include "core/train/trainer_impl.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"

void trainer_emit(struct trainer *t)
{
    size_t at = 0;
    runlog_end(&t->line);
    if (t->o->log != PROGRESS_JSON) {
        progress_record(&t->progress, t->line.p, t->line.len);
        t->write_failed |= t->progress.failed;
        at = t->line.len;
    }
    while (at < t->line.len) {
        ssize_t n = write(t->o->fd, t->line.p + at, t->line.len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            t->write_failed = true;
            break;
        }
        at += (size_t)n;
    }
    str_clear(&t->line);
}

static void log_shape(struct trainer *t)
{
    const struct trainer_options *o = t->o;
    runlog_add_str(&t->line, "mode", o->full ? "full" : "lora");
    if (!o->full) {
        runlog_add_int(&t->line, "lora_r", t->lora.cfg.r);
        runlog_add_num(&t->line, "lora_alpha", t->lora.cfg.alpha);
        runlog_add_num(&t->line, "lora_dropout", t->lora.cfg.dropout);
    }
    runlog_add_int(&t->line, "vocab", t->model.cfg.vocab);
    runlog_add_int(&t->line, "layers", t->model.cfg.layers);
    runlog_add_int(&t->line, "hidden", t->model.cfg.hidden);
    runlog_add_int(&t->line, "train_examples", data_count(t->data, DATA_TRAIN));
    runlog_add_int(&t->line, "val_examples", data_count(t->data, DATA_VAL));
    if (o->packing)
        runlog_add_int(&t->line, "packed_rows", data_rows(t->data, DATA_TRAIN));
    runlog_add_num(&t->line, "padding", data_padding(t->data));
    runlog_add_str(&t->line, "isa", compute_isa(&t->c));
    runlog_add_int(&t->line, "threads", t->c.threads);
    runlog_add_int(&t->line, "memory", (int64_t)llama_run_bytes(t->run));
    runlog_add_int(&t->line, "control", CONTROL_VERSION);
}

void trainer_log_hello(struct trainer *t)
{
    const struct trainer_options *o = t->o;
    runlog_begin(&t->line, RUN_HELLO);
    runlog_add_str(&t->line, "version", PODIUM_VERSION);
    runlog_add_str(&t->line, "model", path_base(o->model));
    runlog_add_int(&t->line, "params", (int64_t)llama_parameters(&t->model.cfg));
    runlog_add_int(&t->line, "trainable", (int64_t)tensors_total(t->trained));
    runlog_add_int(&t->line, "steps", o->steps);
    runlog_add_int(&t->line, "step", t->st.step);
    runlog_add_int(&t->line, "batch", o->batch);
    runlog_add_int(&t->line, "accum", o->accum);
    runlog_add_int(&t->line, "seq", data_max_len(t->data));
    runlog_add_int(&t->line, "seed", (int64_t)o->seed);
    runlog_add_num(&t->line, "rate", t->optim.rate);
    runlog_add_int(&t->line, "warmup", o->optim.warmup);
    log_shape(t);
    trainer_emit(t);
}

void trainer_log_step(struct trainer *t, int64_t rows, int64_t us)
{
    runlog_begin(&t->line, RUN_STEP);
    runlog_add_int(&t->line, "step", t->st.step);
    runlog_add_num(&t->line, "loss", t->loss);
    runlog_add_num(&t->line, "lr", t->lr);
    runlog_add_num(&t->line, "gnorm", t->gnorm);
    runlog_add_int(&t->line, "tokens", t->st.tokens);
    runlog_add_num(&t->line, "tok_s", round(us ? 1e6 * (double)rows / (double)us : 0));
    runlog_add_num(&t->line, "epoch",
                   trainer_epoch(t, t->st.step));
    runlog_add_num(&t->line, "ms", (double)us / 1000);
    trainer_emit(t);
}

void trainer_log_state(struct trainer *t, const char *state)
{
    runlog_begin(&t->line, RUN_STATE);
    runlog_add_str(&t->line, "state", state);
    runlog_add_int(&t->line, "step", t->st.step);
    trainer_emit(t);
}

void trainer_log_warn(struct trainer *t, const char *text)
{
    runlog_begin(&t->line, RUN_WARN);
    runlog_add_str(&t->line, "text", text);
    runlog_add_int(&t->line, "step", t->st.step);
    trainer_emit(t);
}

void trainer_log_error(struct trainer *t, const struct pd_err *err)
{
    char text[800];
    if (err->src[0] && err->line)
        snprintf(text, sizeof text, "%s:%d: %s", err->src, err->line, err->msg);
    else
        snprintf(text, sizeof text, "%s%s%s", err->src, err->src[0] ? ": " : "", err->msg);
    runlog_begin(&t->line, RUN_ERROR);
    runlog_add_str(&t->line, "code", pd_id(err->code));
    runlog_add_str(&t->line, "text", text);
    runlog_add_str(&t->line, "hint", err->hint);
    runlog_add_int(&t->line, "step", t->st.step);
    trainer_emit(t);
}

void trainer_log_done(struct trainer *t)
{
    runlog_begin(&t->line, RUN_DONE);
    runlog_add_int(&t->line, "steps", t->st.step);
    runlog_add_num(&t->line, "loss", t->loss);
    runlog_add_num(&t->line, "val_loss", t->val_loss);
    runlog_add_int(&t->line, "tokens", t->st.tokens);
    runlog_add_num(&t->line, "seconds", (double)(clock_us() - t->start_us) / 1e6);
    runlog_add_str(&t->line, t->o->full ? "model" : "adapter", t->o->out);
    runlog_add_int(&t->line, "step_allocs", (int64_t)t->step_allocs);
    trainer_emit(t);
}
