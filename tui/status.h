/* status.h - `podium status [LAB]`: how things stand, in lines, once. Nothing is
 * changed: no file, no object.
 *
 * Exit code: 0 the cluster answers and nothing is wrong; 1 a check is WRONG or
 * the run has failed; 2 usage; 3 the cluster can't be reached.
 */
#ifndef TUI_STATUS_H
#define TUI_STATUS_H

#include "tui/console.h"

/* argv[0] is "status". */
int status_main(int argc, char **argv, const struct console_options *o);

#endif
