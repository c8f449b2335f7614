/* palette.h - the palette: every command and view by name. What is typed is
 * looked for in names and in the help of both languages; what was run last
 * stands first; what can't be run now says why.
 */
#ifndef TUI_PALETTE_H
#define TUI_PALETTE_H

#include "tui/cmd.h"

enum { PALETTE_MOST = 256, PALETTE_ARGS = 128 };

/* Commands that match what is typed, best first. */
int palette_find(const struct app *a, const struct cmd *out[PALETTE_MOST]);
/* Arguments of the typed command that match; texts live in `arena`. 0: it
 * takes none of a list. */
int palette_args(const struct app *a, struct arena *arena, const char *out[PALETTE_ARGS]);
/* Why it can't be run now; NULL: it can. */
const char *palette_reason(const struct app *a, const struct cmd *c);
/* What stands for its argument: "ID", "FILE"; "": it takes none. */
const char *palette_arg_name(const struct cmd *c);
/* How well `text` has the letters of `typed` in their order; 0: not at all. */
int palette_score(const char *text, const char *typed, size_t n);

void palette_ran(struct app *a, const struct cmd *c);
void palette_complete(struct app *a);
void palette_choose(struct app *a, int by);
void palette_accept(struct app *a, struct effects *out);
void palette_draw(const struct app *a, struct grid *g);

#endif
