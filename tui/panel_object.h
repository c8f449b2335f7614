/* panel_object.h - the object whose detail or YAML is open. */
#ifndef TUI_PANEL_OBJECT_H
#define TUI_PANEL_OBJECT_H

#include "tui/app.h"

/* In its table, by uid; NULL: it is gone. */
const struct json *panel_object_find(const struct app *a);
/* The Job that owns the open pod; NULL: none. */
const struct json *panel_object_job(const struct app *a);
/* Its YAML, cleaned, secrets masked. */
void panel_object_yaml(const struct app *a, struct str *out);

#endif
