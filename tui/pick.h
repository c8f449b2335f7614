/* pick.h - the lists to choose a context and a namespace from: what passes the
 * filter, in the order on show. */
#ifndef TUI_PICK_H
#define TUI_PICK_H

#include "core/base/mem.h"
#include "tui/app.h"

struct pick_contexts {
    const struct conn_context **v;
    int n, total;
};
struct pick_spaces {
    const struct conn_ns **v;        /* those that the person knows come first */
    int n, total;
};
/* Live in the arena. */
struct pick_contexts pick_contexts(const struct app *a, struct arena *arena);
struct pick_spaces pick_spaces(const struct app *a, struct arena *arena);
/* The selected one's name, "" when there is none. */
const char *pick_context(const struct app *a, char name[128]);
const char *pick_space(const struct app *a, char name[128]);
/* The row of a name, 0 when it is not there. */
int pick_place(const struct app *a, enum panel_id panel, const char *name);
/* What is selected has rested: a look at it is due. Called after each message. */
void pick_follow(struct app *a, const struct msg *m, struct effects *out);
/* Take the filter off; false: there is none. */
bool pick_back(struct app *a);

#endif
