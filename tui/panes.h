/* panes.h - which panels stand where: a pure function of the size and of what
 * is asked for.
 *
 * Row 0 is the title, the last two rows are message and keys. From 80x24 panes
 * have borders: two below 120 columns, three from there. Smaller, one pane
 * without borders is shown under a row of tabs. Below 40x12 nothing is.
 */
#ifndef TUI_PANES_H
#define TUI_PANES_H

#include "tui/grid.h"

enum panel_id {
    PANEL_CATALOGUE, PANEL_ABOUT,
    PANEL_STEP, PANEL_CLUSTER, PANEL_LOG, PANEL_CURVE, PANEL_API, PANEL_WHY,
    PANEL_BUILD, PANEL_TRAIN,
    PANEL_RUN, PANEL_STRIP, PANEL_RUNS, PANEL_EDIT, PANEL_SETTINGS, PANEL_MESSAGES, PANEL_KEYS,
    PANEL_PODS, PANEL_NODES, PANEL_EVENTS, PANEL_OBJECT, PANEL_YAML,
    PANEL_CTX, PANEL_NS, PANEL_CONN, PANEL_RIGHTS, PANEL_SHELL, PANEL_FORWARDS, PANEL_COUNT,
    TAB_FIRST = PANEL_CLUSTER, TAB_LAST = PANEL_TRAIN      /* of the second pane in a lab */
};

enum { PANES_COLS_LEAST = 40, PANES_ROWS_LEAST = 12, PANES_MOST = 4,
       PANES_BANNER = 7 };       /* rows of the numbers in big mode */

struct panes_ask {
    int cols, rows;
    bool lab;                    /* else the catalogue */
    enum panel_id tab;           /* TAB_FIRST..TAB_LAST */
    enum panel_id focus;         /* the focused panel */
    bool zoom;                   /* the focused panel alone */
    bool editing;                /* the editor alone */
    bool over;                   /* the focused panel has the whole body */
    bool big;                    /* one pane, the banner above it */
    bool pressed;                /* a row for the keys that were pressed */
};

struct pane {
    enum panel_id panel;
    struct rect outer, inner;    /* equal without a border; else a blank beside it */
    bool border;
};

struct panes {
    bool too_small, tabs;        /* tabs: a tab row under the title */
    struct rect title, tab_row, message, keys;
    struct rect banner, pressed; /* h 0: there is none */
    struct pane pane[PANES_MOST];
    int n;
};

void panes_compute(const struct panes_ask *ask, struct panes *out);
/* The pane that shows a panel, or NULL. */
const struct pane *panes_find(const struct panes *l, enum panel_id panel);

#endif
