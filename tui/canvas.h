/* canvas.h - dots of several layers on cells, with marks on top: what a chart is
 * drawn on before it becomes rows. A layer hides those before it cell by
 * cell.
 */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include "tui/rows.h"

/* CANVAS_GHOST and up to three more are of other runs. */
enum canvas_layer { CANVAS_BACK, CANVAS_GHOST, CANVAS_FRONT = CANVAS_GHOST + 4, CANVAS_LAYERS };

struct canvas {
    int cols, rows;              /* cells */
    int cell_w, cell_h;          /* dots a cell: 2x4 or 1x2 */
    int w, h;                    /* dots */
    int dots;                    /* enum curve_dots */
    enum role role[CANVAS_LAYERS];
    uint8_t *bits[CANVAS_LAYERS];        /* a cell's dots, row by row from bit 0 */
    uint8_t *mark, *mark_role;   /* glyph + 1 */
    int column;                  /* cell column of the cursor line, -1 none */
};

void canvas_init(struct canvas *c, int cols, int rows, int dots);
void canvas_release(struct canvas *c);
/* From dot to dot, both ends drawn; what lies outside is cut away. */
void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1, int layer);
void canvas_mark(struct canvas *c, double x, double y, enum glyph g, enum role role);
void canvas_column(struct canvas *c, double x);
/* Append one row of cells to the current row. */
void canvas_row(const struct canvas *c, int y, struct rows *out);

#endif
