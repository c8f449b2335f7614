/* tok.h - BPE, byte-level or of SentencePiece's kind: text to token ids and back.
 *
 * Reads Hugging Face's tokenizer.json: model BPE (vocab, merges as "a b" or
 * ["a","b"], ignore_merges), added tokens, and these splitters:
 *   GPT-2       ByteLevel(use_regex: true)
 *   SmolLM      Sequence[Digits(individual_digits), ByteLevel(use_regex: true)]
 *   Llama 3     Sequence[Split(its pattern), ByteLevel(use_regex: false)]
 *   others      Split (String is a literal, Regex a pattern; every behavior and
 *               invert) and Digits in any sequence that ends in ByteLevel
 * with normal forms (NFC, NFD, NFKC, NFKD) and add_prefix_space;
 * and SentencePiece's kind as Llama 1 and 2, Mistral and TinyLlama have it: normalizer
 * Prepend and Replace, or Metaspace, with byte_fallback.
 *
 * The ids equal those of the `tokenizers` package with add_special_tokens
 * off; what the post_processor puts before a text (Llama's beginning of text) is
 * tok_begin's, once. Chat templates write theirs themselves.
 *
 * Invariants: any byte string encodes, and tok_decode(tok_encode(x)) == x (behind a
 * space, where the kind puts one before a text) for every x that holds no added
 * token (with one: too, unless specials are skipped) and no byte that the
 * vocabulary lacks (SmolLM2 lacks a few control characters: they become the unknown
 * token, or nothing). Invalid UTF-8 is split like symbols, byte by byte. A
 * tokenizer without merges is refused.
 * After loading nothing changes: one struct may serve several threads.
 */
#ifndef CORE_TRAIN_TOK_H
#define CORE_TRAIN_TOK_H

#include "core/base/err.h"
#include "core/base/str.h"

struct tok;

struct tok_ids {                                 /* a growing vector of ids */
    int32_t *v;
    size_t n, cap;
};
void tok_ids_init(struct tok_ids *ids);
void tok_ids_release(struct tok_ids *ids);
void tok_ids_push(struct tok_ids *ids, int32_t id);

/* path: a tokenizer.json, or a folder with one. Ceiling 64 MiB. */
MUST_USE enum pd_code tok_load(const char *path, struct tok **out, struct pd_err *err);
MUST_USE enum pd_code tok_parse(const char *json, size_t n, const char *src, struct tok **out,
                                struct pd_err *err);
void tok_free(struct tok *t);

int32_t tok_size(const struct tok *t);           /* highest id + 1 */
/* The id of a token by its bytes ("<|endoftext|>"), or -1. */
int32_t tok_id(const struct tok *t, const char *bytes, size_t n);
/* The end-of-text token: the first that exists of <|endoftext|>, </s>,
 * <|end_of_text|>, <|eot_id|>, <|im_end|>; -1 when none does. config.json's
 * eos_token_id, where given, goes before it. */
int32_t tok_eos(const struct tok *t);
/* A token's bytes (decoded), borrowed; NULL with *n = 0 for an unused id. */
const char *tok_bytes(const struct tok *t, int32_t id, size_t *n);
bool tok_is_special(const struct tok *t, int32_t id);

/* Append the ids of text. specials: whether "<|endoftext|>" in the text
 * becomes that token (prompts of our own) or stays plain characters (text of
 * others, so that data can't smuggle one in). */
void tok_encode(const struct tok *t, const char *text, size_t n, bool specials,
                struct tok_ids *out);
/* The same of a text that goes on where another ended: no space is put before it. */
void tok_encode_more(const struct tok *t, const char *text, size_t n, bool specials,
                     struct tok_ids *out);
/* The same of a text that stands behind an added token. */
void tok_encode_behind(const struct tok *t, const char *text, size_t n, bool specials,
                       struct tok_ids *out);
/* What stands before a text of its own by the post_processor: TemplateProcessing's
 * "single" up to the text. Mostly nothing, or <|begin_of_text|>. */
void tok_begin(const struct tok *t, struct tok_ids *out);
/* Both, as `tokenizers` with add_special_tokens; a text that begins with those
 * tokens already does not get them twice. */
void tok_encode_whole(const struct tok *t, const char *text, size_t n, bool specials,
                      struct tok_ids *out);
/* Append the bytes of ids. A single id may end within a character: collect
 * before showing. Ids out of range add nothing. False: out's ceiling. */
bool tok_decode(const struct tok *t, const int32_t *ids, size_t n, bool skip_specials,
                struct str *out);

#endif
