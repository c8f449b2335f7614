/* overlay.h - what lies over the screen: the help of the present view, the
 * input line with the palette's candidates. */
#ifndef TUI_OVERLAY_H
#define TUI_OVERLAY_H

#include "tui/app.h"

/* Sets cx, cy when the input line has the cursor. */
void overlay_draw(const struct app *a, struct grid *g, int *cx, int *cy);
/* The rows of the help for the view below it (tests, docs). */
void overlay_help_rows(const struct app *a, struct rows *out, int w);

#endif
