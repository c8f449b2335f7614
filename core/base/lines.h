/* lines.h - bytes in, lines out: shared by watch, pod log and child pipes.
 *
 * A line ends at '\n' (a '\r' before it is dropped). A line longer than the
 * ceiling is delivered cut, with cut = true, and the rest of it is skipped.
 * Lines are NUL-terminated and borrowed for the length of the callback.
 */
#ifndef CORE_BASE_LINES_H
#define CORE_BASE_LINES_H

#include "core/base/str.h"

typedef void lines_fn(void *arg, char *line, size_t len, bool cut);

struct lines {
    struct str buf;
    size_t ceiling;
    bool skipping;
};

void lines_init(struct lines *l, size_t ceiling);
void lines_release(struct lines *l);
void lines_feed(struct lines *l, const char *data, size_t n, lines_fn *fn, void *arg);
/* Deliver what stands without its '\n' (end of stream). */
void lines_end(struct lines *l, lines_fn *fn, void *arg);

#endif
