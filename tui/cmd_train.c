/* cmd_train.c - steering the run, and what the step allows. */
#include "tui/cmd.h"

#include <math.h>

#include "core/base/i18n.h"
#include "labs/step_text.h"

static const struct lab_step *step_of(const struct app *a)
{
    const struct lab *lab = a->s->lab;
    return lab && a->s->step >= 0 && a->s->step < lab->steps_n ? &lab->steps[a->s->step] : NULL;
}

bool cmd_has_actions(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    return st && (st->actions_n > 0 || a->s->scene.state != SCENE_READY);
}

bool cmd_has_hint(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    return st && a->s->progress && a->s->progress[a->s->step].hints_shown < st->hints_n;
}

bool cmd_has_edit(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    for (int i = 0; st && i < st->files_n; i++)
        if (st->files[i].edit)
            return true;
    return false;
}

bool cmd_has_next(const struct app *a)
{
    return step_may_go_on(a->s) && !cmd_log_searching(a);
}

bool cmd_has_op(const struct app *a)
{
    return (a->s->op.effect != 0 && !a->s->op.ended) || a->s->scene.state == SCENE_RUNNING;
}

bool cmd_has_run(const struct app *a)
{
    return a->s->run.loss && series_count(a->s->run.loss) > 0;
}

bool cmd_run_live(const struct app *a)
{
    return cmd_has_run(a) && a->s->run.pod[0] && !str_eq(a->s->run.state, "done") &&
           !str_eq(a->s->run.state, "error");
}

bool cmd_run_held(const struct app *a)
{
    return str_eq(a->s->run.state, "paused") || str_eq(a->s->run.state, "holding");
}

void cmd_train_toggle(struct app *a, const char *arg UNUSED, struct effects *out)
{
    app_session(a, cmd_run_held(a) ? "train.resume" : "train.pause", NULL, out);
}

void cmd_train_step(struct app *a, const char *arg, struct effects *out)
{
    app_session(a, "train.step", arg && *arg ? arg : "1", out);
}

void cmd_train_rate(struct app *a, const char *arg, struct effects *out)
{
    double v;
    if (!arg || !*arg)
        cmd_ask(a, _("learning rate"), "train.rate", "");
    else if (!str_to_f64(arg, &v) || !isfinite(v) || v < 0)
        app_note(a, true, _("'%s' is no rate; type a number like 1e-4"), arg);
    else
        app_session(a, "train.rate", arg, out);
}

void cmd_train_inspect(struct app *a, const char *arg, struct effects *out)
{
    if (arg && *arg)
        app_session(a, "train.inspect", arg, out);
    else
        cmd_ask(a, _("look at"), "train.inspect", "norms");
}

bool cmd_has_walk(const struct app *a)
{
    return a->s->run.walk_step > 0;
}

bool cmd_has_walk_more(const struct app *a)
{
    return cmd_has_walk(a) && a->walk_stage < WALK_STAGES - 1;
}

void cmd_train_walk(struct app *a, const char *arg, struct effects *out)
{
    app_session(a, "train.walk", arg, out);
}

static void walk(struct app *a, int by)
{
    a->walk_stage = MIN(MAX(a->walk_stage + by, 0), WALK_STAGES - 1);
    a->scroll[PANEL_TRAIN] = 0;
}

void cmd_walk_next(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    walk(a, 1);
}

void cmd_walk_prev(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    walk(a, -1);
}
