/* catalogue.h - the labs as the catalogue shows them: their order by track or
 * as sorted, filtered, and what can be said of each.
 */
#ifndef TUI_CATALOGUE_H
#define TUI_CATALOGUE_H

#include "tui/app.h"

enum { CATALOGUE_MOST = 512 };

enum catalogue_state { CATALOGUE_READY, CATALOGUE_BEGUN, CATALOGUE_DONE, CATALOGUE_LOCKED,
                       CATALOGUE_NEEDS, CATALOGUE_BROKEN };

/* Indexes into a->labs in the order shown. */
int catalogue_order(const struct app *a, int out[CATALOGUE_MOST]);
/* Its number, from 1, which no filter and no sorting changes. */
int catalogue_number(const struct app *a, int lab);
/* The index of the lab in a place of the list, and of the selected one; -1: none. */
int catalogue_at(const struct app *a, int place);
int catalogue_selected(const struct app *a);
/* Put the selection on a lab, if it is shown. */
void catalogue_select(struct app *a, int lab);

enum catalogue_state catalogue_state(const struct app *a, int lab);
/* "ready" "3/9" "done" "after ID" "needs gaudi" "broken", with sign and role. */
const char *catalogue_say(const struct app *a, int lab, enum glyph *g, enum role *role,
                          char buf[96]);
/* The lab that must be done before; NULL: none, or it is. */
const struct lab *catalogue_before(const struct app *a, const struct lab *lab);
/* Sum of a resource over the ready nodes; -1: they are not known. */
double catalogue_offered(const struct app *a, const char *resource);
/* Does the cluster meet it? 1 yes, 0 no, -1 not known yet. */
int catalogue_met(const struct app *a, const struct lab_require *r);
/* The track's name; "" for labs of none. */
const char *catalogue_track(const struct app *a, int lab);
const char *catalogue_sort_name(enum catalogue_sort s);

#endif
