/* cmd_inspect.c - `inspect-batch`: what of a batch is trained and what is only
 * read. On a terminal by colour (NO_COLOR is obeyed), else by brackets. */
#include "core/train/cmd.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/llama.h"

struct inspection {
    const struct options *o;
    struct tok *tok;
    struct data *data;
    struct data_batch b;
    bool color;
};

static const struct marks {
    const char *open, *close;
} plain = {"〔", "〕"}, colored = {"\x1b[1;32m", "\x1b[0m"};

static const struct marks *marks_of(const struct inspection *x)
{
    return x->color ? &colored : &plain;
}

/* Append the text of ids[from..to), clean for a terminal. */
static void put_text(const struct inspection *x, const int32_t *ids, int from, int to,
                     struct str *out)
{
    struct str raw;
    str_init(&raw, 1 << 22);
    tok_decode(x->tok, ids + from, (size_t)(to - from), false, &raw);
    utf8_clean(raw.p ? raw.p : "", raw.len, true, out);
    str_release(&raw);
}

/* Id i is trained when the label before it is one. */
static bool trained(const int32_t *labels, int i)
{
    return i > 0 && labels[i - 1] >= 0;
}

/* The n ids of a record from `at` on, then the one that its last label tells: often
 * the end. */
static void put_record(const struct inspection *x, size_t at, int n, struct str *out)
{
    const int32_t *labels = x->b.labels + at;
    int32_t *ids = xcalloc((size_t)n + 1, sizeof *ids);
    memcpy(ids, x->b.ids + at, (size_t)n * sizeof *ids);
    if (n > 0 && labels[n - 1] >= 0) {
        ids[n] = labels[n - 1];
        n++;
    }
    for (int i = 0, end; i < n; i = end) {
        bool on = trained(labels, i);
        for (end = i; end < n && trained(labels, end) == on;)
            end++;
        str_add(out, on ? marks_of(x)->open : "");
        put_text(x, ids, i, end, out);
        str_add(out, on ? marks_of(x)->close : "");
    }
    free(ids);
}

/* The records of a row, one a paragraph. */
static void put_row(const struct inspection *x, int row, struct str *out)
{
    size_t at = (size_t)row * (size_t)x->b.len;
    const int *pos = x->b.pos + at;
    for (int from = 0, to; from < x->b.lens[row]; from = to) {
        for (to = from + 1; to < x->b.lens[row] && pos[to] > 0;)
            to++;
        str_add(out, from ? "\n\n" : "");
        put_record(x, at + (size_t)from, to - from, out);
    }
}

static void print_numbers(const char *name, const int32_t *v, int n, const char *end)
{
    printf("\"%s\":[", name);
    for (int i = 0; i < n; i++)
        printf("%s%d", i ? "," : "", v[i]);
    printf("]%s", end);
}

/* One line a sequence: {"ids":[…],"labels":[…],"position_ids":[…]}. */
static void print_json(const struct data_batch *b)
{
    for (int i = 0; i < b->rows; i++) {
        size_t at = (size_t)i * (size_t)b->len;
        printf("{");
        print_numbers("ids", b->ids + at, b->lens[i], ",");
        print_numbers("labels", b->labels + at, b->lens[i], ",");
        print_numbers("position_ids", b->pos + at, b->lens[i], "}\n");
    }
}

static int count_labels(const struct data_batch *b, int row)
{
    int n = 0;
    for (int i = 0; i < b->lens[row]; i++)
        n += b->labels[(size_t)row * (size_t)b->len + (size_t)i] >= 0;
    return n;
}

/* What a batch laid out in a rectangle would compute for nothing. */
static double padding(const struct data_batch *b)
{
    double used = 0, all = (double)b->rows * b->len;
    for (int i = 0; i < b->rows; i++)
        used += b->lens[i];
    return all > 0 ? 100 * (1 - used / all) : 0;
}

static void print_text(const struct inspection *x)
{
    const struct data_batch *b = &x->b;
    const struct marks *m = marks_of(x);
    printf(_("%strained%s, only read\n"), m->open, m->close);
    for (int i = 0; i < b->rows; i++) {
        struct str s;
        str_init(&s, 1 << 22);
        put_row(x, i, &s);
        printf(_("--- %d: %d tokens, %d of them trained\n"), i, b->lens[i],
               count_labels(b, i));
        printf("%s\n", s.p ? s.p : "");
        str_release(&s);
    }
    printf(_("--- %lld trained tokens; padding would be %.0f %%, none of it is computed\n"),
           (long long)b->trained, padding(b));
}

static enum pd_code show(struct inspection *x, struct pd_err *err)
{
    struct llama_config c;
    const struct options *o = x->o;
    if (llama_read_config(o->t.model, &c, err) != PD_OK)
        return err->code;
    struct data_options opt = trainer_data_options(&o->t, &c);
    if (tok_load(o->t.model, &x->tok, err) != PD_OK ||
        data_open(o->t.data, x->tok, &opt, &x->data, err) != PD_OK)
        return err->code;
    data_batch_init(&x->b, o->t.batch, data_max_len(x->data));
    if (data_batch(x->data, DATA_TRAIN, o->t.seed, o->index, o->t.batch, &x->b, err) != PD_OK)
        return err->code;
    if (o->json)
        print_json(&x->b);
    else
        print_text(x);
    return PD_OK;
}

int cmd_inspect_batch(const struct options *o)
{
    const char *no_color = getenv("NO_COLOR");
    struct inspection x = {.o = o};
    struct pd_err err;
    x.color = isatty(STDOUT_FILENO) && !(no_color && *no_color);
    int code = show(&x, &err) == PD_OK ? TRAINER_DONE : cmd_fail(&err);
    data_batch_release(&x.b);
    data_free(x.data);
    tok_free(x.tok);
    return code;
}
