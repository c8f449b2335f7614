/* train_tok_folder.c - tokenizer files that disagree, and what is only told. */
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/train/tok_folder.h"
#include "tests/t.h"

static const char tokenizer[] =
    "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"model\":{\"vocab\":"
    "{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]},\"added_tokens\":["
    "{\"id\":3,\"content\":\"<s>\",\"special\":true},{\"id\":5,\"content\":\"</s>\"}]}";

static void put(const char *dir, const char *name, const char *text)
{
    char *path = path_join(dir, name);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0 && fclose(f) == 0);
    free(path);
}

struct row {
    const char *file, *text, *wrong, *note;      /* wrong NULL: only told */
    int eos;
};

static const struct row rows[] = {
    {"added_tokens.json", "{\"<s>\":3}", NULL, "ids without a token: 1 of 6, the first is 4", 5},
    {"added_tokens.json", "{\"<s>\":4}", "<s> has the id 4", NULL, 5},
    {"added_tokens.json", "{\"<new>\":6}", "<new>, which tokenizer.json does not", NULL, 5},
    {"tokenizer_config.json", "{\"added_tokens_decoder\":{\"5\":{\"content\":\"<s>\"}}}",
     "<s> has the id 5 in tokenizer_config.json, but 3", NULL, 5},
    {"tokenizer_config.json", "{\"pad_token\":\"<pad>\"}", "<pad>", NULL, 5},
    {"special_tokens_map.json", "{\"eos_token\":{\"content\":\"<|im_end|>\"}}", "<|im_end|>",
     NULL, 5},
    {"tokenizer_config.json", "{\"pad_token\":\"</s>\",\"eos_token\":{\"content\":\"</s>\"}}", NULL,
     "pad_token is eos_token (</s>)", 5},
    {"tokenizer_config.json", "{\"chat_template\":\"{{ bos_token }}x\",\"add_bos_token\":true}",
     NULL, "twice", 5},
    {"tokenizer_config.json", "{\"chat_template\":\"x\"}", NULL, "add_generation_prompt", 5},
    {"tokenizer_config.json", "{}", "eos_token_id 4 is no token", NULL, 4},
    {"tokenizer_config.json", "{", "", NULL, 5},
};

static void check_row(const char *dir, const struct tok *t, const struct row *r)
{
    struct llama_config c = {.eos = {r->eos}, .n_eos = 1};
    struct pd_err err = {0};
    struct str notes;
    str_init(&notes, 4096);
    put(dir, r->file, r->text);
    enum pd_code rc = tok_folder_check(dir, t, &c, &notes, &err);
    CHECK_MSG((rc == PD_OK) == !r->wrong, "%s %s: %s", r->file, r->text, err.msg);
    if (r->wrong)
        CHECK_HAS(err.msg, r->wrong);
    if (r->note)
        CHECK_HAS(notes.p, r->note);
    else
        CHECK_INT(notes.len, 0);
    char *path = path_join(dir, r->file);
    CHECK(remove(path) == 0);
    free(path);
    str_release(&notes);
}

TEST(files_of_a_folder_agree)
{
    char dir[] = "/tmp/podium-tok-XXXXXX";
    struct tok *t;
    struct pd_err err;
    CHECK(mkdtemp(dir) != NULL);
    CHECK_OK(tok_parse(tokenizer, strlen(tokenizer), "t", &t, &err));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_row(dir, t, &rows[i]);
    tok_free(t);
    CHECK(remove(dir) == 0);
}

T_MAIN
