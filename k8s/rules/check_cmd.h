/* check_cmd.h - `podium check`: what is wrong with manifests, without a cluster.
 *
 *   podium check -f FILE|FOLDER|- [-n NAMESPACE] [--json] [--lang en|zh]
 *
 * Exit codes: 0 no errors, 1 errors, 2 usage, 3 a file can't be read.
 */
#ifndef K8S_RULES_CHECK_CMD_H
#define K8S_RULES_CHECK_CMD_H

#include "core/base/base.h"

/* argv[0] is "check". Writes to stdout and stderr; returns the exit code. */
int check_cmd(int argc, char **argv);

#endif
