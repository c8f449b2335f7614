/* lab_cmd.h - `podium lab …`: the lab engine without a screen.
 *
 *   podium lab list [--json]
 *   podium lab lint FILE|DIR...
 *   podium lab run ID --headless [--json] [--keep] [--set STEP:FILE:FIND=>PUT]...
 *                  [--until STEP] [--timeout SECONDS]
 *                  [--kubeconfig F] [--context C] [--namespace N]
 *   podium lab reset ID
 *
 * The commands go through session_apply and the same effects as keys do. Exit
 * codes: 0 done, 1 not yet or failed, 2 usage, 3 can't be checked here.
 */
#ifndef LABS_LAB_CMD_H
#define LABS_LAB_CMD_H

#include "core/base/base.h"

/* argv[0] is "lab". Writes to stdout and stderr; returns the exit code. */
int lab_cmd(int argc, char **argv);
extern const char lab_cmd_help[];

#endif
