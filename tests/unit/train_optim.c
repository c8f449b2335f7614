/* train_optim.c - AdamW, clipping and the schedules against their definitions
 * in f64, and the random numbers. */
#include "core/train/optim.h"

#include "tests/unit/train_check.h"

enum { N = 133, STEPS = 25 };

struct ref {
    double w[N], m[N], v[N];
};

/* torch.optim.AdamW, one parameter. */
static void ref_step(struct ref *r, const double *g, const struct optim *o, double lr, double wd,
                     int t)
{
    for (int i = 0; i < N; i++) {
        r->w[i] *= 1 - lr * wd;
        r->m[i] += (1 - o->beta1) * (g[i] - r->m[i]);
        r->v[i] = o->beta2 * r->v[i] + (1 - o->beta2) * g[i] * g[i];
        double bias1 = 1 - pow(o->beta1, t), bias2 = 1 - pow(o->beta2, t);
        r->w[i] -= lr / bias1 * r->m[i] / (sqrt(r->v[i]) / sqrt(bias2) + o->eps);
    }
}

static void follow(struct compute *c, bool matrix)
{
    static float w[N], g[N], m[N], v[N];
    static struct ref r;
    struct tensor t = {.rows = matrix ? 7 : 1, .cols = matrix ? 19 : N, .w = w, .g = g, .m = m,
                       .v = v, .decay = matrix, .ndim = matrix ? 2 : 1};
    struct tensors ts = {.t = &t, .n = 1};
    struct optim o;
    double gd[N];
    optim_defaults(&o);
    o.decay = 0.1, o.clip = 0.5, o.rate = 0.01, o.steps = STEPS;
    memset(&r, 0, sizeof r), memset(m, 0, sizeof m), memset(v, 0, sizeof v);
    check_fill(1, r.w, w, N, 1);
    for (int step = 0; step < STEPS; step++) {
        check_fill((uint64_t)step + 10, gd, g, N, 6);
        double norm = optim_grad_norm(c, &ts, 0.25), want = 0;
        for (int i = 0; i < N; i++)
            want += gd[i] * gd[i] / 16;
        CHECK_NEAR(norm, sqrt(want), 1e-5 * norm);
        double clip = fmin(1, 0.5 / (norm + 1e-6)), lr = optim_rate(&o, step);
        for (int i = 0; i < N; i++)
            gd[i] *= 0.25 * clip;
        optim_step(c, &o, &ts, 0.25, norm, lr, step + 1);
        ref_step(&r, gd, &o, lr, matrix ? 0.1 : 0, step + 1);
        check_close("w", w, r.w, N, 1e-5);
        check_close("m", m, r.m, N, 1e-5);        /* w alone can't show the clipping */
    }
    check_close("v", v, r.v, N, 1e-5);
}

static void follow_matrix(struct compute *c)
{
    follow(c, true);
}

static void follow_norm(struct compute *c)
{
    follow(c, false);
}

TEST(adamw_matches_its_definition) { check_everywhere(follow_matrix); }
TEST(norms_do_not_decay) { check_everywhere(follow_norm); }

TEST(schedules)
{
    struct optim o;
    optim_defaults(&o);
    o.rate = 2, o.warmup = 4, o.steps = 12;
    CHECK_NEAR(optim_rate(&o, 0), 0, 0);
    CHECK_NEAR(optim_rate(&o, 3), 1.5, 1e-12);
    CHECK_NEAR(optim_rate(&o, 4), 2, 1e-12);
    CHECK_NEAR(optim_rate(&o, 5), 1.9238795325, 1e-9);
    CHECK_NEAR(optim_rate(&o, 8), 1, 1e-12);
    CHECK_NEAR(optim_rate(&o, 6), 2 * 0.85355339059, 1e-9);
    CHECK_NEAR(optim_rate(&o, 12), 0, 1e-12);
    o.schedule = OPTIM_LINEAR;
    CHECK_NEAR(optim_rate(&o, 6), 1.5, 1e-12);
    CHECK_NEAR(optim_rate(&o, 20), 0, 0);
    o.schedule = OPTIM_CONSTANT;
    CHECK_NEAR(optim_rate(&o, 11), 2, 0);
}

TEST(zero_grad_zeroes_all)
{
    static float g[40000];
    struct tensor t = {.rows = 200, .cols = 200, .g = g, .ndim = 2};
    struct tensors ts = {.t = &t, .n = 1};
    struct compute c;
    struct pd_err err;
    CHECK_OK(compute_init(&c, 2, 8, &err));
    for (int i = 0; i < 40000; i++)
        g[i] = 1;
    CHECK_NEAR(optim_grad_norm(&c, &ts, 1), 200, 1e-9);
    optim_zero_grad(&c, &ts);
    CHECK_NEAR(optim_grad_norm(&c, &ts, 1), 0, 0);
    compute_release(&c);
}

/* Values of SplitMix64 (seed 0 gives e220a8397b1dcdaf first), and moments. */
TEST(random_numbers)
{
    double sum = 0, square = 0;
    CHECK(rng_u64(0, 0) == 0xe220a8397b1dcdafull);
    CHECK(rng_u64(0, 1) == 0x6e789e6aa1b965f4ull);
    for (uint64_t i = 0; i < 100000; i++) {
        double x = rng_normal(42, i);
        sum += x;
        square += x * x;
    }
    CHECK_NEAR(sum / 1e5, 0, 0.02);
    CHECK_NEAR(square / 1e5, 1, 0.02);
    CHECK(rng_key(1, 2, 3, 4) != rng_key(1, 3, 2, 4));
}

T_MAIN
