/* train_export.c - results for others: GGUF files, merged folders, half floats. */
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/eval_table.h"
#include "core/train/gguf_model.h"
#include "core/train/model_dir.h"
#include "core/train/probe.h"
#include "core/train/tjson.h"
#include "tests/unit/train_check.h"

static const struct llama_config base = {.vocab = 300, .hidden = 32, .ffn = 64, .layers = 2,
                                         .heads = 4, .kv_heads = 2, .head_dim = 8, .max_pos = 64,
                                         .eps = 1e-5, .theta = 1e4, .init_range = 0.3, .bos = -1,
                                         .pad = -1};

static char *at(const char *name)
{
    static char path[8][400];
    static int next;
    char *p = path[next++ % 8];
    snprintf(p, sizeof path[0], "%s/%s", t_dir(), name);
    return p;
}

static void write_text(const char *path, const char *text)
{
    struct pd_err err;
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
}

static void read_text(const char *path, struct str *s)
{
    struct pd_err err;
    str_init(s, 1 << 24);
    CHECK_OK(path_read(path, 1 << 24, s, &err));
}

/* --- half floats -------------------------------------------------------------------- */

TEST(every_half_survives)
{
    struct tensors ts = {0};
    struct pd_err err;
    static float x[65536], y[65536];
    for (int i = 0; i < 65536; i++) {
        int e = i >> 10 & 31, man = i & 1023;
        double v = e == 0 ? ldexp(man, -24) : ldexp(man + 1024, e - 25);
        x[i] = (float)(i & 0x8000 ? -v : v);
        if (e == 31)
            x[i] = i & 0x8000 ? -INFINITY : INFINITY;
        CHECK_INT(safetensors_f32_to_f16(x[i]), e == 31 ? (i & 0xfc00) : i);
    }
    tensors_add(&ts, 256, 256, "x")->w = x;
    CHECK_OK(safetensors_save(at("h"), &ts, SAFETENSORS_W, SAFETENSORS_F16, NULL, &err));
    ts.t[0].w = y;
    CHECK_OK(safetensors_load(at("h"), &ts, true, &err));
    CHECK(memcmp(x, y, sizeof x) == 0);
    tensors_release(&ts);
}

TEST(halves_round_to_the_nearest_even)
{
    CHECK_INT(safetensors_f32_to_f16(1 + 0x1p-11f), 0x3c00);
    CHECK_INT(safetensors_f32_to_f16(1 + 0x1p-10f + 0x1p-11f), 0x3c02);
    CHECK_INT(safetensors_f32_to_f16(1 + 0x1p-11f + 0x1p-20f), 0x3c01);
    CHECK_INT(safetensors_f32_to_f16(65519.996f), 0x7bff);
    CHECK_INT(safetensors_f32_to_f16(65520), 0x7c00);
    CHECK_INT(safetensors_f32_to_f16(0x1p-25f), 0);
    CHECK_INT(safetensors_f32_to_f16(0x1.000002p-25f), 1);
    CHECK_INT(safetensors_f32_to_f16(-0x1.8p-24f), 0x8002);
    CHECK_INT(safetensors_f32_to_f16(0x1.ffep-15f), 0x0400);
    CHECK_INT(safetensors_f32_to_f16(NAN) & 0x7e00, 0x7e00);
}

TEST(blocks_of_eight_bits)
{
    float x[32];
    uint8_t out[34];
    for (int i = 0; i < 32; i++)
        x[i] = (float)i / 4;
    x[4] = -254;                                   /* the largest: the scale is 2 */
    x[5] = 5, x[6] = -5, x[7] = 7;                 /* 2.5, -2.5, 3.5 go away from zero */
    CHECK_INT(gguf_save_bytes(GGUF_SAVE_Q8_0, 64), 68);
    CHECK(gguf_save_encode(GGUF_SAVE_Q8_0, 32, x, out));
    CHECK_INT(out[0] | out[1] << 8, 0x4000);
    CHECK_INT((int8_t)out[2 + 4], -127);
    CHECK_INT((int8_t)out[2 + 5], 3);
    CHECK_INT((int8_t)out[2 + 6], -3);
    CHECK_INT((int8_t)out[2 + 7], 4);
    CHECK_INT((int8_t)out[2 + 31], 4);             /* 3.875 */
    memset(x, 0, sizeof x);
    CHECK(gguf_save_encode(GGUF_SAVE_Q8_0, 32, x, out));
    for (int i = 0; i < 34; i++)
        CHECK_INT(out[i], 0);
    x[3] = 1e9f;
    CHECK(!gguf_save_encode(GGUF_SAVE_Q8_0, 32, x, out));
    CHECK(!gguf_save_encode(GGUF_SAVE_F16, 32, x, out));
}

/* --- GGUF --------------------------------------------------------------------------- */

/* Where a key's or tensor's name ends in the file; NULL: it is not there. */
static const char *behind(const struct str *s, const char *name)
{
    uint64_t n = strlen(name);
    for (size_t i = 0; i + 8 + n <= s->len; i++)
        if (memcmp(s->p + i, &n, 8) == 0 && memcmp(s->p + i + 8, name, n) == 0)
            return s->p + i + 8 + n;
    return NULL;
}

static uint64_t number(const char *p, size_t n)
{
    uint64_t v = 0;
    CHECK(p != NULL);
    memcpy(&v, p, n);
    return v;
}

/* A tensor's data: `head` is where the data starts. */
static const char *data_of(const struct str *s, const char *name, size_t head)
{
    const char *p = behind(s, name);
    uint64_t dims = number(p, 4);
    return s->p + head + number(p + 4 + 8 * dims + 4, 8);
}

static void make_model(struct llama *m)
{
    llama_init(m, &base, false);
    llama_randomise(m, 3);
}

#define TOKENS "\"<s>\":0,\"a\":1,\"b\":2,\"ab\":3"
#define REST "\"merges\":[[\"a\",\"b\"]]}}"

static void make_folder(void)
{
    struct pd_err err;
    CHECK_OK(path_mkdirs(at("m"), 0755, &err));
    write_text(at("m/tokenizer.json"),
               "{\"added_tokens\":[{\"id\":0,\"content\":\"<s>\",\"special\":true},{\"id\":5,"
               "\"content\":\"<u>\",\"special\":false}],\"normalizer\":null,\"pre_tokenizer\":{"
               "\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\""
               ":true},{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]},\"post_processor\":{"
               "\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},{"
               "\"Sequence\":{\"id\":\"A\"}}]},\"model\":{\"type\":\"BPE\",\"vocab\":{" TOKENS "},"
               REST);
    write_text(at("m/tokenizer_config.json"),
               "{\"model_max_length\":1000000000000000019884624838656,\"bos_token\":\"<s>\","
               "\"eos_token\":{\"content\":\"ab\"},\"chat_template\":\"{{ x }}\"}");
    write_text(at("m/config.json"), "{\"model_type\":\"llama\",\"dtype\":\"float32\",\"extra\":1}");
    write_text(at("m/generation_config.json"), "{\"eos_token_id\":3}");
}

TEST(a_model_as_gguf)
{
    struct llama m;
    struct pd_err err;
    struct str s;
    int64_t bytes;
    make_model(&m);
    make_folder();
    CHECK_OK(gguf_model_save(&m, at("m"), at("x.gguf"), GGUF_SAVE_F32, &bytes, &err));
    read_text(at("x.gguf"), &s);
    CHECK_INT(s.len, bytes);
    CHECK(memcmp(s.p, "GGUF\3\0\0\0", 8) == 0);
    CHECK_INT(number(s.p + 8, 8), (uint64_t)m.tensors.n);
    CHECK_INT(number(behind(&s, "llama.block_count") + 4, 4), 2);
    CHECK_INT(number(behind(&s, "llama.attention.head_count_kv") + 4, 4), 2);
    CHECK(memcmp(behind(&s, "tokenizer.ggml.pre") + 4, "\6\0\0\0\0\0\0\0smollm", 14) == 0);
    CHECK_INT(number(behind(&s, "tokenizer.ggml.bos_token_id") + 4, 4), 0);
    CHECK_INT(number(behind(&s, "tokenizer.ggml.eos_token_id") + 4, 4), 3);
    CHECK_INT(*(behind(&s, "tokenizer.ggml.add_bos_token") + 4), 1);
    CHECK_INT(number(behind(&s, "tokenizer.ggml.tokens") + 8, 8), 300);
    const char *types = behind(&s, "tokenizer.ggml.token_type") + 16;
    const int want[] = {3, 1, 1, 1, 5, 4, 5};
    for (int i = 0; i < 7; i++)
        CHECK_INT(number(types + 4 * i, 4), want[i]);
    CHECK(behind(&s, "[PAD4]") && behind(&s, "a b") && behind(&s, "{{ x }}"));
    size_t data = 0;
    for (int i = 0; i < m.tensors.n; i++)
        data += tensors_count(&m.tensors.t[i]) * 4;
    const float *q = (const float *)(const void *)data_of(&s, "blk.1.attn_q.weight", s.len - data);
    for (int i = 0; i < 32; i++)                   /* head 1: rows 8 … 15, pairs side by side */
        CHECK(q[9 * 32 + i] == m.layer[1].qkv[12 * 32 + i] &&
              q[10 * 32 + i] == m.layer[1].qkv[9 * 32 + i]);
    const float *o = (const float *)(const void *)data_of(&s, "blk.1.attn_output.weight",
                                                          s.len - data);
    CHECK(memcmp(o, m.layer[1].o, 32 * 32 * 4) == 0);
    str_release(&s);
    llama_release(&m);
}

TEST(a_splitter_that_llama_cpp_lacks_is_refused)
{
    struct llama m;
    struct pd_err err;
    int64_t bytes;
    make_model(&m);
    make_folder();
    write_text(at("m/tokenizer.json"), "{\"pre_tokenizer\":{\"type\":\"Whitespace\"},\"model\":{"
                                       "\"type\":\"BPE\",\"vocab\":{" TOKENS "}," REST);
    CHECK_INT(gguf_model_save(&m, at("m"), at("x.gguf"), GGUF_SAVE_F32, &bytes, &err),
              PD_UNSUPPORTED);
    CHECK_HAS(err.msg, "splitter");
    CHECK(access(at("x.gguf"), F_OK) != 0);
    llama_release(&m);
}

static void make_adapter(struct lora *l)
{
    lora_init(l, &base, &(struct lora_config){.r = 4, .alpha = 8, .rslora = true,
                                              .targets = 1u << LORA_Q | 1u << LORA_DOWN}, 1);
    for (int i = 0; i < l->tensors.n; i++)
        rng_fill_normal((uint64_t)i + 5, l->tensors.t[i].w, tensors_count(&l->tensors.t[i]),
                        0.3f);
}

TEST(an_adapter_as_gguf)
{
    struct lora l;
    struct pd_err err;
    struct str s;
    int64_t bytes;
    make_adapter(&l);
    CHECK_OK(gguf_adapter_save(&l, &base, at("a.gguf"), GGUF_SAVE_F32, &bytes, &err));
    read_text(at("a.gguf"), &s);
    CHECK_INT(number(s.p + 8, 8), 8);
    float alpha;
    memcpy(&alpha, behind(&s, "adapter.lora.alpha") + 4, 4);
    CHECK_NEAR((double)alpha, 8, 0);
    size_t data = tensors_total(&l.tensors) * 4;
    const float *b = (const float *)(const void *)data_of(&s, "blk.1.attn_q.weight.lora_b",
                                                          s.len - data);
    /* rslora: llama.cpp scales by 8/4, meant is 8/2; row 1 of the file is row 4 */
    CHECK_NEAR((double)b[4], 2 * (double)l.site[1][LORA_Q].b[4 * 4], 1e-6);
    const float *a = (const float *)(const void *)data_of(&s, "blk.1.ffn_down.weight.lora_a",
                                                          s.len - data);
    CHECK(memcmp(a, l.site[1][LORA_DOWN].a, 4 * 64 * 4) == 0);
    str_release(&s);
    lora_release(&l);
}

TEST(a_value_beyond_f16_is_named)
{
    struct llama m;
    struct pd_err err;
    struct model_dir d = {.from = at("m"), .to = at("out"), .type = SAFETENSORS_F16,
                          .most = 1 << 30};
    int64_t bytes;
    make_model(&m);
    make_folder();
    m.layer[1].down[7] = 1e6f;
    CHECK_INT(gguf_model_save(&m, at("m"), at("x.gguf"), GGUF_SAVE_F16, &bytes, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "blk.1.ffn_down.weight");
    CHECK(access(at("x.gguf"), F_OK) != 0 && access(at("x.gguf.part"), F_OK) != 0);
    CHECK_INT(model_dir_write(&d, &m, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "model.layers.1.mlp.down_proj.weight[7]");
    llama_release(&m);
}

/* --- merged folders -------------------------------------------------------------------- */

TEST(sizes_as_transformers_reads_them)
{
    int64_t n;
    CHECK(model_dir_size("5GB", &n) && n == 5000000000);
    CHECK(model_dir_size("1.5MiB", &n) && n == 1572864);
    CHECK(model_dir_size("300", &n) && n == 300);
    CHECK(!model_dir_size("5 apples", &n) && !model_dir_size("", &n));
    CHECK(!model_dir_size("-1KB", &n));
}

TEST(a_folder_in_shards)
{
    struct llama m, back;
    struct pd_err err;
    struct str s;
    make_model(&m);
    make_folder();
    CHECK_OK(path_mkdirs(at("out"), 0755, &err));
    write_text(at("out/model.safetensors"), "of before");
    struct model_dir d = {.from = at("m"), .to = at("out"), .type = SAFETENSORS_F32,
                          .most = 40000};
    CHECK_OK(model_dir_write(&d, &m, &err));
    CHECK(d.shards > 2);
    CHECK(access(at("out/model.safetensors"), F_OK) != 0);
    struct tjson *j;
    CHECK_OK(tjson_read(at("out/model.safetensors.index.json"), 1 << 20, &j, &err));
    CHECK_INT(tjson_int(j, "metadata.total_size", 0), (int64_t)tensors_total(&m.tensors) * 4);
    CHECK_INT(tjson_count(tjson_get(j, "weight_map")), m.tensors.n);
    char name[80];
    snprintf(name, sizeof name, "model-%05d-of-%05d.safetensors", d.shards, d.shards);
    CHECK_STR(tjson_str(tjson_get(tjson_get(j, "weight_map"), "lm_head.weight"), "", ""), name);
    tjson_free(j);
    llama_init(&back, &base, false);
    CHECK_OK(model_dir_read(&d, &back, &err));
    for (int i = 0; i < m.tensors.n; i++)
        CHECK(memcmp(m.tensors.t[i].w, back.tensors.t[i].w,
                     tensors_count(&m.tensors.t[i]) * 4) == 0);
    read_text(at("out/config.json"), &s);
    CHECK_HAS(s.p, "\"dtype\": \"float32\"");
    CHECK_HAS(s.p, "\"extra\": 1");
    CHECK(access(at("out/generation_config.json"), F_OK) == 0);
    CHECK(access(at("out/tokenizer_config.json"), F_OK) == 0);
    str_release(&s);
    d.most = 1 << 30;                              /* again, in one file */
    d.type = SAFETENSORS_BF16;
    CHECK_OK(model_dir_write(&d, &m, &err));
    CHECK_INT(d.shards, 1);
    CHECK(access(at("out/model.safetensors.index.json"), F_OK) != 0);
    read_text(at("out/config.json"), &s);
    CHECK_HAS(s.p, "\"dtype\": \"bfloat16\"");
    str_release(&s);
    d.to = d.from;
    CHECK_INT(model_dir_write(&d, &m, &err), PD_USAGE);
    llama_release(&m);
    llama_release(&back);
}

static void merged(struct compute *c)
{
    struct llama m;
    struct lora l;
    struct pd_err err;
    size_t n = (size_t)PROBE_PROMPTS * (size_t)base.vocab;
    float *a = xcalloc(3 * n, sizeof *a);
    make_model(&m);
    make_adapter(&l);
    CHECK_OK(probe_logits(&m, NULL, c, a, &err));
    CHECK_OK(probe_logits(&m, &l, c, a + n, &err));
    struct probe_diff d = probe_compare(a, a + n, base.vocab);
    CHECK(d.most > 0.1 && d.same < PROBE_PROMPTS);
    lora_merge(&l, &m);
    CHECK_OK(probe_logits(&m, NULL, c, a + 2 * n, &err));
    d = probe_compare(a + n, a + 2 * n, base.vocab);
    CHECK(d.most < 1e-4 && d.most > 0 && d.same == PROBE_PROMPTS && d.largest > 1);
    a[n] = NAN;
    CHECK(isnan(probe_compare(a + n, a + 2 * n, base.vocab).most));
    free(a);
    lora_release(&l);
    llama_release(&m);
}

TEST(a_merged_model_equals_its_adapter) { check_everywhere(merged); }

TEST(an_evaluation_as_a_table)
{
    struct eval_found f = {.unigram = 6.5};
    struct str s;
    str_init(&s, 1 << 16);
    f.r[DATA_VAL][EVAL_BASE] = (struct eval_result){3, 100, 7};
    f.r[DATA_VAL][EVAL_ADAPTER] = (struct eval_result){2.5, 100, 7};
    eval_table_print(&f, &s);
    CHECK_STR(s.p, "split       weights             loss  perplexity  tokens  examples\n"
                   "validation  base              3.0000       20.09     100         7\n"
                   "validation  with the adapter  2.5000       12.18     100         7\n"
                   "validation: the adapter changes the loss by -0.5000, the perplexity from 20.09 "
                   "to 12.18\n"
                   "a model that knows only how frequent each token is has a validation loss of "
                   "6.5000\n");
    str_clear(&s);
    f = (struct eval_found){.unigram = NAN};
    f.r[DATA_TRAIN][EVAL_BASE] = (struct eval_result){1, 10, 2};
    eval_table_print(&f, &s);
    CHECK_STR(s.p, "split     weights    loss  perplexity  tokens  examples\n"
                   "training  base     1.0000       2.718      10         2\n");
    str_release(&s);
}

/* --- numbers beyond 64 bits in JSON ------------------------------------------------------ */

TEST(integers_beyond_64_bits_are_reals)
{
    struct tjson *j;
    struct pd_err err;
    const char *text = "{\"a\": 1000000000000000019884624838656, \"b\": [-99999999999999999999], "
                       "\"c\": 7}";
    CHECK_OK(tjson_parse(text, strlen(text), "x", 1, &j, &err));
    CHECK_NEAR(tjson_num(j, "a", 0) / 1e30, 1, 1e-12);
    CHECK_NEAR(tjson_num(j, "b[0]", 0) / -1e20, 1, 1e-12);
    CHECK_INT(tjson_int(j, "c", 0), 7);
    CHECK_INT(tjson_type(tjson_get(j, "a")), TJSON_REAL);
    tjson_free(j);
    CHECK_INT(tjson_parse("[1e999]", 7, "x", 1, &j, &err), PD_PARSE);
}

T_MAIN
