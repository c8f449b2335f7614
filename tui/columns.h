/* columns.h - the columns of a table: as many as have room, the less important
 * ones go first; what is left over goes to the first column, then to the last.
 */
#ifndef TUI_COLUMNS_H
#define TUI_COLUMNS_H

#include "tui/rows.h"

struct column {
    const char *head;                /* translated */
    int least, want;                 /* columns it needs, and can use */
    int worth;                       /* the lowest goes first */
    bool right;
    int width;                       /* out; 0: it is not shown */
};

/* Widths for w columns in all, one blank between; worth >= 100 never goes. */
void columns_fit(struct column *c, int n, int w);
void columns_heads(const struct column *c, int n, struct rows *out);
/* The cell of column i of a row that was begun; cut in the middle when `middle`. */
void columns_cell(const struct column *c, int i, struct rows *out, enum role role,
                  const char *text, bool middle);

#endif
