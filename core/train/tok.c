/* tok.c - encode and decode with a loaded tokenizer (tok_load.c makes it). */
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/tok_impl.h"

#define NORMAL_CEILING ((size_t)1 << 30)

void tok_ids_init(struct tok_ids *ids)
{
    *ids = (struct tok_ids){0};
}

void tok_ids_release(struct tok_ids *ids)
{
    free(ids->v);
    tok_ids_init(ids);
}

void tok_ids_push(struct tok_ids *ids, int32_t id)
{
    if (ids->n == ids->cap) {
        ids->cap = ids->cap ? 2 * ids->cap : 64;
        ids->v = xrealloc_array(ids->v, ids->cap, sizeof *ids->v);
    }
    ids->v[ids->n++] = id;
}

/* --- tables ----------------------------------------------------------------- */

static uint32_t hash_bytes(const char *s, size_t n)
{
    uint32_t h = 2166136261u;                    /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h ^ h >> 15;
}

void tok_names_insert(struct tok *t, int32_t id)
{
    const struct tok_piece *p = &t->pieces[id];
    uint32_t i = hash_bytes(t->pool + p->key_at, p->key_n) & t->names_mask;
    while (t->names[i] >= 0)
        i = (i + 1) & t->names_mask;
    t->names[i] = id;
}

int32_t tok_id(const struct tok *t, const char *bytes, size_t n)
{
    for (uint32_t i = hash_bytes(bytes, n) & t->names_mask; t->names[i] >= 0;
         i = (i + 1) & t->names_mask) {
        const struct tok_piece *p = &t->pieces[t->names[i]];
        if (p->key_n == n && memcmp(t->pool + p->key_at, bytes, n) == 0)
            return t->names[i];
    }
    return -1;
}

const struct tok_pair *tok_pair_find(const struct tok *t, int32_t left, int32_t right)
{
    uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & t->pairs_mask;
    for (; t->pairs[i].rank >= 0; i = (i + 1) & t->pairs_mask)
        if (t->pairs[i].key == key)
            return &t->pairs[i];
    return NULL;
}

int32_t tok_size(const struct tok *t)
{
    return t->size;
}

int32_t tok_eos(const struct tok *t)
{
    return t->eos;
}

bool tok_is_special(const struct tok *t, int32_t id)
{
    return id >= 0 && id < t->size && t->pieces[id].special;
}

const char *tok_bytes(const struct tok *t, int32_t id, size_t *n)
{
    *n = 0;
    if (id < 0 || id >= t->size || !t->pieces[id].used)
        return NULL;
    *n = t->pieces[id].n;
    return t->pool + t->pieces[id].at;
}

/* --- encode ------------------------------------------------------------------- */

struct encoding {
    const struct tok *t;
    struct tok_bpe *bpe;
    struct tok_ids *out;
};

static void encode_piece(void *arg, const char *s, size_t n)
{
    struct encoding *e = arg;
    int32_t whole = e->t->ignore_merges ? tok_id(e->t, s, n) : -1;
    if (whole >= 0)
        tok_ids_push(e->out, whole);
    else
        tok_bpe_piece(e->t, e->bpe, s, n, e->out);
}

static void encode_normal(const struct tok *t, struct tok_bpe *bpe, const char *s, size_t n,
                          enum tok_place place, struct tok_ids *out)
{
    struct encoding e = {t, bpe, out};
    if (t->spaced) {
        tok_spaced_run(t, s, n, place, encode_piece, &e);
        return;
    }
    if (t->steps_n) {
        tok_steps_run(t, 0, s, n, encode_piece, &e);
        return;
    }
    while (n > 0) {
        size_t m = tok_split(t->splitter, s, n);
        encode_piece(&e, s, m);
        s += m;
        n -= m;
    }
}

static void encode_plain(const struct tok *t, struct tok_bpe *bpe, const char *s, size_t n,
                         enum tok_place place, struct tok_ids *out)
{
    struct str made;
    bool space = t->prefix_space && place != TOK_GOES_ON && n > 0 && *s != ' ';
    if (t->norm == TOK_NORM_NONE && !space) {
        encode_normal(t, bpe, s, n, place, out);
        return;
    }
    str_init(&made, NORMAL_CEILING);
    str_add(&made, space ? " " : "");
    tok_norm_run(t->norm, s, n, &made);
    encode_normal(t, bpe, made.p, made.len, place, out);
    str_release(&made);
}

static bool word_at(const char *s, size_t n)
{
    int len;
    enum tok_class c = n ? tok_class_at(s, n, &len) : TOK_SPACE;
    return c == TOK_LETTER || c == TOK_NUMBER || (n && *s == '_');
}

/* Whether the character that ends at s[i) belongs to a word. */
static bool word_before(const char *s, size_t i)
{
    size_t k = i;
    while (k > 0 && i - k < 4 && ((unsigned char)s[--k] & 0xc0) == 0x80)
        ;
    return i > 0 && word_at(s + k, i - k);
}

/* The longest added token at s[i), or NULL. */
static const struct tok_added *added_at(const struct tok *t, const char *s, size_t n, size_t i,
                                        bool specials)
{
    for (size_t k = 0; k < t->added_n; k++) {
        const struct tok_added *a = &t->added[k];
        if ((a->special && !specials) || a->n > n - i || memcmp(a->s, s + i, a->n) != 0)
            continue;
        size_t end = i + a->n;
        if (!a->single_word || (!word_before(s, i) && !word_at(s + end, n - end)))
            return a;
    }
    return NULL;
}

static size_t space_before(const char *s, size_t start, size_t i)
{
    while (i > start) {
        size_t k = i - 1;
        while (k > start && ((unsigned char)s[k] & 0xc0) == 0x80)
            k--;
        int len;
        if (tok_class_at(s + k, i - k, &len) != TOK_SPACE)
            break;
        i = k;
    }
    return i;
}

static size_t space_behind(const char *s, size_t n, size_t i)
{
    int len;
    while (i < n && tok_class_at(s + i, n - i, &len) == TOK_SPACE)
        i += (size_t)len;
    return i;
}

static void encode(const struct tok *t, const char *text, size_t n, bool specials,
                   enum tok_place place, struct tok_ids *out)
{
    struct tok_bpe *bpe = tok_bpe_new();
    size_t start = 0, i = 0;
    while (i < n) {
        const struct tok_added *a =
            t->added_first[(unsigned char)text[i]] ? added_at(t, text, n, i, specials) : NULL;
        if (!a) {
            i++;
            continue;
        }
        size_t end = a->lstrip ? space_before(text, start, i) : i;
        encode_plain(t, bpe, text + start, end - start, place, out);
        place = TOK_BEHIND;
        tok_ids_push(out, a->id);
        i += a->n;
        start = i = a->rstrip ? space_behind(text, n, i) : i;
    }
    encode_plain(t, bpe, text + start, n - start, place, out);
    tok_bpe_free(bpe);
}

void tok_encode(const struct tok *t, const char *text, size_t n, bool specials,
                struct tok_ids *out)
{
    encode(t, text, n, specials, TOK_AT_START, out);
}

void tok_encode_behind(const struct tok *t, const char *text, size_t n, bool specials,
                       struct tok_ids *out)
{
    encode(t, text, n, specials, TOK_BEHIND, out);
}

void tok_encode_more(const struct tok *t, const char *text, size_t n, bool specials,
                     struct tok_ids *out)
{
    encode(t, text, n, specials, TOK_GOES_ON, out);
}

bool tok_decode(const struct tok *t, const int32_t *ids, size_t n, bool skip_specials,
                struct str *out)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        size_t len;
        const char *s = tok_bytes(t, ids[i], &len);
        if (s && !(skip_specials && t->pieces[ids[i]].special))
            ok = str_append(out, s, len) && ok;
    }
    return ok;
}
