/* help.c - the help overlay (help.h). */
#include "tui/help.h"

#include "core/base/i18n.h"
#include "core/base/utf8.h"
#include "tui/cmd.h"
#include "tui/screen.h"

enum { HELP_WIDE = 76, HELP_TWO = 116, HELP_KEYS = 12 };

struct box {
    struct rect r;
    int columns, each, lines, most;
};

bool help_has(const char *text, const char *typed)
{
    size_t n = strlen(typed);
    for (; n && *text; text++)
        if (strncasecmp(text, typed, n) == 0)
            return true;
    return n == 0;
}

static void help_row(const struct app *a, struct rows *out, const struct cmd *c, int w)
{
    char keys[48];
    cmd_keys_label(cmd_keys(a, c, app_view_below(a)), keys);
    int room = MAX(utf8_str_width(keys), HELP_KEYS);     /* keys are never cut */
    rows_new(out, -1);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_KEY, keys, room);
    rows_put(out, ROLE_TEXT, " ");
    rows_cell(out, ROLE_TEXT, _(c->help), MAX(w - room - 2, 4));
}

static bool shown(const struct app *a, const struct cmd *c, enum view view)
{
    char keys[48];
    const char *own = cmd_keys(a, c, view);
    return (c->views & view) && own[0] &&
           (help_has(cmd_keys_label(own, keys), a->help_find) ||
            help_has(_(c->help), a->help_find) || help_has(c->name, a->help_find));
}

/* 0: of this view only; 1: of the panes of a lab; 2: of all. */
static int part_of(const struct cmd *c)
{
    if ((c->views & VIEWS_MAIN) == VIEWS_MAIN)
        return 2;
    return (c->views & VIEWS_LAB) == VIEWS_LAB;
}

void help_rows(const struct app *a, struct rows *out, int w)
{
    static const char *const heads[] = {N_("Here"), N_("In every lab pane"), N_("Everywhere")};
    enum view view = app_view_below(a);
    for (int part = 0; part < 3; part++) {
        bool head = false;
        for (size_t i = 0; i < cmd_count(); i++) {
            const struct cmd *c = cmd_at(i);
            if (part_of(c) != part || !shown(a, c, view))
                continue;
            if (!head && out->n > 0)
                rows_blank(out);
            if (!head)
                rows_line(out, ROLE_HEAD, _(heads[part]));
            head = true;
            help_row(a, out, c, w);
        }
    }
    if (out->n == 0)
        rows_line(out, ROLE_MUTED, _("no key here does that"));
}

static void lay_out(const struct app *a, struct rows *rows, struct box *b)
{
    b->columns = a->cols >= HELP_TWO ? 2 : 1;
    int w = b->columns == 2 ? HELP_TWO - 4 : MIN(a->cols - 2, HELP_WIDE);
    b->each = (w - 4) / b->columns;
    help_rows(a, rows, b->each - (b->columns == 2));
    int h = MIN(a->rows - 3, (rows->n + b->columns - 1) / b->columns + 2);
    b->lines = h - 2;
    b->most = MAX(rows->n - b->lines * b->columns, 0);
    b->r = (struct rect){(a->cols - w) / 2, MAX((a->rows - 2 - h) / 2, 1), w, h};
}

int help_most(const struct app *a)
{
    struct rows rows;
    struct box b;
    rows_init(&rows, a->glyphs);
    lay_out(a, &rows, &b);
    rows_release(&rows);
    return b.most;
}

void help_draw(const struct app *a, struct grid *g)
{
    struct rows rows;
    struct box b;
    char foot[64], head[128];
    rows_init(&rows, a->glyphs);
    lay_out(a, &rows, &b);
    grid_fill(g, b.r, ROLE_TEXT, 0, " ");
    screen_box(g, a->glyphs, b.r, true);
    if (a->help_find[0])
        str_fmt(head, sizeof head, "%s /%s", _("Help"), a->help_find);
    else
        str_copy(head, sizeof head, _("Help  type to filter"));
    screen_heading(g, a->glyphs, b.r, b.r.y, false, ROLE_STRONG, head);
    int first = MIN(a->help_scroll, b.most), room = b.lines * b.columns;
    str_fmt(foot, sizeof foot, "%d-%d/%d", first + 1, MIN(first + room, rows.n), rows.n);
    if (rows.n > room)
        screen_heading(g, a->glyphs, b.r, b.r.y + b.r.h - 1, true, ROLE_MUTED, foot);
    for (int c = 0; c < b.columns; c++)
        screen_rows(g, &rows, first + c * b.lines, b.lines,
                    (struct rect){b.r.x + 2 + c * b.each, b.r.y + 1, b.each, b.lines});
    rows_release(&rows);
}
