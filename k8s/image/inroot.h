/* inroot.h - opening names below a folder as a container would see them: the
 * folder is "/", symlinks and ".." never lead out of it (openat2 with
 * RESOLVE_IN_ROOT; Linux 5.6).
 */
#ifndef K8S_IMAGE_INROOT_H
#define K8S_IMAGE_INROOT_H

#include "core/base/err.h"

/* As openat below root; -1 with errno (ENOSYS: the kernel is too old). */
int inroot_open(int root, const char *path, int flags, int mode);
/* The folder that holds the last part of path, opened with O_PATH, and that
 * part in *name (borrowed from path; it has no "/" in it). Missing folders are
 * made (0755) when make. path has no "//", no leading "/" and no "." parts;
 * its last part is not "..". -1 with errno. */
int inroot_parent(int root, const char *path, bool make, const char **name);
/* Is the kernel able? Else PD_UNSUPPORTED. */
MUST_USE enum pd_code inroot_check(struct pd_err *err);

#endif
