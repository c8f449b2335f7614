/* panel_log.h - how the log's lines are laid out at a width: for its panel and
 * for those who move in it. */
#ifndef TUI_PANEL_LOG_H
#define TUI_PANEL_LOG_H

#include "tui/log_line.h"

void panel_log_look(const struct app *a, int w, struct log_line_look *out);
/* Rows of a pane of height h that hold lines. */
int panel_log_height(const struct app *a, int h);

#endif
