/* confirm.h - the one question before harm is done. It names the object, says
 * what is lost, and its default is Cancel; nothing asks a second time.
 *
 * Yes runs `command` with `arg`. Put into arg what pins the object (its uid),
 * so that a list that moves below the question can't change what it is about.
 */
#ifndef TUI_CONFIRM_H
#define TUI_CONFIRM_H

#include "tui/app.h"

struct confirm {
    const char *title;           /* "Delete pod/lora-x7k2p?" */
    const char *lost;            /* what is lost, or how it comes back; may be NULL */
    const char *verb;            /* the button: "Delete" */
    const char *command, *arg;   /* arg may be NULL */
};

void confirm_ask(struct app *a, const struct confirm *c);
void confirm_draw(const struct app *a, struct grid *g);

#endif
