/* plain_quiz.c - what a step asks, notes and sets up, in words (plain_text.h). */
#include "core/base/i18n.h"
#include "labs/quiz.h"
#include "labs/step_text.h"
#include "labs/vars.h"
#include "tui/plain_text.h"

enum { QUIZ_TEXT_MOST = 1 << 18 };

static const struct lab_step *step_of(const struct app *a)
{
    return plain_loaded(a) ? &a->s->lab->steps[a->s->step] : NULL;
}

int plain_quiz_open(const struct app *a)
{
    const struct lab_step *st = step_of(a);
    return st && st->quiz_n && a->s->progress[a->s->step].quiz ? quiz_open(a->s, a->s->step) : -1;
}

void plain_question(const struct app *a, int i, struct str *out)
{
    const struct lab_step *st = step_of(a);
    const struct lab_quiz *q = &st->quiz[i];
    struct str text;
    char letter;
    str_init(&text, QUIZ_TEXT_MOST);
    vars_fill(a->s->vars, ltext_get(&q->ask), &text);
    plain_line(out, _("Question %d of %d: %s"), i + 1, st->quiz_n, text.p);
    for (int k = 0; q->kind == LAB_QUIZ_CHOICE && k < q->choices_n; k++) {
        str_clear(&text);
        if (step_text_choice(a->s, i, k, &letter, &text))
            plain_line(out, "  %c: %s", letter, text.p);
    }
    str_release(&text);
}

/* The open question, or that all are answered. */
void plain_questions(const struct app *a, struct str *out)
{
    const struct lab_step *st = step_of(a);
    int open = plain_quiz_open(a);
    if (!st || !st->quiz_n || a->s->scene.state != SCENE_READY)
        return;
    if (open < 0) {
        plain_line(out, "%s", _("All questions of this step are answered."));
        return;
    }
    plain_question(a, open, out);
    plain_line(out, "%s", _("Type answer and your answer."));
}

void plain_quiz_result(const struct app *a, int i, struct str *out)
{
    const struct evidence *e = &a->s->progress[a->s->step].quiz[i];
    plain_line(out, _("Question %d, %s: %s"), i + 1, _(check_result_name(e->result)), e->because);
}

void plain_need(const struct app *a, struct str *out)
{
    if (!plain_loaded(a))
        return;
    step_text_need(a->s, out);
    step_text_scene(a->s, out);
}

void plain_notes(const struct app *a, struct str *out)
{
    if (!step_of(a) || !step_text_notes(a->s, out))
        plain_line(out, "%s", _("This step has no notes."));
}
