/* cmd_plan.c - `plan`: what a training will need, before it starts. */
#include "core/train/cmd.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "core/train/plan.h"
#include "core/train/speed.h"

enum { NAME_WIDTH = 52 };

static enum pd_code open_all(const struct options *o, struct llama_config *c, struct tok **tok,
                             struct data **d, struct pd_err *err)
{
    struct data_options opt = trainer_data_options(&o->t, c);
    if (tok_load(o->t.model, tok, err) != PD_OK)
        return err->code;
    return data_open(o->t.data, *tok, &opt, d, err);
}

static void row(const char *name, size_t bytes)
{
    char text[40];
    printf("  %s%*s%10s\n", name, MAX(1, NAME_WIDTH - utf8_str_width(name)), "",
           progress_bytes(bytes, text, sizeof text));
}

static void say_memory(const struct options *o, const struct plan *p, size_t limit,
                       const char *where)
{
    char text[40];
    printf(_("Memory (batches of %d sequences, at most %d positions and %d trained tokens)\n"),
           o->t.batch, p->shape.rows, p->shape.labels);
    for (int i = 0; i < PLAN_CLASSES; i++)
        row(_(plan_class_name((enum plan_class)i)), p->bytes[i]);
    row(_("together"), p->total);
    if (limit == SIZE_MAX)
        puts(_("How much is free can't be told here."));
    else
        printf(_("This process may have %s (%s).\n"), progress_bytes(limit, text, sizeof text),
               where);
}

static void say_time(const struct options *o, const struct llama_config *c, const struct plan *p)
{
    struct speed s;
    struct pd_err err;
    char text[40];
    if (speed_measure(&o->t, c, &s, &err) != PD_OK)
        return;
    double flop = speed_flop(&o->t, c, p->shape.mean_rows, p->shape.mean_rows / p->shape.batch);
    double step = flop * o->t.accum / (s.gemm_gflops * 1e9);
    printf(_("Time: %.3g GFLOP an update at %.0f GFLOP/s (measured now, %d threads): about %.2g "
             "s, %lld updates in %s or somewhat more; validation on top.\n"),
           flop * o->t.accum / 1e9, s.gemm_gflops, s.threads, step, (long long)o->t.steps,
           progress_time(step * (double)o->t.steps, text, sizeof text));
}

static void say_json(const struct plan *p, size_t limit, bool fits)
{
    static const char *const keys[PLAN_CLASSES] = {"weights", "trained", "activations", "loss",
                                                   "scratch", "batch", "program"};
    printf("{\"rows\":%d,\"labels\":%d,\"seq\":%d", p->shape.rows, p->shape.labels, p->shape.seq);
    for (int i = 0; i < PLAN_CLASSES; i++)
        printf(",\"%s\":%zu", keys[i], p->bytes[i]);
    printf(",\"total\":%zu", p->total);
    if (limit != SIZE_MAX)
        printf(",\"limit\":%zu", limit);
    printf(",\"fits\":%s}\n", fits ? "true" : "false");
}

static enum pd_code run(struct options *o, struct tok **tok, struct data **d,
                        struct pd_err *err)
{
    struct llama_config c;
    struct plan p = {.total = 0};
    char where[280];
    if (llama_read_config(o->t.model, &c, err) != PD_OK || open_all(o, &c, tok, d, err) != PD_OK)
        return err->code;
    trainer_count_steps(&o->t, *d);
    enum pd_code rc = plan_check(&o->t, &c, *d, &p, err);
    if (rc != PD_OK && p.total == 0)
        return rc;
    size_t limit = plan_limit(&o->t, where, sizeof where);
    if (o->json) {
        say_json(&p, limit, rc == PD_OK);
        return rc;
    }
    say_memory(o, &p, limit, where);
    if (rc != PD_OK)
        return rc;
    puts(_("It fits."));
    say_time(o, &c, &p);
    return PD_OK;
}

int cmd_plan(const struct options *o)
{
    struct tok *tok = NULL;
    struct data *d = NULL;
    struct pd_err err;
    struct options own = *o;
    enum pd_code rc = run(&own, &tok, &d, &err);
    if (d)
        data_free(d);
    if (tok)
        tok_free(tok);
    fflush(stdout);
    return rc == PD_OK ? TRAINER_DONE : cmd_fail(&err);
}
