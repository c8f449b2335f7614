/* data_records.c - the rows of a file: read, checked, handed to the encoder.
 *
 * Lines of JSON or one JSON array; the forms of a row: data_forms.h.
 */
#include "core/base/base.h"

#include <inttypes.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "core/base/path.h"
#include "core/base/utf8.h"
#include "core/train/data_forms.h"
#include "core/train/data_impl.h"

#define FILE_CEILING ((size_t)512 << 20)
#define LEN_DEFAULT 512

/* --- reading ------------------------------------------------------------------------ */

static enum pd_code hinted(struct data_reader *r)
{
    return pd_set_hint(r->err, _("podium-train doctor tells everything that is wrong in the file"));
}

static enum pd_code bad(struct data_reader *r, const char *what, const char *value)
{
    pd_fail_at(r->err, PD_DATA, r->path, r->line, 0, "%s%.200s", what, value);
    return hinted(r);
}

static const char *const keys[] = {"instruction", "input", "output", "template", "lang"};

static enum pd_code check_keys(struct data_reader *r, const struct tjson *j)
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
    if (!data_has_prompt(tjson_str(j, "lang", "")))
        return bad(r, _("lang is neither en nor zh: "), tjson_str(j, "lang", ""));
    return PD_OK;
}

/* Room for one more; its strings and ids are still to come. */
static void grow(struct data_reader *r)
{
    struct data *d = r->d;
    if (d->records_n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 256;
        d->records = xrealloc_array(d->records, r->cap, sizeof *d->records);
        d->examples = xrealloc_array(d->examples, r->cap, sizeof *d->examples);
    }
    d->records[d->records_n] = (struct data_owned){.line = r->line};
    d->examples[d->records_n++] = (struct data_example){.at = (int64_t)d->pool.n};
}

static void own(struct data_owned *o, const char *question, const char *more, const char *answer)
{
    o->instruction = xstrdup(question);
    o->input = xstrdup(more);
    o->output = xstrdup(answer);
}

static enum pd_code course_row(struct data_reader *r, const struct tjson *j)
{
    if (check_keys(r, j) != PD_OK)
        return PD_DATA;
    grow(r);
    struct data_owned *o = &r->d->records[r->d->records_n - 1];
    own(o, tjson_str(j, "instruction", ""), tjson_str(j, "input", ""), tjson_str(j, "output", ""));
    o->template = xstrdup(tjson_str(j, "template", ""));
    o->lang = xstrdup(tjson_str(j, "lang", ""));
    r->strict = true;
    return data_encode_pair(r, true);
}

static bool is_blank(const char *s)
{
    return !s || !s[strspn(s, " \t\r\n")];
}

/* Rows without a template are split by their question: the same question is
 * never in both parts. */
static void name_template(struct data_owned *o)
{
    o->template = xasprintf("%016" PRIx64,
                            data_hash(o->instruction) ^ 31 * data_hash(o->input));
    o->lang = xstrdup("en");
}

/* A pair or a text. */
static enum pd_code pair_row(struct data_reader *r, const struct tjson *j)
{
    static const struct data_pair text = {NULL, NULL, "text", false};
    const struct data_pair *p = data_pair(j);
    p = p ? p : &text;
    const char *question = p->question ? tjson_str(j, p->question, NULL) : "";
    const char *answer = tjson_str(j, p->answer, NULL);
    if (!question)
        return bad(r, _("not a string: "), p->question);
    if (!answer)
        return bad(r, _("not a string: "), p->answer);
    if (is_blank(answer))
        return bad(r, _("empty: "), p->answer);
    grow(r);
    struct data_owned *o = &r->d->records[r->d->records_n - 1];
    own(o, question, p->more ? tjson_str(j, p->more, "") : "", answer);
    if (p->question) {
        name_template(o);
        return data_encode_pair(r, p->alpaca);
    }
    o->template = xasprintf("%016" PRIx64, data_hash(answer));
    o->lang = xstrdup("en");
    return data_encode_text(r);
}

static enum pd_code check_turn(struct data_reader *r, const struct tjson *turn)
{
    const char *role = data_turn_role(turn);
    if (!role)
        return bad(r, _("a turn without a role"), "");
    if (data_role(role) == ROLE_NONE)
        return bad(r, _("a role that is none: "), role);
    if (!data_turn_text(turn))
        return bad(r, _("a turn without a text: "), role);
    if (data_role(role) == ROLE_ASSISTANT && is_blank(data_turn_text(turn)))
        return bad(r, _("an answer without a text"), "");
    return PD_OK;
}

static enum pd_code chat_row(struct data_reader *r, const struct tjson *j)
{
    bool sharegpt;
    const struct tjson *turns = data_turns(j, &sharegpt);
    size_t n = tjson_count(turns);
    if (tjson_type(turns) != TJSON_ARRAY || n == 0)
        return bad(r, _("a conversation without turns"), "");
    struct tok_message *m = xcalloc(n, sizeof *m);
    const char *asked = NULL;
    enum pd_code rc = PD_OK;
    int answers = 0;
    for (size_t i = 0; i < n && rc == PD_OK; i++) {
        const struct tjson *t = tjson_item(turns, i);
        rc = check_turn(r, t);
        if (rc != PD_OK)
            break;
        enum data_role role = data_role(data_turn_role(t));
        m[i] = (struct tok_message){data_role_name(role), data_turn_text(t)};
        asked = !asked && role == ROLE_USER ? m[i].content : asked;
        answers += role == ROLE_ASSISTANT;
    }
    if (rc == PD_OK && answers == 0)
        rc = bad(r, _("no turn of the assistant: nothing in it could be trained"), "");
    if (rc == PD_OK) {
        grow(r);
        struct data_owned *o = &r->d->records[r->d->records_n - 1];
        own(o, asked ? asked : "", "", "");
        name_template(o);
        rc = data_encode_chat(r, m, n);
    }
    free(m);
    return rc;
}

static enum pd_code add_record(struct data_reader *r, const struct tjson *j)
{
    static enum pd_code (*const rows[])(struct data_reader *, const struct tjson *) = {
        [DATA_COURSE] = course_row, [DATA_PAIR] = pair_row, [DATA_CHAT] = chat_row,
        [DATA_PLAIN] = pair_row};
    return rows[data_form(j)](r, j);
}

static enum pd_code read_line(struct data_reader *r, const char *s, size_t n)
{
    if (n > 0 && s[n - 1] == '\r')
        return bad(r, _("the line ends in CR LF; lines must end in LF"), "");
    if (n == 0)
        return bad(r, _("an empty line"), "");
    if (!utf8_valid(s, n))
        return bad(r, _("not UTF-8"), "");
    struct tjson *j;
    struct pd_err cause;
    if (tjson_parse(s, n, r->path, r->line, &j, &cause) != PD_OK) {
        pd_fail_at(r->err, PD_DATA, r->path, r->line, cause.col, "%s", cause.msg);
        return hinted(r);
    }
    enum pd_code rc = add_record(r, j);
    tjson_free(j);
    return rc;
}

static bool is_array(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && strchr(" \t\r\n", s[i]) && s[i])
        i++;
    return i < n && s[i] == '[';
}

/* One JSON array instead of lines; false: it is none. Rows are its items. */
static bool read_array(struct data_reader *r, const char *s, size_t n, enum pd_code *rc)
{
    struct tjson *j;
    struct pd_err ignored;
    if (!is_array(s, n) || tjson_parse(s, n, r->path, 1, &j, &ignored) != PD_OK)
        return false;
    for (size_t i = 0; i < tjson_count(j) && *rc == PD_OK; i++) {
        r->line = (int)i + 1;
        *rc = add_record(r, tjson_item(j, i));
    }
    tjson_free(j);
    return true;
}

static enum pd_code read_lines(struct data_reader *r, const char *s, size_t n)
{
    enum pd_code rc = PD_OK;
    if (n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        r->line = 1;
        return bad(r, _("the file begins with a byte order mark; save it as UTF-8 without one"),
                   "");
    }
    if (read_array(r, s, n, &rc))
        return rc;
    while (n > 0) {
        const char *end = memchr(s, '\n', n);
        size_t len = end ? (size_t)(end - s) : n;
        r->line++;
        rc = read_line(r, s, len);
        if (rc != PD_OK)
            return rc;
        len += end != NULL;
        s += len;
        n -= len;
    }
    return PD_OK;
}

/* --- the file ---------------------------------------------------------------------- */

enum pd_code data_read_records(struct data *d, const char *path, const struct data_options *opt,
                               struct pd_err *err)
{
    struct data_reader r = {.d = d, .opt = opt, .path = path, .err = err};
    struct str text;
    d->kind = DATA_INSTRUCTIONS;
    d->max_len = opt->max_len > 0 ? opt->max_len : LEN_DEFAULT;
    if (opt->too_long && !data_knows_policy(opt->too_long))
        return pd_fail(err, PD_USAGE, _("--too-long takes error, truncate or drop, not \"%s\""),
                       opt->too_long);
    str_init(&text, FILE_CEILING);
    str_init(&r.prompt, FILE_CEILING);
    enum pd_code rc = path_read(path, FILE_CEILING, &text, err);
    if (rc == PD_OK)
        rc = read_lines(&r, text.p, text.len);
    r.line = 0;
    if (rc == PD_OK && d->records_n == 0 && d->dropped)
        rc = bad(&r, _("every record is too long"), "");
    if (rc == PD_OK && d->records_n == 0)
        rc = bad(&r, _("the file has no records"), "");
    if (rc == PD_OK && r.strict)
        rc = data_check_duplicates(&r);
    if (rc == PD_OK)
        rc = data_make_split(&r);
    str_release(&text);
    str_release(&r.prompt);
    return rc;
}

void data_owned_release(struct data_owned *o)
{
    free(o->instruction);
    free(o->input);
    free(o->output);
    free(o->template);
    free(o->lang);
}

void data_free_records(struct data *d)
{
    for (size_t i = 0; i < d->records_n; i++)
        data_owned_release(&d->records[i]);
    free(d->records);
    free(d->examples);
    for (int s = 0; s < DATA_SPLITS; s++)
        free(d->members[s]);
    tok_ids_release(&d->pool);
    tok_ids_release(&d->mask);
    tok_chat_free(d->chat);
}
