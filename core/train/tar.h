/* tar.h - a folder as a tar stream, the same bytes for the same content.
 *
 * POSIX ustar with pax records where a name, link or size does not fit.
 * A folder comes before its entries, and these are sorted by name (bytes).
 * Owner 0:0 without names, modes 0755 for folders and executable files, else
 * 0644, one time for all. Regular files, folders and symbolic links; anything
 * else is an error. A file that changes its size while it is read is an
 * error, not a broken archive.
 */
#ifndef CORE_TRAIN_TAR_H
#define CORE_TRAIN_TAR_H

#include "core/base/err.h"

/* Write the content of `dir` (names relative to it; a regular file: that
 * file alone) to fd. mtime: seconds for every entry. */
MUST_USE enum pd_code tar_write(const char *dir, int fd, int64_t mtime, struct pd_err *err);

#endif
