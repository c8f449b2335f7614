/* watch.h - list + watch of one resource that cannot go stale.
 *
 * Lists in pages of 500, then watches from the list's resourceVersion with
 * bookmarks, and resumes from the last version seen after a clean end. Lists
 * again on 410 (HTTP or in-stream), on any in-stream ERROR, and when two
 * watches in a row end at once with nothing in them. Failures wait 0.8 s
 * doubling to 30 s, with jitter, reset after 2 minutes of peace; a Retry-After
 * is kept. A line cut off by the end of the stream is dropped: the resumed
 * watch sends its event again.
 *
 * Objects handed out carry kind and apiVersion (lists leave them out) and no
 * metadata.managedFields.
 */
#ifndef K8S_WATCH_H
#define K8S_WATCH_H

#include "k8s/client.h"

struct watch;

enum watch_state { WATCH_LISTING, WATCH_LIVE, WATCH_RETRYING, WATCH_FORBIDDEN };
enum watch_type { WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED };

struct watch_spec {
    const char *res;                  /* "pods" (k8s/res.h names) */
    const char *ns;                   /* NULL: the connection's; "": all namespaces */
    const char *label_selector, *field_selector;     /* or NULL */
};

/* A list is begin, items, end; it replaces all that was before. `obj` is taken
 * (json_free) by the handler. */
struct watch_handlers {
    void (*begin)(void *arg);
    void (*item)(void *arg, struct json *obj);
    void (*end)(void *arg);
    void (*event)(void *arg, enum watch_type type, struct json *obj);
    /* err: why, for RETRYING and FORBIDDEN; next_ms: when the next try comes.
     * FORBIDDEN is tried again every 30 s. */
    void (*state)(void *arg, enum watch_state state, const struct pd_err *err, int64_t next_ms);
    void *arg;
};

/* Copies the spec. An unknown resource name is a PD_BUG. */
struct watch *watch_start(struct k8s *k, const struct watch_spec *spec,
                          const struct watch_handlers *h);
void watch_stop(struct watch *w);     /* no call follows; from inside a handler too */
void watch_retry_now(struct watch *w);
enum watch_state watch_state(const struct watch *w);
/* ms since the server last said something (list, event, bookmark); -1: never. */
int64_t watch_age_ms(const struct watch *w);
const char *watch_version(const struct watch *w);    /* last resourceVersion, "" before */
const char *watch_state_name(enum watch_state s);    /* "live" "retrying" "forbidden" "listing" */

#endif
