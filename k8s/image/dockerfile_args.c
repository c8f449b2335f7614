/* dockerfile_args.c - the arguments of an instruction: words, pairs, names, one
 * string, or the exec form. */
#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "k8s/image/dockerfile_priv.h"

void dockerfile_args_add(const struct df_reader *r, struct df_word **v, size_t *n, size_t from,
                         size_t to)
{
    struct df_word w = {.text = xstrndup(r->cur.text.p + from, to - from)};
    dockerfile_lex_place(&r->cur, from, &w.line, &w.col);
    *v = xrealloc_array(*v, *n + 1, sizeof **v);
    (*v)[(*n)++] = w;
}

static void take_words(const struct df_reader *r, char quote, struct df_instr *in, size_t off)
{
    size_t from, to;
    while (dockerfile_lex_word(r->cur.text.p, r->cur.text.len, quote, &off, &from, &to))
        dockerfile_args_add(r, &in->words, &in->nwords, from, to);
}

/* ENV and LABEL: NAME=VALUE words, or the old form NAME VALUE-TO-THE-END, which
 * becomes one word "NAME=VALUE". */
static enum pd_code take_pairs(const struct df_reader *r, struct df_instr *in, size_t off,
                               struct pd_err *err)
{
    const char *text = r->cur.text.p;
    size_t n = r->cur.text.len, next = off, from, to;
    if (!dockerfile_lex_word(text, n, r->escape, &next, &from, &to))
        return PD_OK;
    if (!memchr(text + from, '=', to - from)) {
        size_t value = to;
        while (value < n && isspace((unsigned char)text[value]))
            value++;
        if (value == n)
            return dockerfile_fail(err, r, from, _("%s must have two arguments: %s"),
                                   dockerfile_op_name(in->op),
                                   _(dockerfile_rules[in->op].usage));
        struct df_word w = {.text = xasprintf("%.*s=%s", (int)(to - from), text + from,
                                              text + value)};
        dockerfile_lex_place(&r->cur, from, &w.line, &w.col);
        in->words = xcalloc(1, sizeof w);
        in->words[in->nwords++] = w;
        in->old_form = true;
        return PD_OK;
    }
    next = off;
    while (dockerfile_lex_word(text, n, r->escape, &next, &from, &to)) {
        const char *eq = memchr(text + from, '=', to - from);
        if (!eq || eq == text + from)
            return dockerfile_fail(err, r, from,
                                   _("can't find = in \"%.*s\": it must be NAME=VALUE"),
                                   (int)MIN(to - from, (size_t)80), text + from);
        dockerfile_args_add(r, &in->words, &in->nwords, from, to);
    }
    return PD_OK;
}

/* ARG: NAME or NAME=DEFAULT words. */
static enum pd_code take_names(const struct df_reader *r, struct df_instr *in, size_t off,
                               struct pd_err *err)
{
    take_words(r, r->escape, in, off);
    for (size_t i = 0; i < in->nwords; i++) {
        const struct df_word *w = &in->words[i];
        if (w->text[0] == '=')
            return pd_fail_at(err, PD_PARSE, r->name, w->line, w->col,
                              _("ARG needs a name before ="));
    }
    return PD_OK;
}

/* A JSON array of strings at off. False: it is none (then shell form). */
static enum pd_code take_json(const struct df_reader *r, struct df_instr *in, size_t off,
                              struct pd_err *err)
{
    const char *text = r->cur.text.p + off;
    struct json *j = NULL;
    struct pd_err why = {0};
    if (*text != '[')
        return PD_OK;
    if (json_parse(text, r->cur.text.len - off, &j, &why) != PD_OK) {
        const char *q = text + 1 + strspn(text + 1, " \t");
        if (*q != '"' && *q != '\'' && *q != '`')
            return PD_OK;                 /* "[ -f x ] && y" is a shell's test */
        dockerfile_fail(err, r, off, _("this is no JSON array of strings"));
        return pd_set_hint(err,
                           _("write [\"program\", \"argument\"]: double quotes, commas between"));
    }
    size_t i = 0;
    in->json = true;
    for (const struct json *e = json_first(j); e; e = json_next(e), i++) {
        const char *s = json_string_value(e);
        struct df_word w = {.text = xstrdup(s ? s : "")};
        dockerfile_lex_place(&r->cur, off, &w.line, &w.col);
        in->words = xrealloc_array(in->words, in->nwords + 1, sizeof *in->words);
        in->words[in->nwords++] = w;
        if (!s) {
            json_free(j);
            return dockerfile_fail(err, r, off, _("element %zu of the array is no string"), i + 1);
        }
    }
    json_free(j);
    return PD_OK;
}

static enum pd_code check_count(const struct df_reader *r, const struct df_instr *in,
                                struct pd_err *err)
{
    const struct df_rule *op = &dockerfile_rules[in->op];
    int n = (int)in->nwords;
    if (op->args == A_EXEC)
        n = in->json ? n : in->rest[0] != '\0';
    if (op->args == A_SUB)
        n = in->sub != NULL;
    bool from_as = in->op != DF_FROM || n == 1 ||
                   (n == 3 && strcasecmp(in->words[1].text, "AS") == 0);
    if (n >= op->min && (op->max == 0 || n <= op->max) && from_as)
        return PD_OK;
    if (n == 0)
        return dockerfile_fail(err, r, 0, _("%s needs an argument: %s"), op->name, _(op->usage));
    if (in->nwords == 0)
        return dockerfile_fail(err, r, 0, _("wrong number of arguments for %s: %s"), op->name,
                               _(op->usage));
    const struct df_word *last = &in->words[in->nwords - 1];
    return pd_fail_at(err, PD_PARSE, r->name, last->line, last->col,
                      _("wrong number of arguments for %s: %s"), op->name, _(op->usage));
}

/* HEALTHCHECK: NONE, or CMD and its exec or shell form. */
static enum pd_code take_health(const struct df_reader *r, struct df_instr *in, size_t off,
                                struct pd_err *err)
{
    const char *text = r->cur.text.p;
    size_t n = r->cur.text.len, from, to;
    if (!dockerfile_lex_word(text, n, 0, &off, &from, &to))
        return PD_OK;
    dockerfile_args_add(r, &in->words, &in->nwords, from, to);
    const char *kind = in->words[0].text;
    while (off < n && isspace((unsigned char)text[off]))
        off++;
    if (strcasecmp(kind, "NONE") == 0)
        return off < n ? dockerfile_fail(err, r, off, _("HEALTHCHECK NONE takes no arguments"))
                       : PD_OK;
    if (strcasecmp(kind, "CMD") != 0) {
        dockerfile_fail(err, r, from, _("HEALTHCHECK is NONE or CMD, not \"%.40s\""), kind);
        return pd_set_hint(err, _("write HEALTHCHECK CMD curl -f http://localhost/ || exit 1"));
    }
    if (off >= n)
        return dockerfile_fail(err, r, from, _("HEALTHCHECK CMD needs a command"));
    free(in->rest);
    in->rest = xstrdup(text + off);
    return take_json(r, in, off, err);
}

static enum pd_code take(const struct df_reader *r, struct df_instr *in, size_t off,
                         struct pd_err *err)
{
    const struct str *t = &r->cur.text;
    enum pd_code rc = PD_OK;
    switch (dockerfile_rules[in->op].args) {
    case A_WORDS:
        take_words(r, 0, in, off);
        break;
    case A_PAIRS:
        return take_pairs(r, in, off, err);
    case A_NAMES:
        return take_names(r, in, off, err);
    case A_STRING:
        if (off < t->len)
            dockerfile_args_add(r, &in->words, &in->nwords, off, t->len);
        break;
    case A_HEALTH:
        return take_health(r, in, off, err);
    case A_LIST:
    case A_EXEC:
        rc = off < t->len ? take_json(r, in, off, err) : PD_OK;
        if (rc == PD_OK && !in->json && dockerfile_rules[in->op].args == A_LIST)
            take_words(r, 0, in, off);
        break;
    case A_SUB:
        break;
    }
    return rc;
}

enum pd_code dockerfile_args(const struct df_reader *r, struct df_instr *in, size_t off,
                             struct pd_err *err)
{
    enum pd_code rc = take(r, in, off, err);
    return rc == PD_OK ? check_count(r, in, err) : rc;
}
