/* panes.c - rectangles (panes.h). */
#include "tui/panes.h"

enum { RUN_NARROW = 28, RUN_WIDE = 34, STRIP_ROWS = 3, LOG_FROM_ROWS = 34 };

static void add(struct panes *l, enum panel_id panel, struct rect r, bool border)
{
    assert(l->n < PANES_MOST);
    struct pane *p = &l->pane[l->n++];
    p->panel = panel;
    p->outer = p->inner = r;
    p->border = border && r.w >= 5 && r.h >= 3;
    if (p->border)
        p->inner = (struct rect){r.x + 2, r.y + 1, r.w - 4, r.h - 2};
}

/* The large curve: chart and figures side by side, a strip below them, and the
 * end of the log when there is room. */
static void curve_alone(struct panes *l, struct rect body)
{
    int strip = body.h >= 14 ? STRIP_ROWS : 0;
    int log = l->title.w && body.h + 3 >= LOG_FROM_ROWS ? body.h / 4 : 0;
    int figures = body.w >= 120 ? RUN_WIDE : RUN_NARROW;
    int top = body.h - strip - log;
    add(l, PANEL_CURVE, (struct rect){body.x, body.y, body.w - figures, top}, true);
    add(l, PANEL_RUN, (struct rect){body.x + body.w - figures, body.y, figures, top}, true);
    if (log)
        add(l, PANEL_LOG, (struct rect){body.x, body.y + top, body.w, log}, true);
    if (strip)
        add(l, PANEL_STRIP, (struct rect){body.x, body.y + top + log, body.w, strip}, false);
}

static void two(struct panes *l, struct rect b, enum panel_id a, enum panel_id c, int first)
{
    add(l, a, (struct rect){b.x, b.y, first, b.h}, true);
    add(l, c, (struct rect){b.x + first, b.y, b.w - first, b.h}, true);
}

/* What stands beside a tab when there is room for a third pane. */
static enum panel_id companion(enum panel_id tab)
{
    static const enum panel_id beside[] = {
        [PANEL_CLUSTER] = PANEL_API, [PANEL_LOG] = PANEL_CURVE, [PANEL_CURVE] = PANEL_LOG,
        [PANEL_API] = PANEL_CLUSTER, [PANEL_WHY] = PANEL_CLUSTER, [PANEL_TRAIN] = PANEL_CURVE,
        [PANEL_BUILD] = PANEL_API};
    return beside[tab];
}

static void lab_panes(struct panes *l, struct rect b, enum panel_id tab)
{
    if (b.w < 120) {
        two(l, b, PANEL_STEP, tab, b.w * 46 / 100);
        return;
    }
    int first = b.w * 36 / 100, second = b.w * 33 / 100;
    if (tab == PANEL_CURVE || tab == PANEL_LOG || tab == PANEL_TRAIN) {
        first = b.w * 30 / 100;
        second = tab != PANEL_LOG ? b.w * 38 / 100 : b.w * 35 / 100;
    }
    add(l, PANEL_STEP, (struct rect){b.x, b.y, first, b.h}, true);
    add(l, tab, (struct rect){b.x + first, b.y, second, b.h}, true);
    add(l, companion(tab), (struct rect){b.x + first + second, b.y, b.w - first - second, b.h},
        true);
}

static void small(struct panes *l, const struct panes_ask *a, struct rect body)
{
    if (!a->editing && !a->over) {
        l->tabs = true;
        l->tab_row = (struct rect){0, 1, a->cols, 1};
        body.y++;
        body.h--;
    }
    add(l, a->editing ? PANEL_EDIT : a->focus, body, false);
}

/* One pane with room around it; in a lab its numbers stand above. */
static void large(struct panes *l, const struct panes_ask *a, struct rect body)
{
    if (!a->over) {
        l->tabs = true;
        l->tab_row = (struct rect){0, body.y++, a->cols, 1};
        body.h--;
    }
    if (a->lab && !a->over) {
        l->banner = (struct rect){1, body.y, body.w - 2, PANES_BANNER};
        body.y += PANES_BANNER;
        body.h -= PANES_BANNER;
    }
    add(l, a->focus, body, true);
    struct rect *in = &l->pane[0].inner;
    *in = (struct rect){in->x + 2, in->y, in->w - 4, in->h};
}

/* The large curve keeps its shape while the focus is on a part of it. */
static bool of_curve(const struct panes_ask *a)
{
    return a->focus == PANEL_CURVE ||
           (a->tab == PANEL_CURVE && (a->focus == PANEL_RUN || a->focus == PANEL_LOG));
}

void panes_compute(const struct panes_ask *a, struct panes *l)
{
    memset(l, 0, sizeof *l);
    l->title = (struct rect){0, 0, a->cols, 1};
    l->message = (struct rect){0, a->rows - 2, a->cols, 1};
    l->keys = (struct rect){0, a->rows - 1, a->cols, 1};
    if (a->cols < PANES_COLS_LEAST || a->rows < PANES_ROWS_LEAST) {
        l->too_small = true;
        return;
    }
    struct rect body = {0, 1, a->cols, a->rows - 3 - a->pressed};
    if (a->pressed)
        l->pressed = (struct rect){0, a->rows - 3, a->cols, 1};
    if (a->cols < 80 || a->rows < 24) {
        small(l, a, body);
    } else if (a->editing) {
        if (a->cols >= 120)
            two(l, body, PANEL_EDIT, PANEL_STEP, a->cols * 60 / 100);
        else
            add(l, PANEL_EDIT, body, true);
    } else if (a->big) {
        large(l, a, body);
    } else if (a->over) {
        add(l, a->focus, body, true);
    } else if (!a->lab) {
        two(l, body, PANEL_CATALOGUE, PANEL_ABOUT,
            a->cols < 120 ? a->cols * 57 / 100 : a->cols * 55 / 100);
    } else if (a->zoom && of_curve(a)) {
        curve_alone(l, body);
    } else if (a->zoom) {
        add(l, a->focus, body, true);
    } else {
        lab_panes(l, body, a->tab);
    }
}

const struct pane *panes_find(const struct panes *l, enum panel_id panel)
{
    for (int i = 0; i < l->n; i++)
        if (l->pane[i].panel == panel)
            return &l->pane[i];
    return NULL;
}
