/* tui_verdict.c - what is said of a curve, on traces built for it: every rule has
 * one that calls it and one that must not. */
#include "tests/t.h"
#include "tui/verdict.h"

#include <math.h>

#include "core/base/mem.h"
#include "labs/run.h"

struct trace {
    struct run r;
    struct curve_line line;
    uint32_t seed;
    struct verdict v[VERDICT_MOST];
    int n;
};

static struct trace *fresh(void)
{
    struct trace *t = xcalloc(1, sizeof *t);
    struct run_log *log = xcalloc(1, sizeof *log);
    run_init(&t->r, log);
    free(log);
    curve_line_init(&t->line);
    t->seed = 7;
    return t;
}

static double noise(struct trace *t)
{
    t->seed = t->seed * 1664525u + 1013904223u;
    return (double)(t->seed >> 8) / (1 << 24) - 0.5;
}

static void point(struct trace *t, double step, double loss, double lr)
{
    series_append(t->r.loss, step, loss);
    series_append(t->r.lr, step, lr);
    t->r.step = (int64_t)step;
}

/* n points that fall from 3.3 towards 0.9, with noise. */
static void falling(struct trace *t, int from, int n)
{
    for (int i = from; i < from + n; i++)
        point(t, i, 0.9 + 2.4 * exp(-i / 60.0) + 0.1 * noise(t), 1e-3);
}

static void judge(struct trace *t)
{
    curve_line_update(&t->line, &t->r, X_STEP, 0.9);
    t->n = verdict_find(&t->r, &t->line, t->v);
}

static const struct verdict *of(const struct trace *t, enum verdict_kind kind)
{
    for (int i = 0; i < t->n; i++)
        if (t->v[i].kind == kind)
            return &t->v[i];
    return NULL;
}

static void drop(struct trace *t)
{
    run_release(&t->r);
    curve_line_release(&t->line);
    free(t);
}

static void evals(struct trace *t, const double *v, int n)
{
    for (int i = 0; i < n; i++)
        series_append(t->r.val, 50 * i, v[i]);
}

TEST(too_little_data_claims_nothing)
{
    for (int n = 0; n < 12; n++) {
        struct trace *t = fresh();
        for (int i = 1; i <= n; i++)
            point(t, i, i == n ? 9 : 2.0, 1e-3);
        evals(t, (double[]){2.0, 2.5}, n > 5 ? 2 : 0);
        judge(t);
        CHECK_INT(t->n, 0);
        drop(t);
    }
}

TEST(a_quiet_run_claims_nothing)
{
    struct trace *t = fresh();
    falling(t, 1, 150);
    judge(t);
    CHECK_INT(t->n, 0);
    drop(t);
}

TEST(nan_has_its_step_and_the_last_good_one)
{
    struct trace *t = fresh();
    falling(t, 1, 30);
    point(t, 31, NAN, 1e-3);
    point(t, 32, INFINITY, 1e-3);
    judge(t);
    const struct verdict *v = of(t, VERDICT_NOT_FINITE);
    CHECK(v && v == &t->v[0] && v->step == 31 && v->a == 30);
    CHECK_NEAR(v ? v->b : 0, series_y(t->r.loss, 29), 0);
    drop(t);
    t = fresh();
    point(t, 1, NAN, 1e-3);
    judge(t);
    v = of(t, VERDICT_NOT_FINITE);
    CHECK(v && v->step == 1 && isnan(v->a));
    drop(t);
}

TEST(diverging)
{
    struct trace *t = fresh();
    falling(t, 1, 100);
    for (int i = 101; i <= 160; i++)
        point(t, i, 1.3 + (i - 100) * 0.05, 1e-3);
    judge(t);
    const struct verdict *v = of(t, VERDICT_DIVERGING);
    CHECK(v && v->step > 80 && v->step <= 115 && v->b > 1.5 * v->a);
    drop(t);
    t = fresh();                         /* high, but coming down again */
    falling(t, 1, 100);
    for (int i = 101; i <= 200; i++)
        point(t, i, i < 130 ? 4.0 : 4.0 - (i - 130) * 0.03, 1e-3);
    judge(t);
    CHECK(!of(t, VERDICT_DIVERGING));
    drop(t);
}

TEST(rate_zero)
{
    struct trace *t = fresh();
    falling(t, 1, 40);
    for (int i = 41; i <= 45; i++)
        point(t, i, 2.0, 0);
    t->r.steps_total = 100;
    judge(t);
    CHECK(of(t, VERDICT_LR_ZERO) && of(t, VERDICT_LR_ZERO)->step == 41);
    t->r.steps_total = 45;               /* the schedule's end is no fault */
    judge(t);
    CHECK(!of(t, VERDICT_LR_ZERO));
    drop(t);
    t = fresh();
    falling(t, 1, 40);
    for (int i = 41; i <= 44; i++)
        point(t, i, 2.0, 0);
    judge(t);
    CHECK(!of(t, VERDICT_LR_ZERO));
    drop(t);
}

TEST(overfitting_since_the_best_evaluation)
{
    struct trace *t = fresh();
    falling(t, 1, 250);
    evals(t, (double[]){3.3, 2.0, 1.5, 1.6, 1.7, 1.9}, 6);
    judge(t);
    const struct verdict *v = of(t, VERDICT_OVERFIT);
    CHECK(v && v->step == 100 && v->n == 3 && v->a == 1.5 && v->b == 1.9);
    CHECK(!of(t, VERDICT_VAL_WORSE) && !of(t, VERDICT_VAL_BETTER));
    drop(t);
}

TEST(validation_worse_with_train)
{
    struct trace *t = fresh();
    falling(t, 1, 100);
    for (int i = 101; i <= 250; i++)
        point(t, i, 1.3 + (i - 100) * 0.003, 1e-3);
    evals(t, (double[]){3.3, 2.0, 1.5, 1.6, 1.7, 1.9}, 6);
    judge(t);
    CHECK(of(t, VERDICT_VAL_WORSE) && !of(t, VERDICT_OVERFIT));
    drop(t);
}

TEST(a_small_rise_or_a_single_one_is_no_overfitting)
{
    static const double wobble[][4] = {{2.0, 1.5, 1.501, 1.503}, {2.0, 1.5, 1.4, 1.9},
                                       {2.0, 1.5, 1.5, 1.5}};
    for (size_t i = 0; i < ARRAY_LEN(wobble); i++) {
        struct trace *t = fresh();
        falling(t, 1, 150);
        evals(t, wobble[i], 4);
        judge(t);
        CHECK(!of(t, VERDICT_OVERFIT) && !of(t, VERDICT_VAL_WORSE));
        drop(t);
    }
}

TEST(improving)
{
    struct trace *t = fresh();
    falling(t, 1, 200);
    evals(t, (double[]){3.3, 3.4, 2.0, 1.5, 1.4}, 5);
    judge(t);
    const struct verdict *v = of(t, VERDICT_VAL_BETTER);
    CHECK(v && v->n == 3 && v->a == 3.4 && v->b == 1.4);
    drop(t);
}

TEST(flat)
{
    struct trace *t = fresh();
    falling(t, 1, 100);
    for (int i = 101; i <= 300; i++)
        point(t, i, 1.35 + 0.002 * noise(t), 1e-3);
    judge(t);
    CHECK(of(t, VERDICT_PLATEAU) && of(t, VERDICT_PLATEAU)->step == 201);
    drop(t);
    t = fresh();                         /* still falling, slowly */
    for (int i = 1; i <= 300; i++)
        point(t, i, 3 - i * 0.003, 1e-3);
    judge(t);
    CHECK(!of(t, VERDICT_PLATEAU));
    drop(t);
}

TEST(spike_and_its_end)
{
    struct trace *t = fresh();
    falling(t, 1, 250);
    for (int i = 251; i <= 253; i++)
        point(t, i, 2.8, 1e-3);
    judge(t);
    const struct verdict *v = of(t, VERDICT_SPIKE);
    CHECK(v && v->step == 251 && v->a == 2.8 && isnan(v->to));
    falling(t, 254, 40);
    judge(t);
    v = of(t, VERDICT_SPIKE);
    CHECK(v && v->step == 251 && v->to == 254);
    drop(t);
    t = fresh();                         /* noise is no spike */
    for (int i = 1; i <= 300; i++)
        point(t, i, 2 + noise(t), 1e-3);
    judge(t);
    CHECK(!of(t, VERDICT_SPIKE));
    drop(t);
}

TEST(warming_up)
{
    struct trace *t = fresh();
    for (int i = 1; i <= 10; i++)
        point(t, i, 4 - i * 0.01, 1e-4 * i);
    judge(t);
    CHECK(of(t, VERDICT_WARMUP) && of(t, VERDICT_WARMUP)->step == 10);
    point(t, 11, 3.9, 1e-3);
    point(t, 12, 3.9, 1e-3);
    judge(t);
    CHECK(!of(t, VERDICT_WARMUP));
    drop(t);
}

/* The worst stands first. */
TEST(the_order_is_by_urgency)
{
    struct trace *t = fresh();
    falling(t, 1, 250);
    evals(t, (double[]){3.3, 2.0, 1.5, 1.6, 1.7, 1.9}, 6);
    point(t, 251, 9, 1e-3);
    point(t, 252, NAN, 1e-3);
    judge(t);
    CHECK(t->n >= 3);
    CHECK_INT(t->v[0].kind, VERDICT_NOT_FINITE);
    for (int i = 1; i < t->n; i++)
        CHECK(t->v[i].kind > t->v[i - 1].kind);
    drop(t);
}

T_MAIN
