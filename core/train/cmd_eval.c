/* cmd_eval.c - `eval`: loss and perplexity, adapter off and on, of one split or
 * both.
 *
 * A pipe gets records of the validation split (docs/RUNLOG.md), a terminal the
 * table of both splits; --json, --table and --split choose otherwise. */
#include "core/train/cmd.h"

#include <math.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/runlog.h"
#include "core/train/cmd_model.h"
#include "core/train/eval_table.h"

struct session {
    const struct options *o;
    struct cmd_model x;
    struct tok *tok;
    struct data *data;
    struct batch batch;
    struct llama_run *run;
};

static enum pd_code open_data(struct session *s, const struct llama_config *c,
                              struct pd_err *err)
{
    const struct trainer_options *o = &s->o->t;
    struct data_options opt = trainer_data_options(o, c);
    if (tok_load(o->model, &s->tok, err) != PD_OK ||
        data_open(o->data, s->tok, &opt, &s->data, err) != PD_OK)
        return err->code;
    batch_init(&s->batch, o->batch, data_max_len(s->data));
    return PD_OK;
}

static void close_session(struct session *s)
{
    llama_run_free(s->run);
    batch_release(&s->batch);
    if (s->data)
        data_free(s->data);
    if (s->tok)
        tok_free(s->tok);
    cmd_model_close(&s->x);
}

static void emit(struct str *s)
{
    runlog_end(s);
    fwrite(s->p, 1, s->len, stdout);
    fflush(stdout);
    str_clear(s);
}

static const char *const split_names[DATA_SPLITS] = {[DATA_TRAIN] = "train",
                                                     [DATA_VAL] = "val"};

/* "val_loss", "train_ppl" … */
static const char *key(enum data_split split, const char *what, char buf[32])
{
    return str_fmt(buf, 32, "%s_%s", split_names[split], what);
}

static void record_eval(struct str *line, enum data_split split, const struct eval_result *r,
                        bool on)
{
    char buf[32];
    runlog_begin(line, RUN_EVAL);
    runlog_add_int(line, "step", 0);
    runlog_add_num(line, key(split, "loss", buf), r->loss);
    runlog_add_num(line, key(split, "ppl", buf), exp(r->loss));
    runlog_add_int(line, key(split, "tokens", buf), r->tokens);
    runlog_add_int(line, key(split, "examples", buf), r->examples);
    runlog_add_str(line, "adapter", on ? "on" : "off");
    emit(line);
}

static bool wants_table(const struct options *o)
{
    return o->table || (!o->json && isatty(STDOUT_FILENO));
}

static bool wants(const struct options *o, enum data_split split)
{
    if (o->split)
        return str_eq(o->split, "both") || str_eq(o->split, split_names[split]);
    return split == DATA_VAL || o->json || wants_table(o);
}

static enum pd_code eval_once(struct session *s, enum data_split split, struct str *line,
                              struct eval_found *f, struct pd_err *err)
{
    const struct trainer_options *o = &s->o->t;
    bool on = s->x.adapted && s->x.lora.on;
    struct eval_result *r = &f->r[split][on ? EVAL_ADAPTER : EVAL_BASE];
    if (!wants(s->o, split))
        return PD_OK;
    if (eval_split(s->run, s->data, split, &s->batch, o->batch, o->eval_batches, r, err) != PD_OK)
        return err->code;
    if (!wants_table(s->o))
        record_eval(line, split, r, on);
    return PD_OK;
}

static void record_done(const struct session *s, const struct eval_found *f, struct str *line)
{
    int last = s->x.adapted ? EVAL_ADAPTER : EVAL_BASE;
    runlog_begin(line, RUN_DONE);
    if (wants(s->o, DATA_VAL)) {
        runlog_add_num(line, "val_loss", f->r[DATA_VAL][last].loss);
        runlog_add_num(line, "base_loss", f->r[DATA_VAL][EVAL_BASE].loss);
        runlog_add_num(line, "unigram_loss", f->unigram);
    }
    if (wants(s->o, DATA_TRAIN)) {
        runlog_add_num(line, "train_loss", f->r[DATA_TRAIN][last].loss);
        runlog_add_num(line, "train_base_loss", f->r[DATA_TRAIN][EVAL_BASE].loss);
    }
    if (s->x.adapted)
        runlog_add_str(line, "adapter", s->o->t.adapter);
    emit(line);
}

static enum pd_code check_split(const struct options *o, struct pd_err *err)
{
    if (!o->split || str_eq(o->split, "both") || str_eq(o->split, "train") ||
        str_eq(o->split, "val"))
        return PD_OK;
    return pd_fail(err, PD_USAGE, _("--split takes train, val or both, not \"%s\""), o->split);
}

static enum pd_code start(struct session *s, struct pd_err *err)
{
    if (check_split(s->o, err) != PD_OK || cmd_model_open(&s->x, s->o, err) != PD_OK ||
        open_data(s, &s->x.m.cfg, err) != PD_OK)
        return err->code;
    s->run = llama_run_new(&s->x.m, s->x.adapted ? &s->x.lora : NULL, &s->x.c, s->batch.max_rows,
                           data_max_len(s->data), false);
    return PD_OK;
}

/* Off first, then on. */
static enum pd_code eval_both(struct session *s, struct str *line, struct pd_err *err)
{
    struct eval_found f = {0};
    if (start(s, err) != PD_OK)
        return err->code;
    for (int on = 0; on <= s->x.adapted; on++) {
        s->x.lora.on = on;
        if (eval_once(s, DATA_VAL, line, &f, err) != PD_OK ||
            eval_once(s, DATA_TRAIN, line, &f, err) != PD_OK)
            return err->code;
    }
    f.unigram = data_unigram_loss(s->data);
    if (!wants_table(s->o)) {
        record_done(s, &f, line);
        return PD_OK;
    }
    eval_table_print(&f, line);
    fwrite(line->p, 1, line->len, stdout);
    return PD_OK;
}

static int finish(struct session *s, struct str *line, enum pd_code rc, struct pd_err *err)
{
    int code = TRAINER_DONE;
    if (rc != PD_OK)
        code = cmd_fail(err);
    if (rc != PD_OK && !wants_table(s->o)) {
        runlog_begin(line, RUN_ERROR);
        runlog_add_str(line, "code", pd_id(err->code));
        runlog_add_str(line, "text", err->msg);
        runlog_add_str(line, "hint", err->hint);
        runlog_add_int(line, "step", 0);
        emit(line);
    }
    close_session(s);
    str_release(line);
    return code;
}

int cmd_eval(const struct options *o)
{
    struct session s = {.o = o};
    struct pd_err err;
    struct str line;
    str_init(&line, 1 << 16);
    return finish(&s, &line, eval_both(&s, &line, &err), &err);
}
