/* labs_run.c - a run's log: series, answers, ETA, the CSV. */
#include "tests/t.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/base/str.h"
#include "labs/run.h"

static struct run run;
static struct run_log log_;

static void hello(int steps)
{
    char line[200];
    snprintf(line, sizeof line,
             "{\"v\":1,\"ev\":\"hello\",\"model\":\"base\",\"params\":1000,\"steps\":%d,\"rate\":"
             "0.003}",
             steps);
    CHECK(run_line(&run, &log_, line, 1000));
}

static void step(int n, double loss, int64_t ts)
{
    char line[200];
    snprintf(line, sizeof line,
             "{\"v\":1,\"ev\":\"step\",\"step\":%d,\"loss\":%.9g,\"lr\":0.001,\"gnorm\":1.5,"
             "\"tok_s\":800,\"epoch\":0.5}",
             n, loss);
    CHECK(run_line(&run, &log_, line, ts));
}

TEST(records_become_series)
{
    run_init(&run, &log_);
    hello(10);
    CHECK(run_line(&run, &log_, "{\"v\":1,\"ev\":\"eval\",\"step\":0,\"val_loss\":4}", 1000));
    step(1, 3.5, 2000);
    step(2, 3.25, 3000);
    CHECK(run_line(&run, &log_, "{\"v\":1,\"ev\":\"eval\",\"step\":2,\"val_loss\":3}", 3100));
    CHECK(!run_line(&run, &log_, "plain text", 3100));
    CHECK(!run_line(&run, &log_, "{\"v\":1,\"ev\":\"step\",\"step\":", 3100));
    CHECK_INT(series_count(run.loss), 2);
    CHECK_INT(series_count(run.val), 2);
    CHECK_NEAR(run.first_val, 4, 0);
    CHECK_NEAR(run.best_val, 3, 0);
    CHECK_NEAR(run.best_step, 2, 0);
    CHECK_INT(run.step, 2);
    CHECK_INT(run.steps_total, 10);
    CHECK_STR(run.state, "running");
    CHECK_NEAR(log_.params, 1000, 0);
    CHECK(run_line(&run, &log_, "{\"v\":1,\"ev\":\"done\",\"steps\":2,\"loss\":3.25,\"val_loss\":3,"
                               "\"adapter\":\"/out\"}", 4000));
    CHECK_STR(run.state, "done");
    CHECK_STR(log_.adapter, "/out");
    run_release(&run);
}

/* A reconnect may deliver lines again: nothing doubles. */
TEST(the_same_lines_twice_change_nothing)
{
    struct str a, b;
    str_init(&a, 1 << 20);
    str_init(&b, 1 << 20);
    run_init(&run, &log_);
    hello(10);
    for (int i = 1; i <= 5; i++)
        step(i, 4 - i * 0.1, i * 1000);
    run_csv(&run, &a);
    for (int i = 3; i <= 5; i++)
        step(i, 9, 6000);
    const char *pause =
        "{\"v\":1,\"ev\":\"answer\",\"id\":\"p1\",\"cmd\":\"pause\",\"ok\":true}";
    CHECK(run_line(&run, &log_, pause, 6000));
    CHECK(run_line(&run, &log_, pause, 6000));
    run_csv(&run, &b);
    CHECK_STR(b.p, a.p);
    CHECK_INT(log_.answers_n, 1);
    str_release(&a);
    str_release(&b);
    run_release(&run);
}

TEST(answers_are_found_by_id_and_by_command)
{
    run_init(&run, &log_);
    hello(10);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"answer\",\"id\":\"a\",\"cmd\":\"rate\",\"ok\":true,"
                          "\"step\":3,\"rate\":0.002,\"lr\":0.0019}", 1);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"answer\",\"id\":\"b\",\"cmd\":\"step\",\"ok\":true,"
                          "\"step\":3,\"n\":4}", 1);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"answer\",\"id\":\"c\",\"cmd\":\"?\",\"ok\":false,"
                          "\"step\":3,\"code\":\"PD-USAGE\",\"text\":\"no such command\"}", 1);
    CHECK_NEAR(run_answer_find(&log_, "a", NULL)->value, 0.002, 1e-12);
    CHECK_NEAR(log_.rate, 0.002, 1e-12);
    CHECK_NEAR(run_answer_find(&log_, NULL, "step")->value, 4, 0);
    CHECK(!run_answer_find(&log_, "c", NULL)->ok);
    CHECK_HAS(run_answer_find(&log_, "c", NULL)->text, "no such command");
    CHECK(!run_answer_find(&log_, "d", NULL));
    CHECK(!run_answer_find(&log_, NULL, "pause"));
    run_release(&run);
}

TEST(many_answers_keep_the_first_and_the_last)
{
    run_init(&run, &log_);
    for (int i = 0; i < 3 * RUN_ANSWERS; i++) {
        char line[200];
        snprintf(line, sizeof line,
                 "{\"v\":1,\"ev\":\"answer\",\"id\":\"i%d\",\"cmd\":\"hello\",\"ok\":true}", i);
        run_line(&run, &log_, line, 1);
    }
    CHECK(run_answer_find(&log_, "i0", NULL) != NULL);
    CHECK(run_answer_find(&log_, "i191", NULL) != NULL);
    run_release(&run);
}

/* --- ETA -------------------------------------------------------------------------------- */

TEST(no_eta_before_five_steps)
{
    run_init(&run, &log_);
    hello(100);
    for (int i = 1; i <= 5; i++) {
        step(i, 1, 10000 + i * 2000);
        CHECK_MSG(isnan(run.eta_low) && isnan(run.eta_high), "an ETA at step %d", i);
    }
    step(6, 1, 10000 + 6 * 2000);
    CHECK(run.eta_low <= 94 * 2.0 && 94 * 2.0 <= run.eta_high);
    CHECK_NEAR((run.eta_low + run.eta_high) / 2, 188, 1e-6);
    run_release(&run);
}

/* Evaluations every 10 steps take 20 s: the range must hold the truth, which
 * is 1 s a step and 2 s of overhead a step. */
TEST(slow_steps_count_as_overhead)
{
    int64_t t = 0;
    run_init(&run, &log_);
    hello(1000);
    for (int i = 1; i <= 200; i++) {
        t += i % 10 == 0 ? 21000 : 1000;
        step(i, 1, 1 + t);
    }
    double truth = 800 * 3.0, mid = (run.eta_low + run.eta_high) / 2;
    CHECK_MSG(fabs(mid - truth) < 0.05 * truth, "eta %g, truth %g", mid, truth);
    run_release(&run);
}

TEST(a_pause_is_not_the_step_s_time)
{
    run_init(&run, &log_);
    hello(100);
    for (int i = 1; i <= 10; i++)
        step(i, 1, i * 1000);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"state\",\"state\":\"paused\",\"step\":10}", 10100);
    CHECK_STR(run.state, "paused");
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"state\",\"state\":\"running\",\"step\":10}", 700000);
    for (int i = 11; i <= 20; i++)
        step(i, 1, 700000 + (i - 10) * 1000);
    double mid = (run.eta_low + run.eta_high) / 2;
    CHECK_MSG(fabs(mid - 80) < 4, "eta %g, truth 80", mid);
    run_release(&run);
}

/* Whole runs: after a tenth of what this process does, the middle of the range
 * is never more than a tenth off, and the range holds the truth mostly. */
static double trace_ms(int kind, int i, uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    double ms = 1000 * (1 + 0.2 * ((double)(*seed >> 8) / (1 << 24) - 0.5));
    if (kind == 0 && i <= 2)
        ms += i == 1 ? 90000 : 20000;            /* compiles first */
    if (kind == 1 && i % 100 == 0)
        ms += 30000;                             /* saves */
    if (kind == 3 && i % 20 == 0)
        ms += 8000;                              /* evaluates */
    return ms;
}

TEST(the_eta_is_honest_over_whole_runs)
{
    static const struct { const char *what; int from, steps; } runs[] = {
        {"slow first steps", 0, 400}, {"slow every 100th", 0, 1000},
        {"resumed at 90 %", 900, 1000}, {"slow every 20th", 0, 600}};
    for (size_t k = 0; k < ARRAY_LEN(runs); k++) {
        double at[1001], now = 1000;
        int inside = 0, looked = 0;
        uint32_t seed = 5;
        run_init(&run, &log_);
        hello(runs[k].steps);
        for (int i = runs[k].from + 1; i <= runs[k].steps; i++)
            at[i] = now += trace_ms((int)k, i, &seed);
        for (int i = runs[k].from + 1; i < runs[k].steps; i++) {
            step(i, 1, (int64_t)at[i]);
            if (i - runs[k].from < (runs[k].steps - runs[k].from) / 10)
                continue;
            double truth = (at[runs[k].steps] - at[i]) / 1000;
            double mid = (run.eta_low + run.eta_high) / 2;
            if (!(fabs(mid - truth) <= 0.1 * truth + 1.5))
                t_fail(__FILE__, __LINE__, "%s, step %d: eta %g, truth %g", runs[k].what, i, mid,
                       truth);
            looked++;
            inside += run.eta_low <= truth && truth <= run.eta_high;
        }
        CHECK_MSG(inside > looked * 3 / 4, "%s: inside %d of %d", runs[k].what, inside, looked);
        run_release(&run);
    }
}

TEST(the_range_is_wider_when_steps_vary)
{
    double width[2];
    for (int k = 0; k < 2; k++) {
        int64_t t = 1;
        run_init(&run, &log_);
        hello(100);
        for (int i = 1; i <= 30; i++) {
            t += 1000 + (k ? (i % 2 ? 400 : -400) : 0);
            step(i, 1, t);
        }
        width[k] = run.eta_high - run.eta_low;
        run_release(&run);
    }
    CHECK(width[1] > width[0] * 1.5);
}

/* --- the CSV ------------------------------------------------------------------------------ */

TEST(the_csv_has_the_pod_s_steps_exactly)
{
    struct str s;
    str_init(&s, 1 << 20);
    run_init(&run, &log_);
    hello(10);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"eval\",\"step\":0,\"val_loss\":4.5}", 1);
    step(1, 0.1, 1);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"step\",\"step\":2,\"loss\":NaN,\"lr\":0.001,"
                          "\"gnorm\":Infinity,\"tok_s\":5}", 2);
    run_line(&run, &log_, "{\"v\":1,\"ev\":\"eval\",\"step\":2,\"val_loss\":3.25}", 2);
    run_csv(&run, &s);
    CHECK_STR(s.p, "step,loss,val_loss,lr,gnorm,tok_s,tokens,epoch,seconds\n"
                   "0,,4.5,,,,,,\n"
                   "1,0.1,,0.001,1.5,800,NaN,0.5,0\n"
                   "2,NaN,3.25,0.001,Infinity,5,NaN,NaN,0\n");
    str_release(&s);
    run_release(&run);
}

/* A log of any bytes is never more than text. */
TEST(noise_is_no_record)
{
    static const char bytes[] = "{}\":,evstp1.NaI \\\x1b\xff";
    unsigned x = 1;
    run_init(&run, &log_);
    for (int i = 0; i < 20000; i++) {
        char line[80];
        size_t n = x % 79;
        for (size_t k = 0; k < n; k++) {
            x = x * 1103515245u + 12345u;
            line[k] = bytes[(x >> 16) % (sizeof bytes - 1)];
        }
        line[n] = 0;
        x = x * 1103515245u + 12345u;
        run_line(&run, &log_, line, i);
    }
    CHECK_INT(series_count(run.loss), 0);
    run_release(&run);
}

T_MAIN
