/* Series, the moving average, the training log, time. */
#include <math.h>

#include "core/base/clock.h"
#include "core/base/runlog.h"
#include "core/base/series.h"
#include "tests/t.h"

static struct pd_err err;

TEST(ema_is_debiased)
{
    /* golden of TensorBoard's rule, weight 0.9 */
    static const double y[] = {4, 3.5, 3.9, NAN, 3.0}, want[] = {4.0, 3.737, 3.797, NAN, 3.565};
    struct series *s = series_new();
    double out[5];
    for (int i = 0; i < 5; i++)
        CHECK(series_append(s, i, y[i]));
    series_ema(s, 0.9, out);
    for (int i = 0; i < 5; i++) {
        if (isnan(want[i]))
            CHECK(isnan(out[i]));
        else
            CHECK_NEAR(out[i], want[i], 5e-4);
    }
    series_free(s);
}

TEST(ema_equals_the_closed_form)
{
    struct series *s = series_new();
    enum { N = 300 };
    double out[N], w = 0.97;
    for (int i = 0; i < N; i++)
        series_append(s, i, sin(i * 0.1) + 2);
    series_ema(s, w, out);
    for (int n = 0; n < N; n++) {
        double sum = 0, weight = 0;
        for (int i = 0; i <= n; i++) {
            double p = pow(w, n - i);
            sum += p * (sin(i * 0.1) + 2);
            weight += p;
        }
        CHECK_NEAR(out[n], sum / weight, 1e-12);
    }
    series_free(s);
}

TEST(ema_leaves_a_constant_alone)
{
    struct series *s = series_new();
    double out[50];
    for (int i = 0; i < 50; i++)
        series_append(s, i, 0.1);
    series_ema(s, 0.6, out);
    for (int i = 0; i < 50; i++)
        CHECK(out[i] == 0.1);
    series_free(s);
}

TEST(pyramid_equals_a_scan)
{
    enum { N = 5000 };
    struct series *s = series_new();
    uint32_t r = 1;
    for (int i = 0; i < N; i++) {
        r = r * 1664525u + 1013904223u;
        double y = i % 97 == 5 ? NAN : (double)(r >> 8) / 1e6;
        CHECK(series_append(s, i * 2, y));
    }
    for (int k = 0; k < 2000; k++) {
        r = r * 1664525u + 1013904223u;
        size_t a = r % N;
        r = r * 1664525u + 1013904223u;
        size_t b = a + r % (N - a + 1);
        struct series_extent e = series_range(s, a, b);
        double lo = INFINITY, hi = -INFINITY;
        size_t bad = 0;
        for (size_t i = a; i < b; i++) {
            double y = series_y(s, i);
            if (isnan(y))
                bad++;
            else {
                lo = fmin(lo, y);
                hi = fmax(hi, y);
            }
        }
        CHECK_INT(e.nonfinite, bad);
        CHECK(e.any == (lo <= hi) && (!e.any || (e.min == lo && e.max == hi)));
    }
    CHECK_INT(series_lower(s, 7), 4);
    CHECK(!series_append(s, 3, 1));      /* x must grow */
    series_free(s);
}

static const char *step_line(struct str *s)
{
    runlog_begin(s, RUN_STEP);
    runlog_add_int(s, "step", 12);
    runlog_add_num(s, "loss", 2.31015625);
    runlog_add_num(s, "gnorm", NAN);
    runlog_add_num(s, "lr", 2e-4f);
    runlog_add_str(s, "note", "q\"\\\n中");
    runlog_add_bool(s, "ok", true);
    runlog_end(s);
    return s->p;
}

TEST(runlog_round_trip)
{
    struct str s;
    struct run_record r;
    str_init(&s, 4096);
    step_line(&s);
    CHECK(s.p[s.len - 1] == '\n');
    CHECK(runlog_is_record(s.p, s.len));
    CHECK_OK(runlog_parse(s.p, s.len, &r, &err));
    CHECK_INT(r.ev, RUN_STEP);
    CHECK(runlog_num(&r, "loss", 0) == 2.31015625);
    CHECK((float)runlog_num(&r, "lr", 0) == 2e-4f);
    CHECK(isnan(runlog_num(&r, "gnorm", 0)));
    CHECK_STR(runlog_str(&r, "note", ""), "q\"\\\n中");
    CHECK(runlog_num(&r, "ok", 0) == 1);
    CHECK(!runlog_has(&r, "nothing"));
    str_release(&s);
}

TEST(runlog_refuses_what_is_torn)
{
    struct str s;
    struct run_record r;
    str_init(&s, 4096);
    step_line(&s);
    for (size_t n = 0; n < s.len - 2; n++)
        CHECK_INT(runlog_parse(s.p, n, &r, &err), PD_PARSE);
    static const char *const bad[] = {
        "{\"v\":1}", "{\"ev\":\"step\"}", "{\"v\":2,\"ev\":\"step\"}", "{\"v\":1,\"ev\":\"what\"}",
        "{\"v\":1,\"ev\":\"step\",\"a\":{}}", "{\"v\":1,\"ev\":\"step\",\"v\":1}",
        "{\"v\":1,\"ev\":\"step\"} x", "{\"v\":1,\"ev\":\"step\",}", "[1]"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        CHECK_MSG(runlog_parse(bad[i], strlen(bad[i]), &r, &err) == PD_PARSE, "%s", bad[i]);
    str_release(&s);
}

TEST(times_round_trip)
{
    char buf[36];
    int64_t us;
    CHECK_STR(clock_rfc3339(1796075369123456, 6, buf), "2026-11-30T21:49:29.123456Z");
    CHECK(clock_parse_rfc3339(buf, &us) && us == 1796075369123456);
    CHECK_STR(clock_rfc3339(1796075369123456, 0, buf), "2026-11-30T21:49:29Z");
    CHECK(clock_parse_rfc3339("2026-11-30T21:49:29.5+08:00", &us));
    CHECK_INT(us, 1796046569500000);
    CHECK(!clock_parse_rfc3339("2026-11-30 21:49", &us) && !clock_parse_rfc3339("x", &us));
}

TEST(ages_read_as_kubectl_writes_them)
{
    static const struct {
        int64_t s;
        const char *want;
    } t[] = {{0, "0s"},        {119, "119s"},   {120, "2m"},      {252, "4m12s"},
             {600, "10m"},     {10799, "179m"}, {10800, "3h"},    {12000, "3h20m"},
             {172799, "47h"},  {172800, "2d"},  {183600, "2d3h"}, {691200, "8d"},
             {63072000, "2y"}, {70000000, "2y80d"}};
    char buf[16];
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK_STR(clock_age(t[i].s * 1000, buf), t[i].want);
}

TEST(the_clock_can_stand_still)
{
    clock_fake(1000);
    CHECK_INT(clock_ms(), 1000);
    clock_advance(50);
    CHECK_INT(clock_wall_ms(), 1050);
}

T_MAIN
