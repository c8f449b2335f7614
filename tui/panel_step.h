/* panel_step.h - the parts of the step pane that stand in a file of their own.
 * Each writes its rows, or none when there is nothing to say.
 */
#ifndef TUI_PANEL_STEP_H
#define TUI_PANEL_STEP_H

#include "tui/app.h"

typedef void panel_step_fn(const struct app *a, struct rows *out, int w);
panel_step_fn panel_step_need, panel_step_scene, panel_step_quiz, panel_step_notes,
    panel_step_solution, panel_step_clean, panel_step_manifest;

#endif
