/* panel_cluster.h - what stands on the selectable rows of the Cluster panel. */
#ifndef TUI_PANEL_CLUSTER_H
#define TUI_PANEL_CLUSTER_H

#include "tui/app.h"

enum { PANEL_CLUSTER_PODS_MOST = 100, PANEL_CLUSTER_FIRST_POD = 2 };

/* The list that a heading's row opens; PANEL_COUNT: it is no heading. */
enum panel_id panel_cluster_list(const struct app *a, int id);
/* The pod of a row, NULL: none. */
const struct json *panel_cluster_pod(const struct app *a, int id);

#endif
