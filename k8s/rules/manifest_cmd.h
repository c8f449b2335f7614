/* manifest_cmd.h - `podium apply`, `podium diff`, `podium delete`: manifests and a
 * cluster.
 *
 *   podium apply  -f FILE|FOLDER|- [-n NS] [--dry-run] [--force-conflicts] [--no-check] [--json]
 *   podium diff   -f FILE|FOLDER|- [-n NS] [--json]
 *   podium delete -f FILE|FOLDER|- | KIND/NAME [--uid UID] [--cascade MODE] [--grace S]
 *                 [--no-wait] [--ignore-not-found] [--json]
 *
 * Exit codes: 0 done, 1 refused or failed (diff: there is a difference), 2 usage, 3 no
 * cluster or a file can't be read (diff: 2 and 3, as kubectl: more than 1).
 */
#ifndef K8S_RULES_MANIFEST_CMD_H
#define K8S_RULES_MANIFEST_CMD_H

#include "core/base/base.h"

int manifest_cmd_apply(int argc, char **argv);
int manifest_cmd_diff(int argc, char **argv);
int manifest_cmd_delete(int argc, char **argv);

#endif
