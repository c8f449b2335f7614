/* tui_panes.c - the layout at every size: inside the screen, no overlap, what
 * is focused is there. */
#include "tests/t.h"
#include "tui/panes.h"

static bool overlap(struct rect a, struct rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

static void check(const struct panes_ask *ask)
{
    struct panes l;
    panes_compute(ask, &l);
    if (ask->cols < PANES_COLS_LEAST || ask->rows < PANES_ROWS_LEAST) {
        CHECK(l.too_small);
        return;
    }
    long area = 0;
    bool small = ask->cols < 80 || ask->rows < 24;
    CHECK(!l.too_small && l.n >= 1);
    CHECK_INT(l.tabs, small && !ask->editing);
    for (int i = 0; i < l.n; i++) {
        struct rect r = l.pane[i].outer, in = l.pane[i].inner;
        CHECK(r.x >= 0 && r.y >= 1 + l.tabs && r.w > 0 && r.h > 0);
        CHECK(r.x + r.w <= ask->cols && r.y + r.h <= ask->rows - 2);
        CHECK(in.x >= r.x && in.y >= r.y && in.w > 0 && in.h > 0);
        CHECK(in.x + in.w <= r.x + r.w && in.y + in.h <= r.y + r.h);
        CHECK(!small || !l.pane[i].border);
        area += (long)r.w * r.h;
        for (int k = 0; k < i; k++)
            CHECK(!overlap(r, l.pane[k].outer));
    }
    CHECK_INT(area, (long)ask->cols * (ask->rows - 3 - l.tabs));
    int most = small ? 1 : ask->cols < 120 && !ask->zoom ? 2 : 4;
    CHECK(l.n <= most);
    if (ask->editing)
        CHECK(panes_find(&l, PANEL_EDIT) != NULL);
    else if (ask->zoom || small || ask->focus == ask->tab || ask->focus == PANEL_STEP)
        CHECK(!ask->lab || panes_find(&l, ask->focus) != NULL);
}

TEST(every_size_from_20x6_to_300x100)
{
    for (int cols = 20; cols <= 300; cols += cols < 130 ? 1 : 7)
        for (int rows = 6; rows <= 100; rows += rows < 45 ? 1 : 5)
            for (int bits = 0; bits < 4; bits++)
                for (enum panel_id tab = TAB_FIRST; tab <= TAB_LAST; tab++) {
                    struct panes_ask a = {.cols = cols, .rows = rows, .lab = true, .tab = tab,
                                          .focus = bits & 1 ? tab : PANEL_STEP,
                                          .zoom = bits & 2};
                    check(&a);
                    a.editing = true;
                    check(&a);
                    a = (struct panes_ask){.cols = cols, .rows = rows, .tab = tab,
                                           .focus = PANEL_CATALOGUE};
                    check(&a);
                }
}

TEST(panes_by_width)
{
    struct panes_ask a = {.cols = 80, .rows = 24, .lab = true, .tab = PANEL_CLUSTER,
                          .focus = PANEL_STEP};
    struct panes l;
    panes_compute(&a, &l);
    CHECK_INT(l.n, 2);
    a.cols = 120;
    panes_compute(&a, &l);
    CHECK_INT(l.n, 3);
    CHECK(panes_find(&l, PANEL_API) != NULL);
    a.cols = 79;
    panes_compute(&a, &l);
    CHECK_INT(l.n, 1);
    a.cols = 40;
    a.rows = 12;
    panes_compute(&a, &l);
    CHECK(!l.too_small);
    a.rows = 11;
    panes_compute(&a, &l);
    CHECK(l.too_small);
}

TEST(the_large_curve_has_its_figures)
{
    struct panes_ask a = {.cols = 120, .rows = 40, .lab = true, .tab = PANEL_CURVE,
                          .focus = PANEL_CURVE, .zoom = true};
    struct panes l;
    panes_compute(&a, &l);
    CHECK(panes_find(&l, PANEL_CURVE) && panes_find(&l, PANEL_RUN));
    CHECK(panes_find(&l, PANEL_LOG) && panes_find(&l, PANEL_STRIP));
}

T_MAIN
