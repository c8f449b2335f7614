/* diagnose_cmd.h - `podium diagnose`: why a Pod or a Job is not doing well.
 *
 *   podium diagnose pod/NAME | job/NAME [-n NAMESPACE] [--context C] [--kubeconfig F]
 *                   [--json] [--lang en|zh]
 *   podium diagnose -f FOLDER [--json]
 *
 * Exit codes: 0 nothing is wrong, 1 a cause was found, 2 usage, 3 it can't be told
 * or the object can't be had.
 */
#ifndef K8S_EXPLAIN_DIAGNOSE_CMD_H
#define K8S_EXPLAIN_DIAGNOSE_CMD_H

#include "core/base/base.h"

/* argv[0] is "diagnose". Writes to stdout and stderr; returns the exit code. */
int diagnose_cmd(int argc, char **argv);

#endif
