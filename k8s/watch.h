/* watch.h - list + watch of one resource that cannot go stale.
 *
 * Lists in pages of 500, then watches from the list's resourceVersion with
 * bookmarks, and resumes from the last version seen after a clean end. Lists
 * again on 410 (HTTP or in-stream), on most in-stream ERRORs, when two watches
 * in a row end at once with nothing in them, when versions go backwards, and
 * after an outage (another server may answer). Failures wait 0.8 s doubling to
 * 30 s, with jitter, reset after 2 good minutes; a Retry-After is kept. A line
 * cut off by the end of the stream is dropped: the resumed watch sends its
 * event again.
 *
 * A stream that says nothing for longer than bookmarks take is QUIET, then
 * ended, and a list tells whether it held changes back. Where a watch is
 * forbidden, ends at once or holds changes back twice, the list is read every
 * watch_poll_ms instead (POLLING), and a watch tried again every 5 minutes.
 *
 * Objects handed out carry kind and apiVersion (lists leave them out) and no
 * metadata.managedFields.
 */
#ifndef K8S_WATCH_H
#define K8S_WATCH_H

#include "k8s/client.h"

struct watch;

enum watch_state { WATCH_LISTING, WATCH_LIVE, WATCH_RETRYING, WATCH_FORBIDDEN, WATCH_QUIET,
                   WATCH_POLLING };
enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED };

struct watch_spec {
    const char *res;                  /* "pods" (k8s/res.h names) */
    const char *ns;                   /* NULL: the connection's; "": all namespaces */
    const char *label_selector, *field_selector;     /* or NULL */
};

/* A list is begin, items, end; it replaces all that was before. A begin without
 * its end is void when the next begin comes. `obj` is taken (json_free) by the
 * handler. */
struct watch_handlers {
    void (*begin)(void *arg);
    void (*item)(void *arg, struct json *obj);
    void (*end)(void *arg);
    void (*event)(void *arg, enum watch_type type, struct json *obj);
    /* err: why, for RETRYING, FORBIDDEN and POLLING; next_ms: when the next try
     * or reading comes. FORBIDDEN is tried again every 30-40 s. */
    void (*state)(void *arg, enum watch_state state, const struct pd_err *err, int64_t next_ms);
    void *arg;
};

/* Copies the spec. An unknown resource name is a PD_BUG. */
struct watch *watch_start(struct k8s *k, const struct watch_spec *spec,
                          const struct watch_handlers *h);
void watch_stop(struct watch *w);     /* no call follows; from inside a handler too */
void watch_retry_now(struct watch *w);
enum watch_state watch_state(const struct watch *w);
/* ms since the view was last known to be as the server has it (a whole list, an
 * event, a bookmark, a watch let in); -1: never. */
int64_t watch_age_ms(const struct watch *w);
int64_t watch_next_ms(const struct watch *w);        /* to the next try; 0: it is on its way */
int64_t watch_poll_ms(const struct watch *w);        /* POLLING: how often; else 0 */
const char *watch_version(const struct watch *w);    /* last resourceVersion, "" before */
const char *watch_state_name(enum watch_state s);    /* "live", "polling", … */

#endif
