/* mouse.c - clicks and wheel to focus, selection and scrolling (mouse.h). */
#include "tui/mouse.h"

#include "tui/cmd.h"
#include "tui/screen.h"

enum { WHEEL_ROWS = 3 };

static bool inside(const struct rect *r, int x, int y)
{
    return x >= r->x && x < r->x + r->w && y >= r->y && y < r->y + r->h;
}

static const struct pane *pane_at(const struct panes *l, int x, int y)
{
    for (int i = 0; i < l->n; i++)
        if (l->pane[i].panel != PANEL_STRIP && inside(&l->pane[i].outer, x, y))
            return &l->pane[i];
    return NULL;
}

static void wheel(struct app *a, const struct pane *p, cmd_fn *move, struct effects *out)
{
    enum panel_id focus = a->focus;
    a->focus = p->panel;
    for (int i = 0; i < WHEEL_ROWS; i++)
        move(a, NULL, out);
    a->focus = focus;
}

static void select_row(struct app *a, const struct pane *p, int y)
{
    struct rows rows;
    rows_init(&rows, a->glyphs);
    app_panel_rows(a, p, &rows);
    int i = screen_first_row(a, p, &rows) + y - p->inner.y;
    if (i >= 0 && i < rows.n && rows.v[i].id >= 0 && inside(&p->inner, p->inner.x, y))
        a->sel[p->panel] = rows.v[i].id;
    rows_release(&rows);
}

static void click(struct app *a, const struct panes *l, int x, int y)
{
    const struct pane *p = pane_at(l, x, y);
    if (!p || a->edit.open)
        return;
    select_row(a, p, y);         /* as it is drawn now, before the focus moves */
    a->focus = p->panel;
}

bool mouse_key(struct app *a, const char *name, struct effects *out)
{
    const char *at = strchr(name, '@');
    int x, y;
    if (!at || at == name || sscanf(at, "@%d,%d", &x, &y) != 2)
        return false;
    struct panes l;
    app_layout(a, &l);
    const struct pane *p = pane_at(&l, x, y);
    enum view view = app_view(a);
    if (view == VIEW_PROMPT || view == VIEW_CONFIRM || l.too_small)
        return true;
    bool up = str_starts(name, "Wheel-Up"), down = str_starts(name, "Wheel-Down");
    if (view == VIEW_HELP && (up || down))
        app_command(a, up ? "help.up" : "help.down", NULL, out);
    else if (p && (up || down))
        wheel(a, p, up ? cmd_up : cmd_down, out);
    else if (str_starts(name, "Click") && view != VIEW_HELP)
        click(a, &l, x, y);
    return true;
}
