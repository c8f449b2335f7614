/* panel_nodes.h - nodes in words, shared by the screens that show some. */
#ifndef TUI_PANEL_NODES_H
#define TUI_PANEL_NODES_H

#include "tui/app.h"

char *panel_nodes_amount(const char *resource, int64_t n, char buf[32]);
char *panel_nodes_share(const struct nodeinfo_use *u, bool part, char buf[64]);
const char *panel_nodes_status(const struct nodeinfo *n, enum role *role, char buf[96]);
enum role panel_nodes_hw_role(const char *resource);
/* All that is known of a node. */
void panel_nodes_detail(const struct app *a, struct rows *out, const char *name, int w);

#endif
