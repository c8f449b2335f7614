/* panel_rights.h - the Role to ask for, as text. */
#ifndef TUI_PANEL_RIGHTS_H
#define TUI_PANEL_RIGHTS_H

#include "tui/app.h"

/* YAML to apply that would give what is missing; false: nothing is. */
bool panel_rights_role(const struct app *a, struct str *out);

#endif
