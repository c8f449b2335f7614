/* walk.h - a training step taken apart, for people: what the trainer told in
 * its `walk` records (docs/RUNLOG.md) as headings, a sentence and the numbers,
 * one stage at a time. Pure: the panel shows these rows, and whoever reads line
 * by line gets the same text from rows_text.
 */
#ifndef TUI_WALK_H
#define TUI_WALK_H

#include "labs/session.h"
#include "tui/rows.h"

const char *walk_name(enum walk_stage stage);             /* "forward", in the language */
/* One stage in w columns. Nothing when the trainer has told none of it. */
void walk_rows(const struct run *r, enum walk_stage stage, struct rows *out, int w);
/* What then happened, when the step has been taken: one line beside what the
 * walk said. Nothing before. */
void walk_after(const struct run *r, struct rows *out, int w);

#endif
