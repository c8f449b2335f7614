/* cmd_move.c - moving in lists and texts. What can be selected moves the
 * selection, the rest scrolls. */
#include "tui/cmd.h"
#include "tui/cmd_lists.h"

struct extent {
    int rows, height, first, last;       /* selectable rows: ids first..last, -1 none */
    int want;                            /* the id that the selection goes to */
};

/* From the selected row so many selectable rows on: ids may have gaps. */
static int walk(const struct rows *rows, int sel, int by)
{
    int at = -1, n = 0;
    for (int pass = 0; pass < 2; pass++) {
        int k = 0;
        for (int i = 0; i < rows->n; i++) {
            if (rows->v[i].id < 0)
                continue;
            if (pass == 0 && at < 0 && rows->v[i].id >= sel)
                at = k;
            if (pass == 1 && k == MIN(MAX(at + by, 0), n - 1))
                return rows->v[i].id;
            k++;
        }
        n = k;
        at = at < 0 ? n - 1 : at;
    }
    return sel;
}

static void measure(const struct app *a, int by, bool page, struct extent *e)
{
    struct panes l;
    struct rows rows;
    app_layout(a, &l);
    const struct pane *p = panes_find(&l, a->focus);
    *e = (struct extent){0, 1, -1, -1, 0};
    if (!p)
        return;
    rows_init(&rows, a->glyphs);
    app_panel_rows(a, p, &rows);
    e->rows = rows.total ? rows.total : rows.n;
    e->height = p->inner.h;
    for (int i = 0; i < rows.n; i++) {
        if (rows.v[i].id < 0)
            continue;
        e->first = e->first < 0 ? rows.v[i].id : e->first;
        e->last = rows.v[i].id;
    }
    by *= page ? MAX(e->height - 1, 1) : 1;
    if (rows.ids > 0) {
        e->first = 0;
        e->last = rows.ids - 1;
        e->want = MIN(MAX(a->sel[a->focus] + by, 0), e->last);
    } else {
        e->want = walk(&rows, a->sel[a->focus], by);
    }
    rows_release(&rows);
}

static void move_by(struct app *a, int by, bool page)
{
    struct extent e;
    if (a->focus == PANEL_LOG) {
        cmd_log_move(a, by, page);
        return;
    }
    measure(a, by, page, &e);
    if (a->focus == PANEL_STEP)
        a->seek = SEEK_NONE;
    if (page)
        by *= MAX(e.height - 1, 1);
    if (e.first >= 0) {
        a->sel[a->focus] = e.want;
        cmd_lists_picked(a);
    } else {
        a->scroll[a->focus] = MIN(MAX(a->scroll[a->focus] + by, 0), MAX(e.rows - e.height, 0));
    }
}

void cmd_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, 1, false);
}

void cmd_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, -1, false);
}

void cmd_page_down(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, 1, true);
}

void cmd_page_up(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, -1, true);
}

void cmd_top(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, -1000000, false);
}

void cmd_bottom(struct app *a, const char *arg UNUSED, struct effects *out UNUSED)
{
    move_by(a, 1000000, false);
}
