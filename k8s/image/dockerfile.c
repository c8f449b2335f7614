/* dockerfile.c - logical lines to instructions. A table says for each
 * instruction how its arguments are read; the grammar is that of the Dockerfile
 * reference. */
#include "k8s/image/dockerfile.h"

#include <ctype.h>

#include "core/base/i18n.h"
#include "core/base/mem.h"
#include "k8s/image/dockerfile_priv.h"

const struct df_rule dockerfile_rules[DF_OP_COUNT] = {
    [DF_FROM] = {"FROM", A_WORDS, 1, 3, "platform=", N_("FROM IMAGE [AS NAME]")},
    [DF_COPY] = {"COPY", A_LIST, 2, 0, "from= chown= chmod= link? parents? exclude=*",
                 N_("COPY SOURCE... DESTINATION")},
    [DF_ENV] = {"ENV", A_PAIRS, 1, 0, "", N_("ENV NAME=VALUE...")},
    [DF_WORKDIR] = {"WORKDIR", A_STRING, 1, 1, "", N_("WORKDIR PATH")},
    [DF_LABEL] = {"LABEL", A_PAIRS, 1, 0, "", N_("LABEL NAME=VALUE...")},
    [DF_USER] = {"USER", A_STRING, 1, 1, "", N_("USER NAME[:GROUP]")},
    [DF_ENTRYPOINT] = {"ENTRYPOINT", A_EXEC, 0, 0, "",
                       N_("ENTRYPOINT [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_CMD] = {"CMD", A_EXEC, 0, 0, "", N_("CMD [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_ARG] = {"ARG", A_NAMES, 1, 0, "", N_("ARG NAME[=DEFAULT]")},
    [DF_RUN] = {"RUN", A_EXEC, 1, 0, "mount=* network= security= device=*", N_("RUN COMMAND")},
    [DF_ADD] = {"ADD", A_LIST, 2, 0,
                "chown= chmod= link? checksum= keep-git-dir? exclude=* unpack?",
                N_("ADD SOURCE... DESTINATION")},
    [DF_EXPOSE] = {"EXPOSE", A_WORDS, 1, 0, "", N_("EXPOSE PORT[/PROTOCOL]...")},
    [DF_VOLUME] = {"VOLUME", A_LIST, 1, 0, "", N_("VOLUME PATH...")},
    [DF_STOPSIGNAL] = {"STOPSIGNAL", A_STRING, 1, 1, "", N_("STOPSIGNAL SIGNAL")},
    [DF_HEALTHCHECK] = {"HEALTHCHECK", A_HEALTH, 1, 0,
                        "interval= timeout= start-period= start-interval= retries=",
                        N_("HEALTHCHECK NONE | CMD COMMAND")},
    [DF_SHELL] = {"SHELL", A_EXEC, 1, 0, "", N_("SHELL [\"PROGRAM\", \"ARGUMENT\"]")},
    [DF_ONBUILD] = {"ONBUILD", A_SUB, 1, 1, "", N_("ONBUILD INSTRUCTION")},
    [DF_MAINTAINER] = {"MAINTAINER", A_STRING, 1, 1, "", N_("MAINTAINER NAME")},
};

const char *dockerfile_op_name(enum df_op op)
{
    return dockerfile_rules[op].name;
}

static enum pd_code find_op(const struct df_reader *r, size_t from, size_t to, enum df_op *out,
                            struct pd_err *err)
{
    const char *names[DF_OP_COUNT];
    char word[64];
    for (int i = 0; i < DF_OP_COUNT; i++)
        names[i] = dockerfile_rules[i].name;
    str_fmt(word, sizeof word, "%.*s", (int)MIN(to - from, sizeof word - 1),
            r->cur.text.p + from);
    for (char *p = word; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    for (int i = 0; i < DF_OP_COUNT; i++)
        if (str_eq(word, names[i])) {
            *out = (enum df_op)i;
            return PD_OK;
        }
    const char *near = str_nearest(word, names, DF_OP_COUNT);
    dockerfile_fail(err, r, from, _("unknown instruction: %s"), word);
    if (near)
        return pd_set_hint(err, _("did you mean %s?"), near);
    return pd_set_hint(err, _("each line starts with an instruction such as FROM, COPY or CMD"));
}

static void free_words(struct df_word *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(v[i].text);
    free(v);
}

static void free_instr(struct df_instr *in)
{
    free_words(in->flags, in->nflags);
    free_words(in->words, in->nwords);
    for (size_t i = 0; i < in->nheredocs; i++) {
        free(in->heredocs[i].name);
        free(in->heredocs[i].text);
    }
    free(in->heredocs);
    free(in->text);
    free(in->rest);
    if (in->sub)
        free_instr(in->sub);
    free(in->sub);
}

static enum pd_code parse_instr(struct df_reader *r, size_t start, bool inner,
                                struct df_instr *in, struct pd_err *err);

/* ONBUILD holds another instruction. */
static enum pd_code parse_sub(struct df_reader *r, size_t off, struct df_instr *in,
                              struct pd_err *err)
{
    if (off >= r->cur.text.len)
        return PD_OK;
    in->sub = xcalloc(1, sizeof *in->sub);
    return parse_instr(r, off, true, in->sub, err);
}

static enum pd_code parse_instr(struct df_reader *r, size_t start, bool inner,
                                struct df_instr *in, struct pd_err *err)
{
    size_t off = start, from = 0, to = 0;
    enum df_op op = DF_FROM;
    dockerfile_lex_word(r->cur.text.p, r->cur.text.len, 0, &off, &from, &to);
    enum pd_code rc = find_op(r, from, to, &op, err);
    if (rc != PD_OK)
        return rc;
    in->op = op;
    if (inner && (op == DF_ONBUILD || op == DF_FROM || op == DF_MAINTAINER)) {
        dockerfile_fail(err, r, from, _("%s can't stand behind ONBUILD"), dockerfile_op_name(op));
        return pd_set_hint(err, _("ONBUILD takes what runs inside a stage, such as COPY or ENV"));
    }
    str_fmt(in->word, sizeof in->word, "%.*s", (int)MIN(to - from, sizeof in->word - 1),
            r->cur.text.p + from);
    dockerfile_lex_place(&r->cur, from, &in->line, &in->col);
    if ((rc = dockerfile_flags(r, in, &off, err)) != PD_OK)
        return rc;
    while (off < r->cur.text.len && isspace((unsigned char)r->cur.text.p[off]))
        off++;
    in->text = xasprintf("%s%s", dockerfile_op_name(op), r->cur.text.p + to);
    in->rest = xstrdup(r->cur.text.p + MIN(off, r->cur.text.len));
    dockerfile_lex_place(&r->cur, MIN(off, r->cur.text.len), &in->rest_line, &in->rest_col);
    if (op == DF_ONBUILD)
        rc = parse_sub(r, off, in, err);
    if (rc == PD_OK)
        rc = dockerfile_args(r, in, off, err);
    if (rc == PD_OK && (op == DF_RUN || op == DF_COPY || op == DF_ADD) && !in->json)
        rc = dockerfile_heredocs(r, in, off, err);
    return rc;
}

static enum pd_code parse_line(struct df_reader *r, struct dockerfile *d, struct pd_err *err)
{
    struct df_instr in = {0};
    enum pd_code rc = parse_instr(r, 0, false, &in, err);
    if (rc != PD_OK) {
        free_instr(&in);
        return rc;
    }
    d->v = xrealloc_array(d->v, d->n + 1, sizeof *d->v);
    d->v[d->n++] = in;
    return PD_OK;
}

void dockerfile_read(const char *name, const char *text, size_t len, dockerfile_error_fn *fn,
                     void *arg, struct dockerfile **out)
{
    struct dockerfile *d = xcalloc(1, sizeof *d);
    struct df_reader r;
    struct pd_err err;
    bool more = true;
    *out = d;
    d->name = xstrdup(name);
    d->escape = '\\';
    strv_init(&d->directives);
    if (len > DOCKERFILE_CEILING) {
        pd_fail_at(&err, PD_LIMIT, name, 1, 1, _("the Dockerfile is larger than 1 MiB"));
        fn(arg, &err);
        return;
    }
    dockerfile_lex_init(&r, name, text, len);
    while (more) {
        memset(&err, 0, sizeof err);
        if (dockerfile_lex_next(&r, &more, &err) != PD_OK ||
            (more && parse_line(&r, d, &err) != PD_OK))
            fn(arg, &err);
    }
    d->escape = r.escape;
    strv_release(&d->directives);
    d->directives = r.directives;
    strv_init(&r.directives);
    dockerfile_lex_release(&r);
}

static void keep_first(void *arg, const struct pd_err *e)
{
    struct pd_err *err = arg;
    if (err->code == PD_OK)
        *err = *e;
}

enum pd_code dockerfile_parse(const char *name, const char *text, size_t len,
                              struct dockerfile **out, struct pd_err *err)
{
    struct pd_err first = {.code = PD_OK};
    struct dockerfile *d;
    dockerfile_read(name, text, len, keep_first, &first, &d);
    if (first.code == PD_OK) {
        *out = d;
        return PD_OK;
    }
    dockerfile_free(d);
    *err = first;
    return first.code;
}

void dockerfile_free(struct dockerfile *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n; i++)
        free_instr(&d->v[i]);
    strv_release(&d->directives);
    free(d->v);
    free(d->name);
    free(d);
}
