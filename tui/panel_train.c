/* panel_train.c - steering the training, and a step of it walked through. */
#include "tui/panel.h"
#include "tui/panel_list.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/answer.h"
#include "tui/cmd.h"
#include "tui/text.h"
#include "tui/walk.h"

static const char *title(const struct app *a, char buf[160])
{
    const struct run *r = &a->s->run;
    if (r->walk_step > 0)
        return str_fmt(buf, 160, _("Train  step %" PRId64 " walked through"), r->walk_step);
    return str_copy(buf, 160, _("Train"));
}

static double last_of(const struct series *s)
{
    return s && series_count(s) ? series_y(s, series_count(s) - 1) : NAN;
}

static void figure(struct rows *out, const char *label, double v, int w)
{
    char buf[24];
    text_number(v, buf);
    int used = out->v[out->n - 1].width, more = utf8_str_width(label) + utf8_str_width(buf) + 3;
    if (isnan(v) || used + more > w)
        return;
    rows_putf(out, ROLE_MUTED, "  %s ", label);
    rows_put(out, ROLE_TEXT, buf);
}

static void state_row(const struct app *a, struct rows *out, int w)
{
    const struct run *r = &a->s->run;
    bool held = cmd_run_held(a);
    rows_new(out, -1);
    rows_sign(out, held ? ROLE_WARN : ROLE_OK, held ? G_OPEN : G_LIVE);
    rows_putf(out, held ? ROLE_WARN : ROLE_OK, " %s", panel_run_state(r->state));
    rows_putf(out, ROLE_TEXT, _("  step %" PRId64 "/%" PRId64), r->step, r->steps_total);
    figure(out, _("loss"), last_of(r->loss), w);
    figure(out, "lr", last_of(r->lr), w);
}

static void answer_row(const struct app *a, struct rows *out, int w)
{
    struct str said;
    if (!a->s->run.answer_line)
        return;
    str_init(&said, 4096);
    answer_say(a->s->run.answer_line, &said);
    rows_wrap(out, ROLE_STRONG, 0, said.p, w);
    str_release(&said);
}

/* What each key does to the run. */
static void keys(struct rows *out, int w)
{
    static const struct { const char *key, *what; } list[] = {
        {"Enter", N_("walk: the trainer computes the next step and tells all of it, from the batch "
                     "to one weight; nothing changes")},
        {"a", N_("step: exactly one update, then it waits")},
        {"Space", N_("pause before the next update, or go on")},
        {"R", N_("rate: the peak of the learning rate from now on")},
        {"I", N_("inspect: how large weights and gradients are, or a corner of a tensor")},
        {"W", N_("save: a checkpoint now")}};
    rows_blank(out);
    for (size_t i = 0; i < ARRAY_LEN(list); i++) {
        char *line = xasprintf("%-6s %s", list[i].key, _(list[i].what));
        rows_wrap(out, ROLE_MUTED, 1, line, w);
        free(line);
    }
}

static void stage_row(const struct app *a, struct rows *out, int w)
{
    rows_new(out, -1);
    for (int i = 0; i < WALK_STAGES; i++) {
        bool here = i == a->walk_stage;
        char *name = xasprintf(here ? "[%s]" : " %s ", walk_name((enum walk_stage)i));
        if (out->v[out->n - 1].width + utf8_str_width(name) <= w)
            rows_put(out, here ? ROLE_STRONG : ROLE_MUTED, name);
        free(name);
    }
}

static bool told(const struct run *r)
{
    for (int i = 0; i < WALK_STAGES; i++)
        if (!r->walk_line[i])
            return false;
    return true;
}

static void rows(const struct app *a, struct rows *out, int w, int h)
{
    const struct run *r = &a->s->run;
    if (!r->state[0]) {
        rows_wrap(out, ROLE_STRONG, 1, _("No training to steer yet"), w - 1);
        rows_wrap(out, ROLE_MUTED, 1,
                  _("When the training pod of this lab runs, it is paused, stepped and looked into "
                    "from here."), w - 1);
        keys(out, w);
        return;
    }
    if (panel_list_run_stale(a))
        panel_list_stale(a, out, NULL, w);
    state_row(a, out, w);
    if (!told(r) || h >= 14)
        answer_row(a, out, w);
    if (r->control == 1)
        rows_wrap(out, ROLE_WARN, 0,
                  _("This trainer is older than the walk (its control channel is version 1, the "
                    "walk came with 2): build the image with this podium-train and run the Job "
                    "again. All else works."), w);
    if (!told(r)) {
        keys(out, w);
        return;
    }
    if (h >= 14) {
        rows_blank(out);
        stage_row(a, out, w);
    }
    walk_after(r, out, w);
    walk_rows(r, (enum walk_stage)a->walk_stage, out, w);
}

static const char *foot(const struct app *a, char buf[160])
{
    return str_copy(buf, 160, told(&a->s->run) ? _("Left Right: the stages; Enter: the next step")
                                               : "");
}

const struct panel panel_train = {title, rows, foot, NULL, N_("Train")};
