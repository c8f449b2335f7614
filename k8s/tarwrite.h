/* tarwrite.h - a file or folder of this machine as a tar stream, made piece by
 * piece: plain files, folders, and links that stay inside; ustar with pax
 * records where names or sizes are too long for it.
 *
 * The plan is made first (a walk), so that its size is known and a stream can
 * begin at any of its entries.
 */
#ifndef K8S_TARWRITE_H
#define K8S_TARWRITE_H

#include "core/base/err.h"
#include "core/base/str.h"

struct tarwrite_entry {
    char *path;                          /* in the archive */
    char *from;                          /* on this machine */
    char *link;                          /* target of a link, else NULL */
    char type;                           /* '0' '5' '2' */
    int mode;
    int64_t size, mtime;
    char sha256[65];                     /* of a file, once it was read whole */
};

struct tarwrite {
    struct tarwrite_entry *v;
    size_t n, cap;
    int64_t bytes;                       /* of all files */
    struct strv left_out;                /* sentences: what was not taken, and why */
    /* the stream */
    size_t at;                           /* entry in hand */
    int fd;
    int64_t left;                        /* of its content */
    struct str buf;
    void *digest;
    bool ended;
};

/* A link at `path` (FOLDER/…/NAME) to target stays inside FOLDER. */
bool tarwrite_link_stays(const char *path, const char *target);
/* Walk `from`; it is called `name` in the archive. */
MUST_USE enum pd_code tarwrite_plan(struct tarwrite *t, const char *from, const char *name,
                                    struct pd_err *err);
void tarwrite_release(struct tarwrite *t);
/* Begin the stream at an entry; its length in bytes, the end's zeros included. */
int64_t tarwrite_begin(struct tarwrite *t, size_t entry);
/* The next bytes, at most about 64 KiB; *n 0: the end. They hold until the next call. */
MUST_USE enum pd_code tarwrite_next(struct tarwrite *t, const char **p, size_t *n,
                                    struct pd_err *err);

#endif
