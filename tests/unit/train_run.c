/* train_run.c - whole runs in a child process: records, steering, resuming to
 * the same bytes after kill -9, endings. */
#include "core/base/base.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/lines.h"
#include "core/base/path.h"
#include "core/base/runlog.h"
#include "core/train/data.h"
#include "core/train/eval.h"
#include "core/train/trainer.h"
#include "tests/t.h"

static volatile int stop;

static void on_term(int sig)
{
    stop = sig;
}

static char *at(const char *name)
{
    static char path[16][400];
    static int next;
    char *p = path[next++ % 16];
    snprintf(p, sizeof path[0], "%s/%s", t_dir(), name);
    return p;
}

/* A path for the length of the test. */
static char *keep(const char *path)
{
    static char kept[40][400];
    static int n;
    CHECK(n < 40);
    return str_copy(kept[n++], sizeof kept[0], path);
}

static void write_file(const char *path, const void *data, size_t n)
{
    struct pd_err err;
    CHECK_OK(path_write_atomic(path, 0644, data, n, &err));
}

static void make_model(void)
{
    struct llama_config c = {.hidden = 32, .ffn = 64, .layers = 2, .heads = 4, .kv_heads = 2,
                             .head_dim = 8, .max_pos = 256, .eps = 1e-5, .theta = 1e4,
                             .init_range = 0.1, .tied = true, .bos = -1, .pad = -1};
    struct pd_err err;
    struct llama m;
    struct str s;
    struct tok *t;
    str_init(&s, 8 << 20);
    CHECK_OK(path_read(PODIUM_SOURCE_DIR "/labs/content/first-finetune/base/tokenizer.json",
                       8 << 20, &s, &err));
    CHECK_OK(path_mkdirs(at("m"), 0755, &err));
    write_file(at("m/tokenizer.json"), s.p, s.len);
    str_release(&s);
    CHECK_OK(tok_load(at("m"), &t, &err));
    c.vocab = tok_size(t);
    tok_free(t);
    llama_init(&m, &c, false);
    llama_randomise(&m, 3);
    CHECK_OK(llama_save(&m, at("m"), false, &err));
    llama_release(&m);
}

static void make_data(void)
{
    struct str s;
    str_init(&s, 1 << 20);
    for (int i = 0; i < 60; i++)
        str_printf(&s,
                   "{\"instruction\":\"Say number %d, form %d\",\"input\":\"\",\"output\":"
                   "\"It is %d%s\",\"template\":\"t%d\",\"lang\":\"en\"}\n",
                   i, i % 10, i * 3, i % 3 ? " indeed" : "", i % 10);
    write_file(at("data.jsonl"), s.p, s.len);
    str_release(&s);
}

static struct trainer_options options(const char *out)
{
    struct trainer_options o;
    trainer_defaults(&o);
    o.model = keep(at("m"));
    o.data = keep(at("data.jsonl"));
    o.out = keep(at(out));
    o.steps = 12, o.batch = 4, o.eval_every = 5, o.threads = 1, o.seed = 9;
    o.lora.dropout = 0.1;
    o.optim.rate = 0.01, o.optim.warmup = 2;
    return o;
}

/* A run as a child: its stdin and its records. */
struct child {
    pid_t pid;
    int in, out;
    struct lines lines;
    struct run_record r[400];
    int n, taken;
};

static void take_line(void *arg, char *line, size_t len, bool cut)
{
    struct child *c = arg;
    struct pd_err err;
    CHECK(!cut && c->n < 400);
    CHECK_OK(runlog_parse(line, len, &c->r[c->n++], &err));
}

static struct child *start(struct trainer_options o)
{
    struct child *c = calloc(1, sizeof *c);
    int in[2], out[2];
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    c->pid = fork();
    if (c->pid == 0) {
        struct sigaction sa = {.sa_handler = on_term};
        sigaction(SIGTERM, &sa, NULL);
        dup2(in[0], 0);
        close(in[1]);
        close(out[0]);
        o.fd = out[1];
        _exit(trainer_run(&o, &stop));
    }
    close(in[0]);
    close(out[1]);
    c->in = in[1];
    c->out = out[0];
    lines_init(&c->lines, 1 << 16);
    return c;
}

static void say(struct child *c, const char *line)
{
    CHECK(write(c->in, line, strlen(line)) == (ssize_t)strlen(line));
}

/* The next record of an event (others before it are passed over); NULL at the
 * end. key, value: it must have this string. */
static const struct run_record *next(struct child *c, enum run_event ev, const char *key,
                                     const char *value)
{
    char buf[4096];
    for (;;) {
        for (; c->taken < c->n; c->taken++) {
            const struct run_record *r = &c->r[c->taken];
            if (r->ev == ev && (!key || strcmp(runlog_str(r, key, ""), value) == 0)) {
                c->taken++;
                return r;
            }
        }
        ssize_t n = read(c->out, buf, sizeof buf);
        if (n <= 0)
            return NULL;
        lines_feed(&c->lines, buf, (size_t)n, take_line, c);
    }
}

static int end(struct child *c)
{
    int status;
    if (c->in >= 0)
        close(c->in);
    while (next(c, RUN_EVENT_COUNT, NULL, NULL))
        ;
    CHECK(waitpid(c->pid, &status, 0) == c->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void forget(struct child *c)
{
    lines_release(&c->lines);
    close(c->out);
    free(c);
}

static void run_all(struct trainer_options o, int code)
{
    struct child *c = start(o);
    CHECK_INT(end(c), code);
    forget(c);
}

static void same_file(const char *a, const char *b)
{
    struct str x, y;
    struct pd_err err;
    str_init(&x, 64 << 20);
    str_init(&y, 64 << 20);
    CHECK_OK(path_read(at(a), 64 << 20, &x, &err));
    CHECK_OK(path_read(at(b), 64 << 20, &y, &err));
    CHECK_MSG(x.len == y.len && memcmp(x.p, y.p, x.len) == 0, "%s and %s differ", a, b);
    str_release(&x);
    str_release(&y);
}

static void same_results(const char *a, const char *b, bool full)
{
    static const char *const lora[] = {"adapter_model.safetensors", "adapter_config.json",
                                       "checkpoint-12/optimizer.safetensors",
                                       "checkpoint-12/state.json"};
    static const char *const model[] = {"model.safetensors", "config.json",
                                        "checkpoint-12/optimizer.safetensors",
                                        "checkpoint-12/state.json"};
    for (size_t i = 0; i < ARRAY_LEN(lora); i++) {
        char x[200], y[200];
        snprintf(x, sizeof x, "%s/%s", a, (full ? model : lora)[i]);
        snprintf(y, sizeof y, "%s/%s", b, (full ? model : lora)[i]);
        same_file(x, y);
    }
}

static void world(void)
{
    make_model();
    make_data();
}

TEST(records_in_order_and_no_allocation_in_a_step)
{
    world();
    struct child *c = start(options("out"));
    const struct run_record *r = next(c, RUN_HELLO, NULL, NULL);
    CHECK(r && runlog_num(r, "steps", 0) == 12 && runlog_num(r, "trainable", 0) > 100);
    r = next(c, RUN_EVAL, NULL, NULL);
    CHECK(r && runlog_num(r, "step", -1) == 0);
    double first = runlog_num(r, "val_loss", 0), last_lr = -1;
    CHECK_NEAR(first, log(4096), 0.5);            /* random weights know nothing */
    for (int i = 1; i <= 12; i++) {
        r = next(c, RUN_STEP, NULL, NULL);
        CHECK(r && runlog_num(r, "step", 0) == i && isfinite(runlog_num(r, "loss", NAN)));
        last_lr = runlog_num(r, "lr", -1);
    }
    CHECK(last_lr > 0);
    r = next(c, RUN_DONE, NULL, NULL);
    CHECK(r && runlog_has(r, "step_allocs") && runlog_num(r, "step_allocs", 1) == 0);
    CHECK(runlog_num(r, "val_loss", 99) < first);
    CHECK(next(c, RUN_STATE, "state", "quit"));
    CHECK_INT(end(c), TRAINER_DONE);
    forget(c);
}

TEST(resume_after_kill_9_gives_the_same_bytes)
{
    world();
    struct trainer_options o = options("whole");
    o.accum = 2;
    run_all(o, TRAINER_DONE);
    for (int step = 3; step <= 9; step += 3) {
        o = options(step == 3 ? "cut3" : step == 6 ? "cut6" : "cut9");
        o.accum = 2;
        o.save_every = 3;
        struct child *c = start(o);
        const struct run_record *r;
        while ((r = next(c, RUN_SAVE, NULL, NULL)) && runlog_num(r, "step", 0) < step)
            ;
        CHECK(r);
        kill(c->pid, SIGKILL);
        CHECK_INT(end(c), -SIGKILL);
        forget(c);
        o.resume = true;
        o.threads = 2;
        c = start(o);
        r = next(c, RUN_HELLO, NULL, NULL);
        CHECK(r && runlog_num(r, "step", -1) >= step);
        CHECK_INT(end(c), TRAINER_DONE);
        forget(c);
        same_results("whole", path_base(o.out), false);
    }
}

TEST(threads_and_full_training_repeat_exactly)
{
    world();
    struct trainer_options o = options("one");
    o.full = true;
    run_all(o, TRAINER_DONE);
    o.out = keep(at("two"));
    o.threads = 2;
    run_all(o, TRAINER_DONE);
    same_results("one", "two", true);
}

/* --batch and --accum say how a window is computed, not what is: dropout too goes by
 * the record's place among all. */
TEST(cutting_a_window_changes_nothing_but_rounding)
{
    enum { STEPS = 6 };
    static const int cut[][2] = {{8, 1}, {1, 8}, {2, 4}};
    double loss[ARRAY_LEN(cut)][STEPS];
    world();
    for (size_t k = 0; k < ARRAY_LEN(cut); k++) {
        struct trainer_options o = options(k == 0 ? "out-8" : k == 1 ? "out-1" : "out-2");
        o.batch = cut[k][0], o.accum = cut[k][1];
        o.lora.dropout = 0.4;
        o.steps = STEPS;
        struct child *c = start(o);
        for (int i = 0; i < STEPS; i++) {
            const struct run_record *r = next(c, RUN_STEP, NULL, NULL);
            CHECK(r);
            loss[k][i] = runlog_num(r, "loss", NAN);
            CHECK_NEAR(loss[k][i], loss[0][i], 2e-5);
        }
        CHECK_INT(end(c), TRAINER_DONE);
        forget(c);
    }
}

/* One update with every record in it: in a row of its own, or as many as fit. */
TEST(packed_records_train_as_unpacked_ones)
{
    double loss[2], norm[2];
    int64_t tokens[2];
    world();
    for (int packed = 0; packed < 2; packed++) {
        struct trainer_options o = options(packed ? "out-p" : "out-u");
        o.batch = 64, o.epochs = 1, o.seq = 256;
        o.lora.dropout = 0;
        o.optim.warmup = 0;
        o.packing = packed;
        struct child *c = start(o);
        const struct run_record *r = next(c, RUN_HELLO, NULL, NULL);
        CHECK(r && runlog_num(r, "steps", 0) == 1);
        double rows = runlog_num(r, "packed_rows", 0), all = runlog_num(r, "train_examples", 0);
        CHECK(!packed || (rows > 5 && rows < all - 5 && runlog_num(r, "padding", 1) < 0.2));
        r = next(c, RUN_STEP, NULL, NULL);
        CHECK(r);
        loss[packed] = runlog_num(r, "loss", NAN);
        norm[packed] = runlog_num(r, "gnorm", NAN);
        tokens[packed] = (int64_t)runlog_num(r, "tokens", 0);
        CHECK_INT(end(c), TRAINER_DONE);
        forget(c);
    }
    CHECK_NEAR(loss[1] / loss[0], 1, 1e-6);
    CHECK_NEAR(norm[1] / norm[0], 1, 1e-5);
    CHECK(tokens[0] > 0 && tokens[1] == tokens[0]);
}

TEST(resume_refuses_other_options)
{
    world();
    struct trainer_options o = options("out");
    run_all(o, TRAINER_DONE);
    o.resume = true;
    o.lora.r = 4;
    struct child *c = start(o);
    const struct run_record *r = next(c, RUN_ERROR, NULL, NULL);
    CHECK(r);
    CHECK_HAS(runlog_str(r, "text", ""), "other options: r 8, now 4");
    CHECK_INT(end(c), TRAINER_FAILED);
    forget(c);
}

static double answer_num(struct child *c, const char *id, const char *key)
{
    const struct run_record *r = next(c, RUN_ANSWER, "id", id);
    CHECK_MSG(r && runlog_num(r, "ok", 0) == 1, "answer %s", id);
    return runlog_num(r, key, NAN);
}

/* The root of the squared gradient norms in "NAME w NORM g NORM; …". */
static double norm_of_all(const char *text)
{
    double sum = 0, w, g;
    for (const char *s = text; s; s = strchr(s, ';')) {
        const char *name_end = strstr(s, " w ");
        if (name_end && sscanf(name_end, " w %lf g %lf", &w, &g) == 2)
            sum += g * g;
        s += *s == ';';
    }
    return sqrt(sum);
}

TEST(steering)
{
    world();
    struct trainer_options o = options("out");
    o.control = true;
    o.steps = 100000;
    o.eval_every = 0;
    struct child *c = start(o);
    CHECK(next(c, RUN_STEP, NULL, NULL));
    say(c, "#h hello\n");
    CHECK_NEAR(answer_num(c, "h", "control"), 2, 0);
    say(c, "#p pause\n");
    double at_step = answer_num(c, "p", "step");
    CHECK(next(c, RUN_STATE, "state", "paused"));
    say(c, "#i inspect norms\n#t inspect tensor model.norm.weight 0 1\n#x inspect tensor no\n");
    const struct run_record *r = next(c, RUN_ANSWER, "id", "i");
    CHECK(r && runlog_num(r, "weight_norm", 0) > 0);
    double gnorm = r ? runlog_num(r, "gnorm", 0) : NAN;
    CHECK_NEAR(r ? norm_of_all(runlog_str(r, "text", "")) : 0, gnorm, 1e-3 * gnorm);
    CHECK_NEAR(answer_num(c, "t", "v00"), 1, 0);
    r = next(c, RUN_ANSWER, "id", "x");
    CHECK(r && runlog_num(r, "ok", 1) == 0);
    say(c, "#s step\n#s2 step 2\n");     /* the second counts on */
    CHECK_NEAR(answer_num(c, "s", "n"), 1, 0);
    CHECK_NEAR(answer_num(c, "s2", "n"), 2, 0);
    for (int i = 1; i <= 3; i++) {
        r = next(c, RUN_STEP, NULL, NULL);
        CHECK(r && runlog_num(r, "step", 0) == at_step + i);
    }
    r = next(c, RUN_STATE, "state", "paused");
    CHECK(r && runlog_num(r, "step", 0) == at_step + 3);
    say(c, "#r rate 0.002\n#v save\n#g go\n");
    CHECK_NEAR(answer_num(c, "r", "rate"), 0.002, 0);
    CHECK(next(c, RUN_SAVE, NULL, NULL));
    answer_num(c, "v", "step");
    r = next(c, RUN_ANSWER, "id", "g");
    CHECK(r && runlog_num(r, "ok", 1) == 0);
    say(c, "#w resume\n");
    CHECK(next(c, RUN_STATE, "state", "running"));
    r = next(c, RUN_STEP, NULL, NULL);
    CHECK(r && runlog_num(r, "lr", 0) <= 0.002);
    say(c, "#q quit\n");
    CHECK(next(c, RUN_ANSWER, "id", "q") && next(c, RUN_DONE, NULL, NULL));
    CHECK_INT(end(c), TRAINER_DONE);
    CHECK(access(at("out/adapter_model.safetensors"), F_OK) == 0);
    forget(c);
}

static double field(const struct run_record *r, const char *key)
{
    return r ? runlog_num(r, key, NAN) : NAN;
}

/* AdamW by hand, from what the record says, in double. */
static double adamw_by_hand(const struct run_record *r)
{
    double g = field(r, "g_sum") / field(r, "count") * field(r, "factor");
    double m = field(r, "beta1") * field(r, "m_before") + (1 - field(r, "beta1")) * g;
    double v = field(r, "beta2") * field(r, "v_before") + (1 - field(r, "beta2")) * g * g;
    CHECK_NEAR(g, field(r, "g"), 1e-6 * fabs(g) + 1e-12);
    CHECK_NEAR(m, field(r, "m_after"), 1e-5 * fabs(m) + 1e-12);
    CHECK_NEAR(v, field(r, "v_after"), 1e-5 * fabs(v) + 1e-15);
    double lr = field(r, "lr"), w = field(r, "before") * (1 - lr * field(r, "decay"));
    return w - lr * (m / field(r, "bias1")) / (sqrt(v / field(r, "bias2")) + field(r, "eps"));
}

static double sum_of(const char *numbers)
{
    double sum = 0;
    for (char *end; *numbers; numbers = end) {
        sum += strtod(numbers, &end);
        if (end == numbers)
            break;
    }
    return sum;
}

/* The groups' norms make the global one. */
static double norm_of_groups(const char *s)
{
    double sum = 0;
    for (const char *tab = strchr(s, '\t'); tab;) {
        double g = strtod(tab + 1, NULL);
        sum += g * g;
        tab = strchr(tab + 1, '\t');
        tab = tab ? strchr(tab + 1, '\t') : NULL;
    }
    return sqrt(sum);
}

/* What the walk says will happen, happens: loss, norm, rate and the weight. */
TEST(a_walk_tells_the_next_step)
{
    world();
    struct trainer_options o = options("out");
    o.control = true;
    o.steps = 100000;
    o.eval_every = 0;
    o.accum = 2;
    o.optim.decay = 0.01;
    o.optim.clip = 0.05;
    struct child *c = start(o);
    CHECK(next(c, RUN_STEP, NULL, NULL));
    say(c, "#p pause\n#a inspect norms\n#w walk\n#n inspect norms\n");
    double step = answer_num(c, "p", "step");
    const struct run_record *r = next(c, RUN_ANSWER, "id", "a");
    char norms[4096], name[128], line[256];
    str_copy(norms, sizeof norms, r ? runlog_str(r, "text", "") : "");
    r = next(c, RUN_WALK, "stage", "batch");
    CHECK_NEAR(field(r, "step"), step + 1, 0);
    CHECK(r && strlen(runlog_str(r, "mask", "")) == field(r, "shown"));
    CHECK(r && strchr(runlog_str(r, "mask", ""), '#') && strchr(runlog_str(r, "mask", ""), '.'));
    double trained = field(r, "trained");
    r = next(c, RUN_WALK, "stage", "forward");
    CHECK_NEAR(field(r, "target_p"), exp(field(r, "target_logit") - field(r, "lse")), 1e-6);
    CHECK(field(r, "p0") >= field(r, "p4") && field(r, "p0") < 1);
    double first = -log(field(r, "target_p"));
    r = next(c, RUN_WALK, "stage", "loss");
    CHECK_NEAR(field(r, "loss"), field(r, "sum") / field(r, "count"), 1e-8);
    CHECK_NEAR(field(r, "count"), trained, 0);
    CHECK_NEAR(strtod(r ? runlog_str(r, "nll", "") : "", NULL), first, 1e-4 * first);
    CHECK_NEAR(sum_of(r ? runlog_str(r, "nll", "") : ""), field(r, "row_sum"), 1e-3);
    double loss = field(r, "loss");
    r = next(c, RUN_WALK, "stage", "backward");
    double gnorm = field(r, "gnorm");
    CHECK_NEAR(norm_of_groups(r ? runlog_str(r, "groups", "") : ""), gnorm, 1e-3 * gnorm);
    CHECK_NEAR(field(r, "factor"), fmin(1, 0.05 / (gnorm + 1e-6)), 1e-6);
    r = next(c, RUN_WALK, "stage", "rate");
    double lr = field(r, "lr");
    r = next(c, RUN_WALK, "stage", "update");
    double after = field(r, "after");
    CHECK_NEAR(adamw_by_hand(r), after, 2e-7 * fabs(after) + 1e-9);
    CHECK(after != field(r, "before"));
    str_copy(name, sizeof name, r ? runlog_str(r, "name", "") : "");
    snprintf(line, sizeof line, "#s step\n#t inspect tensor %s %.0f %.0f\n", name,
             field(r, "row"), field(r, "col"));
    CHECK(next(c, RUN_ANSWER, "id", "w"));
    r = next(c, RUN_ANSWER, "id", "n");
    CHECK_STR(r ? runlog_str(r, "text", "") : "", norms);        /* gradients are put back */
    say(c, "#s step\n");
    r = next(c, RUN_STEP, NULL, NULL);
    CHECK_NEAR(field(r, "loss"), loss, 0);
    CHECK_NEAR(field(r, "gnorm"), gnorm, 1e-6 * gnorm);
    CHECK_NEAR(field(r, "lr"), lr, 0);
    say(c, strchr(line, '\n') + 1);
    CHECK_NEAR(answer_num(c, "t", "v00"), after, 0);
    snprintf(line, sizeof line, "#x walk no 0 0\n#y walk %s 0 0\n#q quit\n", name);
    say(c, line);
    r = next(c, RUN_ANSWER, "id", "x");
    CHECK(r && runlog_num(r, "ok", 1) == 0);
    r = next(c, RUN_WALK, "stage", "update");
    CHECK(r && str_eq(runlog_str(r, "name", ""), name) && field(r, "row") == 0);
    CHECK(next(c, RUN_DONE, NULL, NULL));
    CHECK_INT(end(c), TRAINER_DONE);
    forget(c);
}

/* Looking inside changes no byte of what is trained. */
TEST(a_walk_changes_nothing)
{
    struct str plain, walked;
    struct pd_err err;
    world();
    for (int i = 0; i < 2; i++) {
        struct trainer_options o = options(i ? "out-b" : "out-a");
        o.control = true;
        o.steps = 12;
        o.lora.dropout = 0.1;
        struct child *c = start(o);
        say(c, "step\n");
        CHECK(next(c, RUN_STATE, "state", "paused"));
        for (int k = 0; i && k < 3; k++) {
            say(c, "#w walk\n#i inspect norms\nstep\n");
            CHECK(next(c, RUN_ANSWER, "id", "i"));
            CHECK(next(c, RUN_STATE, "state", "paused"));
        }
        say(c, "#r resume\n");
        CHECK(next(c, RUN_DONE, NULL, NULL));
        CHECK_INT(end(c), TRAINER_DONE);
        forget(c);
    }
    str_init(&plain, 64 << 20);
    str_init(&walked, 64 << 20);
    CHECK_OK(path_read(at("out-a/adapter_model.safetensors"), 64 << 20, &plain, &err));
    CHECK_OK(path_read(at("out-b/adapter_model.safetensors"), 64 << 20, &walked, &err));
    CHECK(plain.len == walked.len && memcmp(plain.p, walked.p, plain.len) == 0);
    str_release(&plain);
    str_release(&walked);
}

TEST(a_closed_channel_does_not_stop_the_run)
{
    world();
    struct trainer_options o = options("out");
    o.control = true;
    struct child *c = start(o);
    say(c, "pause\n");
    CHECK(next(c, RUN_STATE, "state", "paused"));
    close(c->in);
    c->in = -1;
    CHECK(next(c, RUN_STATE, "state", "running"));
    CHECK(next(c, RUN_DONE, NULL, NULL));
    CHECK_INT(end(c), TRAINER_DONE);
    forget(c);
}

TEST(holding_until_quit)
{
    world();
    struct trainer_options o = options("out");
    o.control = true;
    o.hold_s = 0;
    struct child *c = start(o);
    CHECK(next(c, RUN_DONE, NULL, NULL));
    CHECK(next(c, RUN_STATE, "state", "holding"));
    say(c, "#1 hello\n#2 quit\n");
    answer_num(c, "2", "step");
    CHECK_INT(end(c), TRAINER_DONE);
    forget(c);
}

TEST(sigterm_saves_and_says_so)
{
    world();
    struct trainer_options o = options("out");
    o.steps = 100000;
    struct child *c = start(o);
    CHECK(next(c, RUN_STEP, NULL, NULL));
    kill(c->pid, SIGTERM);
    const struct run_record *r = next(c, RUN_SAVE, NULL, NULL);
    CHECK(r);
    CHECK(access(runlog_str(r, "path", ""), F_OK) == 0);
    CHECK_INT(end(c), TRAINER_TERMINATED);
    forget(c);
}

TEST(a_loss_that_is_not_a_number_ends_the_run)
{
    world();
    struct trainer_options o = options("out");
    o.full = true;
    o.optim.rate = 100, o.optim.warmup = 0, o.optim.clip = 0;
    o.optim.beta1 = o.optim.beta2 = 0;
    o.optim.schedule = OPTIM_CONSTANT;
    o.steps = 4000, o.eval_every = 0;
    o.optim.decay = 1;                            /* w *= 1 - 100: doubles its exponent fast */
    struct child *c = start(o);
    const struct run_record *r = next(c, RUN_ERROR, NULL, NULL);
    CHECK(r);
    CHECK_HAS(runlog_str(r, "text", ""), "not a number");
    CHECK_HAS(runlog_str(r, "text", ""), "step ");
    CHECK(runlog_str(r, "hint", "")[0] != 0);
    CHECK_INT(end(c), TRAINER_FAILED);
    CHECK(access(at("out/checkpoint-4000"), F_OK) != 0);
    CHECK(access(at("out/model.safetensors"), F_OK) != 0);
    forget(c);
}

static void fails(struct trainer_options o, const char *says)
{
    struct child *c = start(o);
    const struct run_record *r = next(c, RUN_ERROR, NULL, NULL);
    CHECK(r);
    CHECK_HAS(runlog_str(r, "text", ""), says);
    CHECK(runlog_str(r, "hint", "")[0] != 0 && runlog_str(r, "code", "")[0] == 'P');
    CHECK(end(c) != TRAINER_DONE);
    forget(c);
}

TEST(failures_are_records)
{
    world();
    struct trainer_options o = options("out");
    o.model = "/nowhere";
    fails(o, "/nowhere");
    o = options("out");
    o.data = "/nowhere.jsonl";
    fails(o, "/nowhere.jsonl");
    o = options("out");
    write_file(at("bad.jsonl"), "{\"instruction\":1}\n", 18);
    o.data = at("bad.jsonl");
    fails(o, "bad.jsonl:1");
    o = options("out");
    write_file(at("m/model.safetensors"), "short", 5);
    fails(o, "model.safetensors");
}

/* The evaluation of a saved adapter is the training's last one, bit for bit. */
TEST(evaluating_the_saved_adapter_repeats_the_last_loss)
{
    world();
    struct trainer_options o = options("out");
    struct child *c = start(o);
    const struct run_record *r = next(c, RUN_DONE, NULL, NULL);
    CHECK(r);
    double last = runlog_num(r, "val_loss", 0);
    CHECK_INT(end(c), TRAINER_DONE);
    forget(c);
    struct pd_err err;
    struct llama m;
    struct lora l;
    struct tok *t;
    struct data *d;
    struct batch b;
    struct compute k;
    struct eval_result res;
    CHECK_OK(llama_load(&m, at("m"), false, &err));
    CHECK_OK(lora_load(&l, &m.cfg, at("out"), &err));
    CHECK_OK(tok_load(at("m"), &t, &err));
    CHECK_OK(data_open(at("data.jsonl"), t, &(struct data_options){.eos = -1}, &d, &err));
    CHECK_OK(compute_init(&k, 2, data_max_len(d), &err));
    batch_init(&b, 7, data_max_len(d));
    struct llama_run *run = llama_run_new(&m, &l, &k, b.max_rows, data_max_len(d), false);
    CHECK_OK(eval_run(run, d, &b, 7, 0, &res, &err));
    CHECK_NEAR(res.loss, last, 2e-9 * last);      /* records print nine digits */
    l.on = false;
    CHECK_OK(eval_run(run, d, &b, 7, 0, &res, &err));
    CHECK(res.loss > last * 1.02);
    llama_run_free(run);
    batch_release(&b);
    compute_release(&k);
    data_free(d);
    tok_free(t);
    lora_release(&l);
    llama_release(&m);
}

T_MAIN
