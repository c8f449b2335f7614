/* tok_split.c - the pre-tokenizers: text to the pieces that BPE works within.
 *
 * Hand-written matchers of the published patterns. In order of trial, GPT-2:
 *   's|'t|'re|'ve|'m|'ll|'d | ?letters | ?numbers | ?others | space(?!\S) | spaces
 * Llama 3:
 *   the contractions in any case | one char of none of (CR LF letter number),
 *   optional, + letters | 1-3 numbers | ?others + CR/LF | spaces ending in
 *   CR/LF | space(?!\S) | spaces
 * "spaces(?!\S)" gives the last space of a run back to the word behind it.
 * SmolLM cuts out each number first, so the text ends before a number.
 */
#include "core/base/utf8.h"
#include "core/train/tok_impl.h"

static enum tok_class ascii_class(unsigned char c)
{
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
        return TOK_LETTER;
    if (c >= '0' && c <= '9')
        return TOK_NUMBER;
    return c == ' ' || (c >= 9 && c <= 13) ? TOK_SPACE : TOK_OTHER;
}

static enum tok_class table_class(uint32_t cp)
{
    size_t lo = 0, hi = tok_unicode_n;
    if (cp >= 0x4e00 && cp <= 0x9fff)
        return TOK_LETTER;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (cp > tok_unicode[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < tok_unicode_n && cp >= tok_unicode[lo].lo ? tok_unicode[lo].c : TOK_OTHER;
}

enum tok_class tok_class_at(const char *s, size_t n, int *len)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80) {
        *len = 1;
        return ascii_class(c);
    }
    uint32_t cp = utf8_decode(s, n, len);
    return *len == 1 ? TOK_OTHER : table_class(cp);
}

/* Bytes of the run of class c at s, at most `most` characters. */
static size_t run(const char *s, size_t n, enum tok_class c, int most)
{
    size_t i = 0;
    int len;
    while (i < n && most-- > 0 && tok_class_at(s + i, n - i, &len) == c)
        i += (size_t)len;
    return i;
}

static bool is_newline(char c)
{
    return c == '\r' || c == '\n';
}

/* 's 't 're 've 'm 'll 'd: the length, or 0. Case folding knows one letter
 * outside ASCII here: U+017F, the long s. */
static size_t contraction(const char *s, size_t n, bool fold)
{
    static const char *const ends[] = {"s", "t", "re", "ve", "m", "ll", "d"};
    if (*s != '\'')
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        size_t m = strlen(ends[i]), k = 0;
        for (; k < m && 1 + k < n; k++)
            if ((fold ? s[1 + k] | 0x20 : s[1 + k]) != ends[i][k])
                break;
        if (k == m)
            return 1 + m;
    }
    return fold && n >= 3 && s[1] == '\xc5' && s[2] == '\xbf' ? 3 : 0;
}

/* A run of spaces at s: all of it when the text ends behind it, else without
 * its last space (when there is more than one). */
static size_t spaces(const char *s, size_t n, enum tok_class also_end)
{
    size_t i = 0, last = 0;
    int len;
    enum tok_class c = TOK_SPACE;
    while (i < n && (c = tok_class_at(s + i, n - i, &len)) == TOK_SPACE) {
        last = i;
        i += (size_t)len;
    }
    bool at_end = i == n || (also_end != TOK_SPACE && c == also_end);
    return at_end || last == 0 ? i : last;
}

static size_t split_gpt2(const char *s, size_t n, bool digits)
{
    int len;
    size_t m = contraction(s, n, false);
    if (m)
        return m;
    enum tok_class c = tok_class_at(s, n, &len);
    if (digits && c == TOK_NUMBER)
        return (size_t)len;
    size_t lead = *s == ' ' ? 1 : 0;
    if (lead && n > 1)
        c = tok_class_at(s + 1, n - 1, &len);
    if ((c == TOK_SPACE || n == lead) || (lead && digits && c == TOK_NUMBER))
        return spaces(s, n, digits ? TOK_NUMBER : TOK_SPACE);
    return lead + run(s + lead, n - lead, c, INT32_MAX);
}

/* Spaces of Llama 3: up to the last CR/LF of the run, else as GPT-2's. */
static size_t split_llama3_spaces(const char *s, size_t n)
{
    size_t all = run(s, n, TOK_SPACE, INT32_MAX);
    for (size_t i = all; i > 0; i--)
        if (is_newline(s[i - 1]))
            return i;
    return spaces(s, n, TOK_SPACE);
}

static size_t split_llama3(const char *s, size_t n)
{
    int len, len2;
    size_t m = contraction(s, n, true);
    if (m)
        return m;
    enum tok_class c = tok_class_at(s, n, &len);
    if (c == TOK_LETTER)
        return run(s, n, TOK_LETTER, INT32_MAX);
    if (c == TOK_NUMBER)
        return run(s, n, TOK_NUMBER, 3);
    size_t k = (size_t)len;
    if (!is_newline(*s) && k < n && tok_class_at(s + k, n - k, &len2) == TOK_LETTER)
        return k + run(s + k, n - k, TOK_LETTER, INT32_MAX);
    size_t lead = *s == ' ' ? 1 : 0;
    size_t others = lead < n ? run(s + lead, n - lead, TOK_OTHER, INT32_MAX) : 0;
    if (others == 0)
        return split_llama3_spaces(s, n);
    for (m = lead + others; m < n && is_newline(s[m]);)
        m++;
    return m;
}

size_t tok_split(enum tok_splitter how, const char *s, size_t n)
{
    if (how == TOK_WHOLE)
        return n;
    return how == TOK_LLAMA3 ? split_llama3(s, n) : split_gpt2(s, n, how == TOK_SMOLLM);
}
