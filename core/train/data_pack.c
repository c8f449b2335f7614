/* data_pack.c - whole records into rows of a fixed length (--packing): best fit
 * decreasing, as TRL's "bfd" strategy does it. What stands together is fixed by the
 * records alone; epochs shuffle the rows.
 */
#include "core/base/base.h"

#include <stdlib.h>

#include "core/base/mem.h"
#include "core/train/data_impl.h"

struct piece {
    uint32_t record;
    int len;
};

static int by_length(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->len != y->len)
        return y->len - x->len;
    return x->record < y->record ? -1 : 1;
}

/* Bins with the same room left, as lists through next. */
struct open_bins {
    int64_t *head, *next;         /* [room + 1], [bins]; -1: none */
    int room;
};

static int64_t take_bin(struct open_bins *o, int len, int *room, int64_t fresh)
{
    for (*room = len; *room <= o->room; (*room)++) {
        int64_t bin = o->head[*room];
        if (bin >= 0) {
            o->head[*room] = o->next[bin];
            return bin;
        }
    }
    *room = o->room;
    return fresh;
}

static void put_back(struct open_bins *o, int64_t bin, int room)
{
    o->next[bin] = o->head[room];
    o->head[room] = bin;
}

/* bin_of[record] for every piece; returns the number of bins. */
static int64_t fit(struct piece *v, int64_t n, int room, uint32_t *bin_of)
{
    struct open_bins o = {xcalloc((size_t)room + 1, sizeof *o.head),
                          xcalloc((size_t)n + 1, sizeof *o.next), room};
    int64_t bins = 0;
    for (int i = 0; i <= room; i++)
        o.head[i] = -1;
    qsort(v, (size_t)n, sizeof *v, by_length);
    for (int64_t i = 0; i < n; i++) {
        int left;
        int64_t bin = take_bin(&o, v[i].len, &left, bins);
        bins += bin == bins;
        bin_of[v[i].record] = (uint32_t)bin;
        put_back(&o, bin, left - v[i].len);
    }
    free(o.head);
    free(o.next);
    return bins;
}

/* Members by bin, within it in the order of the file. */
static void group(struct data_bins *b, const uint32_t *bin_of, int64_t n)
{
    b->first = xcalloc((size_t)b->n + 2, sizeof *b->first);
    b->members = xcalloc((size_t)n + 1, sizeof *b->members);
    uint32_t *at = b->first + 1;                 /* becomes the start of the next bin */
    for (int64_t i = 0; i < n; i++)
        at[bin_of[i] + 1]++;
    for (int64_t k = 0; k < b->n; k++)
        at[k + 1] += at[k];
    for (int64_t i = 0; i < n; i++)
        b->members[at[bin_of[i]]++] = (uint32_t)i;
}

void data_pack(struct data *d)
{
    int64_t n = d->count[DATA_TRAIN];
    struct piece *v = xcalloc((size_t)n + 1, sizeof *v);
    uint32_t *bin_of = xcalloc((size_t)n + 1, sizeof *bin_of);
    for (int64_t i = 0; i < n; i++)
        v[i] = (struct piece){(uint32_t)i, d->examples[d->members[DATA_TRAIN][i]].n - 1};
    d->longest = MAX(d->longest, d->max_len);
    d->bins.n = fit(v, n, d->longest, bin_of);
    group(&d->bins, bin_of, n);
    free(v);
    free(bin_of);
}

void data_bins_release(struct data_bins *b)
{
    free(b->first);
    free(b->members);
    *b = (struct data_bins){0};
}
