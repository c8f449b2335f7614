/* answer.h - what the trainer answered on the control channel, for people: one
 * sentence an answer, and the norms or the tensor's corner as a table.
 * The records are described in docs/RUNLOG.md.
 */
#ifndef TUI_ANSWER_H
#define TUI_ANSWER_H

#include "core/base/runlog.h"
#include "tui/rows.h"

/* What an answer is: a sentence, or a sentence and a table, or a step taken apart
 * (tui/walk.h). */
enum answer_kind { ANSWER_NONE, ANSWER_SAYS, ANSWER_SHOWS, ANSWER_WALKS };

/* The sentence of a record's line ("paused at step 37") to out. */
enum answer_kind answer_say(const char *line, struct str *out);
void answer_sentence(const struct run_record *r, struct str *out);
/* The table of an inspect, in at most h rows of w columns; what does not fit is
 * counted. False: the line shows nothing. */
bool answer_rows(const char *line, struct rows *out, int w, int h);

#endif
