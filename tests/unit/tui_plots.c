/* tui_plots.c - the screens of the curve and of the training's steering, and what
 * must stand on them whatever the goldens say. */
#include "tests/screens/golden.h"

#include "labs/runfile.h"
#include "tui/panel.h"
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
    if (a->cols >= 80)
        fx_key(a, "z");
}

static void train_update(struct app *a)
{
    train_walk(a);
    for (int i = 1; i < WALK_STAGES; i++)
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

/* --- the curve ------------------------------------------------------------------ */
/* Alone where there is room for more than one pane. */
static void open_curve(struct app *a)
{
    fx_key(a, "3");
    if (a->cols >= 80)
        fx_key(a, "z");
}

static void curve(struct app *a)
{
    in_lab(a);
    open_curve(a);
}

static void apply(struct app *a, struct msg *m, struct effects *out)
{
    m->at_ms = FIXTURE_NOW;
    app_apply(a, m, out);
    msg_free(m);
}

static void command(struct app *a, const char *name, const char *arg, struct effects *out)
{
    struct json *body = json_new_object(), *args = json_new_array();
    json_put_str(body, "name", name);
    if (arg)
        json_append(args, json_new_string(arg));
    json_set(body, "args", args);
    apply(a, msg_new(MSG_COMMAND, body), out);
}

static const struct json *effect_args(const struct effects *e, enum effect_kind kind)
{
    for (size_t i = e->n; i > 0; i--)
        if (e->v[i - 1].kind == kind)
            return e->v[i - 1].args;
    return NULL;
}

static uint32_t effect_id(const struct effects *e, enum effect_kind kind)
{
    for (size_t i = e->n; i > 0; i--)
        if (e->v[i - 1].kind == kind)
            return e->v[i - 1].id;
    return 0;
}

static void child_line(struct app *a, uint32_t effect, const char *record)
{
    struct effects out;
    struct json *body = json_new_object();
    effects_init(&out);
    json_set(body, "record", json_from(record));
    struct msg *m = msg_new(MSG_CHILD_LINE, body);
    m->effect = effect;
    apply(a, m, &out);
    effects_release(&out);
}

static void child_exit(struct app *a, uint32_t effect, int code, const char *said)
{
    struct effects out;
    struct json *body = json_new_object();
    effects_init(&out);
    json_put_num(body, "code", code);
    json_put_str(body, "stderr", said);
    struct msg *m = msg_new(MSG_CHILD_EXIT, body);
    m->effect = effect;
    apply(a, m, &out);
    effects_release(&out);
}

/* A run of n steps that ends `above` the fixture's, as podium-plot sends it. */
static uint32_t ghost(struct app *a, const char *path, int n, double above)
{
    struct effects out;
    struct str s;
    effects_init(&out);
    command(a, "curve.compare", path, &out);
    uint32_t id = effect_id(&out, EFF_SPAWN);
    str_init(&s, 1 << 20);
    str_add(&s, "{\"ev\":\"points\",\"of\":\"loss\",\"text\":\"");
    for (int i = 1; i <= n; i++)
        str_printf(&s, "%d %.6g ", i, 0.9 + above + 2.4 * exp(-i / 60.0));
    str_add(&s, "\"}");
    child_line(a, id, s.p);
    child_line(a, id, "{\"ev\":\"points\",\"of\":\"val\",\"text\":\"50 2.5 100 1.8 150 1.45\"}");
    child_exit(a, id, 0, "");
    str_release(&s);
    effects_release(&out);
    return id;
}

static void curve_compare(struct app *a)
{
    curve(a);
    ghost(a, "/runs/20261129-101500-lora-a.csv", 250, 0.2);
    ghost(a, "/runs/20261128-090000-lora-b.csv", 400, 0.5);
}

static void curve_loglog(struct app *a)
{
    curve(a);
    fx_key(a, "l");
    fx_key(a, "l");
    fx_key(a, "l");
}

/* 120 steps: a gap, an infinite and then only NaN. */
static void curve_nan(struct app *a)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    fx_lab(a);
    run_reset(&a->s->run, log);
    free(log);
    struct run *r = &a->s->run;
    str_copy(r->pod, sizeof r->pod, "lora-gaudi-x7k2p");
    str_copy(r->state, sizeof r->state, "error");
    r->steps_total = 200;
    for (int i = 1; i <= 120; i++) {
        if (i > 40 && i < 51)
            continue;
        series_append(r->loss, i, i == 70 ? INFINITY : i > 110 ? NAN : 1 + 2 * exp(-i / 30.0));
        series_append(r->lr, i, 1e-3);
    }
    r->step = 120;
    open_curve(a);
}

static void curve_empty(struct app *a)
{
    fx_lab(a);
    open_curve(a);
}

static void runs(struct app *a)
{
    struct effects out;
    curve(a);
    effects_init(&out);
    str_copy(a->s->runs_dir, sizeof a->s->runs_dir, "/runs");
    command(a, "curve.compare", NULL, &out);
    uint32_t id = effect_id(&out, EFF_SPAWN);
    child_line(a, id, "{\"ev\":\"known\",\"path\":\"/runs/b.csv\",\"name\":"
                      "\"20261129-101500-lora-a.csv\",\"steps\":500,\"loss\":0.91,\"val\":1.02}");
    child_line(a, id, "{\"ev\":\"known\",\"path\":\"/runs/a.csv\",\"name\":"
                      "\"20261128-090000-lora-b.csv\",\"steps\":120,\"loss\":1.4}");
    child_exit(a, id, 0, "");
    fx_key(a, "Enter");
    fx_key(a, "j");
    effects_release(&out);
}

TEST(compare_screens) { all_sizes("curve-compare", curve_compare); }
TEST(loglog_screens) { all_sizes("curve-loglog", curve_loglog); }
TEST(nan_screens) { all_sizes("curve-nan", curve_nan); }
TEST(empty_screens) { all_sizes("curve-empty", curve_empty); }
TEST(runs_screens) { all_sizes("runs", runs); }

static void has(struct app *a, const char *what)
{
    struct str s;
    fx_screen(a, &s);
    CHECK_HAS(s.p, what);
    str_release(&s);
}

/* The difference is that of the averages at the last common step, or at the
 * cursor; at 0 smoothing it is that of the points. */
TEST(differences_are_of_common_steps)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    char want[64];
    curve_compare(a);
    a->curve.smooth = 0;
    fx_key(a, "b");
    double own = series_y(a->s->run.loss, 249), other = 0.9 + 0.2 + 2.4 * exp(-250 / 60.0);
    has(a, str_fmt(want, sizeof want, "ema @250 %.3f, here %+.3f", other, own - other));
    has(a, "val @150 1.450, here");
    own = series_y(a->s->run.loss, 309), other = 0.9 + 0.5 + 2.4 * exp(-310 / 60.0);
    has(a, str_fmt(want, sizeof want, "ema @310 %.3f, here %+.3f", other, own - other));
    struct effects out;
    effects_init(&out);
    command(a, "curve.goto", "100", &out);
    own = series_y(a->s->run.loss, 99), other = 0.9 + 0.2 + 2.4 * exp(-100 / 60.0);
    has(a, str_fmt(want, sizeof want, "ema @100 %.3f, here %+.3f", other, own - other));
    effects_release(&out);
    fx_free(a);
}

TEST(runs_come_and_go)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    curve(a);
    effects_init(&out);
    for (int i = 0; i < 5; i++) {
        char path[32];
        command(a, "curve.compare", str_fmt(path, sizeof path, "/r%d.csv", i), &out);
    }
    CHECK_INT(a->compare->n, CURVE_GHOSTS);
    CHECK_HAS(a->note, "four runs at most");
    command(a, "curve.compare", "/r1.csv", &out);
    CHECK_INT(a->compare->n, 3);
    CHECK(effect_args(&out, EFF_CANCEL) != NULL);        /* it was still being read */
    uint32_t id = a->compare->v[0].effect;
    child_exit(a, id, 1, "PD-IO: /r0.csv can't be read");
    has(a, "/r0.csv can't be read");
    command(a, "curve.compare", "none", &out);
    CHECK_INT(a->compare->n, 0);
    child_line(a, id, "{\"ev\":\"points\",\"of\":\"loss\",\"text\":\"1 2\"}");     /* late */
    effects_release(&out);
    fx_free(a);
}

/* The sign of each run stands on the chart, so that it is told without colours. */
TEST(each_run_has_its_sign)
{
    for (int glyphs = 0; glyphs < GLYPH_SET_COUNT; glyphs++) {
        struct app *a = fx_app("en", 120, 40, (enum glyph_set)glyphs);
        struct rows r;
        int seen[2] = {0, 0};
        curve_compare(a);
        rows_init(&r, a->glyphs);
        panel_curve.rows(a, &r, 80, 24);
        for (int i = 0; i < r.n - 4; i++)
            for (int k = 0; k < r.v[i].n; k++) {
                const struct span *s = &r.v[i].span[k];
                seen[0] += s->role == ROLE_SERIES_3 && strstr(s->text, glyph_of(a->glyphs, G_RUN1));
                seen[1] += s->role == ROLE_SERIES_4 && strstr(s->text, glyph_of(a->glyphs, G_RUN2));
            }
        CHECK_MSG(seen[0] >= 2 && seen[1] >= 2, "set %d: %d and %d signs", glyphs,
                  seen[0], seen[1]);
        rows_release(&r);
        fx_free(a);
    }
}

/* --- the cursor ------------------------------------------------------------------ */
TEST(from_the_cursor_to_the_log)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    effects_init(&out);
    curve(a);
    fx_key(a, "Enter");                  /* without a cursor: nothing to go to */
    CHECK_INT(a->tab, PANEL_CURVE);
    command(a, "curve.goto", "305.2", &out);
    CHECK_NEAR(a->curve.cursor, 305, 0);
    CHECK_HAS(a->note, "nearest is 305");
    fx_key(a, "Enter");
    CHECK_INT(a->tab, PANEL_LOG);
    CHECK(!a->log_follow);
    CHECK_HAS(session_log_line(a->s, (size_t)a->sel[PANEL_LOG])->text, "\"step\":305,");
    fx_key(a, "3");
    command(a, "curve.goto", "12", &out);
    fx_key(a, "Enter");
    CHECK_HAS(a->note, "no line of step 12");
    CHECK_INT(a->tab, PANEL_CURVE);
    command(a, "curve.goto", "x", &out);
    CHECK_HAS(a->note, "no step of this run");
    effects_release(&out);
    fx_free(a);
}

/* Zooming keeps the cursor in its column; 0 fits, . is live again. */
TEST(zoom_is_around_the_cursor)
{
    static const enum curve_x units[] = {X_STEP, X_TOKENS, X_TIME};
    for (size_t u = 0; u < ARRAY_LEN(units); u++)
        for (int log = 0; log < 2; log++) {
            struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
            struct effects out;
            effects_init(&out);
            curve(a);
            for (int i = 1; i <= 310; i++) {
                series_append(a->s->run.tokens, i, i * 512.0);
                series_append(a->s->run.seconds, i, i * 2.5);
            }
            command(a, "curve.goto", "120", &out);
            a->curve.x = units[u];
            a->curve.log_x = log;
            fx_key(a, "-");
            struct curve_ask ask;
            struct axis x;
            double lo, hi, share[4];
            for (int i = 0; i < 4; i++) {
                panel_curve_ask(a, &ask);
                curve_span(&ask, &lo, &hi);
                axis_make(&x, lo, hi, ask.log_x, 8);
                share[i] = axis_share(&x, ask.cursor);
                fx_key(a, "+");
            }
            for (int i = 1; i < 4; i++)
                CHECK_NEAR(share[i], share[0], 0.01);
            for (int i = 0; i < 400; i++)
                fx_key(a, "Right");
            CHECK_NEAR(a->curve.cursor, 310, 0);
            panel_curve_ask(a, &ask);
            CHECK(ask.cursor <= a->curve.x_hi && ask.cursor >= a->curve.x_lo);
            fx_key(a, "0");
            CHECK(isnan(a->curve.x_lo) && !isnan(a->curve.cursor));
            fx_key(a, ".");
            CHECK(isnan(a->curve.cursor));
            effects_release(&out);
            fx_free(a);
        }
}

/* --- files ------------------------------------------------------------------------- */
/* From the CSV alone the screen's numbers can be computed again. */
TEST(the_csv_gives_the_screens_numbers)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    struct ema e;
    effects_init(&out);
    curve(a);
    command(a, "curve.export", "/tmp/x.csv", &out);
    const struct json *args = effect_args(&out, EFF_WRITE);
    CHECK_STR(json_str(args, "path", ""), "/tmp/x.csv");
    const char *p = json_str(args, "text", "");
    CHECK(str_starts(p, "step,loss,ema_0.90,val_loss,lr,gnorm,tok_s,tokens,epoch,seconds\n"));
    ema_init(&e);
    int n = 0;
    for (p = strchr(p, '\n') + 1; *p; p = strchr(p, '\n') + 1, n++) {
        char *end;
        strtod(p, &end);
        double loss = strtod(end + 1, &end), ema = strtod(end + 1, &end);
        double again = ema_push(&e, 0.9, series_y(a->s->run.loss, (size_t)n));
        CHECK_NEAR(loss, series_y(a->s->run.loss, (size_t)n), 1e-8);
        CHECK(ema == a->line.cache.ema[n] && ema == again);
    }
    CHECK_INT(n, 310);
    effects_release(&out);
    fx_free(a);
}

TEST(pictures_are_a_childs_work)
{
    struct app *a = fx_app("en", 120, 40, GLYPH_UNICODE);
    struct effects out;
    struct str s;
    effects_init(&out);
    curve_compare(a);
    str_copy(a->s->runs_dir, sizeof a->s->runs_dir, "/runs");
    fx_key(a, "l");
    command(a, "curve.export", "/tmp/x.svg", &out);
    const struct json *args = effect_args(&out, EFF_SPAWN);
    str_init(&s, 1 << 16);
    json_print(args, 0, &s);
    CHECK_HAS(s.p, "\"podium-plot\",\"/runs/.now.csv\"");
    CHECK_HAS(s.p, "lora-b.csv");
    CHECK_HAS(s.p, "--log-y");
    CHECK_HAS(s.p, "--smooth=0.90");
    CHECK_STR(json_str(effect_args(&out, EFF_WRITE), "path", ""), "/runs/.now.csv");
    child_exit(a, effect_id(&out, EFF_SPAWN), 1, "no room");
    CHECK_HAS(a->note, "no room");
    command(a, "curve.export", "/tmp/x.txt", &out);
    CHECK_HAS(json_str(effect_args(&out, EFF_WRITE), "text", ""), "lora-b.csv");
    command(a, "curve.export", "/tmp/x.pdf", &out);
    CHECK_HAS(a->note, "must end in");
    str_release(&s);
    effects_release(&out);
    fx_free(a);
}

static enum pd_code load_text(const char *text, struct run *r, struct pd_err *out)
{
    struct run_log *log = xcalloc(1, sizeof *log);
    struct pd_err err;
    char path[400];
    snprintf(path, sizeof path, "%s/run.csv", t_dir());
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
    run_init(r, log);
    free(log);
    return runfile_load(path, r, out);
}

TEST(run_files)
{
    struct run r;
    struct pd_err err = {0};
    CHECK_OK(load_text("epoch,other,step,loss,val_loss\n0.5,x,1,2.5,\n1,y,2,NaN,1.5\r\n,,3,inf,\n",
                       &r, &err));
    CHECK(series_count(r.loss) == 3 && series_count(r.val) == 1 && series_y(r.val, 0) == 1.5);
    CHECK(isnan(series_y(r.loss, 1)) && isinf(series_y(r.loss, 2)));
    CHECK_NEAR(series_y(r.epochs, 1), 1, 0);
    run_release(&r);
    CHECK_OK(load_text("noise\n{\"v\":1,\"ev\":\"step\",\"step\":1,\"loss\":2,\"tokens\":9}\nmore\n"
                       "{\"v\":1,\"ev\":\"eval\",\"step\":1,\"val_loss\":3}\n", &r, &err));
    CHECK(series_count(r.loss) == 1 && series_y(r.tokens, 0) == 9 && series_y(r.val, 0) == 3);
    run_release(&r);
    CHECK_INT(load_text("step,loss\n1,2\n2,abc\n", &r, &err), PD_PARSE);
    CHECK_INT(err.line, 3);
    CHECK_HAS(err.msg, "abc");
    run_release(&r);
    CHECK_INT(load_text("hello\n", &r, &err), PD_PARSE);
    CHECK_HAS(err.hint, "columns");
    run_release(&r);
}

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
