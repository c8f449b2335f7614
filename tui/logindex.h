/* logindex.h - which lines of the shown log pass the filter, and which of those
 * have the text searched for. Remembered arithmetic: new lines are looked at
 * once; a longer needle is looked for in the hits of the shorter one.
 *
 * Lines are named by their number since the log was opened (0 the first ever),
 * which does not change when old ones are dropped.
 */
#ifndef TUI_LOGINDEX_H
#define TUI_LOGINDEX_H

#include "labs/session.h"

struct logindex_set {
    uint64_t *v;                     /* numbers, rising; v[from..n) are still there */
    size_t from, n, cap;
};

struct logindex {
    uint64_t serial, next;           /* of which log; the first line not looked at */
    char filter[128], find[128];
    struct logindex_set kept, hits;  /* kept: used with a filter only */
    /* What a person sees of a line, when that is not its text: false. NULL: always
     * its text. */
    bool (*shown)(const struct log_line *l, struct str *out);
};

void logindex_release(struct logindex *x);
/* Bring it up to date. filter, find: "" none; filter "!text": lines without. */
void logindex_update(struct logindex *x, const struct session *s, const char *filter,
                     const char *find);
/* Lines on show, by place 0.. from the oldest. */
size_t logindex_count(const struct logindex *x, const struct session *s);
uint64_t logindex_line(const struct logindex *x, const struct session *s, size_t place);
/* The place of a line, or of the next one on show; count when there is none. */
size_t logindex_place(const struct logindex *x, const struct session *s, uint64_t line);
/* The line itself; NULL: dropped. */
const struct log_line *logindex_text(const struct session *s, uint64_t line);
size_t logindex_hits(const struct logindex *x);
/* How many hits come before this line, and is it one? */
size_t logindex_hit_place(const struct logindex *x, uint64_t line, bool *hit);
uint64_t logindex_hit(const struct logindex *x, size_t place);
/* The first match in text, NULL: none. Case matters when the needle has capitals. */
const char *logindex_match(const char *text, const char *needle);
/* Does what is seen of the line have the needle? */
bool logindex_has(const struct logindex *x, const struct log_line *l, const char *needle);

#endif
