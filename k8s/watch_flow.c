/* watch_flow.c - the rules of a watch (watch_flow.h). */
#include "k8s/watch_flow.h"

#include "core/base/i18n.h"

enum { BACKOFF_MIN = 800, BACKOFF_MAX = 30000, PEACE_MS = 120000 };
enum { SHORT_MS = 1000,          /* a stream that ends sooner ended at once */
       LIVED_MS = 20000,         /* a stream that breaks later was a good one */
       EMPTY_MAX = 2, EMPTY_POLL = 4, EMPTY_WAIT_MS = 10000 };
enum { FIRST_BYTE_MS = 60000, STALL_MS = 30000,            /* of a list */
       HEAD_QUIET_MS = 3000, HEAD_MS = 15000,              /* until a watch is let in */
       QUIET_MS = 80000, SILENT_MS = 100000,               /* bookmarks come every 45-75 s */
       SILENT_TWICE_MS = 30000, SILENT_MAX_MS = 400000, PROOF_MS = 30000,
       CHECK_MIN_MS = 100 };
enum { POLL_MIN_MS = 10000, POLL_MAX_MS = 300000, POLL_SHARE = 20,
       REWATCH_MS = 300000, FORBIDDEN_MS = 30000, AUTH_MS = 5000, ABSENT_MS = 30000 };
enum { OUTAGE_MS = 30000, AUDIT_MS = 30 * 60000, AUDIT_BIG_MS = 6 * 3600000, SMALL = 2000 };
enum { WATCH_S = 300, PAGES_MAX = 20000, FAILS_MAX = 3 };

void watch_flow_init(struct watch_flow *f, unsigned seed)
{
    memset(f, 0, sizeof *f);
    str_init(&f->token, 64 << 10);
    f->seed = seed | 1u;
    f->begin = true;
    f->heard_ms = f->last_total = -1;
    f->state = WATCH_RETRYING;
    f->limit_ms = SILENT_MS;
}

void watch_flow_release(struct watch_flow *f)
{
    str_release(&f->token);
}

/* --- helpers --- */

static int64_t chance(struct watch_flow *f, int64_t below)
{
    f->seed = f->seed * 1103515245u + 12345u;
    return (int64_t)(f->seed >> 8) % below;
}

/* 0.8 s doubling to 30 s, plus up to as much again; two good minutes reset it. */
static int64_t backoff(struct watch_flow *f, int64_t now)
{
    if (f->live_ms && now - f->live_ms >= PEACE_MS)
        f->backoff_ms = 0;
    f->live_ms = 0;
    f->backoff_ms = f->backoff_ms ? MIN(2 * f->backoff_ms, BACKOFF_MAX) : BACKOFF_MIN;
    int64_t ms = f->backoff_ms + chance(f, f->backoff_ms);
    return MIN(ms, BACKOFF_MAX);
}

static void from_start(struct watch_flow *f)
{
    f->rv[0] = '\0';
    str_clear(&f->token);
    f->begin = true;
    f->step = FLOW_LIST;
}

static void resume(struct watch_flow *f)
{
    f->step = *f->rv ? FLOW_WATCH : FLOW_LIST;
}

static void wait_for(struct watch_flow *f, int64_t ms)
{
    f->wait_ms = ms;
    f->firm = false;
}

static void trouble(struct watch_flow *f, int64_t now, const struct pd_err *err, int64_t at_least)
{
    int64_t ms = backoff(f, now);
    wait_for(f, MAX(ms, at_least));
    f->err = *err;
    f->state = WATCH_RETRYING;
    f->suspect = false;
}

/* The list is read again and again, since a watch is not to be had. */
static void poll_instead(struct watch_flow *f, int64_t now, const struct pd_err *why)
{
    int64_t ms = MIN(MAX(POLL_SHARE * f->list_ms, POLL_MIN_MS), POLL_MAX_MS);
    f->poll_ms = ms;
    f->rewatch_ms = now + REWATCH_MS;
    f->err = f->poll_why = *why;
    f->state = WATCH_POLLING;
    f->suspect = false;
    from_start(f);
    wait_for(f, now - f->listed_ms >= ms ? 0 : ms);
}

/* -1, 0, 1; 0 too when they are no numbers. */
static int compare(const char *a, const char *b)
{
    int64_t x, y;
    if (!str_to_i64(a, &x) || !str_to_i64(b, &y))
        return 0;
    return (x > y) - (x < y);
}

/* The rows are the server's as of now. */
static void in_step(struct watch_flow *f, int64_t now)
{
    f->heard_ms = f->byte_ms = now;
    f->outage_ms = 0;
    f->bytes = true;
}

/* --- a request --- */

/* After an outage the server may be another, or an older one: a list tells.
 * One of many thousand objects is not read for that. */
static bool doubtful(const struct watch_flow *f, int64_t now)
{
    return f->outage_ms && now - f->outage_ms >= OUTAGE_MS && f->last_total <= SMALL;
}

void watch_flow_send(struct watch_flow *f, int64_t now)
{
    if (f->step == FLOW_WATCH && doubtful(f, now))
        from_start(f);
    f->opened_ms = now;
    f->wait_ms = 0;
    f->firm = f->head = f->bytes = false;
    f->seen = 0;
    if (f->step == FLOW_WATCH) {
        f->timeout_s = WATCH_S + (int)chance(f, WATCH_S);
        return;
    }
    if (!f->begin)
        return;
    f->pages = f->total = 0;
    f->newest = 0;
    f->list_began_ms = now;
    if (f->state != WATCH_POLLING && !f->suspect) {
        f->state = WATCH_LISTING;
        f->err.code = PD_OK;
    }
}

void watch_flow_head(struct watch_flow *f, int64_t now)
{
    in_step(f, now);
    f->head = true;
    f->headless = f->fails = 0;
    f->fresh_link = false;
    f->poll_ms = 0;
    f->live_ms = f->live_ms ? f->live_ms : now;
    f->state = WATCH_LIVE;
    f->err.code = PD_OK;
}

void watch_flow_bytes(struct watch_flow *f, int64_t now)
{
    f->byte_ms = now;
    f->bytes = true;
}

bool watch_flow_events(struct watch_flow *f, int64_t now, const struct watch_facts *facts,
                       struct pd_err *err)
{
    in_step(f, now);
    if (facts->count > f->seen) {
        f->seen = facts->count;
        f->empty = f->gone = 0;
        f->moved |= facts->count > facts->bookmarks;
        if (now - f->opened_ms >= PROOF_MS) {
            f->hidden = 0;
            f->limit_ms = SILENT_MS;
        }
    }
    if (f->state == WATCH_QUIET)
        f->state = WATCH_LIVE;
    if (!facts->rv[0])
        return true;
    if (compare(facts->rv, f->rv) < 0) {
        pd_fail(err, PD_GONE, _("the server went back from version %s to %s: it was restored"),
                f->rv, facts->rv);
        return false;
    }
    str_copy(f->rv, sizeof f->rv, facts->rv);
    return true;
}

static int64_t silence(const struct watch_flow *f, int64_t now)
{
    return now - (f->bytes ? f->byte_ms : f->opened_ms);
}

/* How long an open request may be silent before the view says so, and before
 * it is ended. */
static void limits(const struct watch_flow *f, int64_t *quiet, int64_t *end)
{
    if (f->step == FLOW_LIST) {
        *quiet = *end = f->bytes ? STALL_MS : FIRST_BYTE_MS;
    } else if (f->head) {
        *quiet = MIN(QUIET_MS, f->limit_ms);
        *end = f->limit_ms;
    } else {
        *quiet = HEAD_QUIET_MS;
        *end = HEAD_MS;
    }
}

int64_t watch_flow_check_in(const struct watch_flow *f, int64_t now)
{
    int64_t quiet, end, age = silence(f, now);
    limits(f, &quiet, &end);
    return MAX((age < quiet ? quiet : end) - age, CHECK_MIN_MS);
}

bool watch_flow_check(struct watch_flow *f, int64_t now)
{
    int64_t quiet, end, age = silence(f, now);
    limits(f, &quiet, &end);
    if (age >= quiet && f->state == WATCH_LIVE)
        f->state = WATCH_QUIET;
    return age < end;
}

/* --- ends of lists --- */

static bool endless(struct watch_flow *f, int64_t now, const struct watch_facts *facts)
{
    struct pd_err err;
    bool same = !strcmp(facts->next.p, f->token.p) && !f->begin;
    if (!same && f->pages < PAGES_MAX)
        return false;
    pd_fail(&err, PD_PROTO, _("the pages of the list have no end"));
    from_start(f);
    trouble(f, now, &err, POLL_MIN_MS);
    return true;
}

/* A stream was silent for long, and this list was read to see whether rightly. */
static void cross_check(struct watch_flow *f, int64_t now)
{
    struct pd_err why;
    bool changed = f->newest > f->suspect_rv || (!f->moved && f->total != f->last_total);
    f->suspect = false;
    if (!changed) {
        f->limit_ms = MIN(2 * f->limit_ms, SILENT_MAX_MS);
        return;
    }
    f->limit_ms = SILENT_TWICE_MS;
    if (++f->hidden < 2)
        return;
    pd_fail(&why, PD_PROTO, _("the watch holds changes back: something between here and the "
                              "server keeps them"));
    poll_instead(f, now, &why);
}

bool watch_flow_page(struct watch_flow *f, int64_t now, const struct watch_facts *facts)
{
    f->fresh_link = false;
    f->outage_ms = 0;
    wait_for(f, 0);
    if (f->begin)
        str_copy(f->page_rv, sizeof f->page_rv, facts->rv);
    f->total += facts->count;
    f->newest = MAX(f->newest, facts->newest);
    if (facts->next.len > 0) {
        if (endless(f, now, facts))
            return false;
        f->pages++;
        str_clear(&f->token);
        str_add(&f->token, facts->next.p);
        f->begin = false;
        return false;
    }
    in_step(f, now);
    /* Pages of a list whose token expired are of different versions: what
     * follows the first one brings all of them up to date. */
    from_start(f);
    str_copy(f->rv, sizeof f->rv, f->page_rv);
    f->whole = false;
    f->fails = 0;
    f->listed_ms = now;
    f->list_ms = now - f->list_began_ms;
    resume(f);
    if (f->suspect)
        cross_check(f, now);
    f->last_total = f->total;
    f->moved = false;
    if (f->poll_ms && now < f->rewatch_ms) {
        f->live_ms = f->live_ms ? f->live_ms : now;
        f->state = WATCH_POLLING;
        f->err = f->poll_why;
        f->step = FLOW_LIST;
        wait_for(f, f->poll_ms);
    }
    return true;
}

/* --- refusals --- */

static void gone(struct watch_flow *f, int64_t now, const struct flow_refusal *r)
{
    bool again = f->gone++ > 0;
    if (f->step == FLOW_LIST && !f->begin) {
        /* The pages took longer than the server keeps a version. With its
         * token the rest comes at another version; without, all at once. */
        f->whole = true;
        if (r->token && *r->token && strcmp(r->token, f->token.p) != 0) {
            str_clear(&f->token);
            str_add(&f->token, r->token);
            wait_for(f, again ? backoff(f, now) : 0);
            return;
        }
    }
    from_start(f);
    wait_for(f, again ? backoff(f, now) : 0);
}

static void forbidden(struct watch_flow *f, int64_t now, const struct flow_refusal *r)
{
    if (f->step == FLOW_WATCH) {                  /* the list was allowed */
        poll_instead(f, now, r->err);
        return;
    }
    from_start(f);
    f->poll_ms = 0;
    f->suspect = false;
    f->err = *r->err;
    f->state = WATCH_FORBIDDEN;
    wait_for(f, FORBIDDEN_MS + chance(f, FORBIDDEN_MS / 3));
}

/* Which part of what is known outlives a refusal. */
static void keep_or_not(struct watch_flow *f, const struct flow_refusal *r)
{
    bool later = r->status == 429 || r->status == 401;
    bool server = r->status >= 500 && !r->in_stream && r->err->code != PD_TIMEOUT;
    if (later || (server && ++f->fails < FAILS_MAX))
        return;
    f->fails = 0;
    from_start(f);
}

void watch_flow_refused(struct watch_flow *f, int64_t now, const struct flow_refusal *r)
{
    int64_t at_least = r->in_stream ? SHORT_MS : 0;
    bool away = r->status >= 500 && !r->in_stream;   /* a proxy may say so for it */
    f->fresh_link = false;
    f->outage_ms = !away ? 0 : f->outage_ms ? f->outage_ms : now;
    if (r->status == 410 || r->err->code == PD_GONE) {
        gone(f, now, r);
        return;
    }
    if (r->status == 403) {
        forbidden(f, now, r);
        return;
    }
    if (f->step == FLOW_WATCH && r->status == 405) {
        poll_instead(f, now, r->err);
        return;
    }
    if (r->status == 401)
        at_least = AUTH_MS;
    if (r->status == 404 || (r->status >= 300 && r->status < 400))
        at_least = ABSENT_MS;
    keep_or_not(f, r);
    if (r->retry_after > 0)
        at_least = 1000 * (int64_t)r->retry_after;
    trouble(f, now, r->err, at_least);
    f->firm = r->retry_after > 0;
}

/* --- ends of connections --- */

void watch_flow_broken(struct watch_flow *f, int64_t now, const struct pd_err *err, bool bad)
{
    bool lived = f->step == FLOW_WATCH && f->head && now - f->opened_ms >= LIVED_MS;
    f->fresh_link = true;
    f->headless = 0;
    if (!bad && !f->head && !f->bytes && !f->outage_ms)
        f->outage_ms = now;
    if (f->step == FLOW_LIST || bad)              /* half a page may be handed out */
        from_start(f);
    if (lived && !bad) {
        wait_for(f, BACKOFF_MIN + chance(f, BACKOFF_MIN));
        return;
    }
    trouble(f, now, err, 0);
}

static void ended_empty(struct watch_flow *f, int64_t now)
{
    struct pd_err err;
    pd_fail(&err, PD_PROTO, _("the watch ended at once, with nothing in it"));
    if (++f->empty >= EMPTY_POLL) {
        poll_instead(f, now, &err);
        return;
    }
    if (f->empty >= EMPTY_MAX)
        from_start(f);
    trouble(f, now, &err, f->empty > EMPTY_MAX ? EMPTY_WAIT_MS : 0);
}

void watch_flow_ended(struct watch_flow *f, int64_t now)
{
    bool at_once = now - f->opened_ms < SHORT_MS;
    int64_t age = now - f->listed_ms;
    if (at_once && f->seen == 0) {
        ended_empty(f, now);
        return;
    }
    f->empty = 0;
    wait_for(f, at_once ? backoff(f, now) : 0);
    if (age >= (f->last_total <= SMALL ? AUDIT_MS : AUDIT_BIG_MS))
        from_start(f);
}

void watch_flow_cut(struct watch_flow *f, int64_t now)
{
    struct pd_err err;
    f->fresh_link = true;
    if (f->step == FLOW_WATCH && f->head) {
        int64_t rv;
        f->suspect = true;
        f->suspect_rv = str_to_i64(f->rv, &rv) && rv > 0 ? (uint64_t)rv : UINT64_MAX;
        from_start(f);
        wait_for(f, 0);
        return;
    }
    pd_fail(&err, PD_TIMEOUT, f->step == FLOW_WATCH ? _("the watch is not answered")
                                                    : _("the list stands still"));
    if (f->step == FLOW_WATCH && ++f->headless >= 2) {
        poll_instead(f, now, &err);
        return;
    }
    if (!f->bytes && !f->outage_ms)
        f->outage_ms = f->opened_ms;
    if (f->step == FLOW_LIST)
        from_start(f);
    trouble(f, now, &err, 0);
}

void watch_flow_now(struct watch_flow *f)
{
    f->backoff_ms = 0;
    wait_for(f, 0);
}
