/* k8s_watch_flow.c - every rule of a watch under a virtual clock: what comes
 * next, after how long, and what the view is told. */
#include "k8s/watch_flow.h"
#include "tests/t.h"

static struct watch_flow f;
static struct watch_facts facts;
static int64_t now;
static struct pd_err net, proto;

static void start(void)
{
    now = 1000000;
    watch_flow_init(&f, 7);
    str_init(&facts.next, 1 << 16);
    str_init(&facts.status, 1 << 16);
    pd_fail(&net, PD_NET, "connection refused");
    pd_fail(&proto, PD_PROTO, "no JSON");
}

static void finish(void)
{
    watch_flow_release(&f);
    str_release(&facts.next);
    str_release(&facts.status);
}

static void sent(enum flow_step want)
{
    CHECK_INT(f.step, want);
    now += f.wait_ms;
    watch_flow_send(&f, now);
}

static bool page(const char *rv, int count, uint64_t newest, const char *next)
{
    str_copy(facts.rv, sizeof facts.rv, rv);
    facts.count = count;
    facts.newest = newest;
    str_clear(&facts.next);
    str_add(&facts.next, next);
    watch_flow_bytes(&f, now);
    return watch_flow_page(&f, now, &facts);
}

/* The stream read `count` events so far, the last of version rv. */
static bool events(int count, int bookmarks, const char *rv)
{
    struct pd_err err;
    str_copy(facts.rv, sizeof facts.rv, rv);
    facts.count = count;
    facts.bookmarks = bookmarks;
    return watch_flow_events(&f, now, &facts, &err);
}

static void refused(int status, bool in_stream, int retry_after, const char *token,
                    enum pd_code code)
{
    struct pd_err err;
    pd_fail(&err, code, "status %d", status);
    struct flow_refusal r = {status, in_stream, retry_after, token, &err};
    watch_flow_refused(&f, now, &r);
}

/* Listed at version 100 with 3 objects, and watching since now. */
static void live(void)
{
    sent(FLOW_LIST);
    CHECK(page("100", 3, 90, ""));
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "100");
    watch_flow_head(&f, now);
    CHECK_INT(f.state, WATCH_LIVE);
}

static void listed_again(const char *rv, int count, uint64_t newest)
{
    sent(FLOW_LIST);
    CHECK(f.begin && f.token.len == 0);
    CHECK(page(rv, count, newest, ""));
}

/* Whole seconds of silence, checked each second; false: it must be cut. */
static bool silence(int seconds)
{
    for (int i = 0; i < seconds; i++) {
        now += 1000;
        if (!watch_flow_check(&f, now))
            return false;
    }
    return true;
}

TEST(flow_lists_then_watches)
{
    start();
    CHECK_INT(f.heard_ms, -1);
    CHECK_INT(f.wait_ms, 0);
    sent(FLOW_LIST);
    CHECK_INT(f.state, WATCH_LISTING);
    CHECK(f.begin && !f.whole);
    CHECK(!page("100", 500, 90, "t1"));
    CHECK_INT(f.heard_ms, -1);                     /* a part is no list */
    sent(FLOW_LIST);
    CHECK(!f.begin);
    CHECK_STR(f.token.p, "t1");
    CHECK(page("100", 20, 95, ""));
    CHECK_INT(f.heard_ms, now);
    CHECK_INT(f.wait_ms, 0);
    sent(FLOW_WATCH);
    CHECK(f.timeout_s >= 300 && f.timeout_s < 600);
    CHECK_INT(f.state, WATCH_LISTING);             /* not let in yet */
    watch_flow_head(&f, now);
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(events(1, 0, "101"));
    CHECK_STR(f.rv, "101");
    CHECK(events(2, 1, "150"));
    CHECK_STR(f.rv, "150");
    finish();
}

TEST(flow_resumes_at_once_after_a_clean_end)
{
    start();
    live();
    now += 400000;
    CHECK(events(1, 0, "120"));
    watch_flow_ended(&f, now);
    CHECK_INT(f.wait_ms, 0);
    CHECK_INT(f.state, WATCH_LIVE);
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "120");
    finish();
}

TEST(flow_backs_off_from_what_ends_at_once)
{
    start();
    live();
    watch_flow_ended(&f, now + 3);                 /* empty */
    CHECK_INT(f.state, WATCH_RETRYING);
    CHECK(f.wait_ms >= 800 && f.wait_ms <= 1600);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    watch_flow_ended(&f, now + 3);                 /* twice: list anew */
    CHECK(f.wait_ms >= 1600 && f.wait_ms <= 3200);
    listed_again("100", 3, 90);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    watch_flow_ended(&f, now + 3);
    CHECK(f.wait_ms >= 10000);
    listed_again("100", 3, 90);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    watch_flow_ended(&f, now + 3);                 /* a watch is no use here */
    CHECK_INT(f.state, WATCH_POLLING);
    CHECK_INT(f.poll_ms, 10000);
    CHECK_HAS(f.err.msg, "ended at once");
    CHECK_INT(f.wait_ms, 10000);
    finish();
}

TEST(flow_does_not_race_with_streams_of_one_event)
{
    start();
    live();
    for (int i = 0; i < 3; i++) {
        CHECK(events(1, 0, "130"));
        watch_flow_ended(&f, now + 5);
        CHECK(f.wait_ms >= 800 << i);
        CHECK_INT(f.state, WATCH_LIVE);
        sent(FLOW_WATCH);
        watch_flow_head(&f, now);
    }
    finish();
}

TEST(flow_lists_at_once_after_the_first_410_then_backs_off)
{
    for (int in_stream = 0; in_stream < 2; in_stream++) {
        start();
        live();
        refused(410, in_stream, -1, NULL, PD_GONE);
        CHECK_INT(f.wait_ms, 0);
        listed_again("200", 3, 190);
        sent(FLOW_WATCH);
        CHECK_STR(f.rv, "200");
        refused(410, in_stream, -1, NULL, PD_GONE);
        CHECK(f.wait_ms >= 800);
        listed_again("210", 3, 190);
        sent(FLOW_WATCH);
        watch_flow_head(&f, now);
        CHECK(events(1, 0, "211"));                /* good again */
        refused(410, in_stream, -1, NULL, PD_GONE);
        CHECK_INT(f.wait_ms, 0);
        finish();
    }
}

TEST(flow_reads_on_with_the_token_of_an_expired_list)
{
    start();
    sent(FLOW_LIST);
    CHECK(!page("100", 500, 90, "t1"));
    sent(FLOW_LIST);
    refused(410, false, -1, "other-version", PD_GONE);
    CHECK_INT(f.wait_ms, 0);
    sent(FLOW_LIST);
    CHECK(!f.begin);                               /* the rows of before stay */
    CHECK_STR(f.token.p, "other-version");
    CHECK(page("170", 4, 165, ""));
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "100");                        /* what is older catches up */
    refused(410, false, -1, NULL, PD_GONE);
    sent(FLOW_LIST);
    CHECK(f.begin);
    finish();
}

TEST(flow_asks_for_all_at_once_when_pages_expire_without_a_token)
{
    start();
    sent(FLOW_LIST);
    CHECK(!page("100", 500, 90, "t1"));
    sent(FLOW_LIST);
    refused(410, false, -1, "t1", PD_GONE);        /* the same token is none */
    sent(FLOW_LIST);
    CHECK(f.begin && f.whole);
    CHECK(page("300", 900, 290, ""));
    CHECK(!f.whole);
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "300");
    finish();
}

TEST(flow_ends_a_list_without_end)
{
    start();
    sent(FLOW_LIST);
    CHECK(!page("100", 1, 1, "t1"));
    sent(FLOW_LIST);
    CHECK(!page("100", 1, 1, "t1"));
    CHECK_INT(f.state, WATCH_RETRYING);
    CHECK_HAS(f.err.msg, "no end");
    CHECK(f.begin && f.wait_ms >= 10000);
    sent(FLOW_LIST);
    for (int i = 0; i < 30000 && f.state == WATCH_LISTING; i++) {
        char token[16];
        CHECK(!page("100", 1, 1, str_fmt(token, sizeof token, "t%d", i)));
        if (f.state == WATCH_LISTING)
            sent(FLOW_LIST);
    }
    CHECK_INT(f.state, WATCH_RETRYING);
    finish();
}

TEST(flow_waits_and_lists_after_other_errors_in_the_stream)
{
    static const int codes[] = {504, 500, 400, 404, 503};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        start();
        live();
        refused(codes[i], true, -1, NULL, codes[i] == 504 ? PD_TIMEOUT : PD_HTTP);
        CHECK_INT(f.state, WATCH_RETRYING);
        CHECK(f.wait_ms >= 1000);
        listed_again("90", 2, 80);
        finish();
    }
}

TEST(flow_keeps_retry_after_and_what_it_knows)
{
    start();
    sent(FLOW_LIST);
    CHECK(!page("100", 500, 90, "t1"));
    sent(FLOW_LIST);
    refused(429, false, 7, NULL, PD_HTTP);
    CHECK(f.wait_ms == 7000 && f.firm);
    sent(FLOW_LIST);
    CHECK(!f.begin && !f.firm);                    /* the same page */
    CHECK(page("100", 1, 90, ""));
    sent(FLOW_WATCH);
    refused(429, false, 40, NULL, PD_HTTP);
    CHECK_INT(f.wait_ms, 40000);
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "100");
    finish();
}

TEST(flow_doubles_to_thirty_seconds_and_forgives_after_two_minutes)
{
    int64_t least = 800;
    start();
    for (int i = 0; i < 9; i++) {
        sent(FLOW_LIST);
        watch_flow_broken(&f, now, &net, false);
        CHECK_INT(f.state, WATCH_RETRYING);
        CHECK(f.wait_ms >= least && f.wait_ms <= MIN(2 * least, 30000));
        CHECK(f.fresh_link);
        least = MIN(2 * least, 30000);
    }
    live();
    CHECK(!f.fresh_link);
    now += 119000;
    CHECK(events(1, 0, "101"));
    refused(500, true, -1, NULL, PD_HTTP);
    CHECK_INT(f.wait_ms, 30000);                   /* not yet */
    listed_again("100", 3, 90);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    now += 121000;
    CHECK(events(1, 0, "101"));
    refused(500, true, -1, NULL, PD_HTTP);
    CHECK(f.wait_ms <= 1600);
    finish();
}

TEST(flow_spreads_its_tries)
{
    int different = 0;
    int64_t first = 0;
    for (unsigned seed = 1; seed < 40; seed += 2) {
        start();
        watch_flow_release(&f);
        watch_flow_init(&f, seed * 7919);
        sent(FLOW_LIST);
        watch_flow_broken(&f, now, &net, false);
        if (seed == 1)
            first = f.wait_ms;
        different += f.wait_ms != first;
        finish();
    }
    CHECK(different > 15);
}

TEST(flow_takes_a_good_stream_that_breaks_for_nothing_bad)
{
    start();
    live();
    now += 50000;                                  /* a balancer's limit */
    CHECK(events(1, 0, "101"));
    watch_flow_broken(&f, now, &net, false);
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(f.wait_ms >= 800 && f.wait_ms < 1600);
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "101");
    CHECK(f.fresh_link);
    CHECK(silence(2));
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(silence(2));
    CHECK_INT(f.state, WATCH_QUIET);               /* nobody let it in */
    watch_flow_broken(&f, now, &net, false);
    CHECK_INT(f.state, WATCH_RETRYING);
    finish();
}

TEST(flow_starts_over_after_half_a_page_or_nonsense)
{
    start();
    sent(FLOW_LIST);
    CHECK(!page("100", 500, 90, "t1"));
    sent(FLOW_LIST);
    watch_flow_bytes(&f, now);
    watch_flow_broken(&f, now, &net, false);
    sent(FLOW_LIST);
    CHECK(f.begin && f.token.len == 0);
    CHECK(page("100", 1, 90, ""));
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    now += 60000;
    watch_flow_broken(&f, now, &proto, true);      /* events may be lost */
    CHECK_INT(f.state, WATCH_RETRYING);
    listed_again("101", 1, 90);
    finish();
}

TEST(flow_lists_when_versions_go_back)
{
    struct pd_err err;
    start();
    live();
    CHECK(events(1, 0, "105"));
    str_copy(facts.rv, sizeof facts.rv, "99");
    facts.count = 2;
    CHECK(!watch_flow_events(&f, now, &facts, &err));
    CHECK_HAS(err.msg, "from version 105 to 99");
    watch_flow_broken(&f, now, &err, true);
    listed_again("99", 1, 99);                     /* lower, and right */
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "99");
    watch_flow_head(&f, now);
    CHECK(events(1, 0, "b-opaque"));               /* no numbers: not compared */
    CHECK(events(2, 0, "a-opaque"));
    finish();
}

TEST(flow_lists_after_an_outage_since_another_server_may_answer)
{
    for (int big = 0; big < 2; big++) {
        start();
        sent(FLOW_LIST);
        CHECK(page("100", big ? 15000 : 3, 90, ""));
        sent(FLOW_WATCH);
        watch_flow_head(&f, now);
        now += 1000;
        watch_flow_broken(&f, now, &net, false);
        for (int64_t from = now; now - from < 29000;) {
            sent(FLOW_WATCH);
            watch_flow_broken(&f, now, &net, false);
        }
        now += 30000;
        watch_flow_now(&f);
        now += f.wait_ms;
        watch_flow_send(&f, now);
        CHECK_INT(f.step, big ? FLOW_WATCH : FLOW_LIST);
        finish();
    }
}

TEST(flow_counts_a_proxy_that_speaks_for_the_server_as_an_outage)
{
    start();
    live();
    watch_flow_ended(&f, now += 300000);
    sent(FLOW_WATCH);
    refused(502, false, -1, NULL, PD_HTTP);
    CHECK_STR(f.rv, "100");                        /* a restart: resume */
    sent(FLOW_WATCH);
    refused(503, false, 50, NULL, PD_HTTP);
    CHECK_INT(f.wait_ms, 50000);
    now += f.wait_ms;
    watch_flow_send(&f, now);
    CHECK_INT(f.step, FLOW_LIST);
    CHECK(now - f.heard_ms > 50000);               /* its age goes on */
    finish();
}

TEST(flow_gives_up_resuming_when_the_server_fails_thrice)
{
    start();
    live();
    watch_flow_ended(&f, now += 300000);
    for (int i = 0; i < 3; i++) {
        sent(FLOW_WATCH);
        refused(500, false, -1, NULL, PD_HTTP);
    }
    CHECK_INT(f.step, FLOW_LIST);
    finish();
}

TEST(flow_asks_a_forbidden_list_slowly_again)
{
    start();
    sent(FLOW_LIST);
    for (int i = 0; i < 5; i++) {
        refused(403, false, -1, NULL, PD_FORBIDDEN);
        CHECK_INT(f.state, WATCH_FORBIDDEN);
        CHECK_INT(f.err.code, PD_FORBIDDEN);
        CHECK(f.wait_ms >= 30000 && f.wait_ms <= 40000);
        sent(FLOW_LIST);
    }
    CHECK(page("100", 3, 90, ""));                 /* a Role was given */
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK_INT(f.err.code, PD_OK);
    finish();
}

TEST(flow_polls_where_a_watch_is_forbidden)
{
    static const int codes[] = {403, 405};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        start();
        sent(FLOW_LIST);
        now += 1000;                               /* a slow list is read more seldom */
        CHECK(page("100", 3, 90, ""));
        sent(FLOW_WATCH);
        refused(codes[i], false, -1, NULL, codes[i] == 403 ? PD_FORBIDDEN : PD_UNSUPPORTED);
        CHECK_INT(f.state, WATCH_POLLING);
        CHECK_INT(f.poll_ms, 20000);
        CHECK_INT(f.wait_ms, 20000);
        int64_t from = now;
        int lists = 0;
        for (; f.step == FLOW_LIST; lists++) {
            sent(FLOW_LIST);
            CHECK_INT(f.state, WATCH_POLLING);
            CHECK(page("120", 4, 110, ""));
            CHECK_INT(f.heard_ms, now);
        }
        CHECK(now - from >= 300000 && now - from < 320000);
        CHECK_INT(lists, 15);
        sent(FLOW_WATCH);                          /* is it still? */
        CHECK_STR(f.rv, "120");
        CHECK_INT(f.state, WATCH_POLLING);
        if (i == 0) {
            refused(403, false, -1, NULL, PD_FORBIDDEN);
            CHECK_INT(f.state, WATCH_POLLING);
            sent(FLOW_LIST);
            refused(403, false, -1, NULL, PD_FORBIDDEN);
            CHECK_INT(f.state, WATCH_FORBIDDEN);   /* the list too */
            CHECK_INT(f.poll_ms, 0);
        } else {
            watch_flow_head(&f, now);
            CHECK_INT(f.state, WATCH_LIVE);
            CHECK_INT(f.poll_ms, 0);
        }
        finish();
    }
}

TEST(flow_keeps_the_reason_for_polling_over_a_failure)
{
    start();
    sent(FLOW_LIST);
    CHECK(page("100", 3, 90, ""));
    sent(FLOW_WATCH);
    refused(403, false, -1, NULL, PD_FORBIDDEN);
    sent(FLOW_LIST);
    watch_flow_broken(&f, now, &net, false);
    CHECK_INT(f.state, WATCH_RETRYING);
    sent(FLOW_LIST);
    CHECK(page("100", 3, 90, ""));
    CHECK_INT(f.state, WATCH_POLLING);
    CHECK_INT(f.err.code, PD_FORBIDDEN);
    finish();
}

TEST(flow_waits_for_other_credentials)
{
    start();
    live();
    watch_flow_ended(&f, now += 300000);
    sent(FLOW_WATCH);
    refused(401, false, -1, NULL, PD_AUTH);
    CHECK_INT(f.state, WATCH_RETRYING);
    CHECK_INT(f.err.code, PD_AUTH);
    CHECK(f.wait_ms >= 5000);
    sent(FLOW_WATCH);
    CHECK_STR(f.rv, "100");
    finish();
}

TEST(flow_asks_seldom_for_what_is_not_there_or_leads_elsewhere)
{
    static const int codes[] = {404, 301, 302};
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        start();
        sent(FLOW_LIST);
        refused(codes[i], false, -1, NULL, PD_NOTFOUND);
        CHECK_INT(f.state, WATCH_RETRYING);
        CHECK(f.wait_ms >= 30000);
        finish();
    }
}

TEST(flow_ends_a_silent_stream_and_looks_whether_rightly)
{
    start();
    live();
    CHECK(silence(79));
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(silence(2));
    CHECK_INT(f.state, WATCH_QUIET);
    CHECK_INT(now - f.heard_ms, 81000);
    CHECK(!silence(30));
    CHECK_INT(now - f.heard_ms, 100000);
    watch_flow_cut(&f, now);
    CHECK(f.fresh_link);
    CHECK_INT(f.wait_ms, 0);
    listed_again("100", 3, 90);                    /* it had nothing to say */
    CHECK_INT(f.heard_ms, now);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(silence(199) && !silence(1));            /* so it is asked half as often */
    finish();
}

TEST(flow_looks_no_oftener_than_it_must)
{
    start();
    live();
    CHECK_INT(watch_flow_check_in(&f, now), 80000);
    now += 30000;
    CHECK(events(1, 1, "101"));
    now += 10000;
    CHECK_INT(watch_flow_check_in(&f, now), 70000);
    CHECK(silence(71));
    CHECK_INT(f.state, WATCH_QUIET);
    CHECK_INT(watch_flow_check_in(&f, now), 19000);
    watch_flow_ended(&f, now);
    sent(FLOW_WATCH);
    CHECK_INT(watch_flow_check_in(&f, now), 3000);
    finish();
}

TEST(flow_polls_when_a_stream_holds_changes_back_twice)
{
    for (int kind = 0; kind < 2; kind++) {         /* a change; a deletion */
        start();
        live();
        CHECK(!silence(100));
        watch_flow_cut(&f, now);
        listed_again("150", kind ? 2 : 3, kind ? 90 : 140);
        CHECK(f.state != WATCH_POLLING);
        sent(FLOW_WATCH);
        watch_flow_head(&f, now);
        CHECK(silence(29) && !silence(1));         /* looked at sooner */
        watch_flow_cut(&f, now);
        listed_again("190", kind ? 1 : 3, kind ? 90 : 180);
        CHECK_INT(f.state, WATCH_POLLING);
        CHECK_HAS(f.err.msg, "holds changes back");
        CHECK_INT(f.wait_ms, 10000);
        finish();
    }
}

TEST(flow_trusts_a_stream_that_speaks_in_time)
{
    start();
    live();
    CHECK(!silence(100));
    watch_flow_cut(&f, now);
    listed_again("150", 3, 140);
    sent(FLOW_WATCH);
    watch_flow_head(&f, now);
    CHECK(silence(29));
    now += 5000;
    CHECK(events(1, 1, "160"));                    /* a bookmark, late but there */
    CHECK(silence(90));
    CHECK_INT(f.state, WATCH_QUIET);
    CHECK(events(2, 2, "170"));
    CHECK_INT(f.state, WATCH_LIVE);
    CHECK(!silence(100));
    watch_flow_cut(&f, now);
    listed_again("190", 3, 180);
    CHECK(f.state != WATCH_POLLING);               /* the first time again */
    finish();
}

TEST(flow_polls_where_watches_are_not_answered)
{
    start();
    sent(FLOW_LIST);
    CHECK(page("100", 3, 90, ""));
    sent(FLOW_WATCH);
    CHECK(silence(14) && !silence(1));
    watch_flow_cut(&f, now);
    CHECK_INT(f.state, WATCH_RETRYING);
    CHECK_INT(f.err.code, PD_TIMEOUT);
    sent(FLOW_WATCH);
    CHECK(f.fresh_link);
    CHECK(!silence(15));
    watch_flow_cut(&f, now);
    CHECK_INT(f.state, WATCH_POLLING);
    sent(FLOW_LIST);
    CHECK(page("100", 3, 90, ""));
    CHECK_INT(f.state, WATCH_POLLING);
    finish();
}

TEST(flow_ends_a_list_that_stands_still)
{
    start();
    sent(FLOW_LIST);
    CHECK(silence(59) && !silence(1));
    watch_flow_cut(&f, now);
    CHECK_INT(f.state, WATCH_RETRYING);
    CHECK_HAS(f.err.msg, "stands still");
    sent(FLOW_LIST);
    CHECK(silence(50));
    watch_flow_bytes(&f, now);
    CHECK(silence(29));
    watch_flow_bytes(&f, now);                     /* slow is not dead */
    CHECK(silence(29) && !silence(1));
    watch_flow_cut(&f, now);
    CHECK(f.begin);
    finish();
}

TEST(flow_lists_now_and_then_to_be_sure)
{
    start();
    live();
    int ends = 0;
    for (int64_t from = now; now - from < 3600000; ends++) {
        now += 400000;
        CHECK(events(1, 1, "100"));
        watch_flow_ended(&f, now);
        if (f.step == FLOW_LIST)
            break;
        sent(FLOW_WATCH);
        watch_flow_head(&f, now);
    }
    CHECK(f.step == FLOW_LIST && now - f.listed_ms >= 1800000 && now - f.listed_ms < 2400000);
    finish();
}

TEST(flow_shortens_its_wait_when_told)
{
    start();
    for (int i = 0; i < 6; i++) {
        sent(FLOW_LIST);
        watch_flow_broken(&f, now, &net, false);
    }
    CHECK(f.wait_ms > 10000);
    watch_flow_now(&f);
    CHECK_INT(f.wait_ms, 0);
    sent(FLOW_LIST);
    watch_flow_broken(&f, now, &net, false);
    CHECK(f.wait_ms <= 1600);
    finish();
}

T_MAIN
