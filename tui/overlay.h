/* overlay.h - what lies over the screen: help, question, the input line with the
 * palette's candidates. */
#ifndef TUI_OVERLAY_H
#define TUI_OVERLAY_H

#include "tui/app.h"

/* Sets cx, cy when the input line has the cursor. */
void overlay_draw(const struct app *a, struct grid *g, int *cx, int *cy);

#endif
