/* dockerfile.c - logical lines to instructions. A table says for each
 * instruction how its arguments are read; the grammar is BuildKit's
 * (frontend/dockerfile/parser). */
#include "k8s/image/dockerfile.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/json.h"
#include "core/base/mem.h"
#include "k8s/image/dockerfile_priv.h"

enum args { A_WORDS, A_PAIRS, A_NAMES, A_STRING, A_EXEC, A_LIST };

/* flags: known names, separated by blanks. min/max: arguments (max 0: any). */
static const struct op {
    const char *name;
    enum args args;
    int min, max;
    const char *flags, *usage;
} ops[DF_OP_COUNT] = {
    [DF_FROM] = {"FROM", A_WORDS, 1, 3, "platform", N_("FROM IMAGE [AS NAME]")},
    [DF_COPY] = {"COPY", A_LIST, 2, 0, "from chown chmod link parents exclude",
                 N_("COPY SOURCE... DESTINATION")},
    [DF_ENV] = {"ENV", A_PAIRS, 1, 0, "", N_("ENV NAME=VALUE...")},
    [DF_WORKDIR] = {"WORKDIR", A_STRING, 1, 1, "", N_("WORKDIR PATH")},
    [DF_LABEL] = {"LABEL", A_PAIRS, 1, 0, "", N_("LABEL NAME=VALUE...")},
    [DF_USER] = {"USER", A_STRING, 1, 1, "", N_("USER NAME[:GROUP]")},
    [DF_ENTRYPOINT] = {"ENTRYPOINT", A_EXEC, 0, 0, "",
                       N_("ENTRYPOINT [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_CMD] = {"CMD", A_EXEC, 0, 0, "", N_("CMD [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_ARG] = {"ARG", A_NAMES, 1, 0, "", N_("ARG NAME[=DEFAULT]")},
    [DF_RUN] = {"RUN", A_EXEC, 0, 0, "mount network security device", N_("RUN COMMAND")},
    [DF_ADD] = {"ADD", A_LIST, 2, 0, "chown chmod link checksum keep-git-dir exclude unpack",
                N_("ADD SOURCE... DESTINATION")},
    [DF_EXPOSE] = {"EXPOSE", A_WORDS, 1, 0, "", N_("EXPOSE PORT[/PROTOCOL]...")},
    [DF_VOLUME] = {"VOLUME", A_LIST, 1, 0, "", N_("VOLUME PATH...")},
    [DF_STOPSIGNAL] = {"STOPSIGNAL", A_STRING, 1, 1, "", N_("STOPSIGNAL SIGNAL")},
    [DF_HEALTHCHECK] = {"HEALTHCHECK", A_STRING, 1, 1,
                        "interval timeout start-period start-interval retries",
                        N_("HEALTHCHECK NONE | CMD COMMAND")},
    [DF_SHELL] = {"SHELL", A_EXEC, 1, 0, "", N_("SHELL [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_ONBUILD] = {"ONBUILD", A_STRING, 1, 1, "", N_("ONBUILD INSTRUCTION")},
    [DF_MAINTAINER] = {"MAINTAINER", A_STRING, 1, 1, "", N_("MAINTAINER NAME")},
};

const char *dockerfile_op_name(enum df_op op)
{
    return ops[op].name;
}

static void add_word(const struct df_reader *r, struct df_word **v, size_t *n, size_t from,
                     size_t to)
{
    struct df_word w = {.text = xstrndup(r->cur.text.p + from, to - from)};
    dockerfile_lex_place(&r->cur, from, &w.line, &w.col);
    *v = xrealloc_array(*v, *n + 1, sizeof **v);
    (*v)[(*n)++] = w;
}

static enum pd_code find_op(const struct df_reader *r, size_t to, enum df_op *out,
                            struct pd_err *err)
{
    const char *names[DF_OP_COUNT];
    char word[64];
    for (int i = 0; i < DF_OP_COUNT; i++)
        names[i] = ops[i].name;
    str_fmt(word, sizeof word, "%.*s", (int)MIN(to, sizeof word - 1), r->cur.text.p);
    for (char *p = word; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    for (int i = 0; i < DF_OP_COUNT; i++)
        if (str_eq(word, names[i])) {
            *out = (enum df_op)i;
            return PD_OK;
        }
    const char *near = str_nearest(word, names, DF_OP_COUNT);
    dockerfile_fail(err, r, 0, _("unknown instruction: %s"), word);
    if (near)
        return pd_set_hint(err, _("did you mean %s?"), near);
    return pd_set_hint(err, _("each line starts with an instruction such as FROM, COPY or CMD"));
}

static bool known_flag(const char *list, const char *flag)
{
    struct strv v;
    char name[32];
    str_fmt(name, sizeof name, "%.*s", (int)MIN(strcspn(flag + 2, "="), (size_t)31), flag + 2);
    strv_init(&v);
    strv_split(&v, list, ' ');
    bool known = *name && strv_has(&v, name);
    strv_release(&v);
    return known;
}

static enum pd_code bad_flag(const struct df_reader *r, const struct op *op, size_t from,
                             const char *flag, struct pd_err *err)
{
    struct strv v;
    size_t n = strcspn(flag + 2, "=");
    char name[32];
    str_fmt(name, sizeof name, "%.*s", (int)MIN(n, (size_t)31), flag + 2);
    strv_init(&v);
    strv_split(&v, op->flags, ' ');
    const char *near = str_nearest(name, (const char *const *)v.v, v.n);
    dockerfile_fail(err, r, from, _("unknown flag: --%s"), name);
    if (near && *near)
        pd_set_hint(err, _("did you mean --%s?"), near);
    else if (*op->flags)
        pd_set_hint(err, _("%s knows: %s"), op->name, op->flags);
    else
        pd_set_hint(err, _("%s has no flags"), op->name);
    strv_release(&v);
    return err->code;
}

/* Words that start with -- before the arguments; *off moves behind them. */
static enum pd_code take_flags(const struct df_reader *r, const struct op *op,
                               struct df_instr *in, size_t *off, struct pd_err *err)
{
    size_t next = *off, from, to;
    while (dockerfile_lex_word(r->cur.text.p, r->cur.text.len, r->escape, &next, &from, &to)) {
        if (to - from < 2 || memcmp(r->cur.text.p + from, "--", 2) != 0)
            break;
        if (to - from == 2) {             /* "--" ends the flags */
            *off = next;
            break;
        }
        add_word(r, &in->flags, &in->nflags, from, to);
        const char *flag = in->flags[in->nflags - 1].text;
        if (!known_flag(op->flags, flag))
            return bad_flag(r, op, from, flag, err);
        *off = next;
    }
    return PD_OK;
}

static void take_words(const struct df_reader *r, char quote, struct df_instr *in, size_t off)
{
    size_t from, to;
    while (dockerfile_lex_word(r->cur.text.p, r->cur.text.len, quote, &off, &from, &to))
        add_word(r, &in->words, &in->nwords, from, to);
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
                                   ops[in->op].name, _(ops[in->op].usage));
        struct df_word w = {.text = xasprintf("%.*s=%s", (int)(to - from), text + from,
                                              text + value)};
        dockerfile_lex_place(&r->cur, from, &w.line, &w.col);
        in->words = xcalloc(1, sizeof w);
        in->words[in->nwords++] = w;
        return PD_OK;
    }
    next = off;
    while (dockerfile_lex_word(text, n, r->escape, &next, &from, &to)) {
        const char *eq = memchr(text + from, '=', to - from);
        if (!eq || eq == text + from)
            return dockerfile_fail(err, r, from,
                                   _("can't find = in \"%.*s\": it must be NAME=VALUE"),
                                   (int)MIN(to - from, (size_t)80), text + from);
        add_word(r, &in->words, &in->nwords, from, to);
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

/* "<<EOF", "3<<-EOF" or "<<'EOF'" as a word. */
static bool is_heredoc(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && isdigit((unsigned char)s[i]))
        i++;
    if (n - i < 3 || s[i] != '<' || s[i + 1] != '<')
        return false;
    i += 2;
    i += s[i] == '-';
    return i < n && (isalpha((unsigned char)s[i]) || strchr("_'\"", s[i]));
}

static enum pd_code refuse_heredoc(const struct df_reader *r, size_t off, struct pd_err *err)
{
    size_t from, to;
    while (dockerfile_lex_word(r->cur.text.p, r->cur.text.len, r->escape, &off, &from, &to))
        if (is_heredoc(r->cur.text.p + from, to - from)) {
            dockerfile_fail(err, r, from, _("here-documents (%.*s) are not read"),
                            (int)MIN(to - from, (size_t)40), r->cur.text.p + from);
            return pd_set_hint(err,
                               _("put the text into a file beside the Dockerfile and COPY it"));
        }
    return PD_OK;
}

static enum pd_code check_count(const struct df_reader *r, const struct df_instr *in,
                                struct pd_err *err)
{
    const struct op *op = &ops[in->op];
    int n = (int)in->nwords;
    if (op->args == A_EXEC)
        n = in->json ? n : in->rest[0] != '\0';
    bool from_as = in->op != DF_FROM || n == 1 ||
                   (n == 3 && strcasecmp(in->words[1].text, "AS") == 0);
    if (n >= op->min && (op->max == 0 || n <= op->max) && from_as)
        return PD_OK;
    if (n == 0)
        return dockerfile_fail(err, r, 0, _("%s needs an argument: %s"), op->name, _(op->usage));
    return pd_fail_at(err, PD_PARSE, r->name, in->words[n - 1].line, in->words[n - 1].col,
                      _("wrong number of arguments for %s: %s"), op->name, _(op->usage));
}

static enum pd_code take_args(const struct df_reader *r, struct df_instr *in, size_t off,
                              struct pd_err *err)
{
    const struct str *t = &r->cur.text;
    enum pd_code rc = PD_OK;
    switch (ops[in->op].args) {
    case A_WORDS:
        take_words(r, 0, in, off);
        break;
    case A_PAIRS:
        rc = take_pairs(r, in, off, err);
        break;
    case A_NAMES:
        rc = take_names(r, in, off, err);
        break;
    case A_STRING:
        if (off < t->len)
            add_word(r, &in->words, &in->nwords, off, t->len);
        break;
    case A_LIST:
    case A_EXEC:
        if (in->op != DF_VOLUME && (rc = refuse_heredoc(r, off, err)) != PD_OK)
            break;
        rc = take_json(r, in, off, err);
        if (rc == PD_OK && !in->json && ops[in->op].args == A_LIST)
            take_words(r, 0, in, off);
        break;
    }
    return rc == PD_OK ? check_count(r, in, err) : rc;
}

static enum pd_code parse_line(const struct df_reader *r, struct dockerfile *d,
                               struct pd_err *err)
{
    size_t off = 0, from = 0, to = 0;
    enum df_op op = DF_FROM;
    dockerfile_lex_word(r->cur.text.p, r->cur.text.len, 0, &off, &from, &to);
    enum pd_code rc = find_op(r, to, &op, err);
    if (rc != PD_OK)
        return rc;
    d->v = xrealloc_array(d->v, d->n + 1, sizeof *d->v);
    struct df_instr *in = &d->v[d->n++];
    *in = (struct df_instr){.op = op};
    dockerfile_lex_place(&r->cur, 0, &in->line, &in->col);
    if ((rc = take_flags(r, &ops[op], in, &off, err)) != PD_OK)
        return rc;
    while (off < r->cur.text.len && isspace((unsigned char)r->cur.text.p[off]))
        off++;
    in->text = xasprintf("%s%s", ops[op].name, r->cur.text.p + to);
    in->rest = xstrdup(r->cur.text.p + off);
    dockerfile_lex_place(&r->cur, MIN(off, r->cur.text.len), &in->rest_line, &in->rest_col);
    return take_args(r, in, off, err);
}

enum pd_code dockerfile_parse(const char *name, const char *text, size_t len,
                              struct dockerfile **out, struct pd_err *err)
{
    if (len > DOCKERFILE_CEILING)
        return pd_fail_at(err, PD_LIMIT, name, 0, 0, _("the Dockerfile is larger than 1 MiB"));
    struct dockerfile *d = xcalloc(1, sizeof *d);
    struct df_reader r;
    bool more = true;
    d->name = xstrdup(name);
    dockerfile_lex_init(&r, name, text, len);
    enum pd_code rc = dockerfile_lex_next(&r, &more, err);
    while (rc == PD_OK && more) {
        rc = parse_line(&r, d, err);
        if (rc == PD_OK)
            rc = dockerfile_lex_next(&r, &more, err);
    }
    d->escape = r.escape;
    dockerfile_lex_release(&r);
    if (rc == PD_OK)
        *out = d;
    else
        dockerfile_free(d);
    return rc;
}

static void free_words(struct df_word *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i].text);
    free(v);
}

void dockerfile_free(struct dockerfile *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++) {
        free_words(d->v[i].flags, d->v[i].nflags);
        free_words(d->v[i].words, d->v[i].nwords);
        free(d->v[i].text);
        free(d->v[i].rest);
    }
    free(d->v);
    free(d->name);
    free(d);
}
