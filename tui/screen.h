/* screen.h - the state as cells: title, panes, message, keys, and what lies
 * over them (tui/overlay.h). */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "tui/app.h"

/* Draw everything. cx, cy: where the cursor stands, -1 when hidden. */
void screen_draw(const struct app *a, struct grid *g, int *cx, int *cy);
/* The first of a pane's rows that is shown. */
int screen_first_row(const struct app *a, const struct pane *p, const struct rows *rows);
/* The commands that the key row shows, as many as fit. */
struct cmd;
int screen_keys(const struct app *a, const struct cmd *out[64]);
/* A frame, double when focused; text in its upper or lower edge. */
void screen_box(struct grid *g, enum glyph_set set, struct rect r, bool focus);
void screen_heading(struct grid *g, enum glyph_set set, struct rect r, int y, bool right,
                    enum role role, const char *text);

/* Rows first.. first+n of `rows` into a rectangle, cut to it. */
void screen_rows(struct grid *g, const struct rows *rows, int first, int n, struct rect r);

#endif
