/* logs_cmd.h - `podium logs`: the log of a pod as plain lines, with the options of
 * kubectl logs. Lines go to stdout, words about them (a restart, a gap, a broken
 * link) to stderr. On a terminal lines are cleaned; elsewhere they are the
 * container's own bytes.
 *
 * Exit codes: 0 done, 1 the log can't be had (any more), 2 usage.
 */
#ifndef K8S_LOGS_CMD_H
#define K8S_LOGS_CMD_H

#include "core/base/base.h"

/* argv[0] is "logs". */
int logs_cmd(int argc, char **argv);

#endif
