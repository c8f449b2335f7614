/* prompt.h - the input line: what is typed for the palette
 * (tui/palette.h) or as one argument. */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include "tui/cmd.h"

void prompt_key(struct app *a, const char *key, struct effects *out);
void prompt_paste(struct app *a, const char *text);

#endif
