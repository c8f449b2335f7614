/* train_forms.c - the usual forms of rows: what becomes of each as ids, which
 * of them are trained, records that are too long, rows that can't be trained. */
#include "core/base/base.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/data.h"
#include "tests/t.h"

#define BASE PODIUM_SOURCE_DIR "/labs/content/first-finetune/base"
#define CHATML "{{'<|im_start|>' + message['role'] + message['content'] + '<|im_end|>'}}"

static char *file(const char *name, const char *text)
{
    struct pd_err err;
    char *path = path_join(t_dir(), name);
    CHECK_OK(path_write_atomic(path, 0644, text, strlen(text), &err));
    return path;
}

static const char begin[] =
    "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|im_start|>\"}},"
    "{\"Sequence\":{\"id\":\"A\"}}]},\"left\":";

/* A folder with the lab's tokenizer, ChatML's markers in it, and the template.
 * post: what stands before its post_processor. */
static struct tok *folder_with(const char *post)
{
    static const char more[] = "{\"id\":4096,\"content\":\"<|im_start|>\",\"special\":true},"
                               "{\"id\":4097,\"content\":\"<|im_end|>\",\"special\":true},";
    struct str text, made;
    struct pd_err err;
    struct tok *t;
    str_init(&text, 1 << 24);
    str_init(&made, 1 << 24);
    CHECK_OK(path_read(BASE "/tokenizer.json", 1 << 24, &text, &err));
    const char *at = strchr(strstr(text.p, "\"added_tokens\""), '[') + 1;
    str_append(&made, text.p, (size_t)(at - text.p));
    str_add(&made, more);
    const char *end = strstr(at, "\"post_processor\":") + strlen("\"post_processor\":");
    str_append(&made, at, (size_t)(end - at));
    str_add(&made, post);
    str_add(&made, end);
    free(file("tokenizer.json", made.p));
    free(file("tokenizer_config.json", "{\"chat_template\":\"" CHATML "\"}"));
    CHECK_OK(tok_load(t_dir(), &t, &err));
    str_release(&text);
    str_release(&made);
    return t;
}

static struct tok *chat_folder(void)
{
    return folder_with("");
}

static const struct data_options usual = {.eos = -1, .val_fraction = -1};

/* A batch's first row as text, what is trained in 〔〕: the id behind position t
 * is trained when the label of t says so. */
static void show(const struct tok *t, const struct data_batch *b, struct str *out)
{
    bool inside = false;
    tok_decode(t, b->ids, 1, false, out);
    for (int i = 0; i < b->lens[0]; i++) {
        bool on = b->labels[i] != DATA_IGNORE;
        int32_t id = on ? b->labels[i] : i + 1 < b->lens[0] ? b->ids[i + 1] : -1;
        if (on != inside)
            str_add(out, on ? "〔" : "〕");
        inside = on;
        if (id >= 0)
            tok_decode(t, &id, 1, false, out);
        if (on && i + 1 < b->lens[0])
            CHECK_INT(b->labels[i], b->ids[i + 1]);
    }
    str_add(out, inside ? "〕" : "");
}

static void check_shown(const char *text, struct data_options opt, const char *want)
{
    struct tok *t = chat_folder();
    struct data *d;
    struct data_batch b;
    struct pd_err err;
    struct str s;
    char *path = file("d.jsonl", text);
    opt.model = t_dir();
    CHECK_OK(data_open(path, t, &opt, &d, &err));
    data_batch_init(&b, 1, data_max_len(d));
    data_eval_batch(d, DATA_TRAIN, 0, 1, &b);
    CHECK_INT(data_tokens(d, DATA_TRAIN), b.trained);
    str_init(&s, 1 << 16);
    show(t, &b, &s);
    CHECK_STR(s.p, want);
    str_release(&s);
    data_batch_release(&b);
    data_free(d);
    free(path);
    tok_free(t);
}

#define TURN(k, r, v, c) "{\"" k "\":\"" r "\",\"" v "\":\"" c "\"}"

TEST(each_form_trains_its_answers)
{
    check_shown("{\"prompt\":\"2+2=\",\"completion\":\" 4\",\"id\":7}", usual,
                "2+2=〔 4<|endoftext|>〕");
    check_shown("[{\"prompt\":\"2+2=\",\"response\":\" 4\"}]", usual, "2+2=〔 4<|endoftext|>〕");
    check_shown("{\"text\":\"a b c\"}", usual, "a〔 b c<|endoftext|>〕");
    check_shown("{\"instruction\":\"Add.\",\"input\":\"2\",\"output\":\"4\"}", usual,
                "Below is an instruction that describes a task, paired with an input that "
                "provides further context. Write a response that appropriately completes the "
                "request.\n\n### Instruction:\nAdd.\n\n### Input:\n2\n\n### Response:\n"
                "〔4<|endoftext|>〕");
}

TEST(every_turn_of_the_assistant_is_trained)
{
    static const char want[] = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi"
                               "<|im_end|>\n<|im_start|>assistant\n〔Hello.<|im_end|>〕\n"
                               "<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n"
                               "〔Bye.<|im_end|>〕";
    char with_end[400];
    check_shown("{\"messages\":[" TURN("role", "system", "content", "Be brief.") ","
                TURN("role", "user", "content", "Hi") ","
                TURN("role", "assistant", "content", "Hello.") ","
                TURN("role", "user", "content", "And?") ","
                TURN("role", "assistant", "content", "Bye.") "]}", usual,
                str_fmt(with_end, sizeof with_end, "%s", want));
    check_shown("{\"conversations\":[" TURN("from", "system", "value", "Be brief.") ","
                TURN("from", "human", "value", "Hi") "," TURN("from", "gpt", "value", "Hello.") ","
                TURN("from", "human", "value", "And?") "," TURN("from", "gpt", "value", "Bye.")
                "]}", usual, want);
}

/* Of pairs and texts, by the post_processor; a template writes its own. */
TEST(a_text_begins_once)
{
    static const char *const rows[] = {
        "{\"instruction\":\"Add.\",\"input\":\"\",\"output\":\"3\"}\n",
        "{\"prompt\":\"Add.\",\"completion\":\"3\"}\n", "{\"text\":\"Add.\"}\n",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Add.\"},"
        "{\"role\":\"assistant\",\"content\":\"3\"}]}\n"};
    struct tok *t = folder_with(begin);
    struct data_options opt = usual;
    opt.model = t_dir();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct data *d;
        struct data_batch b;
        struct pd_err err;
        char *path = file("d.jsonl", rows[i]);
        CHECK_OK(data_open(path, t, &opt, &d, &err));
        data_batch_init(&b, 1, data_max_len(d));
        CHECK_OK(data_batch(d, DATA_TRAIN, 1, 0, 1, &b, &err));
        CHECK_INT(b.ids[0], 4096);
        CHECK(b.ids[1] != 4096);
        data_batch_release(&b);
        data_free(d);
        free(path);
    }
    tok_free(t);
}

TEST(prompts_and_templates_by_choice)
{
    struct data_options all = usual, chat = usual;
    all.train_prompt = true;
    chat.chat_pairs = true;
    check_shown("{\"prompt\":\"2+2=\",\"completion\":\" 4\"}", all, "2〔+2= 4<|endoftext|>〕");
    check_shown("{\"instruction\":\"Add.\",\"input\":\"2\",\"output\":\"4\"}", chat,
                "<|im_start|>user\nAdd.\n\n2<|im_end|>\n<|im_start|>assistant\n〔4<|im_end|>〕");
}

#define LONG "one two three four five six seven eight nine ten"

TEST(too_long_by_policy)
{
    static const char text[] = "{\"prompt\":\"a\",\"completion\":\" b\"}\n"
                               "{\"prompt\":\"c\",\"completion\":\" " LONG "\"}\n"
                               "{\"prompt\":\"" LONG "\",\"completion\":\" d\"}\n"
                               "{\"prompt\":\"e\",\"completion\":\" f\"}\n";
    static const struct {
        const char *policy;
        int kept, cut, dropped;
    } rows[] = {{"truncate", 3, 1, 1}, {"drop", 2, 0, 2}};
    struct tok *t = chat_folder();
    char *path = file("long.jsonl", text);
    struct data *d;
    struct pd_err err;
    struct data_options opt = usual;
    opt.max_len = 6;
    CHECK_INT(data_open(path, t, &opt, &d, &err), PD_DATA);
    CHECK_INT(err.line, 2);
    CHECK_HAS(err.hint, "raise the sequence length");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        opt.too_long = rows[i].policy;
        CHECK_OK(data_open(path, t, &opt, &d, &err));
        CHECK_INT(data_count(d, DATA_TRAIN), rows[i].kept);
        CHECK_INT(data_cut(d), rows[i].cut);
        CHECK_INT(data_dropped(d), rows[i].dropped);
        CHECK(data_max_len(d) <= 6);
        data_free(d);
    }
    opt.too_long = "cut";
    CHECK_INT(data_open(path, t, &opt, &d, &err), PD_USAGE);
    free(path);
    tok_free(t);
}

TEST(rows_without_a_target_are_named)
{
    static const struct {
        const char *row, *part;
    } rows[] = {
        {"{\"messages\":[" TURN("role", "user", "content", "hi") "]}", "no turn of the assistant"},
        {"{\"conversations\":[]}", "without turns"},
        {"{\"messages\":[" TURN("role", "alien", "content", "hi") "]}", "alien"},
        {"{\"messages\":[{\"content\":\"x\"}]}", "without a role"},
        {"{\"messages\":[{\"role\":\"user\"}]}", "without a text: user"},
        {"{\"messages\":[" TURN("role", "assistant", "content", " ") "]}", "answer without"},
        {"{\"prompt\":\"a\",\"completion\":\" \"}", "empty: completion"},
        {"{\"prompt\":\"a\",\"completion\":7}", "not a string: completion"},
        {"{\"prompt\":null,\"completion\":\"x\"}", "not a string: prompt"},
        {"{\"text\":[1]}", "not a string: text"},
        {"{\"prompt\":\"p\",\"score\":1}", "unknown key: prompt"},
    };
    struct tok *t = chat_folder();
    struct data_options opt = usual;
    opt.model = t_dir();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char *text = xasprintf("{\"text\":\"a b\"}\n%s\n", rows[i].row);
        char *path = file("bad.jsonl", text);
        struct data *d;
        struct pd_err err = {0};
        CHECK_INT(data_open(path, t, &opt, &d, &err), PD_DATA);
        CHECK_HAS(err.msg, rows[i].part);
        CHECK_HAS(err.hint, "doctor");
        CHECK_INT(err.line, 2);
        free(path);
        free(text);
    }
    tok_free(t);
}

TEST(a_model_without_a_template_takes_no_conversation)
{
    struct tok *t = chat_folder();
    struct data *d;
    struct pd_err err;
    struct data_options opt = usual;
    char *path = file("d.jsonl", "{\"messages\":[" TURN("role", "assistant", "content", "x") "]}");
    CHECK_INT(data_open(path, t, &opt, &d, &err), PD_DATA);
    CHECK_HAS(err.msg, "no chat template");
    CHECK_INT(err.line, 1);
    free(path);
    tok_free(t);
}

/* Two rows of one question, whatever the answers, are never on both sides. */
TEST(a_question_is_on_one_side)
{
    struct tok *t = chat_folder();
    struct str s;
    struct data *d;
    struct pd_err err;
    struct data_record a, b;
    str_init(&s, 1 << 16);
    for (int i = 0; i < 40; i++)
        str_printf(&s, "{\"prompt\":\"q%d\",\"completion\":\"a%d\"}\n", i % 20, i);
    char *path = file("q.jsonl", s.p);
    CHECK_OK(data_open(path, t, &(struct data_options){.eos = -1}, &d, &err));
    CHECK_INT(data_count(d, DATA_VAL), 6);
    CHECK_INT(data_count(d, DATA_TRAIN), 34);
    for (int64_t i = 0; data_record(d, DATA_VAL, i, &a); i++)
        for (int64_t k = 0; data_record(d, DATA_TRAIN, k, &b); k++)
            CHECK(!str_eq(a.instruction, b.instruction));
    data_free(d);
    str_release(&s);
    free(path);
    tok_free(t);
}

T_MAIN
