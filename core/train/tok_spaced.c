/* tok_spaced.c - tokenizers of SentencePiece's kind (Llama 1 and 2, Mistral, TinyLlama):
 * the vocabulary is text in which U+2581 stands for the space, one is put before a
 * text, and characters that it lacks become bytes "<0x0A>" (byte_fallback).
 *
 * In tokenizer.json either a normalizer does that (Prepend, Replace), on every text
 * between added tokens, or a Metaspace pre-tokenizer, by its prepend_scheme.
 */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok_impl.h"

#define MARK "\xe2\x96\x81"
enum { MARK_LEN = sizeof MARK - 1, FILE_CEILING = 1 << 30 };

static enum pd_code fail(const char *src, const char *what, const char *value, struct pd_err *err)
{
    return pd_fail_at(err, PD_UNSUPPORTED, src, 0, 0, _("tokenizer: %s%s%.200s"), what,
                      *value ? ": " : "", value);
}

static enum pd_code read_normalizer(struct tok *t, const struct tjson *j, const char *src,
                                    struct pd_err *err)
{
    const char *kind = tjson_str(j, "type", "");
    const struct tjson *list = tjson_get(j, "normalizers");
    if (str_eq(kind, "Sequence")) {
        for (size_t i = 0; i < tjson_count(list); i++)
            if (read_normalizer(t, tjson_item(list, i), src, err) != PD_OK)
                return err->code;
        return PD_OK;
    }
    if (t->norm == TOK_NORM_NONE && tok_norm_named(kind) != TOK_NORM_NONE) {
        t->norm = tok_norm_named(kind);
        return PD_OK;
    }
    t->spaced = true;
    if (str_eq(kind, "Prepend") && str_eq(tjson_str(j, "prepend", ""), MARK)) {
        t->prefix = TOK_PREFIX_ALL;
        return PD_OK;
    }
    if (str_eq(kind, "Replace") && str_eq(tjson_str(j, "pattern.String", ""), " ") &&
        str_eq(tjson_str(j, "content", ""), MARK))
        return PD_OK;
    return fail(src, _("has a normalizer that podium does not know"), kind, err);
}

static enum pd_code read_metaspace(struct tok *t, const struct tjson *j, const char *src,
                                   struct pd_err *err)
{
    static const struct {
        const char *name;
        enum tok_prefix prefix;
    } schemes[] = {{"always", TOK_PREFIX_ALWAYS}, {"first", TOK_PREFIX_FIRST},
                   {"never", TOK_PREFIX_NONE}};
    bool before = tjson_bool(j, "add_prefix_space", true);      /* how it was written once */
    const char *scheme = tjson_str(j, "prepend_scheme", before ? "always" : "never");
    size_t i = 0;
    while (i < ARRAY_LEN(schemes) && !str_eq(schemes[i].name, scheme))
        i++;
    if (i == ARRAY_LEN(schemes) || !str_eq(tjson_str(j, "replacement", MARK), MARK))
        return fail(src, _("a Metaspace that podium does not know"), scheme, err);
    t->spaced = true;
    t->prefix = schemes[i].prefix;
    t->split_words = tjson_bool(j, "split", true);
    return PD_OK;
}

enum pd_code tok_spaced_read(struct tok *t, const struct tjson *root, const char *src,
                             struct pd_err *err)
{
    const struct tjson *normalizer = tjson_get(root, "normalizer");
    const struct tjson *pre = tjson_get(root, "pre_tokenizer");
    const struct tjson *list = tjson_get(pre, "pretokenizers");
    if (list && tjson_count(list) == 1)
        pre = tjson_item(list, 0);
    t->fallback = tjson_bool(root, "model.byte_fallback", false);
    t->spaced = t->fallback;
    if (tjson_type(normalizer) > TJSON_NULL &&
        read_normalizer(t, normalizer, src, err) != PD_OK)
        return err->code;
    if (str_eq(tjson_str(pre, "type", ""), "Metaspace"))
        return read_metaspace(t, pre, src, err);
    if (t->spaced && tjson_type(pre) > TJSON_NULL)
        return fail(src, _("a normalizer or byte_fallback beside this pre_tokenizer"),
                    tjson_str(pre, "type", ""), err);
    return PD_OK;
}

/* --- a key of the vocabulary ------------------------------------------------------- */

bool tok_spaced_byte(const char *key, size_t n, unsigned char *byte)
{
    static const char digits[] = "0123456789ABCDEF";
    if (n != 6 || memcmp(key, "<0x", 3) != 0 || key[5] != '>')
        return false;
    const char *hi = memchr(digits, key[3], 16), *lo = memchr(digits, key[4], 16);
    if (hi && lo)
        *byte = (unsigned char)((hi - digits) << 4 | (lo - digits));
    return hi && lo;
}

void tok_spaced_shown(const struct tok *t, const char *key, size_t n, struct str *out)
{
    unsigned char byte;
    str_clear(out);
    if (t->fallback && tok_spaced_byte(key, n, &byte)) {
        str_addc(out, (char)byte);
        return;
    }
    for (size_t i = 0; i < n;) {
        bool mark = n - i >= MARK_LEN && memcmp(key + i, MARK, MARK_LEN) == 0;
        str_addc(out, mark ? ' ' : key[i]);
        i += mark ? MARK_LEN : 1;
    }
}

/* --- a text -------------------------------------------------------------------------- */

static bool takes_prefix(const struct tok *t, const char *s, size_t n, enum tok_place place)
{
    bool marked = *s == ' ' || (n >= MARK_LEN && memcmp(s, MARK, MARK_LEN) == 0);
    if (place == TOK_GOES_ON)
        return false;
    switch (t->prefix) {
    case TOK_PREFIX_ALL: return true;
    case TOK_PREFIX_ALWAYS: return !marked;
    case TOK_PREFIX_FIRST: return !marked && place == TOK_AT_START;
    case TOK_PREFIX_NONE: break;
    }
    return false;
}

/* Whole, or (Metaspace with split) a new piece at each mark. */
static void hand_out(const struct tok *t, const struct str *s, tok_piece_fn *fn, void *arg)
{
    size_t from = 0;
    for (size_t i = 1; t->split_words && i + MARK_LEN <= s->len; i++)
        if (memcmp(s->p + i, MARK, MARK_LEN) == 0) {
            fn(arg, s->p + from, i - from);
            from = i;
        }
    fn(arg, s->p + from, s->len - from);
}

void tok_spaced_run(const struct tok *t, const char *s, size_t n, enum tok_place place,
                    tok_piece_fn *fn, void *arg)
{
    struct str out;
    if (n == 0)
        return;
    str_init(&out, FILE_CEILING);
    str_add(&out, takes_prefix(t, s, n, place) ? MARK : "");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == ' ')
            str_add(&out, MARK);
        else
            str_addc(&out, s[i]);
    }
    hand_out(t, &out, fn, arg);
    str_release(&out);
}

size_t tok_spaced_symbol(const struct tok *t, const char *s, size_t n, int32_t *ids, size_t *count)
{
    int len;
    utf8_decode(s, n, &len);
    ids[0] = tok_id(t, s, (size_t)len);
    *count = 1;
    if (ids[0] >= 0 || !t->fallback)
        return (size_t)len;
    for (int i = 0; i < len; i++)
        ids[i] = t->byte_id[(unsigned char)s[i]];
    for (int i = 0; i < len; i++)
        if (ids[i] < 0) {
            ids[0] = -1;
            return (size_t)len;
        }
    *count = (size_t)len;
    return (size_t)len;
}
