/* k8s_logread.c - lines out of broken answers: each once and in order, gaps
 * told where lines went and nowhere else. The "server" is a file of known
 * lines, cut at random bytes. */
#include "tests/t.h"

#include "core/base/clock.h"
#include "core/base/mem.h"
#include "k8s/logread.h"

enum { LINES = 6000, CUTS = 1000 };

static struct { int64_t ns; char *text; } file[LINES];
static struct logread r;
static struct {
    size_t next, repeated, gaps, words, lines;
    bool jump, stop_in_gap;
    struct str text;
} got;
static uint64_t rng;

static uint32_t draw(uint32_t n)
{
    rng = rng * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(rng >> 33) % n;
}

static void seed(void)
{
    const char *given = getenv("PODIUM_SEED");
    rng = given ? strtoull(given, NULL, 10) : (uint64_t)clock_us();
    printf("seed %" PRIu64 "\n", rng);
}

static char *stamped(int64_t ns, const char *text)
{
    char t[36];
    clock_rfc3339(ns / 1000, 6, t);
    return xasprintf("%.26s%03dZ %s\n", t, (int)(ns % 1000), text);
}

/* Equal lines, lines of one nanosecond, stdout and stderr out of step, progress
 * bars, bytes that are no text, and lines longer than a read. */
static void make_file(bool twins)
{
    int64_t ns = INT64_C(1796072400000000000);
    for (size_t i = 0; i < LINES; i++) {
        uint32_t kind = draw(20);
        char *text;
        ns += kind < (twins ? 6 : 0) ? 0 : draw(80) * INT64_C(1000000) + draw(1000);
        if (kind < 3)
            text = xstrdup("the same");
        else if (kind == 3)
            text = xasprintf("%5.1f%%|###   | %zu\r%5.1f%%|####  |", draw(100) / 1.0, i, 3.0);
        else if (kind == 4)
            text = xasprintf("\xff\xfe \xe4\xb8 torn %zu", i);
        else if (kind == 5)
            text = xasprintf("%0*zu", (int)draw(9000) + 1, i);
        else
            text = xasprintf("line %zu", i);
        file[i].ns = ns - (draw(9) == 0 ? draw(2000) * INT64_C(1000) : 0);
        file[i].text = stamped(file[i].ns, text);
        free(text);
    }
}

static const char *text_of(size_t i, size_t *n)
{
    const char *text = strchr(file[i].text, ' ') + 1;
    *n = strlen(text) - 1;
    return text;
}

static void check_line(void *arg UNUSED, int64_t ns, const char *text, size_t n, bool cut)
{
    size_t want;
    got.lines++;
    CHECK(!cut);
    for (; got.jump && got.next < LINES; got.next++) {
        const char *p = text_of(got.next, &want);
        if (file[got.next].ns == ns && want == n && !memcmp(p, text, n))
            break;
    }
    got.jump = false;
    CHECK(got.next < LINES);
    const char *p = text_of(got.next, &want);
    CHECK_MSG(file[got.next].ns == ns && want == n && !memcmp(p, text, n),
              "line %zu is not \"%.*s\" but %zu bytes \"%.60s\" at %" PRId64, got.next,
              (int)MIN(want, (size_t)60), p, n, text, ns);
    got.next++;
}

static void on_gap(void *arg UNUSED, const char *from UNUSED, const char *to UNUSED)
{
    got.gaps++;
    got.jump = true;
}

static void on_words(void *arg UNUSED, const char *text)
{
    got.words++;
    str_add(&got.text, text);
}

static void collect(void *arg UNUSED, int64_t ns UNUSED, const char *text, size_t n, bool cut)
{
    got.lines++;
    str_append(&got.text, text, n);
    str_add(&got.text, cut ? "[cut]|" : "|");
}

static void begin(void (*line)(void *, int64_t, const char *, size_t, bool))
{
    struct logread_handlers h = {line, on_gap, on_words, NULL};
    memset(&got, 0, sizeof got);
    str_init(&got.text, 4 << 20);
    logread_init(&r, &h);
}

static void end(void)
{
    logread_release(&r);
    str_release(&got.text);
}

/* What a server gives of file[first..last), from a second on; false: it was cut
 * at a random byte. */
static bool answer(size_t first, size_t last, bool cut)
{
    int64_t since = logread_since(&r) * 1000000000;
    size_t bytes = 0;
    for (size_t i = first; i < last; i++)
        bytes += file[i].ns < since ? 0 : strlen(file[i].text);
    bytes = cut ? draw((uint32_t)bytes) : bytes;
    logread_begin(&r);
    for (size_t i = first; i < last; i++) {
        size_t n = strlen(file[i].text), part = MIN(n, bytes);
        if (file[i].ns < since)
            continue;
        for (size_t at = 0; at < part;) {
            size_t some = draw(700) + 1, piece = MIN(part - at, some);
            logread_feed(&r, file[i].text + at, piece);
            at += piece;
        }
        bytes -= part;
    }
    return !cut;
}

TEST(each_line_once_and_in_order_over_a_thousand_cuts)
{
    size_t cuts = 0, last = 100;
    seed();
    make_file(true);
    begin(check_line);
    for (bool over = false; !over;) {
        bool whole = answer(0, last, cuts < CUTS && draw(8) > 0);
        cuts += !whole;
        if (whole || draw(3) == 0)               /* a cut may look like an end */
            over = logread_end(&r) && whole && last == LINES && cuts == CUTS;
        last += draw(2 * LINES / CUTS);
        last = MIN(last, (size_t)LINES);
    }
    CHECK_INT(got.next, LINES);
    CHECK_INT(got.gaps, 0);
    CHECK_INT(cuts, CUTS);
    end();
}

TEST(a_gap_is_told_where_lines_went_and_nowhere_else)
{
    size_t first = 0, last = 50, lost = 0;
    seed();
    make_file(false);
    begin(check_line);
    for (int i = 0; i < CUTS && last < LINES - 100; i++) {
        size_t before = got.next, gaps = got.gaps;
        if (before > 0 && draw(10) == 0) {                     /* rotated away, unread lines too */
            first = MIN(last + 1, (size_t)LINES - 100);
            last = first + 10;
            lost++;
        } else if (got.next > 10) {
            size_t left = draw(4) + 1;               /* the last one is left */
            first = MAX(first, got.next - left);
        }
        bool loses = first > before && before > 0;
        answer(first, last, false);
        CHECK_INT(got.gaps - gaps, loses);
        CHECK_INT(got.next, last);
        last += draw(30);
    }
    CHECK(lost > 10);
    end();
}

#define T(s) "2026-11-30T21:00:" s "Z "

static void say(const char *text)
{
    logread_begin(&r);
    logread_feed(&r, text, strlen(text));
}

/* A long line is kept in parts; asked for from its midst, its rear part comes. */
TEST(the_rear_of_a_long_line_is_not_a_line)
{
    begin(collect);
    say(T("00.900000000") "front and rear\n" T("02.000000000") "next\n");
    CHECK_INT(logread_since(&r), INT64_C(1796072401));
    say(T("01.100000000") "rear\n" T("02.000000000") "next\n" T("02.100000000") "new\n");
    CHECK_STR(got.text.p, "front and rear|next|new|");
    CHECK_INT(got.gaps, 0);
    end();
}

/* stderr was stamped before stdout and written behind it. */
TEST(a_line_with_an_older_stamp_is_not_lost)
{
    begin(collect);
    say(T("05.000000002") "out\n");
    say(T("05.000000002") "out\n" T("05.000000001") "err\n" T("06.000000000") "on\n");
    CHECK_STR(got.text.p, "out|err|on|");
    CHECK_INT(got.gaps, 0);
    end();
}

TEST(a_clock_that_is_set_back_loses_nothing)
{
    begin(collect);
    say(T("50.000000000") "a\n" T("51.000000000") "b\n" T("10.000000000") "c\n");
    CHECK_INT(logread_since(&r), INT64_C(1796072409));
    say(T("50.000000000") "a\n" T("51.000000000") "b\n" T("10.000000000") "c\n"
        T("11.000000000") "d\n");
    CHECK_STR(got.text.p, "a|b|c|d|");
    CHECK_INT(got.gaps, 0);
    end();
}

TEST(the_end_is_believed_when_it_is_said_twice)
{
    begin(collect);
    say(T("01.000000000") "a\n" T("02.000000000") "unfin");
    CHECK(!logread_end(&r));
    CHECK(logread_torn(&r));
    say(T("01.000000000") "a\n" T("02.000000000") "unfinished");
    CHECK(!logread_end(&r));                     /* it grew */
    say(T("01.000000000") "a\n" T("02.000000000") "unfinished");
    CHECK(logread_end(&r));
    CHECK_STR(got.text.p, "a|");
    logread_flush(&r);
    CHECK_STR(got.text.p, "a|unfinished|");
    end();
    begin(collect);
    say("");
    CHECK(logread_end(&r));                      /* an empty log needs no proof */
    end();
}

TEST(words_of_the_kubelet_are_no_lines)
{
    begin(collect);
    say(T("01.000000000") "rpc error: code = a line of the program\n"
        "failed to create fsnotify watcher: too many open files");
    logread_end(&r);
    CHECK_INT(got.lines, 1);
    CHECK_INT(got.words, 1);
    CHECK_HAS(got.text.p, "too many open files");
    say("unable to retrieve container logs for containerd://1\n");
    CHECK_INT(got.words, 2);
    end();
}

TEST(a_line_over_a_megabyte_is_cut_and_the_next_is_whole)
{
    struct str s;
    begin(collect);
    str_init(&s, 8 << 20);
    str_add(&s, T("01.000000000"));
    for (int i = 0; i < 3 << 20; i++)
        str_addc(&s, 'x');
    str_add(&s, "\n" T("02.000000000") "next\n");
    say(s.p);
    CHECK_INT(got.lines, 2);
    CHECK_HAS(got.text.p, "x[cut]|");
    got.lines = 0;
    say(s.p);
    CHECK_INT(got.lines, 0);                     /* cut alike the second time */
    str_release(&s);
    end();
}

/* More lines in few seconds than are remembered: still none twice. */
TEST(a_flood_is_remembered_in_bounds)
{
    enum { FLOOD = 400000 };
    char t[80];
    begin(collect);
    got.text.ceiling = 8;
    for (int round = 0; round < 2; round++) {
        logread_begin(&r);
        for (int i = 0; i < FLOOD; i++) {
            str_fmt(t, sizeof t, "2026-11-30T21:00:00.%06d000Z %d\n", i * 2, i);
            logread_feed(&r, t, strlen(t));
        }
        CHECK_INT(got.lines, FLOOD);
    }
    CHECK_INT(got.gaps, 0);
    CHECK(r.cap * sizeof *r.ring <= (4 << 20));
    end();
}

TEST(another_run_begins_afresh)
{
    begin(collect);
    say(T("05.000000000") "a\n");
    logread_forget(&r);
    CHECK_INT(logread_since(&r), -1);
    say(T("05.000000000") "a\n");
    CHECK_STR(got.text.p, "a|a|");
    CHECK_INT(got.gaps, 0);
    end();
}

TEST(lines_before_the_time_asked_for_are_left_out)
{
    begin(collect);
    r.only_from = INT64_C(1796072405500000000);
    say(T("05.000000000") "before\n" T("05.500000000") "at\n" T("05.600000000") "after\n");
    CHECK_STR(got.text.p, "at|after|");
    end();
}

T_MAIN
