/* panel_events.h - rows of events, for their own screen and for those that show
 * what happened to one object. */
#ifndef TUI_PANEL_EVENTS_H
#define TUI_PANEL_EVENTS_H

#include "tui/app.h"

/* One event: age, sign, reason, message; `object` names what it is about. */
void panel_events_row(const struct app *a, struct rows *out, const struct eventinfo *e, int id,
                      int w, bool object);
/* The newest events of an object, at most `most` rows; says so when there are
 * none. */
void panel_events_of(const struct app *a, struct rows *out, const char *kind,
                     const struct json *object, int most, int w);

#endif
