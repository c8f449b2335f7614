/* layer_reader.h - one layer blob as a tar of entries: decompressed (gzip,
 * zstd or none) and both digests verified on the way.
 */
#ifndef K8S_IMAGE_LAYER_READER_H
#define K8S_IMAGE_LAYER_READER_H

#include "core/base/err.h"

#include <locale.h>

struct archive_entry;                 /* libarchive's */
struct layer_reader;

MUST_USE enum pd_code layer_reader_open(const char *path, struct layer_reader **out,
                                        struct pd_err *err);
/* The next entry (borrowed); *entry is NULL at the end. */
MUST_USE enum pd_code layer_reader_next(struct layer_reader *r, struct archive_entry **entry,
                                        struct pd_err *err);
/* The entry's data: next block, *n 0 at its end; holes give an offset jump. */
MUST_USE enum pd_code layer_reader_data(struct layer_reader *r, const void **p, size_t *n,
                                        int64_t *offset, struct pd_err *err);
/* Read to the end of the blob and compare (NULL: not compared). */
MUST_USE enum pd_code layer_reader_finish(struct layer_reader *r, const char *digest,
                                          const char *diff_id, struct pd_err *err);
void layer_reader_close(struct layer_reader *r);      /* NULL is fine */

/* The entry's name inside the root: no leading "/", no "." or empty parts, ".."
 * resolved as in a root ("/../a" is "a"). "" is the root itself. Caller frees. */
char *layer_reader_clean(const char *name);
/* "dir/.wh.name" -> kind, and *target "dir/name" or "dir" (caller frees). */
enum whiteout { WHITEOUT_NONE, WHITEOUT_NAME, WHITEOUT_OPAQUE };
enum whiteout layer_reader_whiteout(const char *path, char **target);

/* libarchive converts names by the thread's locale: UTF-8 between these two. */
locale_t layer_locale_enter(void);
void layer_locale_leave(locale_t old);

#endif
