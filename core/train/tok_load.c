/* tok_load.c - tokenizer.json to tables.
 *
 * Vocabulary keys are written in the byte alphabet: the printable bytes stand
 * for themselves, the other 68 are U+0100, U+0101 … in order (space is
 * U+0120). A key with any other character in it (an added token) is taken as
 * its UTF-8 bytes.
 */
#include "core/base/base.h"

#include <sys/stat.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/tjson.h"
#include "core/train/tok_impl.h"

#define FILE_CEILING ((size_t)64 << 20)
#define ID_CEILING (1 << 22)

static const char llama3_pattern[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
    " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* What one load needs besides the result. */
struct load {
    struct tok *t;
    const struct tjson *root;
    const char *src;
    struct pd_err *err;
    struct str pool, key;
    int16_t byte_of[0x144];                      /* alphabet's code point to byte, or -1 */
};

static bool printable(int b)
{
    return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
}

static void make_alphabet(struct load *l)
{
    memset(l->byte_of, -1, sizeof l->byte_of);
    for (int b = 0, next = 0x100; b < 256; b++)
        l->byte_of[printable(b) ? b : next++] = (int16_t)b;
}

/* What a key is found by into l->key. */
static void decode_key(struct load *l, const char *s, size_t n)
{
    str_clear(&l->key);
    if (l->t->spaced) {
        str_append(&l->key, s, n);
        return;
    }
    for (size_t i = 0; i < n;) {
        int len;
        uint32_t cp = utf8_decode(s + i, n - i, &len);
        if (cp >= ARRAY_LEN(l->byte_of) || l->byte_of[cp] < 0) {
            str_clear(&l->key);
            str_append(&l->key, s, n);
            return;
        }
        str_addc(&l->key, (char)l->byte_of[cp]);
        i += (size_t)len;
    }
}

static enum pd_code fail(struct load *l, enum pd_code code, const char *what, const char *value)
{
    return pd_fail_at(l->err, code, l->src, 0, 0, _("tokenizer: %s%s%.200s"), what,
                      *value ? ": " : "", value);
}

/* --- the kind ------------------------------------------------------------------ */

/* "Split": a text is a text, whatever it looks like; only "Regex" is a pattern. */
static enum pd_code read_split(struct load *l, const struct tjson *j, struct tok_step *st)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    const char *how = tjson_str(j, "behavior", "Isolated");
    size_t i = 0, n = 0;
    while (i < ARRAY_LEN(names) && !str_eq(names[i], how))
        i++;
    if (i == ARRAY_LEN(names))
        return fail(l, PD_UNSUPPORTED, _("an unknown behavior of a Split"), how);
    st->how = (enum tok_behaviour)i;
    st->invert = tjson_bool(j, "invert", false);
    const char *text = tjson_bytes(tjson_at(j, "pattern.String"), &n);
    const char *regex = text ? NULL : tjson_bytes(tjson_at(j, "pattern.Regex"), &n);
    if ((!text && !regex) || n == 0)
        return fail(l, PD_PARSE, _("a Split has no pattern"), "");
    if (text) {
        st->text = xstrndup(text, n);
        st->text_n = n;
        return PD_OK;
    }
    struct pd_err why;
    struct str pattern;
    str_init(&pattern, FILE_CEILING);
    tok_pattern(regex, n, &pattern);
    enum pd_code rc = rx_new(pattern.p, pattern.len, &st->rx, &why);
    str_release(&pattern);
    if (rc != PD_OK)
        return fail(l, PD_UNSUPPORTED, _("a pattern of a Split can't be read"), why.msg);
    return PD_OK;
}

static enum pd_code read_step(struct load *l, const struct tjson *j)
{
    struct tok *t = l->t;
    const char *kind = tjson_str(j, "type", "missing");
    if (t->steps_n == TOK_STEPS)
        return fail(l, PD_UNSUPPORTED, _("more pre-tokenizers than podium follows"), kind);
    struct tok_step *st = &t->steps[t->steps_n];
    *st = (struct tok_step){.how = TOK_ISOLATED};
    if (str_eq(kind, "ByteLevel")) {
        bool space = tjson_bool(j, "add_prefix_space", true);
        if (space && j != tjson_get(l->root, "pre_tokenizer"))
            return fail(l, PD_UNSUPPORTED, _("add_prefix_space in a Sequence"), kind);
        t->prefix_space = space;
        st->is_fast = true;
        st->fast = TOK_GPT2;
        t->steps_n += tjson_bool(j, "use_regex", true);
        return PD_OK;
    }
    t->steps_n++;
    if (str_eq(kind, "Split"))
        return read_split(l, j, st);
    if (str_eq(kind, "Digits")) {
        st->how = tjson_bool(j, "individual_digits", false) ? TOK_ISOLATED : TOK_CONTIGUOUS;
        return PD_OK;
    }
    return fail(l, PD_UNSUPPORTED, _("a pre_tokenizer podium does not know"), kind);
}

static enum pd_code read_steps(struct load *l, const struct tjson *p, const struct tjson *list)
{
    const struct tjson *last = list ? tjson_item(list, tjson_count(list) - 1) : p;
    if (!str_eq(tjson_str(last, "type", ""), "ByteLevel"))
        return fail(l, PD_UNSUPPORTED, _("pre_tokenizer is not byte-level"),
                    tjson_str(last, "type", "missing"));
    for (size_t i = 0; i < (list ? tjson_count(list) : 1); i++)
        if (read_step(l, list ? tjson_item(list, i) : p) != PD_OK)
            return l->err->code;
    return PD_OK;
}

/* The usual three have a matcher of their own; then the steps go. */
static enum pd_code read_splitter(struct load *l)
{
    if (tok_spaced_read(l->t, l->root, l->src, l->err) != PD_OK)
        return l->err->code;
    if (l->t->spaced)
        return PD_OK;
    const struct tjson *p = tjson_get(l->root, "pre_tokenizer");
    const struct tjson *list = tjson_get(p, "pretokenizers");
    struct tok *t = l->t;
    enum pd_code rc = read_steps(l, p, list);
    if (rc)
        return rc;
    const struct tok_step *first = &t->steps[0];
    bool regex = t->steps_n > 0 && t->steps[t->steps_n - 1].is_fast;
    bool digits = !first->rx && !first->text && !first->is_fast && first->how == TOK_ISOLATED;
    bool known = true;
    if (t->steps_n == 0)
        t->splitter = TOK_WHOLE;
    else if (t->steps_n == 1 && regex)
        t->splitter = TOK_GPT2;
    else if (t->steps_n == 2 && digits && regex)
        t->splitter = TOK_SMOLLM;
    else if (t->steps_n == 1 && first->how == TOK_ISOLATED && !first->invert && first->rx &&
             str_eq(tjson_str(tjson_item(list, 0), "pattern.Regex", ""), llama3_pattern))
        t->splitter = TOK_LLAMA3;
    else
        known = false;
    if (known)
        tok_steps_release(t);
    return PD_OK;
}

static enum pd_code read_kind(struct load *l)
{
    const struct tjson *model = tjson_get(l->root, "model");
    if (!str_eq(tjson_str(model, "type", "BPE"), "BPE"))
        return fail(l, PD_UNSUPPORTED, _("the model is not BPE"), tjson_str(model, "type", ""));
    if (tjson_num(model, "dropout", 0) > 0 || *tjson_str(model, "continuing_subword_prefix", "") ||
        *tjson_str(model, "end_of_word_suffix", ""))
        return fail(l, PD_UNSUPPORTED, _("dropout, a prefix or a suffix is set"), "");
    l->t->ignore_merges = tjson_bool(model, "ignore_merges", false);
    return read_splitter(l);
}

/* --- vocabulary ---------------------------------------------------------------- */

static enum pd_code grow(struct load *l, int64_t id, const char *key)
{
    struct tok *t = l->t;
    if (id < 0 || id >= ID_CEILING)
        return fail(l, PD_PARSE, _("the id of this token is no number in range"), key);
    if (id < t->size)
        return PD_OK;
    t->pieces = xrealloc_array(t->pieces, (size_t)id + 1, sizeof *t->pieces);
    memset(t->pieces + t->size, 0, (size_t)(id + 1 - t->size) * sizeof *t->pieces);
    t->size = (int32_t)id + 1;
    return PD_OK;
}

static void set_piece(struct load *l, int32_t id, const char *s, size_t n)
{
    struct tok_piece *p = &l->t->pieces[id];
    p->at = p->key_at = (uint32_t)l->pool.len;
    p->n = p->key_n = (uint32_t)n;
    p->used = true;
    str_append(&l->pool, s, n);
}

/* Of SentencePiece's kind: the text is another than the key. */
static void set_shown(struct load *l, int32_t id)
{
    struct tok_piece *p = &l->t->pieces[id];
    if (!l->t->spaced)
        return;
    struct str shown;
    str_init(&shown, FILE_CEILING);
    tok_spaced_shown(l->t, l->key.p, l->key.len, &shown);
    p->at = (uint32_t)l->pool.len;
    p->n = (uint32_t)shown.len;
    str_append(&l->pool, shown.p, shown.len);
    str_release(&shown);
}

static enum pd_code read_vocab(struct load *l)
{
    const struct tjson *vocab = tjson_at(l->root, "model.vocab");
    if (tjson_type(vocab) != TJSON_OBJECT || tjson_count(vocab) == 0)
        return fail(l, PD_PARSE, _("model.vocab is missing"), "");
    int64_t top = -1;
    for (void *it = tjson_iter(vocab); it; it = tjson_iter_next(vocab, it)) {
        int64_t id = tjson_int(tjson_iter_value(it), "", -1);
        if (id < 0 || id >= ID_CEILING)
            return fail(l, PD_PARSE, _("the id of this token is no number in range"),
                        tjson_iter_key(it));
        top = MAX(top, id);
    }
    enum pd_code rc = grow(l, top, "");
    for (void *it = tjson_iter(vocab); it && rc == PD_OK; it = tjson_iter_next(vocab, it)) {
        const char *key = tjson_iter_key(it);
        int32_t id = (int32_t)tjson_int(tjson_iter_value(it), "", -1);
        if (l->t->pieces[id].used)
            return fail(l, PD_PARSE, _("two tokens have the id of this one"), key);
        decode_key(l, key, strlen(key));
        set_piece(l, id, l->key.p, l->key.len);
        set_shown(l, id);
    }
    return rc;
}

static int longest_first(const void *a, const void *b)
{
    const struct tok_added *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static enum pd_code read_added(struct load *l)
{
    struct tok *t = l->t;
    const struct tjson *list = tjson_get(l->root, "added_tokens");
    size_t n = tjson_count(list);
    t->added = xcalloc(n + 1, sizeof *t->added);
    for (size_t i = 0; i < n; i++) {
        const struct tjson *j = tjson_item(list, i);
        size_t len;
        const char *s = tjson_bytes(tjson_get(j, "content"), &len);
        int64_t id = tjson_int(j, "id", -1);
        if (!s || len == 0)
            return fail(l, PD_PARSE, _("an added token has no content"), "");
        if (grow(l, id, s) != PD_OK)
            return l->err->code;
        set_piece(l, (int32_t)id, s, len);
        t->pieces[id].special = tjson_bool(j, "special", false);
        t->added[t->added_n++] = (struct tok_added){
            xstrndup(s, len), len, (int32_t)id, t->pieces[id].special,
            tjson_bool(j, "lstrip", false), tjson_bool(j, "rstrip", false),
            tjson_bool(j, "single_word", false)};
        t->added_first[(unsigned char)*s] = true;
    }
    qsort(t->added, t->added_n, sizeof *t->added, longest_first);
    return PD_OK;
}

/* What stands for a byte that the vocabulary lacks (SmolLM2 lacks some). */
static enum pd_code read_unknown(struct load *l)
{
    const char *unk = tjson_str(l->root, "model.unk_token", NULL);
    l->t->unk = unk ? tok_id(l->t, unk, strlen(unk)) : -1;
    l->t->fuse_unk = tjson_bool(l->root, "model.fuse_unk", false);
    if (unk && l->t->unk < 0)
        return fail(l, PD_PARSE, _("model.unk_token is not in the vocabulary"), unk);
    return PD_OK;
}

static int32_t byte_token(const struct tok *t, int byte)
{
    char c = (char)byte, key[8];
    if (!t->spaced)
        return tok_id(t, &c, 1);
    str_fmt(key, sizeof key, "<0x%02X>", byte);
    return tok_id(t, key, 6);
}

/* All pieces stand: index them by their bytes, look up the 256 bytes. */
static enum pd_code index_pieces(struct load *l)
{
    struct tok *t = l->t;
    t->pool = str_take(&l->pool);
    uint32_t size = 64;
    while (size < 2 * (uint32_t)t->size)
        size *= 2;
    t->names_mask = size - 1;
    t->names = xmalloc(size * sizeof *t->names);
    memset(t->names, -1, size * sizeof *t->names);
    for (int32_t id = 0; id < t->size; id++)
        if (t->pieces[id].used)
            tok_names_insert(t, id);
    int have = 0;
    for (int b = 0; b < 256; b++) {
        t->byte_id[b] = byte_token(t, b);
        have += t->byte_id[b] >= 0;
    }
    if (have == 0 && (!t->spaced || t->fallback))
        return fail(l, PD_PARSE, _("the vocabulary has no token for any byte"), "");
    return read_unknown(l);
}

/* --- merges -------------------------------------------------------------------- */

static void insert_pair(struct tok *t, struct tok_pair p)
{
    uint32_t i = (uint32_t)(p.key * 0x9e3779b97f4a7c15u >> 32) & t->pairs_mask;
    for (; t->pairs[i].rank >= 0; i = (i + 1) & t->pairs_mask)
        if (t->pairs[i].key == p.key)
            break;
    t->pairs[i] = p;                             /* a repeated pair: the last counts */
}

static int32_t key_id(struct load *l, const char *s, size_t n)
{
    decode_key(l, s, n);
    return tok_id(l->t, l->key.p, l->key.len);
}

/* The two halves of merge j; false when it has neither form. */
static bool halves(const struct tjson *j, const char *s[2], size_t n[2])
{
    if (tjson_type(j) == TJSON_ARRAY && tjson_count(j) == 2) {
        s[0] = tjson_bytes(tjson_item(j, 0), &n[0]);
        s[1] = tjson_bytes(tjson_item(j, 1), &n[1]);
        return s[0] && s[1];
    }
    size_t all;
    s[0] = tjson_bytes(j, &all);
    const char *space = s[0] ? memchr(s[0], ' ', all) : NULL;
    if (!space)
        return false;
    n[0] = (size_t)(space - s[0]);
    s[1] = space + 1;
    n[1] = all - n[0] - 1;
    return true;
}

static enum pd_code read_merge(struct load *l, const struct tjson *j, int32_t rank)
{
    const char *s[2];
    size_t n[2];
    char text[64];
    str_fmt(text, sizeof text, "merge %d", (int)rank);
    if (!halves(j, s, n))
        return fail(l, PD_PARSE, _("neither \"a b\" nor [\"a\", \"b\"]"), text);
    int32_t left = key_id(l, s[0], n[0]), right = key_id(l, s[1], n[1]);
    if (left < 0 || right < 0)
        return fail(l, PD_PARSE, _("half of it is not in the vocabulary"), text);
    struct str *key = &l->key;
    str_clear(key);
    for (int i = 0; i < 2; i++) {
        const struct tok_piece *p = &l->t->pieces[i ? right : left];
        str_append(key, l->t->pool + p->key_at, p->key_n);
    }
    int32_t id = tok_id(l->t, key->p, key->len);
    if (id < 0)
        return fail(l, PD_PARSE, _("its result is not in the vocabulary"), text);
    uint64_t pair = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    insert_pair(l->t, (struct tok_pair){pair, rank, id});
    return PD_OK;
}

static enum pd_code read_merges(struct load *l)
{
    const struct tjson *merges = tjson_at(l->root, "model.merges");
    size_t n = tjson_count(merges);
    if (tjson_type(merges) != TJSON_ARRAY || n == 0 || n >= ID_CEILING)
        return fail(l, PD_PARSE, _("it has no merges, so every text would fall into bytes"), "");
    uint32_t size = 64;
    while (size < 2 * n)
        size *= 2;
    l->t->pairs_mask = size - 1;
    l->t->pairs = xmalloc(size * sizeof *l->t->pairs);
    memset(l->t->pairs, -1, size * sizeof *l->t->pairs);
    for (size_t i = 0; i < n; i++)
        if (read_merge(l, tjson_item(merges, i), (int32_t)i) != PD_OK)
            return l->err->code;
    return PD_OK;
}

static enum pd_code read_post(struct load *l)
{
    return tok_post_read(l->t, tjson_get(l->root, "post_processor"), l->src, l->err);
}

static void find_eos(struct tok *t)
{
    static const char *const names[] = {"<|endoftext|>", "</s>", "<|end_of_text|>", "<|eot_id|>",
                                        "<|im_end|>"};
    t->eos = -1;
    for (size_t i = 0; i < ARRAY_LEN(names) && t->eos < 0; i++)
        t->eos = tok_id(t, names[i], strlen(names[i]));
}

enum pd_code tok_parse(const char *json, size_t n, const char *src, struct tok **out,
                       struct pd_err *err)
{
    static enum pd_code (*const steps[])(struct load *) = {read_kind, read_vocab, read_added,
                                                           index_pieces, read_merges,
                                                           read_post};
    struct tjson *root;
    if (tjson_parse(json, n, src, 1, &root, err) != PD_OK)
        return err->code;
    struct load l = {.t = xcalloc(1, sizeof *l.t), .root = root, .src = src, .err = err};
    str_init(&l.pool, FILE_CEILING);
    str_init(&l.key, FILE_CEILING);
    make_alphabet(&l);
    enum pd_code rc = PD_OK;
    for (size_t i = 0; i < ARRAY_LEN(steps) && rc == PD_OK; i++)
        rc = steps[i](&l);
    str_release(&l.pool);
    str_release(&l.key);
    tjson_free(root);
    if (rc != PD_OK) {
        tok_free(l.t);
        return rc;
    }
    find_eos(l.t);
    *out = l.t;
    return PD_OK;
}

enum pd_code tok_load(const char *path, struct tok **out, struct pd_err *err)
{
    struct stat st;
    bool folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    char *file = folder ? path_join(path, "tokenizer.json") : xstrdup(path);
    struct str text;
    str_init(&text, FILE_CEILING);
    enum pd_code rc = path_read(file, FILE_CEILING, &text, err);
    if (rc == PD_OK)
        rc = tok_parse(text.p, text.len, file, out, err);
    str_release(&text);
    free(file);
    return rc;
}

void tok_free(struct tok *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->added_n; i++)
        free((char *)(uintptr_t)t->added[i].s);
    tok_steps_release(t);
    free(t->added);
    free(t->pool);
    free(t->pieces);
    free(t->names);
    free(t->pairs);
    free(t);
}
