/* tok_impl.h - the inside of a tokenizer; for tok*.c only. */
#ifndef CORE_TRAIN_TOK_IMPL_H
#define CORE_TRAIN_TOK_IMPL_H

#include "core/train/rx.h"
#include "core/train/tok.h"

/* --- tok_unicode.c, tok_split.c: text to pieces ---------------------------- */
enum tok_class { TOK_OTHER, TOK_LETTER, TOK_NUMBER, TOK_SPACE };
struct tok_range {
    uint32_t lo, hi;
    enum tok_class c;
};
extern const struct tok_range tok_unicode[];     /* sorted, disjoint */
extern const size_t tok_unicode_n;

enum tok_splitter { TOK_GPT2, TOK_SMOLLM, TOK_LLAMA3, TOK_WHOLE };
/* The length of the first piece of s[0..n), n > 0. */
size_t tok_split(enum tok_splitter how, const char *s, size_t n);
/* The class of the character at s[0..n), its length to *len. Bytes that are
 * no UTF-8 are TOK_OTHER, one by one. */
enum tok_class tok_class_at(const char *s, size_t n, int *len);

/* --- tok_steps.c: pre-tokenizers as the file writes them ---------------------- */
enum tok_behaviour { TOK_REMOVED, TOK_ISOLATED, TOK_WITH_PREVIOUS, TOK_WITH_NEXT, TOK_CONTIGUOUS };
struct tok_step {                                /* rx, text, is_fast; none of them: Digits */
    struct rx *rx;
    char *text;                                  /* a literal, never a pattern */
    size_t text_n;
    bool is_fast, invert;
    enum tok_splitter fast;
    enum tok_behaviour how;
};
typedef void tok_piece_fn(void *arg, const char *s, size_t n);
struct tok;
/* s through steps k and on; fn gets each piece. */
void tok_steps_run(const struct tok *t, size_t k, const char *s, size_t n, tok_piece_fn *fn,
                   void *arg);
void tok_steps_release(struct tok *t);
/* tok_pattern.c: a pattern for rx.h that means there what it means in `tokenizers`. */
void tok_pattern(const char *p, size_t n, struct str *out);

/* --- tok_norm.c ------------------------------------------------------------------ */
enum tok_norm { TOK_NORM_NONE, TOK_NORM_NFC, TOK_NORM_NFD, TOK_NORM_NFKC, TOK_NORM_NFKD };
enum tok_norm tok_norm_named(const char *name);  /* "NFC" …; NONE: unknown */
void tok_norm_run(enum tok_norm form, const char *s, size_t n, struct str *out);

/* --- tok_spaced.c: SentencePiece's kind ------------------------------------------ */
enum tok_prefix { TOK_PREFIX_NONE, TOK_PREFIX_ALL,   /* whatever the text begins with */
                  TOK_PREFIX_ALWAYS, TOK_PREFIX_FIRST };
/* Where a text between added tokens stands: the first, behind a token, or the
 * continuation of what was encoded before. */
enum tok_place { TOK_AT_START, TOK_BEHIND, TOK_GOES_ON };
struct tjson;
/* Fills norm, spaced, prefix, split_words, fallback. */
MUST_USE enum pd_code tok_spaced_read(struct tok *t, const struct tjson *root, const char *src,
                                      struct pd_err *err);
/* "<0x0A>" */
bool tok_spaced_byte(const char *key, size_t n, unsigned char *byte);
void tok_spaced_shown(const struct tok *t, const char *key, size_t n, struct str *out);
void tok_spaced_run(const struct tok *t, const char *s, size_t n, enum tok_place place,
                    tok_piece_fn *fn, void *arg);
/* The character at s[0..n): its ids (at most 4) and their number; -1: none. Its length. */
size_t tok_spaced_symbol(const struct tok *t, const char *s, size_t n, int32_t *ids, size_t *count);

/* --- the loaded tokenizer ---------------------------------------------------- */
struct tok_piece {                               /* a token's bytes, in `pool` */
    uint32_t at, n;
    uint32_t key_at, key_n;                      /* what it is found and merged by */
    bool used, special;
};
struct tok_pair {                                /* a merge in a hash table */
    uint64_t key;                                /* left << 32 | right */
    int32_t rank, id;                            /* rank -1: an empty slot */
};
struct tok_added {                               /* a token matched before splitting */
    const char *s;
    size_t n;
    int32_t id;
    bool special, lstrip, rstrip, single_word;
};

enum { TOK_STEPS = 8, TOK_HEAD = 4 };
struct tok {
    enum tok_splitter splitter;                  /* when there are no steps */
    struct tok_step steps[TOK_STEPS];
    size_t steps_n;
    bool ignore_merges;
    bool spaced, split_words, fallback;
    bool prefix_space;                           /* byte-level: a space before a text */
    enum tok_norm norm;
    enum tok_prefix prefix;
    int32_t size, eos;
    char *pool;
    struct tok_piece *pieces;                    /* [size] */
    int32_t *names;                              /* hash table over pieces by bytes, -1 empty */
    uint32_t names_mask;
    struct tok_pair *pairs;
    uint32_t pairs_mask;
    int32_t byte_id[256];                        /* -1: the vocabulary lacks it */
    int32_t unk;                                 /* stands for such a byte; -1: nothing does */
    bool fuse_unk;                               /* one for several in a row */
    int32_t head[TOK_HEAD];                      /* before a text of its own */
    int head_n;
    struct tok_added *added;                     /* longest first */
    size_t added_n;
    bool added_first[256];                       /* bytes that an added token begins with */
};

const struct tok_pair *tok_pair_find(const struct tok *t, int32_t left, int32_t right);
void tok_names_insert(struct tok *t, int32_t id);

/* tok_post.c: t->head from the post_processor; all pieces stand. */
MUST_USE enum pd_code tok_post_read(struct tok *t, const struct tjson *j, const char *src,
                                    struct pd_err *err);

/* --- tok_bpe.c: one piece to ids ---------------------------------------------- */
struct tok_bpe;                                  /* scratch, grows to the longest piece */
struct tok_bpe *tok_bpe_new(void);
void tok_bpe_free(struct tok_bpe *b);
void tok_bpe_piece(const struct tok *t, struct tok_bpe *b, const char *s, size_t n,
                   struct tok_ids *out);

#endif
