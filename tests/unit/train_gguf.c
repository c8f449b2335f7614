/* train_gguf.c - GGUF files: every tensor type against the gguf package's
 * values (tests/train/make_quants.py), keys, and what is refused. */
#include <unistd.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/gguf_import.h"
#include "tests/unit/train_check.h"

static const char quants[] = "tests/train/reference/quants.gguf";

static struct gguf *open_quants(void)
{
    struct pd_err err;
    struct gguf *g = NULL;
    CHECK_OK(gguf_open(quants, &g, &err));
    return g;
}

TEST(every_type_reads_as_the_gguf_package_reads_it)
{
    static const char *const types[] = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0",
                                        "Q4_K", "Q5_K", "Q6_K", "F16",  "BF16"};
    struct gguf *g = open_quants();
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        char name[32], buf[16];
        float got[512];
        const struct gguf_tensor *x = gguf_find(g, str_fmt(name, sizeof name, "x.%s", types[i]));
        const struct gguf_tensor *y = gguf_find(g, str_fmt(name, sizeof name, "y.%s", types[i]));
        CHECK(x && y && x->count == y->count && x->count <= 512 && y->type == GGUF_T_F32);
        CHECK_STR(gguf_type_name(x->type, buf), types[i]);
        gguf_dequantise(x->type, x->data, x->count, got);
        CHECK_MSG(memcmp(got, y->data, (size_t)x->count * 4) == 0, "%s differs", types[i]);
    }
    CHECK(gguf_find(g, "x.Q2_K") == NULL);
    CHECK(!gguf_type_readable(10) && !gguf_type_readable(99));
    gguf_close(g);
}

TEST(keys_of_every_kind)
{
    struct gguf *g = open_quants();
    struct gguf_text text = gguf_str(g, "podium.text");
    CHECK(text.n == 6 && memcmp(text.p, "中文", 6) == 0);
    CHECK(gguf_num(g, "podium.small", 0) == -5);
    CHECK(gguf_num(g, "podium.double", 0) == 0.1);
    CHECK(gguf_num(g, "podium.yes", 0) == 1);
    CHECK(gguf_num(g, "podium.text", 7) == 7 && gguf_num(g, "podium.none", 7) == 7);
    CHECK_INT(gguf_array(g, "podium.words"), 3);
    CHECK(gguf_array_str(g, "podium.words", 1).n == 0 && gguf_array_str(g, "podium.words", 1).p);
    CHECK(gguf_array_str(g, "podium.words", 2).n == 5);
    CHECK(gguf_array_str(g, "podium.words", 3).p == NULL);
    CHECK(gguf_array_num(g, "podium.numbers", 0, 0) == -1);
    CHECK(gguf_array_num(g, "podium.numbers", 2, 0) == 300000);
    gguf_close(g);
}

/* The file with one byte changed or cut; NULL when it opens. */
static const char *refused(const char *bytes, size_t n, struct pd_err *err)
{
    struct gguf *g = NULL;
    char path[400];
    snprintf(path, sizeof path, "%s/x.gguf", t_dir());
    CHECK(path_write_atomic(path, 0644, bytes, n, err) == PD_OK);
    if (gguf_open(path, &g, err) != PD_OK)
        return err->msg;
    gguf_close(g);
    return NULL;
}

TEST(what_is_damaged_is_refused)
{
    struct pd_err err;
    struct str s;
    str_init(&s, 1 << 20);
    CHECK_OK(path_read(quants, 1 << 20, &s, &err));
    CHECK(refused(s.p, s.len, &err) == NULL);
    CHECK_HAS(refused(s.p, s.len - 33, &err), "ends at byte");
    CHECK_HAS(refused(s.p, 3, &err), "does not begin with GGUF");
    CHECK_HAS(refused("<html>", 6, &err), "does not begin with GGUF");
    for (size_t n = 4; n < 2000; n += 7)
        CHECK_MSG(refused(s.p, n, &err) != NULL, "%zu bytes of it are taken for whole", n);
    s.p[4] = 1;
    CHECK_HAS(refused(s.p, s.len, &err), "version");
    s.p[4] = 3;
    s.p[15] = 0x7f;                              /* the number of tensors */
    CHECK_HAS(refused(s.p, s.len, &err), "more tensors");
    s.p[15] = 0;
    s.p[23] = 0x7f;
    CHECK_HAS(refused(s.p, s.len, &err), "more keys");
    str_release(&s);
}

TEST(names_of_tensors)
{
    char name[TENSOR_NAME];
    CHECK(gguf_tensor_name("model.layers.12.mlp.up_proj.weight", name));
    CHECK_STR(name, "blk.12.ffn_up.weight");
    CHECK(gguf_tensor_name("model.layers.0.post_attention_layernorm.weight", name));
    CHECK_STR(name, "blk.0.ffn_norm.weight");
    CHECK(gguf_tensor_name("lm_head.weight", name));
    CHECK_STR(name, "output.weight");
    CHECK(!gguf_tensor_name("model.layers.0.mlp.up_proj.bias", name));
    CHECK(!gguf_tensor_name("score.weight", name));
}

TEST(what_is_no_llama_is_told)
{
    struct pd_err err;
    struct gguf *g = open_quants();
    struct llama_config c;
    CHECK_INT(gguf_import_config(g, &c, &err), PD_TRAIN);
    CHECK_HAS(err.msg, "llama.embedding_length");
    CHECK_INT(gguf_import_tokenizer(g, t_dir(), &err), PD_UNSUPPORTED);
    CHECK_HAS(err.msg, "byte-level BPE");
    gguf_close(g);
}

T_MAIN
