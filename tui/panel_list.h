/* panel_list.h - what the screens of the cluster's lists share: the words for a
 * table that is empty, unread or forbidden, and the part of a list on show.
 */
#ifndef TUI_PANEL_LIST_H
#define TUI_PANEL_LIST_H

#include "tui/app.h"

/* Nothing to list: why. True: said so. "none" is said after a list has come. */
bool panel_list_state(const struct app *a, struct rows *out, const struct table *t, int n, int w);
/* A section's forbidden list: which right is missing, and the rule to ask for. */
void panel_list_forbidden(const struct app *a, struct rows *out, const struct table *t, int w);
/* The rows of a list of n in h rows, so that the selected one is on show. */
int panel_list_top(const struct app *a, enum panel_id panel, int n, int h);
/* A count may stand on the screen: rows have come, or an empty list has. */
bool panel_list_known(const struct table *t, int n);
/* "Pods stu-07  3/9  sort: age  filter: x", as one. */
void panel_list_title(const struct list_view *v, const struct table *t, int n, int total,
                      struct str *out);
/* Cleaned, kept as long as the rows. */
const char *panel_list_clean(struct rows *out, const char *text);
/* Where panes have no border the title is a row of the list. */
bool panel_list_is_small(const struct app *a);
void panel_list_small(const struct app *a, struct rows *out,
                      const char *(*title)(const struct app *a, char buf[160]));
/* What is listed is old: a row says how old, of where, and when the next try is;
 * the rows after it are dimmed (out->dim). False: it is not. */
bool panel_list_stale(const struct app *a, struct rows *out, const struct table *t, int w);
/* Which right is missing, in one row. */
void panel_list_forbidden_row(const struct app *a, struct rows *out, const struct table *t, int w);
/* The same in words, "" when it is not old. t NULL: the link alone. */
const char *panel_list_stale_words(const struct app *a, const struct table *t, char buf[200]);
/* A run or a log that is not over is old while there is no link. */
bool panel_list_run_stale(const struct app *a);

#endif
