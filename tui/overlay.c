/* overlay.c - help and input line (overlay.h). */
#include "tui/overlay.h"

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/confirm.h"
#include "tui/panel.h"
#include "tui/prompt.h"
#include "tui/screen.h"

enum { HELP_WIDE = 76, HELP_TWO = 116, HELP_KEYS = 12, PALETTE_ROWS = 8 };

static void help_row(const struct app *a, struct rows *out, const struct cmd *c, int w)
{
    char keys[48];
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_KEY, cmd_keys_label(cmd_keys(a, c, app_view_below(a)), keys),
              HELP_KEYS);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, _(c->help), MAX(w - HELP_KEYS - 2, 8));
}

/* Commands of this view only, then those of all. */
void overlay_help_rows(const struct app *a, struct rows *out, int w)
{
    enum view view = app_view_below(a);
    for (int part = 0; part < 3; part++) {
        static const char *const heads[] = {N_("Here"), N_("In every lab pane"), N_("Everywhere")};
        bool head = false;
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            unsigned v = c->views & (VIEWS_MAIN | VIEW_EDIT);
            int kind = (v & VIEWS_MAIN) == VIEWS_MAIN ? 2 : (v & VIEWS_LAB) == VIEWS_LAB ? 1 : 0;
            if (kind != part || !(c->views & view) || !cmd_keys(a, c, view)[0])
                continue;
            if (!head && part > 0)
                rows_blank(out);
            if (!head)
                rows_line(out, ROLE_HEAD, _(heads[part]));
            head = true;
            help_row(a, out, c, w);
        }
    }
}

/* Two columns where they fit: then nothing has to be scrolled. */
static void draw_help(const struct app *a, struct grid *g)
{
    struct rows rows;
    char foot[64];
    int columns = a->cols >= HELP_TWO ? 2 : 1;
    int w = columns == 2 ? HELP_TWO - 4 : MIN(a->cols - 2, HELP_WIDE);
    int each = (w - 4) / columns;
    rows_init(&rows, a->glyphs);
    overlay_help_rows(a, &rows, each - 1);
    int h = MIN(a->rows - 3, (rows.n + columns - 1) / columns + 2), lines = h - 2;
    struct rect r = {(a->cols - w) / 2, MAX((a->rows - 2 - h) / 2, 1), w, h};
    grid_fill(g, r, ROLE_TEXT, 0, " ");
    screen_box(g, a->glyphs, r, true);
    screen_heading(g, a->glyphs, r, r.y, false, ROLE_STRONG, _("Help"));
    int first = MIN(a->help_scroll, MAX(rows.n - lines * columns, 0));
    str_fmt(foot, sizeof foot, "%d-%d/%d", first + 1, MIN(first + lines * columns, rows.n), rows.n);
    if (rows.n > lines * columns)
        screen_heading(g, a->glyphs, r, r.y + h - 1, true, ROLE_MUTED, foot);
    for (int c = 0; c < columns; c++)
        screen_rows(g, &rows, first + c * lines, lines,
                    (struct rect){r.x + 2 + c * each, r.y + 1, each, lines});
    rows_release(&rows);
}

static void draw_candidates(const struct app *a, struct grid *g)
{
    const struct cmd *v[PROMPT_CANDIDATES];
    int n = prompt_candidates(a, v), h = MIN(MIN(n, PALETTE_ROWS), a->rows - 4);
    int w = MIN(a->cols, HELP_WIDE), top = MAX(a->prompt.sel - h + 1, 0);
    struct rect r = {0, a->rows - 2 - h - 2, w, h + 2};
    if (n == 0)
        return;
    grid_fill(g, r, ROLE_TEXT, 0, " ");
    screen_box(g, a->glyphs, r, true);
    screen_heading(g, a->glyphs, r, r.y, false, ROLE_STRONG, _("Commands"));
    for (int i = 0; i < h; i++) {
        struct rows rows;
        char keys[48];
        const struct cmd *c = v[top + i];
        rows_init(&rows, a->glyphs);
        rows_new(&rows, -1);
        rows_cell(&rows, ROLE_STRONG, c->name, 16);
        rows_cell(&rows, ROLE_KEY, cmd_keys_label(cmd_keys(a, c, app_view_below(a)), keys),
                  9);
        rows_cell(&rows, cmd_enabled(c, a) ? ROLE_TEXT : ROLE_MUTED, _(c->help), MAX(w - 29, 4));
        int x = r.x + 2;
        for (int k = 0; k < rows.v[0].n; k++)
            x += grid_text(g, x, r.y + 1 + i, rows.v[0].span[k].role, 0, rows.v[0].span[k].text);
        if (top + i == a->prompt.sel)
            grid_paint(g, (struct rect){r.x + 1, r.y + 1 + i, r.w - 2, 1}, ATTR_REVERSE);
        rows_release(&rows);
    }
}

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
    grid_text(g, 1, y + 1, ROLE_MUTED, 0,
              p->kind == PROMPT_PALETTE ? _("Enter runs  Tab completes  Up Down choose  Esc closes")
                                        : _("Enter accepts  Esc closes"));
    *cx = x + at - shift;
    *cy = y;
    free(head);
}

void overlay_draw(const struct app *a, struct grid *g, int *cx, int *cy)
{
    if (a->help)
        draw_help(a, g);
    if (a->prompt.kind == PROMPT_CONFIRM)
        confirm_draw(a, g);
    if (a->prompt.kind == PROMPT_NONE || a->prompt.kind == PROMPT_CONFIRM)
        return;
    if (a->prompt.kind == PROMPT_PALETTE)
        draw_candidates(a, g);
    draw_prompt(a, g, cx, cy);
}
