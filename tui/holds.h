/* holds.h - who holds what on which node, following a table of pods row by row. */
#ifndef TUI_HOLDS_H
#define TUI_HOLDS_H

#include "k8s/nodesums.h"
#include "tui/rowset.h"

struct holds {
    struct rowset rows;
    struct nodesums_ask *ask;        /* by the row's number */
    struct nodesums *sums;
};

void holds_init(struct holds *h);
void holds_release(struct holds *h);
void holds_follow(struct holds *h, const struct table *pods);
/* The next pod from row *at on that holds of a resource on a node; NULL: none. */
const struct json *holds_next(const struct holds *h, const char *node, const char *resource,
                              int *at, int64_t *amount);

#endif
