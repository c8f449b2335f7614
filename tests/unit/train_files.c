/* train_files.c - files of the training core: safetensors (strict), config.json,
 * adapters in PEFT's form, checkpoints that are whole or not there. */
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/train/ckpt.h"
#include "core/train/safetensors.h"
#include "core/train/sha256.h"
#include "tests/unit/train_check.h"

static char *at(const char *name)
{
    static char path[8][400];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", t_dir(), name);
    return p;
}

static void write_file(const char *path, const void *data, size_t n)
{
    struct pd_err err;
    CHECK_OK(path_write_atomic(path, 0644, data, n, &err));
}

/* A safetensors file of a header and `data` bytes of data. */
static char *raw_file(const char *header, size_t data)
{
    static uint8_t buf[4096];
    char *path = at("x.safetensors");
    uint64_t n = strlen(header);
    memset(buf, 0, sizeof buf);
    memcpy(buf, &n, 8);
    memcpy(buf + 8, header, n);
    write_file(path, buf, 8 + n + data);
    return path;
}

static const struct {
    const char *header;
    size_t data;
    const char *says;             /* NULL: good */
} headers[] = {
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, NULL},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ", 8, NULL},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, NULL},
    {"{\"__metadata__\":{\"format\":\"pt\"}}", 0, NULL},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 9, "goes on"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 7, "1 are missing"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}}", 8, "length"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12, "hole"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12, "hole"},
    {"{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "dtype"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0,
     "shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "shape"},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
     "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, "a"},
    {"{\"__metadata__\":{\"format\":3}}", 0, "not a string"},
    {" {}", 0, "start with"},
    {"[]", 0, "start with"},
};

TEST(safetensors_is_strict)
{
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        struct safetensors *s;
        struct pd_err err = {0};
        enum pd_code rc = safetensors_open(raw_file(headers[i].header, headers[i].data), &s, &err);
        CHECK_MSG((rc == PD_OK) == !headers[i].says, "case %zu: %s", i, err.msg);
        if (rc == PD_OK)
            safetensors_close(s);
        else
            CHECK_HAS(err.msg, headers[i].says);
    }
}

TEST(safetensors_header_longer_than_the_file)
{
    static const uint8_t head[16] = {0, 0, 0, 0, 1};
    struct safetensors *s;
    struct pd_err err;
    write_file(at("h"), head, sizeof head);
    CHECK_INT(safetensors_open(at("h"), &s, &err), PD_TRAIN);
    write_file(at("h"), head, 5);
    CHECK_INT(safetensors_open(at("h"), &s, &err), PD_TRAIN);
    write_file(at("h"), head, 0);
    CHECK_INT(safetensors_open(at("h"), &s, &err), PD_TRAIN);
}

static struct tensors two_tensors(float *a, float *b)
{
    struct tensors ts = {0};
    tensors_add(&ts, 3, 5, "zebra.weight")->w = a;
    tensors_add(&ts, 0, 7, "ant.weight")->w = b;
    return ts;
}

TEST(safetensors_round_trip)
{
    float a[15], b[7], c[15], d[7];
    struct pd_err err;
    struct safetensors *s;
    int64_t bytes;
    rng_fill_normal(1, a, 15, 1);
    rng_fill_normal(2, b, 7, 1);
    struct tensors out = two_tensors(a, b), in = two_tensors(c, d);
    CHECK_OK(safetensors_save(at("r"), &out, SAFETENSORS_W, false, &bytes, &err));
    CHECK_OK(safetensors_load(at("r"), &in, true, &err));
    CHECK(memcmp(a, c, sizeof a) == 0 && memcmp(b, d, sizeof b) == 0);
    CHECK_OK(safetensors_open(at("r"), &s, &err));
    CHECK_INT(safetensors_count(s), 2);
    CHECK_STR(safetensors_at(s, 0)->name, "ant.weight");      /* sorted by name */
    CHECK_INT((uintptr_t)safetensors_at(s, 0)->data % 8, 0);
    safetensors_close(s);
    CHECK_OK(safetensors_save(at("r16"), &out, SAFETENSORS_W, true, &bytes, &err));
    CHECK_OK(safetensors_load(at("r16"), &in, true, &err));
    for (int i = 0; i < 15; i++)
        CHECK_NEAR(c[i], (double)a[i], fabs((double)a[i]) / 256);
    tensors_add(&in, 1, 1, "third")->w = d;
    CHECK_INT(safetensors_load(at("r"), &in, false, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "third");
    in.n = 1;
    CHECK_INT(safetensors_load(at("r"), &in, true, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "ant.weight");
    in.t[0].rows = 5, in.t[0].cols = 3;
    CHECK_INT(safetensors_load(at("r"), &in, false, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "[3, 5]");
    tensors_release(&in);
    tensors_release(&out);
}

TEST(half_floats)
{
    CHECK_INT(safetensors_f32_to_bf16(1.0f), 0x3f80);
    CHECK_INT(safetensors_f32_to_bf16(1.00390625f), 0x3f80);  /* tie: to even */
    CHECK_INT(safetensors_f32_to_bf16(1.01171875f), 0x3f82);
    CHECK(isnan(safetensors_bf16_to_f32(safetensors_f32_to_bf16(NAN))));
    const char *h = "{\"a\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}";
    uint8_t buf[200] = {0};
    uint16_t v[4] = {0x3c00, 0xc500, 0x0001, 0x7c00};         /* 1, -5, 2⁻²⁴, infinity */
    uint64_t n = strlen(h);
    float w[4];
    struct pd_err err;
    struct tensors ts = {0};
    memcpy(buf, &n, 8);
    memcpy(buf + 8, h, n);
    memcpy(buf + 8 + n, v, 8);
    write_file(at("f16"), buf, 8 + n + 8);
    tensors_add(&ts, 0, 4, "a")->w = w;
    CHECK_OK(safetensors_load(at("f16"), &ts, true, &err));
    CHECK(w[0] == 1 && w[1] == -5 && w[2] == 0x1p-24f && isinf(w[3]));
    tensors_release(&ts);
}

/* FIPS 180-4's examples, and the length that fills the last block. */
TEST(sha256_examples)
{
    char hex[65];
    struct sha256 s;
    sha256_init(&s);
    sha256_add(&s, "abc", 3);
    sha256_hex(&s, hex);
    CHECK_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_init(&s);
    sha256_add(&s, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    sha256_hex(&s, hex);
    CHECK_STR(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    sha256_init(&s);
    for (int i = 0; i < 1000000; i++)
        sha256_add(&s, "a", 1);
    sha256_hex(&s, hex);
    CHECK_STR(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static enum pd_code read_config(const char *text, struct llama_config *c, struct pd_err *err)
{
    write_file(at("config.json"), text, strlen(text));
    return llama_read_config(t_dir(), c, err);
}

TEST(config_of_both_generations)
{
    struct llama_config c;
    struct pd_err err;
    CHECK_OK(read_config("{\"vocab_size\":10,\"hidden_size\":8,\"intermediate_size\":16,"
                         "\"num_hidden_layers\":1,\"num_attention_heads\":2,"
                         "\"num_key_value_heads\":null,\"rope_theta\":500000.0,"
                         "\"rope_scaling\":{\"type\":\"llama3\",\"factor\":32.0},"
                         "\"eos_token_id\":[3,4]}", &c, &err));
    CHECK_INT(c.kv_heads, 2);
    CHECK_INT(c.head_dim, 4);
    CHECK(c.rope_llama3 && c.rope_factor == 32 && c.theta == 500000 && !c.tied);
    CHECK(c.n_eos == 2 && c.eos[1] == 4 && c.bos == -1);
    CHECK_OK(read_config("{\"hidden_size\":64,\"num_attention_heads\":4,\"rope_parameters\":"
                         "{\"rope_theta\":1234.0,\"rope_type\":\"default\"},\"dtype\":\"float32\","
                         "\"tie_word_embeddings\":true,\"eos_token_id\":5}", &c, &err));
    CHECK(c.theta == 1234 && !c.rope_llama3 && c.tied && c.eos[0] == 5);
    CHECK_OK(llama_write_config(t_dir(), &c, &err));
    struct llama_config again;
    CHECK_OK(llama_read_config(t_dir(), &again, &err));
    CHECK(memcmp(&c, &again, sizeof c) == 0);
}

TEST(config_that_is_not_computed_is_refused)
{
    static const char *const bad[][2] = {
        {"{\"attention_bias\":true}", "attention_bias"}, {"{\"hidden_act\":\"gelu\"}", "gelu"},
        {"{\"model_type\":\"mistral\"}", "mistral"},
        {"{\"rope_scaling\":{\"rope_type\":\"yarn\"}}", "yarn"},
        {"{\"vocab_size\":0}", "vocab_size"}, {"{\"hidden_size\":\"x\"}", "hidden_size"},
        {"{\"num_attention_heads\":3,\"num_key_value_heads\":2}", "evenly"}, {"[]", "object"},
    };
    struct llama_config c;
    struct pd_err err;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(read_config(bad[i][0], &c, &err) != PD_OK);
        CHECK_HAS(err.msg, bad[i][1]);
    }
}

/* --- adapters and checkpoints --------------------------------------------- */
static const struct llama_config tiny = {.vocab = 20, .hidden = 8, .ffn = 12, .layers = 2,
                                         .heads = 2, .kv_heads = 1, .head_dim = 4, .max_pos = 32,
                                         .eps = 1e-5, .theta = 1e4, .init_range = 0.1,
                                         .tied = true, .bos = -1, .pad = -1};

static void make_adapter(struct lora *l, uint64_t seed)
{
    struct lora_config cfg = {.r = 2, .alpha = 4, .targets = 1u << LORA_Q | 1u << LORA_DOWN};
    lora_init(l, &tiny, &cfg, seed);
    for (int i = 0; i < l->tensors.n; i++) {
        const struct tensor *t = &l->tensors.t[i];
        rng_fill_normal(seed + (uint64_t)i, t->w, tensors_count(t), 1);
        rng_fill_normal(seed + 50 + (uint64_t)i, t->m, tensors_count(t), 1);
        rng_fill_uniform(seed + 90 + (uint64_t)i, t->v, tensors_count(t), 0, 1);
    }
}

static void check_same(const struct lora *a, const struct lora *b)
{
    CHECK_INT(a->tensors.n, b->tensors.n);
    for (int i = 0; i < a->tensors.n; i++) {
        const struct tensor *x = &a->tensors.t[i], *y = &b->tensors.t[i];
        size_t n = tensors_count(x) * sizeof *x->w;
        CHECK_STR(x->name, y->name);
        CHECK(memcmp(x->w, y->w, n) == 0);
    }
}

TEST(adapter_in_pefts_form)
{
    struct lora a, b;
    struct pd_err err;
    struct str s;
    make_adapter(&a, 3);
    CHECK_OK(lora_save(&a, at("ad"), "some/base", &err));
    CHECK_OK(lora_load(&b, &tiny, at("ad"), &err));
    check_same(&a, &b);
    CHECK(b.cfg.r == 2 && b.cfg.alpha == 4 && b.cfg.targets == a.cfg.targets);
    lora_release(&b);
    struct safetensors *f;
    CHECK_OK(safetensors_open(at("ad/adapter_model.safetensors"), &f, &err));
    const struct safetensors_entry *e = safetensors_find(
        f, "base_model.model.model.layers.1.mlp.down_proj.lora_B.weight");
    CHECK(e && e->shape[0] == 8 && e->shape[1] == 2);
    e = safetensors_find(f, "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight");
    CHECK(e && e->shape[0] == 2 && e->shape[1] == 8);
    safetensors_close(f);
    str_init(&s, 1 << 16);
    CHECK_OK(path_read(at("ad/adapter_config.json"), 1 << 16, &s, &err));
    CHECK_HAS(s.p, "\"target_modules\": [\"q_proj\", \"down_proj\"]");
    CHECK_HAS(s.p, "\"peft_type\": \"LORA\"");
    char *dora = strstr(s.p, "\"use_dora\": false");
    memcpy(dora, "\"use_dora\": true ", 17);
    write_file(at("ad/adapter_config.json"), s.p, s.len);
    CHECK_INT(lora_load(&b, &tiny, at("ad"), &err), PD_UNSUPPORTED);
    CHECK_HAS(err.msg, "use_dora");
    str_release(&s);
    lora_release(&a);
}

static void save(struct lora *l, int64_t step)
{
    struct pd_err err;
    struct ckpt_source src = {.lora = l, .base = "base"};
    struct ckpt_state st = {.step = step, .tokens = step * 10, .rate = 0.1, .shape = "s \"q\""};
    char path[500];
    int64_t bytes;
    CHECK_OK(ckpt_save(t_dir(), &src, &st, 2, &bytes, path, sizeof path, &err));
    CHECK_HAS(path, "checkpoint-");
    CHECK(bytes > 500);
}

TEST(checkpoints_are_whole_or_not_there)
{
    struct lora a, b;
    struct pd_err err;
    struct str skipped;
    struct ckpt_state st;
    make_adapter(&a, 5);
    make_adapter(&b, 6);
    str_init(&skipped, 4096);
    CHECK_INT(ckpt_newest(t_dir(), &skipped), -1);
    for (int64_t step = 8; step <= 12; step += 2)
        save(&a, step);
    CHECK(access(at("checkpoint-8/manifest.json"), F_OK) != 0);       /* two are kept */
    CHECK(access(at("checkpoint-10/manifest.json"), F_OK) == 0);
    CHECK_INT(mkdir(at("checkpoint-99.tmp"), 0755), 0);               /* what a kill leaves */
    CHECK_INT(ckpt_newest(t_dir(), &skipped), 12);
    CHECK_INT(skipped.len, 0);
    struct ckpt_source dst = {.lora = &b};
    CHECK_OK(ckpt_load(t_dir(), 12, &dst, NULL, &st, &err));
    check_same(&a, &b);
    for (int i = 0; i < a.tensors.n; i++)
        CHECK(memcmp(a.tensors.t[i].v, b.tensors.t[i].v,
                     tensors_count(&a.tensors.t[i]) * sizeof(float)) == 0);
    CHECK(st.step == 12 && st.tokens == 120 && st.rate == 0.1);
    CHECK_STR(st.shape, "s \"q\"");
    FILE *f = fopen(at("checkpoint-12/optimizer.safetensors"), "r+");
    CHECK(f && fseek(f, -3, SEEK_END) == 0 && fputc('x', f) == 'x' && fclose(f) == 0);
    CHECK_INT(ckpt_newest(t_dir(), &skipped), 10);
    CHECK_HAS(skipped.p, "checkpoint-12/optimizer.safetensors");
    CHECK_INT(unlink(at("checkpoint-10/manifest.json")), 0);
    CHECK_INT(ckpt_newest(t_dir(), &skipped), -1);
    str_release(&skipped);
    lora_release(&a);
    lora_release(&b);
}

TEST(targets_by_name)
{
    unsigned bits = 0;
    struct pd_err err;
    CHECK_OK(lora_parse_targets("q_proj,down_proj", &bits, &err));
    CHECK_INT(bits, 1u << LORA_Q | 1u << LORA_DOWN);
    CHECK_OK(lora_parse_targets("all", &bits, &err));
    CHECK_INT(bits, 127);
    CHECK_INT(lora_parse_targets("q_prj", &bits, &err), PD_USAGE);
    CHECK_HAS(err.hint, "q_proj");
}

T_MAIN
