/* mouse.h - what the mouse does: keys of the form "Click@X,Y", "Wheel-Up@X,Y"
 * (tui/input.h), so that they are messages, are recorded and play back.
 *
 * A click gives the pane under it the focus and selects the row. The wheel moves
 * what stands under it and leaves the focus alone.
 */
#ifndef TUI_MOUSE_H
#define TUI_MOUSE_H

#include "tui/app.h"

/* False: no key of the mouse. */
bool mouse_key(struct app *a, const char *name, struct effects *out);

#endif
