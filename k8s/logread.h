/* logread.h - the lines of one run of a container out of any number of answers
 * to "give me its log": each line once and in order, however often the stream
 * broke. Pure: bytes in, lines out.
 *
 * The lines of the last seconds are remembered as (time stamp, hash). A new
 * answer asks from logread_since, so it begins with lines that were handed out
 * already, in the same order: they are laid over what is remembered. So lines
 * of one nanosecond, equal lines on purpose, and stamps that go back a little
 * (stdout and stderr are stamped apart) are told from lines that come again.
 */
#ifndef K8S_LOGREAD_H
#define K8S_LOGREAD_H

#include "core/base/lines.h"

enum { LOGREAD_LINE_MAX = 1 << 20, LOGREAD_STAMP = 40 };

struct logread_handlers {
    /* ts_ns: Unix time in ns, 0 when the line had none. text: raw bytes of the
     * container, NUL-terminated, without '\n'; cut: longer than 1 MiB. */
    void (*line)(void *arg, int64_t ts_ns, const char *text, size_t n, bool cut);
    /* The last line handed out is no longer there: between the two stamps lines
     * may be missing. Called before the first line that is left. */
    void (*gap)(void *arg, const char *from, const char *to);
    /* The kubelet's own words in place of log lines ("failed to create fsnotify
     * watcher: too many open files"). */
    void (*words)(void *arg, const char *text);
    void *arg;
};

struct logread_line {
    int64_t ns;
    uint64_t hash;
};

struct logread {
    struct logread_handlers h;
    struct lines lines;
    struct logread_line *ring;       /* the newest lines handed out, oldest first */
    size_t start, n, cap;
    int64_t newest, forgotten;       /* largest stamp; the largest of those dropped, 0: none */
    char last[LOGREAD_STAMP];        /* stamp of the line handed out last */
    size_t seen;                     /* of the ring: laid over by the present answer */
    bool resuming, stopped;
    struct str held;                 /* lines that may be new, until it is known */
    size_t fresh;                    /* lines of the present answer that were new */
    uint64_t rest, rest_before;      /* hash of what stood without its '\n' at the end */
    uint64_t total;                  /* lines handed out ever */
    int64_t only_from;               /* older lines are not wanted, 0: all */
};

void logread_init(struct logread *r, const struct logread_handlers *h);
void logread_release(struct logread *r);
/* The lines that follow are of another run: nothing of them was seen. */
void logread_forget(struct logread *r);
/* Unix second to ask from, -1 when nothing was handed out yet. */
int64_t logread_since(const struct logread *r);
void logread_begin(struct logread *r);               /* an answer begins */
void logread_feed(struct logread *r, const char *data, size_t n);
/* The answer ended without an error. True when it only said again what was
 * known, to its very end: nothing more is there. */
bool logread_end(struct logread *r);
/* Is there half a line, with a stamp, that another answer could tell whole? */
bool logread_torn(const struct logread *r);
/* Hand out what stands without its '\n': nothing more will come. */
void logread_flush(struct logread *r);
/* From within a handler: hand out nothing more. */
void logread_stop(struct logread *r);

#endif
