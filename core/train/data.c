/* data.c - batches as a pure function of (data, seed, index). */
#include "core/base/base.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/data_impl.h"

void data_batch_init(struct data_batch *b, int max_rows, int max_len)
{
    size_t n = (size_t)max_rows * (size_t)max_len;
    *b = (struct data_batch){.max_rows = max_rows, .max_len = max_len};
    b->ids = xcalloc(n, sizeof *b->ids);
    b->labels = xcalloc(n, sizeof *b->labels);
    b->pos = xcalloc(n, sizeof *b->pos);
    b->lens = xcalloc((size_t)max_rows, sizeof *b->lens);
    b->places = xcalloc((size_t)max_rows, sizeof *b->places);
}

void data_batch_release(struct data_batch *b)
{
    free(b->ids);
    free(b->labels);
    free(b->pos);
    free(b->lens);
    free(b->places);
    *b = (struct data_batch){0};
}

/* --- open ---------------------------------------------------------------------- */

static enum pd_code open_text(struct data *d, const char *path, const struct data_options *opt,
                              struct pd_err *err)
{
    d->kind = DATA_TEXT;
    d->max_len = d->longest = opt->max_len > 0 ? opt->max_len : 256;
    enum pd_code rc = data_map_text(d, DATA_TRAIN, path, err);
    if (rc == PD_OK && opt->val_path)
        rc = data_map_text(d, DATA_VAL, opt->val_path, err);
    for (int s = 0; s < DATA_SPLITS && rc == PD_OK; s++) {
        d->count[s] = d->tokens[s] ? (d->tokens_n[s] - 1) / d->max_len : 0;
        if (d->tokens[s] && d->count[s] == 0)
            rc = pd_fail_at(err, PD_DATA, s == DATA_TRAIN ? path : opt->val_path, 0, 0,
                            _("it has %lld tokens, fewer than one window of %d"),
                            (long long)d->tokens_n[s], d->max_len);
    }
    return rc;
}

enum pd_code data_open(const char *path, const struct tok *tok, const struct data_options *opt,
                       struct data **out, struct pd_err *err)
{
    static const struct data_options none = {.eos = -1};
    opt = opt ? opt : &none;
    struct data *d = xcalloc(1, sizeof *d);
    d->tok = tok;
    d->eos = opt->eos >= 0 ? opt->eos : tok_eos(tok);
    d->packing = opt->packing;
    enum pd_code rc;
    if (d->eos < 0 || d->eos >= tok_size(tok))
        rc = pd_fail(err, PD_DATA, _("the tokenizer has no end-of-text token"));
    else if (data_is_token_file(path))
        rc = open_text(d, path, opt, err);
    else
        rc = data_read_records(d, path, opt, err);
    if (rc == PD_OK && d->packing && d->kind == DATA_INSTRUCTIONS)
        data_pack(d);
    for (int s = 0; s < DATA_SPLITS && rc == PD_OK; s++) {
        d->perm[s].v = xcalloc((size_t)d->count[s] + 1, sizeof *d->perm[s].v);
        d->perm[s].epoch = -1;
    }
    if (rc != PD_OK) {
        data_free(d);
        return rc;
    }
    *out = d;
    return PD_OK;
}

void data_free(struct data *d)
{
    if (!d)
        return;
    data_free_records(d);
    data_bins_release(&d->bins);
    data_unmap_text(d);
    for (int s = 0; s < DATA_SPLITS; s++)
        free(d->perm[s].v);
    free(d);
}

/* --- figures --------------------------------------------------------------------- */

enum data_kind data_kind(const struct data *d)
{
    return d->kind;
}

int data_max_len(const struct data *d)
{
    return d->longest;
}

int64_t data_count(const struct data *d, enum data_split s)
{
    return d->count[s];
}

int64_t data_cut(const struct data *d)
{
    return d->cut;
}

int64_t data_dropped(const struct data *d)
{
    return d->dropped;
}

int data_templates(const struct data *d, enum data_split s)
{
    return d->templates[s];
}

int64_t data_rows(const struct data *d, enum data_split s)
{
    return s == DATA_TRAIN && d->bins.n ? d->bins.n : d->count[s];
}

void data_whole_epochs(struct data *d, bool on)
{
    d->whole_epochs = on;
}

int64_t data_batches(const struct data *d, int rows)
{
    return (data_rows(d, DATA_TRAIN) + rows - 1) / rows;
}

/* The first place of batch `index` in the endless stream; *count of rows. */
static int64_t batch_place(const struct data *d, enum data_split s, int64_t index, int rows,
                           int *count)
{
    int64_t n = data_rows(d, s), per = (n + rows - 1) / rows;
    *count = rows;
    if (!d->whole_epochs || n == 0)
        return index * rows;
    int64_t at = index % per * rows;
    *count = (int)MIN((int64_t)rows, n - at);
    return index / per * n + at;
}

double data_epoch(const struct data *d, int64_t index, int rows)
{
    int count;
    int64_t n = data_rows(d, DATA_TRAIN);
    return n ? (double)batch_place(d, DATA_TRAIN, index, rows, &count) / (double)n : 0;
}

static const struct data_example *example(const struct data *d, enum data_split s, int64_t i)
{
    return &d->examples[d->members[s][i]];
}

int64_t data_tokens(const struct data *d, enum data_split s)
{
    int64_t total = 0;
    if (d->kind == DATA_TEXT)
        return d->count[s] * d->max_len;
    for (int64_t i = 0; i < d->count[s]; i++)
        total += example(d, s, i)->trained;
    return total;
}

double data_padding(const struct data *d)
{
    double used = 0, all = (double)data_rows(d, DATA_TRAIN) * d->longest;
    if (d->kind == DATA_TEXT)
        return 0;
    for (int64_t i = 0; i < d->count[DATA_TRAIN]; i++)
        used += example(d, DATA_TRAIN, i)->n - 1;
    return all > 0 ? 1 - used / all : 0;
}

/* --- order ------------------------------------------------------------------------ */

/* splitmix64's finaliser: a counter-based generator needs no state. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t epoch_key(uint64_t seed, int64_t epoch, enum data_split s)
{
    return mix(mix(seed) ^ mix((uint64_t)epoch * DATA_SPLITS + s));
}

/* A number below n out of the 64 random bits r. */
static uint64_t below(uint64_t r, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)r * n >> 64);
}

/* Row at place `place` of the endless stream; *epoch to where it falls. */
static uint32_t place_at(struct data *d, enum data_split s, uint64_t seed, int64_t place,
                         int64_t *epoch)
{
    struct data_perm *p = &d->perm[s];
    int64_t n = data_rows(d, s);
    *epoch = place / n;
    if (p->epoch != *epoch || p->seed != seed) { /* Fisher-Yates */
        uint64_t key = epoch_key(seed, *epoch, s);
        for (int64_t i = 0; i < n; i++)
            p->v[i] = (uint32_t)i;
        for (int64_t i = n - 1; i > 0; i--) {
            uint64_t j = below(mix(key + (uint64_t)i), (uint64_t)i + 1);
            uint32_t t = p->v[i];
            p->v[i] = p->v[j];
            p->v[j] = t;
        }
        p->epoch = *epoch;
        p->seed = seed;
    }
    return p->v[place % n];
}

/* --- rows -------------------------------------------------------------------------- */

/* A row before it is laid out: n positions. */
struct row {
    const int32_t *ids, *mask;                   /* records */
    int64_t text_at;                             /* text: start in the stream */
    int n;
};

/* Position t predicts the id behind it: is that one trained? */
static bool is_trained(const struct row *r, int t)
{
    return t < r->n && (!r->mask || r->mask[t + 1]);
}

static struct row row_of(const struct data *d, enum data_split s, int64_t i, int64_t shift)
{
    if (d->kind == DATA_TEXT)
        return (struct row){.text_at = (i * d->max_len + shift) % d->tokens_n[s],
                            .n = d->max_len};
    const struct data_example *e = example(d, s, i);
    return (struct row){d->pool.v + e->at, d->mask.v + e->at, 0, e->n - 1};
}

/* Lay an example out from position `at` of row r on; the position behind it. The
 * text stream is a ring: its end, an EOS, is followed by its beginning. */
static int put_example(const struct data *d, enum data_split s, struct data_batch *b, int r,
                       int at, const struct row *row)
{
    size_t from = (size_t)r * (size_t)b->len + (size_t)at;
    const uint16_t *text = d->tokens[s];
    int64_t ring = d->tokens_n[s];
    for (int t = 0; t < row->n; t++) {
        bool trained = is_trained(row, t);
        b->ids[from + (size_t)t] = row->ids ? row->ids[t] : text[(row->text_at + t) % ring];
        b->labels[from + (size_t)t] = !trained ? DATA_IGNORE
                                      : row->ids ? row->ids[t + 1]
                                                 : text[(row->text_at + t + 1) % ring];
        b->pos[from + (size_t)t] = t;
        b->trained += trained;
    }
    return at + row->n;
}

static void put_padding(const struct data *d, struct data_batch *b, int r, int at)
{
    b->lens[r] = at;
    for (size_t i = (size_t)r * (size_t)b->len + (size_t)at; at < b->len; at++, i++) {
        b->ids[i] = d->eos;
        b->labels[i] = DATA_IGNORE;
        b->pos[i] = at;
    }
}

/* Behind an EOS another document begins, which nothing before it foretells. */
static void part_documents(const struct data *d, struct data_batch *b, int r)
{
    size_t from = (size_t)r * (size_t)b->len;
    int pos = 0;
    for (size_t i = from; i < from + (size_t)b->lens[r]; i++) {
        b->pos[i] = pos++;
        if (b->ids[i] != tok_eos(d->tok))
            continue;
        pos = 0;
        b->trained -= b->labels[i] >= 0;
        b->labels[i] = DATA_IGNORE;
    }
}

/* What stands in one row: examples v[0..n) of the split. */
struct unit {
    const uint32_t *v;
    uint32_t n, own;              /* v NULL: the example `own` alone */
    int64_t shift;
};

static struct unit unit_of(const struct data *d, enum data_split s, int64_t i, int64_t shift)
{
    const struct data_bins *b = &d->bins;
    if (s != DATA_TRAIN || b->n == 0)
        return (struct unit){.n = 1, .own = (uint32_t)i, .shift = shift};
    return (struct unit){b->members + b->first[i], b->first[i + 1] - b->first[i], 0, shift};
}

static struct row part_of(const struct data *d, enum data_split s, const struct unit *u, uint32_t k)
{
    return row_of(d, s, u->v ? u->v[k] : u->own, u->shift);
}

static int unit_len(const struct data *d, enum data_split s, const struct unit *u)
{
    int n = 0;
    for (uint32_t k = 0; k < u->n; k++)
        n += part_of(d, s, u, k).n;
    return n;
}

static void put_unit(const struct data *d, enum data_split s, struct data_batch *b, int r,
                     const struct unit *u)
{
    int at = 0;
    for (uint32_t k = 0; k < u->n; k++) {
        struct row row = part_of(d, s, u, k);
        at = put_example(d, s, b, r, at, &row);
    }
    put_padding(d, b, r, at);
    if (d->packing && d->kind == DATA_TEXT)
        part_documents(d, b, r);
}

static void fill(const struct data *d, enum data_split s, struct data_batch *b, int rows,
                 const struct unit *u)
{
    b->rows = rows;
    b->len = 0;
    b->trained = 0;
    for (int r = 0; r < rows; r++)
        b->len = MAX(b->len, unit_len(d, s, &u[r]));
    if (b->len > b->max_len)
        PD_BUG("a row of %d in a batch with room for %d", b->len, b->max_len);
    for (int r = 0; r < rows; r++)
        put_unit(d, s, b, r, &u[r]);
}

#define ROWS_MAX 1024

enum pd_code data_batch(struct data *d, enum data_split s, uint64_t seed, int64_t index, int rows,
                        struct data_batch *b, struct pd_err *err)
{
    struct unit u[ROWS_MAX];
    if (rows < 1 || rows > MIN(b->max_rows, ROWS_MAX))
        PD_BUG("%d rows in a batch with room for %d", rows, b->max_rows);
    if (d->count[s] == 0)
        return pd_fail(err, PD_DATA, s == DATA_TRAIN ? _("there are no training data")
                                                     : _("there are no validation data"));
    int64_t place = batch_place(d, s, index, rows, &rows);
    for (int r = 0; r < rows; r++) {
        int64_t epoch;
        uint32_t pick = place_at(d, s, seed, place + r, &epoch);
        /* other windows of the text every epoch */
        u[r] = unit_of(d, s, pick, (int64_t)below(epoch_key(seed, epoch, s), (uint64_t)d->max_len));
        b->places[r] = (place + r) * d->longest;
    }
    fill(d, s, b, rows, u);
    if (b->trained == 0)
        return pd_fail(err, PD_DATA, _("batch %lld has no trained token: all labels are masked"),
                       (long long)index);
    return PD_OK;
}

int data_batch_lines(struct data *d, enum data_split s, uint64_t seed, int64_t index, int rows,
                     int most, int *lines)
{
    struct data_record r;
    int n = 0, count;
    int64_t place = batch_place(d, s, index, rows, &count);
    for (int i = 0; i < count && d->count[s] > 0; i++) {
        int64_t epoch;
        struct unit u = unit_of(d, s, place_at(d, s, seed, place + i, &epoch), 0);
        for (uint32_t k = 0; k < u.n && n < most; k++)
            if (data_record(d, s, u.v ? u.v[k] : u.own, &r))
                lines[n++] = r.line;
    }
    return n;
}

void data_eval_batch(struct data *d, enum data_split s, int64_t index, int rows,
                     struct data_batch *b)
{
    struct unit u[ROWS_MAX];
    if (rows < 1 || rows > MIN(b->max_rows, ROWS_MAX))
        PD_BUG("%d rows in a batch with room for %d", rows, b->max_rows);
    int64_t first = index * rows, left = MAX(d->count[s] - first, 0);
    rows = (int)MIN(left, rows);
    for (int r = 0; r < rows; r++) {
        u[r] = (struct unit){.n = 1, .own = (uint32_t)(first + r)};
        b->places[r] = (first + r) * d->longest;
    }
    fill(d, s, b, rows, u);
}

bool data_record(const struct data *d, enum data_split s, int64_t i, struct data_record *out)
{
    if (d->kind != DATA_INSTRUCTIONS || i < 0 || i >= d->count[s])
        return false;
    const struct data_owned *o = &d->records[d->members[s][i]];
    *out = (struct data_record){o->instruction, o->input, o->output, o->template, o->lang, o->line};
    return true;
}

/* --- unigram ----------------------------------------------------------------------- */

double data_unigram_loss(struct data *d)
{
    int32_t v = tok_size(d->tok);
    double *count = xcalloc((size_t)v, sizeof *count), total = 0, sum = 0, n = 0;
    for (int s = 0; s < DATA_SPLITS; s++)
        for (int64_t i = 0; i < d->count[s]; i++) {
            struct row row = row_of(d, s, i, 0);
            for (int t = 0; t < row.n; t++) {
                if (!is_trained(&row, t))
                    continue;
                int32_t id = row.ids ? row.ids[t + 1]
                                     : d->tokens[s][(row.text_at + t + 1) % d->tokens_n[s]];
                if (s == DATA_TRAIN) {
                    count[id]++;
                    total++;
                } else {
                    sum -= log((count[id] + 1) / (total + v));
                    n++;
                }
            }
        }
    free(count);
    return n > 0 ? sum / n : NAN;
}
