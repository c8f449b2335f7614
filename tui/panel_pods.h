/* panel_pods.h - pods in rows, shared by the screens that show some. */
#ifndef TUI_PANEL_PODS_H
#define TUI_PANEL_PODS_H

#include "tui/app.h"

struct panel_pods_why {
    char text[256];
};

/* The sign and role of kubectl's status word. */
enum glyph panel_pods_sign(const char *status, enum role *role);
/* Why a pod is not doing well in one line, "" when it is. */
void panel_pods_cause(const struct app *a, const struct podinfo *p, char *buf, size_t size);
/* The cause by the rules of k8s/explain, "" when they know none. */
void panel_pods_explain(const struct app *a, const struct podinfo *p, char *buf, size_t size);

#endif
