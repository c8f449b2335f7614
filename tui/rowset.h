/* rowset.h - the rows of a table as a view wants them: read once a version,
 * sorted, filtered, and kept so by what changed (labs/table.h's log).
 *
 * Who owns the set keeps what it reads of a row in arrays of its own, indexed by
 * the row's number; an object is held as long as its row lives. A changed row is
 * read again and put where it belongs; a filter that grows by a letter looks at
 * the rows that passed before. Fifteen thousand rows are filtered anew in some
 * milliseconds, and a change among them costs some microseconds.
 */
#ifndef TUI_ROWSET_H
#define TUI_ROWSET_H

#include "labs/table.h"

struct rowset_kind {
    void (*room)(void *arg, size_t n);          /* numbers below n come */
    /* Read a row; true: it may stand elsewhere in an order now. obj is held by
     * the set until the row is read again; again: an older version was read. */
    bool (*take)(void *arg, int number, const struct json *obj, bool again);
    void (*gone)(void *arg, int number);                        /* or NULL */
    /* By a sort alone; 0 is the order that decides between equals. */
    int (*compare)(const void *arg, int sort, int a, int b);
    bool (*passes)(const void *arg, int number);                /* beside the filter; or NULL */
    void (*text)(void *arg, int number, char *buf, size_t size);/* what the filter looks at */
};

struct rowset_choice {
    int sort;
    bool reverse;
    const char *filter;              /* "!text": rows without it; case counts with capitals */
    bool only;                       /* passes is asked */
};

struct rowset {
    const int *shown;                /* numbers, as on show */
    int shown_n, n;                  /* n: all */
    /* own to rowset.c */
    const struct rowset_kind *kind;
    void *arg;
    const void *of;
    uint64_t at;
    struct json **held;
    char **lower;                    /* the filter's text without capitals; or NULL */
    uint8_t *flags;
    size_t cap;
    int *order[2], *show, *moved;    /* [0]: sort 0, [1]: the sort of the choice */
    int sort, moved_n;
    bool reverse, only, stale, ready;
    char filter[96];
};

/* ready: the texts for a filter are made as rows come, not with its first letter. */
void rowset_init(struct rowset *r, const struct rowset_kind *kind, void *arg, bool ready);
void rowset_release(struct rowset *r);
/* Follow the table. Cheap when nothing changed. */
void rowset_follow(struct rowset *r, const struct table *t);
/* Then: the rows of a choice. */
void rowset_choose(struct rowset *r, const struct rowset_choice *c);
/* Does a text pass a filter? */
bool rowset_pass(const char *filter, const char *text);

#endif
