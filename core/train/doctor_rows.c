/* doctor_rows.c - one record: its form, its strings, whether it was seen. */
#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/train/data_forms.h"
#include "core/train/doctor.h"

struct seen {
    uint64_t prompt, all;
    int row;                      /* 0: an empty slot */
};

struct doc_seen {
    struct seen *v;
    size_t n, mask;
};

void doctor_seen_free(struct doc_seen *s)
{
    if (s)
        free(s->v);
    free(s);
}

/* --- seen before? ------------------------------------------------------------------- */

static uint64_t hash(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return (h ^ h >> 29) * 1099511628211u;
}

static struct seen *slot(struct doc_seen *s, uint64_t prompt)
{
    size_t i = prompt & s->mask;
    while (s->v[i].row && s->v[i].prompt != prompt)
        i = (i + 1) & s->mask;
    return &s->v[i];
}

static void grow(struct doc_seen *s)
{
    struct seen *old = s->v;
    size_t n = old ? s->mask + 1 : 0;
    s->mask = n ? 2 * n - 1 : 255;
    s->v = xcalloc(s->mask + 1, sizeof *s->v);
    for (size_t i = 0; i < n; i++)
        if (old[i].row)
            *slot(s, old[i].prompt) = old[i];
    free(old);
}

static void look_back(struct doctor *d, const char *question, const char *answer, int row)
{
    if (!d->seen)
        d->seen = xcalloc(1, sizeof *d->seen);
    struct doc_seen *s = d->seen;
    if (!s->v || 2 * s->n > s->mask)
        grow(s);
    uint64_t p = hash(14695981039346656037u, question), all = hash(p, answer);
    struct seen *x = slot(s, p);
    if (!x->row) {
        *x = (struct seen){p, all, row};
        s->n++;
    } else {
        doctor_add(d, x->all == all ? DOC_SAME : DOC_CONFLICT, row, "%d", x->row);
    }
}

/* --- strings -------------------------------------------------------------------------- */

void doctor_text(struct doctor *d, const char *s, int row)
{
    static const char *const specials[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>",
                                           "<|eot_id|>", "<|begin_of_text|>", "</s>", "[INST]",
                                           "<|start_header_id|>", "<|end_of_text|>"};
    static const struct {
        const char *bytes, *shown;               /* UTF-8 read as another encoding, or lost */
    } wrong[] = {{"\xef\xbf\xbd", "\xef\xbf\xbd"},
                 {"\xc3\xa2\xe2\x82\xac", "\xc3\xa2\xe2\x82\xac"},
                 {"\xc3\x83\xc2", "\xc3\x83"},
                 {"\xc3\xa4\xc2\xb8", "\xc3\xa4\xc2\xb8"},
                 {"\xe9\x94\x9f\xe6\x96\xa4\xe6\x8b\xb7", "\xe9\x94\x9f\xe6\x96\xa4\xe6\x8b\xb7"},
                 {"\xc3\xaf\xc2\xbb\xc2\xbf", "\xc3\xaf\xc2\xbb\xc2\xbf"}};
    for (size_t i = 0; i < ARRAY_LEN(specials); i++)
        if (strstr(s, specials[i]))
            doctor_add(d, DOC_SPECIAL, row, "%s", specials[i]);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        if (strstr(s, wrong[i].bytes))
            doctor_add(d, DOC_MOJIBAKE, row, "%s", wrong[i].shown);
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 && !strchr("\n\r\t", *s)) {
            doctor_add(d, DOC_CONTROL, row, "0x%02x", (unsigned char)*s);
            return;
        }
}

static bool is_blank(const char *s)
{
    return !s || !s[strspn(s, " \t\r\n")];
}

static void count_tokens(struct doctor *d, const char *question, const char *answer, int row)
{
    struct tok_ids ids;
    if (!d->tok)
        return;
    tok_ids_init(&ids);
    tok_encode_whole(d->tok, question, strlen(question), false, &ids);
    size_t asked = ids.n;
    tok_encode_more(d->tok, answer, strlen(answer), false, &ids);
    d->trained += (int64_t)(ids.n - asked) + 1;
    if (d->lengths_n == d->lengths_cap) {
        d->lengths_cap = d->lengths_cap ? 2 * d->lengths_cap : 256;
        d->lengths = xrealloc_array(d->lengths, (size_t)d->lengths_cap, sizeof *d->lengths);
    }
    d->lengths[d->lengths_n++] = (int)ids.n + 1;
    if (d->most && (int)ids.n + 1 > d->most)
        doctor_add(d, DOC_LONG, row, _("%d tokens"), d->most);
    tok_ids_release(&ids);
}

/* --- forms ------------------------------------------------------------------------------ */

static void pair_row(struct doctor *d, const struct tjson *j, const struct data_pair *f, int row)
{
    const char *question = tjson_str(j, f->question, ""), *answer = tjson_str(j, f->answer, "");
    const char *more = f->more ? tjson_str(j, f->more, "") : "";
    if (is_blank(answer))
        doctor_add(d, DOC_NO_ANSWER, row, "\"%s\"", f->answer);
    if (is_blank(question))
        doctor_add(d, DOC_NO_QUESTION, row, "\"%s\"", f->question);
    char *asked = xasprintf("%s\n%s", question, more);
    look_back(d, asked, answer, row);
    count_tokens(d, asked, answer, row);
    free(asked);
    d->forms[str_eq(f->question, "instruction") ? 0 : 1]++;
}

static void text_row(struct doctor *d, const struct tjson *j, int row)
{
    const char *s = tjson_str(j, "text", "");
    if (is_blank(s))
        doctor_add(d, DOC_NO_ANSWER, row, "\"text\"");
    look_back(d, s, "", row);
    count_tokens(d, "", s, row);
    d->forms[4]++;
}

static void unknown_row(struct doctor *d, const struct tjson *j, int row)
{
    static const char *const known[] = {"instruction", "input",    "output",        "prompt",
                                        "completion",  "response", "messages",      "conversations",
                                        "text",        "question", "answer"};
    struct str s;
    str_init(&s, 4096);
    for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it)) {
        const char *key = tjson_iter_key(it);
        const char *near = str_nearest(key, known, ARRAY_LEN(known));
        str_printf(&s, "%s%.40s", s.len ? ", " : "", key);
        if (near && !str_eq(near, key))
            str_printf(&s, " %s \"%s\"", _("- did you mean"), near);
    }
    doctor_add(d, DOC_NO_FORM, row, _("keys %.150s"), s.len ? s.p : "{}");
    str_release(&s);
}

static void every_string(struct doctor *d, const struct tjson *j, int row)
{
    const char *s = tjson_str(j, "", NULL);
    if (s)
        doctor_text(d, s, row);
    if (tjson_type(j) == TJSON_OBJECT)
        for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it))
            every_string(d, tjson_iter_value(it), row);
    if (tjson_type(j) == TJSON_ARRAY)
        for (size_t i = 0; i < tjson_count(j); i++)
            every_string(d, tjson_item(j, i), row);
}

void doctor_row(struct doctor *d, const struct tjson *j, int row)
{
    int before = doctor_errors(d);
    if (tjson_type(j) != TJSON_OBJECT) {
        doctor_add(d, DOC_NO_OBJECT, row, "%s", tjson_type_name(tjson_type(j)));
        return;
    }
    for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it))
        doctor_column(d, tjson_iter_key(it), tjson_type(tjson_iter_value(it)), row);
    const struct data_pair *f = data_pair(j);
    bool sharegpt;
    const struct tjson *turns = data_turns(j, &sharegpt);
    if (turns)
        doctor_chat(d, turns, sharegpt, row);
    else if (f)
        pair_row(d, j, f, row);
    else if (tjson_get(j, "text"))
        text_row(d, j, row);
    else
        unknown_row(d, j, row);
    every_string(d, j, row);
    d->good += doctor_errors(d) == before;
}
