/* tok_bpe.c - byte-pair merging of one piece, O(n log n).
 *
 * The symbols are a doubly linked list in an array; a binary heap holds the
 * possible merges by (rank, place). An entry is stale when its left symbol is
 * gone or the pair there is another by now: then it is dropped.
 */
#include "core/base/mem.h"
#include "core/train/tok_impl.h"

struct symbol {
    int32_t id, prev, next;                      /* id -1: merged away */
};
struct merge {
    int32_t rank, at;
    int32_t left, right, id;
};
struct tok_bpe {
    struct symbol *sym;
    struct merge *heap;
    size_t cap, heap_n;
};

struct tok_bpe *tok_bpe_new(void)
{
    return xcalloc(1, sizeof(struct tok_bpe));
}

void tok_bpe_free(struct tok_bpe *b)
{
    free(b->sym);
    free(b->heap);
    free(b);
}

/* n symbols make at most n - 1 first entries and two more a merge. */
static void reserve(struct tok_bpe *b, size_t n)
{
    if (n <= b->cap)
        return;
    b->cap = n + n / 2 + 64;
    b->sym = xrealloc_array(b->sym, b->cap, sizeof *b->sym);
    b->heap = xrealloc_array(b->heap, 3 * b->cap, sizeof *b->heap);
}

static bool before(const struct merge *a, const struct merge *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(struct tok_bpe *b, struct merge m)
{
    size_t i = b->heap_n++;
    while (i > 0 && before(&m, &b->heap[(i - 1) / 2])) {
        b->heap[i] = b->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    b->heap[i] = m;
}

static struct merge heap_pop(struct tok_bpe *b)
{
    struct merge top = b->heap[0], last = b->heap[--b->heap_n];
    size_t i = 0, n = b->heap_n;
    for (size_t c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && before(&b->heap[c + 1], &b->heap[c]))
            c++;
        if (!before(&b->heap[c], &last))
            break;
        b->heap[i] = b->heap[c];
    }
    b->heap[i] = last;
    return top;
}

/* Offer the pair that begins at symbol i. */
static void offer(const struct tok *t, struct tok_bpe *b, int32_t i)
{
    int32_t next = i < 0 ? -1 : b->sym[i].next;
    if (next < 0)
        return;
    const struct tok_pair *p = tok_pair_find(t, b->sym[i].id, b->sym[next].id);
    if (p)
        heap_push(b, (struct merge){p->rank, i, b->sym[i].id, b->sym[next].id, p->id});
}

static void apply(const struct tok *t, struct tok_bpe *b, const struct merge *m)
{
    struct symbol *left = &b->sym[m->at];
    int32_t gone = left->next;
    if (left->id != m->left || gone < 0 || b->sym[gone].id != m->right)
        return;
    left->id = m->id;
    left->next = b->sym[gone].next;
    b->sym[gone].id = -1;
    if (left->next >= 0)
        b->sym[left->next].prev = m->at;
    offer(t, b, left->prev);
    offer(t, b, m->at);
}

/* The ids of the symbol at s, at most 4; -1: the vocabulary lacks it. Its length. */
static size_t symbol_at(const struct tok *t, const char *s, size_t n, int32_t *ids, size_t *count)
{
    if (t->spaced)
        return tok_spaced_symbol(t, s, n, ids, count);
    ids[0] = t->byte_id[(unsigned char)*s];
    *count = 1;
    return 1;
}

/* The text as a list of symbols; how many. One that the vocabulary lacks is
 * the unknown token, or is left out when there is none (as `tokenizers` does). */
static size_t take_symbols(const struct tok *t, struct tok_bpe *b, const char *s, size_t n)
{
    size_t m = 0, count;
    int32_t ids[4];
    bool was_unk = false;
    while (n > 0) {
        size_t len = symbol_at(t, s, n, ids, &count);
        bool is_unk = ids[0] < 0;
        s += len, n -= len;
        if (is_unk && (t->unk < 0 || (was_unk && t->fuse_unk)))
            continue;
        for (size_t k = 0; k < count; k++, m++)
            b->sym[m] = (struct symbol){is_unk ? t->unk : ids[k], (int32_t)m - 1, (int32_t)m + 1};
        was_unk = is_unk;
    }
    if (m)
        b->sym[m - 1].next = -1;
    return m;
}

void tok_bpe_piece(const struct tok *t, struct tok_bpe *b, const char *s, size_t n,
                   struct tok_ids *out)
{
    assert(n > 0 && n < INT32_MAX / 4);
    reserve(b, n);
    b->heap_n = 0;
    n = take_symbols(t, b, s, n);
    if (n == 0)
        return;
    for (size_t i = 0; i + 1 < n; i++)
        offer(t, b, (int32_t)i);
    while (b->heap_n > 0) {
        struct merge m = heap_pop(b);
        apply(t, b, &m);
    }
    for (int32_t i = 0; i >= 0; i = b->sym[i].next)
        tok_ids_push(out, b->sym[i].id);
}
