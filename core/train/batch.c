/* batch.c - rows without padding (batch.h). */
#include "core/train/batch.h"

#include "core/base/mem.h"

void batch_init(struct batch *b, int sequences, int max_len)
{
    size_t n = (size_t)sequences * (size_t)max_len;
    *b = (struct batch){.max_rows = (int)n};
    data_batch_init(&b->padded, sequences, max_len);
    b->rows.off = xcalloc(n + 1, sizeof *b->rows.off);
    b->rows.ids = xcalloc(n, sizeof *b->rows.ids);
    b->rows.labels = xcalloc(n, sizeof *b->rows.labels);
    b->rows.pos = xcalloc(n, sizeof *b->rows.pos);
    b->rows.place = xcalloc(n, sizeof *b->rows.place);
}

void batch_release(struct batch *b)
{
    data_batch_release(&b->padded);
    free(b->rows.off);
    free(b->rows.ids);
    free(b->rows.labels);
    free(b->rows.pos);
    free(b->rows.place);
    *b = (struct batch){0};
}

/* Positions [from, to) of row r: one record. */
static void add_sequence(struct rows *out, const struct data_batch *p, int r, int from, int to,
                         int64_t place)
{
    size_t at = (size_t)r * (size_t)p->len;
    while (to > from && p->labels[at + (size_t)to - 1] < 0)
        to--;
    for (int i = from; i < to; i++, out->n++) {
        out->ids[out->n] = p->ids[at + (size_t)i];
        out->labels[out->n] = p->labels[at + (size_t)i];
        out->pos[out->n] = i - from;
        out->place[out->n] = place << 32 | (i - from);
    }
    if (to > from)
        out->off[++out->nseq] = out->n;
}

void batch_pack(struct batch *b)
{
    const struct data_batch *p = &b->padded;
    b->rows.n = b->rows.nseq = 0;
    for (int r = 0; r < p->rows; r++) {
        const int *pos = p->pos + (size_t)r * (size_t)p->len;
        int64_t place = p->places[r];
        for (int from = 0, to; from < p->lens[r]; from = to) {
            for (to = from + 1; to < p->lens[r] && pos[to] > 0;)
                to++;
            add_sequence(&b->rows, p, r, from, to, place++);
        }
    }
}
