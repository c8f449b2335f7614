/* fuzz_data.c - any bytes as an instruction file, as a text and as a token
 * file: an error with its line, or batches whose ids and labels hold.
 * fuzz: core/train/tok*.c core/train/rx.c core/train/data*.c core/train/tjson.c core/base */
#include "core/base/base.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/train/data.h"
#include "tests/fuzz/small_tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tok *tokenizer(void)
{
    static struct tok *t;
    if (!t)
        t = small_tok("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
                      "\"use_regex\":true}");
    return t;
}

static void check(const struct data_batch *b)
{
    int64_t trained = 0;
    for (int i = 0; i < b->rows * b->len; i++) {
        assert(b->ids[i] >= 0 && b->ids[i] < tok_size(tokenizer()));
        assert(b->labels[i] == DATA_IGNORE ||
               (b->labels[i] >= 0 && b->labels[i] < tok_size(tokenizer())));
        trained += b->labels[i] != DATA_IGNORE;
    }
    assert(trained == b->trained);
}

static void use(struct data *d)
{
    struct data_batch b;
    struct pd_err err;
    data_batch_init(&b, 3, data_max_len(d));
    for (int64_t i = 0; i < 5; i++)
        if (data_batch(d, DATA_TRAIN, 1, i, 3, &b, &err) == PD_OK)
            check(&b);
    data_eval_batch(d, DATA_VAL, 0, 3, &b);
    check(&b);
    (void)data_unigram_loss(d);
    data_batch_release(&b);
}

static void put(const char *path, const void *data, size_t n)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        PD_BUG("%s can't be written", path);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char in[64], out[64];
    static const char *const policies[] = {"error", "truncate", "drop"};
    struct data_options opt = {.eos = -1, .max_len = size % 2 ? 512 : 40,
                               .too_long = policies[size % 3], .train_prompt = size % 5 == 0};
    struct pd_err err = {0};
    struct data *d;
    int64_t n;
    snprintf(in, sizeof in, "/dev/shm/podium-fuzz-%d", (int)getpid());
    snprintf(out, sizeof out, "/dev/shm/podium-fuzz-%d.tok", (int)getpid());
    put(in, data, size);
    if (data_open(in, tokenizer(), &opt, &d, &err) == PD_OK) {
        use(d);
        data_free(d);
    } else {
        assert(err.msg[0]);
    }
    const char *paths[] = {in};
    opt.max_len = 4;
    if (data_text_build(tokenizer(), paths, 1, out, &n, &err) == PD_OK &&
        data_open(out, tokenizer(), &opt, &d, &err) == PD_OK) {
        use(d);
        data_free(d);
    }
    unlink(in);
    unlink(out);
    return 0;
}
