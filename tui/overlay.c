/* overlay.c - help and input line (overlay.h). */
#include "tui/overlay.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/confirm.h"
#include "tui/help.h"
#include "tui/palette.h"

static void draw_prompt(const struct app *a, struct grid *g, int *cx, int *cy)
{
    const struct app_prompt *p = &a->prompt;
    int y = a->rows - 2, x = 1;
    char *head = xstrndup(p->text, (size_t)p->cursor);
    grid_fill(g, (struct rect){0, y, a->cols, 2}, ROLE_TEXT, 0, " ");
    if (p->kind != PROMPT_PALETTE)
        x += grid_text(g, x, y, ROLE_KEY, 0, p->title);
    x += grid_text(g, x, y, ROLE_KEY, 0, p->kind == PROMPT_PALETTE ? ":" : ": ");
    int at = utf8_str_width(head), room = a->cols - x - 1;
    int shift = at > room ? at - room : 0;
    const char *text = p->text + utf8_cut(p->text, shift);
    grid_text(g, x, y, ROLE_INPUT, 0, text);
    const char *keys = p->kind != PROMPT_PALETTE ? _("Enter accepts  Esc closes")
                       : a->cols < 60 ? _("Enter runs  Tab completes  Esc closes")
                                      : _("Enter runs  Tab completes  Up Down choose  Esc closes");
    grid_text(g, 1, y + 1, ROLE_MUTED, 0, keys);
    *cx = x + at - shift;
    *cy = y;
    free(head);
}

void overlay_draw(const struct app *a, struct grid *g, int *cx, int *cy)
{
    if (a->help)
        help_draw(a, g);
    if (a->prompt.kind == PROMPT_CONFIRM)
        confirm_draw(a, g);
    if (a->prompt.kind == PROMPT_NONE || a->prompt.kind == PROMPT_CONFIRM)
        return;
    if (a->prompt.kind == PROMPT_PALETTE)
        palette_draw(a, g);
    draw_prompt(a, g, cx, cy);
}
