/* editor.h - the person's own editor on the released terminal. */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include "core/base/err.h"

/* $VISUAL or $EDITOR; NULL: none is set, use the small one (tui/edit.h). */
const char *editor_command(void);
/* Start it on a file; its words are split at blanks, no shell. */
MUST_USE enum pd_code editor_start(const char *path, int *pid, struct pd_err *err);
/* Has it ended? *code: its exit status, 127 when it could not be run. */
bool editor_ended(int pid, int *code);

#endif
