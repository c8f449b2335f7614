/* batch.c - rows without padding (batch.h). */
#include "core/train/batch.h"

#include "core/base/mem.h"

void batch_init(struct batch *b, int sequences, int max_len)
{
    size_t n = (size_t)sequences * (size_t)max_len;
    *b = (struct batch){.max_rows = (int)n, .max_seqs = sequences};
    data_batch_init(&b->padded, sequences, max_len);
    b->rows.off = xcalloc((size_t)sequences + 1, sizeof *b->rows.off);
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

static void add_sequence(struct rows *r, int64_t place, const int32_t *ids,
                         const int32_t *labels, int len)
{
    while (len > 0 && labels[len - 1] < 0)
        len--;
    for (int i = 0; i < len; i++, r->n++) {
        r->ids[r->n] = ids[i];
        r->labels[r->n] = labels[i];
        r->pos[r->n] = i;
        r->place[r->n] = place << 32 | i;
    }
    if (len)
        r->off[++r->nseq] = r->n;
}

void batch_pack(struct batch *b)
{
    const struct data_batch *p = &b->padded;
    b->rows.n = b->rows.nseq = 0;
    for (int i = 0; i < p->rows; i++)
        add_sequence(&b->rows, p->place + i, p->ids + (size_t)i * (size_t)p->len,
                     p->labels + (size_t)i * (size_t)p->len, p->lens[i]);
}
