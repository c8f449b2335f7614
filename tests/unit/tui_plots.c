/* tui_plots.c - the screens of the curve and of the training's steering, and what
 * must stand on them whatever the goldens say. */
#include "tests/screens/golden.h"

#include "tui/walk.h"

static void in_lab(struct app *a)
{
    fx_lab(a);
    fx_run(a->s);
    fx_log(a->s);
}

/* --- a step walked through --------------------------------------------------- */
static void train(struct app *a)
{
    in_lab(a);
    fx_walk(a->s);
    for (int i = 0; i < WALK_STAGES; i++) {      /* as before the walk */
        free(a->s->run.walk_line[i]);
        a->s->run.walk_line[i] = NULL;
    }
    a->s->run.walk_step = 0;
    fx_key(a, "7");
}

static void train_walk(struct app *a)
{
    train(a);
    fx_walk(a->s);
    fx_key(a, "z");
}

static void train_update(struct app *a)
{
    train_walk(a);
    for (int i = 0; i < 9; i++)
        fx_key(a, "Right");
}

static void train_forward(struct app *a)
{
    train_walk(a);
    fx_key(a, "Right");
}

TEST(train_screens) { all_sizes("train", train); }
TEST(train_walk_screens) { all_sizes("train-walk", train_walk); }
TEST(train_forward_screens) { all_sizes("train-forward", train_forward); }
TEST(train_update_screens) { all_sizes("train-update", train_update); }

static void stage_text(const struct app *a, enum walk_stage stage, int w, struct str *s)
{
    struct rows r;
    rows_init(&r, GLYPH_UNICODE);
    walk_rows(&a->s->run, stage, &r, w);
    str_init(s, 1 << 20);
    for (int i = 0; i < r.n; i++) {
        if (r.v[i].width > w)
            t_fail(__FILE__, __LINE__, "stage %d: %d wide of %d", (int)stage, r.v[i].width, w);
        rows_text(&r.v[i], s);
        str_addc(s, '\n');
    }
    rows_release(&r);
}

/* The numbers that a student needs to compute it again stand there. */
TEST(a_walk_has_its_numbers)
{
    static const struct { enum walk_stage stage; const char *needs[4]; } want[] = {
        {WALK_BATCH, {"260", "[A]", "Below is"}},
        {WALK_FORWARD, {"5.36206", "9.81086", "0.0116926", "4096"}},
        {WALK_LOSS, {"264.01", "1348.73606", "260", "5.18744637"}},
        {WALK_BACKWARD, {"layers.3", "0.0867", "0.291018", "14336"}},
        {WALK_RATE, {"cosine", "0.001 * 3 / 8", "0.000375", "0.0005"}},
        {WALK_UPDATE, {"0.0770068", "0.016709", "-0.000739233335", "1 - 0.000375 * 0.01"}}};
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    train_walk(a);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        for (int k = 0; k < 4 && want[i].needs[k]; k++) {
            struct str s;
            stage_text(a, want[i].stage, 100, &s);
            CHECK_HAS(s.p, want[i].needs[k]);
            str_release(&s);
        }
    for (int w = 20; w < 120; w += 7)
        for (int i = 0; i < WALK_STAGES; i++) {
            struct str s;
            stage_text(a, (enum walk_stage)i, w, &s);
            CHECK(s.len > 0);
            str_release(&s);
        }
    fx_free(a);
}

/* Taken, it is compared with what was said. */
TEST(a_step_that_was_walked_is_compared)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct run_log *log = xcalloc(1, sizeof *log);
    struct str s;
    train_walk(a);
    fx_screen(a, &s);
    CHECK(!strstr(s.p, "has been taken"));
    str_release(&s);
    CHECK(run_line(&a->s->run, log, "{\"v\":1,\"ev\":\"step\",\"step\":4,\"loss\":5.18744637}", 0));
    free(log);
    fx_screen(a, &s);
    CHECK_HAS(s.p, "Step 4 has been taken: loss 5.18744637; the walk said 5.18744637");
    str_release(&s);
    fx_free(a);
}

TEST(an_old_trainer_is_named)
{
    struct app *a = fx_app("en", 80, 24, GLYPH_UNICODE);
    struct str s;
    train(a);
    a->s->run.control = 1;
    fx_screen(a, &s);
    CHECK_HAS(s.p, "older than the walk");
    str_release(&s);
    fx_key(a, "Enter");
    CHECK_HAS(a->s->message, "older than the walk");
    fx_free(a);
}

T_MAIN
