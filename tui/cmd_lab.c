/* cmd_lab.c - answering, notes, the solution, and clearing up. */
#include "core/base/i18n.h"
#include "labs/action.h"
#include "labs/quiz.h"
#include "labs/step_text.h"
#include "tui/cmd.h"
#include "tui/confirm.h"

static const struct lab_step *step_of(const struct app *a)
{
    const struct lab *lab = a->s->lab;
    return lab && a->s->progress && a->s->step >= 0 && a->s->step < lab->steps_n
               ? &lab->steps[a->s->step]
               : NULL;
}

bool cmd_has_question(const struct app *a)
{
    const struct session *s = a->s;
    return step_of(a) && s->progress[s->step].state != STEP_LOCKED &&
           s->scene.state == SCENE_READY && s->need.mode != MODE_SKIPPED &&
           s->need.mode != MODE_READING && quiz_open(s, s->step) >= 0;
}

bool cmd_has_notes(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    return st && *st->notes.en;
}

bool cmd_has_solution(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = st ? &a->s->progress[a->s->step] : NULL;
    return st && step_has_solution(st) && p->hints_shown >= st->hints_n && !p->solution_shown &&
           p->state != STEP_LOCKED;
}

void cmd_quiz_answer(struct app *a, const char *arg, struct effects *out)
{
    struct str ask;
    if (arg && *arg) {
        app_session(a, "quiz.answer", arg, out);
        a->seek = SEEK_QUIZ;
        return;
    }
    if (!cmd_has_question(a)) {
        app_note(a, false, "%s", _("this step asks nothing more"));
        return;
    }
    str_init(&ask, sizeof a->prompt.title);
    step_text_ask(a->s, quiz_open(a->s, a->s->step), &ask);
    cmd_ask(a, ask.p, "quiz.answer", "");
    a->seek = SEEK_QUIZ;
    str_release(&ask);
}

void cmd_step_notes(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    a->notes_open = !a->notes_open;
    a->seek = a->notes_open ? SEEK_NOTES : SEEK_NONE;
}

void cmd_step_solution(struct app *a, const char *arg, struct effects *out)
{
    if (str_eq(arg, "yes") || !cmd_has_solution(a)) {
        app_session(a, "step.solution", arg, out);
        a->seek = SEEK_HINT;
        return;
    }
    struct confirm c = {.title = _("Show the solution of this step?"),
                        .lost = _("It is written down that it was used."),
                        .verb = _("Show"), .command = "step.solution", .arg = "yes"};
    confirm_ask(a, &c);
}

void cmd_lab_cleanup_ask(struct app *a)
{
    struct str list;
    char title[128];
    const struct clean *c = &a->s->clean;
    str_init(&list, 600);
    int n = (int)json_count(c->items), told = 0;
    for (const struct json *i = json_first(c->items); i && told < 8; i = json_next(i), told++)
        str_printf(&list, "%s%s", told ? ", " : "", json_string_value(i));
    if (n > told)
        str_printf(&list, _(" and %d more"), n - told);
    str_fmt(title, sizeof title, _("Delete the %d objects of this lab?"), n);
    struct confirm q = {.title = title, .lost = list.p, .verb = _("Delete"),
                        .command = "lab.cleanup", .arg = "yes"};
    confirm_ask(a, &q);
    str_release(&list);
}

/* --- the step's manifest ------------------------------------------------------- */

bool cmd_has_manifest(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    int apply;
    if (!st || !action_kind_by_name("apply", &apply))
        return false;
    for (int i = 0; i < st->actions_n; i++)
        if (st->actions[i].kind == apply)
            return true;
    return false;
}

bool cmd_has_fault(const struct app *a)
{
    return a->edit.open && edit_fault_count(&a->edit) > 0;
}

bool cmd_has_conflict(const struct app *a)
{
    return step_of(a) && a->s->manifest.conflict && a->s->manifest.step == a->s->step;
}

void cmd_step_takeover(struct app *a, const char *arg UNUSED, struct effects *out)
{
    if (cmd_has_conflict(a))
        app_session(a, "step.run", "force", out);
    else
        app_note(a, false, "%s", _("nobody else owns fields of this manifest"));
}
