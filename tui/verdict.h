/* verdict.h - a run's curve in one sentence. */
#ifndef TUI_VERDICT_H
#define TUI_VERDICT_H

#include "tui/app.h"

/* "val improved 3 evals in a row; spike 2.60 @ 208, back to normal @ 214", in
 * the language; role says how it is meant. Empty without a run. */
void verdict_of(const struct app *a, struct str *out, enum role *role);

#endif
