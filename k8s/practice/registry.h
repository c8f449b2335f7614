/* registry.h - the OCI registry of the practice cluster: the distribution API
 * below /v2/ on the same server, port and login as the Kubernetes API.
 *
 * Everybody the server knows (server_user) may read and write; others get 401
 * with a Basic challenge, which skopeo, docker and containerd answer with user
 * and token. Repositories come into being with their first push.
 *
 * On disk, below `dir`: blobs/sha256/HEX, and for each repository
 * repos/NAME/_blobs/HEX, _revisions/HEX (media type of a manifest) and
 * _tags/TAG (its digest). Whatever was acknowledged is synced and stays after
 * kill -9; open uploads do not survive it. Bodies are hashed and written piece
 * by piece as they come; syncing and renaming happen in a thread that does
 * nothing else, so that no callback waits for the disk.
 */
#ifndef K8S_PRACTICE_REGISTRY_H
#define K8S_PRACTICE_REGISTRY_H

#include "core/io/loop.h"
#include "k8s/practice/server.h"

struct registry;

/* Adds its routes ("/v2") to the server. The server must be stopped first. */
MUST_USE enum pd_code registry_start(struct loop *l, struct server *s, const char *dir,
                                     struct registry **out, struct pd_err *err);
void registry_stop(struct registry *r);           /* NULL is fine */

#endif
