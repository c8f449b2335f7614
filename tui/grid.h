/* grid.h - podium's own cells: the one place that knows what a character does
 * to a row.
 *
 * Invariants
 *   - The widths of a row's cells sum to `cols`: a wide character owns its cell
 *     (width 2) and the next one (width 0, no text); no half of one ever stands
 *     alone. Writing over a half turns the other half into a blank.
 *   - Nothing is written outside the clip rectangle; a wide character that
 *     would cross its edge becomes a blank.
 *   - A cell holds one cluster: a base character and the combining marks that
 *     fit. Controls, VS16, ZWJ and other format characters never enter.
 *   - Colours are roles (tui/theme.h); only tui/term.c turns them into bytes.
 */
#ifndef TUI_GRID_H
#define TUI_GRID_H

#include "core/base/str.h"

enum { GRID_CLUSTER = 20 };
enum { ATTR_BOLD = 1, ATTR_UNDERLINE = 2, ATTR_REVERSE = 4 };

struct cell {
    char text[GRID_CLUSTER];     /* UTF-8, NUL-terminated; "" in a right half */
    uint8_t width;               /* 1, 2; 0: right half of a wide one */
    uint8_t role, attr;
};

struct rect {
    int x, y, w, h;
};

struct grid {
    int cols, rows;
    struct cell *cell;           /* rows * cols, row by row */
    struct rect clip;            /* inside the grid */
};

void grid_init(struct grid *g, int cols, int rows);
void grid_release(struct grid *g);
void grid_resize(struct grid *g, int cols, int rows);    /* clears */
void grid_clear(struct grid *g);                         /* blanks, clip = whole grid */
void grid_clip(struct grid *g, struct rect r);           /* cut to the grid */
void grid_unclip(struct grid *g);
void grid_copy(struct grid *dst, const struct grid *src);

/* Write text from column x of row y; returns the columns it takes (also those
 * that were clipped away). */
int grid_text(struct grid *g, int x, int y, int role, int attr, const char *text);
/* Fill a rectangle with one narrow character. */
void grid_fill(struct grid *g, struct rect r, int role, int attr, const char *glyph);
/* Change role and attribute of a rectangle, not its text. */
void grid_paint(struct grid *g, struct rect r, int attr);

const struct cell *grid_at(const struct grid *g, int x, int y);
/* A row as text, trailing blanks cut. */
void grid_row_text(const struct grid *g, int y, struct str *out);
/* The invariants hold (tests, debug builds). */
bool grid_sound(const struct grid *g);

/* Every cell of `now` that differs from `old`, left to right, right halves left
 * out. Grids of different size differ everywhere. Returns how many. */
typedef void grid_diff_fn(void *arg, int x, int y, const struct cell *c);
int grid_diff(const struct grid *old, const struct grid *now, grid_diff_fn *fn, void *arg);

#endif
