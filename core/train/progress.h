/* progress.h - a training's records as a person reads them.
 *
 * On a terminal the run is one line that is drawn anew after each update, with
 * lines above it for what stays (validation, checkpoints, warnings):
 *
 *   [#########---------------]  42/200  loss 1.234  450 tok/s  312 MB  3:12 left
 *
 * `plain` writes a line for each update instead and no control characters. In a
 * pipe there is no progress: the records themselves are the log (docs/RUNLOG.md).
 * What does not fit the width is left out, the least telling first; nothing is
 * allocated.
 */
#ifndef CORE_TRAIN_PROGRESS_H
#define CORE_TRAIN_PROGRESS_H

#include "core/base/err.h"

enum progress_mode { PROGRESS_JSON, PROGRESS_BAR, PROGRESS_PLAIN };

struct progress {
    enum progress_mode mode;
    int fd;
    int64_t steps, first;         /* of the run; done before this process */
    int64_t start_us, drawn_us;
    bool drawn;                   /* a line without its end stands on the terminal */
    bool failed;                  /* nobody reads any more */
};

/* name: "json", "bar", "plain"; NULL or "auto" by what fd is: a terminal gets
 * the bar (plain when TERM is dumb or unset), all else json. */
MUST_USE enum pd_code progress_choose(const char *name, int fd, enum progress_mode *out,
                                      struct pd_err *err);
void progress_init(struct progress *p, enum progress_mode mode, int fd);
/* A whole record (core/base/runlog.h) of n bytes. */
void progress_record(struct progress *p, const char *line, size_t n);

/* What the drawn line tells of. Unknown numbers are NaN, or 0 for bytes. */
struct progress_view {
    int64_t step, steps;
    double loss, tok_s, left_s;
    size_t bytes;
};
/* The line for a terminal of `width` columns, into buf; returns buf. */
const char *progress_line(const struct progress_view *v, int width, char *buf, size_t size);
/* "3:12", "1:02:33", "2 d 3 h". */
const char *progress_time(double seconds, char *buf, size_t size);
/* "312 MB", "1.4 GB" (powers of ten). */
const char *progress_bytes(size_t bytes, char *buf, size_t size);

#endif
