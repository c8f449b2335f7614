/* tui_curve.c - axes, the average, and that nothing of a curve is lost. */
#include "tests/t.h"
#include "tui/curve.h"

#include <math.h>
#include <time.h>

#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "labs/run.h"
#include "tui/curve_line.h"

static const char *ticks(double lo, double hi, bool log, int most)
{
    static char buf[1024];
    struct axis a;
    axis_make(&a, lo, hi, log, most);
    buf[0] = '\0';
    for (int i = 0; i < a.n; i++) {
        char one[24];
        size_t n = strlen(buf);
        snprintf(buf + n, sizeof buf - n, "%s%s", i ? " " : "", axis_label(&a, a.tick[i], one));
    }
    return buf;
}

TEST(ticks_are_nice)
{
    CHECK_STR(ticks(0, 500, false, 5), "0 100 200 300 400 500");
    CHECK_STR(ticks(0.5, 3.6, false, 7), "0.5 1.0 1.5 2.0 2.5 3.0 3.5");
    CHECK_STR(ticks(0.83, 3.36, false, 4), "1 2 3");
    CHECK_STR(ticks(-0.3, 0.3, false, 4), "-0.2 0 0.2");
    CHECK_STR(ticks(1e-9, 9e-9, false, 4), "2e-9 4e-9 6e-9 8e-9");
    CHECK_STR(ticks(0, 1e9, false, 4), "0 5e8 1e9");
    CHECK_STR(ticks(0, 2e-4, false, 4), "0 5e-5 1e-4 1.5e-4 2e-4");
    CHECK_STR(ticks(0.01, 100, true, 8), "0.01 0.1 1 10 100");
    CHECK_STR(ticks(0.5, 5, true, 6), "0.5 1 2 5");
    CHECK_STR(ticks(1, 1, false, 4), "0.5 1.0 1.5");
    CHECK_STR(ticks(0, 0, false, 4), "-0.5 0 0.5");
    CHECK_STR(ticks(NAN, NAN, false, 4), "0 0.5 1.0");
    CHECK_STR(ticks(3, 1, false, 4), "1.0 1.5 2.0 2.5 3.0");
}

TEST(ticks_stay_inside_at_any_range)
{
    for (int e = -9; e <= 9; e++)
        for (int m = 1; m < 60; m++) {
            struct axis a;
            double lo = -m * 0.37 * pow(10, e), hi = m * 1.91 * pow(10, e);
            axis_make(&a, lo, hi, false, 2 + m % 9);
            CHECK(a.n >= 2 && a.n <= AXIS_TICKS);
            for (int i = 0; i < a.n; i++) {
                CHECK(a.tick[i] >= lo - (hi - lo) * 1e-6 && a.tick[i] <= hi + (hi - lo) * 1e-6);
                CHECK(i == 0 || a.tick[i] > a.tick[i - 1]);
                CHECK_NEAR(axis_value(&a, axis_share(&a, a.tick[i])), a.tick[i], (hi - lo) * 1e-9);
            }
        }
}

/* TensorBoard's rule on 4, 3.5, 3.9, NaN, 3.0 at 0.9. */
TEST(cached_average_equals_the_formula)
{
    static const double y[] = {4, 3.5, 3.9, NAN, 3.0};
    static const double want[] = {4.0, 3.7368421, 3.7970480, NAN, 3.5652804};
    struct series *s = series_new();
    struct curve_cache c;
    curve_cache_init(&c);
    for (int i = 0; i < 5; i++) {
        series_append(s, i, y[i]);
        curve_cache_update(&c, s, 0.9);      /* as it grows */
    }
    for (int i = 0; i < 5; i++)
        if (isnan(want[i]))
            CHECK(isnan(c.ema[i]));
        else
            CHECK_NEAR(c.ema[i], want[i], 1e-6);
    double all[5];
    series_ema(s, 0.9, all);
    for (int i = 0; i < 5; i++)
        CHECK(isnan(all[i]) || fabs(all[i] - c.ema[i]) < 1e-12);
    curve_cache_update(&c, s, 0.5);          /* another weight: made anew */
    series_ema(s, 0.5, all);
    CHECK_NEAR(c.ema[4], all[4], 1e-12);
    struct series *other = series_new();
    series_append(other, 0, 1);
    curve_cache_update(&c, other, 0.5);
    CHECK_INT(c.n, 1);
    CHECK_NEAR(c.ema[0], 1, 1e-12);
    curve_cache_release(&c);
    series_free(s);
    series_free(other);
}

static void draw(struct rows *r, const struct curve_ask *a, int w, int h)
{
    rows_init(r, a->dots == DOTS_ASCII ? GLYPH_ASCII : GLYPH_UNICODE);
    curve_rows(a, r, w, h, NULL);
    CHECK_INT(r->n, h);
    for (int i = 0; i < r->n; i++)
        if (r->v[i].width > w)
            t_fail(__FILE__, __LINE__, "row %d is %d wide at %dx%d", i, r->v[i].width, w, h);
}

/* Columns of the upper third of the plot that hold anything. */
static int marks_above(const struct rows *r, int h)
{
    int n = 0;
    for (int y = 0; y < (h - 2) / 3; y++) {
        struct str s;
        str_init(&s, 1 << 16);
        rows_text(&r->v[y], &s);
        const char *tick = strstr(s.p, "│");
        if (!tick)
            tick = strstr(s.p, "┤");
        if (!tick)
            tick = strpbrk(s.p, "|+");
        if (tick) {
            tick += (unsigned char)*tick < 0x80 ? 1 : 3;
            n += strspn(tick, " ") < strlen(tick);
        }
        str_release(&s);
    }
    return n;
}

static struct series *with_spike(size_t n, size_t at)
{
    struct series *s = series_new();
    for (size_t i = 0; i < n; i++)
        series_append(s, (double)i, i == at ? 9.0 : 1.0 + 0.05 * (double)(i % 7));
    return s;
}

TEST(one_spike_is_seen_at_every_size)
{
    static const size_t counts[] = {30, 300, 5000, 200000};
    for (size_t k = 0; k < ARRAY_LEN(counts); k++) {
        struct series *s = with_spike(counts[k], counts[k] * 2 / 3);
        for (int w = 16; w <= 200; w += 23)
            for (int h = 7; h <= 60; h += 13)
                for (enum curve_dots d = 0; d < DOTS_COUNT; d++)
                    for (int edges = 0; edges < 2; edges++) {
                        struct rows r;
                        struct curve_ask a = {.raw = s, .x_lo = NAN, .x_hi = NAN, .cursor = NAN,
                                              .dots = d, .edges = edges};
                        draw(&r, &a, w, h);
                        if (marks_above(&r, h) < 1)
                            t_fail(__FILE__, __LINE__, "no spike: %zu points, %dx%d, dots %d",
                                   counts[k], w, h, (int)d);
                        rows_release(&r);
                    }
        series_free(s);
    }
}

TEST(the_average_ends_where_the_numbers_say)
{
    struct series *s = series_new();
    struct curve_cache c;
    struct rows r;
    for (int i = 1; i <= 100; i++)
        series_append(s, i, i <= 50 ? 3.0 : 1.0);
    curve_cache_init(&c);
    curve_cache_update(&c, s, 0);
    struct curve_ask a = {.raw = s, .ema = c.ema, .x_lo = NAN, .x_hi = NAN, .cursor = NAN};
    draw(&r, &a, 60, 20);
    int first = -1, last = -1;
    for (int y = 0; y < r.n; y++)
        for (int k = 0; k < r.v[y].n; k++)
            if (r.v[y].span[k].role == ROLE_EMA) {
                first = first < 0 ? y : first;
                last = y;
            }
    CHECK(first == 0 && last == 17);     /* of 18 plot rows: from top to bottom */
    rows_release(&r);
    curve_cache_release(&c);
    series_free(s);
}

static bool has_glyph(const struct rows *r, const char *glyph)
{
    for (int y = 0; y < r->n; y++)
        for (int k = 0; k < r->v[y].n; k++)
            if (strstr(r->v[y].span[k].text, glyph))
                return true;
    return false;
}

TEST(not_a_number_is_a_gap_and_a_mark)
{
    struct series *s = series_new();
    struct rows r;
    for (int i = 0; i < 40; i++)
        series_append(s, i, i >= 10 && i < 30 ? NAN : 1.0 + i);
    struct curve_ask a = {.raw = s, .x_lo = NAN, .x_hi = NAN, .cursor = NAN};
    draw(&r, &a, 60, 12);
    CHECK(has_glyph(&r, "×"));
    /* the middle of the gap is empty but for the marks on the base line */
    for (int y = 0; y < 9; y++) {
        struct str t;
        str_init(&t, 1 << 12);
        rows_text(&r.v[y], &t);
        size_t at = utf8_cut(t.p, 30);
        CHECK(t.p[at] == ' ' || t.p[at] == '\0');
        str_release(&t);
    }
    rows_release(&r);
    series_free(s);
}

TEST(strange_data_is_drawn)
{
    struct rows r;
    struct series *one = series_new(), *bad = series_new(), *flat = series_new();
    series_append(one, 5, 2.5);
    for (int i = 0; i < 50; i++) {
        series_append(bad, i, i % 2 ? NAN : INFINITY);
        series_append(flat, i, 0);
    }
    struct series *all[] = {one, bad, flat, NULL};
    for (size_t i = 0; i < 4; i++)
        for (int log = 0; log < 2; log++) {
            struct curve_ask a = {.raw = all[i], .val = all[i], .x_lo = NAN, .x_hi = NAN,
                                  .cursor = 3, .log_y = log, .clip = log};
            draw(&r, &a, 40, 10);
            rows_release(&r);
        }
    series_free(one);
    series_free(bad);
    series_free(flat);
}

TEST(clipping_counts_what_it_hides)
{
    struct series *s = with_spike(300, 200);
    struct rows r;
    struct curve_facts f;
    struct curve_ask a = {.raw = s, .x_lo = NAN, .x_hi = NAN, .cursor = NAN, .clip = true};
    rows_init(&r, GLYPH_UNICODE);
    curve_rows(&a, &r, 60, 12, &f);
    CHECK_INT(f.above, 1);
    CHECK(f.y.hi < 2);
    rows_release(&r);
    series_free(s);
}

TEST(spark_goes_from_low_to_high)
{
    struct series *s = series_new();
    struct rows r;
    struct str t;
    for (int i = 0; i < 8; i++)
        series_append(s, i, i);
    rows_init(&r, GLYPH_UNICODE);
    rows_new(&r, -1);
    curve_spark(s, &r, 8);
    str_init(&t, 256);
    rows_text(&r.v[0], &t);
    CHECK_STR(t.p, "▁▂▃▄▅▆▇█");
    str_release(&t);
    rows_release(&r);
    series_free(s);
}

/* A frame of many points is quick: the pyramid, not the points, is read. */
TEST(a_million_points_in_a_frame)
{
    struct series *s = with_spike(1000000, 700000);
    struct curve_cache c;
    curve_cache_init(&c);
    curve_cache_update(&c, s, 0.9);
    uint64_t before = mem_allocations();
    for (int i = 0; i < 20; i++) {
        struct rows r;
        struct curve_ask a = {.raw = s, .ema = c.ema, .x_lo = NAN, .x_hi = NAN, .cursor = NAN};
        draw(&r, &a, 110, 30);
        CHECK(marks_above(&r, 30) > 0);
        rows_release(&r);
    }
    CHECK(mem_allocations() - before < 20 * 4000);
    curve_cache_release(&c);
    series_free(s);
}

/* The same first points give the same average, however long the run becomes. */
TEST(the_average_does_not_hang_on_the_run_s_length)
{
    struct series *s[2] = {series_new(), series_new()};
    double *ema[2];
    for (int k = 0; k < 2; k++) {
        int n = k ? 100000 : 10000;
        uint32_t seed = 3;
        for (int i = 1; i <= n; i++) {
            seed = seed * 1664525u + 1013904223u;
            series_append(s[k], i, i % 977 == 0 ? NAN : 1 + (double)(seed >> 8) / (1 << 24));
        }
        ema[k] = xcalloc((size_t)n, sizeof **ema);
        series_ema(s[k], 0.97, ema[k]);
    }
    CHECK(memcmp(ema[0], ema[1], 10000 * sizeof **ema) == 0);
    for (int k = 0; k < 2; k++) {
        free(ema[k]);
        series_free(s[k]);
    }
}

/* Zoomed to where it is, at every scale; beside it, it is not there. */
TEST(one_spike_is_seen_at_every_zoom)
{
    static const struct { int w, h; } sizes[] = {{40, 12}, {80, 24}, {120, 40}, {200, 60}};
    struct series *s = with_spike(1000000, 700001);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        for (double half = 400000; half >= 5; half /= 7)
            for (int off = -1; off <= 1; off++) {
                struct rows r;
                double middle = 700001 + off * half * 0.4;
                struct curve_ask a = {.raw = s, .cursor = NAN, .x_lo = MAX(middle - half, 0),
                                      .x_hi = middle + half};
                draw(&r, &a, sizes[i].w, sizes[i].h);
                if (marks_above(&r, sizes[i].h) < 1)
                    t_fail(__FILE__, __LINE__, "no spike: %dx%d, %g around", sizes[i].w, sizes[i].h,
                           half);
                rows_release(&r);
                a.x_lo += 3 * half;
                a.x_hi += 3 * half;
                struct curve_facts f;
                curve_count(&a, sizes[i].w, sizes[i].h, &f);
                CHECK(f.y.hi < 2 || a.x_hi > 1000000);
            }
    series_free(s);
}

/* What has no place on a log axis is counted, and the rest is drawn. */
TEST(log_axes_count_what_they_hide)
{
    struct series *s = series_new();
    struct curve_facts f;
    struct rows r;
    for (int i = -2; i <= 100; i++)
        series_append(s, i, i == 50 || i == 51 ? -1.0 : i == 52 ? 0.0 : pow(10, i / 25.0));
    struct curve_ask a = {.raw = s, .x_lo = NAN, .x_hi = NAN, .cursor = NAN, .log_y = true,
                          .log_x = true};
    rows_init(&r, GLYPH_UNICODE);
    curve_rows(&a, &r, 80, 24, &f);
    CHECK_INT(f.hidden, 3 + 3);          /* three values, and the steps -2, -1, 0 */
    CHECK(f.x.log && f.y.log && f.x.lo == 1 && f.y.hi > 1e4 && f.above == 0);
    rows_release(&r);
    curve_count(&a, 80, 24, &f);
    CHECK_INT(f.hidden, 6);
    a.log_x = a.log_y = false;
    curve_count(&a, 80, 24, &f);
    CHECK_INT(f.hidden, 0);
    series_free(s);
}

/* On log-log axes a power is a straight line: its cells stand on a diagonal. */
TEST(a_power_is_straight_on_log_axes)
{
    struct series *s = series_new();
    struct curve_cache c;
    struct curve_facts f;
    for (int i = 1; i <= 5000; i++)
        series_append(s, i, 10 * pow(i, -0.5));
    curve_cache_init(&c);
    curve_cache_update(&c, s, 0);
    struct curve_ask a = {.raw = s, .ema = c.ema, .x_lo = NAN, .x_hi = NAN, .cursor = NAN,
                          .log_y = true, .log_x = true};
    curve_count(&a, 80, 24, &f);
    double slope = (axis_share(&f.y, 10 * pow(4000, -0.5)) - axis_share(&f.y, 10)) /
                   (axis_share(&f.x, 4000) - axis_share(&f.x, 1));
    for (int i = 1; i <= 4000; i *= 3) {
        double want = axis_share(&f.y, 10) + slope * (axis_share(&f.x, i) - axis_share(&f.x, 1));
        CHECK_NEAR(axis_share(&f.y, 10 * pow(i, -0.5)), want, 1e-9);
    }
    curve_cache_release(&c);
    series_free(s);
}

/* Over tokens the points keep the averages they have over steps; a point whose
 * tokens are not known is left out, not moved. */
TEST(x_can_be_another_unit)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct curve_line l;
    struct run r;
    run_init(&r, log);
    free(log);
    curve_line_init(&l);
    for (int i = 1; i <= 50; i++) {
        series_append(r.loss, i, 3 - i * 0.01 + 0.3 * (i % 3));
        series_append(r.tokens, i, i == 20 ? NAN : i * 100.0);
        if (i % 10 == 0)
            series_append(r.val, i, 2);
        curve_line_update(&l, &r, X_TOKENS, 0.9);
    }
    struct curve_trace t = curve_line_trace(&l, &r);
    CHECK_INT(series_count(t.raw), 49);
    CHECK_INT(series_count(t.val), 4);
    CHECK(series_x(t.raw, 19) == 2100 && t.ema[19] == l.cache.ema[20]);
    CHECK_NEAR(curve_line_x(&r, X_TOKENS, 0), 0, 0);
    CHECK_NEAR(curve_line_x(&r, X_TOKENS, 30), 3000, 0);
    CHECK(isnan(curve_line_x(&r, X_TOKENS, 20)) && isnan(curve_line_x(&r, X_TOKENS, 51)));
    curve_line_update(&l, &r, X_STEP, 0.9);
    t = curve_line_trace(&l, &r);
    CHECK(t.raw == r.loss && t.ema == l.cache.ema);
    curve_line_release(&l);
    run_release(&r);
}

TEST(odd_points_are_counted)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct curve_line l;
    struct run r;
    run_init(&r, log);
    free(log);
    curve_line_init(&l);
    for (int i = 1; i <= 60; i++) {
        if (i > 20 && i <= 25)
            continue;
        series_append(r.loss, i, i == 30 ? NAN : i == 31 ? -INFINITY : 1);
        curve_line_update(&l, &r, X_STEP, 0.5);
    }
    CHECK(l.nan == 1 && l.inf == 1 && l.gaps == 5 && series_x(r.loss, l.first_bad) == 30);
    curve_line_release(&l);
    run_release(&r);
}

/* Processor time, so that others on the machine don't count. */
static double cpu_us(void)
{
    return 1e6 * (double)clock() / CLOCKS_PER_SEC;
}

/* BENCH=FILE gets what a point and a frame cost (tests/bench/curve.sh). */
TEST(what_it_costs)
{
    enum { N = 1000000, FRAMES = 40 };
    struct series *s = series_new();
    struct curve_cache c;
    curve_cache_init(&c);
    double start = cpu_us();
    for (int i = 0; i < N; i++)
        series_append(s, i, 1 + (double)((unsigned)i * 7919u % 1000u) * 1e-3);
    double append = (cpu_us() - start) * 1000 / N;
    start = cpu_us();
    curve_cache_update(&c, s, 0.9);
    double ema = (cpu_us() - start) * 1000 / N;
    start = cpu_us();
    for (int i = 0; i < FRAMES; i++) {
        struct rows r;
        struct curve_ask a = {.raw = s, .ema = c.ema, .x_lo = NAN, .x_hi = NAN, .cursor = NAN,
                              .log_y = i % 2};
        draw(&r, &a, 114, 34);
        rows_release(&r);
    }
    double frame = (cpu_us() - start) / 1000 / FRAMES;
    FILE *f = getenv("BENCH") ? fopen(getenv("BENCH"), "a") : NULL;
    if (f) {
        fprintf(f, "bench curve_append %.0f ns\nbench curve_average %.1f ns\n"
                   "bench curve_frame_1e6_points %.2f ms\n", append, ema, frame);
        fclose(f);
    }
    CHECK(series_count(s) == N);
    curve_cache_release(&c);
    series_free(s);
}

T_MAIN
