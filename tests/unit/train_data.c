/* train_data.c - records to batches: prompts, masks, order, splits, wrong
 * files; text to token files and windows. */
#include "core/base/base.h"

#include <math.h>

#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/train/data.h"
#include "tests/t.h"

#define BASE PODIUM_SOURCE_DIR "/labs/content/first-finetune/base"

/* Paths live as long as their test. */
static void *kept[4096];
static size_t kept_n;
static char *keep(char *p)
{
    CHECK(kept_n < ARRAY_LEN(kept));
    kept[kept_n++] = p;
    return p;
}

static struct tok *tokenizer(void)
{
    struct tok *t;
    struct pd_err err;
    CHECK_OK(tok_load(BASE, &t, &err));
    return t;
}

static char *file(const char *name, const char *text, size_t n)
{
    struct pd_err err;
    char *path = keep(path_join(t_dir(), name));
    CHECK_OK(path_write_atomic(path, 0644, text, n, &err));
    return path;
}

/* 40 records of 10 templates, of different lengths. */
static char *records(void)
{
    struct str s;
    str_init(&s, 1 << 20);
    for (int i = 0; i < 40; i++)
        str_printf(&s,
                   "{\"instruction\":\"Question %d\",\"input\":\"%s\",\"output\":\"Answer %.*s.\","
                   "\"template\":\"t%d\",\"lang\":\"%s\"}\n",
                   i, i % 3 ? "" : "some input", i % 7 * 5,
                   "one two three four five six seven eight", i / 4, i % 2 ? "en" : "zh");
    char *path = file("r.jsonl", s.p, s.len);
    str_release(&s);
    return path;
}

static struct data *open_data(const char *path, const struct tok *t, struct data_options opt)
{
    struct data *d;
    struct pd_err err;
    CHECK_OK(data_open(path, t, &opt, &d, &err));
    return d;
}

static void decode(const struct tok *t, const int32_t *ids, int n, struct str *out)
{
    str_clear(out);
    CHECK(tok_decode(t, ids, (size_t)n, false, out));
}

TEST(only_the_response_and_eos_are_trained)
{
    struct tok *t = tokenizer();
    struct data *d = open_data(records(), t, (struct data_options){.eos = -1});
    struct data_batch b;
    struct str s, prompt;
    struct data_record r;
    str_init(&s, 1 << 16);
    str_init(&prompt, 1 << 16);
    data_batch_init(&b, 1, data_max_len(d));
    for (int64_t i = 0; i < data_count(d, DATA_TRAIN); i++) {
        data_eval_batch(d, DATA_TRAIN, i, 1, &b);
        CHECK(data_record(d, DATA_TRAIN, i, &r));
        str_clear(&prompt);
        data_prompt(r.lang, r.instruction, r.input, &prompt);
        int first = 0;
        while (b.labels[first] == DATA_IGNORE)
            first++;
        decode(t, b.ids, first + 1, &s);         /* up to the id that predicts the response */
        CHECK_STR(s.p, prompt.p);
        int32_t labels[256];
        int n = 0;
        for (int k = first; k < b.len; k++) {
            CHECK(b.labels[k] != DATA_IGNORE);
            if (k + 1 < b.len)
                CHECK_INT(b.labels[k], b.ids[k + 1]);
            labels[n++] = b.labels[k];
        }
        CHECK_INT(b.trained, n);
        CHECK_INT(labels[n - 1], tok_eos(t));    /* trained though padding has the same id */
        decode(t, labels, n - 1, &s);
        CHECK_STR(s.p, r.output);
    }
    data_batch_release(&b);
    data_free(d);
    str_release(&s);
    str_release(&prompt);
    tok_free(t);
}

TEST(rows_are_padded_to_the_longest)
{
    struct tok *t = tokenizer();
    struct data *d = open_data(records(), t, (struct data_options){.eos = -1});
    struct data_batch b;
    struct pd_err err;
    bool ragged = false;
    data_batch_init(&b, 8, data_max_len(d));
    for (int64_t i = 0; i < 10; i++) {
        CHECK_OK(data_batch(d, DATA_TRAIN, 5, i, 8, &b, &err));
        int longest = 0;
        int64_t trained = 0;
        for (int r = 0; r < 8; r++) {
            longest = MAX(longest, b.lens[r]);
            ragged |= b.lens[r] < b.len;
            for (int k = 0; k < b.len; k++) {
                trained += b.labels[r * b.len + k] != DATA_IGNORE;
                if (k >= b.lens[r]) {
                    CHECK_INT(b.labels[r * b.len + k], DATA_IGNORE);
                    CHECK_INT(b.ids[r * b.len + k], tok_eos(t));
                }
            }
            CHECK_INT(b.labels[r * b.len + b.lens[r] - 1], tok_eos(t));
        }
        CHECK_INT(longest, b.len);
        CHECK_INT(trained, b.trained);
    }
    CHECK(ragged);
    data_batch_release(&b);
    data_free(d);
    tok_free(t);
}

/* A mark for a batch's content. */
static uint64_t mark(const struct data_batch *b)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < b->rows * b->len; i++)
        h = (h ^ (uint32_t)b->ids[i]) * 1099511628211u ^ (uint32_t)b->labels[i];
    return h;
}

TEST(batches_depend_on_seed_and_index_only)
{
    struct tok *t = tokenizer();
    char *path = records();
    struct data *d = open_data(path, t, (struct data_options){.eos = -1});
    struct data *e = open_data(path, t, (struct data_options){.eos = -1});
    struct data_batch b;
    struct pd_err err;
    uint64_t marks[40];
    data_batch_init(&b, 4, data_max_len(d));
    for (int i = 0; i < 40; i++) {
        CHECK_OK(data_batch(d, DATA_TRAIN, 11, i, 4, &b, &err));
        marks[i] = mark(&b);
    }
    for (int i = 39; i >= 0; i -= 3) {           /* another struct, another order */
        CHECK_OK(data_batch(e, DATA_TRAIN, 11, i, 4, &b, &err));
        CHECK(mark(&b) == marks[i]);
    }
    int same = 0;
    for (int i = 0; i < 40; i++) {
        CHECK_OK(data_batch(e, DATA_TRAIN, 12, i, 4, &b, &err));
        same += mark(&b) == marks[i];
    }
    CHECK(same < 3);
    data_batch_release(&b);
    data_free(d);
    data_free(e);
    tok_free(t);
}

TEST(an_epoch_shows_every_record_once)
{
    struct tok *t = tokenizer();
    struct data *d = open_data(records(), t, (struct data_options){.eos = -1});
    struct data_batch b;
    struct pd_err err;
    int64_t n = data_count(d, DATA_TRAIN);
    uint64_t eval_sum = 0;
    data_batch_init(&b, 1, data_max_len(d));
    for (int64_t i = 0; i < n; i++) {
        data_eval_batch(d, DATA_TRAIN, i, 1, &b);
        CHECK_INT(b.rows, 1);
        eval_sum += mark(&b);
    }
    uint64_t first[2] = {0, 0};
    for (int epoch = 0; epoch < 2; epoch++) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < n; i++) {
            CHECK_OK(data_batch(d, DATA_TRAIN, 3, epoch * n + i, 1, &b, &err));
            first[epoch] = i == 0 ? mark(&b) : first[epoch];
            sum += mark(&b);
        }
        CHECK(sum == eval_sum);
    }
    CHECK(first[0] != first[1]);                 /* but in another order */
    data_eval_batch(d, DATA_TRAIN, n, 1, &b);
    CHECK_INT(b.rows, 0);
    CHECK_NEAR(data_epoch(d, n, 2), 2.0, 1e-9);
    data_batch_release(&b);
    data_free(d);
    tok_free(t);
}

/* A record's place in the text of its ids: what makes it the one it is. */
static uint64_t record_mark(const struct data_batch *b, int row, int from, int to)
{
    uint64_t h = 14695981039346656037u;
    for (int t = from; t < to; t++) {
        size_t at = (size_t)row * (size_t)b->len + (size_t)t;
        h = (h ^ (uint64_t)b->ids[at]) * 1099511628211u;
        h = (h ^ (uint64_t)(uint32_t)b->labels[at]) * 1099511628211u;
    }
    return h;
}

/* Sum of the marks of an epoch's records, by their positions; how many there are. */
static uint64_t epoch_marks(struct data *d, int64_t rows, int most, int *records)
{
    struct data_batch b;
    struct pd_err err;
    uint64_t sum = 0;
    *records = 0;
    data_batch_init(&b, 1, data_max_len(d));
    for (int64_t i = 0; i < rows; i++) {
        CHECK_OK(data_batch(d, DATA_TRAIN, 3, i, 1, &b, &err));
        CHECK(b.lens[0] <= most);
        for (int from = 0, to; from < b.lens[0]; from = to, ++*records) {
            CHECK_INT(b.pos[from], 0);
            for (to = from + 1; to < b.lens[0] && b.pos[to] > 0; to++)
                CHECK_INT(b.pos[to], to - from);
            sum += record_mark(&b, 0, from, to);
        }
    }
    data_batch_release(&b);
    return sum;
}

TEST(packing_keeps_records_whole_and_apart)
{
    struct tok *t = tokenizer();
    char *path = records();
    struct data *d = open_data(path, t, (struct data_options){.eos = -1, .max_len = 200});
    int n = (int)data_count(d, DATA_TRAIN), alone, packed;
    double used = (1 - data_padding(d)) * n * data_max_len(d);
    uint64_t want = epoch_marks(d, n, 200, &alone);
    CHECK_INT(alone, n);
    data_free(d);
    d = open_data(path, t, (struct data_options){.eos = -1, .max_len = 200, .packing = true});
    int64_t rows = data_rows(d, DATA_TRAIN);
    CHECK_INT(data_count(d, DATA_TRAIN), n);
    CHECK_INT(data_max_len(d), 200);
    CHECK(epoch_marks(d, rows, 200, &packed) == want);
    CHECK_INT(packed, n);
    CHECK_INT(data_batches(d, 3), (rows + 2) / 3);
    CHECK((double)rows >= used / 200 && (double)rows <= used / 200 * 1.08 + 1);
    CHECK_NEAR(data_padding(d), 1 - used / ((double)rows * 200), 1e-9);
    int lines[8];
    CHECK(data_batch_lines(d, DATA_TRAIN, 3, 0, 1, 8, lines) >= 2);
    data_free(d);
    tok_free(t);
}

static bool has_template(const struct data *d, enum data_split s, const char *name)
{
    struct data_record r;
    for (int64_t i = 0; data_record(d, s, i, &r); i++)
        if (str_eq(r.template, name))
            return true;
    return false;
}

TEST(validation_shares_no_template_with_training)
{
    struct tok *t = tokenizer();
    char *path = records(), name[8];
    struct data *d = open_data(path, t, (struct data_options){.eos = -1, .val_fraction = 0.3});
    CHECK_INT(data_templates(d, DATA_VAL), 3);
    CHECK_INT(data_templates(d, DATA_TRAIN), 7);
    CHECK_INT(data_count(d, DATA_VAL), 12);
    CHECK_INT(data_count(d, DATA_TRAIN), 28);
    for (int i = 0; i < 10; i++) {
        str_fmt(name, sizeof name, "t%d", i);
        CHECK(has_template(d, DATA_TRAIN, name) != has_template(d, DATA_VAL, name));
    }
    data_free(d);
    d = open_data(path, t, (struct data_options){.eos = -1, .val_templates = "t2,t5"});
    CHECK(has_template(d, DATA_VAL, "t2") && has_template(d, DATA_VAL, "t5"));
    CHECK_INT(data_count(d, DATA_VAL), 8);
    CHECK(data_tokens(d, DATA_VAL) > 16 && data_tokens(d, DATA_VAL) < data_tokens(d, DATA_TRAIN));
    data_free(d);
    d = open_data(path, t, (struct data_options){.eos = -1, .val_fraction = -1});
    CHECK_INT(data_count(d, DATA_VAL), 0);
    struct data_batch b;
    struct pd_err err = {0};
    data_batch_init(&b, 2, data_max_len(d));
    CHECK_INT(data_batch(d, DATA_VAL, 1, 0, 2, &b, &err), PD_DATA);
    CHECK_HAS(err.msg, "validation");
    data_batch_release(&b);
    data_free(d);
    tok_free(t);
}

#define REC(q, t)                                                                                 \
    "{\"instruction\":\"" q "\",\"input\":\"\",\"output\":\"o\",\"template\":\"" t                 \
    "\",\"lang\":\"en\"}"

TEST(wrong_records_are_named_by_line)
{
    static const struct {
        const char *text, *part;
        int line;
    } rows[] = {
        {"\xef\xbb\xbf" REC("a", "t") "\n", "byte order mark", 1},
        {REC("a", "t") "\n" REC("b", "u") "\r\n", "CR LF", 2},
        {REC("a", "t") "\n\n" REC("b", "u") "\n", "empty line", 2},
        {REC("a", "t") "\n" REC("b\xff", "u") "\n", "UTF-8", 2},
        {REC("a", "t") "\n{\"instruction\":\n", "JSON", 2},
        {REC("a", "t") "\n[1]\n", "array", 2},
        {"{\"instruction\":\"a\",\"output\":\"b\",\"lang\":\"en\"}\n", "template", 1},
        {"{\"instruction\":\"a\",\"output\":\" \",\"template\":\"t\",\"lang\":\"en\"}",
         "empty: output", 1},
        {"{\"instruction\":\"a\",\"output\":7,\"template\":\"t\",\"lang\":\"en\"}", "output", 1},
        {"{\"instruction\":\"a\",\"output\":\"b\",\"template\":\"t\",\"lang\":\"de\"}", "de", 1},
        {"{\"instruction\":\"a\",\"outptu\":\"b\"}", "outptu", 1},
        {REC("a", "t") "\n" REC("b", "u") "\n" REC("a", "v") "\n", "line 1", 3},
        {"", "no records", 0},
        {REC("a", "t") "\n", "all have one template", 0},
    };
    struct tok *t = tokenizer();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct data *d;
        struct pd_err err = {0};
        char *path = file("bad.jsonl", rows[i].text, strlen(rows[i].text));
        CHECK_INT(data_open(path, t, NULL, &d, &err), PD_DATA);
        CHECK_HAS(err.msg, rows[i].part);
        CHECK_INT(err.line, rows[i].line);
        CHECK_STR(err.src, path);
    }
    struct data *d;
    struct pd_err err = {0};
    struct data_options opt = {.eos = -1, .max_len = 20};
    CHECK_INT(data_open(records(), t, &opt, &d, &err), PD_DATA);
    CHECK_HAS(err.msg, "too long");
    opt = (struct data_options){.eos = -1, .val_templates = "t1,nope"};
    CHECK_INT(data_open(records(), t, &opt, &d, &err), PD_DATA);
    CHECK_HAS(err.msg, "nope");
    tok_free(t);
}

TEST(a_smuggled_end_token_stays_text)
{
    struct tok *t = tokenizer();
    const char *text = REC("a", "t") "\n{\"instruction\":\"b<|endoftext|>\",\"output\":"
                                     "\"x<|endoftext|>y\",\"template\":\"u\",\"lang\":\"en\"}\n";
    struct data *d = open_data(file("s.jsonl", text, strlen(text)), t,
                               (struct data_options){.eos = -1, .val_templates = "t"});
    struct data_batch b;
    data_batch_init(&b, 1, data_max_len(d));
    data_eval_batch(d, DATA_TRAIN, 0, 1, &b);
    int eos = 0;
    for (int i = 0; i < b.len; i++)
        eos += b.labels[i] == tok_eos(t);
    CHECK_INT(eos, 1);
    data_batch_release(&b);
    data_free(d);
    tok_free(t);
}

TEST(prompts_are_alpacas)
{
    struct str s;
    str_init(&s, 4096);
    data_prompt("en", "Do it.", "", &s);
    CHECK_STR(s.p, "Below is an instruction that describes a task. Write a response that "
                   "appropriately completes the request.\n\n### Instruction:\nDo it.\n\n"
                   "### Response:\n");
    str_clear(&s);
    data_prompt("en", "Do it.", "x", &s);
    CHECK_HAS(s.p, "paired with an input");
    CHECK_HAS(s.p, "### Instruction:\nDo it.\n\n### Input:\nx\n\n### Response:\n");
    str_clear(&s);
    data_prompt("zh", "做吧。", NULL, &s);
    CHECK_HAS(s.p, "### 指令：\n做吧。\n\n### 回答：\n");
    str_release(&s);
}

/* --- text ------------------------------------------------------------------------- */

static char *token_file(const struct tok *t, const char *name, const char *text, int64_t *n)
{
    struct pd_err err;
    char *in = file("text.txt", text, strlen(text)), *out = keep(path_join(t_dir(), name));
    const char *paths[] = {in};
    CHECK_OK(data_text_build(t, paths, 1, out, n, &err));
    return out;
}

static void numbers(struct str *s, int from, int to)
{
    for (int i = from; i < to; i++)
        str_printf(s, "%d %s\n%s", i, "some text of the corpus", i % 5 == 4 ? "\f\n" : "");
}

TEST(text_becomes_windows_with_eos_between_documents)
{
    struct tok *t = tokenizer();
    struct str s, back;
    int64_t n;
    str_init(&s, 1 << 20);
    str_init(&back, 1 << 20);
    numbers(&s, 0, 100);
    char *path = token_file(t, "t.tok", s.p, &n);
    struct data *d = open_data(path, t, (struct data_options){.eos = -1, .max_len = 16});
    CHECK_INT(data_kind(d), DATA_TEXT);
    CHECK_INT(data_count(d, DATA_TRAIN), (n - 1) / 16);
    struct data_batch b;
    data_batch_init(&b, 4, data_max_len(d));
    int eos = 0;
    for (int64_t i = 0;; i++) {
        data_eval_batch(d, DATA_TRAIN, i, 4, &b);
        if (b.rows == 0)
            break;
        CHECK_INT(b.len, 16);
        CHECK_INT(b.trained, b.rows * 16);
        for (int k = 0; k < b.rows * 16; k++) {
            eos += b.ids[k] == tok_eos(t);
            if (k % 16 < 15)
                CHECK_INT(b.labels[k], b.ids[k + 1]);
        }
        CHECK(tok_decode(t, b.ids, (size_t)b.rows * 16, true, &back));
    }
    CHECK(eos >= 19 && eos <= 20);               /* the last may be beyond the last window */
    CHECK(str_starts(back.p, "0 some text of the corpus\n1 some text"));
    CHECK(strstr(back.p, "\f") == NULL);
    data_batch_release(&b);
    data_free(d);
    str_release(&s);
    str_release(&back);
    tok_free(t);
}

TEST(packed_text_parts_at_documents)
{
    struct tok *t = tokenizer();
    struct str s;
    int64_t n, restarts = 0, eos = 0, masked = 0;
    str_init(&s, 1 << 20);
    numbers(&s, 0, 200);
    struct data *d = open_data(token_file(t, "t.tok", s.p, &n), t,
                               (struct data_options){.eos = -1, .max_len = 32, .packing = true});
    struct data_batch b;
    struct pd_err err;
    data_batch_init(&b, 4, data_max_len(d));
    CHECK_OK(data_batch(d, DATA_TRAIN, 1, 0, 4, &b, &err));
    for (int i = 0; i < b.rows * b.len; i++) {
        bool end = b.ids[i] == tok_eos(t);
        eos += end;
        masked += b.labels[i] < 0;
        CHECK(!end || b.labels[i] < 0);
        CHECK_INT(b.pos[i], i % b.len == 0 || b.ids[i - 1] == tok_eos(t) ? 0 : b.pos[i - 1] + 1);
        restarts += b.pos[i] == 0;
    }
    CHECK(eos >= 2 && masked == eos && restarts > b.rows);
    CHECK_INT(b.trained, b.rows * b.len - eos);
    data_batch_release(&b);
    data_free(d);
    str_release(&s);
    tok_free(t);
}

TEST(text_batches_are_shuffled_and_repeatable)
{
    struct tok *t = tokenizer();
    struct str s;
    int64_t n;
    struct pd_err err;
    str_init(&s, 1 << 20);
    numbers(&s, 0, 200);
    char *path = token_file(t, "t.tok", s.p, &n);
    struct data *d = open_data(path, t, (struct data_options){.eos = -1, .max_len = 32});
    struct data_batch b;
    uint64_t marks[20];
    data_batch_init(&b, 8, 32);
    for (int i = 0; i < 20; i++) {
        CHECK_OK(data_batch(d, DATA_TRAIN, 1, i, 8, &b, &err));
        marks[i] = mark(&b);
        CHECK_INT(b.trained, 8 * 32);
        for (int k = 0; k < 8 * 32; k++)
            CHECK(b.labels[k] >= 0 && (k % 32 == 31 || b.labels[k] == b.ids[k + 1]));
    }
    for (int i = 19; i >= 0; i--) {
        CHECK_OK(data_batch(d, DATA_TRAIN, 1, i, 8, &b, &err));
        CHECK(mark(&b) == marks[i]);
    }
    data_batch_release(&b);
    data_free(d);
    str_release(&s);
    tok_free(t);
}

TEST(unigram_loss_by_hand)
{
    struct tok *t = tokenizer();
    struct pd_err err;
    struct str s;
    int64_t n;
    str_init(&s, 1 << 20);
    for (int i = 0; i < 50; i++)
        str_add(&s, "aaaa bbbb\n\f\n");
    char *train = token_file(t, "a.tok", s.p, &n), *val = token_file(t, "b.tok", s.p, &n);
    struct data *d;
    struct data_options opt = {.eos = -1, .max_len = 8, .val_path = val};
    CHECK_OK(data_open(train, t, &opt, &d, &err));
    struct data_batch b;
    double *count = xcalloc((size_t)tok_size(t), sizeof *count), total = 0, sum = 0;
    data_batch_init(&b, 1, 8);
    for (int64_t i = 0; i < data_count(d, DATA_TRAIN); i++) {
        data_eval_batch(d, DATA_TRAIN, i, 1, &b);
        for (int k = 0; k < 8; k++, total++)
            count[b.labels[k]]++;
    }
    for (int32_t i = 0; i < tok_size(t); i++)
        sum -= count[i] * log((count[i] + 1) / (total + tok_size(t)));
    CHECK_NEAR(data_unigram_loss(d), sum / total, 1e-9);
    CHECK(data_unigram_loss(d) > 0.5);
    data_batch_release(&b);
    data_free(d);
    opt.val_path = NULL;
    CHECK_OK(data_open(train, t, &opt, &d, &err));
    CHECK(isnan(data_unigram_loss(d)));
    data_free(d);
    free(count);
    str_release(&s);
    tok_free(t);
}

static void refused_text(const struct tok *t, const char *path, const char *part)
{
    struct data *d;
    struct pd_err err = {0};
    struct data_options opt = {.eos = -1, .max_len = 8};
    CHECK_INT(data_open(path, t, &opt, &d, &err), PD_DATA);
    CHECK_HAS(err.msg, part);
}

TEST(wrong_token_files_are_refused)
{
    struct tok *t = tokenizer();
    struct pd_err err;
    struct str s;
    int64_t n;
    char *path = token_file(t, "t.tok", "some text that is long enough to cut\n", &n);
    str_init(&s, 1 << 20);
    CHECK_OK(path_read(path, 1 << 20, &s, &err));
    refused_text(t, file("cut.tok", s.p, s.len - 2), "cut");
    refused_text(t, file("none.tok", s.p, 32), "without tokens");
    s.p[24] ^= 1;
    refused_text(t, file("other.tok", s.p, s.len), "another tokenizer");
    s.p[24] ^= 1;
    s.p[s.len - 1] = 0x7f;
    refused_text(t, file("range.tok", s.p, s.len), "outside the vocabulary");
    refused_text(t, token_file(t, "short.tok", "a", &n), "fewer than one window");
    char *bad = file("bad.txt", "\xff\xfe", 2);
    const char *paths[] = {bad};
    CHECK_INT(data_text_build(t, paths, 1, path, &n, &err), PD_DATA);
    CHECK_HAS(err.msg, "UTF-8");
    str_release(&s);
    tok_free(t);
}

T_MAIN
