/* confirm.c - the question before harm is done (confirm.h). */
#include "tui/confirm.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/screen.h"

enum { CONFIRM_WIDE = 64 };

void confirm_ask(struct app *a, const struct confirm *c)
{
    struct app_prompt *p = &a->prompt;
    memset(p, 0, sizeof *p);
    p->kind = PROMPT_CONFIRM;
    str_copy(p->title, sizeof p->title, c->title);
    str_copy(p->lost, sizeof p->lost, c->lost ? c->lost : "");
    str_copy(p->verb, sizeof p->verb, c->verb);
    str_copy(p->command, sizeof p->command, c->command);
    str_copy(p->text, sizeof p->text, c->arg ? c->arg : "");
}

/* "[ Cancel ]" is the marked one, also where there is no colour. */
static void button(struct rows *rows, const char *text, bool marked)
{
    rows_putf(rows, marked ? ROLE_STRONG : ROLE_MUTED, marked ? "[ %s ]" : "  %s  ", text);
    if (marked)
        rows->v[rows->n - 1].span[rows->v[rows->n - 1].n - 1].attr = ATTR_REVERSE;
}

static void question(const struct app *a, struct rows *rows, int w)
{
    const struct app_prompt *p = &a->prompt;
    rows_wrap(rows, ROLE_STRONG, 0, p->title, w);
    if (p->lost[0])
        rows_wrap(rows, ROLE_WARN, 0, p->lost, w);
}

void confirm_draw(const struct app *a, struct grid *g)
{
    struct rows rows;
    int w = MIN(a->cols - 2, CONFIRM_WIDE), tight = a->rows < 16, most = a->rows - 7 + tight;
    rows_init(&rows, a->glyphs);
    question(a, &rows, w - 4);
    int text = MIN(rows.n, most), h = text + 4 - tight;
    rows_new(&rows, -1);
    button(&rows, _("Cancel"), !a->prompt.yes);
    rows_put(&rows, ROLE_TEXT, "  ");
    button(&rows, a->prompt.verb, a->prompt.yes);
    struct rect r = {(a->cols - w) / 2, MAX((a->rows - 2 - h) / 2, 1), w, h};
    grid_fill(g, r, ROLE_TEXT, 0, " ");
    screen_box(g, a->glyphs, r, true);
    screen_heading(g, a->glyphs, r, r.y, false, ROLE_WARN, _("Are you sure?"));
    struct rect in = {r.x + 2, r.y + 1, w - 4, h - 2};
    screen_rows(g, &rows, 0, text, in);
    const struct row *last = &rows.v[rows.n - 1];
    in = (struct rect){r.x + w - 2 - MIN(last->width, w - 4), r.y + h - 2, w - 4, 1};
    screen_rows(g, &rows, rows.n - 1, 1, in);
    rows_release(&rows);
}
