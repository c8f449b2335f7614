/* cmd_lists.h - what other parts of the console need of the lists: the selected
 * pod, and the selection kept on its row. */
#ifndef TUI_CMD_LISTS_H
#define TUI_CMD_LISTS_H

#include "tui/app.h"

/* The pod selected in the pane that has the focus, or NULL. */
const char *cmd_lists_pod(const struct app *a);
/* The person moved: this row is the selected one. */
void cmd_lists_picked(struct app *a);
/* The list may have changed: the selection stays on its row. */
void cmd_lists_follow(struct app *a);
/* Take the list's filter off; false: there is none. */
bool cmd_lists_back(struct app *a);
/* What `copy` takes from an object's screen; false: the rows as they stand. */
bool cmd_lists_copy(const struct app *a, struct str *text);

#endif
