/* path.h - places in the file system: XDG folders, atomic writes, small files.
 *
 * podium keeps its state in $XDG_STATE_HOME/podium (default ~/.local/state),
 * data in $XDG_DATA_HOME/podium, configuration in $XDG_CONFIG_HOME/podium,
 * caches in $XDG_CACHE_HOME/podium and sockets in $XDG_RUNTIME_DIR/podium
 * (default: below the state folder). Folders are made 0700.
 */
#ifndef CORE_BASE_PATH_H
#define CORE_BASE_PATH_H

#include "core/base/err.h"
#include "core/base/str.h"

enum path_home { PATH_STATE, PATH_DATA, PATH_CONFIG, PATH_CACHE, PATH_RUNTIME };

/* "<home>/<rel>" (rel may be ""); the folder above is made. Caller frees. */
char *path_home(enum path_home which, const char *rel);
char *path_join(const char *dir, const char *rel);           /* caller frees */
char *path_dir(const char *path);                            /* caller frees */
const char *path_base(const char *path);                     /* borrowed */
/* The folder of the running program, and a file that ships with podium
 * ("labs/content", "themes"): next to the program, in ../share/podium, or in
 * the source tree it was built from. NULL when nowhere. Caller frees. */
char *path_program_dir(void);
char *path_shipped(const char *rel);

MUST_USE enum pd_code path_mkdirs(const char *path, int mode, struct pd_err *err);
MUST_USE enum pd_code path_read(const char *path, size_t ceiling, struct str *out,
                                struct pd_err *err);
/* What was made or renamed in the folder is on the disk; a file system that can't tell
 * is believed. */
MUST_USE enum pd_code path_sync_dir(const char *dir, struct pd_err *err);
/* Write to a temporary file beside it, fsync, rename, fsync the folder. */
MUST_USE enum pd_code path_write_atomic(const char *path, int mode, const void *data, size_t n,
                                        struct pd_err *err);
/* Never follows links. */
MUST_USE enum pd_code path_remove_tree(const char *path, struct pd_err *err);
/* True when rel stays inside: no "..", not absolute, not empty. */
bool path_inside(const char *rel);

#endif
