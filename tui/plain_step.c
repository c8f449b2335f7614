/* plain_step.c - the last parts of a step in words: notes, solution, clearing up. */
#include "tui/plain_text.h"

#include "core/base/i18n.h"
#include "labs/step_text.h"

/* Each line of a text of labs/step_text.c, in front of it what it is. */
static void lines(struct str *text, const char *head, struct str *out)
{
    if (text->len)
        plain_line(out, "%s", head);
    for (char *p = text->p, *end; *p; p = end + 1) {
        end = p + strcspn(p, "\n");
        bool last = !*end;
        *end = '\0';
        if (*p)
            plain_line(out, "  %s", p);
        if (last)
            break;
    }
    str_clear(text);
}

void plain_step_parts(const struct app *a, struct str *out)
{
    const struct session *s = a->s;
    const struct step_progress *p = &s->progress[s->step];
    struct str text;
    str_init(&text, 1 << 17);
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
