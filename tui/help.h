/* help.h - the help of the view below it, from the table of commands: grouped,
 * filtered by what is typed, two columns where they fit.
 */
#ifndef TUI_HELP_H
#define TUI_HELP_H

#include "tui/app.h"

void help_draw(const struct app *a, struct grid *g);
/* The rows of it in a width. */
void help_rows(const struct app *a, struct rows *out, int w);
/* The furthest that it can be scrolled. */
int help_most(const struct app *a);
/* Does a text have what is typed? Case does not matter; "" is in all. */
bool help_has(const char *text, const char *typed);

#endif
