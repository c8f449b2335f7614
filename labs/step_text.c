/* step_text.c - what a step says besides its text (step_text.h). */
#include "labs/step_text.h"

#include "core/base/i18n.h"
#include "core/base/str.h"
#include "labs/quiz.h"
#include "labs/vars.h"

static const struct lab_step *step_of(const struct session *s)
{
    return s->lab && s->step < s->lab->steps_n ? &s->lab->steps[s->step] : NULL;
}

bool step_has_solution(const struct lab_step *step)
{
    return step->solves_n > 0 || *step->solution.en;
}

bool step_may_go_on(const struct session *s)
{
    const struct lab_step *st = step_of(s);
    if (!st || !s->progress)
        return false;
    enum step_state now = s->progress[s->step].state;
    bool last = s->step + 1 >= s->lab->steps_n, over = now == STEP_DONE || now == STEP_PASSED;
    bool passable = s->need.mode == MODE_SKIPPED || s->need.mode == MODE_READING ||
                    (!st->checks_n && !st->quiz_n && s->scene.state == SCENE_READY);
    return last ? !over && now == STEP_OPEN && passable : over || passable;
}

bool step_text_need(const struct session *s, struct str *out)
{
    static const char *const heads[] = {
        [MODE_REAL] = "",
        [MODE_ASKING] = "",
        [MODE_SKIPPED] = N_("skipped here"),
        [MODE_READING] = N_("only to be read here"),
        [MODE_SIMULATED] = N_("simulated")};
    const struct step_need *n = &s->need;
    if (n->mode == MODE_REAL)
        return false;
    if (*heads[n->mode])
        str_printf(out, _("%s: %s\n"), _(heads[n->mode]), n->why);
    else
        str_printf(out, "%s\n", n->why);
    return true;
}

bool step_text_scene(const struct session *s, struct str *out)
{
    const struct scene *c = &s->scene;
    switch (c->state) {
    case SCENE_READY: return false;
    case SCENE_WANTED:
        str_printf(out, _("this step needs a scene (%d actions); run it to have it made\n"),
                   c->total - c->done);
        return true;
    case SCENE_RUNNING:
        str_printf(out, _("setting the scene %d/%d %s\n"), c->done + 1, c->total, c->title);
        return true;
    case SCENE_FAILED:
        str_printf(out, _("the scene is half made: %s\n"), c->text);
        return true;
    }
    return false;
}

bool step_text_solution(const struct session *s, struct str *out)
{
    const struct lab_step *st = step_of(s);
    if (!st || !s->progress || !s->progress[s->step].solution_shown)
        return false;
    if (*st->solution.en) {
        vars_fill(s->vars, ltext_get(&st->solution), out);
        str_addc(out, '\n');
    }
    for (int i = 0; i < st->solves_n && !*st->solution.en; i++) {
        str_printf(out, "%s: %s -> ", st->solves[i].file, st->solves[i].find);
        vars_fill(s->vars, st->solves[i].put, out);
        str_addc(out, '\n');
    }
    return true;
}

bool step_text_notes(const struct session *s, struct str *out)
{
    const struct lab_step *st = step_of(s);
    if (!st || !*st->notes.en)
        return false;
    vars_fill(s->vars, ltext_get(&st->notes), out);
    str_addc(out, '\n');
    return true;
}

bool step_text_clean(const struct session *s, struct str *out)
{
    const struct clean *c = &s->clean;
    if (c->state == CLEAN_NONE)
        return false;
    if (c->state == CLEAN_LOOKING)
        str_add(out, _("looking for what this lab made …\n"));
    if (c->state == CLEAN_RUNNING)
        str_printf(out, _("clearing up, %d left …\n"), c->left);
    if (c->state == CLEAN_DONE)
        str_printf(out, _("cleared up: %d objects deleted, none is left\n"), c->deleted);
    if (c->state == CLEAN_FAILED)
        str_printf(out, _("clearing up failed: %s\n"), c->text);
    if (c->state != CLEAN_ASKING && c->state != CLEAN_FAILED)
        return true;
    for (const struct json *i = json_first(c->items); i; i = json_next(i))
        str_printf(out, "  %s\n", json_string_value(i));
    return true;
}

bool step_text_choice(const struct session *s, int quiz, int place, char *letter,
                      struct str *out)
{
    const struct lab_quiz *q = &step_of(s)->quiz[quiz];
    int order[QUIZ_CHOICES];
    if (place < 0 || place >= q->choices_n)
        return false;
    quiz_order(s, s->step, quiz, order);
    *letter = (char)('a' + place);
    vars_fill(s->vars, ltext_get(&q->choices[order[place]].say), out);
    return true;
}

void step_text_ask(const struct session *s, int quiz, struct str *out)
{
    const struct lab_quiz *q = &step_of(s)->quiz[quiz];
    if (q->kind == LAB_QUIZ_CHOICE && quiz_several(q))
        str_printf(out, _("answer (letters a to %c, several are right)"),
                   'a' + q->choices_n - 1);
    else if (q->kind == LAB_QUIZ_CHOICE)
        str_printf(out, _("answer (a to %c)"), 'a' + q->choices_n - 1);
    else if (q->kind == LAB_QUIZ_NUMBER)
        str_add(out, _("answer (a number)"));
    else
        str_add(out, _("answer"));
}
