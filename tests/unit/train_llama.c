/* train_llama.c - the whole model: training against numbers that PyTorch
 * computed (tests/train/make_reference.py), accumulation, adapters, decoding. */
#include "core/train/llama.h"

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/str.h"
#include "core/train/generate.h"
#include "core/train/lora.h"
#include "core/train/optim.h"
#include "core/train/safetensors.h"
#include "core/train/tjson.h"
#include "tests/unit/train_check.h"

enum { V = 61, ROWS = 64, SEED = 5, STEPS = 100 };

#define SMALL                                                                                     \
    .vocab = V, .hidden = 24, .ffn = 40, .layers = 2, .heads = 4, .kv_heads = 2, .head_dim = 6,   \
    .max_pos = 64, .eps = 1e-5, .theta = 10000, .init_range = 0.08, .bos = -1, .pad = -1
static const struct llama_config small = {SMALL, .tied = true}, untied = {SMALL, .tied = false};

/* As sequences() in make_reference.py. */
static struct rows *rows_of(int step, int from, int to)
{
    static int off[4], pos[ROWS];
    static int32_t ids[ROWS], labels[ROWS];
    static struct rows r;
    static const int len[] = {9, 5, 12};
    r = (struct rows){.off = off, .pos = pos, .ids = ids, .labels = labels};
    for (int s = from; s < to; s++) {
        for (int i = 0; i < len[s]; i++, r.n++) {
            ids[r.n] = (i * 7 + s * 3 + step * 5 + i * i) % V;
            int j = i + 1;
            labels[r.n] = i >= 2 ? (j * 7 + s * 3 + step * 5 + j * j) % V : -100;
            pos[r.n] = i;
        }
        off[++r.nseq] = r.n;
    }
    return &r;
}

static struct tjson *reference(void)
{
    struct tjson *j;
    struct pd_err err;
    CHECK_OK(tjson_read(PODIUM_SOURCE_DIR "/tests/train/reference/llama.json", 1 << 20, &j, &err));
    return j;
}

struct world {
    struct compute c;
    struct llama m;
    struct lora lora;
    struct llama_run *run;
    struct tensors *trained;
};

static void world_make(struct world *w, const struct llama_config *cfg, bool full,
                       const struct lora_config *lora)
{
    struct pd_err err;
    CHECK_OK(compute_init(&w->c, 2, 64, &err));
    llama_init(&w->m, cfg, full);
    llama_randomise(&w->m, SEED);
    if (lora)
        lora_init(&w->lora, cfg, lora, SEED);
    w->trained = full ? &w->m.tensors : &w->lora.tensors;
    w->run = llama_run_new(&w->m, lora ? &w->lora : NULL, &w->c, ROWS, 64, true);
}

static void world_end(struct world *w)
{
    llama_run_free(w->run);
    if (w->lora.slab.base)
        lora_release(&w->lora);
    llama_release(&w->m);
    compute_release(&w->c);
}

/* The same hundred updates as PyTorch's, each within 1e-4 of its loss. */
static void compare_training(struct world *w, const char *name, enum optim_schedule schedule)
{
    struct tjson *all = reference();
    const struct tjson *want = tjson_get(all, name);
    struct optim o;
    struct pd_err err;
    char path[32];
    optim_defaults(&o);
    o.rate = 0.01, o.decay = 0.1, o.clip = 0.5, o.warmup = 2, o.steps = STEPS;
    o.schedule = schedule;
    CHECK_INT(tjson_count(tjson_get(want, "loss")), STEPS);
    for (int step = 0; step < STEPS; step++) {
        double sum;
        int64_t n;
        optim_zero_grad(&w->c, w->trained);
        CHECK_OK(llama_loss_grad(w->run, rows_of(step, 0, 3), 0, &sum, &n, &err));
        double norm = optim_grad_norm(&w->c, w->trained, 1 / (double)n);
        str_fmt(path, sizeof path, "loss[%d]", step);
        double loss = tjson_num(want, path, -1);
        CHECK_NEAR(sum / (double)n, loss, 1e-4 * loss);
        str_fmt(path, sizeof path, "gnorm[%d]", step);
        CHECK_NEAR(norm, tjson_num(want, path, -1), 1e-4 * norm);
        str_fmt(path, sizeof path, "lr[%d]", step);
        CHECK_NEAR(optim_rate(&o, step), tjson_num(want, path, -1), 1e-9);
        optim_step(&w->c, &o, w->trained, 1 / (double)n, norm, optim_rate(&o, step), step + 1);
    }
    tjson_free(all);
}

TEST(full_training_equals_torch)
{
    struct world w = {0};
    world_make(&w, &small, true, NULL);
    compare_training(&w, "tied", OPTIM_COSINE);
    world_end(&w);
}

TEST(full_training_with_its_own_head_equals_torch)
{
    struct world w = {0};
    world_make(&w, &untied, true, NULL);
    compare_training(&w, "untied", OPTIM_LINEAR);
    world_end(&w);
}

TEST(full_training_with_stretched_rotation_equals_torch)
{
    struct llama_config cfg = small;
    struct world w = {0};
    cfg.rope_llama3 = true;
    cfg.rope_factor = 8, cfg.rope_low = 1, cfg.rope_high = 4, cfg.rope_orig = 16;
    world_make(&w, &cfg, true, NULL);
    compare_training(&w, "llama3", OPTIM_CONSTANT);
    world_end(&w);
}

enum { QV = 1 << LORA_Q | 1 << LORA_V, QKVO = QV | 1 << LORA_K | 1 << LORA_O };
static const struct lora_config all_sites = {.r = 3, .alpha = 6,
                                             .targets = (1u << LORA_MODULES) - 1};
static const struct lora_config qv_sites = {.r = 3, .alpha = 6, .targets = QV};
static const struct lora_config qkvo_sites = {.r = 3, .alpha = 6, .targets = QKVO, .rslora = true};

TEST(lora_training_equals_torch)
{
    struct world w = {0};
    world_make(&w, &small, false, &all_sites);
    compare_training(&w, "lora", OPTIM_COSINE);
    for (int i = 1; i < w.trained->n; i += 2) {   /* every B has moved from zero */
        double s = 0;
        for (size_t k = 0; k < tensors_count(&w.trained->t[i]); k++)
            s += fabs((double)w.trained->t[i].w[k]);
        CHECK_MSG(s > 1e-3, "%s did not move", w.trained->t[i].name);
    }
    world_end(&w);
}

TEST(lora_of_other_targets_equals_torch)
{
    struct world w = {0};
    world_make(&w, &small, false, &qv_sites);
    compare_training(&w, "lora_qv", OPTIM_LINEAR);
    world_end(&w);
    w = (struct world){0};
    world_make(&w, &untied, false, &qkvo_sites);
    compare_training(&w, "lora_qkvo_rs", OPTIM_CONSTANT);
    world_end(&w);
}

/* One gradient, by each way to keep activations. */
static void gradients(bool full, enum llama_keep keep, float *to, size_t n)
{
    static const struct lora_config drop = {.r = 3, .alpha = 6, .dropout = 0.3,
                                            .targets = (1u << LORA_MODULES) - 1};
    struct world w = {0};
    struct pd_err err;
    double sum;
    int64_t count;
    world_make(&w, &small, full, full ? NULL : &drop);
    for (int i = 1; !full && i < w.trained->n; i += 2)
        rng_fill_normal(rng_key(5, (uint64_t)i, 0, 0), w.trained->t[i].w,
                        tensors_count(&w.trained->t[i]), 0.1f);
    llama_run_free(w.run);
    w.run = llama_run_new(&w.m, full ? NULL : &w.lora, &w.c, ROWS, 64, keep);
    optim_zero_grad(&w.c, w.trained);
    CHECK_OK(llama_loss_grad(w.run, rows_of(0, 0, 3), 77, &sum, &count, &err));
    CHECK(tensors_total(w.trained) < n);
    to[0] = (float)sum;
    for (int i = 0; i < w.trained->n; i++) {
        memcpy(++to, w.trained->t[i].g, tensors_count(&w.trained->t[i]) * sizeof *to);
        to += tensors_count(&w.trained->t[i]) - 1;
    }
    world_end(&w);
}

TEST(computing_activations_again_gives_the_same_bytes)
{
    enum { MOST = 1 << 20 };
    float *a = xcalloc(MOST, sizeof *a), *b = xcalloc(MOST, sizeof *b);
    for (int full = 0; full < 2; full++) {
        gradients(full, LLAMA_KEEP, a, MOST);
        gradients(full, LLAMA_RECOMPUTE, b, MOST);
        CHECK(a[0] > 0);
        for (size_t i = 0; i < MOST; i++)
            CHECK_MSG(memcmp(&a[i], &b[i], sizeof *a) == 0, "full %d, [%zu]: %.9g, %.9g", full,
                      i, (double)a[i], (double)b[i]);
    }
    struct llama_config big = small;
    big.layers = 12;
    size_t all = llama_run_floats(&big, NULL, 256, 64, LLAMA_KEEP);
    size_t few = llama_run_floats(&big, NULL, 256, 64, LLAMA_RECOMPUTE);
    CHECK(3 * few < all);
    free(a);
    free(b);
}

TEST(logits_equal_torch_and_decoding_equals_the_pass)
{
    static const int32_t ids[] = {3, 14, 15, 9, 26, 5, 35};
    struct world w = {0};
    struct tjson *all = reference();
    struct pd_err err;
    float pass[V];
    int off[2] = {0, ARRAY_LEN(ids)}, pos[] = {0, 1, 2, 3, 4, 5, 6};
    int32_t labels[ARRAY_LEN(ids)] = {-1, -1, -1, -1, -1, -1, -1};
    struct rows r = {.n = ARRAY_LEN(ids), .nseq = 1, .off = off, .ids = (int32_t *)ids,
                     .labels = labels, .pos = pos};
    world_make(&w, &small, true, NULL);
    CHECK_OK(llama_logits(w.run, &r, r.n - 1, pass, &err));
    struct generate *g = generate_new(&w.m, &w.c, 16);
    const float *one = NULL;
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        one = generate_feed(g, &ids[i], 1);
    for (int i = 0; i < V; i++) {
        char path[24];
        str_fmt(path, sizeof path, "logits[%d]", i);
        CHECK_NEAR(pass[i], tjson_num(all, path, -99), 2e-6);
        CHECK_NEAR(one[i], (double)pass[i], 2e-6);
    }
    CHECK(generate_feed(g, &(int32_t){V}, 1) == NULL);
    generate_free(g);
    tjson_free(all);
    world_end(&w);
}

/* One batch of three sequences, and three batches of one: the same gradient,
 * although the sequences have different numbers of trained tokens. */
TEST(accumulation_equals_one_batch)
{
    struct world w = {0};
    struct pd_err err;
    double sum, part, total = 0;
    int64_t n, count = 0;
    world_make(&w, &small, true, NULL);
    size_t size = tensors_total(w.trained) + 64;
    float *whole = calloc(size, sizeof *whole);
    CHECK_OK(llama_loss_grad(w.run, rows_of(1, 0, 3), 0, &sum, &n, &err));
    double norm = optim_grad_norm(&w.c, w.trained, 1);
    const struct tensor *q = tensors_find(w.trained, "model.layers.0.self_attn.q_proj.weight");
    memcpy(whole, q->g, tensors_count(q) * sizeof *whole);
    optim_zero_grad(&w.c, w.trained);
    for (int s = 0; s < 3; s++) {
        CHECK_OK(llama_loss_grad(w.run, rows_of(1, s, s + 1), 0, &part, &n, &err));
        total += part;
        count += n;
    }
    CHECK_INT(count, 7 + 3 + 10);
    CHECK_NEAR(total, sum, 1e-5);
    CHECK_NEAR(optim_grad_norm(&w.c, w.trained, 1), norm, 1e-6 * norm);
    for (size_t i = 0; i < tensors_count(q); i++)
        CHECK_NEAR(q->g[i], (double)whole[i], 1e-5);
    free(whole);
    world_end(&w);
}

static double loss_of(struct world *w, uint64_t key)
{
    double sum;
    int64_t n;
    struct pd_err err;
    CHECK_OK(llama_loss(w->run, rows_of(0, 0, 3), key, &sum, &n, &err));
    return sum;
}

TEST(an_adapter_can_be_switched_off_and_merged)
{
    struct world w = {0};
    world_make(&w, &small, false, &all_sites);
    double fresh = loss_of(&w, 0);                /* B is zero: the base */
    for (int i = 1; i < w.trained->n; i += 2)
        rng_fill_normal((uint64_t)i, w.trained->t[i].w, tensors_count(&w.trained->t[i]), 0.2f);
    double on = loss_of(&w, 0);
    w.lora.on = false;
    CHECK_NEAR(loss_of(&w, 0), fresh, 0);
    CHECK(fabs(on - fresh) > 0.01);
    lora_merge(&w.lora, &w.m);
    CHECK_NEAR(loss_of(&w, 0), on, 1e-4);
    world_end(&w);
}

TEST(dropout_only_while_training)
{
    struct world w = {0};
    struct lora_config cfg = all_sites;
    cfg.dropout = 0.5;
    world_make(&w, &small, false, &cfg);
    for (int i = 1; i < w.trained->n; i += 2)
        rng_fill_normal((uint64_t)i, w.trained->t[i].w, tensors_count(&w.trained->t[i]), 0.2f);
    double still = loss_of(&w, 0), one = loss_of(&w, 1001), two = loss_of(&w, 1003);
    CHECK_NEAR(loss_of(&w, 0), still, 0);
    CHECK_NEAR(loss_of(&w, 1001), one, 0);
    CHECK(one != still && one != two);
    world_end(&w);
}

TEST(a_bad_weight_is_named)
{
    struct world w = {0};
    struct pd_err err;
    double sum;
    int64_t n;
    world_make(&w, &small, false, &all_sites);
    w.m.layer[1].o[7] = NAN;
    CHECK_INT(llama_loss(w.run, rows_of(0, 0, 3), 0, &sum, &n, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "model.layers.1.self_attn.o_proj.weight[7]");
    w.m.layer[1].o[7] = 3e38f;                    /* finite, but its product overflows */
    w.m.layer[1].o[8] = 3e38f;
    for (int i = 0; i < 24 * 24; i++)
        w.m.layer[1].o[i] = 3e38f;
    w.m.layer[1].norm2[0] = 1;
    CHECK_INT(llama_loss(w.run, rows_of(0, 0, 3), 0, &sum, &n, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "layer 1:");
    world_end(&w);
}

TEST(ids_outside_the_vocabulary_are_refused)
{
    struct world w = {0};
    struct pd_err err;
    double sum;
    int64_t n;
    world_make(&w, &small, false, &all_sites);
    struct rows *r = rows_of(0, 0, 3);
    r->ids[4] = V;
    CHECK_INT(llama_loss(w.run, r, 0, &sum, &n, &err), PD_DATA);
    r = rows_of(0, 0, 3);
    r->labels[4] = V + 3;
    CHECK_INT(llama_loss(w.run, r, 0, &sum, &n, &err), PD_DATA);
    world_end(&w);
}

/* --- one linear layer with an adapter, dropout on, against f64 -------------- */
enum { LN = 5, LI = 7, LO = 6, LR = 3 };

struct site_case {
    double x[LN * LI], a[LR * LI], b[LO * LR], g[LN * LO], keep[LN * LI];
};

static double site_loss(void *arg)
{
    const struct site_case *k = arg;
    double sum = 0;
    for (int n = 0; n < LN; n++)
        for (int o = 0; o < LO; o++)
            for (int r = 0; r < LR; r++) {
                double u = 0;
                for (int i = 0; i < LI; i++)
                    u += k->x[n * LI + i] * k->keep[n * LI + i] * k->a[r * LI + i];
                sum += k->g[n * LO + o] * 8.0 / LR * k->b[o * LR + r] * u;
            }
    return sum;
}

static void site_case(struct compute *c)
{
    static struct site_case k;
    static float x[LN * LI], a[LR * LI], b[LO * LR], g[LN * LO], one[LN * LI], keep[LN * LI];
    static float tmp[LN * LI], u[LN * LR], y[LN * LO], da[LR * LI], db[LO * LR], dx[LN * LI];
    struct lora_site s = {LI, LO, LR, 8, 8.0 / LR, a, b, da, db};
    check_fill(1, k.x, x, LN * LI, 1);
    check_fill(2, k.a, a, LR * LI, 1);
    check_fill(3, k.b, b, LO * LR, 1);
    check_fill(4, k.g, g, LN * LO, 1);
    for (int i = 0; i < LN * LI; i++)
        one[i] = 1;
    const struct dropout drop = {.p = 0.4f, .key = 99};
    ops_dropout(c, LN, LI, &drop, one, keep);
    for (int i = 0; i < LN * LI; i++)
        k.keep[i] = (double)keep[i];
    memset(y, 0, sizeof y), memset(da, 0, sizeof da);
    memset(db, 0, sizeof db), memset(dx, 0, sizeof dx);
    lora_forward(&s, c, LN, &drop, x, tmp, u, y, LO);
    double got = 0;
    for (int i = 0; i < LN * LO; i++)
        got += (double)y[i] * k.g[i];
    CHECK_NEAR(got, site_loss(&k), 1e-4);
    lora_backward(&s, c, LN, &drop, x, tmp, u, g, LO, dx);
    check_grad("dx", site_loss, &k, k.x, LN * LI, dx);
    check_grad("da", site_loss, &k, k.a, LR * LI, da);
    check_grad("db", site_loss, &k, k.b, LO * LR, db);
}

TEST(lora_site_with_dropout) { check_everywhere(site_case); }

/* A prompt in parts of matrix products against one token after another. */
static void whole_prompt(struct compute *c)
{
    enum { N = 150, REST = 3 };
    struct llama m;
    struct llama_config cfg = {.vocab = 50, .hidden = 24, .ffn = 40, .layers = 2, .heads = 6,
                               .kv_heads = 2, .head_dim = 8, .max_pos = 200, .eps = 1e-5,
                               .theta = 1e4, .init_range = 0.3, .bos = -1, .pad = -1};
    int32_t ids[N];
    double want[50];
    llama_init(&m, &cfg, false);
    llama_randomise(&m, 5);
    for (int i = 0; i < N; i++)
        ids[i] = (i * 7 + i / 9) % 50;
    struct generate *g = generate_new(&m, c, N), *one = generate_new(&m, c, N);
    const float *z = NULL, *y = NULL;
    for (int i = 0; i < N; i++)
        z = generate_feed(one, &ids[i], 1);
    CHECK(generate_feed(g, ids, N - REST) != NULL);
    y = generate_feed(g, ids + N - REST, REST);
    CHECK(y && z);
    for (int i = 0; i < 50; i++)
        want[i] = (double)z[i];
    check_close("logits", y, want, 50, 1e-5);
    CHECK(generate_feed(g, ids, 1) == NULL);       /* full */
    generate_free(g);
    generate_free(one);
    llama_release(&m);
}

TEST(a_prompt_as_a_whole_equals_its_tokens) { check_everywhere(whole_prompt); }

TEST(sampling)
{
    const float z[] = {1, 3, 2, 3, -5};
    const struct generate_how likeliest = {.temperature = 0, .top_p = 1, .key = 1};
    const struct generate_how all = {.temperature = 1, .top_p = 1, .key = 1};
    const struct generate_how half = {.temperature = 1, .top_p = 0.5, .key = 1};
    const struct generate_how three = {.temperature = 100, .top_p = 1, .top_k = 3, .key = 1};
    int seen[5] = {0}, of_three[5] = {0};
    CHECK_INT(generate_pick(z, 5, &likeliest, 1), 1);
    for (uint64_t i = 0; i < 2000; i++)
        seen[generate_pick(z, 5, &all, i)]++;
    CHECK_NEAR(seen[1] / 2000.0, 0.399, 0.05);    /* e³ / Σ */
    CHECK(seen[2] > seen[0] && seen[0] > 0);
    for (uint64_t i = 0; i < 200; i++) {
        CHECK(generate_pick(z, 5, &half, i) % 2 == 1);
        of_three[generate_pick(z, 5, &three, i)]++;
    }
    CHECK(of_three[0] == 0 && of_three[4] == 0);
    CHECK(of_three[1] > 40 && of_three[2] > 40 && of_three[3] > 40);
}

T_MAIN
