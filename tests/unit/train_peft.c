/* train_peft.c - adapters in PEFT's form: which layers a configuration means,
 * and what is said of a file that does not fit. */
#include <unistd.h>

#include "core/base/path.h"
#include "core/train/lora_config.h"
#include "core/train/lora_report.h"
#include "tests/unit/train_check.h"

static const struct llama_config base = {.vocab = 20, .hidden = 8, .ffn = 12, .layers = 3,
                                         .heads = 2, .kv_heads = 1, .head_dim = 4, .max_pos = 32,
                                         .eps = 1e-5, .theta = 1e4, .init_range = 0.1,
                                         .tied = true, .bos = -1, .pad = -1};

static char *at(const char *name)
{
    static char path[8][400];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", t_dir(), name);
    return p;
}

static void write_config(const char *text)
{
    struct pd_err err;
    char *path = at("ad/adapter_config.json");
    CHECK_OK(path_mkdirs(at("ad"), 0755, &err));
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
}

/* "q0 q1 v0:4/8 …": the sites, with r/alpha where they are not 8/16. */
static const char *sites_of(const struct lora_table *t)
{
    static char out[2000];
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < base.layers; i++)
        for (int mod = 0; mod < LORA_MODULES; mod++) {
            if (!t->r[i][mod])
                continue;
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%c%d", n ? " " : "",
                                  "qkvogud"[mod], i);
            if (t->r[i][mod] != 8 || t->alpha[i][mod] != 16)
                n += (size_t)snprintf(out + n, sizeof out - n, ":%d/%g", t->r[i][mod],
                                      t->alpha[i][mod]);
        }
    return out;
}

#define ALL0 "q0 k0 v0 o0 g0 u0 d0"
#define ALL1 "q1 k1 v1 o1 g1 u1 d1"
#define ALL2 "q2 k2 v2 o2 g2 u2 d2"

/* what stands behind "r" and "lora_alpha", and the sites that PEFT makes of it */
static const struct {
    const char *json, *sites;
} meant[] = {
    {"", "q0 v0 q1 v1 q2 v2"},
    {",\"target_modules\":null", "q0 v0 q1 v1 q2 v2"},
    {",\"target_modules\":[\"k_proj\",\"nothing\"]", "k0 k1 k2"},
    {",\"target_modules\":[\"self_attn.q_proj\"]", "q0 q1 q2"},
    {",\"target_modules\":[\"model.layers.1.mlp.up_proj\",\"o_proj\"]", "o0 o1 u1 o2"},
    {",\"target_modules\":\"all-linear\"", ALL0 " " ALL1 " " ALL2},
    {",\"target_modules\":\".*\\\\.[02]\\\\.self_attn\\\\.(q|v)_proj\"", "q0 v0 q2 v2"},
    {",\"target_modules\":\"^(?!.*mlp).*layers\\\\.1\\\\..*_proj$\"", "q1 k1 v1 o1"},
    {",\"target_modules\":[\"q_proj\"],\"exclude_modules\":[\"layers.1.self_attn.q_proj\"]",
     "q0 q2"},
    {",\"target_modules\":[\"q_proj\",\"v_proj\"],\"exclude_modules\":\".*v_proj\"", "q0 q1 q2"},
    {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":[0,2]", "q0 q2"},
    {",\"target_modules\":[\"q_proj\",\"model.layers.1.mlp.up_proj\"],"
     "\"layers_to_transform\":[0]", "q0 u1"},
    {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":1,\"layers_pattern\":\"layers\"",
     "q1"},
    {",\"target_modules\":[\"q_proj\"],\"layers_to_transform\":1,\"layers_pattern\":[\"h\","
     "\"layers\"]", "q1"},
    {",\"target_modules\":[\"q_proj\",\"v_proj\"],\"rank_pattern\":{\"v_proj\":4},"
     "\"alpha_pattern\":{\"layers.0.self_attn.v_proj\":2}",
     "q0 v0:4/2 q1 v1:4/16 q2 v2:4/16"},
    {",\"target_modules\":[\"q_proj\"],\"rank_pattern\":{\"^model.layers.[12].*q_proj\":2,"
     "\"q_proj\":5}", "q0:5/16 q1:2/16 q2:2/16"},
    {",\"target_modules\":[\"q_proj\"],\"rank_pattern\":{\"proj\":4}", "q0 q1 q2"},
    {",\"target_modules\":[\"q_proj\"],\"fan_in_fan_out\":true,\"bias\":\"none\","
     "\"use_dora\":false,\"modules_to_save\":[],\"loftq_config\":{},\"megatron_core\":\"x\"",
     "q0 q1 q2"},
};

TEST(a_configuration_means_what_peft_makes_of_it)
{
    static struct lora_table t;
    struct lora_config c;
    struct pd_err err;
    char text[1000];
    for (size_t i = 0; i < ARRAY_LEN(meant); i++) {
        snprintf(text, sizeof text, "{\"peft_type\":\"LORA\",\"r\":8,\"lora_alpha\":16%s}",
                 meant[i].json);
        write_config(text);
        CHECK_OK(lora_config_read(at("ad/adapter_config.json"), &base, &c, &t, &err));
        CHECK_STR(sites_of(&t), meant[i].sites);
    }
}

static const struct {
    const char *json, *says;
} wrong[] = {
    {"\"use_dora\":true", "use_dora"},
    {"\"lora_bias\":true", "lora_bias"},
    {"\"bias\":\"all\"", "bias is \"all\""},
    {"\"modules_to_save\":[\"lm_head\"]", "modules_to_save"},
    {"\"trainable_token_indices\":[1]", "trainable_token_indices"},
    {"\"init_lora_weights\":\"pissa_niter_16\"", "pissa_niter_16"},
    {"\"task_type\":\"SEQ_CLS\"", "SEQ_CLS"},
    {"\"peft_type\":\"IA3\"", "IA3"},
    {"\"target_modules\":[\"q_proj\",\"lm_head\"]", "lm_head"},
    {"\"target_modules\":\".*\"", "lm_head"},
    {"\"target_modules\":[\"query_key_value\"]", "no linear layer"},
    {"\"target_modules\":\"(q_proj\"", "regular expression"},
    {"\"target_modules\":[7]", "target_modules must be"},
    {"\"r\":0", "r must be"},
    {"\"r\":\"8\"", "r must be of type integer, not string"},
    {"\"lora_alpha\":\"32\"", "lora_alpha"},
    {"\"r\":null", NULL},
    {"\"rank_pattern\":{\"q_proj\":0}", "rank_pattern"},
    {"\"rank_pattern\":{\"q_proj\":4096}", "rank_pattern"},
};

TEST(what_is_not_computed_is_refused_by_its_key)
{
    static struct lora_table t;
    struct lora_config c;
    char text[1000];
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct pd_err err = {0};
        bool typed = strstr(wrong[i].json, "peft_type");
        snprintf(text, sizeof text, "{%s%s}", typed ? "" : "\"peft_type\":\"LORA\",",
                 wrong[i].json);
        write_config(text);
        enum pd_code rc = lora_config_read(at("ad/adapter_config.json"), &base, &c, &t, &err);
        CHECK_MSG((rc != PD_OK) == (wrong[i].says != NULL), "%s: %s", wrong[i].json, err.msg);
        if (rc != PD_OK)
            CHECK_HAS(err.msg, wrong[i].says);
    }
    struct pd_err err;
    write_config("{\"r\":8}");
    CHECK_INT(lora_config_read(at("ad/adapter_config.json"), &base, &c, &t, &err), PD_UNSUPPORTED);
    CHECK_HAS(err.msg, "peft_type");
}

/* q at all layers (r 2, rslora), down at layer 1 (r 3, alpha 5), written. */
static void make(struct lora *l)
{
    static struct lora_table t;
    struct pd_err err;
    struct lora_config c = {.r = 2, .alpha = 4, .rslora = true, .table = &t,
                            .targets = 1u << LORA_Q | 1u << LORA_DOWN};
    for (int i = 0; i < base.layers; i++)
        t.r[i][LORA_Q] = 2, t.alpha[i][LORA_Q] = 4;
    t.r[1][LORA_DOWN] = 3, t.alpha[1][LORA_DOWN] = 5;
    lora_init(l, &base, &c, 1);
    for (int i = 0; i < l->tensors.n; i++)
        rng_fill_normal((uint64_t)i + 5, l->tensors.t[i].w, tensors_count(&l->tensors.t[i]), 1);
    CHECK_OK(lora_save(l, at("ad"), "some/base", &err));
}

TEST(ranks_of_their_own_survive_the_file)
{
    struct lora a, b;
    struct pd_err err;
    struct str s;
    make(&a);
    CHECK_OK(lora_load(&b, &base, at("ad"), &err));
    CHECK_INT(b.tensors.n, 8);
    for (int i = 0; i < 8; i++)
        CHECK(memcmp(a.tensors.t[i].w, b.tensors.t[i].w,
                     tensors_count(&a.tensors.t[i]) * sizeof(float)) == 0);
    CHECK_NEAR(b.site[2][LORA_Q].scale, 4 / sqrt(2), 1e-12);
    CHECK_NEAR(b.site[1][LORA_DOWN].scale, 5 / sqrt(3), 1e-12);
    CHECK_INT(b.site[0][LORA_DOWN].r, 0);
    CHECK_INT(lora_rank(&b, -1, LORA_DOWN), 3);
    str_init(&s, 1 << 16);
    CHECK_OK(path_read(at("ad/adapter_config.json"), 1 << 16, &s, &err));
    CHECK_HAS(s.p, "\"target_modules\": [\"q_proj\", \"model.layers.1.mlp.down_proj\"]");
    CHECK_HAS(s.p, "\"rank_pattern\": {\"model.layers.1.mlp.down_proj\": 3}");
    CHECK_HAS(s.p, "\"alpha_pattern\": {\"model.layers.1.mlp.down_proj\": 5}");
    CHECK_HAS(s.p, "\"use_rslora\": true");
    str_release(&s);
    lora_release(&a);
    lora_release(&b);
}

/* --- a file that does not fit -------------------------------------------------- */

static void drop(struct tensors *ts, int i)
{
    memmove(&ts->t[i], &ts->t[i + 1], (size_t)(ts->n - i - 1) * sizeof *ts->t);
    ts->n--;
}

static void load_says(const char *msg, const char *hint)
{
    struct lora l;
    struct pd_err err = {0};
    CHECK_INT(lora_load(&l, &base, at("ad"), &err), PD_TRAIN);
    CHECK_HAS(err.msg, msg);
    CHECK_HAS(err.hint, hint);
}

static void save_as(const struct tensors *ts)
{
    struct pd_err err;
    CHECK_OK(safetensors_save(at("ad/adapter_model.safetensors"), ts, SAFETENSORS_W, false, NULL,
                              &err));
}

TEST(missing_tensors_are_counted_and_named)
{
    struct lora l;
    make(&l);
    drop(&l.tensors, 7);                           /* q_proj of layer 2: B, then A */
    drop(&l.tensors, 6);
    drop(&l.tensors, 1);
    save_as(&l.tensors);
    load_says("3 of 8 tensors are missing: layers.2.self_attn.q_proj.lora_A, "
              "layers.0.self_attn.q_proj.lora_B, layers.2.self_attn.q_proj.lora_B", "cut");
    lora_release(&l);
}

TEST(tensors_left_over_are_counted_and_named)
{
    struct lora l;
    static float x[16];
    make(&l);
    for (int i = 0; i < 4; i++)
        tensors_add(&l.tensors, 2, 8, "base_model.model.model.layers.%d.self_attn.k_proj.lora_A"
                    ".weight", i)->w = x;
    for (int i = 0; i < 4; i++)
        tensors_add(&l.tensors, 4, 2, "base_model.model.model.layers.%d.self_attn.k_proj.lora_B"
                    ".weight", i)->w = x;
    tensors_add(&l.tensors, 2, 8, "base_model.model.lm_head.weight")->w = x;
    save_as(&l.tensors);
    load_says("9 of 17 tensors are left over: base_model.model.lm_head.weight, "
              "layers.0-3.self_attn.k_proj.lora_A/B", "save_embedding_layers");
    lora_release(&l);
}

TEST(another_base_is_told_by_its_shapes)
{
    struct lora l, wide;
    struct pd_err err;
    struct llama_config other = base;
    other.hidden = 16;
    make(&l);
    lora_init(&wide, &other, &(struct lora_config){.r = 2, .alpha = 4, .targets = 1u << LORA_Q},
              1);
    CHECK_OK(lora_save(&wide, at("ad"), "other", &err));
    load_says("3 of 6 tensors have another shape: layers.0-2.self_attn.q_proj.lora_A, [2, 16] "
              "instead of [2, 8]", "16 wide, this model's 8");
    lora_release(&wide);
    lora_release(&l);
}

TEST(another_r_is_told_by_its_shapes)
{
    struct lora l;
    make(&l);
    write_config("{\"peft_type\":\"LORA\",\"r\":2,\"target_modules\":[\"q_proj\",\"model.layers.1."
                 "mlp.down_proj\"]}");
    load_says("2 of 8 tensors have another shape: layers.1.mlp.down_proj.lora_A/B", "rank_pattern");
    lora_release(&l);
}

TEST(a_wrong_prefix_is_named)
{
    struct lora l;
    make(&l);
    for (int i = 0; i < l.tensors.n; i++) {
        char name[TENSOR_NAME];
        str_copy(name, sizeof name, l.tensors.t[i].name);
        str_fmt(l.tensors.t[i].name, TENSOR_NAME, "module.%.100s", name);
    }
    save_as(&l.tensors);
    load_says("8 of 8 tensors are left over", "\"module.\"");
    lora_release(&l);
}

TEST(a_value_that_is_no_number_is_named)
{
    struct lora l;
    make(&l);
    l.tensors.t[5].w[3] = NAN;
    save_as(&l.tensors);
    load_says("down_proj.lora_B.weight[3]", "diverged");
    lora_release(&l);
}

TEST(an_untrained_adapter_is_noted)
{
    struct lora l;
    struct str s;
    str_init(&s, 4096);
    make(&l);
    lora_notes(&l, &s);
    CHECK_STR(s.p, "");
    for (int i = 1; i < 8; i += 2) {
        memset(l.tensors.t[i].w, 0, tensors_count(&l.tensors.t[i]) * sizeof(float));
        str_clear(&s);
        lora_notes(&l, &s);
        CHECK_HAS(s.p, i < 7 ? " of 4 lora_B are zero" : "every lora_B is zero");
    }
    str_release(&s);
    lora_release(&l);
}

TEST(a_folder_that_is_no_adapter_is_named)
{
    struct lora l;
    struct pd_err err;
    make(&l);
    lora_release(&l);
    CHECK_INT(rename(at("ad/adapter_model.safetensors"), at("ad/adapter_model.bin")), 0);
    load_says("no adapter_model.safetensors", "pickle");
    CHECK_INT(rename(at("ad/adapter_model.bin"), at("ad/model.safetensors")), 0);
    CHECK_INT(unlink(at("ad/adapter_config.json")), 0);
    load_says("no adapter_config.json", "whole model");
    CHECK_OK(path_mkdirs(at("ad"), 0755, &err));
}

/* What is said of the file alone, without configuration and base; "": good. */
static const char *alone(void)
{
    static struct pd_err err;
    struct safetensors *s;
    char *path = at("ad/adapter_model.safetensors");
    CHECK_OK(safetensors_open(path, &s, &err));
    enum pd_code rc = lora_report_alone(s, path, &err);
    safetensors_close(s);
    return rc == PD_OK ? "" : err.msg;
}

TEST(a_file_alone_is_looked_at)
{
    struct lora l;
    struct safetensors *f;
    struct pd_err err;
    struct str s;
    make(&l);
    CHECK_STR(alone(), "");
    l.tensors.t[3].w[2] = INFINITY;
    save_as(&l.tensors);
    CHECK_HAS(alone(), "lora_B.weight[2] is not a finite number");
    for (int i = 1; i < 8; i += 2)
        memset(l.tensors.t[i].w, 0, tensors_count(&l.tensors.t[i]) * sizeof(float));
    save_as(&l.tensors);
    CHECK_STR(alone(), "");
    str_init(&s, 4096);
    CHECK_OK(safetensors_open(at("ad/adapter_model.safetensors"), &f, &err));
    lora_report_zero(f, &s);
    CHECK_HAS(s.p, "every lora_B is zero");
    safetensors_close(f);
    str_release(&s);
    l.tensors.t[1].rows = 4, l.tensors.t[1].cols = 4;      /* was [8, 2] */
    save_as(&l.tensors);
    CHECK_HAS(alone(), "different r");
    drop(&l.tensors, 0);
    save_as(&l.tensors);
    CHECK_HAS(alone(), "1 of 8 tensors are missing: layers.0.self_attn.q_proj.lora_A");
    lora_release(&l);
}

TEST(empty_tensors_are_counted)
{
    struct lora l;
    struct pd_err err;
    const char *dir = PODIUM_SOURCE_DIR "/tests/cases/safetensors/005-lora-b-shape-zero";
    CHECK_INT(lora_load(&l, &base, dir, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "4 of 4 tensors are empty (shape [0])");
    CHECK_HAS(err.msg, "layers.0.self_attn.q_proj.lora_A/B");
    CHECK_HAS(err.hint, "gather");
    struct str s;
    char *from = path_join(dir, "adapter_model.safetensors");
    str_init(&s, 1 << 16);
    CHECK_OK(path_read(from, 1 << 16, &s, &err));
    write_config("{\"peft_type\":\"LORA\",\"r\":2}");
    CHECK_OK(path_write_atomic(at("ad/adapter_model.safetensors"), 0644, s.p, s.len, &err));
    load_says("4 of 4 tensors are empty", "gather");
    str_release(&s);
    free(from);
}

T_MAIN
