/* copy.h - copy out of a container: a command that writes a tar to stdout
 * (podium-train tar DIR, or tar cf - DIR) is unpacked into a folder as it
 * comes.
 *
 * ustar, pax (path, size, linkpath) and GNU long names. Only plain files and
 * folders are made; a member whose path leaves the folder (absolute, "..") or
 * that is a link or device ends the copy with PD_IO (links: see untar_lenient).
 * Each file appears under its name only when it is whole; those that were stay. A
 * link that breaks begins again, three times.
 */
#ifndef K8S_COPY_H
#define K8S_COPY_H

#include "k8s/exec.h"

struct copy;

struct copy_spec {
    const char *ns, *pod, *container;
    char *const *argv;                   /* the command in the container */
    const char *to;                      /* folder; made when missing */
};

struct copy_handlers {
    /* done: bytes of the stream so far; total: of the current file; path: its name. */
    void (*progress)(void *arg, int64_t done, int64_t total, const char *path);
    void (*file)(void *arg, const char *path, int64_t size, const char *sha256);
    /* Last call. sha256: of the whole stream, hex; files: how many came. */
    void (*done)(void *arg, const char *sha256, int files, const struct pd_err *err);
    void *arg;
};

struct copy *copy_start(struct k8s *k, const struct copy_spec *spec, const struct copy_handlers *h);
void copy_cancel(struct copy *c);        /* no call follows */

/* The tar reader itself: feed bytes, files appear below `to`. */
struct untar;
struct untar *untar_new(const char *to, void (*file)(void *arg, const char *path, int64_t size,
                                                     const char *sha256), void *arg);
void untar_free(struct untar *u);        /* an unfinished file is removed */
/* Member `from` becomes file_to, or, being a folder, dir_to; FROM/x becomes dir_to/x.
 * from "": everything comes below dir_to. Paths relative to `to`. */
void untar_map(struct untar *u, const char *from, const char *file_to, const char *dir_to);
/* Links that stay inside the folder are made; what else is no plain file is left
 * out, said by `left_out` in a sentence, instead of ending it all. */
void untar_lenient(struct untar *u, void (*left_out)(void *arg, const char *text));
MUST_USE enum pd_code untar_feed(struct untar *u, const void *p, size_t n, struct pd_err *err);
MUST_USE enum pd_code untar_end(struct untar *u, struct pd_err *err);    /* cut short: error */
const char *untar_path(const struct untar *u, int64_t *size);            /* of the current file */
void untar_sha256(struct untar *u, char hex[65]);                        /* of all bytes fed */

#endif
