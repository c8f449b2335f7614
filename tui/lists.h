/* lists.h - the tables of the cluster that have a screen of their own: pods,
 * jobs, nodes, events; sorted, filtered, with the selection held by identity.
 *
 * What a person chose is state (struct list_view). The sorted rows are
 * remembered arithmetic, which follows a table row by row (tui/rowset.h).
 * Panels lay out the rows on show alone, so that a list of many thousands costs
 * a screenful.
 */
#ifndef TUI_LISTS_H
#define TUI_LISTS_H

#include "k8s/eventinfo.h"
#include "k8s/nodeinfo.h"
#include "k8s/podinfo.h"
#include "labs/session.h"

enum list_id { LIST_PODS, LIST_JOBS, LIST_NODES, LIST_EVENTS, LIST_COUNT };
enum list_sort { SORT_NAME, SORT_AGE, SORT_STATUS, SORT_NODE, SORT_COUNT };

struct list_view {
    char filter[96];                 /* text; "!text": rows without it */
    enum list_sort sort;
    bool reverse;
    bool only;                       /* events: warnings alone */
    char picked[160];                /* uid of the selected row; "" the first */
};

struct lists;                        /* the remembered rows */
/* base: a set that has read the same tables, and outlives this one; or NULL. */
struct lists *lists_new(struct lists *base);
void lists_free(struct lists *l);

struct lists_pods {
    struct podinfo *v;               /* podinfo_complete before more than names is read */
    const int *order;                /* indexes into v, as shown */
    int n, total;
};
struct lists_events {
    const struct eventinfo *v;
    const int *order;
    int n, total, warnings;
};
struct lists_nodes {
    const struct nodeinfo *v;
    const int *order;
    int n, total;
    bool part;                       /* only this namespace's pods were seen */
};
/* Read what has changed now, in the slice of the message that brought it. */
void lists_follow(struct lists *l, const struct session *s);
struct lists_pods lists_pods(struct lists *l, const struct session *s, const struct list_view *v);
struct lists_events lists_events(struct lists *l, const struct session *s,
                                 const struct list_view *v);
struct lists_nodes lists_nodes(struct lists *l, const struct session *s,
                               const struct list_view *v);

/* The next pod from *at (first 0) on that holds of a resource on a node; NULL: none. */
const struct json *lists_holder(struct lists *l, const struct session *s, const char *node,
                                const char *resource, int *at, int64_t *amount);
/* The object that an event (an index into v) was read from. */
const struct json *lists_event_object(const struct lists *l, int i);
/* The i-th pod shown, all of it read. */
const struct podinfo *lists_pod(const struct lists_pods *l, int i);
/* A remembered text about a pod, as long as the pod is the same and for some
 * seconds; NULL: none. lists_why_keep remembers one. */
const char *lists_why(const struct lists *l, const struct podinfo *p, int64_t now_ms);
void lists_why_keep(struct lists *l, const struct podinfo *p, int64_t now_ms, const char *text);

/* Does a row's text pass a filter? Case matters when the filter has capitals. */
bool lists_pass(const char *filter, const char *text);
const char *lists_sort_name(enum list_sort s);       /* gettext key */

#endif
