/* watch_body.h - the bytes of a list's page or of a watch's stream, turned into
 * what the owner of a watch keeps (the handlers of watch.h).
 *
 * The state machine (watch.c) asks, waits, tries again and judges; this part
 * reads, and knows nothing of HTTP, time or retries. A page is page, feed…,
 * end; a stream is stream, feed…. Bytes come in any pieces, a piece may end
 * inside a line or a letter. What a stream leaves without its '\n' is dropped:
 * the resumed watch sends that event again.
 *
 * Only handlers.item and .event are called from here; begin, end and state
 * are the state machine's. A handler may stop the watch: the owner then sets
 * `halted`, and nothing more is handed out.
 */
#ifndef K8S_WATCH_BODY_H
#define K8S_WATCH_BODY_H

#include "core/base/lines.h"
#include "k8s/jlist.h"
#include "k8s/res.h"
#include "k8s/watch.h"

/* What the answer said of itself; reset by page and stream. */
struct watch_facts {
    char rv[64];          /* a page's own version; a stream's last event or bookmark: "" before */
    struct str next;      /* of a page: metadata.continue; "" at the last */
    uint64_t newest;      /* of a page: the highest resourceVersion among its objects; or 0 */
    int64_t count;        /* objects of the page; events of the stream, bookmarks among them */
    int64_t bookmarks;
    bool failed;          /* of a stream: an ERROR event came, `status` is its object as text */
    struct str status;
};

struct watch_body {
    struct watch_facts facts;
    bool halted;
    /* own to watch_body.c */
    const struct res *res;
    char *api_version;
    struct watch_handlers h;
    struct jlist list;
    struct lines lines;
    bool streaming, begun;
    struct pd_err err;
};

void watch_body_init(struct watch_body *b, const struct res *res, const struct watch_handlers *h);
void watch_body_release(struct watch_body *b);
/* What of an earlier page or stream was torn is forgotten. */
void watch_body_page(struct watch_body *b);
void watch_body_stream(struct watch_body *b);
/* Not PD_OK: this answer can't be used, say nothing more of it (the same error
 * is answered again if asked). facts.failed is no failure of feed. */
MUST_USE enum pd_code watch_body_feed(struct watch_body *b, const char *p, size_t n,
                                      struct pd_err *err);
/* A page is whole: PD_OK when it was a list of this resource and facts hold. */
MUST_USE enum pd_code watch_body_end(struct watch_body *b, struct pd_err *err);

#endif
