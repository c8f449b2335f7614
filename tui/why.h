/* why.h - the explanation of a Pod or a Job on show: what was asked, and the answer
 * of the child that looked (podium diagnose --json). It is asked again by itself
 * when the cluster's objects have changed while it is on the screen.
 */
#ifndef TUI_WHY_H
#define TUI_WHY_H

#include "tui/app.h"

/* "pod/NAME" or "job/NAME", in the namespace of the connection. */
void why_ask(struct app *a, const char *object, struct effects *out);
/* True: the message was for it. */
bool why_take(struct app *a, const struct msg *m);
void why_follow(struct app *a, struct effects *out);
void why_forget(struct app *a);

#endif
