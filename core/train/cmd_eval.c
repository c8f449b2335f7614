/* cmd_eval.c - `eval`: the validation loss, adapter on and off; and
 * `inspect-batch`: what of a batch is trained. */
#include "core/train/cmd.h"

#include <math.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/path.h"
#include "core/base/runlog.h"
#include "core/base/utf8.h"
#include "core/train/cmd_model.h"
#include "core/train/eval.h"

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
    struct data_options opt = {.max_len = o->seq, .val_fraction = o->val_fraction,
                               .val_templates = o->val_templates, .val_path = o->val,
                               .eos = c->n_eos ? c->eos[0] : -1};
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

static enum pd_code eval_once(struct session *s, struct str *line, double *loss,
                              struct pd_err *err)
{
    struct eval_result r;
    const struct trainer_options *o = &s->o->t;
    if (eval_run(s->run, s->data, &s->batch, o->batch, o->eval_batches, &r, err) != PD_OK)
        return err->code;
    *loss = r.loss;
    runlog_begin(line, RUN_EVAL);
    runlog_add_int(line, "step", 0);
    runlog_add_num(line, "val_loss", r.loss);
    runlog_add_int(line, "val_tokens", r.tokens);
    runlog_add_int(line, "val_examples", r.examples);
    runlog_add_str(line, "adapter", s->x.adapted && s->x.lora.on ? "on" : "off");
    emit(line);
    return PD_OK;
}

/* Off first, then on; `done` has both. */
static enum pd_code eval_both(struct session *s, struct str *line, struct pd_err *err)
{
    double base = NAN, loss = NAN;
    if (cmd_model_open(&s->x, s->o, err) != PD_OK || open_data(s, &s->x.m.cfg, err) != PD_OK)
        return err->code;
    struct lora *lora = s->x.adapted ? &s->x.lora : NULL;
    s->run = llama_run_new(&s->x.m, lora, &s->x.c, s->batch.max_rows, data_max_len(s->data),
                           false);
    s->x.lora.on = false;
    if (eval_once(s, line, &base, err) != PD_OK)
        return err->code;
    loss = base;
    s->x.lora.on = true;
    if (lora && eval_once(s, line, &loss, err) != PD_OK)
        return err->code;
    runlog_begin(line, RUN_DONE);
    runlog_add_num(line, "val_loss", loss);
    runlog_add_num(line, "base_loss", base);
    runlog_add_num(line, "unigram_loss", data_unigram_loss(s->data));
    if (lora)
        runlog_add_str(line, "adapter", s->o->t.adapter);
    emit(line);
    return PD_OK;
}

static int finish(struct session *s, struct str *line, enum pd_code rc, struct pd_err *err)
{
    int code = TRAINER_DONE;
    if (rc != PD_OK) {
        runlog_begin(line, RUN_ERROR);
        runlog_add_str(line, "code", pd_id(err->code));
        runlog_add_str(line, "text", err->msg);
        runlog_add_str(line, "hint", err->hint);
        runlog_add_int(line, "step", 0);
        emit(line);
        code = cmd_fail(err);
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

/* A row's text; what is trained stands in 〔 〕. */
static void print_row(const struct session *s, int row, struct str *out)
{
    const struct data_batch *b = &s->batch.padded;
    const int32_t *ids = b->ids + (size_t)row * (size_t)b->len;
    const int32_t *labels = b->labels + (size_t)row * (size_t)b->len;
    bool inside = false;
    for (int i = 0; i < b->lens[row]; i++) {
        bool trained = i > 0 && labels[i - 1] >= 0;
        if (trained != inside)
            str_add(out, trained ? "〔" : "〕");
        inside = trained;
        tok_decode(s->tok, &ids[i], 1, false, out);
    }
    str_add(out, inside ? "〕" : "");
}

static void print_numbers(const char *name, const int32_t *v, int n, const char *end)
{
    printf("\"%s\":[", name);
    for (int i = 0; i < n; i++)
        printf("%s%d", i ? "," : "", v[i]);
    printf("]%s", end);
}

/* One line a sequence: {"ids":[…],"labels":[…]}. */
static void print_json(const struct data_batch *b)
{
    for (int i = 0; i < b->rows; i++) {
        size_t at = (size_t)i * (size_t)b->len;
        printf("{");
        print_numbers("ids", b->ids + at, b->lens[i], ",");
        print_numbers("labels", b->labels + at, b->lens[i], "}\n");
    }
}

static void print_text(const struct session *s, const struct data_batch *b)
{
    for (int i = 0; i < b->rows; i++) {
        struct str raw, clean;
        str_init(&raw, 1 << 20);
        str_init(&clean, 1 << 20);
        print_row(s, i, &raw);
        utf8_clean(raw.p, raw.len, true, &clean);
        printf("--- %d: %d tokens\n%s\n", i, b->lens[i], clean.p);
        str_release(&raw);
        str_release(&clean);
    }
    printf("--- %" PRId64 " trained tokens\n", b->trained);
}

static enum pd_code show_batch(struct session *s, struct pd_err *err)
{
    struct llama_config c;
    struct data_batch *b = &s->batch.padded;
    const struct options *o = s->o;
    if (llama_read_config(o->t.model, &c, err) != PD_OK || open_data(s, &c, err) != PD_OK ||
        data_batch(s->data, DATA_TRAIN, o->t.seed, o->index, o->t.batch, b, err) != PD_OK)
        return err->code;
    if (o->json)
        print_json(b);
    else
        print_text(s, b);
    return PD_OK;
}

int cmd_inspect_batch(const struct options *o)
{
    struct session s = {.o = o};
    struct pd_err err;
    int code = show_batch(&s, &err) == PD_OK ? TRAINER_DONE : cmd_fail(&err);
    close_session(&s);
    return code;
}
