/* panel_step_parts.c - the step pane's further parts: what the cluster lacks,
 * the scene, questions, notes, the solution, clearing up. */
#include "tui/panel_step.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "labs/quiz.h"
#include "labs/step_text.h"
#include "tui/cmd.h"
#include "tui/panel.h"
#include "tui/text.h"

static const struct lab_step *step_of(const struct app *a)
{
    return &a->s->lab->steps[a->s->step];
}

/* A text of labs/step_text.c, wrapped. */
static void wrapped(struct rows *out, enum role role, int indent, struct str *s, int w)
{
    while (s->len && s->p[s->len - 1] == '\n')
        s->p[--s->len] = '\0';
    rows_wrap(out, role, indent, s->p, w);
    str_clear(s);
}

void panel_step_need(const struct app *a, struct rows *out, int w)
{
    struct str s;
    str_init(&s, 2048);
    if (step_text_need(a->s, &s)) {
        wrapped(out, a->s->need.mode == MODE_ASKING ? ROLE_MUTED : ROLE_WARN, 0, &s, w);
        rows_blank(out);
    }
    str_release(&s);
}

void panel_step_scene(const struct app *a, struct rows *out, int w)
{
    const struct scene *c = &a->s->scene;
    struct str s;
    str_init(&s, 2048);
    if (a->s->need.mode == MODE_SKIPPED || a->s->need.mode == MODE_READING ||
        !step_text_scene(a->s, &s)) {
        str_release(&s);
        return;
    }
    rows_blank(out);
    if (c->state == SCENE_RUNNING) {
        rows_new(out, -1);
        rows_bar(out, c->total ? (double)c->done / c->total : 0, MIN(w - 12, 30));
        rows_put(out, ROLE_KEY, "  X");
        rows_putf(out, ROLE_TEXT, "  %s", _("cancel"));
    } else {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, " r");
        rows_putf(out, ROLE_TEXT, "  %s", _("set the scene"));
    }
    wrapped(out, c->state == SCENE_FAILED ? ROLE_FAIL : ROLE_MUTED, 1, &s, w);
    str_release(&s);
}

/* --- questions ------------------------------------------------------------------- */

static void choices(const struct app *a, struct rows *out, int quiz, int w)
{
    struct str s;
    char letter;
    str_init(&s, 1 << 16);
    for (int i = 0; step_text_choice(a->s, quiz, i, &letter, &s); i++) {
        int at = out->n;
        rows_wrap(out, ROLE_TEXT, 6, s.p, w);
        struct row *first = out->n > at ? &out->v[at] : NULL;
        if (first && first->n > 0) {        /* the indent becomes the letter */
            first->span[0].text = arena_printf(&out->arena, "   %c  ", letter);
            first->span[0].role = ROLE_KEY;
            first->span[0].width = 6;
        }
        str_clear(&s);
    }
    str_release(&s);
}

static void verdict(struct rows *out, const struct evidence *e, int w)
{
    bool wrong = e->result == CHECK_WRONG;
    if (e->actual[0]) {
        char text[400];
        str_fmt(text, sizeof text, _("your answer: %s"), e->actual);
        rows_wrap(out, wrong ? ROLE_FAIL : ROLE_MUTED, 3, text, w);
    }
    if (e->because[0] && (e->actual[0] || e->result == CHECK_UNKNOWN))
        rows_wrap(out, wrong ? ROLE_WARN : ROLE_MUTED, 3, e->because, w);
}

static void question(const struct app *a, struct rows *out, int i, bool open, int w)
{
    const struct step_progress *p = &a->s->progress[a->s->step];
    const struct lab_quiz *q = &step_of(a)->quiz[i];
    const struct evidence *e = &p->quiz[i];
    enum role role = ROLE_TEXT;
    enum glyph g = e->result == CHECK_NOT_YET ? G_OPEN : panel_result_sign(e->result, &role);
    int at = out->n;
    rows_wrap(out, open ? ROLE_STRONG : ROLE_TEXT, 3, panel_say(a, out, &q->ask), w);
    if (out->n > at && out->v[at].n > 0) {   /* the indent becomes the sign */
        out->v[at].span[0].text = arena_printf(&out->arena, " %s ", glyph_of(out->glyphs, g));
        out->v[at].span[0].role = (uint8_t)role;
    }
    if (open && q->kind == LAB_QUIZ_CHOICE)
        choices(a, out, i, w);
    if (open) {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, "   Enter");
        rows_putf(out, ROLE_TEXT, "  %s", _("answer"));
        if (p->tries[i] > 0)
            rows_putf(out, ROLE_MUTED, _("  (tries: %d)"), p->tries[i]);
    }
    verdict(out, e, w);
}

void panel_step_quiz(const struct app *a, struct rows *out, int w)
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = a->s->progress ? &a->s->progress[a->s->step] : NULL;
    if (!st->quiz_n || !p || !p->quiz || a->s->scene.state != SCENE_READY)
        return;
    int now = cmd_has_question(a) ? quiz_open(a->s, a->s->step) : -1, right = 0;
    for (int i = 0; i < st->quiz_n; i++)
        right += p->quiz[i].result == CHECK_PASS;
    rows_blank(out);
    if (a->seek == SEEK_QUIZ)
        out->mark = out->n;
    rows_linef(out, ROLE_HEAD, _("Questions %d/%d"), right, st->quiz_n);
    for (int i = 0; i < st->quiz_n; i++)
        if (now < 0 || i <= now || p->quiz[i].result == CHECK_PASS)
            question(a, out, i, i == now, w);
}

/* --- afterwards --------------------------------------------------------------------- */

void panel_step_notes(const struct app *a, struct rows *out, int w)
{
    const struct step_progress *p = a->s->progress ? &a->s->progress[a->s->step] : NULL;
    struct str s;
    str_init(&s, 1 << 16);
    bool shown = a->notes_open || (p && p->state == STEP_DONE);
    if (shown && step_text_notes(a->s, &s)) {
        rows_blank(out);
        if (a->seek == SEEK_NOTES)
            out->mark = out->n;
        rows_line(out, ROLE_HEAD, _("Notes"));
        wrapped(out, ROLE_TEXT, 1, &s, w);
    }
    str_release(&s);
}

void panel_step_solution(const struct app *a, struct rows *out, int w)
{
    const struct lab_step *st = step_of(a);
    const struct step_progress *p = a->s->progress ? &a->s->progress[a->s->step] : NULL;
    struct str s;
    str_init(&s, 1 << 16);
    if (step_text_solution(a->s, &s)) {
        if (a->seek == SEEK_HINT)
            out->mark = out->n;
        rows_line(out, ROLE_HEAD, _("Solution"));
        wrapped(out, ROLE_HINT, 1, &s, w);
    } else if (p && st->hints_n && p->hints_shown >= st->hints_n && step_has_solution(st) &&
               p->state != STEP_DONE) {
        rows_new(out, -1);
        rows_put(out, ROLE_KEY, " V");
        rows_putf(out, ROLE_MUTED, "  %s", _("solution"));
    }
    str_release(&s);
}

void panel_step_clean(const struct app *a, struct rows *out, int w)
{
    struct str s;
    str_init(&s, 1 << 16);
    if (step_text_clean(a->s, &s) && s.len) {
        rows_blank(out);
        rows_line(out, ROLE_HEAD, _("Clearing up"));
        for (char *p = s.p, *end; *p; p = end + 1) {
            end = strchr(p, '\n');
            *end = '\0';
            rows_wrap(out, ROLE_TEXT, 1, p, w);
        }
    }
    str_release(&s);
}
