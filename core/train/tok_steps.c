/* tok_steps.c - pre-tokenizers that are followed as the file writes them:
 * Split by a text or a regular expression with any behaviour, Digits,
 * ByteLevel's own pattern, in sequence (tok_impl.h). The usual three have hand
 * written matchers in tok_split.c.
 *
 * Behaviours by huggingface/tokenizers, normalizer.rs (split): a text is cut
 * into matches and what stands between them; `invert` swaps the two.
 */
#include "core/base/mem.h"
#include "core/train/tok_impl.h"

struct part {
    size_t from, to;
    bool match;
};

struct parts {
    struct part *v;
    size_t n, cap;
};

static void push(struct parts *p, size_t from, size_t to, bool match)
{
    if (p->n == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 16;
        p->v = xrealloc_array(p->v, p->cap, sizeof *p->v);
    }
    p->v[p->n++] = (struct part){from, to, match};
}

/* The next match of a step at or behind `from`. */
static bool next_match(const struct tok_step *st, const char *s, size_t n, size_t from,
                       size_t *start, size_t *end)
{
    if (st->rx)
        return rx_find(st->rx, s, n, from, start, end);
    if (st->text) {
        const char *p = from < n ? memmem(s + from, n - from, st->text, st->text_n) : NULL;
        *start = p ? (size_t)(p - s) : n;
        *end = *start + st->text_n;
        return p != NULL;
    }
    int len;
    for (*start = from; *start < n; *start += (size_t)len)   /* Digits */
        if (tok_class_at(s + *start, n - *start, &len) == TOK_NUMBER) {
            *end = *start + (size_t)len;
            return true;
        }
    return false;
}

static void find_parts(const struct tok_step *st, const char *s, size_t n, struct parts *p)
{
    size_t at = 0, from = 0, start, end;
    while (from <= n && next_match(st, s, n, from, &start, &end)) {
        if (start > at)
            push(p, at, start, st->invert);
        if (end > start)
            push(p, start, end, !st->invert);
        at = end;
        from = end > start ? end : end + 1;
    }
    if (at < n)
        push(p, at, n, st->invert);
}

/* Neighbours become one where the behaviour says so; Removed drops matches. */
static void join_parts(enum tok_behaviour how, struct parts *p)
{
    size_t n = 0;
    bool was_match = false;
    for (size_t i = 0; i < p->n; i++) {
        struct part x = p->v[i];
        bool with_last = n > 0 && ((how == TOK_CONTIGUOUS && p->v[n - 1].match == x.match) ||
                                   (how == TOK_WITH_PREVIOUS && x.match && !was_match));
        was_match = x.match;
        if (how == TOK_REMOVED && x.match)
            continue;
        if (with_last)
            p->v[n - 1].to = x.to;
        else
            p->v[n++] = x;
    }
    p->n = n;
}

/* A match is joined with what follows, unless that is a match too. */
static void join_with_next(struct parts *p)
{
    size_t n = p->n;
    bool was_match = false;
    for (size_t i = p->n; i-- > 0;) {
        struct part x = p->v[i];
        if (x.match && !was_match && n < p->n)
            p->v[n].from = x.from;
        else
            p->v[--n] = x;
        was_match = x.match;
    }
    memmove(p->v, p->v + n, (p->n - n) * sizeof *p->v);
    p->n -= n;
}

static void run_fast(const struct tok *t, size_t k, const char *s, size_t n, tok_piece_fn *fn,
                     void *arg)
{
    while (n > 0) {
        size_t m = tok_split(t->steps[k].fast, s, n);
        tok_steps_run(t, k + 1, s, m, fn, arg);
        s += m;
        n -= m;
    }
}

void tok_steps_run(const struct tok *t, size_t k, const char *s, size_t n, tok_piece_fn *fn,
                   void *arg)
{
    if (n == 0)
        return;
    if (k == t->steps_n) {
        fn(arg, s, n);
        return;
    }
    const struct tok_step *st = &t->steps[k];
    if (st->is_fast) {
        run_fast(t, k, s, n, fn, arg);
        return;
    }
    struct parts p = {0};
    find_parts(st, s, n, &p);
    if (st->how == TOK_WITH_NEXT)
        join_with_next(&p);
    else
        join_parts(st->how, &p);
    for (size_t i = 0; i < p.n; i++)
        tok_steps_run(t, k + 1, s + p.v[i].from, p.v[i].to - p.v[i].from, fn, arg);
    free(p.v);
}

void tok_steps_release(struct tok *t)
{
    for (size_t i = 0; i < t->steps_n; i++) {
        rx_free(t->steps[i].rx);
        free(t->steps[i].text);
    }
    t->steps_n = 0;
}
