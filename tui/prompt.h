/* prompt.h - the input line: the palette with its candidates, and questions. */
#ifndef TUI_PROMPT_H
#define TUI_PROMPT_H

#include "tui/cmd.h"

enum { PROMPT_CANDIDATES = 64 };

void prompt_key(struct app *a, const char *key, struct effects *out);
void prompt_paste(struct app *a, const char *text);
/* Commands whose name or help contains what is typed, best first. */
int prompt_candidates(const struct app *a, const struct cmd *out[PROMPT_CANDIDATES]);

#endif
