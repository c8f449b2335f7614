/* plain.h - the console as lines: for screen readers, dumb terminals, serial
 * lines and pipes.
 *
 * Lines are only ever appended: no escape sequence, no control byte but '\n', no
 * colour, no box, and none longer than the terminal is wide (72 columns where
 * there is none). The terminal stays in its line mode; a script may stand where
 * the person would. State, commands and effects are those of the console.
 */
#ifndef TUI_PLAIN_H
#define TUI_PLAIN_H

#include "tui/console.h"

/* Is it asked for (the setting plain), or is there nothing else to do here
 * (TERM=dumb, no terminal)? NULL: no. Else a sentence that says why, "" when it
 * was asked for. */
const char *plain_wanted(const struct console_options *o);
/* Runs until the person leaves or the input ends; `why` is said first. Returns
 * the exit code: 0; 1 when a script waited for what did not come; 128+N after
 * signal N. */
int plain_run(const struct console_options *o, const char *why);
/* Columns of a line: of the terminal, else $COLUMNS, else 72. */
int plain_width(void);

#endif
