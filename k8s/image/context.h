/* context.h - a build context: the files below a folder that .dockerignore
 * leaves in. Paths are relative, "/" between parts, "" is the folder itself.
 * Symlinks named as a source are followed inside the context; symlinks met
 * below a folder stay symlinks.
 */
#ifndef K8S_IMAGE_CONTEXT_H
#define K8S_IMAGE_CONTEXT_H

#include "core/base/err.h"
#include "core/base/str.h"

#include <sys/stat.h>

struct context;

/* Reads DOCKERFILE.dockerignore when it is there, else DIR/.dockerignore. */
MUST_USE enum pd_code context_open(const char *dir, const char *dockerfile, struct context **out,
                                   struct pd_err *err);
/* A folder with nothing left out (an unpacked image). */
MUST_USE enum pd_code context_open_whole(const char *dir, struct context **out,
                                         struct pd_err *err);
void context_close(struct context *c);        /* NULL is fine */
int context_fd(const struct context *c);
const char *context_dir(const struct context *c);

/* The paths that a COPY source names, sorted: a path as it is, or what its
 * pattern (filepath.Match) finds. PD_IMAGE when there is nothing, with the
 * reason (ignored, outside, not there). */
MUST_USE enum pd_code context_find(const struct context *c, const char *source, struct strv *out,
                                   struct pd_err *err);
/* What a source path is, symlinks followed. */
MUST_USE enum pd_code context_stat(const struct context *c, const char *path, struct stat *st,
                                   struct pd_err *err);
/* Everything below a folder, folders before what is in them, names sorted; not
 * the folder itself. link: target of a symlink, else NULL. */
typedef enum pd_code context_fn(void *arg, const char *path, const struct stat *st,
                                const char *link, struct pd_err *err);
MUST_USE enum pd_code context_walk(const struct context *c, const char *path, context_fn *fn,
                                   void *arg, struct pd_err *err);

#endif
