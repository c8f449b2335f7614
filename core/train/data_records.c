/* data_records.c - instruction records: read, check, tokenise, split.
 *
 * A record is one line of JSON with instruction, input (may be left out),
 * output, template and lang. Records of one template say the same thing in
 * other words or another language; so the split goes by template, and a
 * validation record never has a sibling in training.
 */
#include "core/base/base.h"

#include <math.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/data_impl.h"
#include "core/train/tjson.h"

#define FILE_CEILING ((size_t)512 << 20)
#define LEN_DEFAULT 512
#define VAL_FRACTION 0.15

/* --- the prompt ------------------------------------------------------------------- */

struct prompt_form {
    const char *lang, *head, *head_input, *instruction, *input, *response;
};

static const struct prompt_form forms[] = {
    {"en",
     "Below is an instruction that describes a task. Write a response that appropriately "
     "completes the request.\n\n",
     "Below is an instruction that describes a task, paired with an input that provides further "
     "context. Write a response that appropriately completes the request.\n\n",
     "### Instruction:\n", "\n\n### Input:\n", "\n\n### Response:\n"},
    {"zh", "下面是一条描述任务的指令。请写出恰当完成该请求的回答。\n\n",
     "下面是一条描述任务的指令，并附有提供背景的输入。"
     "请写出恰当完成该请求的回答。\n\n",
     "### 指令：\n", "\n\n### 输入：\n", "\n\n### 回答：\n"},
};

static const struct prompt_form *form_of(const char *lang)
{
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_eq(forms[i].lang, lang))
            return &forms[i];
    return NULL;
}

void data_prompt(const char *lang, const char *instruction, const char *input, struct str *out)
{
    const struct prompt_form *f = form_of(lang);
    f = f ? f : &forms[0];
    bool has_input = input && *input;
    str_add(out, has_input ? f->head_input : f->head);
    str_add(out, f->instruction);
    str_add(out, instruction);
    if (has_input) {
        str_add(out, f->input);
        str_add(out, input);
    }
    str_add(out, f->response);
}

/* --- reading ------------------------------------------------------------------------ */

struct reader {
    struct data *d;
    const char *path;
    struct pd_err *err;
    int line;
    size_t cap;
    struct str prompt;
};

static enum pd_code bad(struct reader *r, const char *what, const char *value)
{
    return pd_fail_at(r->err, PD_DATA, r->path, r->line, 0, "%s%.200s", what, value);
}

static const char *const keys[] = {"instruction", "input", "output", "template", "lang"};

static enum pd_code check_keys(struct reader *r, const struct tjson *j)
{
    if (tjson_type(j) != TJSON_OBJECT)
        return bad(r, _("the line is no JSON object but "), tjson_type_name(tjson_type(j)));
    for (void *it = tjson_iter(j); it; it = tjson_iter_next(j, it)) {
        const char *key = tjson_iter_key(it);
        size_t i = 0;
        while (i < ARRAY_LEN(keys) && !str_eq(keys[i], key))
            i++;
        if (i == ARRAY_LEN(keys))
            return bad(r, _("unknown key: "), key);
        if (tjson_type(tjson_iter_value(it)) != TJSON_STRING)
            return bad(r, _("not a string: "), key);
    }
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *value = tjson_str(j, keys[i], NULL);
        if (str_eq(keys[i], "input"))
            continue;
        if (!value)
            return bad(r, _("missing key: "), keys[i]);
        if (!value[strspn(value, " \t\r\n")])
            return bad(r, _("empty: "), keys[i]);
    }
    if (!form_of(tjson_str(j, "lang", "")))
        return bad(r, _("lang is neither en nor zh: "), tjson_str(j, "lang", ""));
    return PD_OK;
}

static void add_example(struct reader *r, const struct data_owned *o, struct data_example *e)
{
    struct data *d = r->d;
    e->at = (int64_t)d->pool.n;
    str_clear(&r->prompt);
    data_prompt(o->lang, o->instruction, o->input, &r->prompt);
    tok_encode(d->tok, r->prompt.p, r->prompt.len, false, &d->pool);
    e->prompt = (int)((int64_t)d->pool.n - e->at);
    tok_encode(d->tok, o->output, strlen(o->output), false, &d->pool);
    tok_ids_push(&d->pool, d->eos);
    e->n = (int)((int64_t)d->pool.n - e->at);
    d->longest = MAX(d->longest, e->n - 1);
}

static enum pd_code add_record(struct reader *r, const struct tjson *j)
{
    struct data *d = r->d;
    if (check_keys(r, j) != PD_OK)
        return PD_DATA;
    if (d->records_n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 256;
        d->records = xrealloc_array(d->records, r->cap, sizeof *d->records);
        d->examples = xrealloc_array(d->examples, r->cap, sizeof *d->examples);
    }
    struct data_owned *o = &d->records[d->records_n];
    struct data_example *e = &d->examples[d->records_n++];
    *o = (struct data_owned){xstrdup(tjson_str(j, "instruction", "")),
                             xstrdup(tjson_str(j, "input", "")),
                             xstrdup(tjson_str(j, "output", "")),
                             xstrdup(tjson_str(j, "template", "")),
                             xstrdup(tjson_str(j, "lang", "")), r->line};
    add_example(r, o, e);
    if (e->n - 1 > d->max_len) {
        char text[96];
        bad(r, _("the record is too long: "),
            str_fmt(text, sizeof text, "%d tokens, the most is %d", e->n - 1, d->max_len));
        return pd_set_hint(r->err, _("shorten it, or raise the sequence length to %d"), e->n - 1);
    }
    return PD_OK;
}

static enum pd_code read_line(struct reader *r, const char *s, size_t n)
{
    if (n > 0 && s[n - 1] == '\r')
        return bad(r, _("the line ends in CR LF; lines must end in LF"), "");
    if (n == 0)
        return bad(r, _("an empty line"), "");
    if (!utf8_valid(s, n))
        return bad(r, _("not UTF-8"), "");
    struct tjson *j;
    struct pd_err cause;
    if (tjson_parse(s, n, r->path, r->line, &j, &cause) != PD_OK)
        return pd_fail_at(r->err, PD_DATA, r->path, r->line, cause.col, "%s", cause.msg);
    enum pd_code rc = add_record(r, j);
    tjson_free(j);
    return rc;
}

static enum pd_code read_lines(struct reader *r, const char *s, size_t n)
{
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        r->line = 1;
        return bad(r, _("the file begins with a byte order mark; save it as UTF-8 without one"),
                   "");
    }
    while (n > 0) {
        const char *end = memchr(s, '\n', n);
        size_t len = end ? (size_t)(end - s) : n;
        r->line++;
        if (read_line(r, s, len) != PD_OK)
            return PD_DATA;
        len += end != NULL;
        s += len;
        n -= len;
    }
    return PD_OK;
}

/* --- duplicates --------------------------------------------------------------------- */

static int by_question(const void *a, const void *b)
{
    const struct data_owned *x = *(const struct data_owned *const *)a;
    const struct data_owned *y = *(const struct data_owned *const *)b;
    int c = strcmp(x->instruction, y->instruction);
    c = c ? c : strcmp(x->input, y->input);
    return c ? c : x->line - y->line;
}

/* The same question twice, whatever the answers. */
static enum pd_code check_duplicates(struct reader *r)
{
    size_t n = r->d->records_n;
    const struct data_owned **v = xmalloc((n + 1) * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = &r->d->records[i];
    qsort(v, n, sizeof *v, by_question);
    int at = 0, first = 0;
    for (size_t i = 1; i < n; i++)
        if (str_eq(v[i]->instruction, v[i - 1]->instruction) &&
            str_eq(v[i]->input, v[i - 1]->input) && (!at || v[i]->line < at)) {
            at = v[i]->line;
            first = v[i - 1]->line;
        }
    free(v);
    if (!at)
        return PD_OK;
    char text[64];
    r->line = at;
    return bad(r, _("a duplicate: the same instruction and input as "),
               str_fmt(text, sizeof text, "line %d", first));
}

/* --- split -------------------------------------------------------------------------- */

struct template_row {
    const char *name;
    uint64_t hash;
    bool val;
};

static uint64_t hash_name(const char *s)
{
    uint64_t h = 14695981039346656037u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 1099511628211u;
    return h ^ h >> 29;
}

static int by_hash(const void *a, const void *b)
{
    const struct template_row *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The different templates, in the order of their hashes; returns how many. */
static size_t list_templates(const struct data *d, struct template_row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < d->records_n; i++)
        rows[i] = (struct template_row){d->records[i].template,
                                        hash_name(d->records[i].template), false};
    qsort(rows, d->records_n, sizeof *rows, by_hash);
    for (size_t i = 0; i < d->records_n; i++)
        if (i == 0 || !str_eq(rows[i].name, rows[n - 1].name))
            rows[n++] = rows[i];
    return n;
}

static enum pd_code mark_named(struct reader *r, const char *list, struct template_row *rows,
                               size_t n)
{
    struct strv names;
    enum pd_code rc = PD_OK;
    strv_init(&names);
    strv_split(&names, list, ',');
    r->line = 0;
    for (size_t i = 0; i < names.n && rc == PD_OK; i++) {
        size_t k = 0;
        while (k < n && !str_eq(rows[k].name, names.v[i]))
            k++;
        if (k == n)
            rc = bad(r, _("no record has the validation template "), names.v[i]);
        else
            rows[k].val = true;
    }
    strv_release(&names);
    return rc;
}

static void mark_fraction(double fraction, struct template_row *rows, size_t n)
{
    size_t most = n > 0 ? n - 1 : 0;
    fraction = fraction < 0 ? 0 : fraction > 0 ? fraction : VAL_FRACTION;
    size_t k = (size_t)ceil(fraction * (double)n);
    for (size_t i = 0; i < MIN(k, most); i++)
        rows[i].val = true;
}

static void assign(struct data *d, const struct template_row *rows, size_t n)
{
    for (int s = 0; s < DATA_SPLITS; s++)
        d->members[s] = xcalloc(d->records_n + 1, sizeof *d->members[s]);
    for (size_t i = 0; i < n; i++)
        d->templates[rows[i].val ? DATA_VAL : DATA_TRAIN]++;
    for (size_t i = 0; i < d->records_n; i++) {
        const char *name = d->records[i].template;
        struct template_row key = {name, hash_name(name), false};
        const struct template_row *row = bsearch(&key, rows, n, sizeof *rows, by_hash);
        enum data_split s = row->val ? DATA_VAL : DATA_TRAIN;
        d->members[s][d->count[s]++] = (uint32_t)i;
    }
}

static enum pd_code split(struct reader *r, const struct data_options *opt)
{
    struct data *d = r->d;
    struct template_row *rows = xcalloc(d->records_n + 1, sizeof *rows);
    size_t n = list_templates(d, rows);
    enum pd_code rc = PD_OK;
    if (opt->val_templates)
        rc = mark_named(r, opt->val_templates, rows, n);
    else
        mark_fraction(opt->val_fraction, rows, n);
    if (rc == PD_OK)
        assign(d, rows, n);
    free(rows);
    r->line = 0;
    if (rc == PD_OK && d->count[DATA_TRAIN] == 0)
        rc = bad(r, _("no record is left for training"), "");
    if (rc == PD_OK && d->count[DATA_VAL] == 0 && opt->val_fraction >= 0)
        rc = bad(r, _("no record is left for validation: all have one template"), "");
    return rc;
}

enum pd_code data_read_records(struct data *d, const char *path, const struct data_options *opt,
                               struct pd_err *err)
{
    struct reader r = {.d = d, .path = path, .err = err};
    struct str text;
    d->kind = DATA_INSTRUCTIONS;
    d->max_len = opt->max_len > 0 ? opt->max_len : LEN_DEFAULT;
    str_init(&text, FILE_CEILING);
    str_init(&r.prompt, FILE_CEILING);
    enum pd_code rc = path_read(path, FILE_CEILING, &text, err);
    if (rc == PD_OK)
        rc = read_lines(&r, text.p, text.len);
    if (rc == PD_OK && d->records_n == 0)
        rc = bad(&r, _("the file has no records"), "");
    if (rc == PD_OK)
        rc = check_duplicates(&r);
    if (rc == PD_OK)
        rc = split(&r, opt);
    str_release(&text);
    str_release(&r.prompt);
    return rc;
}

void data_free_records(struct data *d)
{
    for (size_t i = 0; i < d->records_n; i++) {
        struct data_owned *o = &d->records[i];
        free(o->instruction);
        free(o->input);
        free(o->output);
        free(o->template);
        free(o->lang);
    }
    free(d->records);
    free(d->examples);
    for (int s = 0; s < DATA_SPLITS; s++)
        free(d->members[s]);
    tok_ids_release(&d->pool);
}
