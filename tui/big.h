/* big.h - big mode for a projector: one pane alone in strong text, over it the
 * numbers that matter in block letters (step, checks, loss, share of the run),
 * and below it the last keys that were pressed, with what they did.
 *
 * The block letters are five rows high and drawn with a full block, or # where
 * the signs are not safe.
 */
#ifndef TUI_BIG_H
#define TUI_BIG_H

#include "tui/app.h"

enum { BIG_ROWS = 5, BIG_BANNER = BIG_ROWS + 1 };    /* the letters and their captions */

/* Append row y of the text in block letters to the last row; what can't be drawn
 * is a blank. */
void big_row(struct rows *out, enum role role, const char *text, int y);
int big_width(const char *text);
/* BIG_BANNER rows of w columns. */
void big_banner(const struct app *a, struct rows *out, int w);
/* The row of pressed keys. */
void big_pressed(const struct app *a, struct rows *out, int w);

#endif
