/* plain_step.c - the further parts of a step in words: what the cluster lacks,
 * the scene, the question at hand, the solution, notes, clearing up. */
#include "tui/plain_text.h"

#include "core/base/i18n.h"
#include "labs/quiz.h"
#include "labs/step_text.h"
#include "labs/vars.h"
#include "tui/cmd.h"

/* Each line of a text of labs/step_text.c, in front of it what it is. */
static void lines(struct str *text, const char *head, struct str *out)
{
    if (*head && text->len)
        plain_line(out, "%s", head);
    for (char *p = text->p, *end; *p; p = end + 1) {
        end = p + strcspn(p, "\n");
        bool last = !*end;
        *end = '\0';
        if (*p)
            plain_line(out, "%s%s", *head ? "  " : "", p);
        if (last)
            break;
    }
    str_clear(text);
}

static void question(const struct app *a, struct str *out)
{
    const struct session *s = a->s;
    int i = quiz_open(s, s->step);
    const struct lab_quiz *q = &s->lab->steps[s->step].quiz[i];
    struct str text, ask;
    char letter;
    str_init(&text, 1 << 16);
    str_init(&ask, 256);
    vars_fill(s->vars, ltext_get(&q->ask), &text);
    plain_line(out, _("Question %d of %d: %s"), i + 1, s->lab->steps[s->step].quiz_n, text.p);
    str_clear(&text);
    for (int k = 0; q->kind == LAB_QUIZ_CHOICE && step_text_choice(s, i, k, &letter, &text); k++) {
        plain_line(out, "  %c: %s", letter, text.p);
        str_clear(&text);
    }
    step_text_ask(s, i, &ask);
    plain_line(out, _("Type: quiz.answer and your answer. %s"), ask.p);
    str_release(&text);
    str_release(&ask);
}

void plain_step_parts(const struct app *a, struct str *out)
{
    const struct session *s = a->s;
    const struct step_progress *p = &s->progress[s->step];
    struct str text;
    str_init(&text, 1 << 17);
    if (s->need.mode != MODE_ASKING)
        step_text_need(s, &text);
    step_text_scene(s, &text);
    lines(&text, "", out);
    if (cmd_has_question(a))
        question(a, out);
    if (a->notes_open || p->state == STEP_DONE) {
        step_text_notes(s, &text);
        lines(&text, _("Notes"), out);
    }
    step_text_solution(s, &text);
    lines(&text, _("Solution"), out);
    step_text_clean(s, &text);
    lines(&text, _("Clearing up"), out);
    str_release(&text);
}
